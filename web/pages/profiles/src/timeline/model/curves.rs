//! Curves of the run above the lanes: up to three scalar tags by wall time.

use std::sync::Arc;

use trainscope_api::scalars::{Field, MAX_POINTS, ScalarsRequest, Series, SeriesKey};
use trainscope_api::timeline::TimelineCounter;

use super::{CURVES, Model};
use crate::timeline::counter::{of_series, steps_between};
use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Query;
use trainscope_web_kit::url_state::History;

/// Maximum number of curves.
pub(in crate::timeline) const MAX_CURVES: usize = 3;
/// Maximum number of points or buckets of a curve.
const POINTS: usize = 2_000;

/// Run, rank, tags, start since 1970 and length of the session: the inputs of the curves.
type CurvesKey = (String, u32, Vec<String>, String, i64);

impl Model {
    /// Requests the curves of the address once the session has a clock.
    pub(super) fn ask_curves(self, curves: Query<Vec<Arc<TimelineCounter>>>) {
        curves.start(
            move || {
                let tags = self.curve_tags.get();
                let rank = self
                    .profiles
                    .chosen
                    .with(|chosen| Some(chosen.as_ref()?.rank))?;
                let (clock, extent) = self
                    .frame
                    .with(|frame| (frame.unix_nanos.clone(), frame.extent_nanos));
                let run = self.profiles.run.get();
                (!tags.is_empty()).then_some((run, rank, tags, clock?, extent))
            },
            fetch,
        );
    }

    /// Shows the curve of a tag, or hides it.
    pub(in crate::timeline) fn turn_curve(self, tag: &str) {
        let mut tags = self.curve_tags.get_untracked();
        match tags.iter().position(|known| known == tag) {
            Some(at) => {
                tags.remove(at);
            }
            None if tags.len() < MAX_CURVES => tags.push(tag.to_owned()),
            None => return,
        }
        self.url.set(&[CURVES.to(tags)], History::Replace);
    }

    /// A curve by its position; `None` until it arrives.
    pub(in crate::timeline) fn curve(self, index: usize) -> Option<Arc<TimelineCounter>> {
        let tag = self.curve_tags.with(|tags| tags.get(index).cloned())?;
        self.curves.answer.with(|all| {
            let curve = all.as_ref()?.iter().find(|curve| curve.name == tag)?;
            Some(Arc::clone(curve))
        })
    }
}

/// Points of each tag in the time of the session. A tag without points becomes an empty curve.
async fn fetch(
    (run, rank, tags, clock, extent): CurvesKey,
) -> Result<Vec<Arc<TimelineCounter>>, ClientError> {
    let unix_nanos: i128 = clock.parse().map_err(|_| ClientError::Misunderstood)?;
    let begin = unix_nanos as f64 / 1e9;
    let end = begin + extent as f64 / 1e9;
    let mut curves = Vec::new();
    for tag in tags {
        let Some(mut series) = points(&run, rank, &tag, (None, None), POINTS).await? else {
            curves.push(Arc::new(TimelineCounter {
                name: tag,
                ..TimelineCounter::default()
            }));
            continue;
        };
        if series.cut {
            let (steps, limit) = if series.per_epoch {
                ((None, None), MAX_POINTS)
            } else {
                (steps_between(&series, begin, end), POINTS)
            };
            let finer = points(&run, rank, &tag, steps, limit).await?;
            series = finer.unwrap_or(series);
        }
        curves.push(Arc::new(of_series(tag, &series, unix_nanos, extent)));
    }
    Ok(curves)
}

/// Points of a tag between two steps, or their buckets: of the rank, else of rank 0, often the only writer.
async fn points(
    run: &str,
    rank: u32,
    tag: &str,
    (from, to): (Option<i64>, Option<i64>),
    limit: usize,
) -> Result<Option<Series>, ClientError> {
    let key = |rank: u32| SeriesKey {
        run: run.to_owned(),
        rank,
        tag: tag.to_owned(),
        writer: None,
    };
    let answer = client::scalars_many(&ScalarsRequest {
        series: vec![key(rank), key(0)],
        from,
        to,
        points: Some(limit),
        fields: vec![Field::Min, Field::Max, Field::WallTimesSecs],
        ..ScalarsRequest::default()
    })
    .await?;
    Ok(answer.series.into_iter().flatten().next())
}
