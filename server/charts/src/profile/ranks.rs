//! Ranks side by side: one bar each, its parts in the order of the step, waiting hatched.

use plotters::prelude::{DrawResult, DrawingBackend};

use super::axes::{Ruler, Unit};
use super::pen::Pen;
use super::{Hit, Rect, Shade, Size, cell};
use crate::label;
use crate::paint::{Anchor, Ink};

/// Ticks of the axis of time.
const TICKS: u32 = 5;
/// Maximum distance of two bars, CSS pixels.
const TALLEST: f64 = 34.0;
/// Share of this distance that the bar has.
const BAR: f64 = 0.7;
/// Distance of the lines of a hatch, CSS pixels.
const HATCH: f64 = 5.0;

/// Bars of ranks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranks {
    /// Bars from top to bottom.
    pub bars: Vec<RankBar>,
}

/// The bar of a rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankBar {
    /// Text at its left.
    pub text: String,
    /// Parts in the order of the step.
    pub parts: Vec<RankPart>,
    /// Text at its right: the host, or the problem.
    pub note: String,
    /// True for a slow rank.
    pub is_slow: bool,
}

/// A part of a bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankPart {
    /// Its colour.
    pub shade: Shade,
    /// Its length.
    pub nanos: f64,
    /// Text in it, if there is room.
    pub text: String,
    /// True for waiting, which is outlined and hatched.
    pub is_wait: bool,
}

impl Ranks {
    fn layout(&self, size: Size) -> (Rect, Ruler, f64) {
        let notes = self.bars.iter().map(|bar| label::width(&bar.note));
        let texts = self.bars.iter().map(|bar| label::width(&bar.text));
        let plot = Rect {
            left: texts.fold(30.0, f64::max) + 16.0,
            right: size.width - notes.fold(16.0, f64::max) - 20.0,
            top: 4.0,
            bottom: size.height - 22.0,
        };
        let length = |bar: &RankBar| -> f64 { bar.parts.iter().map(|part| part.nanos).sum() };
        let most = self.bars.iter().map(length).fold(0.0, f64::max);
        let across = (plot.left, plot.right);
        let ruler = Ruler::exact((0.0, most), across, TICKS, Unit::Nanos);
        let pitch = plot.height() / self.bars.len().max(1) as f64;
        (plot, ruler, pitch.min(TALLEST))
    }

    pub(super) fn draw<DB: DrawingBackend>(&self, pen: &Pen<'_, DB>) -> DrawResult<(), DB> {
        let (plot, ruler, pitch) = self.layout(pen.size);
        pen.times(&plot, &ruler)?;
        for (index, bar) in self.bars.iter().enumerate() {
            let middle = plot.top + (index as f64 + 0.5) * pitch;
            let half = pitch * BAR / 2.0;
            let ink = if bar.is_slow {
                let wash = Ink(pen.theme.warning, 0.12);
                let to = (pen.size.width - 8.0, middle + pitch * 0.46);
                pen.painter.rect((4.0, middle - pitch * 0.46), to, wash)?;
                pen.theme.warning
            } else {
                pen.theme.ink_2
            };
            let at = (plot.left - 8.0, middle);
            pen.painter.text(at, Anchor::End, &bar.text, ink)?;
            let mut begin = 0.0;
            for part in &bar.parts {
                let rect = Rect {
                    left: ruler.at(begin) + 0.5,
                    right: ruler.at(begin + part.nanos) - 0.5,
                    top: middle - half,
                    bottom: middle + half,
                };
                begin += part.nanos;
                if rect.right > rect.left {
                    draw_part(pen, &rect, part)?;
                }
            }
            let at = (ruler.at(begin) + 8.0, middle);
            let ink = if bar.is_slow { ink } else { pen.theme.ink_3 };
            pen.painter.text(at, Anchor::Start, &bar.note, ink)?;
        }
        Ok(())
    }

    pub(super) fn hit(&self, size: Size, x: f64, y: f64) -> Option<Hit> {
        let (plot, ruler, pitch) = self.layout(size);
        let index = cell(y, plot.top, pitch, self.bars.len())?;
        let (value, mut end) = (ruler.value(x), 0.0);
        let mut parts = self.bars.get(index)?.parts.iter();
        let part = parts.position(|part| {
            end += part.nanos;
            value < end
        });
        let is_inside = (0.0..=size.width).contains(&x);
        let part = part.filter(|_| (plot.left..=plot.right).contains(&x));
        is_inside.then_some(Hit { index, part })
    }

    pub(super) fn outline(&self, size: Size, index: usize) -> Option<Rect> {
        let (plot, ruler, pitch) = self.layout(size);
        let bar = self.bars.get(index)?;
        let middle = plot.top + (index as f64 + 0.5) * pitch;
        Some(Rect {
            left: plot.left,
            right: ruler.at(bar.parts.iter().map(|part| part.nanos).sum()),
            top: middle - pitch * BAR / 2.0,
            bottom: middle + pitch * BAR / 2.0,
        })
    }
}

fn draw_part<DB: DrawingBackend>(
    pen: &Pen<'_, DB>,
    rect: &Rect,
    part: &RankPart,
) -> DrawResult<(), DB> {
    let colour = part.shade.colour(pen.theme);
    let Rect {
        left,
        right,
        top,
        bottom,
    } = *rect;
    let middle = f64::midpoint(top, bottom);
    let has_room = label::width(&part.text) + 8.0 < right - left;
    if !part.is_wait {
        pen.painter.rect((left, top), (right, bottom), colour)?;
        if has_room {
            let at = (right - 4.0, middle);
            let ink = pen.theme.on_time;
            pen.painter.text(at, Anchor::End, &part.text, ink)?;
        }
        return Ok(());
    }
    let high = bottom - top;
    let mut at = left - high + HATCH / 2.0;
    while at < right {
        // The line goes up to the right; both of its ends stay within the bar.
        let (from, to) = (at.max(left), (at + high).min(right));
        let line = [(from, bottom - (from - at)), (to, bottom - (to - at))];
        pen.painter.path(&line, 0.75, Ink(colour, 0.7))?;
        at += HATCH;
    }
    let outline = [
        (left, top),
        (right, top),
        (right, bottom),
        (left, bottom),
        (left, top),
    ];
    pen.painter.path(&outline, 1.0, colour)?;
    if has_room {
        let at = (f64::midpoint(left, right), middle);
        pen.over(at, Anchor::Middle, &part.text, pen.theme.ink)?;
    }
    Ok(())
}
