//! Comparison results as text and as JSON.

use serde::Serialize;
use std::collections::BTreeMap;
use trainscope_format::float::Float;

use super::compare::{Outcome, Parting};
use super::{Out, Written};
use crate::cli::check::{Screen, number};
use crate::cli::style::{ERROR, OK, QUIET, STRONG, WARNING};
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
) -> Written {
    let titles = runs.map(|run| words::name(&run.title, None));
    let width = titles
        .iter()
        .map(|title| title.chars().count())
        .max()
        .unwrap_or(0);
    for ((letter, title), (run, (steps, tensors))) in ["A", "B"]
        .iter()
        .zip(&titles)
        .zip(runs.iter().zip(outcome.sizes))
    {
        let steps = words::plural(steps, "step", "steps");
        let tensors = words::plural(tensors, "tensor", "tensors");
        let size = words::size(run.len_bytes);
        writeln!(
            out,
            "{letter}  {STRONG}{title:<width$}{STRONG:#}  {steps}, {tensors}, {size}"
        )?;
    }
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

fn configuration(outcome: &Outcome, limit: usize, out: Out<'_>) -> Written {
    if outcome.hparams.is_empty() {
        return Ok(());
    }
    let head = format!(
        "{} of {} differ",
        outcome.hparams.len(),
        outcome.hparam_count
    );
    let names = widest(outcome.hparams.iter().map(|(name, ..)| name.as_str()), 24);
    let a = widest(outcome.hparams.iter().map(|(_, a, _)| a.as_str()), 8);
    let b = widest(outcome.hparams.iter().map(|(.., b)| b.as_str()), 8);
    let left = (names + 4).saturating_sub(17).max(head.len());
    writeln!(
        out,
        "\n  {STRONG}Configuration{STRONG:#}  {head:<left$}  {QUIET}{:>a$}  {:>b$}{QUIET:#}",
        "A", "B"
    )?;
    let names = (left + 13).max(names);
    for (name, of_a, of_b) in outcome.hparams.iter().take(limit) {
        let [name, of_a, of_b] = [name, of_a, of_b].map(|text| words::name(text, None));
        writeln!(
            out,
            "    {name:<names$}  {WARNING}{of_a:>a$}  {of_b:>b$}{WARNING:#}"
        )?;
    }
    more(outcome.hparams.len(), limit, out)
}

fn graph(outcome: &Outcome, out: Out<'_>) -> Written {
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

fn parted(outcome: &Outcome, screen: Screen, limit: usize, out: Out<'_>) -> Written {
    if outcome.parted.is_empty() {
        return Ok(());
    }
    let shown: Vec<&Parting> = outcome.parted.iter().take(limit).collect();
    let has_ranks = outcome.parted.iter().any(|part| part.rank > 0);
    let names = widest(shown.iter().map(|part| &*part.name), 40);
    let names = screen.columns.map_or(names, |columns| {
        names.min(columns.saturating_sub(34).max(20))
    });
    let rank_head = if has_ranks { "  RANK" } else { "" };
    writeln!(
        out,
        "\n  {STRONG}{:<2$}{STRONG:#}{QUIET}{rank_head}  {:>8}  DIFFERENCE{QUIET:#}",
        "First to part",
        "STEP",
        names + 2
    )?;
    for part in &shown {
        let name = words::name(&part.name, screen.columns.map(|_| names));
        let rank = if has_ranks {
            format!("  {:>4}", part.rank)
        } else {
            String::new()
        };
        let style = if part.difference.is_finite() {
            WARNING
        } else {
            ERROR
        };
        let step = words::step(part.step);
        let difference = number(part.difference);
        writeln!(
            out,
            "    {name:<names$}{rank}  {step:>8}  {style}{difference:>10}{style:#}"
        )?;
    }
    more(outcome.parted.len(), limit, out)
}

fn results(outcome: &Outcome, limit: usize, out: Out<'_>) -> Written {
    if outcome.results.is_empty() || outcome.parted.is_empty() {
        return Ok(());
    }
    let names = widest(outcome.results.iter().map(|(tag, ..)| &**tag), 24);
    let head = names + 2;
    writeln!(
        out,
        "\n  {STRONG}{:<head$}{STRONG:#}  {QUIET}{:>14}  {:>12}  {:>12}{QUIET:#}",
        "Results", "", "A", "B"
    )?;
    for (tag, step, a, b) in outcome.results.iter().take(limit) {
        let tag = words::name(tag, None);
        let at = format!("at step {}", words::step(*step));
        let [a, b] = [a, b].map(|value| (number(*value), value.is_finite()));
        let style = |is_finite| {
            if is_finite {
                anstyle::Style::new()
            } else {
                ERROR
            }
        };
        let (of_a, of_b) = (style(a.1), style(b.1));
        writeln!(
            out,
            "    {tag:<names$}  {at:>14}  {of_a}{:>12}{of_a:#}  {of_b}{:>12}{of_b:#}",
            a.0, b.0
        )?;
    }
    more(outcome.results.len(), limit, out)
}

fn more(len: usize, limit: usize, out: Out<'_>) -> Written {
    if len > limit {
        let more = words::plural((len - limit) as u64, "more", "more");
        writeln!(out, "    {QUIET}{more}: --all{QUIET:#}")?;
    }
    Ok(())
}

fn widest<'a>(texts: impl Iterator<Item = &'a str>, least: usize) -> usize {
    texts
        .map(|text| text.chars().count())
        .chain([least])
        .max()
        .unwrap_or(least)
}

/// Prints the last line.
pub(super) fn sum(outcome: &Outcome, out: Out<'_>) -> Written {
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

pub(super) fn json(runs: [&RunFiles; 2], outcome: &Outcome, out: Out<'_>) -> Written {
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
