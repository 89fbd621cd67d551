//! The list next to a run's name for switching to another run.

use leptos::ev;
use leptos::html::{Details, Input};
use wasm_bindgen::JsCast;

use trainscope_web_kit::components::{Icon, IconName, RunChip};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::row_after;
use trainscope_web_kit::location::{History, use_address};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;
use trainscope_web_kit::state::use_runs;

/// Maximum number of rows; more are found by typing.
const ROWS: usize = 50;

/// The switcher of the bar.
#[component]
pub(super) fn Switcher(
    /// The run of this page.
    run: String,
) -> impl IntoView {
    let i18n = use_i18n();
    let runs = use_runs();
    let address = use_address();
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
    let chosen = RwSignal::new(0_usize);
    let found = Memo::new(move |_| {
        let wanted = text.get().to_lowercase();
        runs.with(|list| {
            let ids = list.runs.iter().map(|other| &other.id);
            let found = ids.filter(|id| id.to_lowercase().contains(&wanted));
            found.take(ROWS).cloned().collect::<Vec<_>>()
        })
    });
    let on_key = move |event: ev::KeyboardEvent| {
        let count = found.with_untracked(Vec::len);
        let Some(row) = row_after(&event.key(), chosen.get_untracked(), count) else {
            return;
        };
        event.prevent_default();
        chosen.set(row);
        let run = found.with_untracked(|found| found.get(row).cloned());
        if let (Some(run), "Enter") = (run, &*event.key()) {
            open.set(false);
            address.go(&route::overview_href(&run), History::Push);
        }
    };
    let rows = move || {
        let found = found.get();
        let rows = found.into_iter().enumerate().map(|(position, other)| {
            let current = (other == run).then_some("page");
            view! {
                <li
                    role="option"
                    id=format!("switch-{position}")
                    aria-selected=move || (chosen.get() == position).to_string()
                >
                    <a
                        class="hit"
                        href=route::overview_href(&other)
                        aria-current=current
                        on:click=move |_| open.set(false)
                    >
                        <RunChip run=other.clone() />
                        <span class="cut">{other.clone()}</span>
                    </a>
                </li>
            }
        });
        rows.collect_view()
    };
    view! {
        <details
            class="switcher"
            node_ref=details
            prop:open=move || open.get()
            on:toggle=move |_| {
                let is_open = details.get_untracked().is_some_and(|details| details.open());
                open.set(is_open);
                text.set(String::new());
                chosen.set(0);
                if let (true, Some(field)) = (is_open, field.get_untracked()) {
                    // The field exists while the list is open.
                    let _ignored = field.focus();
                }
            }
            on:keydown=move |event| {
                if event.key() == "Escape" {
                    open.set(false);
                    event.prevent_default();
                }
            }
        >
            <summary
                class="btn bare icon"
                aria-label=i18n.text(|t| t.frame().switch_run)
                title=i18n.text(|t| t.frame().switch_run)
            >
                <Icon name=IconName::Down size=12 />
            </summary>
            <div class="popover">
                <label class="field">
                    <Icon name=IconName::Search size=14 />
                    <input
                        class="bare-input"
                        type="text"
                        role="combobox"
                        autocomplete="off"
                        aria-controls="switch-runs"
                        aria-expanded=move || open.get().to_string()
                        aria-activedescendant=move || format!("switch-{}", chosen.get())
                        node_ref=field
                        placeholder=i18n.text(|t| t.frame().find_run)
                        aria-label=i18n.text(|t| t.frame().find_run)
                        prop:value=move || text.get()
                        on:input=move |event| {
                            text.set(event_target_value(&event));
                            chosen.set(0);
                        }
                        on:keydown=on_key
                    />
                </label>
                <ul class="hits" role="listbox" id="switch-runs" aria-label=i18n.text(|t| t.frame().switch_run)>
                    <Show when=move || open.get()>{rows.clone()}</Show>
                </ul>
            </div>
        </details>
    }
}
