//! The texts of pictures, sound, text and curves of precision and recall, in both languages.

use crate::format;

/// What was recorded to be looked at.
pub struct RecordedTexts {
    /// Titles of the pages: pictures, text, precision and recall.
    pub titles: [&'static str; 3],
    /// Foot: tags, records.
    pub totals: fn(u64, u64) -> String,
    /// The run has none: runs, title of the page.
    pub none: fn(&str, &str) -> String,
    /// What to do.
    pub none_next: &'static str,
    /// Before the slider.
    pub step_cap: &'static str,
    /// Before a step.
    pub step: &'static str,
    /// Before a step that is not the one asked for.
    pub nearest: &'static str,
    /// Button: the recorded step before.
    pub before: &'static str,
    /// Button: the next recorded step.
    pub next: &'static str,
    /// Button: the last step.
    pub last: &'static str,
    /// Slider of one card.
    pub own_step: &'static str,
    /// Button: the step of all cards again.
    pub follow: &'static str,
    /// Slider.
    pub brightness: &'static str,
    /// Slider.
    pub contrast: &'static str,
    /// Button: as recorded.
    pub reset: &'static str,
    /// Size of pictures.
    pub size: &'static str,
    /// Fitted into the card.
    pub fit: &'static str,
    /// The bytes are no picture.
    pub no_picture: &'static str,
    /// The bytes are no sound that is played here.
    pub no_sound: &'static str,
    /// Label of the picture of a clip.
    pub waveform: &'static str,
    /// Samples that are no finite number.
    pub non_finite: fn(u64) -> String,
    /// Link to the bytes.
    pub bytes: &'static str,
    /// The picture is of another size than the writer says.
    pub other_size: fn(&str) -> String,
    /// One channel.
    pub mono: &'static str,
    /// Two channels.
    pub stereo: &'static str,
    /// More channels.
    pub channels: fn(u32) -> String,
    /// How texts are read.
    pub reading: &'static str,
    /// As markdown.
    pub rendered: &'static str,
    /// As written.
    pub source: &'static str,
    /// Field.
    pub find: &'static str,
    /// Steps with the words, steps looked at.
    pub found: fn(u64, u64) -> String,
    /// Not all steps were looked at.
    pub find_cut: &'static str,
    /// Not all of a text is shown.
    pub text_cut: &'static str,
    /// What the axes are.
    pub pr_axes: &'static str,
    /// Area below the curve.
    pub area: &'static str,
    /// Column.
    pub threshold: &'static str,
    /// Column.
    pub precision: &'static str,
    /// Column.
    pub recall: &'static str,
    /// Title of a column.
    pub true_positives: &'static str,
    /// Title of a column.
    pub false_positives: &'static str,
}

/// English.
pub(super) static EN: RecordedTexts = RecordedTexts {
    titles: ["Images", "Text", "PR curves"],
    totals: |tags, records| {
        let noun = if tags == 1 { "tag" } else { "tags" };
        format!(
            "{} {noun} · {} records; read when shown",
            format::count(tags),
            format::count(records)
        )
    },
    none: |runs, what| format!("Nothing for “{what}” in {runs}"),
    none_next: "Record it with a summary writer or the collector; it appears here within seconds.",
    step_cap: "Step",
    step: "step",
    nearest: "nearest: step",
    before: "Recorded step before (←)",
    next: "Next recorded step (→)",
    last: "Last step",
    own_step: "Step of this card",
    follow: "Follow",
    brightness: "Brightness",
    contrast: "Contrast",
    reset: "Reset",
    size: "Size of pictures",
    fit: "Fit",
    no_picture: "These bytes are no picture that a browser can show.",
    no_sound: "These bytes are no sound that this browser can play.",
    waveform: "Waveform; press to go there",
    non_finite: |samples| format!("{} samples are NaN or infinite", format::count(samples)),
    bytes: "Download them",
    other_size: |size| format!("the writer says {size}"),
    mono: "mono",
    stereo: "stereo",
    channels: |channels| format!("{channels} channels"),
    reading: "How texts are shown",
    rendered: "Rendered",
    source: "Source",
    find: "Words in all texts",
    found: |found, all| {
        format!(
            "found at {} of {} steps",
            format::count(found),
            format::count(all)
        )
    },
    find_cut: " · not all steps were looked at",
    text_cut: "This text is longer or deeper than what is shown.",
    pr_axes: "precision over recall",
    area: "Area",
    threshold: "Threshold",
    precision: "Precision",
    recall: "Recall",
    true_positives: "Right positives",
    false_positives: "Wrong positives",
};

/// Chinese.
pub(super) static ZH: RecordedTexts = RecordedTexts {
    titles: ["图像", "文本", "PR 曲线"],
    totals: |tags, records| {
        format!(
            "{} 个标签 · {} 条记录，显示时读取",
            format::count(tags),
            format::count(records)
        )
    },
    none: |runs, what| format!("{runs} 中没有{what}"),
    none_next: "用 summary writer 或采集器记录后，几秒内即显示在此。",
    step_cap: "迭代",
    step: "迭代",
    nearest: "最近的迭代",
    before: "上一个已记录的迭代（←）",
    next: "下一个已记录的迭代（→）",
    last: "最后一个迭代",
    own_step: "此卡片的迭代",
    follow: "跟随",
    brightness: "亮度",
    contrast: "对比度",
    reset: "复位",
    size: "图像大小",
    fit: "适应",
    no_picture: "这些字节不是浏览器能显示的图像。",
    no_sound: "这些字节不是此浏览器能播放的声音。",
    waveform: "波形；点击可跳转",
    non_finite: |samples| format!("{} 个采样为 NaN 或无穷大", format::count(samples)),
    bytes: "下载",
    other_size: |size| format!("写入者声明为 {size}"),
    mono: "单声道",
    stereo: "立体声",
    channels: |channels| format!("{channels} 声道"),
    reading: "文本显示方式",
    rendered: "渲染",
    source: "原文",
    find: "在所有文本中查找",
    found: |found, all| {
        format!(
            "{} / {} 个迭代中找到",
            format::count(found),
            format::count(all)
        )
    },
    find_cut: " · 未查找全部迭代",
    text_cut: "文本过长或嵌套过深，未全部显示。",
    pr_axes: "精确率 – 召回率",
    area: "面积",
    threshold: "阈值",
    precision: "精确率",
    recall: "召回率",
    true_positives: "真正例",
    false_positives: "假正例",
};
