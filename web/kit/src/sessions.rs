//! Trainings that are or were connected, for all pages.

use leptos::task::spawn_local;
use trainscope_api::sessions::{
    CommandRequest, Session, SessionCommand, SessionList, SessionState,
};

use crate::client::{self, ClientError};
use crate::live::use_live;
use crate::prelude::*;
use crate::query::{Query, query};
use crate::state::use_app_state;

/// The list of sessions; requested once a run has one. `Copy`: take it with [`use_sessions`].
#[derive(Clone, Copy)]
pub struct Sessions {
    list: Query<SessionList>,
    /// Grows when this page has given a command, whose effect is shown at once.
    version: RwSignal<u64>,
}

impl Sessions {
    /// Provides the list.
    pub fn provide() {
        let (live, state) = (use_live(), use_app_state());
        let version = RwSignal::new(0_u64);
        let is_any = Memo::new(move |_| {
            let has_session = || {
                state
                    .runs
                    .with(|list| list.runs.iter().any(|run| run.session.is_some()))
            };
            live.sessions_version.get() + version.get() > 0 || has_session()
        });
        let list = query(
            move || is_any.get().then_some(()),
            |()| async { client::sessions().await },
        );
        let list = list.again_with(move || live.sessions_version.get() + version.get());
        provide_context(Self { list, version });
    }

    /// Requests the list again.
    pub fn ask_again(self) {
        self.version.try_update(|version| *version += 1);
    }

    /// Gives a command, based on the displayed state of a session; `on_answer` gets the reason of a refusal.
    pub fn command(
        self,
        session: &Session,
        command: SessionCommand,
        on_answer: impl FnOnce(Option<ClientError>) + 'static,
    ) {
        let request = CommandRequest {
            session: session.id.clone(),
            turn: session.turn,
            command,
        };
        spawn_local(async move {
            let answer = client::session_command(&request).await;
            on_answer(answer.err());
            self.ask_again();
        });
    }

    /// The newest session of a run; reactive.
    pub fn of_run(self, run: &str) -> Option<Session> {
        self.list.answer.with(|answer| {
            let mut sessions = answer.as_ref()?.sessions.iter();
            sessions
                .find(|session| session.run.as_deref() == Some(run))
                .cloned()
        })
    }

    /// Sessions that have not ended, the newest first; reactive.
    pub fn open(self) -> Vec<Session> {
        self.list.answer.with(|answer| {
            let all = answer.iter().flat_map(|answer| &answer.sessions);
            let open = all.filter(|session| session.state != SessionState::Finished);
            open.cloned().collect()
        })
    }

    /// `true` if the training of a run waits; without a run, if any training waits; reactive.
    pub fn is_waiting(self, run: Option<&str>) -> bool {
        self.list.answer.with(|answer| {
            let mut all = answer.iter().flat_map(|answer| &answer.sessions);
            all.any(|session| {
                session.state == SessionState::Waiting
                    && (run.is_none() || session.run.as_deref() == run)
            })
        })
    }
}

/// The sessions of this page.
pub fn use_sessions() -> Sessions {
    expect_context()
}
