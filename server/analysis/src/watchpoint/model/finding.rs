//! Findings of an evaluator.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use trainscope_api::Sentence;
use trainscope_api::findings::{Coverage, Measure, UnreadTensor};
use trainscope_format::Severity;
use trainscope_format::digits::{Operator, Unit};
use trainscope_format::float::Float;
use trainscope_format::program::SourceLine;

use super::condition::Condition;
use super::key::Key;
use super::missing::Missing;
use crate::text::Text;

/// Words of the elements of a tensor, and of the points of a curve, that are NaN or infinite.
pub(crate) const NOT_FINITE: Text = Text {
    en: "NaN or ±∞",
    zh: "NaN 或 ±∞",
};
pub(crate) const POINTS: Text = Text {
    en: "NaN or ±∞ points",
    zh: "个点为 NaN 或 ±∞",
};

/// All findings of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The first cause, if there is a hit of severity warning or error.
    pub first_cause: Option<FirstCause>,
    /// First cause in each step of each rank with a hit of severity warning or error: by step, then by rank.
    pub causes: Vec<Cause>,
    /// Hits by step, then in data-flow order (forward before gradients), then the worst first, then by rank.
    pub hits: Vec<Hit>,
    /// Values that could not be judged: one entry per watchpoint, rank and tensor, with its first such step.
    pub inconclusive: Vec<Inconclusive>,
    /// Watchpoints without data: no tensor or scalar they apply to, or no graph or hyper-parameters. The absence of
    /// hits means nothing. Ascending, as in [`Hit::watchpoint`].
    pub without_data: Vec<u32>,
    /// Tensors that no watchpoint could judge because their element type is not supported.
    pub unread: Vec<UnreadTensor>,
    /// Amount of data judged.
    pub judged: Coverage,
    /// Number of recorded inputs of the model, counted per rank.
    pub inputs: u64,
    /// Files that could not be read in full, if any: set by the reader of the files.
    pub damage: Option<Damage>,
    /// Facts about the files that explain the curves, as sentences: several attempts, a step counter that overflowed.
    pub about_files: Vec<Sentence>,
    /// Tensors were recorded at one step only.
    pub has_one_look: bool,
    /// A training recorded the tensors, not a program that writes the training's states: set by the reader of the
    /// files.
    pub is_of_training: bool,
}

/// Files of a run that could not be read in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Number of the files.
    pub files: u64,
    /// Path of the first of these files.
    pub file: Arc<str>,
    /// Offset of its first damage, in bytes.
    pub offset: u64,
    /// Description of that damage, without the file's name.
    pub reason: String,
}

/// A condition that was met.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The condition.
    pub condition: &'static Condition,
    /// Index of the watchpoint in [`Watchpoints::all`](crate::watchpoint::Watchpoints::all).
    pub watchpoint: u32,
    /// Severity: that of the watchpoint, or a higher one if the context of the run makes it certain.
    pub severity: Severity,
    /// Rank that recorded it.
    pub rank: u32,
    /// First step of the hit.
    pub step: i64,
    /// Last recorded step of the hit; equal to `step` if each step is reported separately.
    pub last_step: i64,
    /// The tensor, or the tag of the scalar, as named in its file.
    pub tensor: Arc<str>,
    /// The operation or module that computes it, if known.
    pub node: Option<Arc<str>>,
    /// Measured values, by the name of the parameter that limits them.
    pub values: Figures,
    /// The limits in force, by the same names.
    pub thresholds: Figures,
    /// Measured quantity, if it is not a parameter of the condition.
    pub measure: Option<Box<Measure>>,
    /// The finding as a sentence.
    pub sentence: Sentence,
    /// Line of the program that it is about, if a fact names it.
    pub source: Option<Arc<SourceLine>>,
}

impl Hit {
    /// Measured quantities, one for each limit exceeded.
    pub fn measures(&self) -> Vec<Measure> {
        if let Some(measure) = &self.measure {
            return vec![Measure::clone(measure)];
        }
        let parameters = self.condition.parameters.iter();
        let limits = self.values.iter().filter_map(|(name, value)| {
            let parameter = parameters
                .clone()
                .find(|parameter| parameter.name == *name)?;
            let limit = self.thresholds.of(*name)?;
            Some(Measure::new(
                name.as_str(),
                parameter.quantity(),
                (parameter.operator(), parameter.unit()),
                value.0,
                Some(limit),
                None,
            ))
        });
        let mut all: Vec<Measure> = limits.collect();
        if let Some(count) = self.values.of(Key::Count) {
            let nan = self.values.of(Key::Nan);
            let of_points = self.values.of(Key::Elements).is_none();
            let quantity = match nan {
                Some(nan) if nan >= count && of_points => Text {
                    en: "NaN points",
                    zh: "个点为 NaN",
                },
                Some(nan) if nan >= count => Text {
                    en: "NaN",
                    zh: "NaN",
                },
                Some(nan) if nan > 0.0 && of_points => POINTS,
                Some(nan) if nan > 0.0 => NOT_FINITE,
                Some(_) if of_points => Text {
                    en: "±∞ points",
                    zh: "个点为 ±∞",
                },
                Some(_) => Text {
                    en: "±∞", zh: "±∞"
                },
                // Conditions about curves and tensors share the words of the latter.
                None if of_points && self.condition.counts.en == NOT_FINITE.en => POINTS,
                None => self.condition.counts,
            };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count of elements"
            )]
            let of = self.values.of(Key::Elements).map(|of| of as u64);
            all.push(Measure::new(
                Key::Count.as_str(),
                quantity.into(),
                (Operator::Above, Unit::Count),
                count,
                None,
                of,
            ));
        }
        all
    }
}

/// Numbers by name, in the order of the names. A hit has one or two, and there may be a hundred thousand hits: a map
/// for each would dominate their memory use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures(Box<[(Key, Float)]>);

impl FromIterator<(Key, Float)> for Figures {
    fn from_iter<I: IntoIterator<Item = (Key, Float)>>(figures: I) -> Self {
        let mut figures: Vec<_> = figures.into_iter().collect();
        figures.sort_by_key(|figure| figure.0.as_str());
        Self(figures.into())
    }
}

impl Figures {
    /// Value by name.
    pub fn of(&self, key: Key) -> Option<f64> {
        let found = self.iter().find(|(name, _)| *name == key);
        found.map(|(_, figure)| figure.0)
    }
}

impl std::ops::Deref for Figures {
    type Target = [(Key, Float)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, figure)| (name, figure)))
    }
}

/// A condition that could not be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Inconclusive {
    /// The condition.
    pub condition: &'static Condition,
    /// Index of the watchpoint, as in [`Hit::watchpoint`].
    pub watchpoint: u32,
    /// Rank that recorded it.
    pub rank: u32,
    /// First step at which it could not be evaluated.
    pub step: i64,
    /// The tensor, or the tag of the scalar; empty if it is about the whole run.
    pub tensor: Arc<str>,
    /// Missing data.
    pub reason: Missing,
    /// Number of such steps.
    pub steps: u64,
}

/// The first cause; other hits may follow from it.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstCause {
    /// Index of the hit in [`Findings::hits`].
    pub hit: usize,
    /// Hits that it explains, as indices into [`Findings::hits`], ascending.
    pub explains: Vec<usize>,
    /// Description of the event, as a sentence.
    pub sentence: Sentence,
    /// Most likely remedy, as a sentence.
    pub advice: Sentence,
}

/// First cause within one step of one rank: its recorded inputs were healthy.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// Index of the hit in [`Findings::hits`].
    pub hit: usize,
    /// Hits of the same step and rank that follow from it, as indices into [`Findings::hits`], ascending.
    pub explains: Vec<usize>,
    /// Description of the event, as a sentence.
    pub sentence: Sentence,
}

impl Findings {
    /// The hit of the first cause.
    pub fn first_hit(&self) -> Option<&Hit> {
        self.hits.get(self.first_cause.as_ref()?.hit)
    }
}
