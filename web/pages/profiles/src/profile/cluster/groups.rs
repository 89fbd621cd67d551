//! Communication by process group: the cost of each dimension of a parallel training.

use super::super::model::time;
use super::super::parts::downloads;
use super::use_cluster;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

const FIELDS: [&str; 7] = [
    "name",
    "size",
    "point_to_point",
    "count",
    "bytes",
    "nanos",
    "exposed_nanos",
];

/// The table; nothing with fewer than two groups.
#[component]
pub(super) fn Groups() -> impl IntoView {
    let cluster = use_cluster();
    let i18n = use_i18n();
    let rows = Memo::new(move |_| {
        cluster
            .with(|answer| answer.groups.clone())
            .unwrap_or_default()
    });
    move || {
        let texts = i18n.texts();
        rows.with(|rows| {
            let lines = rows.iter().map(|row| {
                let unknown =
                    |value: u64, text: String| if value > 0 { text } else { "–".to_owned() };
                let pipeline = row.point_to_point.then(
                    || view! { <span class="micro ink3">{texts.ranks().point_to_point}</span> },
                );
                view! {
                    <tr>
                        <td title=row.name.clone()>{row.name.clone()} {pipeline}</td>
                        <td class="num">{unknown(row.size, format::count(row.size))}</td>
                        <td class="num">{format::count(row.count)}</td>
                        <td class="num">{unknown(row.bytes, format::bytes(row.bytes))}</td>
                        <td class="num">{time(row.nanos)}</td>
                        <td class="num">{time(row.exposed_nanos)}</td>
                    </tr>
                }
            });
            let heads = texts.ranks().group_columns.into_iter().enumerate();
            let heads = heads.map(|(at, head)| view! { <th class:num=(at > 0)>{head}</th> });
            (rows.len() > 1).then(|| {
                view! {
                    <div class="head">
                        <h3>{texts.ranks().process_groups}</h3>
                        <span class="micro ink3 cut">{texts.ranks().groups_beside}</span>
                        <span class="grow"></span>
                        {downloads(
                            "groups",
                            &FIELDS,
                            move || {
                                let answer = cluster.answer.answer.get_untracked();
                                answer.map(|answer| answer.groups.clone()).unwrap_or_default()
                            },
                        )}
                    </div>
                    <table class="dense" data-part="groups">
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
