//! Exports that are not records: tensors from any source, and results of watchpoints and rules.

use trainscope_api::findings::{Findings, FindingsQuery, Hit};
use trainscope_api::tensors::{TensorEntry, TensorIndexQuery};
use trainscope_format::csv::number;

use super::ExportFlags;
use super::table::Table;
use crate::cli::mistake::Mistake;
use crate::cli::reading::Reading;
use crate::cli::{CommandError, words};
use crate::queries::findings;
use crate::tensors::{Memory, list};

/// The selected tensors.
pub(super) fn listed(
    flags: &ExportFlags,
    reading: &Reading,
    query: &TensorIndexQuery,
) -> Result<Vec<TensorEntry>, Mistake> {
    let title = words::name(&reading.title, None);
    let query = TensorIndexQuery {
        run: reading.run.clone(),
        rank: flags.rank,
        ..query.clone()
    };
    let found = list::list(&reading.index, &Memory::default(), &query, usize::MAX);
    let found = found.map_err(|error| Mistake::new(2, error.to_string()).at(&*title))?;
    let names: Vec<String> = found
        .tensors
        .iter()
        .map(|entry| words::name(&entry.tensor, None))
        .collect();
    let is_asked = |entry: &TensorEntry| {
        let is_named = flags
            .tags
            .as_ref()
            .is_none_or(|regex| regex.is_match(&entry.tensor));
        is_named
            && entry.sources.iter().any(|source| {
                flags
                    .since_step
                    .is_none_or(|since| source.last_step >= since)
                    && flags
                        .until_step
                        .is_none_or(|until| source.first_step <= until)
            })
    };
    let mut tensors = found.tensors;
    tensors.retain(is_asked);
    if !tensors.is_empty() {
        return Ok(tensors);
    }
    if names.is_empty() {
        return Err(Mistake::new(2, format!("{title} has recorded no tensors"))
            .at("--kind tensors")
            .attempt("--kind scalars, or another one"));
    }
    let told: Vec<String> = names.into_iter().take(super::TOLD_TAGS).collect();
    Err(
        Mistake::new(2, format!("none of the tensors of {title} is asked for"))
            .at("--kind tensors")
            .attempt(format!("a part of one of these names: {}", told.join(", "))),
    )
}

/// Writes a row for each tensor and each kind of source.
pub(super) fn tensors(
    flags: &ExportFlags,
    reading: &Reading,
    table: &mut Table<'_>,
) -> Result<(), CommandError> {
    table.head(&[
        "tensor",
        "role",
        "ranks",
        "dtype",
        "shape",
        "source",
        "steps",
        "first_step",
        "last_step",
    ])?;
    for entry in listed(flags, reading, &TensorIndexQuery::default())? {
        table.object(&entry)?;
        let joined = |numbers: Vec<String>, by: &str| numbers.join(by);
        let ranks = entry.ranks.iter().map(u32::to_string).collect();
        let shape = entry.shape.iter().flatten().map(u64::to_string).collect();
        let cells = [
            entry.tensor.clone(),
            crate::watchpoints::name_of(&entry.role),
            joined(ranks, " "),
            entry.dtype.clone().unwrap_or_default(),
            joined(shape, "x"),
        ];
        for source in &entry.sources {
            let mut row = cells.to_vec();
            row.push(crate::watchpoints::name_of(&source.source));
            row.extend([
                source.steps.to_string(),
                source.first_step.to_string(),
                source.last_step.to_string(),
            ]);
            table.cells(&row)?;
        }
    }
    Ok(())
}

/// All findings, in the types of the API.
fn findings(reading: &Reading) -> Findings {
    findings::answer(&reading.judged(), &FindingsQuery::default(), usize::MAX)
}

/// Writes a row per hit; an empty table is a valid result.
pub(super) fn hits(
    flags: &ExportFlags,
    reading: &Reading,
    table: &mut Table<'_>,
) -> Result<(), CommandError> {
    table.head(&[
        "condition",
        "severity",
        "rank",
        "step",
        "last_step",
        "tensor",
        "node",
        "found",
        "limits",
        "sentence",
        "source",
    ])?;
    let is_asked = |hit: &&Hit| {
        let regex = flags.tags.as_ref();
        flags.rank.is_none_or(|rank| rank == hit.rank)
            && flags.since_step.is_none_or(|since| hit.last_step >= since)
            && flags.until_step.is_none_or(|until| hit.step <= until)
            && regex
                .is_none_or(|regex| regex.is_match(&hit.tensor) || regex.is_match(&hit.condition))
    };
    let named = |numbers: &std::collections::BTreeMap<String, trainscope_format::float::Float>| {
        let numbers = numbers
            .iter()
            .map(|(name, value)| format!("{name}={}", number(value.0)));
        numbers.collect::<Vec<String>>().join(" ")
    };
    for hit in findings(reading).hits.iter().filter(is_asked) {
        table.object(hit)?;
        table.cells(&[
            hit.condition.clone(),
            crate::watchpoints::name_of(&hit.severity),
            hit.rank.to_string(),
            hit.step.to_string(),
            hit.last_step.to_string(),
            hit.tensor.clone(),
            hit.node.clone().unwrap_or_default(),
            named(&hit.values),
            named(&hit.thresholds),
            hit.sentence.en.clone(),
            hit.source.as_ref().map_or_else(String::new, |source| {
                format!("{}:{}", source.file, source.line)
            }),
        ])?;
    }
    Ok(())
}

/// Writes a row per rule.
pub(super) fn diagnosis(reading: &Reading, table: &mut Table<'_>) -> Result<(), CommandError> {
    table.head(&[
        "topic", "rule", "state", "sentence", "node", "places", "record",
    ])?;
    for remark in findings(reading).remarks {
        table.object(&remark)?;
        let places = remark.places.to_string();
        table.cells(&[
            crate::watchpoints::name_of(&remark.topic),
            remark.rule,
            crate::watchpoints::name_of(&remark.state),
            remark.sentence.en,
            remark.node.unwrap_or_default(),
            places,
            remark.record,
        ])?;
    }
    Ok(())
}
