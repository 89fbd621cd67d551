//! The loss: the function before it, its gradient, and its operands.
//!
//! The expected inputs of a loss are those in the documentation of its function in `PyTorch`. The only thresholds are
//! those of the targets.

use trainscope_format::digits::{brief, percent};

use super::{Fact, Facts, shown};
use crate::diagnosis::recording::Missing;
use crate::diagnosis::{Opinion, Rule, State};

/// Multiples of the outputs' root mean square, or of 1 if that is larger, above which targets are out of reach of a
/// freshly initialized model: its updates would have to carry the outputs there. Chosen.
const FAR_TARGETS: f64 = 100.0;
/// Minimum share of negative targets for which an output that is never negative is a fault, not a choice. Chosen: a
/// measured quantity like a price has none.
const NEGATIVE_TARGETS: f64 = 0.05;

/// Functions that give logits, of layers without an activation.
const LINEAR: [&str; 12] = [
    "linear",
    "addmm",
    "mm",
    "matmul",
    "bmm",
    "baddbmm",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "convolution",
];
/// Functions that return logarithms, or may do so.
const LOGARITHMS: [&str; 11] = [
    "log_softmax",
    "log",
    "log_sigmoid",
    "logsigmoid",
    "log2",
    "log1p",
    "logsumexp",
    "logaddexp",
    "add",
    "sub",
    "log_prob",
];
/// Losses that compare numbers.
const OF_NUMBERS: [&str; 5] = [
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "soft_margin_loss",
];

pub(super) fn judge(facts: &Facts, all: &mut Vec<(Rule, Opinion)>) {
    for fact in facts.of("loss_function") {
        if fact.seen.first.1.number("has_gradient").is_some() {
            all.push((Rule::LossWithoutGradient, gradient(&fact)));
        }
        all.push((Rule::LossActivation, activation(&fact)));
        all.extend(maximized(&fact, facts).map(|opinion| (Rule::LossActivation, opinion)));
        if fact.number("broadcast").is_some() {
            all.push((Rule::Broadcast, broadcast(&fact)));
        }
        if OF_NUMBERS.contains(&fact.plain()) {
            all.extend(targets(&fact).map(|opinion| (Rule::TargetScale, opinion)));
        }
    }
}

fn gradient(fact: &Fact<'_>) -> Opinion {
    if fact.is("has_gradient") {
        return fact.fine("the loss has a gradient", "损失带有梯度");
    }
    fact.found(
        State::Error,
        "the loss was not computed from the model by differentiable operations (argmax, item(), detach(), no_grad): \
         backward() reaches no parameter"
            .to_owned(),
        "损失不是由模型经可微运算得到的（argmax、item()、detach()、no_grad）：backward() 到不了任何参数".to_owned(),
    )
}

/// The function before the loss.
fn activation(fact: &Fact<'_>) -> Opinion {
    let loss = shown(fact.plain());
    let (before, earlier) = (fact.text("before"), fact.text("before_that"));
    if fact
        .number("classes")
        .is_some_and(|classes| (1.0..2.0).contains(&classes))
        && matches!(fact.plain(), "cross_entropy" | "nll_loss")
    {
        return fact.found(
            State::Error,
            format!(
                "{loss} is over classes, and there is a single one: the loss does not depend on the model. Use \
                 binary_cross_entropy_with_logits, or one unit for each class"
            ),
            format!(
                "{loss} 面向多个类别，而这里只有一个：损失与模型无关。请改用 binary_cross_entropy_with_logits，或每个类别一个单元"
            ),
        );
    }
    if fact.is("wrong_axis") {
        let shape = fact.text("outputs_shape");
        return fact.fault(
            format!(
                "log_softmax before {loss} is along the samples, not the classes, of outputs of shape {shape}: use dim=1"
            ),
            format!("{loss} 之前的 log_softmax 沿样本而不是类别的维度计算（输出形状 {shape}）：请使用 dim=1"),
        );
    }
    if before.is_empty() {
        return fact.about(Opinion::unknown(
            "the function before the loss is not known",
            "损失之前的函数未知",
            Missing::Program,
        ));
    }
    let module = fact.text("module");
    let of = if module.is_empty() {
        before.clone()
    } else {
        format!("{before} ({module})")
    };
    let (state, en, zh) = match (fact.plain(), &*before) {
        ("cross_entropy", "softmax" | "sigmoid") => doubled(&loss, &of, "softmax"),
        ("nll_loss", "log_softmax") if matches!(&*earlier, "softmax" | "sigmoid") => {
            doubled("log_softmax", &earlier, "softmax")
        }
        ("binary_cross_entropy_with_logits", "softmax" | "sigmoid") => {
            doubled(&loss, &of, "sigmoid")
        }
        ("cross_entropy" | "binary_cross_entropy_with_logits", "relu") => (
            State::Fault,
            format!(
                "relu clips negative logits before {loss}: outputs below 0 do not learn. Remove the relu"
            ),
            format!("relu 在 {loss} 之前截去了负的 logits：小于 0 的输出无法学习。请去掉该 relu"),
        ),
        ("cross_entropy", "log_softmax") => (
            State::Note,
            format!("{loss} applies log_softmax itself; the one before it is redundant"),
            format!("{loss} 内部已包含 log_softmax，前面的 log_softmax 是多余的"),
        ),
        ("nll_loss", "softmax" | "sigmoid" | "relu" | "tanh")
        | ("kl_div", "softmax" | "sigmoid") => no_logarithm(&loss, &of),
        ("nll_loss", other) if LINEAR.contains(&other) => no_logarithm(&loss, &of),
        ("binary_cross_entropy", "relu" | "tanh") => no_probability(&loss, &of),
        ("binary_cross_entropy", other) if LINEAR.contains(&other) => no_probability(&loss, &of),
        (other, "relu") if OF_NUMBERS.contains(&other) => {
            let negative = fact.number("negative_targets").unwrap_or(0.0);
            if negative == 0.0 {
                return fact.fine(
                    "the targets have no negative numbers, which relu cannot give",
                    "目标值没有 relu 给不出的负数",
                );
            }
            let share = percent(negative);
            (
                if negative >= NEGATIVE_TARGETS {
                    State::Fault
                } else {
                    State::Note
                },
                format!(
                    "relu is the last function before {loss}, and {share} of the targets are negative: it cannot reach them"
                ),
                format!("{loss} 之前的最后一个函数是 relu，而 {share} 的目标值为负：无法达到"),
            )
        }
        (other, "softmax") if OF_NUMBERS.contains(&other) => (
            State::Note,
            format!(
                "{loss} compares numbers after softmax: gradients are small where the model is wrong; cross_entropy is usual for classes"
            ),
            format!(
                "{loss} 在 softmax 之后比较数值：预测错误时梯度很小；分类通常使用 cross_entropy"
            ),
        ),
        (loss, other) if is_sound(loss, other) => {
            return fact.fine("loss input is correct", "损失的输入正确");
        }
        _ => {
            let opinion = fact.found(
                State::Unknown,
                format!("whether {of} is a fitting input of {loss} is not known"),
                format!("无法判断 {of} 的输出是否适合 {loss}"),
            );
            return Opinion {
                places: 0,
                ..opinion
            };
        }
    };
    fact.found(state, en, zh)
}

/// Minimum number of passes with a loss of the wrong sign. Chosen.
const MIN_PASSES: f64 = 3.0;

/// A loss that the updates make larger: the only one of the program, and trained by one optimizer. Beside others, one may
/// be maximised on purpose, as in adversarial training.
fn maximized(fact: &Fact<'_>, facts: &Facts) -> Option<Opinion> {
    let passes = fact.number("signed_passes")?;
    let others = facts
        .of("loss_function")
        .filter(|other| other.rank == fact.rank);
    let optimizers = facts
        .of("optimizer_settings")
        .filter(|one| one.rank == fact.rank);
    let optimizers: Vec<Fact<'_>> = optimizers.collect();
    let names: std::collections::BTreeSet<&str> = optimizers
        .iter()
        .map(|one| one.subject.split(' ').next().unwrap_or_default())
        .collect();
    if passes < MIN_PASSES || others.count() != 1 || names.len() != 1 {
        return None;
    }
    let is_ascent = optimizers.iter().all(|one| one.is("maximize"));
    let negative = fact.number("negative_passes")?;
    let is_wrong = if is_ascent {
        negative == 0.0
    } else {
        negative >= passes
    };
    let loss = shown(fact.plain());
    is_wrong.then(|| {
        fact.fault(
            format!(
                "updates make {loss} larger: its sign in what is minimized is the opposite of the usual one. Negate the loss"
            ),
            format!("更新会使 {loss} 变大：它在被最小化的量中的符号与通常相反。请对损失取负"),
        )
    })
}

/// True if a loss can take the values of a function.
fn is_sound(loss: &str, before: &str) -> bool {
    match loss {
        "cross_entropy" | "binary_cross_entropy_with_logits" => true,
        "nll_loss" | "kl_div" => LOGARITHMS.contains(&before),
        "binary_cross_entropy" => matches!(
            before,
            "sigmoid" | "softmax" | "clamp" | "mul" | "mean" | "exp"
        ),
        other => OF_NUMBERS.contains(&other),
    }
}

fn doubled(loss: &str, of: &str, applies: &str) -> (State, String, String) {
    (
        State::Fault,
        format!(
            "{loss} applies {applies} to the output of {of}, which are probabilities already: give it the values before"
        ),
        format!("{loss} 对 {of} 的输出再做 {applies}，而它们已是概率：请传入之前的值"),
    )
}

fn no_logarithm(loss: &str, of: &str) -> (State, String, String) {
    (
        State::Fault,
        format!(
            "{loss} expects log-probabilities and gets the output of {of}: put log_softmax before it"
        ),
        format!("{loss} 需要对数概率，得到的却是 {of} 的输出：请先做 log_softmax"),
    )
}

fn no_probability(loss: &str, of: &str) -> (State, String, String) {
    (
        State::Error,
        format!(
            "{loss} expects probabilities and gets the output of {of}: sigmoid is missing, or use binary_cross_entropy_with_logits"
        ),
        format!(
            "{loss} 需要概率，得到的却是 {of} 的输出：缺少 sigmoid，或改用 binary_cross_entropy_with_logits"
        ),
    )
}

/// Outputs and targets that were expanded to a table of all pairs.
fn broadcast(fact: &Fact<'_>) -> Opinion {
    if !fact.is("broadcast") {
        return fact.fine(
            "outputs and targets have the same shape",
            "输出与目标的形状相同",
        );
    }
    let loss = shown(fact.plain());
    let (outputs, targets) = (fact.text("outputs_shape"), fact.text("targets_shape"));
    let shapes = (sizes(&outputs), sizes(&targets));
    let state = match &shapes {
        // One target for all samples, or one for each unit, may be meant.
        (Some(a), Some(b)) if a != b && !is_table(a, b) => State::Note,
        _ => State::Fault,
    };
    let (en, zh) = if outputs.is_empty() || targets.is_empty() {
        (String::new(), String::new())
    } else {
        (
            format!(" {outputs} with {targets}"),
            format!("（{outputs} 与 {targets}）"),
        )
    };
    fact.found(
        state,
        format!("{loss} broadcasts outputs and targets{en}: each output is compared with the targets of all samples. Squeeze one of them"),
        format!("{loss} 对输出与目标做了广播{zh}：每个输出会与所有样本的目标比较。请对其中之一使用 squeeze"),
    )
}

/// A shape as written: `[64, 1]`.
fn sizes(text: &str) -> Option<Vec<u64>> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let parts = inner
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    parts.map(|part| part.parse().ok()).collect()
}

/// True if the shapes are `[…, n, 1]` and `[…, n]`, or a column and a row of equal length, in either order.
fn is_table(a: &[u64], b: &[u64]) -> bool {
    let is_pair = |column: &[u64], row: &[u64]| match (column, row) {
        ([.., n, 1], [.., m]) => n == m && *n > 1,
        _ => false,
    };
    is_pair(a, b) || is_pair(b, a)
}

/// The size of targets relative to that of the outputs at the beginning.
fn targets(fact: &Fact<'_>) -> Option<Opinion> {
    let (targets, outputs) = (
        fact.first_number("targets_rms")?,
        fact.first_number("outputs_rms")?,
    );
    if targets <= FAR_TARGETS * outputs.max(1.0) {
        return Some(fact.fine(
            "targets and outputs are of similar size",
            "目标值与输出大小相近",
        ));
    }
    let (targets, outputs) = (brief(targets), brief(outputs));
    Some(fact.fault(
        format!("targets have the size {targets} (RMS) and the first outputs {outputs}: scale the targets"),
        format!("目标值大小为 {targets}（均方根），而最初的输出为 {outputs}：请缩放目标值"),
    ))
}
