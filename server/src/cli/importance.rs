//! `trainscope importance`: the parameters that move a result, over many runs.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;
use trainscope_analysis::columns::CellValue;
use trainscope_analysis::headline::Direction;
use trainscope_analysis::importance::{
    Bar, Importance, LEAST_RUNS, Measure, NamedColumn, Reason, importance,
};
use trainscope_format::float;

use super::check::write_out;
use super::mistake::Mistake;
use super::run_table::{Folders, short};
use super::style::{QUIET, WARNING};
use super::table::{Column, Table, styled};
use super::{CommandError, words};
use crate::table::{direction, is_parameter};

/// Coefficient of determination from which on a forest explains its result.
const GOOD_FIT: f64 = 0.5;
/// Coefficient of determination below which a forest explains nothing.
const BAD_FIT: f64 = 0.2;
/// Length of the longest bar, in columns of the terminal.
const BAR: f64 = 24.0;

/// The flags of `trainscope importance`.
#[derive(Args, Clone, Debug)]
pub(super) struct ImportanceFlags {
    /// Folders with training runs
    #[arg(value_name = "DIR", required = true)]
    dirs: Vec<PathBuf>,

    /// Result that matters: metric:loss, metric:acc@max, eval:Accuracy, lineage:loss
    #[arg(long, value_name = "KEY")]
    target: String,

    /// Better end of the result [default: by its name: losses and errors less, accuracies and scores more]
    #[arg(long, value_name = "GOAL", value_enum)]
    goal: Option<Goal>,

    /// Measure of importance [default: variance from 30 runs on, else rank]
    #[arg(long, value_name = "MEASURE", value_enum)]
    measure: Option<MeasureChoice>,

    /// Runs that match: `lr:>0.01 opt:adam|sgd`
    #[arg(long, value_name = "TERMS", allow_hyphen_values = true)]
    filter: Option<String>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,

    /// Write the result to a file; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Goal {
    /// Less is better
    Minimize,
    /// More is better
    Maximize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MeasureChoice {
    /// Share of the variance that a parameter explains alone (fANOVA of a random forest); from 30 runs on
    Variance,
    /// Share of the difference between the best tenth and all runs (PED-ANOVA); from 20 runs on, with a goal
    Best,
    /// Rank correlation; from 8 runs on
    Rank,
    /// Pearson's correlation of the numbers as they are
    Linear,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

impl From<MeasureChoice> for Measure {
    fn from(choice: MeasureChoice) -> Self {
        match choice {
            MeasureChoice::Variance => Self::Variance,
            MeasureChoice::Best => Self::BestTenth,
            MeasureChoice::Rank => Self::Rank,
            MeasureChoice::Linear => Self::Linear,
        }
    }
}

const fn name(measure: Measure) -> &'static str {
    match measure {
        Measure::Variance => "variance",
        Measure::BestTenth => "best",
        Measure::Rank => "rank",
        Measure::Linear => "linear",
    }
}

pub(super) fn run(flags: &ImportanceFlags) -> Result<u8, CommandError> {
    let folders = Folders::read(&flags.dirs)?;
    let rows = folders.filtered(flags.filter.as_deref())?;
    let target = folders.key(&flags.target, "--target")?;
    let table = &folders.table;
    let own = |key: &str| -> Vec<CellValue> {
        let cells = table.column(key);
        rows.iter()
            .filter_map(|row| cells.get(*row).cloned())
            .collect()
    };
    let results = own(&target);
    if results.iter().all(|cell| cell.number().is_none()) {
        let what = format!("{} has no numbers", words::name(&target, None));
        return Err(Mistake::new(2, what).at("--target").into());
    }
    let goal = match flags.goal {
        Some(Goal::Minimize) => Some(Direction::Less),
        Some(Goal::Maximize) => Some(Direction::More),
        None => direction(&target),
    };
    if flags.measure == Some(MeasureChoice::Best) && goal.is_none() {
        let what = format!("{} does not say its better end", words::name(&target, None));
        return Err(Mistake::new(2, what)
            .at("--measure best")
            .attempt("--goal minimize")
            .into());
    }
    let keys: Vec<&String> = table.keys.iter().filter(|key| is_parameter(key)).collect();
    let cells: Vec<Vec<CellValue>> = keys.iter().map(|key| own(key)).collect();
    let columns: Vec<NamedColumn<'_>> = keys
        .iter()
        .zip(&cells)
        .map(|(name, cells)| NamedColumn { name, cells })
        .collect();
    let measure = flags.measure.map(Measure::from);
    let answer = importance(&columns, &results, goal, measure);
    write_out(flags.output.as_deref(), |out| match flags.format {
        OutputFormat::Text => write_text(&target, goal, measure, &answer, out),
        OutputFormat::Json => write_json(&target, goal, &answer, out),
    })?;
    Ok(0)
}

fn write_text(
    target: &str,
    goal: Option<Direction>,
    wanted: Option<Measure>,
    answer: &Importance,
    out: &mut dyn Write,
) -> io::Result<()> {
    let target = words::name(target, None);
    let runs = answer.runs;
    let Some(measure) = answer.measure else {
        let least = wanted.map_or(LEAST_RUNS, Measure::least_runs);
        return writeln!(
            out,
            "{runs} runs with a finite {target}: too few to tell, {least} are needed."
        );
    };
    let meaning = match measure {
        Measure::Variance => "share of the variance that each parameter explains alone (fANOVA)",
        Measure::BestTenth => {
            "share of the difference between the best tenth and all runs (PED-ANOVA)"
        }
        Measure::Rank => "rank correlation with each parameter",
        Measure::Linear => "linear correlation of the numbers as they are",
    };
    let better = match goal {
        Some(Direction::Less) => ", less is better",
        Some(Direction::More) => ", more is better",
        None => "",
    };
    writeln!(out, "{target}{better}: {meaning}, {runs} runs")?;
    if answer.left_out > 0 {
        writeln!(
            out,
            "{QUIET}{} runs without a finite {target} do not enter{QUIET:#}",
            answer.left_out
        )?;
    }
    if answer.forest_runs > 0 && answer.forest_runs < runs {
        let (best, others) = (500, answer.forest_runs - 500);
        writeln!(
            out,
            "{QUIET}the forest saw the {best} best runs and {others} of the others{QUIET:#}"
        )?;
    }
    match answer.r_squared {
        Some(fit) if fit < BAD_FIT => {
            let warning = "these parameters do not explain the result: the forest explains ";
            writeln!(
                out,
                "{WARNING}{warning}{} % of the runs it has not seen{WARNING:#}",
                percent(fit)
            )?;
        }
        Some(fit) if fit < GOOD_FIT => {
            writeln!(
                out,
                "the forest explains {} % of the runs it has not seen",
                percent(fit)
            )?;
        }
        _ => {}
    }
    writeln!(out)?;
    let mut table = Table::new([
        Column::left("PARAMETER"),
        Column::right("IMPORTANCE"),
        Column::left(""),
        Column::left("BEST RUNS"),
    ]);
    let most = answer
        .bars
        .iter()
        .filter_map(|bar| bar.value)
        .fold(0.0, |most: f64, own| most.max(own.abs()));
    let (main, aside): (Vec<&Bar>, Vec<&Bar>) = answer
        .bars
        .iter()
        .filter(|bar| bar.value.is_some())
        .partition(|bar| !bar.is_aside);
    for (index, bar) in main.iter().chain(&aside).enumerate() {
        if index == main.len() && index > 0 {
            table.row([styled(QUIET, "should not matter:")]);
        }
        let value = bar.value.unwrap_or_default();
        let deviation = bar
            .deviation
            .map(|own| format!(" ±{own:.2}"))
            .unwrap_or_default();
        let mut names = vec![words::name(&bar.name, None)];
        names.extend(bar.same_as.iter().map(|own| words::name(own, None)));
        let best = bar.best.map(|own| {
            format!(
                "{} to {} ({} of {})",
                short(own.from),
                short(own.to),
                own.runs,
                own.of
            )
        });
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a small length"
        )]
        let len = if most > 0.0 {
            (value.abs() / most * BAR).round() as usize
        } else {
            0
        };
        table.row([
            names.join(" = ").into(),
            format!("{value:.2}{deviation}").into(),
            "█".repeat(len).into(),
            best.unwrap_or_default().into(),
        ]);
    }
    table.write(out)?;
    if let Some(pair) = answer.pairs.first().filter(|pair| pair.value >= 0.01) {
        let names = pair.names.each_ref().map(|own| words::name(own, None));
        writeln!(
            out,
            "\ntogether: {} and {} explain {} % more",
            names[0],
            names[1],
            percent(pair.value)
        )?;
    }
    write_reasons(answer, out)
}

fn percent(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

/// Parameters without a bar, by reason.
fn write_reasons(answer: &Importance, out: &mut dyn Write) -> io::Result<()> {
    let reasons = [
        (Reason::Constant, "the same in all runs"),
        (Reason::NamesEachRun, "names each run"),
        (Reason::NoNumber, "not a number"),
        (Reason::TooFewRuns, "too few runs to tell"),
        (
            Reason::BeyondLimit,
            "beyond the 64 parameters of the forest",
        ),
    ];
    let mut is_first = true;
    for (reason, text) in reasons {
        let own = answer.bars.iter().filter(|bar| bar.reason == Some(reason));
        let names: Vec<String> = own.map(|bar| words::name(&bar.name, None)).collect();
        if names.is_empty() {
            continue;
        }
        if std::mem::take(&mut is_first) {
            writeln!(out)?;
        }
        writeln!(out, "{QUIET}{text}: {}{QUIET:#}", names.join(", "))?;
    }
    Ok(())
}

/// The answer for programs.
#[derive(Serialize)]
struct Answer<'a> {
    target: &'a str,
    goal: Option<&'static str>,
    measure: Option<&'static str>,
    runs: usize,
    left_out: usize,
    #[serde(with = "float::option")]
    r_squared: Option<f64>,
    forest_runs: usize,
    parameters: Vec<ParameterAnswer<'a>>,
    pairs: Vec<PairAnswer<'a>>,
}

#[derive(Serialize)]
struct ParameterAnswer<'a> {
    name: &'a str,
    same_as: &'a [String],
    #[serde(with = "float::option")]
    value: Option<f64>,
    #[serde(with = "float::option")]
    deviation: Option<f64>,
    runs: usize,
    reason: Option<&'static str>,
    is_aside: bool,
    best: Option<StretchAnswer>,
}

#[derive(Serialize)]
struct StretchAnswer {
    from: f64,
    to: f64,
    runs: usize,
    of: usize,
}

#[derive(Serialize)]
struct PairAnswer<'a> {
    names: &'a [String; 2],
    #[serde(with = "float")]
    value: f64,
}

fn write_json(
    target: &str,
    goal: Option<Direction>,
    answer: &Importance,
    out: &mut dyn Write,
) -> io::Result<()> {
    let parameter = |bar: &'_ Bar| -> Option<&'static str> {
        Some(match bar.reason? {
            Reason::Constant => "constant",
            Reason::NamesEachRun => "names_each_run",
            Reason::NoNumber => "no_number",
            Reason::TooFewRuns => "too_few_runs",
            Reason::BeyondLimit => "beyond_limit",
        })
    };
    let parameters = answer.bars.iter().map(|bar| ParameterAnswer {
        name: &bar.name,
        same_as: &bar.same_as,
        value: bar.value,
        deviation: bar.deviation,
        runs: bar.runs,
        reason: parameter(bar),
        is_aside: bar.is_aside,
        best: bar.best.map(|own| StretchAnswer {
            from: own.from,
            to: own.to,
            runs: own.runs,
            of: own.of,
        }),
    });
    let own = Answer {
        target,
        goal: goal.map(|own| match own {
            Direction::Less => "minimize",
            Direction::More => "maximize",
        }),
        measure: answer.measure.map(name),
        runs: answer.runs,
        left_out: answer.left_out,
        r_squared: answer.r_squared,
        forest_runs: answer.forest_runs,
        parameters: parameters.collect(),
        pairs: answer
            .pairs
            .iter()
            .map(|own| PairAnswer {
                names: &own.names,
                value: own.value,
            })
            .collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &own)?;
    writeln!(out)
}
