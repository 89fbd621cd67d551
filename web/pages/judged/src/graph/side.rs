//! List at the left: the drawn boxes as a tree, or the results of a search.

use std::sync::Arc;

use trainscope_api::graphs::{BoxKind, GraphBox, GraphMatch, GraphScene};
use trainscope_charts::graph::Figure;

use super::differing::Differing;
use super::model::use_model;
use super::shape::is_scope;
use trainscope_web_kit::components::{
    GraphOverview, Icon, IconName, RowHeights, RowList, fixed_icon, marked, severity_icon,
};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Height of a row of the tree, CSS pixels.
const ROW_PIXELS: f64 = 24.0;

/// A row of the tree.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    /// Index in the list.
    at: usize,
    /// Number of enclosing boxes.
    depth: usize,
    graph_box: GraphBox,
}

/// Search, tree, and the counts of nodes, edges and drawn boxes.
#[component]
pub(super) fn Side(figure: Signal<Arc<Figure>>) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    // Index of the result that the keyboard has marked.
    let at = RwSignal::new(0_usize);
    Effect::new(move || {
        model.found.track();
        at.set(0);
    });
    let on_key = move |event: leptos::ev::KeyboardEvent| {
        let found = model.found.get_untracked();
        let Some(found) = found.filter(|found| !found.found.is_empty()) else {
            return;
        };
        let last = found.found.len() - 1;
        match event.key().as_str() {
            "ArrowDown" => at.update(|at| *at = (*at + 1).min(last)),
            "ArrowUp" => at.update(|at| *at = at.saturating_sub(1)),
            "Enter" => {
                if let Some(result) = found.found.get(at.get_untracked()) {
                    model.choose(&result.path);
                }
            }
            _ => return,
        }
        event.prevent_default();
        // After the row has been marked.
        request_animation_frame(|| {
            if let Ok(Some(row)) = document().query_selector(".found[aria-selected=true]") {
                row.scroll_into_view_with_scroll_into_view_options(&nearest());
            }
        });
    };
    let drawn = move || {
        model.scene.with(|scene| {
            let boxes = scene.boxes.len() as u64;
            (i18n.texts().graph().drawn)(scene.total_nodes, scene.total_edges, boxes)
        })
    };
    let is_searching = Memo::new(move |_| model.found.with(Option::is_some));
    let rows = move || {
        if is_searching.get() {
            view! { <Found at=at /> }.into_any()
        } else {
            view! { <Tree /> }.into_any()
        }
    };
    view! {
        <aside class="side">
            <div class="find">
                <label class="field">
                    <Icon name=IconName::Search size=14 />
                    <input
                        class="bare-input"
                        type="search"
                        role="combobox"
                        aria-expanded=move || is_searching.get().to_string()
                        aria-controls="graph-found"
                        aria-activedescendant=move || {
                            is_searching.get().then(|| format!("graph-found-{}", at.get()))
                        }
                        on:keydown=on_key
                        placeholder=i18n.text(|t| t.graph().search)
                        aria-label=i18n.text(|t| t.graph().search)
                        prop:value=move || model.query.get()
                        on:input=move |event| model.query.set(event_target_value(&event))
                    />
                </label>
            </div>
            <Differing />
            {rows}
            <GraphOverview figure=figure view=model.view size=model.size />
            <p class="micro ink3 foot">{drawn}</p>
        </aside>
    }
}

/// Results of a search.
#[component]
fn Found(
    /// Index of the result that the keyboard has marked.
    at: RwSignal<usize>,
) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    move || {
        let found = model.found.get()?;
        let texts = i18n.texts().graph();
        let note = if found.found.is_empty() {
            Some(texts.nothing_found.to_owned())
        } else {
            let shown = found.found.len() as u64;
            found.cut.then(|| (texts.cut)(shown, found.total))
        };
        let words = model.query.get_untracked();
        let rows = found.found.iter().enumerate();
        let rows = rows.map(|(index, result)| found_row(result, index, at, words.trim()));
        let rows = rows.collect_view();
        Some(view! {
            <div class="scroll">
                <div class="tree" id="graph-found" role="listbox" aria-label=texts.search>
                    {rows}
                </div>
                {note.map(|note| view! { <p class="micro ink3 pad">{note}</p> })}
            </div>
        })
    }
}

/// Drawn boxes as a tree.
#[component]
fn Tree() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let depths = Memo::new(move |_| model.scene.with(|scene| depths(&scene.boxes)));
    let list = RowList::new(0.0, move || {
        RowHeights::Equal(depths.with(Vec::len), ROW_PIXELS)
    });
    let seen = Memo::new(move |_| {
        model.scene.with(|scene| {
            depths.with(|depths| {
                let rows = list.rows_of(&scene.boxes).map(|(at, graph_box)| Row {
                    at,
                    depth: depths.get(at).copied().unwrap_or_default(),
                    graph_box: graph_box.clone(),
                });
                rows.collect::<Vec<_>>()
            })
        })
    });
    // A selection made elsewhere is scrolled to, once it is drawn.
    let chosen = Memo::new(move |_| {
        let node = model.node.get()?;
        let is_drawn = |scene: &Arc<GraphScene>| place_of(&node, scene).is_some();
        model.scene.with(is_drawn).then_some(node)
    });
    Effect::new(move || {
        if let Some(node) = chosen.get() {
            // After the layout of the new rows.
            request_animation_frame(move || {
                let place = model
                    .scene
                    .try_with_untracked(|scene| place_of(&node, scene));
                if let Some(Some(at)) = place {
                    list.reveal(at, None);
                }
            });
        }
    });
    view! {
        <div
            class="scroll tree"
            role="tree"
            aria-label=i18n.text(|t| t.graph().tree)
            node_ref=list.holder
            on:scroll=move |_| list.follow()
        >
            <div class="rows" style:height=move || list.height()>
                <For
                    each=move || seen.get()
                    key=|row| (row.graph_box.path.clone(), is_scope(&row.graph_box))
                    children=move |row| tree_row(row, seen, list)
                />
            </div>
        </div>
    }
}

fn nearest() -> web_sys::ScrollIntoViewOptions {
    let options = web_sys::ScrollIntoViewOptions::new();
    options.set_block(web_sys::ScrollLogicalPosition::Nearest);
    options
}

fn place_of(path: &str, scene: &GraphScene) -> Option<usize> {
    scene
        .boxes
        .iter()
        .position(|graph_box| graph_box.path == path)
}

/// Nesting depth of each box.
fn depths(boxes: &[GraphBox]) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(boxes.len());
    for graph_box in boxes {
        let around = graph_box
            .parent
            .and_then(|parent| depths.get(parent as usize));
        depths.push(around.map_or(0, |depth| depth + 1));
    }
    depths
}

/// Row that follows changes of its box: the focus stays on a scope that it opens.
fn tree_row(first: Row, seen: Memo<Vec<Row>>, list: RowList) -> AnyView {
    let model = use_model();
    let i18n = use_i18n();
    let path = first.graph_box.path.clone();
    let (chosen, pressed, toggled) = (path.clone(), path.clone(), path.clone());
    let is_chosen = Memo::new(move |_| model.node.with(|node| node.as_ref() == Some(&chosen)));
    let (is_scope, label) = (is_scope(&first.graph_box), first.graph_box.label.clone());
    let row = Memo::new(move |_| {
        let is_it = |row: &&Row| row.graph_box.path == first.graph_box.path;
        let found = seen.with(|rows| rows.iter().find(is_it).cloned());
        // A row that leaves the list keeps its last content.
        found.unwrap_or_else(|| first.clone())
    });
    let is_open = Memo::new(move |_| row.with(|row| row.graph_box.open));
    let chevron = is_scope.then(|| {
        let scope = toggled.clone();
        let label = move || {
            let texts = i18n.texts().graph();
            let verb = if is_open.get() {
                texts.close
            } else {
                texts.open
            };
            format!("{verb} {scope}")
        };
        let icon = move || {
            let name = if is_open.get() {
                IconName::Down
            } else {
                IconName::Right
            };
            fixed_icon(name, 12)
        };
        view! {
            <button
                type="button"
                class="chevron"
                aria-label=label
                on:click=move |_| model.toggle(&toggled)
            >
                {icon}
            </button>
        }
    });
    let tail = move || {
        row.with(|row| match row.graph_box.severity {
            Some(severity) => {
                let (class, icon) = severity_icon(severity);
                view! { <span class=format!("n {class}")>{fixed_icon(icon, 12)}</span> }.into_any()
            }
            None => view! { <span class="n">{count(&row.graph_box)}</span> }.into_any(),
        })
    };
    view! {
        <div
            class="t"
            class:cur=move || is_chosen.get()
            style:top=move || list.top_of(row.with(|row| row.at))
            style:--d=move || row.with(|row| row.depth.to_string())
            role="treeitem"
            attr:aria-level=move || row.with(|row| (row.depth + 1).to_string())
            aria-expanded=move || is_scope.then(|| is_open.get().to_string())
            aria-selected=move || is_chosen.get().to_string()
        >
            {chevron}
            <button
                type="button"
                class="cut name"
                class:leaf=!is_scope
                title=path
                on:click=move |_| model.choose(&pressed)
            >
                {label}
            </button>
            {tail}
        </div>
    }
    .into_any()
}

/// Number of nodes in a box.
fn count(graph_box: &GraphBox) -> String {
    match graph_box.kind {
        BoxKind::Fold => format!("×{}", graph_box.times),
        BoxKind::Scope => format::count(graph_box.nodes),
        _ => String::new(),
    }
}

fn found_row(result: &GraphMatch, index: usize, at: RwSignal<usize>, words: &str) -> AnyView {
    let model = use_model();
    let path = result.path.clone();
    let severity = result.severity.map(|severity| {
        let (class, icon) = severity_icon(severity);
        view! { <span class=class>{fixed_icon(icon, 12)}</span> }
    });
    view! {
        <button
            type="button"
            class="found"
            id=format!("graph-found-{index}")
            role="option"
            tabindex="-1"
            aria-selected=move || (at.get() == index).to_string()
            title=result.path.clone()
            on:click=move |_| {
                at.set(index);
                model.choose(&path);
            }
        >
            <span class="flex">
                {severity} <b class="med cut">{marked(&result.label, words)}</b>
                <span class="grow"></span>
                <span class="micro ink3">{marked(&result.op_type, words)}</span>
            </span>
            // Cut at the front: names of a graph begin alike.
            <span class="micro ink3 cut front">
                <bdi>{marked(&result.path, words)}</bdi>
            </span>
        </button>
    }
    .into_any()
}
