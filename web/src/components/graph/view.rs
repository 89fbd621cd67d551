//! Which part of a graph is looked at, and how large.

use trainscope_charts::graph::Window;

use crate::typed;

/// How small and how large a unit may be drawn, pixels.
const SCALES: std::ops::RangeInclusive<f64> = 0.01..=4.0;
/// Space around a figure that is fitted, pixels.
const MARGIN: f64 = 24.0;
/// A first picture is not drawn smaller than that: names can be read.
const READABLE: f64 = 0.8;

/// A place of the figure is drawn at `place * scale + (x, y)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Pixels of one unit.
    pub scale: f64,
    /// Where the left edge of the figure is drawn.
    pub x: f64,
    /// Where its upper edge is drawn.
    pub y: f64,
}

impl Default for View {
    fn default() -> Self {
        Self {
            scale: 1.0,
            x: 0.0,
            y: 0.0,
        }
    }
}

impl View {
    /// The whole figure; with `is_first`, as much of it as can be read, from above.
    pub fn fitting(figure: (f64, f64), (width, height): (f64, f64), is_first: bool) -> Self {
        let (wide, high) = (figure.0.max(1.0), figure.1.max(1.0));
        let whole = ((width - MARGIN) / wide)
            .min((height - MARGIN) / high)
            .min(1.0);
        let scale = whole.max(if is_first { READABLE } else { 0.0 });
        let scale = scale.clamp(*SCALES.start(), *SCALES.end());
        let top = (height - high * scale) / 2.0;
        Self {
            scale,
            x: (width - wide * scale) / 2.0,
            y: if is_first { top.max(4.0) } else { top },
        }
    }

    /// What is seen of the figure.
    pub fn window(&self, width: f64, height: f64) -> Window {
        let (left, top) = self.inverse((0.0, 0.0));
        let (right, bottom) = self.inverse((width, height));
        Window {
            left,
            top,
            right,
            bottom,
            scale: self.scale,
        }
    }

    /// The place of the figure that is drawn at a pixel.
    pub fn inverse(&self, (x, y): (f64, f64)) -> (f64, f64) {
        ((x - self.x) / self.scale, (y - self.y) / self.scale)
    }

    /// Larger or smaller by a factor, with what is at a pixel staying there.
    #[must_use]
    pub fn zoomed(&self, factor: f64, (x, y): (f64, f64)) -> Self {
        let scale = (self.scale * factor).clamp(*SCALES.start(), *SCALES.end());
        let by = scale / self.scale;
        Self {
            scale,
            x: x - (x - self.x) * by,
            y: y - (y - self.y) * by,
        }
    }

    /// With a place of the figure in the middle.
    #[must_use]
    pub fn centred(&self, place: (f64, f64), (width, height): (f64, f64)) -> Self {
        Self {
            x: width / 2.0 - place.0 * self.scale,
            y: height / 2.0 - place.1 * self.scale,
            ..*self
        }
    }

    /// So that a box is seen, in the middle if it was not.
    #[must_use]
    pub fn showing(&self, [x, y, w, h]: [f64; 4], size: (f64, f64)) -> Self {
        let window = self.window(size.0, size.1);
        let is_seen = x >= window.left
            && y >= window.top
            && x + w.min(window.right - window.left) <= window.right
            && y + h.min(28.0) <= window.bottom;
        if is_seen && self.scale > 0.3 {
            return *self;
        }
        let readable = Self {
            scale: self.scale.max(READABLE),
            ..*self
        };
        readable.centred((x + w / 2.0, y + h.min(200.0) / 2.0), size)
    }

    /// So that at least one of the boxes is seen: the first one, if none was.
    #[must_use]
    pub fn seeing(&self, mut boxes: impl Iterator<Item = [f64; 4]>, size: (f64, f64)) -> Self {
        let window = self.window(size.0, size.1);
        let is_seen = |[x, y, w, h]: [f64; 4]| {
            x < window.right && x + w > window.left && y < window.bottom && y + h > window.top
        };
        let Some(first) = boxes.next() else {
            return *self;
        };
        if is_seen(first) || boxes.any(is_seen) {
            *self
        } else {
            self.showing(first, size)
        }
    }

    /// As it stands in an address.
    pub fn to_text(self) -> String {
        format!("{:.3},{:.0},{:.0}", self.scale, self.x, self.y)
    }

    /// From an address.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers: Vec<f64> = text.split(',').filter_map(typed::number).collect();
        match numbers.as_slice() {
            [scale, x, y] if SCALES.contains(scale) => Some(Self {
                scale: *scale,
                x: *x,
                y: *y,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zooming_keeps_what_is_under_the_pointer() {
        let view = View::fitting((2_000.0, 900.0), (800.0, 600.0), false);
        assert!(view.scale < 0.4, "{view:?}");
        let at = (123.0, 456.0);
        let (x, y) = view.inverse(at);
        let (zx, zy) = view.zoomed(1.7, at).inverse(at);
        assert!((x - zx).abs() < 1e-6 && (y - zy).abs() < 1e-6);
        let far = view.zoomed(1e9, at);
        assert!(SCALES.contains(&far.scale));
    }

    #[test]
    fn a_view_survives_its_address() {
        let view = View {
            scale: 0.5,
            x: -12.0,
            y: 7.0,
        };
        assert_eq!(View::parse(&view.to_text()), Some(view));
        for text in ["", "1,2", "NaN,1,1", "0,1,1", "1,inf,1"] {
            assert_eq!(View::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_seen_is_left_where_it_is() {
        let view = View::default();
        assert_eq!(
            view.showing([10.0, 10.0, 100.0, 28.0], (800.0, 600.0)),
            view
        );
        let far = [5_000.0, 10.0, 100.0, 28.0];
        assert_eq!(
            view.seeing([far, [10.0, 10.0, 100.0, 28.0]].into_iter(), (800.0, 600.0)),
            view
        );
        let size = (800.0, 600.0);
        assert_eq!(
            view.seeing([far].into_iter(), size),
            view.showing(far, size)
        );
        let moved = view.showing(far, size);
        assert_eq!(moved.inverse((400.0, 300.0)), (5_050.0, 24.0));
    }
}
