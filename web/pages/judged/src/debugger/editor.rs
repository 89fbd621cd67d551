//! Form of one watchpoint: its limits as a sentence, then its other keys.

use leptos::html::Input;
use wasm_bindgen::JsCast;

use trainscope_api::watchpoints::{Condition, Parameter, ParameterKind, Setting};
use trainscope_format::Severity;
use trainscope_format::float::Float;
use trainscope_web_kit::format;
use trainscope_web_kit::prelude::*;

use super::model::use_model;
use super::watching::{Mode, WatchpointsState, shown, text, title, use_watching};
use trainscope_web_kit::components::{IconButton, IconName, severity_name};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::notebook::Refusal;

mod mistakes;
mod sentence;

use mistakes::{Mistake, mistakes, refused};
use sentence::Sentence;

/// Common keys that are always in view; the others are folded.
const ALWAYS: [&str; 3] = ["name", "tensors", "from_step"];

/// The form, in place of the list.
#[component]
pub(super) fn Editor() -> impl IntoView {
    let watching = use_watching();
    let i18n = use_i18n();
    // Typing changes the draft, not the fields of the form.
    let condition = Memo::new(move |_| {
        let id = watching
            .draft
            .with(|draft| text(draft, "condition").map(str::to_owned))?;
        watching.catalogue.with(|all| {
            let mut all = all.as_ref()?.conditions.iter();
            all.find(|condition| condition.id == id).cloned()
        })
    });
    let common = Memo::new(move |_| {
        watching
            .catalogue
            .with(|all| all.as_ref().map(|all| all.common.clone()))
            .unwrap_or_default()
    });
    let found = move || {
        let Some(condition) = condition.get() else {
            return Vec::new();
        };
        let common = common.get();
        watching
            .draft
            .with(|draft| mistakes(draft, &condition, &common))
    };
    // Mistakes are listed once the form was sent, not while it is first filled in.
    let is_sent = RwSignal::new(false);
    let all_mistakes = Memo::new(move |_| {
        let mut all = if is_sent.get() { found() } else { Vec::new() };
        if let Some(Refusal::Refused(reason)) = watching.refusal.get() {
            let parameters = condition
                .get()
                .map(|condition| condition.parameters)
                .unwrap_or_default();
            let common = common.get();
            let keys = parameters.iter().chain(&common).map(|one| &*one.name);
            all.extend(refused(&reason, keys));
        }
        all
    });
    let state = Form {
        watching,
        mistakes: all_mistakes,
    };
    let form = move || Some(form(state, &condition.get()?, &common.get()));
    let submit = move || {
        is_sent.set(true);
        let first = untrack(found).into_iter().next();
        let Some((key, _)) = first else {
            watching.save();
            return;
        };
        // The first field with a mistake; it may be in the folded part.
        let field = document().query_selector(&format!(".editor [name='{key}']"));
        if let Ok(Some(field)) = field
            && let Some(field) = field.dyn_ref::<web_sys::HtmlElement>()
        {
            if let Ok(Some(folded)) = field.closest("details") {
                // If the part stays folded, the field still shows its mistake.
                let _ignored = folded.set_attribute("open", "");
            }
            let _ignored = field.focus();
        }
    };
    let is_new = move || watching.mode.get() == Mode::Edit(None);
    let model = use_model();
    let remove = move |_| {
        // The page no longer shows its hits.
        watching.draft.with_untracked(|draft| {
            model.leave_watchpoint(text(draft, "condition").unwrap_or_default());
        });
        watching.remove();
    };
    view! {
        <div class="head flex">
            <h2 class="grow">
                {move || {
                    let texts = i18n.texts().debugger();
                    if is_new() { texts.add } else { texts.edit }
                }}
            </h2>
            <IconButton
                icon=IconName::Close
                label=i18n.label(|t| t.debugger().cancel)
                on_press=move || watching.mode.set(Mode::List)
            />
        </div>
        <form
            class="scroll editor"
            on:submit=move |event| {
                event.prevent_default();
                submit();
            }
        >
            {form}
            <div class="acts">
                <button type="submit" class="btn primary">
                    {i18n.text(|t| t.debugger().save)}
                </button>
                <Show when=move || !is_new()>
                    <button type="button" class="btn danger" on:click=remove>
                        {i18n.text(|t| t.debugger().remove)}
                    </button>
                </Show>
            </div>
        </form>
    }
}

/// Draft and mistakes of the form.
#[derive(Clone, Copy)]
struct Form {
    watching: WatchpointsState,
    /// Keys with a mistake, in the order of the form; empty until the form was sent once.
    mistakes: Memo<Vec<(String, Mistake)>>,
}

impl Form {
    /// The mistake of a key; reactive.
    fn mistake(self, key: &str) -> Option<Mistake> {
        self.mistakes.with(|all| {
            let found = all.iter().find(|(name, _)| name == key);
            found.map(|(_, mistake)| mistake.clone())
        })
    }

    /// View of the mistake, below its field.
    fn mistake_at(self, key: &str) -> impl Fn() -> Option<AnyView> + Send + Sync + 'static {
        let i18n = use_i18n();
        let key = key.to_owned();
        move || {
            let texts = i18n.texts().debugger();
            let text = match self.mistake(&key)? {
                Mistake::Wrong(kind) => (texts.must_be)(kind).to_owned(),
                Mistake::NoLimit => texts.needs_limit.to_owned(),
                Mistake::Refused(reason) => reason,
            };
            let view = view! {
                <span class="mistake micro err" role="alert">
                    {text}
                </span>
            };
            Some(view.into_any())
        }
    }
}

fn form(form: Form, condition: &Condition, common: &[Parameter]) -> AnyView {
    let watching = form.watching;
    let i18n = use_i18n();
    let texts = i18n.texts().debugger();
    let (always, advanced): (Vec<&Parameter>, Vec<&Parameter>) =
        common.iter().partition(|one| ALWAYS.contains(&&*one.name));
    let fields = |some: Vec<&Parameter>| {
        let some = some.into_iter().map(|one| field(form, one));
        some.collect_view()
    };
    let (always, advanced) = (fields(always), fields(advanced));
    let part = |heading: &'static str, words: &trainscope_api::Sentence| {
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
        <Sentence form=form condition=condition.clone() />
        {move || other_refusal(form)}
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

/// Reason for which the server refused the draft, if the reason does not name a field.
fn other_refusal(form: Form) -> Option<AnyView> {
    let Some(Refusal::Refused(reason)) = form.watching.refusal.get() else {
        return None;
    };
    let is_at_field = form.mistakes.with(|all| !all.is_empty());
    (!is_at_field).then(|| {
        view! {
            <p class="small err" role="alert">
                {reason}
            </p>
        }
        .into_any()
    })
}

/// Drop-down list of severities.
fn severity(watching: WatchpointsState, usual: Severity) -> AnyView {
    let i18n = use_i18n();
    let texts = i18n.texts().debugger();
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

/// Text field or checkbox of a key, in a sentence or next to its label.
fn blank(form: Form, one: &Parameter, label: &str, node: NodeRef<Input>) -> AnyView {
    let watching = form.watching;
    let texts = &use_i18n().texts().debugger();
    let (name, key, kind) = (one.name.clone(), one.name.clone(), one.kind);
    let now = watching
        .draft
        .with_untracked(|draft| draft.0.get(&name).cloned());
    let title = format!("{name} {}", range(kind));
    let label = label.to_owned();
    if kind == ParameterKind::Switch {
        let is_set = match now {
            Some(Setting::Bool(yes)) => yes,
            _ => one.default.is_some_and(|Float(number)| number != 0.0),
        };
        return view! {
            <input
                type="checkbox"
                name=name
                checked=is_set
                on:change=move |event| {
                    let yes = event_target_checked(&event).to_string();
                    put(watching, &key, &yes, kind);
                }
            />
        }
        .into_any();
    }
    let default = match one.default {
        Some(Float(number)) => format::brief(number),
        None if one.is_limit => texts.off.to_owned(),
        None => String::new(),
    };
    let checked = name.clone();
    let is_wrong = move || form.mistake(&checked).is_some();
    view! {
        <input
            type="text"
            node_ref=node
            class:long=matches!(kind, ParameterKind::Text | ParameterKind::Names)
            name=name
            value=now.as_ref().map(shown).unwrap_or_default()
            placeholder=default
            aria-label=label
            aria-invalid=move || is_wrong().to_string()
            title=title
            autocomplete="off"
            spellcheck="false"
            on:input=move |event| put(watching, &key, &event_target_value(&event), kind)
        />
    }
    .into_any()
}

/// Row of one key: its meaning, its field, and the permitted values below. The title of the field is the key's name in
/// files.
fn field(form: Form, one: &Parameter) -> AnyView {
    let i18n = use_i18n();
    let help = i18n.words(&one.help);
    let below = match one.kind {
        ParameterKind::Names => i18n.texts().debugger().several,
        kind => range(kind),
    };
    let below = (!below.is_empty()).then(|| view! { <span class="help micro ink3">{below}</span> });
    view! {
        <label class="key">
            <span class="grow">{help.clone()}</span>
            {blank(form, one, &help, NodeRef::new())}
            {form.mistake_at(&one.name)}
            {below}
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

/// Puts typed text into the draft. Empty text removes the key.
fn put(watching: WatchpointsState, key: &str, typed: &str, kind: ParameterKind) {
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
