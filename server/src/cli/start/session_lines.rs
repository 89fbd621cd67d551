//! Events of connected trainings while `start` runs: a line for each that connects, waits, goes on or ends, and the
//! program that runs when one waits.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use trainscope_api::sessions::{Session, SessionState};

use super::events::{Event, lines, time_of_day};
use super::write_out;
use crate::alarm::{self, COMMAND_LIMIT};
use crate::index::Index;
use crate::session::Sessions;

/// States of sessions by id.
type States = BTreeMap<String, SessionState>;

/// Prints events until the server ends. Write errors are ignored.
pub(super) async fn tell(sessions: Sessions, index: Index, ending: watch::Receiver<bool>) {
    follow(&sessions, &index, ending, |known, list| {
        let text = lines(&events(known, list), &time_of_day());
        text.is_empty() || write_out(&text).is_ok()
    })
    .await;
}

/// Runs a program each time that a training begins to wait, with the session as JSON on its standard input.
pub(super) async fn run_on_wait(
    command: Vec<String>,
    sessions: Sessions,
    index: Index,
    ending: watch::Receiver<bool>,
) {
    let command = Arc::new(command);
    follow(&sessions, &index, ending, |known, list| {
        let begin = list.iter().filter(|session| {
            let before = known.get(&session.id);
            session.state == SessionState::Waiting && before != Some(&SessionState::Waiting)
        });
        for session in begin {
            let text = serde_json::to_vec(session).unwrap_or_default();
            let command = Arc::clone(&command);
            tokio::task::spawn_blocking(move || {
                if let Err(error) = alarm::run(&command, &text, COMMAND_LIMIT) {
                    tracing::warn!("--on-wait {}: {error}", command.join(" "));
                }
            });
        }
        true
    })
    .await;
}

/// Calls a function with the states so far and the sessions now whenever one changes, until it returns `false` or the
/// server ends.
async fn follow(
    sessions: &Sessions,
    index: &Index,
    mut ending: watch::Receiver<bool>,
    mut look: impl FnMut(&States, &[Session]) -> bool,
) {
    let mut notices = index.notices().subscribe();
    let mut known = States::new();
    loop {
        let is_changed = tokio::select! {
            _ = ending.wait_for(|ending| *ending) => return,
            notice = notices.recv() => match notice {
                Ok(notice) => notice.sessions_changed,
                Err(RecvError::Lagged(_)) => true,
                Err(RecvError::Closed) => return,
            },
        };
        if !is_changed {
            continue;
        }
        let list = sessions.list().sessions;
        let goes_on = look(&known, &list);
        known = list
            .iter()
            .map(|session| (session.id.clone(), session.state))
            .collect();
        if !goes_on {
            return;
        }
    }
}

/// Events between known states and the sessions now.
fn events<'a>(known: &States, now: &'a [Session]) -> Vec<Event<'a>> {
    let event = |session: &'a Session| {
        let before = known.get(&session.id).copied();
        let word = word(before, session.state)?;
        let what = match session.state {
            SessionState::Waiting => session.hits.first().map(|hit| hit.sentence.en.clone()),
            _ => None,
        };
        Some(Event {
            word,
            run: &session.name,
            last_step: Some(session.step),
            what: what.unwrap_or_default(),
        })
    };
    now.iter().rev().filter_map(event).collect()
}

fn word(before: Option<SessionState>, now: SessionState) -> Option<&'static str> {
    if before == Some(now) {
        return None;
    }
    match (before, now) {
        (_, SessionState::Waiting) => Some("waiting"),
        (_, SessionState::Finished | SessionState::Lost) => Some("gone"),
        (None | Some(SessionState::Lost), _) => Some("connected"),
        (Some(SessionState::Waiting), _) => Some("went on"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use trainscope_api::sessions::SessionState;

    use super::word;

    #[test]
    fn changes_of_state_have_words() {
        use SessionState::{Finished, Joining, Lost, Pausing, Running, Stepping, Waiting};

        for (before, now, wanted) in [
            (None, Joining, Some("connected")),
            (Some(Joining), Running, None),
            (Some(Running), Pausing, None),
            (Some(Pausing), Waiting, Some("waiting")),
            (Some(Waiting), Stepping, Some("went on")),
            (Some(Waiting), Running, Some("went on")),
            (Some(Running), Running, None),
            (Some(Running), Lost, Some("gone")),
            (Some(Lost), Joining, Some("connected")),
            (Some(Running), Finished, Some("gone")),
        ] {
            assert_eq!(word(before, now), wanted, "{before:?} to {now:?}");
        }
    }
}
