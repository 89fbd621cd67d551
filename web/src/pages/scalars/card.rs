//! One card: a tag of all shown runs, asked for in one request, drawn, pointed at, exported.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use trainscope_charts::geometry::{Geometry, end_of};
use trainscope_charts::label;
use trainscope_charts::overlay::Crosshair;

use super::head::Head;
use super::loading::Loading;
use super::page::{PageState, Pointer};
use super::picture::{Look, Picture, class_of};
use super::readout::ReadOut;
use super::settings::XChoice;
use crate::components::{ChartEvents, Figure, LineChart, use_palette};
use crate::i18n::{I18n, use_i18n};
use crate::run_colour::use_run_colours;

/// The card of a tag.
#[component]
pub(super) fn Card(
    /// Name of the tag.
    tag: String,
    /// Width of cards in CSS pixels.
    #[prop(into)]
    width: Signal<f64>,
) -> impl IntoView {
    let page = PageState::get();
    let settings = page.settings;
    let i18n = use_i18n();
    let tag = StoredValue::new(tag);
    let loading = Loading::start(page, tag, width);
    let picture = use_picture(page, loading);
    let geometry = RwSignal::new(None::<Arc<Geometry>>);
    let canvas = NodeRef::<html::Canvas>::new();

    let range = use_range(page, tag, picture);
    let figure = Signal::derive(move || Figure {
        lines: picture.with(|picture| Arc::clone(&picture.lines)),
        x: range.get(),
        x_kind: settings.x.get().kind(),
        scale: settings.y.get().scale(),
    });
    let readings = Memo::new_with_compare(
        move |_| {
            let x = page.pointer.with(|pointer| pointer.as_ref().map(|p| p.x));
            picture.with(|picture| x.map(|x| picture.readings(x)))
        },
        |_, _| true,
    );
    let crosshair = Signal::derive(move || {
        let x = page.pointer.with(|pointer| pointer.as_ref().map(|p| p.x))?;
        let readings = readings.get().unwrap_or_default();
        let dots = picture.with(|picture| {
            let found = readings.iter().flatten();
            let dots = found.filter_map(|r| Some((r.smoothed, picture.lines.get(r.line)?.colour)));
            dots.collect()
        });
        Some(Crosshair {
            x,
            text: x_text(settings.x.get(), x),
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
        select: Callback::new(move |range| settings.set_range(Some(range))),
        fit: Callback::new(move |()| settings.set_range(None)),
    };
    let text = Signal::derive(move || {
        picture.with(|picture| tag.with_value(|tag| describe(tag, picture, range.get(), i18n)))
    });
    let is_empty = move || {
        loading.is_answered.get() && picture.with(|picture| picture.is_empty_in(range.get()))
    };
    view! {
        <section
            class="card scalar-card"
            class:fetching=move || loading.is_fetching.get()
            data-tag=tag.get_value()
            aria-label=tag.get_value()
        >
            <Head page=page tag=tag picture=picture readings=readings canvas=canvas width=width />
            <div class="body">
                <LineChart
                    figure=figure
                    label=text
                    crosshair=crosshair
                    geometry=geometry
                    canvas=canvas
                    events=events
                />
                <Show when=move || is_pointed.get()>
                    <ReadOut page=page picture=picture readings=readings geometry=geometry />
                </Show>
                <Show when=is_empty>
                    <p class="on-plot">{move || i18n.texts().scalars.no_points}</p>
                </Show>
                <Show when=move || loading.has_failed.get()>
                    <p class="on-plot warn">{move || i18n.texts().scalars.card_failed}</p>
                </Show>
            </div>
        </section>
    }
}

fn use_picture(page: PageState, loading: Loading) -> Memo<Picture> {
    let settings = page.settings;
    let palette = use_palette();
    let colours = use_run_colours();
    let i18n = use_i18n();
    Memo::new_with_compare(
        move |_| {
            let facts = page.facts.get();
            let palette = palette.get();
            let loaded = loading.loaded.get();
            let whole = loading.outline.get().map(|(_, outline)| outline);
            settings.own.with(|own| {
                let look = Look {
                    x: settings.x.get(),
                    smoothing: settings.smoothing.get(),
                    span: settings.range.get().map(|(lo, hi)| hi - lo),
                    has_band: settings.has_band.get(),
                    own,
                    colour: &|run| {
                        let colour = colours.get(run);
                        // Dashes only where they tell two lines of this card apart.
                        let has_twin = || {
                            let mut others =
                                loaded.curves.iter().map(|curve| curve.id.run.as_str());
                            others.any(|other| {
                                let other = (other != run).then(|| colours.get(other));
                                other.is_some_and(|other| other.number == colour.number)
                            })
                        };
                        (palette.run(colour), colour.pattern && has_twin())
                    },
                    is_live: &|run| facts.get(run).is_some_and(|facts| facts.is_live),
                    start: &|run| facts.get(run).and_then(|facts| facts.start),
                    inf_at: i18n.texts().scalars.inf_at,
                };
                Picture::new(Arc::clone(&loaded), whole, &look)
            })
        },
        |_, _| true,
    )
}

/// The range of x that is drawn.
fn use_range(
    page: PageState,
    tag: StoredValue<String>,
    picture: Memo<Picture>,
) -> Memo<(f64, f64)> {
    let settings = page.settings;
    Memo::new(move |_| {
        if let Some(range) = settings.range.get() {
            return range;
        }
        let x = settings.x.get();
        let (lo, hi) = if x == XChoice::Step {
            let entry = tag.with_value(|tag| page.entry(tag));
            entry.map_or((0.0, 1.0), |entry| page.steps_of(&entry))
        } else {
            picture.with(Picture::extent).unwrap_or((0.0, 1.0))
        };
        let is_live = picture.with(|picture| picture.lines.iter().any(|line| line.is_live));
        // Points may be newer than the list of tags that the range comes from.
        let last = picture
            .with(Picture::extent)
            .map_or(hi, |(_, last)| hi.max(last));
        (lo, end_of(lo, last, x.kind(), is_live))
    })
}

/// The place of the crosshair, in words of the axis.
pub(super) fn x_text(x: XChoice, at: f64) -> String {
    match x {
        XChoice::Step => label::fixed(at, 0),
        XChoice::Relative => label::duration(at, 1.0),
        XChoice::Wall => crate::format::moment(at)
            .split_once(' ')
            .map(|(_, clock)| clock.to_owned())
            .unwrap_or_default(),
    }
}

/// What a canvas says: "train/loss, 3 lines, step 0 to 3,000; fp16: NaN from 412 to 1,184".
fn describe(tag: &str, picture: &Picture, (lo, hi): (f64, f64), i18n: I18n) -> String {
    let texts = &i18n.texts().scalars;
    let x = PageState::get().settings.x.get();
    let first = if x == XChoice::Step {
        (texts.at_step)(&x_text(x, lo))
    } else {
        x_text(x, lo)
    };
    let mut text = (texts.canvas)(tag, picture.lines.len() as u64, &first, &x_text(x, hi));
    for curve in &picture.loaded.curves {
        for stretch in picture.stretches(curve).into_iter().take(3) {
            let (_, class) = class_of(stretch.class);
            let (first, last) = (
                label::step(stretch.first_step),
                label::step(stretch.last_step),
            );
            let what = (texts.non_finite)(class, &first, &last);
            text.push_str("; ");
            text.push_str(&(texts.canvas_part)(&curve.id.label(), &what));
        }
    }
    text
}
