//! Numbers of steps: those of a profile beside those of the curves of its run.

use trainscope_analysis::trace::numbering;
use trainscope_api::scalars::{MAX_POINTS, ScalarsQuery};

use crate::index::Index;
use crate::profiles::LoadedProfile;

/// The difference between the steps of the training and those of the profiler, if the curve of the loss tells.
pub(super) fn step_offset(index: &Index, loaded: &LoadedProfile) -> Option<i64> {
    let runs = index.runs().runs;
    let loss = runs.into_iter().find(|run| run.id == loaded.run())?.loss?;
    let query = ScalarsQuery {
        run: loaded.run().to_owned(),
        tag: loss.tag,
        rank: loss.rank,
        points: Some(MAX_POINTS),
        ..ScalarsQuery::default()
    };
    let series = index.series(&query).ok()?.read().ok()?;
    let steps = series.steps.into_iter();
    let curve: Vec<(i64, f64)> = steps.zip(series.wall_times_secs).collect();
    numbering::offset(&loaded.model, &curve)
}
