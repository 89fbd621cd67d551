//! Pages of recorded media: images and audio, text, precision-recall curves.
//!
//! They share one layout: runs and tags at the left, one card per tag, and a common step, unless a card has a separate
//! one. Every recorded step can be reached; only cards in view request data.
#![expect(
    clippy::large_types_passed_by_value,
    reason = "signals are handles of a word or two; only debug builds add where each was made"
)]

use trainscope_web_kit::components::browse::{Browse, DamageNote, Nothing, NothingView, Side};
use trainscope_web_kit::components::{CardGrid, CardSize, Place};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::RunPage;

mod audio;
mod card;
mod curve;
mod difference;
mod image;
mod load;
mod pixel;
mod ruler;
mod search;
mod settings;
mod step;
mod text;
mod toolbar;
mod wave;

use card::Card;
use settings::Settings;
use toolbar::Toolbar;

/// Maximum number of text cards with the height of their texts: all are loaded at once.
const MAX_FITTED: usize = 24;

/// Recorded media of the run that the address names.
#[component]
pub fn RecordedPage(
    /// Page of images and audio, of text, or of precision-recall curves.
    page: RunPage,
) -> impl IntoView {
    let i18n = use_i18n();
    let browse = Browse::from_address(page.entry().kinds);
    let settings = Settings::provide(browse, page);
    let nothing = Memo::new(move |_| Nothing::of(browse));
    let totals = Signal::derive(move || {
        browse.entries.with(|entries| {
            let records = entries.iter().map(|entry| entry.points).sum();
            (i18n.texts().recorded().totals)(entries.len() as u64, records)
        })
    });
    let none = Signal::derive(move || {
        let texts = i18n.texts().recorded();
        let runs = browse.shown.with(|shown| shown.join(", "));
        let [images, text, curves] = texts.nouns;
        let noun = match page {
            RunPage::Text => text,
            RunPage::PrCurves => curves,
            _ => images,
        };
        (texts.none)(&runs, noun)
    });
    use_keys(move |key, event| {
        let is_typing = event.target().is_some_and(|target| {
            use wasm_bindgen::JsCast;
            target.has_type::<web_sys::HtmlInputElement>()
        });
        match key {
            "ArrowLeft" | "ArrowRight" if !is_typing => {
                settings.go(key == "ArrowRight");
            }
            " " if page == RunPage::Images && !is_typing => settings.play(),
            "Escape" if settings.full.with_untracked(Option::is_some) => settings.set_full(None),
            _ => return false,
        }
        true
    });
    browse.show_rest();
    let cards = search::cards(settings);
    if page == RunPage::Text {
        search::keep(settings);
    }
    let is_read = move || {
        let runs = browse.shown.with(|shown| shown.len());
        // A single text is read, many are skimmed.
        page == RunPage::Text && (runs > 1 || cards.with(|cards| cards.len() < 2))
    };
    let size = Signal::derive(move || {
        let runs = browse.shown.with(|shown| shown.len());
        let is_wide = match page {
            // A single card fills the page.
            RunPage::PrCurves => cards.with(|cards| cards.len() < 2),
            _ => is_read() || runs > 2,
        };
        if is_wide {
            CardSize::Large
        } else {
            CardSize::Medium
        }
    });
    view! {
        <main class="main flush scalars recorded">
            <Side browse=browse totals=totals />
            <div class="right">
                <Toolbar settings=settings />
                <ruler::Ruler settings=settings />
                <DamageNote browse=browse />
                {move || match nothing.get() {
                    Some(reason) => {
                        view! {
                            <NothingView
                                browse=browse
                                reason=reason
                                icon=page.entry().icon
                                none=none
                                none_next=Signal::derive(move || {
                                    i18n.texts().recorded().none_next.to_owned()
                                })
                            />
                        }
                            .into_any()
                    }
                    None => {
                        view! {
                            <search::NoMatch settings=settings cards=cards />
                            <CardGrid
                                cards=cards
                                full=settings.full
                                target=browse.target
                                current=Signal::stored(None)
                                size=size
                                fits=Signal::derive(move || {
                                    is_read() && cards.with(|cards| cards.len() <= MAX_FITTED)
                                })
                                is_first_drawn=browse.is_first_drawn()
                                beside=false
                                card=Callback::new(move |place: Place| {
                                    view! { <Card settings=settings tag=place.tag /> }.into_any()
                                })
                            />
                        }
                            .into_any()
                    }
                }}
            </div>
        </main>
    }
}
