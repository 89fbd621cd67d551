//! Overview of several runs: one line each, the worst first.

use std::io::{self, Write};

use super::super::report::Report;
use super::phrases::{sentence, took, verdict};
use super::screen::Screen;
use crate::cli::style::{QUIET, STRONG};
use crate::cli::table::{Column, Table, styled};
use crate::cli::words;

/// Maximum width of names.
const NAME_COLUMNS: usize = 48;

pub(super) fn write(report: &Report, screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let runs = words::plural(report.runs.len() as u64, "run", "runs");
    let title = words::name(&report.title, None);
    writeln!(
        out,
        "{STRONG}{title}{STRONG:#}  {runs}, {}",
        took(report.took)
    )?;
    let mut table = Table::new([
        Column::left(""),
        Column::left(""),
        Column::right("FIRST AT"),
        Column::right("HITS"),
        Column::left(""),
    ]);
    let names = screen.columns.map(|_| NAME_COLUMNS);
    for run in &report.runs {
        let (word, style) = verdict(run);
        let findings = &run.findings;
        let (step, hits, said) = match findings.first_hit().or(findings.hits.first()) {
            Some(first) => (
                words::step(first.step),
                words::count(findings.hits.len() as u64),
                first.sentence.en.clone(),
            ),
            None => (String::new(), String::new(), sentence(report, run)),
        };
        table.row([
            styled(style, word),
            styled(STRONG, words::name(&run.name, names)),
            step.into(),
            styled(style, hits),
            screen.signs(&words::name(&said, None)).into(),
        ]);
    }
    table.cut_last(screen.columns).write(out)?;
    if let Some(worst) = report.runs.first().filter(|run| verdict(run).0 != "ok") {
        let title = words::name(&worst.title, None);
        writeln!(
            out,
            "\n  {QUIET}Details of one: trainscope check {title}{QUIET:#}"
        )?;
    }
    Ok(())
}
