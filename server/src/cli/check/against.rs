//! The good profiles of `--against`: another run, or an exported file.

use std::path::Path;

use super::{look, nothing_in, title};
use crate::cli::mistake::Mistake;
use crate::cli::words;
use crate::files;
use crate::judging::baseline::GoodProfiles;

/// Maximum size of an exported file: a hundred thousand steps.
const MAX_EXPORT_BYTES: u64 = 256 << 20;

/// Reads the profiles to compare with. A run without a profile is not an error, but nothing can be judged against it.
pub(super) fn read(path: &Path, any_device: bool, threads: usize) -> Result<GoodProfiles, Mistake> {
    let flag = || format!("--against {}", words::path(path));
    let attempt =
        "trainscope export RUN --kind profile --format json -o FILE, and then --against FILE";
    if !files::is_address(path) && !path.exists() {
        return Err(Mistake::missing_dir(path, "trainscope check RUN --against"));
    }
    let mut found = look(path, threads)?;
    let count = found.runs.len();
    if let Some(run) = found.runs.iter().find(|run| run.name == ".") {
        return Ok(GoodProfiles::of_run(run, any_device));
    }
    match found.runs.pop() {
        Some(run) if count == 1 => Ok(GoodProfiles::of_run(&run, any_device)),
        Some(run) => {
            let what = format!(
                "{} holds {count} runs, and one is the baseline",
                words::path(path)
            );
            let example = words::name(&title(path, &run.name), None);
            let one = format!("name one of them, such as --against {example}");
            Err(Mistake::new(2, what).at(flag()).attempt(one))
        }
        None if files::is_file(path) => {
            let bad = |what: String| Mistake::new(2, what).at(flag()).attempt(attempt);
            let text = files::read_text(path, MAX_EXPORT_BYTES)
                .map_err(|error| bad(format!("the baseline cannot be read: {error}")))?;
            GoodProfiles::of_export(&text, any_device).map_err(|error| {
                bad(format!(
                    "the baseline is neither a run nor an exported profile: {error}"
                ))
            })
        }
        None => Err(nothing_in(path, &found).at(flag())),
    }
}
