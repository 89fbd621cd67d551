//! Batches: inputs, targets, their order, and random seeds.

use trainscope_format::digits::{brief, percent};

use super::{Fact, Facts, counted, shown};
use crate::diagnosis::{Opinion, Rule, State};

/// Root mean square of a feature above which no learning rate suits both it and the others: see `input_range`. Chosen.
const LARGE_FEATURE: f64 = 1e3;
/// Highest values of bytes that are no counts or classes. Chosen: the upper half.
const BYTES: std::ops::RangeInclusive<f64> = 128.0..=255.0;
/// Minimum number of features that may be a picture. Chosen: eight rows of eight pixels.
const MIN_PIXELS: f64 = 64.0;
/// Share of targets that are equal to an input nearby: all but padding at the ends.
const EQUAL: f64 = 0.99;
/// The same share at the right distance, above which a sequence only repeats one token. Chosen.
const NOT_EQUAL: f64 = 0.9;
/// Minimum number of batches with such targets. Chosen.
const MIN_SHIFTED: f64 = 3.0;
/// Correlation of a feature with the label above which it is the label: no measurement is as exact. Chosen.
const SAME: f64 = 0.99;
/// Minimum number of samples for a correlation. Chosen: three batches of 32.
const MIN_SAMPLES: f64 = 96.0;
/// Minimum number of batches with one label, and of labels in a batch: fewer may be of one class by chance. Chosen.
const MIN_BATCHES: f64 = 5.0;
const MIN_LABELS_IN_BATCH: f64 = 8.0;
/// Minimum number of labels for a share, and the share of one above which accuracy says little. Chosen.
const MIN_LABELS: f64 = 100.0;
const MOST_COMMON: f64 = 0.85;
/// Minimum number of batches that are all the same. Chosen.
const MIN_REPEATED: f64 = 10.0;
/// Share of batches of one label, and of updates with a seed. Chosen.
const MOST: f64 = 0.5;
/// Minimum number of seeds after the first update. Chosen.
const MIN_SEEDS: f64 = 3.0;

/// Losses over classes, whose targets are labels.
const OF_CLASSES: [&str; 5] = [
    "cross_entropy",
    "nll_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "multi_margin_loss",
];

pub(super) fn judge(facts: &Facts, all: &mut Vec<(Rule, Opinion)>) {
    for fact in facts.of("inputs") {
        all.extend(size(&fact).map(|opinion| (Rule::InputScale, opinion)));
        all.extend(repeated(&fact, facts).map(|opinion| (Rule::RepeatedBatch, opinion)));
    }
    for fact in facts.of("layer_input") {
        all.extend(bytes(&fact).map(|opinion| (Rule::InputScale, opinion)));
    }
    for fact in facts.of("targets") {
        all.extend(shifted(&fact).map(|opinion| (Rule::LabelsShifted, opinion)));
        all.extend(leaked(&fact).map(|opinion| (Rule::LabelInFeatures, opinion)));
        all.extend(labels(&fact).map(|opinion| (Rule::OneLabel, opinion)));
    }
    let updates = facts
        .of("gradients_kept")
        .chain(facts.of("optimizer_settings"));
    let updates = updates.filter_map(|fact| fact.number("updates"));
    let updates = updates.fold(None, |most: Option<f64>, count| {
        Some(most.map_or(count, |most| most.max(count)))
    });
    for fact in facts.of("seeds") {
        all.extend(seeds(&fact, updates).map(|opinion| (Rule::SeededInLoop, opinion)));
    }
    all.extend(shuffling(facts).map(|opinion| (Rule::Shuffling, opinion)));
}

fn size(fact: &Fact<'_>) -> Option<Opinion> {
    let largest = fact.number("largest_rms")?;
    if largest <= LARGE_FEATURE {
        return Some(fact.fine("features are of a usual size", "特征的大小正常"));
    }
    let name = fact.name_or("the input");
    let name_zh = fact.name_or("输入");
    let (en, zh) = match fact.number("smallest_rms").filter(|least| *least < largest) {
        Some(least) => {
            let (least, largest) = (brief(least), brief(largest));
            (
                format!("from {least} to {largest}"),
                format!("{least} 到 {largest}"),
            )
        }
        None => (brief(largest), brief(largest)),
    };
    Some(fact.fault(
        format!("features of {name} are not scaled, their sizes (RMS) are {en}: normalize them"),
        format!("{name_zh} 的特征未缩放，其大小（均方根）为 {zh}：请归一化"),
    ))
}

/// Whole numbers from 0 to 255 in the first layer: pictures as they are in files.
fn bytes(fact: &Fact<'_>) -> Option<Opinion> {
    let (lowest, highest) = (fact.number("lowest")?, fact.number("highest")?);
    if fact.number("batches")? < MIN_SHIFTED {
        return None;
    }
    let is_wide = fact
        .number("features")
        .is_some_and(|count| count >= MIN_PIXELS);
    let are_bytes = fact.is("whole") && is_wide && lowest >= 0.0 && BYTES.contains(&highest);
    if !are_bytes {
        return None;
    }
    let (name, name_zh) = (fact.name_or("the first layer"), fact.name_or("首层"));
    let highest = brief(highest);
    Some(fact.fault(
        format!(
            "{name}, the first layer, gets whole numbers from 0 to {highest}, as bytes of pictures are: divide them by 255, or \
             normalize them"
        ),
        format!("首层 {name_zh} 得到的是 0 到 {highest} 的整数，即图片的原始字节：请除以 255，或做归一化"),
    ))
}

fn repeated(fact: &Fact<'_>, facts: &Facts) -> Option<Opinion> {
    let (batches, different) = (fact.number("batches")?, fact.number("different")?);
    if batches < MIN_REPEATED {
        return None;
    }
    if different > 1.0 {
        return Some(fact.fine("batches differ", "各批次不同"));
    }
    let (name, name_zh, batches) = (
        fact.name_or("the input"),
        fact.name_or("输入"),
        counted(batches),
    );
    // An epoch of several batches that is begun for each pass, and of which only the first batch is taken.
    let begins_anew = |loader: &Fact<'_>| {
        let of = |name: &str| loader.number(name).unwrap_or(0.0);
        loader.number("training") != Some(0.0)
            && of("batches") > 1.0
            && of("passes") >= MIN_REPEATED
            && of("iterations") > MOST * of("passes")
    };
    let mut loaders = facts.of("data_loader");
    if let Some(loader) = loaders.find(begins_anew) {
        let of = |name: &str| counted(loader.number(name).unwrap_or(0.0));
        let (begun, of_loader) = (of("iterations"), of("batches"));
        return Some(loader.fault(
            format!(
                "{name} is the same batch at all {batches} steps that were compared: an epoch of the loader was begun {begun} \
                 times, and only the first of its {of_loader} batches is used. Call iter() once, before the loop"
            ),
            format!("{name_zh} 在对比过的全部 {batches} 个迭代中是同一批数据：数据加载器的轮次开始了 {begun} 次，每次只用到其 {of_loader} 个批次中的第一个。请在循环之前只调用一次 iter()"),
        ));
    }
    Some(fact.note(
        format!("{name} is the same batch at all {batches} steps that were compared"),
        format!("{name_zh} 在对比过的全部 {batches} 个迭代中是同一批数据"),
    ))
}

/// Targets of a sequence that are its inputs at a distance other than the next position.
fn shifted(fact: &Fact<'_>) -> Option<Opinion> {
    let next = fact.number("equal_1")?;
    if fact.number("batches")? < MIN_SHIFTED {
        return None;
    }
    let at = |name: &str| fact.number(name).unwrap_or(0.0);
    let loss = shown(fact.plain());
    if next < NOT_EQUAL && at("equal_0") > EQUAL {
        let share = percent(at("equal_0"));
        return Some(fact.fault(
            format!(
                "{share} of the targets of {loss} are the inputs at the same position: the labels are not shifted by one, so \
                 each token predicts itself"
            ),
            format!("{loss} 的目标中有 {share} 等于同一位置的输入：标签没有移位，每个词元只是在预测自己"),
        ));
    }
    if next < NOT_EQUAL && at("equal_2") > EQUAL {
        let share = percent(at("equal_2"));
        return Some(fact.fault(
            format!(
                "{share} of the targets of {loss} are the inputs two positions later: the labels are shifted twice, by the data \
                 set and by the loss"
            ),
            format!("{loss} 的目标中有 {share} 等于后两个位置的输入：标签被移位两次（数据集一次，损失一次）"),
        ));
    }
    Some(fact.fine(
        "targets are not the inputs at the same position or two later",
        "目标不是同一位置或后两个位置的输入",
    ))
}

fn leaked(fact: &Fact<'_>) -> Option<Opinion> {
    let correlation = fact.number("correlation")?.abs();
    if fact.number("samples")? < MIN_SAMPLES {
        return None;
    }
    if correlation <= SAME {
        return Some(fact.fine("no feature is the label", "没有特征等于标签"));
    }
    let (r, samples) = (
        brief(correlation),
        counted(fact.number("samples").unwrap_or(0.0)),
    );
    let feature = fact.number("feature").map(counted);
    let (en, zh) = feature.map_or_else(
        || ("a feature".to_owned(), "某个特征".to_owned()),
        |at| (format!("feature {at}"), format!("特征 {at}")),
    );
    // One feature may explain all of a number, as in an example of a regression.
    let state = if OF_CLASSES.contains(&fact.plain()) {
        State::Fault
    } else {
        State::Note
    };
    Some(fact.found(
        state,
        format!(
            "{en} has a correlation of {r} with the label in {samples} samples: is it the label?"
        ),
        format!("在 {samples} 个样本中，{zh} 与标签的相关系数为 {r}：它是否就是标签？"),
    ))
}

fn labels(fact: &Fact<'_>) -> Option<Opinion> {
    if !OF_CLASSES.contains(&fact.plain()) {
        return None;
    }
    let (batches, labels) = (fact.number("batches")?, fact.number("labels")?);
    if batches < MIN_BATCHES || labels < MIN_LABELS_IN_BATCH * batches {
        return None;
    }
    let most = fact.number("most_common");
    let most = most.map(brief);
    let which = most
        .as_ref()
        .map_or_else(String::new, |label| format!(" {label}"));
    let (count, of_batches) = (counted(labels), counted(batches));
    let classes = fact.number("classes_seen");
    if classes == Some(1.0) {
        let is = most
            .as_ref()
            .map_or_else(|| "the same".to_owned(), Clone::clone);
        return Some(fact.fault(
            format!("all labels of all {of_batches} batches are {is} ({count} labels): there is nothing to tell apart"),
            format!("全部 {of_batches} 个批次的类别标签都是{}（{count} 个）：没有可区分的类别", most.map_or_else(|| "同一个".to_owned(), |label| format!(" {label}"))),
        ));
    }
    let single = fact.number("batches_of_one_label").unwrap_or(0.0);
    if classes.is_some() && single >= MIN_SHIFTED.max(MOST * batches) {
        let single = counted(single);
        return Some(fact.fault(
            format!(
                "all labels of a batch are the same in {single} of {of_batches} batches, and differ between batches: the samples \
                 are sorted by label and not shuffled"
            ),
            format!("{of_batches} 个批次中有 {single} 个批次内类别标签全部相同，而批次之间不同：样本按类别标签排序且未打乱"),
        ));
    }
    let share = fact.number("most_common_share").unwrap_or(0.0);
    if labels >= MIN_LABELS && share > MOST_COMMON {
        let share = percent(share);
        return Some(fact.note(
            format!("{share} of the labels are the class{which}: an answer that is always this one has that accuracy"),
            format!("{share} 的类别标签属于同一类别{which}：总是回答它也有这么高的准确率"),
        ));
    }
    Some(fact.fine("labels vary", "类别标签有变化"))
}

fn seeds(fact: &Fact<'_>, updates: Option<f64>) -> Option<Opinion> {
    let calls = fact.number("calls_in_loop")?;
    let of = updates?;
    if calls < MIN_SEEDS.max(MOST * of) {
        return Some(fact.fine("no seed is set at each step", "没有在每个迭代设置随机种子"));
    }
    let (name, calls, of) = (shown(fact.plain()), counted(calls), counted(of));
    Some(fact.fault(
        format!(
            "{name} was called {calls} times after the first update ({of} updates): dropout, augmentation and sampling repeat the \
             same numbers at every step. Set the seed once, before the training"
        ),
        format!("第一次更新之后调用了 {calls} 次 {name}（共 {of} 次更新）：dropout、数据增强和采样在每个迭代都重复相同的随机数。请只在训练前设置一次种子"),
    ))
}

/// The order of samples. A loader in order counts only if no loader of the training shuffles.
fn shuffling(facts: &Facts) -> Option<Opinion> {
    let of_training = facts.of("data_loader");
    let loaders: Vec<Fact<'_>> = of_training
        .filter(|loader| loader.number("training") != Some(0.0))
        .collect();
    let is_shuffled = |loader: &&Fact<'_>| loader.is("shuffle");
    if let Some(loader) = loaders.iter().find(is_shuffled) {
        return Some(loader.fine("samples are shuffled", "样本已打乱"));
    }
    let in_order = |loader: &&Fact<'_>| {
        loader.number("shuffle").is_some() && loader.text("sampler").contains("Sequential")
    };
    let first = loaders.iter().find(in_order)?;
    if !loaders.iter().all(|loader| in_order(&loader)) {
        return None;
    }
    let dataset = first.name_or("the data set");
    let dataset_zh = first.name_or("数据集");
    Some(first.note(
        format!("samples of {dataset} come in the same order each epoch (SequentialSampler); they are not shuffled"),
        format!("{dataset_zh} 的样本每轮顺序相同（SequentialSampler），没有打乱"),
    ))
}
