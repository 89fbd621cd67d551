//! Curves over steps with their names at the right end, or bars of one value a step.

use super::{Chart, Hit, Shade};
use crate::frame::{Anchor, Frame, Point, Rect, Ruler, Size, Unit};
use crate::label;
use crate::pen::Pen;

/// Ticks of the axis of values.
const TICKS: u32 = 4;
/// Minimum distance of the names of curves, CSS pixels.
const NAMES: f64 = 12.0;

/// Curves over the same steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// Steps, ascending.
    pub steps: Vec<i64>,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Unit of the values.
    pub unit: Unit,
    /// True if the axis begins at 0.
    pub from_zero: bool,
    /// Values with a dashed line and a text: size of the device.
    pub limits: Vec<(f64, String)>,
}

/// One curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Text at its end; empty for none.
    pub name: String,
    /// Its colour.
    pub shade: Shade,
    /// One value a step; NaN leaves a gap.
    pub values: Vec<f64>,
    /// Colours of single steps, for bars; empty for a line.
    pub bars: Vec<Shade>,
}

impl Curves {
    fn frame(&self, size: Size) -> Frame {
        let names = label::widest(self.curves.iter().map(|curve| &curve.name));
        let plot = Rect::within(size, [50.0, 10.0 + names, 8.0, 20.0]);
        let values = self
            .curves
            .iter()
            .flat_map(|curve| curve.values.iter().copied());
        let values = values.chain(self.limits.iter().map(|limit| limit.0));
        let values = values.filter(|value| value.is_finite());
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, most) = values.fold(ends, |(least, most), value| {
            (least.min(value), most.max(value))
        });
        let down = (plot.bottom, plot.top);
        let y = if self.from_zero || least >= most {
            Ruler::from_zero(most, down, TICKS, self.unit)
        } else {
            let margin = (most - least) * 0.08;
            Ruler::exact((least - margin, most + margin), down, TICKS, self.unit)
        };
        let begin = self.steps.first().copied().unwrap_or(0);
        let end = self.steps.last().copied().unwrap_or(begin);
        let half = if self.has_bars() { 0.5 } else { 0.0 };
        let across = (plot.left, plot.right);
        let steps = (begin as f64 - half, end as f64 + half);
        let mut x = Ruler::exact(steps, across, TICKS, Unit::Count);
        x.ticks.retain(|(step, _)| step.fract() == 0.0);
        Frame { plot, x, y }
    }

    fn has_bars(&self) -> bool {
        self.curves.iter().any(|curve| !curve.bars.is_empty())
    }

    fn names(&self, pen: &Pen<'_>, Frame { plot, y, .. }: &Frame) {
        let named = self.curves.iter().filter(|curve| !curve.name.is_empty());
        let mut ends: Vec<(f64, &str)> = named
            .filter_map(|curve| {
                let last = curve.values.iter().rev().find(|value| value.is_finite())?;
                Some((y.at(*last), &*curve.name))
            })
            .collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut free = f64::NEG_INFINITY;
        for (at, name) in ends {
            let at = at.max(free);
            free = at + NAMES;
            pen.text((plot.right + 5.0, at), Anchor::Start, name, pen.theme.ink_2);
        }
    }
}

impl Chart for Curves {
    fn draw(&self, pen: &Pen<'_>) {
        let frame = self.frame(pen.size);
        let Frame { plot, x, y } = &frame;
        pen.frame(&frame);
        for curve in &self.curves {
            let points = self.steps.iter().zip(&curve.values);
            let points = points.map(|(step, value)| (x.at(*step as f64), *value));
            if curve.bars.is_empty() {
                let colour = curve.shade.colour(pen.theme);
                let points: Vec<(f64, f64)> = points.collect();
                for line in points.split(|point| !point.1.is_finite()) {
                    let line: Vec<(f64, f64)> =
                        line.iter().map(|point| (point.0, y.at(point.1))).collect();
                    match &line[..] {
                        [] => {}
                        [one] => pen.disc(*one, 2.0, colour),
                        _ => pen.path(&line, 1.5, colour),
                    }
                }
                continue;
            }
            let width = plot.width() / self.steps.len().max(1) as f64;
            let half = (width * 0.42).clamp(0.5, 12.0);
            for ((at, value), shade) in points.zip(&curve.bars) {
                let from = (at - half, y.at(value));
                let ink = shade.colour(pen.theme);
                pen.rect(from, (at + half, plot.bottom), ink);
            }
        }
        for (value, text) in &self.limits {
            let at = y.at(*value);
            pen.dashed_across((plot.left, plot.right), at, pen.theme.error);
            let at = (plot.right - 2.0, at + 9.0);
            pen.over(at, Anchor::End, text, pen.theme.error);
        }
        self.names(pen, &frame);
    }

    fn hit(&self, size: Size, at: Point) -> Option<Hit> {
        let (value, _) = self.frame(size).point(at)?;
        let near = |step: &i64| (*step as f64 - value).abs();
        let steps = self.steps.iter().enumerate();
        let nearest = steps.min_by(|a, b| near(a.1).total_cmp(&near(b.1)))?;
        Some(Hit {
            index: nearest.0,
            part: None,
        })
    }

    fn outline(&self, size: Size, hit: Hit) -> Option<Rect> {
        let step = *self.steps.get(hit.index)?;
        Some(self.frame(size).outline_at(step as f64))
    }
}
