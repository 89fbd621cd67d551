//! Pictures of one step, decoded by the browser, with a read-out of the pixel under the pointer.

use std::sync::Arc;

use leptos::ev;
use leptos::html;
use trainscope_api::records::{At, Blob, Images};
use trainscope_format::ImageEncoding;
use wasm_bindgen::JsCast;

use super::difference::{Comparison, Subtracted};
use super::pixel::{self, Pixels};
use super::settings::Settings;
use trainscope_web_kit::client;
use trainscope_web_kit::components::download::file_name;
use trainscope_web_kit::components::pointer::place_and_size;
use trainscope_web_kit::components::{IconName, fixed_icon, is_enlarged, use_size};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Column and row under the pointer in one picture of a card; the other pictures show the same place.
pub(super) type PixelUnder = RwSignal<Option<(u32, u32)>>;

/// All pictures of a record.
#[component]
pub(super) fn Pictures(
    settings: Settings,
    tag: StoredValue<String>,
    record: Option<Arc<At<Images>>>,
    /// Subtracted record.
    other: Signal<Option<Arc<At<Images>>>>,
    /// Shared by the pictures of a card.
    pointed: PixelUnder,
) -> impl IntoView {
    let Some(record) = record else {
        return ().into_any();
    };
    let body = &record.body;
    let said = (body.width, body.height);
    let encoding = body.encoding;
    let pictures = body.items.iter().enumerate().map(|(index, item)| {
        let name = tag.with_value(|tag| format!("{tag}_{}_{index}", record.step));
        view! {
            <Picture
                settings=settings
                item=item.clone()
                said=said
                encoding=encoding
                name=file_name(&name)
                other=Signal::derive(move || {
                    other.with(|other| other.as_ref()?.body.items.get(index).cloned())
                })
                pointed=pointed
            />
        }
    });
    view! { <div class="shots">{pictures.collect_view()}</div> }.into_any()
}

/// One picture, with its faults.
#[component]
fn Picture(
    settings: Settings,
    item: Blob,
    said: (u32, u32),
    encoding: ImageEncoding,
    /// Name of the downloaded file, without extension.
    name: String,
    /// Subtracted picture.
    other: Signal<Option<Blob>>,
    pointed: PixelUnder,
) -> impl IntoView {
    let i18n = use_i18n();
    let address = client::blob_url(&item.id);
    let size = RwSignal::new(None::<(u32, u32)>);
    let is_broken = RwSignal::new(encoding == ImageEncoding::Unknown);
    let is_black = RwSignal::new(false);
    let image = NodeRef::<html::Img>::new();
    let frame = NodeRef::<html::Div>::new();
    let room = use_size(frame);
    let is_larger = RwSignal::new(false);
    Effect::new(move || {
        room.track();
        size.track();
        settings.zoom.track();
        // After the layout that these changes cause.
        request_animation_frame(move || {
            let image = image.try_get_untracked().flatten();
            let now = image.is_some_and(|image| is_enlarged(&image));
            is_larger.try_set(now);
        });
    });
    // A canvas of the picture, created when the pointer first asks for a value.
    let pixels = LocalValue::new_local(None::<Pixels>);
    let compared = Comparison::default();
    let on_load = move |event: ev::Event| {
        let image = event
            .target()
            .and_then(|target| target.dyn_into::<web_sys::HtmlImageElement>().ok());
        if let Some(image) = image {
            size.set(Some((image.natural_width(), image.natural_height())));
            pixels.set_value(None);
            compared.own_loaded();
            let black = Pixels::of(&image).and_then(|pixels| pixels.is_black());
            is_black.set(black.unwrap_or(false));
        }
    };
    let on_move = move |event: ev::PointerEvent| {
        let at = place_and_size(&event, image).zip(size.get_untracked());
        let Some(((at, shown), natural)) = at else {
            return;
        };
        let place = pixel::under(at, shown, natural);
        if pointed.get_untracked() != place {
            pointed.set(place);
        }
    };
    let reading = move || {
        let place = pointed.get()?;
        let image = image.get()?;
        if pixels.with_value(Option::is_none) {
            pixels.set_value(Pixels::of(&image));
        }
        let value = pixels.with_value(|pixels| pixels.as_ref()?.at(place))?;
        Some(match compared.other_at(place) {
            Some(other) => pixel::difference_text(place, value, other),
            None => pixel::text(place, value),
        })
    };
    let filter = move || {
        let (brightness, contrast) = settings.light.get();
        if (brightness, contrast) == (100, 100) {
            "none".to_owned()
        } else {
            format!("brightness({brightness}%) contrast({contrast}%)")
        }
    };
    let width = Signal::derive(move || {
        let zoom = settings.zoom.get();
        let (width, _) = size.get()?;
        (zoom > 0).then(|| {
            let ratio = window().device_pixel_ratio().max(0.25);
            format!("{:.2}px", f64::from(width) * f64::from(zoom) / ratio)
        })
    });
    let caption = move || {
        let texts = i18n.texts().recorded();
        let len = format::bytes(item.len_bytes);
        if let Some(text) = compared.caption(texts) {
            return text;
        }
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
    let file = format!("{name}{}", extension(encoding));
    let (link, saved, saved_as) = (address.clone(), address.clone(), file.clone());
    view! {
        <figure class="shot" class:zoomed=move || settings.zoom.get().ge(&1)>
            {move || {
                if is_broken.get() {
                    view! {
                        <p class="no-picture small warn">
                            {i18n.texts().recorded().no_picture} " "
                            <a class="link" href=link.clone() download=file.clone()>
                                {i18n.texts().recorded().bytes}
                            </a>
                        </p>
                    }
                        .into_any()
                } else {
                    view! {
                        <div node_ref=frame class="frame" class:subtracted=move || compared.is_painted()>
                            <img
                                node_ref=image
                                class:pixelated=move || is_larger.get()
                                src=address.clone()
                                alt=""
                                loading="lazy"
                                decoding="async"
                                style:filter=filter
                                style:width=move || width.get()
                                on:load=on_load
                                on:error=move |_| is_broken.set(true)
                                on:pointermove=on_move
                                on:pointerleave=move |_| pointed.set(None)
                            />
                            <Subtracted compared=compared image=image other=other width=width />
                        </div>
                    }
                        .into_any()
                }
            }}
            <figcaption class="micro ink3" class:warn=move || caption().1>
                <span class="cut">{move || reading().unwrap_or_else(|| caption().0)}</span>
                <a
                    class="plain"
                    href=saved
                    download=saved_as
                    title=i18n.text(|t| t.recorded().download)
                    aria-label=i18n.text(|t| t.recorded().download)
                >
                    {fixed_icon(IconName::Download, 12)}
                </a>
            </figcaption>
            <p class="micro warn black" role="note" hidden=move || !is_black.get()>
                {i18n.text(|t| t.recorded().all_black)}
            </p>
        </figure>
    }
}

/// File extension with its dot; empty for unknown formats.
const fn extension(encoding: ImageEncoding) -> &'static str {
    match encoding {
        ImageEncoding::Png => ".png",
        ImageEncoding::Jpeg => ".jpg",
        ImageEncoding::Gif => ".gif",
        ImageEncoding::Bmp => ".bmp",
        ImageEncoding::Webp => ".webp",
        ImageEncoding::Unknown => "",
    }
}
