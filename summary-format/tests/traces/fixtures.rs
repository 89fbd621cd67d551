//! Numbers of real files, counted by a slow reading of each with Python's `json` and `decimal`.

use std::collections::BTreeMap;

use trainscope_format::formats::trace_json::arguments;
use trainscope_format::trace::{LaneKind, NONE, SliceClass, Trace, TraceFormat};

use crate::support::{fixture, names, pieces, whole};

const CNN: &str = "torch-cnn/plain.pt.trace.json.gz";
const CNN_STACK: &str = "torch-cnn/stack.pt.trace.json.gz";
const CNN_TB: &str = "torch-cnn/tb.pt.trace.json.gz";
const TRANSFORMER: &str = "torch-transformer/plain.pt.trace.json.gz";
const TRANSFORMER_STACK: &str = "torch-transformer/stack.pt.trace.json.gz";
const TRANSFORMER_TB: &str = "torch-transformer/tb.pt.trace.json.gz";
const GENERATED: &str = "generated/steps4-layers2.pt.trace.json.gz";
const MLP: &str = "torch-mlp/everything.pt.trace.json.gz";
const VIZTRACER: &str = "viztracer/train.json.gz";
const THREADED: &str = "tracing-chrome/threaded.json.gz";
const ASYNC: &str = "tracing-chrome/async.json.gz";
const MS20: &str = "ms20-lenet/cpu_timeline_display_0.json.gz";
const MS20_SLOW: &str = "ms20-slow-data/cpu_timeline_display_0.json.gz";
const MS210: &str = "ms210-lenet/trace_view.json.gz";
const MS210_SLOW: &str = "ms210-slow-data/trace_view.json.gz";

/// `X 775 i 530 …`.
fn phases(trace: &Trace) -> String {
    let phases = trace.counts.by_phase.iter();
    let phases: Vec<_> = phases
        .map(|(phase, count)| format!("{phase} {count}"))
        .collect();
    phases.join(" ")
}

/// `cpu_op 764 8911996, …` in alphabetic order.
fn categories(trace: &Trace) -> String {
    let mut rows: Vec<_> = trace
        .categories
        .iter()
        .map(|category| format!("{} {} {}", category.name, category.count, category.nanos))
        .collect();
    rows.sort();
    rows.join(", ")
}

/// `fwdbwd 22, …`.
fn flows(trace: &Trace) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for flow in &trace.flows {
        *counts.entry(trace.texts.get(flow.category)).or_default() += 1;
    }
    let rows: Vec<_> = counts
        .iter()
        .map(|(category, count)| format!("{category} {count}"))
        .collect();
    rows.join(", ")
}

/// Begin and end of slices outside of the window of the recording.
fn extent(trace: &Trace) -> [i64; 2] {
    let slices = || {
        (0..trace.slices.len()).filter(|slice| {
            let category = usize::from(trace.slices.categories[*slice]);
            trace.categories[category].class != SliceClass::Window
        })
    };
    [
        slices()
            .map(|slice| trace.slices.begins[slice])
            .min()
            .unwrap(),
        slices().map(|slice| trace.slices.end(slice)).max().unwrap(),
    ]
}

/// `0/100000 12 1456102460, …`: slices and nanoseconds of each lane that has any.
fn lanes(trace: &Trace) -> String {
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for slice in 0..trace.slices.len() {
        let (count, nanos) = sums.entry(crate::support::lane(trace, slice)).or_default();
        *count += 1;
        *nanos += trace.slices.durations[slice];
    }
    let rows: Vec<_> = sums
        .iter()
        .map(|(lane, (count, nanos))| format!("{lane} {count} {nanos}"))
        .collect();
    rows.join(", ")
}

fn assert_undamaged(trace: &Trace) {
    let counts = &trace.counts;
    assert_eq!(counts.damaged, 0);
    assert!(!counts.truncated);
    assert_eq!(counts.over_limit, 0);
    assert_eq!(counts.negative_durations, 0);
    assert_eq!(counts.flows_without_end, 0);
    assert!(counts.unfinished.is_empty());
    assert!(counts.unread.is_empty());
    assert_eq!(counts.by_phase.values().sum::<u64>(), counts.events);
}

#[test]
fn files_of_torch_have_the_numbers_of_the_slow_reading() {
    struct Truth {
        file: &'static str,
        phases: &'static str,
        categories: &'static str,
        extent: [i64; 2],
        flows: &'static str,
        memory: (usize, usize, u64),
    }
    for truth in [
        Truth {
            file: CNN,
            phases: "M 8 X 775 f 22 i 530 s 22",
            categories: "Trace 1 5775162, cpu_op 764 8911996, user_annotation 10 5498468",
            extent: [4_356_230_544_447_395, 4_356_230_549_959_275],
            flows: "fwdbwd 22",
            memory: (268, 260, 314_672),
        },
        Truth {
            file: CNN_STACK,
            phases: "M 8 X 931 f 11 i 270 s 11",
            categories: "Trace 1 4761908, cpu_op 382 6262409, python_function 543 32824319, user_annotation 5 4227908",
            extent: [4_356_230_592_331_720, 4_356_230_596_998_768],
            flows: "fwdbwd 11",
            memory: (134, 134, 314_672),
        },
        Truth {
            file: CNN_TB,
            phases: "M 8 X 1165 f 33 i 2 s 33",
            categories: "Trace 1 7469034, cpu_op 1146 12134940, user_annotation 18 14075859",
            extent: [4_356_230_879_865_564, 4_356_230_887_048_963],
            flows: "fwdbwd 33",
            memory: (0, 0, 0),
        },
        Truth {
            file: TRANSFORMER,
            phases: "M 8 X 4147 f 268 i 1831 s 268",
            categories: "Trace 1 13791621, cpu_op 4136 21140730, user_annotation 10 13459618",
            extent: [4_356_234_402_622_731, 4_356_234_416_102_975],
            flows: "fwdbwd 268",
            memory: (928, 901, 372_936),
        },
        Truth {
            file: TRANSFORMER_STACK,
            phases: "M 8 X 3377 f 134 i 930 s 134",
            categories: "Trace 1 8880218, cpu_op 2068 9993015, python_function 1303 80024327, user_annotation 5 8126062",
            extent: [4_356_234_936_792_031, 4_356_234_945_575_842],
            flows: "fwdbwd 134",
            memory: (464, 464, 372_936),
        },
        Truth {
            file: TRANSFORMER_TB,
            phases: "M 8 X 6223 f 402 i 2 s 402",
            categories: "Trace 1 15568012, cpu_op 6204 22669089, user_annotation 18 30050449",
            extent: [4_356_235_667_060_387, 4_356_235_682_318_980],
            flows: "fwdbwd 402",
            memory: (0, 0, 0),
        },
        Truth {
            file: MLP,
            phases: "M 8 X 807 f 14 i 90 s 14",
            categories: "Trace 1 3063909, cpu_op 264 2309638, python_function 534 15963769, user_annotation 8 4149024",
            extent: [4_603_584_953_785_347, 4_603_584_956_781_218],
            flows: "fwdbwd 14",
            memory: (46, 42, 1_804),
        },
        Truth {
            file: GENERATED,
            phases: "C 167 M 14 X 749 f 188 i 98 s 188",
            categories: "Trace 1 17071726, cpu_op 308 31214413, cuda_runtime 148 14417982, gpu_memcpy 8 846400, gpu_memset 4 4800, gpu_user_annotation 4 15450676, kernel 128 17900189, python_function 104 1782687, user_annotation 44 19714070",
            extent: [4_356_230_544_000_000, 4_356_230_560_871_726],
            flows: "ac2g 140, fwdbwd 48",
            memory: (48, 48, 2_248_146_944),
        },
    ] {
        let trace = whole(&fixture(truth.file));
        assert_eq!(phases(&trace), truth.phases, "{}", truth.file);
        assert_eq!(categories(&trace), truth.categories, "{}", truth.file);
        assert_eq!(extent(&trace), truth.extent, "{}", truth.file);
        assert_eq!(flows(&trace), truth.flows, "{}", truth.file);
        let allocations = trace.memory.iter().filter(|event| event.bytes >= 0).count();
        let peak = trace.memory.iter().map(|event| event.allocated).max();
        assert_eq!(
            (
                allocations,
                trace.memory.len() - allocations,
                peak.unwrap_or(0)
            ),
            truth.memory,
            "{}",
            truth.file
        );
        assert_undamaged(&trace);
        assert_eq!(trace.head.format, TraceFormat::Kineto);
        assert_eq!(
            trace.head.unix_offset_nanos,
            Some(1_790_857_026_000_000_000)
        );
        assert_eq!(trace.counts.bytes, fixture(truth.file).len() as u64);
    }
}

#[test]
fn files_of_viztracer_have_calls_counters_and_a_clock() {
    let trace = whole(&fixture(VIZTRACER));
    assert_eq!(phases(&trace), "C 1 M 3 X 61 i 1");
    assert_eq!(categories(&trace), "FEE 61 5861812");
    assert_eq!(extent(&trace), [13_449_943_841_789, 13_449_945_569_144]);
    assert_eq!(lanes(&trace), "7694/7694 52 5812139, 7694/7695 9 49673");
    assert_undamaged(&trace);
    let threads: Vec<_> = trace.lanes.iter().map(|lane| &*lane.thread_name).collect();
    assert_eq!(threads, ["MainThread", "loader ü"]);
    assert!(names(&trace).contains(&"an \"event\" (/tmp/train.py:14)"));
    let [series] = &trace.counters[..] else {
        panic!("{:?}", trace.counters);
    };
    assert_eq!(
        (&*series.name, &series.values[..]),
        ("loss loss", &[0.25][..])
    );
    assert_eq!(trace.head.format, TraceFormat::Chrome);
    // The start of the recording is 23 November 2026, 18:55 UTC.
    let unix = trace.head.unix_offset_nanos.unwrap() + extent(&trace)[0];
    assert_eq!(unix / 60_000_000_000, 29_924_335);
}

#[test]
fn files_of_tracing_chrome_have_nested_and_asynchronous_spans() {
    for (file, expected_phases, expected_lanes, total, expected_extent) in [
        (
            THREADED,
            "B 13 E 12 M 2 i 3",
            "1/0 10 22358515, 1/1 3 7055135",
            "tc 13 29413650",
            [2_859_175, 14_150_940],
        ),
        (
            ASYNC,
            "M 2 b 13 e 12 i 3",
            "1/tc 13 33565914",
            "tc 13 33565914",
            [218_434, 11_968_019],
        ),
    ] {
        let trace = whole(&fixture(file));
        assert_eq!(phases(&trace), expected_phases, "{file}");
        assert_eq!(lanes(&trace), expected_lanes, "{file}");
        assert_eq!(categories(&trace), total, "{file}");
        assert_eq!(extent(&trace), expected_extent, "{file}");
        // A span that the program has left open is the last one.
        assert_eq!(trace.counts.unfinished, [12], "{file}");
        assert_eq!(names(&trace)[12], "never left", "{file}");
        assert_eq!((trace.counts.damaged, trace.counts.truncated), (0, false));
        assert_eq!(trace.counts.ends_without_begin, 0);
        assert_eq!(trace.marks.len(), 3);
        assert_eq!(trace.head.unix_offset_nanos, None);
        let bytes = fixture(file);
        let place = usize::try_from(trace.slices.places[1]).unwrap();
        let (key, value) = &arguments(&bytes[place..])[0];
        let is_quoted = key == "text" && value == r#""a \"quoted\" C:\\dir""#;
        assert!(
            is_quoted || key == "step" || key == "batch",
            "{key} {value}"
        );
    }
}

#[test]
fn files_of_mindspore_have_the_numbers_of_the_slow_reading() {
    for (file, expected_phases, expected_lanes) in [
        (
            MS20,
            "M 1215 X 2647",
            "0/100000 12 1456102460, 0/100001#0 40 1605533084, 0/100001#1 53 360534540, 0/100001#2 52 241160983, 0/100001#3 160 224978115, 0/100001#4 134 112768045, 0/100001#5 145 103286900, 0/HostCpuOps0 684 345459957, 12000/7999 684 345459957, 12000/8002 683 1261449759",
        ),
        (
            MS20_SLOW,
            "M 879 X 1663",
            "0/100000 12 1532710754, 0/100001#0 34 2256598354, 0/100001#1 47 513744167, 0/100001#2 49 110472067, 0/100001#3 61 97980933, 0/100001#4 105 72856403, 0/100001#5 96 26571952, 0/100001#6 24 2257946, 0/HostCpuOps0 412 130252795, 12000/7999 412 130252795, 12000/8002 411 2127395273",
        ),
        (
            MS210,
            "M 19 X 1361",
            "2/0 744 286899709, 3/0 39 663232960, 3/1 52 300087765, 3/2 51 291420718, 3/3 175 288996849, 3/4 155 160942317, 3/5 145 160593746",
        ),
        (
            MS210_SLOW,
            "M 21 X 979",
            "2/0 520 59888141, 3/0 33 2354731355, 3/1 46 424435463, 3/2 48 64484389, 3/3 76 63258548, 3/4 136 57249811, 3/5 96 49439293, 3/6 24 208317",
        ),
    ] {
        let trace = whole(&fixture(file));
        assert_eq!(phases(&trace), expected_phases, "{file}");
        assert_eq!(lanes(&trace), expected_lanes, "{file}");
        assert_undamaged(&trace);
        assert_eq!(trace.head.format, TraceFormat::Mindspore);
        // 2.0 counts since boot, 2.10 since 1970.
        let is_new = file.starts_with("ms210");
        assert_eq!(trace.head.unix_offset_nanos, is_new.then_some(0));
    }
}

/// Kind, names and classes of slices of the lane of a process and a thread.
fn lane_meaning<'a>(
    trace: &'a Trace,
    process: &str,
    thread: &str,
) -> (LaneKind, &'a str, &'a str, Vec<SliceClass>) {
    let index = trace
        .lanes
        .iter()
        .position(|lane| lane.process == process && lane.thread == thread)
        .unwrap();
    let lane = &trace.lanes[index];
    let mut classes: Vec<SliceClass> = (0..trace.slices.len())
        .filter(|slice| usize::from(trace.slices.lanes[*slice]) == index)
        .map(|slice| trace.categories[usize::from(trace.slices.categories[slice])].class)
        .collect();
    classes.dedup();
    (lane.kind, &lane.process_name, &lane.thread_name, classes)
}

#[test]
fn lanes_that_mindspore_derives_are_no_work() {
    let derived = |process, thread| {
        let kind = LaneKind::Derived;
        (kind, process, thread, vec![SliceClass::Derived])
    };
    let trace = whole(&fixture(MS20));
    for (process, thread, expected) in [
        ("0", "100000", derived("Host CPU OP", "Steps")),
        ("0", "100001#0", derived("Host CPU OP", "")),
        ("0", "100001#5", derived("Host CPU OP", "")),
        (
            "12000",
            "7999",
            derived("Op Overlap Analyse", "Merged Computation Op"),
        ),
        ("12000", "8002", derived("Op Overlap Analyse", "Free Time")),
        (
            "0",
            "HostCpuOps0",
            (
                LaneKind::Host,
                "Host CPU OP",
                "",
                vec![SliceClass::Operator],
            ),
        ),
    ] {
        assert_eq!(lane_meaning(&trace, process, thread), expected);
    }
    assert_eq!(trace.lanes.len(), 10);
    let trace = whole(&fixture(MS210));
    let operators = lane_meaning(&trace, "2", "0");
    assert_eq!(
        operators,
        (
            LaneKind::Host,
            "CPU OP",
            "Thread 0",
            vec![SliceClass::Operator]
        )
    );
    assert_eq!(
        lane_meaning(&trace, "3", "4"),
        derived("Scope Layer", "Thread 4")
    );
    let counts: Vec<_> = trace
        .categories
        .iter()
        .map(|category| (category.name.as_str(), category.class, category.count))
        .collect();
    assert_eq!(
        counts,
        [
            ("", SliceClass::Operator, 744),
            ("", SliceClass::Derived, 617)
        ]
    );
}

#[test]
fn lanes_of_kineto_have_names_and_kinds() {
    let trace = whole(&fixture(CNN));
    let lanes: Vec<_> = trace
        .lanes
        .iter()
        .map(|lane| {
            format!(
                "{}/{} {:?} {} {}",
                lane.process, lane.thread, lane.kind, lane.process_name, lane.thread_name
            )
        })
        .collect();
    assert_eq!(
        lanes,
        [
            "4199/4199 Host python thread 4199 (python)",
            "Spans/PyTorch Profiler Profiler  ",
            "Traces/Trace PyTorch Profiler Profiler  ",
            "/ Profiler  ",
        ]
    );
    assert_eq!(trace.lanes[0].process_sort, 4199);
    assert_eq!(trace.lanes[1].process_sort, 536_870_912);
    assert_eq!(trace.head.host.as_deref(), Some("vm"));
    assert_eq!(trace.head.options, ["memory", "shapes", "FLOPs"]);
    let marks: Vec<_> = trace
        .marks
        .iter()
        .map(|mark| (trace.texts.get(mark.name), mark.is_global))
        .collect();
    assert_eq!(
        marks,
        [
            ("Iteration Start: PyTorch Profiler", true),
            ("Record Window End", true)
        ]
    );
    let memory = trace.memory[0];
    assert_eq!(
        (memory.time, memory.bytes, memory.address),
        (4_356_230_544_537_668, 24_576, 94_317_783_424_640)
    );
    assert_eq!(
        (memory.allocated, memory.device_type, memory.device),
        (24_576, 0, -1)
    );
    // aten::uniform_ is the fourth slice.
    let shapes = &trace.shapes[trace.slices.details[3] as usize];
    assert_eq!(shapes.dims, "[[8, 3, 16, 16], [], [], []]");
    assert_eq!(shapes.types, r#"["float", "Scalar", "Scalar", ""]"#);
    assert_eq!(shapes.concrete, r#"["", "0.", "1.", ""]"#);
    assert_eq!(trace.slices.details[0], NONE);
}

#[test]
fn flows_leave_and_enter_the_slices_that_they_are_written_behind() {
    let trace = whole(&fixture(TRANSFORMER));
    for flow in &trace.flows {
        let [from, to] =
            [flow.from, flow.to].map(|slice| trace.texts.get(trace.slices.names[slice as usize]));
        assert!(from.starts_with("aten::"), "{from}");
        assert!(to.contains("Backward"), "{to}");
    }
}

#[test]
fn devices_and_launches_of_a_trace_with_kernels() {
    let trace = whole(&fixture(GENERATED));
    let device = &trace.head.devices[0];
    assert_eq!(
        (device.id, device.name.as_str()),
        (0, "NVIDIA A100-SXM4-80GB")
    );
    assert_eq!(
        (device.memory_len, device.multiprocessors),
        (85_097_971_712, 108)
    );
    assert_eq!(lane_meaning(&trace, "0", "7").0, LaneKind::Device);
    assert_eq!(lane_meaning(&trace, "0", "7").1, "GPU 0");
    // Every flow to a device leaves the call of the same correlation.
    let class =
        |slice: u32| trace.categories[usize::from(trace.slices.categories[slice as usize])].class;
    let launches: Vec<_> = trace
        .flows
        .iter()
        .filter(|flow| trace.texts.get(flow.category) == "ac2g")
        .collect();
    assert_eq!(launches.len(), 140);
    for flow in launches {
        assert_eq!(class(flow.from), SliceClass::Runtime);
        assert_eq!(
            trace.slices.links[flow.from as usize],
            trace.slices.links[flow.to as usize]
        );
        assert_ne!(trace.slices.details[flow.to as usize], NONE);
    }
    let groups: Vec<_> = trace
        .device_work
        .iter()
        .filter(|work| work.group.is_some())
        .collect();
    assert!(
        groups
            .iter()
            .all(|work| work.bytes > 0 && work.sequence != NONE && work.group_size == 1)
    );
    assert_eq!(trace.texts.get(groups[0].group.unwrap()), "0");
    let counters: Vec<_> = trace
        .counters
        .iter()
        .map(|series| {
            (
                series.process.as_str(),
                series.name.as_str(),
                series.times.len(),
            )
        })
        .collect();
    assert_eq!(
        counters,
        [(
            "GPU 0 Counters",
            "sm__throughput.avg.pct_of_peak_sustained_elapsed",
            167
        )]
    );
}

#[test]
fn a_file_is_the_same_byte_by_byte() {
    let bytes = fixture(MS210_SLOW);
    assert_eq!(pieces(bytes.chunks(1)), whole(&bytes));
    let bytes = fixture(CNN_STACK);
    assert_eq!(pieces(bytes.chunks(1)), whole(&bytes));
}
