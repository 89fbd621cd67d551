//! Differences between the two compared graphs.

use trainscope_api::graphs::NodeDifference;

use super::model::{use_beside, use_model};
use super::shape::short;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Maximum number of listed differences per section; the picture shows all.
const LISTED: usize = 100;

/// Counts, and differing nodes as links to their boxes.
#[component]
pub(super) fn Differing() -> impl IntoView {
    let model = use_model();
    let beside = use_beside();
    let i18n = use_i18n();
    move || {
        let diff = model.diff.get()?;
        let (first, second) = model.pair.get()?;
        let select = move |at: usize, path: &str| match at.checked_sub(1) {
            None => model.select(path),
            Some(slot) => beside[slot].select(Some(path)),
        };
        let texts = i18n.texts().graph();
        let [added, removed, changed, renamed] = diff.totals;
        let counts = (texts.compared)([added, removed, changed, renamed, diff.same]);
        let button = |at: usize, node: &NodeDifference, beside: String| {
            let path = node.path.clone();
            view! {
                <button
                    type="button"
                    class="link cut"
                    title=node.name.clone()
                    on:click=move |_| {
                        if let Some(path) = &path {
                            select(at, path);
                        }
                    }
                >
                    {short(&node.name).to_owned()}
                    " "
                    <span class="ink3">{beside}</span>
                </button>
            }
        };
        let here = diff.changed.iter().chain(&diff.added).take(LISTED);
        let here = here.map(|node| button(first, node, node.what.join(", ")));
        let here = here.collect::<Vec<_>>();
        let gone = diff.removed.iter().take(LISTED);
        let gone = gone.map(|node| button(second, node, node.op_type.clone()));
        let gone = gone.collect::<Vec<_>>();
        let has_gone = !gone.is_empty();
        Some(view! {
            <section class="differing small" aria-label=texts.compare>
                <Pairs />
                <b class="med">{counts}</b>
                <div class="rows">
                    {here}
                    {has_gone.then(|| view! { <h3>{texts.removed}</h3> })}
                    {gone}
                </div>
            </section>
        })
    }
}

/// Choice of two graphs if there are more than two.
#[component]
fn Pairs() -> impl IntoView {
    let model = use_model();
    let beside = use_beside();
    let i18n = use_i18n();
    move || {
        let pairs = model.pairs();
        let now = model.pair.get();
        let name = |at: usize| match at.checked_sub(1) {
            None => model.scene.with(|scene| scene.shown.tag.clone()),
            Some(slot) => {
                let run = model.columns[slot].run.get().unwrap_or_default();
                let tag = beside[slot]
                    .scene
                    .get()
                    .map(|scene| scene.shown.tag.clone());
                match tag {
                    Some(tag) if run == model.run.get() => tag,
                    Some(tag) => format!("{run} · {tag}"),
                    None => run,
                }
            }
        };
        let options = pairs.iter().enumerate().map(|(index, pair)| {
            view! {
                <option value=index.to_string() selected=now == Some(*pair)>
                    {format!("{} ↔ {}", name(pair.0), name(pair.1))}
                </option>
            }
        });
        let options = options.collect::<Vec<_>>();
        (pairs.len() > 1).then(|| {
            view! {
                <select
                    class="field choice"
                    aria-label=i18n.texts().graph().pair
                    on:change=move |event| {
                        let index = event_target_value(&event).parse::<usize>();
                        if let Some(pair) = index.ok().and_then(|index| pairs.get(index)) {
                            model.choose_pair(*pair);
                        }
                    }
                >
                    {options}
                </select>
            }
        })
    }
}
