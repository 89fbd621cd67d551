//! Memory snapshots: levels, holders by the lines of the program, stacks, failed allocations.

use std::path::Path;

use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::advice::{self, Facts, Limits, Rule};
use trainscope_analysis::trace::memory::{self, MemoryAsk};
use trainscope_analysis::trace::steps::StepRange;
use trainscope_analysis::trace::summary::summary;
use trainscope_api::profile::{MemoryAnswer, MemoryCategory};
use trainscope_format::Severity;
use trainscope_format::formats::memory_snapshot;

const MIB: u64 = 1 << 20;

fn model(name: &str) -> Model {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/profile/snapshots");
    let bytes = std::fs::read(folder.join(name)).unwrap();
    Model::new(memory_snapshot::read(|| Ok(&bytes[..])).unwrap().0)
}

fn held(answer: &MemoryAnswer, line: &str) -> (MemoryCategory, u64, u64) {
    let holder = answer
        .holders
        .iter()
        .find(|holder| holder.operator == line)
        .unwrap();
    (holder.category, holder.bytes, holder.count)
}

#[test]
fn holders_are_the_lines_of_the_program() {
    let whole = memory::memory(&model("protocol-4.pickle"), &MemoryAsk::default());
    // The peak of the script, in the forward pass of the last step.
    assert_eq!(whole.at_len_bytes, 896_544_768);
    let lines = [
        (
            "train.py(22): make",
            MemoryCategory::Parameters,
            180 * MIB + 3 * 4_096,
            9,
        ),
        (
            "train.py(47): step",
            MemoryCategory::Optimizer,
            288 * MIB,
            3,
        ),
        (
            "model.py(31): attention",
            MemoryCategory::Activations,
            120 * MIB,
            3,
        ),
        // The last of them is the workspace of 30 MiB.
        (
            "model.py(38): mlp",
            MemoryCategory::Activations,
            222 * MIB,
            4,
        ),
        (
            "data.py(14): next_batch",
            MemoryCategory::Other,
            24 * MIB,
            1,
        ),
        (
            "metrics.py(9): remember",
            MemoryCategory::Other,
            21 * MIB,
            3,
        ),
    ];
    for (line, category, bytes, count) in lines {
        assert_eq!(held(&whole, line), (category, bytes, count), "{line}");
    }
    assert_eq!(whole.holders.len(), lines.len());
    let path = &whole
        .holders
        .iter()
        .find(|holder| holder.operator.contains("mlp"))
        .unwrap()
        .scope;
    assert_eq!(
        path,
        "model.py(38): mlp ‹ train.py(42): step ‹ train.py(61): <module>"
    );
    // The same bytes as stacks; engines of autograd hold nothing at the peak.
    let outermost = whole.stacks.iter().filter(|frame| frame.depth == 0);
    let all: u64 = outermost.map(|frame| frame.bytes).sum();
    let alone: u64 = whole.stacks.iter().map(|frame| frame.self_bytes).sum();
    assert_eq!((all, alone), (whole.at_len_bytes, whole.at_len_bytes));
    assert_eq!(whole.stacks[0].name, "/home/me/train.py(61): <module>");
    let failure = &whole.failures[0];
    assert_eq!((failure.bytes, failure.free_bytes), (300 * MIB, 7 * MIB));
    assert!(
        failure.caller.starts_with("train.py(43): step ‹"),
        "{}",
        failure.caller
    );
}

#[test]
fn what_was_there_before_a_history_has_its_lines() {
    let whole = memory::memory(&model("protocol-4.pickle"), &MemoryAsk::default());
    let ring = memory::memory(&model("ring.pickle"), &MemoryAsk::default());
    assert_eq!(ring.at_len_bytes, whole.at_len_bytes);
    for line in [
        "train.py(22): make",
        "model.py(38): mlp",
        "metrics.py(9): remember",
    ] {
        assert_eq!(held(&ring, line), held(&whole, line), "{line}");
    }
    let state = memory::memory(&model("state.pickle"), &MemoryAsk::default());
    assert_eq!(state.at_len_bytes, 865_087_488);
    assert_eq!(
        held(&state, "train.py(47): step"),
        held(&whole, "train.py(47): step")
    );
}

#[test]
fn a_failed_allocation_is_an_error_and_nothing_else_is_judged() {
    let model = model("protocol-4.pickle");
    let mut summary = summary(&model, StepRange::default(), 100);
    let judged = advice::judge(&Facts::new(&model, &summary, None), &Limits::default());
    let failed = &judged.advice[0];
    assert_eq!(
        (&*failed.id, failed.severity),
        (Rule::MemoryNearLimit.name(), Severity::Error)
    );
    assert_eq!(
        failed.evidence.en,
        "Out of memory (1×): 315 MB were asked for, 7.3 MB of the device were free, and 236 MB of 1.1 GB reserved bytes were not allocated."
    );
    // 1.1 GB reserved and 315 MB asked for, of 1.1 GB and 7.3 MB.
    let value = (1_101_004_800.0 + 300.0 * MIB as f64) / (1_101_004_800.0 + 7.0 * MIB as f64);
    assert!((failed.value - value).abs() < 1e-9, "{}", failed.value);
    // Less is free in segments than was asked for: larger segments would not help.
    assert!(
        failed.remedy.en.contains("checkpoint"),
        "{}",
        failed.remedy.en
    );
    assert_eq!(judged.advice.len(), 1);
    assert_eq!(judged.passed, [Rule::ProfileDamaged]);
    advice::apply(&model, &mut summary, None);
    assert_eq!(
        summary.sentence.en,
        "Only memory was recorded, for 48.5 ms: it peaks at 897 MB, and an allocation failed."
    );
}
