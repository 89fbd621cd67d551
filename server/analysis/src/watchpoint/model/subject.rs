//! Class of a tensor, inferred from its role, its name and its operation.
//!
//! Naming conventions differ between frameworks: `weight/fc1.bias` and `grad/fc1.bias` (hooks of `PyTorch`),
//! `Parameter.conv1.weight`, `bn1.gamma`, `Gradients/…` (dumps of `MindSpore`), `dense/kernel:0` (Keras). A role given
//! by the program takes precedence over all guesses.

use std::sync::Arc;

use serde::Serialize;
use trainscope_format::Role;

/// Kind of data that a condition applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Any tensor.
    Tensor,
    /// Trained parameters.
    Weight,
    /// Gradients of weights and activations.
    Gradient,
    /// Outputs of layers.
    Activation,
    /// Scalars: the loss, the learning rate, the gradient norm, …
    Scalar,
    /// All ranks, or the run as a whole.
    Run,
    /// Profiles: the time of steps, devices, memory.
    Profile,
}

/// Class of a tensor: its role, with finer distinctions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Class {
    Weight,
    FrozenWeight,
    Gradient,
    Activation,
    /// Gradient of the loss with respect to the output of a layer.
    ActivationGradient,
    Input,
    /// Targets of the model.
    Labels,
    Loss,
    /// Untrained state of a layer: running statistics.
    Buffer,
    OptimizerState,
    Other,
}

/// Role of a tensor by its name alone, if the name has a known pattern.
pub fn role_of_name(name: &str) -> Option<Role> {
    match role_of(Role::Other, name, "") {
        Role::Other => None,
        role => Some(role),
    }
}

/// Layer of a tensor by its name, without the parts for weight, gradient, …; empty if the name has none.
pub fn layer_of_name(name: &str) -> Arc<str> {
    Subject::of(Role::Other, name, "").module
}

/// Type of an operation or layer, in the detail that the conditions need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Family {
    Relu,
    Tanh,
    Sigmoid,
    Softmax,
    /// `elu`, `gelu`, …: any other activation.
    OtherActivation,
    BatchNorm,
    OtherNorm,
    Embedding,
    /// Multiplies by a weight: dense, convolution, recurrent.
    Linear,
    Logarithm,
    Dropout,
    Identity,
    #[default]
    Other,
}

/// Role of a tensor, from its role, its name and its operation.
pub fn role_of(role: Role, name: &str, op: &str) -> Role {
    match Subject::of(role, name, op).class {
        Class::Weight => Role::Weight,
        Class::FrozenWeight => Role::FrozenWeight,
        Class::Gradient | Class::ActivationGradient => Role::Gradient,
        Class::Activation => Role::Activation,
        Class::Input | Class::Labels => Role::Input,
        Class::Loss => Role::Loss,
        Class::OptimizerState => Role::OptimizerState,
        Class::Buffer | Class::Other => role,
    }
}

/// Parsed name of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Subject {
    pub(crate) class: Class,
    /// The layer or operator, without the parts for weight, gradient, …
    pub(crate) module: Arc<str>,
    /// Parameter of the layer: `weight`, `bias`, …; empty for activations.
    pub(crate) leaf: Arc<str>,
    /// Type of the operation, if known.
    pub(crate) family: Family,
    /// True if `MindInsight` treats the operation as an activation.
    pub(crate) is_activation_op: bool,
    /// True for the output of an operator of a graph, not of a layer.
    is_operator: bool,
}

impl Subject {
    /// Parses a role, a name and an operation (empty if unknown).
    pub(crate) fn of(role: Role, name: &str, op: &str) -> Self {
        let name = without_suffix(name);
        let (prefix, rest) = first_part(name);
        let of_prefix = class_of_prefix(prefix);
        // In a name like `weight/weight` only the first is a prefix; `grad` alone is a name.
        let (class, path) = match of_prefix {
            None if prefix == "Parameter" && !rest.is_empty() => (class_of_name(rest, ""), rest),
            Some(class) if !rest.is_empty() => (class, rest),
            Some(class @ (Class::Labels | Class::Loss | Class::Input)) => (class, name),
            _ => (class_of_name(name, op), name),
        };
        let class = match role {
            Role::Other => class,
            Role::Weight => match class {
                Class::Buffer => Class::Buffer,
                _ => Class::Weight,
            },
            Role::FrozenWeight => Class::FrozenWeight,
            Role::Gradient => match class {
                Class::ActivationGradient => class,
                _ => Class::Gradient,
            },
            Role::Activation | Role::Output => match class {
                Class::Input | Class::Labels => class,
                _ => Class::Activation,
            },
            Role::Input => match class {
                Class::Labels => class,
                _ => Class::Input,
            },
            Role::Loss => Class::Loss,
            Role::OptimizerState => Class::OptimizerState,
        };
        let path = path.strip_suffix(":0").unwrap_or(path);
        // Some use suffixes instead of prefixes: `fc1.weight.grad`, `fc1.activation`.
        let endings: &[&str] = match class {
            Class::Gradient | Class::ActivationGradient => &GRADIENT_ENDINGS,
            Class::Activation => &ACTIVATION_ENDINGS,
            _ => &[],
        };
        let shorter = endings.iter().find_map(|ending| path.strip_suffix(ending));
        let path = shorter.filter(|p| !p.is_empty()).unwrap_or(path);
        // An operator of a graph is named by its whole name.
        let is_operator = !op.is_empty() && op != "Parameter";
        let path = if is_operator { name } else { path };
        let has_leaf = !is_operator
            && matches!(
                class,
                Class::Weight
                    | Class::FrozenWeight
                    | Class::Gradient
                    | Class::Buffer
                    | Class::OptimizerState
            );
        let (module, leaf) = match path.rfind(['.', '/']) {
            Some(at) if has_leaf => (&path[..at], &path[at + 1..]),
            _ if has_leaf => ("", path),
            _ => (path, ""),
        };
        let family = family_of_op(op);
        let class = match class {
            Class::Activation if is_input_name(module) => Class::Input,
            Class::Weight if is_statistic(leaf) => Class::Buffer,
            class => class,
        };
        let is_activation = matches!(
            family,
            Family::Relu
                | Family::Tanh
                | Family::Sigmoid
                | Family::Softmax
                | Family::OtherActivation
        );
        Self {
            class,
            module: module.into(),
            // Without an allocation for the empty one.
            leaf: match leaf {
                "" => Arc::default(),
                leaf => leaf.into(),
            },
            is_activation_op: is_activation && class != Class::Gradient,
            family,
            is_operator,
        }
    }

    /// True if conditions about `target` apply to it.
    pub(crate) fn is(&self, target: Target) -> bool {
        match target {
            Target::Tensor => true,
            Target::Weight => self.class == Class::Weight,
            Target::Gradient => {
                matches!(self.class, Class::Gradient | Class::ActivationGradient)
            }
            Target::Activation => {
                self.is_activation_op || self.class == Class::Activation && !self.is_operator
            }
            Target::Scalar | Target::Run | Target::Profile => false,
        }
    }

    /// True for the bias of a layer, or the scale of a norm: one number per unit, which optimizers change a lot.
    pub(crate) fn is_vector(&self) -> bool {
        matches!(
            &*self.leaf,
            "bias" | "beta" | "gamma" | "b" | "bias_ih" | "bias_hh"
        )
    }
}

/// The name of the tensor of a histogram: `MindSpore` appends `/auto`, Keras `/histogram`, Keras 2 also the number of
/// the output.
fn without_suffix(name: &str) -> &str {
    if let Some(of) = name.strip_suffix("/histogram") {
        return of.strip_suffix("_0").unwrap_or(of);
    }
    name.strip_suffix("/auto").unwrap_or(name)
}

fn first_part(name: &str) -> (&str, &str) {
    match name.find(['/', '.']) {
        Some(at) => (&name[..at], &name[at + 1..]),
        None => (name, ""),
    }
}

fn class_of_prefix(prefix: &str) -> Option<Class> {
    Some(match prefix.to_ascii_lowercase().as_str() {
        "weight" | "weights" | "param" | "params" => Class::Weight,
        "grad" | "grads" | "gradient" | "gradients" => Class::Gradient,
        "activation" | "activations" | "act" | "out" | "output" | "outputs" => Class::Activation,
        "activation_grad" | "activation_grads" | "act_grad" | "grad_output" | "grad_input" => {
            Class::ActivationGradient
        }
        "buffer" | "buffers" => Class::Buffer,
        "input" | "inputs" => Class::Input,
        "target" | "targets" | "label" | "labels" => Class::Labels,
        "loss" => Class::Loss,
        "optimizer" | "optim" | "opt" => Class::OptimizerState,
        _ => return None,
    })
}

/// Suffixes that programs append to the names of gradients and outputs of layers.
const GRADIENT_ENDINGS: [&str; 5] = [".grad", "/grad", "_grad", ".gradient", "/gradient"];
const ACTIVATION_ENDINGS: [&str; 4] = [".activation", "/activation", ".output", "/output"];

fn class_of_name(name: &str, op: &str) -> Class {
    let lower = name.to_ascii_lowercase();
    let leaf = lower.rsplit(['.', '/']).next().unwrap_or_default();
    let leaf = leaf.strip_suffix(":0").unwrap_or(leaf);
    let ends = |endings: &[&str]| op.is_empty() && endings.iter().any(|end| lower.ends_with(end));
    if ends(&GRADIENT_ENDINGS) {
        return Class::Gradient;
    }
    if ends(&ACTIVATION_ENDINGS) {
        return Class::Activation;
    }
    if lower.starts_with("gradients/") || lower.contains("_grad/") || leaf.ends_with("_grad") {
        return Class::Gradient;
    }
    let keeps = [
        "moments",
        "moment1",
        "moment2",
        "accum",
        "stat",
        "exp_avg",
        "exp_avg_sq",
    ];
    let first = lower.split(['.', '/', '_']).next().unwrap_or_default();
    if keeps.contains(&first) || keeps.contains(&leaf) || lower.contains("optimizer-") {
        return Class::OptimizerState;
    }
    if is_statistic(leaf) {
        return Class::Buffer;
    }
    if is_weight_leaf(leaf) {
        return Class::Weight;
    }
    if is_input_name(leaf) {
        return Class::Input;
    }
    match family_of_op(op) {
        Family::Other => Class::Other,
        _ => Class::Activation,
    }
}

/// True for the last part of a trained parameter's name: the names of `MindInsight`, and those that it lacks.
fn is_weight_leaf(leaf: &str) -> bool {
    matches!(
        leaf,
        "weight"
            | "bias"
            | "kernel"
            | "gamma"
            | "beta"
            | "embedding_table"
            | "embeddings"
            | "in_proj_weight"
            | "in_proj_bias"
            | "recurrent_kernel"
    ) || ["weight_", "bias_"]
        .iter()
        .any(|start| leaf.starts_with(start))
        || ["_weight", "_bias", "_gamma", "_beta"]
            .iter()
            .any(|end| leaf.ends_with(end))
}

fn is_statistic(leaf: &str) -> bool {
    matches!(
        leaf,
        "running_mean" | "running_var" | "num_batches_tracked" | "moving_mean" | "moving_variance"
    )
}

fn is_input_name(module: &str) -> bool {
    matches!(
        module,
        "input" | "inputs" | "inputs0" | "x" | "data" | "batch" | "images" | "tokens"
    )
}

/// Type of an operation, by its name in the framework.
pub(crate) fn family_of_op(op: &str) -> Family {
    let op = op.to_ascii_lowercase();
    let plain: String = op.chars().filter(|c| c.is_alphanumeric()).collect();
    match plain.as_str() {
        "relu" | "reluv2" | "relu6" | "relunet" => Family::Relu,
        "tanh" => Family::Tanh,
        "sigmoid" => Family::Sigmoid,
        "softmax" => Family::Softmax,
        "elu" | "fastgelu" | "gelu" | "hsigmoid" | "hswish" | "hardswish" | "hardsigmoid"
        | "leakyrelu" | "logsigmoid" | "logsoftmax" | "prelu" | "silu" | "swish" | "mish"
        | "selu" | "celu" | "softplus" | "rrelu" => Family::OtherActivation,
        "embedding" | "embeddingbag" | "embeddinglookup" | "gather" => Family::Embedding,
        "linear" | "dense" | "matmul" | "conv1d" | "conv2d" | "conv3d" | "bilinear"
        | "convtranspose2d" | "rnn" | "gru" | "lstm" | "rnncell" | "grucell" | "lstmcell"
        | "multiheadattention" | "gemm" => Family::Linear,
        "log" | "log2" | "log10" | "log1p" | "reciprocal" => Family::Logarithm,
        "dropout" | "dropout1d" | "dropout2d" | "alphadropout" => Family::Dropout,
        "identity" => Family::Identity,
        _ if plain.contains("batchnorm") => Family::BatchNorm,
        _ if plain.contains("norm") || plain.starts_with("standard") => Family::OtherNorm,
        _ => Family::Other,
    }
}

/// Type of a layer, by the name that the user gave it: `relu1`, `act.tanh`, …
pub(crate) fn family_of_name(module: &str) -> Family {
    let last = module.rsplit(['.', '/']).next().unwrap_or_default();
    let word = last.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_' || c == '-');
    match word.to_ascii_lowercase().as_str() {
        "bn" => Family::BatchNorm,
        "ln" | "norm" => Family::OtherNorm,
        "embed" | "emb" | "wte" | "wpe" => Family::Embedding,
        "fc" | "conv" | "proj" | "qkv" | "head" => Family::Linear,
        other => family_of_op(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_alone_say_what_a_tensor_is() {
        for (name, role) in [
            ("fc1.weight", Some(Role::Weight)),
            ("fc1.weight.grad", Some(Role::Gradient)),
            ("fc1.activation", Some(Role::Activation)),
            ("Parameter.conv1.bias", Some(Role::Weight)),
            ("grad/fc1.bias", Some(Role::Gradient)),
            ("something", None),
        ] {
            assert_eq!(role_of_name(name), role, "{name}");
        }
    }

    #[test]
    fn names_of_each_framework_say_what_a_tensor_is() {
        // Name, operation, class, layer and last part; `-` means none.
        for row in [
            "weight/fc1.bias                 -          Weight              fc1                             bias",
            "weight/0.weight                 -          Weight              0                               weight",
            "grad/blocks.0.ln1.weight        -          Gradient            blocks.0.ln1                    weight",
            "activation/relu1                -          Activation          relu1                           -",
            "activation/input                -          Input               input                           -",
            "activation_grad/fc1             -          ActivationGradient  fc1                             -",
            "buffer/bn1.running_var          -          Buffer              bn1                             running_var",
            "target                          -          Labels              target                          -",
            "Parameter.conv1.weight          Parameter  Weight              conv1                           weight",
            "bn1.gamma                       Parameter  Weight              bn1                             gamma",
            "bn1.moving_mean                 Parameter  Buffer              bn1                             moving_mean",
            "moments.fc1.weight              Parameter  OptimizerState      moments.fc1                     weight",
            "embed.embedding_table           Parameter  Weight              embed                           embedding_table",
            "dense/kernel:0                  -          Weight              dense                           kernel",
            "Gradients/Default/x/MatMul-op1  MatMul     Gradient            Gradients/Default/x/MatMul-op1  -",
            "Default/net/ReLU-op3            ReLU       Activation          Default/net/ReLU-op3            -",
            "fc1.weight                      -          Weight              fc1                             weight",
            "fc1.weight.grad                 -          Gradient            fc1                             weight",
            "fc1.activation                  -          Activation          fc1                             -",
            "fc1.weight/auto                 -          Weight              fc1                             weight",
            "dense/kernel_0/histogram        -          Weight              dense                           kernel",
            "something                       -          Other               something                       -",
        ] {
            let words = row.split_whitespace().map(|word| word.trim_matches('-'));
            let [name, op, class, module, leaf] = words.collect::<Vec<_>>()[..] else {
                panic!("{row}");
            };
            let subject = Subject::of(Role::Other, name, op);
            let seen = (
                &*format!("{:?}", subject.class),
                &*subject.module,
                &*subject.leaf,
            );
            assert_eq!(seen, (class, module, leaf), "{name}");
        }
    }

    #[test]
    fn a_role_that_was_given_comes_before_the_name() {
        let class = |role, name| Subject::of(role, name, "").class;
        assert_eq!(class(Role::Gradient, "fc1.weight"), Class::Gradient);
        assert_eq!(
            class(Role::FrozenWeight, "weight/fc1.weight"),
            Class::FrozenWeight
        );
        assert_eq!(class(Role::Activation, "act/fc1"), Class::Activation);
        let gradient = Subject::of(Role::Gradient, "fc1.weight.grad", "");
        assert_eq!((&*gradient.module, &*gradient.leaf), ("fc1", "weight"));
        assert_eq!(
            &*Subject::of(Role::Activation, "fc1.activation", "").module,
            "fc1"
        );
    }

    #[test]
    fn layers_are_known_by_what_they_are_called() {
        assert_eq!(family_of_op("ReLU"), Family::Relu);
        assert_eq!(family_of_op("BatchNorm2d"), Family::BatchNorm);
        assert_eq!(family_of_op("LayerNorm"), Family::OtherNorm);
        assert_eq!(family_of_name("block.2.relu_1"), Family::Relu);
        assert_eq!(family_of_name("softmax1"), Family::Softmax);
        assert_eq!(family_of_name("fc1"), Family::Linear);
    }
}
