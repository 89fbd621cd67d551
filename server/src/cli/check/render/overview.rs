//! Overview of several runs: one line each, the worst first.

use std::io::{self, Write};

use super::super::report::Report;
use super::phrases::{WORD_COLUMNS, sentence, took, verdict};
use super::screen::Screen;
use crate::cli::style::{QUIET, STRONG};
use crate::cli::words;
use crate::judging::judge::Judgement;

/// Maximum width of names.
const NAME_COLUMNS: usize = 48;
/// Width of `FIRST AT`, `HITS` and the space around them.
const NUMBER_COLUMNS: usize = 18;

pub(super) fn write(report: &Report, screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let runs = words::plural(report.runs.len() as u64, "run", "runs");
    let title = words::name(&report.title, None);
    writeln!(
        out,
        "{STRONG}{title}{STRONG:#}  {runs}, {}",
        took(report.took)
    )?;
    let longest = report.runs.iter().map(|run| run.name.chars().count());
    let longest = longest.max().unwrap_or(0);
    let names = screen
        .columns
        .map_or(longest, |_| longest.min(NAME_COLUMNS));
    let left = screen
        .prose
        .saturating_sub(WORD_COLUMNS + names + NUMBER_COLUMNS)
        .max(24);
    let before = WORD_COLUMNS + names + 2 + left + 2;
    writeln!(out, "{:before$}{QUIET}FIRST AT  HITS{QUIET:#}", "")?;
    for run in &report.runs {
        line(report, run, screen, (names, left), out)?;
    }
    if let Some(worst) = report.runs.first().filter(|run| verdict(run).0 != "ok") {
        let title = words::name(&worst.title, None);
        writeln!(
            out,
            "\n  {QUIET}Details of one: trainscope check {title}{QUIET:#}"
        )?;
    }
    Ok(())
}

fn line(
    report: &Report,
    run: &Judgement,
    screen: Screen,
    (names, left): (usize, usize),
    out: &mut dyn Write,
) -> io::Result<()> {
    let (word, style) = verdict(run);
    let name = words::name(&run.name, Some(names));
    write!(
        out,
        "{style}{word:<WORD_COLUMNS$}{style:#}{STRONG}{name:<names$}{STRONG:#}  "
    )?;
    let findings = &run.findings;
    let Some(first) = findings.first_hit().or(findings.hits.first()) else {
        return writeln!(out, "{}", sentence(report, run));
    };
    let said = beginning(&screen.signs(&words::name(&first.sentence.en, None)), left);
    let step = words::step(first.step);
    let hits = words::count(findings.hits.len() as u64);
    writeln!(out, "{said:<left$}  {step:>8}  {style}{hits:>4}{style:#}")
}

/// The beginning of a sentence that is too long.
fn beginning(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}
