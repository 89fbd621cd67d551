//! Settings of all cards: the step, and those specific to the page.

use super::settings::{AGAINST, Against, Settings, ZOOMS};
use trainscope_web_kit::components::{IconButton, IconName, SegOption, Segmented};
use trainscope_web_kit::i18n::{RecordedTexts, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::RunPage;

/// The bar over the cards.
#[component]
pub(super) fn Toolbar(settings: Settings) -> impl IntoView {
    let i18n = use_i18n();
    let word = move |word: fn(&RecordedTexts) -> &'static str| {
        Signal::derive(move || word(i18n.texts().recorded()).to_owned())
    };
    let controls = match settings.page {
        RunPage::Images => view! { <LightAndSize settings=settings /> }.into_any(),
        RunPage::Text => view! { <Reading settings=settings /> }.into_any(),
        _ => ().into_any(),
    };
    let steps = move || {
        view! {
            <span class="small ink2">{i18n.text(|t| t.recorded().step_cap)}</span>
            <IconButton
                icon=IconName::Left
                label=word(|t| t.before)
                on_press=move || {
                    settings.go(false);
                }
            />
            <IconButton
                icon=IconName::Right
                label=word(|t| t.next)
                on_press=move || {
                    settings.go(true);
                }
            />
            {(settings.page == RunPage::Images)
                .then(|| {
                    view! {
                        <IconButton
                            icon=Signal::derive(move || {
                                if settings.is_playing.get() {
                                    IconName::Pause
                                } else {
                                    IconName::Play
                                }
                            })
                            label=Signal::derive(move || {
                                let texts = i18n.texts().recorded();
                                let is_playing = settings.is_playing.get();
                                if is_playing { texts.stop } else { texts.play }.to_owned()
                            })
                            on_press=move || settings.play()
                        />
                    }
                })}
        }
    };
    view! {
        <div class="toolbar">
            // A single step leaves no choice.
            <Show when=move || settings.whole.with(|(first, last)| first < last)>{steps()}</Show>
            {controls}
        </div>
    }
}

/// Brightness, contrast and size of pictures.
#[component]
fn LightAndSize(settings: Settings) -> impl IntoView {
    let i18n = use_i18n();
    let slider = move |is_contrast: bool| {
        let value = move || {
            let (brightness, contrast) = settings.light.get();
            if is_contrast { contrast } else { brightness }
        };
        view! {
            <label class="ctl">
                {move || {
                    let texts = i18n.texts().recorded();
                    if is_contrast { texts.contrast } else { texts.brightness }
                }}
                <input
                    type="range"
                    class="range"
                    name=if is_contrast { "contrast" } else { "brightness" }
                    min="0"
                    max="400"
                    step="5"
                    prop:value=move || value().to_string()
                    style:--v=move || format!("{:.1}%", f64::from(value()) / 4.0)
                    on:input=move |event| {
                        if let Ok(percent) = event_target_value(&event).parse::<u32>() {
                            settings
                                .light
                                .update(|light| {
                                    *if is_contrast { &mut light.1 } else { &mut light.0 } = percent;
                                });
                        }
                    }
                    on:change=move |_| settings.keep_light()
                />
                <span class="weight">{move || format!("{} %", value())}</span>
            </label>
        }
    };
    let options = ZOOMS.map(|zoom| SegOption {
        value: zoom as usize,
        label: Signal::derive(move || match zoom {
            0 => i18n.texts().recorded().fit.to_owned(),
            zoom => format!("{zoom} : 1"),
        }),
    });
    view! {
        {slider(false)}
        {slider(true)}
        <button
            type="button"
            class="link small"
            class:unseen=move || settings.light.get() == (100, 100)
            on:click=move |_| {
                settings.light.set((100, 100));
                settings.keep_light();
            }
        >
            {i18n.text(|t| t.recorded().reset)}
        </button>
        <Difference settings=settings />
        <Segmented
            label=i18n.label(|t| t.recorded().size)
            options=options.to_vec()
            value=Signal::derive(move || settings.zoom.get() as usize)
            on_choose=move |zoom: usize| settings.set_zoom(u32::try_from(zoom).unwrap_or(0))
        />
    }
}

/// The choice of the record that is subtracted from pictures.
#[component]
fn Difference(settings: Settings) -> impl IntoView {
    let i18n = use_i18n();
    let chosen = move || settings.against.get();
    let options = move || {
        let texts = i18n.texts().recorded();
        let runs = settings.browse.shown.get();
        let runs = (runs.len() > 1)
            .then_some(runs)
            .into_iter()
            .flat_map(|runs| (*runs).clone());
        let runs = runs.map(|run| {
            let name = (texts.minus_run)(&settings.browse.name_of(&run));
            (Some(Against::Run(run)), name)
        });
        let fixed = [
            (None, texts.as_recorded.to_owned()),
            (Some(Against::Previous), texts.minus_previous.to_owned()),
            (Some(Against::First), texts.minus_first.to_owned()),
        ];
        let options = fixed.into_iter().chain(runs).map(|(against, name)| {
            let value = against.as_ref().and_then(|against| AGAINST.write(against));
            view! {
                <option value=value.unwrap_or_default() selected=move || chosen() == against>
                    {name}
                </option>
            }
        });
        options.collect_view()
    };
    view! {
        <label class="ctl">
            {i18n.text(|t| t.recorded().difference)}
            <select
                class="field"
                name="against"
                on:change=move |event| {
                    settings.set_against(AGAINST.read(&event_target_value(&event)));
                }
            >
                {options}
            </select>
        </label>
    }
}

/// Choice of text rendering, and the search field for all texts.
#[component]
fn Reading(settings: Settings) -> impl IntoView {
    let i18n = use_i18n();
    let options = [false, true].map(|is_source| SegOption {
        value: usize::from(is_source),
        label: Signal::derive(move || {
            let texts = i18n.texts().recorded();
            if is_source {
                texts.source
            } else {
                texts.rendered
            }
            .to_owned()
        }),
    });
    view! {
        <Segmented
            label=i18n.label(|t| t.recorded().reading)
            options=options.to_vec()
            value=Signal::derive(move || usize::from(settings.is_source.get()))
            on_choose=move |at: usize| settings.set_source(at == 1)
        />
        <div class="field find">
            <trainscope_web_kit::components::Icon name=IconName::Search size=14 />
            <input
                class="bare-input"
                type="search"
                name="find"
                autocomplete="off"
                aria-label=i18n.text(|t| t.recorded().find)
                placeholder=i18n.text(|t| t.recorded().find)
                prop:value=move || settings.find.get()
                on:input=move |event| settings.set_find(&event_target_value(&event))
            />
        </div>
    }
}
