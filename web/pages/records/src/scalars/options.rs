//! Less frequent choices: scale of x, range of y, kind of smoothing, linking, size of cards, groups.

use std::collections::BTreeSet;

use trainscope_charts::line::YRange;
use trainscope_charts::smooth::Kind;

use super::choices::{CardSize, GroupBy, ScaleChoice, Spread};
use super::page::PageState;
use trainscope_web_kit::components::Popover;
use trainscope_web_kit::components::{Check, Icon, IconName, SegOption, Segmented};
use trainscope_web_kit::i18n::{ScalarsTexts, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_app_state;
use trainscope_web_kit::url_state::History;

type Word = fn(&ScalarsTexts) -> &'static str;

fn word(name: Word) -> Signal<String> {
    let i18n = use_i18n();
    Signal::derive(move || name(i18n.texts().scalars()).to_owned())
}

fn options<T: Copy>(all: &[(T, Word)]) -> Vec<SegOption<T>> {
    all.iter()
        .map(|&(value, name)| SegOption {
            value,
            label: word(name),
        })
        .collect()
}

/// The button and its choices.
#[component]
pub(super) fn Options(page: PageState) -> impl IntoView {
    let is_open = RwSignal::new(false);
    view! {
        <Popover
            is_open=is_open
            label=word(|t| t.options)
            panel_class="popover options"
            face=ViewFn::from(|| view! { <Icon name=IconName::Sliders size=14 /> })
        >
            <Choices page=page />
        </Popover>
    }
}

#[component]
fn Choices(page: PageState) -> impl IntoView {
    let settings = page.settings;
    let i18n = use_i18n();
    let texts = move || i18n.texts().scalars();
    view! {
        <div class="row">
            <span>{move || texts().x_scale}</span>
            <Segmented
                label=word(|t| t.x_scale)
                options=options(
                    &[
                        (ScaleChoice::Linear, (|t| t.linear) as Word),
                        (ScaleChoice::Log, |t| t.log),
                        (ScaleChoice::Symlog, |t| t.symlog),
                    ],
                )
                value=settings.x_scale
                on_choose=move |scale| settings.set_x_scale(scale)
            />
        </div>
        <div class="row">
            <span>{move || texts().y_range}</span>
            <Segmented
                label=word(|t| t.y_range)
                options=options(
                    &[
                        (YRange::All, (|t| t.all_values) as Word),
                        (YRange::Robust, |t| t.no_outliers),
                    ],
                )
                value=settings.y_range
                on_choose=move |range| settings.set_y_range(range)
            />
        </div>
        <div class="row">
            <span>{move || texts().smoothing_kind}</span>
            <Segmented
                label=word(|t| t.smoothing_kind)
                options=options(
                    &[
                        (Kind::Ema, (|t| t.ema) as Word),
                        (Kind::Mean, |t| t.running_mean),
                        (Kind::Gaussian, |t| t.gaussian),
                    ],
                )
                value=settings.smoothing_kind
                on_choose=move |kind| settings.set_smoothing_kind(kind)
            />
        </div>
        <div class="row">
            <span>{move || texts().card_size}</span>
            <Segmented
                label=word(|t| t.card_size)
                options=options(
                    &[
                        (CardSize::Small, (|t| t.size_small) as Word),
                        (CardSize::Medium, |t| t.size_medium),
                        (CardSize::Large, |t| t.size_large),
                    ],
                )
                value=settings.card_size
                on_choose=move |size| settings.set_card_size(size)
            />
        </div>
        <label class="row ctl">
            <span>{move || texts().linked}</span>
            <Check
                checked=settings.is_linked
                label=word(|t| t.linked)
                on_press=move || settings.set_linked(!settings.is_linked.get_untracked())
            />
        </label>
        <Groups page=page />
    }
}

/// Grouping key, and the meaning of the band.
#[component]
fn Groups(page: PageState) -> impl IntoView {
    let settings = page.settings;
    let i18n = use_i18n();
    let texts = move || i18n.texts().scalars();
    let state = use_app_state();
    let hparams = Memo::new(move |_| {
        let mut names = BTreeSet::new();
        for run in settings.shown.get().iter().filter_map(|run| state.run(run)) {
            names.extend(run.hparams.into_keys());
        }
        if let Some(GroupBy::Hparam(name)) = settings.group.get() {
            names.insert(name);
        }
        names.into_iter().collect::<Vec<_>>()
    });
    let pattern = move || match settings.group.get() {
        Some(GroupBy::Pattern(pattern)) => Some(pattern),
        _ => None,
    };
    let is_pattern = Memo::new(move |_| pattern().is_some());
    let is = move |words: &str| {
        let now = settings.group.get();
        match &now {
            None => words.is_empty(),
            Some(GroupBy::Pattern(_)) => words == "re:",
            Some(group) => group.words() == words,
        }
    };
    let on_change = move |event: web_sys::Event| {
        let words = event_target_value(&event);
        let group = GroupBy::parse(&words);
        settings.set_group(group.as_ref(), History::Push);
    };
    view! {
        <div class="row">
            <span>{move || texts().group_runs}</span>
            <select
                class="field"
                aria-label=move || texts().group_runs
                on:change=on_change
            >
                <option value="" selected=move || is("")>
                    {move || texts().group_none}
                </option>
                <option value="folder" selected=move || is("folder")>
                    {move || texts().group_folder}
                </option>
                <option value="re:" selected=move || is("re:")>
                    {move || texts().group_pattern}
                </option>
                <For each=move || hparams.get() key=Clone::clone let:name>
                    {
                        let words = GroupBy::Hparam(name.clone()).words();
                        let mine = words.clone();
                        view! {
                            <option value=words selected=move || is(&mine)>
                                {name}
                            </option>
                        }
                    }
                </For>
            </select>
        </div>
        <Show when=move || is_pattern.get()>
            <div class="field">
                <input
                    class="bare-input mono"
                    spellcheck="false"
                    aria-label=move || texts().pattern
                    placeholder="^(.*)-seed"
                    prop:value=move || pattern().unwrap_or_default()
                    on:input=move |event| {
                        let group = GroupBy::Pattern(event_target_value(&event));
                        settings.set_group(Some(&group), History::Replace);
                    }
                />
            </div>
            <p class="micro ink3">{move || texts().pattern_hint}</p>
        </Show>
        <Show when=move || settings.group.with(Option::is_some)>
            <div class="row">
                <span>{move || texts().spread}</span>
                <Segmented
                    label=word(|t| t.spread)
                    options=options(
                        &[
                            (Spread::Range, (|t| t.min_max) as Word),
                            (Spread::Deviation, |t| t.deviation),
                            (Spread::Error, |t| t.std_error),
                        ],
                    )
                    value=settings.spread
                    on_choose=move |spread| settings.set_spread(spread)
                />
            </div>
        </Show>
    }
}
