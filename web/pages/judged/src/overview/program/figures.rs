//! Rows of names and values from facts.

use trainscope_api::program::{ProgramFacts, RecordedFact};
use trainscope_format::SourceLine;

use super::place_of;
use super::texts::{Both, TEXTS};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::I18n;
use trainscope_web_kit::prelude::*;

/// Losses and groups of optimizers that are listed; the others are counted by the API.
const MOST: usize = 4;

/// A row: a heading with its line, or a name with a value.
pub(super) enum Figure {
    Heading(String, Option<SourceLine>),
    Value(Both, Value),
}

/// A value of a row.
pub(super) enum Value {
    Text(String),
    Word(Both),
}

impl Figure {
    pub(super) fn view(self, i18n: I18n) -> AnyView {
        match self {
            Self::Heading(name, source) => view! {
                <dt class="of">{name}</dt>
                <dd>{source.as_ref().map(place_of)}</dd>
            }
            .into_any(),
            Self::Value(name, value) => {
                let value = match value {
                    Value::Text(text) => text,
                    Value::Word(word) => word.read(i18n).to_owned(),
                };
                view! {
                    <dt>{name.read(i18n)}</dt>
                    <dd>{value}</dd>
                }
                .into_any()
            }
        }
    }
}

/// Facts of a kind of the first rank that has any: ranks run the same program.
fn of_kind<'a>(facts: &'a ProgramFacts, kind: &'a str) -> impl Iterator<Item = &'a RecordedFact> {
    let mut all = facts
        .facts
        .iter()
        .filter(move |fact| fact.kind == kind)
        .peekable();
    let rank = all.peek().map(|fact| fact.rank);
    all.filter(move |fact| Some(fact.rank) == rank)
}

fn text(name: Both, text: impl Into<String>) -> Option<Figure> {
    let text = text.into();
    (!text.is_empty()).then_some(Figure::Value(name, Value::Text(text)))
}

fn number(name: Both, value: Option<f64>) -> Option<Figure> {
    text(name, format::cell(value?))
}

/// `a of b`, without `b` if both are equal.
fn part(name: Both, part: Option<f64>, whole: Option<f64>) -> Option<Figure> {
    let (part, whole) = (format::cell(part?), format::cell(whole?));
    let words = if part == whole {
        whole
    } else {
        format!("{part} / {whole}")
    };
    text(name, words)
}

pub(super) fn of_model(facts: &ProgramFacts) -> Vec<Figure> {
    let mut rows = Vec::new();
    for fact in of_kind(facts, "reached").take(MOST) {
        if !fact.subject.is_empty() {
            rows.push(Figure::Heading(fact.subject.clone(), None));
        }
        let trainable = fact.number("trainable");
        rows.extend(number(TEXTS.trainable, trainable));
        rows.extend(part(TEXTS.reached, fact.number("reached"), trainable));
    }
    let seeds = of_kind(facts, "seeds").next();
    rows.extend(seeds.and_then(|fact| number(TEXTS.seeds, fact.number("calls"))));
    if let Some(fact) = of_kind(facts, "environment").next() {
        rows.extend(text(TEXTS.versions, fact.text("torch")));
        let commit = fact.text("commit").chars().take(10).collect::<String>();
        rows.extend(text(TEXTS.commit, commit));
    }
    rows
}

pub(super) fn of_optimizers(facts: &ProgramFacts) -> Vec<Figure> {
    let mut rows = Vec::new();
    for fact in of_kind(facts, "optimizer_settings").take(MOST) {
        rows.push(Figure::Heading(fact.subject.clone(), fact.source.clone()));
        rows.extend(number(TEXTS.rate, fact.number("lr")));
        rows.extend(number(TEXTS.decay, fact.number("weight_decay")));
    }
    let held = of_kind(facts, "optimizer_parameters").next();
    rows.extend(held.and_then(|fact| number(TEXTS.tensors, fact.number("held"))));
    rows
}

pub(super) fn of_losses(facts: &ProgramFacts) -> Vec<Figure> {
    let mut rows = Vec::new();
    for fact in of_kind(facts, "loss_function").take(MOST) {
        rows.push(Figure::Heading(fact.subject.clone(), fact.source.clone()));
        let (outputs, targets) = (fact.text("outputs_shape"), fact.text("targets_shape"));
        let shapes = [outputs, targets].map(|shape| shape.replace(", ", " × "));
        let shapes = shapes.into_iter().filter(|shape| !shape.is_empty());
        rows.extend(text(TEXTS.against, shapes.collect::<Vec<_>>().join(", ")));
        let module = fact.text("module");
        let before = match fact.text("before") {
            "" => String::new(),
            function if module.is_empty() => function.to_owned(),
            function => format!("{function} ({module})"),
        };
        rows.extend(text(TEXTS.before, before));
    }
    rows
}

pub(super) fn of_data(facts: &ProgramFacts) -> Vec<Figure> {
    let mut rows = Vec::new();
    if let Some(fact) = of_kind(facts, "data_loader").next() {
        rows.push(Figure::Heading(fact.subject.clone(), fact.source.clone()));
        rows.extend(number(TEXTS.batch, fact.number("batch_size")));
        rows.extend(number(TEXTS.workers, fact.number("workers")));
        let shuffled = fact.number("shuffle").map(|own| own > 0.0);
        let word = shuffled.map(|yes| if yes { TEXTS.yes } else { TEXTS.no });
        rows.extend(word.map(|word| Figure::Value(TEXTS.shuffled, Value::Word(word))));
    }
    if let Some(fact) = of_kind(facts, "inputs").next() {
        let batches = fact.number("batches");
        rows.extend(number(TEXTS.batches, batches));
        rows.extend(part(TEXTS.different, fact.number("different"), batches));
    }
    if let Some(fact) = of_kind(facts, "targets").next() {
        rows.extend(number(TEXTS.classes, fact.number("classes_seen")));
        let most = fact
            .number("most_common")
            .zip(fact.number("most_common_share"));
        let most = most
            .map(|(class, share)| format!("{} ({})", format::cell(class), format::percent(share)));
        rows.extend(most.and_then(|most| text(TEXTS.most_common, most)));
    }
    rows
}

pub(super) fn of_passes(facts: &ProgramFacts) -> Vec<Figure> {
    let mut rows = Vec::new();
    if let Some(fact) = of_kind(facts, "gradients_kept").next() {
        let per_update = fact.number("passes").zip(fact.number("updates"));
        let per_update = per_update.filter(|own| own.1 > 0.0);
        rows.extend(number(
            TEXTS.passes_an_update,
            per_update.map(|(passes, updates)| (passes / updates).round()),
        ));
    }
    if let Some(fact) = of_kind(facts, "module_modes").next() {
        let passes = fact.number("passes");
        let evaluation = fact.number("evaluation").unwrap_or(0.0);
        let training = passes.map(|passes| passes - evaluation);
        rows.extend(part(TEXTS.training_mode, training, passes));
    }
    if let Some(fact) = of_kind(facts, "clipping").next() {
        rows.extend(number(TEXTS.max_norm, fact.number("max_norm")));
        rows.extend(number(TEXTS.loss_scale, fact.number("scale")));
    }
    rows
}
