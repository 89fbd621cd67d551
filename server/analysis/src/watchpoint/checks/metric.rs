//! Metrics that do not move while the loss falls.

use trainscope_format::digits;

use super::Judgement;
use super::plateau::ends;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, number, warning_if};
use crate::watchpoint::model::run::{LATE_FLOW, Run};
use crate::watchpoint::model::scalars::{Meaning, Series};

/// Share of its first level by which a training loss has fallen when something was learned. Chosen.
const FALLEN: f64 = 0.1;

/// Accuracies and scores that are bit-identical at all points, or a held-out loss of exactly 0, while the training loss
/// falls. All that stay 0 are one finding.
pub(crate) fn constant(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let points = watchpoint.limits.count(Key::Points);
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let falls = run.scalar(rank, Meaning::Loss).and_then(ends);
        if !falls.is_some_and(|(first, last)| first > 0.0 && last < (1.0 - FALLEN) * first) {
            continue;
        }
        let still = run.series().filter(|series| {
            series.rank == rank && series.len() >= points && watchpoint.covers(&series.tag)
        });
        let still: Vec<(&Series, f64)> = still
            .filter_map(|series| Some((series, constant_value(series)?)))
            .collect();
        let (zeros, others): (Vec<_>, Vec<_>) = still.into_iter().partition(|entry| entry.1 == 0.0);
        if let Some(((first, _), more)) = zeros.split_first() {
            let (tag, count) = (&first.tag, digits::count(first.len() as u64));
            let (and, and_zh) = match more.len() {
                0 => (String::new(), String::new()),
                1 => (
                    format!(", as {}", more[0].0.tag),
                    format!("（{}也是）", more[0].0.tag),
                ),
                n => (
                    format!(", as {n} other metrics"),
                    format!("（另有 {n} 个指标也是）"),
                ),
            };
            let are_accuracies = zeros.iter().all(|(series, _)| is_of_numbers(run, series));
            let (why, why_zh) = if are_accuracies {
                (
                    "are the targets numbers? An accuracy counts equal classes",
                    "目标是连续数值吗？准确率统计的是类别相等",
                )
            } else {
                (
                    "is the validation set empty, or are its labels missing?",
                    "验证集是否为空，或缺少标签？",
                )
            };
            found.push(hit(first, 0.0).called(warning_if(!are_accuracies)).saying(
                format!("{tag} stays exactly 0 at all {count} points{and}, while the training loss falls: {why}"),
                format!("{tag} 在全部 {count} 个点上恰好为 0{and_zh}，而训练损失在下降：{why_zh}"),
            ));
        }
        for (series, value) in others {
            let (tag, count, value) = (&series.tag, series.len(), number(value));
            found.push(hit(series, 0.0).saying(
                format!("{tag} is {value} at all {count} points, while the training loss falls"),
                format!("{tag} 在全部 {count} 个点上都为 {value}，而训练损失在下降"),
            ));
        }
    }
    found.into()
}

/// True for an accuracy that may be that of a regression: of the training, or of a held-out set whose loss moves.
fn is_of_numbers(run: &Run<'_>, series: &Series) -> bool {
    let mut losses = run.scalars(Meaning::HeldOutLoss);
    let moves = |loss: &Series| {
        let mut pairs = loss.values.windows(2);
        pairs.any(|pair| pair[0].to_bits() != pair[1].to_bits())
    };
    match series.meaning {
        Meaning::Accuracy => true,
        Meaning::HeldOutAccuracy => losses.any(|loss| loss.rank == series.rank && moves(loss)),
        _ => false,
    }
}

fn hit(series: &Series, change: f64) -> NewHit {
    let step = series.steps.first().copied().unwrap_or(0);
    let until = series.steps.last().copied().unwrap_or(step);
    NewHit::of_scalar(series, step, LATE_FLOW, (Key::ChangeLte, change)).until(until)
}

/// Best ends of a share and of a percentage, where a metric may rest.
const BEST_ENDS: [f64; 2] = [1.0, 100.0];

/// The value of a metric that should move and never does.
fn constant_value(series: &Series) -> Option<f64> {
    let value = *series.values.first()?;
    let is_constant = series
        .values
        .iter()
        .all(|other| other.to_bits() == value.to_bits());
    let is_odd = match series.meaning {
        Meaning::Accuracy | Meaning::HeldOutAccuracy | Meaning::Score => {
            value.is_finite() && !BEST_ENDS.contains(&value)
        }
        Meaning::HeldOutLoss => value == 0.0,
        _ => false,
    };
    (is_constant && is_odd).then_some(value)
}
