//! Watchpoints with the number of findings of each. A click filters the findings; each has a switch and a form, and
//! the list can be exported for CI.

mod row;

use std::collections::BTreeSet;

use leptos::task::spawn_local;
use trainscope_api::findings::{JudgementState, WatchpointResult};
use trainscope_api::status::AccessRole;
use trainscope_api::watchpoints::{Condition, Origin, WatchpointKeys};
use trainscope_format::Severity;

use self::row::row;
use super::catalogue::CatalogueList;
use super::editor::Editor;
use super::model::use_model;
use super::watching::{Mode, is_on, name_of, severity, use_watching};
use trainscope_web_kit::components::{IconButton, IconName, Needs, use_may};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::notebook::Refusal;
use trainscope_web_kit::prelude::*;

/// Targets of watchpoints, as groups of the list.
const TARGETS: [&str; 7] = [
    "tensor",
    "weight",
    "gradient",
    "activation",
    "scalar",
    "run",
    "profile",
];

/// The panel at the left.
#[component]
pub(super) fn WatchpointList(
    /// `true` once the content may be rendered.
    is_due: Signal<bool>,
) -> impl IntoView {
    let watching = use_watching();
    let i18n = use_i18n();
    // Each saved change sets the same mode again. The memo keeps the open parts of the list.
    let mode = Memo::new(move |_| watching.mode.get());
    let content = move || match mode.get() {
        Mode::List => view! { <List /> }.into_any(),
        Mode::Add => view! { <CatalogueList /> }.into_any(),
        Mode::Edit(_) => view! { <Editor /> }.into_any(),
    };
    view! {
        <aside class="side watchpoints" aria-label=i18n.text(|t| t.debugger().watchpoints)>
            <Show when=move || is_due.get()>{content} <Said /></Show>
        </aside>
    }
}

#[component]
fn List() -> impl IntoView {
    let watching = use_watching();
    let i18n = use_i18n();
    let count = move || {
        let list = watching.list.get();
        let on = list
            .iter()
            .flat_map(|list| &list.watchpoints)
            .filter(|keys| is_on(keys));
        (i18n.texts().debugger().on)(on.count() as u64)
    };
    let label = move |word: fn(&trainscope_web_kit::i18n::DebuggerTexts) -> &'static str| {
        Signal::derive(move || word(i18n.texts().debugger()).to_owned())
    };
    view! {
        <div class="head flex">
            <h2>{i18n.text(|t| t.debugger().watchpoints)}</h2>
            <span class="micro ink3">{count}</span>
            <span class="grow"></span>
            <Needs role=AccessRole::Manage>
                <IconButton
                    icon=IconName::Wand
                    label=label(|texts| texts.use_recommended)
                    on_press=move || watching.confirms.set(true)
                />
                <IconButton
                    icon=IconName::Recheck
                    label=label(|texts| texts.recheck)
                    on_press=move || watching.recheck()
                />
                <IconButton
                    icon=IconName::Plus
                    label=label(|texts| texts.add)
                    on_press=move || watching.mode.set(Mode::Add)
                />
            </Needs>
        </div>
        <Rows />
        <Progress />
        <Foot />
    }
}

/// Progress of judging.
#[component]
fn Progress() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let state = Memo::new(move |_| {
        model
            .findings
            .with(|findings| (findings.progress, findings.state))
    });
    move || match state.get() {
        (Some(progress), _) if progress.total_bytes > 0 => {
            let share = progress.done_bytes as f64 / progress.total_bytes as f64;
            let [done, all] = [progress.done_bytes, progress.total_bytes].map(format::bytes);
            Some(
                view! {
                    <div class="judging micro ink2" role="status">
                        <p>{(i18n.texts().debugger().judging)(&done, &all)}</p>
                        <progress max="1" value=format!("{share:.3}")></progress>
                    </div>
                }
                .into_any(),
            )
        }
        (_, JudgementState::Behind) => Some(
            view! {
                <div class="judging micro ink2" role="status">
                    {i18n.texts().debugger().behind}
                </div>
            }
            .into_any(),
        ),
        _ => None,
    }
}

/// Watchpoint of the list with its findings.
#[derive(Clone, PartialEq)]
struct ListItem {
    index: usize,
    /// Name in addresses; adding other watchpoints does not change it.
    name: String,
    keys: WatchpointKeys,
    condition: Condition,
    hits: u64,
    worst: Option<Severity>,
    /// Number of unjudged tensors and the reason, if there are any.
    open: Option<(u64, String)>,
}

impl ListItem {
    fn target(&self) -> usize {
        let mut all = TARGETS.iter();
        let target = all.position(|name| *name == self.condition.target);
        target.unwrap_or(TARGETS.len())
    }

    /// Key of the fold that hides it: the reason of unjudged tensors, or empty if all were judged. `None` if it has
    /// hits or was changed.
    fn fold(&self) -> Option<&str> {
        let is_plain = self.hits == 0 && self.keys == self.condition.preset;
        let reason = self.open.as_ref().map_or("", |(_, reason)| reason);
        is_plain.then_some(reason)
    }
}

/// Names in list order: groups with hits first, and in each group the watchpoints with hits first. While the list has
/// the pointer or the focus (`is_held`), the order of `before` stays: a second click meets the same row.
fn order(all: &[ListItem], before: Option<&[String]>, is_held: bool) -> Vec<String> {
    let has_hits = |target: usize| {
        let mut all = all.iter();
        all.any(|item| item.target() == target && item.hits > 0)
    };
    let mut sorted: Vec<&ListItem> = all.iter().collect();
    sorted.sort_by_key(|item| {
        let severity = item
            .worst
            .unwrap_or_else(|| severity(&item.keys, &item.condition));
        (
            !has_hits(item.target()),
            item.target(),
            item.hits == 0,
            std::cmp::Reverse(severity),
        )
    });
    let sorted = sorted.into_iter().map(|item| item.name.clone());
    match before.filter(|_| is_held) {
        None => sorted.collect(),
        Some(before) => {
            let sorted: Vec<String> = sorted.collect();
            let kept = before.iter().filter(|name| sorted.contains(name));
            let new = sorted.iter().filter(|name| !before.contains(name));
            kept.chain(new).cloned().collect()
        }
    }
}

/// Items by fold, and the items that are always shown. A fold with a reason needs at least two items. If all items are
/// in the fold without a reason, the list is shown as a whole.
fn folds<'a>(
    items: impl Iterator<Item = &'a ListItem>,
) -> (Vec<(&'a str, Vec<&'a ListItem>)>, Vec<&'a ListItem>) {
    let items: Vec<&ListItem> = items.collect();
    let mut folds: Vec<(&str, Vec<&ListItem>)> = Vec::new();
    for item in &items {
        let Some(reason) = item.fold() else { continue };
        match folds.iter_mut().find(|fold| fold.0 == reason) {
            Some(fold) => fold.1.push(item),
            None => folds.push((reason, vec![item])),
        }
    }
    let is_all = folds
        .first()
        .is_some_and(|fold| fold.1.len() == items.len());
    folds.retain(|(reason, items)| {
        if reason.is_empty() {
            !is_all
        } else {
            items.len() > 1
        }
    });
    // Folds with a reason come first.
    folds.sort_by_key(|fold| fold.0.is_empty());
    let is_hidden = |item: &&ListItem| folds.iter().any(|fold| item.fold() == Some(fold.0));
    let shown = items.iter().copied().filter(|item| !is_hidden(item));
    let shown = shown.collect();
    (folds, shown)
}

#[component]
fn Rows() -> impl IntoView {
    let watching = use_watching();
    let model = use_model();
    let i18n = use_i18n();
    // Counts that the rows are built from: other changes of the findings do not rebuild them. While changed watchpoints
    // are judged, the previous counts keep the rows in their places.
    let counts = Memo::new(move |before: Option<&Vec<_>>| {
        model.findings.with(|findings| {
            if let Some(before) = before
                && findings.state == JudgementState::Waiting
            {
                return before.clone();
            }
            let all = findings.watchpoints.iter();
            let missing = |result: &WatchpointResult| {
                let mut all = findings.inconclusive.iter();
                let first = all.find(|one| one.condition == result.condition)?;
                Some(first.words.clone())
            };
            all.map(|result| {
                let open = (result.unjudged, missing(result).unwrap_or_default());
                (result.condition.clone(), result.hits, result.worst, open)
            })
            .collect::<Vec<_>>()
        })
    });
    let listed = Memo::new(move |_| {
        let list = watching.list.get()?;
        let counts = counts.get();
        let all = list
            .watchpoints
            .iter()
            .enumerate()
            .filter_map(|(index, keys)| {
                let condition = watching.condition(keys)?;
                let known = counts.get(index).filter(|entry| entry.0 == condition.id);
                let open = known.filter(|entry| entry.3.0 > 0);
                let open = open.map(|entry| (entry.3.0, i18n.raw(&entry.3.1)));
                Some(ListItem {
                    index,
                    name: name_of(&list.watchpoints, index),
                    keys: keys.clone(),
                    hits: known.map_or(0, |entry| entry.1),
                    worst: known.and_then(|entry| entry.2),
                    open,
                    condition,
                })
            });
        Some(all.collect::<Vec<ListItem>>())
    });
    let is_held = RwSignal::new(false);
    let sorted = Memo::new(move |before: Option<&Vec<String>>| {
        let all = listed.get().unwrap_or_default();
        order(&all, before.map(Vec::as_slice), is_held.get())
    });
    let open_folds = RwSignal::new(BTreeSet::<String>::new());
    let rows = move || {
        let all = listed.get().unwrap_or_default();
        let mut rows = Vec::new();
        let mut last = usize::MAX;
        let named = |name: &String| all.iter().find(|item| item.name == *name);
        let (folds, shown) = folds(sorted.get().iter().filter_map(named));
        let push = |rows: &mut Vec<AnyView>, last: &mut usize, item: &ListItem| {
            if item.target() != *last {
                *last = item.target();
                let head = (i18n.texts().debugger().target)(&item.condition.target);
                rows.push(view! { <li class="group">{head}</li> }.into_any());
            }
            rows.push(row(item.clone()));
        };
        for item in shown {
            push(&mut rows, &mut last, item);
        }
        for (reason, items) in folds {
            last = usize::MAX;
            let texts = i18n.texts().debugger();
            let text = match reason {
                "" => (texts.without_hits)(items.len() as u64),
                reason => (texts.unjudged)(items.len() as u64, reason),
            };
            let key = reason.to_owned();
            let is_open = open_folds.with(|open| open.contains(reason));
            rows.push(
                view! {
                    <li class="fold">
                        <button
                            type="button"
                            class="link"
                            aria-expanded=is_open.to_string()
                            title=text.clone()
                            on:click=move |_| {
                                open_folds
                                    .update(|open| {
                                        if !open.remove(&key) {
                                            open.insert(key.clone());
                                        }
                                    });
                            }
                        >
                            {text.clone()}
                        </button>
                    </li>
                }
                .into_any(),
            );
            for item in items.into_iter().filter(|_| is_open) {
                push(&mut rows, &mut last, item);
            }
        }
        rows
    };
    view! {
        <ul
            class="scroll"
            on:mouseenter=move |_| is_held.set(true)
            on:mouseleave=move |_| is_held.set(false)
            on:focusin=move |_| is_held.set(true)
            on:focusout=move |_| is_held.set(false)
        >
            {rows}
        </ul>
    }
}

/// Source of the list, and its export.
#[component]
fn Foot() -> impl IntoView {
    let watching = use_watching();
    let i18n = use_i18n();
    let copied = RwSignal::new(false);
    let may_manage = use_may(AccessRole::Manage);
    let content = move || {
        let list = watching.list.get()?;
        let texts = i18n.texts().debugger();
        let origin = match list.origin {
            Origin::Recommended => texts.recommended,
            Origin::Base => texts.of_all,
            Origin::Run => texts.of_run,
        };
        let toml = list.toml.clone();
        let copy = move |_| {
            let toml = toml.clone();
            spawn_local(async move {
                let clipboard = window().navigator().clipboard();
                let written = clipboard.write_text(&toml);
                let written = wasm_bindgen_futures::JsFuture::from(written).await;
                copied.try_set(written.is_ok());
            });
        };
        let scope = if list.origin == Origin::Run {
            view! {
                <button type="button" class="link" on:click=move |_| watching.drop_list()>
                    {texts.use_those_of_all}
                </button>
            }
            .into_any()
        } else {
            view! {
                <label class="flex">
                    <input
                        type="checkbox"
                        name="only_run"
                        prop:checked=move || watching.only_run.get()
                        on:change=move |event| watching.only_run.set(event_target_checked(&event))
                    />
                    {texts.only_run}
                </label>
            }
            .into_any()
        };
        let problem = list.problem.as_ref().map(|reason| (texts.broken)(reason));
        Some(view! {
            <p title=list.file.clone()>{origin}</p>
            {problem.map(|problem| view! { <p class="warn" role="alert">{problem}</p> })}
            {may_manage.get().then_some(scope)}
            <button type="button" class="link" on:click=copy>
                {move || {
                    let texts = i18n.texts().debugger();
                    if copied.get() { texts.copied } else { texts.copy_toml }
                }}
            </button>
        })
    };
    view! { <div class="foot small ink2">{content}</div> }
}

/// Message below the list: a confirmation, an undo, or the reason of a refused change.
#[component]
fn Said() -> impl IntoView {
    let watching = use_watching();
    let i18n = use_i18n();
    move || {
        let texts = i18n.texts().debugger();
        if watching.confirms.get() {
            let scope = usize::from(watching.only_run.get());
            return Some(
                view! {
                    <div class="said small" data-part="message" role="alert">
                        <p>{texts.confirm_recommended[scope]}</p>
                        <div class="flex">
                            <button
                                type="button"
                                class="btn primary"
                                on:click=move |_| watching.recommend()
                            >
                                {texts.use_recommended}
                            </button>
                            <button
                                type="button"
                                class="btn"
                                on:click=move |_| watching.confirms.set(false)
                            >
                                {texts.cancel}
                            </button>
                        </div>
                    </div>
                }
                .into_any(),
            );
        }
        if let Some(title) = watching
            .undo
            .with(|undo| undo.as_ref().map(|undo| undo.title.clone()))
        {
            return Some(
                view! {
                    <div class="said undo small flex" data-part="message" role="status">
                        <span class="grow">{(texts.switched)(&title)}</span>
                        <button
                            type="button"
                            class="btn"
                            on:click=move |_| watching.undo_switch()
                        >
                            {texts.undo}
                        </button>
                    </div>
                }
                .into_any(),
            );
        }
        let sentence = match watching.refusal.get()? {
            Refusal::Conflict => texts.conflict.to_owned(),
            Refusal::Unreachable => texts.unreachable.to_owned(),
            // The form shows the refusal of its draft next to the fields.
            Refusal::Refused(_) if matches!(watching.mode.get(), Mode::Edit(_)) => return None,
            Refusal::Refused(reason) => reason,
        };
        let refusal =
            view! { <p class="said small err" data-part="message" role="alert">{sentence}</p> };
        Some(refusal.into_any())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_api::Sentence;
    use trainscope_api::watchpoints::Setting;

    fn listed(name: &str, target: &str, hits: u64) -> ListItem {
        let condition = Condition {
            id: name.to_owned(),
            target: target.to_owned(),
            title: Sentence::default(),
            checks: Sentence::default(),
            matters: Sentence::default(),
            not_judged: Sentence::default(),
            advice: Sentence::default(),
            severity: Severity::Warning,
            is_recommended: true,
            all_limits: false,
            parameters: Vec::new(),
            preset: WatchpointKeys::default(),
        };
        ListItem {
            index: 0,
            name: name.to_owned(),
            keys: WatchpointKeys::default(),
            condition,
            hits,
            worst: (hits > 0).then_some(Severity::Error),
            open: None,
        }
    }

    #[test]
    fn rows_do_not_move_under_the_pointer() {
        let before = [
            listed("a", "tensor", 0),
            listed("b", "weight", 3),
            listed("c", "weight", 0),
        ];
        let sorted = order(&before, None, false);
        assert_eq!(sorted, ["b", "c", "a"]);
        // `b` is switched off and loses its hits; `a` gets one, and `d` is new.
        let after = [
            listed("a", "tensor", 1),
            listed("b", "weight", 0),
            listed("c", "weight", 0),
            listed("d", "run", 0),
        ];
        assert_eq!(order(&after, Some(&sorted), true), ["b", "c", "a", "d"]);
        assert_eq!(order(&after, Some(&sorted), false), ["a", "b", "c", "d"]);
        assert_eq!(order(&after[..1], Some(&sorted), true), ["a"]);
    }

    #[test]
    fn what_was_not_judged_is_folded_by_reason() {
        let unjudged = |name, reason: &str| ListItem {
            open: Some((2, reason.to_owned())),
            ..listed(name, "tensor", 0)
        };
        let mut changed = listed("changed", "tensor", 0);
        let off = Setting::Bool(false);
        changed.keys.0.insert("on".to_owned(), off);
        let all = [
            listed("hit", "tensor", 1),
            listed("quiet", "tensor", 0),
            unjudged("a", "too few steps"),
            unjudged("b", "no content hashes"),
            unjudged("c", "too few steps"),
            changed,
        ];
        let names = |items: &[&ListItem]| {
            let names = items.iter().map(|item| item.name.clone());
            names.collect::<Vec<_>>().join(" ")
        };
        let (folded, shown) = folds(all.iter());
        let folded: Vec<_> = folded.iter().map(|fold| (fold.0, names(&fold.1))).collect();
        let expected = [
            ("too few steps", "a c".to_owned()),
            ("", "quiet".to_owned()),
        ];
        assert_eq!(folded, expected);
        assert_eq!(names(&shown), "hit b changed");
        // A list whose items would all be hidden is shown as a whole.
        let (folded, shown) = folds(all[1..2].iter());
        assert!(folded.is_empty());
        assert_eq!(names(&shown), "quiet");
    }
}
