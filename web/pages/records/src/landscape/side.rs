//! The panel at the right: the other picture, cuts, figures, origin of the record.

use super::cuts::Cuts;
use super::figures::{FiguresTable, SavedTable};
use super::model::use_model;
use super::stage::{MapView, SurfaceView};
use trainscope_api::landscape::LandscapeSettings;
use trainscope_format::Landscape;
use trainscope_web_kit::components::FullButton;
use trainscope_web_kit::i18n::{LandscapeTexts, use_i18n};
use trainscope_web_kit::prelude::*;

/// The panel.
#[component]
pub(super) fn Side() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let title = move || {
        let texts = i18n.texts().landscape();
        if model.is_surface.get() {
            texts.map
        } else {
            texts.surface
        }
    };
    let small = move || {
        if model.is_surface.get() {
            view! { <MapView /> }.into_any()
        } else {
            view! { <SurfaceView /> }.into_any()
        }
    };
    let origin = move || {
        let texts = i18n.texts().landscape();
        let view = model.landscape()?;
        let points = (texts.points)(view.surface.x().len(), view.surface.y().len());
        Some(origin(&view.landscape, &points, texts))
    };
    let settings = move || {
        let texts = i18n.texts().landscape();
        let answer = model.load.answer.get()?;
        let answer = &answer.first()?.settings;
        let fault = answer.fault.clone();
        let fault = fault.map(|fault| view! { <p class="micro warn">{fault}</p> });
        let words = answer
            .settings
            .as_ref()
            .map(|settings| settings_words(settings, texts));
        let words = words.map(|words| {
            view! { <p class="micro ink3 origin" data-part="train-metadata">{words}</p> }
        });
        Some((words, fault))
    };
    view! {
        <aside class="insp" aria-label=i18n.text(|t| t.titles().landscape)>
            <section>
                <h2>
                    {title}
                    <span class="micro ink3" hidden=move || model.is_surface.get()>
                        {i18n.text(|t| t.landscape().turn)}
                    </span>
                    <span class="grow"></span>
                    <FullButton
                        is_full=model.is_surface
                        on_press=move || model.show_surface(!model.is_surface.get_untracked())
                    />
                </h2>
                <div class="small-picture">{small}</div>
            </section>
            <section>
                <h2>
                    {i18n.text(|t| t.landscape().cuts)}
                    <span class="micro ink3">{i18n.text(|t| t.landscape().loss)}</span>
                </h2>
                <Cuts />
            </section>
            <section>
                <FiguresTable />
                <SavedTable />
            </section>
            <p class="micro ink3 origin">{origin}</p>
            {settings}
        </aside>
    }
}

/// Settings of `MindSpore`: points, samples, steps of an epoch, saved states of each landscape.
fn settings_words(settings: &LandscapeSettings, texts: &LandscapeTexts) -> String {
    let groups = settings.epoch_group.values();
    let groups = groups.filter_map(|group| match &group[..] {
        [] => None,
        [only] => Some(only.to_string()),
        [first, .., last] => Some(format!("{first}–{last}")),
    });
    let groups = groups.collect::<Vec<_>>().join(", ");
    let size = settings
        .landscape_size
        .and_then(|size| usize::try_from(size).ok());
    let parts = [
        size.map(|size| (texts.points)(size, size)),
        settings.num_samples.map(texts.samples),
        settings.step_per_epoch.map(texts.steps_per_epoch),
        (!groups.is_empty()).then(|| (texts.saved_groups)(&settings.unit, &groups)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (texts.settings)(&parts.join(", "))
}

/// Number of points, samples and directions, each if it was recorded.
fn origin(landscape: &Landscape, points: &str, texts: &LandscapeTexts) -> String {
    let saved = landscape
        .path
        .as_ref()
        .map_or(0, |path| path.x.values.len());
    let plane = match &*landscape.decomposition {
        "PCA" => (texts.principal)(saved),
        "Random" => texts.random.to_owned(),
        other => (texts.method)(other),
    };
    let [filter, orthonormal, unknown] = texts.normalisations;
    let scaled = match &*landscape.normalisation {
        "filter" => filter,
        "orthonormal" => orthonormal,
        "" => unknown,
        other => other,
    };
    let samples = (texts.samples)(landscape.samples);
    format!("{points}, {samples}; {plane}, {scaled}")
}
