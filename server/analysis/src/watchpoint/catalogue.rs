//! The catalogue of conditions: id, target, parameters with ranges and defaults, texts in English and Chinese.
//!
//! All defaults are defined here and nowhere else. Ids and parameters of the first seventeen are those of
//! `MindInsight`.

pub(super) mod activations;
pub(super) mod answers;
pub(super) mod design;
pub(super) mod gradients;
pub(super) mod profile;
pub(super) mod program;
pub(super) mod results;
pub(super) mod run;
pub(super) mod scalars;
pub(super) mod tensors;
pub(super) mod weights;

use trainscope_api::guide::Topic;
use trainscope_format::Severity;

pub use super::model::condition::{Combination, Condition, Need, Prose};
pub use super::model::key::Key;
pub use super::model::parameter::{Parameter, Range};
pub use super::model::subject::Target;
pub use crate::text::Text;

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
    &results::CONSTANT_METRIC,
    &results::POLICY_UPDATE_TOO_LARGE,
    &results::CONSTANT_ENTROPY,
    &results::REWARD_FALLS,
    &results::POSTERIOR_COLLAPSE,
    &results::ONE_SIDED_DISCRIMINATOR,
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
    &program::numbers::OPERATION_NOT_FINITE,
    &program::numbers::PROGRAM_FAILED,
    &program::numbers::PREFLIGHT_PROBE,
    &program::loss::LOSS_WITHOUT_GRADIENT,
    &program::loss::TARGET_SCALE,
    &program::gradients::PARAMETERS_NOT_REACHED,
    &program::gradients::PARAMETERS_NOT_REGISTERED,
    &program::optimizer::OPTIMIZER_PARAMETERS,
    &program::optimizer::LEARNING_RATE_GONE,
    &program::optimizer::UPDATE_ROUNDED_AWAY,
    &program::gradients::GRADIENTS_NOT_CLEARED,
    &program::gradients::GRADIENTS_CLEARED_BETWEEN,
    &program::gradients::CLIPPED_BEFORE_UNSCALING,
    &program::gradients::CLIPPED_NOTHING,
    &program::gradients::LOSS_SCALE_COLLAPSED,
    &program::data::LABELS_SHIFTED,
    &program::data::LABEL_IN_FEATURES,
    &program::data::ONE_LABEL,
    &program::data::INPUT_SCALE,
    &program::data::SEEDED_IN_LOOP,
    &program::modes::EVALUATION_MODE,
    &program::modes::EMBEDDING_ONE_ROW,
    &program::modes::TIE_BROKEN,
    &program::modes::NOTHING_LOADED,
    &program::modes::WAITS_FOR_DEVICE,
    &profile::data::DATA_BOUND,
    &profile::device::DEVICE_IDLE,
    &profile::device::HOST_BOUND,
    &profile::device::LAUNCH_BOUND,
    &profile::device::SYNC_IN_STEP,
    &profile::device::PAGEABLE_COPIES,
    &profile::ranks::EXPOSED_COMMUNICATION,
    &profile::ranks::STRAGGLER_RANK,
    &profile::ranks::UNEVEN_RANKS,
    &profile::device::TENSOR_CORES_UNUSED,
    &profile::device::MANY_SMALL_OPTIMIZER_KERNELS,
    &profile::memory::MEMORY_NEAR_LIMIT,
    &profile::memory::MEMORY_GROWTH,
    &profile::memory::MEMORY_FRAGMENTATION,
    &profile::memory::ALLOCATOR_IN_STEP,
    &profile::steps::STEP_OUTLIERS,
    &profile::steps::STEP_TIME_DRIFT,
    &profile::steps::STEP_TIME_REGRESSION,
    &profile::steps::OPERATOR_REGRESSION,
    &profile::steps::RECOMPILATION,
    &profile::data::PROFILER_OVERHEAD,
    &profile::data::PROFILE_DAMAGED,
];

/// Finds a condition by its id.
pub fn find(id: &str) -> Option<&'static Condition> {
    CONDITIONS.iter().copied().find(|c| c.id == id)
}

/// An empty condition, as a base for all others.
const BASE: Condition = Condition {
    id: "",
    target: Target::Tensor,
    parameters: &[],
    severity: Severity::Info,
    recommended: true,
    combination: Combination::Any,
    warmup: 0,
    patience: 1,
    cooldown: 0,
    is_formula: false,
    needs: &[],
    finds_not_finite: false,
    compares_layers: false,
    topic: Topic::Model,
    rule: None,
    profile_rule: None,
    watches: None,
    reads_scalars: &[],
    reads_histograms: false,
    formula: None,
    judge: None,
    counts: text("", ""),
    en: NO_PROSE,
    zh: NO_PROSE,
};

const NO_PROSE: Prose = Prose {
    says: "",
    checks: "",
    matters: "",
    not_judged: "",
    advice: "",
};

const fn text(en: &'static str, zh: &'static str) -> Text {
    Text { en, zh }
}

/// A limit that is off by default.
const fn limit(name: Key, range: Range) -> Parameter {
    Parameter {
        name,
        default: None,
        recommended: None,
        range,
        is_limit: true,
        text: text("", ""),
    }
}

impl Parameter {
    /// Sets its description in English and Chinese.
    const fn says(self, en: &'static str, zh: &'static str) -> Self {
        Self {
            text: text(en, zh),
            ..self
        }
    }

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

#[cfg(test)]
mod tests {
    use trainscope_format::digits::Operator;

    use super::{CONDITIONS, Prose};

    /// Expressions that avoid the usual terms, and persons instead of parameters.
    const NOT_PLAIN: [&str; 15] = [
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
        "begins",
        "what it was",
    ];

    #[test]
    fn limits_end_with_their_comparison() {
        let all = CONDITIONS.iter().flat_map(|condition| condition.parameters);
        for limit in all.filter(|parameter| parameter.is_limit) {
            let key = limit.name.as_str().rsplit('_').next().unwrap();
            let is_known = ["lt", "gt", "ge", "gte", "lte"].contains(&key);
            assert!(is_known, "{}: the comparison is not in the key", limit.name);
            let (text, quantity) = (limit.text, limit.quantity());
            assert!(quantity.en.len() < text.en.len(), "{}", text.en);
            assert!(quantity.zh.len() < text.zh.len(), "{}", text.zh);
        }
    }

    #[test]
    fn texts_use_the_terms_of_the_field() {
        for condition in CONDITIONS {
            let parts: [fn(&Prose) -> &'static str; 5] = [
                |prose| prose.says,
                |prose| prose.checks,
                |prose| prose.matters,
                |prose| prose.not_judged,
                |prose| prose.advice,
            ];
            let texts = parts.map(|part| condition.text(part));
            let labels = condition.parameters.iter().map(|parameter| parameter.text);
            for text in texts.into_iter().chain(labels) {
                let plain = text.en.to_lowercase();
                let bad = NOT_PLAIN.iter().find(|word| plain.contains(**word));
                assert_eq!(bad, None, "{}: {}", condition.id, text.en);
                assert!(!text.zh.is_empty(), "{}", condition.id);
            }
            assert!(
                condition.en.says.split(' ').count() <= 6,
                "a title, not a sentence: {}",
                condition.en.says
            );
        }
    }

    #[test]
    fn every_limit_says_what_is_compared_and_how() {
        for condition in CONDITIONS {
            for parameter in condition
                .parameters
                .iter()
                .filter(|parameter| parameter.is_limit)
            {
                let place = (condition.id, parameter.name);
                let quantity = parameter.quantity();
                assert_ne!(quantity.en, parameter.text.en, "{place:?}");
                assert_ne!(quantity.zh, parameter.text.zh, "{place:?}");
                let is_below = parameter.text.en.ends_with("below");
                assert_eq!(
                    parameter.operator() == Operator::Below,
                    is_below,
                    "{place:?}"
                );
            }
        }
    }
}
