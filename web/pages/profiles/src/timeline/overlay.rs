//! The drawing above the pixels: strip of the whole trace, ruler, steps, labels, counters, frames, arrows, the area.

use std::sync::Arc;

use trainscope_api::timeline::{
    PathSegment, SliceAnswer, SliceEntry, StepSpan, TimelineCounter, TimelineLanes,
};
use trainscope_charts::label;
use trainscope_format::Severity;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::counter::{CURVE, bad_places, counter_lines};
use super::ink::Paint;
use super::layout::{COUNTER, Item, Place};
use super::model::Mark;
use super::scene::Scene;
use super::times::{self, Ticks, WallClock};
use super::view::{View, nanos};
use trainscope_web_kit::components::drawing::clear;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::TimelineTexts;
use trainscope_web_kit::parameters::Area;

mod path;

/// Height of the strip of the whole trace, CSS pixels.
pub(super) const STRIP: f64 = 34.0;
/// Height of the ruler.
pub(super) const RULER: f64 = 22.0;
/// Height of the steps.
pub(super) const STEPS: f64 = 22.0;
/// Height of everything above the lanes.
pub(super) const TOP: f64 = STRIP + RULER + STEPS;
/// Minimum width of a step with a separate box, CSS pixels.
const STEP_FROM: f64 = 3.0;
/// Maximum number of arrows of a slice.
const MAX_ARROWS: usize = 64;

/// The contents of the drawing.
pub(super) struct Overlay<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) paint: &'a Paint,
    pub(super) texts: &'a TimelineTexts,
    pub(super) frame: &'a TimelineLanes,
    /// The sessions below the first one.
    pub(super) others: &'a [Arc<TimelineLanes>],
    /// Curves in their order; `None` for a missing one.
    pub(super) curves: &'a [Option<Arc<TimelineCounter>>],
    pub(super) ticks: &'a Ticks,
    pub(super) wall: Option<WallClock>,
    pub(super) slice: Option<&'a SliceAnswer>,
    pub(super) area: Option<&'a Area>,
    /// Number of matches in each of some equal stretches of the session.
    pub(super) matches: &'a [u32],
    /// Starts of steps with hits.
    pub(super) hits: &'a [(i64, Severity)],
    pub(super) marks: &'a [Mark],
    /// Segments of the critical paths in view.
    pub(super) path: &'a [PathSegment],
    /// Boxes around matches.
    pub(super) frames: Vec<[f64; 4]>,
}

/// Draws everything on a canvas with `dpr` device pixels for each CSS pixel.
pub(super) fn draw(canvas: &HtmlCanvasElement, overlay: &Overlay<'_>, dpr: f64) {
    let scene = overlay.scene;
    let size = (scene.width * dpr, (scene.height + TOP) * dpr);
    let Some(context) = clear(canvas, size, dpr, (0.0, 0.0)) else {
        return;
    };
    context.set_text_baseline("middle");
    let pen = Pen {
        context,
        font: &overlay.paint.font,
    };
    overlay.strip(&pen);
    overlay.ruler(&pen);
    overlay.steps(&pen);
    pen.context.save();
    pen.context.begin_path();
    pen.context.rect(0.0, TOP, scene.width, scene.height);
    pen.context.clip();
    // Coordinates of lanes are relative to their top.
    if pen.context.translate(0.0, TOP).is_ok() {
        overlay.counters(&pen);
        overlay.other_steps(&pen);
        overlay.labels(&pen);
        overlay.step_lines(&pen);
        overlay.path(&pen);
        overlay.boxes(&pen);
        overlay.arrows(&pen);
    }
    pen.context.restore();
    overlay.selection(&pen);
    overlay.marks(&pen);
}

/// A canvas with a few shapes.
struct Pen<'a> {
    context: CanvasRenderingContext2d,
    font: &'a str,
}

impl Pen<'_> {
    fn fill(&self, [x, y, width, height]: [f64; 4], colour: &str, alpha: f64) {
        self.context.set_global_alpha(alpha);
        self.context.set_fill_style_str(colour);
        self.context.fill_rect(x, y, width, height);
        self.context.set_global_alpha(1.0);
    }

    fn round(&self, [x, y, width, height]: [f64; 4], radius: f64, colour: &str) {
        self.context.begin_path();
        let radius = radius.min(width / 2.0).max(0.0);
        // Only negative radii are rejected.
        let _never = self
            .context
            .round_rect_with_f64(x, y, width, height, radius);
        self.context.set_fill_style_str(colour);
        self.context.fill();
    }

    fn outline(&self, [x, y, width, height]: [f64; 4], colour: &str, thickness: f64) {
        self.context.set_stroke_style_str(colour);
        self.context.set_line_width(thickness);
        self.context.stroke_rect(x, y, width, height);
    }

    fn line(&self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), colour: &str, thickness: f64) {
        self.context.begin_path();
        self.context.move_to(x0, y0);
        self.context.line_to(x1, y1);
        self.context.set_stroke_style_str(colour);
        self.context.set_line_width(thickness);
        self.context.stroke();
    }

    fn letters(&self, weight: &str) {
        self.context
            .set_font(&format!("{weight} 11px {}", self.font));
    }

    fn text(&self, (x, y): (f64, f64), text: &str, colour: &str) {
        self.context.set_fill_style_str(colour);
        // A canvas rejects no text.
        let _never = self.context.fill_text(text, x, y);
    }

    fn dashes(&self, dashes: &[f64]) {
        let list = js_sys::Array::new();
        for length in dashes {
            list.push(&(*length).into());
        }
        // Only NaN is rejected.
        let _never = self.context.set_line_dash(&list);
    }
}

/// The nearest place at which a line of one pixel is sharp.
fn sharp(x: f64) -> f64 {
    x.round() + 0.5
}

impl Overlay<'_> {
    fn x(&self, nanos: i64) -> f64 {
        self.scene.view.x(nanos as f64, self.scene.width)
    }

    /// The whole session with the view as a frame.
    fn strip(&self, pen: &Pen<'_>) {
        let (width, paint) = (self.scene.width, self.paint);
        pen.fill([0.0, 0.0, width, STRIP], &paint.surface_2, 1.0);
        let busy = &self.frame.busy;
        let each = width / (busy.len() as f64).max(1.0);
        for (index, share) in busy.iter().enumerate() {
            let height = 24.0 * f64::from(*share) / 255.0;
            let at = [
                index as f64 * each,
                STRIP - 4.0 - height,
                (each - 0.5).max(0.5),
                height,
            ];
            pen.fill(at, &paint.kinds[0], 0.45);
        }
        let each = width / (self.matches.len() as f64).max(1.0);
        for (index, _) in self
            .matches
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            let at = [index as f64 * each, STRIP - 4.0, each.clamp(1.5, 4.0), 4.0];
            pen.fill(at, &paint.ink, 1.0);
        }
        let (from, to) = strip_frame(self.scene.view, self.frame.extent_nanos as f64, width);
        let at = [from, 1.0, to - from, STRIP - 2.0];
        pen.fill(at, &paint.accent, 0.15);
        pen.outline(at, &paint.accent, 1.5);
        let y = STRIP - 0.5;
        pen.line((0.0, y), (width, y), &paint.line, 1.0);
    }

    fn ruler(&self, pen: &Pen<'_>) {
        let (width, paint) = (self.scene.width, self.paint);
        let bottom = STRIP + RULER;
        pen.letters("");
        let largest = self.scene.view.to;
        for time in &self.ticks.times {
            let x = self.scene.view.x(*time, width);
            pen.line(
                (sharp(x), bottom - 7.0),
                (sharp(x), bottom),
                &paint.line,
                1.0,
            );
            let text = times::tick_label(*time, self.ticks.step, largest, self.wall);
            if x + 4.0 + label::width(&text) <= width {
                pen.text((x + 4.0, STRIP + 11.0), &text, &paint.ink_3);
            }
        }
        let y = bottom - 0.5;
        pen.line((0.0, y), (width, y), &paint.line, 1.0);
        for mark in &self.frame.marks {
            let x = self.x(mark.time_nanos);
            if (0.0..=width).contains(&x) {
                pen.fill([x - 1.0, bottom - 5.0, 2.0, 5.0], &paint.info, 1.0);
            }
        }
    }

    fn steps(&self, pen: &Pen<'_>) {
        let (width, paint) = (self.scene.width, self.paint);
        let top = STRIP + RULER;
        self.step_boxes(pen, &self.frame.steps, top, 0);
        for (begin, severity) in self.hits {
            let x = self.x(*begin);
            if (0.0..=width).contains(&x) {
                pen.round(
                    [x - 3.0, top, 6.0, 6.0],
                    if *severity == Severity::Info {
                        3.0
                    } else {
                        1.0
                    },
                    paint.severity(*severity),
                );
            }
        }
    }

    /// Steps of the sessions below the first one in the lines of their heads.
    fn other_steps(&self, pen: &Pen<'_>) {
        let scene = self.scene;
        let places = &scene.layout.places[scene.layout.in_view(scene.scroll, scene.height)];
        for place in places.iter().filter(|place| place.item == Item::Other) {
            let top = place.top - scene.scroll;
            let at = place.session.checked_sub(1);
            let session = at.and_then(|at| Some((self.others.get(at)?, scene.others.get(at)?)));
            if let Some((frame, below)) = session {
                self.step_boxes(pen, &frame.steps, top, nanos(below.shift));
            }
        }
    }

    /// Steps of a session as boxes with their numbers, below a height. The session begins at `shift`, ns.
    fn step_boxes(&self, pen: &Pen<'_>, steps: &[StepSpan], top: f64, shift: i64) {
        let (width, paint) = (self.scene.width, self.paint);
        pen.letters("");
        // Neighbours that are too short share a box.
        let mut joined: Option<(f64, f64)> = None;
        let flush = |joined: &mut Option<(f64, f64)>| {
            if let Some((left, right)) = joined.take() {
                let at = [left, top + 3.0, (right - left).max(1.0), 14.0];
                pen.fill(at, &paint.surface_3, 1.0);
            }
        };
        for step in steps {
            let (left, right) = (
                self.x(step.begin_nanos.saturating_add(shift)),
                self.x(step.end_nanos.saturating_add(shift)),
            );
            if right < 0.0 || left > width {
                continue;
            }
            if right - left < STEP_FROM {
                joined = Some(match joined {
                    Some((first, last)) if left - last < 2.0 => (first, right),
                    _ => {
                        flush(&mut joined);
                        (left, right)
                    }
                });
                continue;
            }
            flush(&mut joined);
            let (left, right) = (left.max(0.0), right.min(width));
            let at = [left, top + 3.0, (right - left - 1.0).max(1.0), 14.0];
            pen.round(at, 2.0, &paint.surface_3);
            let room = right - left - 12.0;
            let length = times::length(step.end_nanos - step.begin_nanos);
            let long = format!("{} · {length}", (self.texts.step)(step.number));
            let short = format::integer(step.number);
            let is_long = label::width(&long) <= room;
            let text = if is_long { long } else { short };
            if label::width(&text) <= room {
                let colour = if is_long { &paint.ink } else { &paint.ink_2 };
                pen.text((left + 6.0, top + 10.5), &text, colour);
            }
        }
        flush(&mut joined);
    }

    fn step_lines(&self, pen: &Pen<'_>) {
        let scene = self.scene;
        pen.dashes(&[3.0, 3.0]);
        pen.context.set_global_alpha(0.6);
        let mut before = f64::NEG_INFINITY;
        for step in &self.frame.steps {
            let x = self.x(step.begin_nanos);
            if (0.0..=scene.width).contains(&x) && x - before >= 24.0 {
                let x = sharp(x);
                pen.line((x, 0.0), (x, scene.height), &self.paint.ink_2, 1.0);
                before = x;
            }
        }
        pen.context.set_global_alpha(1.0);
        pen.dashes(&[]);
    }

    fn labels(&self, pen: &Pen<'_>) {
        pen.letters("");
        for label in self.scene.labels() {
            let colour = if label.is_dark {
                &self.paint.ink
            } else {
                &self.paint.on_kind
            };
            pen.text((label.x, label.y + 0.5), &label.text, colour);
        }
    }

    fn counters(&self, pen: &Pen<'_>) {
        let scene = self.scene;
        let shown = scene.layout.in_view(scene.scroll, scene.height);
        for place in &scene.layout.places[shown] {
            let counter = match place.item {
                Item::Counter(index) => self.frame.counters.get(index),
                Item::Curve(index) => self.curves.get(index).and_then(Option::as_deref),
                _ => None,
            };
            let Some(counter) = counter else {
                continue;
            };
            let is_curve = counter.unit == CURVE;
            let bottom = place.top - scene.scroll + COUNTER - 3.0;
            let colour = if is_curve {
                &self.paint.accent
            } else {
                &self.paint.kinds[counter_kind(counter)]
            };
            let y = |height: f64| bottom - height * (COUNTER - 7.0);
            for line in counter_lines(counter, scene.view, scene.width) {
                let (Some(first), Some(last)) = (line.first(), line.last()) else {
                    continue;
                };
                pen.context.begin_path();
                pen.context.move_to(first.0, y(first.1));
                for (x, height) in &line {
                    pen.context.line_to(*x, y(*height));
                }
                pen.context.set_stroke_style_str(colour);
                pen.context.set_line_width(1.25);
                pen.context.stroke();
                pen.context.line_to(last.0, bottom);
                pen.context.line_to(first.0, bottom);
                pen.context.close_path();
                pen.context.set_fill_style_str(colour);
                pen.context
                    .set_global_alpha(if is_curve { 0.08 } else { 0.2 });
                pen.context.fill();
                pen.context.set_global_alpha(1.0);
            }
            self.bad_values(pen, counter, place);
        }
    }

    /// Marks the values of a counter or a curve that are not finite, over its whole height.
    fn bad_values(&self, pen: &Pen<'_>, counter: &TimelineCounter, place: &Place) {
        let scene = self.scene;
        let top = place.top - scene.scroll + 2.0;
        for x in bad_places(counter, scene.view, scene.width) {
            pen.fill([x - 1.0, top, 2.0, COUNTER - 5.0], &self.paint.error, 0.8);
        }
    }

    /// Frames of matches, then of the selected slice.
    fn boxes(&self, pen: &Pen<'_>) {
        for at in &self.frames {
            pen.outline(*at, &self.paint.ink, 1.25);
        }
        let slice = self.slice.map(|answer| &answer.slice);
        if let Some(at) = slice.and_then(|slice| self.box_of(slice)) {
            pen.outline(at, &self.paint.ink, 2.0);
        }
    }

    fn box_of(&self, slice: &SliceEntry) -> Option<[f64; 4]> {
        self.scene.box_of(
            slice.lane,
            slice.depth,
            slice.begin_nanos,
            slice.duration_nanos,
        )
    }

    /// Arrows of the selected slice.
    fn arrows(&self, pen: &Pen<'_>) {
        let Some(answer) = self.slice else { return };
        let into = answer.flows_in.iter().chain(&answer.launched_by);
        let into = into.map(|from| (from, &answer.slice));
        let out = answer.flows_out.iter().chain(&answer.launches);
        let out = out.map(|to| (&answer.slice, to));
        let mut known: Vec<(u32, u32)> = Vec::new();
        for (from, to) in into.chain(out).take(MAX_ARROWS) {
            let key = (from.index, to.index);
            let ends = (self.box_of(from), self.box_of(to));
            if let ((Some(from), Some(to)), false) = (ends, known.contains(&key)) {
                self.arrow(pen, from, to);
            }
            known.push(key);
        }
    }

    fn arrow(&self, pen: &Pen<'_>, from: [f64; 4], to: [f64; 4]) {
        let colour = &self.paint.ink;
        let is_down = from[1] <= to[1];
        let start = (
            from[0] + from[2] / 2.0,
            from[1] + if is_down { from[3] } else { 0.0 },
        );
        let end = (
            to[0] + to[2].min(8.0) / 2.0,
            to[1] + if is_down { -2.0 } else { to[3] + 2.0 },
        );
        let bend = if is_down { 40.0 } else { -40.0 };
        pen.context.begin_path();
        pen.context.move_to(start.0, start.1);
        pen.context
            .bezier_curve_to(start.0, start.1 + bend, end.0, end.1 - bend, end.0, end.1);
        pen.context.set_stroke_style_str(colour);
        pen.context.set_line_width(1.25);
        pen.context.stroke();
        pen.round([start.0 - 2.5, start.1 - 2.5, 5.0, 5.0], 2.5, colour);
        let ahead = if is_down { 1.0 } else { -1.0 };
        let tip = end.1 + 2.0 * ahead;
        pen.context.begin_path();
        pen.context.move_to(end.0, tip);
        pen.context.line_to(end.0 - 3.0, tip - 5.0 * ahead);
        pen.context.line_to(end.0 + 3.0, tip - 5.0 * ahead);
        pen.context.close_path();
        pen.context.set_fill_style_str(colour);
        pen.context.fill();
    }

    /// Marks as flags with their number, over all lanes.
    fn marks(&self, pen: &Pen<'_>) {
        let (scene, paint) = (self.scene, self.paint);
        pen.letters("500");
        for (number, mark) in (1_u64..).zip(self.marks) {
            let x = self.x(mark.begin_nanos);
            if !(0.0..=scene.width).contains(&x) {
                continue;
            }
            pen.dashes(&[2.0, 2.0]);
            pen.line((x, STRIP), (x, TOP + scene.height), &paint.ink_2, 1.0);
            pen.dashes(&[]);
            let text = match &mark.text {
                Some(text) if !text.is_empty() => format!("{number} {text}"),
                _ => number.to_string(),
            };
            let width = label::width(&text) + 8.0;
            pen.fill([x, STRIP + RULER - 15.0, width, 15.0], &paint.ink, 1.0);
            pen.text((x + 4.0, STRIP + RULER - 7.0), &text, &paint.surface);
        }
    }

    /// The area with its length on the ruler.
    fn selection(&self, pen: &Pen<'_>) {
        let Some(area) = self.area else { return };
        let (scene, paint) = (self.scene, self.paint);
        let (left, right) = (self.x(area.from), self.x(area.to));
        if right < 0.0 || left > scene.width {
            return;
        }
        let (low, high) = (left.max(-4.0), right.min(scene.width + 4.0));
        if area.lanes.is_empty() {
            let at = [low, STRIP, high - low, RULER + STEPS + scene.height];
            pen.fill(at, &paint.accent, 0.08);
        } else {
            for place in &scene.layout.places[scene.layout.in_view(scene.scroll, scene.height)] {
                let lane = place.lane.filter(|_| place.session == 0);
                let is_own = lane.is_some_and(|lane| area.lanes.contains(&lane));
                let top = (place.top - scene.scroll).max(0.0);
                let bottom = (place.top + place.height - scene.scroll).min(scene.height);
                if is_own && top < bottom {
                    let at = [low, TOP + top, high - low, bottom - top];
                    pen.fill(at, &paint.accent, 0.14);
                }
            }
        }
        for x in [left, right] {
            pen.line((x, STRIP), (x, TOP + scene.height), &paint.accent, 1.25);
        }
        pen.letters("500");
        let text = times::length(area.length());
        let width = label::width(&text) + 14.0;
        let middle = f64::midpoint(left.max(0.0), right.min(scene.width));
        let middle = middle.clamp(width / 2.0, (scene.width - width / 2.0).max(width / 2.0));
        pen.round(
            [middle - width / 2.0, STRIP + 3.0, width, 16.0],
            3.0,
            &paint.accent,
        );
        pen.context.set_text_align("center");
        pen.text((middle, STRIP + 11.5), &text, &paint.on_accent);
        pen.context.set_text_align("start");
    }
}

/// Ends of the frame of the view in the strip, CSS pixels; wide enough to be dragged.
pub(super) fn strip_frame(view: View, extent: f64, width: f64) -> (f64, f64) {
    let x = |time: f64| time / extent.max(1.0) * width;
    let (from, to) = (x(view.from), x(view.to));
    let missing = (6.0 - (to - from)).max(0.0) / 2.0;
    (from - missing, to + missing)
}

/// Colour of a counter: bytes as copies, shares as compute, everything else as data.
fn counter_kind(counter: &TimelineCounter) -> usize {
    match &*counter.unit {
        "bytes" => 2,
        "share" => 0,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_in_the_strip_is_never_too_small_to_hold() {
        let view = View {
            from: 250.0,
            to: 500.0,
        };
        assert_eq!(strip_frame(view, 1_000.0, 800.0), (200.0, 400.0));
        let small = View {
            from: 500.0,
            to: 500.1,
        };
        let (from, to) = strip_frame(small, 1_000.0, 800.0);
        assert!(to - from >= 5.9 && from < 400.0 && to > 400.0);
    }
}
