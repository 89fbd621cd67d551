//! Progress of a check on stderr: a line on a terminal, occasional lines in a log, nothing for a quick check.

use std::io::Write as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::words;

/// Time before progress is shown.
const QUICK: Duration = Duration::from_millis(500);
/// Interval of lines in a log.
const SELDOM: Duration = Duration::from_secs(10);
const LINE: &str = "{msg:.dim}  {percent:>3.dim} %  {decimal_bytes:.dim} of {decimal_total_bytes:.dim}  \
                    {decimal_bytes_per_sec:.dim}  ~ {eta:.dim}";

pub(super) struct Progress {
    bar: ProgressBar,
    total_runs: usize,
    runs: usize,
    began: Instant,
    written: Instant,
    is_shown: bool,
    is_quiet: bool,
}

impl Progress {
    pub(super) fn new(total_bytes: u64, total_runs: usize, is_quiet: bool) -> Self {
        let now = Instant::now();
        let bar = ProgressBar::with_draw_target(Some(total_bytes), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(LINE) {
            bar.set_style(style);
        }
        bar.set_message("checking");
        Self {
            bar,
            total_runs,
            runs: 0,
            began: now,
            written: now,
            is_shown: false,
            is_quiet,
        }
    }

    /// Adds bytes read.
    pub(super) fn read(&mut self, bytes: u64) {
        self.bar.inc(bytes);
        if self.is_quiet {
            return;
        }
        if !self.is_shown && self.began.elapsed() >= QUICK {
            self.is_shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        // A bar that is not on a terminal hides itself.
        if self.is_shown && self.bar.is_hidden() && self.written.elapsed() >= SELDOM {
            self.written = Instant::now();
            let total = self.bar.length().unwrap_or(0);
            let done = self.bar.position().min(total);
            // Write errors are ignored.
            drop(writeln!(
                anstream::stderr(),
                "trainscope: checked {} ({} %), {} of {} runs, {:.0} s",
                words::size_of(done, total),
                done.saturating_mul(100) / total.max(1),
                self.runs,
                self.total_runs,
                self.began.elapsed().as_secs_f64()
            ));
        }
    }

    /// Marks a run as done. `bytes_so_far` is the position in all files.
    pub(super) fn finish_run(&mut self, bytes_so_far: u64) {
        self.runs += 1;
        if self.total_runs > 1 {
            let done = format!("checking  {} of {} runs", self.runs, self.total_runs);
            self.bar.set_message(done);
        }
        self.bar.set_position(bytes_so_far);
        self.read(0);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
