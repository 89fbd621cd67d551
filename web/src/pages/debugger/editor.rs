//! The form of one watchpoint: every key that it may have, what it may be given, and what that means.

use crate::format;
use crate::prelude::*;
use trainscope_api::watchpoints::{Condition, Parameter, ParameterKind, Setting};
use trainscope_format::Severity;
use trainscope_format::float::Float;

use super::model::{severity_name, use_model};
use super::watching::{Mode, Watching, shown, text, title, use_watching};
use crate::components::{IconButton, IconName};
use crate::i18n::use_i18n;
use crate::notebook::Refusal;

/// Common keys that are always in view; the others are folded.
const ALWAYS: [&str; 3] = ["name", "tensors", "from_step"];

/// The form, in place of the list.
#[component]
pub(super) fn Editor() -> impl IntoView {
    let watching = use_watching();
    let i18n = use_i18n();
    // Typing changes the draft, but not what the form is made of.
    let condition = Memo::new(move |_| {
        let id = watching
            .draft
            .with(|draft| text(draft, "condition").map(str::to_owned))?;
        watching.catalogue.with(|all| {
            let mut all = all.as_ref()?.conditions.iter();
            all.find(|condition| condition.id == id).cloned()
        })
    });
    let form = move || {
        let condition = condition.get()?;
        let common = watching
            .catalogue
            .with_untracked(|all| all.as_ref().map(|all| all.common.clone()))
            .unwrap_or_default();
        Some(form(watching, &condition, &common))
    };
    let is_new = move || watching.mode.get() == Mode::Edit(None);
    let model = use_model();
    let remove = move |_| {
        // Its hits are not what is shown any more.
        watching.draft.with_untracked(|draft| {
            model.leave_watchpoint(text(draft, "condition").unwrap_or_default());
        });
        watching.remove();
    };
    view! {
        <div class="head flex">
            <h2 class="grow">
                {move || {
                    let texts = &i18n.texts().debugger;
                    if is_new() { texts.add } else { texts.edit }
                }}
            </h2>
            <IconButton
                icon=IconName::Close
                label=i18n.label(|t| t.debugger.cancel)
                on_press=move || watching.mode.set(Mode::List)
            />
        </div>
        <form
            class="scroll editor"
            on:submit=move |event| {
                event.prevent_default();
                watching.save();
            }
        >
            {form}
            <div class="acts">
                <button type="submit" class="btn primary">
                    {i18n.text(|t| t.debugger.save)}
                </button>
                <Show when=move || !is_new()>
                    <button type="button" class="btn danger" on:click=remove>
                        {i18n.text(|t| t.debugger.remove)}
                    </button>
                </Show>
            </div>
        </form>
    }
}

fn form(watching: Watching, condition: &Condition, common: &[Parameter]) -> AnyView {
    let i18n = use_i18n();
    let texts = &i18n.texts().debugger;
    let own = condition
        .parameters
        .iter()
        .map(|one| field(watching, one))
        .collect_view();
    let (always, advanced): (Vec<&Parameter>, Vec<&Parameter>) =
        common.iter().partition(|one| ALWAYS.contains(&&*one.name));
    let fields = |some: Vec<&Parameter>| {
        let some = some.into_iter().map(|one| field(watching, one));
        some.collect_view()
    };
    let (always, advanced) = (fields(always), fields(advanced));
    let needs_limit = condition.parameters.iter().any(|one| one.is_limit);
    let part = |heading: &'static str, words: &trainscope_api::findings::Words| {
        let words = i18n.words(words);
        (!words.is_empty()).then(|| view! { <h3>{heading}</h3> <p class="small ink2">{words}</p> })
    };
    let name = watching
        .draft
        .with_untracked(|draft| title(i18n, draft, condition));
    view! {
        <p class="med">{name}</p>
        <p class="micro ink3 mono">{condition.id.clone()}</p>
        <p class="small ink2">{i18n.words(&condition.checks)}</p>
        {(!condition.parameters.is_empty()).then(|| view! { <h3>{texts.limits}</h3> })}
        {needs_limit.then(|| view! { <p class="micro ink3">{texts.alert_when}</p> })}
        {own}
        {move || missing_limit(watching)}
        <h3>{texts.which}</h3>
        {severity(watching, condition.severity)}
        {always}
        <details class="advanced">
            <summary class="link small">{texts.advanced}</summary>
            {advanced}
        </details>
        {part(texts.matters, &condition.matters)}
        {part(texts.not_judged, &condition.not_judged)}
    }
    .into_any()
}

/// Reason for which the server refused the draft, beside the fields that it is about.
fn missing_limit(watching: Watching) -> Option<AnyView> {
    let Some(Refusal::Refused(reason)) = watching.refusal.get() else {
        return None;
    };
    let reason = view! { <p class="small err" role="alert">{reason}</p> };
    Some(reason.into_any())
}

/// The choice of severity.
fn severity(watching: Watching, usual: Severity) -> AnyView {
    let i18n = use_i18n();
    let texts = &i18n.texts().debugger;
    let now = watching
        .draft
        .with_untracked(|draft| text(draft, "severity").map(str::to_owned));
    let now = now.unwrap_or_default();
    let option = |name: &'static str, words: String| {
        view! {
            <option value=name selected=now == name>
                {words}
            </option>
        }
    };
    let usual = (texts.as_usual)((texts.severity)(severity_name(usual)));
    view! {
        <label class="key">
            <span class="grow">{texts.severity_label}</span>
            <select
                name="severity"
                on:change=move |event| {
                    put(watching, "severity", &event_target_value(&event), ParameterKind::Text);
                }
            >
                {option("", usual)}
                {option("error", (texts.severity)("error").to_owned())}
                {option("warning", (texts.severity)("warning").to_owned())}
                {option("info", (texts.severity)("info").to_owned())}
            </select>
        </label>
    }
    .into_any()
}

/// One key: what it means, its field, and below its name in files and the values that it may be given.
fn field(watching: Watching, one: &Parameter) -> AnyView {
    let i18n = use_i18n();
    let texts = &i18n.texts().debugger;
    let (name, kind) = (one.name.clone(), one.kind);
    let now = watching
        .draft
        .with_untracked(|draft| draft.0.get(&name).cloned());
    let help = i18n.words(&one.help);
    let default = match (one.default, kind) {
        (Some(Float(number)), _) => format::number(number, 4),
        (None, _) if one.is_limit => texts.off.to_owned(),
        (None, _) => String::new(),
    };
    let below = match kind {
        ParameterKind::Names => texts.several,
        _ => range(kind),
    };
    let below = format!("{name} {below}");
    let own = name.clone();
    let input = if kind == ParameterKind::Switch {
        let is_set = match now {
            Some(Setting::Bool(yes)) => yes,
            _ => one.default.is_some_and(|Float(number)| number != 0.0),
        };
        view! {
            <input
                type="checkbox"
                name=name.clone()
                checked=is_set
                on:change=move |event| {
                    let yes = event_target_checked(&event).to_string();
                    put(watching, &own, &yes, kind);
                }
            />
        }
        .into_any()
    } else {
        let is_long = matches!(kind, ParameterKind::Text | ParameterKind::Names);
        view! {
            <input
                type="text"
                class:long=is_long
                name=name.clone()
                value=now.as_ref().map(shown).unwrap_or_default()
                placeholder=default
                autocomplete="off"
                spellcheck="false"
                on:input=move |event| put(watching, &own, &event_target_value(&event), kind)
            />
        }
        .into_any()
    };
    view! {
        <label class="key">
            <span class="grow">{help}</span>
            {input}
            <span class="help micro ink3 mono">{below}</span>
        </label>
    }
    .into_any()
}

/// Permitted range in mathematical notation.
const fn range(kind: ParameterKind) -> &'static str {
    match kind {
        ParameterKind::NotNegative => "(≥ 0)",
        ParameterKind::Positive => "(> 0)",
        ParameterKind::Percentage => "(0–100)",
        ParameterKind::Share => "(0–1)",
        ParameterKind::Count => "(1, 2, …)",
        ParameterKind::Whole => "(0, 1, …)",
        ParameterKind::Finite
        | ParameterKind::Step
        | ParameterKind::Switch
        | ParameterKind::Text
        | ParameterKind::Names => "",
    }
}

/// Puts what was typed into the draft.
fn put(watching: Watching, key: &str, typed: &str, kind: ParameterKind) {
    watching.draft.update(|draft| {
        match setting(typed, kind) {
            Some(setting) => draft.0.insert(key.to_owned(), setting),
            None => draft.0.remove(key),
        };
    });
}

/// Parses typed text into a setting. Text that is not a number is kept unchanged: the server reports the error.
fn setting(typed: &str, kind: ParameterKind) -> Option<Setting> {
    let typed = typed.trim();
    if typed.is_empty() {
        return None;
    }
    let text = || Setting::Text(typed.to_owned());
    Some(match kind {
        ParameterKind::Text => text(),
        ParameterKind::Switch => Setting::Bool(typed == "true"),
        ParameterKind::Names => {
            let names = typed
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty());
            Setting::List(names.map(str::to_owned).collect())
        }
        _ => match (typed.parse(), format::parse_number(typed)) {
            (Ok(number), _) => Setting::Int(number),
            (_, Some(number)) => Setting::Float(number),
            _ => text(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_what_would_be_written() {
        for (typed, kind, expected) in [
            (" ", ParameterKind::Finite, None),
            (
                "1e-6",
                ParameterKind::NotNegative,
                Some(Setting::Float(1e-6)),
            ),
            (" 12 ", ParameterKind::Whole, Some(Setting::Int(12))),
            (
                "many",
                ParameterKind::Count,
                Some(Setting::Text("many".to_owned())),
            ),
            (
                "inf",
                ParameterKind::Finite,
                Some(Setting::Text("inf".to_owned())),
            ),
            (
                "12",
                ParameterKind::Text,
                Some(Setting::Text("12".to_owned())),
            ),
            ("true", ParameterKind::Switch, Some(Setting::Bool(true))),
            (
                "a*, b ,",
                ParameterKind::Names,
                Some(Setting::List(vec!["a*".to_owned(), "b".to_owned()])),
            ),
        ] {
            assert_eq!(setting(typed, kind), expected, "{typed}");
        }
        assert_eq!(shown(&Setting::Float(1e-6)), "1e-6");
        assert_eq!(
            shown(&Setting::List(vec!["a".to_owned(), "b".to_owned()])),
            "a, b"
        );
    }
}
