//! Scalars as curves and histograms as heat maps, with the drawing of the pages.

use std::collections::BTreeMap;

use trainscope_api::distributions::{
    DistributionKey, DistributionsAnswer, DistributionsRequest, Spacing,
};
use trainscope_api::scalars::{NonFiniteClass, ScalarsQuery, Series};
use trainscope_api::tags::Tag;
use trainscope_charts::distribution::{self, View};
use trainscope_charts::line::{Class, Line, Spec, Stretch, XKind, YRange};
use trainscope_charts::scale::Scale;
use trainscope_charts::sheet::Frame;
use trainscope_charts::theme::{Rgb, Theme};
use trainscope_charts::{label, svg};

use super::{ExportFlags, ExportFormat, ExportKind, typed};
use crate::cli::CommandError;
use crate::cli::mistake::Mistake;
use crate::cli::reading::Reading;

/// Maximum number of pictures on a sheet, and its columns.
pub(super) const MAX_PICTURES: usize = 60;
const COLUMNS: usize = 3;
/// Size of one picture, CSS pixels.
const SIZE: (f64, f64) = (400.0, 240.0);
/// Points of a curve: more than pixels. Envelopes cover all other points.
const POINTS: usize = 800;
/// Columns and rows of a heat map.
const STEPS: usize = 160;
const BINS: usize = 60;

/// Colours of lines in the two themes: those of the runs on a page.
pub(in crate::cli) const COLOURS: [(Rgb, Rgb); 6] = [
    (Rgb(0x47, 0x47, 0xd8), Rgb(0x62, 0x7c, 0xf7)),
    (Rgb(0xb2, 0x54, 0x0d), Rgb(0xfa, 0x6d, 0x18)),
    (Rgb(0x01, 0x4c, 0x49), Rgb(0x37, 0xb4, 0x91)),
    (Rgb(0xf0, 0x52, 0xaf), Rgb(0xfa, 0x8d, 0xe4)),
    (Rgb(0xbe, 0x8b, 0x06), Rgb(0xf7, 0xe9, 0x60)),
    (Rgb(0x10, 0x98, 0xdd), Rgb(0xa4, 0xe5, 0xfb)),
];

/// Plot of several series in order, each with its colour.
pub(in crate::cli) fn curve(series: &[(Rgb, Series)], (width, height): (f64, f64)) -> Spec {
    let steps = || series.iter().flat_map(|(_, series)| &series.steps);
    let ends = steps().min().zip(steps().max());
    Spec {
        width,
        height,
        dpr: 1.0,
        x: ends.map_or((0.0, 0.0), |(first, last)| (*first as f64, *last as f64)),
        x_kind: XKind::Step,
        x_scale: Scale::Linear,
        scale: Scale::Linear,
        y_range: YRange::All,
        limits: Vec::new(),
        lines: series
            .iter()
            .map(|(colour, series)| line(*colour, series))
            .collect(),
    }
}

fn line(colour: Rgb, series: &Series) -> Line {
    let stretches = series.non_finite.iter().map(|stretch| {
        let (class, name) = match stretch.class {
            NonFiniteClass::Nan => (Class::Nan, ""),
            NonFiniteClass::PosInf => (Class::PosInf, "+∞"),
            NonFiniteClass::NegInf => (Class::NegInf, "−∞"),
        };
        let label = if name.is_empty() {
            String::new()
        } else {
            format!("{name} @ {}", label::step(stretch.first_step))
        };
        Stretch {
            class,
            first: stretch.first_step as f64,
            last: stretch.last_step as f64,
            label,
        }
    });
    let band = |column: &Vec<f64>| {
        if series.cut {
            column.clone()
        } else {
            Vec::new()
        }
    };
    Line {
        colour,
        stretches: stretches.collect(),
        x: series.steps.iter().map(|step| *step as f64).collect(),
        values: series.values.clone(),
        low: band(&series.min),
        high: band(&series.max),
        is_raw: !series.cut,
        ..Line::default()
    }
}

/// Heat map of one series of distributions.
pub(in crate::cli) fn heat_map(
    answer: &DistributionsAnswer,
    (width, height): (f64, f64),
) -> distribution::Spec {
    let rows = answer
        .series
        .iter()
        .flatten()
        .flat_map(|series| &series.rows);
    let rows = rows.map(|row| distribution::Row {
        at: row.step as f64,
        counts: row.counts.clone(),
        finite: row.finite,
        nan: row.nan,
        inf: row.pos_inf + row.neg_inf,
        percentiles: row.percentiles.clone(),
        text: label::step(row.step),
        ..distribution::Row::default()
    });
    let stack = distribution::Stack {
        colour: COLOURS[0].0,
        rows: rows.collect(),
    };
    distribution::Spec {
        width,
        height,
        dpr: 1.0,
        view: View::HeatMap,
        edges: answer.edges.clone(),
        is_stepped: answer.exponents,
        scale: match answer.spacing {
            Spacing::Symlog => Scale::Symlog {
                linear: answer.linear,
            },
            Spacing::Auto | Spacing::Linear => Scale::Linear,
        },
        kind: XKind::Step,
        stacks: vec![stack],
    }
}

/// Request for the heat map of a tag.
pub(in crate::cli) fn heat_request(reading: &Reading, tag: &Tag) -> DistributionsRequest {
    DistributionsRequest {
        series: vec![DistributionKey {
            run: reading.run.clone(),
            tag: tag.tag.clone(),
            rank: tag.rank,
            writer: tag.writer.clone(),
            ..DistributionKey::default()
        }],
        rows: Some(STEPS),
        bins: Some(BINS),
        ..DistributionsRequest::default()
    }
}

/// Reads a curve with as many points as a picture has.
pub(in crate::cli) fn read_curve(
    reading: &Reading,
    tag: &Tag,
    range: (Option<i64>, Option<i64>),
) -> Result<Series, Mistake> {
    let query = ScalarsQuery {
        run: reading.run.clone(),
        tag: tag.tag.clone(),
        rank: tag.rank,
        writer: tag.writer.clone(),
        from: range.0,
        to: range.1,
        points: Some(POINTS),
        ..ScalarsQuery::default()
    };
    let found = reading.index.series(&query).and_then(|found| found.read());
    found.map_err(|error| reading.unread(&error))
}

enum Plot {
    Lines(Spec),
    Heat(distribution::Spec),
}

/// One picture of all selected tags.
pub(super) fn picture(
    flags: &ExportFlags,
    reading: &Reading,
    tags: &[Tag],
) -> Result<Vec<u8>, CommandError> {
    // Ranks and writers of a tag share a plot, as on the pages; each has a separate heat map.
    let mut by_name: BTreeMap<(&str, u32), Vec<&Tag>> = BTreeMap::new();
    for tag in tags {
        let part = if flags.kind == ExportKind::Scalars {
            0
        } else {
            tag.rank
        };
        by_name.entry((&tag.tag, part)).or_default().push(tag);
    }
    if by_name.len() > MAX_PICTURES {
        return Err(too_many(flags, by_name.len()).into());
    }
    let theme = if flags.dark {
        Theme::dark()
    } else {
        Theme::light()
    };
    let (mut frames, mut plots) = (Vec::new(), Vec::new());
    for ((name, rank), tags) in by_name {
        let mut frame = Frame {
            title: name.to_owned(),
            note: String::new(),
            legend: Vec::new(),
            width: SIZE.0,
            height: SIZE.1,
        };
        if flags.kind == ExportKind::Scalars {
            let mut lines = Vec::new();
            for (at, tag) in tags.iter().enumerate() {
                let (light, dark) = COLOURS[at % COLOURS.len()];
                let colour = if flags.dark { dark } else { light };
                if tags.len() > 1 {
                    let writer = tag
                        .writer
                        .as_ref()
                        .map_or_else(String::new, |writer| format!(" {writer}"));
                    frame
                        .legend
                        .push((colour, format!("rank {}{writer}", tag.rank)));
                }
                lines.push((
                    colour,
                    read_curve(reading, tag, (flags.since_step, flags.until_step))?,
                ));
            }
            plots.push(Plot::Lines(curve(&lines, SIZE)));
        } else {
            if rank > 0 {
                frame.title = format!("{name} (rank {rank})");
            }
            let request = DistributionsRequest {
                from: flags.since_step,
                to: flags.until_step,
                ..heat_request(reading, tags[0])
            };
            let answer =
                crate::queries::distributions::answer(&reading.index, &request, STEPS, BINS);
            let answer = answer.map_err(|error| reading.unread(&error))?;
            plots.push(Plot::Heat(heat_map(&answer, SIZE)));
        }
        frames.push(frame);
    }
    let columns = COLUMNS.min(frames.len());
    let sheet = svg::sheet_of(&frames, columns, &theme, |at| match &plots[at] {
        Plot::Lines(spec) => svg::line(spec, &theme),
        Plot::Heat(spec) => svg::distribution(spec, &theme),
    });
    Ok(encoded(flags, sheet, || too_many(flags, frames.len()))?)
}

/// A picture in the requested format. `too_large` makes the error for one with too many pixels.
pub(super) fn encoded(
    flags: &ExportFlags,
    svg: String,
    too_large: impl FnOnce() -> Mistake,
) -> Result<Vec<u8>, Mistake> {
    if flags.format == ExportFormat::Svg {
        return Ok(svg.into_bytes());
    }
    #[cfg(feature = "pictures")]
    return trainscope_charts::png::picture(&svg).ok_or_else(too_large);
    #[cfg(not(feature = "pictures"))]
    return Err({
        let _unused = too_large;
        Mistake::new(2, "this program was built without pictures as PNG")
            .attempt("--format svg, or a program built with the feature `pictures`")
    });
}

pub(super) fn too_many(flags: &ExportFlags, count: usize) -> Mistake {
    let (kind, format) = (typed(&flags.kind), typed(&flags.format));
    Mistake::new(
        2,
        format!("one picture holds {MAX_PICTURES} plots, and {count} are asked for"),
    )
    .at(format!("--kind {kind} --format {format}"))
    .attempt("--tags REGEX, which names some of them")
}
