//! `trainscope diff`: first step and size of the differences between two runs, or of their profiles.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use tokio_util::sync::CancellationToken;
use trainscope_api::compare::{AgainstBase, Align, Outcome, Setting};

use super::check::Screen;
use super::mistake::Mistake;
use super::reading::Reading;
use super::{CommandError, unless_closed, words};
use crate::comparison::{self, Comparisons, Effort, Options, Side};
use crate::queries::error::Failure;
use crate::table::settings_of;

mod profile;
mod render;

pub(super) use render::setting;

/// Relative difference that counts as equal unless a flag says otherwise.
pub(super) const TOLERANCE: f64 = 0.01;

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
    #[arg(long, value_name = "SHARE", default_value_t = TOLERANCE, value_parser = share)]
    tolerance: f64,

    /// Compare this step and later ones only
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    since_step: Option<i64>,

    /// Points that are compared with each other
    #[arg(long, value_name = "POINTS", value_enum, default_value_t = AlignFlag::Step)]
    align: AlignFlag,

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AlignFlag {
    /// Those of the same step
    Step,
    /// Those after the same number of samples
    Samples,
    /// Those at the same epoch
    Epoch,
    /// Those the same time after the start
    Time,
}

impl From<AlignFlag> for Align {
    fn from(flag: AlignFlag) -> Self {
        match flag {
            AlignFlag::Step => Self::Step,
            AlignFlag::Samples => Self::Samples,
            AlignFlag::Epoch => Self::Epoch,
            AlignFlag::Time => Self::Time,
        }
    }
}

/// Parses a number of at least 0.
pub(super) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share >= 0.0 && share.is_finite() => Ok(share),
        _ => Err("wants a number of at least 0".to_owned()),
    }
}

pub(super) fn run(flags: &DiffFlags) -> Result<u8, CommandError> {
    if flags.profile {
        let mut out = BufWriter::new(anstream::stdout().lock());
        let status = profile::run(flags, &mut out)?;
        unless_closed(out.flush().map_err(CommandError::Output))?;
        return Ok(status);
    }
    let (a, b) = (Reading::of(&flags.a)?, Reading::of(&flags.b)?);
    let options = Options {
        tolerance: flags.tolerance,
        since: flags.since_step,
        align: flags.align.into(),
        all: true,
    };
    let compared = compare(&a, &b, options)?;
    let faults = &compared.outcome.faults;
    if compared.outcome.outcome == Outcome::Nothing && faults.is_empty() {
        return Err(nothing_in_common([&a, &b], &compared.outcome).into());
    }
    unless_closed(write(flags, [&a, &b], &compared))?;
    Ok(if !compared.outcome.partings.is_empty() {
        1
    } else if faults.is_empty() {
        0
    } else {
        2
    })
}

fn write(
    flags: &DiffFlags,
    runs: [&Reading; 2],
    compared: &DiffResult,
) -> Result<(), CommandError> {
    let mut out = BufWriter::new(anstream::stdout().lock());
    match flags.format {
        OutputFormat::Text if flags.quiet => render::sum(compared, &mut out)?,
        OutputFormat::Text => {
            render::text(runs, compared, Screen::of_stdout(), flags.all, &mut out)?;
        }
        OutputFormat::Json => render::json(runs, compared, &mut out)?,
    }
    out.flush().map_err(CommandError::Output)
}

pub(super) struct DiffResult {
    pub(super) outcome: AgainstBase,
    pub(super) settings: Vec<Setting>,
    tolerance: f64,
    took: Duration,
}

/// Compares two runs; the first is the base.
pub(super) fn compare(a: &Reading, b: &Reading, options: Options) -> Result<DiffResult, Mistake> {
    let began = Instant::now();
    let row = |reading: &Reading| {
        settings_of(&reading.index, reading.base_dirs(), &reading.run)
            .map_err(|error| reading.unread(&error))
    };
    let rows = [row(a)?, row(b)?];
    let sides = [(a, &rows[0]), (b, &rows[1])].map(|(reading, row)| Side {
        index: &reading.index,
        run: &reading.run,
        title: &reading.title,
        row,
    });
    let effort = Effort {
        until: None,
        gone: CancellationToken::new(),
    };
    let known = Comparisons::default();
    let failed = |error: Failure| Mistake::new(2, error.error().message.clone());
    let shown = |name: &str| words::name(name, None);
    let mut outcome = comparison::compare(&known, sides[0], sides[1], options, &effort, &shown)
        .map_err(failed)?;
    outcome.graph = known.graphs(sides[0], sides[1]).map_err(failed)?;
    for reading in [a, b] {
        outcome.faults.extend(reading.damage());
    }
    Ok(DiffResult {
        outcome,
        settings: comparison::settings(&[&rows[0], &rows[1]]),
        tolerance: options.tolerance,
        took: began.elapsed(),
    })
}

fn nothing_in_common(runs: [&Reading; 2], outcome: &AgainstBase) -> Mistake {
    let what = "the two runs share no tensor and no tag, so there is nothing to compare";
    let mut mistake = Mistake::new(2, what);
    let only = [&outcome.only_base, &outcome.only_other];
    for ((letter, run), only) in ["A", "B"].into_iter().zip(runs).zip(only) {
        let many = words::plural(only.total, "tensor or tag", "tensors and tags");
        let example = only.tensors.first().or(only.scalars.first());
        let example = example.map_or_else(String::new, |name| {
            format!(" such as {}", words::name(name, None))
        });
        let title = words::name(&run.title, None);
        mistake = mistake.at(format!("{letter}  {title}  {many}{example}"));
    }
    mistake.attempt("two runs of one model")
}

/// Destination of the output.
type Out<'a> = &'a mut dyn Write;

type WriteResult = io::Result<()>;
