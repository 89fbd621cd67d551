//! Conditions, watchpoints, and the types of the functions that judge them.

use std::sync::Arc;

use trainscope_api::guide::Topic;
use trainscope_format::Severity;
use trainscope_format::session::PauseLevel;
use trainscope_format::tensor::Tolerance;
use wildmatch::WildMatch;

use super::history::Digest;
use super::key::Key;
use super::missing::Missing;
use super::new_hit::NewHit;
use super::observation::{Needs, Observation};
use super::parameter::{Evidence, Limits, Parameter};
use super::run::Run;
use super::scalars::Meaning;
use super::subject::{Subject, Target};
use super::tensor::Tensor;
use crate::diagnosis::Rule;
use crate::text::Text;
use crate::trace::advice;

/// Combination of the limits of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// Any exceeded limit makes a hit.
    Any,
    /// All limits must be exceeded.
    All,
}

/// A condition of the catalogue.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties")]
pub struct Condition {
    /// Its name in files, answers and URLs.
    pub id: &'static str,
    /// Target.
    pub target: Target,
    /// Parameters.
    pub parameters: &'static [Parameter],
    /// Default severity of a hit.
    pub severity: Severity,
    /// True if it is part of the recommended watchpoints.
    pub recommended: bool,
    /// Combination of its limits.
    pub combination: Combination,
    /// Number of first observations of each tensor that are not judged.
    pub warmup: u32,
    /// Number of consecutive observations that must match for a hit.
    pub patience: u32,
    /// Number of observations after a hit of the same tensor that are not reported again.
    pub cooldown: u32,
    /// True for a formula over one tensor and its previous state: it ignores the context of the run unless a
    /// watchpoint enables it.
    pub is_formula: bool,
    /// Data that it needs in addition to counts and moments.
    pub needs: &'static [Need],
    /// True if its hits are NaN and infinities.
    pub finds_not_finite: bool,
    /// True if with context its judge compares layers, and does not use the formula.
    pub(crate) compares_layers: bool,
    /// Row of the guided diagnosis.
    pub topic: Topic,
    /// Rule of the guided diagnosis whose faults are its hits.
    pub rule: Option<Rule>,
    /// Rule about profiles whose findings are its hits.
    pub profile_rule: Option<advice::Rule>,
    /// True for tensors that it applies to, by their subject, with or without context; `None`: all those of its target.
    pub(crate) watches: Option<fn(&Subject, bool) -> bool>,
    /// Scalars that it judges; none: those of any meaning.
    pub(crate) reads_scalars: &'static [Meaning],
    /// True if a histogram of a tensor is enough for the formula.
    pub(crate) reads_histograms: bool,
    /// Formula for each tensor at each step.
    pub(crate) formula: Option<Formula>,
    /// Judgement over the run.
    pub(crate) judge: Option<Judge>,
    /// Quantity that a hit counts if no limit was exceeded.
    pub(crate) counts: Text,
    /// Texts in English.
    pub en: Prose,
    /// Texts in Chinese.
    pub zh: Prose,
}

/// Texts of a condition in one language.
#[derive(Debug)]
pub struct Prose {
    /// Title in one line.
    pub says: &'static str,
    /// Description of the check, with its formula.
    pub checks: &'static str,
    /// Reason for the check.
    pub matters: &'static str,
    /// Cases that are not judged or not reported.
    pub not_judged: &'static str,
    /// Recommended action.
    pub advice: &'static str,
}

impl Condition {
    /// A text in both languages.
    pub fn text(&self, part: impl Fn(&Prose) -> &'static str) -> Text {
        Text {
            en: part(&self.en),
            zh: part(&self.zh),
        }
    }

    /// True if it needs these data in addition to counts and moments.
    pub fn needs(&self, data: Need) -> bool {
        self.needs.contains(&data)
    }
}

/// Conditions are equal if they have the same id.
impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Condition {}

/// Data that a condition needs in addition to counts and moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Histogram of exponents.
    Exponents,
    /// Content hash.
    Hash,
    /// Change since the previous step.
    Change,
    /// Statistics by channel.
    Channels,
    /// Several steps.
    History,
}

/// Result of a formula for a tensor at a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    Pass,
    Hit(Evidence),
    Inconclusive(Missing),
}

#[derive(Clone, Copy)]
pub(crate) struct FormulaInput<'a> {
    pub(crate) now: &'a Observation<'a>,
    /// The same tensor at its previous step.
    pub(crate) before: Option<&'a Digest>,
    pub(crate) digest: &'a Digest,
}

/// A formula over one tensor and its previous state.
pub(crate) type Formula = fn(&Limits, &FormulaInput<'_>) -> Verdict;

/// A judgement over a whole run, by the index of the watchpoint and the watchpoint.
pub(crate) type Judge = fn(&Run<'_>, u32, &Watchpoint) -> Judgement;

#[derive(Debug, Default)]
pub(crate) struct Judgement {
    pub(crate) found: Vec<NewHit>,
    pub(crate) missing: Vec<UnjudgedTensor>,
}

impl From<Vec<NewHit>> for Judgement {
    fn from(found: Vec<NewHit>) -> Self {
        Self {
            found,
            missing: Vec::new(),
        }
    }
}

/// A tensor that could not be judged: rank, name, reason with first step and number of steps.
pub(crate) type UnjudgedTensor = (u32, Arc<str>, (Missing, i64, u64));

/// A condition with its limits, for a selection of tensors.
#[derive(Clone, Debug)]
pub struct Watchpoint {
    /// The condition.
    pub condition: &'static Condition,
    /// True if it is enabled.
    pub on: bool,
    /// Name given by the user.
    pub name: Option<String>,
    /// Patterns of tensor names to include; empty for all. `*` matches any text, including `/`.
    pub tensors: Vec<String>,
    /// Patterns of tensor names to exclude.
    pub exclude: Vec<String>,
    /// Severity of its hits.
    pub severity: Severity,
    /// True if context may raise the severity of a hit above `severity`, which is the case unless the user set one.
    pub may_raise: bool,
    /// First step to judge.
    pub from_step: Option<i64>,
    /// Number of first observations of each tensor that are not judged.
    pub warmup: u32,
    /// Number of consecutive matches for a hit, which is dated to the first match.
    pub patience: u32,
    /// Number of observations after a hit of the same tensor that are not reported again.
    pub cooldown: u32,
    /// True if the context of the run may excuse a hit, or raise its severity: see each condition's text.
    pub context: bool,
    /// `true` if its hits pause a live training, `false` if they never do; `None`: those of the session's level.
    pub pause: Option<bool>,
    /// Its parameters; booleans are 1 and 0.
    pub limits: Limits,
    matches: Vec<WildMatch>,
    excludes: Vec<WildMatch>,
}

impl Watchpoint {
    /// Creates a watchpoint with the default or recommended values. It may lack a required limit.
    pub fn of(condition: &'static Condition, recommended: bool) -> Self {
        let context = recommended || !condition.is_formula;
        let (patience, cooldown) = defaults(condition, context);
        Self {
            condition,
            on: true,
            name: None,
            tensors: Vec::new(),
            exclude: Vec::new(),
            severity: condition.severity,
            may_raise: true,
            from_step: None,
            warmup: condition.warmup,
            patience,
            cooldown,
            context,
            pause: None,
            limits: Limits::of(condition.parameters, recommended),
            matches: Vec::new(),
            excludes: Vec::new(),
        }
    }

    /// True if a hit of this severity pauses a live training whose level is `level`.
    pub fn pauses(&self, severity: Severity, level: PauseLevel) -> bool {
        self.pause.unwrap_or_else(|| level.includes(severity))
    }

    /// True if a tensor of that name is selected, regardless of its role.
    pub fn covers(&self, name: &str) -> bool {
        (self.matches.is_empty() || self.matches.iter().any(|glob| glob.matches(name)))
            && !self.excludes.iter().any(|glob| glob.matches(name))
    }

    /// Applies the patterns of `tensors` and `exclude` from now on.
    pub(crate) fn compile_patterns(&mut self) {
        let compile = |globs: &[String]| globs.iter().map(|glob| WildMatch::new(glob)).collect();
        self.matches = compile(&self.tensors);
        self.excludes = compile(&self.exclude);
    }

    /// True if it applies to such a tensor.
    pub(crate) fn watches(&self, name: &str, subject: &Subject) -> bool {
        let is_about = match self.condition.watches {
            Some(watches) => watches(subject, self.context),
            None => subject.is(self.condition.target),
        };
        self.on && self.covers(name) && is_about
    }

    /// Data that it needs of a tensor that it applies to.
    pub fn needs(&self) -> Needs {
        let range = self.range();
        let mut needs = Needs {
            // Exponents would only bound the count.
            exponents: self.condition.needs(Need::Exponents) && range.is_none(),
            ranges: range.into_iter().collect(),
            hash: self.condition.needs(Need::Hash),
            change: None,
            channels: self.condition.needs(Need::Channels),
        };
        if self.condition.needs(Need::Change) {
            needs.change = Some(self.tolerance().unwrap_or_default());
        }
        needs
    }

    /// Start and end of the range whose share of elements has a limit, if any.
    fn range(&self) -> Option<(f64, f64)> {
        let share = self.limits.get(Key::RangePercentageLt);
        share.or_else(|| self.limits.get(Key::RangePercentageGt))?;
        self.limits
            .get(Key::RangeStartInclusive)
            .zip(self.limits.get(Key::RangeEndInclusive))
    }

    /// Tolerance of its comparison, if it compares elements.
    pub fn tolerance(&self) -> Option<Tolerance> {
        Some(Tolerance {
            relative: self.limits.get(Key::Rtol)?,
            absolute: self.limits.get(Key::Atol)?,
        })
    }

    /// Tensors of a run that it applies to.
    pub(crate) fn tensors_of<'r>(&self, run: &Run<'r>) -> impl Iterator<Item = &'r Tensor> {
        let all = run.tensors.iter();
        all.filter(move |t| self.watches(&t.name, &t.subject))
    }
}

/// Default patience and cooldown. A bare formula is reported at each match; with context, consecutive matches are one
/// finding.
pub(crate) fn defaults(condition: &Condition, context: bool) -> (u32, u32) {
    if context {
        (condition.patience, u32::MAX)
    } else {
        (1, condition.cooldown)
    }
}
