//! Positions of axes, ticks, lanes and all values, in CSS pixels.

use trainscope_format::digits;

use super::{AxisKind, Lane, Spec, Spot, ease};
use crate::frame::Size;
use crate::scale::{Axis, Scale};
use crate::ticks;

/// Minimum distance of axes.
const PITCH: f64 = 76.0;
/// Space at the left of the first axis and at the right of the last one, for their heads and labels.
const LEFT: f64 = 48.0;
const RIGHT: f64 = 64.0;
/// Height of captions and names above the axes.
const HEAD: f64 = 40.0;
/// Height of a lane.
const LANE: f64 = 13.0;
/// Space below everything.
const FOOT: f64 = 12.0;
/// Distance of ticks, and their minimum and maximum number.
const TICK_PIXELS: f64 = 44.0;
const TICKS: (f64, f64) = (2.0, 6.0);
/// An axis of at most this number of distinct values has these values as ticks.
const MAX_DISTINCT: usize = 8;
/// Significant digits of their labels.
const TICK_DIGITS: usize = 4;
/// Minimum distance of the labels of such values.
const LABEL_PIXELS: f64 = 13.0;
/// Maximum distance of a value from the place of its choice: lines of one choice must not hide each other.
const JITTER: f64 = 4.0;

/// An axis with the positions of its values.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct PlacedAxis {
    pub name: String,
    pub group: String,
    pub x: f64,
    /// Position and label of each tick.
    pub ticks: Vec<(f64, String)>,
    /// Vertical position of each row.
    pub y: Vec<f32>,
    /// Lane of each row; `None` for values on the axis.
    pub lanes: Vec<Option<Lane>>,
    /// Lanes with at least one row.
    pub used: Vec<Lane>,
    /// Upper and lower edge of the band of each row; equal without a band.
    pub bands: Option<Vec<(f32, f32)>>,
    /// `true` if this axis has places for names.
    pub is_choices: bool,
    scale: Axis,
    choices: usize,
    is_upside_down: bool,
    ends: (f64, f64),
}

/// All positions of a plot, in CSS pixels.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Layout {
    pub width: f64,
    pub height: f64,
    pub dpr: f64,
    /// Upper and lower end of all axes.
    pub top: f64,
    pub bottom: f64,
    /// Lanes that some axis needs, with their positions.
    pub lanes: Vec<(Lane, f64)>,
    pub axes: Vec<PlacedAxis>,
    pub rows: usize,
}

impl Layout {
    /// Positions of everything at the size of a plot.
    pub fn new(spec: &Spec) -> Self {
        let gaps = spec.axes.len().saturating_sub(1) as f64;
        let width = spec.width.max(LEFT + gaps * PITCH + RIGHT);
        let Size { width, height, dpr } = Size::new(width, spec.height, spec.dpr);
        let rows = spec
            .axes
            .iter()
            .map(|axis| axis.spots.len())
            .min()
            .unwrap_or(0);
        let lane_of: Vec<Vec<Option<Lane>>> = spec
            .axes
            .iter()
            .map(|axis| {
                let spots = axis.spots.iter().take(rows);
                spots.map(|spot| Lane::of(*spot, &axis.kind)).collect()
            })
            .collect();
        let mut used: Vec<Lane> = lane_of.iter().flatten().filter_map(|lane| *lane).collect();
        used.sort_unstable();
        used.dedup();
        let (above, below): (Vec<Lane>, Vec<Lane>) = used
            .into_iter()
            .partition(|lane| Lane::ABOVE.contains(lane));
        let top = HEAD + 6.0 + above.len() as f64 * LANE;
        let bottom = (height - FOOT - below.len() as f64 * LANE).max(top + 1.0);
        let mut lanes = Vec::new();
        for (index, lane) in above.into_iter().enumerate() {
            lanes.push((lane, HEAD + 4.0 + index as f64 * LANE));
        }
        for (index, lane) in below.into_iter().enumerate() {
            lanes.push((lane, bottom + LANE * (index as f64 + 0.9)));
        }
        let mut layout = Self {
            width,
            height,
            dpr,
            top,
            bottom,
            lanes,
            axes: Vec::with_capacity(spec.axes.len()),
            rows,
        };
        let pitch = if gaps > 0.0 {
            (width - LEFT - RIGHT) / gaps
        } else {
            0.0
        };
        for (index, (axis, lanes)) in spec.axes.iter().zip(lane_of).enumerate() {
            let (scale, ticks) = scale_of(axis, (top, bottom));
            let mut used: Vec<Lane> = lanes.iter().filter_map(|lane| *lane).collect();
            used.sort_unstable();
            used.dedup();
            let mut placed = PlacedAxis {
                name: axis.name.clone(),
                group: axis.group.clone(),
                x: (LEFT + index as f64 * pitch).round() + 0.5,
                ticks: Vec::new(),
                y: Vec::new(),
                lanes: Vec::new(),
                used,
                bands: None,
                is_choices: matches!(axis.kind, AxisKind::Choices(_)),
                scale,
                choices: match &axis.kind {
                    AxisKind::Choices(names) => names.len(),
                    AxisKind::Numbers { .. } => 0,
                },
                is_upside_down: axis.is_upside_down,
                ends: (top, bottom),
            };
            placed.ticks = match &axis.kind {
                AxisKind::Numbers { .. } => {
                    let at = |(value, text)| (placed.y_of_value(value), text);
                    apart(ticks.into_iter().map(at))
                }
                AxisKind::Choices(names) => placed.choice_ticks(names),
            };
            placed.y = axis
                .spots
                .iter()
                .take(rows)
                .zip(&lanes)
                .enumerate()
                .map(|(row, (spot, lane))| single(layout.y_of(&placed, row, *spot, *lane)))
                .collect();
            placed.bands = axis.spread.as_ref().map(|spread| {
                let spots = axis.spots.iter().take(rows).zip(spread.iter());
                spots
                    .zip(&placed.y)
                    .map(|((spot, half), y)| match spot {
                        Spot::Number(number) if number.is_finite() && half.is_finite() => {
                            let [a, b] = [number - half, number + half]
                                .map(|end| single(placed.y_of_value(end).clamp(top, bottom)));
                            (a.min(b), a.max(b))
                        }
                        _ => (*y, *y),
                    })
                    .collect()
            });
            placed.lanes = lanes;
            layout.axes.push(placed);
        }
        layout
    }

    pub(super) fn size(&self) -> Size {
        Size::new(self.width, self.height, self.dpr)
    }

    fn y_of(&self, axis: &PlacedAxis, row: usize, spot: Spot, lane: Option<Lane>) -> f64 {
        if let Some(lane) = lane {
            return self.lane_y(lane);
        }
        match spot {
            Spot::Number(number) => axis.y_of_value(number),
            Spot::Choice(choice) => axis.y_of_choice(choice as usize) + jitter(row),
            Spot::Missing | Spot::Text => self.bottom,
        }
    }

    /// Captions of neighbours of one group, with both ends of their lines.
    pub fn groups(&self) -> Vec<(&str, f64, f64)> {
        let runs = self.axes.chunk_by(|a, b| a.group == b.group);
        let ends = runs.filter_map(|run| Some((run.first()?, run.last()?)));
        ends.map(|(first, last)| (&*first.group, first.x - 24.0, last.x + 34.0))
            .collect()
    }

    /// Vertical position of a lane.
    pub fn lane_y(&self, lane: Lane) -> f64 {
        let found = self.lanes.iter().find(|(placed, _)| *placed == lane);
        found.map_or(self.bottom, |(_, y)| *y)
    }

    /// The lanes of an axis whose middle is between two vertical positions.
    pub fn lanes_between(&self, axis: usize, from: f64, to: f64) -> Vec<Lane> {
        let used = self.axes.get(axis).map(|axis| axis.used.clone());
        let is_within = |lane: &Lane| (from..=to).contains(&self.lane_y(*lane));
        used.unwrap_or_default()
            .into_iter()
            .filter(is_within)
            .collect()
    }

    /// The axis next to a horizontal position.
    pub fn nearest_axis(&self, x: f64) -> Option<usize> {
        let distance = |axis: &PlacedAxis| (axis.x - x).abs();
        let axes = self.axes.iter().enumerate();
        let nearest = axes.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
        nearest.map(|(index, _)| index)
    }

    /// The row of `rows` whose curve is next to a point, at most `most` pixels away.
    pub fn nearest_row(
        &self,
        rows: impl Iterator<Item = usize>,
        (x, y): (f64, f64),
        most: f64,
    ) -> Option<usize> {
        let right = self.axes.iter().position(|axis| axis.x >= x)?;
        let left = right.saturating_sub(1);
        let (from, to) = (self.axes.get(left)?, self.axes.get(right)?);
        let share = if to.x > from.x {
            (x - from.x) / (to.x - from.x)
        } else {
            0.0
        };
        let part = ease(share);
        let distance = |row: usize| {
            let (a, b) = (f64::from(*from.y.get(row)?), f64::from(*to.y.get(row)?));
            Some((a + (b - a) * part - y).abs())
        };
        let near = rows.filter_map(|row| Some((distance(row)?, row)));
        let nearest = near.min_by(|a, b| a.0.total_cmp(&b.0));
        nearest
            .filter(|(distance, _)| *distance <= most)
            .map(|(_, row)| row)
    }
}

impl PlacedAxis {
    /// Vertical position of a number that the axis can show.
    pub fn y_of_value(&self, value: f64) -> f64 {
        let shown = self.scale.fraction(value);
        // Below the smallest positive number of a logarithmic axis.
        let share = shown.unwrap_or(0.0).clamp(-1.0, 2.0);
        self.y_at(share)
    }

    /// Vertical position of a choice.
    pub fn y_of_choice(&self, choice: usize) -> f64 {
        let last = self.choices.saturating_sub(1);
        let share = if last == 0 {
            0.5
        } else {
            choice as f64 / last as f64
        };
        self.y_at(share)
    }

    /// The number at a vertical position, within the axis.
    pub fn value_at(&self, y: f64) -> f64 {
        self.scale.value(self.share_at(y).clamp(0.0, 1.0))
    }

    /// Position of the choice next to a vertical position.
    pub fn choice_at(&self, y: f64) -> Option<usize> {
        let at = |choice: &usize| (self.y_of_choice(*choice) - y).abs();
        (0..self.choices).min_by(|a, b| at(a).total_cmp(&at(b)))
    }

    /// Minimum and maximum of the axis.
    pub fn range(&self) -> (f64, f64) {
        (self.scale.lo(), self.scale.hi())
    }

    fn y_at(&self, share: f64) -> f64 {
        let (top, bottom) = self.ends;
        let share = if self.is_upside_down {
            1.0 - share
        } else {
            share
        };
        bottom - (bottom - top) * share
    }

    fn share_at(&self, y: f64) -> f64 {
        let (top, bottom) = self.ends;
        let share = (bottom - y) / (bottom - top).max(f64::MIN_POSITIVE);
        if self.is_upside_down {
            1.0 - share
        } else {
            share
        }
    }

    /// The names that have room.
    fn choice_ticks(&self, names: &[String]) -> Vec<(f64, String)> {
        let pitch = (self.ends.1 - self.ends.0) / names.len().max(1) as f64;
        let stride = (14.0 / pitch.max(0.1)).ceil().max(1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 1 to 140"
        )]
        let stride = stride as usize;
        let shown = names.iter().enumerate().step_by(stride);
        shown
            .map(|(index, name)| (self.y_of_choice(index), name.clone()))
            .collect()
    }
}

/// Scale of an axis, and its ticks with labels.
fn scale_of(axis: &super::AxisSpec, (top, bottom): (f64, f64)) -> (Axis, Vec<(f64, String)>) {
    let AxisKind::Numbers { scale, is_whole } = &axis.kind else {
        return (Axis::new(0.0, 1.0, Scale::Linear), Vec::new());
    };
    let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut distinct: Vec<f64> = Vec::new();
    for spot in axis.spots.iter() {
        if let Spot::Number(number) = spot
            && scale.shows(*number)
        {
            lo = lo.min(*number);
            hi = hi.max(*number);
            if distinct.len() <= MAX_DISTINCT
                && distinct
                    .iter()
                    .all(|known| known.to_bits() != number.to_bits())
            {
                distinct.push(*number);
            }
        }
    }
    if lo > hi {
        return (Axis::new(0.0, 1.0, *scale), Vec::new());
    }
    if (2..=MAX_DISTINCT).contains(&distinct.len()) && lo < hi {
        distinct.sort_by(f64::total_cmp);
        let label = |value: f64| (value, digits::trimmed(value, TICK_DIGITS));
        let ticks = distinct.into_iter().map(label).collect();
        return (Axis::new(lo, hi, *scale), ticks);
    }
    let most = ticks::room(bottom - top, TICK_PIXELS, TICKS);
    let (scale, mut found) = ticks::widen(lo, hi, *scale, most);
    if *is_whole && found.step > 0.0 && found.step < 1.0 {
        found.values.retain(|value| value.fract().abs() < 1e-9);
        found.step = 1.0;
    }
    (scale, found.labelled())
}

/// The ticks whose labels do not touch the one before them; the first and the last one stay.
fn apart(ticks: impl Iterator<Item = (f64, String)>) -> Vec<(f64, String)> {
    let mut ticks: Vec<(f64, String)> = ticks.collect();
    let end = ticks.pop();
    let touches = |a: f64, b: f64| (a - b).abs() < LABEL_PIXELS;
    let mut kept: Vec<(f64, String)> = Vec::with_capacity(ticks.len() + 1);
    for tick in ticks {
        let is_free = kept.last().is_none_or(|last| !touches(last.0, tick.0));
        let is_before_end = end.as_ref().is_none_or(|end| !touches(end.0, tick.0));
        if kept.is_empty() || (is_free && is_before_end) {
            kept.push(tick);
        }
    }
    let is_free = |end: &(f64, String)| kept.last().is_none_or(|last| !touches(last.0, end.0));
    kept.extend(end.filter(is_free));
    kept
}

/// Vertical distance of a row from the place of its choice; rows that follow each other are far apart.
fn jitter(row: usize) -> f64 {
    /// Fractional part of the golden ratio: its multiples are spread evenly between 0 and 1.
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    ((row as f64 * GOLDEN).fract() * 2.0 - 1.0) * JITTER
}

#[expect(clippy::cast_possible_truncation, reason = "pixels")]
const fn single(y: f64) -> f32 {
    y as f32
}
