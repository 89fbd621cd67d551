//! Request of a card to the server, and the answer.

use trainscope_api::scalars::{Field, ScalarsRequest, Series, SeriesKey};

use super::choices::XChoice;
use trainscope_web_kit::components::browse::SeriesId;

/// Request of a card; equal requests have equal answers until data are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Want {
    /// Requested lines.
    pub(super) series: Vec<SeriesId>,
    /// Lowest step.
    pub(super) from: Option<i64>,
    /// Highest step.
    pub(super) to: Option<i64>,
    /// Maximum number of points or buckets of each line.
    pub(super) points: usize,
    /// `true` to include points superseded by a restart.
    pub(super) superseded: bool,
    /// `true` to include wall times.
    pub(super) wall_times: bool,
    /// Tag of the scalar on the x axis, if any.
    pub(super) x_tag: Option<String>,
}

impl Want {
    /// The request for one tag; the series of the x axis follow those of the lines.
    pub(super) fn request(&self, tag: &str) -> ScalarsRequest {
        let mut fields = vec![Field::Min, Field::Max];
        if self.wall_times {
            fields.push(Field::WallTimesSecs);
        }
        let of = |tag: &str| {
            let tag = tag.to_owned();
            self.series.iter().map(move |id| SeriesKey {
                run: id.run.clone(),
                rank: id.rank,
                tag: tag.clone(),
                writer: id.writer.clone(),
            })
        };
        ScalarsRequest {
            series: of(tag)
                .chain(self.x_tag.iter().flat_map(|x| of(x)))
                .collect(),
            from: self.from,
            to: self.to,
            points: Some(self.points),
            superseded: self.superseded,
            fields,
        }
    }

    /// `true` if two requests differ only in range and resolution.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let whole = |want: &Self| Self {
            from: None,
            to: None,
            points: 0,
            ..want.clone()
        };
        whole(self) == whole(other)
    }
}

/// The answer for one line, or for a group of lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Curve {
    /// Identifier of the line; for a group that of its first member.
    pub(super) id: SeriesId,
    pub(super) series: Series,
    /// Points superseded by a restart, in the order of writing; empty unless requested.
    pub(super) superseded: Series,
    /// Values of the scalar on the x axis at the same steps; empty for other axes.
    pub(super) over: Vec<f64>,
    /// Group that the line represents, if any.
    pub(super) group: Option<Group>,
}

/// Several lines as one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Group {
    /// Common value of the grouping key.
    pub(super) name: String,
    /// Runs of its members.
    pub(super) runs: Vec<String>,
    /// Number of members with a finite value at each point.
    pub(super) counts: Vec<u32>,
}

impl Curve {
    /// Label next to the colour chip.
    pub(super) fn label(&self) -> String {
        match &self.group {
            Some(group) => group.name.clone(),
            None => self.id.label(),
        }
    }

    /// `true` if minimum and maximum are available: for buckets and for means.
    pub(super) fn has_bounds(&self) -> bool {
        self.series.cut || self.group.is_some()
    }

    /// `true` if the line is of this run, or this run is a member of its group.
    pub(super) fn shows(&self, run: &str) -> bool {
        match &self.group {
            Some(group) => group.runs.iter().any(|member| member == run),
            None => self.id.run == run,
        }
    }
}

/// The answer for a card.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CardLines {
    /// In the requested order; lines without points are left out.
    pub(super) curves: Vec<Curve>,
}

impl CardLines {
    /// Pairs series with their answers.
    pub(super) fn new(want: &Want, answers: Vec<Option<Series>>) -> Self {
        let mut answers = answers;
        let mut xs = answers
            .split_off(answers.len().min(want.series.len()))
            .into_iter();
        let curves = want.series.iter().zip(answers).filter_map(|(id, series)| {
            let x = xs.next().flatten();
            let series = series.filter(|series| !series.steps.is_empty())?;
            let (series, superseded) = split(series);
            let first = series.steps.first().copied().unwrap_or_default();
            let over = match (&want.x_tag, x) {
                (None, _) => Vec::new(),
                (Some(_), Some(x)) => join(&series.steps, &from_its_begin(x, first)),
                (Some(_), None) => vec![f64::NAN; series.steps.len()],
            };
            Some(Curve {
                id: id.clone(),
                series,
                superseded,
                over,
                group: None,
            })
        });
        Self {
            curves: curves.collect(),
        }
    }

    /// Number of recorded points of all lines.
    pub(super) fn points(&self) -> u64 {
        self.curves.iter().map(|curve| curve.series.total).sum()
    }

    /// Highest step of all lines.
    pub(super) fn last_step(&self) -> Option<i64> {
        let steps = self.curves.iter().flat_map(|curve| &curve.series.steps);
        steps.copied().max()
    }

    /// Steps of the points in a range of x, with the points before and after them.
    pub(super) fn steps_of(
        &self,
        range: (f64, f64),
        x_of: &dyn Fn(&Curve) -> Vec<f64>,
    ) -> Option<(i64, i64)> {
        let mut out: Option<(i64, i64)> = None;
        for curve in &self.curves {
            let x = x_of(curve);
            let steps = &curve.series.steps;
            // A line segment may cross the range although neither of its points is within.
            let pairs = x
                .windows(2)
                .zip(steps.windows(2))
                .filter(|(x, _)| x[0].min(x[1]) <= range.1 && range.0 <= x[0].max(x[1]));
            for (_, pair) in pairs {
                let (lowest, highest) = out.unwrap_or((pair[0], pair[1]));
                out = Some((lowest.min(pair[0]), highest.max(pair[1])));
            }
        }
        out
    }
}

/// Splits a series into the curve and the points that a restart has superseded.
fn split(series: Series) -> (Series, Series) {
    let live = series.live.and_then(|live| usize::try_from(live).ok());
    let Some(live) = live.filter(|live| *live < series.steps.len()) else {
        return (series, Series::default());
    };
    let mut curve = series;
    // Columns that were not requested are empty.
    let tail = |column: &mut Vec<f64>| column.split_off(live.min(column.len()));
    let superseded = Series {
        cut: curve.cut,
        steps: curve.steps.split_off(live),
        wall_times_secs: tail(&mut curve.wall_times_secs),
        values: tail(&mut curve.values),
        min: tail(&mut curve.min),
        max: tail(&mut curve.max),
        per_epoch: curve.per_epoch,
        ..Series::default()
    };
    (curve, superseded)
}

/// Adds a point at the first step of a series of buckets. A bucket is placed at its last step: without this point, the
/// start of the first one would have no position.
fn from_its_begin(mut x: Series, step: i64) -> Series {
    let first = |list: &[f64]| list.first().copied();
    let (Some(value), Some(low), Some(high)) = (first(&x.values), first(&x.min), first(&x.max))
    else {
        return x;
    };
    if x.cut && x.steps.first().is_some_and(|&first| step < first) {
        // A growing value has its minimum first.
        let before = if value < high { high } else { low };
        x.steps.insert(0, step);
        x.values.insert(0, before);
    }
    x
}

/// Values of a series at these steps: linear between its points, constant before the first and after the last. Values
/// recorded a step later still have a position.
pub(super) fn join(steps: &[i64], x: &Series) -> Vec<f64> {
    let at = |index: usize| {
        x.steps
            .get(index)
            .copied()
            .zip(x.values.get(index).copied())
    };
    let one = |&step: &i64| {
        let behind = x.steps.partition_point(|&other| other < step);
        let before = behind.checked_sub(1).and_then(at);
        match (before, at(behind)) {
            (_, Some((there, value))) if there == step => value,
            (Some((from, low)), Some((to, high))) => {
                let share = (step as f64 - from as f64) / (to as f64 - from as f64);
                low + (high - low) * share
            }
            (Some((_, value)), None) | (None, Some((_, value))) => value,
            (None, None) => f64::NAN,
        }
    };
    steps.iter().map(one).collect()
}

/// The x of each point of a curve.
pub(super) fn x_values(curve: &Curve, x: XChoice, start: Option<f64>) -> Vec<f64> {
    let walls = &curve.series.wall_times_secs;
    match x {
        XChoice::Step => steps_as_x(curve),
        XChoice::Wall => walls.clone(),
        XChoice::Relative => {
            let start = start.or_else(|| walls.first().copied()).unwrap_or(0.0);
            walls.iter().map(|wall| wall - start).collect()
        }
        XChoice::Tag => curve.over.clone(),
    }
}

pub(super) fn steps_as_x(curve: &Curve) -> Vec<f64> {
    curve.series.steps.iter().map(|&step| step as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(x_tag: Option<&str>) -> Want {
        Want {
            series: vec![SeriesId::default()],
            x_tag: x_tag.map(str::to_owned),
            ..Want::default()
        }
    }

    fn series(steps: &[i64], values: &[f64]) -> Series {
        Series {
            steps: steps.to_vec(),
            values: values.to_vec(),
            ..Series::default()
        }
    }

    #[test]
    fn a_range_of_time_becomes_steps_with_a_neighbour_on_each_side() {
        let mut points = series(&[0, 10, 20, 30], &[0.0; 4]);
        points.wall_times_secs = vec![1_000.0, 1_020.0, 1_040.0, 1_060.0];
        let loaded = CardLines::new(&want(None), vec![Some(points)]);
        let relative = |curve: &Curve| x_values(curve, XChoice::Relative, Some(1_000.0));
        assert_eq!(loaded.steps_of((25.0, 45.0), &relative), Some((10, 30)));
        assert_eq!(loaded.steps_of((22.0, 23.0), &relative), Some((10, 20)));
        assert_eq!(loaded.steps_of((99.0, 100.0), &relative), None);
    }

    #[test]
    fn superseded_points_are_apart_from_the_curve() {
        let mut points = series(&[0, 5, 7, 12, 5, 9], &[0.0, 3.0, 4.0, 5.0, 1.0, f64::NAN]);
        let whole = split(points.clone());
        assert_eq!((whole.0.steps.len(), whole.1.steps.len()), (6, 0));
        points.live = Some(4);
        let loaded = CardLines::new(&want(None), vec![Some(points)]);
        let curve = &loaded.curves[0];
        assert_eq!(curve.series.steps, [0, 5, 7, 12]);
        assert_eq!(curve.superseded.steps, [5, 9]);
        assert!(curve.superseded.values[1].is_nan());
    }

    #[test]
    fn another_scalar_is_joined_by_step() {
        let lines = series(&[0, 10, 15, 20, 21], &[5.0, 4.0, 3.0, 2.0, 1.0]);
        let tokens = series(&[0, 10, 20], &[0.0, 100.0, 400.0]);
        let want = want(Some("tokens"));
        assert_eq!(want.request("loss").series[1].tag, "tokens");
        let loaded = CardLines::new(&want, vec![Some(lines.clone()), Some(tokens)]);
        assert_eq!(loaded.curves[0].over, [0.0, 100.0, 250.0, 400.0, 400.0]);
        let mut buckets = series(&[10, 20], &[100.0, 400.0]);
        (buckets.min, buckets.max, buckets.cut) = (vec![0.0, 130.0], vec![100.0, 400.0], true);
        let cut = CardLines::new(&want, vec![Some(lines.clone()), Some(buckets)]);
        assert_eq!(cut.curves[0].over[..2], [0.0, 100.0]);
        let without = CardLines::new(&want, vec![Some(lines), None]);
        assert!(without.curves[0].over.iter().all(|x| x.is_nan()));
    }
}
