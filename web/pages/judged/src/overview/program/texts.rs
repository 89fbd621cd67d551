//! Texts of the cards about the program.

use trainscope_web_kit::i18n::{I18n, Locale};

/// A text in both languages.
#[derive(Clone, Copy)]
pub(super) struct Both {
    en: &'static str,
    zh: &'static str,
}

impl Both {
    /// The text in the current language; reactive.
    pub(super) fn read(self, i18n: I18n) -> &'static str {
        match i18n.locale() {
            Locale::En => self.en,
            Locale::Zh => self.zh,
        }
    }
}

pub(super) struct ProgramTexts {
    pub(super) title: Both,
    pub(super) model: Both,
    pub(super) optimizer: Both,
    pub(super) losses: Both,
    pub(super) data: Both,
    pub(super) passes: Both,
    pub(super) trainable: Both,
    pub(super) reached: Both,
    pub(super) seeds: Both,
    pub(super) versions: Both,
    pub(super) commit: Both,
    pub(super) rate: Both,
    pub(super) decay: Both,
    pub(super) tensors: Both,
    pub(super) against: Both,
    pub(super) before: Both,
    pub(super) batch: Both,
    pub(super) batches: Both,
    pub(super) different: Both,
    pub(super) workers: Both,
    pub(super) shuffled: Both,
    pub(super) yes: Both,
    pub(super) no: Both,
    pub(super) classes: Both,
    pub(super) most_common: Both,
    pub(super) training_mode: Both,
    pub(super) passes_an_update: Both,
    pub(super) max_norm: Both,
    pub(super) loss_scale: Both,
    pub(super) probes: Both,
    pub(super) probes_of: Both,
    pub(super) failed: Both,
    pub(super) passed: Both,
    pub(super) not_tried: Both,
    pub(super) source: Both,
    pub(super) advice: Both,
}

pub(super) const fn both(en: &'static str, zh: &'static str) -> Both {
    Both { en, zh }
}

pub(super) const TEXTS: ProgramTexts = ProgramTexts {
    title: both("The program", "程序"),
    model: both("Model", "模型"),
    optimizer: both("Optimizer", "优化器"),
    losses: both("Loss functions", "损失函数"),
    data: both("Data", "数据"),
    passes: both("Training loop", "训练循环"),
    trainable: both("trainable tensors", "可训练张量"),
    reached: both("reached by the loss", "损失可达"),
    seeds: both("seeds set", "设置随机种子"),
    versions: both("PyTorch", "PyTorch"),
    commit: both("commit", "提交"),
    rate: both("learning rate", "学习率"),
    decay: both("weight decay", "权重衰减"),
    tensors: both("tensors held", "所持张量"),
    against: both("output and target", "输出与目标"),
    before: both("after", "之前"),
    batch: both("batch size", "批大小"),
    batches: both("batches", "批次"),
    different: both("different inputs", "不同输入"),
    workers: both("workers", "工作进程"),
    shuffled: both("shuffled", "打乱"),
    yes: both("yes", "是"),
    no: both("no", "否"),
    classes: both("classes seen", "出现的类别"),
    most_common: both("most common", "最常见类别"),
    training_mode: both("in training mode", "训练模式"),
    passes_an_update: both("passes per update", "每次更新的反向传播"),
    max_norm: both("gradients clipped at", "梯度裁剪阈值"),
    loss_scale: both("loss scale", "损失缩放"),
    probes: both("Checks of the first batch", "首批检查"),
    probes_of: both(
        "run before the training, which they do not change",
        "在训练前进行，不改变训练",
    ),
    failed: both("Failed", "未通过"),
    passed: both("Passed", "通过"),
    not_tried: both("Not tried", "未尝试"),
    source: both("as it was when the program ran", "程序运行时的内容"),
    advice: both("What to do", "处理建议"),
};

/// Number of rules that have found something.
pub(super) fn found(count: usize, i18n: I18n) -> String {
    match i18n.locale() {
        Locale::En => format!("{count} to look at"),
        Locale::Zh => format!("{count} 项需要查看"),
    }
}

/// Number of rules that lacked data.
pub(super) fn unjudged(count: usize, i18n: I18n) -> String {
    match i18n.locale() {
        Locale::En => format!("{count} not judged"),
        Locale::Zh => format!("{count} 项未判断"),
    }
}
