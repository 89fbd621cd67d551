//! Loss landscapes: rows of points, and maps with the drawing of the pages.

use trainscope_analysis::landscape::{
    Conclusion, LossScale, Surface, conclusion, contours, figures, levels, path_of,
};
use trainscope_api::records::At;
use trainscope_api::tags::Tag;
use trainscope_charts::contour::{Map, Path};
use trainscope_charts::sheet::Frame;
use trainscope_charts::svg;
use trainscope_charts::theme::{Rgb, Theme};
use trainscope_format::csv::number;
use trainscope_format::digits::{brief, integer};
use trainscope_format::surface::Points;
use trainscope_format::{Body, Kind, Landscape};

use super::ExportFlags;
use super::pictures::{COLOURS, MAX_PICTURES, encoded, too_many};
use crate::cli::CommandError;
use crate::cli::mistake::Mistake;
use crate::cli::reading::Reading;

/// Size of one map, CSS pixels, and the number of maps side by side.
const SIZE: (f64, f64) = (560.0, 440.0);
const COLUMNS: usize = 2;

/// A landscape that can be drawn.
pub(in crate::cli) struct Drawable {
    map: Map,
    /// The sentence of the page.
    pub(in crate::cli) conclusion: Conclusion,
}

impl Drawable {
    /// `None` for a record without a surface that fits.
    pub(in crate::cli) fn new(landscape: &Landscape, colour: Rgb) -> Option<Self> {
        let surface = Surface::new(landscape).ok()?;
        let figures = figures(landscape, &surface, |_| None);
        let range = surface.range();
        let levels = range.map_or_else(Vec::new, |range| levels(range, LossScale::of(Some(range))));
        let found = contours(&surface, &levels);
        let ends = |axis: &[f64]| {
            let ends = axis.first().copied().zip(axis.last().copied());
            ends.unwrap_or_default()
        };
        let states = path_of(landscape).into_iter().enumerate();
        let name = |state: usize| landscape.intervals.get(state).copied().map(integer);
        let path = Path {
            colour,
            states: states
                .map(|(state, (at, _))| (at, name(state).unwrap_or_default()))
                .collect(),
            end: figures.end.map(|end| end.0),
        };
        Some(Self {
            conclusion: conclusion(landscape, &figures),
            map: Map {
                x: ends(surface.x()),
                y: ends(surface.y()),
                is_equal: !landscape.normalisation.is_empty(),
                area: found.area,
                above: found.above,
                lines: found.lines,
                gaps: found.gaps,
                texts: levels.into_iter().map(brief).collect(),
                has_lines: true,
                paths: vec![path],
                key: range.map(|range| (brief(range.0), String::new())),
                ..Map::default()
            },
        })
    }

    /// The map as an SVG document.
    pub(in crate::cli) fn svg(&self, size: (f64, f64), theme: &Theme) -> String {
        svg::map(&self.map, size, theme)
    }
}

/// The last landscape of a tag in the selected range.
pub(in crate::cli) fn last(
    reading: &Reading,
    query: &trainscope_api::records::RecordsQuery,
) -> Result<Option<At<Landscape>>, Mistake> {
    let mut last = None;
    let read = reading.index.each_record(Kind::Landscapes, query, |at| {
        if let Body::Landscape(body) = at.body {
            last = Some(At {
                step: at.step,
                wall_time_secs: at.wall_time_secs,
                body: *body,
            });
        }
    });
    read.map_err(|error| reading.unread(&error))?;
    Ok(last)
}

/// One picture with the last map of each selected tag.
pub(super) fn picture(
    flags: &ExportFlags,
    reading: &Reading,
    tags: &[Tag],
) -> Result<Vec<u8>, CommandError> {
    if tags.len() > MAX_PICTURES {
        return Err(too_many(flags, tags.len()).into());
    }
    let (light, dark) = COLOURS[0];
    let (theme, colour) = if flags.dark {
        (Theme::dark(), dark)
    } else {
        (Theme::light(), light)
    };
    let (mut frames, mut maps) = (Vec::new(), Vec::new());
    for tag in tags {
        let Some(at) = last(reading, &flags.query(reading, tag))? else {
            continue;
        };
        let Some(map) = Drawable::new(&at.body, colour) else {
            continue;
        };
        frames.push(Frame {
            title: tag.tag.clone(),
            note: String::new(),
            legend: Vec::new(),
            width: SIZE.0,
            height: SIZE.1,
        });
        maps.push(map);
    }
    if maps.is_empty() {
        let error = Mistake::new(2, "no loss landscape has a surface that can be drawn");
        return Err(error
            .attempt("--format json, which has every record")
            .into());
    }
    let columns = COLUMNS.min(frames.len());
    let sheet = svg::sheet_of(&frames, columns, &theme, |at| maps[at].svg(SIZE, &theme));
    Ok(encoded(flags, sheet, || too_many(flags, frames.len()))?)
}

/// Part, interval, x, y and z of each point: of the surface, of the path, and the end.
pub(super) fn rows(landscape: &Landscape) -> Vec<Vec<String>> {
    let row = |part: &str, interval: Option<i64>, [x, y, z]: [f64; 3]| {
        let interval = interval
            .map(|interval| interval.to_string())
            .unwrap_or_default();
        let mut cells = vec![part.to_owned(), interval];
        cells.extend([x, y, z].map(number));
        cells
    };
    let mut rows = Vec::new();
    if let Ok(surface) = Surface::new(landscape) {
        for (up, y) in surface.y().iter().enumerate() {
            for (right, x) in surface.x().iter().enumerate() {
                rows.push(row("surface", None, [*x, *y, surface.loss(up, right)]));
            }
        }
    }
    for (state, ((x, y), loss)) in path_of(landscape).into_iter().enumerate() {
        let interval = landscape.intervals.get(state).copied();
        rows.push(row("path", interval, [x, y, loss]));
    }
    if let Some(Points { x, y, z }) = &landscape.convergence_point {
        let ends = x.values.iter().zip(&y.values).zip(&z.values);
        rows.extend(ends.map(|((x, y), z)| row("end", None, [*x, *y, *z])));
    }
    rows
}
