//! A simulated training on one device, whose times are known by construction.

use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::operators::{Operators, operator};
use trainscope_analysis::trace::steps::StepRange;
use trainscope_analysis::trace::summary::summary;
use trainscope_api::profile::{
    Bound, Delays, OperatorGroup, OperatorRow, Parts, PhaseKind, StepSource,
};
use trainscope_api::timeline::TimeKind;
use trainscope_format::formats::trace_json::TraceReader;
use trainscope_format::trace::{Device, NONE, Shapes, SliceClass};

use crate::traces::support::{GeneratedTrace, model};

const STEPS: &str = "generated/steps4-layers2.pt.trace.json.gz";

#[test]
fn steps_last_until_what_they_launched_has_ended() {
    let summary = summary(&model(STEPS), StepRange::default(), usize::MAX);
    assert_eq!(summary.steps_from, StepSource::ProfilerStep);
    assert_eq!(
        (summary.events, summary.step_count, summary.whole_steps),
        (1_404, 4, 4)
    );
    let truth = [
        (
            0,
            4_193_095,
            [
                1_956_855, 211_600, 1_200, 1_665_884, 17_277, 295_164, 23_861, 21_254,
            ],
            854_116,
        ),
        (
            4_216_228,
            8_404_492,
            [
                1_950_255, 211_600, 1_200, 1_672_445, 15_794, 294_424, 22_572, 19_974,
            ],
            847_555,
        ),
        (
            8_424_735,
            12_638_270,
            [
                1_957_751, 211_600, 1_200, 1_663_770, 16_531, 315_625, 24_623, 22_435,
            ],
            856_230,
        ),
        (
            12_660_736,
            16_871_726,
            [
                1_955_328, 211_600, 1_200, 1_667_158, 18_143, 311_515, 23_169, 22_877,
            ],
            852_842,
        ),
    ];
    for ((step, (begin, end, parts, hidden)), number) in summary.steps.iter().zip(truth).zip(0..) {
        let [
            kernel,
            memcpy,
            memset,
            communication,
            runtime,
            data,
            operators,
            other,
        ] = parts;
        assert_eq!(
            (step.number, step.begin_nanos, step.end_nanos),
            (number, begin, end)
        );
        let parts = Parts {
            kernel,
            memcpy,
            memset,
            communication,
            runtime,
            data,
            operators,
            other,
        };
        assert_eq!(step.parts_nanos, parts);
        assert_eq!(
            (step.communication_nanos, step.hidden_nanos),
            (2_520_000, hidden)
        );
    }
    assert_eq!(
        summary
            .steps
            .iter()
            .map(|step| step.busy_nanos)
            .sum::<i64>(),
        15_340_646
    );
    assert_eq!(summary.median_step_nanos, 4_202_042);
    assert!(summary.outliers.is_empty());
}

#[test]
fn figures_of_the_device_hold() {
    let summary = summary(&model(STEPS), StepRange::default(), usize::MAX);
    let device = summary.device.unwrap();
    assert_eq!(device.busy_nanos, 15_340_646);
    assert!((device.utilization - 14_489_446.0 / 16_871_726.0).abs() < 1e-12);
    assert!((device.overlap.unwrap() - 3_410_743.0 / 10_080_000.0).abs() < 1e-12);
    assert_eq!(device.kernels, 104);
    let efficiency = device.sm_efficiency.unwrap();
    assert!(efficiency > 0.0 && efficiency <= device.utilization);
    assert!((0.0..=1.0).contains(&device.occupancy.unwrap()));
    // All products of matrices of the generator are of tensor cores, 48 + 8 + 8 kernels, and so is its attention.
    let products = 4_356_216.0 + 486_690.0 + 769_357.0 + 591_986.0;
    assert!((device.tensor_cores.unwrap() - products / 7_820_189.0).abs() < 1e-9);
    let delays = Delays {
        count: 140,
        sum: 137_735_075,
        median: 712_475,
        max: 3_232_533,
    };
    assert_eq!(summary.launch_delay_nanos, Some(delays));
}

fn has_class(model: &Model, class: SliceClass) -> Vec<u32> {
    let slices = model.slices();
    slices
        .filter(|slice| model.class(*slice) == class)
        .collect()
}

#[test]
fn all_kernels_of_a_launched_graph_belong_to_the_call_of_their_correlation() {
    let mut reader = TraceReader::new();
    // The number of the operator differs from the correlation, and may equal that of another call.
    reader.push(
        br#"[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":9,"args":{"External id":7}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":1,"dur":3,"args":{"correlation":7,"External id":3}},
        {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":10,"dur":5,"args":{"correlation":7,"External id":3}},
        {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":20,"dur":5,"args":{"correlation":7,"External id":3}},
        {"ph":"X","cat":"kernel","name":"c","pid":0,"tid":7,"ts":30,"dur":5,"args":{"correlation":8}}]"#,
    );
    let model = Model::new(reader.finish());
    let launches: Vec<_> = has_class(&model, SliceClass::Kernel)
        .into_iter()
        .map(|slice| {
            let call = model.launches[slice as usize] as usize;
            let name = model.trace.slices.names.get(call);
            name.map(|name| model.trace.texts.get(*name))
        })
        .collect();
    let call = Some("cudaGraphLaunch");
    assert_eq!(launches, [call, call, None]);
}

#[test]
fn device_work_belongs_to_its_launch() {
    let model = model(STEPS);
    for class in [SliceClass::Kernel, SliceClass::Memcpy, SliceClass::Memset] {
        for slice in has_class(&model, class) {
            let call = model.launches[slice as usize];
            assert_ne!(call, NONE);
            assert_eq!(model.class(call), SliceClass::Runtime);
            assert_eq!(model.phases[slice as usize], model.phases[call as usize]);
        }
    }
    for slice in has_class(&model, SliceClass::DeviceAnnotation) {
        assert_eq!(model.kinds[slice as usize], TimeKind::Idle);
    }
    let operators = Operators::new(&model);
    let table = operators.table(OperatorGroup::Name, StepRange::default());
    // Collectives are launched by the thread of the backward pass itself, all else within operators or annotations.
    let self_nanos: i64 = table.rows.iter().map(|row| row.device_self_nanos).sum();
    assert_eq!(
        (self_nanos, table.device_nanos),
        (18_751_389 - 10_080_000, 18_751_389)
    );
    let backward = table
        .rows
        .iter()
        .find(|row| row.name == "aten::mm")
        .unwrap();
    assert_eq!((backward.calls, backward.phase), (48, PhaseKind::Backward));
    assert_eq!(backward.device_self_nanos, 4_356_216);
    assert!(backward.tensor_cores);
    // Annotations of steps are no operators.
    let names = table.rows.iter().map(|row| row.name.as_str());
    assert!(names.clone().all(|name| !name.starts_with("ProfilerStep")));
    let shares: f64 = table.rows.iter().map(|row| row.share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
}

#[test]
fn kernels_are_rows_of_their_own() {
    let model = model(STEPS);
    let table = Operators::new(&model).table(OperatorGroup::Kernel, StepRange::default());
    assert_eq!(table.rows.iter().map(|row| row.calls).sum::<u64>(), 140);
    assert_eq!(
        table.rows.iter().map(|row| row.self_nanos).sum::<i64>(),
        18_751_389
    );
    let nccl = table
        .rows
        .iter()
        .filter(|row| row.r#type == "communication");
    assert_eq!(
        nccl.map(|row| (row.calls, row.self_nanos))
            .collect::<Vec<_>>(),
        [(24, 10_080_000)]
    );
    let detail = operator(
        &model,
        OperatorGroup::Name,
        "aten::mm",
        None,
        StepRange::default(),
    )
    .unwrap();
    assert_eq!(detail.kernels.len(), 1);
    assert_eq!(detail.sequences.len(), 1);
    assert_eq!(detail.sequences[0].1, 48);
    assert_eq!(detail.by_step.len(), 4);
    let name = &detail.kernels[0].name;
    let kernel = operator(
        &model,
        OperatorGroup::Kernel,
        name,
        None,
        StepRange::default(),
    )
    .unwrap();
    assert_eq!(kernel.callers, [("aten::mm".to_owned(), 48)]);
    assert!(kernel.kernels.is_empty());
}

#[test]
fn kernels_with_other_arguments_are_rows_by_full_name() {
    let mut trace = model(STEPS).trace;
    let gemm = trace
        .texts
        .iter()
        .find(|name| name.contains("gemm"))
        .unwrap()
        .to_owned();
    let id = trace.texts.find(&gemm).unwrap();
    let names = ["half", "float"].map(|kind| format!("void {gemm}<4, {kind}>(int)"));
    let ids = [0, 1].map(|at: usize| trace.texts.intern(&names[at]));
    let matching = (0..trace.slices.len()).filter(|slice| trace.slices.names[*slice] == id);
    let matching: Vec<usize> = matching.collect();
    for (at, slice) in matching.iter().enumerate() {
        trace.slices.names[*slice] = ids[usize::from(at % 3 == 0)];
    }
    let model = Model::new(trace);
    let table = |by| Operators::new(&model).table(by, StepRange::default()).rows;
    let rows = |by, name: &str| -> Vec<u64> {
        let rows = table(by).into_iter().filter(|row| row.name == name);
        rows.map(|row| row.calls).collect()
    };
    assert_eq!(matching.len(), 8);
    assert_eq!(rows(OperatorGroup::Kernel, &gemm), [8]);
    assert_eq!(rows(OperatorGroup::Variant, &names[0]), [5]);
    assert_eq!(rows(OperatorGroup::Variant, &names[1]), [3]);
    let of = |by, name: &str| operator(&model, by, name, None, StepRange::default()).unwrap();
    let variants = of(OperatorGroup::Kernel, &gemm).kernels;
    let variants: Vec<_> = variants.into_iter().map(|row| row.name).collect();
    assert_eq!(variants, names);
    assert_eq!(of(OperatorGroup::Variant, &names[1]).row.calls, 3);
}

#[test]
fn a_trace_that_ends_before_its_device_has_a_last_step_that_is_not_whole() {
    let mut trace = model(STEPS).trace;
    // Half of the launches of the last step are lost.
    let step = 4_356_230_556_660_736 + 2_000_000;
    for slice in 0..trace.slices.len() {
        if trace.slices.begins[slice] > step {
            trace.slices.links[slice] = NONE;
        }
    }
    let summary = summary(&Model::new(trace), StepRange::default(), usize::MAX);
    let whole: Vec<bool> = summary.steps.iter().map(|step| step.is_whole).collect();
    assert_eq!(whole, [true, true, true, false]);
    assert_eq!((summary.step_count, summary.whole_steps), (4, 3));
    assert_eq!(summary.median_step_nanos, 4_193_095);
}

/// A copy or an addition of two million numbers that takes a millisecond of an A100.
fn of_two_million(operator: &str, work: &str) -> OperatorRow {
    let class = if work.starts_with("Memcpy") {
        SliceClass::Memcpy
    } else {
        SliceClass::Kernel
    };
    let model = GeneratedTrace::new(1)
        .slice(0, SliceClass::Operator, operator, (0, 200), None)
        .slice(
            0,
            SliceClass::Runtime,
            "cudaLaunchKernel",
            (50, 100),
            Some(1),
        )
        .slice(1, class, work, (100, 1_000_100), Some(1))
        .change(|trace| {
            trace.head.devices.push(Device {
                name: "NVIDIA A100-SXM4-80GB".to_owned(),
                ..Device::default()
            });
            trace.shapes.push(Shapes {
                dims: "[[2000, 1000],\n  [1000]]".to_owned(),
                types: r#"["float", "float"]"#.to_owned(),
                ..Shapes::default()
            });
            trace.slices.details[0] = 0;
        })
        .model();
    let rows = Operators::new(&model)
        .table(OperatorGroup::Shape, StepRange::default())
        .rows;
    rows.into_iter().next().unwrap()
}

#[test]
fn operators_have_a_share_of_what_the_memory_allows() {
    let add = of_two_million("aten::add", "vectorized_elementwise_kernel");
    assert_eq!(add.shapes, "[[2000, 1000], [1000]]");
    assert_eq!(add.bytes, 16_004_000);
    // 16 MB in a millisecond are 16 GB/s of 2,039.
    let share = add.roofline.unwrap();
    assert!((share - 16.004 / 2_039.0).abs() < 1e-9, "{share}");
    assert_eq!(add.bound, Some(Bound::Memory));
    let within = of_two_million("aten::copy_", "Memcpy DtoD (Device -> Device)");
    assert_eq!(within.bytes, 8_004_000);
    let from_host = of_two_million("aten::copy_", "Memcpy HtoD (Pinned -> Device)");
    assert_eq!((from_host.bytes, from_host.roofline), (0, None));
}
