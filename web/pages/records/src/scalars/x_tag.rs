//! The last choice of the x axis: another scalar of the same runs.

use leptos::html;

use super::choices::XChoice;
use super::page::PageState;
use trainscope_web_kit::components::Popover;
use trainscope_web_kit::components::{Icon, IconName};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Maximum number of tags offered at once.
const MAX_OFFERED: usize = 60;

/// The button with the chosen scalar, and the list of scalars.
#[component]
pub(super) fn XTag(page: PageState) -> impl IntoView {
    let i18n = use_i18n();
    let settings = page.settings;
    let is_open = RwSignal::new(false);
    let is_chosen = Signal::derive(move || settings.x.get() == XChoice::Tag);
    let shown = move || {
        let name = settings.x_tag.get();
        name.unwrap_or_else(|| i18n.texts().scalars().x_tag.to_owned())
    };
    let face = ViewFn::from(move || view! { <span class="cut">{shown()}</span> });
    // The label begins with the visible text.
    let label =
        Signal::derive(move || format!("{}: {}", shown(), i18n.texts().scalars().x_tag_title));
    view! {
        <Popover
            is_open=is_open
            label=label
            class="btn x-tag"
            panel_class="popover x-tags"
            pressed=is_chosen
            face=face
        >
            <Chooser page=page is_open=is_open />
        </Popover>
    }
}

#[component]
fn Chooser(page: PageState, is_open: RwSignal<bool>) -> impl IntoView {
    let i18n = use_i18n();
    let settings = page.settings;
    let text = RwSignal::new(String::new());
    let field = NodeRef::<html::Input>::new();
    Effect::new(move || {
        if let Some(field) = field.get() {
            // Without the focus, the field can still be clicked.
            let _ignored = field.focus();
        }
    });
    let offered = Memo::new(move |_| {
        let wanted = text.get().to_lowercase();
        page.entries.with(|entries| {
            let tags = entries.iter().map(|entry| &entry.tag);
            let found = tags.filter(|tag| tag.to_lowercase().contains(&wanted));
            found.take(MAX_OFFERED).cloned().collect::<Vec<_>>()
        })
    });
    let choose = move |tag: &str| {
        is_open.set(false);
        settings.set_x(XChoice::Tag, Some(tag));
    };
    let on_key = move |event: web_sys::KeyboardEvent| {
        if event.key() == "Enter"
            && let Some(tag) = offered.with_untracked(|offered| offered.first().cloned())
        {
            choose(&tag);
        }
    };
    view! {
        <div class="field">
            <Icon name=IconName::Search size=14 />
            <input
                class="bare-input"
                node_ref=field
                aria-label=i18n.text(|t| t.scalars().x_tag_title)
                placeholder=i18n.text(|t| t.scalars().x_tag_title)
                on:input=move |event| text.set(event_target_value(&event))
                on:keydown=on_key
            />
        </div>
        <ul class="hits">
            <For each=move || offered.get() key=Clone::clone let:tag>
                {
                    let (name, title) = (tag.clone(), tag.clone());
                    view! {
                        <li>
                            <button
                                type="button"
                                class="hit"
                                title=title
                                on:click=move |_| choose(&tag)
                            >
                                <span class="cut">{name}</span>
                            </button>
                        </li>
                    }
                }
            </For>
        </ul>
    }
}
