//! Downloads of texts and data as files.

use serde::Serialize;
use serde_json::Value;
use trainscope_format::csv;
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

/// Downloads rows as JSON, or these fields of them as CSV; without fields, all that a row has.
pub fn download_rows<T: Serialize>(
    rows: impl IntoIterator<Item = T>,
    fields: &[&str],
    name: &str,
    is_json: bool,
) {
    let rows = rows.into_iter();
    let rows = rows.filter_map(|row| serde_json::to_value(row).ok());
    let rows: Vec<Value> = rows.collect();
    if is_json {
        let text = Value::Array(rows).to_string();
        download(&text, "application/json", &format!("{name}.json"));
    } else {
        download(&table(&rows, fields), "text/csv", &format!("{name}.csv"));
    }
}

/// Fields of rows as CSV.
fn table(rows: &[Value], fields: &[&str]) -> String {
    let mut fields = fields.to_vec();
    if fields.is_empty() {
        for (field, _) in rows.iter().filter_map(Value::as_object).flatten() {
            if !fields.contains(&&**field) {
                fields.push(field);
            }
        }
    }
    let cell = |value: Option<&Value>| match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) if number.is_f64() => {
            number.as_f64().map_or_else(String::new, csv::number)
        }
        Some(other) => other.to_string(),
    };
    let rows = rows.iter();
    let rows = rows.map(|row| fields.iter().map(|field| cell(row.get(*field))));
    csv::text(&fields, rows)
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
    use serde_json::json;

    use super::{file_name, table};

    #[test]
    fn rows_are_tables_of_chosen_or_all_fields() {
        let rows = [
            json!({"name": "a, \"b\"", "calls": 3, "none": null}),
            json!({"name": "=c", "list": [1, 2], "share": -2.0}),
        ];
        assert_eq!(
            table(&rows, &["calls", "name", "none", "list", "share"]),
            "calls,name,none,list,share\n3,\"a, \"\"b\"\"\",,,\n,'=c,,\"[1,2]\",-2.0\n"
        );
        let row = json!({"step": -3});
        assert_eq!(table(&[row], &[]), "step\n-3\n");
    }

    #[test]
    fn file_names_are_harmless() {
        assert_eq!(file_name("../train/loss"), "_train_loss");
        assert_eq!(file_name("..."), "scalars");
        assert_eq!(file_name("损失"), "损失");
    }
}
