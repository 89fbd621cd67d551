//! Parallel coordinates: a line for each row through its values on many axes. Values that an axis cannot show have
//! lanes above and below it: every row has a whole line.

mod draw;
mod layout;

#[cfg(feature = "svg")]
pub(crate) use draw::paint_whole;
pub use draw::{Stroke, draw_axes, draw_bands, draw_lines};
pub use layout::{Layout, PlacedAxis};

use std::sync::Arc;

use crate::scale::Scale;

/// Value of a row on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Spot {
    /// No value.
    #[default]
    Missing,
    /// A number; NaN and infinities have lanes.
    Number(f64),
    /// Position in the list of choices.
    Choice(u32),
    /// A text on an axis of numbers.
    Text,
}

/// Values that an axis has places for.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum AxisKind {
    Numbers {
        scale: Scale,
        /// `true` if ticks are whole numbers only.
        is_whole: bool,
    },
    /// Places for names, the first one at the bottom.
    Choices(Vec<String>),
}

/// One axis with the values of all rows.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct AxisSpec {
    pub name: String,
    /// Caption over the names; neighbours with one caption share it.
    pub group: String,
    pub kind: AxisKind,
    /// `true` if the greatest value is at the bottom.
    pub is_upside_down: bool,
    /// One for each row.
    pub spots: Arc<Vec<Spot>>,
    /// Half the height of the band around each row's number, in the unit of the axis; without bands, `None`.
    pub spread: Option<Arc<Vec<f64>>>,
}

/// Names of lanes in the language of the page; NaN and infinities have one spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct LaneNames {
    pub missing: &'static str,
    pub text: &'static str,
}

/// All axes at a size.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Spec {
    /// Minimum width in CSS pixels; more axes than fit make the plot wider.
    pub width: f64,
    /// Height in CSS pixels.
    pub height: f64,
    /// Device pixels for one CSS pixel.
    pub dpr: f64,
    pub axes: Vec<AxisSpec>,
}

/// Place of values that an axis cannot show, from top to bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Lane {
    Nan,
    PosInf,
    NegInf,
    Missing,
    /// Zero and negative numbers on a logarithmic axis.
    OffScale,
    Text,
}

impl Lane {
    /// Lanes above the axes, from top to bottom.
    pub const ABOVE: [Self; 3] = [Self::Nan, Self::PosInf, Self::NegInf];
    /// Lanes below the axes, from top to bottom.
    pub const BELOW: [Self; 3] = [Self::Missing, Self::OffScale, Self::Text];

    /// Its label next to an axis.
    pub const fn label(self, names: LaneNames) -> &'static str {
        match self {
            Self::Nan => "NaN",
            Self::PosInf => "+∞",
            Self::NegInf => "−∞",
            Self::Missing => names.missing,
            Self::OffScale => "≤ 0",
            Self::Text => names.text,
        }
    }

    /// The lane of a value on an axis; `None` if the axis has a place for it.
    pub fn of(spot: Spot, kind: &AxisKind) -> Option<Self> {
        match (spot, kind) {
            (Spot::Missing, _) => Some(Self::Missing),
            (Spot::Number(number), _) if number.is_nan() => Some(Self::Nan),
            (Spot::Number(f64::INFINITY), _) => Some(Self::PosInf),
            (Spot::Number(f64::NEG_INFINITY), _) => Some(Self::NegInf),
            (Spot::Number(number), AxisKind::Numbers { scale, .. }) => {
                (!scale.shows(number)).then_some(Self::OffScale)
            }
            (Spot::Choice(choice), AxisKind::Choices(names)) => {
                (choice as usize >= names.len()).then_some(Self::Text)
            }
            (Spot::Text, _)
            | (Spot::Number(_), AxisKind::Choices(_))
            | (Spot::Choice(_), AxisKind::Numbers { .. }) => Some(Self::Text),
        }
    }
}

/// Vertical share of a curve between two axes at a horizontal share, both 0 to 1: the cubic Bézier curve whose control
/// points are half way and level with its ends.
pub fn ease(share: f64) -> f64 {
    // x(t) = 1.5 t (1 − t) + t³ … solved for t by Newton's method; x'(t) is at least 0.75.
    let share = share.clamp(0.0, 1.0);
    let mut t = share;
    for _ in 0..6 {
        let x = t * (1.5 + t * (t - 1.5));
        let slope = 1.5 + t * (3.0 * t - 3.0);
        t -= (x - share) / slope;
    }
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests;
