//! Runs of sessions: their folders, watchpoints and rules.

use trainscope_format::session::{PauseLevel, ToTraining, WatchpointTable};

use super::{SessionError, Sessions};
use crate::session::attach;
use crate::session::entry::RuleHit;
use crate::session::machine::{Event, State};

impl Sessions {
    pub(super) fn has_pausing_watchpoint(&self, run: Option<&str>) -> bool {
        let list = run.and_then(|run| (self.0.watchpoints)(run));
        let is_pausing =
            |watchpoint: &WatchpointTable| watchpoint.get("pause") == Some(&true.into());
        list.is_some_and(|list| list.iter().any(is_pausing))
    }

    /// The run of a session; `None` if it is of no known run.
    pub(crate) fn run_of_session(&self, id: &str) -> Result<Option<String>, SessionError> {
        Ok(self.0.table.lock().find(id)?.run.clone())
    }

    /// The run whose folder has this path. The path is compared as text, and nothing is opened.
    pub(super) fn run_of(&self, folder: &str) -> Option<String> {
        let folder = std::path::Path::new(folder);
        self.0.bases.iter().find_map(|base| {
            let below = folder.strip_prefix(&base.dir).ok()?.to_str()?;
            Some(base.run_name(if below.is_empty() { "." } else { below }))
        })
    }

    /// Finds the runs of trainings whose folder is not one of the server's, because they see it at another path: by
    /// host and process in the name of a growing event file. A run of another session is left out, and several runs
    /// mean no choice.
    pub(super) fn find_runs(&self) {
        let mut alone = Vec::new();
        for entry in self.0.table.lock().sessions.values() {
            if entry.run.is_none() && entry.machine.is_live() {
                let names = entry.peers.values();
                let names = names.map(|peer| format!(".{}.{}.", peer.host, peer.pid));
                alone.push((entry.id, names.collect::<Vec<_>>()));
            }
        }
        for (id, names) in alone {
            let is_own = |file: &str| names.iter().any(|name| file.contains(&**name));
            let mut runs = self.0.index.growing_runs(is_own);
            let of_others = self.of_runs();
            runs.retain(|run| !of_others.contains_key(&**run));
            let (Some(run), true) = (runs.first(), runs.len() == 1) else {
                continue;
            };
            let run = run.to_string();
            let list = (self.0.watchpoints)(&run);
            let has_pausing = self.has_pausing_watchpoint(Some(&run));
            let mut table = self.0.table.lock();
            let attached = table.attached.remove(&run);
            let Some(entry) = table.sessions.get_mut(&id) else {
                continue;
            };
            if let Some(attached) = attached {
                attach::remove(&attached.file);
                entry.machine.level = attached.level;
            }
            entry.run = Some(run);
            entry.machine.has_pausing_watchpoint = has_pausing;
            entry.machine.turn += 1;
            entry.send_all(&ToTraining::Watchpoints {
                list,
                pause_at: Some(entry.machine.level),
            });
        }
    }

    /// Sends new watchpoints to the trainings of a run. Those that wait judge their step again.
    pub(crate) fn set_watchpoints(&self, run: &str) {
        let list = (self.0.watchpoints)(run);
        let has_pausing = self.has_pausing_watchpoint(Some(run));
        let mut table = self.0.table.lock();
        let of_run = table.sessions.values_mut();
        for entry in of_run.filter(|entry| entry.run.as_deref() == Some(run)) {
            entry.machine.has_pausing_watchpoint = has_pausing;
            if matches!(entry.machine.state, State::Waiting { .. }) {
                entry.hits.clear();
                entry.machine.hits_total = 0;
                entry.machine.turn += 1;
                entry.announced = entry.machine.turn;
                self.0.index.notices().announce_sessions();
            }
            entry.send_all(&ToTraining::Watchpoints {
                list: list.clone(),
                pause_at: Some(entry.machine.level),
            });
        }
    }

    /// Asks to pause a training whose ranks together have hits, with their steps. Each hit pauses once.
    pub(crate) fn rule_hits(&self, run: &str, hits: &[(RuleHit, i64)]) {
        let mut table = self.0.table.lock();
        let of_run = table.sessions.values_mut();
        for entry in of_run.filter(|entry| entry.run.as_deref() == Some(run)) {
            let fresh = hits
                .iter()
                .filter(|hit| entry.rule_hits.insert(hit.0.clone()))
                .map(|hit| hit.1);
            // All hits are noted, not only those before the minimum.
            let steps: Vec<i64> = fresh.collect();
            if let Some(step) = steps.into_iter().min() {
                entry.apply(Event::RuleHit { step });
            }
        }
    }

    /// Level of the newest session of a run, if it is live.
    pub(crate) fn level_of(&self, run: &str) -> Option<PauseLevel> {
        let table = self.0.table.lock();
        let all = table.sessions.values().rev();
        all.filter(|entry| entry.run.as_deref() == Some(run) && entry.machine.is_live())
            .map(|entry| entry.machine.level)
            .next()
    }
}
