//! Ranks × steps: time that the others wait for a rank, compute or length of steps against the median, or waiting.

use std::sync::Arc;

use trainscope_api::profile::RanksAnswer;
use trainscope_charts::profile::{Figure, Hit, RankMap};

use super::super::model::{median, time};
use super::super::parts::read_out;
use super::use_cluster;
use trainscope_web_kit::components::{ProfileChart, SegOption, Segmented};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{Texts, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::url_state::{History, Key, Setting};

/// Parameter of the address: quantity of the map.
const MAP: Setting<Quantity> = Key::of_words(
    "map",
    &[
        (Quantity::Late, "late"),
        (Quantity::Compute, "compute"),
        (Quantity::Wait, "wait"),
        (Quantity::Length, "length"),
    ],
)
.or(Quantity::Late);

/// Deviation from the median at the ends of the scale, as a share.
const RANGE: f64 = 0.3;

/// Quantities, in the order of their texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Quantity {
    #[default]
    Late,
    Compute,
    Wait,
    Length,
}

impl Quantity {
    const ALL: [Self; 4] = [Self::Late, Self::Compute, Self::Wait, Self::Length];

    /// True for times from 0, false for deviations from the median.
    const fn is_size(self) -> bool {
        matches!(self, Self::Late | Self::Wait)
    }

    fn of(self, answer: &RanksAnswer) -> &[Vec<i64>] {
        match self {
            Self::Late => &answer.late_nanos,
            Self::Compute => &answer.compute_nanos,
            Self::Wait => &answer.wait_nanos,
            Self::Length => &answer.length_nanos,
        }
    }
}

#[component]
pub(super) fn Map() -> impl IntoView {
    let cluster = use_cluster();
    let i18n = use_i18n();
    let url = cluster.model.url;
    let quantity = url.setting(MAP);
    let figure = Signal::derive(move || {
        let texts = i18n.texts();
        let map = cluster.with(|answer| map(answer, quantity.get(), texts));
        Arc::new(Figure::Map(map.unwrap_or_default()))
    });
    let at = move |hit: Hit| {
        cluster.with(|answer| {
            let rank = answer.ranks.get(hit.index)?.rank;
            let step = *answer.steps.get(hit.part?)?;
            Some((rank, step))
        })?
    };
    let tip = move |hit: Hit| {
        let texts = i18n.texts();
        let (rank, step) = at(hit)?;
        let quantity = quantity.get();
        cluster.with(|answer| {
            let column = hit.part?;
            let rows = Quantity::ALL
                .into_iter()
                .enumerate()
                .filter_map(|(at, quantity)| {
                    let values = quantity.of(answer);
                    let nanos = values.get(hit.index)?.get(column)?;
                    Some((None, texts.ranks().quantities[at].to_owned(), time(*nanos)))
                });
            let mut rows: Vec<_> = rows.collect();
            let values = quantity.of(answer).iter();
            let middle = median(values.filter_map(|row| row.get(column).copied()).collect());
            rows.push((None, texts.ranks().median_of_ranks.to_owned(), time(middle)));
            let title = (texts.ranks().rank_name)(rank);
            let step = (texts.profile().step)(&format::integer(step), 1);
            Some(read_out(title, step, rows))
        })?
    };
    let press = move |hit: Hit| {
        if let Some((rank, step)) = untrack(|| at(hit)) {
            let href = untrack(|| cluster.rank_href(rank, Some(step)));
            cluster.model.open(&href);
        }
    };
    let option = |at: usize| SegOption {
        value: Quantity::ALL[at],
        label: Signal::derive(move || i18n.texts().ranks().quantities[at].to_owned()),
    };
    let choose = move |quantity: Quantity| {
        url.set(&[MAP.to(quantity)], History::Replace);
    };
    let scale = move || {
        let is_size = quantity.get().is_size();
        let ends = if is_size {
            ["0".to_owned(), String::new()]
        } else {
            ["−30 %".to_owned(), "+30 %".to_owned()]
        };
        let [least, most] = ends;
        view! {
            <span class="legend hide-narrow">
                {least} <i class="ramp" class:diverging=!is_size></i> {most}
            </span>
        }
    };
    let beside = move || {
        let texts = i18n.texts();
        texts.ranks().map_beside[usize::from(quantity.get().is_size())]
    };
    view! {
        <section class="card" data-part="map">
            <div class="head">
                <h2>{i18n.text(|t| t.ranks().when_began)}</h2>
                <span class="micro ink3 cut">{beside}</span>
                <span class="grow"></span>
                {scale}
                <Segmented
                    label=i18n.label(|t| t.ranks().when_began)
                    options=(0..Quantity::ALL.len()).map(option).collect()
                    value=quantity
                    on_choose=choose
                />
            </div>
            <div class="body plot">
                <ProfileChart
                    figure
                    label=i18n.label(|t| t.ranks().when_began)
                    tip=Callback::new(tip)
                    on_press=Callback::new(press)
                />
            </div>
        </section>
    }
}

fn map(answer: &RanksAnswer, quantity: Quantity, texts: Texts) -> RankMap {
    let all = quantity.of(answer);
    let is_size = quantity.is_size();
    let most = all.iter().flatten().copied().max().unwrap_or(0).max(1) as f64;
    let medians: Vec<f64> = (0..answer.steps.len())
        .map(|column| {
            median(
                all.iter()
                    .filter_map(|row| row.get(column).copied())
                    .collect(),
            ) as f64
        })
        .collect();
    let value = |nanos: &i64, median: &f64| {
        if is_size {
            *nanos as f64 / most
        } else {
            (*nanos as f64 / median.max(1.0) - 1.0) / RANGE
        }
    };
    let values = all.iter().map(|row| {
        let cells = row.iter().zip(&medians);
        cells.map(|(nanos, median)| value(nanos, median)).collect()
    });
    let frame = answer.stragglers.first().and_then(|slow| {
        let row = answer.ranks.iter().position(|row| row.rank == slow.rank)?;
        let column = answer
            .steps
            .iter()
            .position(|step| *step == slow.from_step)?;
        Some((row, column))
    });
    RankMap {
        rows: answer
            .ranks
            .iter()
            .map(|row| (texts.ranks().rank_name)(row.rank))
            .collect(),
        columns: answer
            .steps
            .iter()
            .map(|step| format::integer(*step))
            .collect(),
        values: values.collect(),
        is_size,
        frame,
    }
}

#[cfg(test)]
mod tests {
    use trainscope_api::profile::{RankRow, Straggler};

    use super::*;
    use trainscope_web_kit::i18n::Locale;

    #[test]
    fn cells_are_against_the_median_and_the_slow_rank_is_framed() {
        let answer = RanksAnswer {
            ranks: (0..3)
                .map(|rank| RankRow {
                    rank,
                    ..RankRow::default()
                })
                .collect(),
            steps: vec![7, 8],
            compute_nanos: vec![vec![100, 100], vec![100, 115], vec![100, 100]],
            late_nanos: vec![vec![0, 0], vec![20, 80], vec![0, 0]],
            wait_nanos: vec![vec![0, 50], vec![0, 0], vec![0, 25]],
            stragglers: vec![Straggler {
                rank: 1,
                from_step: 8,
                ..Straggler::default()
            }],
            ..RanksAnswer::default()
        };
        let texts = Locale::En.texts();
        let found = map(&answer, Quantity::Compute, texts);
        assert!((found.values[1][1] - 0.5).abs() < 1e-9);
        assert!(found.values[0][1].abs() < 1e-9);
        assert_eq!(found.frame, Some((1, 1)));
        let found = map(&answer, Quantity::Wait, texts);
        assert_eq!(found.values[0], [0.0, 1.0]);
        let found = map(&answer, Quantity::Late, texts);
        assert_eq!(found.values[1], [0.25, 1.0]);
        assert!(map(&answer, Quantity::Length, texts).values.is_empty());
    }
}
