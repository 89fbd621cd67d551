//! Cards about the program: recorded facts about model, optimizer, loss, data and modes, with the results of their
//! rules.
//!
//! They are shown if facts were recorded.

mod chain;
mod probes;
mod texts;

use trainscope_api::findings::{Findings, Remark, RemarkState};
use trainscope_api::program::{ProgramFacts, ProgramPart, ProgramRow};
use trainscope_format::SourceLine;

use super::checks;
use super::model::Model;
use crate::advice::advice_on;
use crate::excerpt::{file_name, source_excerpt};
use trainscope_web_kit::components::{Icon, IconName};
use trainscope_web_kit::i18n::{I18n, use_i18n};
use trainscope_web_kit::prelude::*;

use texts::{Both, TEXTS};

/// Columns of the card: the description of a part, with the results of its rules below.
const COLUMNS: [(ProgramPart, Both); 5] = [
    (ProgramPart::Model, TEXTS.model),
    (ProgramPart::Optimizer, TEXTS.optimizer),
    (ProgramPart::Loss, TEXTS.losses),
    (ProgramPart::Data, TEXTS.data),
    (ProgramPart::Loop, TEXTS.passes),
];

/// Line of the first cause, if the lines around it were recorded.
pub(super) fn source_of(found: &Findings) -> Option<&SourceLine> {
    let source = found.first_cause.as_ref()?.hit.source.as_ref()?;
    (!source.excerpt.is_empty()).then_some(source)
}

/// Card with the line of the first cause and the advice; nothing if the line is unknown.
pub(super) fn cause(model: Model) -> AnyView {
    let i18n = use_i18n();
    let card = move || {
        let found = model.findings.get()?;
        let source = source_of(&found)?;
        let cause = found.first_cause.as_ref()?;
        let advice = advice_on(&found, &cause.hit).map(|words| {
            view! {
                <section class="card">
                    <div class="head ruled">
                        <h2>{TEXTS.advice.read(i18n)}</h2>
                    </div>
                    <div class="body small">{i18n.words(words)}</div>
                </section>
            }
        });
        Some(view! {
            <div class="at-line" data-part="cause">
                <section class="card">
                    {source_excerpt(source)}
                    <p class="micro ink3">{TEXTS.source.read(i18n)}</p>
                </section>
                {advice}
            </div>
        })
    };
    view! { {card} }.into_any()
}

/// The cards; nothing without facts.
pub(super) fn view(model: Model) -> AnyView {
    let i18n = use_i18n();
    view! {
        {move || model.program.get().map(|facts| chain::view(&facts.chain, i18n))}
        {move || model.program.get().map(|facts| probes::view(&facts.probes, i18n))}
        {move || {
            let facts = model.program.get()?;
            let shown = facts.facts.iter().any(|fact| fact.kind != "probe" && fact.kind != "chain_to_loss");
            shown.then(|| card(&facts, model.findings.get().as_deref(), i18n))
        }}
    }
    .into_any()
}

fn card(facts: &ProgramFacts, findings: Option<&Findings>, i18n: I18n) -> AnyView {
    let remarks = findings
        .map(|findings| &*findings.remarks)
        .unwrap_or_default();
    let is_found = |remark: &&Remark| remark.part.is_some() && remark.state >= RemarkState::Fault;
    let found = remarks.iter().filter(is_found).count();
    let environment = facts.facts.iter().find(|fact| fact.kind == "environment");
    let command = environment.map(|fact| fact.text("command").to_owned());
    let columns = COLUMNS.iter().map(|(part, title)| {
        let rows = facts.description.iter().filter(|row| row.part == *part);
        let described = rows.map(|row| figure(row, i18n)).collect();
        let results = remarks.iter().filter(|remark| remark.part == Some(*part));
        column(*title, described, &results.collect::<Vec<&Remark>>(), i18n)
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

/// A heading with its line, or a name with a value.
fn figure(row: &ProgramRow, i18n: I18n) -> AnyView {
    let name = i18n.words(&row.name);
    match &row.value {
        None => view! {
            <dt class="of">{name}</dt>
            <dd>{row.source.as_ref().map(place_of)}</dd>
        }
        .into_any(),
        Some(value) => view! {
            <dt title=row.source.as_ref().map(|source| source.file.clone())>{name}</dt>
            <dd>{i18n.words(value)}</dd>
        }
        .into_any(),
    }
}

fn column(title: Both, described: Vec<AnyView>, rows: &[&Remark], i18n: I18n) -> AnyView {
    let (class, icon) = checks::sign(state_of(rows.iter().map(|remark| remark.state)));
    let (unjudged, judged): (Vec<&Remark>, Vec<&Remark>) = rows
        .iter()
        .partition(|remark| remark.state == RemarkState::Unknown);
    let judged = judged.into_iter().map(|remark| row(remark, i18n));
    let titles: Vec<String> = unjudged
        .iter()
        .map(|remark| i18n.words(&remark.title))
        .collect();
    let open = (!titles.is_empty()).then(|| {
        view! {
            <p class="micro ink3" title=titles.join(i18n.texts().overview().gap)>
                {texts::unjudged(titles.len(), i18n)}
            </p>
        }
    });
    view! {
        <div>
            <h3>
                <span class=class>
                    <Icon name=icon size=13 />
                </span>
                {title.read(i18n)}
            </h3>
            <dl class="kv">{described}</dl>
            <ul>{judged.collect::<Vec<AnyView>>()}</ul>
            {open}
        </div>
    }
    .into_any()
}

/// Worst result of a column. Rules that were not judged prevent the tick.
fn state_of(mut states: impl Iterator<Item = RemarkState> + Clone) -> RemarkState {
    let worst = states.clone().max().unwrap_or(RemarkState::Unknown);
    let is_whole = !states.any(|state| state == RemarkState::Unknown);
    if is_whole || worst > RemarkState::Fine {
        worst
    } else {
        RemarkState::Unknown
    }
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
            <span>{i18n.words(&remark.sentence)} " " {place.map(place_of)}</span>
        </li>
    }
    .into_any()
}

/// File name and line; the tooltip shows the path.
pub(super) fn place_of(source: &SourceLine) -> AnyView {
    let text = format!("{}:{}", file_name(&source.file), source.line);
    view! { <code title=source.file.clone()>{text}</code> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_judged_is_no_tick() {
        use RemarkState::{Fault, Fine, Note, Unknown};
        for (states, expected) in [
            (&[][..], Unknown),
            (&[Fine, Fine], Fine),
            (&[Fine, Unknown], Unknown),
            (&[Note, Unknown], Note),
            (&[Fine, Fault, Unknown], Fault),
        ] {
            assert_eq!(state_of(states.iter().copied()), expected, "{states:?}");
        }
    }
}
