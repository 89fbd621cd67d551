//! The pages of one run: a notice if the run is unknown or gone, otherwise the requested page.

use trainscope_api::runs::{FileStatus, RunStatus};

use super::not_found::NothingHere;
use super::{NotFoundPage, PageOnDemand, PartOnDemand};
use trainscope_web_kit::components::{IconName, Note, NoteKind};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;
use trainscope_web_kit::registry::{Chunk, Page};
use trainscope_web_kit::route::{self, Place, RunPage, use_place};
use trainscope_web_kit::sessions::use_sessions;
use trainscope_web_kit::state::use_app_state;

/// State of the run's page: the address combined with the list of runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PageState {
    Page(RunPage),
    /// The overview of a run with profiles only.
    ProfileAlone,
    NoSuchRun,
    Nowhere,
}

/// `true` for a file that was read to its end.
const fn is_sound(status: FileStatus) -> bool {
    matches!(
        status,
        FileStatus::Live | FileStatus::Complete | FileStatus::Gone
    )
}

/// The page of the run that the address names.
#[component]
pub fn RunPages() -> impl IntoView {
    let state = use_app_state();
    let place = use_place();
    let sessions = use_sessions();
    let i18n = use_i18n();
    let name = Memo::new(move |_| place.with(|place| place.run().unwrap_or_default().to_owned()));
    let found = Memo::new(move |_| name.with(|name| state.run(name).map(|run| run.status)));
    let has_profile_alone = Memo::new(move |_| {
        let run = name.with(|name| state.run(name));
        run.is_some_and(|run| {
            let of_profiles = |kind| RunPage::of_kind(kind) == Some(RunPage::Profile);
            // The usual overview begins with the state of files that cannot be read.
            run.profile.is_some()
                && run.kinds.keys().all(|kind| of_profiles(kind))
                && run.files.iter().all(|file| is_sound(file.status))
        })
    });
    let shown = Memo::new(move |_| match place.get() {
        Place::Run { page, .. } => {
            // While the list loads, the page may ask for its data already.
            if found.get().is_none() && state.load.get() == Load::Ready(()) {
                PageState::NoSuchRun
            } else if page == RunPage::Overview && has_profile_alone.get() {
                PageState::ProfileAlone
            } else {
                PageState::Page(page)
            }
        }
        Place::Site(_) | Place::Unknown => PageState::Nowhere,
    });
    // A session that has ended stays in the bar until another run is opened.
    let bar = Memo::new(move |before: Option<&(String, bool)>| {
        let run = name.get();
        let was_there = before.is_some_and(|(of, was_there)| *of == run && *was_there);
        let session = sessions.of_run(&run);
        let is_open = session
            .as_ref()
            .is_some_and(|session| !session.state.is_over());
        let is_debugger = shown.get() == PageState::Page(RunPage::Debugger);
        let may_attach = || found.get() == Some(RunStatus::Live);
        let is_there = was_there || is_open || (is_debugger && (session.is_some() || may_attach()));
        (run, is_there)
    });
    view! {
        <Show when=move || bar.with(|(_, is_there)| *is_there)>
            <PartOnDemand chunk=Chunk::Session />
        </Show>
        {move || match shown.get() {
            PageState::Page(page) => view! { <PageOnDemand page=Page::Run(page) /> }.into_any(),
            PageState::ProfileAlone => {
                let page = Page::Run(RunPage::Overview);
                view! { <PageOnDemand page chunk=Chunk::Profile /> }.into_any()
            }
            PageState::Nowhere => view! { <NotFoundPage /> }.into_any(),
            PageState::NoSuchRun => {
                view! {
                    <NothingHere
                        title=Signal::derive(move || (i18n.texts().states().no_run)(&name.get()))
                        next=i18n.label(|t| t.states().no_run_next)
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
                    title=Signal::derive(move || (i18n.texts().states().gone)(&name.get()))
                    next=i18n.label(|t| t.states().gone_next)
                >
                    <a class="link" href=route::runs_href()>
                        {i18n.text(|t| t.states().all_runs)}
                    </a>
                </Note>
            </div>
        </Show>
    }
}
