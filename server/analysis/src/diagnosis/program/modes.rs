//! The model: modes of its layers, rows of embeddings, tied tensors, loaded weights, and waits of its pass.

use super::{Fact, Facts, counted, shown};
use crate::diagnosis::{Opinion, Rule};

/// Minimum share of the passes of a training in evaluation mode. Chosen: an evaluation inside of a step is a pass, too.
const IN_EVALUATION: f64 = 0.2;
/// Minimum number of passes. Chosen.
const MIN_PASSES: f64 = 10.0;
/// Minimum number of looks, and of rows, for a judgement about the rows of an embedding: one of token types has two.
/// Chosen.
const MIN_LOOKS: f64 = 5.0;
const MIN_ROWS: f64 = 8.0;
/// Minimum number of sampled steps for a judgement about waits, and waits a step. Chosen: a print
/// every ten steps does not count.
const MIN_STEPS: f64 = 3.0;
const WAITS_A_STEP: f64 = 0.9;

pub(super) fn judge(facts: &Facts, all: &mut Vec<(Rule, Opinion)>) {
    for fact in facts.of("module_modes") {
        all.extend(mode(&fact).map(|opinion| (Rule::EvaluationMode, opinion)));
    }
    for fact in facts.of("embedding") {
        all.extend(rows(&fact).map(|opinion| (Rule::EmbeddingOneRow, opinion)));
    }
    for fact in facts.of("tied") {
        all.extend(tie(&fact).map(|opinion| (Rule::TieBroken, opinion)));
    }
    for fact in facts.of("loaded") {
        all.extend(loaded(&fact).map(|opinion| (Rule::NothingLoaded, opinion)));
    }
    for fact in facts.of("time_by_line") {
        all.extend(waits(&fact).map(|opinion| (Rule::WaitsForDevice, opinion)));
    }
}

fn mode(fact: &Fact<'_>) -> Option<Opinion> {
    let (passes, evaluation) = (fact.number("passes")?, fact.number("evaluation")?);
    if passes < MIN_PASSES {
        return None;
    }
    if evaluation <= IN_EVALUATION * passes {
        return Some(fact.fine("layers are in training mode", "各层处于训练模式"));
    }
    let (module, class) = (fact.text("module"), fact.text("class"));
    let name = if module.is_empty() {
        class.clone()
    } else {
        module
    };
    let (count, of) = (counted(evaluation), counted(passes));
    let en = format!("{name} is in evaluation mode at {count} of {of} training passes");
    let zh = format!("{of} 次训练前向中有 {count} 次 {name} 处于评估模式");
    // Statistics of a batch normalisation are frozen on purpose when a model is fine-tuned with small batches.
    if evaluation >= passes && class.contains("BatchNorm") {
        return Some(fact.note(
            format!("{en}: its statistics are frozen"),
            format!("{zh}：其统计量被冻结"),
        ));
    }
    Some(fact.fault(
        format!("{en}: call model.train() after each evaluation"),
        format!("{zh}：每次评估后请调用 model.train()"),
    ))
}

fn rows(fact: &Fact<'_>) -> Option<Opinion> {
    let (rows, used) = (fact.number("rows")?, fact.number("rows_with_gradient")?);
    if fact.number("looks")? < MIN_LOOKS || rows < MIN_ROWS {
        return None;
    }
    let (name, all) = (fact.name_or("the embedding"), counted(rows));
    let name_zh = fact.name_or("嵌入层");
    if !(1.0..2.0).contains(&used) {
        let used = counted(used);
        return Some(fact.fine(
            &format!("{used} of {all} rows of {name} get a gradient"),
            &format!("{name_zh} 的 {all} 行中有 {used} 行得到梯度"),
        ));
    }
    let row = fact.number("row").map_or_else(|| "1".to_owned(), counted);
    Some(fact.fault(
        format!("only row {row} of the {all} of {name} ever gets a gradient: are all of its indices the same (position ids)?"),
        format!("{name_zh} 的 {all} 行中只有第 {row} 行得到过梯度：其索引是否全部相同（位置编号）？"),
    ))
}

fn tie(fact: &Fact<'_>) -> Option<Opinion> {
    let (first, now) = (fact.number("equal_first")?, fact.number("equal")?);
    if first == 0.0 {
        return None;
    }
    if now != 0.0 {
        return Some(fact.fine("tied weights are still equal", "共享的权重仍然相等"));
    }
    let tie = shown(fact.subject);
    Some(fact.fault(
        format!("{tie} at the first step and no longer are: the tie was broken (a copy of the weight, and not the same Parameter)"),
        format!("第一个迭代时 {tie}，现在不再相等：共享关系已断开（是权重的副本，而不是同一个 Parameter）"),
    ))
}

fn loaded(fact: &Fact<'_>) -> Option<Opinion> {
    let (keys, matched) = (fact.number("keys")?, fact.number("matched")?);
    if keys < 1.0 {
        return None;
    }
    let (name, all) = (fact.name_or("the model"), counted(keys));
    let name_zh = fact.name_or("模型");
    if matched > 0.0 {
        let matched = counted(matched);
        return Some(fact.fine(
            &format!("{matched} of {all} loaded names match {name}"),
            &format!("加载的 {all} 个名称中有 {matched} 个与 {name_zh} 匹配"),
        ));
    }
    Some(fact.fault(
        format!("none of the {all} names that were loaded is in {name}: it keeps its initial weights. Is a prefix (module., model.) too much or missing?"),
        format!("加载的 {all} 个名称都不在 {name_zh} 中：权重仍是初始值。是否多了或少了前缀（module.、model.）？"),
    ))
}

fn waits(fact: &Fact<'_>) -> Option<Opinion> {
    let (steps, waits) = (fact.number("steps")?, fact.number("waits")?);
    if steps < MIN_STEPS {
        return None;
    }
    if waits < WAITS_A_STEP * steps {
        return Some(fact.fine(
            "no line of the forward pass waits for a device at every step",
            "前向传播中没有在每个迭代都等待设备的代码行",
        ));
    }
    let wait = fact.text("wait");
    let (line, waits, of) = (shown(fact.subject), counted(waits), counted(steps));
    let time = fact.number("wait_seconds").filter(|time| *time > 0.0);
    let (time, time_zh) = time.map_or_else(Default::default, |time| {
        let one = trainscope_format::digits::span(time / steps);
        (format!(", {one} a step"), format!("，每个迭代 {one}"))
    });
    Some(fact.note(
        format!("{line} waits for the device in the forward pass: {wait} was called {waits} times in {of} sampled steps{time}"),
        format!("{line} 在前向传播中等待设备：{of} 个记录的迭代中调用 {wait} {waits} 次{time_zh}"),
    ))
}
