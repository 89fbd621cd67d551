//! Event lines of `start` after reading: one for each run that appears, grows, stops, breaks or vanishes.
//!
//! The input is the list of runs, requested again at each notice of a change. Without changes nothing is printed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use trainscope_api::runs::{File, FileStatus, Run, RunList, RunStatus};

use super::write_out;
use crate::cli::style::{QUIET, STRONG, WARNING};
use crate::cli::words;
use crate::index::Index;

/// Minimum interval: a training that writes many files causes many notices.
const PAUSE: Duration = Duration::from_secs(1);
/// Width of the column of runs; a longer name shifts the rest.
const NAME_WIDTH: usize = 30;

/// Prints events until the server ends. Write errors are ignored.
pub(super) async fn tell(index: Index, mut ending: watch::Receiver<bool>) {
    let mut notices = index.notices().subscribe();
    let Some(mut known) = look(&index).await.map(|list| RunStates::of(&list)) else {
        return;
    };
    loop {
        let changed = tokio::select! {
            _ = ending.wait_for(|ending| *ending) => return,
            notice = notices.recv() => match notice {
                Ok(notice) => notice.runs_changed,
                Err(RecvError::Lagged(_)) => true,
                Err(RecvError::Closed) => return,
            },
        };
        if !changed {
            continue;
        }
        tokio::time::sleep(PAUSE).await;
        // Earlier notices are covered by the list requested now.
        notices = notices.resubscribe();
        let Some(list) = look(&index).await else {
            return;
        };
        let now = RunStates::of(&list);
        let text = lines(&known.events(&now), &time_of_day());
        known = now;
        if !text.is_empty()
            && let Err(error) = write_out(&text)
        {
            tracing::debug!(%error, "events are not told any more");
            return;
        }
    }
}

async fn look(index: &Index) -> Option<RunList> {
    let index = index.clone();
    tokio::task::spawn_blocking(move || index.runs()).await.ok()
}

pub(super) fn time_of_day() -> String {
    jiff::Zoned::now().strftime("%H:%M:%S").to_string()
}

/// State of one run for events.
#[derive(Clone, Debug, PartialEq)]
struct State {
    status: RunStatus,
    last_step: Option<i64>,
    /// First unreadable file, and the error.
    damage: Option<String>,
}

/// All runs at one time.
struct RunStates(BTreeMap<String, State>);

#[derive(Debug, PartialEq)]
pub(super) struct Event<'a> {
    pub(super) word: &'static str,
    pub(super) run: &'a str,
    pub(super) last_step: Option<i64>,
    pub(super) what: String,
}

impl RunStates {
    fn of(list: &RunList) -> Self {
        let state = |run: &Run| State {
            status: run.status,
            last_step: run.last_step,
            damage: run.files.iter().find_map(damage),
        };
        let runs = list.runs.iter().map(|run| (run.id.clone(), state(run)));
        Self(runs.collect())
    }

    /// Events between this state and the next one, by run.
    fn events<'a>(&self, next: &'a Self) -> Vec<Event<'a>> {
        let mut events = Vec::new();
        for (run, now) in &next.0 {
            let before = self.0.get(run);
            let mut say = |word, what: &str| {
                events.push(Event {
                    word,
                    run,
                    last_step: now.last_step,
                    what: what.to_owned(),
                });
            };
            if before.is_none() {
                say("new", "");
            }
            if before.is_some_and(|before| before.status != now.status) {
                match now.status {
                    RunStatus::Live => say("live", "grows again"),
                    RunStatus::Stopped => say("stopped", "nothing was written for a while"),
                    RunStatus::Gone => say("gone", "the folder was removed or renamed"),
                }
            }
            if let Some(damage) = &now.damage
                && before.is_none_or(|before| before.damage.is_none())
            {
                say("damaged", damage);
            }
        }
        events
    }
}

fn damage(file: &File) -> Option<String> {
    let what = match file.status {
        FileStatus::Damaged => "is damaged",
        FileStatus::Unreadable => "cannot be read",
        FileStatus::Live | FileStatus::Complete | FileStatus::Truncated | FileStatus::Gone => {
            return None;
        }
    };
    let reason = file.reason.as_deref().unwrap_or_default();
    let colon = if reason.is_empty() { "" } else { ": " };
    Some(format!("{} {what}{colon}{reason}", file.path))
}

/// `02:41:18  gone      resnet18/lr-1.0    step 7,340  the folder was removed or renamed`.
pub(super) fn lines(events: &[Event], time: &str) -> String {
    let mut text = String::new();
    for event in events {
        let style = match event.word {
            "damaged" => WARNING,
            _ => anstyle::Style::new(),
        };
        let step = event
            .last_step
            .map_or_else(String::new, |step| format!("step {:>7}", words::step(step)));
        let (run, what) = (words::name(event.run, None), words::name(&event.what, None));
        let line = format!(
            "{QUIET}{time}{QUIET:#}  {style}{:<9}{style:#} {STRONG}{run:<NAME_WIDTH$}{STRONG:#}  {step:<12}  {what}",
            event.word
        );
        // Writing to a string cannot fail.
        let _infallible = writeln!(text, "{}", line.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{RunStates, State, lines};
    use trainscope_api::runs::RunStatus;

    fn known(runs: &[(&str, RunStatus, i64, Option<&str>)]) -> RunStates {
        let runs = runs.iter().map(|(run, status, step, damage)| {
            let state = State {
                status: *status,
                last_step: Some(*step),
                damage: damage.map(str::to_owned),
            };
            ((*run).to_owned(), state)
        });
        RunStates(runs.collect())
    }

    #[test]
    fn only_what_happened_is_told() {
        let before = known(&[
            ("a", RunStatus::Live, 1, None),
            ("b", RunStatus::Live, 7, None),
            ("c", RunStatus::Stopped, 3, None),
        ]);
        let after = known(&[
            ("a", RunStatus::Live, 2, None),
            ("b", RunStatus::Gone, 7_340, None),
            (
                "c",
                RunStatus::Stopped,
                3,
                Some("c/events is damaged: no such frame"),
            ),
            ("d", RunStatus::Live, 0, None),
        ]);
        let text = lines(&before.events(&after), "02:41:18");
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            "02:41:18  gone      b                               step   7,340  the folder was removed or renamed\n\
             02:41:18  damaged   c                               step       3  c/events is damaged: no such frame\n\
             02:41:18  new       d                               step       0\n"
        );
        assert!(before.events(&before).is_empty());
        assert!(after.events(&after).is_empty());
    }

    #[test]
    fn names_do_not_move_the_cursor() {
        let after = known(&[("a\x1b[2J\n", RunStatus::Live, 0, None)]);
        let text = lines(&known(&[]).events(&after), "00:00:00");
        assert!(!text.contains("\x1b[2J"));
        assert_eq!(text.lines().count(), 1);
    }
}
