//! Effect of a drag over an axis: new, moved and resized brushes.

use trainscope_charts::parallel::{AxisKind, Layout, PlacedAxis};

use super::brush::Brush;

/// Significant digits of the ends of a drawn brush; a pixel is not more precise.
const DIGITS: usize = 4;

/// A drag in progress.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Gesture {
    /// Drag of the head of an axis.
    Head { key: String, from: f64, to: f64 },
    /// Drag of a new brush, in addition to `base`.
    New {
        key: String,
        index: usize,
        from: f64,
        base: Brush,
        has_moved: bool,
    },
    /// Drag of the lower end, the upper end or both ends of a range.
    Edit {
        key: String,
        index: usize,
        range: usize,
        part: (bool, bool),
        from: f64,
        brush: Brush,
        has_moved: bool,
    },
    /// Press outside all axes.
    Line { from: (f64, f64) },
}

/// Adds the values between two vertical positions to the brush `base`.
pub(super) fn brushed(
    layout: &Layout,
    index: usize,
    kind: &AxisKind,
    (a, b): (f64, f64),
    base: &Brush,
) -> Brush {
    let (from, to) = (a.min(b), a.max(b));
    let mut brush = base.clone();
    let Some(axis) = layout.axes.get(index) else {
        return brush;
    };
    for lane in layout.lanes_between(index, from, to) {
        if !brush.lanes.contains(&lane) {
            brush.lanes.push(lane);
        }
    }
    match kind {
        AxisKind::Numbers { .. } => {
            if from < layout.bottom && to > layout.top {
                let ends = [from, to].map(|y| rounded(axis.value_at(y)));
                brush
                    .ranges
                    .push((ends[0].min(ends[1]), ends[0].max(ends[1])));
            }
        }
        AxisKind::Choices(names) => {
            for (choice, name) in names.iter().enumerate() {
                let is_in = (from..=to).contains(&axis.y_of_choice(choice));
                if is_in && !brush.choices.contains(name) {
                    brush.choices.push(name.clone());
                }
            }
        }
    }
    brush
}

/// Moves ends of one range by a number of pixels. A range whose ends both move keeps its height.
pub(super) fn moved(
    brush: &Brush,
    range: usize,
    (lower, upper): (bool, bool),
    by: f64,
    axis: &PlacedAxis,
) -> Brush {
    let mut brush = brush.clone();
    if let Some(ends) = brush.ranges.get_mut(range) {
        let end = |value: f64, is_moved: bool| {
            if is_moved {
                rounded(axis.value_at(end_at(axis, value) + by))
            } else {
                value
            }
        };
        let (from, to) = (end(ends.0, lower), end(ends.1, upper));
        *ends = (from.min(to), from.max(to));
    }
    brush
}

/// Vertical position of an end of a range, clamped to the axis.
pub(super) fn end_at(axis: &PlacedAxis, value: f64) -> f64 {
    let (lo, hi) = axis.range();
    axis.y_of_value(value.clamp(lo, hi))
}

/// Upper and lower end of a range, vertical positions clamped to the axis.
pub(super) fn ends_at(axis: &PlacedAxis, (from, to): (f64, f64)) -> (f64, f64) {
    let (a, b) = (end_at(axis, from), end_at(axis, to));
    (a.min(b), a.max(b))
}

/// Rounds to [`DIGITS`] significant digits.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    // Rounds as text, since powers of ten are not exact.
    let text = format!("{:.*e}", DIGITS - 1, value);
    text.parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trainscope_charts::parallel::{AxisSpec, Lane, Spec, Spot};
    use trainscope_charts::scale::Scale;

    use super::*;

    #[test]
    fn a_drag_takes_values_and_lanes_and_moves_keep_its_height() {
        let kind = AxisKind::Numbers {
            scale: Scale::Linear,
            is_whole: false,
        };
        let spots = vec![
            Spot::Number(0.0),
            Spot::Number(10.0),
            Spot::Number(f64::NAN),
        ];
        let axis = AxisSpec {
            name: String::new(),
            group: String::new(),
            kind: kind.clone(),
            is_upside_down: false,
            spots: Arc::new(spots),
            spread: None,
        };
        let layout = Layout::new(&Spec {
            width: 100.0,
            height: 300.0,
            dpr: 1.0,
            axes: vec![axis],
        });
        let placed = &layout.axes[0];
        let middle = placed.y_of_value(5.0);
        let brush = brushed(&layout, 0, &kind, (0.0, middle), &Brush::default());
        assert_eq!(
            (brush.ranges[0], &brush.lanes[..]),
            ((5.0, 10.0), &[Lane::Nan][..])
        );
        let only_lane = brushed(
            &layout,
            0,
            &kind,
            (0.0, layout.top - 2.0),
            &Brush::default(),
        );
        assert!(only_lane.ranges.is_empty() && only_lane.lanes == [Lane::Nan]);
        let half = Brush {
            ranges: vec![(2.0, 4.0)],
            ..Brush::default()
        };
        let by = placed.y_of_value(3.0) - placed.y_of_value(2.0);
        assert_eq!(
            moved(&half, 0, (true, true), by, placed).ranges,
            [(3.0, 5.0)]
        );
        assert_eq!(
            moved(&half, 0, (false, true), by, placed).ranges,
            [(2.0, 5.0)]
        );
        let (top, bottom) = (layout.top, layout.bottom);
        assert_eq!(ends_at(placed, (20.0, 30.0)), (top, top), "above");
        assert_eq!(ends_at(placed, (-9.0, -1.0)), (bottom, bottom), "below");
        assert_eq!(ends_at(placed, (5.0, f64::INFINITY)), (top, middle));
        assert_eq!(rounded(0.000_123_456).to_string(), "0.0001235");
    }
}
