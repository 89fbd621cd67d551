//! Updates of a policy in reinforcement learning: too large, or without effect.

use trainscope_format::{Severity, digits};

use super::Judgement;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number};
use crate::watchpoint::model::run::{LOSS_FLOW, Run};
use crate::watchpoint::model::scalars::{Meaning, Series, median};

/// Updates of which more than half change the policy by more than a limit: by the estimated divergence, or by the share
/// of clipped samples. One hit a rank.
pub(crate) fn update_too_large(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let points = watchpoint.limits.count(Key::Points);
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let kinds = [
            (Meaning::PolicyChange, Key::KlGt),
            (Meaning::ClippedShare, Key::ClippedGt),
        ];
        let beyond = kinds.into_iter().find_map(|(meaning, key)| {
            let limit = watchpoint.limits.get(key)?;
            let series = run.scalar(rank, meaning).filter(|own| own.rank == rank)?;
            let above = series.points().filter(|point| point.1 > limit);
            let above: Vec<(i64, f64)> = above.collect();
            let (count, first, last) = (above.len(), above.first()?, above.last()?);
            let is_most = series.len() >= points && 2 * count > series.len();
            is_most.then_some((series, key, limit, count, first.0, last.0))
        });
        let Some((series, key, limit, count, first, last)) = beyond else {
            continue;
        };
        let usual = median(series.values.iter().copied()).unwrap_or(f64::NAN);
        let hit = NewHit::of_scalar(series, first, LOSS_FLOW, (key, usual)).until(last);
        let (tag, all) = (&series.tag, digits::count(series.len() as u64));
        let (count, usual, limit) = (digits::count(count as u64), number(usual), number(limit));
        found.push(hit.called(Severity::Warning).saying(
            format!("{tag} is above {limit} at {count} of {all} updates (median {usual}): each replaces the policy"),
            format!("{tag} 在 {all} 次更新中有 {count} 次大于 {limit}（中位数 {usual}）：每次更新都在替换策略"),
        ));
    }
    found.into()
}

/// Relative distance from the logarithm of a number of actions, beyond which an entropy is another: single precision
/// keeps 7 digits. Chosen.
const ROUNDING: f64 = 1e-5;
/// Numbers of actions to choose from that an entropy is compared with. Chosen.
const ACTIONS: std::ops::RangeInclusive<f64> = 2.0..=1000.0;

/// An entropy of the actions that is ln n from the first point to the last: n actions, chosen at random.
pub(crate) fn constant_entropy(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let points = watchpoint.limits.count(Key::Points);
    let mut found = Vec::new();
    let all = run.scalars(Meaning::ActionEntropy).chain(
        // Stable-Baselines3 records the negative entropy as a loss.
        run.scalars(Meaning::Loss)
            .filter(|own| own.tag.to_ascii_lowercase().contains("entropy_loss")),
    );
    for series in all.filter(|own| own.len() >= points) {
        let Some(actions) = actions_of(series) else {
            continue;
        };
        let step = series.steps.first().copied().unwrap_or(0);
        let last = series.steps.last().copied().unwrap_or(step);
        let hit = NewHit::of_scalar(series, step, LOSS_FLOW, (Key::ChangeLte, 0.0)).until(last);
        let (tag, count) = (&series.tag, digits::count(series.len() as u64));
        let value = number(series.values[0]);
        found.push(hit.called(Severity::Warning).saying(
            format!(
                "{tag} is {value} = ln {actions} at all {count} points: the policy still takes each of {actions} actions equally often"
            ),
            format!("{tag} 在全部 {count} 个点上都是 {value} = ln {actions}：策略仍在 {actions} 个动作间等概率选择"),
        ));
    }
    found.into()
}

/// The number of actions whose logarithm the entropy is at all points.
fn actions_of(series: &Series) -> Option<u32> {
    let actions = series.values.first()?.abs().exp().round();
    let is_possible = ACTIONS.contains(&actions);
    let entropy = actions.ln();
    let is_it = |value: &f64| (value.abs() / entropy - 1.0).abs() < ROUNDING;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "2 to 1000"
    )]
    let whole = actions as u32;
    (is_possible && series.values.iter().all(is_it)).then_some(whole)
}
