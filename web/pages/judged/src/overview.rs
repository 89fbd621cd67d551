//! Overview of a run, in the order of an expert's examination: verdict, guided diagnosis, probable first cause, and a
//! thumbnail of each kind of data.
//!
//! All judgements come from the server; this page only sorts and draws.

use trainscope_api::findings::JudgementState;
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
mod program;
mod undecided;
mod verdict;

use model::Model;

/// Overview of the run in the address.
#[component]
pub fn OverviewPage() -> impl IntoView {
    let run = use_run();
    move || run.get().map(overview)
}

/// Builds the page again for each run: nothing of the previous run stays.
fn overview(run: String) -> AnyView {
    let model = Model::new(run);
    let has_steps = Memo::new(move |_| {
        let onset = model.onset.get();
        onset.is_some_and(|onset| onset.shows_anything())
    });
    // The space of unknown parts stays free and keeps its size.
    let has_waited = Memo::new(move |before: Option<&bool>| {
        let waits = model.findings.with(|found| {
            let found = found.as_ref();
            found.is_some_and(|found| found.state == JudgementState::Waiting)
        });
        waits || before == Some(&true)
    });
    view! {
        <main class="main overview">
            {verdict::view(model)}
            {program::cause(model)}
            <Show when=move || model.is_known.get() || has_waited.get()>
                <div
                    class="two"
                    class:one=move || model.is_known.get() && !has_steps.get()
                    class:waited=move || has_waited.get()
                >
                    <Show when=move || model.is_known.get()>
                        {guide::view(model)}
                        <Show when=move || has_steps.get()>{matrix::view(model)}</Show>
                    </Show>
                </div>
                {program::view(model)}
                {cards::view(model)}
            </Show>
        </main>
    }
    .into_any()
}
