//! Pictures minus others: those of another run, or of another step of the same run.

use std::collections::HashMap;
use std::sync::Arc;

use leptos::ev;
use leptos::html;
use trainscope_api::paths;
use trainscope_api::records::{At, Blob, Images};
use wasm_bindgen::JsCast;

use super::load::{SeriesRecord, at_steps};
use super::pixel::Pixels;
use super::settings::{Against, Settings};
use trainscope_web_kit::client;
use trainscope_web_kit::components::browse::SeriesId;
use trainscope_web_kit::components::drawing::put_pixels;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::RecordedTexts;
use trainscope_web_kit::prelude::*;

/// Subtracted records, by the series of the pictures from which they are subtracted.
pub(super) type References = HashMap<SeriesId, Arc<At<Images>>>;

/// References of the records of a card, by the setting in the toolbar.
pub(super) fn references(
    settings: Settings,
    tag: StoredValue<String>,
    shown: Signal<Vec<SeriesRecord<Images>>>,
) -> Signal<References> {
    let want = move || {
        let is_first = match settings.against.get() {
            Some(Against::Previous) => false,
            Some(Against::First) => true,
            Some(Against::Run(_)) | None => return Vec::new(),
        };
        shown.with(|shown| {
            let wanted = shown.iter().filter_map(|one| {
                let step = if is_first {
                    one.first_step
                } else {
                    one.step_before
                };
                Some((one.id.clone(), step?))
            });
            wanted.collect()
        })
    };
    let of_steps = at_steps::<Images>(tag, want, paths::IMAGES);
    Signal::derive(move || match settings.against.get() {
        Some(Against::Run(run)) => shown.with(|shown| of_run(shown, &run)),
        Some(_) => of_steps.get().into_iter().collect(),
        None => References::new(),
    })
}

/// For each record of other runs, the record of `run` with the same rank, or its first one.
fn of_run(shown: &[SeriesRecord<Images>], run: &str) -> References {
    let of_run = || shown.iter().filter(|one| one.id.run == run);
    let others = shown.iter().filter(|one| one.id.run != run);
    let pairs = others.filter_map(|one| {
        let same_rank = of_run().find(|reference| reference.id.rank == one.id.rank);
        let reference = same_rank.or_else(|| of_run().next())?;
        Some((one.id.clone(), Arc::clone(reference.record.as_ref()?)))
    });
    pairs.collect()
}

/// The state of one comparison. `Copy`.
#[derive(Clone, Copy)]
pub(super) struct Comparison {
    /// Counts arrived pictures.
    loaded: RwSignal<u32>,
    /// Pixels of the subtracted picture.
    other: LocalValue<Option<Pixels>>,
    result: RwSignal<Option<Outcome>>,
}

/// Result of a subtraction.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    /// Number of differing pixels, number of all pixels, maximum difference.
    Painted(u64, u64, u8),
    /// The pictures have different sizes.
    OtherSize,
}

impl Default for Comparison {
    fn default() -> Self {
        Self {
            loaded: RwSignal::new(0),
            other: LocalValue::new_local(None),
            result: RwSignal::new(None),
        }
    }
}

impl Comparison {
    /// Notes that the picture has arrived.
    pub(super) fn own_loaded(self) {
        self.loaded.update(|count| *count += 1);
    }

    /// `true` while the difference covers the picture; reactive.
    pub(super) fn is_painted(self) -> bool {
        self.result
            .with(|result| matches!(result, Some(Outcome::Painted(..))))
    }

    /// Red, green, blue and opacity of a pixel of the subtracted picture; reactive.
    pub(super) fn other_at(self, place: (u32, u32)) -> Option<[u8; 4]> {
        self.is_painted().then_some(())?;
        self.other
            .with_value(|other| other.as_ref().and_then(|other| other.at(place)))
    }

    /// Result in a sentence, and whether it is a warning; reactive.
    pub(super) fn caption(self, texts: &RecordedTexts) -> Option<(String, bool)> {
        Some(match self.result.get()? {
            Outcome::Painted(0, ..) => (texts.equal.to_owned(), false),
            Outcome::Painted(differing, pixels, greatest) => {
                let text = (texts.pixels_differ)(
                    &format::count(differing),
                    &format::count(pixels),
                    greatest,
                );
                (text, false)
            }
            Outcome::OtherSize => (texts.sizes_differ.to_owned(), true),
        })
    }
}

/// The difference, drawn over its picture.
#[component]
pub(super) fn Subtracted(
    compared: Comparison,
    image: NodeRef<html::Img>,
    /// Subtracted picture.
    other: Signal<Option<Blob>>,
    /// CSS width of an enlarged picture.
    width: Signal<Option<String>>,
) -> impl IntoView {
    let canvas = NodeRef::<html::Canvas>::new();
    let on_load = move |event: ev::Event| {
        let image = event
            .target()
            .and_then(|target| target.dyn_into::<web_sys::HtmlImageElement>().ok());
        compared
            .other
            .set_value(image.and_then(|image| Pixels::of(&image)));
        compared.loaded.update(|count| *count += 1);
    };
    Effect::new(move || {
        if other.with(Option::is_none) {
            compared.other.set_value(None);
        }
        compared.loaded.track();
        let image = image.get().filter(web_sys::HtmlImageElement::complete);
        let outcome = image.and_then(|image| {
            compared.other.with_value(|other| {
                let other = other.as_ref()?;
                let Some(difference) = Pixels::of(&image)?.minus(other) else {
                    return Some(Outcome::OtherSize);
                };
                put_pixels(&canvas.get()?, difference.width, &difference.painted)?;
                let (differing, pixels) = (difference.differing, difference.pixels);
                Some(Outcome::Painted(differing, pixels, difference.greatest))
            })
        });
        compared.result.set(outcome);
    });
    let address = move || other.with(|other| Some(client::blob_url(&other.as_ref()?.id)));
    view! {
        {move || {
            address().map(|address| view! { <img class="reference" hidden src=address alt="" on:load=on_load /> })
        }}
        <canvas
            node_ref=canvas
            class="difference"
            hidden=move || !compared.is_painted()
            style:width=move || width.get()
        ></canvas>
    }
}
