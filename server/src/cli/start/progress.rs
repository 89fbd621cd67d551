//! Progress of `start`: runs, a progress line, and readiness.
//!
//! On a terminal the lines are rewritten in place. Elsewhere each is written once, and progress only every ten
//! seconds.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

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
const BAR_WIDTH: usize = 32;
/// A frame with a wrapped line could not be rewritten, so narrow terminals get none.
const LEAST_COLUMNS: usize = 80;

/// Prints progress until everything is read or the server ends. Write errors are ignored.
pub(super) async fn tell(index: Index, began: Instant, ending: watch::Receiver<bool>) {
    let mut teller = Teller {
        columns: columns(),
        began,
        lines: 0,
        last: began,
    };
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
        if let Err(error) = teller.look(&ingest, &runs) {
            tracing::debug!(%error, "progress is not told any more");
            return;
        }
        if ingest.idle || *ending.borrow() {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The width of the terminal, if both streams are one and it is wide enough for rewriting.
fn columns() -> Option<usize> {
    if !io::stdout().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns >= LEAST_COLUMNS)
}

struct Teller {
    /// Width of the terminal, if lines can be rewritten there.
    columns: Option<usize>,
    began: Instant,
    /// Number of lines of the last frame above the cursor.
    lines: usize,
    last: Instant,
}

impl Teller {
    fn look(&mut self, ingest: &Ingest, runs: &RunList) -> io::Result<()> {
        let took = self.began.elapsed();
        if ingest.idle {
            let ready = format!(
                "Ready in {:.1} s, watching for changes.  {QUIET}Ctrl-C ends the page, never a training.{QUIET:#}",
                took.as_secs_f64()
            );
            let mut lines = summary(runs, self.columns);
            lines.extend([String::new(), ready, String::new()]);
            return match self.columns {
                Some(_) => self.frame(&lines),
                None => write_out(&lines.join("\n")),
            };
        }
        if took < QUICK {
            return Ok(());
        }
        if let Some(columns) = self.columns {
            let mut lines = summary(runs, self.columns);
            lines.extend([String::new(), bar(ingest, runs, took, columns)]);
            return self.frame(&lines);
        }
        if self.last.elapsed() >= SELDOM {
            self.last = Instant::now();
            let mut stderr = anstream::stderr().lock();
            writeln!(stderr, "{}", plain(ingest, runs, took))?;
            stderr.flush()?;
        }
        Ok(())
    }

    /// Replaces the previous frame by `lines`; the last one ends without a line break.
    fn frame(&mut self, lines: &[String]) -> io::Result<()> {
        let mut text = String::from("\r");
        if self.lines > 0 {
            write!(text, "\x1b[{}A", self.lines).map_err(io::Error::other)?;
        }
        let cleared: Vec<String> = lines.iter().map(|line| format!("\x1b[2K{line}")).collect();
        text.push_str(&cleared.join("\n"));
        // The previous frame may have had one line more.
        text.push_str("\x1b[J");
        self.lines = lines.len() - 1;
        write_out(&text)
    }
}

/// `  Runs     14 in 6 folders, 8.4 GB: 1 damaged, 2 live`, and the name of a growing run, if any.
fn summary(list: &RunList, columns: Option<usize>) -> Vec<String> {
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
        let head = "  Live     ";
        // One column stays free, as with progress.
        let name = words::name(
            &run.id,
            columns.map(|columns| columns.saturating_sub(head.len() + step.len() + 1)),
        );
        lines.push(format!("{head}{name}{step}"));
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

/// `reading  ====----  37 %  3.1 of 8.4 GB  11 of 14 runs  ~ 4 s`.
fn bar(ingest: &Ingest, runs: &RunList, took: Duration, columns: usize) -> String {
    let percent = percent(ingest);
    // The rate of the first moments is unreliable.
    let left = if ingest.bytes > 0 && took > Duration::from_secs(1) {
        let left = ingest.total_bytes.saturating_sub(ingest.bytes) as f64 / ingest.bytes as f64;
        let left = Duration::try_from_secs_f64(took.as_secs_f64() * left).unwrap_or_default();
        format!("  ~ {}", words::span(left))
    } else {
        String::new()
    };
    let numbers = format!(
        "  {percent:>2} %  {}  {} of {} runs{left}",
        words::size_of(ingest.bytes, ingest.total_bytes),
        words::count(runs_read(runs)),
        words::count(runs.runs.len() as u64),
    );
    let head = "reading  ";
    // The last column stays free: writing into it moves the cursor on some terminals.
    let width = BAR_WIDTH.min(columns.saturating_sub(head.len() + numbers.len() + 1));
    let done = usize::try_from(percent).unwrap_or(0) * width / 100;
    format!(
        "{QUIET}{head}{}{}{numbers}{QUIET:#}",
        "=".repeat(done),
        "-".repeat(width - done)
    )
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
    use super::{bar, plain, summary};
    use std::time::Duration;
    use trainscope_api::runs::RunList;
    use trainscope_api::status::Ingest;

    #[test]
    fn progress_fits_its_line() {
        let ingest = Ingest {
            bytes: 3_100_000_000,
            total_bytes: 8_400_000_000,
            ..Ingest::default()
        };
        let runs = RunList::default();
        let took = Duration::from_secs(4);
        let wide = bar(&ingest, &runs, took, 120);
        assert_eq!(
            anstream::adapter::strip_str(&wide).to_string(),
            "reading  ===========---------------------  36 %  3.1 of 8.4 GB  0 of 0 runs  ~ 6 s"
        );
        let narrow = bar(&ingest, &runs, took, 80);
        let narrow = anstream::adapter::strip_str(&narrow).to_string();
        assert_eq!(narrow.len(), 79, "{narrow}");
        assert_eq!(
            plain(&ingest, &runs, took),
            "trainscope: reading 3.1 of 8.4 GB (36 %), 0 of 0 runs, 4 s"
        );
        assert_eq!(
            summary(&runs, None),
            ["  Runs     none yet; they appear when a training writes"]
        );
    }
}
