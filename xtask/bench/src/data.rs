//! Event files for measurements: scalars as PyTorch writes them, one event per value.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::event_file::EventFile;
use xtask::console;
use xtask::random::Random;

/// Numbers of runs, tags and steps.
pub(super) struct Shape {
    pub(super) name: &'static str,
    folder: &'static str,
    runs: u64,
    tags: u64,
    pub(super) steps: u64,
}

/// Event files of a shape.
pub(super) struct Data {
    pub(super) folder: PathBuf,
    pub(super) points: u64,
    pub(super) runs: Vec<String>,
    pub(super) first_run: String,
}

impl Shape {
    pub(super) const ONE_LONG: Self = Self {
        name: "1 run × 1 tag × 1,000,000 steps",
        folder: "one-long",
        runs: 1,
        tags: 1,
        steps: 1_000_000,
    };
    pub(super) const HUNDRED_RUNS: Self = Self {
        name: "100 runs × 10 tags × 1,000 steps",
        folder: "hundred-runs",
        runs: 100,
        tags: 10,
        steps: 1_000,
    };
    pub(super) const THOUSAND_RUNS: Self = Self {
        name: "1,000 runs × 10 tags × 100 steps",
        folder: "thousand-runs",
        runs: 1_000,
        tags: 10,
        steps: 100,
    };
    pub(super) const MANY_RUNS: Self = Self {
        name: "25,000 runs × 2 tags × 10 steps",
        folder: "many-runs",
        runs: 25_000,
        tags: 2,
        steps: 10,
    };
    pub(super) const HUNDRED_THOUSAND_RUNS: Self = Self {
        name: "100,000 runs × 5 tags × 20 steps",
        folder: "hundred-thousand-runs",
        runs: 100_000,
        tags: 5,
        steps: 20,
    };
    pub(super) const VERY_LONG: Self = Self {
        name: "1 run × 1 tag × 10,000,000 steps",
        folder: "very-long",
        runs: 1,
        tags: 1,
        steps: 10_000_000,
    };

    pub(super) const WIDE: Self = Self {
        name: "1,000 runs × 100 tags × 10 steps",
        folder: "wide",
        runs: 1_000,
        tags: 100,
        steps: 10,
    };
    pub(super) const HUNDRED_TAGS: Self = Self {
        name: "1 run × 100 tags × 1,000 steps",
        folder: "hundred-tags",
        runs: 1,
        tags: 100,
        steps: 1_000,
    };

    /// Writes the files unless they exist.
    pub(super) fn on_disk(&self, scratch: &Path) -> Result<Data> {
        let folder = scratch.join("data").join(self.folder);
        let runs: Vec<String> = (0..self.runs).map(|run| format!("run_{run:04}")).collect();
        let finished = scratch
            .join("data")
            .join(format!("{}.finished", self.folder));
        if !finished.exists() {
            console::line(&format!("    write {}", folder.display()));
            for (number, run) in (0_u64..).zip(&runs) {
                self.write(&folder.join(run), number)?;
            }
            fs::write(&finished, self.name)?;
        }
        Ok(Data {
            points: self.runs * self.tags * self.steps,
            first_run: runs.first().cloned().unwrap_or_default(),
            folder,
            runs,
        })
    }

    /// Writes curves that fall to a floor, with noise, so that they compress no better than real ones.
    fn write(&self, folder: &Path, number: u64) -> Result<()> {
        const STARTED_SECS: f64 = 1_700_000_000.0;
        fs::create_dir_all(folder)?;
        let path = folder.join(format!("events.out.tfevents.1700000000.host.{number}.0"));
        let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let mut file = EventFile::begin(out, STARTED_SECS)?;
        let mut random = Random::new(number + 1);
        let tags: Vec<String> = (0..self.tags)
            .map(|tag| format!("metrics/tag_{tag:02}"))
            .collect();
        for step in 0..self.steps {
            let now_secs = STARTED_SECS + step as f64 * 0.01 + 0.002 * random.unit();
            for tag in &tags {
                let fallen = 1.0 + 5.0 * step as f64 / self.steps as f64;
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "event files hold single precision"
                )]
                let value = (1.0 / fallen + 0.1 * random.unit()) as f32;
                file.scalars(now_secs, step.cast_signed(), &[(tag.as_str(), value)])?;
            }
        }
        file.flush()?;
        Ok(())
    }
}
