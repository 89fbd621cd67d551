//! Profiles that are known to be good, which `check --against` compares with: those of another run, or of an export.

use std::collections::BTreeMap;

use serde::Deserialize;
use trainscope_analysis::trace::advice::baseline::Baseline;
use trainscope_analysis::trace::operators::Operators;
use trainscope_analysis::trace::steps::StepRange;
use trainscope_analysis::trace::summary::summary;
use trainscope_api::profile::{
    OperatorGroup, OperatorRow, ProfileState, ProfileStep, SessionSummary,
};

use crate::discovery::runs::RunFiles;
use crate::profiles::{LoadedProfile, Progress, read_files, recorded_by};

/// The newest session of a run that is known to be good, by rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct GoodProfiles {
    by_rank: BTreeMap<u32, SessionSummary>,
    any_device: bool,
}

impl GoodProfiles {
    /// Reads the newest session of a run. Profiles that cannot be read are left out.
    pub(crate) fn of_run(run: &RunFiles, any_device: bool) -> Self {
        let sessions = recorded_by(run);
        let newest = sessions.first().map(|own| own.id.clone());
        let of_newest = sessions
            .iter()
            .filter(|own| Some(&own.id) == newest.as_ref());
        let read = of_newest.map(|own| read_files(own, &Progress::default()));
        let readable = read.filter(|own| own.state() != ProfileState::Unreadable);
        Self {
            by_rank: readable.map(|own| (own.rank(), comparable(&own))).collect(),
            any_device,
        }
    }

    /// Reads the text of `export --kind profile --format json`: the first session in it, which is the newest.
    pub(crate) fn of_export(text: &str, any_device: bool) -> Result<Self, serde_json::Error> {
        let export: Export = serde_json::from_str(text)?;
        let newest = export.sessions.first().map(|own| own.session.clone());
        let of_newest = export.sessions.into_iter().filter(|own| {
            Some(&own.session) == newest.as_ref() && own.state != ProfileState::Unreadable
        });
        Ok(Self {
            by_rank: of_newest.map(|own| (own.rank, own.into())).collect(),
            any_device,
        })
    }

    /// The baseline for a rank: the same rank, else the lowest.
    pub(super) fn baseline(&self, rank: u32) -> Baseline<'_> {
        let same = self.by_rank.get(&rank);
        Baseline {
            summary: same.or_else(|| self.by_rank.values().next()),
            any_device: self.any_device,
        }
    }
}

/// The summary of a profile with all of its steps and operators.
pub(super) fn comparable(own: &LoadedProfile) -> SessionSummary {
    let mut all = summary(&own.model, StepRange::default(), usize::MAX);
    own.describe(&mut all);
    all.operators = operators(own);
    all
}

/// All operators by name.
pub(super) fn operators(own: &LoadedProfile) -> Vec<OperatorRow> {
    let table = Operators::new(&own.model).table(OperatorGroup::Name, StepRange::default());
    table.rows
}

/// The fields of an export that a comparison needs, so that exports of other versions can be read.
#[derive(Deserialize)]
struct Export {
    sessions: Vec<ExportedSession>,
}

#[derive(Deserialize)]
struct ExportedSession {
    session: String,
    rank: u32,
    #[serde(default)]
    state: ProfileState,
    device_name: Option<String>,
    steps: Vec<ExportedStep>,
    median_step_nanos: i64,
    operators: Vec<ExportedOperator>,
}

#[derive(Deserialize)]
struct ExportedStep {
    begin_nanos: i64,
    end_nanos: i64,
    is_whole: bool,
}

#[derive(Deserialize)]
struct ExportedOperator {
    name: String,
    self_step_nanos: i64,
}

impl From<ExportedSession> for SessionSummary {
    fn from(own: ExportedSession) -> Self {
        let steps = own.steps.into_iter().map(|step| ProfileStep {
            begin_nanos: step.begin_nanos,
            end_nanos: step.end_nanos,
            is_whole: step.is_whole,
            ..ProfileStep::default()
        });
        let operators = own.operators.into_iter().map(|operator| OperatorRow {
            name: operator.name,
            self_step_nanos: operator.self_step_nanos,
            ..OperatorRow::default()
        });
        Self {
            session: own.session,
            rank: own.rank,
            state: own.state,
            device_name: own.device_name,
            steps: steps.collect(),
            median_step_nanos: own.median_step_nanos,
            operators: operators.collect(),
            ..Self::default()
        }
    }
}
