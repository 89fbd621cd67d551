//! The runs of a check: by a walk over its folders, or from a plan.

use std::path::{Path, PathBuf};

use super::plan::{self, ListedRun, PlanContent};
use super::{CheckFlags, look, nothing_in, title};
use crate::cli::mistake::Mistake;
use crate::cli::words;
use crate::discovery::runs::TensorSource;
use crate::discovery::stamp::Stamp;
use crate::files;
use crate::judging::shard::{ShardNumber, Work};

/// Maximum number of shards.
pub(super) const MAX_SHARDS: u32 = 10_000;
/// Bytes of a shard, unless a number of shards is given: two seconds of one core from the page cache.
pub(super) const SHARD_BYTES: u64 = 4_000_000_000;

/// The runs of a check.
pub(super) struct Listing {
    pub(super) runs: Vec<ListedRun>,
    pub(super) work: Work,
    /// Hash of the files with tensors.
    pub(super) hash: u64,
    /// Number of shards of the plan, if there is one.
    pub(super) shards: Option<u32>,
    pub(super) unreadable: Vec<(String, String)>,
    pub(super) special: Vec<(String, String)>,
}

impl Listing {
    /// Lists the folders, or reads the plan, of which a shard needs a part only.
    pub(super) fn of(
        flags: &CheckFlags,
        shard: Option<ShardNumber>,
        threads: usize,
    ) -> Result<Self, Mistake> {
        let dirs = &flags.dirs;
        let mut listing = match &flags.shards.plan {
            None => Self::walk(dirs, threads)?,
            Some(path) => {
                let failed = |error: std::io::Error| {
                    Mistake::new(2, format!("the plan cannot be used: {error}"))
                        .at(format!("--plan {}", words::path(path)))
                        .attempt("remove it, and make it again with --plan")
                };
                if path.exists() {
                    if flags.shards.shards.is_some() {
                        return Err(Mistake::new(2, "the plan is made already")
                            .at(format!("--plan {}", words::path(path)))
                            .attempt("leave out --shards, or remove the plan"));
                    }
                } else {
                    let planned = Self::walk(dirs, threads)?.planned(flags.shards.shards);
                    plan::write(path, &planned, dirs).map_err(failed)?;
                }
                let listing = Self::planned_as(plan::read(path, dirs, shard).map_err(failed)?);
                if shard.is_none() {
                    listing.compare(threads)?;
                }
                listing
            }
        };
        for listed in &mut listing.runs {
            let (dir, run) = (&dirs[listed.source], &mut listed.run);
            run.title = title(dir, &run.name);
        }
        Ok(listing)
    }

    fn walk(dirs: &[PathBuf], threads: usize) -> Result<Self, Mistake> {
        let mut runs = Vec::new();
        let (mut unreadable, mut special) = (Vec::new(), Vec::new());
        for (source, dir) in dirs.iter().enumerate() {
            let found = look(dir, threads)?;
            if found.runs.is_empty() && found.unreadable.is_empty() {
                return Err(nothing_in(dir, &found));
            }
            let of_dir = found.runs.into_iter();
            runs.extend(of_dir.map(|run| ListedRun { source, run }));
            unreadable.extend(found.unreadable);
            let found = found.special.into_iter();
            special.extend(found.map(|(path, what)| (path, what.to_owned())));
        }
        Ok(Self {
            work: Work::of(runs.iter().map(|listed| &listed.run)),
            hash: plan::hash(&runs, dirs),
            runs,
            shards: None,
            unreadable,
            special,
        })
    }

    fn planned(self, shards: Option<u32>) -> PlanContent {
        let needed = self.work.len_bytes().div_ceil(SHARD_BYTES);
        let needed = u32::try_from(needed).unwrap_or(MAX_SHARDS);
        PlanContent {
            shards: shards.unwrap_or_else(|| needed.clamp(1, MAX_SHARDS)),
            runs: self.runs,
            work: self.work,
            hash: self.hash,
            unreadable: self.unreadable,
            special: self.special,
        }
    }

    fn planned_as(planned: PlanContent) -> Self {
        Self {
            runs: planned.runs,
            work: planned.work,
            hash: planned.hash,
            shards: Some(planned.shards),
            unreadable: planned.unreadable,
            special: planned.special,
        }
    }

    /// Compares all files with tensors with what the plan says.
    fn compare(&self, threads: usize) -> Result<(), Mistake> {
        let ranks = || {
            self.runs
                .iter()
                .flat_map(|listed| listed.run.ranks.values())
        };
        for source in ranks().flat_map(|rank| &rank.events) {
            // Event files grow, and are read to their end as by any check.
            let now = files::metadata(&source.path);
            let now = now.ok().as_ref().map(Stamp::new);
            if now.is_none_or(|now| now.len_bytes < source.stamp.len_bytes) {
                return Err(changed(&source.path, source.stamp, now));
            }
        }
        let ranks = ranks();
        let files: Vec<_> = ranks
            .flat_map(|rank| rank.steps.values().flatten())
            .collect();
        let part = files.len().div_ceil(threads.max(1)).max(1);
        let change = |part: &[&TensorSource]| {
            part.iter().find_map(|source| {
                let now = files::metadata(&source.path);
                let now = now.ok().as_ref().map(Stamp::new);
                (now != Some(source.stamp)).then(|| (source.path.clone(), source.stamp, now))
            })
        };
        let first = std::thread::scope(|scope| {
            let parts = files.chunks(part);
            let parts = parts.map(|part| scope.spawn(move || change(part)));
            let parts: Vec<_> = parts.collect();
            let found = parts.into_iter();
            // All threads end before the first change is taken.
            let found: Vec<_> = found.map(|part| part.join().ok().flatten()).collect();
            found.into_iter().flatten().next()
        });
        match first {
            Some((path, then, now)) => Err(changed(&path, then, now)),
            None => Ok(()),
        }
    }
}

/// Error for a file that is not what a plan says.
pub(super) fn changed(path: &Path, then: Stamp, now: Option<Stamp>) -> Mistake {
    let text = |stamp: Stamp| {
        let time = jiff::Timestamp::try_from(stamp.modified);
        let time = time.map_or_else(|_| "an unknown time".to_owned(), |time| time.to_string());
        format!("{} bytes of {time}", words::count(stamp.len_bytes))
    };
    let now = now.map_or_else(
        || "it is gone".to_owned(),
        |now| format!("now {}", text(now)),
    );
    Mistake::new(2, "a file has changed since the plan was made")
        .at(words::path(path))
        .at(format!("planned {}, {now}", text(then)))
        .attempt("remove the plan, and make it again with --plan")
}
