//! Settings of all cards: view, bins, axes, roles.

use trainscope_api::distributions::Spacing;
use trainscope_charts::distribution::View;
use trainscope_format::Role;

use super::settings::{BINS, Over, Settings};
use trainscope_web_kit::components::{SegOption, Segmented};
use trainscope_web_kit::i18n::{HistogramsTexts, ScalarsTexts, use_i18n};
use trainscope_web_kit::prelude::*;

/// The bar over the cards.
#[component]
pub(super) fn Toolbar(settings: Settings) -> impl IntoView {
    let i18n = use_i18n();
    let browse = settings.browse;
    let word = move |word: fn(&HistogramsTexts) -> &'static str| {
        Signal::derive(move || word(i18n.texts().histograms()).to_owned())
    };
    let axis = move |word: fn(&ScalarsTexts) -> &'static str| {
        Signal::derive(move || word(i18n.texts().scalars()).to_owned())
    };
    // Choices are numbers here, because all controls share one type.
    let options = |labels: Vec<Signal<String>>| {
        let numbered = labels.into_iter().enumerate();
        numbered
            .map(|(value, label)| SegOption { value, label })
            .collect::<Vec<_>>()
    };
    let views = [
        None,
        Some(View::Offset),
        Some(View::Overlay),
        Some(View::HeatMap),
        Some(View::Percentiles),
    ];
    let overs = [Over::Step, Over::Relative, Over::Wall];
    let spacings = [Spacing::Auto, Spacing::Linear, Spacing::Symlog];
    let roles = [
        None,
        Some(Role::Weight),
        Some(Role::Gradient),
        Some(Role::Activation),
    ];
    let place = |at: Option<usize>| at.unwrap_or(0);
    let view = move || {
        settings
            .view
            .with(|view| place(views.iter().position(|v| v == view)))
    };
    let over = move || {
        settings
            .over
            .with(|over| place(overs.iter().position(|o| o == over)))
    };
    let spacing = move || {
        settings
            .spacing
            .with(|now| place(spacings.iter().position(|s| s == now)))
    };
    let role = move || {
        browse
            .role
            .with(|role| place(roles.iter().position(|r| r == role)))
    };
    let has_roles = Memo::new(move |_| {
        browse.entries.with(|entries| {
            let mut found = entries.iter().filter_map(|entry| entry.role);
            let first = found.next();
            first.is_some_and(|first| found.any(|other| other != first))
        })
    });
    let names = [
        word(|t| t.all),
        word(|t| t.weights),
        word(|t| t.gradients),
        word(|t| t.activations),
    ];
    let fill = move || {
        let bins = settings.bins.get().clamp(BINS.0, BINS.1) - BINS.0;
        format!("{:.1}%", 100.0 * bins as f64 / (BINS.1 - BINS.0) as f64)
    };
    view! {
        <div class="toolbar">
            <Segmented
                label=word(|t| t.view)
                options=options(
                    vec![
                        word(|t| t.own),
                        word(|t| t.offset),
                        word(|t| t.overlay),
                        word(|t| t.heat_map),
                        word(|t| t.percentiles),
                    ],
                )
                value=Signal::derive(view)
                on_choose=move |at: usize| {
                    settings.set_view(views.get(at).copied().flatten());
                }
            />
            <label class="ctl">
                {i18n.text(|t| t.histograms().bins)}
                <input
                    type="range"
                    class="range"
                    name="bins"
                    min=BINS.0
                    max=BINS.1
                    step="10"
                    prop:value=move || settings.bins.get().to_string()
                    style:--v=fill
                    on:input=move |event| {
                        if let Ok(bins) = event_target_value(&event).parse() {
                            settings.bins.set(bins);
                        }
                    }
                    on:change=move |_| settings.keep_bins()
                />
                <span class="weight">{move || settings.bins.get()}</span>
            </label>
            <Segmented
                label=word(|t| t.spacing)
                options=options(
                    vec![word(|t| t.auto), axis(|t| t.linear), axis(|t| t.symlog)],
                )
                value=Signal::derive(spacing)
                on_choose=move |at: usize| {
                    settings.set_spacing(spacings.get(at).copied().unwrap_or_default());
                }
            />
            <Segmented
                label=word(|t| t.over)
                options=options(vec![axis(|t| t.step), axis(|t| t.relative), axis(|t| t.wall)])
                value=Signal::derive(over)
                on_choose=move |at: usize| {
                    settings.set_over(overs.get(at).copied().unwrap_or_default());
                }
            />
            <Show when=move || has_roles.get()>
                <select
                    class="field"
                    name="role"
                    aria-label=i18n.text(|t| t.histograms().role)
                    prop:value=move || role().to_string()
                    on:change=move |event| {
                        let at = event_target_value(&event).parse::<usize>().unwrap_or(0);
                        browse.set_role(roles.get(at).copied().flatten());
                    }
                >
                    {names
                        .into_iter()
                        .enumerate()
                        .map(|(at, name)| {
                            view! {
                                <option value=at.to_string() selected=move || role() == at>
                                    {move || name.get()}
                                </option>
                            }
                        })
                        .collect_view()}
                </select>
            </Show>
        </div>
    }
}
