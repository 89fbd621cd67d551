//! The frame around every page: rail, bar, content, notes at the foot, help at the right.

use crate::erased::Show;
use crate::keys::use_keys;
use crate::live::use_live;
use crate::prelude::*;

mod bar;
mod help;
mod notes;
mod rail;
mod search;
mod switcher;

use bar::Bar;
use help::HelpPanel;
use notes::Notes;
use rail::Rail;

/// What is open in the frame.
#[derive(Clone, Copy)]
pub(crate) struct FrameState {
    /// Whether the help panel is open.
    pub(crate) help: RwSignal<bool>,
    /// Grows when the search field should take the focus.
    pub(crate) focus_search: RwSignal<u64>,
    /// Whether the search field covers the bar, where there is no room for both.
    pub(crate) searching: RwSignal<bool>,
}

/// Rail, bar and the page.
#[component]
pub fn Frame(
    /// The page.
    children: Children,
) -> impl IntoView {
    let live = use_live();
    let state = FrameState {
        help: RwSignal::new(false),
        focus_search: RwSignal::new(0),
        searching: RwSignal::new(false),
    };
    provide_context(state);
    use_keys(move |key, _| match key {
        "/" => {
            state.focus_search.update(|count| *count += 1);
            true
        }
        "?" => {
            state.help.update(|open| *open = !*open);
            true
        }
        "." => {
            live.pause(!live.paused.get_untracked());
            true
        }
        _ => false,
    });
    view! {
        <div class="app">
            <Rail />
            <Bar />
            <div class="content" class:with-panel=move || state.help.get()>
                <div class="page">
                    {children()} <Notes />
                </div>
                <Show when=move || state.help.get()>
                    <HelpPanel />
                </Show>
            </div>
        </div>
    }
}
