//! Memory by purpose as `PyTorch` itself exports it, instead of the guess from lifetimes.

use trainscope_api::profile::{MAX_MEMORY_POINTS, MemoryAnswer, MemoryCategory, MemorySeries};
use trainscope_format::formats::memory_timeline::{MemoryTimeline, total};

use crate::trace::Model;

/// Category of each column of the file.
const COLUMNS: [MemoryCategory; 9] = [
    MemoryCategory::Kept,
    MemoryCategory::Parameters,
    MemoryCategory::Optimizer,
    MemoryCategory::Inputs,
    MemoryCategory::Workspace,
    MemoryCategory::Activations,
    MemoryCategory::Gradients,
    MemoryCategory::Autograd,
    MemoryCategory::Other,
];

/// Replaces the series of an answer by those of a file, if both are of the same time: files of other sessions of the
/// profiler may be beside a trace. Of more points than fit, the one with most bytes of each stretch is taken.
pub fn apply(model: &Model, timeline: &MemoryTimeline, answer: &mut MemoryAnswer) {
    let is_alone = model.trace.slices.is_empty() && model.trace.counts.events == 0;
    let edges = timeline.times.iter().min().zip(timeline.times.iter().max());
    let (origin, extent) = match (model.trace.head.unix_offset_nanos, edges) {
        // Without a trace the file is the session.
        (_, Some((first, last))) if is_alone => (*first, last.saturating_sub(*first)),
        (Some(offset), _) => (
            model.origin().saturating_add(offset),
            model.extent.end.saturating_sub(model.origin()),
        ),
        (None, _) => return,
    };
    let points: Vec<(i64, &[u64; 9])> = (timeline.times.iter())
        .map(|time| time.saturating_sub(origin))
        .zip(&timeline.bytes)
        .collect();
    let is_within = |(time, _): &&(i64, &[u64; 9])| (0..=extent).contains(time);
    // A file of another session overlaps by nothing.
    if points.iter().filter(is_within).count() * 2 < points.len() || points.is_empty() {
        return;
    }
    let stretch = points.len().div_ceil(MAX_MEMORY_POINTS);
    let reduced: Vec<(i64, &[u64; 9])> = points
        .chunks(stretch)
        .filter_map(|chunk| chunk.iter().max_by_key(|(_, bytes)| total(bytes)))
        .copied()
        .collect();
    answer.categories_from_file = true;
    answer.times_nanos = reduced.iter().map(|(time, _)| *time).collect();
    answer.allocated = reduced.iter().map(|(_, bytes)| total(bytes)).collect();
    // The file does not tell it.
    answer.reserved = Vec::new();
    let series = COLUMNS.iter().enumerate();
    answer.series = series
        .map(|(column, category)| MemorySeries {
            category: *category,
            bytes: reduced.iter().map(|(_, bytes)| bytes[column]).collect(),
        })
        .filter(|series| series.bytes.iter().any(|bytes| *bytes > 0))
        .collect();
}

#[cfg(test)]
mod tests {
    use trainscope_api::profile::{MemoryAnswer, MemoryCategory};
    use trainscope_format::formats::memory_timeline::MemoryTimeline;
    use trainscope_format::trace::Trace;

    use super::super::super::Model;
    use super::apply;

    fn model() -> Model {
        let mut trace = Trace::default();
        trace.head.unix_offset_nanos = Some(1_000);
        trace.counts.events = 1;
        let mut model = Model::new(trace);
        model.extent = 500..900;
        model
    }

    fn timeline(times: &[i64]) -> MemoryTimeline {
        MemoryTimeline {
            times: times.to_vec(),
            bytes: times.iter().map(|_| [0, 7, 0, 0, 0, 5, 0, 0, 1]).collect(),
            ..MemoryTimeline::default()
        }
    }

    #[test]
    fn categories_are_those_of_a_file_of_the_same_session() {
        let mut answer = MemoryAnswer::default();
        apply(&model(), &timeline(&[1_500, 1_600]), &mut answer);
        assert!(answer.categories_from_file);
        assert_eq!(answer.times_nanos, [0, 100]);
        assert_eq!(answer.allocated, [13, 13]);
        let categories: Vec<_> = answer.series.iter().map(|own| own.category).collect();
        let expected = [
            MemoryCategory::Parameters,
            MemoryCategory::Activations,
            MemoryCategory::Other,
        ];
        assert_eq!(categories, expected);
    }

    #[test]
    fn a_file_without_a_trace_is_the_session() {
        let mut answer = MemoryAnswer::default();
        let empty = Model::new(Trace::default());
        apply(&empty, &timeline(&[9_500, 9_600]), &mut answer);
        assert_eq!(answer.times_nanos, [0, 100]);
        assert_eq!(answer.allocated, [13, 13]);
    }

    #[test]
    fn a_file_of_another_session_is_not_used() {
        let mut answer = MemoryAnswer::default();
        apply(&model(), &timeline(&[9_500, 9_600]), &mut answer);
        assert_eq!(answer, MemoryAnswer::default());
    }
}
