//! The tab of configurations: settings by group, and the changed lines of configuration files.

use std::sync::Arc;

use trainscope_api::compare::{ConfigurationFile, LineSide};

use super::model::use_model;
use super::parts::head;
use super::tables::AllSettings;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

#[component]
pub(super) fn ConfigurationTab() -> impl IntoView {
    let model = use_model();
    let files = Memo::new(move |_| {
        model.query.answer.with(|answer| {
            Arc::new(
                answer
                    .as_deref()
                    .map(|answer| answer.files.clone())
                    .unwrap_or_default(),
            )
        })
    });
    let cards = move || files.get().iter().map(file_card).collect_view();
    view! {
        <div class="stack scroll">
            <AllSettings />
            {cards}
        </div>
    }
}

fn file_card(file: &ConfigurationFile) -> AnyView {
    let i18n = use_i18n();
    let model = use_model();
    let names = format!("{} → {}", model.name(&model.base()), model.name(&file.run));
    let number = |line: Option<u64>| line.map(|line| line.to_string()).unwrap_or_default();
    let lines = file
        .lines
        .iter()
        .map(|line| {
            let (class, sign) = match line.side {
                LineSide::Both => ("", " "),
                LineSide::Base => ("removed", "−"),
                LineSide::Other => ("added", "+"),
            };
            view! {
                <tr class=class>
                    <td class="num ink3">{number(line.base_line)}</td>
                    <td class="num ink3">{number(line.other_line)}</td>
                    <td class="code">
                        <span class="sign">{sign}</span>
                        {line.text.clone()}
                    </td>
                </tr>
            }
        })
        .collect_view();
    let content = if file.lines.is_empty() {
        view! { <p class="small ink3 empty-part">{i18n.text(|t| t.compare().same_file)}</p> }
            .into_any()
    } else {
        view! {
            <table class="lines mono">
                <tbody>{lines}</tbody>
            </table>
        }
        .into_any()
    };
    let path = file.path.clone();
    view! {
        <section class="card" data-part="file">
            {head(move || path.clone(), move || names.clone(), ().into_any())}
            {content}
        </section>
    }
    .into_any()
}
