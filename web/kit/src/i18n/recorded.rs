//! The texts of pictures, sound, text and curves of precision and recall, in both languages.

use crate::format;
use crate::i18n::Text;

texts! {
    /// Texts of the pages of recorded images, audio and text.
    RecordedTexts

    /// The records of each page inside a sentence.
    nouns: [Text; 3] = ["images or audio", "text", "PR curves"], ["图像或音频", "文本", " PR 曲线"];
    /// Foot: tags, records.
    totals: fn(u64, u64) -> String =
        |tags, records| {
            let noun = if tags == 1 { "tag" } else { "tags" };
            format!(
                "{} {noun} · {} {} (loaded on demand)",
                format::count(tags),
                format::count(records),
                if records == 1 { "record" } else { "records" },
            )
        },
        |tags, records| format!("{} 个标签 · {} 条记录（按需加载）", format::count(tags), format::count(records));
    /// The run has none: runs, noun of the page.
    none: fn(&str, &str) -> String =
        |runs, what| format!("No {what} in {runs}"),
        |runs, what| format!("{runs} 中没有{what}");
    none_next =
        "Record it with a summary writer or the collector; it appears here within seconds.",
        "用 summary writer 或采集器记录后，几秒内即显示在此。";
    step_cap = "Step", "迭代";
    step = "step", "迭代";
    nearest = "nearest: step", "最近的迭代";
    before = "Recorded step before (←)", "上一个已记录的迭代（←）";
    next = "Next recorded step (→)", "下一个已记录的迭代（→）";
    last = "Last step", "最后一个迭代";
    own_step = "Step of this card", "此卡片的迭代";
    follow = "Follow", "跟随";
    brightness = "Brightness", "亮度";
    contrast = "Contrast", "对比度";
    reset = "Reset", "复位";
    difference = "Show", "显示";
    as_recorded = "as recorded", "原图";
    minus_previous = "− previous step", "− 上一迭代";
    minus_first = "− first step", "− 首个迭代";
    /// Choice: subtract a run, by its name.
    minus_run: fn(&str) -> String = |run| format!("− {run}"), |run| format!("− {run}");
    equal = "equal", "相同";
    /// Number of differing pixels, of all pixels, maximum difference of a channel.
    pixels_differ: fn(&str, &str, u8) -> String =
        |differing, pixels, greatest| format!("{differing} of {pixels} pixels differ, by at most {greatest} of 255"),
        |differing, pixels, greatest| format!("{pixels} 个像素中 {differing} 个不同，最大相差 {greatest}/255");
    sizes_differ = "The sizes differ, so there is no difference to show.", "图像大小不同，无法求差。";
    /// Recorded steps of a run.
    recorded_steps: fn(&str) -> String =
        |steps| format!("{steps} recorded steps"),
        |steps| format!("{steps} 个已记录的迭代");
    size = "Size of pictures", "图像大小";
    fit = "Fit", "适应";
    no_picture = "Not an image format this browser can display.", "这些字节不是浏览器能显示的图像。";
    no_sound = "Not an audio format this browser can play.", "这些字节不是此浏览器能播放的声音。";
    waveform = "Waveform; click to go there", "波形；点击可跳转";
    /// Samples that are not finite.
    non_finite: fn(u64) -> String =
        |samples| format!("{} samples are NaN or infinite", format::count(samples)),
        |samples| format!("{} 个采样为 NaN 或无穷大", format::count(samples));
    download = "Download the image", "下载图像";
    all_black =
        "All pixels are 0. Image writers store NaN as 0: look at the values of the tensor.",
        "所有像素均为 0。图像写入时 NaN 会被存为 0，请查看张量值。";
    play = "Play all steps (space)", "依次播放各迭代（空格）";
    stop = "Stop (space)", "停止（空格）";
    play_clip = "Play", "播放";
    pause_clip = "Pause", "暂停";
    bytes = "Download", "下载";
    /// The picture has another size than its record: the size in the record.
    other_size: fn(&str) -> String = |size| format!("the writer says {size}"), |size| format!("写入者声明为 {size}");
    mono = "mono", "单声道";
    stereo = "stereo", "立体声";
    /// More channels.
    channels: fn(u32) -> String = |channels| format!("{channels} channels"), |channels| format!("{channels} 声道");
    reading = "How texts are shown", "文本显示方式";
    rendered = "Rendered", "渲染";
    source = "Source", "原文";
    find = "Words in all texts", "在所有文本中查找";
    /// Steps with the words, steps looked at.
    found: fn(u64, u64) -> String =
        |found, all| format!("Found at {} of {} steps:", format::count(found), format::count(all)),
        |found, all| format!("{} / {} 个迭代中找到：", format::count(found), format::count(all));
    /// Title of a link: step.
    go_to_step: fn(&str) -> String = |step| format!("Go to step {step}"), |step| format!("跳转到迭代 {step}");
    /// No text has the words.
    no_match: fn(&str) -> String =
        |words| format!("No text contains “{words}”."),
        |words| format!("没有文本包含“{words}”。");
    clear = "Clear", "清除";
    find_cut = " · not all steps were searched", " · 未查找全部迭代";
    text_cut = "This text is longer or deeper than what is shown.", "文本过长或嵌套过深，未全部显示。";
    pr_chart = "precision over recall", "精确率 – 召回率";
    at_threshold = "Counts at the threshold under the pointer", "指针处阈值的计数";
    area = "Area", "面积";
    threshold = "Threshold", "阈值";
    precision = "Precision", "精确率";
    recall = "Recall", "召回率";
    f1 = "F1 score, the harmonic mean of precision and recall", "F1 值：精确率与召回率的调和平均";
    true_positives = "True positives", "真正例";
    false_positives = "False positives", "假正例";
    true_negatives = "True negatives", "真负例";
    false_negatives = "False negatives", "假负例";
}
