//! The list at the left: what is drawn as a tree, or what a search has found.

use leptos::prelude::*;
use trainscope_api::graphs::{BoxKind, GraphBox, GraphFound};

use super::differing::Differing;
use super::model::{is_scope, use_model};
use crate::components::{Icon, IconName, fixed_icon, severity_icon};
use crate::erased::{handler, memo};
use crate::format;
use crate::i18n::use_i18n;

/// Rows of the tree at most: more cannot be looked through, and the search finds them.
const ROWS: usize = 600;

/// Search, tree and what is drawn of how much.
#[component]
pub(super) fn Side() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let drawn = move || {
        model.scene.with(|scene| {
            let boxes = scene.boxes.len() as u64;
            (i18n.texts().graph.drawn)(scene.total_nodes, scene.total_edges, boxes)
        })
    };
    let rows = move || match model.found.get() {
        Some(found) => {
            let texts = &i18n.texts().graph;
            let note = if found.found.is_empty() {
                Some(texts.nothing_found.to_owned())
            } else {
                found
                    .cut
                    .then(|| (texts.cut)(found.found.len() as u64, found.total))
            };
            let rows = found.found.iter().map(found_row).collect_view();
            view! {
                <div class="tree" role="list" aria-label=texts.search>
                    {rows}
                </div>
                {note.map(|note| view! { <p class="micro ink3 pad">{note}</p> })}
            }
            .into_any()
        }
        None => model.scene.with(|scene| {
            let texts = &i18n.texts().graph;
            let mut depths: Vec<usize> = Vec::new();
            let rows = scene.boxes.iter().take(ROWS).map(|own| {
                let around = own.parent.and_then(|parent| depths.get(parent as usize));
                let depth = around.map_or(0, |depth| depth + 1);
                depths.push(depth);
                tree_row(own, depth)
            });
            let rows = rows.collect::<Vec<_>>();
            let more = scene.boxes.len().saturating_sub(ROWS) as u64;
            view! {
                <div class="tree" role="tree" aria-label=texts.tree>
                    {rows}
                </div>
                {(more > 0)
                    .then(|| view! { <p class="micro ink3 pad">{(texts.more_rows)(more)}</p> })}
            }
            .into_any()
        }),
    };
    view! {
        <aside class="side">
            <div class="find">
                <label class="field">
                    <Icon name=IconName::Search size=14 />
                    <input
                        class="bare-input"
                        type="search"
                        placeholder=i18n.text(|t| t.graph.search)
                        aria-label=i18n.text(|t| t.graph.search)
                        prop:value=move || model.query.get()
                        on:input=move |event| model.query.set(event_target_value(&event))
                    />
                </label>
            </div>
            <Differing />
            <div class="scroll">{rows}</div>
            <p class="micro ink3 foot">{drawn}</p>
        </aside>
    }
}

fn tree_row(own: &GraphBox, depth: usize) -> AnyView {
    let model = use_model();
    let i18n = use_i18n();
    let path = own.path.clone();
    let (chosen, pressed, toggled) = (path.clone(), path.clone(), path.clone());
    let is_chosen = memo(move || model.node.with(|node| node.as_ref() == Some(&chosen)));
    let is_open = own.open;
    let chevron = is_scope(own).then(|| {
        let texts = &i18n.texts().graph;
        let label = format!(
            "{} {}",
            if is_open { texts.close } else { texts.open },
            own.path
        );
        view! {
            <button
                type="button"
                class="chevron"
                aria-label=label
                on:click=handler(move |_| model.toggle(&toggled))
            >
                {fixed_icon(if is_open { IconName::Down } else { IconName::Right }, 12)}
            </button>
        }
    });
    let count = match own.kind {
        BoxKind::Fold => format!("×{}", own.times),
        BoxKind::Scope => format::count(own.nodes),
        _ => String::new(),
    };
    let severity = own.severity.map(|severity| {
        let (class, icon) = severity_icon(severity);
        view! { <span class=format!("n {class}")>{fixed_icon(icon, 12)}</span> }
    });
    let tail = match severity {
        Some(severity) => severity.into_any(),
        None => view! { <span class="n">{count}</span> }.into_any(),
    };
    view! {
        <div
            class="t"
            class:cur=move || is_chosen.get()
            style:--d=depth.to_string()
            role="treeitem"
            attr:aria-level=(depth + 1).to_string()
            aria-expanded=is_scope(own).then(|| is_open.to_string())
            aria-selected=move || is_chosen.get().to_string()
        >
            {chevron}
            <button
                type="button"
                class="cut name"
                class:leaf=!is_scope(own)
                title=path
                on:click=handler(move |_| model.select(&pressed))
            >
                {own.label.clone()}
            </button>
            {tail}
        </div>
    }
    .into_any()
}

fn found_row(own: &GraphFound) -> AnyView {
    let model = use_model();
    let path = own.path.clone();
    let severity = own.severity.map(|severity| {
        let (class, icon) = severity_icon(severity);
        view! { <span class=class>{fixed_icon(icon, 12)}</span> }
    });
    view! {
        <button
            type="button"
            class="found"
            role="listitem"
            title=own.path.clone()
            on:click=handler(move |_| model.select(&path))
        >
            <span class="flex">
                {severity} <b class="med cut">{own.label.clone()}</b> <span class="grow"></span>
                <span class="micro ink3">{own.op_type.clone()}</span>
            </span>
            <span class="micro ink3 cut">{own.path.clone()}</span>
        </button>
    }
    .into_any()
}
