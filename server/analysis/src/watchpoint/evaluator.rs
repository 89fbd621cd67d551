//! The fold: everything that a run recorded goes in, findings come out.
//!
//! Formulas over one tensor are judged as it is seen; what needs other tensors, other ranks or what the loss did is judged
//! when findings are asked for, over what is remembered. So neither depends on what is read first.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};
use trainscope_format::Role;
use trainscope_format::tensor::{ChannelStats, DType};

use super::checks::{Evidence, Seen, Verdict};
use super::config::{Watchpoint, Watchpoints};
use super::finding::{Findings, Missing, UnreadTensor};
use super::history::{Digest, History, share};
use super::knowledge::Knowledge;
use super::labels::Labels;
use super::observation::{Context, Needs, Observation};
use super::report;
use super::run::Run;
use super::scalars::{Series, meaning_of};
use super::steps::Steps;
use super::surroundings::Surroundings;
use super::target::{Class, Family, Subject};
use crate::diagnosis::Remark;

/// Judges one run, all its ranks together. Its state can be stored, in a binary form, and gone on from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Evaluator {
    watchpoints: Watchpoints,
    tensors: Vec<Tensor>,
    /// Where tensors stand by name, one for each rank that has it.
    #[serde(skip)]
    by_name: HashMap<Arc<str>, Vec<(u32, usize)>, RandomState>,
    scalars: Vec<Series>,
    /// Where scalars stand by tag; `None`: nothing that is judged.
    #[serde(skip)]
    by_tag: HashMap<Box<str>, Vec<TagPlace>, RandomState>,
    knowledge: Knowledge,
    steps: Steps,
    newest_step: Option<i64>,
    /// Tensors of types that are not computed with, by rank and name.
    unread: BTreeMap<(u32, Arc<str>), UnreadTensor>,
}

/// The rank, and where its scalar stands; `None`: nothing that is judged.
type TagPlace = (u32, Option<usize>);

/// A tensor of a rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tensor {
    pub(crate) rank: u32,
    pub(crate) name: Arc<str>,
    pub(crate) op: Arc<str>,
    pub(crate) subject: Subject,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<u64>,
    pub(crate) history: History,
    pub(crate) memories: Vec<Memory>,
    /// Of labels: what all of them are.
    pub(crate) labels: Labels,
    /// Of rectified units: samples since each last answered anything but zero.
    idle_for: Vec<u64>,
}

/// What a watchpoint remembers of a tensor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Memory {
    pub(crate) watchpoint: u32,
    seen: u32,
    streak: u32,
    since: i64,
    evidence: [f64; super::catalogue::MAX_PARAMETERS],
    /// Observations for which hits are not reported by themselves.
    quiet: u32,
    pub(crate) episodes: Vec<Episode>,
    /// Why it was not judged: at which step first, and at how many.
    pub(crate) missing: Vec<(Missing, i64, u64)>,
}

/// A stretch of steps in which a condition held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Episode {
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) evidence: [f64; super::catalogue::MAX_PARAMETERS],
}

impl Evaluator {
    /// An evaluator that has seen nothing.
    pub fn new(watchpoints: Watchpoints) -> Self {
        Self {
            watchpoints,
            tensors: Vec::new(),
            by_name: HashMap::default(),
            scalars: Vec::new(),
            by_tag: HashMap::default(),
            knowledge: Knowledge::default(),
            steps: Steps::default(),
            newest_step: None,
            unread: BTreeMap::new(),
        }
    }

    /// What it judges by.
    pub fn watchpoints(&self) -> &Watchpoints {
        &self.watchpoints
    }

    /// How much it remembers: tensors at steps, each some 200 bytes.
    pub fn remembered(&self) -> usize {
        self.tensors.iter().map(|tensor| tensor.history.len()).sum()
    }

    /// What has to be computed of a tensor for everything that watches it. A role of [`Role::Other`] is made out from
    /// the name, as in [`Self::observe`].
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
        // Units take a pass of their own, so they are counted only where some end of a function may hold them.
        needs.channels &= match self.knowledge.family_of(&subject) {
            Family::Relu | Family::Tanh | Family::Sigmoid => true,
            Family::Other => !self.knowledge.knows_layers(),
            // Answers are compared between samples.
            _ => self.knowledge.last_layer() == Some(&*subject.module),
        };
        needs
    }

    /// Looks at a tensor.
    pub fn observe(&mut self, seen: &Observation<'_>) {
        self.note_step(seen.step);
        let index = self.place_of(seen);
        let Some(tensor) = self.tensors.get_mut(index) else {
            return;
        };
        tensor.dtype = seen.summary.dtype;
        if tensor.shape != seen.summary.shape {
            tensor.shape.clone_from(&seen.summary.shape);
        }
        let mut digest = Digest::of(seen);
        if tensor.subject.class == Class::Labels {
            tensor.labels.count(&seen.summary.stats);
        }
        if let Some(channels) = &seen.summary.channels {
            digest.idle_units = tensor.note_idle(channels);
        }
        let before = tensor
            .history
            .last()
            .filter(|before| before.step < seen.step);
        let shown = Seen {
            now: seen,
            before,
            digest: &digest,
        };
        let watchpoints = self.watchpoints.all();
        for memory in &mut tensor.memories {
            if let Some(watchpoint) = watchpoints.get(memory.watchpoint as usize) {
                memory.judge(watchpoint, &shown);
            }
        }
        tensor.history.push(digest);
    }

    /// Looks at a point of a scalar. Which scalar is the loss, the learning rate, … is made out from the tags.
    pub fn scalar(&mut self, rank: u32, tag: &str, step: i64, wall_time_secs: f64, value: f64) {
        self.note_step(step);
        let known = self
            .by_tag
            .get(tag)
            .and_then(|ranks| ranks.iter().find(|r| r.0 == rank));
        let index = match known {
            Some((_, index)) => *index,
            None => self.place_of_tag(rank, tag),
        };
        if let Some(series) = index.and_then(|index| self.scalars.get_mut(index)) {
            series.push(step, wall_time_secs, value);
        }
    }

    /// Learns what else is known of the run; the order does not matter, nor whether it comes before or after what it is
    /// about.
    pub fn context(&mut self, rank: u32, context: Context<'_>) {
        self.knowledge.learn(rank, context);
    }

    /// Notes a tensor of a type that is not computed with: it is reported as not judged.
    pub fn unread(&mut self, rank: u32, step: i64, name: &str, dtype: &str) {
        let name: Arc<str> = name.into();
        let tensor = self.unread.entry((rank, name)).or_insert_with_key(|key| {
            let tensor = key.1.clone();
            UnreadTensor {
                rank,
                tensor,
                dtype: dtype.into(),
                step,
                steps: 0,
            }
        });
        tensor.step = tensor.step.min(step);
        tensor.steps += 1;
    }

    /// What is to be said of all it has seen. May be asked at any time, and again.
    pub fn findings(&self) -> Findings {
        self.findings_with(&[])
    }

    /// The findings, with those that rules have of the program: remarks of an
    /// [`Examiner`](crate::diagnosis::Examiner) that was shown the same contexts.
    pub fn findings_with(&self, remarks: &[Remark]) -> Findings {
        let mut findings = report::findings(&self.watchpoints, &self.run(remarks));
        findings.unread = self.unread.values().cloned().collect();
        findings
    }

    /// What lies around each layer.
    pub fn surroundings(&self) -> Surroundings {
        Surroundings::of(&self.run(&[]))
    }

    fn run<'a>(&'a self, remarks: &'a [Remark]) -> Run<'a> {
        let (scalars, knowledge) = (&self.scalars, &self.knowledge);
        Run::new(&self.tensors, scalars, knowledge, &self.steps, remarks)
    }

    fn note_step(&mut self, step: i64) {
        if self.newest_step != Some(step) {
            self.newest_step = Some(step);
            self.steps.insert(step);
        }
    }

    /// Where the tensor stands; it gets a place when it is first seen.
    fn place_of(&mut self, seen: &Observation<'_>) -> usize {
        if self.by_name.is_empty() {
            for (index, tensor) in self.tensors.iter().enumerate() {
                let ranks = self.by_name.entry(tensor.name.clone()).or_default();
                ranks.push((tensor.rank, index));
            }
        }
        let known = self.by_name.get(seen.name);
        if let Some((_, index)) = known.and_then(|ranks| ranks.iter().find(|r| r.0 == seen.rank)) {
            return *index;
        }
        let index = self.tensors.len();
        let name: Arc<str> = seen.name.into();
        let subject = Subject::of(seen.summary.role, seen.name, seen.op);
        let watching = (0..).zip(self.watchpoints.all());
        let memories = watching
            .filter(|(_, w)| w.condition.formula.is_some() && w.watches(seen.name, &subject))
            .map(|(watchpoint, _)| Memory::new(watchpoint))
            .collect();
        self.tensors.push(Tensor {
            rank: seen.rank,
            name: name.clone(),
            op: seen.op.into(),
            subject,
            dtype: seen.summary.dtype,
            shape: seen.summary.shape.clone(),
            history: History::default(),
            memories,
            labels: Labels::default(),
            idle_for: Vec::new(),
        });
        self.by_name
            .entry(name)
            .or_default()
            .push((seen.rank, index));
        index
    }

    fn place_of_tag(&mut self, rank: u32, tag: &str) -> Option<usize> {
        let stored = self
            .scalars
            .iter()
            .position(|s| s.rank == rank && &*s.tag == tag);
        let index = stored.or_else(|| {
            let meaning = meaning_of(tag)?;
            self.scalars.push(Series::new(rank, tag, meaning));
            Some(self.scalars.len() - 1)
        });
        self.by_tag
            .entry(tag.into())
            .or_default()
            .push((rank, index));
        index
    }
}

/// A unit that was idle for fewer samples may have been so by chance.
const IDLE_SAMPLES: u64 = 40;

impl Tensor {
    /// The share of units that have answered zero for so many samples that it is no chance.
    fn note_idle(&mut self, channels: &ChannelStats) -> f32 {
        if self.idle_for.len() != channels.len() {
            self.idle_for = vec![0; channels.len()];
        }
        let mut idle = 0_u64;
        for (samples, zero) in self.idle_for.iter_mut().zip(&channels.zero) {
            let is_idle = *zero == channels.count;
            *samples = if is_idle {
                samples.saturating_add(channels.count)
            } else {
                0
            };
            idle += u64::from(*samples >= IDLE_SAMPLES);
        }
        share(idle, channels.len() as u64)
    }
}

impl Memory {
    fn new(watchpoint: u32) -> Self {
        Self {
            watchpoint,
            seen: 0,
            streak: 0,
            since: 0,
            evidence: Evidence::NONE.0,
            quiet: 0,
            episodes: Vec::new(),
            missing: Vec::new(),
        }
    }

    fn judge(&mut self, watchpoint: &Watchpoint, seen: &Seen<'_>) {
        let step = seen.now.step;
        let Some(formula) = watchpoint.condition.formula else {
            return;
        };
        if watchpoint.from_step.is_some_and(|from| step < from) {
            return;
        }
        self.seen = self.seen.saturating_add(1);
        if self.seen <= watchpoint.warmup {
            return;
        }
        let was_quiet = self.quiet > 0;
        // One that is quiet for ever is never loud again.
        if was_quiet && self.quiet < u32::MAX {
            self.quiet -= 1;
        }
        match formula(&watchpoint.limits, seen) {
            Verdict::Pass => self.streak = 0,
            Verdict::Inconclusive(missing) => {
                self.streak = 0;
                match self.missing.iter_mut().find(|m| m.0 == missing) {
                    Some((_, _, steps)) => *steps += 1,
                    None => self.missing.push((missing, step, 1)),
                }
            }
            Verdict::Hit(evidence) => {
                if self.streak == 0 {
                    self.since = step;
                    self.evidence = evidence.0;
                }
                self.streak = self.streak.saturating_add(1);
                if self.streak < watchpoint.patience {
                    return;
                }
                if let Some(episode) = self.episodes.last_mut().filter(|_| was_quiet) {
                    episode.last = step;
                    return;
                }
                let begins = self.streak == watchpoint.patience;
                self.episodes.push(Episode {
                    first: if begins { self.since } else { step },
                    last: step,
                    evidence: if begins { self.evidence } else { evidence.0 },
                });
                self.quiet = watchpoint.cooldown;
            }
        }
    }
}
