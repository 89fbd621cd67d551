//! `samples`: the generated runs below `sample-runs/transformer-small`, reproducible to the byte.
//!
//! A small transformer trained in bf16 is healthy; the same in fp16 without loss scaling overflows at step 411 and is
//! NaN since step 412; with loss scaling it trains again. Only operations that IEEE 754 defines to the last bit are
//! used, so that every platform writes the same bytes.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use anyhow::Result;

use crate::event_file::EventFile;
use xtask::console;
use xtask::random::Random;
use xtask::workspace::Workspace;

/// One of the runs.
struct Story {
    name: &'static str,
    seed: u64,
    started_secs: u32,
    last_step: u16,
    /// The step at which the gradient overflows; the loss is NaN since the next one.
    overflow_step: Option<u16>,
    /// Limit of the loss after many steps.
    final_loss: f64,
}

const STORIES: [Story; 3] = [
    Story {
        name: "bf16",
        seed: 3,
        started_secs: 1_795_203_700,
        last_step: 4_999,
        overflow_step: None,
        final_loss: 1.25,
    },
    Story {
        name: "fp16",
        seed: 5,
        started_secs: 1_795_212_000,
        last_step: 1_184,
        overflow_step: Some(411),
        final_loss: 1.32,
    },
    Story {
        name: "fp16-loss-scale",
        seed: 9,
        started_secs: 1_795_215_100,
        last_step: 2_731,
        overflow_step: None,
        final_loss: 1.29,
    },
];

/// Steps between two evaluations.
const EVALUATION_STEPS: u16 = 100;

/// Writes all runs.
pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    let folder = workspace.root.join("sample-runs/transformer-small");
    for story in &STORIES {
        let path = story.write(&folder)?;
        console::line(&format!("    {}", workspace.relative(&path)));
    }
    Ok(())
}

impl Story {
    fn write(&self, folder: &Path) -> Result<std::path::PathBuf> {
        let folder = folder.join(self.name);
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!(
            "events.out.tfevents.{}.gpu-1.4711.0",
            self.started_secs
        ));
        let started_secs = f64::from(self.started_secs);
        let mut file = EventFile::begin(BufWriter::new(File::create(&path)?), started_secs)?;
        let mut random = Random::new(self.seed);
        let mut now_secs = started_secs;
        for step in 0..=self.last_step {
            now_secs += 1.9 + 0.1 * random.unit();
            let mut values = vec![
                ("train/loss", self.loss(step, &mut random)),
                ("train/grad_norm", self.gradient_norm(step, &mut random)),
                ("train/learning_rate", learning_rate(step)),
                (
                    "train/tokens_per_sec",
                    13_400.0 * (1.0 + 0.02 * random.normal()),
                ),
            ];
            if step % EVALUATION_STEPS == 0 && !self.is_broken(step) {
                now_secs += 20.0;
                values.push((
                    "val/loss",
                    self.mean_loss(step) * (1.03 + 0.01 * random.normal()),
                ));
                values.push((
                    "val/accuracy",
                    accuracy(step) * (1.0 + 0.01 * random.normal()),
                ));
            }
            #[expect(
                clippy::cast_possible_truncation,
                reason = "event files hold single precision"
            )]
            let values: Vec<(&str, f32)> = values
                .iter()
                .map(|(tag, value)| (*tag, *value as f32))
                .collect();
            file.scalars(now_secs, i64::from(step), &values)?;
        }
        file.flush()?;
        Ok(path)
    }

    fn is_broken(&self, step: u16) -> bool {
        self.overflow_step.is_some_and(|overflow| step > overflow)
    }

    /// Loss that falls from 8.92 as 1/(1 + step/242).
    fn mean_loss(&self, step: u16) -> f64 {
        self.final_loss + (8.92 - self.final_loss) / (1.0 + f64::from(step) / 242.0)
    }

    fn loss(&self, step: u16, random: &mut Random) -> f64 {
        let noise = 0.04 * random.normal();
        if self.is_broken(step) {
            f64::NAN
        } else {
            self.mean_loss(step) * (1.0 + noise)
        }
    }

    /// Gradient norm that falls with the loss; before an overflow it doubles in each of the last six steps.
    fn gradient_norm(&self, step: u16, random: &mut Random) -> f64 {
        let calm = self.mean_loss(step) / 4.0 * (1.0 + 0.15 * random.normal());
        match self.overflow_step {
            Some(overflow) if step > overflow => f64::NAN,
            Some(overflow) if step == overflow => f64::INFINITY,
            Some(overflow) if step + 6 >= overflow => {
                calm * f64::from(1_u32 << (step + 7 - overflow))
            }
            _ => calm,
        }
    }
}

/// Warm-up over 400 steps to 3e-4, then decay with the square root of the step.
fn learning_rate(step: u16) -> f64 {
    let step = f64::from(step) + 1.0;
    if step < 400.0 {
        3e-4 * step / 400.0
    } else {
        3e-4 * (400.0 / step).sqrt()
    }
}

fn accuracy(step: u16) -> f64 {
    let step = f64::from(step);
    0.95 * step / (step + 1_820.0)
}
