//! Words, verdicts and blocks that all parts of the text share.

use std::io::{self, Write};
use std::time::Duration;

use anstyle::Style;
use trainscope_api::findings::{SharedNames, Verdict};
use trainscope_format::Severity;

use super::super::report::Report;
use super::screen::Screen;
use crate::cli::style::{ERROR, NOTE, OK, QUIET, STRONG, WARNING};
use crate::cli::words;
use crate::judging::judge::Judgement;

/// Text options from the flags.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli::check) struct TextOptions {
    pub(in crate::cli::check) screen: Screen,
    /// Print the last line only.
    pub(in crate::cli::check) is_quiet: bool,
    /// Print details of every run.
    pub(in crate::cli::check) is_verbose: bool,
    /// Print every hit.
    pub(in crate::cli::check) shows_all: bool,
}

/// Width of the column of severities.
pub(super) const WORD_COLUMNS: usize = 9;

/// The worst finding of a run as a word, and its colour.
pub(super) fn verdict(run: &Judgement) -> (&'static str, Style) {
    let worst = run.findings.hits.iter().map(|hit| hit.severity).max();
    match worst {
        Some(severity @ (Severity::Error | Severity::Warning)) => word(severity),
        _ if !run.damaged.is_empty() => ("damaged", WARNING),
        worst => match run.findings.verdict() {
            Verdict::Nothing => ("nothing", WARNING),
            Verdict::InPart => ("partial", QUIET),
            _ if worst.is_some() => word(Severity::Info),
            _ => ("ok", OK),
        },
    }
}

/// The word for a severity and its colour.
pub(in crate::cli::check) fn word(severity: Severity) -> (&'static str, Style) {
    match severity {
        Severity::Error => ("error", ERROR),
        Severity::Warning => ("warning", WARNING),
        Severity::Info => ("note", NOTE),
    }
}

/// The note in English on files that hold tensors of the same names.
pub(super) fn same_names(shared: &SharedNames) -> String {
    let more = match shared.tensors - 1 {
        0 => String::new(),
        1 => " and 1 more tensor".to_owned(),
        more => format!(" and {more} more tensors"),
    };
    let dots = if shared.files > shared.examples.len() as u64 {
        ", …"
    } else {
        ""
    };
    format!(
        "{} files hold {}{more} at step {}: no step was recognized in their names; tensors are \
         shown under the names of their files ({}{dots})",
        shared.files,
        shared.tensor,
        shared.step,
        shared.examples.join(", ")
    )
}

/// The sentence about a run.
pub(super) fn sentence(report: &Report, run: &Judgement) -> String {
    let findings = &run.findings;
    let mut said = findings.summary().en;
    if report.known > 0 {
        said = said.replacen("No problems", "No new problems", 1);
    }
    said
}

/// Prints a head with text next to it.
pub(super) fn block(
    out: &mut dyn Write,
    screen: Screen,
    head: &str,
    paragraphs: &[(&str, bool)],
) -> io::Result<()> {
    const INDENT: usize = 15;
    let mut head = head;
    for (text, is_strong) in paragraphs {
        for line in screen.wrap(text, INDENT) {
            let style = if *is_strong { STRONG } else { Style::new() };
            let of_head = if head.is_empty() {
                Style::new()
            } else {
                STRONG
            };
            writeln!(
                out,
                "  {of_head}{head:<11}{of_head:#}  {style}{line}{style:#}"
            )?;
            head = "";
        }
    }
    Ok(())
}

/// Formats a duration: tenths of a second below a minute, otherwise as [`words::span`] does.
pub(super) fn took(time: Duration) -> String {
    if time.as_secs() < 60 {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        words::span(time)
    }
}
