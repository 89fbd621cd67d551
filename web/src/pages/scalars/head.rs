//! The head of a card: its name, what its lines say, and what else one can do with it.

use leptos::html;
use leptos::prelude::*;

use super::export;
use super::page::PageState;
use super::picture::{Picture, Reading};
use super::readout::HeadValues;
use super::settings::YChoice;
use crate::components::{Icon, IconButton, IconName, use_palette};
use crate::i18n::use_i18n;

/// Name, scale, values at the crosshair, buttons.
#[component]
pub(super) fn Head(
    page: PageState,
    tag: StoredValue<String>,
    picture: Memo<Picture>,
    readings: Memo<Option<Vec<Option<Reading>>>>,
    canvas: NodeRef<html::Canvas>,
    width: Signal<f64>,
) -> impl IntoView {
    let settings = page.settings;
    let i18n = use_i18n();
    let texts = move || &i18n.texts().scalars;
    let is_pinned = Signal::derive(move || {
        page.pins
            .with(|pins| tag.with_value(|tag| pins.contains(tag)))
    });
    let is_full = Signal::derive(move || {
        settings
            .full
            .with(|full| tag.with_value(|tag| full.as_ref() == Some(tag)))
    });
    let scale = move || match settings.y.get() {
        YChoice::Linear => None,
        YChoice::Log => Some(texts().log.to_lowercase()),
        YChoice::Symlog => Some(texts().symlog.to_lowercase()),
    };
    let shared = move || {
        picture.with(|picture| {
            let lines = picture.lines.len() as u64;
            picture.is_shared.then(|| (texts().equal)(lines))
        })
    };
    let toggle_full = move || {
        let wanted = tag.get_value();
        settings.set_full((!is_full.get_untracked()).then_some(&*wanted));
    };
    view! {
        <div class="head">
            <h3 class="cut" title=tag.get_value()>
                {tag.get_value()}
            </h3>
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
            {move || shared().map(|text| view! { <span class="micro ink3 cut">{text}</span> })}
            <span class="grow"></span>
            <HeadValues page=page tag=tag picture=picture readings=readings width=width />
            <span class="acts">
                <IconButton
                    icon=Signal::derive(move || {
                        if is_full.get() { IconName::Close } else { IconName::Full }
                    })
                    size=12
                    label=Signal::derive(move || {
                        if is_full.get() { texts().small } else { texts().full }.to_owned()
                    })
                    on_press=toggle_full
                />
                <Menu page=page tag=tag canvas=canvas />
            </span>
        </div>
    }
}

/// What else one can do with a card.
#[component]
fn Menu(page: PageState, tag: StoredValue<String>, canvas: NodeRef<html::Canvas>) -> impl IntoView {
    let i18n = use_i18n();
    let palette = use_palette();
    let is_open = RwSignal::new(false);
    let holder = NodeRef::<html::Span>::new();
    // Any press elsewhere closes it.
    let handle = window_event_listener(leptos::ev::pointerdown, move |event| {
        let inside = holder.get_untracked().is_some_and(|holder| {
            let target: web_sys::EventTarget = event_target(&event);
            wasm_bindgen::JsCast::dyn_into::<web_sys::Node>(target)
                .is_ok_and(|node| holder.contains(Some(&node)))
        });
        if !inside && is_open.get_untracked() {
            is_open.set(false);
        }
    });
    on_cleanup(move || handle.remove());
    let csv = move |_| {
        is_open.set(false);
        export::csv(page, tag.get_value());
    };
    let png = move |_| {
        is_open.set(false);
        if let Some(canvas) = canvas.get_untracked() {
            let surface = palette.with_untracked(|palette| palette.surface.clone());
            export::png(&canvas, &surface, &tag.get_value());
        }
    };
    let table = move |_| {
        is_open.set(false);
        page.table.set(Some(tag.get_value()));
    };
    view! {
        <span class="menu" node_ref=holder on:keydown=move |event| {
            if event.key() == "Escape" {
                is_open.set(false);
            }
        }>
            <button
                type="button"
                class="btn bare icon"
                aria-haspopup="menu"
                aria-expanded=move || is_open.get().to_string()
                aria-label=move || i18n.texts().scalars.more
                title=move || i18n.texts().scalars.more
                on:click=move |_| is_open.update(|open| *open = !*open)
            >
                <Icon name=IconName::More size=12 />
            </button>
            <Show when=move || is_open.get()>
                <div class="popover card-menu" role="menu">
                    <button type="button" role="menuitem" class="hit" on:click=csv>
                        <Icon name=IconName::Download size=14 />
                        {move || i18n.texts().scalars.download_csv}
                    </button>
                    <button type="button" role="menuitem" class="hit" on:click=png>
                        <Icon name=IconName::Images size=14 />
                        {move || i18n.texts().scalars.download_png}
                    </button>
                    <button type="button" role="menuitem" class="hit" on:click=table>
                        <Icon name=IconName::Tensors size=14 />
                        {move || i18n.texts().scalars.as_table}
                    </button>
                </div>
            </Show>
        </span>
    }
}
