//! Texts of one step: as markdown, as they were written, as a table; and where words are found.
//!
//! What the server has parsed is put on the page node by node: nothing of a text is ever markup, and no picture of it
//! is fetched.

use std::sync::Arc;

use leptos::prelude::*;
use trainscope_api::markdown::{Markdown, Node, NodeKind};
use trainscope_api::paths;
use trainscope_api::records::{At, MAX_RECORDS, Records, RecordsQuery};
use trainscope_charts::label;
use trainscope_format::Text;

use super::settings::Settings;
use crate::client;
use crate::components::Asking;
use crate::components::browse::SeriesId;
use crate::erased::{Show, handler, memo};
use crate::i18n::use_i18n;
use crate::url_state::History;

/// Steps with found words that are listed.
const MOST_FOUND: usize = 24;

/// The texts of a record.
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
                view! { <div class="md">{nodes_view(nodes.unwrap_or_default(), &find)}</div> }
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
    view! {
        <div class="reading">
            {whole}
            <Show when=move || is_cut>
                <p class="micro warn">{i18n.text(|t| t.recorded.text_cut)}</p>
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
        // Its address is said; who wants to see it goes there.
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

/// A text in which the words that are looked for stand out.
fn marked(text: &str, find: &str) -> AnyView {
    let found = places(text, find);
    if found.is_empty() {
        return text.to_owned().into_any();
    }
    let mut parts: Vec<AnyView> = Vec::new();
    let mut at = 0;
    for (from, to) in found {
        let (before, words) = (text.get(at..from), text.get(from..to));
        parts.push(before.unwrap_or_default().to_owned().into_any());
        let words = words.unwrap_or_default().to_owned();
        parts.push(view! { <mark>{words}</mark> }.into_any());
        at = to;
    }
    parts.push(text.get(at..).unwrap_or_default().to_owned().into_any());
    parts.into_any()
}

/// Where words stand in a text, upper or lower case, in bytes.
fn places(text: &str, find: &str) -> Vec<(usize, usize)> {
    if find.is_empty() {
        return Vec::new();
    }
    let pattern = regex_lite::escape(find);
    let regex = regex_lite::RegexBuilder::new(&pattern)
        .case_insensitive(true)
        .build();
    let Ok(regex) = regex else {
        return Vec::new();
    };
    regex
        .find_iter(text)
        .map(|found| (found.start(), found.end()))
        .collect()
}

/// At which steps of a series the words are found, each a link to it.
#[component]
pub(super) fn Found(settings: Settings, tag: StoredValue<String>, id: SeriesId) -> impl IntoView {
    let i18n = use_i18n();
    let run = id.run.clone();
    let want = memo(move || {
        let is_wanted = !settings.find.with(String::is_empty);
        is_wanted.then(|| id.clone())
    });
    let runs = Signal::stored(Arc::new(vec![run]));
    let asking = Asking::start(want, runs, move |id: SeriesId| async move {
        let query = RecordsQuery {
            run: id.run,
            tag: tag.get_value(),
            rank: id.rank,
            points: Some(MAX_RECORDS),
            writer: id.writer,
            ..RecordsQuery::default()
        };
        client::records::<Records<Text>>(paths::TEXT, &query).await
    });
    let found = move || {
        let find = settings.find.get();
        let all = asking.answer.get().filter(|_| !find.is_empty())?;
        let has = |text: &String| !places(text, &find).is_empty();
        let steps: Vec<i64> = all
            .records
            .iter()
            .filter(|record| record.body.items.iter().any(has))
            .map(|record| record.step)
            .collect();
        let texts = i18n.texts().recorded;
        let summary = (texts.found)(steps.len() as u64, all.records.len() as u64);
        let links = steps.iter().take(MOST_FOUND).map(|&step| {
            view! {
                <button
                    type="button"
                    class="link"
                    on:click=handler(move |_| settings.set_step(Some(step), History::Push))
                >
                    {label::step(step)}
                </button>
            }
        });
        Some(view! {
            <p class="found micro ink2">
                {summary} " " {links.collect_view()}
                {(steps.len() > MOST_FOUND).then_some("…")}
                {all.cut.then_some(texts.find_cut)}
            </p>
        })
    };
    view! { {found} }
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn words_are_found_whatever_their_case() {
        assert_eq!(places("Loss and LOSS", "loss"), [(0, 4), (9, 13)]);
        assert_eq!(places("a.b", "."), [(1, 2)]);
        assert!(places("anything", "").is_empty());
        assert_eq!(places("İstanbul x", "x").len(), 1);
    }
}
