//! The panel *What moves …*: bars of importance, pairs, words, and the plot of the pressed bar or pair.

use std::sync::Arc;

use trainscope_api::importance::{
    Bar, ImportanceAnswer, ImportanceRequest, Measure, Pair, Reason, Trust,
};
use trainscope_api::table::{ColumnGroup, ColumnKind, Direction};
use trainscope_charts::profile::{Counts, Figure, Hit, Shade, Unit};

use super::model::{Model, SELECT_CHARS, use_model};
use super::scatter::ScatterPlot;
use trainscope_web_kit::client;
use trainscope_web_kit::components::ProfileChart;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::I18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};

/// Bins of the histogram of the result.
const BINS: usize = 24;
/// Maximum characters of a parameter next to its bar.
const BAR_CHARS: usize = 16;

/// The card at the right of the table.
#[component]
pub(super) fn ImportanceCard() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let answer: Query<ImportanceAnswer> = query(
        move || {
            // The rows load first, since bars can wait.
            if !model.store.is_ready.get() {
                return None;
            }
            Some(ImportanceRequest {
                target: model.target.get()?,
                goal: model.goal.get(),
                measure: model.measure.get(),
                runs: model.judged_runs.get(),
                ..ImportanceRequest::default()
            })
        },
        |request| async move { client::importance(&request).await },
    );
    let answer = answer.again_with(move || model.store.table.with(|table| table.seq));
    let targets = move || {
        let target = model.target.get();
        let options = model.columns.with(|columns| {
            let results = columns.columns.iter().filter(|info| {
                info.group == ColumnGroup::Result
                    && matches!(info.kind, ColumnKind::Number | ColumnKind::Integer)
            });
            results
                .map(|info| {
                    let is_target = target.as_ref() == Some(&info.key);
                    let label = trainscope_charts::label::middle_cut(&info.label, SELECT_CHARS);
                    view! {
                        <option value=info.key.clone() selected=is_target title=info.label.clone()>
                            {label}
                        </option>
                    }
                })
                .collect_view()
        });
        view! {
            <select
                class="field"
                aria-label=i18n.texts().lineage().target
                on:change=move |event| model.set_target(&event_target_value(&event))
            >
                {options}
            </select>
        }
    };
    let measures = move || {
        let chosen = model.measure.get();
        let texts = i18n.texts().lineage();
        let all = [
            None,
            Some(Measure::Variance),
            Some(Measure::BestTenth),
            Some(Measure::Rank),
            Some(Measure::Linear),
        ];
        let options = all
            .into_iter()
            .enumerate()
            .map(|(index, measure)| {
                view! { <option value=index.to_string() selected=chosen == measure>{(texts.measure)(measure)}</option> }
            })
            .collect_view();
        view! {
            <select
                class="field"
                aria-label=texts.measure_label
                on:change=move |event| {
                    let index = event_target_value(&event).parse::<usize>().unwrap_or(0);
                    model.set_measure(all.get(index).copied().flatten());
                }
            >
                {options}
            </select>
        }
    };
    let goals = move || {
        let goal = model.goal.get();
        let texts = i18n.texts().lineage();
        let button = move |direction: Direction, word: &'static str| {
            view! {
                <button
                    type="button"
                    aria-pressed=(goal == Some(direction)).to_string()
                    on:click=move |_| model.set_goal(direction)
                >
                    {word}
                </button>
            }
        };
        view! {
            <div class="seg" role="group" aria-label=texts.goal>
                {button(Direction::Less, texts.less)}
                {button(Direction::More, texts.more)}
            </div>
        }
    };
    let content = move || {
        let texts = i18n.texts().lineage();
        if let Some(error) = answer.error.get() {
            let _ = error;
            return view! { <p class="small ink2">{texts.no_importance}</p> }.into_any();
        }
        let Some(answer) = answer.answer.get() else {
            return view! { <p class="small ink3" aria-busy="true">{texts.computing}</p> }
                .into_any();
        };
        bars(&model, &answer).into_any()
    };
    view! {
        <section class="card lineage-importance" data-part="importance">
            <div class="head">
                <h2>{i18n.text(|t| t.lineage().what_moves)}</h2>
                {targets}
            </div>
            <div class="body">
                <div class="flex lineage-measures">{measures} {goals}</div>
                <Show when=move || model.is_part.get() || model.is_of_kept.get()>
                    <label class="flex small of-kept">
                        <input
                            type="checkbox"
                            prop:checked=move || model.is_of_kept.get()
                            on:change=move |event| model.set_of_kept(event_target_checked(&event))
                        />
                        {i18n.text(|t| t.lineage().of_kept)}
                    </label>
                </Show>
                {content}
                <Show when=move || !model.bar.with(Vec::is_empty) fallback=move || view! { <Histogram /> }>
                    <ScatterPlot />
                </Show>
            </div>
        </section>
    }
}

fn bars(model: &Model, answer: &Arc<ImportanceAnswer>) -> impl IntoView + use<> {
    let model = *model;
    let i18n = model.i18n;
    let texts = i18n.texts().lineage();
    let importance = &answer.importance;
    let hatched = importance.trust == Some(Trust::Poor);
    let sentences = answer
        .sentences
        .iter()
        .map(|words| i18n.raw(words))
        .collect::<Vec<String>>()
        .join(" · ");
    let most = importance
        .bars
        .iter()
        .filter_map(|bar| bar.value)
        .map(f64::abs)
        .fold(0.0, f64::max);
    let top = match importance.measure {
        // Correlations are at most 1.
        Some(Measure::Rank | Measure::Linear) => 1.0,
        _ => most.max(1e-9),
    };
    let row = |bar: &Bar| {
        let key = bar.name.clone();
        let label = trainscope_charts::label::middle_cut(&model.info(&key).label, BAR_CHARS);
        let value = bar.value.unwrap_or(0.0);
        let share = (value.abs() / top).clamp(0.0, 1.0);
        let whisker = bar.deviation.map(|deviation| {
            let from = ((value.abs() - deviation) / top).clamp(0.0, 1.0);
            let to = ((value.abs() + deviation) / top).clamp(0.0, 1.0);
            view! {
                <u
                    style:left=format!("{:.1}%", from * 100.0)
                    style:width=format!("{:.1}%", (to - from) * 100.0)
                ></u>
            }
        });
        let pressed = key.clone();
        let is_on = move || {
            model
                .bar
                .with(|keys| keys.len() == 1 && keys.contains(&pressed))
        };
        let is_on = Memo::new(move |_| is_on());
        let same = (!bar.same_as.is_empty()).then(|| (texts.same_as)(&bar.same_as.join(", ")));
        let title = [
            Some(i18n.raw(&bar.words)).filter(|words| !words.is_empty()),
            same,
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" · ");
        let words = i18n.raw(&bar.words);
        view! {
            <button
                type="button"
                class="imp"
                class:on=move || is_on.get()
                data-parameter=key.clone()
                aria-pressed=move || is_on.get().to_string()
                title=title
                on:click=move |_| {
                    let next = if is_on.get_untracked() { Vec::new() } else { vec![key.clone()] };
                    model.set_bar(&next);
                }
            >
                <span class="cut">{label}</span>
                <span class="b" class:hatch=hatched>
                    <i style:width=format!("{:.1}%", share * 100.0)></i>
                    {whisker}
                </span>
                <span class="num">{signed(value)}</span>
            </button>
            <Show when=move || is_on.get()>
                <p class="micro ink2 imp-words">{words.clone()}</p>
            </Show>
        }
    };
    let valued = |aside: bool| {
        let of = importance
            .bars
            .iter()
            .filter(move |bar| bar.value.is_some() && bar.is_aside == aside);
        of.map(row).collect_view()
    };
    let has_aside = importance
        .bars
        .iter()
        .any(|bar| bar.is_aside && bar.value.is_some());
    let without: Vec<&Bar> = importance
        .bars
        .iter()
        .filter(|bar| bar.value.is_none() && bar.reason.is_some())
        .collect();
    let reasons = (!without.is_empty()).then(|| {
        let rows = without
            .iter()
            .map(|bar| {
                let reason = reason_text(i18n, bar);
                view! {
                    <li>
                        <span class="med">{model.info(&bar.name).label}</span>
                        " "
                        <span class="ink3">{reason}</span>
                    </li>
                }
            })
            .collect_view();
        view! {
            <details class="small imp-without">
                <summary class="ink2">{(texts.without_bar)(without.len() as u64)}</summary>
                <ul>{rows}</ul>
            </details>
        }
    });
    let pairs = (!importance.pairs.is_empty()).then(|| {
        let rows = importance
            .pairs
            .iter()
            .map(|pair| pair_row(&model, pair))
            .collect_view();
        view! {
            <p class="micro ink3 imp-caption">{texts.pairs}</p>
            {rows}
        }
    });
    view! {
        <p class="micro ink3" data-part="trust">{sentences}</p>
        {valued(false)}
        {has_aside.then(|| view! { <hr class="imp-line" /> })}
        {has_aside.then(|| valued(true))}
        {pairs}
        {reasons}
    }
}

/// Two decimals with a typographic minus sign: `0.71`, `−0.14`.
fn signed(value: f64) -> String {
    format!("{value:.2}").replace('-', "−")
}

fn reason_text(i18n: I18n, bar: &Bar) -> String {
    let words = i18n.raw(&bar.words);
    if !words.is_empty() {
        return words;
    }
    bar.reason.map_or_else(String::new, |reason: Reason| {
        (i18n.texts().lineage().reason)(reason).to_owned()
    })
}

fn pair_row(model: &Model, pair: &Pair) -> impl IntoView + use<> {
    let model = *model;
    let names = pair.names.clone();
    let label = names
        .iter()
        .map(|key| model.info(key).label)
        .collect::<Vec<_>>()
        .join(" × ");
    let shown = names.clone();
    let is_on = Memo::new(move |_| model.bar.with(|keys| **keys == shown[..]));
    let share = pair.value.clamp(0.0, 1.0);
    view! {
        <button
            type="button"
            class="imp"
            class:on=move || is_on.get()
            aria-pressed=move || is_on.get().to_string()
            on:click=move |_| {
                let next = if is_on.get_untracked() { Vec::new() } else { names.to_vec() };
                model.set_bar(&next);
            }
        >
            <span class="cut">{label}</span>
            <span class="b">
                <i style:width=format!("{:.1}%", share * 100.0)></i>
            </span>
            <span class="num">{signed(pair.value)}</span>
        </button>
    }
}

/// The result of all rows as bars of counts.
#[component]
fn Histogram() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let figure = Memo::new(move |_| {
        let view = model.view.get();
        let target = model.target.get().unwrap_or_default();
        let values: Vec<f64> = (0..view.len())
            .filter_map(|row| view.number(&target, row))
            .filter(|value| value.is_finite())
            .collect();
        let (edges, counts) = histogram(&values, BINS);
        Arc::new(Figure::Counts(Counts {
            edges,
            counts,
            unit: Unit::Count,
            shade: Shade::Plain,
            ..Counts::default()
        }))
    });
    let title = move || {
        let label = model
            .target
            .get()
            .map(|key| model.info(&key).label)
            .unwrap_or_default();
        (i18n.texts().lineage().histogram)(&label)
    };
    view! {
        <p class="micro ink3 scatter-title">{title}</p>
        <div class="lineage-scatter">
            <ProfileChart
                figure=figure
                label=Signal::derive(title)
                tip=move |hit: Hit| {
                    let text = figure.with_untracked(|figure| match &**figure {
                        Figure::Counts(counts) => {
                            let (from, to) = (counts.edges.get(hit.index)?, counts.edges.get(hit.index + 1)?);
                            let count = counts.counts.get(hit.index)?;
                            Some(format!("{} – {}: {count}", format::cell(*from), format::cell(*to)))
                        }
                        _ => None,
                    })?;
                    Some(text.into_any())
                }
                on_press=|_| ()
            />
        </div>
    }
}

/// Edges of equal bins, and the number of values in each.
fn histogram(values: &[f64], bins: usize) -> (Vec<f64>, Vec<f64>) {
    let lo = values.iter().copied().fold(f64::INFINITY, f64::min);
    let hi = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if lo > hi {
        return (vec![0.0, 1.0], vec![0.0]);
    }
    let (lo, hi) = if lo < hi {
        (lo, hi)
    } else {
        (lo - 0.5, hi + 0.5)
    };
    let step = (hi - lo) / bins as f64;
    let edges: Vec<f64> = (0..=bins).map(|edge| lo + step * edge as f64).collect();
    let mut counts = vec![0.0; bins];
    for value in values {
        let bin = trainscope_web_kit::pixels::whole((value - lo) / step).min(bins - 1);
        counts[bin] += 1.0;
    }
    (edges, counts)
}

#[cfg(test)]
mod tests {
    use super::histogram;

    #[test]
    fn every_value_is_in_a_bin() {
        let (edges, counts) = histogram(&[0.0, 0.1, 1.0, 1.0], 10);
        assert_eq!((edges.len(), counts.iter().sum::<f64>()), (11, 4.0));
        assert_eq!((counts[0], counts[1], counts[9]), (1.0, 1.0, 2.0));
        assert!(histogram(&[2.0], 4).1.contains(&1.0));
        assert_eq!(histogram(&[], 4).1, [0.0]);
    }
}
