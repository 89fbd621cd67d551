//! Visible stretch of time: zoom and pan.

/// Minimum visible stretch, ns.
const MIN_SPAN: f64 = 50.0;
/// Margin at each side of a fitted stretch, as a share of its length.
const MARGIN: f64 = 0.05;
/// Maximum share of the view that a shown stretch fills.
const MAX_SHARE: f64 = 0.8;
/// Minimum share of the view that a shown stretch fills; the view zooms in to a shorter one.
const MIN_SHARE: f64 = 0.001;

/// A stretch of time, ns since the start of the session.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct View {
    pub(super) from: f64,
    pub(super) to: f64,
}

impl View {
    /// The whole session.
    pub(super) fn whole(extent: f64) -> Self {
        Self {
            from: 0.0,
            to: extent.max(MIN_SPAN),
        }
    }

    /// Its length, above 0.
    pub(super) fn span(self) -> f64 {
        (self.to - self.from).max(1.0)
    }

    /// Pixel of a time.
    pub(super) fn x(self, nanos: f64, width: f64) -> f64 {
        (nanos - self.from) / self.span() * width
    }

    /// Time at a pixel.
    pub(super) fn time(self, x: f64, width: f64) -> f64 {
        self.from + x / width.max(1.0) * self.span()
    }

    /// The view scaled around a place in it, 0 to 1; factors above 1 show less.
    pub(super) fn zoomed(self, factor: f64, place: f64, extent: f64) -> Self {
        let most = extent.max(MIN_SPAN);
        let span = (self.span() / factor).clamp(MIN_SPAN.min(most), most);
        let at = self.from + place * self.span();
        let from = at - place * span;
        Self {
            from,
            to: from + span,
        }
        .inside(extent)
    }

    /// The view moved by a part of its length.
    pub(super) fn moved(self, share: f64, extent: f64) -> Self {
        let by = share * self.span();
        Self {
            from: self.from + by,
            to: self.to + by,
        }
        .inside(extent)
    }

    /// The view, later by a number of nanoseconds.
    pub(super) fn shifted(self, by: f64) -> Self {
        Self {
            from: self.from + by,
            to: self.to + by,
        }
    }

    /// The view of a stretch with a margin.
    pub(super) fn fitting(from: f64, to: f64, extent: f64) -> Self {
        let margin = ((to - from) * MARGIN).max(MIN_SPAN / 2.0);
        Self {
            from: from - margin,
            to: to + margin,
        }
        .inside(extent)
    }

    /// The view, unchanged if a stretch is in it and large enough to see, else moved and zoomed to have the
    /// stretch in the middle.
    pub(super) fn showing(self, from: f64, to: f64, extent: f64) -> Self {
        let length = to - from;
        let is_in = from >= self.from && to <= self.to;
        if is_in && length >= self.span() * MIN_SHARE {
            return self;
        }
        let span = if length > self.span() * MAX_SHARE {
            length / MAX_SHARE
        } else if length < self.span() * MIN_SHARE {
            (length / MIN_SHARE).max(MIN_SPAN).min(self.span())
        } else {
            self.span()
        };
        let middle = f64::midpoint(from, to);
        Self {
            from: middle - span / 2.0,
            to: middle + span / 2.0,
        }
        .inside(extent)
    }

    /// The view clamped to the session.
    pub(super) fn inside(self, extent: f64) -> Self {
        let extent = extent.max(MIN_SPAN);
        if !self.from.is_finite() || !self.to.is_finite() {
            return Self::whole(extent);
        }
        let span = (self.to - self.from).clamp(MIN_SPAN, extent);
        let from = self.from.clamp(0.0, extent - span);
        Self {
            from,
            to: from + span,
        }
    }

    /// `true` if the difference cannot be seen.
    pub(super) fn is_like(self, other: Self) -> bool {
        let slack = self.span() / 1_000.0;
        (self.from - other.from).abs() <= slack && (self.to - other.to).abs() <= slack
    }
}

/// Nanoseconds as an integer, for requests and addresses.
#[expect(
    clippy::cast_possible_truncation,
    reason = "times of a session are below 2^53; `as` saturates"
)]
pub(super) fn nanos(time: f64) -> i64 {
    time.round() as i64
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "times are whole numbers")]
mod tests {
    use super::*;

    const EXTENT: f64 = 1_000_000.0;

    #[test]
    fn zooming_keeps_the_time_under_the_pointer() {
        let view = View {
            from: 200_000.0,
            to: 400_000.0,
        };
        let at = view.time(250.0, 1_000.0);
        for factor in [0.5, 1.3, 8.0] {
            let zoomed = view.zoomed(factor, 0.25, EXTENT);
            assert!((zoomed.time(250.0, 1_000.0) - at).abs() < 1e-6, "{factor}");
            assert!((zoomed.span() - view.span() / factor).abs() < 1e-6);
        }
        assert!((zoomed_in(view).span() - MIN_SPAN).abs() < 1e-6);
        assert_eq!(view.zoomed(1e-9, 0.25, EXTENT), View::whole(EXTENT));
    }

    fn zoomed_in(view: View) -> View {
        view.zoomed(1e12, 0.5, EXTENT)
    }

    #[test]
    fn the_view_does_not_leave_the_session() {
        let view = View {
            from: 900_000.0,
            to: 990_000.0,
        };
        assert_eq!(
            view.moved(5.0, EXTENT),
            View {
                from: 910_000.0,
                to: EXTENT
            }
        );
        assert_eq!(view.moved(-50.0, EXTENT).from, 0.0);
        assert_eq!(
            View::fitting(0.0, EXTENT, EXTENT),
            View::whole(EXTENT),
            "a margin would leave it"
        );
        let odd = View {
            from: f64::NAN,
            to: 1.0,
        };
        assert_eq!(odd.inside(EXTENT), View::whole(EXTENT));
        // A session of a single moment has a view, too.
        assert!(View::whole(0.0).span() > 0.0);
        assert_eq!(view.zoomed(2.0, 0.5, 0.0), View::whole(0.0));
    }

    #[test]
    fn a_slice_that_is_seen_leaves_the_view_as_it_is() {
        let view = View {
            from: 100_000.0,
            to: 200_000.0,
        };
        assert_eq!(view.showing(120_000.0, 130_000.0, EXTENT), view);
        let moved = view.showing(500_000.0, 510_000.0, EXTENT);
        assert_eq!((moved.from, moved.to), (455_000.0, 555_000.0));
        let long = view.showing(150_000.0, 450_000.0, EXTENT);
        assert!(long.from < 150_000.0 && long.to > 450_000.0);
        let short = view.showing(150_000.0, 150_010.0, EXTENT);
        assert!(short.span() <= 10_000.0, "{short:?}");
        assert!(short.from < 150_000.0 && short.to > 150_010.0);
    }

    #[test]
    fn pixels_and_times_are_inverse() {
        let view = View {
            from: 5.0,
            to: 1_005.0,
        };
        assert_eq!(view.x(505.0, 400.0), 200.0);
        assert_eq!(view.time(200.0, 400.0), 505.0);
        assert_eq!(nanos(1.6), 2);
    }
}
