//! A check in parts: flags, the number of a part, the work of one, and messages about them.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use trainscope_analysis::watchpoint::Watchpoints;

use super::listing::{Listing, MAX_SHARDS, changed};
use super::plan::{self, ListedRun};
use super::progress::Progress;
use crate::cli::mistake::Mistake;
use crate::cli::style::QUIET;
use crate::cli::words;
use crate::discovery::runs::RunFiles;
use crate::files;
use crate::judging::judge;
use crate::judging::known::RunSummaries;
use crate::judging::shard::{Shard, ShardNumber};
use crate::summaries::{Label, Missing, Summaries, Tally};

/// Number of steps that an error about missing summaries names.
const MAX_NAMED: usize = 5;

/// Flags of a check in parts.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct ShardFlags {
    /// Take summaries of tensors from this folder instead of reading the tensors, and add those that are computed
    #[arg(long, value_name = "DIR", conflicts_with = "live")]
    pub(super) summaries: Option<PathBuf>,

    /// Compute the summaries of part I of N, from 0, and judge nothing; `auto`: as Slurm or Kubernetes says
    #[arg(long, value_name = "I/N", requires = "summaries", conflicts_with_all = ["complete", "format", "output", "against"])]
    pub(super) shard: Option<String>,

    /// Take the list of files from this file, which is made if it does not exist
    #[arg(long, value_name = "FILE", conflicts_with = "live")]
    pub(super) plan: Option<PathBuf>,

    /// Number of parts of a plan that is made [default: one for each 4 GB]
    #[arg(long, value_name = "N", requires = "plan", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SHARDS)))]
    pub(super) shards: Option<u32>,

    /// Fail if a summary is missing, instead of reading its tensor
    #[arg(long, requires = "summaries")]
    pub(super) complete: bool,
}

impl ShardFlags {
    /// The part to compute, if there is one.
    pub(super) fn number(&self) -> Result<Option<ShardNumber>, Mistake> {
        match self.shard.as_deref() {
            None => Ok(None),
            Some("auto") => of_environment(|name| std::env::var(name).ok()).map(Some),
            Some(text) => parse(text).map(Some),
        }
    }

    /// True if the command only makes a plan.
    pub(super) fn only_plans(&self) -> bool {
        let is_absent = |path: &PathBuf| !path.exists();
        self.summaries.is_none() && self.plan.as_ref().is_some_and(is_absent)
    }
}

const REMEDY: &str = "--shard I/N with I from 0 to N − 1, like --shard 0/64";

fn parse(text: &str) -> Result<ShardNumber, Mistake> {
    let numbers = text.split_once('/').and_then(|(number, of)| {
        Some(ShardNumber {
            number: number.parse().ok()?,
            of: of.parse().ok()?,
        })
    });
    numbers
        .filter(|shard| shard.number < shard.of && shard.of <= MAX_SHARDS)
        .ok_or_else(|| Mistake::new(2, format!("there is no shard {text}")).attempt(REMEDY))
}

/// Variables with the number of a task, the first number, the distance of two, and the number of tasks.
const VARIABLES: [[&str; 4]; 3] = [
    [
        "SLURM_ARRAY_TASK_ID",
        "SLURM_ARRAY_TASK_MIN",
        "SLURM_ARRAY_TASK_STEP",
        "SLURM_ARRAY_TASK_COUNT",
    ],
    ["JOB_COMPLETION_INDEX", "", "", "JOB_COMPLETIONS"],
    ["SLURM_PROCID", "", "", "SLURM_NTASKS"],
];

/// The part that a scheduler has given to this process.
fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Result<ShardNumber, Mistake> {
    let mut seen = Vec::new();
    for names in VARIABLES {
        let [id, first, distance, count] = names;
        if variable(id).is_none() {
            continue;
        }
        for name in names.into_iter().filter(|name| !name.is_empty()) {
            seen.push(match variable(name) {
                Some(value) => format!("{name}={value}"),
                None => format!("{name} is not set"),
            });
        }
        let number = |name: &str, default: u32| match variable(name) {
            Some(value) => value.parse::<u32>().ok(),
            None => Some(default),
        };
        let shard = || {
            let distance = number(distance, 1)?;
            let after = number(id, 0)?.checked_sub(number(first, 0)?)?;
            Some(ShardNumber {
                number: after.checked_div(distance)?,
                of: variable(count)?.parse().ok()?,
            })
        };
        if let Some(shard) = shard()
            && shard.number < shard.of
        {
            return Ok(shard);
        }
    }
    let mistake = Mistake::new(
        2,
        "--shard auto finds no number of a task in the environment",
    );
    let mistake = seen.into_iter().fold(mistake, Mistake::at);
    let names = "SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX with JOB_COMPLETIONS, or SLURM_PROCID";
    Err(mistake
        .attempt(format!("run it as a task of an array: {names} are read"))
        .attempt(REMEDY))
}

/// A folder of summaries that is in use by a check.
pub(super) struct Folder {
    path: PathBuf,
    all: Arc<Summaries>,
    dirs: Vec<PathBuf>,
    is_complete: bool,
    is_planned: bool,
}

impl Folder {
    /// Opens the folder of the flags, if there is one.
    pub(super) fn open(flags: &ShardFlags, dirs: &[PathBuf]) -> Result<Option<Self>, Mistake> {
        for (flag, path) in [("--summaries", &flags.summaries), ("--plan", &flags.plan)] {
            if let Some(path) = path.as_ref().filter(|path| files::is_address(path)) {
                let what = format!("{flag} is a path of this machine, not an address");
                return Err(Mistake::new(2, what).at(words::path(path)));
            }
        }
        let Some(path) = &flags.summaries else {
            return Ok(None);
        };
        let missing = if flags.complete {
            Missing::Counted
        } else {
            Missing::Computed
        };
        let label = Label::new(dirs);
        let keeps_known = flags.shard.is_some();
        let all = Summaries::open(path, &label, missing, keeps_known).map_err(|error| {
            let what = match missing {
                Missing::Counted => "read",
                Missing::Computed => "written to",
            };
            let path = words::path(path);
            Mistake::new(
                2,
                format!("the folder of summaries cannot be {what}: {error}"),
            )
            .at(format!("--summaries {path}"))
            .attempt("--summaries DIR with a folder that may be written to")
        })?;
        Ok(Some(Self {
            path: path.clone(),
            all: Arc::new(all),
            dirs: dirs.to_vec(),
            is_complete: flags.complete,
            is_planned: flags.plan.is_some(),
        }))
    }

    /// The summaries of a run of one of the folders of the command.
    pub(super) fn of_run(&self, run: &RunFiles, source: usize) -> RunSummaries {
        let root = plan::root_of(&self.dirs[source]);
        let number = u32::try_from(source).unwrap_or(u32::MAX);
        RunSummaries::new(Arc::clone(&self.all), root, number, &run.title)
    }

    /// Ends a judgement. Says how many summaries were there, or which ones are missing.
    pub(super) fn end(&self, listing: &Listing, is_quiet: bool) -> Result<(), Mistake> {
        let tally = self.finish(None)?;
        if self.is_complete && tally.absent > 0 {
            return Err(self.missing(&tally, listing));
        }
        if !is_quiet {
            let total = words::plural(tally.total, "summary", "summaries");
            let absent = words::count(tally.absent);
            note(&format!("{total}, {absent} of them computed here"));
        }
        Ok(())
    }

    fn finish(&self, name: Option<&str>) -> Result<Tally, Mistake> {
        let tally = self.all.finish(name).map_err(|error| {
            Mistake::new(2, format!("the summaries cannot be written: {error}"))
                .at(format!("--summaries {}", words::path(&self.path)))
                .attempt("make room, or name another folder; what was written before stays")
        })?;
        for text in &tally.notes {
            note(text);
        }
        match &tally.changed {
            Some((path, then, now)) if self.is_planned => Err(changed(path, *then, *now)),
            Some((path, ..)) => {
                let path = words::path(path);
                note(&format!(
                    "{path} changed while it was read: its summaries are not kept"
                ));
                Ok(tally)
            }
            None => Ok(tally),
        }
    }

    fn missing(&self, tally: &Tally, listing: &Listing) -> Mistake {
        let (absent, total) = (words::count(tally.absent), words::count(tally.total));
        let mut mistake = Mistake::new(2, format!("{absent} of {total} summaries are missing"))
            .at(format!("--summaries {}", words::path(&self.path)));
        if let Some(of) = listing.shards {
            let shards = listing.work.shards_of(of, |run, rank, step| {
                let run = listing.runs.get(run).map(|listed| listed.run.title.clone());
                run.is_some_and(|run| tally.absent_from.contains(&(run, rank, step)))
            });
            let numbers: Vec<String> = shards.iter().map(u32::to_string).collect();
            mistake = mistake.at(format!("shards {} of {of}", numbers.join(", ")));
        } else {
            let named = tally.absent_from.iter().take(MAX_NAMED);
            for (run, rank, step) in named {
                mistake = mistake.at(format!(
                    "{}, rank {rank}, step {step}",
                    words::name(run, None)
                ));
            }
        }
        mistake.attempt("run these shards again; without --complete they are computed here")
    }
}

/// Computes the summaries of a shard and says so in one line.
pub(super) fn run(
    shard: ShardNumber,
    folder: &Folder,
    listing: &Listing,
    watchpoints: &[Watchpoints],
    (threads, is_quiet): (usize, bool),
) -> Result<String, Mistake> {
    let began = Instant::now();
    let shards = listing.work.shard(shard, listing.runs.len());
    let runs = listing.runs.iter().zip(&shards).zip(watchpoints);
    let runs: Vec<_> = runs.filter(|((_, shard), _)| !shard.is_empty()).collect();
    let bytes_of = |listed: &ListedRun, shard: &Shard| -> u64 {
        let ranks = listed.run.ranks.iter();
        let steps =
            ranks.flat_map(|(rank, found)| found.steps.iter().map(move |step| (*rank, step)));
        let of_shard = steps.filter(|(rank, (step, _))| shard.has(*rank, **step));
        let files = of_shard.flat_map(|(_, (_, sources))| sources);
        files.map(|source| source.len_bytes).sum()
    };
    let total_bytes = runs
        .iter()
        .map(|((listed, shard), _)| bytes_of(listed, shard))
        .sum();
    let mut progress = Progress::new(total_bytes, runs.len(), is_quiet);
    for ((listed, of_run), watchpoints) in runs {
        let summaries = folder.of_run(&listed.run, listed.source);
        judge::summarize(
            of_run,
            summaries,
            &listed.run,
            watchpoints,
            threads,
            |bytes| {
                progress.read(bytes);
            },
        );
    }
    drop(progress);
    let ShardNumber { number, of } = shard;
    let tally = folder.finish(Some(&format!("{number}-of-{of}-{:016x}", listing.hash)))?;
    Ok(format!(
        "shard {number} of {of}: {}, {} of them computed, {}, {:.1} s",
        words::plural(tally.total, "summary", "summaries"),
        words::count(tally.absent),
        words::size(total_bytes),
        began.elapsed().as_secs_f64()
    ))
}

/// The plan in a sentence, with the commands that follow.
pub(super) fn describe(listing: &Listing, path: &Path) -> String {
    let mut ranks = BTreeSet::new();
    let mut files = 0;
    for (number, listed) in listing.runs.iter().enumerate() {
        for (rank, found) in &listed.run.ranks {
            ranks.insert((number, *rank));
            files += found.steps.values().map(Vec::len).sum::<usize>() as u64;
        }
    }
    let shards = listing.shards.unwrap_or(1);
    format!(
        "{}: {} of {}, {} with tensors, {}; {}",
        words::path(path),
        words::plural(listing.work.len() as u64, "step", "steps"),
        words::plural(ranks.len() as u64, "rank", "ranks"),
        words::plural(files, "file", "files"),
        words::size(listing.work.len_bytes()),
        words::plural(u64::from(shards), "shard", "shards"),
    )
}

fn note(text: &str) {
    // The message is lost if standard error is closed.
    drop(writeln!(
        io::stderr().lock(),
        "{QUIET}note: {text}{QUIET:#}"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Result<(u32, u32), Mistake> {
        let shard = of_environment(|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        shard.map(|shard| (shard.number, shard.of))
    }

    #[test]
    fn schedulers_say_the_number_of_a_shard() {
        let array = [
            ("SLURM_ARRAY_TASK_ID", "7"),
            ("SLURM_ARRAY_TASK_MIN", "1"),
            ("SLURM_ARRAY_TASK_STEP", "2"),
            ("SLURM_ARRAY_TASK_COUNT", "8"),
            ("SLURM_PROCID", "0"),
            ("SLURM_NTASKS", "1"),
        ];
        assert_eq!(found(&array), Ok((3, 8)));
        let indexed = [("JOB_COMPLETION_INDEX", "5"), ("JOB_COMPLETIONS", "6")];
        assert_eq!(found(&indexed), Ok((5, 6)));
        assert_eq!(found(&array[4..]), Ok((0, 1)));
    }

    #[test]
    fn an_environment_without_a_number_is_an_error_that_says_what_is_there() {
        let text = |variables: &[(&str, &str)]| {
            let mut bytes = Vec::new();
            found(variables).unwrap_err().write(&mut bytes).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert!(text(&[]).contains("--shard auto finds no number"));
        let partial = text(&[("JOB_COMPLETION_INDEX", "5")]);
        assert!(partial.contains("JOB_COMPLETION_INDEX=5"), "{partial}");
        assert!(partial.contains("JOB_COMPLETIONS is not set"), "{partial}");
        let odd = [("SLURM_PROCID", "x"), ("SLURM_NTASKS", "-1")];
        assert!(text(&odd).contains("SLURM_PROCID=x"));
    }

    #[test]
    fn shards_that_do_not_exist_are_errors() {
        assert_eq!(parse("3/64"), Ok(ShardNumber { number: 3, of: 64 }));
        for text in ["64/64", "0/0", "a/b", "3", "-1/4", "1/2/3", "0/10001", ""] {
            let mut bytes = Vec::new();
            parse(text).unwrap_err().write(&mut bytes).unwrap();
            let text = format!("there is no shard {text}");
            assert!(String::from_utf8(bytes).unwrap().contains(&text), "{text}");
        }
    }
}
