//! Downloads of a card: every recorded point as CSV, the picture as PNG.

use std::fmt::Write as _;

use leptos::prelude::*;
use leptos::task::spawn_local;
use trainscope_api::scalars::MAX_POINTS;
use wasm_bindgen::JsCast;
use web_sys::HtmlCanvasElement;

use super::data::{Loaded, Want};
use super::page::PageState;
use super::settings::XChoice;
use crate::client;
use crate::components::to_png;

/// Downloads the points of a tag in the shown range, all of them.
pub(super) fn csv(page: PageState, tag: String) {
    let Some(entry) = untrack(|| page.entry(&tag)) else {
        return;
    };
    let settings = page.settings;
    let range = settings.range.get_untracked();
    let steps = range.filter(|_| settings.x.get_untracked() == XChoice::Step);
    let whole = |bound: f64| format!("{bound:.0}").parse().ok();
    let want = Want {
        series: entry.series,
        from: steps.and_then(|(lo, _)| whole(lo.floor())),
        to: steps.and_then(|(_, hi)| whole(hi.ceil())),
        points: MAX_POINTS,
        superseded: settings.has_superseded.get_untracked(),
        wall_times: true,
    };
    spawn_local(async move {
        if let Ok(answer) = client::scalars_many(&want.request(&tag)).await {
            let loaded = Loaded::new(&want.series, answer.series);
            let text = csv_text(&loaded);
            let parts = js_sys::Array::of1(&text.into());
            let options = web_sys::BlobPropertyBag::new();
            options.set_type("text/csv;charset=utf-8");
            if let Ok(blob) = web_sys::Blob::new_with_str_sequence_and_options(&parts, &options) {
                save(&blob, &format!("{}.csv", file_name(&tag)));
            }
        }
    });
}

/// Downloads what a canvas shows.
pub(super) fn png(canvas: &HtmlCanvasElement, surface: &str, tag: &str) {
    let name = format!("{}.png", file_name(tag));
    to_png(canvas, surface, move |blob| save(&blob, &name));
}

/// One row a point. Where a million points were not enough for a series, its rows are buckets with their bounds.
fn csv_text(loaded: &Loaded) -> String {
    let mut text = String::from("run,rank,writer,step,wall_time_secs,value,min,max\n");
    for curve in &loaded.curves {
        let series = &curve.series;
        let run = field(&curve.id.run);
        let writer = field(curve.id.writer.as_deref().unwrap_or_default());
        for (index, (step, value)) in series.steps.iter().zip(&series.values).enumerate() {
            let at = |list: &[f64]| list.get(index).map(f64::to_string).unwrap_or_default();
            let bounds = if series.cut {
                (at(&series.min), at(&series.max))
            } else {
                (String::new(), String::new())
            };
            // Writing to a String does not fail.
            writeln!(
                text,
                "{run},{},{writer},{step},{},{value},{},{}",
                curve.id.rank,
                at(&series.wall_times_secs),
                bounds.0,
                bounds.1
            )
            .unwrap_or_default();
        }
    }
    text
}

/// A text field of RFC 4180. One that a spreadsheet would take for a formula is marked as text.
fn field(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

/// A name for a file, whatever the tag holds.
fn file_name(tag: &str) -> String {
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

fn save(blob: &web_sys::Blob, name: &str) {
    let Ok(url) = web_sys::Url::create_object_url_with_blob(blob) else {
        return;
    };
    let link = document().create_element("a").ok();
    if let Some(link) = link.and_then(|link| link.dyn_into::<web_sys::HtmlAnchorElement>().ok()) {
        link.set_href(&url);
        link.set_download(name);
        link.click();
    }
    // The download has its own hold on the data from the click on.
    let _ignored = web_sys::Url::revoke_object_url(&url);
}

#[cfg(test)]
mod tests {
    use trainscope_api::scalars::Series;

    use super::*;
    use crate::pages::scalars::data::Curve;
    use crate::pages::scalars::tags::SeriesId;

    #[test]
    fn every_value_is_written_and_names_are_text() {
        let loaded = Loaded {
            curves: vec![Curve {
                id: SeriesId {
                    run: "=a,\"b\"".to_owned(),
                    ..SeriesId::default()
                },
                series: Series {
                    steps: vec![1, 2],
                    values: vec![0.1, f64::NAN],
                    min: vec![0.1, f64::NAN],
                    max: vec![0.1, f64::NAN],
                    ..Series::default()
                },
            }],
        };
        assert_eq!(
            csv_text(&loaded),
            "run,rank,writer,step,wall_time_secs,value,min,max\n\
             \"'=a,\"\"b\"\"\",0,,1,,0.1,,\n\
             \"'=a,\"\"b\"\"\",0,,2,,NaN,,\n"
        );
    }

    #[test]
    fn file_names_are_harmless() {
        assert_eq!(file_name("../train/loss"), "_train_loss");
        assert_eq!(file_name("..."), "scalars");
        assert_eq!(file_name("损失"), "损失");
    }
}
