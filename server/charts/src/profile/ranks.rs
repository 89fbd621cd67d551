//! Ranks side by side: one bar each, its parts in the order of the step, waiting hatched.

use super::{Chart, Hit, Shade};
use crate::frame::{Anchor, Bands, Point, Rect, Ruler, Size, Unit};
use crate::label;
use crate::pen::{Ink, Pen};

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

impl RankBar {
    fn sum(&self) -> f64 {
        self.parts.iter().map(|part| part.nanos).sum()
    }
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
    fn layout(&self, size: Size) -> (Rect, Ruler, Bands) {
        let texts = label::widest(self.bars.iter().map(|bar| &bar.text)).max(30.0);
        let notes = label::widest(self.bars.iter().map(|bar| &bar.note)).max(16.0);
        let plot = Rect::within(size, [texts + 16.0, notes + 20.0, 4.0, 22.0]);
        let most = self.bars.iter().map(RankBar::sum).fold(0.0, f64::max);
        let across = (plot.left, plot.right);
        let ruler = Ruler::exact((0.0, most), across, TICKS, Unit::Nanos);
        let bars = Bands::new((plot.top, plot.bottom), self.bars.len(), TALLEST);
        (plot, ruler, bars)
    }
}

impl Chart for Ranks {
    fn draw(&self, pen: &Pen<'_>) {
        let (plot, ruler, bars) = self.layout(pen.size);
        let pitch = bars.pitch;
        pen.along(&plot, &ruler, true);
        for (index, bar) in self.bars.iter().enumerate() {
            let middle = bars.middle(index);
            let half = pitch * BAR / 2.0;
            let ink = if bar.is_slow {
                let wash = Ink(pen.theme.warning, 0.12);
                let to = (pen.size.width - 8.0, middle + pitch * 0.46);
                pen.rect((4.0, middle - pitch * 0.46), to, wash);
                pen.theme.warning
            } else {
                pen.theme.ink_2
            };
            let at = (plot.left - 8.0, middle);
            pen.text(at, Anchor::End, &bar.text, ink);
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
                    draw_part(pen, &rect, part);
                }
            }
            let at = (ruler.at(begin) + 8.0, middle);
            let ink = if bar.is_slow { ink } else { pen.theme.ink_3 };
            pen.text(at, Anchor::Start, &bar.note, ink);
        }
    }

    fn hit(&self, size: Size, (x, y): Point) -> Option<Hit> {
        let (plot, ruler, bars) = self.layout(size);
        let index = bars.hit(y)?;
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

    fn outline(&self, size: Size, hit: Hit) -> Option<Rect> {
        let (plot, ruler, bars) = self.layout(size);
        let bar = self.bars.get(hit.index)?;
        let (middle, half) = (bars.middle(hit.index), bars.pitch * BAR / 2.0);
        Some(Rect {
            left: plot.left,
            right: ruler.at(bar.sum()),
            top: middle - half,
            bottom: middle + half,
        })
    }
}

fn draw_part(pen: &Pen<'_>, rect: &Rect, part: &RankPart) {
    let colour = part.shade.colour(pen.theme);
    let Rect {
        left,
        right,
        top,
        bottom,
    } = *rect;
    let (centre, middle) = rect.middle();
    let has_room = label::width(&part.text) + 8.0 < right - left;
    if !part.is_wait {
        pen.area(rect, colour);
        if has_room {
            let at = (right - 4.0, middle);
            let ink = pen.theme.on_time;
            pen.text(at, Anchor::End, &part.text, ink);
        }
        return;
    }
    let high = bottom - top;
    let mut at = left - high + HATCH / 2.0;
    while at < right {
        // The line goes up to the right; both of its ends stay within the bar.
        let (from, to) = (at.max(left), (at + high).min(right));
        let line = [(from, bottom - (from - at)), (to, bottom - (to - at))];
        pen.path(&line, 0.75, Ink(colour, 0.7));
        at += HATCH;
    }
    pen.outline(rect, 1.0, colour);
    if has_room {
        pen.over((centre, middle), Anchor::Middle, &part.text, pen.theme.ink);
    }
}
