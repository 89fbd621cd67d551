//! Text output for people: the first line is the answer, the last line has the counts.
//!
//! Names are never shortened where they may be copied from (a file, a pipe); on a terminal they lose their front,
//! because their end is the distinctive part.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use trainscope_analysis::watchpoint::catalogue::Target;
use trainscope_analysis::watchpoint::{Findings, Hit};
use trainscope_format::Severity;
use trainscope_format::program::SourceLine;

use super::super::report::Report;
use super::hits;
use super::overview;
pub(in crate::cli::check) use super::phrases::{TextOptions, word};
use super::phrases::{WORD_COLUMNS, block, same_names, sentence, took, verdict};
use super::screen::Screen;
use super::unjudged;
use crate::cli::style::{NOTE, QUIET, STRONG, WARNING};
use crate::cli::words;
use crate::judging::judge::Judgement;

pub(in crate::cli::check) fn write(
    report: &Report,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    if !options.is_quiet {
        if report.runs.len() > 1 && !options.is_verbose {
            overview::write(report, options.screen, out)?;
        } else {
            for run in &report.runs {
                details(report, run, options, out)?;
            }
        }
        for (folder, reason) in &report.unreadable {
            let folder = words::name(folder, None);
            writeln!(
                out,
                "{WARNING}damaged{WARNING:#}  {folder} cannot be read: {reason}"
            )?;
        }
        for (path, what) in &report.special {
            let path = words::name(path, None);
            writeln!(out, "{NOTE}note{NOTE:#}  {path} is {what} and was not read")?;
        }
    }
    sum(report, out)
}

/// Prints the answer alone; of several runs, a line for each.
pub(in crate::cli::check) fn write_answer(
    report: &Report,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    match &*report.runs {
        [only] => answer(report, only, screen, out),
        _ => overview::write(report, screen, out),
    }
}

fn size_of(run: &Judgement) -> String {
    let judged = run.findings.judged;
    // Profiler files name their ranks.
    let profiled = run.profile.as_ref().map_or(1, |profile| profile.ranks);
    format!(
        "{}, {}, {}, {}, {}",
        words::plural(judged.steps, "step", "steps"),
        words::plural(judged.tensors / run.ranks.max(1), "tensor", "tensors"),
        words::plural(run.ranks.max(profiled), "rank", "ranks"),
        words::plural(run.files, "file", "files"),
        words::size(run.len_bytes),
    )
}

/// Prints the description of a run, the verdict, and the first cause.
fn answer(report: &Report, run: &Judgement, screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let name = words::name(&run.title, None);
    writeln!(out, "{STRONG}{name}{STRONG:#}  {}\n", size_of(run))?;

    let (word, style) = verdict(run);
    let sentence = sentence(report, run);
    let mut lines = screen.wrap(&sentence, WORD_COLUMNS).into_iter();
    let first = lines.next().unwrap_or_default();
    writeln!(
        out,
        "{style}{word}{style:#}{:1$}{STRONG}{first}{STRONG:#}",
        "",
        WORD_COLUMNS - word.len()
    )?;
    for line in lines {
        writeln!(out, "{:WORD_COLUMNS$}{STRONG}{line}{STRONG:#}", "")?;
    }
    writeln!(out)?;
    let findings = &run.findings;
    if let (Some(cause), Some(hit)) = (&findings.first_cause, findings.first_hit()) {
        let rank = if run.ranks > 1 {
            format!(", rank {}", hit.rank)
        } else {
            String::new()
        };
        let tensor = words::name(&hit.tensor, None);
        let step = if findings.judged.steps > 0 {
            format!(", step {}", words::step(hit.step))
        } else {
            String::new()
        };
        let place = format!("{tensor}{step}{rank}");
        let mut said = vec![(&*place, true)];
        // The first sentence is not repeated.
        if !cause.sentence.en.starts_with(&*hit.sentence.en) {
            said.push((&*hit.sentence.en, false));
        }
        block(out, screen, "First cause", &said)?;
        if !cause.advice.en.is_empty() {
            block(out, screen, "Most likely", &[(&cause.advice.en, false)])?;
        }
        if let Some(source) = run.source(hit) {
            let place = format!("{}:{}", words::name(&source.file, None), source.line);
            block(out, screen, "Source", &[(&place, false)])?;
            excerpt(out, source)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn details(
    report: &Report,
    run: &Judgement,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let screen = options.screen;
    answer(report, run, screen, out)?;
    let findings = &run.findings;
    if !findings.hits.is_empty() {
        hits::write(run, screen, options.shows_all, out)?;
        writeln!(out)?;
    }
    if !findings.inconclusive.is_empty() {
        unjudged::write(findings, run.watchpoints.watching(), options, out)?;
    }
    if !findings.unread.is_empty() {
        unjudged::tensors(findings, options, out)?;
    }
    for fault in &run.damaged {
        damaged(out, screen, fault)?;
    }
    summary(report, run, options, out)?;
    for shared in &run.shared {
        let sentence = words::name(&same_names(shared), None);
        writeln!(out, "  {QUIET}note: {sentence}{QUIET:#}")?;
    }
    for about in &findings.about_files {
        writeln!(out, "  {QUIET}note: {}{QUIET:#}", about.en)?;
    }
    for fault in &run.truncated {
        let file = words::name(&fault.file, None);
        writeln!(out, "  {QUIET}note: {file}: {}{QUIET:#}", fault.reason)?;
    }
    Ok(())
}

/// Number of lines of an excerpt to print, and of characters of a line.
const EXCERPT_LINES: usize = 9;
const EXCERPT_COLUMNS: usize = 120;

/// Prints the recorded lines around a source line, with that line marked.
fn excerpt(out: &mut dyn Write, source: &SourceLine) -> io::Result<()> {
    let lines: Vec<(u64, &str)> = source.lines().take(EXCERPT_LINES).collect();
    let width = lines.last().map_or(0, |line| line.0.to_string().len());
    for (number, line) in lines {
        let line = line.replace('\t', "    ");
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        let line: String = line.chars().take(EXCERPT_COLUMNS).collect();
        let text = format!("{number:>width$}  {line}");
        let text = text.trim_end();
        if number == source.line {
            writeln!(out, "  {:<11}{STRONG}> {text}{STRONG:#}", "")?;
        } else {
            writeln!(out, "  {:<11}{QUIET}  {text}{QUIET:#}", "")?;
        }
    }
    Ok(())
}

fn damaged(
    out: &mut dyn Write,
    screen: Screen,
    fault: &crate::judging::judge::Fault,
) -> io::Result<()> {
    let file = words::name(&fault.file, None);
    let place = if fault.len_bytes > 0 {
        format!(
            "byte {} of {}: {}",
            words::count(fault.offset),
            words::count(fault.len_bytes),
            fault.reason
        )
    } else {
        fault.reason.clone()
    };
    block(out, screen, "File", &[(&file, false)])?;
    block(out, screen, "Damaged at", &[(&place, false)])?;
    writeln!(out)
}

/// Prints the amount of data judged, and the next steps.
fn summary(
    report: &Report,
    run: &Judgement,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Findings {
        hits,
        inconclusive,
        without_data,
        judged,
        ..
    } = &run.findings;
    let watchpoints = report.watchpoints.watching();
    let distinct = |of: &dyn Fn(&Hit) -> String| {
        let all: BTreeSet<String> = hits.iter().map(of).collect();
        all.len() as u64
    };
    let not_judged = {
        let all: BTreeSet<u32> = inconclusive.iter().map(|item| item.watchpoint).collect();
        all.len()
    };
    let without_data = without_data.len();
    let which = if report.watchpoints.are_recommended() {
        "; the recommended ones"
    } else {
        ""
    };
    if hits.is_empty() {
        let watchpoints = words::plural(watchpoints, "watchpoint", "watchpoints");
        writeln!(
            out,
            "  {watchpoints}, {not_judged} not judged or in part, {without_data} without data{which}"
        )?;
        return Ok(());
    }
    let by = distinct(&|hit| hit.watchpoint.to_string());
    let is_of_tensor = |hit: &&Hit| {
        let watchpoint = report.watchpoints.all().get(hit.watchpoint as usize);
        watchpoint.is_some_and(|w| {
            !matches!(
                w.condition.target,
                Target::Scalar | Target::Run | Target::Profile
            )
        })
    };
    let hit_tensors: BTreeSet<(u32, &str)> = hits
        .iter()
        .filter(is_of_tensor)
        .map(|hit| (hit.rank, &*hit.tensor))
        .collect();
    let tensors = hit_tensors.len() as u64;
    let since = report.since_step.map_or_else(String::new, |step| {
        format!(" from step {} on", words::step(step))
    });
    let place = if judged.tensors.max(tensors) == 0 && judged.profiles > 0 {
        words::plural(judged.profiles, "profile", "profiles")
    } else {
        let all = words::plural(judged.tensors.max(tensors), "tensor", "tensors");
        format!("{tensors} of {all}")
    };
    writeln!(
        out,
        "  {by} of {} hit, {}{since} in {place}, {not_judged} not judged or in part, {without_data} without data{which}",
        words::plural(watchpoints, "watchpoint", "watchpoints"),
        words::plural(hits.len() as u64, "hit", "hits"),
    )?;
    let example = run
        .findings
        .first_hit()
        .or(hits.first())
        .map(|hit| hit.condition.id);
    if let Some(example) = example
        && !options.shows_all
    {
        writeln!(
            out,
            "  {QUIET}All hits: --all    Why a rule: --explain {example}{QUIET:#}"
        )?;
    }
    Ok(())
}

/// Prints the last line, which has the same form in every case.
fn sum(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut by_severity: BTreeMap<Severity, u64> = BTreeMap::new();
    for hit in report.runs.iter().flat_map(|run| &run.findings.hits) {
        *by_severity.entry(hit.severity).or_default() += 1;
    }
    let counts = [
        (Severity::Error, "error", "errors"),
        (Severity::Warning, "warning", "warnings"),
        (Severity::Info, "note", "notes"),
    ]
    .map(|(severity, one, many)| {
        let number = by_severity.get(&severity).copied().unwrap_or(0);
        words::plural(number, one, many)
    });
    let unjudged: u64 = report
        .runs
        .iter()
        .map(|run| {
            let all = run.findings.inconclusive.iter().map(|item| item.watchpoint);
            all.collect::<BTreeSet<u32>>().len() as u64
        })
        .sum();
    let mut line = counts.join(", ");
    if unjudged > 0 {
        line = format!("{line}, {WARNING}{unjudged} not judged{WARNING:#}");
    }
    let unread = report.runs.iter().map(|run| run.findings.unread.len());
    let unread = unread.sum::<usize>() as u64;
    if unread > 0 {
        let tensors = words::plural(unread, "tensor", "tensors");
        line = format!("{line}, {WARNING}{tensors} not judged{WARNING:#}");
    }
    let damaged: u64 = report.runs.iter().map(|run| run.damaged.len() as u64).sum();
    let damaged = damaged + report.unreadable.len() as u64;
    if damaged > 0 {
        let files = words::plural(damaged, "damaged file", "damaged files");
        line = format!("{line}, {WARNING}{files}{WARNING:#}");
    }
    if report.known > 0 {
        line = format!(
            "{line}, {} of the baseline left out",
            words::count(report.known)
        );
    }
    let runs = words::plural(report.runs.len() as u64, "run", "runs");
    writeln!(out, "{line} in {runs}, {}", took(report.took))
}

#[cfg(test)]
mod tests {
    use trainscope_format::program::SourceLine;

    use super::excerpt;

    #[test]
    fn the_line_of_a_fact_is_marked_in_its_excerpt() {
        let mut out = anstream::StripStream::new(Vec::new());
        let source = SourceLine {
            file: "train.py".to_owned(),
            line: 10,
            first_line: 9,
            excerpt: "for x, y in batches:\n\tloss.backward()\u{1b}[31m\n    opt.step()".to_owned(),
            ..SourceLine::default()
        };
        excerpt(&mut out, &source).unwrap();
        let text = String::from_utf8(out.into_inner()).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        assert_eq!(
            lines,
            [
                "9  for x, y in batches:",
                "> 10      loss.backward()[31m",
                "11      opt.step()"
            ]
        );
    }

    #[test]
    fn line_numbers_of_a_hostile_file_are_printed_and_nothing_overflows() {
        let mut out = anstream::StripStream::new(Vec::new());
        let source = SourceLine {
            first_line: u64::MAX,
            excerpt: "a\nb\nc".to_owned(),
            ..SourceLine::default()
        };
        excerpt(&mut out, &source).unwrap();
        let text = String::from_utf8(out.into_inner()).unwrap();
        assert_eq!(text.matches(&u64::MAX.to_string()).count(), 3);
    }
}
