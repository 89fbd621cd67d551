//! What is watched for, with how often it was found. A press leaves the hits of one watchpoint; each has a switch and a
//! form, and the whole list can be taken along to CI.

use leptos::task::spawn_local;
use trainscope_api::findings::{Judging, Watched};
use trainscope_api::watchpoints::{Condition, Origin, Setting, WatchpointKeys};

use super::catalogue::CatalogueList;
use super::editor::Editor;
use super::model::use_model;
use super::watching::{Mode, is_on, name_of, severity, shown, title, use_watching};
use crate::components::{IconButton, IconName, fixed_icon, severity_icon};
use crate::erased::{Show, derive, handler, memo};
use crate::format;
use crate::i18n::use_i18n;
use crate::notebook::Refusal;
use crate::prelude::*;

/// What a watchpoint is about, as groups of the list.
const TARGETS: [&str; 6] = [
    "tensor",
    "weight",
    "gradient",
    "activation",
    "scalar",
    "run",
];

/// The panel at the left.
#[component]
pub(super) fn WatchpointList(
    /// Whether what is in it may be made.
    is_due: Signal<bool>,
) -> impl IntoView {
    let watching = use_watching();
    let i18n = use_i18n();
    let content = move || match watching.mode.get() {
        Mode::List => view! { <List /> }.into_any(),
        Mode::Add => view! { <CatalogueList /> }.into_any(),
        Mode::Edit(_) => view! { <Editor /> }.into_any(),
    };
    view! {
        <aside class="side watchpoints" aria-label=i18n.text(|t| t.debugger.watchpoints)>
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
        (i18n.texts().debugger.on)(on.count() as u64)
    };
    let label = move |word: fn(&crate::i18n::DebuggerTexts) -> &'static str| {
        derive(move || word(&i18n.texts().debugger).to_owned())
    };
    view! {
        <div class="head flex">
            <h2>{i18n.text(|t| t.debugger.watchpoints)}</h2>
            <span class="micro ink3">{count}</span>
            <span class="grow"></span>
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
        </div>
        <Rows />
        <Progress />
        <Foot />
    }
}

/// How far judging is.
#[component]
fn Progress() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let state = memo(move || {
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
                        <p>{(i18n.texts().debugger.judging)(&done, &all)}</p>
                        <progress max="1" value=format!("{share:.3}")></progress>
                    </div>
                }
                .into_any(),
            )
        }
        (_, Judging::Behind) => Some(
            view! {
                <div class="judging micro ink2" role="status">
                    {i18n.texts().debugger.behind}
                </div>
            }
            .into_any(),
        ),
        _ => None,
    }
}

#[component]
fn Rows() -> impl IntoView {
    let watching = use_watching();
    let model = use_model();
    let i18n = use_i18n();
    // What the rows are made of: the rest of the findings may change without drawing them anew.
    let counts = memo(move || {
        model.findings.with(|findings| {
            let all = findings.watchpoints.iter();
            let missing = |own: &Watched| {
                let mut all = findings.inconclusive.iter();
                let first = all.find(|one| one.condition == own.condition)?;
                Some(first.reason.clone())
            };
            all.map(|own| {
                let open = (own.unjudged, missing(own).unwrap_or_default());
                (own.condition.clone(), own.hits, open)
            })
            .collect::<Vec<_>>()
        })
    });
    let rows = move || {
        let Some(list) = watching.list.get() else {
            return Vec::new();
        };
        let counts = counts.get();
        let known = |index: usize, condition: &Condition| {
            counts.get(index).filter(|own| own.0 == condition.id)
        };
        let hits = |index, condition: &Condition| known(index, condition).map_or(0, |own| own.1);
        let mut all: Vec<(usize, WatchpointKeys, Condition)> = Vec::new();
        for (index, keys) in list.watchpoints.iter().enumerate() {
            if let Some(condition) = watching.condition(keys) {
                all.push((index, keys.clone(), condition));
            }
        }
        let target = |condition: &Condition| {
            TARGETS
                .iter()
                .position(|own| *own == condition.target)
                .unwrap_or(TARGETS.len())
        };
        // Groups in which something was found come first, and in them what was found.
        let found = |wanted: usize| {
            let mut all = all.iter();
            all.any(|(index, _, own)| target(own) == wanted && hits(*index, own) > 0)
        };
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&at| {
            let (index, keys, own) = &all[at];
            let has_none = hits(*index, own) == 0;
            (
                !found(target(own)),
                target(own),
                has_none,
                std::cmp::Reverse(severity(keys, own)),
            )
        });
        let mut rows = Vec::new();
        let mut last = usize::MAX;
        for at in order {
            let (index, keys, own) = &all[at];
            if target(own) != last {
                last = target(own);
                let head = (i18n.texts().debugger.target)(&own.target);
                rows.push(view! { <li class="group">{head}</li> }.into_any());
            }
            let open = known(*index, own).filter(|own| own.2.0 > 0);
            let open = open.map(|own| {
                let texts = i18n.texts();
                (texts.debugger.unjudged)(own.2.0, (texts.overview.missing)(&own.2.1))
            });
            let name = name_of(&list.watchpoints, *index);
            rows.push(row(*index, name, keys, own, hits(*index, own), open));
        }
        rows
    };
    view! { <ul class="scroll">{rows}</ul> }
}

/// `open` says what could not be judged, if anything.
fn row(
    index: usize,
    name: String,
    keys: &WatchpointKeys,
    condition: &Condition,
    hits: u64,
    open: Option<String>,
) -> AnyView {
    let model = use_model();
    let watching = use_watching();
    let i18n = use_i18n();
    let (class, icon) = severity_icon(severity(keys, condition));
    let title = title(i18n, keys, condition);
    let is_on = is_on(keys);
    let own = condition.parameters.iter();
    let limits = own.filter_map(|one| {
        let value = keys.0.get(&one.name).map(short);
        let value = value.or_else(|| Some(format::number(one.default?.0, 3)))?;
        Some(format!("{} {value}", one.name))
    });
    let tensors = ["tensors", "exclude"].into_iter();
    let tensors = tensors.filter_map(|key| Some(format!("{key} {}", shown(keys.0.get(key)?))));
    let is_open = open.is_some() && is_on;
    let open = open.filter(|_| is_on).into_iter();
    let below: Vec<String> = open.chain(limits).chain(tensors).collect();
    let below = match below.join(", ") {
        none if none.is_empty() => condition.id.clone(),
        some => some,
    };
    let hint = format!("{}: {below}", condition.id);
    let count = if hits > 0 {
        view! {
            <span class=format!("sev {class}")>
                {fixed_icon(icon, 12)} <b class="med">{format::count(hits)}</b>
            </span>
        }
        .into_any()
    } else {
        view! { <span class="micro ink3">{is_on.then_some(if is_open { "?" } else { "0" })}</span> }
            .into_any()
    };
    let edit = move || i18n.texts().debugger.edit.to_owned();
    let is_pressed = {
        let name = name.clone();
        move || {
            model
                .watchpoint
                .with(|now| now.as_ref() == Some(&name))
                .to_string()
        }
    };
    view! {
        <li class="row" class:off=!is_on data-condition=condition.id.clone()>
            <button
                type="button"
                class="w"
                class:found=hits != 0
                aria-pressed=is_pressed
                title=hint
                on:click=handler(move |_| model.press_watchpoint(&name))
            >
                <span class="cut name">{title.clone()}</span>
                {count}
                <span class="s cut">{below}</span>
            </button>
            <IconButton
                icon=IconName::Sliders
                label=derive(edit)
                class="edit"
                on_press=move || watching.edit(index)
            />
            <button
                type="button"
                class="switch"
                class:on=is_on
                role="switch"
                aria-checked=is_on.to_string()
                aria-label=(i18n.texts().debugger.switch)(&title)
                on:click=handler(move |_| watching.switch(index))
            ></button>
        </li>
    }
    .into_any()
}

/// A setting in a few signs.
fn short(setting: &Setting) -> String {
    match setting {
        Setting::Float(number) => format::number(*number, 3),
        other => shown(other),
    }
}

/// Where the list comes from, and taking it along.
#[component]
fn Foot() -> impl IntoView {
    let watching = use_watching();
    let i18n = use_i18n();
    let copied = RwSignal::new(false);
    let content = move || {
        let list = watching.list.get()?;
        let texts = &i18n.texts().debugger;
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
                <button type="button" class="link" on:click=handler(move |_| watching.drop_list())>
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
            {scope}
            <button type="button" class="link" on:click=copy>
                {move || {
                    let texts = &i18n.texts().debugger;
                    if copied.get() { texts.copied } else { texts.copy_toml }
                }}
            </button>
        })
    };
    view! { <div class="foot small ink2">{content}</div> }
}

/// Why the last change did not stay.
#[component]
fn Said() -> impl IntoView {
    let watching = use_watching();
    let i18n = use_i18n();
    move || {
        let texts = &i18n.texts().debugger;
        if watching.confirms.get() {
            let scope = usize::from(watching.only_run.get());
            return Some(
                view! {
                    <div class="said small" role="alert">
                        <p>{texts.confirm_recommended[scope]}</p>
                        <div class="flex">
                            <button
                                type="button"
                                class="btn primary"
                                on:click=handler(move |_| watching.recommend())
                            >
                                {texts.use_recommended}
                            </button>
                            <button
                                type="button"
                                class="btn"
                                on:click=handler(move |_| watching.confirms.set(false))
                            >
                                {texts.cancel}
                            </button>
                        </div>
                    </div>
                }
                .into_any(),
            );
        }
        let sentence = match watching.refusal.get()? {
            Refusal::Conflict => texts.conflict.to_owned(),
            Refusal::Unreachable => texts.unreachable.to_owned(),
            Refusal::Refused(reason) => reason,
        };
        Some(view! { <p class="said small err" role="alert">{sentence}</p> }.into_any())
    }
}
