//! The critical path over the lanes: a line from segment to segment, and a band of their kinds above all lanes.

use trainscope_api::timeline::PathSegment;

use super::{Overlay, Pen};
use crate::segment::kind_of;

/// Height of the band of kinds, CSS pixels.
const BAND: f64 = 4.0;
/// Thickness of the line.
const LINE: f64 = 2.0;
/// Minimum width of work with a box, CSS pixels: boxes of many narrow slices would hide them.
const BOX_FROM: f64 = 8.0;

impl Overlay<'_> {
    /// Draws the path, in coordinates relative to the top of the lanes.
    pub(super) fn path(&self, pen: &Pen<'_>) {
        if self.path.is_empty() {
            return;
        }
        let (accent, width) = (&self.paint.accent, self.scene.width);
        let mut ends: Vec<(f64, f64)> = Vec::new();
        for segment in self.path {
            if let Some(y) = self.height_of(segment) {
                ends.push((self.x(segment.begin_nanos), y));
                ends.push((self.x(segment.end_nanos), y));
            }
            if let (true, Some(slice)) = (is_work(&segment.kind), &segment.slice)
                && let Some(at) = self.box_of(slice).filter(|at| at[2] >= BOX_FROM)
            {
                pen.outline(at, accent, LINE);
            }
        }
        for pair in ends.windows(2) {
            if let [from, to] = pair {
                pen.line(*from, *to, accent, LINE);
            }
        }
        pen.fill([0.0, 0.0, width, BAND], &self.paint.surface, 1.0);
        for segment in self.path {
            let (left, right) = (self.x(segment.begin_nanos), self.x(segment.end_nanos));
            let colour = &self.paint.kinds[kind_of(&segment.kind)];
            pen.fill([left, 0.0, (right - left).max(0.5), BAND], colour, 1.0);
        }
    }

    /// Middle of the row of a segment's slice, the work of a device or a call of the host; `None` between rows.
    fn height_of(&self, segment: &PathSegment) -> Option<f64> {
        if matches!(&*segment.kind, "launch" | "between_kernels") {
            return None;
        }
        let [_, top, _, height] = self.box_of(segment.slice.as_ref()?)?;
        Some(top + height / 2.0)
    }
}

/// `true` for segments of work of a device.
fn is_work(kind: &str) -> bool {
    matches!(kind, "kernel" | "communication" | "memcpy" | "memset")
}
