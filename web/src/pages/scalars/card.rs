//! One card: a tag of all shown runs, asked for in one request, drawn, pointed at, exported.

use std::sync::Arc;
use std::time::Duration;

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use trainscope_charts::geometry::{Geometry, end_of};
use trainscope_charts::label;
use trainscope_charts::overlay::Crosshair;

use super::data::{Loaded, Look, Picture, Want, class_of, x_values};
use super::export;
use super::page::{PageState, Pointer};
use super::readout::{HeadValues, ReadOut};
use super::settings::XChoice;
use crate::client;
use crate::components::{ChartEvents, Figure, Icon, IconButton, IconName, LineChart, use_palette};
use crate::i18n::use_i18n;
use crate::live::use_live;
use crate::run_colour::use_run_colours;

/// Changes of a growing run within this time lead to one request.
const LIVE_PAUSE: Duration = Duration::from_millis(250);
/// Requests are sized in steps of so many points, so that a few pixels more or less ask for nothing new.
const POINTS_STEP: usize = 64;

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

/// Name, scale, values at the crosshair, buttons.
#[component]
fn Head(
    page: PageState,
    tag: StoredValue<String>,
    picture: Memo<Picture>,
    readings: Memo<Option<Vec<Option<super::data::Reading>>>>,
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
        super::settings::YChoice::Linear => None,
        super::settings::YChoice::Log => Some(texts().log.to_lowercase()),
        super::settings::YChoice::Symlog => Some(texts().symlog.to_lowercase()),
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

/// A card's requests: one at a time counts, answers that were overtaken are dropped, the old picture stays.
#[derive(Clone, Copy)]
struct Loading {
    loaded: RwSignal<Arc<Loaded>>,
    is_fetching: RwSignal<bool>,
    is_answered: RwSignal<bool>,
    has_failed: RwSignal<bool>,
    /// The answer without a range, from which a range of time is turned into one of steps.
    outline: RwSignal<Option<(bool, Arc<Loaded>)>>,
    round: StoredValue<u64>,
    is_due: StoredValue<bool>,
}

impl Loading {
    fn start(page: PageState, tag: StoredValue<String>, width: Signal<f64>) -> Self {
        let cached = tag.with_value(|tag| page.cached(tag));
        let loading = Self {
            is_answered: RwSignal::new(cached.is_some()),
            loaded: RwSignal::new(cached.unwrap_or_default()),
            is_fetching: RwSignal::new(false),
            has_failed: RwSignal::new(false),
            outline: RwSignal::new(None),
            round: StoredValue::new(0),
            is_due: StoredValue::new(false),
        };
        let want = Memo::new(move |_| loading.want(page, tag, width));
        Effect::new(move |_| {
            if let Some(want) = want.get() {
                loading.fetch(page, tag, want);
            }
        });
        let live = use_live();
        Effect::new(move |before: Option<u64>| {
            let versions = want.with(|want| {
                let series = want
                    .as_ref()
                    .map(|want| want.series.as_slice())
                    .unwrap_or_default();
                series
                    .iter()
                    .map(|id| live.run_version(&id.run).get())
                    .sum()
            });
            if before.is_some_and(|before| before != versions) {
                loading.fetch_soon(page, tag, want);
            }
            versions
        });
        loading
    }

    fn want(self, page: PageState, tag: StoredValue<String>, width: Signal<f64>) -> Option<Want> {
        let settings = page.settings;
        let entry = tag.with_value(|tag| page.entry(tag))?;
        let x = settings.x.get();
        let width = width.get();
        if width < 1.0 {
            return None;
        }
        let pixels = width * window().device_pixel_ratio();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the width of an element in pixels"
        )]
        let columns = (pixels.clamp(1.0, 16_384.0) as usize).next_multiple_of(POINTS_STEP);
        let mut want = Want {
            series: entry.series,
            points: columns,
            superseded: settings.has_superseded.get(),
            wall_times: x != XChoice::Step,
            ..Want::default()
        };
        if let Some((lo, hi)) = settings.range.get() {
            let steps = match x {
                XChoice::Step => Some(step_range(lo, hi)),
                XChoice::Relative | XChoice::Wall => {
                    let facts = page.facts.get();
                    let outline = self.outline.get();
                    let walls = outline.filter(|(has_walls, _)| *has_walls);
                    walls.and_then(|(_, outline)| {
                        outline.steps_of((lo, hi), &|curve| {
                            let start = facts.get(&curve.id.run).and_then(|facts| facts.start);
                            x_values(curve, x, start)
                        })
                    })
                }
            };
            if let Some((from, to)) = steps {
                // Half a range more on each side, so that lines lead out of the picture.
                let margin = to.saturating_sub(from) / 2 + 1;
                want.from = Some(from.saturating_sub(margin));
                want.to = Some(to.saturating_add(margin));
                want.points = columns * 2;
            }
        }
        Some(want)
    }

    fn fetch(self, page: PageState, tag: StoredValue<String>, want: Want) {
        self.round.update_value(|round| *round += 1);
        let round = self.round.get_value();
        self.is_fetching.set(true);
        let name = tag.get_value();
        spawn_local(async move {
            let answer = client::scalars_many(&want.request(&name)).await;
            // The card may be gone, or something else be wanted meanwhile.
            if self.round.try_get_value() != Some(round) {
                return;
            }
            self.is_fetching.set(false);
            self.has_failed.set(answer.is_err());
            if let Ok(answer) = answer {
                let loaded = Arc::new(Loaded::new(&want.series, answer.series));
                page.keep(&name, &loaded);
                if want.from.is_none() {
                    self.outline
                        .set(Some((want.wall_times, Arc::clone(&loaded))));
                }
                self.loaded.set(loaded);
                self.is_answered.set(true);
            }
        });
    }

    /// Once for all changes within [`LIVE_PAUSE`], and not while an answer is under way.
    fn fetch_soon(self, page: PageState, tag: StoredValue<String>, want: Memo<Option<Want>>) {
        if self.is_due.get_value() {
            return;
        }
        self.is_due.set_value(true);
        set_timeout(
            move || {
                if self.is_due.try_set_value(false).is_some() {
                    return;
                }
                if self.is_fetching.get_untracked() {
                    self.fetch_soon(page, tag, want);
                } else if let Some(want) = want.get_untracked() {
                    self.fetch(page, tag, want);
                }
            },
            LIVE_PAUSE,
        );
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "`as` saturates, which is what a range beyond all steps means"
)]
fn step_range(lo: f64, hi: f64) -> (i64, i64) {
    (lo.floor() as i64, hi.ceil() as i64)
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
fn describe(tag: &str, picture: &Picture, (lo, hi): (f64, f64), i18n: crate::i18n::I18n) -> String {
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
