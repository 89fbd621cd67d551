//! The sentences on top, and the share of the plane in the path.

use trainscope_analysis::landscape::{Conclusion, Tone};
use trainscope_format::Severity;

use super::drawing::is_same_plane;
use super::model::use_model;
use trainscope_web_kit::components::{IconName, RunChip, fixed_icon, severity_icon};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{I18n, Locale, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_app_state;

/// Class, icon and sentence of a conclusion; reactive.
fn describe(conclusion: &Conclusion, i18n: I18n) -> (&'static str, IconName, String) {
    let (class, icon) = match conclusion.tone {
        Tone::Error => severity_icon(Severity::Error),
        Tone::Warning => severity_icon(Severity::Warning),
        Tone::Plain => ("ink3", IconName::Info),
        Tone::Good => ("okc", IconName::Ok),
    };
    let sentence = match i18n.locale() {
        Locale::En => &conclusion.sentence.en,
        Locale::Zh => &conclusion.sentence.zh,
    };
    (class, icon, sentence.clone())
}

/// The conclusion about the landscape of the page's run, and those of the others below.
#[component]
pub(super) fn Verdict() -> impl IntoView {
    let model = use_model();
    let state = use_app_state();
    let i18n = use_i18n();
    let content = move || {
        let texts = i18n.texts().landscape();
        let view = model.landscape()?;
        let (class, icon, sentence) = describe(&view.conclusion, i18n);
        let mut details: Vec<String> = Vec::new();
        let variance: f64 = view.landscape.variance.iter().sum();
        if view.landscape.variance.is_empty() {
            if view.landscape.decomposition != "Random" {
                details.push(texts.no_variance.to_owned());
            }
        } else {
            details.push((texts.variance)(&format::percent(variance)));
        }
        if view.landscape.normalisation.is_empty() {
            details.push(texts.no_unit.to_owned());
        }
        model.shown.with(|shown| {
            let others = shown.iter().skip(1);
            let (same, apart): (Vec<_>, Vec<_>) =
                others.partition(|(_, other)| is_same_plane(&view.landscape, &other.landscape));
            for (run, _) in same {
                details.push((texts.same_plane)(&state.short_name(run)));
            }
            if !apart.is_empty() {
                details.push(texts.other_planes.to_owned());
            }
            for run in model.also.get() {
                if model.load.answer.with(Option::is_some)
                    && shown.iter().all(|(name, _)| *name != run)
                {
                    details.push((texts.missing)(&state.short_name(&run)));
                }
            }
        });
        let others = model.shown.with(|all| {
            let others = all.iter().skip(1).map(|(run, other)| {
                let (class, icon, sentence) = describe(&other.conclusion, i18n);
                view! {
                    <li class="flex small">
                        <RunChip run=run.clone() />
                        <b class="med" title=run.clone()>
                            {state.short_name(run)}
                        </b>
                        <span class=class>{fixed_icon(icon, 14)}</span>
                        <span class="ink2">{sentence}</span>
                    </li>
                }
            });
            others.collect_view()
        });
        Some(view! {
            <span class=class>{fixed_icon(icon, 20)}</span>
            <div class="grow">
                <h1>{sentence}</h1>
                <p class="ink2">{details.join(" ")}</p>
                <ul data-part="others">{others}</ul>
            </div>
        })
    };
    view! { <section class="verdict-head">{content}</section> }
}
