//! The panel at the right: the other picture, cuts, figures, origin of the record.

use super::cuts::Cuts;
use super::figures::{FiguresTable, SavedTable};
use super::model::use_model;
use super::stage::{MapView, SurfaceView};
use crate::components::FullButton;
use crate::i18n::{LandscapeTexts, use_i18n};
use crate::prelude::*;
use trainscope_format::Landscape;

/// The panel.
#[component]
pub(super) fn Side() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let title = move || {
        let texts = i18n.texts().landscape;
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
        let texts = i18n.texts().landscape;
        let own = model.own()?;
        let points = (texts.points)(own.surface.x().len(), own.surface.y().len());
        Some(origin(&own.landscape, &points, texts))
    };
    view! {
        <aside class="insp" aria-label=i18n.text(|t| t.landscape.title)>
            <section>
                <h2>
                    {title}
                    <span class="micro ink3" hidden=move || model.is_surface.get()>
                        {i18n.text(|t| t.landscape.turn)}
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
                    {i18n.text(|t| t.landscape.cuts)}
                    <span class="micro ink3">{i18n.text(|t| t.landscape.loss)}</span>
                </h2>
                <Cuts />
            </section>
            <section>
                <FiguresTable />
                <SavedTable />
            </section>
            <p class="micro ink3 origin">{origin}</p>
        </aside>
    }
}

/// Number of points, samples and directions, as far as they were recorded.
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
