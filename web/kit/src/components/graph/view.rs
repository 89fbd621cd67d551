//! Visible part of a graph, and its scale.

use trainscope_charts::graph::Window;

use crate::format;

/// Range of scales, pixels per unit.
const SCALES: std::ops::RangeInclusive<f64> = 0.01..=4.0;
/// Margin around a fitted figure, pixels.
const MARGIN: f64 = 24.0;
/// Minimum scale of a first view: names, 12 pixels high at scale 1, are at least 11.
const READABLE: f64 = 11.0 / 12.0;

/// A point of the figure is drawn at `point * scale + (x, y)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Pixels per unit.
    pub scale: f64,
    /// Horizontal position of the figure's left edge.
    pub x: f64,
    /// Vertical position of the figure's upper edge.
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
    /// The largest figure that is completely visible and readable in a viewport of this size.
    pub fn room((width, height): (f64, f64)) -> (f64, f64) {
        let room = |length: f64| (length - MARGIN).max(0.0) / READABLE;
        (room(width), room(height))
    }

    /// View of the whole figure; with `is_first`, at a readable scale and from the top.
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

    /// The first view of a figure with those closed boxes: if it is too wide, its left edge is visible, where scopes
    /// have their names, unless another part of the top shows more.
    pub fn first(figure: (f64, f64), boxes: &[[f64; 4]], (width, height): (f64, f64)) -> Self {
        let view = Self::fitting(figure, (width, height), true);
        if view.x >= 0.0 {
            return view;
        }
        let bottom = view.inverse((0.0, height)).1;
        let seen: Vec<(f64, f64)> = boxes
            .iter()
            .filter(|[_, y, _, h]| y + h / 2.0 < bottom)
            .map(|[x, _, w, _]| (*x, x + w))
            .collect();
        let room = (width - MARGIN) / view.scale;
        // The leftmost position that shows the maximum number of them.
        let count = |left: f64| {
            let whole = seen.iter();
            let whole = whole.filter(|(from, to)| *from >= left && *to <= left + room);
            whole.count()
        };
        let mut best = (0.0, count(0.0));
        for &(left, _) in &seen {
            let found = count(left);
            if found > best.1 || found == best.1 && left < best.0 {
                best = (left, found);
            }
        }
        let edge = MARGIN / 2.0;
        let x = edge - best.0 * view.scale;
        let least = width - edge - figure.0 * view.scale;
        Self {
            x: x.clamp(least.min(edge), edge),
            ..view
        }
    }

    /// Visible part of the figure.
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

    /// The point of the figure at a pixel.
    pub fn inverse(&self, (x, y): (f64, f64)) -> (f64, f64) {
        ((x - self.x) / self.scale, (y - self.y) / self.scale)
    }

    /// The view scaled by a factor around a pixel.
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

    /// The view with a point of the figure in the middle.
    #[must_use]
    pub fn centred(&self, place: (f64, f64), (width, height): (f64, f64)) -> Self {
        Self {
            x: width / 2.0 - place.0 * self.scale,
            y: height / 2.0 - place.1 * self.scale,
            ..*self
        }
    }

    /// The view with a box visible, in the middle if it was not.
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

    /// The view with at least one of the boxes visible: the first one, if none was.
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

    /// Text for the URL.
    pub fn to_text(self) -> String {
        format!("{:.3},{:.0},{:.0}", self.scale, self.x, self.y)
    }

    /// Parses the text of a URL.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers: Vec<f64> = text.split(',').filter_map(format::parse_number).collect();
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
    fn a_figure_that_has_room_is_whole_and_readable() {
        let size = (616.0, 674.0);
        let figure = View::room(size);
        let view = View::fitting(figure, size, true);
        assert!(view.scale * 12.0 >= 11.0 - 1e-9, "{view:?}");
        let window = view.window(size.0, size.1);
        assert!(window.left <= 0.0 && window.top <= 0.0, "{window:?}");
        assert!(window.right >= figure.0 - 1e-6 && window.bottom >= figure.1 - 1e-6);
    }

    #[test]
    fn the_first_picture_has_no_empty_side() {
        let size = (800.0, 600.0);
        // Small enough: in the middle.
        let view = View::first((500.0, 300.0), &[[0.0, 0.0, 100.0, 28.0]], size);
        assert_eq!(view.inverse((400.0, 300.0)), (250.0, 150.0));
        // The top is at the left, so that nothing is cut off there.
        let below = [1_500.0, 2_000.0, 100.0, 28.0];
        let figure = (1_600.0, 2_100.0);
        let view = View::first(figure, &[[300.0, 20.0, 100.0, 28.0], below], size);
        assert!(view.inverse((MARGIN / 2.0, 0.0)).0.abs() < 1e-9);
        // It is at the right: all of it is visible.
        let view = View::first(figure, &[[1_480.0, 20.0, 100.0, 28.0], below], size);
        let window = view.window(size.0, size.1);
        assert!(
            window.right >= 1_580.0 && window.right <= 1_616.0,
            "{window:?}"
        );
        // It is wider than the viewport: the position that shows most of it, rather to the left.
        let row = |last: f64| [700.0, 0.0, 1_400.0, last].map(|x| [x, 60.0, 100.0, 28.0]);
        let left_of = |boxes: &[[f64; 4]]| View::first(figure, boxes, size).inverse((12.0, 0.0)).0;
        assert!(left_of(&row(300.0)).abs() < 1e-9);
        assert!((left_of(&row(1_200.0)) - 700.0).abs() < 1e-9);
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
