//! Conditions about metrics, and about policies in reinforcement learning.

use trainscope_api::guide::Topic;
use trainscope_format::Severity;

use super::{BASE, Condition, Key, Need, Parameter, Prose, Range, Target, limit};
use crate::watchpoint::checks::{adversarial, metric, policy};
use crate::watchpoint::model::scalars::Meaning;

/// Points of a curve that these rules need.
const POINTS: Parameter = limit(Key::Points, Range::Count)
    .says("minimum number of points", "所需点数")
    .at(10.0)
    .support();

pub(crate) static CONSTANT_METRIC: Condition = Condition {
    id: "constant_metric",
    target: Target::Scalar,
    reads_scalars: &[Meaning::Accuracy, Meaning::HeldOutAccuracy, Meaning::Score],
    parameters: &[POINTS],
    topic: Topic::Metric,
    needs: &[Need::History],
    judge: Some(metric::constant),
    en: Prose {
        says: "constant metric",
        checks: "An accuracy, precision, recall, mAP, IoU, F1, Dice or AUC is the same to the last bit at all points, at least the minimum number, while the training loss falls by a tenth. A warning if it is exactly 0, unless it may be the accuracy of a regression: of the training, or of a validation set whose loss moves; so is a validation loss of exactly 0.",
        matters: "A model that learns changes its answers. A metric of 0 from the first measurement to the last is computed from nothing: an empty validation set, missing labels, or classes that do not match.",
        not_judged: "Too few points; a training loss that does not fall; a metric at its best end, 1 or 100.",
        advice: "Print one batch of the validation set with its labels and the answers of the model.",
    },
    zh: Prose {
        says: "指标始终不变",
        checks: "准确率、精确率、召回率、mAP、IoU、F1、Dice 或 AUC 在全部点（不少于所需点数）上逐位相同，而训练损失下降了一成以上。恰好为 0 时为警告，但可能是回归任务的准确率（训练的，或验证损失在变化的）除外；验证损失恰好为 0 也是警告。",
        matters: "模型学习时预测会变化。始终为 0 的指标是凭空算出的：验证集为空、缺少标签，或类别不匹配。",
        not_judged: "点数不足；训练损失没有下降；指标处于最好值 1 或 100。",
        advice: "打印一个验证批次及其标签和模型的预测。",
    },
    ..BASE
};

pub(crate) static POLICY_UPDATE_TOO_LARGE: Condition = Condition {
    id: "policy_update_too_large",
    target: Target::Scalar,
    reads_scalars: &[Meaning::PolicyChange, Meaning::ClippedShare],
    parameters: &[
        POINTS,
        limit(Key::KlGt, Range::Positive)
            .says(
                "estimated KL divergence of an update above",
                "单次更新的 KL 散度估计大于",
            )
            .at(1.0),
        limit(Key::ClippedGt, Range::Share)
            .says("share of clipped samples above", "被裁剪样本的比例大于")
            .at(0.9),
    ],
    topic: Topic::Loss,
    severity: Severity::Warning,
    needs: &[Need::History],
    judge: Some(policy::update_too_large),
    en: Prose {
        says: "policy updates too large",
        checks: "At more than half of the points, approx_kl is above kl_gt or the clip fraction above clipped_gt.",
        matters: "Proximal policy optimization assumes small updates: a target of 0.01 to 0.05 is usual for the divergence (Schulman et al. 2017), and a clip fraction of 0.1 to 0.3. Far beyond, each update replaces the policy, and what the samples say no longer holds for it.",
        not_judged: "Too few points; neither was recorded.",
        advice: "Lower the learning rate, take fewer epochs per update, or set a target for the divergence (target_kl). Check that advantages and observations are normalized.",
    },
    zh: Prose {
        says: "策略更新过大",
        checks: "一半以上的点上 approx_kl 大于 kl_gt，或裁剪比例大于 clipped_gt。",
        matters: "近端策略优化假定每次更新很小：散度目标通常为 0.01 到 0.05（Schulman 等 2017），裁剪比例为 0.1 到 0.3。远超此值时，每次更新都在替换策略，采样数据对它不再成立。",
        not_judged: "点数不足；两者都未记录。",
        advice: "降低学习率，减少每次更新的轮次数，或设置散度目标（target_kl）。检查优势和观测是否已归一化。",
    },
    ..BASE
};

pub(crate) static CONSTANT_ENTROPY: Condition = Condition {
    id: "constant_entropy",
    target: Target::Scalar,
    reads_scalars: &[Meaning::ActionEntropy],
    parameters: &[POINTS],
    topic: Topic::Loss,
    severity: Severity::Warning,
    needs: &[Need::History],
    judge: Some(policy::constant_entropy),
    en: Prose {
        says: "random policy",
        checks: "The entropy of the actions is ln n for a whole number n up to 1000, to 5 digits, at all points, at least the minimum number.",
        matters: "ln n is the entropy of n equally likely actions: after all updates the policy still chooses at random.",
        not_judged: "Too few points; the entropy was not recorded.",
        advice: "Does the gradient of the policy loss reach the network, and does the optimizer have its weights? Are all rewards equal?",
    },
    zh: Prose {
        says: "策略一直随机",
        checks: "动作的熵在全部点（不少于所需点数）上都等于某个不超过 1000 的整数 n 的 ln n（精确到 5 位）。",
        matters: "ln n 是 n 个等概率动作的熵：经过所有更新，策略仍在随机选择。",
        not_judged: "点数不足；没有记录熵。",
        advice: "策略损失的梯度能否到达网络，优化器是否包含其权重？奖励是否全部相同？",
    },
    ..BASE
};

/// Points of a curve with a separate level for each quarter or fifth.
const MANY_POINTS: Parameter = limit(Key::Points, Range::Count)
    .says("minimum number of points", "所需点数")
    .at(50.0)
    .support();

pub(crate) static REWARD_FALLS: Condition = Condition {
    id: "reward_falls",
    target: Target::Scalar,
    reads_scalars: &[Meaning::Return],
    parameters: &[MANY_POINTS],
    topic: Topic::Metric,
    severity: Severity::Warning,
    needs: &[Need::History],
    judge: Some(policy::reward_falls),
    en: Prose {
        says: "the reward falls",
        checks: "The median of the reward falls from each quarter of its points to the next, by a fifth in all, and further than a random \
         walk of the same steps does.",
        matters: "An agent that learns gets more reward. One that gets less and less learns the opposite: a wrong sign of the policy \
         loss or of the advantages, or updates that are too large.",
        not_judged: "Fewer points; tasks that become harder on purpose are not known.",
        advice: "Check the sign of the loss (minimise the negative of log-probability × advantage), and lower the learning rate.",
    },
    zh: Prose {
        says: "奖励持续下降",
        checks: "奖励的中位数在每个四分之一段都低于前一段，总共下降五分之一以上，且超出相同步幅的随机游走。",
        matters: "会学习的智能体奖励会上升。越来越低说明学反了：策略损失或优势的符号有误，或更新过大。",
        not_judged: "点数不足；无法得知任务是否有意变难。",
        advice: "检查损失的符号（最小化对数概率 × 优势的负值），并降低学习率。",
    },
    ..BASE
};

pub(crate) static POSTERIOR_COLLAPSE: Condition = Condition {
    id: "posterior_collapse",
    target: Target::Scalar,
    reads_scalars: &[Meaning::Divergence],
    parameters: &[MANY_POINTS],
    topic: Topic::Loss,
    severity: Severity::Warning,
    needs: &[Need::History],
    judge: Some(policy::posterior_collapse),
    en: Prose {
        says: "posterior collapse",
        checks: "The median of the last fifth of a KL divergence is below 0.1, and below a fifth of its highest value in the first fifth, \
         beside a reconstruction loss.",
        matters: "At 0 the posterior of each sample is the prior: the latent variables hold nothing about it.",
        not_judged: "Fewer points; no scalar with recon, rec, elbo or vae in its name: the divergence of a distillation is meant to fall.",
        advice: "Sum both terms over the same elements: a reconstruction by mean and a divergence by sum weights the divergence by the \
         number of elements. Raise its weight from 0 (annealing), or allow some free bits.",
    },
    zh: Prose {
        says: "后验塌缩",
        checks: "KL 散度后五分之一的中位数低于 0.1，且低于其前五分之一最高值的五分之一，同时记录了重构损失。",
        matters: "为 0 时每个样本的后验就是先验：隐变量不含任何信息。",
        not_judged: "点数不足；没有名称含 recon、rec、elbo 或 vae 的标量：蒸馏的散度本就应下降。",
        advice: "两项按相同的元素求和：重构取均值而散度求和，等于把散度乘以元素个数。从 0 逐渐提高其权重（退火），或使用 free bits。",
    },
    ..BASE
};

pub(crate) static ONE_SIDED_DISCRIMINATOR: Condition = Condition {
    id: "one_sided_discriminator",
    target: Target::Scalar,
    reads_scalars: &[Meaning::Loss, Meaning::Accuracy],
    parameters: &[
        limit(Key::Points, Range::Count)
            .says("minimum number of points", "所需点数")
            .at(20.0)
            .support(),
        limit(Key::LossLt, Range::Positive)
            .says("loss of the discriminator below", "判别器的损失小于")
            .at(0.01),
        limit(Key::LossGt, Range::Positive)
            .says("loss of the generator above", "生成器的损失大于")
            .at(3.0),
    ],
    topic: Topic::Loss,
    severity: Severity::Warning,
    needs: &[Need::History],
    judge: Some(adversarial::one_sided),
    en: Prose {
        says: "one-sided discriminator",
        checks: "The median of the last half of the discriminator's loss is below loss_lt, and that of the generator's loss above loss_gt. Or of the accuracies on real and generated samples, the latter is at most 5 %: a note.",
        matters: "At balance the discriminator's loss is ln 2 to 2 ln 2 (Goodfellow et al. 2014). At 0.01 it recognises every generated sample, and the generator gets next to no gradient; one that takes all samples for real teaches nothing either.",
        not_judged: "Losses that can be negative (Wasserstein); fewer points; losses without d, disc, discriminator or g, gen, generator in their names.",
        advice: "Lower the learning rate of the discriminator, smooth its labels, or use a loss with a gradient everywhere (hinge, Wasserstein with a gradient penalty).",
    },
    zh: Prose {
        says: "判别器一边倒",
        checks: "后半段判别器损失的中位数小于 loss_lt，且生成器损失的中位数大于 loss_gt。或在真实与生成样本的准确率中，后者不超过 5 %：提示。",
        matters: "均衡时判别器的损失为 ln 2 到 2 ln 2（Goodfellow 等 2014）。降到 0.01 时它能识别每个生成样本，生成器几乎得不到梯度；把所有样本都当作真实的判别器也教不了什么。",
        not_judged: "可为负的损失（Wasserstein）；点数不足；名称中没有 d、disc、discriminator 或 g、gen、generator 的损失。",
        advice: "降低判别器的学习率，平滑其标签，或改用处处有梯度的损失（hinge、带梯度惩罚的 Wasserstein）。",
    },
    ..BASE
};
