//! Graphs of both runs as strips side by side, and the link to the page that compares them.

use trainscope_api::compare::GraphFacts;

use super::model::use_model;
use super::parts::{head, nothing};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::parameters::GRAPH_BASE;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::RunPage;
use trainscope_web_kit::route;
use trainscope_web_kit::run_colour::use_run_colours;
use trainscope_web_kit::url_state::with_query;

/// Types of nodes in a sentence.
const TYPES: usize = 3;

fn facts() -> Memo<Option<GraphFacts>> {
    let model = use_model();
    Memo::new(move |_| model.with_other(|other| other.graph.clone())?)
}

/// Card on the summary; nothing without graphs.
#[component]
pub(super) fn GraphCard() -> impl IntoView {
    let graph = facts();
    move || graph.get().map(|graph| card(&graph))
}

#[component]
pub(super) fn GraphTab() -> impl IntoView {
    let graph = facts();
    move || match graph.get() {
        Some(graph) => card(&graph),
        None => {
            view! { <section class="card" data-part="graph">{nothing(|t| t.no_graph)}</section> }
                .into_any()
        }
    }
}

/// Address of the graph page, with the other run to compare with.
fn href() -> String {
    let model = use_model();
    let other = model.other.get().unwrap_or_default();
    let href = route::run_href(&model.base(), RunPage::Graph);
    with_query(&href, &[GRAPH_BASE.to(other)])
}

fn card(graph: &GraphFacts) -> AnyView {
    let i18n = use_i18n();
    let model = use_model();
    let colours = use_run_colours();
    let texts = i18n.texts().compare();
    let [a, b] = graph.nodes;
    let beside = move || (i18n.texts().compare().nodes)(a, b);
    if let Some(limit) = graph.limit {
        return view! {
            <section class="card graph-card" data-part="graph">
                {head(move || i18n.texts().compare().graph.to_owned(), beside, ().into_any())}
                <p class="small ink3 empty-part">{move || (i18n.texts().compare().large_graph)(limit)}</p>
            </section>
        }
        .into_any();
    }
    let (base, other) = (model.base(), model.other.get().unwrap_or_default());
    let cells = |is_base: bool, class: String| {
        graph.cells
            .iter()
            .enumerate()
            .map(|(at, cell)| {
                let (here, there) = if is_base {
                    (cell.only_base, cell.only_other)
                } else {
                    (cell.only_other, cell.only_base)
                };
                let both = cell.same + cell.changed;
                let kind = if here > 0 {
                    format!("only {class}")
                } else if both == 0 && there > 0 {
                    "lacks".to_owned()
                } else if cell.changed > 0 {
                    "changed".to_owned()
                } else {
                    "same".to_owned()
                };
                let y = if is_base { 0 } else { 18 };
                view! { <rect class=kind x=(at * 10 + 1).to_string() y=y.to_string() width="8" height="14" rx="1" /> }
            })
            .collect_view()
    };
    let width = graph.cells.len() * 10;
    let view_box = format!("0 0 {width} 32");
    let only = |types: &[(String, u64)], run: &str| {
        let named: Vec<String> = types
            .iter()
            .take(TYPES)
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        (!named.is_empty()).then(|| (texts.only_nodes)(&named.join(", "), &model.name(run)))
    };
    let changed = (graph.changed > 0).then(|| (texts.changed_nodes)(graph.changed));
    let told = [
        only(&graph.only_base, &base),
        only(&graph.only_other, &other),
        changed,
    ];
    let mut told: Vec<String> = told.into_iter().flatten().collect();
    if told.is_empty() {
        told.push(texts.same_graph.to_owned());
    }
    let told = told.join("; ");
    let title = told.clone();
    let link = view! {
        <a class="go link" href=href() title=texts.open_graph aria-label=texts.open_graph>
            {trainscope_web_kit::components::fixed_icon(trainscope_web_kit::components::IconName::Right, 12)}
        </a>
    }
    .into_any();
    view! {
        <section class="card graph-card" data-part="graph">
            {head(move || i18n.texts().compare().graph.to_owned(), beside, link)}
            <div class="body">
                <svg class="strip" viewBox=view_box preserveAspectRatio="none" role="img" aria-label=title>
                    {cells(true, colours.get(&base).class())}
                    {cells(false, colours.get(&other).class())}
                </svg>
                <p class="strip-ends micro ink3">
                    <span>{texts.ends[0]}</span>
                    <span>{(texts.order)(graph.nodes_in_cell)}</span>
                    <span>{texts.ends[1]}</span>
                </p>
                <p class="small ink2">{told}</p>
            </div>
        </section>
    }
    .into_any()
}
