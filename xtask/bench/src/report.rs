//! The table of results: medians, and the ratio to the peer.

use std::fmt::Write as _;

use xtask::console;

/// Repetitions of one measurement.
pub(super) struct Samples(Vec<f64>);

impl Samples {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn of(values: impl Iterator<Item = f64>) -> Self {
        Self(values.collect())
    }

    pub(super) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    /// Median; `None` without samples.
    pub(super) fn median(&self) -> Option<f64> {
        let sorted = self.sorted();
        sorted.get(sorted.len() / 2).copied()
    }

    /// Maximum; `None` without samples.
    pub(super) fn greatest(&self) -> Option<f64> {
        self.0.iter().copied().reduce(f64::max)
    }

    /// 95th percentile; `None` without samples.
    pub(super) fn most(&self) -> Option<f64> {
        let sorted = self.sorted();
        let last = sorted.len().checked_sub(1)?;
        sorted.get(last * 95 / 100).copied()
    }

    /// The smallest value that this share of the values does not exceed.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let sorted = self.sorted();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place in the list"
        )]
        let at = (share * sorted.len() as f64).ceil() as usize;
        sorted.get(at.saturating_sub(1)).copied()
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}

/// Rows of the table, each printed immediately.
#[derive(Default)]
pub(super) struct Report {
    rows: Vec<[String; 4]>,
}

impl Report {
    /// Adds a row in seconds.
    pub(super) fn times(&mut self, what: &str, ours: &Samples, theirs: &Samples) {
        self.compared(what, ours, theirs, |secs| format!("{secs:.3} s"));
    }

    /// Adds a row in milliseconds, one median of each.
    pub(super) fn millis(&mut self, what: &str, ours: f64, theirs: Option<f64>) {
        let shown = |millis: f64| format!("{millis:.2} ms");
        self.push([
            what.to_owned(),
            shown(ours),
            theirs.map(shown).unwrap_or_default(),
            theirs
                .map(|theirs| format!("{:.1} ×", theirs / ours))
                .unwrap_or_default(),
        ]);
    }

    /// Adds a row in milliseconds: median and maximum.
    pub(super) fn spread(&mut self, what: &str, ours: &Samples) {
        let (median, worst) = (ours.median(), ours.greatest());
        let or_none = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let shown = format!("{:.0} ms, at most {:.0}", or_none(median), or_none(worst));
        self.figure(what, &shown);
    }

    /// Adds a row of frame times in milliseconds: frames per second, and the 95th percentile.
    pub(super) fn frames(&mut self, what: &str, ours: &Samples) {
        let per_sec = 1e3 * ours.0.len() as f64 / ours.0.iter().sum::<f64>();
        let most = ours.most().unwrap_or(f64::NAN);
        self.figure(
            what,
            &format!("{per_sec:.0} frames a second, 95 % within {most:.0} ms"),
        );
    }

    /// Adds a row of answers per second.
    pub(super) fn rates(&mut self, what: &str, ours: f64, theirs: Option<f64>) {
        let shown = |per_sec: f64| format!("{per_sec:.0} /s");
        self.push([
            what.to_owned(),
            shown(ours),
            theirs.map(shown).unwrap_or_default(),
            theirs
                .map(|theirs| format!("{:.1} ×", ours / theirs))
                .unwrap_or_default(),
        ]);
    }

    /// Adds a row of memory in bytes.
    pub(super) fn memory(&mut self, what: &str, ours: &Samples, theirs: &Samples) {
        self.compared(what, ours, theirs, |bytes| {
            format!("{:.0} MiB", bytes / f64::from(1 << 20))
        });
    }

    /// Adds a row without a peer.
    pub(super) fn figure(&mut self, what: &str, value: &str) {
        self.push([
            what.to_owned(),
            value.to_owned(),
            String::new(),
            String::new(),
        ]);
    }

    fn compared(
        &mut self,
        what: &str,
        ours: &Samples,
        theirs: &Samples,
        shown: impl Fn(f64) -> String,
    ) {
        let (ours, theirs) = (ours.median(), theirs.median());
        let ratio = ours
            .zip(theirs)
            .map(|(ours, theirs)| format!("{:.1} ×", theirs / ours));
        self.push([
            what.to_owned(),
            ours.map(&shown).unwrap_or_default(),
            theirs.map(&shown).unwrap_or_default(),
            ratio.unwrap_or_default(),
        ]);
    }

    fn push(&mut self, row: [String; 4]) {
        console::line(&format!("    {}", row.join("  ")));
        self.rows.push(row);
    }

    /// The whole table.
    pub(super) fn markdown(&self) -> String {
        let mut table =
            String::from("| what | trainscope | peer | ratio |\n| --- | ---: | ---: | ---: |\n");
        for row in &self.rows {
            // Writing to a string cannot fail.
            if writeln!(table, "| {} |", row.join(" | ")).is_err() {
                break;
            }
        }
        table
    }
}
