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
    pub(super) chain: Both,
    pub(super) chain_of: Both,
    pub(super) first: Both,
    pub(super) finite: Both,
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
    chain: both(
        "From the first bad operation to the loss",
        "从首个异常运算到损失",
    ),
    chain_of: both("in the order of the forward pass", "按前向传播的顺序"),
    first: both("first bad operation", "首个异常运算"),
    finite: both("finite", "有限"),
    probes: both("Checks of the first batch", "首批数据检查"),
    probes_of: both(
        "run before the training, which they do not change",
        "在训练前进行，不改变训练",
    ),
    failed: both("Failed", "未通过"),
    passed: both("Passed", "通过"),
    not_tried: both("Not tried", "未执行"),
    source: both("as it was when the program ran", "程序运行时的内容"),
    advice: both("What to do", "处理建议"),
};

/// Text for the number of rules with findings.
pub(super) fn found(count: usize, i18n: I18n) -> String {
    match i18n.locale() {
        Locale::En => format!("{count} to look at"),
        Locale::Zh => format!("{count} 项需要查看"),
    }
}

/// Text for the number of rules that lacked data.
pub(super) fn unjudged(count: usize, i18n: I18n) -> String {
    match i18n.locale() {
        Locale::En => format!("{count} not judged"),
        Locale::Zh => format!("{count} 项未作判断"),
    }
}

/// Text for the number of operations that are not shown.
pub(super) fn left_out(count: u64, i18n: I18n) -> String {
    match i18n.locale() {
        Locale::En => format!("{count} more"),
        Locale::Zh => format!("另有 {count} 个"),
    }
}
