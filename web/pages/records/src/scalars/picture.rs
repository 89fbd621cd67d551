//! Drawing and read-out of a card, computed from the answer to its request, independent of the browser.

use std::collections::BTreeSet;
use std::sync::Arc;

use trainscope_api::scalars::{NonFinite, NonFiniteClass, Series};
use trainscope_charts::label;
use trainscope_charts::line::{Class, LimitLine, Line, Stretch, Stroke};
use trainscope_charts::smooth::{self, Kind};
use trainscope_charts::theme::Rgb;

use super::choices::Range;
use super::choices::XChoice;
use super::data::{CardLines, Curve, steps_as_x, x_values};

/// For points drawn as buckets, the unit of smoothing is this fraction of the plot's width, so that lines of all
/// lengths are smoothed alike. For points drawn one by one, the unit is the point: values then equal those of other
/// programs and do not depend on the zoom.
const SMOOTHING_UNITS: f64 = 500.0;

/// Rendering options of a card.
pub(super) struct Look<'a> {
    /// Unit of x.
    pub(super) x: XChoice,
    /// Weight of smoothing.
    pub(super) smoothing: f64,
    /// Smoothing algorithm.
    pub(super) kind: Kind,
    /// The zoomed range; `None` if everything is shown.
    pub(super) range: Option<Range>,
    /// `true` to draw envelopes (or raw points behind a smoothed line).
    pub(super) has_band: bool,
    /// The run whose page it is.
    pub(super) page_run: &'a str,
    /// Colour of a run, and whether its line is dashed.
    pub(super) colour: &'a dyn Fn(&str) -> (Rgb, bool),
    /// Background colour.
    pub(super) paper: Rgb,
    /// Predicate for runs that grow.
    pub(super) is_live: &'a dyn Fn(&str) -> bool,
    /// Wall time at which a run began, in seconds since 1970.
    pub(super) start: &'a dyn Fn(&str) -> Option<f64>,
    /// Ranges of values beyond the limits of a run.
    pub(super) beyond: &'a dyn Fn(&str) -> Vec<(f64, f64)>,
    /// `+∞ at 411`.
    pub(super) inf_at: fn(&str, &str) -> String,
}

/// Drawing and read-out of a card.
#[derive(Clone, Debug, Default)]
pub(super) struct Picture {
    /// Source data.
    pub(super) loaded: Arc<CardLines>,
    /// The last answer without a range; it has the ends of stretches beyond the zoomed range.
    pub(super) whole: Option<Arc<CardLines>>,
    /// One line per curve, in the same order.
    pub(super) lines: Arc<Vec<Line>>,
    /// Points superseded by restarts, drawn below all lines.
    pub(super) superseded: Vec<Line>,
    /// `true` if all lines are identical and drawn as one.
    pub(super) is_shared: bool,
    /// Lines of limits.
    pub(super) limits: Vec<LimitLine>,
}

impl Picture {
    /// Builds the lines of an answer.
    pub(super) fn new(
        loaded: Arc<CardLines>,
        whole: Option<Arc<CardLines>>,
        look: &Look<'_>,
    ) -> Self {
        let all_x: Vec<Vec<f64>> = loaded
            .curves
            .iter()
            .map(|curve| x_values(curve, look.x, (look.start)(&curve.id.run)))
            .collect();
        let unit = span(&loaded, &all_x, look) / SMOOTHING_UNITS;
        let mut lines: Vec<Line> = loaded
            .curves
            .iter()
            .zip(all_x)
            .map(|(curve, x)| line(curve, x, look, unit))
            .collect();
        let is_shared = lines.len() > 1
            && lines
                .windows(2)
                .all(|pair| pair[0].x == pair[1].x && same(&pair[0].values, &pair[1].values));
        if is_shared {
            let of = u8::try_from(lines.len()).unwrap_or(u8::MAX);
            for (index, line) in (0..of).zip(&mut lines) {
                line.stroke = Stroke::Shared { index, of };
                line.is_main = false;
            }
        }
        let curves = loaded.curves.iter();
        let superseded = curves.filter_map(|curve| pale_line(curve, look)).collect();
        Self {
            loaded,
            whole,
            lines: Arc::new(lines),
            superseded,
            is_shared,
            limits: Vec::new(),
        }
    }

    /// Stretches of a line that are not finite, each in its full length in the recording.
    pub(super) fn stretches(&self, curve: &Curve) -> Vec<NonFinite> {
        let whole = self.whole.iter().flat_map(|whole| &whole.curves);
        let known: Vec<&NonFinite> = whole
            .filter(|other| other.id == curve.id)
            .flat_map(|other| &other.series.non_finite)
            .collect();
        let longer = |stretch: &NonFinite| {
            let around = known.iter().find(|other| {
                other.class == stretch.class
                    && other.first_step <= stretch.first_step
                    && stretch.last_step <= other.last_step
            });
            around.map_or(*stretch, |around| **around)
        };
        curve.series.non_finite.iter().map(longer).collect()
    }

    /// Number of runs (or groups) of the lines: a run with several writers has several lines.
    pub(super) fn runs(&self) -> usize {
        let curves = self.loaded.curves.iter();
        curves
            .map(|curve| &curve.id.run)
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// From the first to the last x of all lines.
    pub(super) fn extent(&self) -> Option<(f64, f64)> {
        extent_of(self.lines.iter().map(|line| &line.x))
    }

    /// `true` if no line has a point in the range.
    pub(super) fn is_empty_in(&self, (lo, hi): (f64, f64)) -> bool {
        !self
            .lines
            .iter()
            .any(|line| line.x.iter().any(|x| (lo..=hi).contains(x)))
    }
}

/// Width of the plot in the unit of smoothing: x, or steps if x is another scalar, which may not increase.
fn span(loaded: &CardLines, all_x: &[Vec<f64>], look: &Look<'_>) -> f64 {
    let width = |extent: Option<Range>| extent.map_or(0.0, |(lo, hi)| hi - lo);
    if look.x == XChoice::Tag {
        let steps: Vec<Vec<f64>> = loaded.curves.iter().map(steps_as_x).collect();
        return width(extent_of(steps.iter()));
    }
    width(look.range.or_else(|| extent_of(all_x.iter())))
}

/// Unit of smoothing if each point is drawn: the mean distance for windows, NaN (the point) otherwise.
fn unit_of_points(kind: Kind, x: &[f64]) -> f64 {
    match (kind, x) {
        (Kind::Mean | Kind::Gaussian, [first, .., last]) => (last - first) / (x.len() - 1) as f64,
        _ => f64::NAN,
    }
}

/// Minimum and maximum finite x.
pub(super) fn extent_of<'a>(all: impl Iterator<Item = &'a Vec<f64>>) -> Option<(f64, f64)> {
    let finite = all.flatten().filter(|x| x.is_finite());
    finite.fold(None, |extent: Option<(f64, f64)>, &x| {
        let (lo, hi) = extent.unwrap_or((x, x));
        Some((lo.min(x), hi.max(x)))
    })
}

/// Bitwise equality: NaN equals NaN.
fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Values smoothed along x. Of several values at one x only the last finite one counts; the others take its smoothed
/// value, which avoids cliffs.
fn smoothed(look: &Look<'_>, x: &[f64], values: &[f64], unit: f64) -> Vec<f64> {
    if look.smoothing <= 0.0 {
        return values.to_vec();
    }
    let indices: Vec<usize> = (0..values.len().min(x.len())).collect();
    let is_same = |a: &usize, b: &usize| x[*a].to_bits() == x[*b].to_bits();
    let groups: Vec<&[usize]> = indices.chunk_by(is_same).collect();
    let counting = |group: &&[usize]| {
        let finite = group.iter().rev().find(|index| values[**index].is_finite());
        finite.or(group.last()).copied()
    };
    let counting: Vec<usize> = groups.iter().filter_map(counting).collect();
    let group_x: Vec<f64> = counting.iter().map(|&index| x[index]).collect();
    let group_values: Vec<f64> = counting.iter().map(|&index| values[index]).collect();
    let means = smooth::by(look.kind, &group_x, &group_values, look.smoothing, unit);
    let mut all = values.to_vec();
    for (group, mean) in groups.iter().zip(means) {
        for &index in group.iter().filter(|&&index| values[index].is_finite()) {
            all[index] = mean;
        }
    }
    all
}

fn line(curve: &Curve, x: Vec<f64>, look: &Look<'_>, unit: f64) -> Line {
    let series = &curve.series;
    let run = curve.id.run.as_str();
    let is_smoothed = look.smoothing > 0.0;
    let is_over_tag = look.x == XChoice::Tag;
    let (colour, is_dashed) = (look.colour)(run);
    let has_bounds = curve.has_bounds();
    // Points have no position on an axis that is smoothed itself.
    let show_raw = !has_bounds && is_smoothed && look.has_band && !is_over_tag;
    let beyond = (look.beyond)(run);
    let (low, high) = if has_bounds && look.has_band {
        (series.min.clone(), series.max.clone())
    } else if has_bounds && !beyond.is_empty() {
        peaks(series, &beyond)
    } else {
        (Vec::new(), Vec::new())
    };
    let steps = is_over_tag.then(|| steps_as_x(curve));
    let along = steps.as_ref().unwrap_or(&x);
    let unit = if series.cut {
        unit
    } else {
        unit_of_points(look.kind, along)
    };
    let values = smoothed(look, along, &series.values, unit);
    // Both axes alike: a scalar over itself stays the diagonal.
    let x = match &steps {
        Some(steps) => smoothed(look, steps, &x, unit),
        None => x,
    };
    let stretches = series
        .non_finite
        .iter()
        .map(|stretch| {
            let (class, name) = class_of(stretch.class);
            let label = if class == Class::Nan {
                String::new()
            } else {
                (look.inf_at)(name, &label::step(stretch.first_step))
            };
            Stretch {
                class,
                first: x_of_step(series, &x, stretch.first_step),
                last: x_of_step(series, &x, stretch.last_step),
                label,
            }
        })
        .collect();
    Line {
        colour,
        // A second writer has the colour of the first.
        stroke: if is_dashed || curve.id.writer.is_some() {
            Stroke::Dashed
        } else {
            Stroke::Solid
        },
        is_main: curve.shows(look.page_run),
        is_live: (look.is_live)(run),
        values,
        raw: if show_raw {
            series.values.clone()
        } else {
            Vec::new()
        },
        is_raw: !has_bounds && (show_raw || !is_smoothed),
        x,
        low,
        high,
        stretches,
        beyond,
    }
}

/// Superseded points of a curve: paler, not smoothed.
fn pale_line(curve: &Curve, look: &Look<'_>) -> Option<Line> {
    let old = Curve {
        id: curve.id.clone(),
        series: curve.superseded.clone(),
        ..Curve::default()
    };
    let x = x_values(&old, look.x, (look.start)(&old.id.run));
    (!x.is_empty()).then(|| Line {
        colour: mix((look.colour)(&old.id.run).0, look.paper),
        stroke: Stroke::Solid,
        is_main: false,
        is_live: false,
        x,
        values: old.series.values,
        raw: Vec::new(),
        low: Vec::new(),
        high: Vec::new(),
        stretches: Vec::new(),
        is_raw: !old.series.cut,
        beyond: Vec::new(),
    })
}

/// Blends two fifths of a colour with the background.
fn mix(colour: Rgb, paper: Rgb) -> Rgb {
    let one = |colour: u8, paper: u8| {
        let mixed = (u16::from(colour) * 2 + u16::from(paper) * 3) / 5;
        u8::try_from(mixed).unwrap_or(u8::MAX)
    };
    Rgb(
        one(colour.0, paper.0),
        one(colour.1, paper.1),
        one(colour.2, paper.2),
    )
}

/// The envelope at outliers, NaN elsewhere.
fn peaks(series: &Series, beyond: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let bounds = series.min.iter().zip(&series.max);
    let seen = bounds.map(|(&low, &high)| {
        let reaches = beyond.iter().any(|range| low < range.1 && high > range.0);
        if reaches {
            (low, high)
        } else {
            (f64::NAN, f64::NAN)
        }
    });
    seen.unzip()
}

/// The class of the plot, and its text.
pub(super) fn class_of(class: NonFiniteClass) -> (Class, &'static str) {
    match class {
        NonFiniteClass::Nan => (Class::Nan, "NaN"),
        NonFiniteClass::PosInf => (Class::PosInf, "+∞"),
        NonFiniteClass::NegInf => (Class::NegInf, "−∞"),
    }
}

/// x of a step that may be inside a bucket: exact on an axis of steps, the bucket's on one of time.
fn x_of_step(series: &Series, x: &[f64], step: i64) -> f64 {
    let index = series.steps.partition_point(|&other| other < step);
    match (series.steps.get(index), x.get(index)) {
        // On an axis of steps, x equals the step, except inside a bucket.
        (Some(&at), Some(&x)) if (x - at as f64).abs() < f64::EPSILON => step as f64,
        (_, Some(&x)) => x,
        (_, None) => x.last().copied().unwrap_or(step as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::Want;
    use super::*;
    use trainscope_web_kit::components::browse::SeriesId;

    fn id(run: &str) -> SeriesId {
        SeriesId {
            run: run.to_owned(),
            ..SeriesId::default()
        }
    }

    fn series(steps: &[i64], values: &[f64]) -> Series {
        Series {
            total: steps.len() as u64,
            steps: steps.to_vec(),
            values: values.to_vec(),
            wall_times_secs: steps
                .iter()
                .map(|&step| 1_000.0 + 2.0 * step as f64)
                .collect(),
            ..Series::default()
        }
    }

    fn look(x: XChoice, smoothing: f64) -> Look<'static> {
        Look {
            x,
            smoothing,
            kind: Kind::Ema,
            range: None,
            has_band: true,
            page_run: "a",
            colour: &|_| (Rgb(1, 2, 3), false),
            paper: Rgb(255, 255, 255),
            is_live: &|_| false,
            start: &|_| Some(1_000.0),
            beyond: &|_| Vec::new(),
            inf_at: |class, step| format!("{class} at {step}"),
        }
    }

    fn picture(curves: &[(&str, Series)], look: &Look<'_>) -> Picture {
        let want = Want {
            series: curves.iter().map(|(run, _)| id(run)).collect(),
            ..Want::default()
        };
        let answers = curves
            .iter()
            .map(|(_, series)| Some(series.clone()))
            .collect();
        Picture::new(Arc::new(CardLines::new(&want, answers)), None, look)
    }

    #[test]
    fn points_count_where_each_is_drawn_and_distance_where_they_are_buckets() {
        // Values computed by other programs for these points at a weight of 0.6.
        let wanted = [1.0, 2.875, 2.173_469_387_755_102];
        let mut sparse = series(&[0, 10, 1_000], &[1.0, 4.0, 1.5]);
        let ranges = [None, Some((0.0, 20.0)), Some((0.0, 9_000.0))];
        let values = |series: &Series, range| {
            let look = Look {
                range,
                ..look(XChoice::Step, 0.6)
            };
            picture(&[("a", series.clone())], &look).lines[0]
                .values
                .clone()
        };
        for range in ranges {
            for (value, wanted) in values(&sparse, range).iter().zip(wanted) {
                assert!((value - wanted).abs() < 1e-12, "{value} is not {wanted}");
            }
        }
        sparse.cut = true;
        (sparse.min, sparse.max) = (sparse.values.clone(), sparse.values.clone());
        assert_ne!(values(&sparse, ranges[0]), values(&sparse, ranges[1]));
    }

    #[test]
    fn a_step_that_was_written_twice_is_one_value_before_smoothing() {
        let twice = series(&[0, 8, 8, 16], &[1.0, 9.0, 2.0, 3.0]);
        let once = series(&[0, 8, 16], &[1.0, 2.0, 3.0]);
        let values = |series: Series| {
            let look = look(XChoice::Step, 0.6);
            picture(&[("a", series)], &look).lines[0].values.clone()
        };
        let (twice, once) = (values(twice), values(once));
        let bits = |values: &[f64]| {
            values
                .iter()
                .map(|value| value.to_bits())
                .collect::<Vec<_>>()
        };
        assert_eq!(bits(&twice), bits(&[once[0], once[1], once[1], once[2]]));
        let with_nan = values(series(&[0, 8, 8], &[1.0, 2.0, f64::NAN]));
        assert!(with_nan[1].is_finite() && with_nan[2].is_nan());
    }

    #[test]
    fn a_scalar_over_itself_is_the_diagonal() {
        let mut rates = series(&[0, 1, 2, 3], &[0.1, 0.4, 0.2, 0.3]);
        rates.wall_times_secs.clear();
        let want = Want {
            series: vec![id("a")],
            x_tag: Some("lr".to_owned()),
            ..Want::default()
        };
        let answers = vec![Some(rates.clone()), Some(rates)];
        let loaded = Arc::new(CardLines::new(&want, answers));
        let out = Picture::new(loaded, None, &look(XChoice::Tag, 0.6));
        assert_eq!(out.lines[0].x, out.lines[0].values);
        assert!(out.lines[0].raw.is_empty());
    }

    #[test]
    fn a_group_of_equal_steps_is_as_smooth_as_its_members_however_far_one_zooms_in() {
        let steps: Vec<i64> = (0..180).collect();
        let of = |offset: f64| {
            let values: Vec<f64> = steps
                .iter()
                .map(|step| offset + (step % 7) as f64)
                .collect();
            series(&steps, &values)
        };
        let want = Want {
            series: ["a", "b", "c"].map(id).to_vec(),
            ..Want::default()
        };
        let answers = [1.0, 2.0, 3.0].map(|offset| Some(of(offset))).to_vec();
        let members = Arc::new(CardLines::new(&want, answers));
        let spread = super::super::choices::Spread::Range;
        let name_of = |_: &str| "all".to_owned();
        let group = super::super::groups::grouped(&members, &name_of, &|_| None, spread);
        let group = Arc::new(group);
        for range in [None, Some((20.0, 28.0))] {
            let look = Look {
                range,
                ..look(XChoice::Step, 0.6)
            };
            let separate = Picture::new(Arc::clone(&members), None, &look);
            let mean = Picture::new(Arc::clone(&group), None, &look);
            for at in [0, 24, 179] {
                let (mean, middle) = (mean.lines[0].values[at], separate.lines[1].values[at]);
                assert!(
                    (mean - middle).abs() < 1e-9,
                    "{mean} is not {middle} at {at}"
                );
            }
            let band = (mean.lines[0].low[24], mean.lines[0].high[24]);
            assert_eq!(band, (1.0 + 3.0, 3.0 + 3.0));
        }
    }

    #[test]
    fn non_finite_values_reach_the_picture_with_their_steps() {
        let mut broken = series(&[10, 20, 30], &[1.0, f64::NAN, f64::INFINITY]);
        broken.non_finite = vec![
            NonFinite {
                class: NonFiniteClass::Nan,
                first_step: 20,
                last_step: 20,
                count: 1,
            },
            NonFinite {
                class: NonFiniteClass::PosInf,
                first_step: 30,
                last_step: 30,
                count: 1,
            },
        ];
        let out = picture(&[("a", broken)], &look(XChoice::Relative, 0.9));
        let line = &out.lines[0];
        assert!(line.is_main && line.values[1].is_nan() && line.values[2].is_infinite());
        assert_eq!(line.x, [20.0, 40.0, 60.0]);
        assert_eq!(
            (line.stretches[0].first, line.stretches[1].first),
            (40.0, 60.0)
        );
        assert_eq!(line.stretches[1].label, "+∞ at 30");
        let reading = out.readings(41.0)[0].unwrap();
        assert!(reading.value.is_nan() && reading.step == 20);
    }

    #[test]
    fn the_first_step_inside_of_a_bucket_is_exact() {
        let mut cut = series(&[100, 200], &[1.0, 2.0]);
        cut.cut = true;
        cut.non_finite = vec![NonFinite {
            class: NonFiniteClass::Nan,
            first_step: 137,
            last_step: 200,
            count: 3,
        }];
        let out = picture(&[("a", cut)], &look(XChoice::Step, 0.0));
        assert!((out.lines[0].stretches[0].first - 137.0).abs() < 1e-9);
    }

    #[test]
    fn pointing_finds_recorded_steps_and_not_what_is_beyond_the_end() {
        let out = picture(
            &[
                ("a", series(&[0, 10, 20], &[1.0, 2.0, 3.0])),
                ("b", series(&[0, 100, 200], &[1.0, 2.0, 3.0])),
            ],
            &look(XChoice::Step, 0.0),
        );
        assert_eq!(out.nearest(13.0), Some(10.0));
        assert_eq!(out.beside(10.0, 1), Some(20.0));
        assert_eq!(out.beside(20.0, 1), Some(100.0));
        assert_eq!(out.beside(10.0, -2), Some(0.0));
        let at = out.readings(100.0);
        assert!(at[0].is_none());
        assert_eq!(at[1].unwrap().step, 100);
        assert_eq!(out.extent(), Some((0.0, 200.0)));
    }

    #[test]
    fn what_was_written_again_is_paler() {
        let mut twice = series(&[0, 10, 15, 30, 20], &[1.0, 2.0, 3.0, 4.0, 9.0]);
        twice.live = Some(4);
        let out = picture(&[("a", twice)], &look(XChoice::Relative, 0.0));
        assert_eq!(out.lines[0].values, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(out.lines.len(), 1);
        let pale = &out.superseded[0];
        assert_eq!((&pale.x[..], &pale.values[..]), (&[40.0][..], &[9.0][..]));
        assert_eq!(pale.colour, Rgb(153, 153, 154));
    }

    #[test]
    fn equal_curves_share_one_line() {
        let one = series(&[0, 1], &[1.0, f64::NAN]);
        let out = picture(
            &[("a", one.clone()), ("b", one.clone())],
            &look(XChoice::Step, 0.0),
        );
        assert!(out.is_shared);
        assert_eq!(out.runs(), 2);
        let writers = [("a", one.clone()), ("a", one.clone()), ("b", one.clone())];
        assert_eq!(picture(&writers, &look(XChoice::Step, 0.0)).runs(), 2);
        assert_eq!(out.lines[1].stroke, Stroke::Shared { index: 1, of: 2 });
        let other = series(&[0, 1], &[1.0, 2.0]);
        assert!(!picture(&[("a", one), ("b", other)], &look(XChoice::Step, 0.0)).is_shared);
    }
}
