//! Zoom and pan of the range of x by wheel and drag, on any scale: positions are fractions of the axis.

use trainscope_charts::geometry::Geometry;
use trainscope_charts::scale::Axis;
use web_sys::WheelEvent;

use crate::prelude::*;

/// Minimum distance of a drag in pixels.
const DRAG_PIXELS: f64 = 4.0;
/// Pixels of wheel that halve or double the range.
const WHEEL_TO_HALF: f64 = 320.0;
/// Pixels of a line, for browsers that report wheel movement in lines.
const LINE_PIXELS: f64 = 16.0;

/// A range of x during a drag, pixels.
#[derive(Clone, Copy, Default)]
pub(super) struct RangeDrag(RwSignal<Option<(f64, f64)>>);

impl RangeDrag {
    pub(super) fn begin(self, x: f64) {
        self.0.set(Some((x, x)));
    }

    /// Start and current end of the range; reactive.
    pub(super) fn get(self) -> Option<(f64, f64)> {
        self.0.get()
    }

    pub(super) fn go_on(self, x: f64) {
        if let Some((from, _)) = self.0.get_untracked() {
            self.0.set(Some((from, x)));
        }
    }

    /// Ends the drag; its range, lower end first, unless it was only a click.
    pub(super) fn end(self) -> Option<(f64, f64)> {
        let (from, to) = self.0.get_untracked()?;
        self.0.set(None);
        ((to - from).abs() >= DRAG_PIXELS).then_some((from.min(to), from.max(to)))
    }
}

/// The drawn axis of a range; a range that a logarithmic axis cannot show is clipped.
pub(super) fn axis(layout: &Geometry, lo: f64, hi: f64) -> Axis {
    let scale = layout.x.axis.scale();
    if scale.shows(lo) {
        Axis::new(lo, hi, scale)
    } else {
        layout.x.axis
    }
}

/// The range moved by a fraction of itself.
pub(super) fn panned(axis: &Axis, by: f64) -> (f64, f64) {
    (axis.value(by), axis.value(1.0 + by))
}

/// The range scaled by `factor` around a fraction of itself.
pub(super) fn zoomed(axis: &Axis, at: f64, factor: f64) -> (f64, f64) {
    (
        axis.value(at - at * factor),
        axis.value(at + (1.0 - at) * factor),
    )
}

/// The range after a turn of the wheel: with Ctrl, Alt or ⌘ (a pinch comes with Ctrl) it zooms around the pointer,
/// with ⇧ or sideways it pans. `None` to scroll the page.
pub(super) fn wheel(
    event: &WheelEvent,
    zooms_bare: bool,
    axis: &Axis,
    layout: &Geometry,
) -> Option<(f64, f64)> {
    let pixels = match event.delta_mode() {
        WheelEvent::DOM_DELTA_LINE => LINE_PIXELS,
        WheelEvent::DOM_DELTA_PAGE => layout.plot.width(),
        _ => 1.0,
    };
    let (dx, dy) = (event.delta_x() * pixels, event.delta_y() * pixels);
    let width = layout.plot.width().max(1.0);
    let has_key = event.ctrl_key() || event.alt_key() || event.meta_key();
    if event.shift_key() || (dx.abs() > dy.abs() && !has_key) {
        let by = if dx.abs() > dy.abs() { dx } else { dy };
        return Some(panned(axis, by / width));
    }
    (has_key || zooms_bare).then(|| {
        let at = (f64::from(event.offset_x()) - layout.plot.left) / width;
        let factor = 2.0_f64.powf(dy / WHEEL_TO_HALF).clamp(0.25, 4.0);
        zoomed(axis, at.clamp(0.0, 1.0), factor)
    })
}

#[cfg(test)]
mod tests {
    use trainscope_charts::scale::Scale;

    use super::*;

    #[test]
    fn what_is_under_the_pointer_stays_there() {
        for scale in [Scale::Linear, Scale::Log] {
            let axis = Axis::new(1.0, 10_000.0, scale);
            let under = axis.value(0.25);
            let (lo, hi) = zoomed(&axis, 0.25, 0.5);
            let at = Axis::new(lo, hi, scale).fraction(under).unwrap();
            assert!((at - 0.25).abs() < 1e-9, "{scale:?} {at}");
        }
        assert_eq!(
            panned(&Axis::new(0.0, 8.0, Scale::Linear), 0.5),
            (4.0, 12.0)
        );
    }
}
