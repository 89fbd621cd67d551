//! The head of a card: its name, the values of its lines, buttons.

use leptos::html;

use super::card_menu::CardMenu;
use super::choices::{ScaleChoice, XChoice};
use super::page::PageState;
use super::picture::Picture;
use super::reading::Reading;
use super::readout::HeadValues;
use trainscope_web_kit::components::{CardFault, FullButton, IconButton, IconName};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Name, scale, values at the crosshair, buttons.
#[component]
pub(super) fn Head(
    page: PageState,
    tag: StoredValue<String>,
    picture: Memo<Picture>,
    readings: Memo<Option<Vec<Option<Reading>>>>,
    width: Signal<f64>,
    section: NodeRef<html::Section>,
    /// `true` if the last request failed.
    has_failed: Signal<bool>,
) -> impl IntoView {
    let settings = page.settings;
    let i18n = use_i18n();
    let texts = move || i18n.texts().scalars();
    let is_pinned = Signal::derive(move || {
        page.pins
            .with(|pins| tag.with_value(|tag| pins.contains(tag)))
    });
    let is_full = Signal::derive(move || {
        settings
            .full
            .with(|full| tag.with_value(|tag| full.as_ref() == Some(tag)))
    });
    let scale = move || match tag.with_value(|tag| page.y_scale(tag)) {
        ScaleChoice::Linear => None,
        ScaleChoice::Log => Some(texts().log.to_lowercase()),
        ScaleChoice::Symlog => Some(texts().symlog.to_lowercase()),
    };
    let shared = Memo::new(move |_| {
        picture.with(|picture| {
            let runs = picture.runs() as u64;
            // Several writers of one run are one line in its colour.
            (picture.is_shared && runs > 1).then(|| (texts().equal)(runs))
        })
    });
    let toggle_full = move || {
        let wanted = tag.get_value();
        settings.set_full((!is_full.get_untracked()).then_some(&*wanted));
    };
    let is_drawn = Signal::derive(move || picture.with(|picture| !picture.lines.is_empty()));
    let is_own_range = move || tag.with_value(|tag| page.zoom.is_own(tag));
    view! {
        <div class="head">
            <h2 class="cut" title=tag.get_value()>
                {tag.get_value()}
            </h2>
            {move || scale().map(|scale| view! { <span class="micro ink3">{scale}</span> })}
            <IconButton
                icon=IconName::Pin
                size=12
                class="pin"
                pressed=is_pinned
                label=Signal::derive(move || {
                    if is_pinned.get() { texts().unpin } else { texts().pin }.to_owned()
                })
                on_press=move || page.toggle_pin(&tag.get_value())
            />
            <Show when=move || tag.with_value(|tag| settings.is_by_time_instead(tag))>
                <button
                    type="button"
                    class="link micro"
                    title=move || texts().per_epoch_title
                    on:click=move |_| settings.set_x(XChoice::Relative, None)
                >
                    {move || texts().per_epoch}
                </button>
            </Show>
            {move || shared.get().map(|text| view! { <span class="micro ink3 cut aside">{text}</span> })}
            <span class="grow"></span>
            <CardFault has_failed=has_failed is_drawn=is_drawn />
            <Show when=move || !has_failed.get()>
                <HeadValues page=page tag=tag picture=picture readings=readings width=width note=shared />
            </Show>
            <span class="acts">
                <Show when=is_own_range>
                    <IconButton
                        icon=IconName::Fit
                        size=12
                        label=Signal::derive(move || texts().fit_card.to_owned())
                        on_press=move || page.zoom.set(&tag.get_value(), None)
                    />
                </Show>
                <FullButton is_full=is_full on_press=toggle_full />
                <CardMenu page=page tag=tag section=section />
            </span>
        </div>
    }
}
