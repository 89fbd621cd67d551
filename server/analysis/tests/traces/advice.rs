//! Advice: nothing to warn of in healthy profiles, each fault found by its rule, and gains that may be added.

mod course;
mod recording;

use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::advice::{self, Facts, Judgement, Lack, Limits, Rule};
use trainscope_analysis::trace::steps::StepRange;
use trainscope_analysis::trace::summary::summary;
use trainscope_api::profile::{Advice, InputShare, RanksAnswer, SessionSummary};
use trainscope_format::Severity;
use trainscope_format::formats::mindspore_profile::{MindsporeFiles, read};
use trainscope_format::trace::{Device, SliceClass};

use crate::traces::ranks::{compare, four};
use crate::traces::support::{GeneratedTrace, generated, model, unpacked};

fn whole(model: &Model) -> SessionSummary {
    summary(model, StepRange::default(), 400)
}

fn judge(model: &Model) -> Judgement {
    advice::judge(&Facts::new(model, &whole(model), None), &Limits::default())
}

fn of(judged: &Judgement, rule: Rule) -> Option<&Advice> {
    judged.advice.iter().find(|advice| advice.id == rule.name())
}

fn warnings(judged: &Judgement) -> Vec<&str> {
    let worse = judged.advice.iter();
    let worse = worse.filter(|advice| advice.severity >= Severity::Warning);
    worse.map(|advice| &*advice.id).collect()
}

/// Sum of the gains that are not within compute, and the time of a step without compute.
fn gains(model: &Model, judged: &Judgement) -> (i64, i64) {
    let summary = whole(model);
    let apart = Rule::TensorCoresUnused.name();
    let gains = judged.advice.iter().filter(|advice| advice.id != apart);
    let rest = summary.mean_step_nanos - summary.mean_parts_nanos.kernel;
    (gains.map(|advice| advice.gain_nanos).sum(), rest)
}

#[test]
fn a_healthy_generated_training_has_no_warning() {
    let model = model("generated/steps8-healthy.pt.trace.json.gz");
    let judged = judge(&model);
    assert_eq!(warnings(&judged), [""; 0]);
    for rule in [
        Rule::DataBound,
        Rule::DeviceIdle,
        Rule::HostBound,
        Rule::LaunchBound,
        Rule::SyncInStep,
        Rule::PageableCopies,
        Rule::ExposedCommunication,
        Rule::TensorCoresUnused,
        Rule::AllocatorInStep,
        Rule::StepOutliers,
        Rule::ProfileDamaged,
    ] {
        assert!(judged.passed.contains(&rule), "{rule:?} {judged:?}");
    }
    let lack = |rule| {
        judged
            .not_judged
            .iter()
            .find(|entry| entry.0 == rule)
            .map(|entry| entry.1)
    };
    assert_eq!(lack(Rule::StragglerRank), Some(Lack::OneRank));
    assert_eq!(lack(Rule::MemoryGrowth), Some(Lack::NoMemory));
    assert_eq!(lack(Rule::StepTimeDrift), Some(Lack::TooFewSteps));
}

#[test]
fn few_steps_are_judged_by_the_rules_that_compare_none() {
    for path in [
        "torch-cnn/plain.pt.trace.json.gz",
        "torch-cnn/stack.pt.trace.json.gz",
        "torch-cnn/tb.pt.trace.json.gz",
        "torch-transformer/plain.pt.trace.json.gz",
        "torch-transformer/stack.pt.trace.json.gz",
        "torch-transformer/tb.pt.trace.json.gz",
    ] {
        assert_eq!(warnings(&judge(&model(path))), [""; 0], "{path}");
    }
    let judged = judge(&generated());
    let is_few = |rule: Rule| judged.not_judged.contains(&(rule, Lack::TooFewSteps));
    assert!(is_few(Rule::StepOutliers) && is_few(Rule::StepTimeDrift));
    for rule in [
        Rule::DeviceIdle,
        Rule::HostBound,
        Rule::ExposedCommunication,
    ] {
        let is_judged = judged.passed.contains(&rule) || of(&judged, rule).is_some();
        assert!(is_judged, "{rule:?}: {judged:?}");
    }
}

#[test]
fn waiting_iterators_are_data_bound() {
    let of_files = |folder: &str, input: InputShare| {
        let path = format!("{folder}/cpu_op_execute_timestamp_0.txt.gz");
        let executions = unpacked(&path);
        let files = MindsporeFiles {
            executions: Some(&executions),
            ..MindsporeFiles::default()
        };
        let model = Model::new(read(&files, None).0);
        let mut summary = whole(&model);
        summary.input = Some(input);
        advice::apply(&model, &mut summary, None);
        summary
    };
    let input = |share, waited_millis: i64, empty| InputShare {
        share,
        batches: 12,
        is_judged: true,
        mean_waited_nanos: waited_millis * 1_000_000 / 11,
        mean_whole_nanos: 180_000_000,
        empty,
    };
    for folder in ["ms20-lenet", "ms210-lenet"] {
        let summary = of_files(folder, InputShare::default());
        let worst = summary.advice.iter().map(|advice| advice.severity).max();
        assert!(worst < Some(Severity::Warning), "{:?}", summary.advice);
    }
    let old = of_files("ms20-slow-data", input(0.2039, 396, 6));
    let found: Vec<(&str, Severity)> = old
        .advice
        .iter()
        .filter(|advice| advice.severity >= Severity::Warning)
        .map(|advice| (&*advice.id, advice.severity))
        .collect();
    assert_eq!(found, [("data_bound", Severity::Warning)]);
    assert_eq!(
        (&*old.advice[0].id, old.advice[0].gain_nanos),
        ("data_bound", 36_000_000)
    );
    assert!(
        old.sentence.en.ends_with(
            "of the 180 ms from batch to batch the training waits 36 ms (20 %) for data."
        ),
        "{}",
        old.sentence.en
    );
    assert!(
        old.detail
            .en
            .starts_with("With the 2 changes below each batch would come up to "),
        "{}",
        old.detail.en
    );
    let new = of_files("ms210-slow-data", input(0.7182, 1_412, 11));
    let data = new
        .advice
        .iter()
        .find(|advice| advice.id == "data_bound")
        .unwrap();
    assert_eq!(data.severity, Severity::Error);
    assert!(data.remedy.en.contains("num_parallel_workers"));
}

#[test]
fn a_slow_rank_is_advice_on_every_rank() {
    let models = four();
    let all = compare(&models);
    for (rank, model) in (0..).zip(&models) {
        let mut summary = whole(model);
        summary.rank = rank;
        let judged = advice::judge(&Facts::new(model, &summary, Some(&all)), &Limits::default());
        let slow = of(&judged, Rule::StragglerRank).unwrap();
        assert_eq!(
            (slow.rank, slow.step, slow.severity),
            (Some(2), Some(15), Severity::Warning)
        );
        assert!((1.03..1.06).contains(&slow.value) && slow.gain_nanos > 0);
        let (sum, rest) = gains(model, &judged);
        assert!(sum <= rest, "{sum} {rest}");
        let with = Limits {
            slow_steps: 30,
            ..Limits::default()
        };
        let judged = advice::judge(&Facts::new(model, &summary, Some(&all)), &with);
        assert!(judged.passed.contains(&Rule::StragglerRank));
    }
    let uneven = RanksAnswer {
        stragglers: Vec::new(),
        late_nanos: vec![vec![0; 40]; 4],
        ranks: (0..)
            .zip(all.ranks)
            .map(|(index, mut rank)| {
                rank.peak_len_bytes = 1_000_000_000 * (index + 1);
                rank
            })
            .collect(),
        ..all
    };
    let summary = whole(&models[0]);
    let facts = Facts::new(&models[0], &summary, Some(&uneven));
    let judged = advice::judge(&facts, &Limits::default());
    let found = of(&judged, Rule::UnevenRanks).unwrap();
    assert!((found.value - 1.2).abs() < 1e-9 && found.evidence.en.contains("1.0 GB and 4.0 GB"));
}

const STEP: i64 = 1_000_000;

/// A training on one stream; each step of a millisecond is made by `fill`.
struct Training {
    made: GeneratedTrace,
    link: u32,
    begin: i64,
}

impl Training {
    fn steps(steps: i64, fill: impl Fn(Self, i64) -> Self) -> GeneratedTrace {
        let mut training = Self {
            made: GeneratedTrace::new(1).change(|trace| {
                trace.head.devices = vec![Device {
                    memory_len: 1_000_000,
                    compute_major: 8,
                    ..Device::default()
                }];
            }),
            link: 0,
            begin: 0,
        };
        for step in 0..steps {
            let begin = training.begin;
            training = fill(training, step);
            let end = training.begin.max(begin + STEP - 1_000);
            training = training.at(
                begin,
                SliceClass::Annotation,
                &format!("ProfilerStep#{step}"),
                0,
                end - begin,
            );
            training.begin = end + 1_000;
        }
        training.made
    }

    fn at(mut self, begin: i64, class: SliceClass, name: &str, from: i64, to: i64) -> Self {
        self.made = self
            .made
            .slice(0, class, name, (begin + from, begin + to), None);
        self
    }

    /// A slice of the host, in microseconds since the start of the step.
    fn host(self, class: SliceClass, name: &str, from: i64, to: i64) -> Self {
        let begin = self.begin;
        self.at(begin, class, name, from * 1_000, to * 1_000)
    }

    /// Device work, with a launch of two microseconds.
    fn work(mut self, class: SliceClass, name: &str, launch: i64, from: i64, to: i64) -> Self {
        self.link += 1;
        let (begin, link) = (self.begin, Some(self.link));
        let micros = |micros: i64| begin + micros * 1_000;
        self.made = self
            .made
            .slice(
                0,
                SliceClass::Runtime,
                "cudaLaunchKernel",
                (micros(launch), micros(launch + 2)),
                link,
            )
            .slice(1, class, name, (micros(from), micros(to)), link);
        self
    }

    fn kernel(self, name: &str, launch: i64, from: i64, to: i64) -> Self {
        self.work(SliceClass::Kernel, name, launch, from, to)
    }

    /// A step that is nearly all compute.
    fn healthy(self) -> Self {
        self.kernel("s16816gemm", 5, 10, 980)
    }
}

/// The judgement of a training with one fault, whose rule must be found, and no worse one.
fn fault(rule: Rule, made: GeneratedTrace) -> Advice {
    let model = made.model();
    let judged = judge(&model);
    let found = of(&judged, rule).unwrap_or_else(|| panic!("{rule:?}: {judged:?}"));
    let (sum, rest) = gains(&model, &judged);
    assert!(0 <= sum && sum <= rest, "{sum} {rest} {:?}", judged.advice);
    assert!(!found.title.en.is_empty() && !found.evidence.en.is_empty());
    assert!(!found.title.zh.is_empty() && !found.evidence.zh.is_empty());
    found.clone()
}

#[test]
fn a_healthy_step_has_no_advice() {
    let judged = judge(&Training::steps(30, |step, _| step.healthy()).model());
    assert_eq!(judged.advice, []);
    assert!(judged.passed.contains(&Rule::StepTimeDrift));
}

#[test]
fn waiting_for_data_between_kernels() {
    let found = fault(
        Rule::DataBound,
        Training::steps(8, |step, _| {
            step.host(
                SliceClass::Annotation,
                "enumerate(DataLoader)#X.__next__",
                0,
                300,
            )
            .kernel("s16816gemm", 310, 320, 980)
        }),
    );
    assert_eq!(
        (found.severity, found.gain_nanos),
        (Severity::Warning, 300_000)
    );
    assert!((found.value - 300.0 / 999.0).abs() < 0.01);
}

#[test]
fn kernels_that_are_launched_late() {
    let late = |step: Training, _| {
        step.kernel("s16816gemm", 5, 10, 300)
            .host(SliceClass::Operator, "aten::add", 300, 700)
            .kernel("s16816gemm", 690, 700, 980)
    };
    let found = fault(Rule::HostBound, Training::steps(8, late));
    // From the end of the first kernel to the start of the second, and from step to step.
    assert!((found.value - 0.43).abs() < 0.01, "{}", found.value);
    assert_eq!(found.severity, Severity::Warning);
    let idle = fault(Rule::DeviceIdle, Training::steps(8, late));
    assert_eq!(idle.severity, Severity::Info);
}

#[test]
fn one_step_and_a_recording_without_steps_are_judged() {
    let late = |step: Training, _| {
        step.kernel("s16816gemm", 5, 10, 300)
            .kernel("s16816gemm", 690, 700, 980)
    };
    let shares = |rule: Rule| {
        let one = fault(rule, Training::steps(1, late));
        let two = fault(rule, Training::steps(2, late));
        // Kernels and their launches, without annotations.
        let stepless = Training::steps(2, late).change(|trace| {
            for category in &mut trace.categories {
                if category.class == SliceClass::Annotation {
                    category.class = SliceClass::Window;
                }
            }
        });
        [one, two, fault(rule, stepless)].map(|found| found.value)
    };
    for share in shares(Rule::HostBound) {
        assert!((share - 0.41).abs() < 0.02, "{share}");
    }
    for share in shares(Rule::DeviceIdle) {
        assert!((share - 0.43).abs() < 0.02, "{share}");
    }
}

#[test]
fn a_side_stream_that_waits_for_its_launch_delays_nothing() {
    // The main stream waits for an event, its next kernel is launched long before; meanwhile the host launches a copy
    // for another stream, which begins after the main one goes on.
    let mut made = GeneratedTrace::new(2);
    for step in 0..8 {
        let at = |micros: i64| (step * 1_000 + micros) * 1_000;
        let link = |number: u32| Some(u32::try_from(step).unwrap() * 10 + number);
        let launch = "cudaLaunchKernel";
        made = made
            .slice(
                0,
                SliceClass::Annotation,
                &format!("ProfilerStep#{step}"),
                (at(0), at(999)),
                None,
            )
            .slice(0, SliceClass::Runtime, launch, (at(1), at(3)), link(1))
            .slice(0, SliceClass::Runtime, launch, (at(4), at(6)), link(2))
            .slice(0, SliceClass::Runtime, launch, (at(7), at(9)), link(3))
            .slice(0, SliceClass::Runtime, launch, (at(650), at(652)), link(4))
            .slice(
                1,
                SliceClass::Kernel,
                "s16816gemm",
                (at(10), at(300)),
                link(1),
            )
            .slice(
                2,
                SliceClass::Kernel,
                "copy_small",
                (at(20), at(30)),
                link(2),
            )
            .slice(
                1,
                SliceClass::Kernel,
                "s16816gemm",
                (at(700), at(990)),
                link(3),
            )
            .slice(
                2,
                SliceClass::Kernel,
                "copy_small",
                (at(710), at(720)),
                link(4),
            );
    }
    let judged = judge(&made.model());
    assert_eq!(of(&judged, Rule::HostBound), None);
    assert!(of(&judged, Rule::DeviceIdle).is_some());
}

#[test]
fn kernels_that_are_shorter_than_their_launch() {
    let found = fault(
        Rule::LaunchBound,
        Training::steps(8, |mut step, _| {
            for index in 0..100 {
                let at = index * 9;
                step = step.kernel("elementwise", at, at + 4, at + 5);
            }
            step
        }),
    );
    assert!((found.value - 1.0).abs() < 1e-9 && found.gain_nanos > 400_000);
}

#[test]
fn a_wait_in_the_forward_pass() {
    let found = fault(
        Rule::SyncInStep,
        Training::steps(8, |step, _| {
            step.host(SliceClass::Annotation, "## forward ##", 0, 600)
                .kernel("s16816gemm", 5, 10, 300)
                .host(SliceClass::Runtime, "cudaStreamSynchronize", 20, 305)
                .kernel("s16816gemm", 390, 400, 980)
                .host(SliceClass::Runtime, "cudaStreamSynchronize", 700, 985)
        }),
    );
    assert!((found.value - 1.0).abs() < 1e-9);
    assert_eq!(found.gain_nanos, 95_000);
}

#[test]
fn copies_from_pageable_memory() {
    let found = fault(
        Rule::PageableCopies,
        Training::steps(8, |step, _| {
            step.work(
                SliceClass::Memcpy,
                "Memcpy HtoD (Pageable -> Device)",
                2,
                10,
                110,
            )
            .kernel("s16816gemm", 100, 110, 980)
        }),
    );
    assert_eq!(found.gain_nanos, 100_000);
    assert!(
        judge(
            &Training::steps(8, |step, _| {
                step.work(
                    SliceClass::Memcpy,
                    "Memcpy HtoD (Pinned -> Device)",
                    2,
                    10,
                    110,
                )
                .kernel("s16816gemm", 100, 110, 980)
            })
            .model()
        )
        .passed
        .contains(&Rule::PageableCopies)
    );
}

#[test]
fn communication_that_nothing_hides() {
    let with = |collective: &str| {
        fault(
            Rule::ExposedCommunication,
            Training::steps(8, |step, _| {
                step.kernel("s16816gemm", 5, 10, 700)
                    .kernel(collective, 10, 700, 980)
            }),
        )
    };
    let found = with("ncclDevKernel_AllReduce");
    assert_eq!(found.gain_nanos, 280_000);
    let text = &found.evidence.en;
    assert!(text.ends_with("100 % of it is all-reduce."), "{text}");
    assert!(found.remedy.en.contains("bucket_cap_mb"));
    // A name that does not tell the kind has no remedy of a kind.
    let unknown = with("ncclDevKernel_Generic");
    let text = &unknown.evidence.en;
    assert!(
        text.ends_with("by kernels; no name tells its kind."),
        "{text}"
    );
    assert_eq!(unknown.remedy.en, "");
}

#[test]
fn products_without_tensor_cores() {
    let found = fault(
        Rule::TensorCoresUnused,
        Training::steps(8, |step, _| {
            step.host(SliceClass::Operator, "aten::mm", 0, 20).kernel(
                "volta_sgemm_128x64_nn",
                5,
                10,
                980,
            )
        }),
    );
    assert_eq!(
        (found.severity, found.gain_nanos),
        (Severity::Info, 485_000)
    );
}

#[test]
fn an_update_of_many_small_kernels() {
    let found = fault(
        Rule::ManySmallOptimizerKernels,
        Training::steps(8, |step, _| {
            let mut step = step.kernel("s16816gemm", 2, 5, 400).host(
                SliceClass::Annotation,
                "Optimizer.step#SGD.step",
                395,
                970,
            );
            for index in 0..60 {
                let at = 400 + index * 9;
                step = step.kernel("add_kernel", at, at + 3, at + 8);
            }
            step
        }),
    );
    assert!((found.value - 60.0).abs() < 1e-9 && found.gain_nanos > 0);
}
