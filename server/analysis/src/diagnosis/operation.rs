//! What the operations of a graph do, whatever their framework calls them.

use trainscope_format::graph::{Node, NodeKind};

/// What an operation does, as far as a rule asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Hands its first input on: other shape, other type, or nothing at all.
    Passes,
    /// Makes several into one.
    Gathers,
    /// Says what has to run before, or tells somebody: computes nothing.
    Orders,
    /// Probabilities that sum to 1.
    Softmax,
    /// Their logarithms.
    LogSoftmax,
    /// Probabilities, each by itself.
    Sigmoid,
    /// The natural logarithm.
    Log,
    /// Cuts off what is below zero.
    Relu,
    /// Matrices or convolutions: what a layer without activation ends with.
    Linear,
    /// Adds a bias.
    BiasAdd,
    /// Adds anything.
    Add,
    /// Normalises over the batch or over each sample of a channel: a constant of a channel is taken out.
    Normalises,
    /// Takes a difference.
    Subtracts,
    /// A loss.
    Loss(Loss),
    /// Something else.
    Other,
}

/// What a loss expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// Scores: it applies softmax itself.
    Logits,
    /// Scores: it applies sigmoid itself.
    BinaryLogits,
    /// Logarithms of probabilities.
    LogProbabilities,
    /// Probabilities, each by itself.
    Probabilities,
    /// Numbers like those of the target.
    Values,
}

/// What a node does.
pub(super) fn of(node: &Node) -> Does {
    if node.kind != NodeKind::Operation {
        return Does::Other;
    }
    let op = node.op_type.rsplit("::").next().unwrap_or_default();
    let plain: String = op
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    match &*plain {
        "identity" | "reshape" | "view" | "flatten" | "squeeze" | "unsqueeze" | "cast" | "to"
        | "tocopy" | "transpose" | "permute" | "t" | "contiguous" | "clone" | "detach"
        | "alias" | "dropout" | "featuredropout" | "load" | "readvariableop" | "depend"
        | "stopgradient" | "tuplegetitem" | "expanddims" | "permutation" | "unsafeview"
        | "getattr" => Does::Passes,
        "maketuple" | "listconstruct" | "tupleconstruct" => Does::Gathers,
        "updatestate" | "noop" | "savev2" | "assign" | "assignvariableop"
        | "varisinitializedop" | "imagesummary" | "tensorsummary" | "scalarsummary"
        | "histogramsummary" => Does::Orders,
        "softmax" | "safesoftmax" => Does::Softmax,
        "logsoftmax" => Does::LogSoftmax,
        "sigmoid" => Does::Sigmoid,
        "log" => Does::Log,
        "relu" | "relu6" => Does::Relu,
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
        | "matmulbiasaddfusion" => Does::Linear,
        "biasadd" => Does::BiasAdd,
        "add" | "addv2" => Does::Add,
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
        | "batchnormv1" => Does::Normalises,
        "sub" | "rsub" | "subtract" | "squareddifference" => Does::Subtracts,
        "softmaxcrossentropy"
        | "softmaxcrossentropywithlogits"
        | "crossentropyloss"
        | "sparsesoftmaxcrossentropywithlogits"
        | "softmaxcrossentropyloss"
        | "sparsesoftmaxcrossentropywithlogitsv2" => Does::Loss(Loss::Logits),
        "sigmoidcrossentropywithlogits"
        | "binarycrossentropywithlogits"
        | "bcewithlogitsloss"
        | "bcewithlogits" => Does::Loss(Loss::BinaryLogits),
        "nllloss" | "nlllossnd" | "nllloss2d" | "nlllossforward" | "negativeloglikelihoodloss" => {
            Does::Loss(Loss::LogProbabilities)
        }
        "binarycrossentropy" | "bceloss" => Does::Loss(Loss::Probabilities),
        "mseloss" | "l1loss" | "smoothl1loss" | "huberloss" | "meansquarederror" => {
            Does::Loss(Loss::Values)
        }
        _ => Does::Other,
    }
}

/// Whether a node is of the way back: gradients name what they are of, and would be taken for it.
pub(super) fn is_backward(node: &Node) -> bool {
    let scope = node.name.split('/').next().unwrap_or_default();
    scope.eq_ignore_ascii_case("gradients")
        || node.name.split('/').any(|part| part.starts_with("Grad_"))
}

/// Whether a node is something that is trained: a parameter, or the access to one in a traced module.
pub(super) fn is_parameter(node: &Node) -> bool {
    let op = node.op_type.as_str();
    node.kind == NodeKind::Parameter || matches!(op, "VarHandleOp" | "VariableV2" | "prim::GetAttr")
}
