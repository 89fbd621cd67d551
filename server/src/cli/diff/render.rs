//! Comparison results as text and as JSON.

use serde::Serialize;
use trainscope_api::compare::{AgainstBase, Parting};
use trainscope_format::float::Float;
use trainscope_format::hparams::HparamValue;

use super::{DiffResult, Out, WriteResult};
use crate::cli::check::{Screen, number};
use crate::cli::reading::Reading;
use crate::cli::style::{ERROR, OK, QUIET, STRONG, WARNING};
use crate::cli::table::{Column, Table, styled};
use crate::cli::words;

/// Maximum number of lines of a part, without `--all`.
const MAX_LINES: usize = 7;

pub(super) fn text(
    runs: [&Reading; 2],
    compared: &DiffResult,
    screen: Screen,
    shows_all: bool,
    out: Out<'_>,
) -> WriteResult {
    let outcome = &compared.outcome;
    let mut table = Table::new(vec![Column::left(""); 3]);
    for ((letter, run), only) in ["A", "B"]
        .into_iter()
        .zip(runs)
        .zip([&outcome.only_base, &outcome.only_other])
    {
        let title = words::name(&run.title, None);
        let tensors = outcome.tensors + only.tensors.len() as u64;
        let scalars = outcome.scalars_total + only.scalars.len() as u64;
        let tensors = words::plural(tensors, "tensor", "tensors");
        let scalars = words::plural(scalars, "scalar", "scalars");
        let size = words::size(run.len_bytes());
        let sizes = format!("{tensors}, {scalars}, {size}");
        table.row([letter.into(), styled(STRONG, title), sizes.into()]);
    }
    table.write(out)?;
    writeln!(out)?;
    let (word, style) = if outcome.partings.is_empty() {
        ("equal", OK)
    } else {
        ("differ", WARNING)
    };
    let mut head = format!("{style}{word}{style:#}{:1$}", "", 9 - word.len());
    for line in screen.wrap(&outcome.sentence.en, 9) {
        writeln!(out, "{head}{STRONG}{line}{STRONG:#}")?;
        head = " ".repeat(9);
    }
    let detail = outcome.align_fault.as_ref().map(|fault| &*fault.en);
    for text in [Some(&*outcome.detail.en), detail].into_iter().flatten() {
        for line in screen.wrap(text, 9) {
            writeln!(out, "{head}{line}")?;
        }
    }
    let limit = if shows_all { usize::MAX } else { MAX_LINES };
    configuration(compared, limit, out)?;
    pipeline(outcome, limit, out)?;
    graph(outcome, out)?;
    parted(outcome, screen, limit, out)?;
    results(outcome, limit, out)?;
    for fault in &outcome.faults {
        let place = words::name(&fault.place, None);
        let offset = words::count(fault.offset);
        let reason = &fault.reason;
        writeln!(
            out,
            "\n{WARNING}damaged{WARNING:#}  {place}, byte {offset}: {reason}"
        )?;
    }
    writeln!(out)?;
    sum(compared, out)
}

/// A value of a setting; a missing one is a dash.
pub(in crate::cli) fn setting(value: Option<&HparamValue>) -> String {
    match value {
        None | Some(HparamValue::Null) => "–".to_owned(),
        Some(HparamValue::Number(value)) => trainscope_format::digits::exact(*value),
        Some(HparamValue::Text(text)) => words::name(text, None),
        Some(HparamValue::Bool(yes)) => yes.to_string(),
    }
}

fn configuration(compared: &DiffResult, limit: usize, out: Out<'_>) -> WriteResult {
    let (paths, differ): (Vec<_>, Vec<_>) = compared
        .settings
        .iter()
        .filter(|setting| setting.differs)
        .partition(|setting| setting.is_path);
    if differ.is_empty() && paths.is_empty() {
        return Ok(());
    }
    let head = format!("{} of {} differ", differ.len(), compared.settings.len());
    writeln!(out, "\n  {STRONG}Configuration{STRONG:#}  {head}")?;
    let columns = [Column::left(""), Column::right("A"), Column::right("B")];
    let mut table = Table::new(columns).indent(4);
    for differing in differ.iter().take(limit) {
        let [a, b] = [0, 1].map(|at| setting(differing.values.get(at).and_then(Option::as_ref)));
        let name = words::name(&differing.key, None);
        table.row([name.into(), styled(WARNING, a), styled(WARNING, b)]);
    }
    table.write(out)?;
    more(differ.len(), limit, out)?;
    if !paths.is_empty() {
        let names: Vec<String> = paths
            .iter()
            .map(|setting| words::name(&setting.key, None))
            .collect();
        let paths = words::plural(paths.len() as u64, "path differs", "paths differ");
        writeln!(out, "    {QUIET}{paths}: {}{QUIET:#}", names.join(", "))?;
    }
    Ok(())
}

fn pipeline(outcome: &AgainstBase, limit: usize, out: Out<'_>) -> WriteResult {
    let all = outcome.pipeline.iter().flat_map(|facts| &facts.differences);
    let mut lines: Vec<String> = Vec::new();
    for difference in all {
        let name = words::name(&difference.operation, None);
        match (difference.base_place, difference.other_place) {
            (Some(_), None) => lines.push(format!("{name} only in A")),
            (None, _) => lines.push(format!("{name} only in B")),
            _ => {
                for change in difference
                    .parameters
                    .iter()
                    .filter(|parameter| !parameter.is_path)
                {
                    let [a, b] = [&change.base, &change.other].map(|value| {
                        value
                            .as_ref()
                            .map_or("–".to_owned(), |value| words::name(value, None))
                    });
                    let parameter = words::name(&change.name, None);
                    lines.push(format!("{name}  {parameter}  {a} → {b}"));
                }
            }
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n  {STRONG}Data pipeline{STRONG:#}")?;
    for line in lines.iter().take(limit) {
        writeln!(out, "    {line}")?;
    }
    more(lines.len(), limit, out)
}

fn graph(outcome: &AgainstBase, out: Out<'_>) -> WriteResult {
    let Some(graph) = &outcome.graph else {
        return Ok(());
    };
    let [a, b] = graph.nodes;
    if let Some(limit) = graph.limit {
        let limit = words::count(limit);
        return writeln!(
            out,
            "\n  {STRONG}Graph{STRONG:#}  {} and {} nodes, not compared: the limit is {limit}",
            words::count(a),
            words::count(b)
        );
    }
    let side = |types: &[(String, u64)], letter: &str| {
        let named: Vec<String> = types
            .iter()
            .take(3)
            .map(|(name, count)| format!("{count} {}", words::name(name, None)))
            .collect();
        (!named.is_empty()).then(|| format!("only in {letter}: {}", named.join(", ")))
    };
    let changed =
        (graph.changed > 0).then(|| words::plural(graph.changed, "node differs", "nodes differ"));
    let told = [
        side(&graph.only_base, "A"),
        side(&graph.only_other, "B"),
        changed,
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    if told.is_empty() {
        return Ok(());
    }
    let told = told.join("; ");
    writeln!(
        out,
        "\n  {STRONG}Graph{STRONG:#}  {a} and {b} nodes; {told}"
    )
}

fn parted(outcome: &AgainstBase, screen: Screen, limit: usize, out: Out<'_>) -> WriteResult {
    if outcome.partings.is_empty() {
        return Ok(());
    }
    let has_ranks = outcome.partings.iter().any(|part| part.rank > 0);
    writeln!(out, "\n  {STRONG}First differences{STRONG:#}")?;
    let mut table = Table::new([
        Column::left("TENSOR OR SCALAR"),
        Column::right(if has_ranks { "RANK" } else { "" }),
        Column::right("STEP"),
        Column::right("DIFFERENCE"),
    ])
    .indent(4)
    .shrink(0, screen.columns);
    for part in outcome.partings.iter().take(limit) {
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
    more(outcome.partings.len(), limit, out)
}

fn results(outcome: &AgainstBase, limit: usize, out: Out<'_>) -> WriteResult {
    if outcome.scalars.is_empty() || outcome.partings.is_empty() {
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
    let all: Vec<_> = outcome
        .scalars
        .iter()
        .filter(|scalar| scalar.rank == 0)
        .collect();
    for scalar in all.iter().take(limit) {
        let (Some(step), Some(a), Some(b)) =
            (scalar.last_step, scalar.base_last, scalar.other_last)
        else {
            continue;
        };
        table.row([
            words::name(&scalar.tag, None).into(),
            words::step(step).into(),
            value(a),
            value(b),
        ]);
    }
    table.write(out)?;
    more(all.len(), limit, out)
}

fn more(len: usize, limit: usize, out: Out<'_>) -> WriteResult {
    if len > limit {
        let more = words::plural((len - limit) as u64, "more", "more");
        writeln!(out, "    {QUIET}{more}: --all{QUIET:#}")?;
    }
    Ok(())
}

/// Prints the last line.
pub(super) fn sum(compared: &DiffResult, out: Out<'_>) -> WriteResult {
    let outcome = &compared.outcome;
    let parted = outcome.total_partings;
    let common = outcome.tensors + outcome.scalars_total;
    let all = words::plural(
        common,
        "tensor or scalar differs",
        "tensors and scalars differ",
    );
    let only = outcome.only_base.total + outcome.only_other.total;
    let steps = words::plural(outcome.common_steps, "common step", "common steps");
    let missing = outcome.missing_steps + outcome.extra_steps;
    let missing = if missing == 0 {
        String::new()
    } else {
        format!(" and {} in one run only", words::count(missing))
    };
    writeln!(
        out,
        "{} of {all}, {} stay within the tolerance, {} only in one; {steps}{missing}, {:.1} s",
        words::count(parted),
        words::count(common.saturating_sub(parted)),
        words::count(only),
        compared.took.as_secs_f64()
    )
}

#[derive(Serialize)]
struct Answer<'a> {
    version: u32,
    runs: [&'a str; 2],
    tolerance: f64,
    sentence: &'a str,
    first: Option<JsonParting<'a>>,
    parted: Vec<JsonParting<'a>>,
    common: u64,
    common_steps: u64,
    /// Steps of one run that the other lacks: of A, and of B.
    lacking_steps: [u64; 2],
    only_a: Vec<&'a str>,
    only_b: Vec<&'a str>,
    /// Settings that differ: key and both values, including paths.
    configuration: Vec<JsonSetting<'a>>,
    pipeline: &'a [trainscope_api::compare::PipelineDifference],
    damaged: Vec<JsonFault<'a>>,
}

#[derive(Clone, Serialize)]
struct JsonParting<'a> {
    name: &'a str,
    rank: u32,
    step: i64,
    other_step: i64,
    difference: Float,
    values: Option<[Float; 2]>,
    by_statistics: bool,
}

#[derive(Serialize)]
struct JsonSetting<'a> {
    key: &'a str,
    /// A value for each run, `null` for those without it.
    values: Vec<serde_json::Value>,
    is_path: bool,
}

#[derive(Serialize)]
struct JsonFault<'a> {
    file: &'a str,
    offset: u64,
    reason: &'a str,
}

fn plain(value: Option<&HparamValue>) -> serde_json::Value {
    match value {
        None | Some(HparamValue::Null) => serde_json::Value::Null,
        Some(HparamValue::Number(value)) => serde_json::to_value(Float(*value)).unwrap_or_default(),
        Some(HparamValue::Text(text)) => text.clone().into(),
        Some(HparamValue::Bool(yes)) => (*yes).into(),
    }
}

pub(super) fn json(runs: [&Reading; 2], compared: &DiffResult, out: Out<'_>) -> WriteResult {
    let outcome = &compared.outcome;
    let parting = |part: &'_ Parting| -> [Float; 2] {
        [part.base_value, part.other_value].map(|value| Float(value.unwrap_or(f64::NAN)))
    };
    let parted: Vec<JsonParting<'_>> = outcome
        .partings
        .iter()
        .map(|part| JsonParting {
            name: &part.name,
            rank: part.rank,
            step: part.step,
            other_step: part.other_step,
            difference: Float(part.difference),
            values: part.base_value.map(|_| parting(part)),
            by_statistics: part.by_statistics,
        })
        .collect();
    let [only_a, only_b] = [&outcome.only_base, &outcome.only_other].map(|names| {
        let all = names.tensors.iter().chain(&names.scalars);
        all.map(String::as_str).collect()
    });
    let settings = compared.settings.iter().filter(|setting| setting.differs);
    let answer = Answer {
        version: 2,
        runs: runs.map(|run| &*run.title),
        tolerance: compared.tolerance,
        sentence: &outcome.sentence.en,
        first: parted.first().cloned(),
        parted,
        common: outcome.tensors + outcome.scalars_total,
        common_steps: outcome.common_steps,
        lacking_steps: [outcome.missing_steps, outcome.extra_steps],
        only_a,
        only_b,
        configuration: settings
            .map(|setting| JsonSetting {
                key: &setting.key,
                values: setting
                    .values
                    .iter()
                    .map(|value| plain(value.as_ref()))
                    .collect(),
                is_path: setting.is_path,
            })
            .collect(),
        pipeline: outcome
            .pipeline
            .as_ref()
            .map_or(&[], |pipeline| &pipeline.differences),
        damaged: outcome
            .faults
            .iter()
            .map(|fault| JsonFault {
                file: &fault.place,
                offset: fault.offset,
                reason: &fault.reason,
            })
            .collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &answer)?;
    writeln!(out)
}
