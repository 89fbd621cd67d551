//! One card: a tag of all shown runs, with its request, drawing, pointer and export.

use std::sync::Arc;

use leptos::html;
use trainscope_charts::geometry::Geometry;
use trainscope_charts::overlay::Crosshair;

use super::drawing::{Pens, describe, figure_of, picture_of, whole_range, x_text};
use super::head::Head;
use super::loading::CardRequests;
use super::page::{PageState, Pointer};
use super::readout::ReadOut;
use super::zoom::within;
use trainscope_web_kit::components::{ChartEvents, Figure, LineChart, Place};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// The card of a tag.
#[component]
pub(super) fn Card(place: Place) -> impl IntoView {
    let Place {
        tag,
        width,
        is_in_view,
    } = place;
    let page = PageState::get();
    let settings = page.settings;
    let i18n = use_i18n();
    let tag = StoredValue::new(tag);
    let zoomed = Memo::new(move |_| tag.with_value(|tag| page.zoom.range(tag)));
    let zoomed = Place::follow(is_in_view, zoomed);
    let loading = CardRequests::start(page, tag, zoomed, width);
    let pens = Pens::get();
    let picture = Memo::new_with_compare(
        move |_| {
            let whole = loading.outline.get().map(|(_, outline)| outline);
            let loaded = loading.loaded.get();
            tag.with_value(|tag| picture_of(page, pens, tag, loaded, whole, zoomed.get()))
        },
        |_, _| true,
    );
    let geometry = RwSignal::new(None::<Arc<Geometry>>);
    let canvas = NodeRef::<html::Canvas>::new();

    let range = Memo::new(move |_| {
        zoomed.get().unwrap_or_else(|| {
            picture.with(|picture| tag.with_value(|tag| whole_range(page, tag, picture)))
        })
    });
    let figure = Memo::new_with_compare(
        move |_| {
            let x = range.get();
            picture.with(|picture| tag.with_value(|tag| figure_of(page, tag, picture, x)))
        },
        |before, now| match (before, now) {
            (Some(before), Some(now)) => !Figure::is_like(before, now),
            _ => true,
        },
    );
    let readings = Memo::new_with_compare(
        move |_| {
            let x = tag.with_value(|tag| page.pointer_x(tag));
            picture.with(|picture| x.map(|x| picture.readings(x)))
        },
        |_, _| true,
    );
    let crosshair = Signal::derive(move || {
        if !is_in_view.get() {
            return None;
        }
        let x = tag.with_value(|tag| page.pointer_x(tag))?;
        let readings = readings.get().unwrap_or_default();
        let dots = picture.with(|picture| {
            let found = readings.iter().flatten();
            let dots = found.filter_map(|r| Some((r.smoothed, picture.lines.get(r.line)?.colour)));
            dots.collect()
        });
        Some(Crosshair {
            x,
            text: x_text(tag.with_value(|tag| settings.x_of(tag)), x),
            dots,
        })
    });
    let is_pointed = Memo::new(move |_| {
        page.pointer.with(|pointer| {
            pointer
                .as_ref()
                .is_some_and(|pointer| tag.with_value(|tag| *tag == pointer.tag))
        })
    });
    let hover = move |x: Option<f64>| {
        let nearest = x.and_then(|x| picture.with_untracked(|picture| picture.nearest(x)));
        let pointer = nearest.map(|x| Pointer {
            x,
            tag: tag.get_value(),
        });
        if page.pointer.with_untracked(|before| *before != pointer) {
            page.pointer.set(pointer);
        }
    };
    Effect::new(move |before: Option<u64>| {
        let (number, count) = page.key_steps.get();
        let pointer = page.pointer.get_untracked();
        let mine = pointer.filter(|_| is_pointed.get_untracked());
        if let (Some(pointer), true) = (mine, before.is_some_and(|before| before != number)) {
            let next = picture.with_untracked(|picture| picture.beside(pointer.x, count));
            if let Some(x) = next {
                page.pointer.set(Some(Pointer { x, ..pointer }));
            }
        }
        number
    });
    let events = ChartEvents {
        hover: Callback::new(hover),
        select: Callback::new(move |range| tag.with_value(|tag| page.zoom.set(tag, Some(range)))),
        view: Callback::new(move |range: (f64, f64)| {
            tag.with_value(|tag| {
                let whole = untrack(|| picture.with(|picture| whole_range(page, tag, picture)));
                page.zoom.go(tag, within(range, whole));
            });
        }),
        fit: Callback::new(move |()| tag.with_value(|tag| page.zoom.set(tag, None))),
    };
    Effect::new(move |before: Option<u64>| {
        let (number, (by, factor)) = page.key_zoom.get();
        let is_mine = untrack(|| tag.with_value(|tag| page.key_card().as_ref() == Some(tag)));
        if is_mine && before.is_some_and(|before| before != number) {
            let axis =
                geometry.with_untracked(|layout| layout.as_ref().map(|layout| layout.x.axis));
            let pointer = page.pointer.get_untracked().map(|pointer| pointer.x);
            if let Some(axis) = axis {
                let around = pointer.and_then(|x| axis.fraction(x)).unwrap_or(0.5);
                let around = around.clamp(0.0, 1.0);
                let (lo, hi) = (
                    around - around * factor + by,
                    around + (1.0 - around) * factor + by,
                );
                events.view.run((axis.value(lo), axis.value(hi)));
            }
        }
        number
    });
    let is_full = Signal::derive(move || {
        tag.with_value(|tag| settings.full.with(|full| full.as_ref() == Some(tag)))
    });
    let section = NodeRef::<html::Section>::new();
    let text = Signal::derive(move || {
        picture
            .with(|picture| tag.with_value(|tag| describe(page, tag, picture, range.get(), i18n)))
    });
    let is_empty = move || {
        loading.is_answered.get()
            && !loading.has_failed.get()
            && picture.with(|picture| picture.is_empty_in(range.get()))
    };
    let why_empty = move || {
        let texts = i18n.texts().scalars();
        match settings
            .x_tag
            .get()
            .filter(|_| page.zoom.shared().is_none())
        {
            Some(x) => (texts.no_x)(&x),
            None => texts.no_points.to_owned(),
        }
    };
    let is_current = move || {
        let current = page.current.get();
        tag.with_value(|tag| current.as_ref() == Some(tag))
    };
    view! {
        <section
            class="card scalar-card"
            class:current=is_current
            aria-current=move || is_current().then_some("true")
            node_ref=section
            class:fetching=move || loading.is_awaited.get()
            data-tag=tag.get_value()
            aria-label=tag.get_value()
        >
            <Head
                page=page
                tag=tag
                picture=picture
                readings=readings
                width=width
                section=section
                has_failed=loading.has_failed.into()
            />
            <div class="body">
                <LineChart
                    figure=figure
                    label=text
                    crosshair=crosshair
                    geometry=geometry
                    canvas=canvas
                    events=events
                    wheel_zooms=is_full
                />
                <Show when=move || is_pointed.get()>
                    <ReadOut page=page tag=tag picture=picture readings=readings geometry=geometry />
                </Show>
                <Show when=is_empty>
                    <p class="on-plot">{why_empty}</p>
                </Show>
            </div>
        </section>
    }
}
