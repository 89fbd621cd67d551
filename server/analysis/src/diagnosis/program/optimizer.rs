//! Optimizers: the parameters that they hold, and their settings at every look.

use trainscope_format::ProgramFact;
use trainscope_format::digits::brief;

use super::{Fact, Facts, and_others, counted, shown};
use crate::diagnosis::{Opinion, Rule};

/// Share of its highest value below which a learning rate trains nothing any more. Chosen: schedules end at 0 to a
/// hundredth.
const GONE: f64 = 1e-3;
/// Share of the updates by which a rate must be gone. Schedules that end at 0 are that low in their last percents only.
const GONE_BY: f64 = 0.5;
/// Minimum number of updates for a judgement of the course of the rate. Chosen.
const MIN_UPDATES: f64 = 20.0;
/// Minimum weight decay of Adam, as L2, that dominates the update: with `AdamW` 0.01 to 0.1 is usual, which acts about
/// a thousand times less (Loshchilov and Hutter 2019). Chosen.
const L2_OF_ADAM: f64 = 0.05;
/// Momentum of a batch normalisation above which its statistics are those of the last batch: 0.1 is the default, and
/// 0.9 or 0.99 of Keras is 0.1 or 0.01 here. Chosen.
const BATCHNORM_MOMENTUM: f64 = 0.5;
/// Learning rate above which every update destroys the weights, see `settings`.
const HIGHEST_RATE: f64 = 1000.0;

/// Learning rate of an optimizer whose updates have its size, in units of the mean magnitude of the weights, above which
/// the first updates replace the weights. Chosen: 0.001 of Adam is a hundredth, and small models train at 1.
const REPLACES: f64 = 5.0;
/// Classes of optimizers whose updates are of the size of the rate, for any gradient.
const NORMALIZED: [&str; 7] = [
    "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Lion", "RMSprop",
];
/// Minimum number of passes without an optimizer for a judgement. Chosen.
const MIN_PASSES: f64 = 20.0;

/// Half of a unit in the last place of a type, relative to a weight: a smaller change is rounded away. The size of a
/// unit depends on the place in the binade; this is the largest weight of one.
fn resolution(dtype: &str) -> Option<f64> {
    match dtype {
        "bfloat16" => Some(2_f64.powi(-9)),
        "float16" => Some(2_f64.powi(-12)),
        _ => None,
    }
}

/// The largest number that is rounded to 0 in a type: half of the smallest subnormal one.
fn rounds_to_zero(dtype: &str) -> f64 {
    match dtype {
        "float16" => 2_f64.powi(-25),
        "bfloat16" => 2_f64.powi(-134),
        "float32" => 2_f64.powi(-150),
        _ => 0.0,
    }
}

/// Notes when the rate of an optimizer became low, by its updates; `None` while it is not.
pub(super) fn note_rate(since: &mut Option<f64>, fact: &ProgramFact) {
    if fact.kind != "optimizer_settings" {
        return;
    }
    let (Some(rate), Some(highest)) = (fact.number("lr"), fact.number("highest_lr")) else {
        return;
    };
    if rate < GONE * highest * (1.0 - 1e-6) {
        let updates = fact.number("updates").unwrap_or(0.0);
        since.get_or_insert(updates);
    } else {
        *since = None;
    }
}

pub(super) fn judge(facts: &Facts, all: &mut Vec<(Rule, Opinion)>) {
    // Parameters that a loss reaches, and that are neither in the model nor in an optimizer.
    let strange = facts
        .of("reached")
        .filter_map(|fact| fact.number("foreign"));
    let strange = strange.fold(0.0, f64::max);
    for fact in facts.of("optimizer_parameters") {
        all.extend(parameters(&fact, strange).map(|opinion| (Rule::OptimizerParameters, opinion)));
    }
    for fact in facts.of("optimizer_settings") {
        all.extend(settings(&fact).map(|opinion| (Rule::Settings, opinion)));
        all.extend(rate(&fact).map(|opinion| (Rule::LearningRateGone, opinion)));
        all.extend(rounded(&fact).map(|opinion| (Rule::UpdateRoundedAway, opinion)));
    }
    for fact in facts.of("updates_by_hand") {
        all.extend(by_hand(&fact).map(|opinion| (Rule::OptimizerParameters, opinion)));
    }
    for fact in facts.of("module_setting") {
        all.extend(module(&fact).map(|opinion| (Rule::Settings, opinion)));
    }
}

/// Parameters that are not the model's, or that appear twice.
fn parameters(fact: &Fact<'_>, strange: f64) -> Option<Opinion> {
    let (held, missing) = (fact.number("held")?, fact.number("missing")?);
    let others = fact.number("others").unwrap_or(0.0);
    let name = shown(fact.plain());
    let listed = fact.text("missing");
    let (more, more_zh) = and_others(missing, &listed);
    let which = if listed.is_empty() {
        counted(missing)
    } else {
        listed
    };
    // Copies of the weights in another type, whose values the program writes back, and updates without an optimizer.
    let is_meant = fact.is("missing_changed") || fact.number("other_types") == Some(others);
    if missing > 0.0 && others > 0.0 && is_meant {
        return None;
    }
    if missing > 0.0 && others > 0.0 {
        let count = counted(others);
        let (en, zh) = if fact.number("of_model") == Some(0.0) {
            (" and none of its parameters", "，模型的参数一个也没有")
        } else {
            ("", "")
        };
        return Some(fact.fault(
            format!(
                "the optimizer {name} holds {count} tensors that are not in the model{en}, and the trainable {which}{more} are in \
                 no optimizer: it was made before the model was changed"
            ),
            format!(
                "优化器 {name} 持有 {count} 个不属于模型的张量{zh}，而可训练的 {which}{more_zh} 不在任何优化器中：优化器是在修改模型之前创建的"
            ),
        ));
    }
    let twice = fact.number("twice").unwrap_or(0.0);
    if twice > 0.0 && twice >= held && strange >= 1.0 {
        let (count, strange) = (counted(twice), counted(strange));
        return Some(fact.fault(
            format!(
                "all {count} parameters of the optimizer {name} are in another optimizer too, and the loss depends on {strange} \
                 parameters that are in none: one of the two was given the parameters of the wrong model"
            ),
            format!("优化器 {name} 的全部 {count} 个参数也在另一个优化器中，而损失依赖的 {strange} 个参数不在任何优化器中：其中一个优化器得到了错误模型的参数"),
        ));
    }
    if twice > 0.0 {
        let count = counted(twice);
        // A second optimizer may replace the first one, or be within it, as with SAM and Lookahead.
        return Some(fact.note(
            format!("{count} parameters of the optimizer {name} are in another optimizer too: if both make updates, they are updated twice"),
            format!("优化器 {name} 的 {count} 个参数也在另一个优化器中：若两者都更新，则会被更新两次"),
        ));
    }
    if missing > 0.0 {
        return Some(fact.note(
            format!("{which}{more} are trainable and in no optimizer"),
            format!("{which}{more_zh} 可训练但不在任何优化器中"),
        ));
    }
    let count = counted(held);
    Some(fact.fine(
        &format!("the optimizer holds the parameters of the model ({count})"),
        &format!("优化器持有模型的参数（{count} 个）"),
    ))
}

/// Settings with which an optimizer cannot work.
fn settings(fact: &Fact<'_>) -> Option<Opinion> {
    let dtype = fact.text("type");
    let name = shown(fact.subject);
    let rate = fact.number("highest_lr").or_else(|| fact.number("lr"));
    let fault =
        |en: String, zh: String| Some(fact.fault(format!("{name}: {en}"), format!("{name}：{zh}")));
    let is_first_update = fact.number("updates").is_some_and(|updates| updates < 2.0);
    // A schedule may begin at 0.
    if rate == Some(0.0) && !is_first_update {
        return fault(
            "the learning rate is 0: the model does not learn".to_owned(),
            "学习率为 0：模型不会学习".to_owned(),
        );
    }
    if let Some(rate) = rate.filter(|rate| *rate < 0.0 || *rate > HIGHEST_RATE) {
        let value = brief(rate);
        return fault(
            format!("the learning rate is {value}: every update destroys the weights"),
            format!("学习率为 {value}：每次更新都会毁掉权重"),
        );
    }
    if let Some(eps) = fact
        .number("eps")
        .filter(|eps| *eps <= rounds_to_zero(&dtype))
    {
        let value = brief(eps);
        return fault(
            format!(
                "eps={value} is 0 in {dtype}, the type of the weights: the update divides by 0 where the gradient is 0"
            ),
            format!("eps={value} 在权重的类型 {dtype} 中为 0：梯度为 0 处更新会除以 0"),
        );
    }
    let is_adam = shown(fact.plain()).split(' ').next() == Some("Adam");
    if let Some((rate, ratio)) = replaced(fact, rate) {
        return fault(
            format!(
                "an update is about lr = {rate} in size, {ratio} times the mean magnitude of a weight: the first updates \
                 replace the weights. Lower the learning rate"
            ),
            format!(
                "每次更新的大小约为 lr = {rate}，是权重平均大小的 {ratio} 倍：最初几次更新就会取代权重。请降低学习率"
            ),
        );
    }
    let decay = fact.number("weight_decay").unwrap_or(0.0);
    if is_adam && decay >= L2_OF_ADAM && !fact.is("decoupled") {
        let value = brief(decay);
        return fault(
            format!(
                "Adam with weight_decay={value}: in Adam it is a gradient like any other, so weights move to 0 with full \
                 steps. Use AdamW"
            ),
            format!(
                "Adam 使用 weight_decay={value}：在 Adam 中它与其他梯度一样，权重会以完整的步长移向 0。请改用 AdamW"
            ),
        );
    }
    if decay < 0.0 {
        let value = brief(decay);
        return fault(
            format!("weight_decay={value}: weights grow"),
            format!("weight_decay={value}：权重会不断增大"),
        );
    }
    for share in ["momentum", "beta1", "beta2"] {
        if let Some(value) = fact
            .number(share)
            .filter(|value| !(0.0..1.0).contains(value))
        {
            let value = brief(value);
            return fault(
                format!("{share}={value} must be at least 0 and below 1"),
                format!("{share}={value}，取值须不小于 0 且小于 1"),
            );
        }
    }
    rate?;
    Some(fact.fine(
        &format!("values in the usual range: {name}"),
        &format!("取值在常见范围内：{name}"),
    ))
}

/// Rate and its multiple of the weights, as text, if updates are far larger than the weights.
fn replaced(fact: &Fact<'_>, highest: Option<f64>) -> Option<(String, String)> {
    let class = fact.plain().split(' ').next().unwrap_or_default();
    let rate = fact.number("lr").filter(|rate| *rate > 0.0)?;
    // The weights are those before the first update.
    let (highest, ratio) = (highest?, fact.number("lr_to_weight")?);
    let ratio = ratio * highest / rate;
    let is_large = NORMALIZED.contains(&class) && ratio > REPLACES;
    is_large.then(|| (brief(highest), brief(ratio)))
}

/// Parameters that the program updates itself.
fn by_hand(fact: &Fact<'_>) -> Option<Opinion> {
    let (passes, changed) = (fact.number("passes")?, fact.number("changed")?);
    if passes < MIN_PASSES && changed < 1.0 {
        return None;
    }
    let (count, of) = (counted(changed), counted(passes));
    if changed >= 1.0 {
        return Some(fact.fine(
            &format!("the program updates parameters itself, without an optimizer of PyTorch: they had changed after {count} of {of} backward passes"),
            &format!("程序自行更新参数，没有使用 PyTorch 的优化器：{of} 次反向传播中有 {count} 次之后参数发生了变化"),
        ));
    }
    Some(fact.fault(
        format!(
            "no parameter has changed after any of {of} backward passes, and no optimizer was made: `p = p - …` makes a new \
             tensor; use `p -= …` under torch.no_grad(), or an optimizer"
        ),
        format!("{of} 次反向传播之后参数都没有变化，也没有创建优化器：`p = p - …` 会生成新的张量；请在 torch.no_grad() 中使用 `p -= …`，或使用优化器"),
    ))
}

/// A batch normalisation that forgets all batches but the last.
fn module(fact: &Fact<'_>) -> Option<Opinion> {
    let momentum = fact.number("momentum")?;
    if !fact.text("class").contains("Norm") || momentum <= BATCHNORM_MOMENTUM {
        return None;
    }
    let (name, value) = (fact.name_or(&fact.text("class")), brief(momentum));
    Some(fact.fault(
        format!(
            "{name} has momentum={value}: in PyTorch this is the weight of the new batch (0.99 of Keras is 0.01 here), so \
             evaluation uses the statistics of the last batch"
        ),
        format!("{name} 的 momentum={value}：在 PyTorch 中它是新批次的权重（Keras 的 0.99 相当于这里的 0.01），评估时只用到最后一批的统计量"),
    ))
}

/// A learning rate that is gone by half of the training.
fn rate(fact: &Fact<'_>) -> Option<Opinion> {
    let updates = fact
        .number("updates")
        .filter(|updates| *updates > MIN_UPDATES)?;
    let (now, highest) = (fact.number("lr")?, fact.number("highest_lr")?);
    let low_since = fact.seen.low_since;
    let is_gone = match fact.number("highest_late_lr") {
        Some(late) => late < GONE * highest,
        None => low_since.is_some_and(|since| since <= GONE_BY * updates),
    };
    let since = low_since.unwrap_or(updates).min(GONE_BY * updates);
    if !is_gone {
        return Some(fact.fine(
            "the learning rate is not gone before the end",
            "学习率没有提前消失",
        ));
    }
    let (now, highest) = (brief(now), brief(highest));
    let (since, updates) = (counted(since.max(1.0)), counted(updates));
    Some(fact.fault(
        format!(
            "the learning rate has fallen from {highest} to {now}, and was below a thousandth by update {since} of {updates}: \
             is a schedule that is meant for epochs stepped after each batch?"
        ),
        format!("学习率已从 {highest} 降到 {now}，在 {updates} 次更新中的第 {since} 次时已低于千分之一：是否把按轮次设计的调度器在每个批次后调用？"),
    ))
}

/// Updates of a size below the resolution of the weights.
fn rounded(fact: &Fact<'_>) -> Option<Opinion> {
    let dtype = fact.text("type");
    let resolution = resolution(&dtype);
    let class = fact.plain().split(' ').next().unwrap_or_default();
    let is_normalized = NORMALIZED.contains(&class);
    let (ratio, lr) = (
        fact.number("lr_to_weight")?,
        fact.number("lr").filter(|lr| *lr > 0.0)?,
    );
    let highest = fact.number("highest_lr").unwrap_or(lr).max(lr);
    let (Some(resolution), true) = (resolution, is_normalized) else {
        return None;
    };
    let ratio = ratio * highest / lr;
    if ratio >= resolution {
        return Some(fact.fine(
            "updates are larger than the resolution of the weights",
            "更新大于权重的精度",
        ));
    }
    let (highest, ratio, resolution) = (brief(highest), brief(ratio), brief(resolution));
    Some(fact.fault(
        format!(
            "weights are {dtype}, and an update of {class} is about lr = {highest}, {ratio} of a weight and less than half a unit \
             in its last place ({resolution}): it is rounded away. Keep the weights in float32, or use stochastic rounding"
        ),
        format!(
            "权重为 {dtype}，{class} 的更新约为 lr = {highest}，即权重的 {ratio}，不足其末位的一半（{resolution}）：会被舍入掉。请以 float32 \
             保存权重，或使用随机舍入"
        ),
    ))
}
