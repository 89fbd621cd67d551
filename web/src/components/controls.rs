//! Buttons, a segmented control and a tick box.

use leptos::callback::UnsyncCallback;

use super::{Icon, IconName};
use crate::prelude::*;

/// A bare button that is only an icon; `label` says what it does.
#[component]
pub fn IconButton(
    /// The icon; may change.
    #[prop(into)]
    icon: Signal<IconName>,
    /// What it does, for screen readers and as a title.
    #[prop(into)]
    label: Signal<String>,
    /// Size of the icon in pixels.
    #[prop(default = 14)]
    size: u32,
    /// Whether it is held down, for switches.
    #[prop(optional, into)]
    pressed: Option<Signal<bool>>,
    /// More classes.
    #[prop(default = "")]
    class: &'static str,
    /// What happens.
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
    /// The icon.
    icon: IconName,
    /// The word.
    #[prop(into)]
    label: Signal<String>,
    /// Whether it is held down, for switches.
    #[prop(optional, into)]
    pressed: Option<Signal<bool>>,
    /// More classes: `bare`, `primary`, `hide-narrow`.
    #[prop(default = "")]
    class: &'static str,
    /// What happens.
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
        </button>
    }
}

/// One choice of a [`Segmented`] control.
#[derive(Clone, PartialEq)]
pub struct SegOption<T> {
    /// What is chosen.
    pub value: T,
    /// Its word; read again when the language changes.
    pub label: Signal<String>,
}

/// One of a few choices, side by side.
#[component]
pub fn Segmented<T>(
    /// What is chosen among, for screen readers.
    #[prop(into)]
    label: Signal<String>,
    /// The choices, from left to right.
    options: Vec<SegOption<T>>,
    /// What is chosen now.
    #[prop(into)]
    value: Signal<T>,
    /// What happens when another one is chosen.
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

/// A tick box that draws itself like the tokens; `some` is the state of a box over several.
#[component]
pub fn Check(
    /// Whether it is ticked.
    #[prop(into)]
    checked: Signal<bool>,
    /// Whether some but not all below it are ticked.
    #[prop(optional, into)]
    some: Signal<bool>,
    /// What is ticked, for screen readers.
    #[prop(into)]
    label: Signal<String>,
    /// What happens.
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
