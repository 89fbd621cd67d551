//! Runs of a large search: 40 parameters that vary, 140 that do not, in a configuration file each, and 20 results.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::event_file::EventFile;
use xtask::console;
use xtask::random::Random;

/// Number of runs.
const RUNS: u64 = 10_000;
/// Number of parameters that vary, and of those that are the same in all runs.
const VARYING: usize = 40;
const CONSTANT: usize = 140;
/// Number of results, and of the points of each.
const RESULTS: usize = 20;
const STEPS: u64 = 3;
/// Number of records of all files.
pub(super) const RECORDS: u64 = RUNS * RESULTS as u64 * STEPS;
/// Key of the result that parameters explain.
pub(super) const TARGET: &str = "metric:eval/loss";

/// Writes the files unless they exist.
pub(super) fn on_disk(scratch: &Path) -> Result<PathBuf> {
    let folder = scratch.join("data").join("ten-thousand-runs");
    let finished = scratch.join("data").join("ten-thousand-runs.finished");
    if !finished.exists() {
        console::line(&format!("    write {}", folder.display()));
        for run in 0..RUNS {
            write(&folder.join(format!("run_{run:05}")), run)?;
        }
        fs::write(&finished, "")?;
    }
    Ok(folder)
}

/// Keys of a number of axes and of all results.
pub(super) fn axes(count: usize) -> Vec<String> {
    let mut keys = parameters(count);
    keys.extend((0..RESULTS).map(|result| format!("metric:{}", tag(result))));
    keys
}

/// Keys of a number of columns that may explain a result: parameters, then other results.
pub(super) fn parameters(count: usize) -> Vec<String> {
    let results = (1..RESULTS).map(|result| format!("metric:{}", tag(result)));
    let summaries = (1..RESULTS).map(|result| format!("metric:{}@first", tag(result)));
    let parameters = (0..VARYING).map(name);
    parameters
        .chain(results)
        .chain(summaries)
        .take(count)
        .collect()
}

fn name(parameter: usize) -> String {
    match parameter {
        0 => "lr".to_owned(),
        1 => "optimizer".to_owned(),
        _ => format!("model.p{parameter:02}"),
    }
}

fn tag(result: usize) -> String {
    match result {
        0 => "eval/loss".to_owned(),
        _ => format!("eval/metric_{result:02}"),
    }
}

fn write(folder: &Path, run: u64) -> Result<()> {
    const STARTED_SECS: f64 = 1_700_000_000.0;
    const OPTIMIZERS: [&str; 4] = ["adam", "adamw", "lion", "sgd"];
    fs::create_dir_all(folder)?;
    let mut random = Random::new(run + 1);
    let power = -5.0 * random.unit();
    let mut config = format!("lr: {:e}\n", 10.0_f64.powf(power));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number from 0 to 3"
    )]
    let optimizer = OPTIMIZERS[(random.unit() * 4.0) as usize % 4];
    writeln!(config, "optimizer: {optimizer}\nmodel:")?;
    for parameter in 2..VARYING {
        match parameter % 3 {
            0 => writeln!(config, "  p{parameter:02}: {}", random.unit())?,
            1 => writeln!(
                config,
                "  p{parameter:02}: {:.0}",
                1.0 + 64.0 * random.unit()
            )?,
            _ => writeln!(config, "  p{parameter:02}: kind-{:.0}", 5.0 * random.unit())?,
        }
    }
    writeln!(config, "fixed:")?;
    for parameter in 0..CONSTANT {
        writeln!(config, "  setting_{parameter:03}: {}", parameter * 7)?;
    }
    fs::write(folder.join("config.yaml"), config)?;

    let path = folder.join(format!("events.out.tfevents.1700000000.host.{run}.0"));
    let mut file = EventFile::begin(BufWriter::new(File::create(path)?), STARTED_SECS)?;
    for step in 0..STEPS {
        let now_secs = STARTED_SECS + step as f64;
        for result in 0..RESULTS {
            // The loss is lowest at a learning rate of 10⁻³.
            let explained = if result == 0 {
                (power + 3.0).powi(2)
            } else {
                0.0
            };
            #[expect(
                clippy::cast_possible_truncation,
                reason = "event files hold single precision"
            )]
            let value = (0.1 + explained + 0.3 * random.unit()) as f32;
            file.scalars(now_secs, step.cast_signed(), &[(&*tag(result), value)])?;
        }
    }
    file.flush()?;
    Ok(())
}
