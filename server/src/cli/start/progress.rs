//! Progress of `start`: runs, a progress bar, and readiness.
//!
//! On a terminal the lines are rewritten in place. Elsewhere each is written once, and progress only every ten
//! seconds.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::sync::watch;
use trainscope_api::runs::{FileStatus, Run, RunList, RunStatus};
use trainscope_api::status::Ingest;

use super::write_out;
use crate::cli::style::{QUIET, WARNING};
use crate::cli::words;
use crate::index::Index;

/// Polling interval, and minimum interval of updates.
const LOOK: Duration = Duration::from_millis(200);
/// Time before progress is shown.
const QUICK: Duration = Duration::from_millis(500);
/// Interval of progress lines without a terminal.
const SELDOM: Duration = Duration::from_secs(10);
const FRAME: &str = "{msg}\n\nreading  {bar:32.dim}  {percent:>2.dim} %  {decimal_bytes:.dim} of \
                     {decimal_total_bytes:.dim}  {prefix:.dim}  ~ {eta:.dim}";

/// Prints progress until everything is read or the server ends. Write errors are ignored.
pub(super) async fn tell(index: Index, began: Instant, ending: watch::Receiver<bool>) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template(FRAME) {
        bar.set_style(style.progress_chars("=-"));
    }
    let mut last = began;
    loop {
        let index = index.clone();
        let looked = tokio::task::spawn_blocking(move || {
            // Progress is requested first: the runs requested later are at least as recent.
            let ingest = index.ingest();
            (ingest, index.runs())
        });
        let Ok((ingest, runs)) = looked.await else {
            return;
        };
        let took = began.elapsed();
        let written = if ingest.idle {
            bar.finish_and_clear();
            ready(&runs, took)
        } else if took < QUICK {
            Ok(())
        } else {
            progress(&bar, &ingest, &runs);
            if bar.is_hidden() && last.elapsed() >= SELDOM {
                last = Instant::now();
                writeln!(anstream::stderr(), "{}", plain(&ingest, &runs, took))
            } else {
                Ok(())
            }
        };
        if let Err(error) = written {
            tracing::debug!(%error, "progress is not written any more");
            return;
        }
        if ingest.idle || *ending.borrow() {
            bar.finish_and_clear();
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Draws the bar, which stays hidden without a terminal.
fn progress(bar: &ProgressBar, ingest: &Ingest, runs: &RunList) {
    if bar.is_hidden() {
        // Only once on a terminal: a new target has no record of the lines to clear.
        bar.set_draw_target(ProgressDrawTarget::stdout());
    }
    bar.set_length(ingest.total_bytes);
    bar.set_position(ingest.bytes.min(ingest.total_bytes));
    bar.set_prefix(format!(
        "{} of {} runs",
        words::count(runs_read(runs)),
        words::count(runs.runs.len() as u64)
    ));
    bar.set_message(summary(runs).join("\n"));
}

fn ready(runs: &RunList, took: Duration) -> io::Result<()> {
    let secs = took.as_secs_f64();
    let mut lines = summary(runs);
    lines.extend([
        String::new(),
        format!(
            "Ready in {secs:.1} s, watching for changes.  {QUIET}Ctrl-C ends the page, never a training.{QUIET:#}"
        ),
        String::new(),
    ]);
    write_out(&lines.join("\n"))
}

/// `  Runs     14 in 6 folders, 8.4 GB: 1 damaged, 2 live`, and the name of a growing run, if any.
fn summary(list: &RunList) -> Vec<String> {
    if list.runs.is_empty() {
        return vec!["  Runs     none yet; they appear when a training writes".to_owned()];
    }
    let folders: BTreeSet<&str> = list
        .runs
        .iter()
        .map(|run| run.id.rsplit_once('/').map_or(".", |(folder, _)| folder))
        .collect();
    let len_bytes = list.runs.iter().map(|run| run.len_bytes).sum();
    let damaged = list
        .runs
        .iter()
        .filter(|run| {
            run.files
                .iter()
                .any(|file| matches!(file.status, FileStatus::Damaged | FileStatus::Unreadable))
        })
        .count() as u64;
    let live = list
        .runs
        .iter()
        .filter(|run| run.status == RunStatus::Live)
        .count() as u64;
    let mut said = Vec::new();
    if damaged > 0 {
        said.push(format!(
            "{} {WARNING}damaged{WARNING:#}",
            words::count(damaged)
        ));
    }
    if live > 0 {
        said.push(format!("{} live", words::count(live)));
    }
    let mut lines = vec![format!(
        "  Runs     {}{} in {}, {}{}{}",
        if list.cut { "more than " } else { "" },
        words::count(list.runs.len() as u64),
        words::plural(folders.len() as u64, "folder", "folders"),
        words::size(len_bytes),
        if said.is_empty() { "" } else { ": " },
        said.join(", ")
    )];
    let newest = list
        .runs
        .iter()
        .filter(|run| run.status == RunStatus::Live)
        .max_by(|a, b| {
            let time = |run: &Run| run.last_wall_time_secs.unwrap_or(f64::NEG_INFINITY);
            time(a).total_cmp(&time(b))
        });
    if let Some(run) = newest {
        let step = run
            .last_step
            .map_or_else(String::new, |step| format!(", step {}", words::step(step)));
        let name = words::name(&run.id, None);
        lines.push(format!("  Live     {name}{step}"));
    }
    lines
}

/// Number of runs read completely.
fn runs_read(list: &RunList) -> u64 {
    let read = list.runs.iter().filter(|run| {
        run.files
            .iter()
            .all(|file| file.read_bytes >= file.len_bytes)
    });
    read.count() as u64
}

fn percent(ingest: &Ingest) -> u64 {
    (ingest.bytes.min(ingest.total_bytes) * 100)
        .checked_div(ingest.total_bytes)
        .unwrap_or(0)
}

/// `trainscope: reading 3.1 of 8.4 GB (37 %), 4 of 14 runs, 4 s`.
fn plain(ingest: &Ingest, runs: &RunList, took: Duration) -> String {
    format!(
        "trainscope: reading {} ({} %), {} of {} runs, {}",
        words::size_of(ingest.bytes, ingest.total_bytes),
        percent(ingest),
        words::count(runs_read(runs)),
        words::count(runs.runs.len() as u64),
        words::span(took)
    )
}

#[cfg(test)]
mod tests {
    use super::{plain, summary};
    use std::time::Duration;
    use trainscope_api::runs::RunList;
    use trainscope_api::status::Ingest;

    #[test]
    fn a_log_has_plain_lines() {
        let ingest = Ingest {
            bytes: 3_100_000_000,
            total_bytes: 8_400_000_000,
            ..Ingest::default()
        };
        let runs = RunList::default();
        let took = Duration::from_secs(4);
        assert_eq!(
            plain(&ingest, &runs, took),
            "trainscope: reading 3.1 of 8.4 GB (36 %), 0 of 0 runs, 4 s"
        );
        assert_eq!(
            summary(&runs),
            ["  Runs     none yet; they appear when a training writes"]
        );
    }
}
