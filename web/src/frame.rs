//! The frame around every page: navigation rail, bar, content, notes at the foot, panels at the right.

use leptos::ev;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use trainscope_web_kit::frame_state::{FramePanel, FrameState};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::live::use_live;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::Chunk;

mod bar;
mod news;
mod notes;
mod rail;
mod search;
mod switcher;

use crate::pages::PartOnDemand;
use bar::Bar;
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
        panel: RwSignal::new(None),
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
            state.toggle(FramePanel::Help);
            true
        }
        "." => {
            live.pause(!live.paused.get_untracked());
            true
        }
        _ => false,
    });
    let i18n = use_i18n();
    let is_panel_open = Memo::new(move |_| state.panel.get().is_some());
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
            <div class="content" class:with-panel=is_panel_open>
                <div class="page" id="content" tabindex="-1">
                    {children()} <Notes />
                </div>
                <Show when=move || is_panel_open.get()>
                    <PartOnDemand chunk=Chunk::Panel />
                </Show>
            </div>
        </div>
    }
}
