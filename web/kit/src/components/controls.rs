//! Buttons, a segmented control and a checkbox.

use leptos::callback::UnsyncCallback;

use super::{Icon, IconName};
use crate::i18n::use_i18n;
use crate::prelude::*;

/// A button with an icon only; `label` describes its action.
#[component]
pub fn IconButton(
    /// The icon; may change.
    #[prop(into)]
    icon: Signal<IconName>,
    /// Its action, for screen readers and as a title.
    #[prop(into)]
    label: Signal<String>,
    /// Size of the icon in pixels.
    #[prop(default = 14)]
    size: u32,
    /// True if it is pressed, for switches.
    #[prop(optional, into)]
    pressed: Option<Signal<bool>>,
    /// More classes.
    #[prop(default = "")]
    class: &'static str,
    /// Handler of a press.
    #[prop(into)]
    on_press: UnsyncCallback<()>,
) -> impl IntoView {
    view! {
        <button
            type="button"
            class=format!("btn bare icon {class}")
            aria-label=move || label.get()
            title=move || label.get()
            aria-pressed=move || pressed.map(|pressed| pressed.get().to_string())
            on:click=move |_| on_press.run(())
        >
            <Icon name=icon size=size />
        </button>
    }
}

/// A button with an icon and a word, for toolbars.
#[component]
pub fn ToolButton(
    icon: IconName,
    /// The word.
    #[prop(into)]
    label: Signal<String>,
    /// True if it is pressed, for switches.
    #[prop(optional, into)]
    pressed: Option<Signal<bool>>,
    /// The key that does the same.
    #[prop(optional)]
    key: Option<&'static str>,
    /// More classes: `bare`, `primary`, `hide-narrow`.
    #[prop(default = "")]
    class: &'static str,
    /// Handler of a press.
    #[prop(into)]
    on_press: UnsyncCallback<()>,
) -> impl IntoView {
    view! {
        <button
            type="button"
            class=format!("btn {class}")
            aria-pressed=move || pressed.map(|pressed| pressed.get().to_string())
            on:click=move |_| on_press.run(())
        >
            <Icon name=icon size=14 />
            {move || label.get()}
            {key.map(|key| view! { <kbd aria-hidden="true">{key}</kbd> })}
        </button>
    }
}

/// A text below its label.
#[component]
pub fn TextField(
    #[prop(into)] label: Signal<String>,
    /// Its name in the form.
    name: &'static str,
    value: RwSignal<String>,
    /// Example of a value.
    #[prop(optional)]
    placeholder: Option<&'static str>,
    /// Maximum length of the text, in characters.
    #[prop(optional)]
    maxlength: Option<usize>,
) -> impl IntoView {
    view! {
        <label class="field-label">
            <span class="small ink2">{move || label.get()}</span>
            <input
                class="field"
                type="text"
                name=name
                autocomplete="off"
                placeholder=placeholder
                maxlength=maxlength.map(|limit| limit.to_string())
                prop:value=move || value.get()
                on:input=move |event| value.set(event_target_value(&event))
            />
        </label>
    }
}

/// One choice of a [`Segmented`] control.
#[derive(Clone, PartialEq)]
pub struct SegOption<T> {
    /// Value of the option.
    pub value: T,
    /// Its word; read again when the language changes.
    pub label: Signal<String>,
}

/// Radio buttons side by side.
#[component]
pub fn Segmented<T>(
    /// Label of the choice, for screen readers.
    #[prop(into)]
    label: Signal<String>,
    /// The choices, from left to right.
    options: Vec<SegOption<T>>,
    /// The selected value.
    #[prop(into)]
    value: Signal<T>,
    /// Handler of a selection.
    on_choose: impl Fn(T) + Clone + 'static,
) -> impl IntoView
where
    T: Clone + PartialEq + Send + Sync + 'static,
{
    let buttons = options
        .into_iter()
        .map(|option| {
            let on_choose = on_choose.clone();
            let chosen = option.value.clone();
            let mine = option.value;
            let word = option.label;
            view! {
                <button
                    type="button"
                    aria-pressed=move || value.with(|value| *value == mine).to_string()
                    on:click=move |_| on_choose(chosen.clone())
                >
                    {move || word.get()}
                </button>
            }
        })
        .collect_view();
    view! {
        <div class="seg" role="group" aria-label=move || label.get()>
            {buttons}
        </div>
    }
}

/// The button that makes a card fill the page, and back.
#[component]
pub fn FullButton(
    /// True if the card fills the page.
    #[prop(into)]
    is_full: Signal<bool>,
    /// Handler of a press.
    #[prop(into)]
    on_press: UnsyncCallback<()>,
) -> impl IntoView {
    let i18n = use_i18n();
    let icon = move || {
        if is_full.get() {
            IconName::Close
        } else {
            IconName::Full
        }
    };
    let label = move || {
        let texts = i18n.texts().scalars();
        if is_full.get() {
            texts.small.to_owned()
        } else {
            texts.full.to_owned()
        }
    };
    view! {
        <IconButton
            icon=Signal::derive(icon)
            size=12
            label=Signal::derive(label)
            on_press=on_press
        />
    }
}

/// A checkbox styled with the design tokens; `some` is the mixed state of a box over several.
#[component]
pub fn Check(
    #[prop(into)] checked: Signal<bool>,
    /// True if some but not all below it are checked.
    #[prop(optional, into)]
    some: Signal<bool>,
    /// Label for screen readers.
    #[prop(into)]
    label: Signal<String>,
    /// Handler of a press.
    #[prop(into)]
    on_press: UnsyncCallback<()>,
) -> impl IntoView {
    view! {
        <button
            type="button"
            class="check"
            class:on=move || checked.get()
            class:some=move || some.get() && !checked.get()
            role="checkbox"
            aria-checked=move || {
                if checked.get() {
                    "true"
                } else if some.get() {
                    "mixed"
                } else {
                    "false"
                }
            }
            aria-label=move || label.get()
            on:click=move |event| {
                event.stop_propagation();
                on_press.run(());
            }
        >
            <Show when=move || checked.get()>
                <Icon name=IconName::Tick size=12 />
            </Show>
        </button>
    }
}
