//! Advice on the first cause, chosen by the hits before it. Without such hits the text of its condition remains.
//!
//! NaN and infinities are the end of several faults that need opposite remedies: the hits that came before, the type of
//! the elements and the place in the step distinguish them.

use trainscope_api::Sentence;
use trainscope_format::digits;
use trainscope_format::tensor::DType;

use super::{is, is_bottleneck, is_not_finite};
use crate::watchpoint::catalogue::gradients::{
    EXPLODING_NORM, GRAD_NORM_ZSCORE, GRADIENT_TOO_LARGE,
};
use crate::watchpoint::catalogue::scalars::{
    LEARNING_RATE_JUMP, LEARNING_RATE_RANGE, LOSS_DIVERGENCE, LOSS_NAN, LOSS_SPIKE,
    SCALAR_NOT_FINITE,
};
use crate::watchpoint::catalogue::tensors::NEAR_OVERFLOW;
use crate::watchpoint::catalogue::weights::WEIGHT_CHANGE_TOO_LARGE;
use crate::watchpoint::config::Watchpoints;
use crate::watchpoint::model::condition::Condition;
use crate::watchpoint::model::finding::Hit;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::run::Run;
use crate::watchpoint::model::scalars::Meaning;
use crate::watchpoint::model::subject::Class;

/// Number of steps before the first NaN or infinity in which a rise of the loss or of a gradient norm is a part of the
/// same failure: the window of the median of the gradient norm, see `exploding_norm`.
const LEAD: i64 = 128;

/// The advice on `first`, one of `hits`.
pub(super) fn advice(
    first: &Hit,
    hits: &[Hit],
    run: &Run<'_>,
    watchpoints: &Watchpoints,
) -> Sentence {
    let of_condition = || {
        let watchpoint = watchpoints.all().get(first.watchpoint as usize);
        let text = watchpoint
            .map(|watchpoint| watchpoint.condition.text(|prose| prose.advice))
            .unwrap_or_default();
        Sentence::new(text.en, text.zh)
    };
    if is_bottleneck(first, run) {
        return Sentence::new(
            "Give this layer more units, or an activation that passes negative numbers on (none, LeakyReLU): its only unit is \
             negative for every sample and gets no gradient.",
            "增加该层的单元数，或改用可传递负值的激活函数（不用激活函数、LeakyReLU）：其唯一的单元对所有样本均为负，且得不到梯度。",
        );
    }
    if !is_not_finite(first) && !is(first, &[&SCALAR_NOT_FINITE]) {
        return of_condition();
    }
    reason(first, hits, run).unwrap_or_else(of_condition)
}

fn reason(first: &Hit, hits: &[Hit], run: &Run<'_>) -> Option<Sentence> {
    let earlier = |conditions: &[&Condition]| {
        let near = first.step.saturating_sub(LEAD)..=first.step;
        let mut all = hits.iter();
        all.find(|hit| hit.rank == first.rank && near.contains(&hit.step) && is(hit, conditions))
    };
    let mut tensors = run
        .tensors
        .iter()
        .filter(|tensor| tensor.rank == first.rank);
    let hit_tensor = tensors.clone().find(|tensor| tensor.name == first.tensor);
    if hit_tensor.is_some_and(|tensor| matches!(run.class(tensor), Class::Input | Class::Labels)) {
        return Some(Sentence::new(
            "The data themselves are NaN or Inf: drop or repair these samples, and check the preprocessing (division by \
             a standard deviation of zero, missing values).",
            "数据本身含 NaN 或 Inf：剔除或修复这些样本，并检查预处理（除以为零的标准差、缺失值）。",
        ));
    }
    let mut rates = hits.iter().filter(|hit| is(hit, &[&LEARNING_RATE_RANGE]));
    let is_high = |hit: &Hit| hit.values.of(Key::RateGt).is_some();
    let has_high = rates.any(|hit| hit.step <= first.step && is_high(hit));
    if has_high || earlier(&[&LEARNING_RATE_JUMP]).is_some() {
        return Some(Sentence::new(
            "Correct the learning rate: it is implausible before the first NaN or Inf.",
            "修正学习率：在首次出现 NaN 或 Inf 之前它已不合理。",
        ));
    }
    let is_half = hit_tensor.is_some_and(|tensor| tensor.dtype == DType::F16);
    if is_half || earlier(&[&NEAR_OVERFLOW]).is_some() {
        return Some(Sentence::new(
            "fp16 ends at 65,504: compute this part in fp32 or bf16, or normalize its input; for gradients use dynamic loss \
             scaling (GradScaler).",
            "fp16 的上限为 65,504：此处改用 fp32 或 bf16，或归一化其输入；梯度请使用动态损失缩放（GradScaler）。",
        ));
    }
    if let Some(update) = earlier(&[&WEIGHT_CHANGE_TOO_LARGE]) {
        return Some(after(
            update,
            "Lower the learning rate or clip the gradient: an update was larger than the weight itself at step",
            "降低学习率或裁剪梯度：更新超过权重本身，见迭代",
        ));
    }
    let is_scaled = run.scalar(first.rank, Meaning::LossScale).is_some();
    if is_scaled {
        return Some(Sentence::new(
            "The fp16 range is exceeded although the loss is scaled: let the scale fall on overflow and skip that update \
             (GradScaler), start from a lower scale, or train in bf16.",
            "虽有损失缩放仍超出 fp16 范围：溢出时应降低缩放并跳过该次更新（GradScaler），调低初始缩放，或改用 bf16。",
        ));
    }
    let growth = earlier(&[&EXPLODING_NORM, &GRAD_NORM_ZSCORE, &GRADIENT_TOO_LARGE]);
    if let Some(growth) = growth.filter(|hit| hit.step < first.step) {
        return Some(after(
            growth,
            "Clip the gradient norm (1 is usual) and lower the learning rate or lengthen its warm-up; in fp16 use dynamic loss \
             scaling, or bf16. The gradient norm rises from step",
            "裁剪梯度范数（通常为 1），降低学习率或延长预热；fp16 请使用动态损失缩放，或改用 bf16。梯度范数开始上升于迭代",
        ));
    }
    let loss = earlier(&[&LOSS_DIVERGENCE, &LOSS_SPIKE]);
    if let Some(loss) = loss.filter(|hit| hit.step < first.step) {
        return Some(after(
            loss,
            "Lower the learning rate or clip the gradient. The loss diverges from step",
            "降低学习率或裁剪梯度。损失开始发散于迭代",
        ));
    }
    if !is(first, &[&LOSS_NAN]) {
        return None;
    }
    // The loss is the end of a step: either its tensors show where it began, or they were not recorded.
    Some(
        if tensors.any(|tensor| tensor.history.at(first.step).is_some()) {
            Sentence::new(
                "The recorded tensors of this step are finite: check the loss function itself (log of zero, division by the \
             number of samples) and the labels.",
                "该迭代记录的张量都是有限值：请检查损失函数本身（零的对数、除以样本数）与标签。",
            )
        } else {
            Sentence::new(
                "Record statistics of activations and gradients around this step: the first tensor that is NaN or Inf shows the \
             cause. Otherwise lower the learning rate and inspect the batch.",
                "请记录该迭代附近激活值与梯度的统计量：首个出现 NaN 或 Inf 的张量即为原因。此外可降低学习率并检查该批次数据。",
            )
        },
    )
}

/// Sentences that end with the step of a hit.
fn after(hit: &Hit, en: &str, zh: &str) -> Sentence {
    let step = digits::integer(hit.step);
    Sentence {
        en: format!("{en} {step}."),
        zh: format!("{zh} {step}。"),
    }
}
