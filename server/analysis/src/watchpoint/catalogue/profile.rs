//! Conditions about profiles: the rules of their advice, one condition each, with the name of the rule.
//!
//! Their parameters are the limits of the rules, so the advice of the pages and the hits of `check` agree.

pub(crate) mod data;
pub(crate) mod device;
pub(crate) mod memory;
pub(crate) mod ranks;
pub(crate) mod steps;

use trainscope_api::guide::Topic;
use trainscope_format::Severity;

use super::{BASE, CONDITIONS, Combination, Condition, Key, Prose, Range, Target, limit};
use crate::trace::advice::{Limits, Rule};
use crate::watchpoint::checks::profile;

/// A condition whose hits are the findings of a rule, without texts.
const fn of(rule: Rule) -> Condition {
    Condition {
        id: rule.name(),
        target: Target::Profile,
        severity: Severity::Warning,
        recommended: false,
        combination: Combination::All,
        topic: Topic::Speed,
        profile_rule: Some(rule),
        judge: Some(profile::advised),
        ..BASE
    }
}

/// The condition of a rule.
pub(crate) fn condition(rule: Rule) -> Option<&'static Condition> {
    let mut all = CONDITIONS.iter().copied();
    all.find(|condition| condition.profile_rule == Some(rule))
}

impl Default for Limits {
    /// The defaults of the parameters of the conditions.
    fn default() -> Self {
        limits(default)
    }
}

/// The default of a parameter; NaN, which no comparison satisfies, if there is no such parameter.
pub(crate) fn default(rule: Rule, key: Key) -> f64 {
    let mut all = condition(rule)
        .into_iter()
        .flat_map(|condition| condition.parameters.iter());
    let value = all
        .find(|parameter| parameter.name == key)
        .and_then(|parameter| parameter.default);
    debug_assert!(value.is_some(), "{} has no parameter {key}", rule.name());
    value.unwrap_or(f64::NAN)
}

/// Limits of all rules from the parameters of their conditions.
pub(crate) fn limits(value: impl Fn(Rule, Key) -> f64) -> Limits {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a parameter that is a count, checked when it was given"
    )]
    let count = |rule, key| value(rule, key) as u64;
    Limits {
        data_share: value(Rule::DataBound, Key::ShareGt),
        data_share_error: value(Rule::DataBound, Key::ShareErrorGt),
        idle_share: value(Rule::DeviceIdle, Key::ShareGt),
        utilization_warning: value(Rule::DeviceIdle, Key::UtilizationLt),
        host_idle_share: value(Rule::HostBound, Key::ShareGt),
        short_kernel_share: value(Rule::LaunchBound, Key::ShareGt),
        launch_idle_share: value(Rule::LaunchBound, Key::IdleGt),
        sync_calls: value(Rule::SyncInStep, Key::CallsGe),
        sync_idle_share: value(Rule::SyncInStep, Key::IdleGt),
        pageable_share: value(Rule::PageableCopies, Key::ShareGt),
        exposed_share: value(Rule::ExposedCommunication, Key::ShareGt),
        slowness: value(Rule::StragglerRank, Key::FactorGt),
        slowness_error: value(Rule::StragglerRank, Key::FactorErrorGt),
        slow_steps: count(Rule::StragglerRank, Key::Steps),
        uneven_share: value(Rule::UnevenRanks, Key::ShareGt),
        tensor_core_share: value(Rule::TensorCoresUnused, Key::ShareGt),
        update_kernels: value(Rule::ManySmallOptimizerKernels, Key::KernelsGt),
        update_kernel_micros: value(Rule::ManySmallOptimizerKernels, Key::MicrosLt),
        memory_share: value(Rule::MemoryNearLimit, Key::ShareGt),
        memory_share_error: value(Rule::MemoryNearLimit, Key::ShareErrorGt),
        growth_share: value(Rule::MemoryGrowth, Key::ShareGt),
        growth_steps: count(Rule::MemoryGrowth, Key::Steps),
        fragmentation_share: value(Rule::MemoryFragmentation, Key::ShareGt),
        reserved_share: value(Rule::MemoryFragmentation, Key::ReservedGt),
        allocator_warmup_steps: count(Rule::AllocatorInStep, Key::SkipSteps),
        outlier_share: value(Rule::StepOutliers, Key::ShareGt),
        outlier_share_warning: value(Rule::StepOutliers, Key::ShareWarningGt),
        drift_share: value(Rule::StepTimeDrift, Key::ShareGt),
        drift_probability: value(Rule::StepTimeDrift, Key::ProbabilityLt),
        drift_steps: count(Rule::StepTimeDrift, Key::Steps),
        regression_factor: value(Rule::StepTimeRegression, Key::FactorGt),
        regression_factor_error: value(Rule::StepTimeRegression, Key::FactorErrorGt),
        regression_steps: count(Rule::StepTimeRegression, Key::Steps),
        operator_growth: value(Rule::OperatorRegression, Key::GrowthGt),
        operator_step_share: value(Rule::OperatorRegression, Key::StepShareGt),
        compile_warmup_steps: count(Rule::Recompilation, Key::SkipSteps),
        overhead_share: value(Rule::ProfilerOverhead, Key::ShareGt),
    }
}
