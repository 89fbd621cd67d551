//! The texts of pictures, sound, text and curves of precision and recall, in both languages.

use crate::format;

/// Texts of the pages of recorded images, audio and text.
pub struct RecordedTexts {
    /// Titles of the pages: pictures, text, precision and recall.
    pub titles: [&'static str; 3],
    /// The records of each page inside a sentence.
    pub nouns: [&'static str; 3],
    /// Foot: tags, records.
    pub totals: fn(u64, u64) -> String,
    /// The run has none: runs, noun of the page.
    pub none: fn(&str, &str) -> String,
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
    pub brightness: &'static str,
    pub contrast: &'static str,
    /// Button: as recorded.
    pub reset: &'static str,
    /// Before the choice of what pictures are subtracted from.
    pub difference: &'static str,
    /// Choice: no difference.
    pub as_recorded: &'static str,
    /// Choice: the recorded step before is subtracted.
    pub minus_previous: &'static str,
    /// Choice: the first recorded step is subtracted.
    pub minus_first: &'static str,
    /// Choice: a run is subtracted: its name.
    pub minus_run: fn(&str) -> String,
    /// Two pictures are the same.
    pub equal: &'static str,
    /// Pixels that differ, all pixels, greatest difference of a channel.
    pub pixels_differ: fn(&str, &str, u8) -> String,
    /// Two pictures cannot be subtracted.
    pub sizes_differ: &'static str,
    /// Recorded steps of a run.
    pub recorded_steps: fn(&str) -> String,
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
    /// Link: the picture as a file.
    pub download: &'static str,
    /// Every pixel of a picture is 0.
    pub all_black: &'static str,
    /// Button: one step after another.
    pub play: &'static str,
    /// Button, while they play.
    pub stop: &'static str,
    /// Button of a clip.
    pub play_clip: &'static str,
    /// Button of a clip, while it plays.
    pub pause_clip: &'static str,
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
    /// Label of the choice of text rendering.
    pub reading: &'static str,
    /// As markdown.
    pub rendered: &'static str,
    /// As written.
    pub source: &'static str,
    pub find: &'static str,
    /// Steps with the words, steps looked at.
    pub found: fn(u64, u64) -> String,
    /// Title of a link: step.
    pub go_to_step: fn(&str) -> String,
    /// No text has the words.
    pub no_match: fn(&str) -> String,
    /// Button: ends the search.
    pub clear: &'static str,
    /// Not all steps were looked at.
    pub find_cut: &'static str,
    /// Not all of a text is shown.
    pub text_cut: &'static str,
    /// Label of the chart.
    pub pr_chart: &'static str,
    /// Label of the table.
    pub at_threshold: &'static str,
    /// Area below the curve.
    pub area: &'static str,
    pub threshold: &'static str,
    pub precision: &'static str,
    pub recall: &'static str,
    pub f1: &'static str,
    pub true_positives: &'static str,
    pub false_positives: &'static str,
    pub true_negatives: &'static str,
    pub false_negatives: &'static str,
}

pub(super) static EN: RecordedTexts = RecordedTexts {
    titles: ["Images and audio", "Text", "PR curves"],
    nouns: ["images or audio", "text", "PR curves"],
    totals: |tags, records| {
        let noun = if tags == 1 { "tag" } else { "tags" };
        format!(
            "{} {noun} · {} {} (loaded on demand)",
            format::count(tags),
            format::count(records),
            if records == 1 { "record" } else { "records" },
        )
    },
    none: |runs, what| format!("No {what} in {runs}"),
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
    difference: "Show",
    as_recorded: "as recorded",
    minus_previous: "− previous step",
    minus_first: "− first step",
    minus_run: |run| format!("− {run}"),
    equal: "equal",
    pixels_differ: |differing, pixels, greatest| {
        format!("{differing} of {pixels} pixels differ, by at most {greatest} of 255")
    },
    sizes_differ: "The sizes differ, so there is no difference to show.",
    recorded_steps: |steps| format!("{steps} recorded steps"),
    size: "Size of pictures",
    fit: "Fit",
    no_picture: "Not an image format this browser can display.",
    no_sound: "Not an audio format this browser can play.",
    waveform: "Waveform; click to go there",
    non_finite: |samples| format!("{} samples are NaN or infinite", format::count(samples)),
    download: "Download the image",
    all_black: "All pixels are 0. Image writers store NaN as 0: look at the values of the tensor.",
    play: "Play all steps (space)",
    stop: "Stop (space)",
    play_clip: "Play",
    pause_clip: "Pause",
    bytes: "Download it",
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
            "Found at {} of {} steps:",
            format::count(found),
            format::count(all)
        )
    },
    go_to_step: |step| format!("Go to step {step}"),
    no_match: |words| format!("No text contains “{words}”."),
    clear: "Clear",
    find_cut: " · not all steps were searched",
    text_cut: "This text is longer or deeper than what is shown.",
    pr_chart: "precision over recall",
    at_threshold: "Counts at the threshold under the pointer",
    area: "Area",
    threshold: "Threshold",
    precision: "Precision",
    recall: "Recall",
    f1: "F1 score, the harmonic mean of precision and recall",
    true_positives: "True positives",
    false_positives: "False positives",
    true_negatives: "True negatives",
    false_negatives: "False negatives",
};

pub(super) static ZH: RecordedTexts = RecordedTexts {
    titles: ["图像与音频", "文本", "PR 曲线"],
    nouns: ["图像或音频", "文本", " PR 曲线"],
    totals: |tags, records| {
        format!(
            "{} 个标签 · {} 条记录（按需加载）",
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
    difference: "显示",
    as_recorded: "原图",
    minus_previous: "− 上一迭代",
    minus_first: "− 首个迭代",
    minus_run: |run| format!("− {run}"),
    equal: "相同",
    pixels_differ: |differing, pixels, greatest| {
        format!("{pixels} 个像素中 {differing} 个不同，最大相差 {greatest}/255")
    },
    sizes_differ: "图像大小不同，无法求差。",
    recorded_steps: |steps| format!("{steps} 个已记录的迭代"),
    size: "图像大小",
    fit: "适应",
    no_picture: "这些字节不是浏览器能显示的图像。",
    no_sound: "这些字节不是此浏览器能播放的声音。",
    waveform: "波形；点击可跳转",
    non_finite: |samples| format!("{} 个采样为 NaN 或无穷大", format::count(samples)),
    download: "下载图像",
    all_black: "所有像素均为 0。图像写入时 NaN 会被存为 0，请查看张量值。",
    play: "依次播放各迭代（空格）",
    stop: "停止（空格）",
    play_clip: "播放",
    pause_clip: "暂停",
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
            "{} / {} 个迭代中找到：",
            format::count(found),
            format::count(all)
        )
    },
    go_to_step: |step| format!("跳转到迭代 {step}"),
    no_match: |words| format!("没有文本包含“{words}”。"),
    clear: "清除",
    find_cut: " · 未查找全部迭代",
    text_cut: "文本过长或嵌套过深，未全部显示。",
    pr_chart: "精确率 – 召回率",
    at_threshold: "指针处阈值的计数",
    area: "面积",
    threshold: "阈值",
    precision: "精确率",
    recall: "召回率",
    f1: "F1 值：精确率与召回率的调和平均",
    true_positives: "真正例",
    false_positives: "假正例",
    true_negatives: "真负例",
    false_negatives: "假负例",
};
