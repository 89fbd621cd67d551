//! Map, perspective view and cuts of landscapes as plain data for charts.

use std::sync::Arc;

use trainscope_analysis::landscape::{LossScale, Point, contours, levels, path_of};
use trainscope_charts::contour::{Map, Path};
use trainscope_charts::surface::{Relief, Track};
use trainscope_charts::theme::Rgb;
use trainscope_format::Landscape;
use trainscope_format::digits::brief;

use super::load::LandscapeView;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::LandscapeTexts;

/// Number of points of a path on the surface between two recorded states.
const PIECES: u32 = 12;

/// Choices that all pictures share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// Minimum and maximum loss of all landscapes; `None` without a finite one.
    pub(super) range: Option<(f64, f64)>,
    pub(super) scale: LossScale,
    pub(super) is_equal: bool,
    pub(super) has_lines: bool,
}

/// Minimum and maximum finite loss of several landscapes.
pub(super) fn range(shown: &[(String, Arc<LandscapeView>)]) -> Option<(f64, f64)> {
    let ranges = shown.iter().filter_map(|(_, view)| view.surface.range());
    ranges.reduce(|all, range| (all.0.min(range.0), all.1.max(range.1)))
}

/// `true` if two records name the same plane.
pub(super) fn is_same_plane(one: &Landscape, other: &Landscape) -> bool {
    !one.plane.is_empty() && one.plane == other.plane
}

/// First and last coordinate of both axes.
pub(super) fn extent(shown: &LandscapeView) -> ((f64, f64), (f64, f64)) {
    let ends = |axis: &[f64]| {
        let first = axis.first().copied().unwrap_or(0.0);
        (first, axis.last().copied().unwrap_or(first))
    };
    (ends(shown.surface.x()), ends(shown.surface.y()))
}

/// The map of a landscape with the paths of the trainings in its plane; the first is the training of the landscape.
pub(super) fn map(
    view: &LandscapeView,
    paths: &[(Rgb, &LandscapeView)],
    look: Look,
    mark: Option<Point>,
    texts: &LandscapeTexts,
) -> Map {
    let levels = look
        .range
        .map_or_else(Vec::new, |range| levels(range, look.scale));
    let found = contours(&view.surface, &levels);
    let limit = view.figures.limit.map(|limit| {
        let lines = contours(&view.surface, &[limit]).lines;
        (
            texts.limit.to_owned(),
            lines.into_iter().flatten().collect(),
        )
    });
    let share = |axis: usize| {
        view.landscape
            .variance
            .get(axis)
            .copied()
            .map(format::percent)
    };
    let (x, y) = extent(view);
    Map {
        x,
        y,
        names: [0, 1].map(|axis| texts.direction[axis](share(axis).as_deref())),
        is_equal: look.is_equal,
        area: found.area,
        above: found.above,
        lines: found.lines,
        texts: levels.into_iter().map(brief).collect(),
        has_lines: look.has_lines,
        limit,
        gaps: found.gaps,
        paths: paths
            .iter()
            .map(|(colour, view)| path(*colour, view))
            .collect(),
        key: look
            .range
            .map(|range| (brief(range.0), texts.loss.to_owned())),
        mark,
    }
}

fn path(colour: Rgb, view: &LandscapeView) -> Path {
    let states = path_of(&view.landscape).into_iter().enumerate();
    let states = states.map(|(index, (at, _))| {
        let interval = view.landscape.intervals.get(index);
        (
            at,
            interval
                .map(|interval| format::integer(*interval))
                .unwrap_or_default(),
        )
    });
    Path {
        colour,
        states: states.collect(),
        end: view.figures.end.map(|end| end.0),
    }
}

/// The perspective view of a landscape with the paths of trainings in its plane.
pub(super) fn relief(
    view: &LandscapeView,
    paths: &[(Rgb, &LandscapeView)],
    look: Look,
    eye: (f64, f64),
) -> Relief {
    let (x, y) = extent(view);
    let spans = (x.1 - x.0, y.1 - y.0);
    let longest = spans.0.max(spans.1);
    let place = |at: f64, axis: (f64, f64), span: f64| {
        let unit = if look.is_equal { longest } else { span };
        let share = (at - f64::midpoint(axis.0, axis.1)) / unit;
        if share.is_finite() { share + 0.5 } else { 0.5 }
    };
    let height = |loss: f64| match look.range {
        Some(range) if loss.is_finite() => look.scale.share(range, loss),
        _ => loss,
    };
    let tracks = paths.iter().map(|(colour, of)| {
        let ends = of.figures.end.map(|end| end.0);
        let mut states: Vec<Point> = path_of(&of.landscape)
            .into_iter()
            .map(|state| state.0)
            .collect();
        if states.is_empty() {
            states.extend(ends);
        }
        let points = between(&states).into_iter().map(|at| {
            let loss = view.surface.at(at).unwrap_or(f64::NAN);
            (
                place(at.0, x, spans.0),
                place(at.1, y, spans.1),
                height(loss),
            )
        });
        Track {
            colour: *colour,
            points: points.collect(),
        }
    });
    Relief {
        columns: view
            .surface
            .x()
            .iter()
            .map(|at| place(*at, x, spans.0))
            .collect(),
        rows: view
            .surface
            .y()
            .iter()
            .map(|at| place(*at, y, spans.1))
            .collect(),
        heights: view.surface.z().iter().map(|loss| height(*loss)).collect(),
        bands: look
            .range
            .map_or(1, |range| levels(range, look.scale).len() + 1),
        tracks: tracks.collect(),
        yaw: eye.0,
        pitch: eye.1,
    }
}

/// A path in short pieces. States that are not finite are left out.
fn between(states: &[Point]) -> Vec<Point> {
    let states = states
        .iter()
        .filter(|(x, y)| x.is_finite() && y.is_finite());
    let states: Vec<Point> = states.copied().collect();
    let mut all: Vec<Point> = states.first().copied().into_iter().collect();
    for pair in states.windows(2) {
        all.extend((1..=PIECES).map(|piece| {
            let share = f64::from(piece) / f64::from(PIECES);
            let along = |from: f64, to: f64| from + (to - from) * share;
            (along(pair[0].0, pair[1].0), along(pair[0].1, pair[1].1))
        }));
    }
    all
}
