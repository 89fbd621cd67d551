//! Links to the producers and consumers of the tensor, each with its health.

use trainscope_api::findings::{Neighbour, Neighbours, NeighboursQuery};
use trainscope_api::graphs::{NodeQuery, NodeTensor};
use trainscope_format::Kind;

use super::model::use_model;
use trainscope_web_kit::client;
use trainscope_web_kit::components::{
    IconName, NodeGraph, SegOption, Segmented, fixed_icon, severity_icon, severity_name,
};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;
use trainscope_web_kit::route;
use trainscope_web_kit::url_state::{History, Key, Setting, use_url_state};

/// Columns although a graph exists.
const WANTS_COLUMNS: Setting<bool> = Key::of_words("around", &[(true, "tensors")]).or(false);

/// Graph around the tensor, or three columns: upstream, its layer, downstream.
#[component]
pub(super) fn Around() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let url = use_url_state();
    let key = move || {
        let (tensor, rank, step) = model.place.get()?;
        Some(NeighboursQuery {
            run: model.run.get(),
            tensor,
            rank,
            step,
        })
    };
    let found = query(key, |key| async move { client::neighbours(&key).await }).again_with_list();
    let known = Memo::new(move |_| found.answer.get().unwrap_or_default());
    let has_columns = Memo::new(move |_| {
        known.with(|known| {
            !known.upstream.is_empty() || !known.downstream.is_empty() || known.own.len() > 1
        })
    });
    let has_graph = RwSignal::new(false);
    let wants_columns = url.setting(WANTS_COLUMNS);
    let is_graph =
        Memo::new(move |_| has_graph.get() && !(wants_columns.get() && has_columns.get()));
    // Only the columns may be in a guessed order.
    let guessed = move || {
        let is_guessed = known.with(|known| known.is_guessed) && !is_graph.get();
        is_guessed.then(|| i18n.texts().debugger().guessed)
    };
    let switch = move || {
        let options = (0..2).map(|index: usize| SegOption {
            value: index,
            label: Signal::derive(move || i18n.texts().debugger().around_as[index].to_owned()),
        });
        let options = options.collect::<Vec<_>>();
        (has_graph.get() && has_columns.get()).then(|| {
            view! {
                <Segmented
                    label=i18n.label(|t| t.debugger().around)
                    options=options
                    value=Memo::new(move |_| usize::from(!is_graph.get()))
                    on_choose=move |index: usize| {
                        url.set(&[WANTS_COLUMNS.to(index == 1)], History::Replace);
                    }
                />
            }
        })
    };
    view! {
        <section
            class="around"
            aria-label=i18n.text(|t| t.debugger().around)
            hidden=move || !has_graph.get() && !has_columns.get()
        >
            <div class="flex">
                <h3>{i18n.text(|t| t.debugger().around)}</h3>
                <span class="micro ink3 cut grow">{guessed}</span>
                {switch}
            </div>
            <div hidden=move || !is_graph.get()>
                <Embedded has_graph=has_graph />
            </div>
            <div class="columns" hidden=move || is_graph.get()>
                {move || columns(&known.get())}
            </div>
        </section>
    }
}

fn columns(known: &Neighbours) -> AnyView {
    let i18n = use_i18n();
    let texts = i18n.texts().debugger();
    let column = |head: String, all: &[Neighbour]| {
        let all = all.iter().map(node).collect_view();
        view! {
            <div>
                <p class="micro ink3 cut" title=head.clone()>
                    {head.clone()}
                </p>
                {all}
            </div>
        }
        .into_any()
    };
    let layer = known.own.first();
    let layer = layer
        .map(|neighbour| neighbour.layer.clone())
        .unwrap_or_default();
    vec![
        column(texts.upstream.to_owned(), &known.upstream),
        column(layer, &known.own),
        column(texts.downstream.to_owned(), &known.downstream),
    ]
    .into_any()
}

/// Graph, with the recorded tensors of the pressed node.
#[component]
fn Embedded(
    /// `true` if the tensor is in a graph; set by this component.
    has_graph: RwSignal<bool>,
) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let tensor = Memo::new(move |_| {
        let place = model.place.get();
        place.map_or_else(String::new, |(tensor, ..)| tensor)
    });
    let chosen = RwSignal::new(None::<String>);
    let node = query(
        move || Some((model.run.get(), chosen.get()?)),
        |(run, path)| async move {
            client::graph_node(&NodeQuery {
                run,
                node: path,
                ..NodeQuery::default()
            })
            .await
        },
    );
    let told = move || {
        let answer = node.answer.get()?;
        let [nothing, in_graph] = i18n.texts().debugger().of_node;
        let href = route::graph_href(&model.run.get(), Some(&answer.path));
        let is_shown = |tensor: &&NodeTensor| tensor.kind != Kind::Histograms;
        let mut tags: Vec<String> = answer
            .tensors
            .iter()
            .filter(is_shown)
            .map(|tensor| tensor.tag.clone())
            .collect();
        tags.dedup();
        let is_empty = tags.is_empty();
        let links = tags.into_iter().map(|tag| {
            let pressed = tag.clone();
            view! {
                <button
                    type="button"
                    class="link cut"
                    title=tag.clone()
                    on:click=move |_| model.look_at(Some(&pressed))
                >
                    {tag.clone()}
                </button>
            }
        });
        let links = links.collect_view();
        Some(view! {
            <div class="of-node small" role="status">
                <b class="med cut" title=answer.path.clone()>
                    {answer.label.clone()}
                </b>
                <span class="ink3">{answer.op_type.clone()}</span>
                {links}
                {is_empty.then(|| view! { <span class="ink3">{nothing}</span> })}
                <span class="grow"></span>
                <a class="link" href=href>
                    {in_graph}
                </a>
            </div>
        })
    };
    view! {
        <NodeGraph run=model.run tensor=tensor is_there=has_graph chosen=chosen />
        {told}
    }
}

fn node(one: &Neighbour) -> AnyView {
    let model = use_model();
    let i18n = use_i18n();
    let (class, icon) = one.severity.map_or(("okc", IconName::Ok), severity_icon);
    let tensor = one.tensor.clone();
    let is_it = {
        let tensor = tensor.clone();
        move || {
            model
                .place
                .with(|place| place.as_ref().is_some_and(|place| place.0 == tensor))
        }
    };
    let title = match &one.says {
        Some(says) => {
            let colon = i18n.texts().overview().colon;
            format!("{tensor}{colon}{}", i18n.words(says))
        }
        None => tensor.clone(),
    };
    // Name within the layer: the layer's name is displayed above.
    let short = tensor
        .strip_prefix(&one.layer)
        .map(|rest| rest.trim_start_matches(['.', '/', ':']));
    let short = short
        .filter(|rest| !rest.is_empty())
        .unwrap_or(&tensor)
        .to_owned();
    let is_own = model.place.with_untracked(|place| {
        place
            .as_ref()
            .is_some_and(|place| place.0.starts_with(&*one.layer))
    });
    let name = if is_own { short } else { tensor.clone() };
    let is_current = is_it.clone();
    view! {
        <button
            type="button"
            class=format!("node {class}")
            data-severity=one.severity.map_or("none", severity_name)
            class:cur=is_it
            aria-current=move || is_current().to_string()
            title=title
            on:click=move |_| model.look_at(Some(&tensor))
        >
            {fixed_icon(icon, 12)}
            <span class="cut">
                <bdi>{name}</bdi>
            </span>
        </button>
    }
    .into_any()
}
