//! Choice of a run to add. Those most like the first chosen run come first.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use trainscope_api::filter::contains;
use trainscope_api::runs::Run;
use trainscope_format::hparams::HparamValue;

use super::model::use_model;
use trainscope_web_kit::components::{IconName, Popover, RunChip, StatePage, fixed_icon};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::run_name::split_name;
use trainscope_web_kit::state::use_runs;

/// Maximum number of runs in the list.
const MAX_LISTED: usize = 50;

/// Tags of the curves that stand for a run.
fn tags(run: &Run) -> impl Iterator<Item = &str> {
    let shown = [&run.loss, &run.metric].into_iter().flatten();
    shown.map(|last| &*last.tag)
}

/// Number of leading folders of both names.
fn common_folders(one: &str, other: &str) -> usize {
    let folders = |run| split_name(run).0.split('/').filter(|name| !name.is_empty());
    let both = folders(one).zip(folders(other));
    both.take_while(|(one, other)| one == other).count()
}

/// Runs to choose from, each with the number of settings that differ from the first chosen run. Those with a tag in
/// common come first; of these the same folder, the most common folders, the most tags, kinds and settings in common,
/// the fewest settings that differ, and the one before in time.
fn nearest(all: &[Run], chosen: &[String], search: &str) -> Vec<(String, u64)> {
    let wanted = search.trim().to_lowercase();
    let first = chosen
        .first()
        .and_then(|first| all.iter().find(|run| run.id == *first));
    let differing = |run: &Run| {
        let Some(first) = first else { return 0 };
        let keys: BTreeSet<&String> = first.hparams.keys().chain(run.hparams.keys()).collect();
        let differ = |key: &&&String| first.hparams.get(**key) != run.hparams.get(**key);
        keys.iter().filter(differ).count() as u64
    };
    let mut runs: Vec<_> = all
        .iter()
        .filter(|run| !chosen.contains(&run.id) && contains(&run.id, &wanted))
        .map(|run| {
            let started = |run: &Run| run.first_wall_time_secs.unwrap_or_default();
            let distance = first.map_or(-started(run), |first| {
                let lead = started(first) - started(run);
                // An earlier run comes before a later one.
                if lead >= 0.0 { lead } else { 1e9 - lead }
            });
            let differ = differing(run);
            let likeness = first.map(|first| {
                let common = tags(first).filter(|tag| tags(run).any(|other| other == *tag));
                let common = common.count();
                let kinds = first
                    .kinds
                    .keys()
                    .filter(|kind| run.kinds.contains_key(*kind));
                let equal =
                    |(key, value): &(&String, &HparamValue)| run.hparams.get(*key) == Some(*value);
                let settings = first.hparams.iter().filter(equal);
                (
                    common > 0,
                    split_name(&first.id).0 == split_name(&run.id).0,
                    common_folders(&first.id, &run.id),
                    common + kinds.count() + settings.count(),
                )
            });
            ((Reverse(likeness), differ), distance, run)
        })
        .collect();
    runs.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    runs.into_iter()
        .take(MAX_LISTED)
        .map(|((_, differ), _, run)| (run.id.clone(), differ))
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
    use trainscope_api::runs::LastValue;

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

    #[test]
    fn a_run_without_a_common_tag_comes_after_those_with_one() {
        let run = |id: &str, loss: &str, batch: Option<f64>, started: f64| Run {
            id: id.to_owned(),
            loss: (!loss.is_empty()).then(|| LastValue {
                tag: loss.to_owned(),
                rank: 0,
                step: 0,
                value: 0.0,
            }),
            hparams: batch
                .map(|batch| ("batch".to_owned(), HparamValue::Number(batch)))
                .into_iter()
                .collect(),
            first_wall_time_secs: Some(started),
            ..Run::default()
        };
        let all = [
            run("lab/a/1", "loss", Some(8.0), 9.0),
            run("lab/a/profile", "", None, 8.0),
            run("lab/a/2", "loss", Some(16.0), 1.0),
            run("lab/b/1", "loss", Some(8.0), 7.0),
            run("other/1", "loss", Some(8.0), 8.5),
            run("cnn", "train/loss", Some(8.0), 8.9),
        ];
        let near = nearest(&all, &["lab/a/1".to_owned()], "");
        let names: Vec<&str> = near.iter().map(|(id, _)| &**id).collect();
        assert_eq!(
            names,
            ["lab/a/2", "lab/b/1", "other/1", "lab/a/profile", "cnn"]
        );
        // The base has no setting: one without any is no nearer for that.
        let bare = [
            run("x", "loss", None, 3.0),
            run("bare", "", None, 2.0),
            run("full", "loss", Some(8.0), 1.0),
        ];
        assert_eq!(nearest(&bare, &["x".to_owned()], "")[0].0, "full");
    }
}
