//! The profile of a run: the time of its steps, advice, operators, memory, ranks, and the difference from another
//! profile.
//!
//! Session, rank, steps and view are in the address.

use trainscope_api::profile::UnreadProfile;

use trainscope_web_kit::client::ClientError;
use trainscope_web_kit::components::profile_tabs::{ProfileTab, ProfileTabs, Profiles};
use trainscope_web_kit::components::{IconName, Note, StatePage, fixed_icon};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::parameters::{PROFILE_VIEW, ProfileView};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;

mod advice;
mod beyond;
mod cluster;
mod compare;
mod figures;
mod lack;
mod memory;
mod model;
#[expect(
    clippy::unnecessary_wraps,
    reason = "a split point fails where its code cannot be fetched"
)]
mod more;
mod operators;
mod overview;
mod parts;
mod recording;
mod sql;
mod steps;

use beyond::Beyond;
use model::Model;
use more::more;
use operators::Operators;
use overview::Overview;
use parts::Refusal;
use recording::Recording;
use steps::Steps;

use crate::state::{self, note_of};

#[derive(Clone, PartialEq)]
enum PageState {
    Loading,
    Failed(String),
    /// The session of the address is not in the run.
    Gone(String),
    /// No profile; path and reason of each file of a profiler that cannot be read.
    Nothing(Vec<(String, String)>),
    View(ProfileView),
}

/// The profile of the run that the address names.
#[component]
pub fn ProfilePage(
    /// Shows the first view without tabs: the overview of a run without other records.
    #[prop(optional)]
    is_alone: bool,
) -> impl IntoView {
    let profiles = Profiles::of_address();
    let model = Model::provide(profiles);
    let i18n = use_i18n();
    let view = profiles.url.setting(PROFILE_VIEW);
    let view = Memo::new(move |_| {
        if is_alone {
            ProfileView::default()
        } else {
            view.get()
        }
    });
    let current = Signal::derive(move || ProfileTab::View(view.get()));
    let has_steps = Signal::derive(move || {
        !matches!(
            view.get(),
            ProfileView::Memory | ProfileView::Compare | ProfileView::Sql
        )
    });
    let has_ranks =
        Signal::derive(move || !matches!(view.get(), ProfileView::Cluster | ProfileView::Sql));
    let state = Memo::new(move |_| match profiles.list.load() {
        Load::Failed(ClientError::Refused(error)) => PageState::Failed(error.message),
        Load::Loading | Load::Failed(_) => PageState::Loading,
        Load::Ready(list) if list.sessions.is_empty() => {
            let unread = list.unread.iter();
            let unread = unread.map(|file| (file.path.clone(), file.reason.clone()));
            PageState::Nothing(unread.collect())
        }
        Load::Ready(_) => {
            let view = || PageState::View(view.get());
            profiles.gone().map_or_else(view, PageState::Gone)
        }
    });
    let is_gone = Memo::new(move |_| matches!(state.get(), PageState::Gone(_)));
    let note = move || {
        let texts = i18n.texts();
        if is_gone.get() {
            return None;
        }
        let state = profiles
            .chosen
            .with(|chosen| note_of(chosen.as_deref()?, texts))?;
        Some(state::note(state))
    };
    // Files of other profilers next to the profile.
    let unread = move || {
        let Load::Ready(list) = profiles.list.load() else {
            return None;
        };
        let is_beside = state.get() == PageState::View(ProfileView::Overview);
        (is_beside && !list.unread.is_empty()).then(|| unread_note(&list.unread))
    };
    let content = move || match state.get() {
        PageState::Failed(message) => view! {
            <StatePage
                icon=IconName::Profile
                title=i18n.label(|t| t.profile().none)
                next=Signal::stored(message)
            >
                <span></span>
            </StatePage>
        }
        .into_any(),
        PageState::Gone(session) => view! {
            <StatePage
                icon=IconName::Gone
                title=Signal::derive(move || (i18n.texts().profile().gone)(&session))
                next=i18n.label(|t| t.profile().gone_next)
            >
                <span></span>
            </StatePage>
        }
        .into_any(),
        PageState::Nothing(unread) => view! { <Recording unread /> }.into_any(),
        PageState::View(ProfileView::Overview) => view! { <Overview /> }.into_any(),
        PageState::View(ProfileView::Steps) => view! { <Steps /> }.into_any(),
        PageState::View(ProfileView::Operators) => view! { <Operators /> }.into_any(),
        PageState::View(view) => later(view),
        PageState::Loading => ().into_any(),
    };
    view! {
        {(!is_alone).then(|| view! { <ProfileTabs current profiles has_steps has_ranks /> })}
        <main
            class="main profile-page"
            data-view=move || PROFILE_VIEW.write(&view.get())
            aria-busy=move || (state.get() == PageState::Loading).to_string()
        >
            {note}
            {unread}
            <Show when=move || !is_gone.get()>
                <Refusal error=model.overview.error />
            </Show>
            {content}
            {is_alone.then(|| view! { <Beyond profiles /> })}
        </main>
    }
}

/// A view with separate code, or a message if the code could not be fetched.
fn later(view: ProfileView) -> AnyView {
    let i18n = use_i18n();
    Suspend::new(async move {
        more(view).await.unwrap_or_else(|_| {
            view! {
                <StatePage
                    icon=IconName::Gone
                    title=i18n.label(|t| t.states().no_code)
                    next=i18n.label(|t| t.states().no_code_next)
                >
                    <span></span>
                </StatePage>
            }
            .into_any()
        })
    })
    .into_any()
}

/// Files of other profilers: one is a note, several are a list that opens.
fn unread_note(unread: &[UnreadProfile]) -> AnyView {
    if let [file] = unread {
        let (title, next) = (file.path.clone(), file.reason.clone());
        let (title, next) = (Signal::stored(title), Signal::stored(next));
        return view! { <Note icon=IconName::Profile title next /> }.into_any();
    }
    let i18n = use_i18n();
    let count = unread.len() as u64;
    let rows = unread.iter().map(|file| {
        view! {
            <li class="small">
                <b class="med">{file.path.clone()}</b>
                " "
                <span class="ink2">{file.reason.clone()}</span>
            </li>
        }
    });
    view! {
        <details class="unread" data-part="unread">
            <summary class="note">
                <span class="ink2">{fixed_icon(IconName::Profile, 14)}</span>
                <b class="med">{move || (i18n.texts().profile().unread_files)(count)}</b>
                <span class="grow"></span>
                <span class="link">{i18n.text(|t| t.profile().unread_which)}</span>
            </summary>
            <ul class="card">{rows.collect::<Vec<_>>()}</ul>
        </details>
    }
    .into_any()
}
