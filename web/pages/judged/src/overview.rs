//! Overview of a run, in the order of an expert's examination: verdict, guided diagnosis, probable first cause, and a
//! thumbnail of each kind of data.
//!
//! All judgements come from the server; this page only sorts and draws.

use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route::use_run;

mod cards;
mod cell;
mod checks;
mod guide;
mod heat;
mod hyperparameters;
mod matrix;
mod measured;
mod model;
mod onset;
mod pictures;
mod undecided;
mod verdict;

use model::Model;

/// The overview of the run that the address names.
#[component]
pub fn OverviewPage() -> impl IntoView {
    let run = use_run();
    move || run.get().map(overview)
}

/// Another run has a page of its own, so that nothing of the one before stays.
fn overview(run: String) -> AnyView {
    let model = Model::new(run);
    let has_steps = Memo::new(move |_| {
        let is_open = model.kind("statistics") > 0 && model.findings.with(Option::is_none);
        is_open
            || model
                .onset
                .with(|onset| onset.as_ref().is_some_and(|own| own.shows_anything()))
    });
    view! {
        <main class="main overview">
            {verdict::view(model)}
            <div class="two" class:one=move || !has_steps.get()>
                {guide::view(model)}
                <Show when=move || has_steps.get()>{matrix::view(model)}</Show>
            </div>
            {cards::view(model)}
        </main>
    }
    .into_any()
}
