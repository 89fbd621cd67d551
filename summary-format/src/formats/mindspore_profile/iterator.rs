//! Waits for batches of the data set, as slices on a separate lane.

use super::super::trace_builder::TraceBuilder;
use super::executions::Runs;
use crate::queues::Batches;
use crate::trace::{Lane, NONE, Slice, SliceClass, Trace};

const NANOS_A_MILLI: i64 = 1_000_000;

/// Largest distance between the first batch and the first execution on one clock: 1 day.
const SAME_CLOCK_NANOS: i64 = 86_400 * 1_000_000_000;

/// Appends a slice for each batch. Times in the file are the ends of the waits, in milliseconds since the host was
/// started. `MindSpore` 2.10 counts executions since 1970: then the clocks are matched by the steps, to about a
/// millisecond.
pub(super) fn read(
    bytes: &[u8],
    runs: &[Runs],
    builder: &mut TraceBuilder,
    notes: &mut Vec<String>,
) {
    let found = Batches::read(bytes);
    builder.trace.counts.bytes += bytes.len() as u64;
    if found.skipped_lines > 0 {
        notes.push(format!(
            "dataset_iterator_profiling: {} lines could not be read",
            found.skipped_lines
        ));
    }
    let batches = found.batches.iter().filter_map(|batch| {
        let wait = i64::try_from(batch.wait_millis?).ok()?;
        let nanos = |millis: i64| millis.checked_mul(NANOS_A_MILLI);
        Some((nanos(batch.at_millis)?, nanos(wait)?))
    });
    let batches: Vec<_> = batches.collect();
    let ends: Vec<_> = batches.iter().map(|(end, _)| *end).collect();
    let Some(shift) = shift(&ends, runs, &builder.trace) else {
        if !ends.is_empty() {
            notes.push(
                "dataset_iterator_profiling: its clock is not that of the executions".to_owned(),
            );
        }
        return;
    };
    if shift != 0 {
        notes.push(
            "dataset_iterator_profiling: another clock, matched by the begins of steps to about 1 ms"
                .to_owned(),
        );
    }
    let lane = builder.lane(Lane {
        process: "dataset".to_owned(),
        thread: "iterator".to_owned(),
        process_name: "Dataset".to_owned(),
        thread_name: "Iterator".to_owned(),
        process_sort: 1,
        ..Lane::default()
    });
    let category = builder.category("data", SliceClass::Annotation);
    let (Some(lane), Some(name)) = (lane, builder.name("get_next")) else {
        builder.trace.counts.over_limit += batches.len() as u64;
        return;
    };
    for (end, wait) in batches {
        builder.trace.counts.events += 1;
        builder.push(&Slice {
            begin: end.saturating_add(shift).saturating_sub(wait),
            duration: wait.unsigned_abs(),
            name,
            lane,
            category,
            link: NONE,
            detail: NONE,
            place: 0,
        });
    }
}

/// Nanoseconds to add to the times of batches; 0 on the same clock. A step begins when its batch is available, so the
/// minimum distance over all steps counts. `None` if no operator ran once for each batch.
fn shift(ends: &[i64], runs: &[Runs], trace: &Trace) -> Option<i64> {
    let begins = &trace.slices.begins;
    let of = |runs: &Runs| begins.get(runs.slices.clone()).unwrap_or_default();
    let first = runs.iter().flat_map(of).min()?;
    if ends.first()?.abs_diff(*first) < SAME_CLOCK_NANOS.unsigned_abs() {
        return Some(0);
    }
    let mut steps: Vec<i64> = vec![i64::MAX; ends.len()];
    for begins in runs
        .iter()
        .map(of)
        .filter(|begins| begins.len() == ends.len())
    {
        let mut begins = begins.to_vec();
        begins.sort_unstable();
        for (step, begin) in steps.iter_mut().zip(begins) {
            *step = begin.min(*step);
        }
    }
    let distances = steps.iter().zip(ends);
    let distances = distances.map(|(step, end)| step.saturating_sub(*end));
    distances.min().filter(|_| !steps.contains(&i64::MAX))
}
