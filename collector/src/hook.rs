//! A training from outside: what a loop tells those who watch it.

use trainscope_format::statistics::Role;

use crate::collector::Collector;
use crate::step::StepRecorder;
use crate::tensor::TensorView;

/// Somebody who is told how a training goes; every method does nothing unless it is defined.
///
/// [`Collector`] is one that records, and two hooks are one that tells both.
pub trait TrainingHook {
    /// The training begins.
    fn on_train_begin(&mut self) {}

    /// A step has been taken.
    fn on_step_end(&mut self, _step: &StepContext<'_>) {}

    /// All samples have been seen once more.
    fn on_epoch_end(&mut self, _epoch: &EpochContext<'_>) {}

    /// The training ends, well or not.
    fn on_train_end(&mut self) {}
}

/// A step that has been taken.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    /// Its number, from 0 on; those of later epochs go on.
    pub step: i64,
    /// The loss and whatever else is one number.
    pub scalars: &'a [(&'a str, f64)],
    /// Weights, gradients, activations: fetched only if somebody looks at them.
    pub tensors: &'a dyn TensorSource,
}

/// An epoch that has been trained.
#[derive(Clone, Copy, Debug)]
pub struct EpochContext<'a> {
    /// Its number, from 0 on.
    pub epoch: u64,
    /// The number of its last step.
    pub last_step: i64,
    /// What was measured at its end.
    pub scalars: &'a [(&'a str, f64)],
}

/// Somebody who has tensors.
pub trait TensorSource {
    /// Shows them to a recorder. Where fetching one takes long, [`StepRecorder::wants`] is asked first.
    fn show(&self, to: &mut StepRecorder<'_>);
}

/// A tensor with its name.
#[derive(Clone, Copy, Debug)]
pub struct NamedTensor<'a> {
    /// Of all tensors of a run, its own.
    pub name: &'a str,
    /// What it is to the training.
    pub role: Role,
    /// The tensor.
    pub view: TensorView<'a>,
}

impl TensorSource for &[NamedTensor<'_>] {
    fn show(&self, to: &mut StepRecorder<'_>) {
        for tensor in *self {
            to.tensor(tensor.name, tensor.role, tensor.view);
        }
    }
}

/// For trainings that show none.
impl TensorSource for () {
    fn show(&self, _to: &mut StepRecorder<'_>) {}
}

impl TrainingHook for Collector {
    fn on_step_end(&mut self, step: &StepContext<'_>) {
        let mut recorder = self.step(step.step);
        recorder.scalars(step.scalars);
        step.tensors.show(&mut recorder);
    }

    fn on_epoch_end(&mut self, epoch: &EpochContext<'_>) {
        self.scalars(epoch.last_step, epoch.scalars);
        self.scalar("epoch", epoch.last_step, epoch.epoch as f64);
    }

    fn on_train_end(&mut self) {
        self.finish();
    }
}

impl<A: TrainingHook, B: TrainingHook> TrainingHook for (A, B) {
    fn on_train_begin(&mut self) {
        self.0.on_train_begin();
        self.1.on_train_begin();
    }

    fn on_step_end(&mut self, step: &StepContext<'_>) {
        self.0.on_step_end(step);
        self.1.on_step_end(step);
    }

    fn on_epoch_end(&mut self, epoch: &EpochContext<'_>) {
        self.0.on_epoch_end(epoch);
        self.1.on_epoch_end(epoch);
    }

    fn on_train_end(&mut self) {
        self.0.on_train_end();
        self.1.on_train_end();
    }
}
