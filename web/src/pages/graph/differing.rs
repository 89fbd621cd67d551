//! What differs from the graph that this one is compared with.

use leptos::prelude::*;

use super::beside::use_beside;
use super::model::use_model;
use crate::erased::handler;
use crate::i18n::use_i18n;

/// Differences that are listed; the picture shows all of them.
const LISTED: usize = 100;

/// Counts, and nodes that differ, each a way to its box.
#[component]
pub(super) fn Differing() -> impl IntoView {
    let model = use_model();
    let beside = use_beside();
    let i18n = use_i18n();
    move || {
        let diff = model.diff.get()?;
        let texts = &i18n.texts().graph;
        let [added, removed, changed, renamed] = diff.totals;
        let counts = (texts.compared)([added, removed, changed, renamed, diff.same]);
        let here = diff
            .changed
            .iter()
            .chain(&diff.added)
            .take(LISTED)
            .map(|own| {
                let path = own.path.clone();
                view! {
                    <button
                        type="button"
                        class="link cut"
                        title=own.name.clone()
                        on:click=handler(move |_| {
                            if let Some(path) = &path {
                                model.select(path);
                            }
                        })
                    >
                        {short(&own.name)}
                        " "
                        <span class="ink3">{own.what.join(", ")}</span>
                    </button>
                }
            });
        let here = here.collect::<Vec<_>>();
        let gone = diff.removed.iter().take(LISTED).map(|own| {
            let path = own.path.clone();
            view! {
                <button
                    type="button"
                    class="link cut"
                    title=own.name.clone()
                    on:click=handler(move |_| beside.select(path.as_deref()))
                >
                    {short(&own.name)}
                    " "
                    <span class="ink3">{own.op_type.clone()}</span>
                </button>
            }
        });
        let gone = gone.collect::<Vec<_>>();
        let has_gone = !gone.is_empty();
        Some(view! {
            <section class="differing small" aria-label=texts.compare>
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

/// The last two parts of a name, which tell it apart from most others.
fn short(name: &str) -> String {
    let from = name.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    name[from..].to_owned()
}
