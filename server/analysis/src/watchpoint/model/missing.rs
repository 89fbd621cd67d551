//! Reasons why something was not judged.

use serde::Serialize;

use crate::text::Text;
use crate::trace::advice::Lack;

/// Reason why a value could not be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// A NaN in the tensor, or in its previous step, and the condition compares numbers.
    Nan,
    /// An infinity in the tensor, or in its previous step, and the condition compares finite numbers.
    Inf,
    /// There is no previous step, or it had another shape.
    NoPrevious,
    /// The change since the previous step was not recorded.
    NoChange,
    /// The tolerance of the recorded change does not decide it.
    Tolerance,
    /// Exponents were not recorded.
    NoExponents,
    /// The statistics bound the share from both sides, and the limit is between the bounds: only the elements decide.
    Bounds,
    /// Statistics by channel were not recorded.
    NoChannels,
    /// Content hashes were not recorded.
    NoHash,
    /// There are too few steps.
    TooShort,
    /// Overflows of operators were not recorded.
    NoOverflowFiles,
    /// Overflows of operators were recorded in a format that has to be converted first.
    UnreadOverflowFiles,
    /// It has no elements.
    Empty,
    /// Only a histogram was recorded, which does not decide it.
    OnlyHistogram,
    /// A rule about a profile lacks data.
    #[serde(untagged)]
    Profile(Lack),
}

impl Missing {
    /// The reason as a clause without a subject, in the languages of the user interface.
    #[must_use]
    pub const fn words(self) -> Text {
        let (en, zh) = match self {
            Self::Nan => ("values are NaN", "值为 NaN"),
            Self::Inf => ("values are ±∞", "值为无穷大"),
            Self::NoPrevious => ("no previous step", "没有上一个迭代"),
            Self::NoChange => ("changes were not recorded", "未记录变化量"),
            Self::Tolerance => (
                "changes were counted with another tolerance",
                "变化量按其他容差统计",
            ),
            Self::NoExponents => ("exponents were not recorded", "未记录指数分布"),
            Self::Bounds => ("only the elements decide", "只有逐元素数据才能判断"),
            Self::NoChannels => ("no per-unit statistics", "没有按单元的统计"),
            Self::NoHash => ("no content hashes", "没有内容哈希"),
            Self::TooShort => ("too few steps", "迭代数过少"),
            Self::NoOverflowFiles => ("operator overflows were not recorded", "未记录算子溢出"),
            Self::UnreadOverflowFiles => (
                "overflow files must be converted first (msaccucmp.py of CANN)",
                "溢出文件需要先转换（CANN 的 msaccucmp.py）",
            ),
            Self::Empty => ("no elements", "没有元素"),
            Self::Profile(lack) => return lack.words(),
            Self::OnlyHistogram => ("only a histogram was recorded", "仅记录了直方图"),
        };
        Text { en, zh }
    }
}
