//! Catalogue of conditions, for new watchpoints.

use leptos::html;
use trainscope_api::watchpoints::Condition;

use super::watching::{Mode, use_watching};
use trainscope_web_kit::components::{IconButton, IconName, fixed_icon, severity_icon};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Conditions grouped by target, in place of the list.
#[component]
pub(super) fn CatalogueList() -> impl IntoView {
    let watching = use_watching();
    let i18n = use_i18n();
    let wanted = RwSignal::new(String::new());
    let field = NodeRef::<html::Input>::new();
    Effect::new(move || {
        if let Some(field) = field.get() {
            // Without the focus, the field can still be clicked.
            let _ignored = field.focus();
        }
    });
    let rows = move || {
        let all = watching.catalogue.get();
        let wanted = wanted.with(|text| text.trim().to_lowercase());
        let has = |condition: &Condition| {
            let texts = [&condition.id, &condition.title.en, &condition.title.zh];
            texts
                .iter()
                .any(|text| text.to_lowercase().contains(&wanted))
        };
        let mut rows = Vec::new();
        let mut target = String::new();
        let all = all.iter().flat_map(|all| &all.conditions);
        for condition in all.filter(|condition| has(condition)) {
            if condition.target != target {
                target.clone_from(&condition.target);
                let head = (i18n.texts().debugger().target)(&target);
                rows.push(view! { <li class="group">{head}</li> }.into_any());
            }
            let (class, icon) = severity_icon(condition.severity);
            let preset = condition.preset.clone();
            let mark = condition
                .is_recommended
                .then(|| i18n.texts().debugger().recommended_mark);
            rows.push(
                view! {
                    <li>
                        <button
                            type="button"
                            class="w"
                            data-condition=condition.id.clone()
                            title=i18n.words(&condition.checks)
                            on:click=move |_| watching.begin(None, preset.clone())
                        >
                            <span class="name">{i18n.words(&condition.title)}</span>
                            <span class=format!("sev {class}")>{fixed_icon(icon, 12)}</span>
                            <span class="s cut">{condition.id.clone()} " " {mark}</span>
                        </button>
                    </li>
                }
                .into_any(),
            );
        }
        rows
    };
    view! {
        <div class="head flex">
            <h2 class="grow">{i18n.text(|t| t.debugger().add)}</h2>
            <IconButton
                icon=IconName::Close
                label=i18n.label(|t| t.debugger().cancel)
                on_press=move || watching.mode.set(Mode::List)
            />
        </div>
        <label class="field find">
            {fixed_icon(IconName::Search, 14)}
            <input
                type="search"
                node_ref=field
                placeholder=i18n.text(|t| t.debugger().find_condition)
                aria-label=i18n.text(|t| t.debugger().find_condition)
                on:input=move |event| wanted.set(event_target_value(&event))
            />
        </label>
        <ul class="scroll">{rows}</ul>
    }
}
