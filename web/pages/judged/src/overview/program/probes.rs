//! Checks of the first batch: failed, not tried and passed ones.

use trainscope_api::program::{Probe, ProbeResult};

use super::place_of;
use super::texts::{Both, TEXTS};
use trainscope_web_kit::components::{Icon, IconName};
use trainscope_web_kit::i18n::I18n;
use trainscope_web_kit::prelude::*;

/// Results in the order of the card, with their signs.
const RESULTS: [(ProbeResult, &str, Both, &str, IconName); 3] = [
    (
        ProbeResult::Failed,
        "failed",
        TEXTS.failed,
        "err",
        IconName::Error,
    ),
    (
        ProbeResult::NotTried,
        "not_tried",
        TEXTS.not_tried,
        "ink3",
        IconName::Gone,
    ),
    (
        ProbeResult::Passed,
        "passed",
        TEXTS.passed,
        "okc",
        IconName::Ok,
    ),
];

/// The card; nothing without checks.
pub(super) fn view(probes: &[Probe], i18n: I18n) -> Option<AnyView> {
    probes.first()?;
    let groups = RESULTS.iter().map(|(result, id, title, class, icon)| {
        let rows = probes.iter().filter(|probe| probe.result == *result);
        let rows: Vec<AnyView> = rows.map(|probe| row(probe, class, *icon, i18n)).collect();
        let count = rows.len();
        view! {
            <div hidden={count == 0} data-result=*id>
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

fn row(probe: &Probe, class: &'static str, icon: IconName, i18n: I18n) -> AnyView {
    view! {
        <li>
            <span class=class>
                <Icon name=icon size=13 />
            </span>
            <span>
                <b>{i18n.words(&probe.name)}</b>
                {probe.says.clone()}
                " "
                {probe.source.as_ref().map(place_of)}
            </span>
        </li>
    }
    .into_any()
}
