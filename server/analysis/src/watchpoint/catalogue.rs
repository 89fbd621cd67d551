//! The catalogue of conditions: id, target, parameters with ranges and defaults, texts in English and Chinese.
//!
//! All defaults are defined here and nowhere else. Ids and parameters of the first seventeen are those of
//! `MindInsight`.

mod activations;
mod answers;
mod design;
mod gradients;
mod run;
mod scalars;
mod tensors;
mod weights;

use serde::Serialize;
use trainscope_format::Severity;

use super::checks::{Formula, Judge};
use super::target::Subject;

/// Maximum number of parameters of a condition.
pub const MAX_PARAMETERS: usize = 8;

/// All conditions, by target.
pub static CONDITIONS: &[&Condition] = &[
    &tensors::TENSOR_OVERFLOW,
    &tensors::OPERATOR_OVERFLOW,
    &tensors::NEAR_OVERFLOW,
    &tensors::TENSOR_ALL_ZERO,
    &tensors::TENSOR_RANGE,
    &tensors::TENSOR_TOO_LARGE,
    &tensors::TENSOR_TOO_SMALL,
    &tensors::INPUT_RANGE,
    &tensors::CLASS_IMBALANCE,
    &answers::UNREACHABLE_TARGETS,
    &answers::FRACTIONAL_CLASSES,
    &tensors::REPEATED_BATCH,
    &weights::WEIGHT_INITIALIZATION,
    &weights::BAD_INITIALIZATION,
    &weights::WEIGHT_OVERFLOW,
    &weights::WEIGHT_NOT_CHANGED,
    &weights::FROZEN_BUT_TRAINABLE,
    &weights::FROZEN_WEIGHTS,
    &weights::WEIGHT_CHANGE_TOO_LARGE,
    &weights::WEIGHT_CHANGE_TOO_SMALL,
    &weights::UPDATE_RATIO,
    &weights::WEIGHT_TOO_LARGE,
    &weights::WEIGHT_TOO_SMALL,
    &weights::SHARED_WEIGHTS,
    &gradients::GRADIENT_EXPLODING,
    &gradients::GRADIENT_VANISHING,
    &gradients::GRADIENT_TOO_LARGE,
    &gradients::EXPLODING_NORM,
    &gradients::GRAD_NORM_ZSCORE,
    &gradients::UNDERFLOW_FP16,
    &gradients::CLIP_ALWAYS,
    &activations::ACTIVATION_RANGE,
    &activations::DEAD_RELU,
    &activations::SATURATED_ACTIVATION,
    &activations::ATTENTION_COLLAPSE,
    &answers::CONSTANT_OUTPUT,
    &scalars::LOSS_NAN,
    &scalars::SCALAR_NOT_FINITE,
    &scalars::LOSS_SPIKE,
    &scalars::LOSS_DIVERGENCE,
    &scalars::LOSS_PLATEAU,
    &answers::CONSTANT_LOSS,
    &answers::LOSS_CONTRADICTION,
    &scalars::SLOW_CONVERGENCE,
    &scalars::LOSS_OSCILLATION,
    &scalars::INITIAL_LOSS,
    &scalars::OVERFIT,
    &scalars::UNDERFIT,
    &scalars::BATCHNORM_DRIFT,
    &scalars::LOSSSCALE_THRASH,
    &scalars::LEARNING_RATE_JUMP,
    &scalars::LEARNING_RATE_RANGE,
    &run::RANK_DIVERGENCE,
    &run::SILENT_CORRUPTION,
    &run::STALLED,
    &design::SETTINGS,
    &design::LOSS_ACTIVATION,
    &design::BROADCAST,
    &design::UNUSED_PARAMETERS,
    &design::USELESS_BIAS,
    &design::LINEAR_LAYERS,
    &design::SHUFFLING,
    &design::SCALING,
];

/// Finds a condition by its id.
pub fn find(id: &str) -> Option<&'static Condition> {
    CONDITIONS.iter().copied().find(|c| c.id == id)
}

/// A condition of the catalogue.
#[derive(Debug, Serialize)]
pub struct Condition {
    /// Its name in files, answers and URLs.
    pub id: &'static str,
    /// Target.
    pub target: Target,
    /// Parameters in the order of its formula.
    pub parameters: &'static [Parameter],
    /// Default severity of a hit.
    pub severity: Severity,
    /// True if it is part of the recommended watchpoints.
    pub recommended: bool,
    /// Number of first observations of each tensor that are not judged.
    pub warmup: u32,
    /// Number of consecutive observations that must match for a hit.
    pub patience: u32,
    /// Number of observations after a hit of the same tensor that are not reported again.
    pub cooldown: u32,
    /// True for a formula over one tensor and its previous state: it ignores the context of the run unless a
    /// watchpoint enables it.
    pub is_formula: bool,
    /// Data that it needs.
    pub needs: ConditionNeeds,
    /// True for tensors that it applies to, by their subject, with or without context.
    #[serde(skip)]
    pub(crate) watches: fn(&Subject, bool) -> bool,
    /// True if a histogram of a tensor is enough for the formula.
    #[serde(skip)]
    pub(crate) reads_histograms: bool,
    /// Formula for each tensor at each step.
    #[serde(skip)]
    pub(crate) formula: Option<Formula>,
    /// Judgement over the run.
    #[serde(skip)]
    pub(crate) judge: Option<Judge>,
    /// Title in one line.
    pub says: Text,
    /// Description of the check, with its formula.
    pub checks: Text,
    /// Reason for the check.
    pub matters: Text,
    /// Cases that are not judged or not reported.
    pub not_judged: Text,
    /// Recommended action.
    pub advice: Text,
    /// Quantity that a hit counts if no limit was exceeded.
    #[serde(skip)]
    pub(crate) counts: Text,
}

/// An empty condition, as a base for all others.
const BASE: Condition = Condition {
    id: "",
    target: Target::Tensor,
    parameters: &[],
    severity: Severity::Info,
    recommended: true,
    warmup: 0,
    patience: 1,
    cooldown: 0,
    is_formula: false,
    needs: NOTHING,
    watches: |_, _| true,
    reads_histograms: false,
    formula: None,
    judge: None,
    says: NO_TEXT,
    checks: NO_TEXT,
    matters: NO_TEXT,
    not_judged: NO_TEXT,
    advice: NO_TEXT,
    counts: NO_TEXT,
};

const NO_TEXT: Text = Text { en: "", zh: "" };

const NOTHING: ConditionNeeds = ConditionNeeds {
    exponents: false,
    hash: false,
    change: false,
    channels: false,
    history: false,
};

const fn text(en: &'static str, zh: &'static str) -> Text {
    Text { en, zh }
}

/// A limit that is off by default.
const fn limit(name: &'static str, range: Range, text: Text) -> Parameter {
    Parameter {
        name,
        default: None,
        recommended: None,
        range,
        is_limit: true,
        text,
    }
}

impl Parameter {
    /// Sets the default of a limit.
    const fn at(self, default: f64) -> Self {
        Self {
            default: Some(default),
            ..self
        }
    }

    /// Sets another value for the recommended watchpoint.
    const fn recommended_at(self, value: f64) -> Self {
        Self {
            recommended: Some(value),
            ..self
        }
    }

    /// Marks a parameter that is not a limit.
    const fn support(self) -> Self {
        Self {
            is_limit: false,
            ..self
        }
    }
}

/// Kind of data that a condition applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Any tensor.
    Tensor,
    /// Trained parameters.
    Weight,
    /// Gradients of weights and activations.
    Gradient,
    /// Outputs of layers.
    Activation,
    /// Scalars: the loss, the learning rate, the gradient norm, …
    Scalar,
    /// All ranks, or the run as a whole.
    Run,
}

/// Data that a condition needs beside counts and moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one for each thing that can be had"
)]
pub struct ConditionNeeds {
    /// Histogram of exponents.
    pub exponents: bool,
    /// Content hash.
    pub hash: bool,
    /// Change since the previous step.
    pub change: bool,
    /// Statistics by channel.
    pub channels: bool,
    /// Several steps.
    pub history: bool,
}

/// A parameter of a condition.
#[derive(Debug, Serialize)]
pub struct Parameter {
    /// Its key.
    pub name: &'static str,
    /// Default value; `None` if it is off by default.
    pub default: Option<f64>,
    /// Value in the recommended watchpoint, if it differs.
    pub recommended: Option<f64>,
    /// Range of valid values.
    pub range: Range,
    /// True for a limit that a value is compared with; a watchpoint needs at least one.
    pub is_limit: bool,
    /// Description.
    pub text: Text,
}

/// Range of valid values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Range {
    /// Any number but NaN and infinities.
    Finite,
    /// At least 0.
    NotNegative,
    /// Above 0.
    Positive,
    /// 0 to 100.
    Percentage,
    /// 0 to 1.
    Share,
    /// A whole number of at least 1.
    Count,
    /// A boolean.
    Switch,
}

impl Range {
    /// True for a boolean.
    pub const fn is_switch(self) -> bool {
        matches!(self, Self::Switch)
    }

    /// True if a number is within the range.
    pub fn holds(self, number: f64) -> bool {
        number.is_finite()
            && match self {
                Self::Finite => true,
                Self::NotNegative => number >= 0.0,
                Self::Positive => number > 0.0,
                Self::Percentage => (0.0..=100.0).contains(&number),
                Self::Share => (0.0..=1.0).contains(&number),
                Self::Count => number >= 1.0 && number.fract() == 0.0,
                Self::Switch => number.to_bits() == 0 || number.to_bits() == 1.0_f64.to_bits(),
            }
    }

    /// The range in words, after *must be*.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Finite => "a finite number",
            Self::NotNegative => "a number of at least 0",
            Self::Positive => "a number above 0",
            Self::Percentage => "a number from 0 to 100",
            Self::Share => "a number from 0 to 1",
            Self::Count => "a whole number of at least 1",
            Self::Switch => "true or false",
        }
    }

    /// The range in symbols, for a column of a table.
    pub const fn signs(self) -> &'static str {
        match self {
            Self::Finite | Self::Switch => "",
            Self::NotNegative => ">= 0",
            Self::Positive => "> 0",
            Self::Percentage => "0..100",
            Self::Share => "0..1",
            Self::Count => ">= 1",
        }
    }
}

/// A text in the languages of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Text {
    /// English.
    pub en: &'static str,
    /// Chinese.
    pub zh: &'static str,
}

#[cfg(test)]
mod tests {
    use super::CONDITIONS;

    /// Expressions that avoid the usual terms, and persons instead of parameters.
    const NOT_PLAIN: [&str; 16] = [
        "nobody",
        "somebody",
        "by heart",
        "no number",
        "next to nothing",
        "melt",
        "runs away",
        "figure",
        "guessing",
        "half precision",
        "held against",
        "stands",
        "look at",
        "so many",
        "begins",
        "what it was",
    ];

    #[test]
    fn texts_use_the_terms_of_the_field() {
        for condition in CONDITIONS {
            let texts = [
                condition.says,
                condition.checks,
                condition.matters,
                condition.not_judged,
                condition.advice,
            ];
            let labels = condition.parameters.iter().map(|parameter| parameter.text);
            for text in texts.into_iter().chain(labels) {
                let plain = text.en.to_lowercase();
                let bad = NOT_PLAIN.iter().find(|word| plain.contains(**word));
                assert_eq!(bad, None, "{}: {}", condition.id, text.en);
                assert!(!text.zh.is_empty(), "{}", condition.id);
            }
            assert!(
                condition.says.en.split(' ').count() <= 6,
                "a title, not a sentence: {}",
                condition.says.en
            );
        }
    }
}
