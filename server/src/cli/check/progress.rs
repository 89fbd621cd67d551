//! Progress of a check on stderr: one line that is rewritten on a terminal, occasional lines in a log, nothing for a
//! quick check.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::cli::style::QUIET;
use crate::cli::words;

/// Time before progress is shown.
const QUICK: Duration = Duration::from_millis(500);
/// Interval of updates on a terminal.
const OFTEN: Duration = Duration::from_millis(100);
/// Interval of lines in a log.
const SELDOM: Duration = Duration::from_secs(10);

/// Progress of a check.
pub(super) struct Progress {
    total_bytes: u64,
    total_runs: usize,
    bytes: u64,
    runs: usize,
    began: Instant,
    told: Instant,
    is_terminal: bool,
    is_shown: bool,
    is_quiet: bool,
}

impl Progress {
    pub(super) fn new(total_bytes: u64, total_runs: usize, is_quiet: bool) -> Self {
        let now = Instant::now();
        Self {
            total_bytes,
            total_runs,
            bytes: 0,
            runs: 0,
            began: now,
            told: now,
            is_terminal: io::stderr().is_terminal(),
            is_shown: false,
            is_quiet,
        }
    }

    /// Adds bytes read.
    pub(super) fn read(&mut self, bytes: u64) {
        self.bytes += bytes;
        let pause = match (self.is_terminal, self.is_shown) {
            (true, false) => QUICK,
            (true, true) => OFTEN,
            (false, _) => SELDOM,
        };
        if self.is_quiet || self.told.elapsed() < pause {
            return;
        }
        self.told = Instant::now();
        // Write errors are ignored.
        drop(self.tell());
    }

    /// Marks a run as done; its files have this many bytes.
    pub(super) fn finish_run(&mut self, bytes_so_far: u64) {
        self.runs += 1;
        self.bytes = bytes_so_far;
        self.read(0);
    }

    fn tell(&mut self) -> io::Result<()> {
        let done = self.bytes.min(self.total_bytes);
        let percent = done.saturating_mul(100) / self.total_bytes.max(1);
        let sizes = words::size_of(done, self.total_bytes);
        let secs = self.began.elapsed().as_secs_f64();
        let mut out = anstream::stderr().lock();
        if self.is_terminal {
            let millis = self.began.elapsed().as_millis().max(1);
            let speed = u128::from(done) * 1000 / millis;
            let speed = words::size(u64::try_from(speed).unwrap_or(u64::MAX));
            let runs = if self.total_runs > 1 {
                format!("  {} of {} runs", self.runs, self.total_runs)
            } else {
                String::new()
            };
            let left = secs / (done.max(1) as f64) * (self.total_bytes - done) as f64;
            let line = format!("checking{runs}  {percent:>2} %  {sizes}  {speed}/s  ~ {left:.0} s");
            write!(out, "\r\x1b[K{QUIET}{line}{QUIET:#}")?;
        } else {
            writeln!(
                out,
                "trainscope: checked {sizes} ({percent} %), {} of {} runs, {secs:.0} s",
                self.runs, self.total_runs
            )?;
        }
        self.is_shown = true;
        out.flush()
    }
}

impl Drop for Progress {
    /// Clears the line.
    fn drop(&mut self) {
        if self.is_shown && self.is_terminal {
            let mut out = anstream::stderr().lock();
            drop(out.write_all(b"\r\x1b[K").and_then(|()| out.flush()));
        }
    }
}
