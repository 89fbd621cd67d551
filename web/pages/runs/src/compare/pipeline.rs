//! The tab of data: operations and parameters of the data pipelines that differ.

use trainscope_api::compare::{PipelineDifference, PipelineFacts};

use super::model::use_model;
use super::parts::{downloads, head, nothing};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::parameters::PIPELINE_AGAINST;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::RunPage;
use trainscope_web_kit::route;
use trainscope_web_kit::url_state::with_query;

#[component]
pub(super) fn PipelineTab() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let facts = Memo::new(move |_| model.with_other(|other| other.pipeline.clone())?);
    let rows = move || match facts.get() {
        None => nothing(|t| t.no_pipeline),
        Some(facts) if facts.differences.is_empty() => nothing(|t| t.same_pipeline),
        Some(facts) => table(&facts),
    };
    let href = move || {
        let other = model.other.get().unwrap_or_default();
        let href = route::run_href(&model.base(), RunPage::Pipeline);
        with_query(&href, &[PIPELINE_AGAINST.to(other)])
    };
    let right = view! {
        {downloads("pipeline", move || {
            facts.get_untracked().map(|facts| facts.differences).unwrap_or_default()
        })}
        <Show when=move || facts.with(Option::is_some)>
            <a class="link small" href=href>
                {i18n.text(|t| t.compare().open_pipeline)}
            </a>
        </Show>
    }
    .into_any();
    view! {
        <section class="card scrolls fills" data-part="pipeline">
            {head(move || i18n.texts().compare().tabs[5].to_owned(), String::new, right)}
            <div class="scroll">{rows}</div>
        </section>
    }
}

fn table(facts: &PipelineFacts) -> AnyView {
    let i18n = use_i18n();
    let model = use_model();
    let texts = i18n.texts().compare();
    let heads = [model.base(), model.other.get().unwrap_or_default()].map(|run| model.name(&run));
    let [base, other] = heads;
    let rows = facts.differences.iter().map(rows_of).collect_view();
    view! {
        <table class="dense">
            <thead>
                <tr>
                    <th>{texts.operation}</th>
                    <th>{texts.parameter}</th>
                    <th class="cut">{base}</th>
                    <th class="cut">{other}</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

fn rows_of(difference: &PipelineDifference) -> AnyView {
    let i18n = use_i18n();
    let texts = i18n.texts().compare();
    if difference.parameters.is_empty() {
        let only = texts.only_there;
        let [base, other] = [difference.base_place, difference.other_place]
            .map(|place| if place.is_some() { only } else { "–" });
        return view! {
            <tr class="ne">
                <td>{difference.operation.clone()}</td>
                <td></td>
                <td>{base}</td>
                <td>{other}</td>
            </tr>
        }
        .into_any();
    }
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "–".to_owned());
    difference
        .parameters
        .iter()
        .map(|parameter| {
            view! {
                <tr class:ne=!parameter.is_path>
                    <td>{difference.operation.clone()}</td>
                    <td>{parameter.name.clone()}</td>
                    <td class="cut" title=text(&parameter.base) dir="auto">
                        {text(&parameter.base)}
                    </td>
                    <td class="cut" title=text(&parameter.other) dir="auto">
                        {text(&parameter.other)}
                    </td>
                </tr>
            }
        })
        .collect_view()
        .into_any()
}
