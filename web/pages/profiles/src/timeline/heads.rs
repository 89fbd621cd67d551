//! Heads at the left: whole trace, unit of the ruler, steps, groups, lanes and counters; the wheel over them scrolls.

use super::layout::{COUNTER, Item, Place};
use super::model::{Below, Model, use_model};
use std::sync::Arc;

use trainscope_api::timeline::{LaneGroup, TimelineLanes};

use super::counter::{counter_at, counter_text};
use super::times;
use trainscope_web_kit::components::pointer::wheel;
use trainscope_web_kit::components::{Icon, IconButton, IconName};
use trainscope_web_kit::i18n::{I18n, use_i18n};
use trainscope_web_kit::pixels::pixels;
use trainscope_web_kit::prelude::*;

/// Height of a line of a head, CSS pixels.
const LINE: f64 = 16.0;

/// Heads of the strip, the ruler and the steps.
#[component]
pub(super) fn TopHeads() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let has_clock = Memo::new(move |_| model.frame.with(|frame| frame.unix_nanos.is_some()));
    // The time under the pointer replaces the unit.
    let clock = move || {
        let texts = i18n.texts().timeline();
        let width = model.size.get().0;
        let view = model.view.get();
        match model.pointer.get() {
            Some((x, _)) if width > 0.0 => {
                let time = view.time(x, width);
                let step = view.span() / width;
                times::tick_label(time, step, view.to, model.wall.get())
            }
            _ if model.wall.with(Option::is_some) => texts.wall_time.to_owned(),
            _ => texts.session_time.to_owned(),
        }
    };
    view! {
        <div class="top-heads">
            <span class="whole">{i18n.text(|t| t.timeline().whole)}</span>
            <button
                type="button"
                class="unit"
                disabled=move || !has_clock.get()
                title=i18n.text(|t| t.timeline().turn_clock)
                on:click=move |_| model.turn_clock()
            >
                {clock}
            </button>
            <span class="of-steps">{i18n.text(|t| t.timeline().steps)}</span>
        </div>
    }
}

/// Visible heads of groups, lanes and counters.
#[component]
pub(super) fn Heads() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let shown = Memo::new(move |_| {
        let (scroll, height) = (model.scroll.get(), model.size.get().1);
        model.layout.with(|layout| {
            let range = layout.in_view(scroll, height);
            layout.places[range].to_vec()
        })
    });
    let heads = move || {
        let shown = shown.get();
        shown
            .into_iter()
            .map(|place| head(model, i18n, place))
            .collect_view()
    };
    let on_wheel = move |event: web_sys::WheelEvent| {
        event.prevent_default();
        model.scroll_by(wheel(&event).1);
    };
    view! {
        <div class="heads" data-part="heads" on:wheel=on_wheel>
            <div
                class="moved"
                style:transform=move || format!("translateY({}px)", pixels(-model.scroll.get()))
            >
                {heads}
            </div>
        </div>
    }
}

/// The group of a place; an empty one if it no longer exists.
fn group_of(model: Model, place: Place, group: usize) -> LaneGroup {
    let find = |frame: &Arc<TimelineLanes>| frame.groups.get(group).cloned().unwrap_or_default();
    match place.session.checked_sub(1) {
        None => model.frame.with_untracked(find),
        Some(at) => model.others.frames.with_untracked(|all| {
            let found = all.get(at).map(find);
            found.unwrap_or_default()
        }),
    }
}

/// Name and rank of a session below the first one, and a button that closes it.
fn second(model: Model, i18n: I18n, session: usize) -> AnyView {
    let name = move || {
        let sources = model.others.sources.get();
        let source = sources.into_iter().nth(session.checked_sub(1)?)?;
        Some(model.name_of(source, i18n.texts().timeline()))
    };
    view! {
        <span class="cut plain" title=name>
            {name}
        </span>
        <IconButton
            icon=IconName::Close
            size=12
            label=i18n.label(|t| t.timeline().no_second)
            on_press=move || model.set_below(Below::Nothing)
        />
    }
    .into_any()
}

/// A name with a value at the right.
fn measured(name: &str, value: impl Fn() -> Option<String> + Send + Sync + 'static) -> AnyView {
    view! {
        <span class="cut plain" title=name.to_owned()>
            {name.to_owned()}
        </span>
        <span class="value">{value}</span>
    }
    .into_any()
}

fn head(model: Model, i18n: I18n, place: Place) -> AnyView {
    let (top, height) = (
        format!("{}px", pixels(place.top)),
        format!("{}px", pixels(place.height)),
    );
    let fold = move |name: String| {
        let label = {
            let name = name.clone();
            move || {
                let texts = i18n.texts().timeline();
                let which = if place.is_folded {
                    texts.unfold
                } else {
                    texts.fold
                };
                which(&name)
            }
        };
        let icon = if place.is_folded {
            IconName::Right
        } else {
            IconName::Down
        };
        view! {
            <button
                type="button"
                class="fold"
                aria-expanded=(!place.is_folded).to_string()
                aria-label=label
                title=name.clone()
                on:click=move |_| model.turn_place(&place)
            >
                <Icon name=icon size=12 />
                <span class="cut">{name.clone()}</span>
            </button>
        }
    };
    let content = match place.item {
        Item::Pins => {
            view! { <span class="pinned">{i18n.text(|t| t.timeline().pinned)}</span> }.into_any()
        }
        Item::Group(group) => {
            let group = group_of(model, place, group);
            let texts = i18n.texts().timeline();
            let kind = texts.unnamed.iter().find(|(kind, _)| *kind == group.kind);
            let name = kind.filter(|_| group.name.is_empty());
            fold(name.map_or(group.name, |(_, name)| (*name).to_owned())).into_any()
        }
        Item::Empty(group) => {
            let empty = group_of(model, place, group).empty;
            fold((i18n.texts().timeline().empty_lanes)(empty)).into_any()
        }
        Item::EmptyLane { group, entry } => {
            let name = group_of(model, place, group)
                .empty_names
                .get(entry)
                .cloned();
            let name = name.unwrap_or_default();
            view! {
                <span class="cut plain ink3" title=name.clone()>
                    {name.clone()}
                </span>
            }
            .into_any()
        }
        Item::Counters => fold(i18n.texts().timeline().counters.to_owned()).into_any(),
        Item::Curves => fold(i18n.texts().timeline().curves.to_owned()).into_any(),
        Item::Other => second(model, i18n, place.session),
        Item::Curve(index) => {
            let name = model
                .curve_tags
                .with_untracked(|tags| tags.get(index).cloned());
            let name = name.unwrap_or_default();
            let value = move || {
                let time = model.view.get().to;
                let curve = model.curve(index)?;
                let value = counter_at(&curve, time);
                Some(match value {
                    Some(value) => counter_text(value, &curve.unit),
                    None if curve.times_nanos.is_empty() => {
                        i18n.texts().timeline().no_points.to_owned()
                    }
                    None => "–".to_owned(),
                })
            };
            measured(&name, value)
        }
        Item::Lane {
            group,
            entry,
            is_pinned,
        } => {
            let group = group_of(model, place, group);
            let found = group.lanes.get(entry);
            let (name, rows) =
                found.map_or_else(Default::default, |lane| (lane.name.clone(), lane.rows));
            let lane = place.lane.unwrap_or_default();
            let pin_label = {
                let name = name.clone();
                move || {
                    let texts = i18n.texts().timeline();
                    let which = if is_pinned { texts.unpin } else { texts.pin };
                    which(&name)
                }
            };
            let title = if rows > 1 {
                fold(name).into_any()
            } else {
                view! {
                    <span class="cut plain" title=name.clone()>
                        {name.clone()}
                    </span>
                }
                .into_any()
            };
            let pin = (place.session == 0).then(|| {
                view! {
                    <button
                        type="button"
                        class="pin"
                        aria-pressed=is_pinned.to_string()
                        aria-label=pin_label.clone()
                        title=pin_label
                        on:click=move |_| model.turn_pin(lane)
                    >
                        <Icon name=IconName::Pin size=12 />
                    </button>
                }
            });
            view! {
                {title}
                {pin}
            }
            .into_any()
        }
        Item::Counter(index) => {
            let name = model.frame.with_untracked(|frame| {
                let counter = frame.counters.get(index);
                counter.map_or_else(String::new, |counter| counter.name.clone())
            });
            let value = move || {
                let time = model.view.get().to;
                model.frame.with(|frame| {
                    let counter = frame.counters.get(index)?;
                    Some(counter_text(counter_at(counter, time)?, &counter.unit))
                })
            };
            measured(&name, value)
        }
    };
    let class = match place.item {
        Item::Lane { .. } | Item::Counter(_) | Item::Curve(_) => "head",
        Item::Empty(_) | Item::EmptyLane { .. } => "head without",
        Item::Other => "head group second",
        Item::Group(_) | Item::Counters | Item::Curves | Item::Pins => "head group",
    };
    let part = (place.item == Item::Other).then_some("second");
    // Names of lanes are in the middle of their first two rows.
    let above = match place.item {
        Item::Lane { .. } | Item::Counter(_) | Item::Curve(_) => {
            (place.height.min(COUNTER) - LINE) / 2.0
        }
        _ => 0.0,
    };
    let above = format!("{}px", pixels(above));
    view! {
        <div
            class=class
            data-part=part
            style:top=top
            style:height=height
            style:padding-top=above
        >
            {content}
        </div>
    }
    .into_any()
}
