//! Groups of runs as one line: their mean, spread and number of members.

use std::collections::BTreeMap;

use trainscope_api::scalars::{NonFinite, Series};
use trainscope_format::hparams::HparamValue;

use super::choices::{GroupBy, Spread};
use super::data::{CardLines, Curve, Group, join};
use trainscope_web_kit::components::browse::Filter;
use trainscope_web_kit::run_name::split_name;

/// Name of a run's group; `pattern` is the regular expression, if any.
pub(super) fn group_of(
    by: &GroupBy,
    pattern: &Filter,
    run: &str,
    hparams: Option<&BTreeMap<String, HparamValue>>,
    not_recorded: &str,
) -> String {
    match by {
        GroupBy::Folder => match split_name(run).0 {
            "" => ".".to_owned(),
            folder => folder.to_owned(),
        },
        GroupBy::Hparam(name) => {
            let value = hparams.and_then(|hparams| hparams.get(name));
            let value = value.map_or_else(|| not_recorded.to_owned(), hparam_text);
            format!("{name} = {value}")
        }
        // A run without a match is a group alone.
        GroupBy::Pattern(_) => pattern.find(run).unwrap_or_else(|| run.to_owned()),
    }
}

/// Text of the value of a hyper-parameter.
fn hparam_text(value: &HparamValue) -> String {
    match value {
        HparamValue::Null => "null".to_owned(),
        HparamValue::Number(number) => trainscope_charts::label::exact(*number),
        HparamValue::Text(text) => text.clone(),
        HparamValue::Bool(bool) => bool.to_string(),
    }
}

/// One curve per group, in the order of their first members. `start` is the wall time at which a run began: times are
/// averaged relative to it.
pub(super) fn grouped(
    loaded: &CardLines,
    name_of: &dyn Fn(&str) -> String,
    start: &dyn Fn(&str) -> Option<f64>,
    spread: Spread,
) -> CardLines {
    let mut names: Vec<String> = Vec::new();
    let mut members: BTreeMap<String, Vec<&Curve>> = BTreeMap::new();
    for curve in &loaded.curves {
        let name = name_of(&curve.id.run);
        if !members.contains_key(&name) {
            names.push(name.clone());
        }
        members.entry(name).or_default().push(curve);
    }
    let curves = names.into_iter().filter_map(|name| {
        let members = members.remove(&name)?;
        mean(&name, &members, start, spread)
    });
    CardLines {
        curves: curves.collect(),
    }
}

/// Finite values of the members at one step.
#[derive(Default)]
struct Sample {
    count: u32,
    mean: f64,
    squares: f64,
    low: f64,
    high: f64,
}

impl Sample {
    /// Welford's update.
    fn add(&mut self, value: f64, low: f64, high: f64) {
        if self.count == 0 {
            (self.low, self.high) = (low, high);
        }
        self.count += 1;
        let delta = value - self.mean;
        self.mean += delta / f64::from(self.count);
        self.squares += delta * (value - self.mean);
        (self.low, self.high) = (self.low.min(low), self.high.max(high));
    }

    fn bounds(&self, spread: Spread) -> (f64, f64) {
        let others = f64::from(self.count.saturating_sub(1).max(1));
        let deviation = (self.squares / others).sqrt();
        let half = match spread {
            Spread::Range => return (self.low, self.high),
            Spread::Deviation => deviation,
            Spread::Error => deviation / f64::from(self.count.max(1)).sqrt(),
        };
        (self.mean - half, self.mean + half)
    }
}

fn mean(
    name: &str,
    members: &[&Curve],
    start: &dyn Fn(&str) -> Option<f64>,
    spread: Spread,
) -> Option<Curve> {
    let first = members.first()?;
    let mut steps: Vec<i64> = members
        .iter()
        .flat_map(|curve| curve.series.steps.iter().copied())
        .collect();
    steps.sort_unstable();
    steps.dedup();
    let mut samples: Vec<Sample> = steps.iter().map(|_| Sample::default()).collect();
    for curve in members {
        add(&mut samples, &steps, &curve.series);
    }
    let mut series = Series {
        total: members.iter().map(|curve| curve.series.total).sum(),
        cut: members.iter().any(|curve| curve.series.cut),
        non_finite: non_finite(members),
        ..Series::default()
    };
    for sample in &samples {
        let is_there = sample.count > 0;
        let bounds = sample.bounds(spread);
        let or_nan = |value: f64| if is_there { value } else { f64::NAN };
        series.values.push(or_nan(sample.mean));
        series.min.push(or_nan(bounds.0));
        series.max.push(or_nan(bounds.1));
    }
    series.wall_times_secs = wall_times(members, &steps, start);
    let over = average(members, &steps, |curve| {
        (!curve.over.is_empty()).then(|| curve.over.clone())
    });
    series.steps = steps;
    let mut runs: Vec<String> = members.iter().map(|curve| curve.id.run.clone()).collect();
    runs.dedup();
    Some(Curve {
        superseded: Series::default(),
        id: first.id.clone(),
        series,
        over,
        group: Some(Group {
            name: format!("{name} · n = {}", members.len()),
            runs,
            counts: samples.iter().map(|sample| sample.count).collect(),
        }),
    })
}

/// Adds a member's value at each step between its first and its last: that of its point, or an interpolation.
fn add(samples: &mut [Sample], steps: &[i64], series: &Series) {
    let (Some(&first), Some(&last)) = (series.steps.first(), series.steps.last()) else {
        return;
    };
    let values = join(steps, series);
    for ((sample, &step), value) in samples.iter_mut().zip(steps).zip(values) {
        if step < first || step > last || !value.is_finite() {
            continue;
        }
        // Bucket that contains the step.
        let index = series.steps.partition_point(|&other| other < step);
        let bound = |list: &[f64]| list.get(index).copied().filter(|bound| bound.is_finite());
        let low = bound(&series.min).unwrap_or(value).min(value);
        let high = bound(&series.max).unwrap_or(value).max(value);
        sample.add(value, low, high);
    }
}

/// Non-finite stretches of all members: those of a single one must not vanish in the mean.
fn non_finite(members: &[&Curve]) -> Vec<NonFinite> {
    let mut all: Vec<NonFinite> = members
        .iter()
        .flat_map(|curve| curve.series.non_finite.iter().copied())
        .collect();
    all.sort_by_key(|stretch| (stretch.class, stretch.first_step));
    let mut out: Vec<NonFinite> = Vec::new();
    for stretch in all {
        match out.last_mut() {
            Some(last) if last.class == stretch.class && stretch.first_step <= last.last_step => {
                last.last_step = last.last_step.max(stretch.last_step);
                last.count += stretch.count;
            }
            _ => out.push(stretch),
        }
    }
    out.sort_by_key(|stretch| stretch.first_step);
    out
}

/// The mean time since the beginning, counted from the beginning of the first member.
fn wall_times(members: &[&Curve], steps: &[i64], start: &dyn Fn(&str) -> Option<f64>) -> Vec<f64> {
    let begin = |curve: &Curve| {
        let first = || curve.series.wall_times_secs.first().copied();
        start(&curve.id.run).or_else(first)
    };
    let Some(origin) = members.first().and_then(|curve| begin(curve)) else {
        return Vec::new();
    };
    average(members, steps, |curve| {
        let walls = &curve.series.wall_times_secs;
        let begin = begin(curve).filter(|_| !walls.is_empty())?;
        Some(walls.iter().map(|wall| origin + (wall - begin)).collect())
    })
}

/// Mean over the members of a list parallel to their points; empty if no member has it.
fn average(
    members: &[&Curve],
    steps: &[i64],
    list: impl Fn(&Curve) -> Option<Vec<f64>>,
) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); steps.len()];
    let mut is_there = false;
    for curve in members {
        let Some(values) = list(curve) else { continue };
        is_there = true;
        let beside = Series {
            steps: curve.series.steps.clone(),
            values,
            ..Series::default()
        };
        for (sum, value) in sums.iter_mut().zip(join(steps, &beside)) {
            if value.is_finite() {
                *sum = (sum.0 + value, sum.1 + 1.0);
            }
        }
    }
    if !is_there {
        return Vec::new();
    }
    sums.into_iter().map(|(sum, count)| sum / count).collect()
}

#[cfg(test)]
mod tests {
    use trainscope_api::scalars::NonFiniteClass;

    use super::*;
    use trainscope_web_kit::components::browse::SeriesId;

    fn curve(run: &str, steps: &[i64], values: &[f64]) -> Curve {
        Curve {
            id: SeriesId {
                run: run.to_owned(),
                ..SeriesId::default()
            },
            series: Series {
                steps: steps.to_vec(),
                values: values.to_vec(),
                ..Series::default()
            },
            ..Curve::default()
        }
    }

    fn one(curves: Vec<Curve>, spread: Spread) -> Curve {
        let loaded = CardLines { curves };
        let mut out = grouped(&loaded, &|_| "all".to_owned(), &|_| None, spread);
        assert_eq!(out.curves.len(), 1);
        out.curves.remove(0)
    }

    #[test]
    fn mean_and_spread_of_three_runs() {
        let steps = [0, 10];
        let runs = || {
            vec![
                curve("a", &steps, &[1.0, 4.0]),
                curve("b", &steps, &[2.0, 4.0]),
                curve("c", &steps, &[3.0, 4.0]),
            ]
        };
        let range = one(runs(), Spread::Range);
        assert_eq!(range.series.values, [2.0, 4.0]);
        assert_eq!((range.series.min[0], range.series.max[0]), (1.0, 3.0));
        assert_eq!(range.label(), "all · n = 3");
        let deviation = one(runs(), Spread::Deviation);
        assert_eq!(
            (deviation.series.min[0], deviation.series.max[0]),
            (1.0, 3.0)
        );
        assert_eq!(
            (deviation.series.min[1], deviation.series.max[1]),
            (4.0, 4.0)
        );
        let error = one(runs(), Spread::Error);
        assert!((error.series.max[0] - 2.0 - 1.0 / 3.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn steps_in_between_are_joined_and_ends_are_ends() {
        let out = one(
            vec![
                curve("a", &[0, 10, 20], &[0.0, 10.0, 20.0]),
                curve("b", &[5, 10], &[7.0, 12.0]),
            ],
            Spread::Range,
        );
        assert_eq!(out.series.steps, [0, 5, 10, 20]);
        assert_eq!(out.series.values, [0.0, 6.0, 11.0, 20.0]);
        assert_eq!(out.group.as_ref().unwrap().counts, [1, 2, 2, 1]);
        // The mean of points consists of points, but has a band.
        assert!(!out.series.cut && out.has_bounds());
    }

    #[test]
    fn what_is_not_finite_is_kept_beside_the_mean() {
        let mut broken = curve("a", &[0, 10], &[1.0, f64::NAN]);
        broken.series.non_finite = vec![NonFinite {
            class: NonFiniteClass::Nan,
            first_step: 10,
            last_step: 10,
            count: 1,
        }];
        let out = one(
            vec![broken, curve("b", &[0, 10], &[3.0, 5.0])],
            Spread::Range,
        );
        assert_eq!(out.series.values, [2.0, 5.0]);
        assert_eq!(out.series.non_finite.len(), 1);
        assert_eq!(out.group.unwrap().counts, [2, 1]);
    }

    #[test]
    fn runs_are_named_by_what_they_have_in_common() {
        let hparams = BTreeMap::from([("lr".to_owned(), HparamValue::Number(0.01))]);
        let by = GroupBy::Hparam("lr".to_owned());
        let all = Filter::default();
        assert_eq!(group_of(&by, &all, "a/b", Some(&hparams), "?"), "lr = 0.01");
        assert_eq!(group_of(&by, &all, "a/b", None, "?"), "lr = ?");
        assert_eq!(group_of(&GroupBy::Folder, &all, "a/b", None, "?"), "a");
        let by = GroupBy::Pattern("^(.*)-seed".to_owned());
        let pattern = Filter::new("^(.*)-seed");
        assert_eq!(group_of(&by, &pattern, "big-seed3", None, "?"), "big");
        assert_eq!(group_of(&by, &pattern, "other", None, "?"), "other");
    }
}
