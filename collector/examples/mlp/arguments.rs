//! The command line.

use std::path::PathBuf;
use std::time::Duration;

/// Fault to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// At step 40 the learning rate grows by four orders of magnitude: values overflow to infinity and become NaN.
    Overflow,
    /// A deep network of sigmoids: the gradients of the first layers vanish.
    Vanishing,
    /// The second layer is not updated by mistake.
    Frozen,
    /// A bias keeps all units of the first layer below zero, where the gradient is zero.
    DeadRelu,
    /// Two processes whose gradients are no longer averaged after some steps.
    Diverging,
    /// The training crashes and is restarted from a checkpoint.
    Restarted,
    /// The process is killed during a write.
    Torn,
}

const FAULTS: [(&str, Fault); 8] = [
    ("none", Fault::None),
    ("overflow", Fault::Overflow),
    ("vanishing", Fault::Vanishing),
    ("frozen", Fault::Frozen),
    ("dead-relu", Fault::DeadRelu),
    ("diverging", Fault::Diverging),
    ("restarted", Fault::Restarted),
    ("torn", Fault::Torn),
];

pub(crate) const USAGE: &str = "\
usage: cargo run --release --example mlp -- [flags]

  --fault F      none, overflow, vanishing, frozen, dead-relu, diverging, restarted or torn
  --out DIR      the folder of the run (default: runs/mlp-<fault>)
  --steps N      how many steps (default 200)
  --delay-ms N   how long each step takes longer, to watch it
  --seed N       the chance that there is (default 1)
  --scalars      record numbers alone, for long runs
  --live         connect to TRAINSCOPE_SERVER or when attached, and wait at gates
  --same-bytes   a made-up clock and fixed names: the same bytes each time";

/// Parsed command line.
#[derive(Clone, Debug)]
pub(crate) struct Arguments {
    pub(crate) fault: Fault,
    pub(crate) out: PathBuf,
    pub(crate) steps: i64,
    pub(crate) delay: Duration,
    pub(crate) seed: u64,
    pub(crate) scalars_only: bool,
    pub(crate) same_bytes: bool,
    pub(crate) live: bool,
}

impl Arguments {
    /// Parses the arguments; the error describes the invalid one.
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut name, mut out) = ("none".to_owned(), None);
        let mut arguments = Self {
            fault: Fault::None,
            out: PathBuf::new(),
            steps: 200,
            delay: Duration::ZERO,
            seed: 1,
            scalars_only: false,
            same_bytes: false,
            live: false,
        };
        while let Some(flag) = words.next() {
            let mut value = || words.next().ok_or(format!("{flag} wants a value"));
            let number = |text: String| {
                text.parse::<u32>()
                    .map_err(|error| format!("{flag}: {text:?}: {error}"))
            };
            match flag.as_str() {
                "--fault" => name = value()?,
                "--out" => out = Some(PathBuf::from(value()?)),
                "--steps" => arguments.steps = number(value()?)?.into(),
                "--delay-ms" => arguments.delay = Duration::from_millis(number(value()?)?.into()),
                "--seed" => arguments.seed = number(value()?)?.into(),
                "--scalars" => arguments.scalars_only = true,
                "--live" => arguments.live = true,
                "--same-bytes" => arguments.same_bytes = true,
                _ => return Err(format!("there is no flag {flag}")),
            }
        }
        let known = FAULTS.iter().find(|(known, _)| *known == name);
        arguments.fault = known.ok_or(format!("there is no fault {name:?}"))?.1;
        arguments.out = out.unwrap_or_else(|| PathBuf::from(format!("runs/mlp-{name}")));
        Ok(arguments)
    }
}
