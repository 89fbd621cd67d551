//! The list that opens beside a run's name and leads to another run.

use leptos::ev;
use leptos::html::{Details, Input};
use wasm_bindgen::JsCast;

use crate::components::{Icon, IconName, RunChip};
use crate::erased::{Show, handler};
use crate::i18n::use_i18n;
use crate::prelude::*;
use crate::route;
use crate::state::use_runs;

/// Rows that the list shows; more are found by typing.
const ROWS: usize = 50;

/// The switcher of the bar.
#[component]
pub(super) fn Switcher(
    /// The run of this page.
    run: String,
) -> impl IntoView {
    let i18n = use_i18n();
    let runs = use_runs();
    let text = RwSignal::new(String::new());
    let open = RwSignal::new(false);
    let details = NodeRef::<Details>::new();
    let field = NodeRef::<Input>::new();
    let handle = window_event_listener(ev::pointerdown, move |event| {
        let inside = event
            .target()
            .and_then(|target| target.dyn_into::<web_sys::Node>().ok())
            .zip(details.get_untracked())
            .is_some_and(|(target, details)| details.contains(Some(&target)));
        if !inside {
            open.set(false);
        }
    });
    on_cleanup(move || handle.remove());
    let rows = move || {
        let wanted = text.get().to_lowercase();
        let list = runs.get();
        let found = list
            .runs
            .iter()
            .filter(|other| other.id.to_lowercase().contains(&wanted))
            .take(ROWS);
        found
            .map(|other| {
                let current = (other.id == run).then_some("page");
                view! {
                    <li>
                        <a
                            class="hit"
                            href=route::overview_href(&other.id)
                            aria-current=current
                            on:click=handler(move |_| open.set(false))
                        >
                            <RunChip run=other.id.clone() />
                            <span class="cut">{other.id.clone()}</span>
                        </a>
                    </li>
                }
            })
            .collect_view()
    };
    view! {
        <details
            class="switcher"
            node_ref=details
            prop:open=move || open.get()
            on:toggle=handler(move |_| {
                let is_open = details.get_untracked().is_some_and(|details| details.open());
                open.set(is_open);
                if let (true, Some(field)) = (is_open, field.get_untracked()) {
                    // The field is on the page while the list is open.
                    let _ignored = field.focus();
                }
            })
            on:keydown=move |event| {
                if event.key() == "Escape" {
                    open.set(false);
                    event.prevent_default();
                }
            }
        >
            <summary
                class="btn bare icon"
                aria-label=i18n.text(|t| t.frame.switch_run)
                title=i18n.text(|t| t.frame.switch_run)
            >
                <Icon name=IconName::Down size=12 />
            </summary>
            <div class="popover">
                <label class="field">
                    <Icon name=IconName::Search size=14 />
                    <input
                        class="bare-input"
                        type="text"
                        node_ref=field
                        placeholder=i18n.text(|t| t.frame.find_run)
                        aria-label=i18n.text(|t| t.frame.find_run)
                        prop:value=move || text.get()
                        on:input=move |event| text.set(event_target_value(&event))
                    />
                </label>
                <ul class="hits">
                    <Show when=move || open.get()>{rows.clone()}</Show>
                </ul>
            </div>
        </details>
    }
}
