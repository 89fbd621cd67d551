//! The pages of one run: says so if there is no such run, or if it is gone, and shows the page that was asked for.

use trainscope_api::runs::RunStatus;

use super::not_found::NothingHere;
use super::{NotFoundPage, PageOnDemand};
use trainscope_web_kit::components::{IconName, Note, NoteKind};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;
use trainscope_web_kit::registry::Page;
use trainscope_web_kit::route::{self, Place, RunPage, use_place};
use trainscope_web_kit::state::use_app_state;

/// State of the run's page: the address combined with the list of runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PageState {
    Page(RunPage),
    NoSuchRun,
    Nowhere,
}

/// The page of the run that the address names.
#[component]
pub fn RunPages() -> impl IntoView {
    let state = use_app_state();
    let place = use_place();
    let i18n = use_i18n();
    let name = Memo::new(move |_| place.with(|place| place.run().unwrap_or_default().to_owned()));
    let found = Memo::new(move |_| name.with(|name| state.run(name).map(|run| run.status)));
    let shown = Memo::new(move |_| match place.get() {
        Place::Run { page, .. } => {
            // While the list loads, the page may ask for its data already.
            if found.get().is_none() && state.load.get() == Load::Ready(()) {
                PageState::NoSuchRun
            } else {
                PageState::Page(page)
            }
        }
        Place::Site(_) | Place::Unknown => PageState::Nowhere,
    });
    view! {
        {move || match shown.get() {
            PageState::Page(page) => view! { <PageOnDemand page=Page::Run(page) /> }.into_any(),
            PageState::Nowhere => view! { <NotFoundPage /> }.into_any(),
            PageState::NoSuchRun => {
                view! {
                    <NothingHere
                        title=Signal::derive(move || (i18n.texts().states.no_run)(&name.get()))
                        next=i18n.label(|t| t.states.no_run_next)
                    />
                }
                    .into_any()
            }
        }}
        <Show when=move || found.get() == Some(RunStatus::Gone)>
            <div class="notes-foot">
                <Note
                    kind=NoteKind::Warning
                    icon=IconName::Gone
                    title=Signal::derive(move || (i18n.texts().states.gone)(&name.get()))
                    next=i18n.label(|t| t.states.gone_next)
                >
                    <a class="link" href=route::runs_href()>
                        {i18n.text(|t| t.states.all_runs)}
                    </a>
                </Note>
            </div>
        </Show>
    }
}
