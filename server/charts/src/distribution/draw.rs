//! Drawing of distribution charts on a backend.

mod half;

use plotters::prelude::{DrawResult, DrawingBackend};

use super::layout::LANE;
use super::{Hit, Layout, Row, Spec, Stack, View};
use crate::axes::BELOW;
use crate::frame::{Anchor, Point};
use crate::label;
use crate::pen::{DASH, Ink, Pen, paint};
use crate::theme::{Rgb, Theme};

/// Number of distinct shades of a heat map: neighbours of the same shade are one rectangle.
const SHADES: f64 = 48.0;
/// Exponent that raises small shares: single values are visible.
const SHADE_POWER: f64 = 0.6;
/// Place in the sequence of colours of a bin that is nearly empty, 0 to 1.
const FAINTEST: f64 = 0.08;

/// Colour of a heat map for a share of its greatest share, 0 to 1.
pub fn heat_colour(theme: &Theme, relative: f64) -> Rgb {
    theme.sequence(FAINTEST + (1.0 - FAINTEST) * relative.clamp(0.0, 1.0).powf(SHADE_POWER))
}
/// Distance of the labels of percentiles, pixels.
const NAME_HEIGHT: f64 = 11.0;

/// Draws the chart. `font_scale` is 1 for a canvas.
///
/// # Errors
/// Errors of the backend.
pub fn draw<DB: DrawingBackend>(
    backend: DB,
    spec: &Spec,
    layout: &Layout,
    theme: &Theme,
    font_scale: f64,
) -> DrawResult<(), DB> {
    paint(backend, layout.size(), theme, font_scale, |pen| {
        paint_chart(pen, spec, layout);
    })
}

pub(crate) fn paint_chart(pen: &Pen<'_>, spec: &Spec, layout: &Layout) {
    let chart = Chart {
        pen,
        spec,
        at: layout,
    };
    chart.axes();
    match spec.view {
        View::Offset => chart.ridges(),
        View::Overlay => chart.curves(),
        View::HeatMap => chart.heat(),
        View::Percentiles => chart.bands(),
    }
    chart.half();
    chart.lanes();
}

/// Highlights the element under the pointer. `selection` is a horizontal range in pixels during a drag.
///
/// # Errors
/// Errors of the backend.
pub fn draw_hit<DB: DrawingBackend>(
    backend: DB,
    spec: &Spec,
    layout: &Layout,
    theme: &Theme,
    hit: Option<Hit>,
    selection: Option<(f64, f64)>,
) -> DrawResult<(), DB> {
    paint(backend, layout.size(), theme, 1.0, |pen| {
        if let Some((from, to)) = selection {
            let plot = &layout.plot;
            let within = |x: f64| x.clamp(plot.left, plot.right);
            let (from, to) = (within(from.min(to)), within(from.max(to)));
            let ink = Ink(theme.accent, 0.14);
            pen.rect((from, 0.0), (to, plot.bottom), ink);
        }
        let found = hit.and_then(|hit| {
            let stack = spec.stacks.get(hit.stack)?;
            Some((stack, stack.rows.get(hit.row)?, hit.bin))
        });
        if let Some((stack, row, bin)) = found {
            let chart = Chart {
                pen,
                spec,
                at: layout,
            };
            chart.hit(stack, row, bin);
        }
    })
}

struct Chart<'a> {
    pen: &'a Pen<'a>,
    spec: &'a Spec,
    at: &'a Layout,
}

impl Chart<'_> {
    fn axes(&self) {
        let (pen, at) = (self.pen, self.at);
        pen.values(&at.plot, &at.y, self.spec.view != View::Offset);
        let has_grid = self.spec.view.has_values_across();
        pen.ticks(&at.plot, &at.x_ticks, at.plot.bottom + BELOW, has_grid);
        pen.base(&at.plot);
    }

    /// Points over the bins: `height` of the share in each bin above `ground`.
    fn outline(&self, row: &Row, y: impl Fn(f64) -> f64) -> Vec<Point> {
        let edges = self.spec.edges.windows(2).enumerate();
        let bins = edges.filter_map(|(bin, pair)| {
            let (left, right) = (self.at.x.px(pair[0])?, self.at.x.px(pair[1])?);
            Some((left, right, y(row.share(bin))))
        });
        let mut points: Vec<Point> = if self.spec.is_stepped {
            bins.flat_map(|(left, right, y)| [(left, y), (right, y)])
                .collect()
        } else {
            bins.map(|(left, right, y)| (f64::midpoint(left, right), y))
                .collect()
        };
        let (first, last) = (self.at.plot.left, self.at.plot.right);
        points.insert(0, (first, points.first().map_or(y(0.0), |point| point.1)));
        points.push((last, points.last().map_or(y(0.0), |point| point.1)));
        points
    }

    fn closed(mut points: Vec<Point>, ground: f64) -> Vec<Point> {
        let ends = (points.first().copied(), points.last().copied());
        if let (Some(first), Some(last)) = ends {
            points.extend([(last.0, ground), (first.0, ground)]);
        }
        points
    }

    fn ridge(&self, row: &Row) -> (f64, Vec<Point>) {
        let ground = self.at.row_y(row.at);
        let unit = if self.at.greatest > 0.0 {
            self.at.ridge / self.at.greatest
        } else {
            0.0
        };
        (ground, self.outline(row, |share| ground - share * unit))
    }

    fn ridges(&self) {
        let pen = self.pen;
        let Some(stack) = self.spec.stacks.first() else {
            return;
        };
        let all = stack.rows.len().max(1) as f64;
        let mut free = f64::NEG_INFINITY;
        for (index, row) in stack.rows.iter().enumerate() {
            let age = index as f64 / all;
            let (ground, points) = self.ridge(row);
            if row.finite > 0.0 {
                let area = Self::closed(points.clone(), ground);
                pen.polygon(&area, pen.theme.surface);
                let ink = Ink(stack.colour, 0.1 + 0.16 * age);
                pen.polygon(&area, ink);
                let ink = Ink(stack.colour, 0.75 + 0.25 * age);
                pen.path(&points, 0.9, ink);
            } else {
                self.broken(
                    ground,
                    if row.nan > 0 {
                        pen.theme.nan
                    } else {
                        pen.theme.inf
                    },
                );
            }
            if (row.nan > 0 || row.inf > 0) && ground >= free {
                free = ground + 12.0;
                self.beside(row, ground);
            }
        }
    }

    /// A ridge without finite values.
    fn broken(&self, y: f64, colour: Rgb) {
        let plot = &self.at.plot;
        let line = [(plot.left, y), (plot.right, y)];
        self.pen.dashed(&line, DASH, 1.5, colour);
    }

    fn beside(&self, row: &Row, y: f64) {
        let at = (self.at.width - 2.0, y);
        let (text, colour) = if row.nan > 0 {
            (format!("NaN {}", short(row.nan as f64)), self.pen.theme.nan)
        } else {
            (format!("±∞ {}", short(row.inf as f64)), self.pen.theme.inf)
        };
        self.pen.text(at, Anchor::End, &text, colour);
    }

    fn curves(&self) {
        for stack in &self.spec.stacks {
            let all = stack.rows.len();
            let last = stack.rows.iter().rposition(|row| row.finite > 0.0);
            for (index, row) in stack.rows.iter().enumerate() {
                if row.finite <= 0.0 {
                    continue;
                }
                let is_last = Some(index) == last;
                let points = self.outline(row, |share| self.at.share_y(share));
                if is_last {
                    let area = Self::closed(points.clone(), self.at.plot.bottom);
                    self.pen.polygon(&area, Ink(stack.colour, 0.09));
                }
                let age = (index + 1) as f64 / all as f64;
                let (width, alpha) = if is_last {
                    (2.0, 1.0)
                } else {
                    (1.1, 0.15 + 0.5 * age)
                };
                self.pen.path(&points, width, Ink(stack.colour, alpha));
            }
        }
    }

    fn heat(&self) {
        let pen = self.pen;
        let Some(stack) = self.spec.stacks.first() else {
            return;
        };
        let places: Vec<f64> = stack.rows.iter().map(|row| row.at).collect();
        for (index, row) in stack.rows.iter().enumerate() {
            let (left, right) = self.at.column(&places, index);
            // Whole pixels: columns that meet within one would leave a seam.
            let (left, right) = (pen.snap(left), pen.snap(right));
            let right = right.max(left + pen.hair());
            if row.finite <= 0.0 {
                let (top, bottom) = (self.at.plot.top, self.at.plot.bottom);
                let ink = Ink(pen.theme.grid, 1.0);
                pen.rect((left, top), (right, bottom), ink);
                continue;
            }
            self.cells(row, left, right);
        }
        for (share, dash) in [(1, true), (3, false), (5, true)] {
            self.percentile(stack, share, dash, pen.theme.ink, true);
        }
        self.percentile_names(stack);
    }

    /// The column of a row; neighbours of the same shade are one rectangle.
    fn cells(&self, row: &Row, left: f64, right: f64) {
        let pen = self.pen;
        let shade = |bin: usize| {
            let share = row.share(bin);
            if share <= 0.0 || self.at.greatest <= 0.0 {
                return 0.0;
            }
            let relative = (share / self.at.greatest).min(1.0).powf(SHADE_POWER);
            (relative * SHADES).ceil() / SHADES
        };
        let bins = row.counts.len();
        let mut from = 0;
        while from < bins {
            let colour = shade(from);
            let mut to = from + 1;
            while to < bins && (shade(to) - colour).abs() < f64::EPSILON {
                to += 1;
            }
            let edge = |at: usize| self.spec.edges.get(at).copied();
            let edges = edge(from).zip(edge(to));
            let places = edges.and_then(|(a, b)| Some((self.at.y.px(a)?, self.at.y.px(b)?)));
            if let (true, Some((low, high))) = (colour > 0.0, places) {
                let (top, bottom) = (pen.snap(high), pen.snap(low));
                let ink = pen.theme.sequence(FAINTEST + (1.0 - FAINTEST) * colour);
                pen.rect((left, top), (right, bottom), ink);
            }
            from = to;
        }
    }

    /// The labels of percentiles at the right of the plot, at the height of the last row with values.
    fn percentile_names(&self, stack: &Stack) {
        let pen = self.pen;
        let last = stack
            .rows
            .iter()
            .rev()
            .find(|row| !row.percentiles.is_empty());
        let Some(last) = last else {
            return;
        };
        let plot = &self.at.plot;
        let mut free = f64::NEG_INFINITY;
        for (share, name) in [(5, "p95"), (3, "p50"), (1, "p5")] {
            let y = last
                .percentiles
                .get(share)
                .and_then(|value| self.at.y.px(*value));
            let Some(y) = y.filter(|y| (plot.top..=plot.bottom).contains(y)) else {
                continue;
            };
            // Overlapping labels move down.
            let y = y.max(free);
            free = y + NAME_HEIGHT;
            let at = (plot.right + 4.0, y);
            pen.text(at, Anchor::Start, name, pen.theme.ink_3);
        }
    }

    /// The line of one percentile; a row without values is a gap.
    fn percentile(
        &self,
        stack: &Stack,
        share: usize,
        is_dashed: bool,
        colour: Rgb,
        has_halo: bool,
    ) {
        let pen = self.pen;
        let mut parts: Vec<Vec<Point>> = vec![Vec::new()];
        for row in &stack.rows {
            let value = row.percentiles.get(share).copied();
            match value.and_then(|value| self.at.y.px(value)) {
                Some(y) => {
                    if let Some(part) = parts.last_mut() {
                        part.push((self.at.step_x(row.at), y));
                    }
                }
                None => parts.push(Vec::new()),
            }
        }
        for part in parts.iter().filter(|part| part.len() > 1) {
            let width = if is_dashed { 1.0 } else { 1.5 };
            if has_halo {
                let halo = Ink(pen.theme.surface, 0.75);
                pen.path(part, width + 2.0, halo);
            }
            if is_dashed {
                pen.dashed(part, (3.0, 3.0, 0.0), width, colour);
            } else {
                pen.path(part, width, colour);
            }
        }
    }

    fn bands(&self) {
        for stack in &self.spec.stacks {
            for (low, high, alpha) in [(0, 6, 0.12), (1, 5, 0.2), (2, 4, 0.32)] {
                for part in stack
                    .rows
                    .chunk_by(|a, b| a.percentiles.is_empty() == b.percentiles.is_empty())
                {
                    let edge = |share: usize| {
                        part.iter().filter_map(move |row| {
                            let value = row.percentiles.get(share).copied()?;
                            // Minimum and maximum may be outside of all bins.
                            let y = self.at.y.px(value)?;
                            let y = y.clamp(self.at.plot.top, self.at.plot.bottom);
                            Some((self.at.step_x(row.at), y))
                        })
                    };
                    let mut area: Vec<Point> = edge(high).collect();
                    let mut lower: Vec<Point> = edge(low).collect();
                    if let ([_], [_]) = (&area[..], &lower[..]) {
                        // A single row is as wide as a mark.
                        let wide = |points: &mut Vec<Point>| {
                            let (x, y) = points[0];
                            *points = vec![(x - 2.0, y), (x + 2.0, y)];
                        };
                        wide(&mut area);
                        wide(&mut lower);
                    }
                    area.extend(lower.into_iter().rev());
                    if area.len() > 2 {
                        self.pen.polygon(&area, Ink(stack.colour, alpha));
                    }
                }
            }
            self.percentile(stack, 3, false, stack.colour, false);
        }
        // Several runs have different percentiles: the readout labels them.
        if let [stack] = &self.spec.stacks[..] {
            self.percentile_names(stack);
        }
    }

    /// Counts of non-finite values, above the plot.
    fn lanes(&self) {
        let (has_nan, has_inf) = self.at.lanes;
        let first = 8.0 + LANE / 2.0 - 4.0;
        if has_nan {
            self.lane(first, "NaN", self.pen.theme.nan, |row| row.nan);
        }
        if has_inf {
            let y = if has_nan { first + LANE } else { first };
            self.lane(y, "±∞", self.pen.theme.inf, |row| row.inf);
        }
    }

    fn lane(&self, y: f64, name: &str, colour: Rgb, of: fn(&Row) -> u64) {
        let pen = self.pen;
        let plot = &self.at.plot;
        let bottom = y + LANE / 2.0 - 1.0;
        pen.horizontal((plot.left, plot.right), bottom, pen.theme.grid);
        pen.text((plot.left - 6.0, y), Anchor::End, name, colour);
        if self.spec.view == View::Overlay {
            let rows = self.spec.stacks.iter().flat_map(|stack| &stack.rows);
            let broken = rows.filter(|row| of(row) > 0);
            if let Some(row) = broken.min_by(|a, b| a.at.total_cmp(&b.at)) {
                let text = count_at(row, of(row));
                pen.text((plot.left + 4.0, y), Anchor::Start, &text, colour);
            }
            return;
        }
        let mut named = false;
        for stack in &self.spec.stacks {
            let places: Vec<f64> = stack.rows.iter().map(|row| row.at).collect();
            for (index, row) in stack.rows.iter().enumerate().filter(|(_, row)| of(row) > 0) {
                let (left, right) = self.at.column(&places, index);
                let right = right.max(left + 2.0);
                let all = of(row) as f64 + row.finite;
                let height = (10.0 * of(row) as f64 / all).clamp(2.0, 10.0);
                pen.rect((left, bottom - height), (right, bottom), colour);
                if !named {
                    named = true;
                    let text = short(of(row) as f64);
                    let width = label::width(&text);
                    let (at, anchor) = if left - 5.0 - width > plot.left {
                        (left - 5.0, Anchor::End)
                    } else {
                        (right + 5.0, Anchor::Start)
                    };
                    // If there is no room on either side, the count is in the readout only.
                    if anchor == Anchor::End || right + 5.0 + width < plot.right {
                        pen.text((at, y), anchor, &text, colour);
                    }
                }
            }
        }
    }

    fn hit(&self, stack: &Stack, row: &Row, bin: Option<usize>) {
        let pen = self.pen;
        let (plot, theme) = (&self.at.plot, pen.theme);
        match self.spec.view {
            View::HeatMap | View::Percentiles => {
                let x = pen.snap(self.at.step_x(row.at));
                let line = [(x, 4.0), (x, plot.bottom)];
                pen.dashed(&line, (2.0, 2.0, 0.0), 1.0, theme.ink_2);
                let anchor = if x > plot.right - 24.0 {
                    Anchor::End
                } else {
                    Anchor::Middle
                };
                self.pill((x, plot.bottom + BELOW), anchor, &row.text);
            }
            View::Offset => {
                let (ground, points) = self.ridge(row);
                let area = Self::closed(points.clone(), ground);
                pen.polygon(&area, Ink(stack.colour, 0.45));
                pen.path(&points, 1.5, theme.ink);
                self.bar(row, bin, ground, |share| {
                    ground - share * self.at.ridge / self.at.greatest.max(f64::MIN_POSITIVE)
                });
                self.pill((plot.left - 4.0, ground), Anchor::End, &row.text);
            }
            View::Overlay => {
                let points = self.outline(row, |share| self.at.share_y(share));
                pen.path(&points, 2.5, theme.ink);
                self.bar(row, bin, plot.bottom, |share| self.at.share_y(share));
            }
        }
    }

    /// The bin under the pointer.
    fn bar(&self, row: &Row, bin: Option<usize>, ground: f64, y: impl Fn(f64) -> f64) {
        let edges = bin.and_then(|bin| {
            let (left, right) = (self.spec.edges.get(bin)?, self.spec.edges.get(bin + 1)?);
            Some((bin, self.at.x.px(*left)?, self.at.x.px(*right)?))
        });
        let Some((bin, left, right)) = edges else {
            return;
        };
        let top = y(row.share(bin));
        let ink = Ink(self.pen.theme.ink, 0.85);
        self.pen
            .rect((left, top), (right.max(left + 1.0), ground), ink);
    }

    /// The name of a step on an axis.
    fn pill(&self, at: Point, anchor: Anchor, text: &str) {
        let pen = self.pen;
        let width = label::width(text) + 8.0;
        let shift = if anchor == Anchor::End { 4.0 } else { 0.0 };
        let left = anchor.span(at.0, width).0 + shift;
        let left = left.clamp(0.0, (self.at.width - width).max(0.0));
        let (from, to) = ((left, at.1 - 8.0), (left + width, at.1 + 8.0));
        pen.rect(from, to, pen.theme.solid);
        let middle = (left + width / 2.0, at.1);
        pen.text(middle, Anchor::Middle, text, pen.theme.on_solid);
    }
}

/// Number of non-finite values of a row, of all its values, and its steps: `40–45: 256 / 8.4 M`.
fn count_at(row: &Row, count: u64) -> String {
    let all = (row.finite + row.nan as f64 + row.inf as f64).round();
    let of_all = if all >= 1.0 {
        format!("{} / {}", short(count as f64), short(all))
    } else {
        short(count as f64)
    };
    if row.since.is_empty() {
        format!("{}: {of_all}", row.text)
    } else {
        format!("{}–{}: {of_all}", row.since, row.text)
    }
}

/// A count in at most five characters: `256`, `65 k`, `8.4 M`.
fn short(count: f64) -> String {
    let (value, unit) = if count < 10_000.0 {
        return label::fixed(count, 0);
    } else if count < 1e6 {
        (count / 1e3, "k")
    } else if count < 1e9 {
        (count / 1e6, "M")
    } else {
        (count / 1e9, "G")
    };
    let decimals = usize::from(value < 10.0);
    format!("{} {unit}", label::fixed(value, decimals))
}
