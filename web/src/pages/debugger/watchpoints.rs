//! What is watched for, with how often it was found. A press leaves the hits of one watchpoint.

use leptos::prelude::*;
use trainscope_api::findings::Watched;
use trainscope_format::float::Float;

use super::model::use_model;
use crate::components::{fixed_icon, severity_icon};
use crate::format;
use crate::i18n::use_i18n;

/// The list at the left.
#[component]
pub(super) fn WatchpointList() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let count = move || {
        model
            .findings
            .with(|findings| findings.watchpoints.len() as u64)
    };
    let origin = move || {
        model
            .findings
            .with(|findings| match &findings.watchpoints_file {
                Some(path) => path.clone(),
                None => i18n.texts().debugger.recommended.to_owned(),
            })
    };
    let problem = move || {
        model
            .findings
            .with(|findings| findings.watchpoints_problem.clone())
    };
    let rows = move || {
        let watchpoints = model.findings.with(|findings| findings.watchpoints.clone());
        // What was found comes first; otherwise in the order of the file.
        let mut numbered: Vec<(u32, Watched)> = (0..).zip(watchpoints).collect();
        numbered.sort_by_key(|(_, own)| (own.hits == 0, std::cmp::Reverse(own.severity)));
        let rows = numbered.into_iter().map(|(index, own)| row(index, &own));
        rows.collect_view()
    };
    view! {
        <aside class="side watchpoints" aria-label=move || i18n.texts().debugger.watchpoints>
            <div class="head flex">
                <h2>{move || i18n.texts().debugger.watchpoints}</h2>
                <span class="micro ink3">{move || format::count(count())}</span>
            </div>
            <ul class="scroll">{rows}</ul>
            <div class="foot small ink2">
                <p title=origin class="cut">{origin}</p>
                {move || problem().map(|problem| view! { <p class="warn">{problem}</p> })}
            </div>
        </aside>
    }
}

fn row(index: u32, own: &Watched) -> impl IntoView + use<> {
    let model = use_model();
    let i18n = use_i18n();
    let limits = own.limits.iter();
    let limits: Vec<String> = limits
        .map(|(name, Float(limit))| format!("{name} {}", format::number(*limit, 3)))
        .collect();
    let (class, icon) = severity_icon(own.severity);
    let hits = own.hits;
    let title = own.title.clone();
    let target = own.target.clone();
    let below = move || {
        let mut words = vec![(i18n.texts().debugger.target)(&target).to_owned()];
        words.extend(limits.iter().cloned());
        words.join(", ")
    };
    view! {
        <li>
            <button
                type="button"
                class="w"
                class:found=move || { hits > 0 }
                aria-pressed=move || (model.watchpoint.get() == Some(index)).to_string()
                title=own.condition.clone()
                on:click=move |_| model.press_watchpoint(index)
            >
                <span class="cut name">{move || i18n.words(&title)}</span>
                {if hits > 0 {
                    view! {
                        <span class=format!("sev {class}")>
                            {fixed_icon(icon, 12)} <b class="med">{format::count(hits)}</b>
                        </span>
                    }
                        .into_any()
                } else {
                    view! { <span class="micro ink3">"0"</span> }.into_any()
                }}
                <span class="s cut">{below}</span>
            </button>
        </li>
    }
}
