//! The description of a program by its facts: names and values for each part.

use std::cmp::Reverse;
use std::time::Duration;

use trainscope_api::Sentence;
use trainscope_api::program::{ProgramPart, ProgramRow, RecordedFact};
use trainscope_format::SourceLine;
use trainscope_format::digits::{nanos, percent, trimmed};

use super::of_kind;

/// Maximum number of listed losses, groups of optimizers, and lines.
const MAX_LISTED: usize = 4;

/// The rows of all parts, in the order of the parts.
pub(super) fn rows(facts: &[RecordedFact]) -> Vec<ProgramRow> {
    let mut all = Vec::new();
    for (part, describe) in [
        (ProgramPart::Model, model as fn(&mut Rows<'_>)),
        (ProgramPart::Optimizer, optimizers),
        (ProgramPart::Loss, losses),
        (ProgramPart::Data, data),
        (ProgramPart::Loop, passes),
    ] {
        describe(&mut Rows {
            facts,
            part,
            all: &mut all,
        });
    }
    all
}

/// Rows of a part.
struct Rows<'a> {
    facts: &'a [RecordedFact],
    part: ProgramPart,
    all: &'a mut Vec<ProgramRow>,
}

/// A name in English and Chinese.
type Name = (&'static str, &'static str);

impl<'a> Rows<'a> {
    fn of(&self, kind: &'a str) -> impl Iterator<Item = &'a RecordedFact> + use<'a> {
        of_kind(self.facts, kind)
    }

    fn heading(&mut self, (en, zh): (&str, &str), source: Option<&SourceLine>) {
        self.all.push(ProgramRow {
            part: self.part,
            name: Sentence::new(en, zh),
            value: None,
            source: source.cloned(),
        });
    }

    fn row(&mut self, (en, zh): Name, value: Sentence) {
        if !value.en.is_empty() {
            self.all.push(ProgramRow {
                part: self.part,
                name: Sentence::new(en, zh),
                value: Some(value),
                source: None,
            });
        }
    }

    fn text(&mut self, name: Name, text: &str) {
        self.row(name, Sentence::new(text, text));
    }

    fn number(&mut self, name: Name, value: Option<f64>) {
        if let Some(value) = value {
            self.text(name, &trimmed(value, 4));
        }
    }

    /// `a / b`, without `b` if both are equal.
    fn share(&mut self, name: Name, part: Option<f64>, whole: Option<f64>) {
        let (Some(part), Some(whole)) = (part, whole) else {
            return;
        };
        let (part, whole) = (trimmed(part, 6), trimmed(whole, 6));
        if part == whole {
            self.text(name, &whole);
        } else {
            self.text(name, &format!("{part} / {whole}"));
        }
    }

    fn yes_no(&mut self, name: Name, value: Option<f64>) {
        match value {
            Some(0.0) => self.row(name, Sentence::new("no", "否")),
            Some(_) => self.row(name, Sentence::new("yes", "是")),
            None => {}
        }
    }
}

fn model(rows: &mut Rows<'_>) {
    for fact in rows.of("reached").take(MAX_LISTED) {
        if !fact.subject.is_empty() {
            rows.heading((&fact.subject, &fact.subject), None);
        }
        let trainable = fact.number("trainable");
        rows.number(("trainable tensors", "可训练张量"), trainable);
        let reached = fact.number("reached");
        rows.share(("reached by the loss", "损失可达"), reached, trainable);
    }
    let seeds = rows.of("seeds").next();
    let calls = seeds.and_then(|fact| fact.number("calls"));
    rows.number(("seeds set", "设置随机种子"), calls);
    if let Some(fact) = rows.of("environment").next() {
        rows.text(("PyTorch", "PyTorch"), fact.text("torch"));
        let commit: String = fact.text("commit").chars().take(10).collect();
        rows.text(("commit", "提交"), &commit);
    }
}

fn optimizers(rows: &mut Rows<'_>) {
    for fact in rows.of("optimizer_settings").take(MAX_LISTED) {
        rows.heading((&fact.subject, &fact.subject), fact.source.as_ref());
        rows.number(("learning rate", "学习率"), fact.number("lr"));
        rows.number(("weight decay", "权重衰减"), fact.number("weight_decay"));
    }
    let held = rows.of("optimizer_parameters").next();
    let held = held.and_then(|fact| fact.number("held"));
    rows.number(("tensors held", "所持张量"), held);
}

fn losses(rows: &mut Rows<'_>) {
    for fact in rows.of("loss_function").take(MAX_LISTED) {
        rows.heading((&fact.subject, &fact.subject), fact.source.as_ref());
        let shapes = ["outputs_shape", "targets_shape"].map(|name| fact.text(name));
        let shapes = shapes.into_iter().filter(|shape| !shape.is_empty());
        let shapes: Vec<String> = shapes.map(|shape| shape.replace(", ", " × ")).collect();
        rows.text(("output and target", "输出与目标"), &shapes.join(", "));
        let (before, module) = (fact.text("before"), fact.text("module"));
        if before.is_empty() || module.is_empty() {
            rows.text(("after", "之前"), before);
        } else {
            rows.text(("after", "之前"), &format!("{before} ({module})"));
        }
    }
}

fn data(rows: &mut Rows<'_>) {
    if let Some(fact) = rows.of("data_loader").next() {
        rows.heading((&fact.subject, &fact.subject), fact.source.as_ref());
        rows.number(("batch size", "批次大小"), fact.number("batch_size"));
        rows.number(("workers", "工作进程"), fact.number("workers"));
        rows.yes_no(("shuffled", "打乱"), fact.number("shuffle"));
    }
    if let Some(fact) = rows.of("inputs").next() {
        let batches = fact.number("batches");
        rows.number(("batches", "批次"), batches);
        let different = fact.number("different");
        rows.share(("different inputs", "不同输入"), different, batches);
    }
    if let Some(fact) = rows.of("targets").next() {
        rows.number(("classes seen", "出现的类别"), fact.number("classes_seen"));
        let class = fact.number("most_common");
        if let Some((class, share)) = class.zip(fact.number("most_common_share")) {
            let most = format!("{} ({})", trimmed(class, 6), percent(share));
            rows.text(("most common", "最常见类别"), &most);
        }
    }
}

fn passes(rows: &mut Rows<'_>) {
    if let Some(fact) = rows.of("gradients_kept").next() {
        let updates = fact.number("updates").filter(|updates| *updates > 0.0);
        let passes = fact.number("passes").zip(updates);
        let per_update = passes.map(|(passes, updates)| (passes / updates).round());
        rows.number(("passes per update", "每次更新的反向传播"), per_update);
    }
    if let Some(fact) = rows.of("module_modes").next() {
        let passes = fact.number("passes");
        let evaluation = fact.number("evaluation").unwrap_or(0.0);
        let training = passes.map(|passes| passes - evaluation);
        rows.share(("in training mode", "训练模式"), training, passes);
    }
    if let Some(fact) = rows.of("clipping").next() {
        let norm = fact.number("max_norm");
        rows.number(("gradients clipped at", "梯度裁剪阈值"), norm);
        rows.number(("loss scale", "损失缩放"), fact.number("scale"));
    }
    let mut lines: Vec<(u64, &RecordedFact)> = rows
        .of("time_by_line")
        .filter_map(|fact| Some((time_a_step(fact)?, fact)))
        .collect();
    lines.sort_by_key(|line| Reverse(line.0));
    if !lines.is_empty() {
        rows.heading(("time a step, by line", "每个迭代用时（按代码行）"), None);
    }
    for (time, fact) in lines.into_iter().take(MAX_LISTED) {
        rows.all.push(ProgramRow {
            part: rows.part,
            name: Sentence::new(&*fact.subject, &*fact.subject),
            value: Some(Sentence::new(nanos(time), nanos(time))),
            source: fact.source.clone(),
        });
    }
}

/// Time of a line in a step, nanoseconds.
fn time_a_step(fact: &RecordedFact) -> Option<u64> {
    let time = fact.number("seconds")? / fact.number("steps")?;
    let time = Duration::try_from_secs_f64(time).ok()?;
    u64::try_from(time.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use trainscope_format::float::Float;

    use super::*;

    #[test]
    fn the_first_rank_is_described_part_by_part() {
        let fact = |rank: u32, kind: &str, subject: &str, numbers: &[(&str, f64)]| RecordedFact {
            rank,
            kind: kind.into(),
            subject: subject.into(),
            numbers: numbers
                .iter()
                .map(|(name, number)| ((*name).into(), Float(*number)))
                .collect(),
            ..RecordedFact::default()
        };
        let facts = [
            fact(0, "data_loader", "Photos", &[("shuffle", 0.0)]),
            fact(0, "optimizer_settings", "Adam 0", &[("lr", 1e-3)]),
            fact(1, "optimizer_settings", "SGD 0", &[("lr", 1.0)]),
            fact(0, "reached", "", &[("trainable", 6.0), ("reached", 4.0)]),
        ];
        let told: Vec<String> = rows(&facts)
            .iter()
            .map(|row| match &row.value {
                Some(value) => format!("{} {}", row.name.en, value.en),
                None => row.name.zh.clone(),
            })
            .collect();
        let expected = [
            "trainable tensors 6",
            "reached by the loss 4 / 6",
            "Adam 0",
            "learning rate 0.001",
            "Photos",
            "shuffled no",
        ];
        assert_eq!(told, expected);
    }
}
