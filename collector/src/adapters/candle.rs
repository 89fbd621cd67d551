//! Models in candle: variables by name, their gradients, and activations named by the program.
//!
//! Tensors in main memory are read in place; those of other devices are copied only if a policy selects them.

use std::sync::PoisonError;

use candle_core::backprop::GradStore;
use candle_core::{CpuStorage, Device, Storage, Tensor};
use candle_nn::VarMap;
use trainscope_format::statistics::Role;
use trainscope_format::tensor::DType;

use crate::hook::TensorSource;
use crate::step::StepRecorder;
use crate::tensor::{Element, TensorView};

/// A model at a step: a [`TensorSource`] for [`crate::StepContext`]. The gradient of `fc.weight` is named
/// `fc.weight.grad`.
#[derive(Clone, Copy)]
pub struct Model<'a> {
    variables: &'a VarMap,
    gradients: Option<&'a GradStore>,
    activations: &'a [(&'a str, &'a Tensor)],
}

impl<'a> Model<'a> {
    /// Creates a source of its variables.
    pub fn new(variables: &'a VarMap) -> Self {
        Self {
            variables,
            gradients: None,
            activations: &[],
        }
    }

    /// Adds the gradients of its variables, as returned by `backward`.
    #[must_use]
    pub fn gradients(self, gradients: &'a GradStore) -> Self {
        Self {
            gradients: Some(gradients),
            ..self
        }
    }

    /// Adds outputs of layers under these names.
    #[must_use]
    pub fn activations(self, activations: &'a [(&'a str, &'a Tensor)]) -> Self {
        Self {
            activations,
            ..self
        }
    }
}

impl TensorSource for Model<'_> {
    /// Variables by name, activations in the given order.
    fn show(&self, to: &mut StepRecorder) {
        let data = self.variables.data();
        let mut variables: Vec<(String, Tensor)> = data
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .map(|(name, variable)| (name.clone(), variable.as_tensor().clone()))
            .collect();
        variables.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, weight) in &variables {
            show(to, name, Role::Weight, weight);
            if let Some(gradient) = self.gradients.and_then(|all| all.get(weight)) {
                show(to, &format!("{name}.grad"), Role::Gradient, gradient);
            }
        }
        for (name, activation) in self.activations {
            show(to, name, Role::Activation, activation);
        }
    }
}

/// Records one tensor if it is selected; one that cannot be read is counted as lost.
pub fn show(to: &mut StepRecorder, name: &str, role: Role, tensor: &Tensor) {
    if !to.wants(name) {
        return;
    }
    // No copy if the tensor is in main memory.
    let Ok(tensor) = tensor.to_device(&Device::Cpu) else {
        to.lose();
        return;
    };
    let (storage, layout) = tensor.storage_and_layout();
    let Storage::Cpu(storage) = &*storage else {
        to.lose();
        return;
    };
    let mut see = |dtype: DType, bytes: &[u8]| {
        let begin = layout.start_offset().saturating_mul(dtype.size_bytes());
        let bytes = bytes.get(begin..).unwrap_or_default();
        let view = TensorView::strided(dtype, layout.dims(), layout.stride(), bytes);
        to.tensor(name, role, view);
    };
    match storage {
        CpuStorage::U8(numbers) => see(DType::U8, numbers),
        CpuStorage::U32(numbers) => see(DType::U32, bytes(numbers)),
        CpuStorage::I16(numbers) => see(DType::I16, bytes(numbers)),
        CpuStorage::I32(numbers) => see(DType::I32, bytes(numbers)),
        CpuStorage::I64(numbers) => see(DType::I64, bytes(numbers)),
        CpuStorage::BF16(numbers) => see(DType::Bf16, bytes(numbers)),
        CpuStorage::F16(numbers) => see(DType::F16, bytes(numbers)),
        CpuStorage::F32(numbers) => see(DType::F32, bytes(numbers)),
        CpuStorage::F64(numbers) => see(DType::F64, bytes(numbers)),
        CpuStorage::F8E4M3(numbers) => {
            #[expect(
                clippy::redundant_closure_for_method_calls,
                reason = "the package of this type is candle's, not ours"
            )]
            let numbers: Vec<u8> = numbers.iter().map(|number| number.to_bits()).collect();
            see(DType::F8E4m3, &numbers);
        }
        // Types smaller than a byte, which statistics do not support.
        CpuStorage::F6E2M3(_)
        | CpuStorage::F6E3M2(_)
        | CpuStorage::F4(_)
        | CpuStorage::F8E8M0(_) => to.lose(),
    }
}

fn bytes<T: Element>(numbers: &[T]) -> &[u8] {
    bytemuck::cast_slice(numbers)
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor, Var};
    use candle_nn::VarMap;
    use trainscope_format::{Body, Format, RecordBatch};

    use super::Model;
    use crate::{Collector, SamplePolicy, TensorSource};

    #[test]
    fn variables_gradients_and_views() -> candle_core::Result<()> {
        let variables = VarMap::new();
        let weight = Var::new(&[[1_f32, 2.0], [3.0, 4.0]], &Device::Cpu)?;
        let data = variables.data();
        data.lock().unwrap().insert("w".to_owned(), weight.clone());
        let turned = weight.t()?.narrow(0, 1, 1)?;
        let gradients = weight.sqr()?.sum_all()?.backward()?;
        let half = Tensor::new(&[half::f16::NAN], &Device::Cpu)?;

        let folder = tempfile::tempdir()?;
        let collector = Collector::builder(folder.path())
            .samples(SamplePolicy::every(1))
            .start()
            .unwrap();
        let activations = [("turned", &turned), ("half", &half)];
        Model::new(&variables)
            .gradients(&gradients)
            .activations(&activations)
            .show(&mut collector.step(0));
        let report = collector.finish();
        assert!(report.is_complete(), "{report:?}");

        let mut batch = RecordBatch::default();
        let file = std::fs::read(&report.files[0])?;
        Format::Tfevents.decoder("").push(&file, &mut batch);
        let seen: Vec<_> = batch
            .records
            .iter()
            .filter_map(|record| match &record.body {
                Body::Statistics(summary) => {
                    let name = batch.new_tags[record.tag.0 as usize].name.to_string();
                    let finite = summary.stats.finite;
                    let extremes = finite.map(|finite| (finite.min, finite.max));
                    Some((name, summary.shape.clone(), extremes))
                }
                _ => None,
            })
            .collect();
        let named =
            |name: &str, shape: &[u64], extremes| (name.to_owned(), shape.to_vec(), extremes);
        let wanted = [
            named("w", &[2, 2], Some((1.0, 4.0))),
            named("w.grad", &[2, 2], Some((2.0, 8.0))),
            named("turned", &[1, 2], Some((2.0, 4.0))),
            named("half", &[1], None),
        ];
        assert_eq!(seen, wanted);
        Ok(())
    }
}
