//! Choice of a run to add. Runs of the same folder and with the fewest different settings come first.

use std::collections::BTreeSet;
use std::sync::Arc;

use trainscope_api::filter::contains;
use trainscope_api::runs::Run;

use super::model::use_model;
use trainscope_web_kit::components::{IconName, Popover, RunChip, StatePage, fixed_icon};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::run_name::split_name;
use trainscope_web_kit::state::use_runs;

/// Maximum number of runs in the list.
const MAX_LISTED: usize = 50;

/// Runs to choose from, the nearest first, each with the number of settings that differ from the first chosen run.
fn nearest(all: &[Run], chosen: &[String], search: &str) -> Vec<(String, u64)> {
    let wanted = search.trim().to_lowercase();
    let first = chosen
        .first()
        .and_then(|first| all.iter().find(|run| run.id == *first));
    let folder = first.map(|first| split_name(&first.id).0);
    let differing = |run: &Run| {
        let Some(first) = first else { return 0 };
        let keys: BTreeSet<&String> = first.hparams.keys().chain(run.hparams.keys()).collect();
        let differ = |key: &&&String| first.hparams.get(**key) != run.hparams.get(**key);
        keys.iter().filter(differ).count() as u64
    };
    let mut runs: Vec<(bool, u64, f64, &Run)> = all
        .iter()
        .filter(|run| !chosen.contains(&run.id) && contains(&run.id, &wanted))
        .map(|run| {
            let is_elsewhere = folder.is_some_and(|folder| split_name(&run.id).0 != folder);
            let started = |run: &Run| run.first_wall_time_secs.unwrap_or_default();
            let distance = first.map_or(-started(run), |first| {
                let lead = started(first) - started(run);
                // An earlier run comes before a later one.
                if lead >= 0.0 { lead } else { 1e9 - lead }
            });
            (is_elsewhere, differing(run), distance, run)
        })
        .collect();
    runs.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
    runs.into_iter()
        .take(MAX_LISTED)
        .map(|(_, differ, _, run)| (run.id.clone(), differ))
        .collect()
}

/// A list of runs to add.
#[component]
fn RunList() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let runs = use_runs();
    let search = RwSignal::new(String::new());
    let rows = Memo::new(move |_| {
        let chosen = model.runs.get();
        runs.with(|list| Arc::new(nearest(&list.runs, &chosen, &search.get())))
    });
    let rows = move || {
        let has_first = model.runs.with(|runs| !runs.is_empty());
        rows.get()
            .iter()
            .map(|(run, differ)| {
                let (added, differ) = (run.clone(), *differ);
                let add = move |_| {
                    let mut runs = model.runs.get_untracked();
                    runs.push(added.clone());
                    model.set_runs(&runs);
                };
                view! {
                    <li>
                        <button type="button" class="hit run-choice" on:click=add>
                            <RunChip run=run.clone() />
                            <span class="cut" dir="auto">{run.clone()}</span>
                            <span class="grow"></span>
                            {has_first
                                .then(|| {
                                    view! {
                                        <span class="micro ink3">
                                            {move || (i18n.texts().compare().differing)(differ)}
                                        </span>
                                    }
                                })}
                        </button>
                    </li>
                }
            })
            .collect_view()
    };
    view! {
        <input
            class="field run-search"
            type="search"
            autocomplete="off"
            spellcheck="false"
            placeholder=i18n.text(|t| t.frame().find_run)
            aria-label=i18n.text(|t| t.frame().find_run)
            prop:value=move || search.get()
            on:input=move |event| search.set(event_target_value(&event))
        />
        <ul class="run-choices" data-part="choices">
            {rows}
        </ul>
    }
}

/// The button that opens the list.
#[component]
pub(super) fn RunMenu() -> impl IntoView {
    let i18n = use_i18n();
    let is_open = RwSignal::new(false);
    view! {
        <Popover
            is_open
            label=i18n.label(|t| t.compare().add)
            class="btn bare"
            face=ViewFn::from(move || {
                view! {
                    {fixed_icon(IconName::Plus, 14)}
                    {i18n.text(|t| t.compare().add)}
                }
            })
        >
            <RunList />
        </Popover>
    }
}

/// The page with fewer than two runs.
#[component]
pub(super) fn Choose() -> impl IntoView {
    let i18n = use_i18n();
    let runs = use_runs();
    let is_alone = Memo::new(move |_| runs.with(|list| list.runs.len() == 1));
    let model = use_model();
    let has_first = Memo::new(move |_| model.runs.with(|runs| !runs.is_empty()));
    let title = Signal::derive(move || {
        let texts = i18n.texts().compare();
        if is_alone.get() {
            texts.alone
        } else if has_first.get() {
            texts.choose_other
        } else {
            texts.choose
        }
        .to_owned()
    });
    let next = Signal::derive(move || {
        let texts = i18n.texts().compare();
        if is_alone.get() {
            texts.alone_next
        } else if has_first.get() {
            texts.choose_other_next
        } else {
            texts.choose_next
        }
        .to_owned()
    });
    view! {
        <StatePage icon=IconName::Compare title next>
            <RunList />
        </StatePage>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_format::hparams::HparamValue;

    #[test]
    fn the_nearest_by_folder_and_settings_come_first() {
        let run = |id: &str, lr: f64, started: f64| Run {
            id: id.to_owned(),
            hparams: [("lr".to_owned(), HparamValue::Number(lr))].into(),
            first_wall_time_secs: Some(started),
            ..Run::default()
        };
        let all = [
            run("mlp/a", 0.1, 1.0),
            run("mlp/b", 0.2, 2.0),
            run("mlp/c", 0.1, 3.0),
            run("cnn/d", 0.1, 4.0),
        ];
        let names = |chosen: &str| -> Vec<String> {
            let near = nearest(&all, &[chosen.to_owned()], "");
            near.into_iter().map(|(id, _)| id).collect()
        };
        assert_eq!(names("mlp/c"), ["mlp/a", "mlp/b", "cnn/d"]);
        assert_eq!(nearest(&all, &["mlp/c".to_owned()], "")[1].1, 1);
        assert_eq!(nearest(&all, &[], " CNN ")[0].0, "cnn/d");
    }
}
