//! What an evaluator says.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use trainscope_format::Severity;
use trainscope_format::float::Float;

use super::measure::Measure;

/// Everything that was found in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Where it began, if there is a hit of severity warning or error.
    pub first_cause: Option<FirstCause>,
    /// Where each step of each rank went wrong first: by step, then by rank, for those with a hit of severity warning or
    /// error.
    pub causes: Vec<Cause>,
    /// By step, then in the order data flow (forward before gradients), then the worst first, then by rank.
    pub hits: Vec<Hit>,
    /// What could not be judged: one for each watchpoint, rank and tensor, at the first step of which that is true.
    pub inconclusive: Vec<Inconclusive>,
    /// Watchpoints for which nothing was recorded: no tensor or scalar they are about, or no graph or settings. That
    /// they have no hits says nothing. Ascending, as in [`Hit::watchpoint`].
    #[serde(default)]
    pub without_data: Vec<u32>,
    /// Tensors that no watchpoint could judge, since their elements are of a type that is not computed with.
    #[serde(default)]
    pub unread: Vec<UnreadTensor>,
    /// How much was judged.
    pub judged: Judged,
}

/// A tensor of a type that is not computed with: complex numbers, text, some 4-bit and 8-bit numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadTensor {
    /// Rank that recorded it.
    pub rank: u32,
    /// Name, as its file has it.
    pub tensor: Arc<str>,
    /// Name of the type.
    pub dtype: Arc<str>,
    /// First step at which it was recorded.
    pub step: i64,
    /// Number of steps at which it was recorded.
    pub steps: u64,
}

/// A condition that holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The id of the condition.
    pub condition: Arc<str>,
    /// Which watchpoint, as an index into [`Watchpoints::all`](crate::watchpoint::Watchpoints::all).
    pub watchpoint: u32,
    /// How bad it is: what the watchpoint says, or more where what else is known of the run makes it certain.
    pub severity: Severity,
    /// Whose value it is.
    pub rank: u32,
    /// Since when.
    pub step: i64,
    /// Until when, as far as was recorded: equal to `step` where each step is reported by itself.
    pub last_step: i64,
    /// The tensor, or the tag of the scalar, as its file names it.
    pub tensor: Arc<str>,
    /// The operation or module that computes it, as far as that is known.
    pub node: Option<Arc<str>>,
    /// What was found, by the name of the parameter that limits it.
    pub values: Figures,
    /// The limits that were in force, by the same names.
    pub thresholds: Figures,
    /// Measured quantity, where it is not a parameter of the condition.
    pub measure: Option<Box<Measure>>,
    /// What was found, as a sentence.
    pub sentence: Sentence,
}

/// Numbers by name, in the order of the names. A hit has one or two, and there may be a hundred thousand hits: a map of
/// its own for each would be most of what they take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures(Box<[(Arc<str>, Float)]>);

impl FromIterator<(Arc<str>, Float)> for Figures {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Float)>>(figures: I) -> Self {
        let mut figures: Vec<_> = figures.into_iter().collect();
        figures.sort_by(|a, b| a.0.cmp(&b.0));
        Self(figures.into())
    }
}

impl Figures {
    /// The number of that name.
    pub fn of(&self, name: &str) -> Option<f64> {
        let found = self.iter().find(|(own, _)| **own == *name);
        found.map(|(_, figure)| figure.0)
    }
}

impl std::ops::Deref for Figures {
    type Target = [(Arc<str>, Float)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, figure)| (name, figure)))
    }
}

impl<'de> Deserialize<'de> for Figures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(BTreeMap::deserialize(deserializer)?.into_iter().collect())
    }
}

/// A sentence in the languages of the pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

/// A condition that can neither be said to hold nor not to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inconclusive {
    /// The id of the condition.
    pub condition: Arc<str>,
    /// Which watchpoint, as in [`Hit::watchpoint`].
    pub watchpoint: u32,
    /// Whose value it is.
    pub rank: u32,
    /// At which step first.
    pub step: i64,
    /// The tensor, or the tag of the scalar; empty if it is about the whole run.
    pub tensor: Arc<str>,
    /// What is missing.
    pub reason: Missing,
    /// At how many steps.
    pub steps: u64,
}

/// Why something could not be judged. New reasons are appended: the order is part of the stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// It holds a NaN, or did at the step before, and the condition is about numbers.
    Nan,
    /// It holds an infinity, or did at the step before, and the condition is about finite numbers.
    Inf,
    /// There is no step before, or the shape was another one then.
    NoPrevious,
    /// The change since the step before was not recorded.
    NoChange,
    /// The tolerance that changes were counted with does not decide it.
    Tolerance,
    /// Exponents were not recorded.
    NoExponents,
    /// The statistics bound the share from both sides, and the limit lies between: only the elements tell.
    Bounds,
    /// Statistics by unit were not recorded.
    NoChannels,
    /// Hashes of the content were not recorded.
    NoHash,
    /// There are too few steps.
    TooShort,
    /// Overflows of operators were not recorded.
    NoOverflowFiles,
    /// Overflows of operators were recorded in a form that has to be converted first.
    UnreadOverflowFiles,
    /// It has no elements.
    Empty,
    /// Only a histogram was recorded, which does not tell.
    OnlyHistogram,
}

/// The first thing that went wrong: the rest may follow from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstCause {
    /// Which hit, as an index into [`Findings::hits`].
    pub hit: usize,
    /// Hits that it explains, as indices into [`Findings::hits`], ascending.
    pub explains: Vec<usize>,
    /// What happened, as a sentence.
    pub sentence: Sentence,
    /// What most likely helps, as a sentence.
    pub advice: Sentence,
}

/// What went wrong first in one step of one rank: whatever feeds it was healthy, as far as was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Which hit, as an index into [`Findings::hits`].
    pub hit: usize,
    /// Hits of the same step and rank that follow from it, as indices into [`Findings::hits`], ascending.
    pub explains: Vec<usize>,
    /// What happened, as a sentence.
    pub sentence: Sentence,
}

/// How much was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// Tensors that a watchpoint is about, each rank's by itself.
    pub tensors: u64,
    /// Tensors of which only histograms were recorded: NaN and infinities alone were judged. Each rank's by itself.
    #[serde(default)]
    pub histograms: u64,
    /// Scalars that a watchpoint is about, each rank's by itself.
    #[serde(default)]
    pub scalars: u64,
    /// Points of scalars that are not part of a curve, because a restart or the next epoch wrote their steps again, or
    /// another program wrote them: judged for NaN and infinities alone.
    #[serde(default)]
    pub overwritten: u64,
    /// Tensors that no watchpoint is about, each rank's by itself.
    #[serde(default)]
    pub unwatched: u64,
    /// Steps at which anything was seen; 0 if nothing of it was judged.
    pub steps: u64,
    /// Watchpoints.
    pub watchpoints: u64,
    /// Ranks.
    pub ranks: u64,
}

impl Findings {
    /// The hit that everything began with.
    pub fn first_hit(&self) -> Option<&Hit> {
        self.hits.get(self.first_cause.as_ref()?.hit)
    }
}
