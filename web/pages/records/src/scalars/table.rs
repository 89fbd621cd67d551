//! The points of one card as a table, in the right panel.

use trainscope_charts::label;

use super::choices::Range;
use super::choices::XChoice;
use super::data::{CardLines, Curve, Want, x_values};
use super::page::PageState;
use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::components::{RightPanel, RunChip};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;

/// Maximum number of rows of all lines together.
const MAX_ROWS: usize = 1_000;

async fn ask(tag: &str, want: &Want) -> Result<CardLines, ClientError> {
    let answer = client::scalars_many(&want.request(tag)).await?;
    Ok(CardLines::new(want, answer.series))
}

/// Keeps the points with x in a range; answers also have their neighbours.
fn within(mut loaded: CardLines, (lo, hi): Range, x_of: &dyn Fn(&Curve) -> Vec<f64>) -> CardLines {
    for curve in &mut loaded.curves {
        let is_in: Vec<bool> = x_of(curve).iter().map(|x| lo <= *x && *x <= hi).collect();
        let series = &mut curve.series;
        for list in [&mut series.values, &mut series.min, &mut series.max] {
            let mut kept = is_in.iter();
            list.retain(|_| kept.next() == Some(&true));
        }
        let mut kept = is_in.iter();
        series.steps.retain(|_| kept.next() == Some(&true));
        if !series.cut {
            series.total = series.steps.len() as u64;
        }
    }
    loaded.curves.retain(|curve| !curve.series.steps.is_empty());
    loaded
}

/// The table of the chosen tag.
#[component]
pub(super) fn TablePanel(page: PageState, tag: String) -> impl IntoView {
    let i18n = use_i18n();
    let texts = move || i18n.texts().scalars();
    let name = tag.clone();
    let key = move || {
        let entry = page.entry(&name)?;
        let x = page.settings.x_of(&name);
        let want = Want {
            points: (MAX_ROWS / entry.series.len().max(1)).max(1),
            series: entry.series,
            superseded: page.settings.has_superseded.get(),
            wall_times: matches!(x, XChoice::Relative | XChoice::Wall),
            x_tag: page.settings.x_tag.get(),
            ..Want::default()
        };
        Some((want, x, page.zoom.range(&name), page.facts.get()))
    };
    let name = tag.clone();
    let found = query(key, move |(mut want, x, range, facts)| {
        let tag = name.clone();
        async move {
            let x_of = |curve: &Curve| {
                let start = facts.get(&curve.id.run).and_then(|facts| facts.start);
                x_values(curve, x, start)
            };
            let found = ask(&tag, &want).await?;
            let Some(range) = range else {
                return Ok(found);
            };
            // Requests take ranges of steps, whatever the unit of x.
            let found = match found.steps_of(range, &x_of) {
                Some((from, to)) => {
                    (want.from, want.to) = (Some(from), Some(to));
                    ask(&tag, &want).await?
                }
                None => found,
            };
            Ok(within(found, range, &x_of))
        }
    });
    let loaded = Memo::new(move |_| found.answer.get().unwrap_or_default());
    let shown = move || {
        loaded.with(|loaded| {
            let rows: usize = loaded
                .curves
                .iter()
                .map(|curve| curve.series.steps.len())
                .sum();
            let total: u64 = loaded.curves.iter().map(|curve| curve.series.total).sum();
            (rows as u64, total)
        })
    };
    let is_cut = move || loaded.with(|loaded| loaded.curves.iter().any(|curve| curve.series.cut));
    let rows = move || {
        let is_cut = is_cut();
        let loaded = loaded.get();
        let rows = loaded.curves.iter().map(|curve| {
            let series = &curve.series;
            let run = curve.id.run.clone();
            let rows = (0..series.steps.len()).filter_map(move |index| {
                let bound = |list: &[f64]| list.get(index).copied().map(label::value);
                let value = *series.values.get(index)?;
                Some(view! {
                    <tr>
                        <td class="num">{label::step(*series.steps.get(index)?)}</td>
                        <td class="num" class:nan=value.is_nan() class:inf=value.is_infinite()>
                            {label::value(value)}
                        </td>
                        {is_cut
                            .then(|| {
                                view! {
                                    <td class="num">{bound(&series.min)}</td>
                                    <td class="num">{bound(&series.max)}</td>
                                }
                            })}
                    </tr>
                })
            });
            view! {
                <tr>
                    <th colspan=if is_cut { "4" } else { "2" } scope="rowgroup" title=curve.id.run.clone()>
                        <span class="flex">
                            <RunChip run=run />
                            <span class="cut">{curve.id.label()}</span>
                        </span>
                    </th>
                </tr>
                {rows.collect_view()}
            }
        });
        rows.collect_view()
    };
    view! {
        <RightPanel title=tag on_close=move || page.panel.set(None)>
            <p class="small ink2">
                {move || {
                    let (rows, total) = shown();
                    (texts().rows_of)(&format::count(rows), &format::count(total))
                }}
                <Show when=is_cut>" · " {move || texts().rows_next}</Show>
            </p>
            <table class="dense points">
                <thead>
                    <tr>
                        <th class="num">{move || texts().step}</th>
                        <th class="num">
                            {move || if is_cut() { texts().last_of } else { texts().value }}
                        </th>
                        <Show when=is_cut>
                            <th class="num">{move || texts().min}</th>
                            <th class="num">{move || texts().max}</th>
                        </Show>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </RightPanel>
    }
}
