//! The picture: pixels with the drawing above them; pointer and wheel.

use std::sync::Arc;

use leptos::html;
use trainscope_charts::timeline::Picture;

use super::drag::{Band, Drag, Effect as DragEffect, Room, band_at};
use super::heads::{Heads, TopHeads};
use super::ink::use_paint;
use super::model::{Model, use_model};
use super::overlay::{self, Overlay, TOP};
use super::scene::{Below, Scene};
use super::times;
use trainscope_web_kit::components::drawing::put_pixels;
use trainscope_web_kit::components::pointer::{capture, place, wheel, zoom_factor};
use trainscope_web_kit::components::{Ticket, use_size};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::pixels::pixels;
use trainscope_web_kit::prelude::*;

/// Width of the heads of lanes, CSS pixels; the style sheet has the same.
pub(super) const HEADS: f64 = 132.0;
/// Width of the read-out, CSS pixels; without this room at the right it is at the left of the pointer.
const READ_OUT: f64 = 260.0;

/// A cell under the pointer.
#[derive(Clone, Debug, PartialEq)]
struct Reading {
    name: Arc<str>,
    length: i64,
    count: u32,
}

/// Canvases, heads and read-out.
#[component]
pub(super) fn Stage() -> impl IntoView {
    let model = use_model();
    let holder = NodeRef::<html::Div>::new();
    let pixel_canvas = NodeRef::<html::Canvas>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let measured = use_size(holder);
    Effect::new(move || {
        let (width, height, dpr) = measured.get();
        let size = ((width - HEADS).max(0.0), (height - TOP).max(0.0), dpr);
        if model.size.get_untracked() != size {
            model.size.set(size);
        }
    });
    draw(model, pixel_canvas, canvas);
    view! {
        <div class="stage" node_ref=holder>
            <canvas class="pixels" aria-hidden="true" node_ref=pixel_canvas></canvas>
            <Surface canvas />
            <TopHeads />
            <Heads />
            <ReadOut />
        </div>
    }
}

/// Draws whenever something changes: pixels and the drawing above them in one frame.
fn draw(model: Model, pixel_canvas: NodeRef<html::Canvas>, canvas: NodeRef<html::Canvas>) {
    let i18n = use_i18n();
    let paint = use_paint();
    let ticket = Ticket::unique();
    let picture = StoredValue::new(Picture::default());
    // `true` if the pixels are those of another view.
    let is_stale = StoredValue::new(true);
    let frames = Memo::new(move |_| Arc::new(model.frames()));
    let job = move || {
        let (Some(pixel_canvas), Some(canvas)) = (
            pixel_canvas.try_get_untracked().flatten(),
            canvas.try_get_untracked().flatten(),
        ) else {
            return;
        };
        let paint = paint.get_untracked();
        let dpr = model.size.get_untracked().2;
        with_scene(model, |scene| {
            let ticks = times::ticks(scene.view, scene.width);
            if is_stale.get_value() {
                is_stale.set_value(false);
                picture.update_value(|picture| {
                    scene.paint(picture, dpr, &paint.pixels, &ticks.times);
                    // A canvas without a context cannot be drawn on.
                    let _ignored = put_pixels(&pixel_canvas, picture.size().0, picture.bytes());
                });
            }
            let slice = model.slice.answer.get_untracked();
            let slice = slice.filter(|_| model.selected.with_untracked(Option::is_some));
            let area = model.dragged.get_untracked();
            let area = area.or_else(|| model.area.get_untracked());
            let found = model.found.answer.get_untracked();
            let tags = model.curve_tags.get_untracked();
            let curves = untrack(|| {
                (0..tags.len())
                    .map(|index| model.curve(index))
                    .collect::<Vec<_>>()
            });
            let frames = frames.get_untracked();
            let path = model.path.answer.get_untracked();
            let path = path.filter(|_| model.has_path.get_untracked());
            let overlay = Overlay {
                path: path.as_ref().map_or(&[][..], |path| &path.segments),
                frames: if frames.is_empty() {
                    Vec::new()
                } else {
                    scene.frames(|name, index| frames.has(name, index))
                },
                scene,
                paint: &paint,
                texts: untrack(|| i18n.texts().timeline()),
                frame: &model.frame.get_untracked(),
                others: &model.others.frames.get_untracked(),
                curves: &curves,
                ticks: &ticks,
                wall: model.wall.get_untracked(),
                slice: slice.as_deref(),
                area: area.as_ref(),
                matches: found.as_ref().map_or(&[][..], |found| &found.by_pixel),
                hits: &model.hits.get_untracked(),
                marks: &model.marks.all.get_untracked(),
            };
            overlay::draw(&canvas, &overlay, dpr);
        });
    };
    let ask = move || {
        let (width, height, _) = model.size.get_untracked();
        if width >= 1.0 && height >= 1.0 {
            ticket.ask_first(job);
        }
    };
    Effect::new(move || {
        model.size.track();
        model.view.track();
        model.scroll.track();
        model.layout.track();
        model.version.track();
        model.others.shifts.track();
        paint.track();
        is_stale.set_value(true);
        ask();
    });
    Effect::new(move || {
        model.frame.track();
        model.wall.track();
        model.hits.track();
        model.marks.all.track();
        model.selected.track();
        model.slice.answer.track();
        model.area.track();
        model.dragged.track();
        model.found.answer.track();
        model.curves.answer.track();
        model.has_path.track();
        model.path.answer.track();
        frames.track();
        // The language.
        i18n.locale();
        ask();
    });
    on_cleanup(move || ticket.give_up());
}

/// The upper canvas, which takes pointer and wheel.
#[component]
fn Surface(canvas: NodeRef<html::Canvas>) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let drag = StoredValue::new(None::<Drag>);
    let room = move || Room {
        width: model.size.get_untracked().0,
        extent: model.extent.get_untracked(),
    };
    let follow = move |effect: DragEffect| match effect {
        DragEffect::None => {}
        DragEffect::Show { view, scroll } => {
            model.set_view(view);
            model.scroll_by(scroll - model.scroll.get_untracked());
        }
        DragEffect::Select(area) => model.dragged.set(Some(area)),
    };
    let on_down = move |event: web_sys::PointerEvent| {
        let Some(at) = place(&event, canvas).filter(|_| event.button() < 2) else {
            return;
        };
        // Touch pans: it has no other gesture for that.
        let is_pan = event.shift_key() || event.button() == 1 || event.pointer_type() == "touch";
        let (view, scroll) = (model.view.get_untracked(), model.scroll.get_untracked());
        let press = Drag::new(at, is_pan, view, scroll, room());
        follow(press.begin());
        drag.set_value(Some(press));
        capture(&event, canvas);
    };
    let on_move = move |event: web_sys::PointerEvent| {
        let at = place(&event, canvas);
        model.pointer.set(at);
        let (Some(mut press), Some(at)) = (drag.get_value(), at) else {
            return;
        };
        let effect = model
            .layout
            .with_untracked(|layout| press.moved(at, room(), layout));
        drag.set_value(Some(press));
        follow(effect);
    };
    let on_up = move |event: web_sys::PointerEvent| {
        let Some(press) = drag.get_value() else {
            return;
        };
        drag.set_value(None);
        if let Some(area) = model.dragged.get_untracked() {
            model.dragged.set(None);
            model.set_area(Some(&area));
        } else if let Some(at) = place(&event, canvas).filter(|_| !press.has_moved) {
            click(model, at);
        }
    };
    let on_wheel = move |event: web_sys::WheelEvent| {
        let Some(at) = place(&event, canvas) else {
            return;
        };
        event.prevent_default();
        let (dx, dy) = wheel(&event);
        let width = model.size.get_untracked().0.max(1.0);
        if event.shift_key() || dx.abs() > dy.abs() {
            let by = if dx.abs() > dy.abs() { dx } else { dy };
            model.pan(by / width);
        } else {
            model.zoom(zoom_factor(dy), at.0 / width);
        }
    };
    let label = move || {
        let texts = i18n.texts().timeline();
        let view = model.rested.get();
        let lanes = model.layout.with(|layout| layout.lane_count() as u64);
        let stretch = times::stretch(view.from, view.to, None);
        model
            .frame
            .with(|frame| (texts.picture)(lanes, frame.steps.len() as u64, &stretch))
    };
    view! {
        <canvas
            class="over"
            node_ref=canvas
            role="img"
            aria-label=label
            on:pointerdown=on_down
            on:pointermove=on_move
            on:pointerup=on_up
            on:pointercancel=move |_| {
                drag.set_value(None);
                model.dragged.set(None);
            }
            on:pointerleave=move |_| model.pointer.set(None)
            on:wheel=on_wheel
        ></canvas>
        <p class="sr-only" role="status">
            {move || model.announcement(i18n)}
        </p>
    }
}

/// Selects the step or the slice at a place, or clears the selection.
fn click(model: Model, at: (f64, f64)) {
    match band_at(at.1) {
        Band::Strip => {}
        Band::Ruler => model.set_area(None),
        Band::Steps => {
            let width = model.size.get_untracked().0;
            let time = model.view.get_untracked().time(at.0, width);
            let step = model.frame.with_untracked(|frame| {
                let after = frame
                    .steps
                    .partition_point(|step| step.begin_nanos as f64 <= time);
                let step = frame.steps.get(after.checked_sub(1)?)?;
                (step.end_nanos as f64 >= time).then_some(*step)
            });
            if let Some(step) = step {
                model.choose_step(step.begin_nanos, step.end_nanos);
            }
        }
        Band::Lanes => {
            let cell = with_scene(model, |scene| scene.hit(at.0, at.1 - TOP));
            // A slice of another session cannot be selected; the read-out has its name and length.
            if cell.is_some_and(|(row, _)| row.session > 0) {
                return;
            }
            let cell = cell.map(|(_, cell)| cell);
            model.news.set(String::new());
            model.merged.set(cell.map(|cell| (cell.index, cell.count)));
            model.select(cell.map(|cell| cell.index));
        }
    }
}

/// Looks at the current view and its data.
fn with_scene<T>(model: Model, look: impl FnOnce(&Scene<'_>) -> T) -> T {
    let (width, height, _) = model.size.get_untracked();
    let layout = model.layout.get_untracked();
    let (frames, shifts) = (
        model.others.frames.get_untracked(),
        untrack(|| model.shifts()),
    );
    model.cache.with_value(|cache| {
        model.others.caches.with_value(|caches| {
            let below = caches.iter().zip(&frames).zip(&shifts);
            let below = below.map(|((cache, frame), shift)| Below {
                cache,
                shift: *shift,
                extent: frame.extent_nanos as f64,
            });
            look(&Scene {
                others: &below.collect::<Vec<_>>(),
                view: model.view.get_untracked(),
                scroll: model.scroll.get_untracked(),
                width,
                height,
                layout: &layout,
                cache,
            })
        })
    })
}

/// Crosshair, and name and length of the cell under the pointer.
#[component]
fn ReadOut() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let at = Memo::new(move |_| {
        model
            .pointer
            .get()
            .filter(|at| band_at(at.1) != Band::Strip && model.dragged.with(Option::is_none))
    });
    let reading = Memo::new(move |_| {
        let at = at.get().filter(|at| band_at(at.1) == Band::Lanes)?;
        model.version.track();
        model.view.track();
        model.scroll.track();
        with_scene(model, |scene| {
            let (row, cell) = scene.hit(at.0, at.1 - TOP)?;
            Some(Reading {
                name: scene.session(row.session).0.name(cell.name),
                length: cell.length,
                count: cell.count,
            })
        })
    });
    let cross = move || {
        let (x, _) = at.get()?;
        let left = format!("{}px", pixels(HEADS + x));
        Some(view! { <i class="cross-line" aria-hidden="true" style:left=left></i> })
    };
    let tip = move || {
        let (reading, (x, y)) = (reading.get()?, at.get()?);
        let (width, height, _) = model.size.get();
        let place = |at: f64| format!("{}px", pixels(at));
        let is_right = x + READ_OUT > width;
        let (left, right) = if is_right {
            (None, Some(place(width - x + 14.0)))
        } else {
            (Some(place(HEADS + x + 14.0)), None)
        };
        let is_low = y + 60.0 > height + TOP;
        let top = place(if is_low { y - 56.0 } else { y + 14.0 });
        let texts = i18n.texts().timeline();
        let count = (reading.count > 1).then(|| (texts.one_of)(u64::from(reading.count)));
        Some(view! {
            <div class="tip" aria-hidden="true" style:left=left style:right=right style:top=top>
                <div class="cut">{reading.name.to_string()}</div>
                <div class="ink3">
                    {times::length(reading.length)} {count.map(|count| format!(" · {count}"))}
                </div>
            </div>
        })
    };
    view! {
        {cross}
        {tip}
    }
}
