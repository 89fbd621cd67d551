//! The program: what the collector has seen of model, optimizer, loss, data and modes, and what the rules say of each.
//!
//! The card is there if facts were recorded, or if a rule about the program has found something.

mod figures;
mod probes;
mod texts;

use trainscope_api::findings::{Findings, Remark, RemarkState};
use trainscope_api::program::ProgramFacts;
use trainscope_format::SourceLine;

use super::checks;
use super::model::Model;
use crate::excerpt::source_excerpt;
use trainscope_web_kit::components::{Icon, IconName};
use trainscope_web_kit::i18n::{I18n, use_i18n};
use trainscope_web_kit::prelude::*;

use figures::Figure;
use texts::{Both, TEXTS};

/// A column of the card: what the facts say, and the rules whose results stand below it.
struct Column {
    title: Both,
    figures: fn(&ProgramFacts) -> Vec<Figure>,
    rules: &'static [&'static str],
}

const COLUMNS: [Column; 5] = [
    Column {
        title: TEXTS.model,
        figures: figures::of_model,
        rules: &[
            "parameters_not_reached",
            "parameters_not_registered",
            "nothing_loaded",
            "tie_broken",
            "embedding_one_row",
        ],
    },
    Column {
        title: TEXTS.optimizer,
        figures: figures::of_optimizers,
        rules: &[
            "settings",
            "optimizer_parameters",
            "learning_rate_gone",
            "update_rounded_away",
        ],
    },
    Column {
        title: TEXTS.losses,
        figures: figures::of_losses,
        rules: &[
            "loss_activation",
            "broadcast",
            "loss_without_gradient",
            "target_scale",
        ],
    },
    Column {
        title: TEXTS.data,
        figures: figures::of_data,
        rules: &[
            "one_label",
            "labels_shifted",
            "label_in_features",
            "input_scale",
            "shuffling",
            "seeded_in_loop",
        ],
    },
    Column {
        title: TEXTS.passes,
        figures: figures::of_passes,
        rules: &[
            "evaluation_mode",
            "gradients_not_cleared",
            "gradients_cleared_between",
            "clipped_before_unscaling",
            "clipped_nothing",
            "loss_scale_collapsed",
        ],
    },
];

/// The line of the first cause with what to do; nothing if no line is known.
pub(super) fn cause(model: Model) -> AnyView {
    let i18n = use_i18n();
    let card = move || {
        let found = model.findings.get()?;
        let cause = found.first_cause.as_ref()?;
        let source = cause
            .hit
            .source
            .as_ref()
            .filter(|own| !own.excerpt.is_empty())?;
        let advice = i18n.words(&cause.advice);
        Some(view! {
            <div class="at-line" data-part="cause">
                <section class="card">
                    {source_excerpt(source)}
                    <p class="micro ink3">{TEXTS.source.read(i18n)}</p>
                </section>
                <section class="card">
                    <div class="head ruled">
                        <h2>{TEXTS.advice.read(i18n)}</h2>
                    </div>
                    <div class="body small">{advice}</div>
                </section>
            </div>
        })
    };
    view! { {card} }.into_any()
}

/// The cards; nothing without facts.
pub(super) fn view(model: Model) -> AnyView {
    let i18n = use_i18n();
    view! {
        {move || model.program.get().map(|facts| probes::view(&facts, i18n))}
        {move || {
            let facts = model.program.get()?;
            let shown = facts.facts.iter().any(|fact| fact.kind != "probe");
            shown.then(|| card(&facts, model.findings.get().as_deref(), i18n))
        }}
    }
    .into_any()
}

fn card(facts: &ProgramFacts, findings: Option<&Findings>, i18n: I18n) -> AnyView {
    let remarks = findings.map(|own| &*own.remarks).unwrap_or_default();
    let is_found = |remark: &&Remark| {
        let mut all = COLUMNS.iter().flat_map(|column| column.rules);
        remark.state >= RemarkState::Fault && all.any(|rule| *rule == remark.rule)
    };
    let found = remarks.iter().filter(is_found).count();
    let environment = facts.facts.iter().find(|fact| fact.kind == "environment");
    let command = environment.map(|fact| fact.text("command").to_owned());
    let columns = COLUMNS.iter().map(|column| {
        let of_rule = |rule: &&'static str| remarks.iter().find(|own| own.rule == **rule);
        let rows: Vec<&Remark> = column.rules.iter().filter_map(of_rule).collect();
        one(column, facts, &rows, i18n)
    });
    view! {
        <section class="card program" data-part="program">
            <div class="head ruled">
                <h2>{TEXTS.title.read(i18n)}</h2>
                <span class="micro ink3 mono cut grow">{command}</span>
                {(found > 0)
                    .then(|| {
                        view! {
                            <span class="flex small warn">
                                <Icon name=IconName::Warning size=14 />
                                {texts::found(found, i18n)}
                            </span>
                        }
                    })}
            </div>
            <div class="columns">{columns.collect::<Vec<AnyView>>()}</div>
        </section>
    }
    .into_any()
}

fn one(column: &Column, facts: &ProgramFacts, rows: &[&Remark], i18n: I18n) -> AnyView {
    let worst = rows.iter().map(|own| own.state).max();
    let (class, icon) = checks::sign(worst.unwrap_or(RemarkState::Unknown));
    let figures = (column.figures)(facts)
        .into_iter()
        .map(|own| own.view(i18n));
    let judged = rows.iter().filter(|own| own.state != RemarkState::Unknown);
    let judged = judged.map(|own| row(own, i18n));
    view! {
        <div>
            <h3>
                <span class=class>
                    <Icon name=icon size=13 />
                </span>
                {column.title.read(i18n)}
            </h3>
            <dl class="kv">{figures.collect::<Vec<AnyView>>()}</dl>
            <ul>{judged.collect::<Vec<AnyView>>()}</ul>
        </div>
    }
    .into_any()
}

fn row(remark: &Remark, i18n: I18n) -> AnyView {
    let (class, icon) = checks::sign(remark.state);
    let place = remark
        .source
        .as_ref()
        .filter(|_| remark.state > RemarkState::Fine);
    view! {
        <li data-rule=remark.rule.clone()>
            <span class=class>
                <Icon name=icon size=13 />
            </span>
            <span>{i18n.words(&remark.sentence)} {place.map(place_of)}</span>
        </li>
    }
    .into_any()
}

/// Name of the file and line; the path is shown when it is pointed at.
pub(super) fn place_of(source: &SourceLine) -> AnyView {
    let name = source.file.rsplit(['/', '\\']).next().unwrap_or_default();
    let text = format!("{name}:{}", source.line);
    view! { <code title=source.file.clone()>{text}</code> }.into_any()
}
