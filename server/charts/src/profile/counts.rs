//! A distribution as bars of counts, with lines at chosen values.

use super::{Chart, Hit, Shade};
use crate::frame::{Anchor, Frame, Point, Rect, Ruler, Size, Unit};
use crate::label;
use crate::pen::Pen;

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
    fn frame(&self, size: Size) -> Frame {
        let top = if self.marks.is_empty() { 8.0 } else { 18.0 };
        let plot = Rect::within(size, [32.0, 10.0, top, 20.0]);
        let first = self.edges.first().copied().unwrap_or(0.0);
        let last = self.edges.last().copied().unwrap_or(1.0);
        // An axis up to 1 would have a tick at its half.
        let most = self.counts.iter().copied().fold(2.0, f64::max);
        let (across, up) = ((plot.left, plot.right), (plot.bottom, plot.top));
        Frame {
            plot,
            x: Ruler::exact((first, last), across, TICKS.0, self.unit),
            y: Ruler::from_zero(most, up, TICKS.1, Unit::Count),
        }
    }

    fn bin(&self, Frame { plot, x, y }: &Frame, index: usize) -> Option<Rect> {
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
}

impl Chart for Counts {
    fn draw(&self, pen: &Pen<'_>) {
        let frame = self.frame(pen.size);
        pen.frame(&frame);
        for (index, count) in self.counts.iter().enumerate() {
            let Some(bin) = self.bin(&frame, index).filter(|_| *count > 0.0) else {
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
            pen.rect((bin.left, top), to, shade.colour(pen.theme));
        }
        let mut free = 0.0;
        for (value, text) in &self.marks {
            let at = frame.x.at(*value);
            pen.dashed_down(at, (4.0, frame.plot.bottom), pen.theme.ink_2);
            let width = label::width(text);
            let is_left = at + 4.0 + width > pen.size.width;
            let (place, anchor) = if is_left {
                (at - 4.0, Anchor::End)
            } else {
                (at + 4.0, Anchor::Start)
            };
            let begin = anchor.span(place, width).0;
            if begin >= free {
                pen.over((place, 9.0), anchor, text, pen.theme.ink);
                free = begin + width + 4.0;
            }
        }
    }

    fn hit(&self, size: Size, at: Point) -> Option<Hit> {
        let (value, _) = self.frame(size).point(at)?;
        let index = self.edges.partition_point(|edge| *edge <= value);
        let last = self.counts.len().checked_sub(1)?;
        Some(Hit {
            index: index.saturating_sub(1).min(last),
            part: None,
        })
    }

    fn outline(&self, size: Size, hit: Hit) -> Option<Rect> {
        self.bin(&self.frame(size), hit.index)
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
            let ticks = counts.frame(size).y.ticks;
            assert!(ticks.len() >= 2, "{most}: {ticks:?}");
            for (value, label) in &ticks {
                assert!(
                    value.fract() == 0.0 && !label.contains('.'),
                    "{most}: {label}"
                );
            }
        }
    }
}
