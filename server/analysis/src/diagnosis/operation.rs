//! Types of operations, independent of the framework.

use trainscope_format::graph::{Node, NodeKind};

/// Type of an operation, in the detail that the rules need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationClass {
    /// Passes its first input on: with another shape or type, or unchanged.
    Passes,
    /// Joins several inputs.
    Gathers,
    /// Orders execution or has side effects: computes nothing.
    Orders,
    /// Probabilities that sum to 1.
    Softmax,
    /// Logarithms of such probabilities.
    LogSoftmax,
    /// Independent probabilities.
    Sigmoid,
    /// The natural logarithm.
    Log,
    /// Sets negative values to 0.
    Relu,
    /// Between −1 and 1.
    Tanh,
    /// An activation whose values are not probabilities: ELU, GELU, softplus, …
    OtherActivation,
    /// Matrix product or convolution: a layer without activation.
    Linear,
    BiasAdd,
    Add,
    /// Normalises over the batch, or over each sample of a channel: a constant per channel cancels.
    Normalises,
    Subtracts,
    Loss(Loss),
    Other,
}

/// Expected input of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// Logits: it applies softmax itself.
    Logits,
    /// Logits: it applies sigmoid itself.
    BinaryLogits,
    /// Logarithms of probabilities.
    LogProbabilities,
    /// Independent probabilities.
    Probabilities,
    /// Probabilities that sum to 1.
    Classes,
    /// Numbers like those of the target.
    Values,
}

impl OperationClass {
    /// Range of its values.
    pub(super) const fn range(self) -> (f64, f64) {
        match self {
            Self::Softmax | Self::Sigmoid => (0.0, 1.0),
            Self::Tanh => (-1.0, 1.0),
            Self::Relu => (0.0, f64::INFINITY),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }
}

/// Type of a loss by its name alone.
pub(super) fn loss_of_name(node: &Node) -> OperationClass {
    match of(node) {
        loss @ OperationClass::Loss(_) => loss,
        _ => OperationClass::Other,
    }
}

/// Type of a node.
pub(super) fn of(node: &Node) -> OperationClass {
    if node.kind != NodeKind::Operation {
        return OperationClass::Other;
    }
    let op = node.op_type.rsplit("::").next().unwrap_or_default();
    let plain = plain(op);
    let is_linear = |activation: &str| activation == "linear";
    match attribute(node, "activation") {
        // A Keras layer ends with its activation.
        Some(activation) if !is_linear(activation) => return activation_of(activation),
        Some(_) if plain == "activation" => return OperationClass::Passes,
        _ => {}
    }
    if matches!(&*plain, "relu" | "leakyrelu") && is_bounded(node) {
        return OperationClass::Other;
    }
    if attribute(node, "from_logits") == Some("true") {
        match &*plain {
            "binarycrossentropy" | "binaryfocalcrossentropy" => {
                return OperationClass::Loss(Loss::BinaryLogits);
            }
            "categoricalcrossentropy"
            | "categoricalfocalcrossentropy"
            | "sparsecategoricalcrossentropy" => return OperationClass::Loss(Loss::Logits),
            _ => {}
        }
    }
    match &*plain {
        "identity"
        | "reshape"
        | "view"
        | "flatten"
        | "squeeze"
        | "unsqueeze"
        | "cast"
        | "to"
        | "tocopy"
        | "transpose"
        | "permute"
        | "t"
        | "contiguous"
        | "clone"
        | "detach"
        | "alias"
        | "dropout"
        | "featuredropout"
        | "load"
        | "readvariableop"
        | "depend"
        | "stopgradient"
        | "tuplegetitem"
        | "expanddims"
        | "permutation"
        | "unsafeview"
        | "getattr"
        | "activityregularization"
        | "alphadropout"
        | "gaussiandropout"
        | "gaussiannoise"
        | "masking"
        | "repeatvector"
        | "spatialdropout1d"
        | "spatialdropout2d"
        | "spatialdropout3d" => OperationClass::Passes,
        "maketuple" | "listconstruct" | "tupleconstruct" => OperationClass::Gathers,
        "updatestate" | "noop" | "savev2" | "assign" | "assignvariableop"
        | "varisinitializedop" | "imagesummary" | "tensorsummary" | "scalarsummary"
        | "histogramsummary" => OperationClass::Orders,
        "softmax" | "safesoftmax" => OperationClass::Softmax,
        "logsoftmax" => OperationClass::LogSoftmax,
        "sigmoid" => OperationClass::Sigmoid,
        "log" => OperationClass::Log,
        "relu" | "relu6" => OperationClass::Relu,
        "tanh" => OperationClass::Tanh,
        "elu" | "selu" | "celu" | "gelu" | "leakyrelu" | "prelu" | "softplus" | "silu"
        | "swish" | "mish" => OperationClass::OtherActivation,
        "matmul"
        | "linear"
        | "addmm"
        | "mm"
        | "bmm"
        | "baddbmm"
        | "gemm"
        | "dense"
        | "conv"
        | "conv1d"
        | "conv2d"
        | "conv3d"
        | "conv1dtranspose"
        | "conv2dtranspose"
        | "conv3dtranspose"
        | "separableconv1d"
        | "separableconv2d"
        | "einsumdense"
        | "convolution"
        | "thnnconv2d"
        | "mkldnnconvolution"
        | "cudnnconvolution"
        | "convtranspose"
        | "convtranspose1d"
        | "convtranspose2d"
        | "conv2dbackpropinput"
        | "depthwiseconv2dnative"
        | "batchmatmul"
        | "batchmatmulv2"
        | "fusedmatmul"
        | "matmulbiasaddfusion" => OperationClass::Linear,
        // A layer applied to each step of a sequence, if it has weights and is not a model.
        "timedistributed"
            if attribute(node, "units").is_some() || attribute(node, "filters").is_some() =>
        {
            OperationClass::Linear
        }
        "biasadd" => OperationClass::BiasAdd,
        "add" | "addv2" => OperationClass::Add,
        "batchnorm"
        | "batchnorm1d"
        | "batchnorm2d"
        | "batchnorm3d"
        | "nativebatchnorm"
        | "cudnnbatchnorm"
        | "batchnormalization"
        | "syncbatchnorm"
        | "fusedbatchnorm"
        | "fusedbatchnormv2"
        | "fusedbatchnormv3"
        | "instancenorm"
        | "instancenormalization"
        | "nativebatchnormlegit"
        | "batchnormv1" => OperationClass::Normalises,
        "sub" | "rsub" | "subtract" | "squareddifference" => OperationClass::Subtracts,
        "softmaxcrossentropy"
        | "softmaxcrossentropywithlogits"
        | "crossentropyloss"
        | "sparsesoftmaxcrossentropywithlogits"
        | "softmaxcrossentropyloss"
        | "sparsesoftmaxcrossentropywithlogitsv2" => OperationClass::Loss(Loss::Logits),
        "sigmoidcrossentropywithlogits"
        | "binarycrossentropywithlogits"
        | "bcewithlogitsloss"
        | "bcewithlogits" => OperationClass::Loss(Loss::BinaryLogits),
        "nllloss" | "nlllossnd" | "nllloss2d" | "nlllossforward" | "negativeloglikelihoodloss" => {
            OperationClass::Loss(Loss::LogProbabilities)
        }
        "binarycrossentropy" | "bceloss" | "bce" | "binaryfocalcrossentropy" => {
            OperationClass::Loss(Loss::Probabilities)
        }
        "categoricalcrossentropy"
        | "categoricalfocalcrossentropy"
        | "sparsecategoricalcrossentropy" => OperationClass::Loss(Loss::Classes),
        "mseloss" | "l1loss" | "smoothl1loss" | "huberloss" | "meansquarederror" | "mse"
        | "meanabsoluteerror" | "mae" | "huber" | "logcosh" => OperationClass::Loss(Loss::Values),
        _ => OperationClass::Other,
    }
}

/// A name without the spelling differences of frameworks: capitals, `_` and `-`.
pub(super) fn plain(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

pub(super) fn attribute<'a>(node: &'a Node, name: &str) -> Option<&'a str> {
    let found = node.attributes.iter().find(|(key, _)| key == name);
    found.map(|(_, value)| value.as_str())
}

/// The activation at the end of a Keras layer; a function of the program may do anything.
fn activation_of(name: &str) -> OperationClass {
    match &*plain(name) {
        "softmax" => OperationClass::Softmax,
        "logsoftmax" => OperationClass::LogSoftmax,
        "sigmoid" | "hardsigmoid" => OperationClass::Sigmoid,
        "relu" | "relu6" => OperationClass::Relu,
        "tanh" | "hardtanh" | "softsign" => OperationClass::Tanh,
        "elu" | "selu" | "celu" | "gelu" | "leakyrelu" | "prelu" | "softplus" | "silu"
        | "swish" | "mish" | "hardsilu" | "hardswish" | "exponential" => {
            OperationClass::OtherActivation
        }
        _ => OperationClass::Other,
    }
}

/// True for a Keras `ReLU` with an upper limit: `ReLU(max_value=1)` yields numbers between 0 and 1.
fn is_bounded(node: &Node) -> bool {
    attribute(node, "max_value").is_some()
}

/// True for a node of the backward pass: gradients have the names of their operations, and would be mistaken for them.
pub(super) fn is_backward(node: &Node) -> bool {
    let scope = node.name.split('/').next().unwrap_or_default();
    scope.eq_ignore_ascii_case("gradients")
        || node.name.split('/').any(|part| part.starts_with("Grad_"))
}

/// True for a trained parameter, or the access to one in a traced module.
pub(super) fn is_parameter(node: &Node) -> bool {
    let op = node.op_type.as_str();
    node.kind == NodeKind::Parameter || matches!(op, "VarHandleOp" | "VariableV2" | "prim::GetAttr")
}
