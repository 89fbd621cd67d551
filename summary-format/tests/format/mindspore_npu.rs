//! Tables of Ascend devices up to `MindSpore` 2.3: small twins of real ones, cut, changed and recombined.

use proptest::prelude::*;
use proptest::sample::Index;
use trainscope_format::formats::mindspore_profile::{MindsporeFiles, read};
use trainscope_format::formats::trace_json::TraceReader;
use trainscope_format::trace::{DeclaredStep, LaneKind, Slice, SliceClass, Trace};

use crate::mindspore_profile::holds;

const STEPS: &str = "\
step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail,\
stream_20_0_AllReduce-op7_start_point,stream_20_0_AllReduce-op7_end_point,stream_20_0_AllReduce-op7,\
stream_22_parallel_0_start_point,stream_22_parallel_0_end_point,stream_22_parallel_0
1,1000,1900,900,1000,1700,0,700,200,1500,1800,300,1810,1820,10
2,1900,3000,1100,2000,2800,100,800,200,2600,2900,300,,,
-,1450,2450,1000,1500,2250,50,750,200,2050,2350,300,0,0,0
";
const TIMELINE: &str = "\
op_name, stream_id, start_time(ms), duration(ms)
Default/net/conv1-Conv2d/Conv2D-op3,19,0.01001,0.002
Gradients/Default/net/gradConv2D/MatMul-op9,19,0.0125,0.0015
Default/net/conv1-Conv2d/Conv2D-op3,19,0.0201,0.0025
";
const AI_CPU: &str = "\
serial_number,op_type,total_time,dispatch_time,run_start,run_end
1,GetNext,0.009,0.001,19,20
";
const FRAMEWORK: &str = "\
task_id,stream_id,block_dim,full_kernel_name,op_name,kernel_name,kernel_type,subgraph,op_info,graph_id
2,19,32,Default/net/conv1-Conv2d/Conv2D-op3,x,Conv2D-op3,Conv2D,Default,\"{\"\"input_1\"\": {\"\"data_type\"\": \
\"\"NUMBER_TYPE_FLOAT16\"\", \"\"shape\"\": \"\"6,1,5,5\"\"}, \"\"input_0\"\": {\"\"data_type\"\": \"\"FLOAT16\"\", \
\"\"shape\"\": [32, 1, 32, 32]}, \"\"output_0\"\": {\"\"shape\"\": [32, 6, 28, 28]}}\",1
3,20,1,Default/net/AllReduce-op7,x,AllReduce-op7,AllReduce,Default,,1
4,19,1,Default/net/Mul-op1,x,Mul-op1,Mul,Default,\"{\"\"input_0\"\": {\"\"shape\"\": \"\"\"\"}}\",1
";
const FLOPS: &str = "\
full_kernel_name, MFLOPs(10^6 cube), GFLOPS(10^9 cube), MFLOPs(10^6 vector), GFLOPS(10^9 vector)
Default/net/conv1-Conv2d/Conv2D-op3, 1.5, 700, 0.25, 3
Default/net/Mul-op1, 0, 0, 0.001, 3";
const DETAILS: &str = "\
full_kernel_name,execution_time,execution_frequency
Default/net/conv1-Conv2d/Conv2D-op3,0.00225,2
Default/net/Mul-op1,0.0013333333333333333,3
";
const HCCL: &str = "\
step_num,communication_cost,wait_cost,link_info,communication_operator_cost
1,0.003,0.001,\"{\"\"0-1\"\": {\"\"SDMA\"\": [0.002, 4.096, 2048000.0]}, \"\"1-1\"\": {\"\"SDMA\"\": [0.001, 2.0, 1]}}\",\
\"{\"\"stream_20_0_AllReduce-op7\"\": [\"\"1\"\", 0.003, 0.001, {\"\"0-1\"\": {\"\"SDMA\"\": [0.002, 4.096, 1]}}]}\"
2,0.003,0.001,\"{\"\"0-1\"\": {\"\"SDMA\"\": [0.001, 1.0, 1]}, \"\"2-1\"\": {\"\"RDMA\"\": [0.5, 8, 1]}}\",{}
-,0.003,0.001,{},{}
";

/// All tables of a device.
fn all() -> MindsporeFiles<'static> {
    MindsporeFiles {
        rank: 1,
        step_trace: Some(STEPS.as_bytes()),
        step_points: Some(br#"{"fp_start": "Default/a-op1", "bp_end": "Default/b-op2"}"#),
        device_executions: Some(TIMELINE.as_bytes()),
        ai_cpu: Some(AI_CPU.as_bytes()),
        framework_raw: Some(FRAMEWORK.as_bytes()),
        flops: Some(FLOPS.as_bytes()),
        core_details: Some(DETAILS.as_bytes()),
        hccl: Some(HCCL.as_bytes()),
        ..MindsporeFiles::default()
    }
}

/// Lane, name, begin and duration of the slices of a category.
fn slices<'t>(trace: &'t Trace, category: &str) -> Vec<(&'t str, &'t str, i64, u64)> {
    let slices = (0..trace.slices.len()).map(|index| trace.slices.get(index).unwrap());
    let of_category =
        slices.filter(|slice| trace.categories[usize::from(slice.category)].name == category);
    let row = |slice: Slice| {
        let lane = &trace.lanes[usize::from(slice.lane)];
        let name = trace.texts.get(slice.name);
        (&*lane.thread, name, slice.begin, slice.duration)
    };
    of_category.map(row).collect()
}

#[test]
fn executions_steps_and_collectives_are_on_one_clock() {
    let (trace, notes) = read(&all(), None);
    holds(&trace);
    let conv = "Default/net/conv1-Conv2d/Conv2D-op3";
    let grad = "Gradients/Default/net/gradConv2D/MatMul-op9";
    let core = slices(&trace, "AI Core");
    assert_eq!(
        core[..3],
        [
            ("AI Core 19", conv, 10_010, 2_000),
            ("AI Core 19", grad, 12_500, 1_500),
            ("AI Core 19", conv, 20_100, 2_500),
        ]
    );
    // After the last step; the sum is that of the table.
    let untimed = "AI Core without times";
    assert_eq!(
        core[3..],
        [
            (untimed, "Default/net/Mul-op1", 30_000, 1_333),
            (untimed, "Default/net/Mul-op1", 31_333, 1_333),
            (untimed, "Default/net/Mul-op1", 32_666, 1_334),
        ]
    );
    assert_eq!(
        slices(&trace, "AI CPU"),
        [("AI CPU", "GetNext", 19_000, 1_000)]
    );
    assert_eq!(
        slices(&trace, "HCCL"),
        [
            ("HCCL 20", "Default/net/AllReduce-op7", 15_000, 3_000),
            ("HCCL 22", "stream_22_parallel_0", 18_100, 100),
            ("HCCL 20", "Default/net/AllReduce-op7", 26_000, 3_000),
        ]
    );
    let part = |name, begin, nanos| ("step trace", name, begin, nanos);
    assert_eq!(
        slices(&trace, "step trace"),
        [
            part("fp_and_bp", 10_000, 7_000),
            part("tail", 17_000, 2_000),
            part("iteration_interval", 19_000, 1_000),
            part("fp_and_bp", 20_000, 8_000),
            part("tail", 28_000, 2_000),
        ]
    );
    let step = |number, begin, end| DeclaredStep { number, begin, end };
    assert_eq!(
        trace.declared_steps,
        [step(1, 10_000, 19_000), step(2, 19_000, 30_000)]
    );
    let marks: Vec<_> = (trace.marks.iter())
        .map(|mark| (trace.texts.get(mark.name), mark.time))
        .collect();
    assert_eq!(
        marks,
        [
            ("fp_start: Default/a-op1", 10_000),
            ("bp_end: Default/b-op2", 17_000)
        ]
    );
    assert_eq!(trace.head.devices[0].name, "Ascend");
    assert_eq!(trace.head.unix_offset_nanos, None);
    assert_eq!((trace.counts.damaged, trace.counts.truncated), (0, false));
    assert_eq!(
        notes,
        [
            "aicore_intermediate_1_detail.csv: no execution of 1 of its operators has a time: they stand behind everything \
             else, one after another"
        ]
    );
}

#[test]
fn operators_have_shapes_and_flops_and_collectives_bytes() {
    let (trace, _) = read(&all(), None);
    let details = |category: &str| {
        let slices = (0..trace.slices.len()).map(|index| trace.slices.get(index).unwrap());
        let slices =
            slices.filter(|slice| trace.categories[usize::from(slice.category)].name == category);
        slices
            .map(|slice| slice.detail as usize)
            .collect::<Vec<_>>()
    };
    let shapes = |detail: usize| {
        let shape = &trace.shapes[detail];
        (&*shape.dims, &*shape.types, shape.flops)
    };
    let core = details("AI Core");
    let conv = (
        "[[32, 1, 32, 32], [6, 1, 5, 5]]",
        r#"["FLOAT16", "FLOAT16"]"#,
        1_750_000,
    );
    assert_eq!((shapes(core[0]), core[0]), (conv, core[2]));
    assert_eq!(core[1], u32::MAX as usize, "no table names it");
    assert_eq!(shapes(core[3]), ("[[]]", r#"[""]"#, 1_000));
    let bytes: Vec<u64> = (details("HCCL").into_iter())
        .map(|detail| trace.device_work[detail].bytes)
        .collect();
    assert_eq!(bytes, [4_096, 0, 0]);
    let links: Vec<_> = (trace.links.iter())
        .map(|link| {
            (
                link.source,
                link.destination,
                link.bytes,
                link.nanos,
                &*link.transport,
            )
        })
        .collect();
    assert_eq!(
        links,
        [(0, 1, 5_096, 3_000, "SDMA"), (2, 1, 8_000, 500_000, "RDMA")]
    );
}

#[test]
fn units_and_names_of_columns_are_those_of_the_version() {
    let files = MindsporeFiles {
        rank: 0,
        device_executions: Some(
            b"op_name,stream_id,start_time(us),duration(ms)\r\nDefault/Cast-op1,3,10.5,0.001\r\n",
        ),
        ai_cpu: Some(
            b"serial_number,kernel_type,total_time,dispatch_time,execution_time,run_start,run_end\n\
              1,GetNext-op2,0.3,0.1,0.2,20,20.3\n",
        ),
        framework_raw: Some(
            b"task_id,full_op_name,op_name,op_type,op_info,kernel_type\n\
              1,Default/Cast-op1,Cast-op1,Cast,\"{\"\"Input_0\"\": {\"\"shape\"\": \"\"4,2\"\"}}\",AI_VECTOR_CORE\n",
        ),
        core_details: Some(
            b"full_kernel_name,task_duration,execution_frequency,task_type\n\
              Default/Add-op4,0.002,1,AI_CORE\nDefault/GetNext-op2,0.2,1,AI_CPU\n",
        ),
        ..MindsporeFiles::default()
    };
    let (trace, _) = read(&files, None);
    holds(&trace);
    assert_eq!(
        slices(&trace, "AI Vector Core"),
        [("AI Vector Core 3", "Default/Cast-op1", 10_500, 1_000)]
    );
    assert_eq!(trace.shapes[0].dims, "[[4, 2]]");
    assert_eq!(
        slices(&trace, "AI CPU"),
        [("AI CPU", "GetNext-op2", 20_000, 200_000)]
    );
    assert_eq!(
        slices(&trace, "AI Core"),
        [("AI Core without times", "Default/Add-op4", 220_000, 2_000)]
    );
}

#[test]
fn without_executions_forward_and_backward_are_the_work() {
    let files = MindsporeFiles {
        step_trace: Some(STEPS.as_bytes()),
        hccl: Some(HCCL.as_bytes()),
        ..MindsporeFiles::default()
    };
    let (trace, notes) = read(&files, None);
    holds(&trace);
    assert_eq!(notes, [""; 0]);
    assert_eq!((trace.declared_steps.len(), trace.links.len()), (2, 2));
    assert!(trace.lanes.iter().all(|lane| lane.kind == LaneKind::Host));
    let classes: Vec<_> = (trace.categories.iter())
        .map(|category| (&*category.name, category.class, category.count))
        .collect();
    assert_eq!(
        classes,
        [
            ("step trace", SliceClass::Annotation, 5),
            ("HCCL", SliceClass::Operator, 3)
        ]
    );
}

#[test]
fn the_timeline_stands_in_for_the_table_it_was_made_of() {
    let timeline = br#"[{"name": "Conv2D-op3", "ph": "X", "tid": 19, "ts": 0.01, "dur": 2, "pid": 1},
        {"name": "stream_20_0_AllReduce-op7", "ph": "X", "tid": 20, "ts": 5, "dur": 3, "pid": 10000},
        {"name": "GetNext", "ph": "X", "tid": 0, "ts": 9, "dur": 1, "pid": 9000}"#;
    let mut reader = TraceReader::new();
    reader.push(timeline);
    let timeline = reader.finish();
    let files = MindsporeFiles {
        device_executions: None,
        ai_cpu: None,
        core_details: None,
        cycle_counter: Some(b"1000.0\n"),
        device_timeline: Some(&timeline),
        ..all()
    };
    let (trace, _) = read(&files, None);
    holds(&trace);
    let conv = "Default/net/conv1-Conv2d/Conv2D-op3";
    assert_eq!(
        slices(&trace, "AI Core"),
        [("AI Core 19", conv, 10_010, 2_000)]
    );
    assert_eq!(
        slices(&trace, "AI CPU"),
        [("AI CPU", "GetNext", 19_000, 1_000)]
    );
    assert_eq!(slices(&trace, "HCCL").len(), 3, "those of the step trace");
    assert!(trace.counts.truncated);
}

#[test]
fn sums_alone_are_operators_without_moments() {
    let means = b"====op compute time====\nop_name compute_time(ms) stream_id\n----- ---- ----\n\
        Default/Mul-op1 0.0015  3\nDefault/Add-op2 x 3\n";
    let types =
        b"kernel_type,total_time,execution_frequency,percent\nMatMul,2.80782,25,57.6\nMul,1,0,0\n";
    for (files, expected, damaged) in [
        (
            MindsporeFiles {
                core_means: Some(means),
                ..MindsporeFiles::default()
            },
            ("Default/Mul-op1", 1, 1_500),
            1,
        ),
        (
            MindsporeFiles {
                core_types: Some(types),
                core_means: Some(means),
                ..MindsporeFiles::default()
            },
            ("MatMul", 25, 2_807_820),
            0,
        ),
    ] {
        let (trace, notes) = read(&files, None);
        holds(&trace);
        let core = slices(&trace, "AI Core");
        let nanos: u64 = core.iter().map(|slice| slice.3).sum();
        assert_eq!((core[0].1, core.len(), nanos), expected);
        assert_eq!(trace.counts.damaged, damaged, "{notes:?}");
    }
}

#[test]
fn bad_rows_are_named_with_file_and_line() {
    let steps = STEPS
        .replace("2,1900,3000", "2,1900,x")
        .replace("3,1000", "3");
    let timeline = TIMELINE.replace("0.0125", "").replace("0.0201", "NaN");
    let framework = FRAMEWORK.replace("[32, 1, 32, 32]", "[32, 1");
    let hccl = HCCL.replace("\"\"0-1\"\": {\"\"SDMA\"\": [0.001", "0-1");
    let files = MindsporeFiles {
        step_trace: Some(steps.as_bytes()),
        step_points: Some(b"{"),
        device_executions: Some(timeline.as_bytes()),
        framework_raw: Some(framework.as_bytes()),
        flops: Some(b"full_kernel_name, FLOPs\na, -3\nb, 3\n"),
        hccl: Some(hccl.as_bytes()),
        core_details: Some(b"a,b\n1,2\n"),
        ..all()
    };
    let (trace, notes) = read(&files, None);
    holds(&trace);
    for wanted in [
        "step_trace_raw_1_detail_time.csv: 1 of 3 rows could not be read, the first in line 3",
        "output_timeline_data_1.txt: 2 of 3 rows could not be read, the first in line 3",
        "framework_raw_1.csv: 1 of 3 rows could not be read, the first in line 2",
        "flops_1.txt: 1 of 2 rows could not be read, the first in line 2",
        "hccl_raw_1.csv: 1 of 3 rows could not be read, the first in line 3",
        "aicore_intermediate_1_detail.csv: no columns of names, times and execution_frequency",
    ] {
        assert!(
            notes.iter().any(|note| note == wanted),
            "{wanted}: {notes:#?}"
        );
    }
    assert!(
        notes
            .iter()
            .any(|note| note.starts_with("step_trace_point_info: "))
    );
    assert_eq!(trace.counts.damaged, 6);
    assert_eq!(
        (trace.declared_steps.len(), slices(&trace, "AI Core").len()),
        (1, 1)
    );
}

#[test]
fn every_truncation_gives_a_prefix() {
    let (whole, _) = read(
        &MindsporeFiles {
            core_details: None,
            ..all()
        },
        None,
    );
    let count = |trace: &Trace| (trace.slices.len(), trace.declared_steps.len());
    for len in 0..STEPS.len() {
        let files = MindsporeFiles {
            step_trace: Some(&STEPS.as_bytes()[..len]),
            core_details: None,
            ..all()
        };
        let (cut, notes) = read(&files, None);
        holds(&cut);
        let (slices, steps) = count(&cut);
        assert_eq!(cut.slices.begins, whole.slices.begins[..slices], "{len}");
        assert_eq!(cut.declared_steps, whole.declared_steps[..steps]);
        assert_eq!(cut.counts.damaged, 0, "{len}: {notes:?}");
        let is_said = notes
            .iter()
            .any(|note| note.ends_with("before its last row is complete"));
        assert_eq!(is_said, cut.counts.truncated);
    }
    for len in 0..TIMELINE.len() {
        let files = MindsporeFiles {
            rank: 1,
            device_executions: Some(&TIMELINE.as_bytes()[..len]),
            ..MindsporeFiles::default()
        };
        let (cut, _) = read(&files, None);
        let count = cut.slices.len();
        assert_eq!(
            cut.slices.durations,
            whole.slices.durations[..count],
            "{len}"
        );
        assert_eq!(cut.counts.damaged, 0);
    }
}

proptest! {
    #[test]
    fn no_table_is_too_odd(
        which in 0_usize..8,
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..20),
        cut in any::<Index>(),
    ) {
        let mut texts: Vec<Vec<u8>> = [STEPS, TIMELINE, AI_CPU, FRAMEWORK, FLOPS, DETAILS, HCCL, "1000.0"]
            .map(|text| text.as_bytes().to_vec())
            .to_vec();
        let text = &mut texts[which];
        for (at, byte) in changes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let len = cut.index(text.len()) + 1;
        text.truncate(len);
        let [steps, timeline, ai_cpu, framework, flops, details, hccl, counter] = &texts[..] else {
            unreachable!("eight tables");
        };
        let files = MindsporeFiles {
            step_trace: Some(steps),
            device_executions: Some(timeline),
            ai_cpu: Some(ai_cpu),
            framework_raw: Some(framework),
            flops: Some(flops),
            core_details: Some(details),
            core_types: Some(details),
            core_means: Some(details),
            hccl: Some(hccl),
            cycle_counter: Some(counter),
            ..all()
        };
        let (trace, _) = read(&files, None);
        holds(&trace);
        prop_assert!(trace.is_sound());
    }
}
