//! Judges the profiles of a run: the newest session of each rank, with all ranks of that session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trainscope_analysis::pipeline::Clock;
use trainscope_analysis::trace::advice::{self, Facts, Lack, Limits, Rule, baseline};
use trainscope_analysis::trace::numbering;
use trainscope_analysis::trace::ranks::{RankDigest, ranks};
use trainscope_analysis::trace::steps::StepRange;
use trainscope_analysis::trace::summary::summary;
use trainscope_analysis::watchpoint::{Evaluator, ProfileJudgement};
use trainscope_api::profile::{InputShare, ProfileState, RanksAnswer};
use trainscope_api::runs::RunProfile;
use trainscope_format::trace::TraceFormat;
use trainscope_format::{Format, digits};

use super::baseline::{GoodProfiles, operators};
use super::fault::Fault;
use crate::discovery::runs::RunFiles;
use crate::profiles::{
    LoadedProfile, Profiles, Progress, SessionFiles, input, read_files, recorded_by,
};

/// Unpacked bytes of a session whose traces stay in memory until all ranks are compared (chosen: their models take some
/// 80 MB).
const KEPT_BYTES: u64 = 128 << 20;

/// Sessions that were judged, by rank.
#[derive(Default)]
pub(super) struct JudgedProfiles {
    /// Identity of the files of each judged session.
    keys: BTreeMap<u32, String>,
    /// Profiles that could not be read, by rank.
    faults: BTreeMap<u32, Fault>,
    /// Facts about each judged session, by rank.
    briefs: BTreeMap<u32, RunProfile>,
    /// Profiles to compare with.
    baseline: Option<Arc<GoodProfiles>>,
    /// Profiles of the pages, which read a session for both.
    shared: Option<Profiles>,
}

impl JudgedProfiles {
    /// Profiles that are compared with good ones, if there are any.
    pub(super) fn against(baseline: Option<Arc<GoodProfiles>>) -> Self {
        Self {
            baseline,
            ..Self::default()
        }
    }

    /// Profiles that are read together with the pages, if there are some.
    pub(super) fn of(shared: Option<Profiles>) -> Self {
        Self {
            shared,
            ..Self::default()
        }
    }

    /// Profiles that could not be read.
    pub(super) fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.faults.values()
    }

    /// The profile of the lowest rank in brief.
    pub(super) fn brief(&self) -> Option<RunProfile> {
        let (_, first) = self.briefs.first_key_value()?;
        Some(RunProfile {
            ranks: self.briefs.len() as u64,
            ..first.clone()
        })
    }

    /// Judges the sessions that are new since the last call. Files are read only if a watchpoint is about profiles.
    pub(super) fn judge(&mut self, run: &RunFiles, evaluator: &mut Evaluator) {
        let limits = evaluator.watchpoints().profile_limits();
        if limits.is_empty() {
            return;
        }
        let sessions = recorded_by(run);
        if sessions.is_empty() && self.baseline.is_some() {
            evaluator.profile(without_profile(&limits));
        }
        let mut newest: BTreeMap<u32, &SessionFiles> = BTreeMap::new();
        for session in &sessions {
            newest.entry(session.rank).or_insert(session);
        }
        let is_new = |files: &&SessionFiles| self.keys.get(&files.rank) != Some(&files.key());
        let changed = newest.values().copied().filter(is_new);
        let ids: BTreeSet<&str> = changed.map(|files| &*files.id).collect();
        for id in ids {
            let of_session = sessions.iter().filter(|files| files.id == id);
            let of_session: Vec<&SessionFiles> = of_session.collect();
            let shared = self.shared.clone();
            let load = |files: &SessionFiles| match &shared {
                Some(profiles) => profiles.load(files),
                None => Arc::new(read_files(files, &Progress::default())),
            };
            let (seen, mut kept) = look(&of_session, shared.is_some(), load);
            let cluster = (seen.len() > 1).then(|| ranks(&seen));
            for (at, (files, seen)) in of_session.iter().zip(&seen).enumerate() {
                let is_newest = newest.get(&seen.rank).is_some_and(|files| files.id == id);
                if !is_newest {
                    continue;
                }
                let profile = kept.get_mut(at).and_then(Option::take);
                let profile = &profile.unwrap_or_else(|| load(files));
                self.keys.insert(profile.rank(), profile.files().key());
                self.note_fault(profile);
                let input = input_of(run, profile.rank());
                let good = self.baseline.as_deref();
                let judged = judged(profile, &limits, (input, cluster.as_ref(), good), evaluator);
                evaluator.profile(judged);
                if profile.state() != ProfileState::Unreadable {
                    self.briefs.insert(profile.rank(), brief(profile));
                }
            }
            if let Some(profiles) = &shared {
                for files in of_session {
                    profiles.release(files);
                }
            }
        }
    }

    fn note_fault(&mut self, profile: &LoadedProfile) {
        self.faults.remove(&profile.rank());
        if let Some((offset, reason)) = damage_of(profile) {
            let fault = Fault {
                file: profile.files().paths().join(", ").into(),
                offset,
                reason,
                // Offsets in a packed file are those of its content.
                len_bytes: profile
                    .files()
                    .len_bytes
                    .max(profile.model.trace.counts.bytes),
            };
            self.faults.insert(profile.rank(), fault);
        }
    }
}

/// All ranks of a session in brief, and their traces if these stay in memory: one at a time does, unless they are small
/// or the pages hold them anyway. Others are read once more when they are judged.
fn look(
    of_session: &[&SessionFiles],
    is_shared: bool,
    load: impl Fn(&SessionFiles) -> Arc<LoadedProfile>,
) -> (Vec<RankDigest>, Vec<Option<Arc<LoadedProfile>>>) {
    let mut len_bytes = 0_u64;
    let mut seen = Vec::new();
    let mut kept = Vec::new();
    for files in of_session {
        let profile = load(files);
        seen.push(RankDigest::of(profile.rank(), &profile.model));
        len_bytes = len_bytes.saturating_add(profile.model.trace.counts.bytes);
        if is_shared || of_session.len() == 1 || len_bytes <= KEPT_BYTES {
            kept.push(Some(profile));
        } else {
            kept.clear();
        }
    }
    if kept.len() < seen.len() {
        kept.clear();
    }
    (seen, kept)
}

/// Offset and reason of the unreadable part of a profile.
fn damage_of(profile: &LoadedProfile) -> Option<(u64, String)> {
    if profile.state() == ProfileState::Unreadable {
        return Some((0, profile.faults().join("; ")));
    }
    let trace = &profile.model.trace;
    let counts = &trace.counts;
    if counts.damaged > 0 {
        let Some(first) = counts.damages.first() else {
            return Some((counts.bytes, profile.faults().join("; ")));
        };
        let offset = first.offset;
        let places = digits::count(counts.damaged);
        let reason = if counts.damaged == 1 {
            "a place could not be read, or has an impossible time".to_owned()
        } else {
            format!("{places} places could not be read, or have impossible times")
        };
        return Some((offset, reason));
    }
    // Other writers of Chrome traces may leave out the end of the list.
    let formats = [trace.head.format, profile.files().format()];
    let is_cut = counts.truncated && formats.contains(&TraceFormat::Kineto);
    let reason = "the file ends before its last event is complete";
    is_cut.then(|| (counts.bytes, reason.to_owned()))
}

/// Waiting of a rank for its data set, from the last of the profiler's files about it; those of the iterator say more
/// than those of the device.
fn input_of(run: &RunFiles, rank: u32) -> Option<InputShare> {
    let events = &run.ranks.get(&rank)?.events;
    let times = events.iter().filter_map(|source| match source.format {
        Format::Queues(format) => input(&source.path, format),
        _ => None,
    });
    let last = times.max_by_key(|waiting| waiting.clock == Clock::Iterator)?;
    Some(last.summary())
}

/// Facts about a profile for the list of runs.
fn brief(profile: &LoadedProfile) -> RunProfile {
    let (summary, steps) = (profile.summary(), &profile.model.steps.list);
    let numbers = steps.first().zip(steps.last());
    let unix_nanos = summary.unix_nanos.as_deref();
    RunProfile {
        ranks: 1,
        steps: steps.len() as u64,
        step_range: numbers.map(|(first, last)| (first.number, last.number)),
        started_secs: unix_nanos.and_then(|nanos| Some(nanos.parse::<f64>().ok()? / 1e9)),
        extent_nanos: summary.extent_nanos,
        mean_step_nanos: summary.mean_step_nanos,
        mean_parts_nanos: summary.mean_parts_nanos,
        has_device: summary.device.is_some(),
    }
}

/// Judgement of a run without profiles, if a comparison was requested.
fn without_profile(limits: &[Limits]) -> ProfileJudgement {
    let rules = Rule::ALL.into_iter().filter(|rule| rule.needs_baseline());
    let judged = advice::Judgement {
        not_judged: rules.map(|rule| (rule, Lack::NoProfile)).collect(),
        ..advice::Judgement::default()
    };
    ProfileJudgement {
        judged: vec![judged; limits.len()],
        ..ProfileJudgement::default()
    }
}

fn judged(
    profile: &LoadedProfile,
    limits: &[Limits],
    (input, cluster, good): (
        Option<InputShare>,
        Option<&RanksAnswer>,
        Option<&GoodProfiles>,
    ),
    evaluator: &Evaluator,
) -> ProfileJudgement {
    let steps = &profile.model.steps.list;
    let numbers = steps.first().zip(steps.last());
    let mut facts = summary(&profile.model, StepRange::default(), usize::MAX);
    profile.describe(&mut facts);
    facts.input = input;
    let curve = evaluator.loss_curve(profile.rank());
    facts.step_offset = numbering::offset(&profile.model.step_ends(), &curve).unwrap_or(0);
    if good.is_some() {
        facts.operators = operators(profile);
    }
    let good = good.map(|good| good.baseline(profile.rank()));
    let judge = |limits: &Limits| {
        let mut judged = advice::judge(&Facts::new(&profile.model, &facts, cluster), limits);
        judged.add(baseline::judge(&facts, good, limits));
        judged
    };
    ProfileJudgement {
        rank: profile.rank(),
        session: profile.session().into(),
        step_range: numbers.map_or((0, 0), |(first, last)| (first.number, last.number)),
        step_offset: facts.step_offset,
        steps: steps.len() as u64,
        left_out: profile.model.trace.counts.over_limit,
        judged: limits.iter().map(judge).collect(),
    }
}

#[cfg(test)]
mod tests;
