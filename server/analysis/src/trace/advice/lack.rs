//! Reasons why a rule about a profile was not judged.

use serde::Serialize;

use crate::text::Text;

/// Data that a rule about a profile needs and does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    /// The recording does not mark the steps.
    NoSteps,
    /// Fewer steps than the rule needs.
    TooFewSteps,
    /// Steps of such different lengths that their mean describes none of them.
    UnevenSteps,
    /// Memory alone was recorded.
    NoSlices,
    /// No events of a device.
    NoDevice,
    /// Neither calls that launch work, nor their links to it.
    NoLaunches,
    /// No allocations.
    NoMemory,
    /// The size of the device's memory is unknown.
    NoDeviceSize,
    /// The file has no totals: memory that was allocated before the recording is unknown.
    NoTotals,
    /// Reserved memory was not recorded.
    NoReserved,
    /// Shapes of operators, or the kind of the device, are unknown.
    NoCapability,
    /// The names of the kernels that multiply matrices do not tell whether they use tensor cores.
    UnknownKernels,
    /// Only one rank was recorded, or the ranks have no steps in common.
    OneRank,
    /// No baseline was given.
    NoBaseline,
    /// The baseline was recorded on another device.
    OtherDevice,
    /// The baseline has no profile that could be read.
    NoBaselineProfile,
    /// The profile of the baseline does not mark its steps.
    NoBaselineSteps,
    /// The baseline has fewer steps than the rule needs.
    TooFewBaselineSteps,
    /// The profile or the baseline has no operators.
    NoOperators,
    /// There is a baseline, but no file of a profiler to compare with it.
    NoProfile,
    /// Its files are still being read.
    Reading,
    /// None of its files could be read.
    Unreadable,
}

impl Lack {
    /// True if the object of the rule is missing in the profile: the rule does not apply to it.
    #[must_use]
    pub const fn is_without_object(self) -> bool {
        matches!(
            self,
            Self::NoSlices | Self::NoDevice | Self::NoMemory | Self::OneRank
        )
    }

    /// True if a rule that applies to the profile stays open: a comparison without a baseline was not asked for.
    #[must_use]
    pub const fn leaves_open(self) -> bool {
        !self.is_without_object() && !matches!(self, Self::NoBaseline)
    }

    /// The reason as a clause without a subject, in the languages of the user interface.
    #[must_use]
    pub const fn words(self) -> Text {
        let (en, zh) = match self {
            Self::NoSteps => ("the profile has no steps", "性能分析中没有迭代"),
            Self::TooFewSteps => ("too few profiled steps", "性能分析的迭代数过少"),
            Self::UnevenSteps => ("the steps are too uneven", "迭代耗时差异过大"),
            Self::NoSlices => ("only memory was recorded", "只记录了内存"),
            Self::NoDevice => ("the profile has no device", "性能分析中没有设备"),
            Self::NoLaunches => ("launches were not recorded", "未记录下发调用"),
            Self::NoMemory => ("allocations were not recorded", "未记录内存分配"),
            Self::NoDeviceSize => ("the size of the device is unknown", "设备内存大小未知"),
            Self::NoTotals => ("totals were not recorded", "未记录内存总量"),
            Self::NoReserved => ("reserved memory was not recorded", "未记录保留的内存"),
            Self::NoCapability => ("the kind of the device is unknown", "设备型号未知"),
            Self::UnknownKernels => (
                "the kernels that multiply matrices are not known",
                "不认识执行矩阵乘法的 kernel",
            ),
            Self::OneRank => ("only one rank was profiled", "只采集了一个 rank"),
            Self::NoBaseline => ("no baseline was given", "未指定基线"),
            Self::OtherDevice => (
                "the baseline was recorded on another device",
                "基线在另一种设备上采集",
            ),
            Self::NoBaselineProfile => (
                "the baseline has no readable profile",
                "基线中没有可读取的性能分析",
            ),
            Self::NoBaselineSteps => ("the baseline has no steps", "基线中没有迭代"),
            Self::TooFewBaselineSteps => ("too few steps in the baseline", "基线的迭代数过少"),
            Self::NoOperators => (
                "one of the profiles has no operators",
                "其中一个性能分析没有算子",
            ),
            Self::NoProfile => (
                "the run has no file of a profiler",
                "训练中没有性能分析器的文件",
            ),
            Self::Reading => ("the profile is still being read", "性能分析仍在读取"),
            Self::Unreadable => ("the profile could not be read", "性能分析无法读取"),
        };
        Text { en, zh }
    }
}
