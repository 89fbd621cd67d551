//! The tab of scalars. Those that part come first, each as an overlay with its difference.

use std::sync::Arc;

use trainscope_api::compare::{Names, ScalarDifference};

use super::curve::Curves;
use super::model::use_model;
use super::parts::{downloads, head, nothing};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Maximum number of cards; the table has all scalars.
const MAX_CARDS: usize = 12;

#[component]
pub(super) fn Scalars() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let all = Memo::new(move |_| {
        Arc::new(
            model
                .with_other(|other| other.scalars.clone())
                .unwrap_or_default(),
        )
    });
    let names = Memo::new(move |_| {
        let names = model.with_other(|other| (other.only_base.clone(), other.only_other.clone()));
        names.unwrap_or_default()
    });
    let keys = Memo::new(move |_| {
        let all = all.get();
        let keys = all
            .iter()
            .take(MAX_CARDS)
            .map(|scalar| (scalar.tag.clone(), scalar.rank));
        keys.collect::<Vec<_>>()
    });
    let cards = move || {
        keys.get()
            .into_iter()
            .map(|(tag, rank)| view! { <Curves tag rank /> })
            .collect_view()
    };
    let rows = move || {
        let all = all.get();
        if all.is_empty() {
            return nothing(|t| t.no_scalars);
        }
        let texts = i18n.texts().compare();
        let rows = all.iter().map(row).collect_view();
        let heads =
            [model.base(), model.other.get().unwrap_or_default()].map(|run| model.name(&run));
        let [base, other] = heads;
        view! {
            <table class="dense">
                <thead>
                    <tr>
                        <th>{texts.scalar}</th>
                        <th class="num">{texts.parts}</th>
                        <th class="num">{texts.points}</th>
                        <th class="num cut">{base}</th>
                        <th class="num cut">{other}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        }
        .into_any()
    };
    let only = move || {
        let (base, other) = names.get();
        let pair = [
            (model.base(), base),
            (model.other.get().unwrap_or_default(), other),
        ];
        pair.into_iter()
            .filter(|(_, names)| !names.scalars.is_empty())
            .map(|(run, names)| only_in(&model.name(&run), &names))
            .collect_view()
    };
    let right = downloads("scalars", move || all.get_untracked().to_vec());
    view! {
        <div class="cols">
            <div class="scroll cards">{cards}</div>
            <div>
                <section class="card scrolls" data-part="scalars">
                    {head(move || i18n.texts().compare().tabs[1].to_owned(), String::new, right)}
                    <div class="scroll">{rows} {only}</div>
                </section>
            </div>
        </div>
    }
}

fn row(scalar: &ScalarDifference) -> AnyView {
    let i18n = use_i18n();
    let value = |last: Option<f64>| last.map_or_else(|| "–".to_owned(), format::cell);
    let is_bad = scalar.other_last.is_some_and(|last| !last.is_finite());
    let parts = scalar
        .parts
        .map_or_else(|| i18n.texts().compare().never.to_owned(), format::integer);
    view! {
        <tr>
            <td class="cut" title=scalar.tag.clone()>
                <bdi>{scalar.tag.clone()}</bdi>
            </td>
            <td class="num" class:ink3=scalar.parts.is_none()>
                {parts}
            </td>
            <td class="num ink2">{format::count(scalar.points)}</td>
            <td class="num">{value(scalar.base_last)}</td>
            <td class="num" class:err=is_bad>
                {value(scalar.other_last)}
            </td>
        </tr>
    }
    .into_any()
}

/// Tags that only one run has.
fn only_in(run: &str, names: &Names) -> AnyView {
    let i18n = use_i18n();
    let title = (i18n.texts().compare().only_in)(run, names.scalars.len() as u64);
    view! {
        <h3 class="part-head">{title}</h3>
        <p class="small ink2 names">
            <bdi>{names.scalars.join(", ")}</bdi>
        </p>
    }
    .into_any()
}
