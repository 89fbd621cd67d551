//! Two convolutions, each followed by `ReLU` and pooling, and a linear layer.

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{Conv2d, Conv2dConfig, Linear, Module, VarBuilder, VarMap, conv2d, linear};

use crate::bars::Bars;

/// The layers.
pub(crate) struct Network {
    conv1: Conv2d,
    conv2: Conv2d,
    last: Linear,
}

/// Outputs of the layers.
pub(crate) struct Outputs {
    pub(crate) conv1: Tensor,
    pub(crate) conv2: Tensor,
    pub(crate) logits: Tensor,
}

impl Network {
    /// Random weights from `chance`, because candle's initialization has no seed on a CPU.
    pub(crate) fn new(variables: &VarMap, chance: &mut Bars) -> Result<Self> {
        let builder = VarBuilder::from_varmap(variables, DType::F32, &Device::Cpu);
        let padded = Conv2dConfig {
            padding: 1,
            ..Conv2dConfig::default()
        };
        let network = Self {
            conv1: conv2d(1, 6, 3, padded, builder.pp("conv1"))?,
            conv2: conv2d(6, 8, 3, padded, builder.pp("conv2"))?,
            last: linear(8 * 3 * 3, 2, builder.pp("fc"))?,
        };
        for (layer, inputs) in [(&network.conv1, 9_u8), (&network.conv2, 54)] {
            set(layer.weight(), inputs, chance, variables)?;
            if let Some(bias) = layer.bias() {
                set(bias, inputs, chance, variables)?;
            }
        }
        set(network.last.weight(), 72, chance, variables)?;
        if let Some(bias) = network.last.bias() {
            set(bias, 72, chance, variables)?;
        }
        Ok(network)
    }

    pub(crate) fn forward(&self, images: &Tensor) -> Result<Outputs> {
        let conv1 = self.conv1.forward(images)?.relu()?;
        let conv2 = self.conv2.forward(&conv1.max_pool2d(2)?)?.relu()?;
        let features = conv2.max_pool2d(2)?.flatten_from(1)?;
        Ok(Outputs {
            logits: self.last.forward(&features)?,
            conv1,
            conv2,
        })
    }
}

/// Initializes a variable at random, with a variance that suits the number of inputs.
fn set(tensor: &Tensor, inputs: u8, chance: &mut Bars, variables: &VarMap) -> Result<()> {
    let spread = (3.0 / f32::from(inputs)).sqrt();
    let numbers: Vec<f32> = (0..tensor.elem_count())
        .map(|_| chance.chance() * spread)
        .collect();
    let numbers = Tensor::from_vec(numbers, tensor.shape(), &Device::Cpu)?;
    for variable in variables.all_vars() {
        if variable.as_tensor().id() == tensor.id() {
            variable.set(&numbers)?;
        }
    }
    Ok(())
}
