//! The evaluator: receives all records of a run and returns findings.
//!
//! Formulas over one tensor are judged immediately; judgements that need other tensors, other ranks or the loss are
//! made when findings are requested, over the history. Neither depends on the order of reading.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;
use trainscope_api::findings::UnreadTensor;
use trainscope_format::tensor::Tolerance;
use trainscope_format::{Histogram, Role, SessionStart};

use super::about_files;
use super::config::Watchpoints;
use super::fresh::{FreshHit, FreshHits};
use super::histograms;
use super::model::condition::{Condition, FormulaInput, Verdict, Watchpoint};
use super::model::finding::Findings;
use super::model::history::{Digest, History, HistoryLimit};
use super::model::knowledge::Knowledge;
use super::model::observation::{Needs, Observation};
use super::model::profile::ProfileJudgement;
use super::model::run::{Run, RunData};
use super::model::scalars::{Meaning, OtherScalar, Series, meaning_of};
use super::model::steps::Steps;
use super::model::subject::{Class, Family, Subject};
use super::model::tensor::{Episode, Memory, Tensor, TensorList};
use super::report;
use super::surroundings::Surroundings;
use crate::context::Context;
use crate::diagnosis::Remark;
use crate::restart::{self, Link};

/// Number of points of a scalar for each step of a tensor in a short history: they take a tenth of its memory, and the
/// loss is judged over a longer time than tensors.
pub const SCALAR_POINTS: usize = 32;

/// Judges one run, all its ranks together.
#[derive(Clone, Debug)]
pub struct Evaluator {
    watchpoints: Watchpoints,
    tensors: TensorList,
    /// Histograms of tensors, which may also be recorded otherwise.
    histograms: TensorList,
    scalars: Vec<Series>,
    /// Scalars of unknown meaning.
    others: Vec<OtherScalar>,
    /// Event file of the scalars that follow.
    file: u32,
    /// Session starts: rank, file, step and time.
    starts: Vec<(u32, u32, SessionStart)>,
    /// `true` if a step counter overflowed 32 bits.
    has_step_overflow: bool,
    /// Index of scalars by tag.
    by_tag: HashMap<Box<str>, Vec<(u32, Place)>, RandomState>,
    knowledge: Knowledge,
    steps: Steps,
    newest_step: Option<i64>,
    /// The first step with a tensor.
    first_look: Option<i64>,
    /// Tensors were recorded at further steps.
    has_further_looks: bool,
    /// Tensors of unsupported element types, by rank and name.
    unread: BTreeMap<(u32, Arc<str>), UnreadTensor>,
    /// The newest judged profile of each rank.
    profiles: BTreeMap<u32, ProfileJudgement>,
    /// Index into the judgements of a profile, by watchpoint.
    profile_places: Vec<usize>,
    limit: HistoryLimit,
    fresh: FreshHits,
}

/// The index of a scalar.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Index into the scalars of known meaning.
    Series(usize),
    /// Index into the other scalars.
    Other(usize),
}

impl Evaluator {
    /// Creates an evaluator without records.
    pub fn new(watchpoints: Watchpoints) -> Self {
        Self {
            profile_places: watchpoints.profile_places(),
            watchpoints,
            tensors: TensorList::default(),
            histograms: TensorList::default(),
            scalars: Vec::new(),
            others: Vec::new(),
            file: 0,
            starts: Vec::new(),
            has_step_overflow: false,
            by_tag: HashMap::default(),
            knowledge: Knowledge::default(),
            steps: Steps::default(),
            newest_step: None,
            first_look: None,
            has_further_looks: false,
            unread: BTreeMap::new(),
            profiles: BTreeMap::new(),
            limit: HistoryLimit::default(),
            fresh: FreshHits::default(),
        }
    }

    /// Sets the numbers of first and of newest steps whose figures are remembered: for each tensor, and
    /// [`SCALAR_POINTS`] times as many points for each scalar. Judgements about steps in between are made once. By
    /// default an evaluator remembers 256 and 256 steps, and all points of scalars.
    #[must_use]
    pub fn with_history(mut self, first: usize, newest: usize) -> Self {
        self.limit = HistoryLimit {
            first,
            newest: newest.max(1),
            is_short: true,
        };
        self
    }

    /// Collects fresh hits for [`Self::fresh`] from now on.
    #[must_use]
    pub fn with_fresh_hits(mut self) -> Self {
        self.fresh.collect();
        self
    }

    /// Conditions that formulas and scalars have met since the last call, in the order in which they were observed;
    /// empty without [`Self::with_fresh_hits`]. Each is a hit only if [`Findings::confirms`] it.
    pub fn fresh(&mut self) -> Vec<FreshHit> {
        self.fresh.take()
    }

    /// The watchpoints of the evaluator.
    pub fn watchpoints(&self) -> &Watchpoints {
        &self.watchpoints
    }

    /// Size of the history: tensors at steps, each some 200 bytes.
    pub fn remembered(&self) -> usize {
        let all = self.tensors.all.iter().chain(&self.histograms.all);
        all.map(|tensor| tensor.history.len()).sum()
    }

    /// Data that all watchpoints together need of a tensor. A role of [`Role::Other`] is inferred from the name, as in
    /// [`Self::observe`].
    pub fn needs(&self, name: &str, role: Role, op: &str) -> Needs {
        let mut subject = Subject::of(role, name, op);
        let is_input = self.knowledge.is_first_layer(&subject.module);
        if subject.class == Class::Activation && is_input {
            subject.class = Class::Input;
        }
        let all = self.watchpoints.all().iter();
        let mut needs = all
            .filter(|w| w.watches(name, &subject))
            .fold(Needs::default(), |needs, w| needs.and(w.needs()));
        // Statistics by channel take a separate pass: they are only requested if the activation can saturate.
        needs.channels &= match self.knowledge.family_of(&subject) {
            Family::Relu | Family::Tanh | Family::Sigmoid => true,
            Family::Other => !self.knowledge.knows_layers(),
            // Outputs of the model are compared between samples.
            _ => self.knowledge.last_layer() == Some(&*subject.module),
        };
        needs
    }

    /// Adds a tensor.
    pub fn observe(&mut self, seen: &Observation<'_>) {
        self.note_step(seen.step);
        self.has_further_looks |= *self.first_look.get_or_insert(seen.step) != seen.step;
        let memory = (self.limit, &mut self.fresh);
        look(&mut self.tensors, &self.watchpoints, memory, seen, |_| true);
    }

    /// Adds a histogram of a tensor. It shows NaN, infinities and weights that never change; without an
    /// observation of the tensor, all other checks are inconclusive.
    pub fn histogram(&mut self, rank: u32, name: &str, step: i64, histogram: &Histogram) {
        self.note_step(step);
        let seen = Observation {
            rank,
            step,
            name,
            op: "",
            summary: &histograms::summary_of(histogram),
            tolerance: Tolerance::default(),
        };
        let reads = |condition: &Condition| condition.reads_histograms;
        let memory = (self.limit, &mut self.fresh);
        look(
            &mut self.histograms,
            &self.watchpoints,
            memory,
            &seen,
            reads,
        );
    }

    /// Sets the event file, by a unique number, of the scalars and session starts that follow. Points superseded by a
    /// restart are determined per file.
    pub fn begin_file(&mut self, file: u32) {
        self.file = file;
    }

    /// Adds a start or resumption of the program at a step.
    pub fn session_start(&mut self, rank: u32, start: SessionStart) {
        self.starts.push((rank, self.file, start));
    }

    /// Notes that a step counter of the program overflowed 32 bits, and that the steps continue above them.
    pub fn step_overflow(&mut self) {
        self.has_step_overflow = true;
    }

    /// Adds a point of a scalar. Its meaning (loss, learning rate, …) is inferred from the tag.
    pub fn scalar(&mut self, rank: u32, tag: &str, step: i64, wall_time_secs: f64, value: f64) {
        self.note_step(step);
        let known = self.by_tag.get(tag);
        let known = known.and_then(|ranks| ranks.iter().find(|entry| entry.0 == rank));
        let place = match known {
            Some((_, place)) => *place,
            None => self.begin_tag(rank, tag),
        };
        match place {
            Place::Series(index) => {
                if let Some(series) = self.scalars.get_mut(index) {
                    if self.limit.is_short {
                        series.shorten(step, SCALAR_POINTS, self.limit);
                    }
                    series.push(self.file, step, wall_time_secs, value);
                    if series.is_first_not_finite(value) {
                        let at = (rank, step, &series.tag);
                        let meaning = Some(series.meaning);
                        self.fresh.push_scalar(&self.watchpoints, meaning, at);
                    }
                }
            }
            Place::Other(index) => {
                if let Some(other) = self.others.get_mut(index) {
                    other.push(step, value);
                    if !value.is_finite() && other.not_finite.is_some_and(|seen| seen.points == 1) {
                        let at = (rank, step, &other.tag);
                        self.fresh.push_scalar(&self.watchpoints, None, at);
                    }
                }
            }
        }
    }

    /// Adds context of the run, in any order, before or after the data that it is about.
    pub fn context(&mut self, rank: u32, context: Context<'_>) {
        self.knowledge.learn(rank, context);
    }

    /// Adds a tensor of an unsupported element type, to be reported as not judged.
    pub fn unread(&mut self, rank: u32, step: i64, name: &str, dtype: &str) {
        let name: Arc<str> = name.into();
        let tensor = self
            .unread
            .entry((rank, name))
            .or_insert_with_key(|key| UnreadTensor {
                rank,
                tensor: key.1.to_string(),
                dtype: dtype.into(),
                step,
                steps: 0,
            });
        tensor.step = tensor.step.min(step);
        tensor.steps += 1;
    }

    /// Adds the judgement of a profile, in place of an earlier one of the same rank.
    pub fn profile(&mut self, judged: ProfileJudgement) {
        self.profiles.insert(judged.rank, judged);
    }

    /// Computes the findings so far. May be called at any time, repeatedly.
    pub fn findings(&self) -> Findings {
        self.findings_with(&[])
    }

    /// Computes the findings, including those of rules about the program: remarks of an
    /// [`Examiner`](crate::diagnosis::Examiner) with the same contexts.
    pub fn findings_with(&self, remarks: &[Remark]) -> Findings {
        let curves = self.curves();
        let mut findings = report::findings(&self.watchpoints, &self.run(&curves, remarks));
        findings.unread = self.unread.values().cloned().collect();
        let mut files = BTreeMap::<u32, Vec<Vec<Link>>>::new();
        for curve in curves.iter().filter(|curve| curve.files.len() > 1) {
            let of_rank = files.entry(curve.rank).or_default();
            of_rank.push(curve.files.clone());
        }
        let numbers = files.values().map(|tags| restart::numbers_of_files(tags));
        let attempts = numbers.flat_map(BTreeMap::into_values).max();
        let attempts = attempts
            .filter(|count| *count > 1)
            .map(about_files::attempts);
        let overflow = self.has_step_overflow.then(about_files::step_overflow);
        let profiles = self
            .profiles
            .values()
            .filter(|profile| profile.left_out > 0);
        let profiles =
            profiles.map(|profile| about_files::left_out(&profile.session, profile.left_out));
        findings.about_files = attempts
            .into_iter()
            .chain(overflow)
            .chain(profiles)
            .collect();
        findings.has_one_look = self.first_look.is_some() && !self.has_further_looks;
        findings
    }

    /// Neighbours of each layer.
    pub fn surroundings(&self) -> Surroundings {
        Surroundings::of(&self.run(&self.curves(), &[]))
    }

    /// Scalars of known meaning, each as its curve. Copies them if a training was restarted.
    fn curves(&self) -> Cow<'_, [Series]> {
        let starts_of = |rank| {
            let of_rank = self.starts.iter().filter(|(other, ..)| *other == rank);
            let starts = of_rank.map(|(_, file, start)| (*file, *start));
            starts.collect::<Vec<_>>()
        };
        let is_settled = |series: &Series| series.is_settled(&starts_of(series.rank));
        if self.scalars.iter().all(is_settled) {
            return Cow::Borrowed(&self.scalars);
        }
        let all = self.scalars.iter();
        all.map(|series| series.settled(&starts_of(series.rank)))
            .collect()
    }

    fn run<'a>(&'a self, scalars: &'a [Series], remarks: &'a [Remark]) -> Run<'a> {
        let recorded = RunData {
            tensors: &self.tensors.all,
            histograms: &self.histograms.all,
            scalars,
            others: &self.others,
            remarks,
            profiles: &self.profiles,
            profile_places: &self.profile_places,
        };
        Run::new(&recorded, &self.knowledge, &self.steps)
    }

    /// Points of the loss of a rank, or of the rank that wrote it: steps and wall times in seconds since 1970.
    pub fn loss_curve(&self, rank: u32) -> Vec<(i64, f64)> {
        let curves = self.curves();
        let run = self.run(&curves, &[]);
        let loss = run.scalar(rank, Meaning::Loss);
        let points = loss.map(|series| series.steps.iter().zip(&series.wall_times_secs));
        points
            .into_iter()
            .flatten()
            .map(|(step, secs)| (*step, *secs))
            .collect()
    }

    fn note_step(&mut self, step: i64) {
        if self.newest_step != Some(step) {
            self.newest_step = Some(step);
            self.steps.insert(step);
        }
    }

    /// Begins the curve of a tag that a rank writes for the first time.
    fn begin_tag(&mut self, rank: u32, tag: &str) -> Place {
        let place = if let Some(meaning) = meaning_of(tag) {
            self.scalars.push(Series::new(rank, tag, meaning));
            Place::Series(self.scalars.len() - 1)
        } else {
            self.others.push(OtherScalar::new(rank, tag));
            Place::Other(self.others.len() - 1)
        };
        let ranks = self.by_tag.entry(tag.into()).or_default();
        ranks.push((rank, place));
        place
    }
}

/// Judges a tensor by the formulas that `is_judged` selects, and adds its figures to the history.
fn look(
    tensors: &mut TensorList,
    watchpoints: &Watchpoints,
    (limit, fresh): (HistoryLimit, &mut FreshHits),
    seen: &Observation<'_>,
    is_judged: impl Fn(&Condition) -> bool,
) {
    let index = tensors.index(seen.rank, seen.name).unwrap_or_else(|| {
        let subject = Subject::of(seen.summary.role, seen.name, seen.op);
        let watching = (0..).zip(watchpoints.all());
        let watching = watching.filter(|(_, watchpoint)| {
            watchpoint.condition.formula.is_some()
                && is_judged(watchpoint.condition)
                && watchpoint.watches(seen.name, &subject)
        });
        let watching = watching.map(|(watchpoint, _)| watchpoint).collect();
        tensors.push(Tensor::new(seen, subject, watching))
    });
    let Some(tensor) = tensors.all.get_mut(index) else {
        return;
    };
    tensor.dtype = seen.summary.dtype;
    tensor.is_frozen = seen.summary.role == Role::FrozenWeight;
    if *tensor.shape != *seen.summary.shape {
        tensor.shape = seen.summary.shape.as_slice().into();
    }
    let mut digest = Digest::of(seen);
    if tensor.subject.class == Class::Labels {
        let labels = tensor.labels.get_or_insert_default();
        labels.count(&seen.summary.stats);
    }
    if let Some(channels) = &seen.summary.channels {
        digest.idle_units = tensor.note_idle(channels);
    }
    let before = tensor
        .history
        .last()
        .filter(|before| before.step < seen.step);
    let shown = FormulaInput {
        now: seen,
        before,
        digest: &digest,
    };
    let steps = u32::try_from(tensor.history.seen).unwrap_or(u32::MAX);
    for &number in &*tensor.watching {
        let Some(watchpoint) = watchpoints.all().get(number as usize) else {
            continue;
        };
        let mut memories = tensor.memories.iter_mut();
        let known = memories.find(|memory| memory.watchpoint == number);
        let mut blank = Memory::new(number, steps);
        let is_known = known.is_some();
        let memory = known.unwrap_or(&mut blank);
        if memory.judge(watchpoint, &shown) {
            fresh.push((number, watchpoint), seen.rank, seen.step, &tensor.name);
            if limit.is_short
                && let Some(hits) = &mut memory.hits
                && hits.episodes.len() > limit.newest
            {
                hits.episodes.remove(0);
            }
        }
        // A number of steps from a first one on is not that of the history.
        if !is_known && (!blank.is_blank() || watchpoint.from_step.is_some()) {
            tensor.memories.reserve_exact(1);
            tensor.memories.push(blank);
        }
    }
    tensor.history.push(digest, limit);
}

impl Tensor {
    fn new(seen: &Observation<'_>, subject: Subject, watching: Arc<[u32]>) -> Self {
        Self {
            rank: seen.rank,
            name: seen.name.into(),
            op: seen.op.into(),
            subject,
            is_frozen: false,
            dtype: seen.summary.dtype,
            shape: seen.summary.shape.as_slice().into(),
            history: History::default(),
            watching,
            memories: Vec::new(),
            labels: None,
            idle_for: Box::default(),
        }
    }
}

impl Memory {
    /// Judges a step. `true` if an episode begins, or is long enough to count from now on.
    fn judge(&mut self, watchpoint: &Watchpoint, seen: &FormulaInput<'_>) -> bool {
        let step = seen.now.step;
        let Some(formula) = watchpoint.condition.formula else {
            return false;
        };
        if watchpoint.from_step.is_some_and(|from| step < from) {
            return false;
        }
        self.seen = self.seen.saturating_add(1);
        if self.seen <= watchpoint.warmup {
            return false;
        }
        let was_quiet = self.quiet > 0;
        // A unit at the maximum stays quiet forever.
        if was_quiet && self.quiet < u32::MAX {
            self.quiet -= 1;
        }
        match formula(&watchpoint.limits, seen) {
            Verdict::Pass => self.streak = 0,
            Verdict::Inconclusive(missing) => {
                self.streak = 0;
                let mut known = self.missing.iter_mut();
                if let Some((_, _, steps)) = known.find(|known| known.0 == missing) {
                    *steps += 1;
                } else {
                    self.missing.reserve_exact(1);
                    self.missing.push((missing, step, 1));
                }
            }
            Verdict::Hit(evidence) => {
                let hits = self.hits.get_or_insert_default();
                if self.streak == 0 {
                    hits.since = step;
                    hits.evidence = evidence;
                }
                self.streak = self.streak.saturating_add(1);
                if self.streak < watchpoint.patience {
                    return false;
                }
                if let Some(episode) = hits.episodes.last_mut().filter(|_| was_quiet) {
                    episode.last = step;
                    return false;
                }
                let begins = self.streak == watchpoint.patience;
                let (first, evidence) = if begins {
                    (hits.since, hits.evidence)
                } else {
                    (step, evidence)
                };
                hits.episodes.push(Episode {
                    first,
                    last: step,
                    evidence,
                });
                self.quiet = watchpoint.cooldown;
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trainscope_format::tensor::{DType, TensorStats, Tolerance};
    use trainscope_format::{Role, TensorSummary};

    use super::{Evaluator, Memory, Observation, Tensor, Watchpoints};

    /// Most bytes of a tensor without its name and figures: a table of dumps may hold millions.
    const MAX_TENSOR_BYTES: usize = 192;
    /// Most bytes of a watchpoint for a tensor without hits.
    const MAX_MEMORY_BYTES: usize = 48;

    #[test]
    fn tensors_are_small_and_share_what_they_have_in_common() {
        assert!(size_of::<Tensor>() <= MAX_TENSOR_BYTES);
        assert!(size_of::<Memory>() <= MAX_MEMORY_BYTES);
        let summary = TensorSummary {
            role: Role::Other,
            dtype: DType::F32,
            shape: vec![2, 3],
            stats: TensorStats::default(),
            hash: None,
            change: None,
            channels: None,
        };
        let mut evaluator = Evaluator::new(Watchpoints::recommended());
        for (rank, name) in [(0, "a"), (0, "b"), (1, "a"), (0, "a")] {
            evaluator.observe(&Observation {
                rank,
                step: 0,
                name,
                op: "Add",
                summary: &summary,
                tolerance: Tolerance::default(),
            });
        }
        let [first, second, other] = &evaluator.tensors.all[..] else {
            panic!("{:?}", evaluator.tensors.all)
        };
        assert!(Arc::ptr_eq(&first.op, &second.op) && Arc::ptr_eq(&first.shape, &other.shape));
        assert!(Arc::ptr_eq(&first.name, &first.subject.module));
        assert!(Arc::ptr_eq(&first.watching, &other.watching) && !first.watching.is_empty());
        assert_eq!((other.rank, &*other.name), (1, "a"));
    }
}
