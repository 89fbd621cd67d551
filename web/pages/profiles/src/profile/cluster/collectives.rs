//! Collectives by name and size: time, hidden share, and the spread of the arrival of the ranks.

use super::super::model::{time, use_model};
use super::super::parts::downloads;
use super::groups::Groups;
use super::links::Links;
use super::pair::Pair;
use super::{bandwidth, use_cluster};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

const FIELDS: [&str; 10] = [
    "name",
    "operation",
    "algorithm",
    "count",
    "bytes",
    "nanos",
    "hidden",
    "spread_nanos",
    "transfer_nanos",
    "bandwidth",
];

/// Hidden share of a collective below which it gets a warning.
const LITTLE: f64 = 0.3;

#[component]
pub(super) fn Collectives() -> impl IntoView {
    let cluster = use_cluster();
    let model = use_model();
    let i18n = use_i18n();
    let body = move || {
        cluster.with(|answer| {
            let is_alone = answer.ranks.len() < 2;
            let rows = answer.collectives.iter().map(|row| {
                let href = model.step_href(None, Some(&row.name));
                let shown = if row.operation.is_empty() {
                    &row.name
                } else {
                    &row.operation
                };
                let parts = [&row.name, &row.algorithm];
                let parts = parts.into_iter().filter(|part| !part.is_empty());
                let count = format!("× {}", format::count(row.count));
                let parts: Vec<&str> = parts.map(String::as_str).chain([&*count]).collect();
                let title = parts.join(" · ");
                // The spread of arrivals needs other ranks.
                let spread = if is_alone {
                    "–".to_owned()
                } else {
                    time(row.spread_nanos)
                };
                let bytes = if row.bytes > 0 {
                    format::bytes(row.bytes)
                } else {
                    "–".to_owned()
                };
                view! {
                    <tr>
                        <td title=title>
                            <a href=href>{shown.clone()}</a>
                            {(!row.algorithm.is_empty())
                                .then(|| view! { <span class="micro ink3">{row.algorithm.clone()}</span> })}
                        </td>
                        <td class="num">{bytes}</td>
                        <td class="num">{time(row.nanos)}</td>
                        <td class="num" class:warn=row.hidden < LITTLE>
                            {format::percent(row.hidden)}
                        </td>
                        <td class="num">{spread}</td>
                        <td class="num ink2">{bandwidth(row.bandwidth)}</td>
                    </tr>
                }
            });
            rows.collect::<Vec<_>>()
        })
    };
    let is_empty = move || {
        cluster
            .with(|answer| answer.collectives.is_empty())
            .unwrap_or(false)
    };
    view! {
        <section class="card" data-part="collectives">
            <div class="head">
                <h2>{i18n.text(|t| t.ranks().against_communication)}</h2>
                <span class="grow"></span>
                {downloads(
                    "collectives",
                    &FIELDS,
                    move || {
                        let answer = cluster.answer.answer.get_untracked();
                        answer.map(|answer| answer.collectives.clone()).unwrap_or_default()
                    },
                )}
            </div>
            <Pair />
            <div class="scroll">
                <table class="dense collectives">
                    <thead>
                        <tr>
                            {move || {
                                let heads = i18n.texts().ranks().collective_columns;
                                let heads = heads.into_iter().enumerate();
                                heads
                                    .map(|(at, head)| view! { <th class:num=at != 0>{head}</th> })
                                    .collect::<Vec<_>>()
                            }}
                        </tr>
                    </thead>
                    <tbody>{body}</tbody>
                </table>
                <Show when=is_empty>
                    <p class="small ink2 nothing">{i18n.text(|t| t.ranks().no_collectives)}</p>
                </Show>
                <Groups />
                <Links />
            </div>
        </section>
    }
}
