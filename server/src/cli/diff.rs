//! `trainscope diff`: first step and size of the differences between two runs, or of their profiles.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::check::{Screen, cores, look, note_special, nothing_in, title};
use super::mistake::Mistake;
use super::{CommandError, words};
use crate::discovery::runs::RunFiles;

mod compare;
mod measure;
mod profile;
mod recorded;
mod render;

/// The flags of `trainscope diff`.
#[derive(Args, Clone, Debug)]
pub(super) struct DiffFlags {
    /// The folder of a run, or a single file of one
    #[arg(value_name = "RUN_A")]
    a: PathBuf,

    /// The folder of the other run
    #[arg(value_name = "RUN_B")]
    b: PathBuf,

    /// The largest relative difference that counts as equal; 0: to the bit
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = share)]
    tolerance: f64,

    /// Compare this step and later ones only
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    since_step: Option<i64>,

    /// Compare profiles instead: that of the first run with that of the second, its baseline
    #[arg(long, conflicts_with = "tolerance")]
    profile: bool,

    /// The session of a profile of both, by its id [default: the newest]
    #[arg(long, value_name = "ID", requires = "profile")]
    session: Option<String>,

    /// The rank of both [default: the lowest]
    #[arg(long, value_name = "N", requires = "profile")]
    rank: Option<u32>,

    /// Another session of the second run
    #[arg(long, value_name = "ID", requires = "profile")]
    other_session: Option<String>,

    /// Another rank of the second run
    #[arg(long, value_name = "N", requires = "profile")]
    other_rank: Option<u32>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,

    /// List everything that differs
    #[arg(long)]
    all: bool,

    /// Print the last line only, of profiles the sentence
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

/// Parses a number of at least 0.
fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share >= 0.0 && share.is_finite() => Ok(share),
        _ => Err("wants a number of at least 0".to_owned()),
    }
}

pub(super) fn run(flags: &DiffFlags) -> Result<u8, CommandError> {
    if flags.profile {
        let mut out = BufWriter::new(anstream::stdout().lock());
        let status = profile::run(flags, &mut out)?;
        out.flush().map_err(CommandError::Output)?;
        return Ok(status);
    }
    let [a, b] = [&flags.a, &flags.b].map(|dir| only_run(dir));
    let (a, b) = (a?, b?);
    let outcome = compare::compare(&a, &b, flags.tolerance, flags.since_step);
    if outcome.common == 0 && outcome.faults.is_empty() {
        return Err(nothing_in_common(&a, &b, &outcome).into());
    }
    let mut out = BufWriter::new(anstream::stdout().lock());
    match flags.format {
        OutputFormat::Text if flags.quiet => render::sum(&outcome, &mut out)?,
        OutputFormat::Text => {
            render::text([&a, &b], &outcome, Screen::of_stdout(), flags.all, &mut out)?;
        }
        OutputFormat::Json => render::json([&a, &b], &outcome, &mut out)?,
    }
    out.flush().map_err(CommandError::Output)?;
    Ok(if !outcome.parted.is_empty() {
        1
    } else if outcome.faults.is_empty() {
        0
    } else {
        2
    })
}

/// The single run in a folder.
fn only_run(dir: &Path) -> Result<RunFiles, Mistake> {
    let mut found = look(dir, cores())?;
    note_special(&found);
    let count = found.runs.len();
    match found.runs.pop() {
        Some(mut run) if count == 1 => {
            run.title = title(dir, &run.name);
            Ok(run)
        }
        Some(run) => {
            let example = title(dir, &run.name);
            let what = format!(
                "{} holds {count} runs, and two are compared",
                words::path(dir)
            );
            Err(Mistake::new(2, what).at(words::path(dir)).attempt(format!(
                "name one of them, such as {}",
                words::name(&example, None)
            )))
        }
        None => Err(nothing_in(dir, &found)),
    }
}

fn nothing_in_common(a: &RunFiles, b: &RunFiles, outcome: &compare::Outcome) -> Mistake {
    let what = "the two runs share no tensor and no tag, so there is nothing to compare";
    let mut mistake = Mistake::new(2, what);
    for (letter, run, only) in [("A", a, &outcome.only_a), ("B", b, &outcome.only_b)] {
        let many = words::plural(only.len() as u64, "tensor or tag", "tensors and tags");
        let example = only.first().map_or_else(String::new, |name| {
            format!(" such as {}", words::name(name, None))
        });
        let title = words::name(&run.title, None);
        mistake = mistake.at(format!("{letter}  {title}  {many}{example}"));
    }
    mistake.attempt("two runs of one model")
}

/// Writes to anything.
type Out<'a> = &'a mut dyn Write;

/// Results of writing.
type WriteResult = io::Result<()>;
