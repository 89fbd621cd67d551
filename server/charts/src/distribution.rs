//! Distributions of the values of a tensor over steps: as ridges, as overlaid curves, as a heat map, as percentiles.
//!
//! The input is counts in bins that all rows share. Non-finite values are in no bin; they have separate lanes above the
//! plot, and labels beside a ridge.

use crate::line::XKind;
use crate::scale::Scale;
use crate::theme::Rgb;

mod draw;
mod layout;

#[cfg(feature = "svg")]
pub(crate) use draw::paint_chart;
pub use draw::{draw, draw_hit, heat_colour};
pub use layout::{Hit, Layout};

/// Type of chart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// One ridge per row, one in front of the other.
    #[default]
    Offset,
    /// One curve per row, all on the same base line.
    Overlay,
    /// One column per row, dark for many values.
    HeatMap,
    /// Bands between percentiles.
    Percentiles,
}

impl View {
    /// True if the axis of values is the horizontal one.
    fn has_values_across(self) -> bool {
        matches!(self, Self::Offset | Self::Overlay)
    }
}

/// One step, or consecutive ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Position on the axis of steps.
    pub at: f64,
    /// Values in each bin.
    pub counts: Vec<f64>,
    /// Values in all bins.
    pub finite: f64,
    /// Number of NaN values.
    pub nan: u64,
    /// Number of infinite values.
    pub inf: u64,
    /// Minimum, percentiles 5, 25, 50, 75 and 95, maximum; empty without values.
    pub percentiles: Vec<f64>,
    /// Label of its step, or of the last of several.
    pub text: String,
    /// Label of the first of several steps; empty for a single one.
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

/// Content of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// Width in CSS pixels.
    pub width: f64,
    /// Height in CSS pixels.
    pub height: f64,
    /// Device pixels for one CSS pixel.
    pub dpr: f64,
    /// Type of chart.
    pub view: View,
    /// Edges of the bins, ascending, one more than there are bins.
    pub edges: Vec<f64>,
    /// True if outlines follow the bins instead of joining their middles: for bins as wide as the recorded ones.
    pub is_stepped: bool,
    /// Scale of the axis of values.
    pub scale: Scale,
    /// Unit of the axis of steps.
    pub kind: XKind,
    /// One or several runs; ridges and heat map show the first.
    pub stacks: Vec<Stack>,
}

impl Row {
    /// Maximum share of the finite values of this row in one bin, 0 to 1.
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
