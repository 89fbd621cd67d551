//! Link from a hit to its step in the timeline of a profile, if a profile has that step.

use trainscope_api::timeline::{StepAnswer, StepQuery};
use trainscope_format::Kind;

use super::model::{is_of_profile, use_model};
use trainscope_web_kit::client;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};
use trainscope_web_kit::route;
use trainscope_web_kit::state::use_app_state;

/// Link for the selected step.
#[component]
pub(super) fn InTimeline() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let state = use_app_state();
    let has_profile = Memo::new(move |_| {
        let run = model.run.with(|run| state.run(run));
        let has = |kind: Kind| {
            let kinds = run.as_ref().map(|run| &run.kinds);
            kinds.and_then(|kinds| kinds.get(kind.as_str())).is_some()
        };
        has(Kind::Traces) || has(Kind::Profile)
    });
    let wanted = Memo::new(move |_| {
        let hit = model.selected.get().filter(|_| has_profile.get())?;
        let (tensor, rank, step) = model.place.get()?;
        let is_of_profile = model.findings.with(|found| is_of_profile(found, &hit));
        Some(StepQuery {
            run: model.run.get(),
            step,
            // A hit about a profile names its session.
            session: Some(tensor).filter(|_| is_of_profile),
            rank: Some(rank),
        })
    });
    let found: Query<StepAnswer> = query(
        move || wanted.get(),
        |wanted| async move { client::timeline_step(&wanted).await },
    )
    .cleared_with(move || wanted.get());
    move || {
        let answer = found.answer.get()?;
        let place = answer.place.as_ref()?;
        let href = model.run.with(|run| route::timeline_step_href(run, place));
        Some(view! {
            <a class="link small" href=href data-part="timeline">
                {i18n.texts().debugger().in_timeline}
            </a>
        })
    }
}
