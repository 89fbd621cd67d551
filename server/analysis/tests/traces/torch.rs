//! Traces of `torch.profiler` on a CPU.

use serde::Deserialize;
use trainscope_analysis::trace::advice::apply;
use trainscope_analysis::trace::operators::{Operators, Request, operator, operators};
use trainscope_analysis::trace::steps::StepRange;
use trainscope_analysis::trace::summary::summary;
use trainscope_analysis::trace::{Model, Role};
use trainscope_api::profile::{
    OperatorGroup, Parts, PhaseKind, ProfileStep, SessionSummary, StepSource,
};
use trainscope_format::trace::SliceClass;

use crate::traces::support::{GeneratedTrace, model, unpacked};

fn summary_of(name: &str) -> SessionSummary {
    summary(&model(name), StepRange::default(), usize::MAX)
}

fn lengths(steps: &[ProfileStep]) -> Vec<i64> {
    let lengths = steps.iter().map(|step| step.end_nanos - step.begin_nanos);
    lengths.collect()
}

fn sums(steps: &[ProfileStep], part: fn(&Parts) -> i64) -> i64 {
    steps.iter().map(|step| part(&step.parts_nanos)).sum()
}

fn sum(parts: &Parts) -> i64 {
    parts.kernel
        + parts.memcpy
        + parts.memset
        + parts.communication
        + parts.runtime
        + parts.data
        + parts.operators
        + parts.other
}

#[test]
fn steps_are_guessed_from_annotations_that_repeat() {
    let summary = summary_of("torch-cnn/plain.pt.trace.json.gz");
    assert_eq!(summary.steps_from, StepSource::Annotations);
    assert_eq!(summary.steps_by.as_deref(), Some("## data ##"));
    assert_eq!(summary.origin_nanos, "4356230544447395");
    assert_eq!(summary.unix_nanos.as_deref(), Some("1795213256544447395"));
    assert_eq!(summary.extent_nanos, 5_511_880);
    assert_eq!((summary.step_count, summary.whole_steps), (2, 2));
    assert_eq!(lengths(&summary.steps).iter().sum::<i64>(), 5_511_880);
    assert_eq!(summary.median_step_nanos, 2_755_940);
    assert_eq!(sums(&summary.steps, |parts| parts.data), 260_806);
    assert_eq!(sums(&summary.steps, |parts| parts.operators), 5_127_518);
    assert_eq!(sums(&summary.steps, |parts| parts.other), 123_556);
    assert_eq!(summary.steps[0].parts_nanos.data, 188_192);
    assert_eq!(summary.steps[0].parts_nanos.operators, 2_608_813);
    assert_eq!(summary.flows["fwdbwd"], 22);
    assert_eq!(summary.categories["cpu_op"].count, 764);
    assert_eq!(summary.categories["cpu_op"].nanos, 8_911_996);
    assert_eq!(summary.unnested, 0);
    let rows = summary.lanes.iter().map(|lane| lane.rows).max();
    assert_eq!(rows, Some(6));
    assert_eq!(summary.operators[0].name, "aten::convolution_backward");
    assert_eq!(
        (summary.operators[0].calls, summary.operators[0].self_nanos),
        (4, 750_120)
    );
    assert_eq!(summary.operator_count, 86);
    assert_eq!((summary.device, summary.launch_delay_nanos), (None, None));
}

#[test]
fn steps_of_a_transformer_are_guessed_too() {
    let summary = summary_of("torch-transformer/plain.pt.trace.json.gz");
    assert_eq!((summary.step_count, summary.extent_nanos), (2, 13_480_244));
    assert_eq!(lengths(&summary.steps).iter().sum::<i64>(), 13_480_244);
    assert_eq!(sums(&summary.steps, |parts| parts.data), 175_609);
    assert_eq!(sums(&summary.steps, |parts| parts.operators), 13_120_850);
    assert_eq!(summary.flows["fwdbwd"], 268);
    assert_eq!(summary.operator_count, 136);
    assert_eq!(summary.flops["aten::mm"], 7_481_344);
    assert_eq!(summary.flops["aten::addmm"], 1_971_200);
    assert_eq!(summary.flops["aten::bmm"], 884_736);
}

#[test]
fn steps_of_the_profiler_have_their_numbers() {
    for (name, truth, data, operators) in [
        (
            "torch-cnn/tb.pt.trace.json.gz",
            [2_586_272, 2_417_579, 2_124_099],
            [90_598, 60_638, 60_689],
            [2_410_150, 2_284_269, 1_994_748],
        ),
        (
            "torch-transformer/tb.pt.trace.json.gz",
            [5_295_702, 4_897_779, 4_970_000],
            [76_103, 42_611, 41_173],
            [5_084_500, 4_732_494, 4_814_526],
        ),
    ] {
        let summary = summary_of(name);
        assert_eq!(summary.steps_from, StepSource::ProfilerStep);
        let numbers: Vec<i64> = summary.steps.iter().map(|step| step.number).collect();
        assert_eq!(numbers, [2, 3, 4]);
        assert_eq!(lengths(&summary.steps), truth);
        for (index, step) in summary.steps.iter().enumerate() {
            assert_eq!(step.parts_nanos.data, data[index]);
            assert_eq!(step.parts_nanos.operators, operators[index]);
            assert_eq!(sum(&step.parts_nanos), truth[index]);
            assert!(step.is_whole);
        }
        let mut sorted = truth;
        sorted.sort_unstable();
        assert_eq!(summary.median_step_nanos, sorted[1]);
    }
}

#[test]
fn without_steps_the_whole_trace_counts_as_one() {
    let summary = summary_of("torch-cnn/stack.pt.trace.json.gz");
    assert_eq!(summary.steps_from, StepSource::None);
    assert_eq!(
        (summary.step_count, summary.whole_steps, summary.steps.len()),
        (0, 0, 1)
    );
    assert_eq!(summary.median_step_nanos, 4_667_048);
    let parts = summary.steps[0].parts_nanos;
    assert_eq!(
        (parts.data, parts.operators, parts.other),
        (270_113, 3_932_793, 464_142)
    );
    assert_eq!(summary.categories["python_function"].count, 543);
    assert_eq!(summary.categories["python_function"].nanos, 32_824_319);
    assert_eq!(summary.unnested, 20);
    assert_eq!(summary.lanes.iter().map(|lane| lane.rows).max(), Some(20));
}

#[derive(Deserialize)]
struct Average {
    name: String,
    count: u64,
    self_cpu_us: f64,
    cpu_us: f64,
}

#[test]
fn operators_agree_with_key_averages_of_torch() {
    // The sums of torch go through binary fractions of microseconds.
    const NANOS: f64 = 10.0;
    for (folder, names) in [("torch-cnn", 86), ("torch-transformer", 136)] {
        let text = unpacked(&format!("{folder}/plain.key_averages.json"));
        let mut averages: Vec<Average> = serde_json::from_slice(&text).unwrap();
        averages.retain(|average| average.name != "[memory]");
        let model = model(&format!("{folder}/plain.pt.trace.json.gz"));
        let table = Operators::new(&model).table(OperatorGroup::Name, StepRange::default());
        assert_eq!((averages.len(), table.rows.len()), (names, names));
        for average in averages {
            let row = table
                .rows
                .iter()
                .find(|row| row.name == average.name)
                .unwrap();
            assert_eq!(row.calls, average.count, "{}", row.name);
            let self_time = (row.self_nanos as f64 - average.self_cpu_us * 1e3).abs();
            let total = (row.total_nanos as f64 - average.cpu_us * 1e3).abs();
            assert!(self_time <= NANOS && total <= NANOS, "{}", row.name);
        }
        assert!(table.rows.is_sorted_by_key(|row| -row.self_nanos));
        let shares: f64 = table.rows.iter().map(|row| row.share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
    }
}

#[test]
fn flops_follow_from_shapes() {
    let flops = summary_of("torch-cnn/plain.pt.trace.json.gz").flops;
    assert_eq!(flops["aten::addmm"], 184_320);
    assert_eq!(flops["aten::mm"], 368_640);
    assert_eq!(flops["aten::conv2d"], 3_096_576);
    // Two layers, two steps; the first layer's input needs no gradient.
    let (first, second) = (2 * 8 * 8 * 256 * 27, 2 * 8 * 16 * 36 * 72);
    assert_eq!(
        flops["aten::convolution_backward"],
        2 * (first + 2 * second)
    );
}

#[test]
fn rows_add_up_in_every_group() {
    let model = model("torch-cnn/stack.pt.trace.json.gz");
    let operators = Operators::new(&model);
    let by_name = operators.table(OperatorGroup::Name, StepRange::default());
    for by in [
        OperatorGroup::Type,
        OperatorGroup::Scope,
        OperatorGroup::Shape,
    ] {
        let table = operators.table(by, StepRange::default());
        let totals = |rows: &[trainscope_api::profile::OperatorRow]| {
            let nanos: i64 = rows.iter().map(|row| row.self_nanos).sum();
            let calls: u64 = rows.iter().map(|row| row.calls).sum();
            (nanos, calls, rows.iter().map(|row| row.flops).sum::<u64>())
        };
        assert_eq!(totals(&table.rows), totals(&by_name.rows), "{by:?}");
    }
    let scopes = operators
        .table(OperatorGroup::Scope, StepRange::default())
        .rows;
    let conv = scopes
        .iter()
        .find(|row| row.name == "Sequential_0/Conv2d_1")
        .unwrap();
    // One convolution forward; the gradients of both of its inputs, by the flow from forward to backward.
    let once = 2 * 8 * 16 * 36 * 72;
    assert_eq!(conv.flops, 3 * once);
    assert!(scopes.iter().all(|row| row.total_nanos >= row.self_nanos));
}

#[test]
fn a_range_of_steps_leaves_out_the_others() {
    let model = model("torch-cnn/tb.pt.trace.json.gz");
    let one = |step| StepRange {
        since: Some(step),
        until: Some(step),
    };
    let all = Operators::new(&model).table(OperatorGroup::Name, StepRange::default());
    let conv = |table: &[trainscope_api::profile::OperatorRow]| {
        let row = table.iter().find(|row| row.name == "aten::conv2d").unwrap();
        (row.calls, row.self_nanos)
    };
    let parts: Vec<(u64, i64)> = (2..=4)
        .map(|step| {
            conv(
                &Operators::new(&model)
                    .table(OperatorGroup::Name, one(step))
                    .rows,
            )
        })
        .collect();
    assert!(parts.iter().all(|(calls, _)| *calls == 2));
    assert_eq!(conv(&all.rows), (6, parts.iter().map(|part| part.1).sum()));
    let third = summary(&model, one(3), usize::MAX);
    assert_eq!((third.step_count, third.median_step_nanos), (1, 2_417_579));
    let cut = summary(&model, StepRange::default(), 2);
    assert_eq!(
        cut.steps
            .iter()
            .map(|step| step.of_steps)
            .collect::<Vec<_>>(),
        [2, 1]
    );
    // The longest of its group.
    assert_eq!(cut.steps[0].number, 2);
}

#[test]
fn answers_are_filtered_and_bounded() {
    let model = model("torch-cnn/plain.pt.trace.json.gz");
    let request = Request {
        filter: Some("type:mm"),
        limit: Some(1),
        ..Request::default()
    };
    let answer = operators(&model, &request);
    assert_eq!((answer.total, answer.rows.len(), answer.cut), (4, 1, true));
    let from = 1;
    let limit = None;
    let rest = operators(
        &model,
        &Request {
            from,
            limit,
            ..request
        },
    );
    let rows = answer.rows.iter().chain(&rest.rows);
    let mut names: Vec<&str> = rows.map(|row| row.name.as_str()).collect();
    names.sort_unstable();
    let addmm = "autograd::engine::evaluate_function: AddmmBackward0";
    assert_eq!(names, ["AddmmBackward0", "aten::addmm", "aten::mm", addmm]);
}

#[test]
fn one_operator_in_detail() {
    let model = model("torch-cnn/plain.pt.trace.json.gz");
    let range = StepRange::default();
    let detail = operator(&model, OperatorGroup::Name, "aten::conv2d", None, range).unwrap();
    assert_eq!(detail.row.calls, 4);
    assert_eq!(detail.counts.iter().sum::<u64>(), 4);
    assert_eq!(detail.by_step.len(), 2);
    assert_eq!(detail.shapes.len(), 2);
    assert_eq!(detail.callers, [("## forward ##".to_owned(), 4)]);
    assert_eq!(detail.longest_nanos, *detail.edges_nanos.last().unwrap());
    assert!(detail.kernels.is_empty() && detail.sequences.is_empty());
    assert_eq!(
        operator(&model, OperatorGroup::Name, "aten::none", None, range),
        None
    );
}

#[test]
fn phases_of_a_step_are_in_order_and_fill_it() {
    let model = model("torch-cnn/plain.pt.trace.json.gz");
    let summary = summary(&model, StepRange::default(), usize::MAX);
    for step in &summary.steps {
        let ends = step.phases.iter().map(|phase| phase.end_nanos);
        let begins = step.phases.iter().map(|phase| phase.begin_nanos);
        assert!(
            begins
                .clone()
                .skip(1)
                .eq(ends.clone().take(step.phases.len() - 1))
        );
        assert_eq!(begins.min(), Some(step.begin_nanos));
        assert_eq!(ends.max(), Some(step.end_nanos));
        let mut kinds: Vec<PhaseKind> = step.phases.iter().map(|phase| phase.kind).collect();
        kinds.retain(|kind| *kind != PhaseKind::Host);
        assert_eq!(
            kinds,
            [
                PhaseKind::Data,
                PhaseKind::Forward,
                PhaseKind::Backward,
                PhaseKind::Update
            ]
        );
        let data = step
            .phases
            .iter()
            .find(|phase| phase.kind == PhaseKind::Data)
            .unwrap();
        assert_eq!(data.end_nanos - data.begin_nanos, step.parts_nanos.data);
    }
}

#[test]
fn slices_have_the_phase_of_what_is_around_them() {
    let model = model("torch-cnn/plain.pt.trace.json.gz");
    let check = |model: &Model, name: &str, phase| {
        let slices = model.slices().filter(|slice| model.name(*slice) == name);
        let slices: Vec<u32> = slices.collect();
        assert!(!slices.is_empty());
        for slice in slices {
            assert_eq!(model.phases[slice as usize], phase, "{name}");
            assert_eq!(model.roles[slice as usize], Role::Operators);
        }
    };
    check(&model, "aten::conv2d", PhaseKind::Forward);
    check(&model, "aten::convolution_backward", PhaseKind::Backward);
    check(&model, "aten::sqrt", PhaseKind::Update);
    check(
        &model,
        "Optimizer.zero_grad#Adam.zero_grad",
        PhaseKind::Backward,
    );
}

/// Steps of 10 ms that two threads mark, the second 2 ms later.
#[test]
fn steps_are_those_of_one_thread() {
    const MILLI: i64 = 1_000_000;
    let mut trace = GeneratedTrace::new(1);
    for step in 0..4 {
        let begin = step * 10 * MILLI;
        let name = format!("ProfilerStep#{step}");
        for (lane, late) in [(0, 0), (1, 2 * MILLI)] {
            let span = (begin + late, begin + late + 9 * MILLI);
            trace = trace.slice(lane, SliceClass::Annotation, &name, span, None);
        }
    }
    // At another time the second thread is alone.
    let span = (100 * MILLI, 109 * MILLI);
    trace = trace.slice(1, SliceClass::Annotation, "ProfilerStep#9", span, None);
    let summary = summary(&trace.model(), StepRange::default(), usize::MAX);
    let numbers: Vec<i64> = summary.steps.iter().map(|step| step.number).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 9]);
    assert_eq!(lengths(&summary.steps), [9 * MILLI; 5]);
}

/// Two devices in one file, of which the second works for half of the time.
#[test]
fn each_device_of_several_has_its_utilization() {
    let mut trace = GeneratedTrace::new(2).change(|trace| {
        trace.lanes[2].process = "1".to_owned();
    });
    for step in 0..6 {
        let begin = step * 100;
        let name = format!("ProfilerStep#{step}");
        trace = trace
            .slice(0, SliceClass::Annotation, &name, (begin, begin + 100), None)
            .slice(1, SliceClass::Kernel, "gemm", (begin, begin + 100), None)
            .slice(2, SliceClass::Kernel, "gemm", (begin, begin + 50), None);
    }
    let model = trace.model();
    let mut summary = summary(&model, StepRange::default(), usize::MAX);
    let shares = summary
        .devices
        .iter()
        .map(|device| (&*device.name, device.utilization));
    let shares: Vec<(&str, f64)> = shares.collect();
    assert_eq!(shares, [("GPU 0", 1.0), ("GPU 1", 0.5)]);
    assert_eq!(summary.device.map(|device| device.utilization), Some(0.75));
    apply(&model, &mut summary, None);
    assert!(
        summary.sentence.en.contains("GPU 0 100 %, GPU 1 50 %"),
        "{}",
        summary.sentence.en
    );
}

#[test]
fn annotations_with_numbers_of_steps_are_steps() {
    use trainscope_analysis::trace::meaning::numbered_step;
    for (name, step) in [
        ("iteration 3", Some(("iteration", 3))),
        ("Iteration=12", Some(("Iteration", 12))),
        ("train_step_7", Some(("train_step", 7))),
        ("step #40", Some(("step", 40))),
        ("step40", Some(("step", 40))),
        ("step", None),
        ("layer 3", None),
        ("optimizer_step_3", None),
        ("step 3 of 9", None),
        ("step 99999999999999999999", None),
        ("", None),
    ] {
        assert_eq!(numbered_step(name), step, "{name}");
    }
}
