//! Profiles of two runs side by side: steps and their parts, operators and kernels, as on the Compare page.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use trainscope_analysis::trace::diff::{Side, diff};
use trainscope_analysis::trace::steps::StepRange;
use trainscope_api::profile::{OperatorDifference, ProfileDiff};
use trainscope_format::digits;

use super::{DiffFlags, Out, OutputFormat, WriteResult};
use crate::cli::mistake::Mistake;
use crate::cli::reading::Reading;
use crate::cli::style::{OK, QUIET, STRONG, WARNING};
use crate::cli::table::{Cell, Column, Table, styled};
use crate::cli::{CommandError, unless_closed, words};
use crate::profiles::{LoadedProfile, Profiles};

/// Maximum number of operators, and of kernels, without `--all`.
const MAX_LINES: usize = 10;

/// A profile with the path that was typed.
struct Subject {
    title: String,
    loaded: Arc<LoadedProfile>,
}

impl Subject {
    fn read(dir: &Path, session: Option<&str>, rank: Option<u32>) -> Result<Self, Mistake> {
        let reading = Reading::of(dir)?;
        let profiles = Profiles::new(&reading.index);
        let loaded = profiles.get(&reading.run, session, rank).map_err(|error| {
            Mistake::new(2, error.to_string())
                .at(words::name(&reading.title, None))
                .attempt("a folder with the trace of a profiler, or another session or rank")
        })?;
        Ok(Self {
            title: reading.title.clone(),
            loaded,
        })
    }
}

/// Compares the profile of the first run with that of the second, its baseline. Returns the exit status: 0 if the steps
/// take the same time within chance, 1 if they are longer or shorter, 2 if there are too few steps to tell.
pub(super) fn run(flags: &DiffFlags, out: Out<'_>) -> Result<u8, CommandError> {
    let other_session = flags.other_session.as_ref().or(flags.session.as_ref());
    let other_rank = flags.other_rank.or(flags.rank);
    let a = Subject::read(&flags.a, flags.session.as_deref(), flags.rank)?;
    let b = Subject::read(&flags.b, other_session.map(String::as_str), other_rank)?;
    let all = StepRange {
        since: flags.since_step,
        until: None,
    };
    let [compared, base] = [&a, &b].map(|subject| Side::new(&subject.loaded.model, all));
    let found = diff(&compared, &base);
    let written = match flags.format {
        OutputFormat::Text if flags.quiet => writeln!(out, "{}", found.sentence.en),
        OutputFormat::Text => text([&a, &b], &found, flags.all, out),
        OutputFormat::Json => json([&a, &b], &found, out),
    };
    unless_closed(written.map_err(CommandError::Output))?;
    Ok(match found.ratio {
        Some((_, low, high)) if low <= 1.0 && high >= 1.0 => 0,
        Some(_) => 1,
        None => 2,
    })
}

fn text(
    subjects: [&Subject; 2],
    found: &ProfileDiff,
    shows_all: bool,
    out: Out<'_>,
) -> WriteResult {
    let mut heads = Table::new(vec![Column::left(""); 3]);
    for (letter, subject) in ["A", "B"].into_iter().zip(subjects) {
        let session = words::name(subject.loaded.session(), None);
        let place = format!("session {session}, rank {}", subject.loaded.rank());
        let title = words::name(&subject.title, None);
        heads.row([letter.into(), styled(STRONG, title), place.into()]);
    }
    heads.write(out)?;
    writeln!(out, "\n{STRONG}{}{STRONG:#}", found.sentence.en)?;
    writeln!(
        out,
        "{QUIET}B is the baseline; times and calls are those of a step.{QUIET:#}\n"
    )?;
    let mut table = sides("");
    table.row(row("step, median", found.median_step_nanos));
    let (parts, base) = found.parts_nanos;
    for (name, nanos, base) in [
        ("kernels", parts.kernel, base.kernel),
        ("copies", parts.memcpy, base.memcpy),
        ("memset", parts.memset, base.memset),
        ("communication", parts.communication, base.communication),
        ("runtime", parts.runtime, base.runtime),
        ("waiting for data", parts.data, base.data),
        ("operators", parts.operators, base.operators),
        ("other", parts.other, base.other),
    ] {
        if nanos != 0 || base != 0 {
            table.row(row(name, (nanos, base)));
        }
    }
    let (peak, base) = found.peak_len_bytes;
    if peak.is_some() || base.is_some() {
        let both = peak.zip(base);
        let change = both.map_or_else(
            || "".into(),
            |(peak, base)| change(peak as f64, base as f64),
        );
        let [peak, base] =
            [peak, base].map(|peak| peak.map_or_else(|| "not recorded".to_owned(), words::size));
        table.row(["peak of memory".into(), peak.into(), base.into(), change]);
    }
    table.write(out)?;
    let limit = if shows_all { usize::MAX } else { MAX_LINES };
    rows("OPERATOR", &found.operators, limit, out)?;
    rows("KERNEL", &found.kernels, limit, out)?;
    if found.cut {
        writeln!(
            out,
            "\n  {QUIET}operators with smaller differences were left out{QUIET:#}"
        )?;
    }
    Ok(())
}

fn sides(head: &'static str) -> Table {
    let columns = [
        Column::left(head),
        Column::right("A"),
        Column::right("B"),
        Column::right("CHANGE"),
    ];
    Table::new(columns).indent(2)
}

fn row(name: &str, (nanos, base): (i64, i64)) -> [Cell; 4] {
    let time = |nanos: i64| digits::nanos(u64::try_from(nanos).unwrap_or(0));
    let change = change(nanos as f64, base as f64);
    [name.into(), time(nanos).into(), time(base).into(), change]
}

/// Change from the baseline.
fn change(value: f64, base: f64) -> Cell {
    if value.total_cmp(&base).is_eq() {
        return "equal".into();
    }
    if base <= 0.0 {
        return styled(WARNING, "new");
    }
    if value <= 0.0 {
        return styled(OK, "gone");
    }
    let share = value / base - 1.0;
    let (sign, style) = if share > 0.0 {
        ("+", WARNING)
    } else {
        ("−", OK)
    };
    styled(style, format!("{sign}{}", digits::percent(share.abs())))
}

/// Operators or kernels by their cost per step.
fn rows(head: &'static str, all: &[OperatorDifference], limit: usize, out: Out<'_>) -> WriteResult {
    let differs = |difference: &&OperatorDifference| {
        difference.self_step_nanos.0 != difference.self_step_nanos.1
    };
    let count = all.iter().filter(differs).count();
    if count == 0 {
        return Ok(());
    }
    let columns = [
        Column::left(head),
        Column::right("A"),
        Column::right("B"),
        Column::right("CHANGE"),
        Column::right("CALLS"),
    ];
    let mut table = Table::new(columns).indent(2);
    for difference in all.iter().filter(differs).take(limit) {
        let name = words::name(&difference.name, None);
        let [name, a, b, change] = row(&name, difference.self_step_nanos);
        let [of_a, of_b] = [difference.calls_step.0, difference.calls_step.1]
            .map(|calls| digits::trimmed(calls, 3));
        let calls = if of_a == of_b {
            of_a
        } else {
            format!("{of_a}, B {of_b}")
        };
        table.row([name, a, b, change, calls.into()]);
    }
    writeln!(out)?;
    table.write(out)?;
    if count > limit {
        let more = words::plural((count - limit) as u64, "more", "more");
        writeln!(out, "  {QUIET}{more}: --all{QUIET:#}")?;
    }
    Ok(())
}

/// A profile in the answer.
#[derive(Serialize)]
struct JsonSubject<'a> {
    run: &'a str,
    session: &'a str,
    rank: u32,
}

#[derive(Serialize)]
struct JsonDiff<'a> {
    a: JsonSubject<'a>,
    b: JsonSubject<'a>,
    #[serde(flatten)]
    diff: &'a ProfileDiff,
}

fn json(subjects: [&Subject; 2], found: &ProfileDiff, out: Out<'_>) -> WriteResult {
    let [a, b] = subjects.map(|subject| JsonSubject {
        run: &subject.title,
        session: subject.loaded.session(),
        rank: subject.loaded.rank(),
    });
    serde_json::to_writer_pretty(&mut *out, &JsonDiff { a, b, diff: found })?;
    writeln!(out)
}
