//! Gradients: parameters that the loss reaches, clearing and accumulation, clipping and the loss scale.

use trainscope_format::digits::brief;

use super::{Fact, Facts, and_others, counted, shown};
use crate::diagnosis::{Opinion, Rule, State};

/// Minimum number of updates with gradients of the previous update. Chosen: a warm-up may leave one.
const MIN_KEPT: f64 = 3.0;
/// Minimum share of such updates. Chosen.
const MOST: f64 = 0.5;
/// Share of the steps at which the norm of the gradient times the loss scale is constant. By chance it is at none.
const CONSTANT_NORM: f64 = 0.9;
/// Minimum number of such steps. Chosen.
const MIN_STEPS: f64 = 10.0;
/// Minimum useful loss scale: below it, gradients are made smaller. The scale begins at 65,536 and is halved at each
/// overflow: below the minimum, some 26 steps have overflowed.
const MIN_SCALE: f64 = 1e-3;

pub(super) fn judge(facts: &Facts, all: &mut Vec<(Rule, Opinion)>) {
    for fact in facts.of("reached") {
        all.extend(not_reached(&fact).map(|opinion| (Rule::ParametersNotReached, opinion)));
        all.extend(not_registered(&fact).map(|opinion| (Rule::ParametersNotRegistered, opinion)));
    }
    for fact in facts.of("gradients_kept") {
        all.extend(kept(&fact).map(|opinion| (Rule::GradientsNotCleared, opinion)));
        all.extend(cleared(&fact).map(|opinion| (Rule::GradientsClearedBetween, opinion)));
    }
    for fact in facts.of("clipping") {
        all.extend(scaled(&fact).map(|opinion| (Rule::ClippedBeforeUnscaling, opinion)));
        all.extend(nothing(&fact).map(|opinion| (Rule::ClippedNothing, opinion)));
        all.extend(scale(&fact).map(|opinion| (Rule::LossScaleCollapsed, opinion)));
    }
}

fn not_reached(fact: &Fact<'_>) -> Option<Opinion> {
    let (trainable, without) = (fact.number("trainable")?, fact.number("without_gradient")?);
    let all = counted(trainable);
    if without < 1.0 {
        return Some(fact.fine(
            &format!("the loss reaches the trainable parameters ({all})"),
            &format!("损失可达全部可训练参数（{all} 个）"),
        ));
    }
    let listed = fact.text("not_reached");
    let (more, more_zh) = and_others(without, &listed);
    let which = if listed.is_empty() {
        counted(without)
    } else {
        listed
    };
    // A loss of derivatives depends on no constant that is added to the outputs.
    if fact
        .number("beside_reached")
        .is_some_and(|beside| beside >= without)
    {
        return Some(fact.note(
            format!(
                "the loss does not depend on {which}{more}, of {all} trainable parameters, and depends on others of the same \
                 layers: it may be a loss of derivatives, or the layer does not use them"
            ),
            format!(
                "在 {all} 个可训练参数中，损失不依赖 {which}{more_zh}，但依赖同一层的其他参数：损失可能由导数构成，或该层没有用到它们"
            ),
        ));
    }
    Some(fact.fault(
        format!(
            "the loss does not depend on {which}{more}, of {all} trainable parameters: they get no gradient (detached, under \
             no_grad, checkpointed without an input that requires one, or not used)"
        ),
        format!(
            "在 {all} 个可训练参数中，损失不依赖 {which}{more_zh}：它们得不到梯度（被 detach、处于 no_grad 中、检查点的输入不需要梯度，或未被使用）"
        ),
    ))
}

fn not_registered(fact: &Fact<'_>) -> Option<Opinion> {
    let hidden = fact.number("unregistered");
    let foreign = fact.number("foreign")?.max(hidden.unwrap_or(0.0));
    if foreign < 1.0 {
        return Some(fact.fine(
            "all parameters that the loss reaches are in the model or in an optimizer",
            "损失可达的参数都在模型或优化器中",
        ));
    }
    let (count, shape) = (counted(foreign), fact.text("foreign_shape"));
    let of = if fact.text("unregistered").is_empty() {
        shape
    } else {
        fact.text("unregistered")
    };
    let (of, of_zh) = if of.is_empty() {
        (String::new(), String::new())
    } else {
        (format!(" (such as {of})"), format!("（如 {of}）"))
    };
    // Parameters in no attribute of the model may belong to a fixed model, such as that of a perceptual loss.
    let state = if hidden == Some(0.0) {
        State::Note
    } else {
        State::Fault
    };
    Some(fact.found(
        state,
        format!(
            "the loss depends on {count} parameters{of} that are neither in the model nor in an optimizer: layers in a Python \
             list are not registered, use nn.ModuleList"
        ),
        format!("损失依赖 {count} 个参数{of_zh}，它们既不在模型中也不在优化器中：放在 Python 列表中的层不会被注册，请使用 nn.ModuleList"),
    ))
}

/// True if the passes of an update can be distinguished: no closure, and at most one model.
fn is_distinguished(fact: &Fact<'_>) -> bool {
    !fact.is("closure") && fact.number("models").is_none_or(|models| models <= 1.0)
}

fn kept(fact: &Fact<'_>) -> Option<Opinion> {
    let (updates, kept) = (fact.number("updates")?, fact.number("kept")?);
    if !is_distinguished(fact) && !fact.is("closure") {
        return never_cleared(fact);
    }
    if !is_distinguished(fact) || updates < MIN_KEPT {
        return None;
    }
    if kept < MIN_KEPT.max(MOST * updates) {
        return Some(fact.fine(
            "gradients are cleared before each update",
            "每次更新前都清零了梯度",
        ));
    }
    let (kept, updates) = (counted(kept), counted(updates));
    Some(fact.fault(
        format!(
            "the gradients of the update before were still there when the next backward pass began, at {kept} of {updates} \
             updates: zero_grad() is missing"
        ),
        format!("{updates} 次更新中有 {kept} 次，下一次反向传播开始时上一次更新的梯度仍在：缺少 zero_grad()"),
    ))
}

/// Gradients of a model beside others: passes for the others leave theirs too, so only those are judged that were zero
/// before no pass of an update.
fn never_cleared(fact: &Fact<'_>) -> Option<Opinion> {
    let (updates, never) = (
        fact.number("followed_updates")?,
        fact.number("never_cleared")?,
    );
    if updates < MIN_KEPT {
        return None;
    }
    if never < MIN_KEPT.max(MOST * updates) {
        return Some(fact.fine(
            "gradients are cleared before each update",
            "每次更新前都清零了梯度",
        ));
    }
    let (name, name_zh) = (fact.name_or("the model"), fact.name_or("模型"));
    let (never, updates) = (counted(never), counted(updates));
    Some(fact.fault(
        format!(
            "the gradients of {name} were not cleared before any backward pass of an update, at {never} of {updates} updates: \
             its zero_grad() is missing"
        ),
        format!("{updates} 次更新中有 {never} 次，{name_zh} 的梯度在该次更新的任何反向传播之前都没有清零：缺少它的 zero_grad()"),
    ))
}

fn cleared(fact: &Fact<'_>) -> Option<Opinion> {
    let (updates, cleared) = (fact.number("updates")?, fact.number("cleared_between")?);
    if !is_distinguished(fact) || updates < MIN_KEPT {
        return None;
    }
    if cleared < MIN_KEPT.max(updates) {
        return Some(fact.fine(
            "no gradient is cleared between the backward passes of an update",
            "同一次更新的多次反向传播之间没有清零梯度",
        ));
    }
    let (cleared, updates) = (counted(cleared), counted(updates));
    Some(fact.fault(
        format!(
            "gradients were cleared {cleared} times between the backward passes of one update ({updates} updates): only the \
             last one counts. Call zero_grad() once for each update"
        ),
        format!("在同一次更新的多次反向传播之间清零了 {cleared} 次梯度（共 {updates} 次更新）：只有最后一次有效。每次更新只调用一次 zero_grad()"),
    ))
}

fn scaled(fact: &Fact<'_>) -> Option<Opinion> {
    let calls = fact.number("calls").unwrap_or(0.0);
    let (scaled, near) = (fact.number("scaled"), fact.number("norm_times_scale_near"));
    let steps = fact.number("steps").unwrap_or(0.0);
    let is_seen = scaled.is_some_and(|scaled| scaled >= MIN_KEPT.max(MOST * calls));
    let is_constant = steps >= MIN_STEPS && near.is_some_and(|near| near >= CONSTANT_NORM);
    scaled.or(near)?;
    if !is_seen && !is_constant {
        return Some(fact.fine(
            "gradients are unscaled when they are clipped",
            "裁剪时梯度已反缩放",
        ));
    }
    let name = shown(fact.subject);
    let (en, zh) = match scaled.filter(|_| is_seen) {
        Some(scaled) => {
            let (scaled, calls) = (counted(scaled), counted(calls));
            (
                format!("at {scaled} of {calls} calls"),
                format!("{calls} 次调用中有 {scaled} 次"),
            )
        }
        None => (
            "by the norm times the loss scale, which is constant".to_owned(),
            "由范数乘以损失缩放恒定可知".to_owned(),
        ),
    };
    Some(fact.fault(
        format!("{name} got gradients that were still scaled, {en}: call scaler.unscale_(optimizer) before clipping"),
        format!("{name} 得到的是尚未反缩放的梯度（{zh}）：请在裁剪之前调用 scaler.unscale_(optimizer)"),
    ))
}

fn nothing(fact: &Fact<'_>) -> Option<Opinion> {
    let (calls, parameters) = (fact.number("calls")?, fact.number("parameters")?);
    if parameters >= 1.0 || calls < MIN_KEPT {
        return (parameters >= 1.0).then(|| {
            let count = counted(parameters);
            fact.fine(
                &format!("{count} parameters are clipped"),
                &format!("裁剪了 {count} 个参数"),
            )
        });
    }
    let (name, calls) = (shown(fact.subject), counted(calls));
    Some(fact.fault(
        format!(
            "{name} was called {calls} times and got no parameter with a gradient: is an exhausted generator, or another model, \
             given to it?"
        ),
        format!("{name} 被调用 {calls} 次，但没有得到任何带梯度的参数：是否传入了已用尽的生成器或另一个模型？"),
    ))
}

fn scale(fact: &Fact<'_>) -> Option<Opinion> {
    let scale = fact.number("scale")?;
    if scale >= MIN_SCALE || scale <= 0.0 {
        return Some(fact.fine("the loss scale is in its range", "损失缩放在正常范围内"));
    }
    let (scale, least) = (brief(scale), brief(MIN_SCALE));
    Some(fact.found(
        State::Fault,
        format!("the loss scale fell to {scale} (below {least}): gradients overflow at every step, whatever the scale is"),
        format!("损失缩放降到 {scale}（低于 {least}）：无论缩放多少，梯度在每个迭代都溢出"),
    ))
}
