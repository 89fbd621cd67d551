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
        let newest = sessions.first().map(|session| session.id.clone());
        let of_newest = sessions
            .iter()
            .filter(|session| Some(&session.id) == newest.as_ref());
        let read = of_newest.map(|files| read_files(files, &Progress::default()));
        let readable = read.filter(|profile| profile.state() != ProfileState::Unreadable);
        Self {
            by_rank: readable
                .map(|profile| (profile.rank(), comparable(&profile)))
                .collect(),
            any_device,
        }
    }

    /// Reads the text of `export --kind profile --format json`: the first session in it, which is the newest.
    pub(crate) fn of_export(text: &str, any_device: bool) -> Result<Self, serde_json::Error> {
        let export: Export = serde_json::from_str(text)?;
        let newest = export
            .sessions
            .first()
            .map(|session| session.session.clone());
        let of_newest = export.sessions.into_iter().filter(|session| {
            Some(&session.session) == newest.as_ref() && session.state != ProfileState::Unreadable
        });
        Ok(Self {
            by_rank: of_newest
                .map(|session| (session.rank, session.into()))
                .collect(),
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
pub(super) fn comparable(profile: &LoadedProfile) -> SessionSummary {
    let mut all = summary(&profile.model, StepRange::default(), usize::MAX);
    profile.describe(&mut all);
    all.operators = operators(profile);
    all
}

/// All operators by name.
pub(super) fn operators(profile: &LoadedProfile) -> Vec<OperatorRow> {
    let table = Operators::new(&profile.model).table(OperatorGroup::Name, StepRange::default());
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
    fn from(exported: ExportedSession) -> Self {
        let steps = exported.steps.into_iter().map(|step| ProfileStep {
            begin_nanos: step.begin_nanos,
            end_nanos: step.end_nanos,
            is_whole: step.is_whole,
            ..ProfileStep::default()
        });
        let operators = exported.operators.into_iter().map(|operator| OperatorRow {
            name: operator.name,
            self_step_nanos: operator.self_step_nanos,
            ..OperatorRow::default()
        });
        Self {
            session: exported.session,
            rank: exported.rank,
            state: exported.state,
            device_name: exported.device_name,
            steps: steps.collect(),
            median_step_nanos: exported.median_step_nanos,
            operators: operators.collect(),
            ..Self::default()
        }
    }
}
