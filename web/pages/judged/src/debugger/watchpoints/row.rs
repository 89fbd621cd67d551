//! Watchpoint in the list: its number of findings, its limits, a switch, and the button for pauses.

use trainscope_api::status::AccessRole;
use trainscope_api::watchpoints::{Setting, WatchpointKeys};
use trainscope_format::Severity;

use super::ListItem;
use crate::debugger::model::use_model;
use crate::debugger::watching::{is_on, pausing, severity, shown, title, use_watching};
use trainscope_web_kit::components::{IconButton, IconName, fixed_icon, severity_icon, use_may};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::sessions::use_sessions;

pub(super) fn row(item: ListItem) -> AnyView {
    let ListItem {
        index,
        name,
        keys,
        condition,
        hits,
        worst,
        open,
    } = item;
    let (keys, condition) = (&keys, &condition);
    let model = use_model();
    let watching = use_watching();
    let i18n = use_i18n();
    let severity = severity(keys, condition);
    let (class, icon) = severity_icon(worst.unwrap_or(severity));
    let title = title(i18n, keys, condition);
    let is_on = is_on(keys);
    let limits = condition.parameters.iter().filter(|one| one.is_limit);
    let limits = limits.filter_map(|one| {
        let value = keys.0.get(&one.name).map(short);
        let value = value.or_else(|| Some(format::brief(one.default?.0)))?;
        Some(format!("{} {value}", i18n.raw(&one.help)))
    });
    let tensors = ["tensors", "exclude"].into_iter();
    let tensors = tensors.filter_map(|key| {
        let names = shown(keys.0.get(key)?);
        Some((i18n.texts().debugger().only)(key, &names))
    });
    let is_open = open.is_some() && is_on;
    let open = open.filter(|_| is_on).into_iter();
    let open = open.map(|(count, why)| (i18n.texts().debugger().unjudged)(count, &why));
    let below: Vec<String> = open.chain(limits).chain(tensors).collect();
    let below = match below.join(i18n.texts().overview().comma) {
        none if none.is_empty() => {
            format!("{} {}", i18n.texts().debugger().condition, condition.id)
        }
        some => some,
    };
    let colon = i18n.texts().overview().colon;
    let hint = format!("{}{colon}{below}", condition.id);
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
    let title_of_controls = title.clone();
    let edit = move || i18n.texts().debugger().edit.to_owned();
    let is_pressed = {
        let name = name.clone();
        move || {
            model
                .watchpoint
                .with(|now| now.as_ref() == Some(&name))
                .to_string()
        }
    };
    let keys = keys.clone();
    let may_manage = use_may(AccessRole::Manage);
    let controls = move || {
        let title = title_of_controls.clone();
        let switch = (i18n.texts().debugger().switch)(&title);
        may_manage.get().then(|| {
            view! {
                {is_on.then(|| view! { <PauseSwitch index keys=keys.clone() severity=severity /> })}
                <IconButton
                    icon=IconName::Sliders
                    label=Signal::derive(edit)
                    class="edit"
                    on_press=move || watching.edit(index)
                />
                <button
                    type="button"
                    class="switch"
                    class:on=is_on
                    role="switch"
                    aria-checked=is_on.to_string()
                    aria-label=switch
                    on:click=move |_| watching.switch(index, &title)
                ></button>
            }
        })
    };
    view! {
        <li class="row" class:off=!is_on data-condition=condition.id.clone()>
            <button
                type="button"
                class="w"
                class:found=hits != 0
                data-state=(hits != 0).then_some("found")
                aria-pressed=is_pressed
                title=hint
                on:click=move |_| model.press_watchpoint(&name)
            >
                <span class="cut name">{title.clone()}</span>
                {count}
                <span class="s cut">{below}</span>
            </button>
            {controls}
        </li>
    }
    .into_any()
}

/// Short text of a setting.
fn short(setting: &Setting) -> String {
    match setting {
        Setting::Float(number) => format::brief(*number),
        other => shown(other),
    }
}

/// A switch for the pause of a connected training at a hit; nothing for other runs.
#[component]
fn PauseSwitch(index: usize, keys: WatchpointKeys, severity: Severity) -> impl IntoView {
    let model = use_model();
    let watching = use_watching();
    let sessions = use_sessions();
    let i18n = use_i18n();
    let level = Memo::new(move |_| {
        let session = model.run.with(|run| sessions.of_run(run))?;
        (!session.state.is_over()).then_some(session.level)
    });
    let chosen = pausing(&keys);
    move || {
        let by_level = level.get()?.includes(severity);
        let pauses = chosen.unwrap_or(by_level);
        let label = if pauses {
            i18n.label(|t| t.session().pauses)
        } else {
            i18n.label(|t| t.session().pauses_not)
        };
        Some(view! {
            <IconButton
                icon=IconName::Pause
                label
                class="pause"
                pressed=Signal::stored(pauses)
                on_press=move || {
                    let wanted = !pauses;
                    watching.set_pausing(index, (wanted != by_level).then_some(wanted));
                }
            />
        })
    }
}
