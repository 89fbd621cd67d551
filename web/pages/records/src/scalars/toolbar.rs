//! Settings of all cards: axes, smoothing, envelopes, the zoomed range.

use std::time::Duration;

use trainscope_charts::label;
use trainscope_web_kit::format;
use trainscope_web_kit::prelude::*;

use super::choices::{MAX_SMOOTHING, ScaleChoice, XChoice};
use super::drawing::{Pens, x_text};
use super::export::{self, Format};
use super::options::Options;
use super::page::PageState;
use super::x_tag::XTag;
use trainscope_web_kit::components::{
    Check, Icon, IconButton, IconName, MenuItem, Popover, SegOption, Segmented,
};
use trainscope_web_kit::i18n::{ScalarsTexts, use_i18n};

/// Rest of the slider before the address is written.
const SLIDER_PAUSE: Duration = Duration::from_millis(300);

/// The bar over the cards.
#[component]
pub(super) fn Toolbar() -> impl IntoView {
    let page = PageState::get();
    let settings = page.settings;
    let i18n = use_i18n();
    let texts = move || i18n.texts().scalars();
    let word = move |word: fn(&ScalarsTexts) -> &'static str| {
        Signal::derive(move || word(texts()).to_owned())
    };
    let x_option = move |value, name| SegOption {
        value,
        label: word(name),
    };
    let y_option = move |value, name| SegOption {
        value,
        label: word(name),
    };
    let has_superseded = move || {
        settings.has_superseded.get()
            || page
                .entries
                .with(|entries| entries.iter().any(|entry| entry.superseded > 0))
    };
    view! {
        <div class="toolbar" role="toolbar" aria-label=move || texts().title>
            <span class="joined">
                <Segmented
                    label=word(|t| t.x_axis)
                    options=vec![
                        x_option(XChoice::Step, |t| t.step),
                        x_option(XChoice::Relative, |t| t.relative),
                        x_option(XChoice::Wall, |t| t.wall),
                    ]
                    value=settings.x
                    on_choose=move |x| settings.set_x(x, None)
                />
                <XTag page=page />
            </span>
            <Segmented
                label=word(|t| t.y_axis)
                options=vec![
                    y_option(ScaleChoice::Linear, |t| t.linear),
                    y_option(ScaleChoice::Log, |t| t.log),
                    y_option(ScaleChoice::Symlog, |t| t.symlog),
                ]
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
            <span class="tools">
                <RangeChip page=page />
                <IconButton
                    icon=IconName::Fit
                    label=word(|t| t.fit)
                    on_press=move || page.zoom.fit()
                />
                <Options page=page />
                <DownloadAll page=page />
            </span>
        </div>
    }
}

/// All cards in one file.
#[component]
fn DownloadAll(page: PageState) -> impl IntoView {
    let i18n = use_i18n();
    let pens = Pens::get();
    let is_open = RwSignal::new(false);
    let word = move |word: fn(&ScalarsTexts) -> &'static str| {
        Signal::derive(move || word(i18n.texts().scalars()).to_owned())
    };
    let save = move |format: Format| {
        is_open.set(false);
        let tags = page.cards.get_untracked().to_vec();
        export::save(page, pens, i18n, tags, format);
    };
    let progress = move || {
        let (done, all) = page.saving.get()?;
        Some(format!("{done} / {all}"))
    };
    view! {
        {move || {
            progress().map(|text| view! { <span class="micro ink3" role="status">{text}</span> })
        }}
        <Popover
            is_open=is_open
            label=word(|t| t.download_all)
            panel_class="popover card-menu"
            role="menu"
            face=ViewFn::from(|| view! { <Icon name=IconName::Download size=14 /> })
        >
            <p class="micro ink3 caption">
                {move || {
                    let cards = page.cards.with(|cards| cards.len());
                    (i18n.texts().scalars().all_cards)(cards as u64)
                }}
            </p>
            <MenuItem
                icon=IconName::Download
                label=word(|t| t.download_csv)
                on_press=move || save(Format::Csv)
            />
            <MenuItem
                icon=IconName::Download
                label=word(|t| t.download_json)
                on_press=move || save(Format::Json)
            />
            <MenuItem
                icon=IconName::Download
                label=word(|t| t.download_png)
                on_press=move || save(Format::Png)
            />
            <MenuItem
                icon=IconName::Download
                label=word(|t| t.download_svg)
                on_press=move || save(Format::Svg)
            />
        </Popover>
    }
}

#[component]
fn Smoothing(page: PageState) -> impl IntoView {
    let settings = page.settings;
    let i18n = use_i18n();
    let round = StoredValue::new(0_u64);
    let on_input = move |event: leptos::ev::Event| {
        let Some(weight) = format::parse_number(&event_target_value(&event)) else {
            return;
        };
        settings.smoothing.set(weight.clamp(0.0, MAX_SMOOTHING));
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
            {i18n.text(|t| t.scalars().smoothing)}
            <input
                type="range"
                class="range"
                min="0"
                max=MAX_SMOOTHING
                step="0.01"
                aria-label=i18n.text(|t| t.scalars().smoothing)
                prop:value=move || settings.smoothing.get().to_string()
                style:--v=move || format!("{:.1}%", settings.smoothing.get() / MAX_SMOOTHING * 100.0)
                on:input=on_input
            />
            <span class="med weight">{text}</span>
        </label>
    }
}

/// `← 0 – 3,000 of 5,000 ×` while a range is zoomed.
#[component]
fn RangeChip(page: PageState) -> impl IntoView {
    let settings = page.settings;
    let i18n = use_i18n();
    let texts = move || i18n.texts().scalars();
    let words = move || {
        let Some((lo, hi)) = page.zoom.shared() else {
            let words = if page.zoom.is_zoomed() {
                texts().own_zooms
            } else {
                texts().whole_range
            };
            return (words.to_owned(), None);
        };
        let x = settings.x.get();
        let range = format!("{} – {}", x_text(x, lo), x_text(x, hi));
        let of = (x == XChoice::Step)
            .then(|| page.extent.get())
            .flatten()
            .map(|(_, last)| (texts().of_all)(&label::step(last)));
        (range, of)
    };
    view! {
        <Show when=move || page.zoom.is_zoomed() || page.zoom.has_before()>
            <span class="tok range-chip" title=move || texts().zoomed>
                <Show when=move || page.zoom.has_before()>
                    <button
                        type="button"
                        class="plain"
                        aria-label=move || texts().step_back
                        title=move || texts().step_back
                        on:click=move |_| page.zoom.back()
                    >
                        <Icon name=IconName::Left size=12 />
                    </button>
                </Show>
                {move || words().0}
                {move || words().1.map(|of| view! { <b>{of}</b> })}
                <Show when=move || page.zoom.is_zoomed()>
                    <button
                        type="button"
                        class="plain"
                        aria-label=move || texts().fit
                        title=move || texts().fit
                        on:click=move |_| page.zoom.fit()
                    >
                        <Icon name=IconName::Close size=10 />
                    </button>
                </Show>
            </span>
        </Show>
    }
}
