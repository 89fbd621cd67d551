//! Live sessions: connected trainings, decisions about their gates, and their tensors while they wait.

pub(crate) mod attach;
mod entry;
mod machine;
pub(crate) mod registry;
mod report;
pub(crate) mod source;

use trainscope_analysis::watchpoint::catalogue::Target;
use trainscope_format::session::WatchpointTable;

use crate::judging::{Judgements, NewJudgement};
pub use machine::Limits;
pub use registry::Sessions;

/// The watchpoints of a run for its training; `None` for the recommended ones: the training keeps its list.
pub(crate) fn watchpoints_of(judgements: &Judgements, run: &str) -> Option<Vec<WatchpointTable>> {
    let list = judgements.watchpoints(run)?;
    if list.origin == trainscope_api::watchpoints::Origin::Recommended {
        return None;
    }
    let tables = serde_json::to_value(&list.watchpoints).ok()?;
    serde_json::from_value(tables).ok()
}

/// Asks to pause trainings of several ranks that have a hit which no single rank can see.
pub(crate) fn pause_by_rules(sessions: &Sessions, judged: &NewJudgement<'_>) {
    let Some(level) = sessions.level_of(judged.run) else {
        return;
    };
    if judged.is_from_before || judged.is_watched_otherwise {
        return;
    }
    let findings = &judged.now.findings;
    if findings.judged.ranks < 2 {
        return;
    }
    let hits = findings.hits.iter();
    let of_rules =
        hits.filter(|hit| hit.condition.target == Target::Run && level.includes(hit.severity));
    let of_rules = of_rules.map(|hit| ((hit.condition.id, hit.tensor.clone()), hit.step));
    sessions.rule_hits(judged.run, &of_rules.collect::<Vec<_>>());
}
