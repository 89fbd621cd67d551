//! Updates of a policy in reinforcement learning: too large, or without effect.

use std::collections::BTreeMap;
use std::sync::Arc;

use trainscope_format::{Severity, digits};

use super::{Evidence, Judgement};
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number};
use crate::watchpoint::model::run::{LOSS_FLOW, Run};
use crate::watchpoint::model::scalars::{Meaning, Series, median, outruns_walk, words_of};

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
            let series = run
                .scalar(rank, meaning)
                .filter(|series| series.rank == rank)?;
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

/// Minimum fall of a reward from the first quarter to the last, as a share of its first level. Chosen.
const LOST: f64 = 0.2;
/// Parts of a curve of rewards.
const QUARTERS: usize = 4;

/// Rewards that fall from each quarter of a training to the next, further than a random walk does.
pub(crate) fn reward_falls(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let points = watchpoint.limits.count(Key::Points);
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let Some(series) = run
            .scalar(rank, Meaning::Return)
            .filter(|series| series.rank == rank)
        else {
            continue;
        };
        if series.len() < points || series.values.iter().any(|value| !value.is_finite()) {
            continue;
        }
        let parts = series
            .values
            .chunks_exact(series.len() / QUARTERS)
            .take(QUARTERS);
        let levels: Vec<f64> = parts.filter_map(|of| median(of.iter().copied())).collect();
        let [first, second, third, last] = levels[..] else {
            continue;
        };
        let falls =
            first > second && second >= third && third >= last && first - last > LOST * first.abs();
        let turned: Vec<f64> = series.values.iter().map(|value| -value).collect();
        if !falls || !outruns_walk(&turned) {
            continue;
        }
        let step = series.steps.first().copied().unwrap_or(0);
        let until = series.steps.last().copied().unwrap_or(step);
        let hit = NewHit::of_scalar(series, step, LOSS_FLOW, Evidence::NONE).until(until);
        let (tag, first, last) = (&series.tag, number(first), number(last));
        found.push(hit.called(Severity::Warning).saying(
            format!("{tag} falls from {first} in the first quarter of the training to {last} in the last: the policy gets worse"),
            format!("{tag} 从训练前四分之一的 {first} 降到后四分之一的 {last}：策略在变差"),
        ));
    }
    found.into()
}

/// Divergence in nats below which a posterior is its prior, and the share of its first values that it falls to. Chosen.
const COLLAPSED: f64 = 0.1;
const COLLAPSED_SHARE: f64 = 0.2;
/// Divisor of a curve for its beginning and its end.
const FIFTHS: usize = 5;
/// Words of the other term of the loss of a variational autoencoder.
const RECONSTRUCTION: [&str; 6] = ["recon", "reconstruction", "rec", "elbo", "reconst", "vae"];

/// A divergence from the prior that falls to 0, in a run with a reconstruction: the latent variables no
/// longer carry information.
pub(crate) fn posterior_collapse(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let points = watchpoint.limits.count(Key::Points);
    let has_word = |tag: &str, of: &[&str]| {
        let lower = tag.to_ascii_lowercase();
        words_of(&lower).iter().any(|word| of.contains(word))
    };
    let of_losses = run
        .scalars(Meaning::Loss)
        .filter(|series| has_word(&series.tag, &["kl", "kld"]));
    let divergences: Vec<&Series> = run.scalars(Meaning::Divergence).chain(of_losses).collect();
    if divergences.is_empty() {
        return Judgement::default();
    }
    let known = run.series().map(|series| (series.rank, &series.tag));
    let others = run.others().map(|series| (series.rank, &series.tag));
    let tags = known.chain(others);
    let reconstructions: Vec<_> = tags
        .filter(|(_, tag)| has_word(tag, &RECONSTRUCTION))
        .collect();
    // Of each rank two: one may be the divergence itself.
    let mut beside: BTreeMap<u32, Vec<&Arc<str>>> = BTreeMap::new();
    for (rank, tag) in reconstructions {
        let of_rank = beside.entry(rank).or_default();
        if of_rank.len() < 2 {
            of_rank.push(tag);
        }
    }
    let mut found = Vec::new();
    for series in divergences {
        let of_rank = beside.get(&series.rank);
        let is_beside = of_rank.is_some_and(|tags| tags.iter().any(|tag| **tag != series.tag));
        if series.len() < points
            || !is_beside
            || series.values.iter().any(|value| !value.is_finite())
        {
            continue;
        }
        let fifth = series.len() / FIFTHS;
        let highest = series.values[..fifth].iter().copied().fold(0.0, f64::max);
        let Some(last) = median(series.values.iter().rev().take(fifth).copied()) else {
            continue;
        };
        if !(0.0..COLLAPSED.min(COLLAPSED_SHARE * highest)).contains(&last) {
            continue;
        }
        let step = series.steps.first().copied().unwrap_or(0);
        let until = series.steps.last().copied().unwrap_or(step);
        let hit = NewHit::of_scalar(series, step, LOSS_FLOW, Evidence::NONE).until(until);
        let (tag, highest, last) = (&series.tag, number(highest), number(last));
        found.push(hit.called(Severity::Warning).saying(
            format!("{tag} falls from {highest} to {last}: the posterior has collapsed to the prior, and the decoder ignores the latent variables"),
            format!("{tag} 从 {highest} 降到 {last}：后验已塌缩到先验，解码器忽略了隐变量"),
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
            .filter(|series| series.tag.to_ascii_lowercase().contains("entropy_loss")),
    );
    for series in all.filter(|series| series.len() >= points) {
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
