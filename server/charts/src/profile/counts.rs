//! A distribution as bars of counts, with lines at chosen values.

use plotters::prelude::{DrawResult, DrawingBackend};

use super::axes::{Ruler, Unit};
use super::pen::Pen;
use super::{Hit, Rect, Shade, Size};
use crate::paint::Anchor;

/// Ticks of both axes.
const TICKS: (u32, u32) = (6, 4);

/// Bars of counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Edges of the bins, ascending, one more than there are counts.
    pub edges: Vec<f64>,
    /// Count of each bin.
    pub counts: Vec<f64>,
    /// Unit of the edges.
    pub unit: Unit,
    /// Colour of the bars.
    pub shade: Shade,
    /// Bins at and above this value are findings.
    pub warn_from: Option<f64>,
    /// Values with a line and a text.
    pub marks: Vec<(f64, String)>,
}

impl Counts {
    fn layout(&self, size: Size) -> (Rect, Ruler, Ruler) {
        let top = if self.marks.is_empty() { 8.0 } else { 18.0 };
        let plot = Rect {
            left: 32.0,
            right: size.width - 10.0,
            top,
            bottom: size.height - 20.0,
        };
        let first = self.edges.first().copied().unwrap_or(0.0);
        let last = self.edges.last().copied().unwrap_or(1.0);
        // An axis up to 1 would have a tick at its half.
        let most = self.counts.iter().copied().fold(2.0, f64::max);
        let across = (plot.left, plot.right);
        (
            plot,
            Ruler::exact((first, last), across, TICKS.0, self.unit),
            Ruler::from_zero(most, (plot.bottom, plot.top), TICKS.1, Unit::Count),
        )
    }

    fn bin(&self, (plot, x, y): &(Rect, Ruler, Ruler), index: usize) -> Option<Rect> {
        let left = x.at(*self.edges.get(index)?);
        let right = x.at(*self.edges.get(index + 1)?);
        let gap = if right - left >= 3.0 { 0.5 } else { 0.0 };
        Some(Rect {
            left: left + gap,
            right: right - gap,
            top: y.at(*self.counts.get(index)?),
            bottom: plot.bottom,
        })
    }

    pub(super) fn draw<DB: DrawingBackend>(&self, pen: &Pen<'_, DB>) -> DrawResult<(), DB> {
        let layout = self.layout(pen.size);
        let (plot, x, y) = &layout;
        pen.values(plot, y)?;
        for (value, text) in &x.ticks {
            pen.below(plot, x.at(*value), text)?;
        }
        for (index, count) in self.counts.iter().enumerate() {
            let Some(bin) = self.bin(&layout, index).filter(|_| *count > 0.0) else {
                continue;
            };
            let edge = self.edges.get(index).copied().unwrap_or(0.0);
            let is_finding = self.warn_from.is_some_and(|from| edge >= from);
            let shade = if is_finding {
                Shade::Warning
            } else {
                self.shade
            };
            // Single calls far away have to be visible.
            let top = bin.top.min(bin.bottom - 1.0);
            let to = (bin.right.max(bin.left + 1.0), bin.bottom);
            let ink = shade.colour(pen.theme);
            pen.painter.rect((bin.left, top), to, ink)?;
        }
        let mut free = 0.0;
        for (value, text) in &self.marks {
            let at = x.at(*value);
            pen.dashed_down(at, (4.0, plot.bottom), pen.theme.ink_2)?;
            let width = crate::label::width(text);
            let is_left = at + 4.0 + width > pen.size.width;
            let place = if is_left { at - 4.0 } else { at + 4.0 };
            let begin = if is_left { place - width } else { place };
            if begin >= free {
                let anchor = if is_left { Anchor::End } else { Anchor::Start };
                pen.over((place, 9.0), anchor, text, pen.theme.ink)?;
                free = begin + width + 4.0;
            }
        }
        Ok(())
    }

    pub(super) fn hit(&self, size: Size, x: f64, y: f64) -> Option<Hit> {
        let (plot, across, _) = self.layout(size);
        if !plot.has(x, y) {
            return None;
        }
        let value = across.value(x);
        let index = self.edges.partition_point(|edge| *edge <= value);
        let last = self.counts.len().checked_sub(1)?;
        Some(Hit {
            index: index.saturating_sub(1).min(last),
            part: None,
        })
    }

    pub(super) fn outline(&self, size: Size, index: usize) -> Option<Rect> {
        self.bin(&self.layout(size), index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tick_lies_between_two_counts() {
        let size = Size {
            width: 300.0,
            height: 150.0,
            dpr: 1.0,
        };
        for most in 1..40 {
            let counts = Counts {
                edges: vec![0.0, 1.0],
                counts: vec![f64::from(most)],
                ..Counts::default()
            };
            let (_, _, y) = counts.layout(size);
            assert!(y.ticks.len() >= 2, "{most}: {:?}", y.ticks);
            for (value, label) in &y.ticks {
                assert!(
                    value.fract() == 0.0 && !label.contains('.'),
                    "{most}: {label}"
                );
            }
        }
    }
}
