//! Ranks side by side: compute and waiting of each, the start of a slowdown, collectives, and lost time.

use std::sync::Arc;

use trainscope_api::profile::{RankRow, RanksAnswer};
use trainscope_charts::profile::{Figure, Hit, RankBar, RankPart, Ranks, Shade};
use trainscope_format::Severity;

mod collectives;
mod groups;
mod links;
mod lost;
mod map;
mod pair;

use collectives::Collectives;
use lost::Lost;
use map::Map;

use super::lack::{Lack, missing};
use super::model::{DATA, IDLE, Model, ORDER, Order, kinds_of, signed, time, use_model};
use super::parts::{Refusal, Standing, downloads, read_out, verdict};
use trainscope_web_kit::client;
use trainscope_web_kit::components::profile_tabs::ProfileTab;
use trainscope_web_kit::components::{ProfileChart, SegOption, Segmented};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{Texts, use_i18n};
use trainscope_web_kit::parameters::{RANK, SEARCH, SLICE, TIMELINE_FROM, TIMELINE_TO};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};
use trainscope_web_kit::url_state::History;

/// Maximum number of bars. Of more ranks, the first and the last by compute have one.
const BARS: usize = 32;
/// Number of ranks at each of these two ends.
const ENDS: usize = 10;
/// Minimum slowness of a slow rank that is an error.
const SEVERE: f64 = 1.5;

const FIELDS: [&str; 8] = [
    "rank",
    "host",
    "compute_nanos",
    "wait_nanos",
    "median_step_nanos",
    "slow_steps",
    "slow_from_step",
    "offset_nanos",
];

#[derive(Clone, Copy)]
struct ClusterModel {
    model: Model,
    answer: Query<RanksAnswer>,
}

fn use_cluster() -> ClusterModel {
    expect_context()
}

impl ClusterModel {
    fn provide() -> Self {
        let model = use_model();
        let asked = Memo::new(move |_| {
            let mut wanted = model.profiles.query.get();
            wanted.rank = None;
            wanted
        });
        let run = Signal::derive(move || Arc::new(vec![model.profiles.run.get()]));
        let answer = query(
            move || Some(asked.get()),
            |wanted| async move { client::profile_ranks(&wanted).await },
        )
        .cleared_with(move || asked.with(|asked| (asked.run.clone(), asked.session.clone())))
        .again_with_runs(run);
        let cluster = Self { model, answer };
        provide_context(cluster);
        cluster
    }

    /// Looks at the answer; reactive.
    fn with<T>(self, look: impl FnOnce(&RanksAnswer) -> T) -> Option<T> {
        self.answer
            .answer
            .with(|answer| answer.as_deref().map(look))
    }

    /// The timeline of a rank, from the start to the end of a step; reactive.
    fn rank_href(self, rank: u32, step: Option<i64>) -> String {
        let range = self.with(|answer| span_of(answer, rank, step?)).flatten();
        let (from, to) = range.unzip();
        // A step beyond those of the answer is found by its number.
        let search = step.filter(|_| range.is_none());
        let search = search.map(|step| format!("step:{step}"));
        let changes = [
            RANK.to(rank),
            TIMELINE_FROM.to_option(from),
            TIMELINE_TO.to_option(to),
            SLICE.clear(),
            SEARCH.to(search.unwrap_or_default()),
        ];
        self.model.profiles.tab_href(ProfileTab::Timeline, &changes)
    }
}

#[component]
pub(super) fn Cluster() -> impl IntoView {
    let cluster = ClusterModel::provide();
    let i18n = use_i18n();
    let ranks = Memo::new(move |_| cluster.with(|answer| answer.ranks.len()));
    let has_collectives = Memo::new(move |_| {
        let has = cluster.with(|answer| !answer.collectives.is_empty());
        has.unwrap_or(false)
    });
    let sentence = move || {
        let texts = i18n.texts();
        cluster.with(|answer| {
            let slow = answer.stragglers.first();
            let severity = slow.map(|slow| {
                if slow.slowness >= SEVERE {
                    Severity::Error
                } else {
                    Severity::Warning
                }
            });
            let severity = severity.or_else(|| answer.is_uneven.then_some(Severity::Info));
            let open = slow.map(|slow| {
                let href = cluster.rank_href(slow.rank, Some(slow.from_step));
                ((texts.ranks().open_rank)(slow.rank), href)
            });
            let detail = slow.map_or_else(
                || {
                    (texts.ranks().no_straggler)(
                        answer.ranks.len() as u64,
                        answer.steps.len() as u64,
                    )
                },
                |slow| (texts.ranks().straggler)(&format::integer(slow.from_step), slow.steps),
            );
            let mut sentence = i18n.raw(&answer.sentence);
            if sentence.is_empty() {
                sentence = (texts.ranks().ranks_of)(answer.ranks.len() as u64);
            }
            let standing = Standing::new(severity, !answer.steps.is_empty());
            verdict(standing, sentence, detail, open)
        })
    };
    move || match ranks.get() {
        None => view! { <Refusal error=cluster.answer.error /> }.into_any(),
        Some(0 | 1) => {
            let format = cluster.model.profiles.chosen.get().unwrap_or_default();
            view! {
                <section class="card state-page">
                    <h1>{i18n.text(|t| t.ranks().one_rank)}</h1>
                    {missing(Lack::Ranks, &format.format)}
                </section>
                <Show when=move || has_collectives.get()>
                    <Collectives />
                </Show>
            }
            .into_any()
        }
        Some(_) => view! {
            {sentence}
            <div class="profile-cluster">
                <SideBySide />
                <Collectives />
                <Map />
                <Lost />
            </div>
        }
        .into_any(),
    }
}

/// Begin and end of a step of a rank since the start of its session; `None` if it is not in the answer.
fn span_of(answer: &RanksAnswer, rank: u32, step: i64) -> Option<(i64, i64)> {
    let row = answer.ranks.iter().position(|row| row.rank == rank)?;
    let column = answer.steps.iter().position(|number| *number == step)?;
    let begin = *answer.begin_nanos.get(row)?.get(column)?;
    let length = answer.length_nanos.get(row)?.get(column)?;
    Some((begin, begin.saturating_add(*length)))
}

/// Bytes per second; a dash if unknown.
fn bandwidth(rate: f64) -> String {
    if rate > 0.0 {
        let whole = format::whole(rate);
        format!("{}/s", format::bytes(whole))
    } else {
        "–".to_owned()
    }
}

/// One bar per rank.
#[component]
fn SideBySide() -> impl IntoView {
    let cluster = use_cluster();
    let i18n = use_i18n();
    let url = cluster.model.url;
    let order = url.param(ORDER);
    let by_compute = Memo::new(move |_| order.get() == Some(Order::Compute));
    let shown = Memo::new(move |_| {
        let shown = cluster.with(|answer| shown(&answer.ranks, by_compute.get()));
        Arc::new(shown.unwrap_or_default())
    });
    let figure = Signal::derive(move || {
        let texts = i18n.texts();
        let bars = shown.with(|shown| {
            cluster.with(|answer| {
                let rows = shown.iter().filter_map(|at| answer.ranks.get(*at));
                rows.map(|row| bar(row, answer, texts)).collect()
            })
        });
        Arc::new(Figure::Ranks(Ranks {
            bars: bars.unwrap_or_default(),
        }))
    });
    let row_at = move |hit: Hit| {
        let at = shown.with_untracked(|shown| shown.get(hit.index).copied())?;
        cluster.with(|answer| answer.ranks.get(at).cloned())?
    };
    let tip = move |hit: Hit| {
        let texts = i18n.texts();
        let row = row_at(hit)?;
        let rows = parts(&row).into_iter().filter(|part| part.nanos > 0);
        let rows = rows.map(|part| {
            let name = part.name(texts).to_owned();
            (Some(part.shade), name, time(part.nanos))
        });
        let mut rows: Vec<_> = rows.collect();
        if row.offset_nanos != 0 {
            let offset = signed(row.offset_nanos);
            rows.push((None, texts.ranks().clock_offset.to_owned(), offset));
        }
        let title = (texts.ranks().rank_name)(row.rank);
        Some(read_out(title, time(row.parts_nanos.total()), rows))
    };
    let press = move |hit: Hit| {
        if let Some(row) = untrack(|| row_at(hit)) {
            let href = untrack(|| cluster.rank_href(row.rank, row.slow_from_step));
            cluster.model.open(&href);
        }
    };
    let label = move || {
        let count = cluster.with(|answer| answer.ranks.len()).unwrap_or(0);
        (i18n.texts().ranks().ranks_of)(count as u64)
    };
    let beside = move || {
        let texts = i18n.texts();
        let all = cluster.with(|answer| answer.ranks.len()).unwrap_or(0);
        let shown = shown.with(|shown| shown.len());
        if shown < all {
            (texts.ranks().ranks_ends)(shown as u64, all as u64)
        } else {
            let steps = cluster.with(|answer| answer.parts_steps).flatten();
            match steps {
                None => texts.ranks().mean_step.to_owned(),
                Some((first, last)) if first == last => {
                    (texts.profile().step)(&format::integer(first), 1)
                }
                Some((first, last)) => {
                    (texts.ranks().mean_of_steps)(&format::integer(first), &format::integer(last))
                }
            }
        }
    };
    let option = |value: bool, text: fn(Texts) -> &'static str| SegOption {
        value,
        label: Signal::derive(move || text(i18n.texts()).to_owned()),
    };
    let legend = move || {
        let texts = i18n.texts();
        // Kinds of time in any bar, in the order of the bars.
        let all = cluster.with(|answer| {
            let bars: Vec<[Part; 7]> = answer.ranks.iter().map(parts).collect();
            let kinds = parts(&RankRow::default());
            let kinds = kinds
                .into_iter()
                .enumerate()
                .filter(|(at, part)| !part.is_wait && bars.iter().any(|bar| bar[*at].nanos > 0));
            let names = kinds.map(|(_, part)| {
                let name = part.name(texts);
                view! {
                    <span>
                        {super::model::swatch(part.shade)}
                        {name}
                    </span>
                }
            });
            names.collect::<Vec<_>>()
        });
        view! {
            <span class="legend">
                {all} <span>
                    <i class="sw waits"></i>
                    {texts.ranks().waits_for_others}
                </span>
            </span>
        }
    };
    view! {
        <section class="card" data-part="ranks">
            <div class="head">
                <h2>{i18n.text(|t| t.ranks().side_by_side)}</h2>
                <span class="micro ink3 cut">{beside}</span>
                <span class="grow"></span>
                <Segmented
                    label=i18n.label(|t| t.profile().order)
                    options=vec![
                        option(false, |t| t.ranks().rank_orders[0]),
                        option(true, |t| t.ranks().rank_orders[1]),
                    ]
                    value=by_compute
                    on_choose=move |by_compute: bool| {
                        let order = ORDER.to_option(by_compute.then_some(Order::Compute));
                        url.set(&[order], History::Replace);
                    }
                />
                {downloads(
                    "ranks",
                    &FIELDS,
                    move || {
                        let answer = cluster.answer.answer.get_untracked();
                        answer.map(|answer| answer.ranks.clone()).unwrap_or_default()
                    },
                )}
            </div>
            <div class="legend-row">{legend}</div>
            <div class="body plot">
                <ProfileChart
                    figure
                    label=Signal::derive(label)
                    tip=Callback::new(tip)
                    on_press=Callback::new(press)
                />
            </div>
        </section>
    }
}

/// Positions of the ranks with a bar.
fn shown(ranks: &[RankRow], by_compute: bool) -> Vec<usize> {
    let mut all: Vec<usize> = (0..ranks.len()).collect();
    let is_cut = ranks.len() > BARS;
    if by_compute || is_cut {
        all.sort_by_key(|at| {
            ranks
                .get(*at)
                .map(|row| std::cmp::Reverse(row.compute_nanos))
        });
    }
    if is_cut {
        let last = all.split_off(all.len().saturating_sub(ENDS));
        all.truncate(ENDS);
        all.extend(last);
    }
    all
}

/// A part of the mean step of a rank.
struct Part {
    shade: Shade,
    nanos: i64,
    /// Kind of time, for its name.
    kind: usize,
    is_wait: bool,
}

impl Part {
    const fn name(&self, texts: Texts) -> &'static str {
        if self.is_wait {
            texts.ranks().waits_for_others
        } else {
            texts.parts().kinds[0][self.kind]
        }
    }
}

/// Parts of the mean step, in this order: data, compute, waiting, collectives, copies, host, the rest.
fn parts(row: &RankRow) -> [Part; 7] {
    let has_device = row.parts_nanos.kernel > 0;
    let kinds = kinds_of(&row.parts_nanos, has_device);
    let wait = row.parts_wait_nanos.max(0);
    // Waiting is a part of the collectives that are not hidden.
    let (wait, collective) = (wait.min(kinds[1]), (kinds[1] - wait).max(0));
    let part = |kind: usize, nanos: i64, is_wait: bool| Part {
        shade: Shade::Time(kind),
        nanos,
        kind,
        is_wait,
    };
    [
        part(DATA, kinds[DATA], false),
        part(0, kinds[0], false),
        part(1, wait, true),
        part(1, collective, false),
        part(2, kinds[2], false),
        part(4, kinds[4], false),
        part(IDLE, kinds[IDLE], false),
    ]
}

fn bar(row: &RankRow, answer: &RanksAnswer, texts: Texts) -> RankBar {
    let slow = answer.stragglers.iter().find(|slow| slow.rank == row.rank);
    let parts = parts(row).into_iter().map(|part| {
        let has_text = part.is_wait || part.kind == 0;
        RankPart {
            shade: part.shade,
            nanos: part.nanos as f64,
            text: if has_text {
                time(part.nanos)
            } else {
                String::new()
            },
            is_wait: part.is_wait,
        }
    });
    let note = match slow {
        Some(slow) => (texts.ranks().waited_for)(&time(slow.gain_nanos)),
        None => row.host.clone().unwrap_or_default(),
    };
    RankBar {
        text: (texts.ranks().rank_name)(row.rank),
        parts: parts.collect(),
        note,
        is_slow: slow.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use trainscope_api::profile::Parts;

    use super::*;

    fn row(rank: u32) -> RankRow {
        RankRow {
            rank,
            compute_nanos: i64::from(rank) * 10,
            parts_wait_nanos: 30,
            parts_nanos: Parts {
                kernel: 100,
                communication: 40,
                ..Parts::default()
            },
            ..RankRow::default()
        }
    }

    #[test]
    fn of_many_ranks_the_first_and_the_last_have_bars() {
        let ranks: Vec<RankRow> = (0..40).map(row).collect();
        let found = shown(&ranks, false);
        assert_eq!(found.len(), 20);
        assert_eq!((found[0], found[9], found[10], found[19]), (39, 30, 9, 0));
        assert_eq!(shown(&ranks[..3], false), [0, 1, 2]);
        assert_eq!(shown(&ranks[..3], true), [2, 1, 0]);
    }

    #[test]
    fn waiting_is_a_part_of_the_collectives() {
        let found = parts(&row(1));
        let nanos: Vec<i64> = found.iter().map(|part| part.nanos).collect();
        assert_eq!(nanos, [0, 100, 30, 10, 0, 0, 0]);
    }
}
