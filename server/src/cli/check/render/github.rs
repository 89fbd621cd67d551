//! Annotations for GitHub workflows: one line each, the first cause first.
//!
//! A page shows few annotations, so hits of one condition in one run share an annotation.

use std::io::{self, Write};

use trainscope_analysis::watchpoint::Hit;
use trainscope_api::findings::Verdict;
use trainscope_format::Severity;

use super::super::report::Report;
use super::source::source;
use crate::cli::words;
use crate::judging::judge::Judgement;

pub(in crate::cli::check) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let first = report.first_cause();
    if let Some((run, hit)) = first {
        let cause = run.findings.first_cause.as_ref();
        let mut message = hit.sentence.en.clone();
        if let Some(cause) = cause {
            message = format!("{}\n{}", cause.sentence.en, cause.advice.en);
        }
        annotate(out, hit.severity, "First cause", run, hit, &message)?;
    }
    for run in &report.runs {
        let mut told: Vec<&str> = Vec::new();
        for hit in &run.findings.hits {
            let is_first = first.is_some_and(|(_, first)| std::ptr::eq(first, hit));
            if is_first || told.contains(&hit.condition.id) {
                continue;
            }
            told.push(hit.condition.id);
            let same = |other: &&Hit| other.condition == hit.condition;
            let more = run.findings.hits.iter().filter(same).count() - 1;
            let mut message = hit.sentence.en.clone();
            if more > 0 {
                let hits = words::plural(more as u64, "more hit", "more hits");
                message = format!("{message} ({hits} of {})", hit.condition.id);
            }
            annotate(out, hit.severity, hit.condition.id, run, hit, &message)?;
        }
        let level = match run.findings.verdict() {
            Verdict::Nothing => Some("warning"),
            Verdict::InPart => Some("notice"),
            Verdict::NoProblem | Verdict::Problem => None,
        };
        if let Some(level) = level {
            let title = property(&format!("Not checked in full: {}", run.title));
            let message = data(&run.findings.summary().en);
            writeln!(out, "::{level} title={title}::{message}")?;
        }
        for tensor in &run.findings.unread {
            let title = property(&format!("Not judged in {}", run.title));
            let message = format!("{} is of the type {}", tensor.tensor, tensor.dtype);
            writeln!(out, "::notice title={title}::{}", data(&message))?;
        }
        for fault in &run.damaged {
            let message = format!("damaged at byte {}: {}", fault.offset, fault.reason);
            let file = property(&fault.file);
            writeln!(
                out,
                "::error file={file},title=Damaged file::{}",
                data(&message)
            )?;
        }
    }
    for (folder, reason) in &report.unreadable {
        let message = data(&format!("{folder} cannot be read: {reason}"));
        writeln!(out, "::error title=Unreadable folder::{message}")?;
    }
    for (path, what) in &report.special {
        let message = data(&format!("{path} is {what} and was not read"));
        writeln!(out, "::notice title=Skipped file::{message}")?;
    }
    Ok(())
}

fn annotate(
    out: &mut dyn Write,
    severity: Severity,
    title: &str,
    run: &Judgement,
    hit: &Hit,
    message: &str,
) -> io::Result<()> {
    let level = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let title = property(&format!("{title} at step {} of {}", hit.step, run.title));
    let place = source(run, hit).map_or_else(String::new, |(file, line)| {
        format!("file={},line={line},", property(&file))
    });
    writeln!(out, "::{level} {place}title={title}::{}", data(message))
}

/// Escapes text after the last `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes text between commas.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn names_cannot_end_what_they_stand_in() {
        assert_eq!(data("100 %\n::x"), "100 %25%0A::x");
        assert_eq!(property("a,b:c\r"), "a%2Cb%3Ac%0D");
    }
}
