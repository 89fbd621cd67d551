//! The points of one card as a table, in the right panel.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use trainscope_charts::label;

use super::choices::XChoice;
use super::data::{Loaded, Want};
use super::page::PageState;
use crate::client;
use crate::components::{RightPanel, RunChip};
use crate::erased::{Show, effect};
use crate::format;
use crate::i18n::use_i18n;

/// Rows of all lines together.
const MOST_ROWS: usize = 1_000;

/// The table of the tag that was asked for.
#[component]
pub(super) fn TablePanel(page: PageState, tag: String) -> impl IntoView {
    let i18n = use_i18n();
    let texts = move || &i18n.texts().scalars;
    let loaded = RwSignal::new(Arc::new(Loaded::default()));
    let name = tag.clone();
    let round = StoredValue::new(0_u64);
    effect(move || {
        let Some(entry) = page.entry(&name) else {
            return;
        };
        let range = page.zoom.range(&name);
        let steps = range.filter(|_| page.settings.x.get() == XChoice::Step);
        let whole = |bound: f64| format!("{bound:.0}").parse().ok();
        let want = Want {
            points: (MOST_ROWS / entry.series.len().max(1)).max(1),
            series: entry.series,
            from: steps.and_then(|(lo, _)| whole(lo.floor())),
            to: steps.and_then(|(_, hi)| whole(hi.ceil())),
            superseded: page.settings.has_superseded.get(),
            ..Want::default()
        };
        let request = want.request(&name);
        round.update_value(|round| *round += 1);
        let mine = round.get_value();
        spawn_local(async move {
            let answer = client::scalars_many(&request).await;
            if let (Ok(answer), Some(now)) = (answer, round.try_get_value())
                && now == mine
            {
                loaded.set(Arc::new(Loaded::new(&want, answer.series)));
            }
        });
    });
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
        let rows = loaded.curves.iter().flat_map(|curve| {
            let series = &curve.series;
            (0..series.steps.len()).filter_map(move |index| {
                let bound = |list: &[f64]| list.get(index).copied().map(label::value);
                let value = *series.values.get(index)?;
                Some(view! {
                    <tr>
                        <td title=curve.id.run.clone()>
                            <span class="flex">
                                <RunChip run=curve.id.run.clone() />
                                <span class="cut">{curve.id.label()}</span>
                            </span>
                        </td>
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
            })
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
                        <th>{move || texts().run}</th>
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
