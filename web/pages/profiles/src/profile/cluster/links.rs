//! Links between ranks: bytes, time and bandwidth of each pair, the slowest first.

use super::super::model::time;
use super::super::parts::downloads;
use super::{bandwidth, use_cluster};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

const FIELDS: [&str; 6] = [
    "source",
    "destination",
    "transport",
    "bytes",
    "nanos",
    "bandwidth",
];
/// Maximum number of listed rows; the download has all.
const ROWS: usize = 64;

/// The table; nothing if the files have no links.
#[component]
pub(super) fn Links() -> impl IntoView {
    let cluster = use_cluster();
    let i18n = use_i18n();
    let rows = Memo::new(move |_| {
        cluster
            .with(|answer| answer.links.clone())
            .unwrap_or_default()
    });
    move || {
        let texts = i18n.texts();
        rows.with(|rows| {
            let lines = rows.iter().take(ROWS).map(|row| {
                view! {
                    <tr>
                        <td>{format!("{} → {}", row.source, row.destination)}</td>
                        <td class="ink2">{row.transport.clone()}</td>
                        <td class="num">{format::bytes(row.bytes)}</td>
                        <td class="num">{time(i64::try_from(row.nanos).unwrap_or(i64::MAX))}</td>
                        <td class="num">{bandwidth(row.bandwidth)}</td>
                    </tr>
                }
            });
            let heads = texts.ranks().link_columns.into_iter().enumerate();
            let heads = heads.map(|(at, head)| view! { <th class:num=(at > 1)>{head}</th> });
            (!rows.is_empty()).then(|| {
                view! {
                    <div class="head">
                        <h3>{texts.ranks().links}</h3>
                        <span class="micro ink3">
                            {(texts.ranks().of_links)(rows.len().min(ROWS) as u64, rows.len() as u64)}
                        </span>
                        <span class="grow"></span>
                        {downloads(
                            "links",
                            &FIELDS,
                            move || {
                                let answer = cluster.answer.answer.get_untracked();
                                answer.map(|answer| answer.links.clone()).unwrap_or_default()
                            },
                        )}
                    </div>
                    <table class="dense" data-part="links">
                        <thead>
                            <tr>{heads.collect::<Vec<_>>()}</tr>
                        </thead>
                        <tbody>{lines.collect::<Vec<_>>()}</tbody>
                    </table>
                }
            })
        })
    }
}
