//! Tables of the summary: settings, first partings.

use std::sync::Arc;

use trainscope_api::compare::{Parting, Reading, Setting, SettingGroup};

use super::model::{Tab, use_model};
use super::parts::{difference, downloads, head, named, nothing, setting};
use trainscope_web_kit::components::RunChip;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// Number of settings on the summary; up to twice as many if they differ.
const FEW_SETTINGS: usize = 6;
/// Maximum number of partings in the table.
const FEW_PARTINGS: usize = 60;

/// Table with a column for each run and a row for each setting.
fn setting_rows(settings: &[Setting]) -> AnyView {
    let i18n = use_i18n();
    let model = use_model();
    let runs = model.runs.get();
    let heads = runs
        .iter()
        .map(|run| {
            let (id, name) = (run.clone(), run.clone());
            view! {
                <th title=run.clone()>
                    <span class="flex gap4">
                        <RunChip run=id />
                        <span class="cut" dir="auto">{model.name(&name)}</span>
                    </span>
                </th>
            }
        })
        .collect_view();
    let texts = i18n.texts().compare();
    let rows = settings
        .iter()
        .map(|entry| {
            let first = entry.values.first().and_then(Option::as_ref);
            let values = entry
                .values
                .iter()
                .enumerate()
                .map(|(at, value)| {
                    let text = setting(value.as_ref(), texts);
                    let is_equal = at > 0 && !entry.differs && value.as_ref() == first;
                    let is_missing = value.is_none();
                    let shown = if is_equal { "=".to_owned() } else { text.clone() };
                    view! {
                        <td class:med=entry.differs class:ink3={is_equal || is_missing} title=text dir="auto">
                            {shown}
                        </td>
                    }
                })
                .collect_view();
            let mark = if entry.differs { "≠" } else { "" };
            view! {
                <tr
                    class:ne={entry.differs && !entry.is_path}
                    data-key=entry.key.clone()
                    data-differs={(entry.differs && !entry.is_path).to_string()}
                >
                    <th scope="row" class="key" title=entry.key.clone()>
                        <span class="mark warn">{mark}</span>
                        <bdi>{entry.key.clone()}</bdi>
                    </th>
                    {values}
                </tr>
            }
        })
        .collect_view();
    view! {
        <table class="dense diff" data-part="setting-rows">
            <thead>
                <tr>
                    <th class="key">{texts.key}</th>
                    {heads}
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

/// Settings of the comparison; empty before the answer.
fn settings() -> Memo<Arc<Vec<Setting>>> {
    let model = use_model();
    Memo::new(move |_| {
        model.query.answer.with(|answer| {
            Arc::new(
                answer
                    .as_deref()
                    .map(|answer| answer.settings.clone())
                    .unwrap_or_default(),
            )
        })
    })
}

/// Number of settings that differ, without paths, and number of all settings.
fn counts(all: &[Setting]) -> (u64, u64) {
    let differ = all
        .iter()
        .filter(|setting| setting.differs && !setting.is_path)
        .count();
    (differ as u64, all.len() as u64)
}

/// The card of settings on the summary.
#[component]
pub(super) fn ConfigurationCard() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let all = settings();
    let beside = move || {
        let (differ, all) = all.with(|all| counts(all));
        (i18n.texts().compare().differ)(differ, all)
    };
    let content = move || {
        let all = all.get();
        let texts = i18n.texts().compare();
        if all.is_empty() {
            return nothing(|t| t.no_settings);
        }
        let is_path = |setting: &&Setting| setting.differs && setting.is_path;
        let paths = all.iter().filter(is_path).count() as u64;
        let plain: Vec<Setting> = all
            .iter()
            .filter(|setting| !is_path(setting))
            .cloned()
            .collect();
        let differ = plain.iter().filter(|setting| setting.differs).count();
        let most = FEW_SETTINGS.max(differ.min(2 * FEW_SETTINGS));
        let shown = &plain[..plain.len().min(most)];
        let more = (plain.len() - shown.len()) as u64;
        let are_equal = plain
            .iter()
            .skip(shown.len())
            .all(|setting| !setting.differs);
        let more = (more > 0).then(|| {
            if are_equal {
                (texts.equal_more)(more)
            } else {
                (i18n.texts().pipeline().more)(more)
            }
        });
        let lines = [more, (paths > 0).then(|| (texts.paths_differ)(paths))];
        let lines = lines
            .into_iter()
            .flatten()
            .map(|line| {
                view! {
                    <button
                        type="button"
                        class="link small below"
                        on:click=move |_| model.show_tab(Tab::Configuration)
                    >
                        {line}
                    </button>
                }
            })
            .collect_view();
        view! {
            {setting_rows(shown)}
            {lines}
        }
        .into_any()
    };
    view! {
        <section class="card" data-part="configuration">
            {head(move || i18n.texts().compare().configuration.to_owned(), beside, ().into_any())}
            {content}
        </section>
    }
}

/// All settings by group; the last group has the paths that differ.
#[component]
pub(super) fn AllSettings() -> impl IntoView {
    let i18n = use_i18n();
    let all = settings();
    let content = move || {
        let all = all.get();
        let texts = i18n.texts().compare();
        if all.is_empty() {
            return nothing(|t| t.no_settings);
        }
        let is_path = |setting: &Setting| setting.differs && setting.is_path;
        let mut parts: Vec<(String, Vec<Setting>)> = Vec::new();
        for (at, group) in [
            SettingGroup::Parameter,
            SettingGroup::Data,
            SettingGroup::Result,
        ]
        .into_iter()
        .enumerate()
        {
            let members = all
                .iter()
                .filter(|setting| setting.group == group && !is_path(setting));
            parts.push((texts.groups[at].to_owned(), members.cloned().collect()));
        }
        let paths: Vec<Setting> = all
            .iter()
            .filter(|setting| is_path(setting))
            .cloned()
            .collect();
        parts.push(((texts.paths_differ)(paths.len() as u64), paths));
        parts
            .into_iter()
            .filter(|(_, settings)| !settings.is_empty())
            .map(|(title, settings)| {
                view! {
                    <h3 class="part-head">{title}</h3>
                    {setting_rows(&settings)}
                }
            })
            .collect_view()
            .into_any()
    };
    let beside = move || {
        let (differ, all) = all.with(|all| counts(all));
        (i18n.texts().compare().differ)(differ, all)
    };
    let right = downloads("configuration", move || all.get_untracked().to_vec());
    view! {
        <section class="card scrolls" data-part="all-settings">
            {head(move || i18n.texts().compare().configuration.to_owned(), beside, right)}
            <div class="scroll">{content}</div>
        </section>
    }
}

/// Card of the first partings, with their total number.
#[component]
pub(super) fn FirstPartings() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let all = Memo::new(move |_| {
        Arc::new(
            model
                .with_other(|other| other.partings.clone())
                .unwrap_or_default(),
        )
    });
    let reading = Memo::new(move |_| {
        model
            .with_other(|other| other.reading == Reading::FirstStep)
            .unwrap_or_default()
    });
    let rows = move || {
        let all = all.get();
        if all.is_empty() {
            return nothing(|t| t.nothing_parts);
        }
        let texts = i18n.texts().compare();
        let rows = all
            .iter()
            .take(FEW_PARTINGS)
            .map(parting_row)
            .collect_view();
        view! {
            <table class="dense partings">
                <thead>
                    <tr>
                        <th class="num">{texts.step}</th>
                        <th>{texts.tensor}</th>
                        <th class="num">{texts.difference}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        }
        .into_any()
    };
    let beside = move || {
        let total = model
            .with_other(|other| other.total_partings)
            .unwrap_or_default();
        if total > 0 {
            format::count(total)
        } else {
            String::new()
        }
    };
    let right = downloads("partings", move || all.get_untracked().to_vec());
    view! {
        <section class="card scrolls" data-part="partings">
            {head(move || i18n.texts().compare().first_parting.to_owned(), beside, right)}
            <div class="scroll">{rows}</div>
            <Show when=move || reading.get()>
                <p class="small ink2 below">
                    {i18n.text(|t| t.compare().partings_first_step)} " "
                    <button type="button" class="link" on:click=move |_| model.read_all()>
                        {i18n.text(|t| t.compare().read_all)}
                    </button>
                </p>
            </Show>
        </section>
    }
}

fn parting_row(parting: &Parting) -> AnyView {
    let model = use_model();
    let (name, step) = (parting.name.clone(), parting.step);
    let key = (name.clone(), step);
    let is_chosen = Memo::new(move |_| model.place().as_ref() == Some(&key));
    let is_bad = !parting.difference.is_finite();
    let runs = untrack(|| model.runs.get());
    let base = runs.first().cloned().unwrap_or_default();
    let href = if parting.role.is_some() {
        let other = untrack(|| model.other.get()).unwrap_or_default();
        route::tensors_beside_href(&base, &other, &parting.name, parting.rank, parting.step)
    } else {
        route::scalars_href(&base, &runs, Some(&parting.name))
    };
    let choose = move |_| model.choose(&name, step);
    view! {
        <tr class:cur=move || is_chosen.get() on:click=choose>
            <td class="num ink2">{format::integer(parting.step)}</td>
            <td class="cut">
                <a class="plain" href=href title=parting.name.clone()>
                    <bdi>{named(&parting.name, parting.role)}</bdi>
                </a>
            </td>
            <td class="num" class:err=is_bad>
                {difference(parting.difference)}
            </td>
        </tr>
    }
    .into_any()
}
