//! Probes of the first batch: what failed, what passed, what could not be tried.

use trainscope_api::program::{ProgramFacts, RecordedFact};

use super::place_of;
use super::texts::{Both, TEXTS, both};
use trainscope_web_kit::components::{Icon, IconName};
use trainscope_web_kit::i18n::I18n;
use trainscope_web_kit::prelude::*;

/// Results in the order of the card, with their signs.
const RESULTS: [(&str, Both, &str, IconName); 3] = [
    ("failed", TEXTS.failed, "err", IconName::Error),
    ("not_tried", TEXTS.not_tried, "ink3", IconName::Gone),
    ("passed", TEXTS.passed, "okc", IconName::Ok),
];

/// The card; nothing without probes.
pub(super) fn view(facts: &ProgramFacts, i18n: I18n) -> Option<AnyView> {
    let probes = || facts.facts.iter().filter(|fact| fact.kind == "probe");
    probes().next()?;
    let of = |result: &str| {
        let all = probes().filter(|fact| fact.text("result") == result);
        all.collect::<Vec<&RecordedFact>>()
    };
    let groups = RESULTS.iter().map(|(result, title, class, icon)| {
        let probes = of(result);
        let rows = probes.iter().map(|fact| row(fact, class, *icon, i18n));
        let rows: Vec<AnyView> = rows.collect();
        let count = rows.len();
        view! {
            <div hidden={count == 0} data-result=*result>
                <h3>{title.read(i18n)} <span class="ink3">{count}</span></h3>
                <ul>{rows}</ul>
            </div>
        }
        .into_any()
    });
    let card = view! {
        <section class="card probes" data-part="probes">
            <div class="head ruled">
                <h2>{TEXTS.probes.read(i18n)}</h2>
                <span class="micro ink3 cut grow">{TEXTS.probes_of.read(i18n)}</span>
            </div>
            <div class="columns">{groups.collect::<Vec<AnyView>>()}</div>
        </section>
    };
    Some(card.into_any())
}

fn row(fact: &RecordedFact, class: &'static str, icon: IconName, i18n: I18n) -> AnyView {
    view! {
        <li>
            <span class=class>
                <Icon name=icon size=13 />
            </span>
            <span>
                <b>{name(&fact.subject, i18n)}</b>
                {fact.text("says").to_owned()}
                " "
                {fact.source.as_ref().map(place_of)}
            </span>
        </li>
    }
    .into_any()
}

/// Title of a probe; one that is not known keeps its name.
fn name(probe: &str, i18n: I18n) -> String {
    let known = NAMES.iter().find(|(name, _)| *name == probe);
    known.map_or_else(
        || probe.to_owned(),
        |(_, title)| title.read(i18n).to_owned(),
    )
}

const NAMES: [(&str, Both); 13] = [
    ("finite", both("Finite outputs", "输出有限")),
    ("initial_loss", both("Initial loss", "初始损失")),
    (
        "batch_dependence",
        both("Samples are independent", "样本相互独立"),
    ),
    (
        "future",
        both("Later positions are hidden", "看不到之后的位置"),
    ),
    (
        "context",
        both("Earlier positions are used", "使用之前的位置"),
    ),
    (
        "input_dependence",
        both("Every input matters", "每个输入都有作用"),
    ),
    ("two_evaluations", both("Evaluation repeats", "评估可重复")),
    ("reach", both("Reach of the loss", "损失可达范围")),
    ("one_update", both("One update", "一次更新")),
    (
        "one_batch",
        both("One batch can be learned", "可学会一个批次"),
    ),
    ("rates", both("Range of learning rates", "学习率范围")),
    ("precision", both("Precision", "精度")),
    ("memory", both("Memory", "内存")),
];
