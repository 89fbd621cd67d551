//! Time that the ranks wait for one another in each step, and the rank they wait for.

use std::sync::Arc;

use trainscope_api::profile::RanksAnswer;
use trainscope_charts::profile::{Curve, Curves, Figure, Hit, Shade, Unit};

use super::super::model::time;
use super::super::parts::read_out;
use super::use_cluster;
use trainscope_web_kit::components::ProfileChart;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

#[component]
pub(super) fn Lost() -> impl IntoView {
    let cluster = use_cluster();
    let i18n = use_i18n();
    let lost = Memo::new(move |_| cluster.with(lost).unwrap_or_default());
    let figure = Signal::derive(move || {
        let lost = lost.get();
        let curves = cluster.with(|answer| {
            let slow: Vec<u32> = answer.stragglers.iter().map(|slow| slow.rank).collect();
            let shade = |rank: u32| {
                if slow.contains(&rank) {
                    Shade::Warning
                } else {
                    Shade::Plain
                }
            };
            Curves {
                steps: answer.steps.clone(),
                curves: vec![Curve {
                    values: lost.iter().map(|(nanos, _)| *nanos as f64).collect(),
                    bars: lost.iter().map(|(_, rank)| shade(*rank)).collect(),
                    ..Curve::default()
                }],
                unit: Unit::Nanos,
                from_zero: true,
                limits: Vec::new(),
            }
        });
        Arc::new(Figure::Curves(curves.unwrap_or_default()))
    });
    let at = move |hit: Hit| {
        let (nanos, rank) = lost.with(|lost| lost.get(hit.index).copied())?;
        let step = cluster.with(|answer| answer.steps.get(hit.index).copied())??;
        Some((step, rank, nanos))
    };
    let tip = move |hit: Hit| {
        let texts = i18n.texts();
        let (step, rank, nanos) = at(hit)?;
        let title = (texts.profile().step)(&format::integer(step), 1);
        let slowest = (texts.ranks().rank_name)(rank);
        let rows = vec![(None, texts.ranks().slowest.to_owned(), slowest)];
        Some(read_out(title, time(nanos), rows))
    };
    let press = move |hit: Hit| {
        if let Some((step, rank, _)) = untrack(|| at(hit)) {
            let href = untrack(|| cluster.rank_href(rank, Some(step)));
            cluster.model.open(&href);
        }
    };
    let numbers = move || {
        let texts = i18n.texts();
        let ranks = cluster.with(|answer| answer.ranks.len())?;
        let others = i64::try_from(ranks.saturating_sub(1)).unwrap_or(i64::MAX);
        let sum: i64 = lost.with(|lost| lost.iter().map(|step| step.0).sum());
        let steps = lost.with(Vec::len) as u64;
        let all = time(sum.saturating_mul(others));
        Some(view! {
            <dl class="kv">
                <dt>{(texts.ranks().in_steps)(steps)}</dt>
                <dd>{time(sum)}</dd>
                <dt>{(texts.ranks().times_ranks)(ranks as u64)}</dt>
                <dd class="warn med">{all}</dd>
            </dl>
        })
    };
    view! {
        <section class="card over-session" data-part="lost">
            <div class="head">
                <h2>{i18n.text(|t| t.ranks().lost)}</h2>
                <span class="micro ink3 cut">{i18n.text(|t| t.ranks().lost_beside)}</span>
            </div>
            <div class="body">
                <div class="plot">
                    <ProfileChart
                        figure
                        label=i18n.label(|t| t.ranks().lost)
                        tip=Callback::new(tip)
                        on_press=Callback::new(press)
                    />
                </div>
                {numbers}
            </div>
        </section>
    }
}

/// For each step, the mean time that a rank waits for the others, ns, and the rank waited for longest.
fn lost(answer: &RanksAnswer) -> Vec<(i64, u32)> {
    let others = i64::try_from(answer.ranks.len().saturating_sub(1)).unwrap_or(i64::MAX);
    let columns = 0..answer.steps.len();
    let lost = columns.map(|column| {
        let rows = answer.late_nanos.iter().zip(&answer.ranks);
        let values = rows.filter_map(|(row, rank)| Some((*row.get(column)?, rank.rank)));
        let values: Vec<(i64, u32)> = values.collect();
        let sum = values
            .iter()
            .fold(0, |sum: i64, value| sum.saturating_add(value.0));
        let (_, rank) = values.into_iter().max().unwrap_or_default();
        (sum / others.max(1), rank)
    });
    lost.collect()
}

#[cfg(test)]
mod tests {
    use trainscope_api::profile::RankRow;

    use super::*;

    #[test]
    fn the_rank_that_is_waited_for_most_stands_for_each_step() {
        let answer = RanksAnswer {
            ranks: (4..7)
                .map(|rank| RankRow {
                    rank,
                    ..RankRow::default()
                })
                .collect(),
            steps: vec![0, 1],
            late_nanos: vec![vec![0, 40], vec![12, 6], vec![10, 0]],
            ..RanksAnswer::default()
        };
        assert_eq!(lost(&answer), [(11, 5), (23, 4)]);
        assert!(lost(&RanksAnswer::default()).is_empty());
    }
}
