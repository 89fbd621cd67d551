//! A multi-layer perceptron in plain loops: forward, backward, update.

use std::hash::{DefaultHasher, Hash, Hasher};

use trainscope_collector::{NamedTensor, Role, TensorView};

use crate::data::Batch;
use crate::numbers::{Random, exp, ln, single};

/// Activation function of each layer but the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    Relu,
    /// A tenth of negative inputs: its units do not die.
    LeakyRelu,
    Sigmoid,
}

impl Activation {
    /// Operation type in graphs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Relu => "Relu",
            Self::LeakyRelu => "LeakyRelu",
            Self::Sigmoid => "Sigmoid",
        }
    }
}

/// A layer with its gradients and last activations.
#[derive(Clone)]
pub(crate) struct Layer {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// One row per output.
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) weight_grad: Vec<f32>,
    pub(crate) bias_grad: Vec<f32>,
    /// One row per sample.
    pub(crate) activation: Vec<f32>,
    names: [String; 5],
    shape: [usize; 2],
    bias_shape: [usize; 1],
    activation_shape: [usize; 2],
}

/// A network of layers in order.
#[derive(Clone)]
pub(crate) struct Mlp {
    pub(crate) layers: Vec<Layer>,
    pub(crate) activation: Activation,
}

impl Layer {
    fn new(number: usize, inputs: usize, outputs: usize, gain: f64, random: &mut Random) -> Self {
        let spread = gain / (inputs as f64).sqrt();
        let name = format!("fc{number}");
        Self {
            inputs,
            outputs,
            weight: (0..inputs * outputs)
                .map(|_| single(random.normal() * spread))
                .collect(),
            bias: vec![0.0; outputs],
            weight_grad: vec![0.0; inputs * outputs],
            bias_grad: vec![0.0; outputs],
            activation: Vec::new(),
            names: ["weight", "bias", "weight.grad", "bias.grad", "activation"]
                .map(|part| format!("{name}.{part}")),
            shape: [outputs, inputs],
            bias_shape: [outputs],
            activation_shape: [0, outputs],
        }
    }

    fn forward(&mut self, inputs: &[f32], activation: Option<Activation>) {
        self.activation.clear();
        for sample in inputs.chunks_exact(self.inputs) {
            for (row, bias) in self.weight.chunks_exact(self.inputs).zip(&self.bias) {
                let sum = row
                    .iter()
                    .zip(sample)
                    .fold(*bias, |sum, (w, x)| sum + w * x);
                self.activation.push(match activation {
                    // `max` would turn NaN into 0.
                    Some(Activation::Relu) if sum <= 0.0 => 0.0,
                    Some(Activation::LeakyRelu) if sum <= 0.0 => sum * 0.1,
                    Some(Activation::Sigmoid) => single(1.0 / (1.0 + exp(-f64::from(sum)))),
                    _ => sum,
                });
            }
        }
        self.activation_shape[0] = inputs.len() / self.inputs;
    }

    /// Converts the gradient of its pre-activations to that of its inputs.
    fn backward(&mut self, inputs: &[f32], delta: &[f32]) -> Vec<f32> {
        self.weight_grad.fill(0.0);
        self.bias_grad.fill(0.0);
        let mut input_delta = vec![0.0; inputs.len()];
        let samples = inputs
            .chunks_exact(self.inputs)
            .zip(delta.chunks_exact(self.outputs));
        for ((sample, delta), back) in samples.zip(input_delta.chunks_exact_mut(self.inputs)) {
            for (output, &d) in delta.iter().enumerate() {
                let row = output * self.inputs..(output + 1) * self.inputs;
                self.bias_grad[output] += d;
                for (grad, x) in self.weight_grad[row.clone()].iter_mut().zip(sample) {
                    *grad += d * x;
                }
                for (back, w) in back.iter_mut().zip(&self.weight[row]) {
                    *back += d * w;
                }
            }
        }
        input_delta
    }

    /// Its tensors for the recorder.
    fn tensors(&self) -> [NamedTensor<'_>; 5] {
        let [weight, bias, weight_grad, bias_grad, activation] = &self.names;
        let tensor = |name, role, view| NamedTensor { name, role, view };
        [
            tensor(
                weight,
                Role::Weight,
                TensorView::of(&self.weight, &self.shape),
            ),
            tensor(
                bias,
                Role::Weight,
                TensorView::of(&self.bias, &self.bias_shape),
            ),
            tensor(
                weight_grad,
                Role::Gradient,
                TensorView::of(&self.weight_grad, &self.shape),
            ),
            tensor(
                bias_grad,
                Role::Gradient,
                TensorView::of(&self.bias_grad, &self.bias_shape),
            ),
            tensor(
                activation,
                Role::Activation,
                TensorView::of(&self.activation, &self.activation_shape),
            ),
        ]
    }
}

impl Mlp {
    /// Layers with these sizes.
    pub(crate) fn new(sizes: &[usize], activation: Activation, random: &mut Random) -> Self {
        let gain = match activation {
            Activation::Relu | Activation::LeakyRelu => std::f64::consts::SQRT_2,
            Activation::Sigmoid => 1.0,
        };
        let layers = sizes
            .windows(2)
            .enumerate()
            .map(|(index, sizes)| Layer::new(index + 1, sizes[0], sizes[1], gain, random));
        Self {
            layers: layers.collect(),
            activation,
        }
    }

    pub(crate) fn forward(&mut self, inputs: &[f32]) {
        let last = self.layers.len() - 1;
        let mut inputs = inputs.to_vec();
        for (index, layer) in self.layers.iter_mut().enumerate() {
            layer.forward(&inputs, (index < last).then_some(self.activation));
            inputs.clone_from(&layer.activation);
        }
    }

    /// Output of the last layer for each class of each sample.
    pub(crate) fn logits(&self) -> &[f32] {
        self.layers.last().map_or(&[], |layer| &layer.activation)
    }

    /// Mean cross-entropy, accuracy, and the gradient of each logit.
    pub(crate) fn loss(&self, labels: &[usize]) -> (f64, f64, Vec<f32>) {
        let classes = self.layers.last().map_or(1, |layer| layer.outputs);
        let (mut loss, mut right, mut delta) = (0.0, 0.0, Vec::new());
        for (logits, &label) in self.logits().chunks_exact(classes).zip(labels) {
            let largest = logits
                .iter()
                .fold(f32::NEG_INFINITY, |a, &b| if b > a { b } else { a });
            let powers: Vec<f64> = logits
                .iter()
                .map(|&logit| exp(f64::from(logit) - f64::from(largest)))
                .collect();
            let sum: f64 = powers.iter().sum();
            loss -= ln(powers[label] / sum);
            right += f64::from(u8::from(logits[label] >= largest));
            for (class, power) in powers.iter().enumerate() {
                let wanted = f64::from(u8::from(class == label));
                delta.push(single((power / sum - wanted) / labels.len() as f64));
            }
        }
        let len = labels.len() as f64;
        (loss / len, right / len, delta)
    }

    pub(crate) fn backward(&mut self, batch: &Batch, mut delta: Vec<f32>) {
        for index in (0..self.layers.len()).rev() {
            let (before, rest) = self.layers.split_at_mut(index);
            let inputs = before
                .last()
                .map_or(&batch.inputs, |layer| &layer.activation);
            delta = rest[0].backward(inputs, &delta);
            if let Some(before) = before.last() {
                for (delta, output) in delta.iter_mut().zip(&before.activation) {
                    *delta *= match self.activation {
                        Activation::Relu => f32::from(u8::from(*output > 0.0)),
                        Activation::LeakyRelu if *output > 0.0 => 1.0,
                        Activation::LeakyRelu => 0.1,
                        Activation::Sigmoid => output * (1.0 - output),
                    };
                }
            }
        }
    }

    /// One step of gradient descent, without the frozen layer.
    pub(crate) fn update(&mut self, learning_rate: f32, frozen: Option<usize>) {
        for (index, layer) in self.layers.iter_mut().enumerate() {
            if frozen == Some(index) {
                continue;
            }
            let weights = layer.weight.iter_mut().zip(&layer.weight_grad);
            let biases = layer.bias.iter_mut().zip(&layer.bias_grad);
            for (weight, grad) in weights.chain(biases) {
                *weight -= learning_rate * grad;
            }
        }
    }

    /// L2 norm of all gradients.
    pub(crate) fn gradient_norm(&self) -> f64 {
        let gradients = self
            .layers
            .iter()
            .flat_map(|layer| layer.weight_grad.iter().chain(&layer.bias_grad));
        gradients
            .map(|&g| f64::from(g) * f64::from(g))
            .sum::<f64>()
            .sqrt()
    }

    /// A number that differs as soon as a bit of a weight differs.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for layer in &self.layers {
            for number in layer.weight.iter().chain(&layer.bias) {
                number.to_bits().hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// Weights, gradients and activations of all layers.
    pub(crate) fn tensors(&self) -> Vec<NamedTensor<'_>> {
        self.layers.iter().flat_map(Layer::tensors).collect()
    }
}
