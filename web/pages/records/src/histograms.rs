//! Distribution of tensor values over steps: one card per tensor, one view for all, and a range of steps.
//!
//! All choices are in the address ([`settings`]). The server rebins and merges steps to the available width; a smaller
//! range has more detail, down to single records.
#![expect(
    clippy::large_types_passed_by_value,
    reason = "signals are handles of a word or two; only debug builds add where each was made"
)]

use trainscope_format::Kind;

use trainscope_web_kit::components::browse::{Browse, DamageNote, Nothing, NothingView, Side};
use trainscope_web_kit::components::{CardGrid, CardSize, IconName, Place, StepRange};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::prelude::*;

mod card;
mod drawing;
mod readout;
mod settings;
mod toolbar;

use card::Card;
use settings::Settings;
use toolbar::Toolbar;

/// The histograms of the run that the address names.
#[component]
pub fn HistogramsPage() -> impl IntoView {
    let i18n = use_i18n();
    let browse = Browse::from_address(&[Kind::Histograms, Kind::Statistics]);
    let settings = Settings::from_address(browse);
    let nothing = Memo::new(move |_| Nothing::of(browse));
    let totals = Signal::derive(move || {
        browse.entries.with(|entries| {
            let points: u64 = entries.iter().map(|entry| entry.points).sum();
            let statistics = entries.iter().map(|entry| entry.statistics).sum();
            (i18n.texts().histograms().totals)(
                entries.len() as u64,
                points - statistics,
                statistics,
            )
        })
    });
    let none = Signal::derive(move || {
        browse
            .shown
            .with(|shown| (i18n.texts().histograms().none)(&shown.join(", ")))
    });
    use_keys(move |key, _| match key {
        "f" => {
            settings.set_range(None);
            true
        }
        "Escape" if settings.full.with_untracked(Option::is_some) => {
            settings.set_full(None);
            true
        }
        _ => false,
    });
    let size = Signal::derive(move || {
        // A card shows several runs side by side.
        if settings.is_divided() && browse.shown.with(|shown| shown.len()) > 1 {
            CardSize::Large
        } else {
            CardSize::Medium
        }
    });
    view! {
        <main class="main flush scalars histograms">
            <Side browse=browse totals=totals />
            <div class="right">
                <Toolbar settings=settings />
                <DamageNote browse=browse />
                {move || match nothing.get() {
                    Some(reason) => {
                        view! {
                            <NothingView
                                browse=browse
                                reason=reason
                                icon=IconName::Histograms
                                none=none
                                none_next=Signal::derive(move || {
                                    i18n.texts().histograms().none_next.to_owned()
                                })
                            />
                        }
                            .into_any()
                    }
                    None => {
                        view! {
                            <CardGrid
                                cards=browse.cards
                                full=settings.full
                                target=browse.target
                                current=Signal::stored(None)
                                size=size
                                is_first_drawn=browse.is_first_drawn()
                                beside=false
                                card=Callback::new(move |place: Place| {
                                    view! { <Card settings=settings tag=place.tag is_in_view=place.is_in_view /> }.into_any()
                                })
                            />
                            <StepRange
                                whole=settings.whole
                                chosen=settings.range
                                on_choose=Callback::new(move |range| settings.set_range(range))
                            />
                        }
                            .into_any()
                    }
                }}
            </div>
        </main>
    }
}
