//! A small, deterministic training: a multi-layer perceptron with a hand-written forward and backward pass, recorded by
//! the collector, with a switch for each fault.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program says what it has done"
)]

mod arguments;
mod data;
mod landscape;
mod model;
mod numbers;
mod time;
mod training;

use std::error::Error;
use std::fs::OpenOptions;
use std::panic;
use std::process::ExitCode;

use trainscope_collector::CollectorReport;

use crate::arguments::{Arguments, Fault, USAGE};
use crate::time::Time;
use crate::training::Training;

fn main() -> ExitCode {
    if std::env::args().any(|word| word == "--help" || word == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    println!("recording into {}", arguments.out.display());
    let time = Time::new(arguments.same_bytes, arguments.delay);
    match arguments.fault {
        Fault::Diverging => ranks(arguments, &time),
        Fault::Restarted => restarted(arguments, &time),
        _ => {
            let mut training = Training::begin(arguments, (0, 1), arguments.seed, &time)?;
            for step in 0..arguments.steps {
                training.compute();
                if !training.apply(step) {
                    println!("stopped at step {step}");
                    break;
                }
            }
            if arguments.live {
                println!("weights {:016x}", training.mlp.fingerprint());
            }
            let report = training.end();
            say(&report);
            if arguments.fault == Fault::Torn {
                tear(&report)?;
            }
            Ok(())
        }
    }
}

/// Two processes that average their gradients, until the second one stops doing so.
fn ranks(arguments: &Arguments, time: &Time) -> Result<(), Box<dyn Error>> {
    let parts_at = arguments.steps * 3 / 10;
    let mut ranks = [
        Training::begin(arguments, (0, 2), arguments.seed, time)?,
        Training::begin(arguments, (1, 2), arguments.seed, time)?,
    ];
    for step in 0..arguments.steps {
        ranks.iter_mut().for_each(Training::compute);
        let [first, second] = &mut ranks;
        for (first, second) in first.mlp.layers.iter_mut().zip(&mut second.mlp.layers) {
            let weights = first.weight_grad.iter_mut().zip(&mut second.weight_grad);
            let biases = first.bias_grad.iter_mut().zip(&mut second.bias_grad);
            for (first, second) in weights.chain(biases) {
                if step < parts_at {
                    *first = f32::midpoint(*first, *second);
                    *second = *first;
                } else {
                    // No averaging, and the second one goes in the wrong direction.
                    *second *= -0.1;
                }
            }
        }
        for rank in &mut ranks {
            // Two ranks of one process are never held: both would wait for the other.
            let _goes_on = rank.apply(step);
        }
    }
    for rank in ranks {
        say(&rank.end());
    }
    Ok(())
}

/// A training that crashes at 60 % and is restarted from its checkpoint at 40 %.
fn restarted(arguments: &Arguments, time: &Time) -> Result<(), Box<dyn Error>> {
    let (saved_at, dies_at) = (arguments.steps * 4 / 10, arguments.steps * 6 / 10);
    let mut training = Training::begin(arguments, (0, 1), arguments.seed, time)?;
    let mut saved = training.mlp.clone();
    // The records so far are written while the panic unwinds the training.
    let died = panic::catch_unwind(panic::AssertUnwindSafe(move || {
        for step in 0..arguments.steps {
            if step == saved_at {
                saved.clone_from(&training.mlp);
            }
            if step == dies_at {
                panic::resume_unwind(Box::new(saved));
            }
            training.compute();
            if !training.apply(step) {
                break;
            }
        }
        saved
    }));
    let saved = died.or_else(|cause| cause.downcast::<model::Mlp>().map(|mlp| *mlp));
    let mut random = numbers::Random::new(arguments.seed);
    time.pass(3_600_000_000, &mut random);
    let mut training = Training::begin(arguments, (0, 1), arguments.seed + 7, time)?;
    training.mlp = saved.map_err(|_| "the training has ended otherwise than it should")?;
    for step in saved_at..arguments.steps {
        training.compute();
        if !training.apply(step) {
            break;
        }
    }
    say(&training.end());
    Ok(())
}

/// Truncates the file as a kill in the middle of a write would.
fn tear(report: &CollectorReport) -> Result<(), Box<dyn Error>> {
    let path = report.files.last().ok_or("there is no file")?;
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(file.metadata()?.len() - 25)?;
    Ok(())
}

fn say(report: &CollectorReport) {
    println!(
        "{} records, {} bytes, {} dumps, {} lost",
        report.records_written,
        report.bytes_written,
        report.dumps_written,
        report.lost.total()
    );
    if let Some(error) = &report.first_error {
        eprintln!("{error}");
    }
}
