//! `trainscope importance`: the parameters that move a result, over many runs.

use std::io::{self, Write};
use std::path::PathBuf;

use anstyle::Style;
use clap::{Args, ValueEnum};
use trainscope_analysis::headline::Direction;
use trainscope_analysis::importance::texts;
use trainscope_api::importance::{
    Bar, Importance, ImportanceAnswer, ImportanceRequest, Measure, Reason, Trust,
};

use super::check::write_out;
use super::mistake::Mistake;
use super::run_table::{Folders, short};
use super::style::{QUIET, WARNING};
use super::table::{Column, Table, styled};
use super::{CommandError, words};
use crate::table::{ImportanceError, importance};

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

impl From<Goal> for Direction {
    fn from(goal: Goal) -> Self {
        match goal {
            Goal::Minimize => Self::Less,
            Goal::Maximize => Self::More,
        }
    }
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

pub(super) fn run(flags: &ImportanceFlags) -> Result<u8, CommandError> {
    let folders = Folders::read(&flags.dirs)?;
    let target = folders.key(&flags.target, "--target")?;
    let request = ImportanceRequest {
        target,
        goal: flags.goal.map(Direction::from),
        measure: flags.measure.map(Measure::from),
        filter: flags.filter.clone(),
        ..ImportanceRequest::default()
    };
    let rows = folders.filtered(flags.filter.as_deref())?;
    let answer = importance(&folders.table, &rows, &request, &|| false);
    let answer = answer.map_err(|error| match error {
        ImportanceError::NoNumbers(_) => Mistake::new(2, error.to_string()).at("--target"),
        ImportanceError::NoDirection(_) => Mistake::new(2, error.to_string())
            .at("--measure best")
            .attempt("--goal minimize"),
        ImportanceError::Cancelled | ImportanceError::Read(_) => Mistake::new(2, error.to_string()),
    })?;
    write_out(flags.output.as_deref(), |out| match flags.format {
        OutputFormat::Text => write_text(&answer, out),
        OutputFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &answer)?;
            writeln!(out)
        }
    })?;
    Ok(0)
}

fn write_text(answer: &ImportanceAnswer, out: &mut dyn Write) -> io::Result<()> {
    let importance = &answer.importance;
    for (index, sentence) in answer.sentences.iter().enumerate() {
        // Names in it come from files.
        let line = words::name(&sentence.en, None);
        let style = match importance.trust {
            _ if index == 0 => Style::new(),
            Some(Trust::Poor) => WARNING,
            _ => QUIET,
        };
        writeln!(out, "{style}{line}{style:#}")?;
    }
    if importance.measure.is_none() {
        return Ok(());
    }
    writeln!(out)?;
    let mut table = Table::new([
        Column::left("PARAMETER"),
        Column::right("IMPORTANCE"),
        Column::left(""),
        Column::left("BEST RUNS"),
    ]);
    let most = importance
        .bars
        .iter()
        .filter_map(|bar| bar.value)
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    let (main, aside): (Vec<&Bar>, Vec<&Bar>) = importance
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
            .map(|deviation| format!(" ±{deviation:.2}"))
            .unwrap_or_default();
        let mut names = vec![words::name(&bar.name, None)];
        names.extend(bar.same_as.iter().map(|name| words::name(name, None)));
        let best = bar.best.map(|best| {
            format!(
                "{} to {} ({} of {})",
                short(best.from),
                short(best.to),
                best.runs,
                best.of
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
    if let Some(pair) = importance.pairs.first().filter(|pair| pair.value >= 0.01) {
        let names = pair.names.each_ref().map(|name| words::name(name, None));
        writeln!(
            out,
            "\ntogether: {} and {} explain {} % more",
            names[0],
            names[1],
            percent(pair.value)
        )?;
    }
    write_reasons(importance, out)
}

fn percent(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

/// Parameters without a bar, by reason.
fn write_reasons(answer: &Importance, out: &mut dyn Write) -> io::Result<()> {
    let reasons = [
        Reason::Constant,
        Reason::NamesEachRun,
        Reason::NoNumber,
        Reason::TooFewRuns,
        Reason::BeyondLimit,
    ];
    let mut is_first = true;
    for reason in reasons {
        let (text, _) = texts::reason_words(reason);
        let bars = answer.bars.iter().filter(|bar| bar.reason == Some(reason));
        let names: Vec<String> = bars.map(|bar| words::name(&bar.name, None)).collect();
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
