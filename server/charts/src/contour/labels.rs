//! Places of the texts on a map: no text covers another one or a state of a path.

use super::{Outline, Path, Point, plate};
use crate::frame::{Frame, Rect};

/// Height of a text with its plate, CSS pixels.
const HIGH: f64 = 14.0;
/// Distance of a label from its state.
const APART: f64 = 14.0;
/// Maximum number of texts: more hide the map.
const MOST: usize = 40;

/// Maximum number of states of a path with a label, without start and end.
const MAX_STATES: usize = 8;
/// Distance of the spots of a line that are kept free, CSS pixels, and their maximum number between two states.
const SPOT: f64 = 8.0;
const MAX_SPOTS: u32 = 512;

/// Texts with their places.
pub(super) struct Labels<'a> {
    frame: &'a Frame,
    taken: Vec<Rect>,
    placed: Vec<((f64, f64), String)>,
}

impl<'a> Labels<'a> {
    pub(super) fn new(frame: &'a Frame) -> Self {
        Self {
            frame,
            taken: Vec::new(),
            placed: Vec::new(),
        }
    }

    /// Middles and texts.
    pub(super) fn placed(&self) -> &[((f64, f64), String)] {
        &self.placed
    }

    /// Keeps the corner of the name of the second axis free.
    pub(super) fn name_of_axis(&mut self, name: &str) {
        let plot = &self.frame.plot;
        if !name.is_empty() {
            self.taken.push(Rect {
                left: plot.left,
                top: plot.top,
                right: plot.left + plate(name) + 6.0,
                bottom: plot.top + 18.0,
            });
        }
    }

    /// The labels of a path: those of start and end first.
    pub(super) fn path(&mut self, path: &Path) {
        let states: Vec<((f64, f64), &str)> = path
            .states
            .iter()
            .filter(|((x, y), _)| x.is_finite() && y.is_finite())
            .map(|(point, text)| (self.frame.place(*point), &**text))
            .collect();
        let spots = states.iter().map(|state| (state.0, 5.0));
        let end = path.end.map(|end| (self.frame.place(end), 10.0));
        for (spot, radius) in spots.chain(end) {
            self.taken.push(Rect::around(spot, radius));
        }
        // Texts on the line would hide its course.
        for pair in states.windows(2) {
            let (from, to) = (pair[0].0, pair[1].0);
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            let spots = (1..MAX_SPOTS).map(|spot| f64::from(spot) * SPOT / length);
            for share in spots.take_while(|share| *share < 1.0) {
                let spot = (
                    from.0 + (to.0 - from.0) * share,
                    from.1 + (to.1 - from.1) * share,
                );
                self.taken.push(Rect::around(spot, 2.0));
            }
        }
        let last = states.len().saturating_sub(1);
        let stride = states.len().div_ceil(MAX_STATES).max(1);
        let order = [0, last].into_iter().chain((stride..last).step_by(stride));
        let mut done = None;
        for index in order {
            if done == Some(index) && index == 0 {
                continue;
            }
            done = Some(index);
            if let Some(((x, y), text)) = states.get(index) {
                let wide = plate(text) / 2.0;
                let beside = wide + 11.0;
                let tries = [
                    (0.0, -APART),
                    (beside, 0.0),
                    (0.0, APART),
                    (-beside, 0.0),
                    (beside, -APART),
                    (-beside, -APART),
                ];
                self.first_free(text, tries.map(|(right, down)| (x + right, y + down)));
            }
        }
    }

    /// The value of a level, on its line: below the end, else at a quarter of its longest piece.
    pub(super) fn level(&mut self, text: &str, lines: &[Outline], end: Option<Point>) {
        let below = end.and_then(|end| {
            let pieces = lines.iter().flat_map(|piece| piece.windows(2));
            let heights = pieces.filter_map(|pair| crossing(pair[0], pair[1], end.0));
            heights
                .filter(|y| *y < end.1)
                .reduce(f64::max)
                .map(|y| (end.0, y))
        });
        let longest = lines.iter().max_by_key(|piece| piece.len());
        let quarters = [2, 1, 3].into_iter().filter_map(|quarter| {
            let piece = longest?;
            piece.get(piece.len() * quarter / 4).copied()
        });
        let places = below.into_iter().chain(quarters);
        let places: Vec<(f64, f64)> = places.map(|point| self.frame.place(point)).collect();
        self.first_free(text, places);
    }

    fn first_free(&mut self, text: &str, places: impl IntoIterator<Item = (f64, f64)>) {
        if text.is_empty() || self.placed.len() >= MOST {
            return;
        }
        let wide = plate(text) / 2.0;
        let plot = &self.frame.plot;
        for (x, y) in places {
            let rect = Rect {
                left: x - wide,
                top: y - HIGH / 2.0,
                right: x + wide,
                bottom: y + HIGH / 2.0,
            };
            let is_inside = rect.left >= plot.left
                && rect.right <= plot.right
                && rect.top >= plot.top
                && rect.bottom <= plot.bottom;
            let is_free = self.taken.iter().all(|other| {
                rect.right <= other.left
                    || other.right <= rect.left
                    || rect.bottom <= other.top
                    || other.bottom <= rect.top
            });
            if is_inside && is_free {
                self.taken.push(rect);
                self.placed.push(((x, y), text.to_owned()));
                return;
            }
        }
    }
}

/// Height at which a piece of a line crosses a vertical.
fn crossing(from: Point, to: Point, x: f64) -> Option<f64> {
    if (from.0 < x) == (to.0 < x) {
        return None;
    }
    let share = (x - from.0) / (to.0 - from.0);
    Some(from.1 + (to.1 - from.1) * share)
}
