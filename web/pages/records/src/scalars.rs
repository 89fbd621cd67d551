//! Curves of one or more runs: a panel of runs and tags, a toolbar, and one card per tag.
//!
//! All choices are in the address ([`settings`]), state common to the parts in [`page`]. A [`card`] requests its points
//! when it comes into view, when a range is chosen and when its runs grow.
#![expect(
    clippy::large_types_passed_by_value,
    reason = "signals are handles of a word or two; only debug builds add where each was made"
)]

use trainscope_format::Kind;
use wasm_bindgen::JsCast;

use trainscope_web_kit::components::IconName;
use trainscope_web_kit::components::browse::{Browse, DamageNote, Nothing, NothingView};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::prelude::*;

mod attempts;
mod card;
mod card_menu;
mod choices;
mod data;
mod drawing;
mod export;
mod grid;
mod groups;
mod head;
mod limits;
mod limits_panel;
mod loading;
mod options;
mod page;
mod picture;
mod reading;
mod readout;
mod settings;
mod side;
mod table;
mod toolbar;
mod turns;
mod x_tag;
mod zoom;

use grid::Cards;
use limits_panel::LimitsPanel;
use page::{PageState, Panel};
use settings::Settings;
use side::Side;
use table::TablePanel;
use toolbar::Toolbar;

/// Number of points by which `⇧` with an arrow key moves the crosshair.
const FAR: i32 = 10;

/// The curves of the run that the address names (`trainscope_web_kit::route::use_run`).
#[component]
pub fn ScalarsPage() -> impl IntoView {
    let browse = Browse::from_address(&[Kind::Scalars]);
    let settings = Settings::from_address(browse);
    let page = PageState::provide(browse, settings);
    page.follow_axis();
    page.point_at_target();
    // The target card of a link is framed like the current card of the keyboard.
    Effect::new(move || {
        if let Some(target) = settings.target.get() {
            page.current.set(Some(target));
        }
    });
    use_keys(move |key, event| {
        // Sliders handle arrow keys themselves.
        let is_slider = event
            .target()
            .is_some_and(|target| target.has_type::<web_sys::HtmlInputElement>());
        !(is_slider && key.starts_with("Arrow")) && on_key(page, key, event.shift_key())
    });
    let nothing = Memo::new(move |_| Nothing::of(browse));
    let i18n = use_i18n();
    let none = Signal::derive(move || {
        browse
            .shown
            .with(|shown| (i18n.texts().scalars().none)(&shown.join(", ")))
    });
    view! {
        <main class="main flush scalars">
            <Side />
            <div class="right">
                <Toolbar />
                <DamageNote browse=browse />
                {move || match nothing.get() {
                    Some(reason) => {
                        view! {
                            <NothingView
                                browse=browse
                                reason=reason
                                icon=IconName::Scalars
                                none=none
                                none_next=Signal::derive(move || {
                                    i18n.texts().scalars().none_next.to_owned()
                                })
                            />
                        }
                            .into_any()
                    }
                    None => view! { <Cards /> }.into_any(),
                }}
            </div>
            {move || {
                page.panel
                    .get()
                    .map(|(panel, tag)| match panel {
                        Panel::Table => view! { <TablePanel page=page tag=tag /> }.into_any(),
                        Panel::Limits => view! { <LimitsPanel page=page tag=tag /> }.into_any(),
                    })
            }}
        </main>
    }
}

/// Effect of a zoom key on the range: shift as a fraction of its width, then scale of the width.
fn zoom_key(key: &str) -> Option<(f64, f64)> {
    match key {
        "w" | "+" | "=" => Some((0.0, 0.5)),
        "s" | "-" => Some((0.0, 2.0)),
        "a" => Some((-0.25, 1.0)),
        "d" => Some((0.25, 1.0)),
        _ => None,
    }
}

/// `f` shows everything, arrows move the crosshair, `w a s d` zoom and pan, `z` steps back, `j k` go from card to card
/// (`p` pins it, `o` gives it the page), `Esc` leaves the full page or the crosshair.
fn on_key(page: PageState, key: &str, is_far: bool) -> bool {
    let settings = page.settings;
    match key {
        "f" => page.zoom.fit(),
        "z" if page.zoom.has_before() => page.zoom.back(),
        "ArrowLeft" | "ArrowRight" => {
            if page.pointer.with_untracked(Option::is_none) {
                return page.point_at_end();
            }
            let count = if is_far { FAR } else { 1 };
            let count = if key == "ArrowLeft" { -count } else { count };
            page.key_steps
                .update(|(number, steps)| (*number, *steps) = (*number + 1, count));
        }
        "j" => return page.go_to_card(1),
        "k" => return page.go_to_card(-1),
        "p" | "o" => {
            let Some(tag) = page.current.get_untracked() else {
                return false;
            };
            if key == "p" {
                page.toggle_pin(&tag);
            } else {
                let is_full = settings.full.get_untracked().as_ref() == Some(&tag);
                settings.set_full((!is_full).then_some(&*tag));
            }
        }
        "Escape" if page.panel.with_untracked(Option::is_some) => page.panel.set(None),
        "Escape" if settings.full.with_untracked(Option::is_some) => settings.set_full(None),
        "Escape" if page.pointer.with_untracked(Option::is_some) => page.pointer.set(None),
        "Escape" if page.current.with_untracked(Option::is_some) => page.current.set(None),
        _ => match zoom_key(key) {
            Some(change) => page
                .key_zoom
                .update(|(number, last)| (*number, *last) = (*number + 1, change)),
            None => return false,
        },
    }
    true
}
