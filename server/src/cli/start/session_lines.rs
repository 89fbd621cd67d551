//! Event lines of `start` about connected trainings: one for each that connects, waits, goes on or ends.

use std::collections::BTreeMap;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use trainscope_api::sessions::{Session, SessionState};

use super::events::{Event, lines, time_of_day};
use super::write_out;
use crate::index::Index;
use crate::session::Sessions;

/// Prints events until the server ends. Write errors are ignored.
pub(super) async fn tell(sessions: Sessions, index: Index, mut ending: watch::Receiver<bool>) {
    let mut notices = index.notices().subscribe();
    let mut known = BTreeMap::new();
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
        let text = lines(&events(&known, &list), &time_of_day());
        known = list.iter().map(|own| (own.id.clone(), own.state)).collect();
        if !text.is_empty() && write_out(&text).is_err() {
            return;
        }
    }
}

/// Events between known states and the sessions now.
fn events<'a>(known: &BTreeMap<String, SessionState>, now: &'a [Session]) -> Vec<Event<'a>> {
    let event = |own: &'a Session| {
        let before = known.get(&own.id).copied();
        let word = word(before, own.state)?;
        let what = match own.state {
            SessionState::Waiting => own.hits.first().map(|hit| hit.sentence.en.clone()),
            _ => None,
        };
        Some(Event {
            word,
            run: &own.name,
            last_step: Some(own.step),
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
