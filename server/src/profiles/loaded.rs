//! A profile in memory: its model, and the answers that are computed from it once.

use std::io;
use std::sync::{Arc, OnceLock};

use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::lanes as heads;
use trainscope_analysis::trace::levels::Levels;
use trainscope_analysis::trace::ranks::RankModel;
use trainscope_analysis::trace::steps::StepRange;
use trainscope_analysis::trace::summary::summary;
use trainscope_api::profile::{
    MAX_STRETCHES, ProfileContent, ProfileEntry, ProfileState, SessionSummary,
};
use trainscope_api::timeline::TimelineLanes;
use trainscope_format::formats::memory_timeline::MemoryTimeline;
use trainscope_format::formats::mindspore_profile::CUT_ROW;
use trainscope_format::trace::{LaneKind, SliceClass, TraceFormat};

use super::arguments::{ArgumentSearch, ArgumentSearches};
use super::rules;
use super::sessions::SessionFiles;

/// Bytes of a slice in memory: columns of the trace and of the model, and its cells.
pub(super) const SLICE_BYTES: u64 = 78;

/// A profile in memory.
pub(crate) struct LoadedProfile {
    files: SessionFiles,
    pub(crate) model: Model,
    /// Memory by category, as `PyTorch` exports it, if no trace of the session has memory events.
    pub(crate) memory_timeline: Option<MemoryTimeline>,
    state: ProfileState,
    /// Bytes of its files that were read.
    read_bytes: u64,
    /// Problems, as sentences.
    faults: Vec<String>,
    levels: OnceLock<Levels>,
    summary: OnceLock<Arc<SessionSummary>>,
    searches: ArgumentSearches,
}

impl AsRef<Model> for LoadedProfile {
    fn as_ref(&self) -> &Model {
        &self.model
    }
}

impl LoadedProfile {
    pub(super) fn new(
        files: SessionFiles,
        mut model: Model,
        memory_timeline: Option<MemoryTimeline>,
        mut faults: Vec<String>,
        is_unreadable: bool,
    ) -> Self {
        match files.operator_rules().map(|path| rules::read(&path)) {
            Some(Ok(rules)) => model.operator_rules = rules,
            // It may be among those that were stored.
            Some(Err(fault)) if !faults.contains(&fault) => faults.push(fault),
            _ => {}
        }
        let has_events = !model.trace.memory.is_empty();
        if let Some(timeline) = memory_timeline.as_ref().filter(|_| has_events) {
            model.add_memory_timeline(timeline);
        }
        let counts = &model.trace.counts;
        let state = if is_unreadable {
            ProfileState::Unreadable
        } else if counts.damaged > 0 {
            ProfileState::Damaged
        } else if counts.truncated {
            ProfileState::Truncated
        } else {
            ProfileState::Whole
        };
        Self {
            read_bytes: files.len_bytes,
            files,
            model,
            memory_timeline: memory_timeline.filter(|_| !has_events),
            state,
            faults,
            levels: OnceLock::new(),
            summary: OnceLock::new(),
            searches: ArgumentSearches::default(),
        }
    }

    /// The part of a session that was read so far.
    pub(super) fn part(files: SessionFiles, model: Model, read_bytes: u64) -> Self {
        Self {
            state: ProfileState::Reading,
            read_bytes,
            ..Self::new(files, model, None, Vec::new(), false)
        }
    }

    /// The profile with the summary of all its steps, as it was computed before.
    pub(super) fn with_summary(self, mut summary: SessionSummary) -> Self {
        self.describe(&mut summary);
        Self {
            summary: OnceLock::from(Arc::new(summary)),
            ..self
        }
    }

    pub(crate) fn run(&self) -> &str {
        &self.files.run
    }

    pub(crate) fn session(&self) -> &str {
        &self.files.id
    }

    /// Rank by its content, else by its name.
    pub(crate) fn rank(&self) -> u32 {
        self.files.rank
    }

    pub(crate) fn rank_model(&self) -> RankModel<'_> {
        RankModel {
            rank: self.rank(),
            model: &self.model,
        }
    }

    pub(crate) fn files(&self) -> &SessionFiles {
        &self.files
    }

    /// Bytes of its files that were read.
    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    pub(super) fn len_bytes(&self) -> u64 {
        self.model.trace.slices.len() as u64 * SLICE_BYTES
    }

    pub(crate) fn levels(&self) -> &Levels {
        self.levels.get_or_init(|| Levels::new(&self.model))
    }

    /// Slices whose arguments have a text in lower case, read from the file; `None` if it holds no arguments.
    pub(crate) fn with_arguments(&self, text: &str) -> io::Result<Option<ArgumentSearch>> {
        self.searches.get(&self.files, &self.model, text)
    }

    /// Lanes, steps and counters, with files and state.
    pub(crate) fn lanes(&self) -> TimelineLanes {
        TimelineLanes {
            state: self.state,
            read_bytes: self.read_bytes,
            total_bytes: self.files.len_bytes,
            ..heads::lanes(&self.model, self.levels())
        }
    }

    /// The summary of all steps, with files and state.
    pub(crate) fn summary(&self) -> Arc<SessionSummary> {
        let summary = self.summary.get_or_init(|| {
            let mut summary = summary(&self.model, StepRange::default(), MAX_STRETCHES);
            self.describe(&mut summary);
            Arc::new(summary)
        });
        Arc::clone(summary)
    }

    /// Adds to a summary the facts that its model does not know.
    pub(crate) fn describe(&self, summary: &mut SessionSummary) {
        self.files.id.clone_into(&mut summary.session);
        summary.rank = self.rank();
        summary.files = self.files.paths();
        summary.state = self.state;
    }

    /// Its row in the list of sessions.
    pub(super) fn entry(&self) -> ProfileEntry {
        let model = &self.model;
        let summary = self.summary();
        let steps = &model.steps.list;
        let numbers = steps.first().zip(steps.last());
        ProfileEntry {
            session: self.files.id.clone(),
            rank: self.rank(),
            format: self.format().as_str().to_owned(),
            files: self.files.paths(),
            state: self.state,
            read_bytes: self.read_bytes,
            total_bytes: self.files.len_bytes,
            origin_nanos: summary.origin_nanos.clone(),
            unix_nanos: summary.unix_nanos.clone(),
            extent_nanos: summary.extent_nanos,
            events: model.trace.counts.events,
            steps: steps.len() as u64,
            step_range: numbers.map(|(first, last)| (first.number, last.number)),
            steps_from: model.steps.source,
            operators: summary.operator_count,
            has: self.content(),
            damaged: model.trace.counts.damaged,
            faults: self.faults(),
        }
    }

    pub(crate) fn format(&self) -> TraceFormat {
        match self.state {
            ProfileState::Unreadable => self.files.format(),
            _ => self.model.trace.head.format,
        }
    }

    fn content(&self) -> ProfileContent {
        let trace = &self.model.trace;
        let has = |class| {
            trace
                .categories
                .iter()
                .any(|category| category.class == class)
        };
        let is_work = |kind| trace.lanes.iter().any(|lane| lane.kind == kind);
        ProfileContent {
            device: has(SliceClass::Kernel) || has(SliceClass::Memcpy) || is_work(LaneKind::Device),
            memory: !trace.memory.is_empty(),
            stacks: has(SliceClass::PythonFrame),
            shapes: !trace.shapes.is_empty(),
            communication: self
                .model
                .roles
                .contains(&trainscope_analysis::trace::Role::Communication),
            operators: has(SliceClass::Operator),
        }
    }

    /// State of its files.
    pub(crate) fn state(&self) -> ProfileState {
        self.state
    }

    /// Problems that are not part of the trace.
    pub(super) fn own_faults(&self) -> &[String] {
        &self.faults
    }

    /// Problems of its files, as sentences with the place.
    pub(crate) fn faults(&self) -> Vec<String> {
        let counts = &self.model.trace.counts;
        let mut faults = self.faults.clone();
        if let Some(first) = counts.damages.first() {
            let (offset, len) = (first.offset, first.len);
            faults.push(match counts.damaged {
                1 => format!("{len} bytes at byte {offset} could not be read"),
                places => format!(
                    "{places} places could not be read, the first at byte {offset} ({len} bytes)"
                ),
            });
        }
        // Faults of tables already name the one that is cut off.
        let is_said = faults.iter().any(|fault| fault.ends_with(CUT_ROW));
        if counts.truncated && !is_said {
            let bytes = counts.bytes;
            faults.push(format!(
                "the file ends at byte {bytes} before its last event is complete: its writer was interrupted, or still writes"
            ));
        }
        if counts.over_limit > 0 {
            let events = counts.over_limit;
            faults.push(format!(
                "{events} events exceed a limit of the reader and are counted only"
            ));
        }
        if counts.negative_durations > 0 {
            let slices = counts.negative_durations;
            faults.push(format!(
                "{slices} slices have a negative duration, taken as 0"
            ));
        }
        if counts.ends_without_begin > 0 {
            let ends = counts.ends_without_begin;
            faults.push(format!("{ends} ends of slices have no begin"));
        }
        if !counts.unfinished.is_empty() {
            let slices = counts.unfinished.len();
            faults.push(format!(
                "{slices} slices have no end and are shown up to the end of the trace"
            ));
        }
        for (phase, count) in &counts.unread {
            faults.push(format!("{count} events of phase `{phase}` are not shown"));
        }
        faults
    }
}
