//! Numbers of steps: those of a profile against those of the curves of its run.

use trainscope_analysis::trace::numbering;
use trainscope_api::scalars::{MAX_POINTS, ScalarsQuery};
use trainscope_api::timeline::TimelineLanes;

use crate::index::Index;
use crate::profiles::LoadedProfile;

/// The difference between the steps of the training and those of the profiler, if the loss curve determines it.
pub(super) fn step_offset(index: &Index, loaded: &LoadedProfile) -> Option<i64> {
    of_ends(index, loaded.run(), &loaded.model.step_ends())
}

/// Like [`step_offset`], for the steps of a timeline.
pub(super) fn lanes_offset(index: &Index, run: &str, lanes: &TimelineLanes) -> Option<i64> {
    let unix: i64 = lanes.unix_nanos.as_ref()?.parse().ok()?;
    let steps = lanes.steps.iter();
    let ends = steps.map(|step| (step.number, step.end_nanos.saturating_add(unix)));
    of_ends(index, run, &ends.collect::<Vec<_>>())
}

/// `ends` are numbers of steps with their ends in nanoseconds since 1970.
fn of_ends(index: &Index, run: &str, ends: &[(i64, i64)]) -> Option<i64> {
    let loss = index.describe(run)?.loss?;
    let query = ScalarsQuery {
        run: run.to_owned(),
        tag: loss.tag,
        rank: loss.rank,
        points: Some(MAX_POINTS),
        ..ScalarsQuery::default()
    };
    let series = index.series(&query).ok()?.read().ok()?;
    let steps = series.steps.into_iter();
    let curve: Vec<(i64, f64)> = steps.zip(series.wall_times_secs).collect();
    numbering::offset(ends, &curve)
}
