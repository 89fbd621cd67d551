//! Records as rows or objects, in the order of tags and steps.

use std::io;

use serde::Serialize;
use trainscope_api::records::{At, Audio, Images};
use trainscope_api::scalars::{ScalarsQuery, Series};
use trainscope_api::tags::Tag;
use trainscope_format::csv::number;
use trainscope_format::graph::{Dimension, Node};
use trainscope_format::hparams::HparamValue;
use trainscope_format::lineage::Lineage;
use trainscope_format::{Body, Graph, Hparams, TensorSummary};

use super::table::{Table, maybe};
use super::{ExportFlags, ExportKind};
use crate::cli::CommandError;
use crate::cli::reading::Reading;

/// Origin of a record.
#[derive(Serialize)]
struct Of<'a, T: Serialize> {
    tag: &'a str,
    rank: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    writer: Option<&'a str>,
    #[serde(flatten)]
    record: T,
}

impl<'a, T: Serialize> Of<'a, T> {
    fn tag(tag: &'a Tag, record: T) -> Self {
        Self {
            tag: &tag.tag,
            rank: tag.rank,
            writer: tag.writer.as_deref(),
            record,
        }
    }
}

/// Names of the columns of a kind, before that of the writer.
fn columns(kind: ExportKind) -> &'static str {
    match kind {
        ExportKind::Scalars => "tag rank step wall_time_secs value",
        ExportKind::Histograms => {
            "tag rank step wall_time_secs left right count nan pos_inf neg_inf"
        }
        ExportKind::Images => {
            "tag rank step wall_time_secs index width height channels encoding len_bytes"
        }
        ExportKind::Audio => {
            "tag rank step wall_time_secs index sample_rate_hz channels frames \
             content_type label len_bytes"
        }
        ExportKind::Text => "tag rank step wall_time_secs index text",
        ExportKind::Statistics => {
            "tag rank step wall_time_secs role dtype shape count nan pos_inf neg_inf \
             zero negative positive subnormal min max mean std mean_abs l2 hash"
        }
        ExportKind::Landscape => "tag rank step wall_time_secs part interval x y z",
        ExportKind::Graph => "tag rank node name kind op_type inputs dtypes shapes device",
        ExportKind::PrCurves => {
            "tag rank step wall_time_secs threshold true_positives false_positives \
             true_negatives false_negatives precision recall"
        }
        _ => "record name value wall_time_secs",
    }
}

pub(super) fn write(
    flags: &ExportFlags,
    reading: &Reading,
    tags: &[Tag],
    table: &mut Table<'_>,
) -> Result<(), CommandError> {
    // Of concurrent writers of one tag all but the first are named: by their first file.
    let columns = columns(flags.kind).split(' ').chain(["writer"]);
    table.head(&columns.collect::<Vec<_>>())?;
    for tag in tags {
        table.end_lines_with(tag.writer.as_deref().unwrap_or_default());
        match flags.kind {
            ExportKind::Scalars => scalars(flags, reading, tag, table)?,
            ExportKind::Images => {
                for at in images(flags, reading, tag)? {
                    let rows = at.body.items.iter().enumerate().map(|(index, item)| {
                        let images = &at.body;
                        let sizes = [images.width, images.height, images.channels]
                            .map(|size| size.to_string());
                        let mut cells = vec![index.to_string()];
                        cells.extend(sizes);
                        cells.push(format!("{:?}", images.encoding).to_lowercase());
                        cells.push(item.len_bytes.to_string());
                        cells
                    });
                    put(table, tag, &at, rows)?;
                }
            }
            ExportKind::Audio => {
                for at in audio(flags, reading, tag)? {
                    let rows = at.body.items.iter().enumerate().map(|(index, item)| {
                        let audio = &at.body;
                        vec![
                            index.to_string(),
                            maybe(audio.sample_rate_hz),
                            audio.channels.map(|n| n.to_string()).unwrap_or_default(),
                            audio.frames.map(|n| n.to_string()).unwrap_or_default(),
                            audio.content_type.clone(),
                            audio.labels.get(index).cloned().unwrap_or_default(),
                            item.len_bytes.to_string(),
                        ]
                    });
                    put(table, tag, &at, rows)?;
                }
            }
            ExportKind::Graph => graphs(flags, reading, tag, table)?,
            _ => bodies(flags, reading, tag, table)?,
        }
    }
    Ok(())
}

/// Writes a record as an object, or as rows with common columns.
fn put<T: Serialize>(
    table: &mut Table<'_>,
    tag: &Tag,
    at: &At<T>,
    rows: impl Iterator<Item = Vec<String>>,
) -> io::Result<()> {
    if table.is_json() {
        return table.object(&Of::tag(tag, at));
    }
    for row in rows {
        let mut cells = vec![
            tag.tag.clone(),
            tag.rank.to_string(),
            at.step.to_string(),
            // Empty without a recorded time.
            maybe(Some(at.wall_time_secs).filter(|time| !time.is_nan())),
        ];
        cells.extend(row);
        table.cells(&cells)?;
    }
    Ok(())
}

/// All points of a tag in the selected range.
pub(super) fn series(
    flags: &ExportFlags,
    reading: &Reading,
    tag: &Tag,
) -> Result<Series, CommandError> {
    let query = ScalarsQuery {
        run: reading.run.clone(),
        tag: tag.tag.clone(),
        rank: tag.rank,
        writer: tag.writer.clone(),
        from: flags.since_step,
        to: flags.until_step,
        points: Some(usize::MAX),
        ..ScalarsQuery::default()
    };
    let found = reading.index.series(&query).and_then(|found| found.read());
    Ok(found.map_err(|error| reading.unread(&error))?)
}

fn scalars(
    flags: &ExportFlags,
    reading: &Reading,
    tag: &Tag,
    table: &mut Table<'_>,
) -> Result<(), CommandError> {
    let series = series(flags, reading, tag)?;
    if table.is_json() {
        table.object(&Of::tag(tag, &series))?;
        return Ok(());
    }
    for (at, step) in series.steps.iter().enumerate() {
        let of = |column: &[f64]| {
            column
                .get(at)
                .map_or_else(String::new, |value| number(*value))
        };
        table.cells(&[
            tag.tag.clone(),
            tag.rank.to_string(),
            step.to_string(),
            of(&series.wall_times_secs),
            of(&series.values),
        ])?;
    }
    Ok(())
}

pub(super) fn images(
    flags: &ExportFlags,
    reading: &Reading,
    tag: &Tag,
) -> Result<Vec<At<Images>>, CommandError> {
    let query = flags.query(reading, tag);
    let found = reading
        .index
        .records(tag.kind, &query, crate::queries::media::images);
    Ok(found.map_err(|error| reading.unread(&error))?.records)
}

pub(super) fn audio(
    flags: &ExportFlags,
    reading: &Reading,
    tag: &Tag,
) -> Result<Vec<At<Audio>>, CommandError> {
    let query = flags.query(reading, tag);
    let found = reading
        .index
        .records(tag.kind, &query, crate::queries::media::audio);
    Ok(found.map_err(|error| reading.unread(&error))?.records)
}

fn graphs(
    flags: &ExportFlags,
    reading: &Reading,
    tag: &Tag,
    table: &mut Table<'_>,
) -> Result<(), CommandError> {
    for at in super::graphs::recorded(flags, reading, tag)? {
        let at = at?;
        if table.is_json() {
            table.object(&Of::tag(tag, at))?;
            continue;
        }
        for (index, node) in at.body.nodes.iter().enumerate() {
            let mut cells = vec![tag.tag.clone(), tag.rank.to_string(), index.to_string()];
            cells.extend(node_cells(&at.body, node));
            table.cells(&cells)?;
        }
    }
    Ok(())
}

fn node_cells(graph: &Graph, node: &Node) -> [String; 7] {
    let inputs = node.inputs.iter().map(|edge| {
        let from = edge.node.and_then(|from| graph.nodes.get(from as usize));
        let name = from.map_or(&*edge.missing, |from| &from.name);
        let sign = if edge.is_control { "^" } else { "" };
        format!("{sign}{name}:{}", edge.slot)
    });
    let shape = |sizes: &Vec<Dimension>| {
        let sizes = sizes.iter().map(|size| match size {
            Dimension::Size(size) => size.to_string(),
            Dimension::Symbol(name) => name.clone(),
        });
        format!("[{}]", sizes.collect::<Vec<_>>().join("x"))
    };
    let shapes = node
        .outputs
        .iter()
        .map(|output| output.shape.as_ref().map_or_else(|| "?".to_owned(), shape));
    let dtypes = node.outputs.iter().map(|output| output.dtype.clone());
    [
        node.name.clone(),
        crate::watchpoints::name_of(&node.kind),
        node.op_type.clone(),
        inputs.collect::<Vec<_>>().join(" "),
        dtypes.collect::<Vec<_>>().join(" "),
        shapes.collect::<Vec<_>>().join(" "),
        node.device.clone(),
    ]
}

/// Writes records with complete bodies. The first write error ends it.
fn bodies(
    flags: &ExportFlags,
    reading: &Reading,
    tag: &Tag,
    table: &mut Table<'_>,
) -> Result<(), CommandError> {
    let mut written = Ok(());
    let mut count = 0_usize;
    let read = reading
        .index
        .each_record(tag.kind, &flags.query(reading, tag), |at| {
            if written.is_ok() {
                written = body(tag, &at, count, table);
            }
            count += 1;
        });
    read.map_err(|error| reading.unread(&error))?;
    Ok(written?)
}

pub(super) fn body(
    tag: &Tag,
    at: &At<Body>,
    count: usize,
    table: &mut Table<'_>,
) -> io::Result<()> {
    macro_rules! with {
        ($body:expr, $rows:expr) => {
            put(
                table,
                tag,
                &At {
                    step: at.step,
                    wall_time_secs: at.wall_time_secs,
                    body: $body,
                },
                $rows,
            )
        };
    }
    match &at.body {
        Body::Histogram(histogram) => {
            let outside = [histogram.nan, histogram.pos_inf, histogram.neg_inf]
                .map(|count| count.to_string());
            let bins = histogram
                .lefts
                .iter()
                .zip(&histogram.rights)
                .zip(&histogram.counts);
            let mut rows: Vec<Vec<String>> = bins
                .map(|((left, right), count)| {
                    let cells = [*left, *right, *count].map(number);
                    cells.into_iter().chain(outside.clone()).collect()
                })
                .collect();
            if rows.is_empty() {
                // Values outside of all bins.
                let cells = [String::new(), String::new(), number(0.0)];
                rows.push(cells.into_iter().chain(outside).collect());
            }
            with!(histogram, rows.into_iter())
        }
        Body::Text(text) => {
            let rows = text.items.iter().enumerate();
            with!(
                text,
                rows.map(|(index, text)| vec![index.to_string(), text.clone()])
            )
        }
        Body::Statistics(summary) => with!(summary, std::iter::once(statistics(summary))),
        Body::PrCurve(curve) => {
            let columns = [
                &curve.thresholds,
                &curve.true_positives,
                &curve.false_positives,
                &curve.true_negatives,
                &curve.false_negatives,
                &curve.precision,
                &curve.recall,
            ];
            let rows = (0..curve.thresholds.len()).map(|row| {
                columns
                    .iter()
                    .map(|column| maybe(column.get(row).copied()))
                    .collect()
            });
            with!(curve, rows)
        }
        Body::Landscape(landscape) => {
            with!(landscape, super::landscape::rows(landscape).into_iter())
        }
        Body::Lineage(record) if table.is_json() => with!(record, std::iter::empty()),
        Body::Hparams(record) if table.is_json() => with!(record, std::iter::empty()),
        Body::Lineage(record) => entries(table, count, at, &lineage(record)),
        Body::Hparams(Hparams::SessionStart(start)) => {
            let values = start
                .values
                .iter()
                .map(|(name, value)| (name.clone(), hparam(value)));
            entries(table, count, at, &values.collect::<Vec<_>>())
        }
        _ => Ok(()),
    }
}

/// Writes names and values of records without a tag.
fn entries(
    table: &mut Table<'_>,
    record: usize,
    at: &At<Body>,
    values: &[(String, String)],
) -> io::Result<()> {
    for (name, value) in values {
        table.cells(&[
            record.to_string(),
            name.clone(),
            value.clone(),
            number(at.wall_time_secs),
        ])?;
    }
    Ok(())
}

/// The value of a hyper-parameter as text.
fn hparam(value: &HparamValue) -> String {
    match value {
        HparamValue::Null => String::new(),
        HparamValue::Number(value) => number(*value),
        HparamValue::Text(text) => text.clone(),
        HparamValue::Bool(yes) => yes.to_string(),
    }
}

/// Names of types of recorded values.
const TYPES: [&str; 6] = ["text", "texts", "bool", "int", "number", "map"];

/// Names and values of a lineage record: the leaves of its JSON.
pub(in crate::cli) fn lineage(lineage: &Lineage) -> Vec<(String, String)> {
    fn leaves(value: &serde_json::Value, name: &str, out: &mut Vec<(String, String)>) {
        let below = |part: &str| {
            if name.is_empty() {
                part.to_owned()
            } else {
                format!("{name}.{part}")
            }
        };
        match value {
            serde_json::Value::Null => {}
            // A typed value: its text is enough.
            serde_json::Value::Object(fields)
                if fields.len() == 1 && fields.keys().all(|field| TYPES.contains(&&**field)) =>
            {
                for value in fields.values() {
                    leaves(value, name, out);
                }
            }
            serde_json::Value::Object(fields) => {
                for (field, value) in fields {
                    leaves(value, &below(field), out);
                }
            }
            // A name with its value.
            serde_json::Value::Array(pair) if matches!(&pair[..], [serde_json::Value::String(_), value] if !value.is_string()) => {
                if let [serde_json::Value::String(key), value] = &pair[..] {
                    leaves(value, &below(key), out);
                }
            }
            // A list of such pairs has no name.
            serde_json::Value::Array(all)
                if all
                    .iter()
                    .all(|pair| pair.as_array().is_some_and(|pair| pair.len() == 2)) =>
            {
                for pair in all {
                    leaves(pair, name, out);
                }
            }
            serde_json::Value::Array(all) => {
                for (index, value) in all.iter().enumerate() {
                    leaves(value, &below(&index.to_string()), out);
                }
            }
            serde_json::Value::String(text) => out.push((name.to_owned(), text.clone())),
            other => out.push((name.to_owned(), other.to_string())),
        }
    }
    let mut all = Vec::new();
    leaves(
        &serde_json::to_value(lineage).unwrap_or_default(),
        "",
        &mut all,
    );
    all
}

fn statistics(summary: &TensorSummary) -> Vec<String> {
    let stats = &summary.stats;
    let counts = [
        stats.count,
        stats.nan,
        stats.pos_inf,
        stats.neg_inf,
        stats.zero,
        stats.negative,
        stats.positive,
        stats.subnormal,
    ];
    let finite = stats.finite.as_ref();
    let all = (stats.zero + stats.negative + stats.positive) as f64;
    let of = |read: fn(&trainscope_format::tensor::FiniteStats) -> f64| maybe(finite.map(read));
    let sizes: Vec<String> = summary.shape.iter().map(u64::to_string).collect();
    let mut cells = vec![
        crate::watchpoints::name_of(&summary.role),
        summary.dtype.as_str().to_owned(),
        sizes.join("x"),
    ];
    cells.extend(counts.map(|count| count.to_string()));
    cells.extend([
        of(|finite| finite.min),
        of(|finite| finite.max),
        of(|finite| finite.mean),
    ]);
    cells.push(maybe(finite.map(|finite| (finite.m2 / all).sqrt())));
    cells.extend([of(|finite| finite.mean_abs), of(|finite| finite.l2)]);
    cells.push(
        summary
            .hash
            .map(|hash| format!("{hash:016x}"))
            .unwrap_or_default(),
    );
    cells
}
