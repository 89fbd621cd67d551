//! Comparison results as text and as JSON.

use serde::Serialize;
use std::collections::BTreeMap;
use trainscope_format::float::Float;

use super::compare::{Outcome, Parting};
use super::{Out, WriteResult};
use crate::cli::check::{Screen, number};
use crate::cli::style::{ERROR, OK, QUIET, STRONG, WARNING};
use crate::cli::table::{Column, Table, styled};
use crate::cli::words;
use crate::discovery::runs::RunFiles;

/// Maximum number of lines of a part, without `--all`.
const MAX_LINES: usize = 7;

pub(super) fn text(
    runs: [&RunFiles; 2],
    outcome: &Outcome,
    screen: Screen,
    shows_all: bool,
    out: Out<'_>,
) -> WriteResult {
    let titles = runs.map(|run| words::name(&run.title, None));
    let mut table = Table::new(vec![Column::left(""); 3]);
    for ((letter, title), (run, (steps, tensors))) in ["A", "B"]
        .iter()
        .zip(titles)
        .zip(runs.iter().zip(outcome.sizes))
    {
        let steps = words::plural(steps, "step", "steps");
        let tensors = words::plural(tensors, "tensor", "tensors");
        let size = words::size(run.len_bytes);
        let sizes = format!("{steps}, {tensors}, {size}");
        table.row([(*letter).into(), styled(STRONG, title), sizes.into()]);
    }
    table.write(out)?;
    writeln!(out)?;
    let (word, style) = if outcome.parted.is_empty() {
        ("equal", OK)
    } else {
        ("differ", WARNING)
    };
    let mut head = format!("{style}{word}{style:#}{:1$}", "", 9 - word.len());
    for line in screen.wrap(&sentence(outcome), 9) {
        writeln!(out, "{head}{STRONG}{line}{STRONG:#}")?;
        head = " ".repeat(9);
    }
    let limit = if shows_all { usize::MAX } else { MAX_LINES };
    configuration(outcome, limit, out)?;
    graph(outcome, out)?;
    parted(outcome, screen, limit, out)?;
    results(outcome, limit, out)?;
    for (name, dtype) in outcome.opaque.iter().take(limit) {
        let name = words::name(name, None);
        writeln!(
            out,
            "\nNot compared: {name}, whose elements are of the type {dtype}"
        )?;
    }
    for (file, offset, reason) in &outcome.faults {
        let file = words::name(file, None);
        let offset = words::count(*offset);
        writeln!(
            out,
            "\n{WARNING}damaged{WARNING:#}  {file}, byte {offset}: {reason}"
        )?;
    }
    writeln!(out)?;
    sum(outcome, out)
}

fn sentence(outcome: &Outcome) -> String {
    let allowed = if outcome.tolerance == 0.0 {
        "tolerance: none".to_owned()
    } else {
        format!("tolerance: relative {}", number(outcome.tolerance))
    };
    let steps = words::plural(outcome.common_steps, "step", "steps");
    match (outcome.parted.first(), &outcome.largest_within) {
        (Some(first), _) => {
            let later = outcome
                .parted
                .iter()
                .find(|part| part.values.is_some_and(|(_, b)| !b.is_finite()))
                .filter(|part| part.step > first.step)
                .map_or_else(String::new, |part| {
                    format!(
                        ", {} before {} of B is {}",
                        words::plural((part.step - first.step).unsigned_abs(), "step", "steps"),
                        words::name(&part.name, None),
                        number(part.values.map_or(f64::NAN, |(_, b)| b))
                    )
                });
            format!(
                "A and B part at step {} in {}{later}.  {allowed}",
                words::step(first.step),
                words::name(&first.name, None)
            )
        }
        (None, Some(largest)) => format!(
            "A and B stay within the tolerance: at most {} apart, at step {} in {}.  {allowed}",
            number(largest.difference),
            words::step(largest.step),
            words::name(&largest.name, None)
        ),
        (None, None) => {
            let all = words::plural(outcome.common, "tensor or scalar", "tensors and scalars");
            format!("A and B are the same: {all} at {steps}.")
        }
    }
}

fn configuration(outcome: &Outcome, limit: usize, out: Out<'_>) -> WriteResult {
    if outcome.hparams.is_empty() {
        return Ok(());
    }
    let head = format!(
        "{} of {} differ",
        outcome.hparams.len(),
        outcome.hparam_count
    );
    writeln!(out, "\n  {STRONG}Configuration{STRONG:#}  {head}")?;
    let columns = [Column::left(""), Column::right("A"), Column::right("B")];
    let mut table = Table::new(columns).indent(4);
    for (name, of_a, of_b) in outcome.hparams.iter().take(limit) {
        let [name, of_a, of_b] = [name, of_a, of_b].map(|text| words::name(text, None));
        table.row([name.into(), styled(WARNING, of_a), styled(WARNING, of_b)]);
    }
    table.write(out)?;
    more(outcome.hparams.len(), limit, out)
}

fn graph(outcome: &Outcome, out: Out<'_>) -> WriteResult {
    let [a, b] = outcome.nodes;
    if outcome.operations.is_empty() {
        return Ok(());
    }
    let mut said: Vec<String> = Vec::new();
    for (name, of_a, of_b) in outcome.operations.iter().take(3) {
        let name = words::name(name, None);
        said.push(format!("{name} {of_a} and {of_b}"));
    }
    if outcome.operations.len() > 3 {
        said.push("…".to_owned());
    }
    let said = said.join(", ");
    writeln!(
        out,
        "\n  {STRONG}Graph{STRONG:#}  {a} and {b} nodes; {said}"
    )
}

fn parted(outcome: &Outcome, screen: Screen, limit: usize, out: Out<'_>) -> WriteResult {
    if outcome.parted.is_empty() {
        return Ok(());
    }
    let shown: Vec<&Parting> = outcome.parted.iter().take(limit).collect();
    let has_ranks = outcome.parted.iter().any(|part| part.rank > 0);
    writeln!(out, "\n  {STRONG}First to part{STRONG:#}")?;
    let mut table = Table::new([
        Column::left("TENSOR OR SCALAR"),
        Column::right(if has_ranks { "RANK" } else { "" }),
        Column::right("STEP"),
        Column::right("DIFFERENCE"),
    ])
    .indent(4)
    .shrink(0, screen.columns);
    for part in &shown {
        let style = if part.difference.is_finite() {
            WARNING
        } else {
            ERROR
        };
        let rank = has_ranks.then(|| part.rank.to_string());
        table.row([
            words::name(&part.name, None).into(),
            rank.unwrap_or_default().into(),
            words::step(part.step).into(),
            styled(style, number(part.difference)),
        ]);
    }
    table.write(out)?;
    more(outcome.parted.len(), limit, out)
}

fn results(outcome: &Outcome, limit: usize, out: Out<'_>) -> WriteResult {
    if outcome.results.is_empty() || outcome.parted.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n  {STRONG}Results{STRONG:#}")?;
    let mut table = Table::new([
        Column::left(""),
        Column::right("STEP"),
        Column::right("A"),
        Column::right("B"),
    ])
    .indent(4);
    let value = |value: f64| {
        let style = if value.is_finite() {
            anstyle::Style::new()
        } else {
            ERROR
        };
        styled(style, number(value))
    };
    for (tag, step, a, b) in outcome.results.iter().take(limit) {
        table.row([
            words::name(tag, None).into(),
            words::step(*step).into(),
            value(*a),
            value(*b),
        ]);
    }
    table.write(out)?;
    more(outcome.results.len(), limit, out)
}

fn more(len: usize, limit: usize, out: Out<'_>) -> WriteResult {
    if len > limit {
        let more = words::plural((len - limit) as u64, "more", "more");
        writeln!(out, "    {QUIET}{more}: --all{QUIET:#}")?;
    }
    Ok(())
}

/// Prints the last line.
pub(super) fn sum(outcome: &Outcome, out: Out<'_>) -> WriteResult {
    let parted = outcome.parted.len() as u64;
    let all = words::plural(
        outcome.common,
        "tensor or scalar parts",
        "tensors and scalars part",
    );
    let only = (outcome.only_a.len() + outcome.only_b.len()) as u64;
    let steps = words::plural(outcome.common_steps, "common step", "common steps");
    writeln!(
        out,
        "{} of {all}, {} stay within the tolerance, {} only in one; {steps}, {:.1} s",
        words::count(parted),
        words::count(outcome.common.saturating_sub(parted)),
        words::count(only),
        outcome.took.as_secs_f64()
    )
}

#[derive(Serialize)]
struct Answer<'a> {
    version: u32,
    runs: [&'a str; 2],
    tolerance: f64,
    first: Option<JsonParting<'a>>,
    parted: Vec<JsonParting<'a>>,
    common: u64,
    common_steps: u64,
    only_a: &'a [String],
    only_b: &'a [String],
    hyperparameters: Vec<[&'a str; 3]>,
    damaged: Vec<JsonFault<'a>>,
    /// Unsupported element types, by the names of their tensors.
    not_compared: &'a BTreeMap<String, String>,
}

#[derive(Clone, Serialize)]
struct JsonParting<'a> {
    name: &'a str,
    rank: u32,
    step: i64,
    difference: Float,
    values: Option<[Float; 2]>,
}

#[derive(Serialize)]
struct JsonFault<'a> {
    file: &'a str,
    offset: u64,
    reason: &'a str,
}

pub(super) fn json(runs: [&RunFiles; 2], outcome: &Outcome, out: Out<'_>) -> WriteResult {
    let parted: Vec<JsonParting<'_>> = outcome
        .parted
        .iter()
        .map(|part| JsonParting {
            name: &part.name,
            rank: part.rank,
            step: part.step,
            difference: Float(part.difference),
            values: part.values.map(|(a, b)| [Float(a), Float(b)]),
        })
        .collect();
    let answer = Answer {
        version: 1,
        runs: runs.map(|run| &*run.title),
        tolerance: outcome.tolerance,
        first: parted.first().cloned(),
        parted,
        common: outcome.common,
        common_steps: outcome.common_steps,
        only_a: &outcome.only_a,
        only_b: &outcome.only_b,
        hyperparameters: outcome
            .hparams
            .iter()
            .map(|(name, a, b)| [&**name, a, b])
            .collect(),
        damaged: outcome
            .faults
            .iter()
            .map(|(file, offset, reason)| JsonFault {
                file,
                offset: *offset,
                reason,
            })
            .collect(),
        not_compared: &outcome.opaque,
    };
    serde_json::to_writer_pretty(&mut *out, &answer)?;
    writeln!(out)
}
