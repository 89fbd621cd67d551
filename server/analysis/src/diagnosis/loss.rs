//! The activation between the last layer and the loss: a loss expects logits, probabilities or plain numbers, and an
//! activation with another range removes its gradient or makes it wrong.
//!
//! Sources: the documentation of `from_logits` in Keras, of `CrossEntropyLoss`, `NLLLoss` and `BCELoss` in `PyTorch`;
//! the rules of `NeuraLint` (Nikanjam et al., TOSEM 2021) and UMLAUT (Schoop et al., CHI 2021).

use std::sync::Arc;

use trainscope_format::Graph;
use trainscope_format::graph::Node;

use super::operation::{Loss, OperationClass, attribute, loss_of_name, plain};
use super::recording::Missing;
use super::view::View;
use super::{Opinion, State};

/// Activation that a loss applies to an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Cross-entropy with one number for each class as target.
    Classes,
    /// Cross-entropy with the class index as target.
    ClassNumbers,
    /// Cross-entropy of each unit separately.
    Binary,
    /// Distance between numbers.
    Values,
}

/// The output of a model with a single loss, from its graph.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Output {
    /// Name of the last layer.
    pub(crate) layer: Arc<str>,
    /// Number of units, if known.
    pub(crate) units: Option<u64>,
    /// Range of its activation.
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) cost: Option<Cost>,
    /// True if the loss is the plain mean of the cross-entropy: no smoothed labels, no classes left out.
    pub(crate) is_plain: bool,
}

/// Output of a graph with a single loss.
pub(crate) fn output_of(graph: &Graph) -> Option<Output> {
    let view = View::new(graph);
    let is_loss = |at: &usize| matches!(view.does[*at], OperationClass::Loss(_));
    let mut losses = view.forward().filter(is_loss);
    let (loss, None) = (losses.next()?, losses.next()) else {
        return None;
    };
    let from = view.origin(loss, 0)?;
    let node = &view.nodes[loss];
    let is_off = |name: &str| {
        let value = attribute(node, name);
        value.is_none_or(|value| value.parse() == Ok(0.0))
    };
    let (low, high) = view.does[from].range();
    Some(Output {
        layer: view.name(from).into(),
        units: view.width(from),
        low,
        high,
        cost: cost_of(node, view.does[loss]),
        is_plain: is_off("label_smoothing")
            && attribute(node, "ignore_class").is_none()
            && !plain(&node.op_type).contains("focal"),
    })
}

/// Type of a loss by its recorded name.
pub(crate) fn cost_of_name(name: &str) -> Option<Cost> {
    let node = Node {
        op_type: name.to_owned(),
        ..Node::default()
    };
    cost_of(&node, loss_of_name(&node))
}

fn cost_of(node: &Node, does: OperationClass) -> Option<Cost> {
    let OperationClass::Loss(loss) = does else {
        return None;
    };
    let name = plain(&node.op_type);
    let has_numbers = ["sparse", "nll", "crossentropyloss"];
    Some(match loss {
        Loss::Values => Cost::Values,
        Loss::BinaryLogits | Loss::Probabilities => Cost::Binary,
        Loss::Logits | Loss::LogProbabilities | Loss::Classes => {
            if has_numbers.iter().any(|word| name.contains(word)) {
                Cost::ClassNumbers
            } else {
                Cost::Classes
            }
        }
    })
}

/// Missing or superfluous activation before a loss.
pub(super) fn loss_activation(view: &View<'_>) -> Opinion {
    let mut found: Vec<(State, usize, String, String)> = Vec::new();
    let (mut losses, mut judged) = (0, 0);
    for at in view.forward() {
        let OperationClass::Loss(loss) = view.does[at] else {
            // Two in a row, with or without a loss after them.
            if matches!(
                view.does[at],
                OperationClass::Softmax | OperationClass::LogSoftmax
            ) && let Some(first) = view.origin(at, 0)
                && view.does[first] == OperationClass::Softmax
            {
                let (en, zh) = doubled(view, first, at);
                found.push((State::Fault, at, en, zh));
            }
            continue;
        };
        losses += 1;
        let Some(from) = view.origin(at, 0) else {
            continue;
        };
        judged += u64::from(view.does[from] != OperationClass::Other || loss == Loss::Values);
        let single = single_unit(view, loss, from, at);
        if let Some((state, en, zh)) = single.or_else(|| before_loss(view, loss, from, at)) {
            found.push((state, at, en, zh));
        }
    }
    found.sort_by_key(|(state, at, ..)| (std::cmp::Reverse(*state), *at));
    let places = found.len();
    if let Some((state, at, en, zh)) = found.into_iter().next() {
        return Opinion::found(state, Some(view.name(at)), places, en, zh);
    }
    if losses == 0 {
        return Opinion::unknown(
            "the graph does not contain the loss, so its input is not checked; record the model together with the loss",
            "计算图不含损失，无法检查其输入；请将模型与损失一并记录",
            Missing::GraphWithLoss,
        );
    }
    if judged == 0 {
        return Opinion::unknown(
            "the input of the loss comes from an unknown operator",
            "损失的输入来自未知类型的算子",
            Missing::Nothing,
        );
    }
    Opinion::fine(
        "loss input is correct".to_owned(),
        "损失的输入正确".to_owned(),
    )
}

fn doubled(view: &View<'_>, first: usize, second: usize) -> (String, String) {
    let (first, second) = (view.name(first), view.name(second));
    (
        format!("{second} applies softmax to the probabilities of {first}: gradients become small"),
        format!("{first} 已输出概率，{second} 又做一次 softmax，梯度会变得很小"),
    )
}

/// Softmax, or a cross-entropy of classes, over a single unit: e^x / e^x is 1 for any x, and so the loss does not
/// depend on the model.
fn single_unit(
    view: &View<'_>,
    loss: Loss,
    from: usize,
    at: usize,
) -> Option<(State, String, String)> {
    if view.width(from) != Some(1) {
        return None;
    }
    let (input, name) = (view.name(from), view.name(at));
    if view.does[from] == OperationClass::Softmax {
        return Some((
            State::Error,
            format!(
                "{input} applies softmax to a single unit, which is always 1: nothing can be learned. Use one unit with \
                 sigmoid and binary cross-entropy, or one unit for each class"
            ),
            format!(
                "{input} 对单个单元做 softmax，输出恒为 1，无法学习。请改用一个 sigmoid 单元配二元交叉熵，或每个类别一个单元"
            ),
        ));
    }
    matches!(loss, Loss::Logits | Loss::Classes | Loss::LogProbabilities).then(|| {
        (
            State::Error,
            format!(
                "{name} is a cross-entropy over classes, and {input} has a single unit: use binary cross-entropy, or one \
                 unit for each class"
            ),
            format!("{name} 是多类交叉熵，而 {input} 只有一个单元：请改用二元交叉熵，或每个类别一个单元"),
        )
    })
}

/// Checks a loss whose input is `from`.
fn before_loss(
    view: &View<'_>,
    loss: Loss,
    from: usize,
    at: usize,
) -> Option<(State, String, String)> {
    let (input, name) = (view.name(from), view.name(at));
    let raw = matches!(
        view.does[from],
        OperationClass::Linear | OperationClass::BiasAdd | OperationClass::Add
    );
    let fault = |en: String, zh: String| Some((State::Fault, en, zh));
    match (loss, view.does[from]) {
        (Loss::Logits, OperationClass::Softmax | OperationClass::Sigmoid) => fault(
            format!(
                "{name} applies softmax itself, but its input {input} already outputs probabilities: gradients become small"
            ),
            format!("{name} 内部已包含 softmax，而 {input} 已输出概率，梯度会变得很小"),
        ),
        (Loss::BinaryLogits, OperationClass::Softmax | OperationClass::Sigmoid) => fault(
            format!(
                "{name} applies sigmoid itself, but its input {input} already outputs probabilities: gradients become small"
            ),
            format!("{name} 内部已包含 sigmoid，而 {input} 已输出概率，梯度会变得很小"),
        ),
        (Loss::Logits | Loss::BinaryLogits, OperationClass::Relu) => fault(
            format!("{input} clips negative logits before {name}: these outputs do not learn"),
            format!("{input} 在 {name} 之前截去了负的 logits，这些输出无法学习"),
        ),
        (Loss::Logits, OperationClass::LogSoftmax) => Some((
            State::Note,
            format!("{name} applies softmax itself; {input} is redundant"),
            format!("{name} 内部已包含 softmax，{input} 是多余的"),
        )),
        (Loss::LogProbabilities, OperationClass::Softmax | OperationClass::Sigmoid) => fault(
            format!(
                "{name} expects log-probabilities, but {input} outputs probabilities: use log_softmax"
            ),
            format!("{name} 需要对数概率，而 {input} 给出的是概率，应使用 log_softmax"),
        ),
        (Loss::LogProbabilities, _) if raw => fault(
            format!(
                "{name} expects log-probabilities, but gets the logits of {input}: log_softmax is missing"
            ),
            format!("{name} 需要对数概率，得到的却是 {input} 的 logits：缺少 log_softmax"),
        ),
        (Loss::Classes, OperationClass::Sigmoid) => fault(
            format!(
                "{name} expects probabilities that sum to 1, and {input} ends in sigmoid, which gives each unit its own: use \
                 softmax, or binary cross-entropy if several classes may be true at once"
            ),
            format!(
                "{name} 需要总和为 1 的概率，而 {input} 以 sigmoid 结尾，各单元相互独立：请改用 softmax；若可同时属于多类，则改用二元交叉熵"
            ),
        ),
        (Loss::Classes, _) if raw || is_activation(view.does[from]) => {
            Some(no_probabilities(view, from, at, "softmax"))
        }
        (Loss::Probabilities, _) if raw || is_activation(view.does[from]) => {
            Some(no_probabilities(view, from, at, "sigmoid"))
        }
        (Loss::Probabilities, OperationClass::Softmax) => Some((
            State::Note,
            format!(
                "{name} judges each unit by itself, and {input} ends in softmax, whose units compete: categorical \
                 cross-entropy is usual"
            ),
            format!(
                "{name} 单独判断每个单元，而 {input} 以 softmax 结尾，各单元互相竞争：通常使用多类交叉熵"
            ),
        )),
        (Loss::Values, OperationClass::Softmax) if !is_compared_with_softmax(view, at) => fault(
            format!(
                "{name} compares numbers, and {input} ends in softmax: outputs stay between 0 and 1 and sum to 1, and \
                 gradients are small where the model is wrong. Use cross-entropy for classes, or no activation for numbers"
            ),
            format!(
                "{name} 比较数值，而 {input} 以 softmax 结尾：输出在 0 到 1 之间且总和为 1，预测错误时梯度很小。分类请用交叉熵，回归请去掉激活函数"
            ),
        ),
        (Loss::Values, OperationClass::Relu) => Some((
            State::Note,
            format!(
                "{input} ends in ReLU: predictions are never below 0, and a unit that is below 0 for every sample does not \
                 learn any more"
            ),
            format!("{input} 以 ReLU 结尾：预测值不会小于 0，且对所有样本都小于 0 的单元不再学习"),
        )),
        _ => None,
    }
}

/// True for an activation whose values are not probabilities.
fn is_activation(does: OperationClass) -> bool {
    matches!(
        does,
        OperationClass::Relu
            | OperationClass::Tanh
            | OperationClass::OtherActivation
            | OperationClass::LogSoftmax
    )
}

/// A cross-entropy takes the logarithm of its input: outside of 0 to 1 it is undefined, or clipped without a gradient.
fn no_probabilities(
    view: &View<'_>,
    from: usize,
    at: usize,
    missing: &str,
) -> (State, String, String) {
    let (input, name) = (view.name(from), view.name(at));
    let (en, zh) = match view.does[from] {
        OperationClass::Relu => ("ends in ReLU, which is unbounded", "以 ReLU 结尾，没有上限"),
        OperationClass::Tanh => (
            "ends in tanh, which can be negative",
            "以 tanh 结尾，可能小于 0",
        ),
        OperationClass::LogSoftmax => ("outputs log-probabilities", "给出的是对数概率"),
        OperationClass::OtherActivation => (
            "ends in an activation whose values are not probabilities",
            "所用激活函数给出的不是概率",
        ),
        _ => ("outputs logits", "给出的是 logits"),
    };
    (
        State::Error,
        format!("{name} expects probabilities, but {input} {en}: {missing} is missing"),
        format!("{name} 需要概率，而 {input} {zh}：缺少 {missing}"),
    )
}

/// True if the other operand of a difference is a softmax too, as in distillation.
fn is_compared_with_softmax(view: &View<'_>, at: usize) -> bool {
    view.origin(at, 1)
        .is_some_and(|other| view.does[other] == OperationClass::Softmax)
}
