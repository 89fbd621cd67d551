//! Pictures of one step, as the browser decodes them.

use std::sync::Arc;

use leptos::ev;
use trainscope_api::records::{At, Blob, Images};
use trainscope_format::ImageEncoding;
use wasm_bindgen::JsCast;

use super::settings::Settings;
use crate::client;
use crate::erased::handler;
use crate::format;
use crate::i18n::use_i18n;
use crate::prelude::*;

/// All pictures of a record.
#[component]
pub(super) fn Pictures(settings: Settings, record: Option<Arc<At<Images>>>) -> impl IntoView {
    let Some(record) = record else {
        return ().into_any();
    };
    let body = &record.body;
    let said = (body.width, body.height);
    let is_known = body.encoding != ImageEncoding::Unknown;
    let pictures = body.items.iter().map(|item| {
        view! { <Picture settings=settings item=item.clone() said=said is_known=is_known /> }
    });
    view! { <div class="shots">{pictures.collect_view()}</div> }.into_any()
}

/// One picture, and what is wrong with it.
#[component]
fn Picture(settings: Settings, item: Blob, said: (u32, u32), is_known: bool) -> impl IntoView {
    let i18n = use_i18n();
    let address = client::blob_url(&item.id);
    let size = RwSignal::new(None::<(u32, u32)>);
    let is_broken = RwSignal::new(!is_known);
    let on_load = move |event: ev::Event| {
        let image = event
            .target()
            .and_then(|target| target.dyn_into::<web_sys::HtmlImageElement>().ok());
        if let Some(image) = image {
            size.set(Some((image.natural_width(), image.natural_height())));
        }
    };
    let filter = move || {
        let (brightness, contrast) = settings.light.get();
        if (brightness, contrast) == (100, 100) {
            "none".to_owned()
        } else {
            format!("brightness({brightness}%) contrast({contrast}%)")
        }
    };
    let width = move || {
        let zoom = settings.zoom.get();
        let (width, _) = size.get()?;
        (zoom > 0).then(|| {
            let ratio = window().device_pixel_ratio().max(0.25);
            format!("{:.2}px", f64::from(width) * f64::from(zoom) / ratio)
        })
    };
    let caption = move || {
        let texts = i18n.texts().recorded;
        let len = format::bytes(item.len_bytes);
        match size.get() {
            Some((width, height)) if said != (0, 0) && said != (width, height) => {
                let (w, h) = said;
                let other = (texts.other_size)(&format!("{w} × {h}"));
                (format!("{width} × {height} · {len} · {other}"), true)
            }
            Some((width, height)) => (format!("{width} × {height} · {len}"), false),
            None => (len, false),
        }
    };
    let link = address.clone();
    view! {
        <figure class="shot" class:zoomed=move || settings.zoom.get().ge(&1)>
            {move || {
                if is_broken.get() {
                    view! {
                        <p class="no-picture small warn">
                            {i18n.texts().recorded.no_picture} " "
                            <a class="link" href=link.clone() download="">
                                {i18n.texts().recorded.bytes}
                            </a>
                        </p>
                    }
                        .into_any()
                } else {
                    view! {
                        <div class="frame">
                            <img
                                src=address.clone()
                                alt=""
                                loading="lazy"
                                decoding="async"
                                style:filter=filter
                                style:width=width
                                on:load=on_load
                                on:error=handler(move |_| is_broken.set(true))
                            />
                        </div>
                    }
                        .into_any()
                }
            }}
            <figcaption class="micro ink3" class:warn=move || caption().1>
                {move || caption().0}
            </figcaption>
        </figure>
    }
}
