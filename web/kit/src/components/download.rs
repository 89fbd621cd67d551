//! Downloads of texts and data as files.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Blob, HtmlCanvasElement, HtmlImageElement};

use super::chart::{blank, encode};
use crate::prelude::*;

/// Maximum side of a canvas in browsers, pixels.
const MAX_PIXELS: f64 = 16_000.0;

/// Downloads a text.
pub fn download(text: &str, media_type: &str, name: &str) {
    if let Some(blob) = blob(text, media_type) {
        save(&blob, name);
    }
}

/// Downloads an SVG as PNG, two pixels per unit.
pub fn download_png(svg: &str, name: String) {
    let Some(address) = blob(svg, "image/svg+xml").and_then(|blob| address_of(&blob)) else {
        return;
    };
    let Ok(image) = HtmlImageElement::new() else {
        return;
    };
    let (drawn, source) = (image.clone(), address.clone());
    let on_load = Closure::once_into_js(move || {
        let (width, height) = (f64::from(drawn.width()), f64::from(drawn.height()));
        let scale = 2.0_f64.min(MAX_PIXELS / width.max(height).max(1.0));
        if let Some(canvas) = canvas_of(&drawn, width * scale, height * scale) {
            encode(&canvas, move |blob| save(&blob, &name));
        }
        release(&source);
    });
    image.set_onload(Some(on_load.unchecked_ref()));
    image.set_src(&address);
}

fn canvas_of(image: &HtmlImageElement, width: f64, height: f64) -> Option<HtmlCanvasElement> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sides of a picture, at most MAX_PIXELS"
    )]
    let (canvas, context) = blank(width as u32, height as u32)?;
    context
        .draw_image_with_html_image_element_and_dw_and_dh(image, 0.0, 0.0, width, height)
        .ok()?;
    Some(canvas)
}

fn blob(text: &str, media_type: &str) -> Option<Blob> {
    let parts = js_sys::Array::of1(&text.into());
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(media_type);
    Blob::new_with_str_sequence_and_options(&parts, &options).ok()
}

fn address_of(blob: &Blob) -> Option<String> {
    web_sys::Url::create_object_url_with_blob(blob).ok()
}

fn release(address: &str) {
    // A revoked URL is no longer valid.
    let _ignored = web_sys::Url::revoke_object_url(address);
}

/// Downloads data.
pub fn save(blob: &Blob, name: &str) {
    let Some(address) = address_of(blob) else {
        return;
    };
    let link = document().create_element("a").ok();
    if let Some(link) = link.and_then(|link| link.dyn_into::<web_sys::HtmlAnchorElement>().ok()) {
        link.set_href(&address);
        link.set_download(name);
        link.click();
    }
    // The download keeps a reference since the click.
    release(&address);
}

/// A safe file name for any tag.
pub fn file_name(tag: &str) -> String {
    let cleaned: String = tag
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') {
                c
            } else {
                '_'
            }
        })
        .take(120)
        .collect();
    let cleaned = cleaned.trim_start_matches('.');
    if cleaned.is_empty() {
        "scalars".to_owned()
    } else {
        cleaned.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn file_names_are_harmless() {
        assert_eq!(file_name("../train/loss"), "_train_loss");
        assert_eq!(file_name("..."), "scalars");
        assert_eq!(file_name("损失"), "损失");
    }
}
