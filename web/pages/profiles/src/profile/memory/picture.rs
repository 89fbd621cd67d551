//! The picture of memory over time.

use trainscope_api::profile::{MemoryAnswer, MemoryCategory, MemoryTotal, SessionSummary};
use trainscope_charts::profile::{Layer, Memory, Shade};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::Texts;

/// Share of the device from which the line of its size is shown: for smaller peaks it would press the curves to the axis.
const MIN_LIMIT_SHARE: f64 = 0.2;

/// Categories from the bottom of the stack, the longest-lived first.
const ORDER: [MemoryCategory; 9] = [
    MemoryCategory::Parameters,
    MemoryCategory::Optimizer,
    MemoryCategory::Kept,
    MemoryCategory::Inputs,
    MemoryCategory::Gradients,
    MemoryCategory::Activations,
    MemoryCategory::Autograd,
    MemoryCategory::Workspace,
    MemoryCategory::Other,
];

/// Colour of a category: the longer it lives, the lighter.
pub(super) const fn shade_of(category: MemoryCategory) -> Shade {
    Shade::Magnitude(match category {
        MemoryCategory::Parameters => 1,
        MemoryCategory::Optimizer | MemoryCategory::Kept => 2,
        MemoryCategory::Inputs => 3,
        MemoryCategory::Gradients => 4,
        MemoryCategory::Activations => 5,
        MemoryCategory::Autograd => 6,
        MemoryCategory::Workspace => 7,
        MemoryCategory::Other => 8,
    })
}

/// Categories with any bytes, from the bottom of the stack.
pub(super) fn layers(answer: &MemoryAnswer) -> Vec<(MemoryCategory, &[u64])> {
    let layers = ORDER.into_iter().filter_map(|category| {
        let mut series = answer.series.iter();
        let held = series.find(|held| held.category == category)?;
        let has_bytes = held.bytes.iter().any(|bytes| *bytes > 0);
        has_bytes.then_some((category, &*held.bytes))
    });
    layers.collect()
}

/// First start of each phase of a step, ns since the start of the step, with its name.
pub(super) fn phases(
    summary: &SessionSummary,
    step: Option<(i64, i64, i64)>,
    texts: Texts,
) -> Vec<(f64, String)> {
    let Some((number, begin, _)) = step else {
        return Vec::new();
    };
    let step = summary.steps.iter().find(|step| step.number == number);
    let mut seen = Vec::new();
    let mut marks = Vec::new();
    for phase in step.iter().flat_map(|step| &step.phases) {
        use trainscope_api::profile::PhaseKind::{Backward, Forward, Update};
        if matches!(phase.kind, Forward | Backward | Update) && !seen.contains(&phase.kind) {
            seen.push(phase.kind);
            let name = texts.profile().phases[phase.kind as usize].to_owned();
            marks.push((phase.begin_nanos.saturating_sub(begin) as f64, name));
        }
    }
    marks
}

/// The curves, with the peak, the phases of the step and the size of the device.
pub(super) fn picture(
    answer: &MemoryAnswer,
    total: Option<&MemoryTotal>,
    origin: i64,
    phases: Vec<(f64, String)>,
    texts: Texts,
) -> Memory {
    let numbers = |bytes: &[u64]| bytes.iter().map(|bytes| *bytes as f64).collect();
    let layers = layers(answer).into_iter().map(|(category, bytes)| Layer {
        shade: shade_of(category),
        bytes: numbers(bytes),
    });
    let times = answer.times_nanos.iter();
    let times: Vec<f64> = times
        .map(|time| time.saturating_sub(origin) as f64)
        .collect();
    let has_reserved = answer.reserved.iter().any(|bytes| *bytes > 0);
    let is_near =
        |total: &&MemoryTotal| total.share().is_some_and(|share| share >= MIN_LIMIT_SHARE);
    let limit = total.filter(is_near).map(|total| {
        let size = total.device_len_bytes;
        (
            size as f64,
            (texts.memory().device_size)(&format::bytes(size)),
        )
    });
    let ends = answer.times_nanos.first().zip(answer.times_nanos.last());
    let peak = total
        .zip(ends)
        .filter(|(total, (first, last))| (**first..=**last).contains(&total.peak_at_nanos));
    let peak = peak.map(|(total, _)| {
        let at = total.peak_at_nanos.saturating_sub(origin) as f64;
        let bytes = total.peak_len_bytes;
        (at, bytes as f64, format::bytes(bytes))
    });
    Memory {
        times,
        layers: layers.collect(),
        reserved: if has_reserved {
            numbers(&answer.reserved)
        } else {
            Vec::new()
        },
        limit,
        peak,
        phases,
    }
}
