//! Callbacks of a training loop.

use trainscope_format::statistics::Role;

use crate::collector::Collector;
use crate::step::StepRecorder;
use crate::tensor::TensorView;

/// Callbacks of a training loop. All methods default to no-ops.
///
/// [`Collector`] implements it by recording, and a pair of hooks calls both.
pub trait TrainingHook {
    /// Called before the first step.
    fn on_train_begin(&mut self) {}

    /// Called after each step.
    fn on_step_end(&mut self, _step: &StepContext<'_>) {}

    /// Called after each epoch.
    fn on_epoch_end(&mut self, _epoch: &EpochContext<'_>) {}

    /// Called after the last step, also after an error.
    fn on_train_end(&mut self) {}

    /// `true` if the training should end before its next step.
    fn wants_stop(&self) -> bool {
        false
    }
}

/// A completed step.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    /// Number of the step, starting at 0, counted across epochs.
    pub step: i64,
    /// The loss and other scalars.
    pub scalars: &'a [(&'a str, f64)],
    /// Weights, gradients, activations: fetched only if a policy selects them.
    pub tensors: &'a dyn TensorSource,
}

/// A completed epoch.
#[derive(Clone, Copy, Debug)]
pub struct EpochContext<'a> {
    /// Number of the epoch, starting at 0.
    pub epoch: u64,
    /// Number of its last step.
    pub last_step: i64,
    /// Scalars measured at its end.
    pub scalars: &'a [(&'a str, f64)],
}

/// Provider of tensors.
pub trait TensorSource {
    /// Passes the tensors to a recorder. If fetching a tensor is expensive, call [`StepRecorder::wants`] first.
    fn show(&self, to: &mut StepRecorder);

    /// `true` if all elements of all gradients are finite; `None` to let the collector read them. For gradients on a
    /// device, whose memory would have to be copied.
    fn gradients_are_finite(&self) -> Option<bool> {
        None
    }
}

/// A tensor with its name.
#[derive(Clone, Copy, Debug)]
pub struct NamedTensor<'a> {
    /// Name, unique in the run.
    pub name: &'a str,
    /// Role in the training.
    pub role: Role,
    /// Elements.
    pub view: TensorView<'a>,
}

impl TensorSource for &[NamedTensor<'_>] {
    fn show(&self, to: &mut StepRecorder) {
        for tensor in *self {
            to.tensor(tensor.name, tensor.role, tensor.view);
        }
    }
}

/// Source for trainings without tensors.
impl TensorSource for () {
    fn show(&self, _to: &mut StepRecorder) {}
}

impl TrainingHook for Collector {
    fn on_step_end(&mut self, step: &StepContext<'_>) {
        let mut recorder = self.step(step.step);
        recorder.scalars(step.scalars);
        step.tensors.show(&mut recorder);
        drop(recorder);
        // The collector keeps the answer for `wants_stop`.
        #[cfg(feature = "live")]
        let _flow = self.gate(
            step.step,
            trainscope_format::session::Place::AfterStep,
            step.tensors,
        );
    }

    #[cfg(feature = "live")]
    fn wants_stop(&self) -> bool {
        Collector::wants_stop(self)
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

    fn wants_stop(&self) -> bool {
        self.0.wants_stop() || self.1.wants_stop()
    }
}
