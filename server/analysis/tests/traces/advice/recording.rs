//! Recordings without steps, without a cause of their waiting, or without a training.

use trainscope_analysis::trace::advice::{self, Facts, Limits, Rule};
use trainscope_api::profile::{KindGrowth, MemoryTotal, TimeKind};
use trainscope_format::Severity;
use trainscope_format::trace::SliceClass;

use super::{judge, of, warnings, whole};
use crate::traces::support::GeneratedTrace;

/// A kernel that is launched late, between two others; `name` is of the call of the host before the launch.
fn late_kernel(name: &str, waits: bool) -> GeneratedTrace {
    let class = if waits {
        SliceClass::Runtime
    } else {
        SliceClass::Operator
    };
    GeneratedTrace::new(1)
        .slice(0, SliceClass::Operator, "aten::mm", (0, 200), None)
        .slice(
            0,
            SliceClass::Runtime,
            "cudaLaunchKernel",
            (0, 100),
            Some(1),
        )
        .slice(1, SliceClass::Kernel, "gemm", (100, 1_100), Some(1))
        .slice(0, class, name, (1_200, 9_000), None)
        .slice(
            0,
            SliceClass::Runtime,
            "cudaLaunchKernel",
            (9_000, 9_100),
            Some(2),
        )
        .slice(1, SliceClass::Kernel, "gemm", (9_100, 10_100), Some(2))
}

#[test]
fn recordings_without_steps_are_not_said_to_have_any() {
    let model = late_kernel("aten::item", false).model();
    let mut summary = whole(&model);
    advice::apply(&model, &mut summary, None);
    let host = summary
        .advice
        .iter()
        .find(|advice| advice.id == Rule::HostBound.name());
    let evidence = &host.expect("the host is late").evidence;
    assert_eq!(
        evidence.en,
        "The device waits 8 µs (79 %) for kernels that were not launched yet."
    );
    let said = summary.advice.iter().map(|advice| &advice.evidence);
    for text in said.chain([&summary.sentence, &summary.detail]) {
        assert!(
            !text.en.contains("a step") && !text.en.contains("the steps"),
            "{}",
            text.en
        );
        assert!(!text.zh.contains("每个迭代"), "{}", text.zh);
    }
}

#[test]
fn a_wait_that_no_rule_explains_has_not_passed() {
    let model = late_kernel("cudaStreamSynchronize", true).model();
    let mut summary = whole(&model);
    advice::apply(&model, &mut summary, None);
    assert_eq!(warnings(&judge(&model)), [Rule::DeviceIdle.name()]);
    assert!(
        summary
            .detail
            .en
            .starts_with("No rule names the cause of this waiting; meanwhile the host"),
        "{}",
        summary.detail.en
    );
}

#[test]
fn memory_that_a_server_of_a_model_reserves_is_a_note() {
    let severity = |operator: &str| {
        let mut model = late_kernel(operator, false);
        model = model.slice(0, SliceClass::Operator, operator, (9_200, 9_300), None);
        let model = model.model();
        let mut summary = whole(&model);
        summary.memory = vec![MemoryTotal {
            device: "1:0".to_owned(),
            peak_len_bytes: 96 << 30,
            device_len_bytes: 100 << 30,
            ..MemoryTotal::default()
        }];
        let judged = advice::judge(&Facts::new(&model, &summary, None), &Limits::default());
        of(&judged, Rule::MemoryNearLimit).map(|advice| advice.severity)
    };
    assert_eq!(severity("aten::mm"), Some(Severity::Info));
    assert!(
        severity("autograd::engine::evaluate_function: MmBackward0") >= Some(Severity::Warning)
    );
}

#[test]
fn a_device_that_runs_behind_is_said() {
    let said = |late: i64| {
        let mut trace = GeneratedTrace::new(1);
        for step in 0..6 {
            let begin = step * 10_000;
            let name = format!("ProfilerStep#{step}");
            let link = u32::try_from(step).ok();
            let kernel = (begin + late, begin + late + 5_000);
            trace = trace
                .slice(
                    0,
                    SliceClass::Annotation,
                    &name,
                    (begin, begin + 9_000),
                    None,
                )
                .slice(
                    0,
                    SliceClass::Runtime,
                    "cudaLaunchKernel",
                    (begin, begin + 100),
                    link,
                )
                .slice(1, SliceClass::Kernel, "gemm", kernel, link);
        }
        let model = trace.model();
        let mut summary = whole(&model);
        advice::apply(&model, &mut summary, None);
        summary.sentence.en.contains("behind the host")
    };
    assert!(!said(1_000));
    assert!(!said(8_000), "the next step has begun, and is not over");
    assert!(said(25_000));
}

#[test]
fn what_makes_outliers_long_is_one_quantity_for_all_pages() {
    let mut trace = GeneratedTrace::new(1);
    let mut begin = 0;
    for step in 0..20 {
        let wait = if step == 7 { 5_000 } else { 0 };
        let end = begin + 10_000 + wait;
        let name = format!("ProfilerStep#{step}");
        trace = trace
            .slice(0, SliceClass::Annotation, &name, (begin, end), None)
            .slice(1, SliceClass::Kernel, "gemm", (begin, begin + 10_000), None)
            .slice(
                1,
                SliceClass::Kernel,
                "ncclDevKernel_AllReduce",
                (begin + 10_000, end),
                None,
            );
        begin = end;
    }
    let model = trace.model();
    let summary = whole(&model);
    let grown = KindGrowth {
        kind: TimeKind::Communication,
        nanos: 5_000,
    };
    assert_eq!(
        (&*summary.outliers, summary.outlier_growth),
        (&[7][..], Some(grown))
    );
    let judged = judge(&model);
    // The first step is not judged.
    let said = of(&judged, Rule::StepOutliers).map(|advice| &*advice.evidence.en);
    assert_eq!(
        said,
        Some("1 of 19 steps are far longer than the others; most of it, 5 µs, is communication.")
    );
}

#[test]
fn waiting_for_an_event_is_no_work_and_names_that_say_nothing_are_no_share() {
    let with = |wait: &str| {
        let model = late_kernel("cudaStreamSynchronize", true);
        // The device waits between its two kernels.
        whole(
            &model
                .slice(1, SliceClass::Kernel, wait, (1_200, 9_000), None)
                .model(),
        )
    };
    let (waiting, working) = (
        with("event_wait").device.unwrap(),
        with("relu").device.unwrap(),
    );
    assert_eq!((waiting.busy_nanos, waiting.kernels), (2_000, 2));
    assert_eq!((working.busy_nanos, working.kernels), (9_800, 3));
    assert_eq!(working.tensor_cores, None);
    assert_eq!(
        with("volta_sgemm_128x64_nn").device.unwrap().tensor_cores,
        Some(0.0)
    );
}
