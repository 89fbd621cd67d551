//! Texts of one step: as markdown, as written, as a table; and the steps with search matches.
//!
//! The parsed answer of the server is put on the page node by node: no part of a text becomes markup, and its pictures
//! are not fetched.

use std::sync::Arc;

use leptos::html;
use trainscope_api::markdown::{Markdown, Node, NodeKind};
use trainscope_api::records::At;
use trainscope_charts::label;

use super::settings::Settings;
use trainscope_web_kit::components::browse::SeriesId;
use trainscope_web_kit::components::marked;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::pixels::pixels;
use trainscope_web_kit::prelude::*;

/// Maximum number of listed steps with a match.
const MAX_FOUND: usize = 24;
/// Distance of the first match from the upper edge, in pixels.
const LEAD: f64 = 40.0;

#[component]
pub(super) fn Texts(settings: Settings, record: Option<Arc<At<Markdown>>>) -> impl IntoView {
    let i18n = use_i18n();
    let Some(record) = record else {
        return ().into_any();
    };
    let item = {
        let record = Arc::clone(&record);
        move |index: usize| {
            let find = settings.find.get();
            if settings.is_source.get() {
                let source = record.body.sources.get(index).cloned().unwrap_or_default();
                view! { <pre class="source">{marked(&source, &find)}</pre> }.into_any()
            } else {
                let nodes = record.body.items.get(index).map(Vec::as_slice);
                view! { <div class="md" data-part="markdown">{nodes_view(nodes.unwrap_or_default(), &find)}</div> }
                    .into_any()
            }
        }
    };
    let body = &record.body;
    let (count, is_cut) = (body.items.len(), body.cut);
    let columns = match body.shape.as_slice() {
        _ if count <= 1 => 0,
        [_, columns] => usize::try_from(*columns).unwrap_or(1).max(1),
        _ => 1,
    };
    let whole = move || {
        if columns == 0 {
            return (0..count).map(&item).collect_view().into_any();
        }
        let rows = (0..count.div_ceil(columns)).map(|row| {
            let cells = (row * columns..((row + 1) * columns).min(count))
                .map(|index| view! { <td>{item(index)}</td> })
                .collect_view();
            view! {
                <tr>
                    <th class="micro ink3">{row.to_string()}</th>
                    {cells}
                </tr>
            }
        });
        view! { <table class="texts">{rows.collect_view()}</table> }.into_any()
    };
    let holder = NodeRef::<html::Div>::new();
    Effect::new(move || {
        settings.find.track();
        settings.is_source.track();
        // After the marked text has been rendered.
        request_animation_frame(move || {
            let holder = holder.try_get_untracked().flatten();
            let Some(holder) = holder else { return };
            let first = holder.query_selector("mark").ok().flatten();
            if let Some(first) = first {
                let below = first.get_bounding_client_rect().top()
                    - holder.get_bounding_client_rect().top();
                let line = pixels(below - LEAD) + holder.scroll_top();
                holder.set_scroll_top(line);
            }
        });
    });
    view! {
        <div class="reading" data-part="text" node_ref=holder>
            {whole}
            <Show when=move || is_cut>
                <p class="micro warn">{i18n.text(|t| t.recorded().text_cut)}</p>
            </Show>
        </div>
    }
    .into_any()
}

fn nodes_view(nodes: &[Node], find: &str) -> AnyView {
    let nodes: Vec<AnyView> = nodes.iter().map(|node| node_view(node, find)).collect();
    nodes.into_any()
}

fn node_view(node: &Node, find: &str) -> AnyView {
    let inner = || nodes_view(&node.children, find);
    match node.kind {
        NodeKind::Text => marked(&node.text, find),
        NodeKind::Paragraph => view! { <p>{inner()}</p> }.into_any(),
        NodeKind::H1 => view! { <h4 class="h1">{inner()}</h4> }.into_any(),
        NodeKind::H2 => view! { <h4 class="h2">{inner()}</h4> }.into_any(),
        NodeKind::H3 => view! { <h4>{inner()}</h4> }.into_any(),
        NodeKind::Strong => view! { <b>{inner()}</b> }.into_any(),
        NodeKind::Emphasis => view! { <em>{inner()}</em> }.into_any(),
        NodeKind::Strike => view! { <s>{inner()}</s> }.into_any(),
        NodeKind::Code => view! { <code>{marked(&node.text, find)}</code> }.into_any(),
        NodeKind::Block => view! { <pre>{inner()}</pre> }.into_any(),
        NodeKind::Quote => view! { <blockquote>{inner()}</blockquote> }.into_any(),
        NodeKind::List => view! { <ul>{inner()}</ul> }.into_any(),
        NodeKind::Numbers => view! { <ol>{inner()}</ol> }.into_any(),
        NodeKind::Item => view! { <li>{inner()}</li> }.into_any(),
        NodeKind::Table => view! { <table>{inner()}</table> }.into_any(),
        NodeKind::Row => view! { <tr>{inner()}</tr> }.into_any(),
        NodeKind::Head => view! { <th>{inner()}</th> }.into_any(),
        NodeKind::Cell => view! { <td>{inner()}</td> }.into_any(),
        NodeKind::Link if node.text.is_empty() => inner(),
        NodeKind::Link => view! {
            <a class="link" href=node.text.clone() target="_blank" rel="noopener noreferrer nofollow">
                {inner()}
            </a>
        }
        .into_any(),
        // The URL of the picture is displayed; the page loads nothing from it.
        NodeKind::Picture => view! {
            <span class="ink3" title=node.text.clone()>
                "🖼 "
                {inner()}
            </span>
        }
        .into_any(),
        NodeKind::Rule => view! { <hr /> }.into_any(),
        NodeKind::Break => view! { <br /> }.into_any(),
    }
}

/// The steps of a series with a match, each as a link that moves its card there.
pub(super) fn found(settings: Settings, tag: StoredValue<String>, id: SeriesId) -> AnyView {
    let i18n = use_i18n();
    let key = (tag.get_value(), id);
    let found = move || {
        let found = settings.found.with(|found| found.get(&key).cloned())?;
        let texts = i18n.texts().recorded();
        let summary = (texts.found)(found.steps.len() as u64, found.all.len() as u64);
        let links = found.steps.iter().take(MAX_FOUND).map(|&step| {
            let is_shown = move || {
                let wanted = tag.with_value(|tag| settings.step_of(tag));
                (wanted == Some(step)).then_some("true")
            };
            view! {
                <button
                    type="button"
                    class="link"
                    title=(texts.go_to_step)(&label::step(step))
                    aria-current=is_shown
                    on:click=move |_| {
                        tag.with_value(|tag| settings.set_own(tag, Some(step)));
                    }
                >
                    {label::step(step)}
                </button>
            }
        });
        Some(view! {
            <p class="found micro ink2">
                {summary} " " {links.collect_view()}
                {(found.steps.len() > MAX_FOUND).then_some("…")}
                {found.cut.then_some(texts.find_cut)}
            </p>
        })
    };
    found.into_any()
}
