//! Debugger page: watchpoints, hits in data-flow order, and the tensor of the selected hit at its step.
//!
//! The address holds filter, watchpoint and hit: a link leads to the same hit.

use std::time::Duration;

use trainscope_web_kit::components::{IconName, StatePage};
use trainscope_web_kit::frames::after_paint;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;
use trainscope_web_kit::route;

mod around;
mod catalogue;
mod cause;
mod curve;
mod editor;
mod history;
mod hits;
mod in_timeline;
mod inspector;
mod model;
mod numbers;
mod peek;
mod picture;
mod session;
mod steps;
mod watching;
mod watchpoints;

use around::Around;
use cause::Cause;
use hits::Hits;
use inspector::Inspector;
use model::Model;
pub use session::SessionBar;
use watching::{Mode, WatchpointsState};
use watchpoints::WatchpointList;

/// Maximum time for which the watchpoint list waits for the findings.
const PATIENCE: Duration = Duration::from_millis(500);

/// Debugger of the run in the address.
#[component]
pub fn DebuggerPage() -> impl IntoView {
    let model = Model::provide();
    let i18n = use_i18n();
    let watching = WatchpointsState::provide(model.run);
    let is_listed = move || watching.mode.get_untracked() == Mode::List;
    use_keys(move |key, _| match key {
        "Escape" if !is_listed() => {
            watching.mode.set(Mode::List);
            true
        }
        // While a form is open, letters are not commands.
        _ if !is_listed() => false,
        "j" => model.move_by(1),
        "k" => model.move_by(-1),
        "e" => {
            let hit = model.selected.get_untracked();
            let index = hit.and_then(|hit| usize::try_from(hit.watchpoint).ok());
            if let Some(index) = index {
                watching.edit(index);
            }
            index.is_some()
        }
        _ => false,
    });
    // Findings come first. The list is built while they are requested. The other panels follow once the findings are
    // painted, the watchpoints after `PATIENCE` at the latest.
    let (is_asked, is_painted) = (RwSignal::new(false), RwSignal::new(false));
    set_timeout(
        move || {
            // The page may have been left.
            is_asked.try_set(true);
        },
        Duration::ZERO,
    );
    Effect::new(move || {
        if model.load.get() == Load::Ready(true) {
            after_paint(move || {
                is_painted.try_set(true);
            });
        }
    });
    let is_late = RwSignal::new(false);
    set_timeout(
        move || {
            is_late.try_set(true);
        },
        PATIENCE,
    );
    let is_list_due = Signal::derive(move || is_painted.get() || is_late.get());
    let is_loading =
        Memo::new(move |_| matches!(model.load.get(), Load::Loading | Load::Failed(_)));
    // New watchpoints restart the judgement; the open panels stay.
    let was_judged = Memo::new(move |before: Option<&(String, bool)>| {
        let run = model.run.get();
        let was_judged =
            before.is_some_and(|(last_run, was_judged)| *last_run == run && *was_judged);
        (run, was_judged || model.load.get() == Load::Ready(true))
    });
    let is_waiting =
        Memo::new(move |_| model.load.get() == Load::Ready(false) && !was_judged.get().1);
    let scalars = move || route::scalars_href(&model.run.get(), &[], None);
    view! {
        {move || match (is_waiting.get(), is_asked.get()) {
            (true, _) => {
                view! {
                    <main class="main">
                        <StatePage
                            icon=IconName::Clock
                            title=i18n.label(|t| t.debugger().waiting)
                            next=Signal::derive(move || {
                                i18n.texts().debugger().waiting_next.to_owned()
                            })
                        >
                            <div class="acts">
                                <a class="btn" href=scalars>
                                    {i18n.text(|t| t.panel().open_scalars)}
                                </a>
                            </div>
                        </StatePage>
                    </main>
                }
                    .into_any()
            }
            (false, false) => view! { <main class="main" aria-busy="true"></main> }.into_any(),
            (false, true) => {
                view! {
                    <main class="main flush debugger" aria-busy=move || is_loading.get().to_string()>
                        <WatchpointList is_due=is_list_due />
                        <section
                            class="mid"
                            style:visibility=move || is_loading.get().then_some("hidden")
                        >
                            <Cause />
                            <Hits />
                            <Show when=move || is_painted.get()>
                                <Around />
                            </Show>
                        </section>
                        <Show when=move || is_painted.get()>
                            <Inspector />
                        </Show>
                    </main>
                }
                    .into_any()
            }
        }}
    }
}
