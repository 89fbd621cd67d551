//! Rules that compare a profile with a baseline.

use std::collections::HashMap;

use trainscope_api::Sentence;
use trainscope_api::profile::{Advice, OperatorRow, ProfileState, SessionSummary};
use trainscope_format::Severity;
use trainscope_format::digits::{nanos, percent};

use super::super::robust;
use super::{Judgement, Lack, Limits, Rule, texts};

/// A profile that is known to be good.
#[derive(Clone, Copy, Debug)]
pub struct Baseline<'a> {
    /// Its summary, with all of its steps and operators; `None` if it has no profile.
    pub summary: Option<&'a SessionSummary>,
    /// `true` to compare with a profile of another device too.
    pub any_device: bool,
}

type Verdict = Result<Option<Advice>, Lack>;

/// A rule over a profile and its baseline.
type Compare = fn(&SessionSummary, &SessionSummary, &Limits) -> Verdict;

/// Judges a profile by the rules that need a baseline.
pub fn judge(
    summary: &SessionSummary,
    baseline: Option<Baseline<'_>>,
    limits: &Limits,
) -> Judgement {
    let rules: [(Rule, Compare); 2] = [
        (Rule::StepTimeRegression, steps),
        (Rule::OperatorRegression, operators),
    ];
    let mut judged = Judgement::default();
    for (rule, compare) in rules {
        match comparable(summary, baseline).and_then(|good| compare(summary, good, limits)) {
            Ok(Some(advice)) => judged.advice.push(advice),
            Ok(None) => judged.passed.push(rule),
            Err(lack) => judged.not_judged.push((rule, lack)),
        }
    }
    judged
}

fn comparable<'a>(
    summary: &SessionSummary,
    baseline: Option<Baseline<'a>>,
) -> Result<&'a SessionSummary, Lack> {
    let baseline = baseline.ok_or(Lack::NoBaseline)?;
    match summary.state {
        ProfileState::Reading => return Err(Lack::Reading),
        ProfileState::Unreadable => return Err(Lack::Unreadable),
        _ => {}
    }
    let good = baseline.summary.ok_or(Lack::NoBaselineProfile)?;
    let is_same = good.device_name == summary.device_name;
    if is_same || baseline.any_device {
        Ok(good)
    } else {
        Err(Lack::OtherDevice)
    }
}

/// Lengths of the whole steps, without the first of them if there are enough.
fn lengths(summary: &SessionSummary, needed: usize) -> Vec<i64> {
    let whole = summary.steps.iter().filter(|step| step.is_whole);
    let mut lengths: Vec<i64> = whole
        .map(|step| step.end_nanos.saturating_sub(step.begin_nanos))
        .collect();
    if lengths.len() > needed {
        lengths.remove(0);
    }
    lengths
}

fn steps(now: &SessionSummary, good: &SessionSummary, limits: &Limits) -> Verdict {
    let needed = usize::try_from(limits.regression_steps).unwrap_or(usize::MAX);
    let [current, before] = [now, good].map(|summary| lengths(summary, needed));
    if current.is_empty() {
        return Err(Lack::NoSteps);
    }
    if before.is_empty() {
        return Err(Lack::NoBaselineSteps);
    }
    if current.len() < needed {
        return Err(Lack::TooFewSteps);
    }
    if before.len() < needed {
        return Err(Lack::TooFewBaselineSteps);
    }
    let Some((ratio, low, high)) = robust::ratio(&current, &before) else {
        return Err(Lack::NoBaselineSteps);
    };
    if ratio <= limits.regression_factor || low <= 1.0 {
        return Ok(None);
    }
    let severity = if ratio > limits.regression_factor_error {
        Severity::Error
    } else {
        Severity::Warning
    };
    let [current, before] = [current, before].map(|lengths| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast of floats saturates; lengths are not negative"
        )]
        let median = robust::median(&lengths) as u64;
        median
    });
    let gain = current.saturating_sub(before).cast_signed();
    let (own, before) = (nanos(current), nanos(before));
    let more = percent(ratio - 1.0);
    let (low, high) = (format!("{low:.2}"), format!("{high:.2}"));
    Ok(Some(advice(
        Rule::StepTimeRegression,
        severity,
        (ratio, limits.regression_factor),
        gain,
        [
            format!(
                "The median step takes {own}, {more} longer than {before} of the baseline (95 % interval of the ratio {low} to {high})."
            ),
            format!(
                "迭代时间的中位数为 {own}，比基线的 {before} 长 {more}（比值的 95 % 区间为 {low} 至 {high}）。"
            ),
        ],
        "",
    )))
}

fn operators(now: &SessionSummary, good: &SessionSummary, limits: &Limits) -> Verdict {
    if now.median_step_nanos <= 0 {
        return Err(Lack::NoSteps);
    }
    if good.median_step_nanos <= 0 {
        return Err(Lack::NoBaselineSteps);
    }
    if now.operators.is_empty() || good.operators.is_empty() {
        return Err(Lack::NoOperators);
    }
    let of_baseline: HashMap<&str, &OperatorRow> =
        good.operators.iter().map(|row| (&*row.name, row)).collect();
    let mut worst: Option<(i64, f64, &OperatorRow, &OperatorRow)> = None;
    for row in &now.operators {
        let Some(&before) = of_baseline.get(&*row.name) else {
            continue;
        };
        let grown = row.self_step_nanos.saturating_sub(before.self_step_nanos);
        let growth = grown as f64 / before.self_step_nanos.max(1) as f64;
        let share = grown as f64 / now.median_step_nanos as f64;
        let is_hit = growth > limits.operator_growth && share > limits.operator_step_share;
        if is_hit && worst.is_none_or(|worst| worst.0 < grown) {
            worst = Some((grown, growth, row, before));
        }
    }
    let Some((grown, growth, row, before)) = worst else {
        return Ok(None);
    };
    let text = |row: &OperatorRow| nanos(row.self_step_nanos.unsigned_abs());
    let (name, time, more, before) = (&row.name, text(row), percent(growth), text(before));
    Ok(Some(advice(
        Rule::OperatorRegression,
        Severity::Info,
        (growth, limits.operator_growth),
        grown,
        [
            format!("`{name}` takes {time} a step, {more} longer than {before} of the baseline."),
            format!("`{name}` 每个迭代 {time}，比基线的 {before} 长 {more}。"),
        ],
        name,
    )))
}

/// A finding. Its gain is the difference, of which another advice may name a part.
fn advice(
    rule: Rule,
    severity: Severity,
    (value, limit): (f64, f64),
    gain_nanos: i64,
    [en, zh]: [String; 2],
    search: &str,
) -> Advice {
    Advice {
        id: rule.name().to_owned(),
        severity,
        value,
        limit,
        gain_nanos,
        title: texts::title(rule),
        evidence: Sentence { en, zh },
        search: search.to_owned(),
        ..Advice::default()
    }
}
