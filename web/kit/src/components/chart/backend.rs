//! Plot backend for a canvas of the browser. Each call into the browser is expensive, and setting the same style again
//! has a cost: so colours and fonts are only set when they change.

use std::convert::Infallible;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use web_sys::CanvasRenderingContext2d;

type DrawResult = Result<(), DrawingErrorKind<Infallible>>;

/// Style of strokes.
type Pen = (BackendColor, u32);

/// Number of points of a path stroked at once. Without a graphics processor, a browser takes 105 ms for twenty jagged
/// lines of 360 points, and 25 ms for the same lines in such pieces.
const PIECE: usize = 16;

/// Opacity below which the edges of fills need no smoothing.
const FAINT: f64 = 0.5;
/// Minimum number of points of a band that is checked for density.
const MANY: usize = 64;
/// Units per pixel of the canvas.
const PIXEL: i32 = 16;

/// A drawing backend over a canvas.
pub(super) struct Canvas {
    context: CanvasRenderingContext2d,
    size: (u32, u32),
    /// Style last set in the browser.
    pen: Option<Pen>,
    fill: Option<BackendColor>,
    font: String,
    hangs: Option<(&'static str, &'static str)>,
}

impl Canvas {
    /// Wraps a canvas with this many units.
    pub(super) fn new(context: CanvasRenderingContext2d, size: (u32, u32)) -> Self {
        Self {
            context,
            size,
            pen: None,
            fill: None,
            font: String::new(),
            hangs: None,
        }
    }

    fn take_pen(&mut self, pen: Pen) {
        let before = self.pen.replace(pen);
        if before.is_none_or(|before| !is_same(before.0, pen.0)) {
            self.context.set_stroke_style_str(&text_of(pen.0));
        }
        if before.is_none_or(|before| before.1 != pen.1) {
            self.context.set_line_width(f64::from(pen.1));
        }
    }

    fn take_fill(&mut self, colour: BackendColor) {
        let before = self.fill.replace(colour);
        if before.is_none_or(|before| !is_same(before, colour)) {
            self.context.set_fill_style_str(&text_of(colour));
        }
    }

    fn lines(&self, points: impl IntoIterator<Item = BackendCoord>) {
        for (index, (x, y)) in points.into_iter().enumerate() {
            if index == 0 {
                self.context.move_to(f64::from(x), f64::from(y));
            } else {
                self.context.line_to(f64::from(x), f64::from(y));
            }
        }
    }
}

impl DrawingBackend for Canvas {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> DrawResult {
        Ok(())
    }

    fn present(&mut self) -> DrawResult {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, colour: BackendColor) -> DrawResult {
        self.take_fill(colour);
        let (x, y) = (f64::from(point.0), f64::from(point.1));
        self.context.fill_rect(x, y, 1.0, 1.0);
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> DrawResult {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        is_filled: bool,
    ) -> DrawResult {
        let (x, y) = (f64::from(from.0), f64::from(from.1));
        let (width, height) = (f64::from(to.0) - x, f64::from(to.1) - y);
        if is_filled {
            self.take_fill(style.color());
            self.context.fill_rect(x, y, width, height);
        } else {
            self.take_pen((style.color(), style.stroke_width()));
            self.context.stroke_rect(x, y, width, height);
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult {
        let pen = (style.color(), style.stroke_width());
        self.take_pen(pen);
        // With a translucent stroke, overlaps of pieces would be visible.
        let piece = if pen.0.alpha < 1.0 { usize::MAX } else { PIECE };
        self.context.begin_path();
        let mut is_open = false;
        for (index, (x, y)) in path.into_iter().enumerate() {
            let (x, y) = (f64::from(x), f64::from(y));
            if index == 0 {
                self.context.move_to(x, y);
                continue;
            }
            self.context.line_to(x, y);
            is_open = index % piece != 0;
            if !is_open {
                self.context.stroke();
                self.context.begin_path();
                self.context.move_to(x, y);
            }
        }
        if is_open {
            self.context.stroke();
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult {
        self.take_fill(style.color());
        let outline: Vec<BackendCoord> = path.into_iter().collect();
        let is_faint = style.color().alpha < FAINT;
        if let Some(columns) = is_faint.then(|| columns(&outline)).flatten() {
            let pixel = f64::from(PIXEL);
            for (number, top, bottom) in columns {
                self.context
                    .fill_rect(f64::from(number) * pixel, top, pixel, bottom - top);
            }
        } else {
            self.context.begin_path();
            self.lines(outline);
            self.context.fill();
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        is_filled: bool,
    ) -> DrawResult {
        self.context.begin_path();
        let (x, y, radius) = (f64::from(centre.0), f64::from(centre.1), f64::from(radius));
        // A canvas rejects only negative radii.
        let _never = self.context.arc(x, y, radius, 0.0, std::f64::consts::TAU);
        if is_filled {
            self.take_fill(style.color());
            self.context.fill();
        } else {
            self.take_pen((style.color(), style.stroke_width()));
            self.context.stroke();
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        at: BackendCoord,
    ) -> DrawResult {
        let anchor = style.anchor();
        let hangs = (
            match anchor.h_pos {
                HPos::Left => "start",
                HPos::Right => "end",
                HPos::Center => "center",
            },
            match anchor.v_pos {
                VPos::Top => "top",
                VPos::Center => "middle",
                VPos::Bottom => "bottom",
            },
        );
        if self.hangs != Some(hangs) {
            self.hangs = Some(hangs);
            self.context.set_text_align(hangs.0);
            self.context.set_text_baseline(hangs.1);
        }
        let weight = style.style();
        let font = format!(
            "{} {}px {}",
            weight.as_str(),
            style.size(),
            style.family().as_str()
        );
        if self.font != font {
            self.context.set_font(&font);
            self.font = font;
        }
        self.take_fill(style.color());
        // Text without a font is not drawn; there is nothing to do about it.
        let _ignored = self
            .context
            .fill_text(text, f64::from(at.0), f64::from(at.1));
        Ok(())
    }
}

fn is_same(a: BackendColor, b: BackendColor) -> bool {
    a.rgb == b.rgb && a.alpha.to_bits() == b.alpha.to_bits()
}

fn text_of(colour: BackendColor) -> String {
    let (r, g, b) = colour.rgb;
    format!("rgba({r},{g},{b},{})", colour.alpha)
}

/// A column of pixels with its vertical range, in units.
type Column = (i32, f64, f64);

/// Vertical ranges of a band with about a point per pixel, column by column: a browser takes six times as long for its
/// outline. `None` if the outline is not that of such a band: along its upper edge, and back over the same x.
fn columns(outline: &[BackendCoord]) -> Option<Vec<Column>> {
    let (upper, lower) = outline.split_at(outline.len() / 2);
    let lower = lower.iter().rev();
    let is_band = outline.len() >= MANY
        && upper.len() == lower.len()
        && upper.iter().zip(lower.clone()).all(|(a, b)| a.0 == b.0)
        && upper.is_sorted_by_key(|point| point.0);
    let (first, last) = (upper.first()?.0, upper.last()?.0);
    let pixels = usize::try_from((last - first) / PIXEL).ok()?;
    if !is_band || pixels > 2 * upper.len() {
        return None;
    }
    let mut columns: Vec<Column> = Vec::with_capacity(pixels + 2);
    let edges: Vec<(i32, i32, i32)> = upper
        .iter()
        .zip(lower)
        .map(|(above, below)| (above.0, above.1, below.1))
        .collect();
    for pair in edges.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let between = |a: i32, b: i32, x: i32| {
            let share = f64::from(x - from.0) / f64::from((to.0 - from.0).max(1));
            f64::from(a) + f64::from(b - a) * share
        };
        for number in from.0.div_euclid(PIXEL)..=to.0.div_euclid(PIXEL) {
            let left = from.0.max(number * PIXEL);
            let right = to.0.min((number + 1) * PIXEL);
            let above = [left, right].map(|x| between(from.1, to.1, x));
            let below = [left, right].map(|x| between(from.2, to.2, x));
            let (top, bottom) = (above[0].min(above[1]), below[0].max(below[1]));
            match columns.last_mut() {
                Some(column) if column.0 == number => {
                    *column = (number, column.1.min(top), column.2.max(bottom));
                }
                _ => columns.push((number, top, bottom)),
            }
        }
    }
    Some(columns)
}

#[cfg(test)]
mod tests {
    use super::{BackendCoord, PIXEL, columns};

    fn outline(edges: &[(i32, i32, i32)]) -> Vec<BackendCoord> {
        let there = edges.iter().map(|&(x, top, _)| (x, top));
        let back = edges.iter().rev().map(|&(x, _, bottom)| (x, bottom));
        there.chain(back).collect()
    }

    #[test]
    fn a_dense_band_is_its_columns() {
        let edges: Vec<_> = (0..100)
            .map(|at| (8 + at * PIXEL, 100 + at % 7 * 10, 300 - at % 5 * 10))
            .collect();
        let columns = columns(&outline(&edges)).unwrap();
        assert_eq!(columns.len(), 100);
        for (column, edge) in columns.iter().zip(&edges) {
            // The recorded range is visible, and no more than its neighbours reach.
            assert_eq!(column.0, edge.0 / PIXEL);
            assert!(column.1 <= f64::from(edge.1) && column.1 >= 100.0);
            assert!(column.2 >= f64::from(edge.2) && column.2 <= 300.0);
        }
        // Half way to the next one, if that is higher.
        assert_eq!(columns[6], (6, 130.0, 295.0));
    }

    #[test]
    fn points_within_a_pixel_are_one_column() {
        let edges: Vec<_> = (0..64)
            .map(|at| (at * 4, if at == 33 { 0 } else { 100 }, 200))
            .collect();
        let columns = columns(&outline(&edges)).unwrap();
        assert_eq!(columns.len(), 16);
        assert_eq!(columns[8], (8, 0.0, 200.0));
        assert_eq!(columns[2], (2, 100.0, 200.0));
    }

    #[test]
    fn other_outlines_stay() {
        let sparse: Vec<_> = (0..100).map(|at| (at * 3 * PIXEL, 0, 50)).collect();
        assert_eq!(columns(&outline(&sparse)), None);
        let mut moved = outline(&(0..100).map(|at| (at * PIXEL, 0, 50)).collect::<Vec<_>>());
        moved[150].0 += 1;
        assert_eq!(columns(&moved), None);
        assert_eq!(columns(&[(0, 0), (16, 0), (16, 9), (0, 9)]), None);
        assert_eq!(columns(&[]), None);
    }
}
