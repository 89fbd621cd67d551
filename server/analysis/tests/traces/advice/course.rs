//! Advice about memory, about the course of a training and about the recording itself; sentences and baselines.

use proptest::prelude::*;

use crate::traces::critical::any_trace;
use crate::traces::support::{generated, model, unpacked};
use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::advice::baseline::{self, Baseline};
use trainscope_analysis::trace::advice::{self, Facts, Lack, Limits, Rule};
use trainscope_api::profile::{InputShare, ProfileState, SessionSummary};
use trainscope_format::Severity;
use trainscope_format::formats::mindspore_profile::{MindsporeFiles, read};
use trainscope_format::trace::{MemoryEvent, SliceClass, TraceDamage};

use super::{STEP, Training, fault, judge, of, whole};

/// An event of a device with a million bytes.
fn memory(time: i64, bytes: i64, allocated: u64, reserved: u64) -> MemoryEvent {
    MemoryEvent {
        time,
        bytes,
        address: time.unsigned_abs(),
        allocated,
        reserved,
        device_type: 1,
        device: 0,
        lane: 0,
        ..MemoryEvent::default()
    }
}

#[test]
fn memory_that_is_full_grows_or_is_in_pieces() {
    let with = |events: Vec<MemoryEvent>| {
        Training::steps(30, |step, _| step.healthy()).change(|trace| trace.memory = events)
    };
    let near = fault(
        Rule::MemoryNearLimit,
        with(vec![memory(5, 950_000, 950_000, 960_000)]),
    );
    assert_eq!((near.severity, near.gain_nanos), (Severity::Warning, 0));
    let full = fault(
        Rule::MemoryNearLimit,
        with(vec![memory(5, 990_000, 990_000, 990_000)]),
    );
    assert_eq!(full.severity, Severity::Error);
    let pieces = fault(
        Rule::MemoryFragmentation,
        with(vec![memory(5, 300_000, 300_000, 800_000)]),
    );
    assert!((pieces.value - 0.625).abs() < 1e-9);
    let leak = (0..30).map(|step: u32| {
        let allocated = u64::from(step + 1) * 1_000;
        memory(i64::from(step) * STEP, 1_000, allocated, allocated)
    });
    let grown = fault(Rule::MemoryGrowth, with(leak.collect()));
    assert!(
        grown
            .evidence
            .en
            .contains("1.0 kB a step: full in 970 steps"),
        "{}",
        grown.evidence.en
    );
}

#[test]
fn allocators_and_compilers_in_later_steps() {
    let calls = |name: &'static str, class: SliceClass, first: i64| {
        Training::steps(8, move |step, number| {
            let step = step
                .kernel("s16816gemm", 2, 5, 600)
                .kernel("s16816gemm", 590, 700, 980);
            if number >= first {
                step.host(class, name, 610, 680)
            } else {
                step
            }
        })
    };
    let malloc = fault(
        Rule::AllocatorInStep,
        calls("cudaMalloc", SliceClass::Runtime, 4),
    );
    assert_eq!((malloc.value, malloc.step), (4.0, Some(4)));
    assert!(malloc.gain_nanos > 0);
    let name = "_compile.compile_inner (dynamo_timed)";
    let compiled = fault(Rule::Recompilation, calls(name, SliceClass::Annotation, 6));
    assert_eq!(compiled.value, 2.0);
    let warm = Training::steps(8, |step, number| match number {
        0 | 1 => step
            .healthy()
            .host(SliceClass::Runtime, "cudaMalloc", 985, 990),
        _ => step.healthy(),
    });
    assert!(judge(&warm.model()).passed.contains(&Rule::AllocatorInStep));
}

#[test]
fn long_steps_and_longer_and_longer_ones() {
    let uneven = Training::steps(25, |mut step, number| {
        if number % 5 == 4 {
            step = step.kernel("s16816gemm", 5, 10, 980).host(
                SliceClass::Annotation,
                "enumerate(DataLoader)#X.__next__",
                990,
                1_490,
            );
            step.begin += 1_500_000;
            return step;
        }
        step.healthy()
    });
    let found = fault(Rule::StepOutliers, uneven);
    assert!(
        found.evidence.en.contains("waiting for data"),
        "{}",
        found.evidence.en
    );
    assert_eq!(found.severity, Severity::Warning);
    let drifting = Training::steps(30, |step, number| {
        let end = 980 + number * 20;
        let mut step = step.kernel("s16816gemm", 5, 10, end);
        step.begin += end * 1_000 + 10_000;
        step
    });
    let found = fault(Rule::StepTimeDrift, drifting);
    assert!((0.3..0.6).contains(&found.value), "{}", found.value);
}

#[test]
fn the_recording_itself() {
    let frames = Training::steps(8, |mut step, _| {
        for index in 0..100 {
            step = step.host(
                SliceClass::PythonFrame,
                "train.py(1): f",
                index * 9,
                index * 9 + 5,
            );
        }
        step.healthy()
    });
    let found = fault(Rule::ProfilerOverhead, frames);
    assert!((found.value - 0.1).abs() < 0.01);
    let damaged = Training::steps(8, |step, _| step.healthy()).change(|trace| {
        trace.counts.damaged = 3;
        trace.counts.truncated = true;
        trace.counts.damages = vec![TraceDamage { offset: 7, len: 9 }];
    });
    assert_eq!(fault(Rule::ProfileDamaged, damaged).value, 4.0);
    let model = generated();
    let mut reading = whole(&model);
    reading.state = ProfileState::Reading;
    let judged = advice::judge(&Facts::new(&model, &reading, None), &Limits::default());
    assert!(judged.passed.is_empty() && judged.advice.is_empty());
    assert!(
        judged
            .not_judged
            .iter()
            .all(|entry| entry.1 == Lack::Reading)
    );
}

#[test]
fn too_few_or_too_uneven_steps_are_not_judged_and_their_number_is_said() {
    // Lengths in milliseconds.
    let of = |lengths: &[i64]| {
        let steps = i64::try_from(lengths.len()).unwrap();
        let model = Training::steps(steps, |step, at| {
            let length = lengths[usize::try_from(at).unwrap()];
            let mut step = step.host(SliceClass::Operator, "aten::mm", 0, 900);
            step.begin += length * 1_000_000;
            step
        })
        .model();
        let mut summary = whole(&model);
        advice::apply(&model, &mut summary, None);
        summary
    };
    let few = of(&[1, 1, 1]);
    let open = "4 rules need at least 5 steps, and 3 whole ones were recorded: not judged.";
    assert_eq!(few.unjudged.unwrap().en, open);
    assert_eq!(
        few.detail.en,
        format!("3 rules found nothing that would make it shorter. {open}")
    );
    let passed = ["data_bound", "profiler_overhead", "profile_damaged"];
    assert_eq!(few.passed, passed);
    // The first step is not compared with the others; a step of 20 times the median is.
    let outlier = of(&[50, 2, 2, 2, 2, 2, 2, 40]);
    let unjudged = outlier.unjudged.unwrap();
    assert!(
        unjudged.en.ends_with(": too uneven to judge."),
        "{unjudged:?}"
    );
    assert!(!outlier.passed.contains(&"data_bound".to_owned()));
    assert!(
        outlier
            .not_judged
            .iter()
            .any(|entry| entry.reason.en == "the steps are too uneven")
    );
    // No step is far from the median, and yet no two are alike.
    let scattered = of(&[50, 1, 1, 2, 6, 7, 7, 8, 9]);
    assert!(scattered.unjudged.is_some(), "{scattered:?}");
    let even = of(&[50, 5, 5, 5, 5, 5, 7]);
    // Drift needs more steps than the others, and nothing was launched.
    let open = "2 rules were not judged: launches were not recorded, too few profiled steps.";
    assert_eq!(even.unjudged.unwrap().en, open);
    assert!(even.passed.contains(&"data_bound".to_owned()));
}

#[test]
fn sentences_say_what_a_step_costs_and_what_would_help() {
    let applied = |model: &Model| {
        let mut summary = whole(model);
        advice::apply(model, &mut summary, None);
        summary
    };
    let slow = applied(
        &Training::steps(8, |step, _| {
            step.host(
                SliceClass::Annotation,
                "enumerate(DataLoader)#X.__next__",
                0,
                300,
            )
            .kernel("s16816gemm", 310, 320, 980)
        })
        .model(),
    );
    assert_eq!(
        slow.sentence.en,
        "A step takes 999 µs; for 339 µs of it (34 %) the GPU waits."
    );
    assert_eq!(
        slow.detail.en,
        "With the change below a step could drop to about 699 µs. \
         1 rule was not judged: too few profiled steps."
    );
    assert!(
        slow.not_judged
            .iter()
            .any(|entry| entry.id == "step_time_regression")
    );
    let count = slow.advice.len() + slow.passed.len() + slow.not_judged.len();
    assert_eq!(count, Rule::ALL.len());
    let host = applied(&model("torch-cnn/tb.pt.trace.json.gz"));
    assert!(
        host.sentence
            .en
            .starts_with("A step takes 2.38 ms; for 70.6 µs of it (3 %) it waits for data."),
        "{}",
        host.sentence.en
    );
    let none = applied(&model("torch-cnn/stack.pt.trace.json.gz"));
    assert!(
        none.sentence.en.starts_with("No steps were recorded"),
        "{}",
        none.sentence.en
    );
}

#[test]
fn baselines_are_compared_on_the_same_device() {
    let training = |end: i64| {
        whole(
            &Training::steps(20, |step, number| {
                let end = end + number % 3;
                let mut step = step.kernel("s16816gemm", 5, 10, end);
                step.begin += end * 1_000 + 20_000;
                step
            })
            .model(),
        )
    };
    let (good, same, slow) = (training(2_000), training(2_010), training(2_600));
    let limits = Limits::default();
    let against = |now: &SessionSummary, good: &SessionSummary, any_device| {
        let baseline = Baseline {
            summary: Some(good),
            any_device,
        };
        baseline::judge(now, Some(baseline), &limits)
    };
    assert!(
        against(&same, &good, false)
            .passed
            .contains(&Rule::StepTimeRegression)
    );
    let judged = against(&slow, &good, false);
    let found = of(&judged, Rule::StepTimeRegression).unwrap();
    assert!((1.28..1.32).contains(&found.value), "{}", found.value);
    assert_eq!(
        (found.severity, found.gain_nanos),
        (Severity::Warning, 600_000)
    );
    assert_eq!(against(&slow, &good, false), judged);
    let other = SessionSummary {
        device_name: Some("another one".to_owned()),
        ..good.clone()
    };
    let judged = against(&slow, &other, false);
    assert!(
        judged
            .not_judged
            .contains(&(Rule::StepTimeRegression, Lack::OtherDevice))
    );
    assert_eq!(against(&slow, &other, true).advice.len(), 1);
    let none = baseline::judge(&slow, None, &limits);
    assert_eq!((none.passed.len(), none.not_judged.len()), (0, 2));
}

/// Limits at which nearly every rule finds something.
fn no_limits() -> Limits {
    Limits {
        data_share: 0.0,
        idle_share: 0.0,
        host_idle_share: 0.0,
        short_kernel_share: 0.0,
        launch_idle_share: 0.0,
        sync_calls: 0.0,
        sync_idle_share: 0.0,
        pageable_share: 0.0,
        exposed_share: 0.0,
        outlier_share: 0.0,
        ..Limits::default()
    }
}

/// An iterator that waited for this time between two batches.
fn waited(nanos: i64) -> InputShare {
    InputShare {
        share: 1.0,
        batches: 2,
        is_judged: false,
        mean_waited_nanos: nanos,
        mean_whole_nanos: nanos,
        empty: 1,
    }
}

/// Sum of the gains that are not within compute, and the time that they are taken from.
fn sum_of_gains(model: &Model, input: Option<InputShare>) -> (i64, i64) {
    let summary = SessionSummary {
        input,
        ..whole(model)
    };
    let facts = Facts::new(model, &summary, None);
    let judged = advice::judge(&facts, &no_limits());
    let apart = Rule::TensorCoresUnused.name();
    let gains = judged.advice.iter().filter(|advice| advice.id != apart);
    let gains: Vec<i64> = gains.map(|advice| advice.gain_nanos).collect();
    assert!(gains.iter().all(|gain| *gain >= 0), "{:?}", judged.advice);
    let room = facts.outside_of_compute();
    assert!(facts.without_compute() <= room);
    (gains.iter().sum(), room)
}

#[test]
fn gains_of_real_traces_never_exceed_the_rest_of_a_step() {
    for path in [
        "generated/steps4-layers2.pt.trace.json.gz",
        "generated/steps8-healthy.pt.trace.json.gz",
        "torch-cnn/plain.pt.trace.json.gz",
        "torch-cnn/stack.pt.trace.json.gz",
        "torch-cnn/tb.pt.trace.json.gz",
        "torch-transformer/plain.pt.trace.json.gz",
        "torch-transformer/stack.pt.trace.json.gz",
        "torch-transformer/tb.pt.trace.json.gz",
        "ms20-lenet/cpu_timeline_display_0.json.gz",
        "ms210-lenet/trace_view.json.gz",
        "jax-cpu/host.trace.json.gz",
    ] {
        let model = model(path);
        for input in [None, Some(waited(1_000_000)), Some(waited(i64::MAX))] {
            let (sum, room) = sum_of_gains(&model, input);
            assert!(sum <= room, "{path}: {sum} of {room}");
        }
    }
    for folder in [
        "ms20-lenet",
        "ms20-slow-data",
        "ms210-lenet",
        "ms210-slow-data",
    ] {
        let executions = unpacked(&format!("{folder}/cpu_op_execute_timestamp_0.txt.gz"));
        let files = MindsporeFiles {
            executions: Some(&executions),
            ..MindsporeFiles::default()
        };
        let model = Model::new(read(&files, None).0);
        let (sum, room) = sum_of_gains(&model, Some(waited(i64::MAX)));
        assert_eq!(
            sum, room,
            "{folder}: the wait for data takes all that is left"
        );
        // From the start of one step to that of the next one, less the operators in it.
        let summary = whole(&model);
        let steps = &summary.steps[1..];
        let span = steps[steps.len() - 1].end_nanos - steps[0].begin_nanos;
        let computed: i64 = steps.iter().map(|step| step.parts_nanos.operators).sum();
        assert_eq!(room, (span - computed) / 11, "{folder}");
    }
}

proptest! {
    #[test]
    fn gains_never_exceed_a_step_without_compute(
        made in any_trace(),
        edges in proptest::collection::vec((1_i64..50, 0_i64..9), 6..10),
        wait in proptest::option::of(0_i64..200),
    ) {
        let mut made = made;
        let mut begin = 0;
        for (number, (length, gap)) in edges.iter().enumerate() {
            let name = format!("ProfilerStep#{number}");
            made = made.slice(0, SliceClass::Annotation, &name, (begin, begin + length), None);
            begin += length + gap;
        }
        let (sum, room) = sum_of_gains(&made.model(), wait.map(waited));
        prop_assert!(sum <= room, "{} of {}", sum, room);
    }
}
