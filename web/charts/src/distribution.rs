//! How the values of a tensor lay, step by step: as ridges, as curves over each other, as a heat map, as percentiles.
//!
//! The input is counts in bins that all rows share. Values that are not finite lie in no bin; they have lanes of their
//! own above the plot, and are named beside a ridge.

use crate::line::XKind;
use crate::scale::Scale;
use crate::theme::Rgb;

mod draw;
mod layout;

pub use draw::{draw, draw_hit, heat_colour};
pub use layout::{Hit, Layout};

/// The ways to look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// A ridge a row, one before the other.
    #[default]
    Offset,
    /// A curve a row, all on the same ground.
    Overlay,
    /// A column a row, dark where there are many values.
    HeatMap,
    /// Bands between percentiles.
    Percentiles,
}

/// One step, or consecutive ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Where it stands on the axis of steps.
    pub at: f64,
    /// Values in each bin.
    pub counts: Vec<f64>,
    /// Values in all bins.
    pub finite: f64,
    /// Values that are not a number.
    pub nan: u64,
    /// Values that are infinite.
    pub inf: u64,
    /// The least value, those below which 5, 25, 50, 75 and 95 % lie, the greatest value; empty if there is none.
    pub percentiles: Vec<f64>,
    /// How its step is called; of several the last.
    pub text: String,
    /// How the first of several steps is called; empty if it is one.
    pub since: String,
}

/// The rows of one run, in the order of `at`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stack {
    /// The run's colour.
    pub colour: Rgb,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// Everything that a picture shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// Width in CSS pixels.
    pub width: f64,
    /// Height in CSS pixels.
    pub height: f64,
    /// Device pixels for one CSS pixel.
    pub dpr: f64,
    /// Which of the pictures.
    pub view: View,
    /// Edges of the bins, ascending, one more than there are bins.
    pub edges: Vec<f64>,
    /// True if outlines follow the bins instead of joining their middles: for bins as wide as what was recorded.
    pub is_stepped: bool,
    /// Scale of the axis of values.
    pub scale: Scale,
    /// What the axis of steps counts.
    pub kind: XKind,
    /// One or several runs; ridges and heat map show the first.
    pub stacks: Vec<Stack>,
}

impl Row {
    /// The share of its values that lies in a bin.
    /// Greatest share of the finite values of this row that is in one bin, 0 to 1.
    pub fn greatest_share(&self) -> f64 {
        (0..self.counts.len())
            .map(|bin| self.share(bin))
            .fold(0.0, f64::max)
    }

    pub(crate) fn share(&self, bin: usize) -> f64 {
        let count = self.counts.get(bin).copied().unwrap_or(0.0);
        if self.finite > 0.0 {
            count / self.finite
        } else {
            0.0
        }
    }
}
