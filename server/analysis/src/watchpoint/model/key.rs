//! Names of parameters and of measured quantities.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! keys {
    ($($(#[$doc:meta])* $key:ident = $name:literal,)*) => {
        /// Name of a parameter or of a measured quantity, in files and answers. Rules read their limits by it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Key {
            $($(#[$doc])* $key,)*
        }

        impl Key {
            /// The name as written.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$key => $name,)*
                }
            }
        }
    };
}

keys! {
    /// Max |x| above.
    AbsMaxGt = "abs_max_gt",
    /// Mean |x| above.
    AbsMeanGt = "abs_mean_gt",
    /// Mean |x| below.
    AbsMeanLt = "abs_mean_lt",
    /// Mean |Δ| / mean |before| above.
    AbsMeanUpdateRatioGt = "abs_mean_update_ratio_gt",
    /// Mean |Δ| / mean |before| below.
    AbsMeanUpdateRatioLt = "abs_mean_update_ratio_lt",
    /// Absolute tolerance.
    Atol = "atol",
    /// Number of calls a step at least.
    CallsGe = "calls_ge",
    /// Largest change from the first fifth below.
    ChangeLt = "change_lt",
    /// (Maximum − minimum) / maximum at most.
    ChangeLte = "change_lte",
    /// Concentration above.
    ConcentrationGt = "concentration_gt",
    /// Relative distance from chance level above.
    DistanceGt = "distance_gt",
    /// Added to the denominator.
    Epsilon = "epsilon",
    /// NaN equals NaN.
    EqualNan = "equal_nan",
    /// Share of wrong answers beyond the bound of the loss above.
    ExcessGt = "excess_gt",
    /// Factor above.
    FactorGt = "factor_gt",
    /// Factor of an error above.
    FactorErrorGt = "factor_error_gt",
    /// Value / highest value below.
    FadedLt = "faded_lt",
    /// Decrease below.
    FallLt = "fall_lt",
    /// Gap or ratio above.
    GapGt = "gap_gt",
    /// Growth above.
    GrowthGt = "growth_gt",
    /// Idle share above.
    IdleGt = "idle_gt",
    /// Share of clipped samples above.
    ClippedGt = "clipped_gt",
    /// Number of kernels above.
    KernelsGt = "kernels_gt",
    /// Kullback-Leibler divergence above.
    KlGt = "kl_gt",
    /// Loss / chance level above.
    LeftGt = "left_gt",
    /// Largest logit above.
    LogitGt = "logit_gt",
    /// Loss above.
    LossGt = "loss_gt",
    /// Loss below.
    LossLt = "loss_lt",
    /// Maximum above.
    MaxGt = "max_gt",
    /// Maximum below.
    MaxLt = "max_lt",
    /// Maximum − minimum above.
    MaxMinGt = "max_min_gt",
    /// Maximum − minimum below.
    MaxMinLt = "max_min_lt",
    /// Mean above.
    MeanGt = "mean_gt",
    /// Mean below.
    MeanLt = "mean_lt",
    /// Microseconds below.
    MicrosLt = "micros_lt",
    /// Minimum above.
    MinGt = "min_gt",
    /// Minimum below.
    MinLt = "min_lt",
    /// Percentage above.
    PercentageGt = "percentage_gt",
    /// Percentage of the recorded steps at least.
    PercentageGte = "percentage_gte",
    /// Number of points.
    Points = "points",
    /// Probability below.
    ProbabilityLt = "probability_lt",
    /// End of the range (included).
    RangeEndInclusive = "range_end_inclusive",
    /// Percentage inside above.
    RangePercentageGt = "range_percentage_gt",
    /// Percentage inside below.
    RangePercentageLt = "range_percentage_lt",
    /// Start of the range (included).
    RangeStartInclusive = "range_start_inclusive",
    /// Learning rate above.
    RateGt = "rate_gt",
    /// Median update / weight above.
    RatioGt = "ratio_gt",
    /// Median update / weight below.
    RatioLt = "ratio_lt",
    /// Reserved share of the device above.
    ReservedGt = "reserved_gt",
    /// Relative tolerance.
    Rtol = "rtol",
    /// Seconds without a record above.
    SecsGt = "secs_gt",
    /// Share above.
    ShareGt = "share_gt",
    /// Share of an error above.
    ShareErrorGt = "share_error_gt",
    /// Share of a warning above.
    ShareWarningGt = "share_warning_gt",
    /// Mean slope / maximum slope below.
    SlopeLt = "slope_lt",
    /// Number of first steps that are not judged.
    SkipSteps = "skip_steps",
    /// Number of steps.
    Steps = "steps",
    /// Share of a step above.
    StepShareGt = "step_share_gt",
    /// Share of units above.
    UnitsGt = "units_gt",
    /// Utilization of a warning below.
    UtilizationLt = "utilization_lt",
    /// Variance above.
    VarianceGt = "variance_gt",
    /// Variance below.
    VarianceLt = "variance_lt",
    /// Number of previous points to compare with.
    Window = "window",
    /// Robust z-score above.
    ZGt = "z_gt",
    /// Percentage of zeros at least.
    ZeroPercentageGe = "zero_percentage_ge",
    /// Without per-unit statistics: share of zeros above.
    ZerosGt = "zeros_gt",
    /// Number of matching elements, points or steps, for conditions without a limit.
    Count = "count",
    /// Number of elements examined.
    Elements = "elements",
    /// Number of NaN elements.
    Nan = "nan",
    /// Maximum − minimum of an input.
    Spread = "spread",
    /// Root mean square of an input.
    Rms = "rms",
    /// Size of a batch relative to those before.
    Factor = "factor",
    /// Norm of all gradients.
    Norm = "norm",
    /// Norm of a weight relative to its first one.
    NormLeft = "norm_left",
    /// A learning rate.
    Rate = "rate",
    /// Seconds a step that a finding about a profile would save at best.
    GainSecs = "gain_secs",
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
