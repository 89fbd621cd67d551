//! What changes all cards: axes, smoothing, envelopes, the zoomed range.

use std::time::Duration;

use leptos::prelude::*;
use trainscope_charts::label;

use super::card::x_text;
use super::page::PageState;
use super::settings::{MOST_SMOOTHING, XChoice, YChoice};
use crate::components::{Check, Icon, IconButton, IconName, SegOption, Segmented};
use crate::i18n::use_i18n;

/// The address follows the slider when it has rested that long.
const SLIDER_PAUSE: Duration = Duration::from_millis(300);

/// The bar over the cards.
#[component]
pub(super) fn Toolbar() -> impl IntoView {
    let page = PageState::get();
    let settings = page.settings;
    let i18n = use_i18n();
    let texts = move || &i18n.texts().scalars;
    let word = move |word: fn(&crate::i18n::ScalarsTexts) -> &'static str| {
        Signal::derive(move || word(texts()).to_owned())
    };
    let x_options = vec![
        SegOption {
            value: XChoice::Step,
            label: word(|t| t.step),
        },
        SegOption {
            value: XChoice::Relative,
            label: word(|t| t.relative),
        },
        SegOption {
            value: XChoice::Wall,
            label: word(|t| t.wall),
        },
    ];
    let y_options = vec![
        SegOption {
            value: YChoice::Linear,
            label: word(|t| t.linear),
        },
        SegOption {
            value: YChoice::Log,
            label: word(|t| t.log),
        },
        SegOption {
            value: YChoice::Symlog,
            label: word(|t| t.symlog),
        },
    ];
    let has_superseded = move || {
        settings.has_superseded.get()
            || page
                .entries
                .with(|entries| entries.iter().any(|entry| entry.superseded > 0))
    };
    view! {
        <div class="toolbar" role="toolbar" aria-label=move || texts().title>
            <Segmented
                label=word(|t| t.x_axis)
                options=x_options
                value=settings.x
                on_choose=move |x| settings.set_x(x)
            />
            <Segmented
                label=word(|t| t.y_axis)
                options=y_options
                value=settings.y
                on_choose=move |y| settings.set_y(y)
            />
            <Smoothing page=page />
            <label class="ctl">
                <Check
                    checked=settings.has_band
                    label=word(|t| t.min_max)
                    on_press=move || settings.set_band(!settings.has_band.get_untracked())
                />
                {move || texts().min_max}
            </label>
            <Show when=has_superseded>
                <label class="ctl">
                    <Check
                        checked=settings.has_superseded
                        label=word(|t| t.superseded)
                        on_press=move || {
                            settings.set_superseded(!settings.has_superseded.get_untracked());
                        }
                    />
                    {move || texts().superseded}
                </label>
            </Show>
            <span class="grow"></span>
            <RangeChip page=page />
            <IconButton
                icon=IconName::Fit
                label=word(|t| t.fit)
                on_press=move || settings.set_range(None)
            />
        </div>
    }
}

#[component]
fn Smoothing(page: PageState) -> impl IntoView {
    let settings = page.settings;
    let i18n = use_i18n();
    let round = StoredValue::new(0_u64);
    let on_input = move |event: leptos::ev::Event| {
        let Ok(weight) = event_target_value(&event).parse::<f64>() else {
            return;
        };
        settings.smoothing.set(weight.clamp(0.0, MOST_SMOOTHING));
        round.update_value(|round| *round += 1);
        let mine = round.get_value();
        set_timeout(
            move || {
                if round.try_get_value() == Some(mine) {
                    settings.keep_smoothing();
                }
            },
            SLIDER_PAUSE,
        );
    };
    let text = move || label::fixed(settings.smoothing.get(), 2);
    view! {
        <label class="ctl">
            {move || i18n.texts().scalars.smoothing}
            <input
                type="range"
                class="range"
                min="0"
                max=MOST_SMOOTHING
                step="0.01"
                aria-label=move || i18n.texts().scalars.smoothing
                prop:value=move || settings.smoothing.get().to_string()
                style:--v=move || format!("{:.1}%", settings.smoothing.get() / MOST_SMOOTHING * 100.0)
                on:input=on_input
            />
            <span class="med weight">{text}</span>
        </label>
    }
}

/// `0 – 3,000 of 5,000 ×` while a range is zoomed.
#[component]
fn RangeChip(page: PageState) -> impl IntoView {
    let settings = page.settings;
    let i18n = use_i18n();
    let texts = move || &i18n.texts().scalars;
    let chip = move || {
        let (lo, hi) = settings.range.get()?;
        let x = settings.x.get();
        let range = format!("{} – {}", x_text(x, lo), x_text(x, hi));
        let of = (x == XChoice::Step)
            .then(|| page.extent.get())
            .flatten()
            .map(|(_, last)| (texts().of_all)(&label::step(last)));
        Some((range, of))
    };
    view! {
        {move || {
            chip()
                .map(|(range, of)| {
                    view! {
                        <span class="tok range-chip" title=texts().zoomed>
                            {range}
                            {of.map(|of| view! { <b>{of}</b> })}
                            <button
                                type="button"
                                class="plain"
                                aria-label=texts().fit
                                title=texts().fit
                                on:click=move |_| settings.set_range(None)
                            >
                                <Icon name=IconName::Close size=10 />
                            </button>
                        </span>
                    }
                })
        }}
    }
}
