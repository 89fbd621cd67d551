//! Curves of one or more runs: a panel of runs and tags, a toolbar, and a card a tag.
//!
//! Everything chosen is in the address ([`settings`]); what the parts share is in [`page`]; a [`card`] asks for its
//! points when it comes into view, when a range is chosen and when its runs grow.
#![expect(
    clippy::large_types_passed_by_value,
    reason = "signals are handles of a word or two; only debug builds add where each was made"
)]

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::components::use_palette;
use crate::keys::use_keys;

mod card;
mod data;
mod export;
mod filter;
mod grid;
mod head;
mod loading;
mod notes;
mod page;
mod picture;
mod readout;
mod selection;
mod settings;
mod side;
mod table;
mod tag_tree;
mod tags;
mod toolbar;
mod tree;

use grid::Cards;
use notes::{DamageNote, Nothing, NothingView};
use page::PageState;
use settings::Settings;
use side::Side;
use table::TablePanel;
use toolbar::Toolbar;

/// Points that `⇧` with an arrow key moves the crosshair by.
const FAR: i32 = 10;

/// The curves of the run that the address names (`crate::route::use_run`).
#[component]
pub fn ScalarsPage() -> impl IntoView {
    // Made here, so that all charts below share it.
    let _palette = use_palette();
    let settings = Settings::from_address();
    let page = PageState::provide(settings);
    page.follow_axis();
    use_keys(move |key, event| {
        // The slider has arrows of its own.
        let is_slider = event
            .target()
            .is_some_and(|target| target.has_type::<web_sys::HtmlInputElement>());
        !(is_slider && key.starts_with("Arrow")) && on_key(page, key, event.shift_key())
    });
    let nothing = Memo::new(move |_| Nothing::of(page));
    view! {
        <main class="main flush scalars">
            <Side />
            <div class="right">
                <Toolbar />
                <DamageNote page=page />
                {move || match nothing.get() {
                    Some(reason) => view! { <NothingView page=page reason=reason /> }.into_any(),
                    None => view! { <Cards /> }.into_any(),
                }}
            </div>
            {move || page.table.get().map(|tag| view! { <TablePanel page=page tag=tag /> })}
        </main>
    }
}

/// `f` shows everything, arrows move the crosshair, `Esc` leaves the full page, then the zoomed range.
fn on_key(page: PageState, key: &str, is_far: bool) -> bool {
    let settings = page.settings;
    match key {
        "f" => settings.set_range(None),
        "ArrowLeft" | "ArrowRight" => {
            if page.pointer.with_untracked(Option::is_none) {
                return page.point_at_end();
            }
            let count = if is_far { FAR } else { 1 };
            let count = if key == "ArrowLeft" { -count } else { count };
            page.key_steps
                .update(|(number, steps)| (*number, *steps) = (*number + 1, count));
        }
        "Escape" if settings.full.with_untracked(Option::is_some) => settings.set_full(None),
        "Escape" if page.pointer.with_untracked(Option::is_some) => page.pointer.set(None),
        _ => return false,
    }
    true
}
