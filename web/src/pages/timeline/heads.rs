//! Heads at the left: whole trace, unit of the ruler, steps, groups, lanes and counters; wheel over them scrolls.

use super::layout::{COUNTER, Item, Place};
use super::model::{Model, use_model};
use super::scene::counter_at;
use super::times;
use crate::components::{Icon, IconName};
use crate::format;
use crate::i18n::{I18n, use_i18n};
use crate::pixels::pixels;
use crate::prelude::*;

/// Height of a line of a head, CSS pixels.
const LINE: f64 = 16.0;

/// Heads of the strip, the ruler and the steps.
#[component]
pub(super) fn TopHeads() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let has_clock = Memo::new(move |_| model.frame.with(|frame| frame.unix_nanos.is_some()));
    // The time under the pointer takes the place of the unit.
    let clock = move || {
        let texts = &i18n.texts().timeline;
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
            <span class="whole">{i18n.text(|t| t.timeline.whole)}</span>
            <button
                type="button"
                class="unit"
                disabled=move || !has_clock.get()
                aria-label=i18n.text(|t| t.timeline.turn_clock)
                title=i18n.text(|t| t.timeline.turn_clock)
                on:click=move |_| model.turn_clock()
            >
                {clock}
            </button>
            <span class="of-steps">{i18n.text(|t| t.timeline.steps)}</span>
        </div>
    }
}

/// Heads of groups, lanes and counters that are in view.
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
        let unit = [1.0, 16.0, 400.0][event.delta_mode().min(2) as usize];
        model.scroll_by(event.delta_y() * unit);
    };
    view! {
        <div class="heads" on:wheel=on_wheel>
            <div
                class="moved"
                style:transform=move || format!("translateY({}px)", pixels(-model.scroll.get()))
            >
                {heads}
            </div>
        </div>
    }
}

fn head(model: Model, i18n: I18n, place: Place) -> AnyView {
    let (top, height) = (
        format!("{}px", pixels(place.top)),
        format!("{}px", pixels(place.height)),
    );
    let fold = move |name: String, more: Option<String>| {
        let label = {
            let name = name.clone();
            move || {
                let texts = &i18n.texts().timeline;
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
                on:click=move |_| model.turn_item(place.item, place.lane)
            >
                <Icon name=icon size=12 />
                <span class="cut">{name.clone()}</span>
                <span class="micro ink3 cut">{more}</span>
            </button>
        }
    };
    let content = match place.item {
        Item::Pins => {
            view! { <span class="pinned">{i18n.text(|t| t.timeline.pinned)}</span> }.into_any()
        }
        Item::Group(group) => {
            let (name, empty) = model.frame.with_untracked(|frame| {
                let own = frame.groups.get(group);
                own.map_or_else(Default::default, |own| (own.name.clone(), own.empty))
            });
            let texts = &i18n.texts().timeline;
            let empty = (empty > 0).then(|| (texts.empty_lanes)(empty));
            fold(name, empty).into_any()
        }
        Item::Counters => fold(i18n.texts().timeline.counters.to_owned(), None).into_any(),
        Item::Lane {
            group,
            entry,
            is_pinned,
        } => {
            let (name, rows) = model.frame.with_untracked(|frame| {
                let own = frame.groups.get(group).and_then(|own| own.lanes.get(entry));
                own.map_or_else(Default::default, |own| (own.name.clone(), own.rows))
            });
            let lane = place.lane.unwrap_or_default();
            let pin_label = {
                let name = name.clone();
                move || {
                    let texts = &i18n.texts().timeline;
                    let which = if is_pinned { texts.unpin } else { texts.pin };
                    which(&name)
                }
            };
            let title = if rows > 1 {
                fold(name, None).into_any()
            } else {
                view! {
                    <span class="cut plain" title=name.clone()>
                        {name.clone()}
                    </span>
                }
                .into_any()
            };
            view! {
                {title}
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
            .into_any()
        }
        Item::Counter(index) => {
            let name = model.frame.with_untracked(|frame| {
                let own = frame.counters.get(index);
                own.map_or_else(String::new, |own| own.name.clone())
            });
            let value = move || {
                let time = model.view.get().to;
                model.frame.with(|frame| {
                    let own = frame.counters.get(index)?;
                    Some(counter_text(counter_at(own, time)?, &own.unit))
                })
            };
            view! {
                <span class="cut plain" title=name.clone()>
                    {name.clone()}
                </span>
                <span class="value">{value}</span>
            }
            .into_any()
        }
    };
    let class = match place.item {
        Item::Lane { .. } | Item::Counter(_) => "head",
        Item::Group(_) | Item::Counters | Item::Pins => "head group",
    };
    // Names of lanes are in the middle of their first two rows.
    let above = match place.item {
        Item::Lane { .. } | Item::Counter(_) => (place.height.min(COUNTER) - LINE) / 2.0,
        Item::Group(_) | Item::Counters | Item::Pins => 0.0,
    };
    let above = format!("{}px", pixels(above));
    view! {
        <div class=class style:top=top style:height=height style:padding-top=above>
            {content}
        </div>
    }
    .into_any()
}

/// Value of a counter in its unit.
pub(super) fn counter_text(value: f64, unit: &str) -> String {
    match unit {
        "bytes" if value >= 0.0 => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "bytes of a device; `as` saturates"
            )]
            let bytes = value as u64;
            format::bytes(bytes)
        }
        "share" => format::percent(value),
        _ => format::brief(value),
    }
}

#[cfg(test)]
mod tests {
    use super::counter_text;

    #[test]
    fn counters_have_their_unit() {
        assert_eq!(counter_text(0.94, "share"), "94 %");
        assert_eq!(counter_text(2.0, ""), "2");
        assert_eq!(counter_text(f64::NAN, ""), "NaN");
        assert!(counter_text(21.4e9, "bytes").contains("GB"));
    }
}
