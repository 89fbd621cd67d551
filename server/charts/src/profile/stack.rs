//! Parts of steps as stacked bars, with a line at their mean.

use super::{Chart, Hit, Shade};
use crate::frame::{Anchor, Bands, Point, Rect, Ruler, Size, Unit};
use crate::label;
use crate::pen::{Ink, Pen};

/// Ticks of the axis of values.
const TICKS: u32 = 6;
/// Upper edge of the plot with the text of a mean above it, CSS pixels.
const MEAN_TOP: f64 = 22.0;
/// Minimum width of a bar for a gap between two, CSS pixels.
const GAP_FROM: f64 = 4.0;
/// Opacity of steps that were cut off.
const PALE: f64 = 0.4;
/// Maximum width of a bar, CSS pixels.
const WIDEST: f64 = 64.0;

/// Stacked bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stack {
    /// Bars from left to right.
    pub bars: Vec<Bar>,
    /// Colours of the parts, from below.
    pub shades: Vec<Shade>,
    /// Value and text of a line across all bars.
    pub mean: Option<(f64, String)>,
    /// Unit of the values.
    pub unit: Unit,
}

/// One bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// Text below it.
    pub text: String,
    /// Parts from below.
    pub parts: Vec<f64>,
    /// True for a step that is not complete.
    pub is_pale: bool,
}

impl Bar {
    fn sum(&self) -> f64 {
        self.parts.iter().filter(|part| part.is_finite()).sum()
    }
}

impl Stack {
    fn layout(&self, size: Size) -> (Rect, Ruler, Bands) {
        let top = if self.mean.is_some() { MEAN_TOP } else { 10.0 };
        let plot = Rect::within(size, [52.0, 10.0, top, 22.0]);
        let most = self.bars.iter().map(Bar::sum);
        let most = self.mean.iter().map(|mean| mean.0).chain(most);
        let most = most.fold(0.0, f64::max);
        let ruler = Ruler::from_zero(most, (plot.bottom, plot.top), TICKS, self.unit);
        let bars = Bands::new((plot.left, plot.right), self.bars.len(), WIDEST);
        (plot, ruler, bars)
    }

    fn outline_in(&self, (plot, ruler, bars): &(Rect, Ruler, Bands), index: usize) -> Option<Rect> {
        let bar = self.bars.get(index)?;
        let left = bars.begin(index);
        let gap = if bars.pitch >= GAP_FROM { 1.0 } else { 0.0 };
        Some(Rect {
            left: left + gap,
            right: left + bars.pitch - gap,
            top: ruler.at(bar.sum()),
            bottom: plot.bottom,
        })
    }
}

impl Chart for Stack {
    fn draw(&self, pen: &Pen<'_>) {
        let layout = self.layout(pen.size);
        let (plot, ruler, bars) = &layout;
        pen.values(plot, ruler, true);
        pen.base(plot);
        for (index, bar) in self.bars.iter().enumerate() {
            let Some(outline) = self.outline_in(&layout, index) else {
                continue;
            };
            let mut below = 0.0;
            let parts = bar.parts.iter().zip(&self.shades);
            for (part, shade) in parts.filter(|(part, _)| part.is_finite()) {
                let (from, to) = (ruler.at(below), ruler.at(below + part));
                below += part;
                let alpha = if bar.is_pale { PALE } else { 1.0 };
                let ink = Ink(shade.colour(pen.theme), alpha);
                pen.rect((outline.left, to), (outline.right, from), ink);
            }
        }
        let texts: Vec<String> = self.bars.iter().map(|bar| bar.text.clone()).collect();
        let under = Rect {
            right: bars.end(),
            ..*plot
        };
        pen.columns(&under, &texts);
        if let Some((mean, text)) = &self.mean {
            let ink = Ink(pen.theme.ink, 0.7);
            pen.dashed_across((plot.left, plot.right), ruler.at(*mean), ink);
            // Above the bars, with a piece of its line: no bar is behind it.
            let y = plot.top - 10.0;
            let left = plot.right - label::width(text) - 6.0;
            pen.dashed_across((left - 18.0, left), y, ink);
            pen.over((plot.right, y), Anchor::End, text, pen.theme.ink);
        }
    }

    fn hit(&self, size: Size, (x, y): Point) -> Option<Hit> {
        let (plot, ruler, bars) = self.layout(size);
        if !(0.0..=plot.bottom).contains(&y) {
            return None;
        }
        let index = bars.hit(x)?;
        let value = ruler.value(y);
        let mut above = 0.0;
        let parts = self.bars.get(index)?.parts.iter();
        let part = parts.take_while(|part| {
            above += part.max(0.0);
            above <= value
        });
        let part = part.count();
        Some(Hit {
            index,
            part: (part < self.shades.len()).then_some(part),
        })
    }

    fn outline(&self, size: Size, hit: Hit) -> Option<Rect> {
        self.outline_in(&self.layout(size), hit.index)
    }
}
