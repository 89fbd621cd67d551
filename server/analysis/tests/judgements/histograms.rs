//! Weights with recorded histograms only: nothing is learned if none of them ever changes.

use trainscope_format::{Histogram, Severity};

use super::recording::{Recording, alarms, at};

const SEEDS: u64 = 20;
const EPOCHS: i64 = 8;

/// A weight of 64 elements that changes by `moved` per epoch, binned between its minimum and maximum as in TensorFlow.
fn weight(seed: u64, moved: f64) -> Histogram {
    let values = (0..64).map(|element| at(seed, 0, element) + moved * at(seed, 1, element));
    let values: Vec<f64> = values.collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let width = (high - low) / 30.0;
    let edge = |at: u32| low + f64::from(at) * width;
    let count = |bin: u32| {
        let within = |v: &&f64| **v >= edge(bin) && (**v < edge(bin + 1) || bin == 29);
        values.iter().filter(within).count() as f64
    };
    Histogram {
        lefts: (0..30).map(edge).collect(),
        rights: (1..=30).map(edge).collect(),
        counts: (0..30).map(count).collect(),
        count: 64.0,
        ..Histogram::default()
    }
}

/// Course of a training: the change of each of three weights since the beginning by epoch, and the loss.
struct Run {
    kernels: [fn(i64) -> f64; 3],
    bias: fn(i64) -> f64,
    loss: fn(i64) -> f64,
    rate: fn(i64) -> f64,
    epochs: i64,
}

fn learning(epoch: i64) -> f64 {
    0.01 * epoch as f64
}

fn still(_: i64) -> f64 {
    0.0
}

const DEAD: Run = Run {
    kernels: [still; 3],
    bias: still,
    loss: |_| 2.3,
    rate: |_| 0.01,
    epochs: EPOCHS,
};

impl Run {
    fn recorded(&self, seed: u64) -> Recording {
        let mut recording = Recording::of("");
        for epoch in 0..self.epochs {
            for (at, moved) in (0..).zip(self.kernels) {
                let kernel = weight(10 * seed + at, moved(epoch));
                let name = format!("sequential/dense_{at}/kernel/histogram");
                recording.histogram(epoch, &name, &kernel);
            }
            let bias = weight(10 * seed + 9, (self.bias)(epoch));
            recording.histogram(epoch, "sequential/dense_2/bias/histogram", &bias);
            recording.scalar(epoch, "epoch_loss", (self.loss)(epoch));
            recording.scalar(epoch, "epoch_learning_rate", (self.rate)(epoch));
        }
        recording
    }

    /// The hits of `weight_not_changed`, of all seeds.
    fn hits(&self) -> Vec<(i64, i64, Severity, String)> {
        let all = (0..SEEDS).flat_map(|seed| self.recorded(seed).judge().hits);
        all.filter(|hit| hit.condition.id == "weight_not_changed")
            .map(|hit| (hit.step, hit.last_step, hit.severity, hit.sentence.en))
            .collect()
    }
}

#[test]
fn weights_whose_histograms_never_change_are_one_warning() {
    let hits = DEAD.hits();
    assert_eq!(hits.len(), 20, "one of each seed");
    let expected = "nothing is learned: the histogram of each of the 3 weights is bit-identical in its last 8 records";
    assert_eq!(hits[0], (1, 7, Severity::Warning, expected.to_owned()));
    // Below a dead layer, the bias of the output still learns the mean.
    let offset = Run {
        bias: learning,
        ..DEAD
    };
    assert_eq!(offset.hits().len(), 20);
    let dies = Run {
        kernels: [|epoch| learning(epoch.min(3)); 3],
        loss: |epoch| 2.3 - 0.1 * epoch.min(3) as f64,
        ..DEAD
    };
    assert_eq!(dies.hits()[0].0, 4);
}

#[test]
fn trainings_that_are_well_are_silent() {
    let well = Run {
        kernels: [learning; 3],
        bias: learning,
        loss: |epoch| 2.3 / (1.0 + epoch as f64),
        ..DEAD
    };
    for seed in 0..SEEDS {
        assert_eq!(alarms(&well.recorded(seed).judge()), [""; 0]);
    }
    let frozen = Run {
        kernels: [still, still, learning],
        ..well
    };
    let solved = Run {
        loss: |epoch| if epoch == 0 { 1.0 } else { 0.0 },
        ..DEAD
    };
    let annealed = Run {
        kernels: [|epoch| learning(epoch.min(4)); 3],
        rate: |epoch| {
            if epoch > 4 {
                0.0
            } else {
                0.01 * 0.1_f64.powf(epoch as f64)
            }
        },
        ..DEAD
    };
    let short = Run { epochs: 2, ..DEAD };
    for (name, run) in [
        ("frozen", frozen),
        ("solved", solved),
        ("annealed", annealed),
        ("two epochs", short),
    ] {
        assert_eq!(run.hits(), [], "{name}");
    }
}

#[test]
fn histograms_without_values_prove_nothing() {
    let mut recording = Recording::of("");
    for step in 0..EPOCHS {
        recording.histogram(step, "dense/kernel", &Histogram::default());
    }
    assert_eq!(alarms(&recording.judge()), [""; 0]);
}

/// A weight that the optimizer does not hold, as a head that was replaced: its gradient changes, and it does not.
#[test]
fn a_weight_that_stays_while_its_gradient_changes_is_a_warning() {
    let hits = |head: fn(i64) -> i64, gradient: fn(i64) -> i64| {
        let mut recording = Recording::of("");
        for step in 0..EPOCHS {
            for (name, number) in [
                ("body.weight", step),
                ("body.weight.grad", 100 + step),
                ("head.weight", 300 + head(step)),
                ("head.weight.grad", 200 + gradient(step)),
            ] {
                let seed = u64::try_from(number).unwrap_or(0);
                recording.histogram(step, name, &weight(seed, 0.0));
            }
        }
        let all = recording.judge().hits.into_iter();
        let hits = all.filter(|hit| hit.condition.id == "weight_not_changed");
        hits.map(|hit| (hit.tensor.to_string(), hit.step))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        hits(|step| step.min(1), |step| step),
        [("head.weight".to_owned(), 1)]
    );
    assert_eq!(hits(|step| step, |step| step), []);
    // Without a gradient it is frozen; one that moves at the end was unfrozen.
    assert_eq!(hits(|_| 0, |_| 0), []);
    assert_eq!(hits(|step| (step - 5).max(0), |step| step), []);
}
