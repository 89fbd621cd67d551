//! A small convolutional network in candle that classifies vertical and horizontal bars: its weights, gradients and
//! activations are recorded directly from candle.

#![expect(clippy::print_stdout, reason = "a program says what it has done")]

mod bars;
mod network;

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use candle_nn::{Optimizer, SGD, VarMap, loss};
use trainscope_collector::adapters::candle::Model;
use trainscope_collector::{
    Collector, Hyperparameters, Picture, Role, SamplePolicy, StepContext, TrainingHook,
};

use crate::bars::{Bars, SIDE, WIDTH};
use crate::network::Network;

const STEPS: i64 = 150;
const LEARNING_RATE: f64 = 0.1;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let out = words.next().unwrap_or_else(|| "runs/candle".to_owned());
    let is_made_up = words.next().as_deref() == Some("--same-bytes");
    let micros = Arc::new(AtomicU64::new(1_790_010_000_000_000));
    let mut builder = Collector::builder(PathBuf::from(&out)).samples(
        SamplePolicy::every(10)
            .change()
            .channels(Role::Weight, 0)
            .channels(Role::Activation, 1),
    );
    if is_made_up {
        let micros = Arc::clone(&micros);
        builder = builder
            .clock(move || micros.load(Ordering::Relaxed) as f64 / 1e6)
            .identity("sample", 4_711)
            .flush_every(Duration::MAX);
    }
    let mut collector = builder.start()?;
    let hyperparameters = Hyperparameters::default()
        .number("learning_rate", LEARNING_RATE)
        .text("optimizer", "sgd")
        .metric("train/accuracy");
    collector.hyperparameters(&hyperparameters);

    let variables = VarMap::new();
    let mut bars = Bars::new(1);
    let network = Network::new(&variables, &mut bars)?;
    let mut optimizer = SGD::new(variables.all_vars(), LEARNING_RATE)?;
    let watcher = collector.clone();
    for step in 0..STEPS {
        let batch = bars.batch(32)?;
        micros.fetch_add(1_200, Ordering::Relaxed);
        let seen = {
            let _span = watcher.span("forward");
            micros.fetch_add(2_000, Ordering::Relaxed);
            network.forward(&batch.images)?
        };
        let loss = loss::cross_entropy(&seen.logits, &batch.labels)?;
        let gradients = {
            let _span = watcher.span("backward");
            micros.fetch_add(4_000, Ordering::Relaxed);
            loss.backward()?
        };
        optimizer.step(&gradients)?;
        let right = seen.logits.argmax(1)?.eq(&batch.labels)?;
        let accuracy = right.to_dtype(candle_core::DType::F32)?.mean_all()?;
        let scalars = [
            ("train/loss", f64::from(loss.to_scalar::<f32>()?)),
            ("train/accuracy", f64::from(accuracy.to_scalar::<f32>()?)),
        ];
        let activations = [
            ("conv1.activation", &seen.conv1),
            ("conv2.activation", &seen.conv2),
        ];
        collector.on_step_end(&StepContext {
            step,
            scalars: &scalars,
            tensors: &Model::new(&variables)
                .gradients(&gradients)
                .activations(&activations),
        });
        if step % 50 == 0 {
            let pictures: Vec<Picture<'_>> = batch
                .pixels
                .chunks_exact(SIDE * SIDE)
                .take(8)
                .map(|pixels| Picture {
                    width: WIDTH,
                    height: WIDTH,
                    channels: 1,
                    pixels,
                })
                .collect();
            collector.images("bars", step, &pictures);
        }
    }
    let report = collector.finish();
    println!(
        "{out}: {} records, {} bytes",
        report.records_written, report.bytes_written
    );
    Ok(())
}
