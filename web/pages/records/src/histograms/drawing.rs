//! Conversion of an answer to the drawing and the read-out.

use std::sync::Arc;

use trainscope_api::distributions::{Distribution, DistributionsAnswer, Row, Spacing};
use trainscope_charts::distribution::{Row as ChartRow, Spec, Stack, View};
use trainscope_charts::label;
use trainscope_charts::line::XKind;
use trainscope_charts::scale::Scale;
use trainscope_charts::theme::Rgb;
use trainscope_format::Kind;

use super::settings::Over;
use trainscope_web_kit::components::browse::SeriesId;

/// One series of a picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) id: SeriesId,
    /// Its rows.
    pub(super) of: Distribution,
    pub(super) colour: Rgb,
    /// Wall time of the first record of its run, in seconds since 1970; the origin of relative times.
    pub(super) start: Option<f64>,
}

/// Rendering options common to all pictures of a card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    pub(super) view: View,
    /// Unit of the step axis.
    pub(super) over: Over,
    /// Offset of local time from UTC, positive to the east.
    pub(super) offset_secs: f64,
}

impl Part {
    /// `true` if its bins are binary exponents, as in statistics.
    pub(super) fn is_exponents(&self) -> bool {
        self.id.kind == Kind::Statistics
    }
}

/// The view of an answer. With one record per series it is a plain histogram, whatever was chosen.
pub(super) fn view_of(chosen: View, answer: Option<&DistributionsAnswer>) -> View {
    let is_single = answer.is_some_and(|answer| {
        let mut series = answer.series.iter().flatten().peekable();
        series.peek().is_some() && series.all(|of| of.total <= 1)
    });
    if is_single { View::Overlay } else { chosen }
}

/// Sorts rows along their axis: clocks may go back, columns may not.
pub(super) fn in_order(of: &mut Distribution, over: Over) {
    if over != Over::Step {
        of.rows
            .sort_by(|a, b| a.wall_time_secs.total_cmp(&b.wall_time_secs));
    }
}

/// The picture of some parts of an answer.
pub(super) fn spec(answer: &DistributionsAnswer, parts: &[Part], look: Look) -> Arc<Spec> {
    let stack = |part: &Part| {
        let first = part.of.rows.first().map(|row| row.wall_time_secs);
        let start = part.start.or(first).unwrap_or(0.0);
        let rows: Vec<ChartRow> = part
            .of
            .rows
            .iter()
            .map(|row| ChartRow {
                at: match look.over {
                    Over::Step => row.step as f64,
                    Over::Relative => row.wall_time_secs - start,
                    Over::Wall => row.wall_time_secs,
                },
                counts: row.counts.clone(),
                finite: row.finite,
                nan: row.nan,
                inf: row.pos_inf.saturating_add(row.neg_inf),
                percentiles: row.percentiles.clone(),
                text: name(row, look, start),
                since: match look.over {
                    _ if row.records < 2 => String::new(),
                    Over::Step => label::step(row.first_step),
                    // Only the last time of a row is known.
                    Over::Relative | Over::Wall => "…".to_owned(),
                },
            })
            .collect();
        Stack {
            colour: part.colour,
            rows,
        }
    };
    Arc::new(Spec {
        view: look.view,
        edges: answer.edges.clone(),
        is_stepped: answer.exponents,
        scale: match answer.spacing {
            Spacing::Auto | Spacing::Linear => Scale::Linear,
            Spacing::Symlog => Scale::Symlog {
                linear: answer.linear,
            },
        },
        kind: match look.over {
            Over::Step => XKind::Step,
            Over::Relative => XKind::Relative,
            Over::Wall => XKind::Wall {
                offset_secs: look.offset_secs,
            },
        },
        stacks: parts.iter().map(stack).collect(),
        ..Spec::default()
    })
}

/// Label of a row on the step axis.
fn name(row: &Row, look: Look, start: f64) -> String {
    match look.over {
        Over::Step => label::step(row.step),
        Over::Relative => label::duration(row.wall_time_secs - start, 1.0),
        Over::Wall => label::clock(row.wall_time_secs + look.offset_secs, 1.0),
    }
}

/// Steps of the rows between two positions on the axis.
pub(super) fn steps_between(
    parts: &[Part],
    look: Look,
    (lo, hi): (f64, f64),
) -> Option<(i64, i64)> {
    let mut found: Option<(i64, i64)> = None;
    for part in parts {
        let first = part.of.rows.first().map(|row| row.wall_time_secs);
        let start = part.start.or(first).unwrap_or(0.0);
        for row in &part.of.rows {
            let at = match look.over {
                Over::Step => row.step as f64,
                Over::Relative => row.wall_time_secs - start,
                Over::Wall => row.wall_time_secs,
            };
            if lo <= at && at <= hi {
                let (from, to) = found.unwrap_or((row.first_step, row.step));
                found = Some((from.min(row.first_step), to.max(row.step)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_record_is_a_plain_histogram() {
        let answer = |totals: &[u64]| DistributionsAnswer {
            series: totals
                .iter()
                .map(|total| {
                    Some(Distribution {
                        total: *total,
                        ..Distribution::default()
                    })
                })
                .collect(),
            ..DistributionsAnswer::default()
        };
        let of = |totals: &[u64]| view_of(View::HeatMap, Some(&answer(totals)));
        assert_eq!((of(&[1]), of(&[1, 1])), (View::Overlay, View::Overlay));
        assert_eq!((of(&[1, 2]), of(&[])), (View::HeatMap, View::HeatMap));
        assert_eq!(view_of(View::Offset, None), View::Offset);
    }
}
