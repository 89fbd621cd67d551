//! The training loop with its records and faults.

use trainscope_collector::{
    Collector, CollectorBuilder, CollectorError, DType, DatasetPipeline, DumpPolicy, EpochContext,
    Flow, Graph, GraphBuilder, Hyperparameters, Live, NamedTensor, Picture, Place, Role,
    SamplePolicy, Snapshot, StepContext, TensorSource, TrainingHook,
};

use crate::arguments::{Arguments, Fault};
use crate::data::{Batch, Moons};
use crate::landscape;
use crate::model::{Activation, Mlp};
use crate::numbers::{Random, exp, single};
use crate::time::Time;

/// Samples of a step.
const BATCH: usize = 32;
/// Training points; the held-out set has as many.
const POINTS: usize = 512;
/// Steps of an epoch.
const EPOCH: i64 = 16;
/// Width and height of the image of predictions, in pixels.
const PIXELS: u32 = 64;

/// One process of a training.
pub(crate) struct Training {
    pub(crate) mlp: Mlp,
    collector: Collector,
    time: Time,
    random: Random,
    /// Jitter of the simulated clock; the training does not depend on it.
    jitter: Random,
    seen: Moons,
    unseen: Moons,
    learning_rate: f32,
    /// Step from which the learning rate is ten thousand times too high.
    slips_at: Option<i64>,
    frozen: Option<usize>,
    scalars_only: bool,
    is_live: bool,
    batch: Batch,
    loss: f64,
    accuracy: f64,
    /// Weights for the loss landscape; `None` for trainings without one.
    saved: Option<Vec<Snapshot>>,
}

impl Training {
    /// Starts recording as rank `rank` of `world_size`, with random numbers from `seed`.
    pub(crate) fn begin(
        arguments: &Arguments,
        (rank, world_size): (u32, u32),
        seed: u64,
        time: &Time,
    ) -> Result<Self, CollectorError> {
        let fault = arguments.fault;
        let small: &[usize] = &[2, 16, 16, 2];
        let (sizes, activation) = match fault {
            Fault::Vanishing => {
                let deep: &[usize] = &[2, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 2];
                (deep, Activation::Sigmoid)
            }
            Fault::Overflow => (small, Activation::LeakyRelu),
            _ => (small, Activation::Relu),
        };
        let mut random = Random::new(arguments.seed);
        let mut mlp = Mlp::new(sizes, activation, &mut random);
        if fault == Fault::DeadRelu {
            mlp.layers[0].bias.fill(-8.0);
        }
        let builder = Collector::builder(&arguments.out).rank(rank, world_size);
        let collector = configure(builder, arguments, time, 4_711 + rank).start()?;
        let training = Self {
            seen: Moons::new(POINTS, &mut random),
            unseen: Moons::new(POINTS, &mut random),
            random: Random::new(seed + 1_000 * u64::from(rank + 1)),
            jitter: Random::new(seed),
            time: time.clone(),
            frozen: (fault == Fault::Frozen).then_some(1),
            scalars_only: arguments.scalars_only,
            is_live: arguments.live,
            batch: Batch {
                inputs: Vec::new(),
                labels: Vec::new(),
            },
            loss: 0.0,
            accuracy: 0.0,
            saved: (fault == Fault::None && !arguments.scalars_only).then(Vec::new),
            mlp,
            collector,
            learning_rate: 0.3,
            slips_at: (fault == Fault::Overflow).then_some(40),
        };
        if !training.scalars_only {
            training.describe(arguments, rank);
        }
        if training.is_live {
            training.collector.total_steps(arguments.steps);
        }
        Ok(training)
    }

    /// Records hyper-parameters, graph and lineage before the first step.
    fn describe(&self, arguments: &Arguments, rank: u32) {
        let activation = self.mlp.activation.name();
        let hyperparameters = Hyperparameters::default()
            .number("learning_rate", f64::from(self.learning_rate))
            .number("batch_size", BATCH as f64)
            .number("layers", self.mlp.layers.len() as f64)
            .text("activation", activation)
            .metric("val/loss")
            .metric("val/accuracy");
        self.collector.hyperparameters(&hyperparameters);
        self.collector.graph("mlp", graph(&self.mlp));
        let pipeline = DatasetPipeline::source("Moons")
            .parameter("points", i64::try_from(POINTS).unwrap_or(i64::MAX))
            .parameter("noise", 0.08)
            .then("Shuffle")
            .parameter("with_replacement", true)
            .then("Batch")
            .parameter("size", i64::try_from(BATCH).unwrap_or(i64::MAX));
        self.collector.lineage(pipeline.build());
        self.collector.note(format!(
            "Two half circles, {} layers with {activation}. Fault: **{:?}**. Seed {}, rank {rank}.",
            self.mlp.layers.len(),
            arguments.fault,
            arguments.seed,
        ));
    }

    /// Forward and backward.
    pub(crate) fn compute(&mut self) {
        let collector = self.collector.clone();
        {
            let _span = collector.span("data");
            self.batch = self.seen.batch(BATCH, &mut self.random);
            self.time.pass(300, &mut self.jitter);
        }
        let delta = {
            let _span = collector.span("forward");
            self.mlp.forward(&self.batch.inputs);
            self.time.pass(1_800, &mut self.jitter);
            let delta;
            (self.loss, self.accuracy, delta) = self.mlp.loss(&self.batch.labels);
            delta
        };
        let _span = collector.span("backward");
        self.mlp.backward(&self.batch, delta);
        self.time.pass(3_500, &mut self.jitter);
    }

    /// Updates the weights and records the step. `false` if the training has to end.
    pub(crate) fn apply(&mut self, step: i64) -> bool {
        let mut collector = self.collector.clone();
        let gradient_norm = self.mlp.gradient_norm();
        if self.slips_at == Some(step) {
            self.learning_rate *= 1e4;
        }
        if self.is_live && self.gate(step, Place::BeforeUpdate) == Flow::Stop {
            return false;
        }
        {
            let _span = collector.span("update");
            self.mlp.update(self.learning_rate, self.frozen);
            self.time.pass(400, &mut self.jitter);
        }
        let scalars = [
            ("train/loss", self.loss),
            ("train/accuracy", self.accuracy),
            ("train/gradient_norm", gradient_norm),
            ("train/learning_rate", f64::from(self.learning_rate)),
        ];
        let tensors = self.mlp.tensors();
        let tensors: &dyn TensorSource = if self.scalars_only {
            &()
        } else {
            &tensors.as_slice()
        };
        collector.on_step_end(&StepContext {
            step,
            scalars: &scalars,
            tensors,
        });
        if step % landscape::EVERY == landscape::EVERY - 1
            && let Some(saved) = &mut self.saved
        {
            saved.push(landscape::snapshot(step, &self.mlp));
        }
        if step % EPOCH == EPOCH - 1 && !self.scalars_only {
            self.evaluate(step);
        }
        self.time.wait();
        !TrainingHook::wants_stop(&collector)
    }

    /// Waits if a server requests it. The weights are those before the update, the gradients those of this step.
    fn gate(&self, step: i64, place: Place) -> Flow {
        let tensors = self.mlp.tensors();
        self.collector.gate(step, place, &tensors.as_slice())
    }

    /// Records loss and accuracy on held-out points.
    fn evaluate(&mut self, step: i64) {
        let collector = self.collector.clone();
        let _span = collector.span("evaluate");
        let unseen = self.unseen.all();
        let mut mlp = self.mlp.clone();
        mlp.forward(&unseen.inputs);
        let (loss, accuracy, _) = mlp.loss(&unseen.labels);
        self.time.pass(9_000, &mut self.jitter);
        let epoch = u64::try_from(step / EPOCH).unwrap_or(0);
        self.collector.counter("epoch", epoch as f64);
        self.collector.on_epoch_end(&EpochContext {
            epoch,
            last_step: step,
            scalars: &[("val/loss", loss), ("val/accuracy", accuracy)],
        });
        if epoch.is_multiple_of(4) {
            let pixels = picture(&mut mlp);
            let picture = Picture {
                width: PIXELS,
                height: PIXELS,
                channels: 3,
                pixels: &pixels,
            };
            collector.images("plane", step, &[picture]);
            for NamedTensor { name, role, view } in self.mlp.tensors() {
                if role == Role::Weight {
                    collector.histogram(name, step, view);
                }
            }
        }
    }

    /// Ends the recording with the loss landscape.
    pub(crate) fn end(mut self) -> trainscope_collector::CollectorReport {
        if let Some(saved) = &self.saved {
            landscape::record(&self.collector, saved, &self.mlp, &self.seen.all());
        }
        self.collector.on_train_end();
        self.collector.report()
    }
}

fn configure(
    builder: CollectorBuilder,
    arguments: &Arguments,
    time: &Time,
    process: u32,
) -> CollectorBuilder {
    let samples = SamplePolicy::every(5)
        .change()
        .channels(Role::Weight, 0)
        .channels(Role::Activation, 1);
    let dumps = DumpPolicy::every(100).matching("*.weight").at_not_finite(1);
    let builder = builder.samples(samples).dumps(dumps);
    let builder = if arguments.live {
        builder.live(Live::from_env()).framework("mlp", "1")
    } else {
        builder
    };
    match time.clock() {
        Some(clock) if arguments.same_bytes => builder
            .clock(clock)
            .identity("sample", process)
            // By count alone: a timer would cut records differently each time.
            .flush_every(std::time::Duration::MAX),
        _ => builder.panic_hook(),
    }
}

/// Computation graph of the layers.
fn graph(mlp: &Mlp) -> Graph {
    let batch = BATCH as u64;
    let mut graph = GraphBuilder::new("mlp").input("points", DType::F32, &[batch, 2]);
    let mut input = "points".to_owned();
    let last = mlp.layers.len();
    for (number, layer) in (1..).zip(&mlp.layers) {
        let (inputs, outputs) = (layer.inputs as u64, layer.outputs as u64);
        let name = |part: &str| format!("fc{number}/{part}");
        let (weight, bias) = (format!("fc{number}.weight"), format!("fc{number}.bias"));
        graph = graph
            .parameter(&weight, DType::F32, &[outputs, inputs])
            .parameter(&bias, DType::F32, &[outputs])
            .operation(&name("matmul"), "MatMul", &[&input, &weight])
            .attribute("transpose_b", "true")
            .typed(DType::F32, &[batch, outputs])
            .operation(&name("add"), "Add", &[&name("matmul"), &bias])
            .typed(DType::F32, &[batch, outputs]);
        input = name("add");
        if number < last {
            let activation = mlp.activation.name();
            graph = graph
                .operation(&name("activation"), activation, &[&input])
                .typed(DType::F32, &[batch, outputs]);
            input = name("activation");
        }
    }
    graph
        .input("labels", DType::I64, &[batch])
        .operation("loss", "SoftmaxCrossEntropy", &[&input, "labels"])
        .typed(DType::F32, &[])
        .output("loss", "loss")
        .build()
}

/// Image of the predictions over the plane, from blue to red.
fn picture(mlp: &mut Mlp) -> Vec<u8> {
    let place = |pixel: u32| 4.0 * (f64::from(pixel) + 0.5) / f64::from(PIXELS) - 2.0;
    let places: Vec<f32> = (0..PIXELS * PIXELS)
        .flat_map(|pixel| {
            let (x, y) = (pixel % PIXELS, PIXELS - 1 - pixel / PIXELS);
            [single(place(x)), single(place(y))]
        })
        .collect();
    mlp.forward(&places);
    mlp.logits()
        .chunks_exact(2)
        .flat_map(|logits| {
            let red = 1.0 / (1.0 + exp(f64::from(logits[0]) - f64::from(logits[1])));
            // NaN is black.
            let shade = |share: f64| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "rounded on purpose; saturates"
                )]
                let shade = (40.0 + share * 200.0) as u8;
                shade
            };
            [
                shade(red),
                if red.is_nan() { 0 } else { 70 },
                shade(1.0 - red),
            ]
        })
        .collect()
}
