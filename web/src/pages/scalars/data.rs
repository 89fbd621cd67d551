//! What a card asks the server for, and the answer.

use trainscope_api::scalars::{Field, ScalarsRequest, Series, SeriesKey};

use super::settings::XChoice;
use super::tags::SeriesId;

/// What a card wants to know; equal wants have equal answers until something is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Want {
    /// Which lines.
    pub(super) series: Vec<SeriesId>,
    /// Lowest step.
    pub(super) from: Option<i64>,
    /// Highest step.
    pub(super) to: Option<i64>,
    /// Points or buckets of each line.
    pub(super) points: usize,
    /// Whether points that a restart has written again are wanted.
    pub(super) superseded: bool,
    /// Whether wall times are.
    pub(super) wall_times: bool,
}

impl Want {
    /// The request for it, of one tag.
    pub(super) fn request(&self, tag: &str) -> ScalarsRequest {
        let mut fields = vec![Field::Min, Field::Max];
        if self.wall_times {
            fields.push(Field::WallTimesSecs);
        }
        ScalarsRequest {
            series: self
                .series
                .iter()
                .map(|id| SeriesKey {
                    run: id.run.clone(),
                    rank: id.rank,
                    tag: tag.to_owned(),
                    writer: id.writer.clone(),
                })
                .collect(),
            from: self.from,
            to: self.to,
            points: Some(self.points),
            superseded: self.superseded,
            fields,
        }
    }
}

/// One line's answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    /// Which line.
    pub(super) id: SeriesId,
    /// Its points.
    pub(super) series: Series,
}

/// The answer for a card: the lines that there are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Loaded {
    /// In the order asked for; lines without points are left out.
    pub(super) curves: Vec<Curve>,
}

impl Loaded {
    /// Puts names and answers together.
    pub(super) fn new(series: &[SeriesId], answers: Vec<Option<Series>>) -> Self {
        let curves = series.iter().zip(answers).filter_map(|(id, series)| {
            let series = series.filter(|series| !series.steps.is_empty())?;
            Some(Curve {
                id: id.clone(),
                series,
            })
        });
        Self {
            curves: curves.collect(),
        }
    }

    /// The steps that lie in a range of x, with the point before and behind it.
    pub(super) fn steps_of(
        &self,
        range: (f64, f64),
        x_of: &dyn Fn(&Curve) -> Vec<f64>,
    ) -> Option<(i64, i64)> {
        let mut out: Option<(i64, i64)> = None;
        for curve in &self.curves {
            let x = x_of(curve);
            let first = x.partition_point(|&x| x < range.0).saturating_sub(1);
            let last = x
                .partition_point(|&x| x <= range.1)
                .min(x.len().saturating_sub(1));
            let steps = &curve.series.steps;
            if let (Some(&from), Some(&to)) = (steps.get(first), steps.get(last)) {
                let (lowest, highest) = out.unwrap_or((from, to));
                out = Some((lowest.min(from), highest.max(to)));
            }
        }
        out
    }
}

/// The x of each point of a curve.
pub(super) fn x_values(curve: &Curve, x: XChoice, start: Option<f64>) -> Vec<f64> {
    let walls = &curve.series.wall_times_secs;
    match x {
        XChoice::Step => curve.series.steps.iter().map(|&step| step as f64).collect(),
        XChoice::Wall => walls.clone(),
        XChoice::Relative => {
            let start = start.or_else(|| walls.first().copied()).unwrap_or(0.0);
            walls.iter().map(|wall| wall - start).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_time_becomes_steps_with_a_neighbour_on_each_side() {
        let series = Series {
            steps: vec![0, 10, 20, 30],
            values: vec![0.0; 4],
            wall_times_secs: vec![1_000.0, 1_020.0, 1_040.0, 1_060.0],
            ..Series::default()
        };
        let loaded = Loaded::new(&[SeriesId::default()], vec![Some(series)]);
        let steps = loaded.steps_of((25.0, 45.0), &|curve| {
            x_values(curve, XChoice::Relative, Some(1_000.0))
        });
        assert_eq!(steps, Some((10, 30)));
    }
}
