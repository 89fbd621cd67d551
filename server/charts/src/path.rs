//! Lines and bands in pixels: reduced to the resolution of pixel columns, clipped, dashed.
//!
//! Reduction keeps the first, lowest, highest and last point of each column in their order, so the drawn line covers
//! exactly the pixels of the whole one.

use crate::frame::{Point, Rect};

/// Connected parts of points: a missing `y` ends one, and so does a step back in `x` (a restart) unless lines may go
/// back.
pub(crate) fn stretches<P: Copy>(
    points: impl Iterator<Item = (f64, Option<P>)>,
    may_go_back: bool,
) -> Vec<Vec<(f64, P)>> {
    let mut out: Vec<Vec<(f64, P)>> = Vec::new();
    let mut open = false;
    for (x, y) in points {
        let Some(y) = y else {
            open = false;
            continue;
        };
        match out.last_mut() {
            Some(last)
                if open
                    && last
                        .last()
                        .is_some_and(|&(before, _)| may_go_back || before <= x) =>
            {
                last.push((x, y));
            }
            _ => out.push(vec![(x, y)]),
        }
        open = true;
    }
    out
}

/// True if two x are in the same column of pixels.
fn same_column(a: f64, b: f64, column: f64) -> bool {
    ((a / column).floor() - (b / column).floor()).abs() < 0.5
}

/// At most four points per column of `column` pixels.
pub(crate) fn thin(points: &[Point], column: f64) -> Vec<Point> {
    let mut out = Vec::with_capacity(points.len().min(4_096));
    for group in points.chunk_by(|a, b| same_column(a.0, b.0, column)) {
        if group.len() <= 4 {
            out.extend_from_slice(group);
            continue;
        }
        let (mut lowest, mut highest) = (0, 0);
        for (index, point) in group.iter().enumerate() {
            if point.1 < group[lowest].1 {
                lowest = index;
            }
            if point.1 > group[highest].1 {
                highest = index;
            }
        }
        let mut kept = [0, lowest, highest, group.len() - 1];
        kept.sort_unstable();
        let mut before = None;
        for index in kept {
            if before != Some(index) {
                out.push(group[index]);
            }
            before = Some(index);
        }
    }
    out
}

/// The parts of a line inside of a rectangle.
pub(crate) fn clip(points: &[Point], rect: &Rect) -> Vec<Vec<Point>> {
    let mut out: Vec<Vec<Point>> = Vec::new();
    if let [only] = points {
        if rect.contains(only.0, only.1) {
            out.push(vec![*only]);
        }
        return out;
    }
    for pair in points.windows(2) {
        let Some((from, to)) = segment(pair[0], pair[1], rect) else {
            continue;
        };
        match out.last_mut() {
            Some(last) if last.last() == Some(&from) => last.push(to),
            _ => out.push(vec![from, to]),
        }
    }
    out
}

/// Liang–Barsky: the part of a segment inside of a rectangle.
fn segment(from: Point, to: Point, rect: &Rect) -> Option<(Point, Point)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    if !(dx.is_finite() && dy.is_finite()) {
        return None;
    }
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (direction, distance) in [
        (-dx, from.0 - rect.left),
        (dx, rect.right - from.0),
        (-dy, from.1 - rect.top),
        (dy, rect.bottom - from.1),
    ] {
        if direction == 0.0 {
            if distance < 0.0 {
                return None;
            }
        } else {
            let at = distance / direction;
            if direction < 0.0 {
                enter = enter.max(at);
            } else {
                leave = leave.min(at);
            }
        }
    }
    if enter > leave {
        return None;
    }
    // The ends themselves without rounding: adjacent segments are joined by equality.
    let at = |t: f64| {
        if t <= 0.0 {
            from
        } else if t >= 1.0 {
            to
        } else {
            (from.0 + dx * t, from.1 + dy * t)
        }
    };
    Some((at(enter), at(leave)))
}

/// The dashes of a line: `on` pixels drawn, `off` not, beginning `phase` pixels into the pattern.
pub(crate) fn dash(points: &[Point], on: f64, off: f64, phase: f64) -> Vec<Vec<Point>> {
    let period = on + off;
    let mut out: Vec<Vec<Point>> = Vec::new();
    if !(on > 0.0 && off > 0.0) {
        return vec![points.to_vec()];
    }
    let mut position = phase.rem_euclid(period);
    let mut pen = false;
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        // A line of a million pixels has no visible dashes.
        if !(length > 0.0 && length < 1e6) {
            continue;
        }
        let mut done = 0.0;
        while done < length {
            let drawn = position < on;
            let rest = if drawn {
                on - position
            } else {
                period - position
            };
            // At least a thousandth, so that rounding cannot stop the walk.
            let advance = rest.max(1e-3).min(length - done);
            let point = |d: f64| {
                (
                    from.0 + (to.0 - from.0) * d / length,
                    from.1 + (to.1 - from.1) * d / length,
                )
            };
            if drawn {
                match out.last_mut() {
                    Some(last) if pen => last.push(point(done + advance)),
                    _ => out.push(vec![point(done), point(done + advance)]),
                }
            }
            pen = drawn;
            position += advance;
            done += advance;
            if position >= period - 1e-9 {
                position = 0.0;
                pen = false;
            }
        }
    }
    out
}

/// Outline of a band from `(x, (upper y, lower y))`: one entry per column of pixels, clipped to the rectangle.
pub(crate) fn band(points: &[(f64, (f64, f64))], column: f64, rect: &Rect) -> Vec<Point> {
    let mut columns: Vec<(f64, f64, f64)> = Vec::new();
    for group in points.chunk_by(|a, b| same_column(a.0, b.0, column)) {
        let upper = group.iter().fold(f64::INFINITY, |y, p| y.min(p.1.0));
        let lower = group.iter().fold(f64::NEG_INFINITY, |y, p| y.max(p.1.1));
        if let Some(last) = group.last() {
            columns.push((last.0, upper, lower));
        }
    }
    let columns = clip_columns(&columns, rect.left, rect.right);
    let within = |y: f64| y.clamp(rect.top, rect.bottom.max(rect.top));
    if let [(x, upper, lower)] = columns[..] {
        let (left, right) = (x - column / 2.0, x + column / 2.0);
        return vec![
            (left, within(upper)),
            (right, within(upper)),
            (right, within(lower)),
            (left, within(lower)),
        ];
    }
    let there = columns.iter().map(|&(x, upper, _)| (x, within(upper)));
    let back = columns
        .iter()
        .rev()
        .map(|&(x, _, lower)| (x, within(lower)));
    there.chain(back).collect()
}

fn clip_columns(columns: &[(f64, f64, f64)], left: f64, right: f64) -> Vec<(f64, f64, f64)> {
    let mut out = Vec::with_capacity(columns.len());
    let between = |a: &(f64, f64, f64), b: &(f64, f64, f64), x: f64| {
        let t = (x - a.0) / (b.0 - a.0);
        (x, a.1 + (b.1 - a.1) * t, a.2 + (b.2 - a.2) * t)
    };
    for (index, column) in columns.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|i| columns.get(i));
        if let Some(before) = before {
            for edge in [left, right] {
                if before.0 < edge && edge < column.0 {
                    out.push(between(before, column, edge));
                }
            }
        }
        if left <= column.0 && column.0 <= right {
            out.push(*column);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: Rect = Rect {
        left: 0.0,
        top: 0.0,
        right: 10.0,
        bottom: 10.0,
    };

    #[test]
    fn a_gap_stays_a_gap_and_a_restart_starts_anew() {
        let points = [
            (0.0, Some(1.0)),
            (1.0, None),
            (2.0, Some(1.0)),
            (3.0, Some(1.0)),
            (1.0, Some(5.0)),
        ];
        let parts = stretches(points.into_iter(), false);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 1]);
    }

    #[test]
    fn thinning_keeps_spikes_in_their_order() {
        let points: Vec<Point> = (0..100)
            .map(|i| {
                (
                    f64::from(i) / 100.0,
                    if i == 40 { 9.0 } else { f64::from(i % 3) },
                )
            })
            .collect();
        let thinned = thin(&points, 1.0);
        assert!(thinned.len() <= 4);
        assert!(thinned.contains(&(0.4, 9.0)));
        assert!(thinned.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn lines_are_cut_at_the_edges() {
        let parts = clip(
            &[
                (-5.0, 5.0),
                (5.0, 5.0),
                (5.0, 20.0),
                (8.0, 20.0),
                (8.0, 5.0),
            ],
            &SQUARE,
        );
        assert_eq!(
            parts,
            [
                vec![(0.0, 5.0), (5.0, 5.0), (5.0, 10.0)],
                vec![(8.0, 10.0), (8.0, 5.0)]
            ]
        );
        assert!(clip(&[(20.0, 20.0)], &SQUARE).is_empty());
        assert!(clip(&[(f64::INFINITY, 0.0), (f64::NAN, 1.0)], &SQUARE).is_empty());
    }

    #[test]
    fn dashes_cover_their_share() {
        let parts = dash(&[(0.0, 0.0), (90.0, 0.0)], 5.0, 4.0, 0.0);
        assert_eq!(parts.len(), 10);
        let drawn: f64 = parts.iter().map(|p| p[p.len() - 1].0 - p[0].0).sum();
        assert!((drawn - 50.0).abs() < 1e-6, "{drawn}");
    }

    #[test]
    fn a_band_is_cut_where_the_plot_ends() {
        let outline = band(&[(-10.0, (2.0, 4.0)), (10.0, (2.0, 4.0))], 1.0, &SQUARE);
        assert_eq!(outline[0], (0.0, 2.0));
        assert!(outline.iter().all(|p| SQUARE.contains(p.0, p.1)));
        assert_eq!(band(&[(5.0, (2.0, 4.0))], 1.0, &SQUARE).len(), 4);
        assert!(band(&[], 1.0, &SQUARE).is_empty());
    }
}
