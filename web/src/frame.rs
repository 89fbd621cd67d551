//! The frame around every page: navigation rail, bar, content, notes at the foot, help at the right.

use leptos::ev;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use trainscope_web_kit::frame_state::FrameState;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::live::use_live;
use trainscope_web_kit::prelude::*;

mod bar;
mod help;
mod news;
mod notes;
mod rail;
mod search;
mod switcher;

use bar::Bar;
use help::HelpPanel;
use news::News;
use notes::Notes;
use rail::Rail;

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
    let i18n = use_i18n();
    let skip = move |event: ev::MouseEvent| {
        // Only the focus moves: the URL is the page's.
        event.prevent_default();
        let content = document().get_element_by_id("content");
        if let Some(content) = content.and_then(|content| content.dyn_into::<HtmlElement>().ok()) {
            let _ignored = content.focus();
        }
    };
    view! {
        <div class="app">
            <a class="skip" href="#content" on:click=skip>
                {i18n.text(|t| t.frame().skip)}
            </a>
            <News />
            <Rail />
            <Bar />
            <div class="content" class:with-panel=move || state.help.get()>
                <div class="page" id="content" tabindex="-1">
                    {children()} <Notes />
                </div>
                <Show when=move || state.help.get()>
                    <HelpPanel />
                </Show>
            </div>
        </div>
    }
}
