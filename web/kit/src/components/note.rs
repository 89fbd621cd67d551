//! A line with a fact and its remedy: 36 pixels high, never over content.

use super::{Icon, IconName};
use crate::prelude::*;

/// Prominence of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// Something to know.
    Plain,
    /// Something to act on.
    Warning,
}

/// A note: a fact in bold, the remedy, and at most one action as children.
#[component]
pub fn Note(
    /// Prominence.
    #[prop(default = NoteKind::Plain)]
    kind: NoteKind,
    icon: IconName,
    /// The fact.
    #[prop(into)]
    title: Signal<String>,
    /// Consequence, or next step.
    #[prop(into)]
    next: Signal<String>,
    /// The action: a link or a button of class `link`.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let warning = kind == NoteKind::Warning;
    view! {
        <div class="note" class:warning=warning role="status">
            <span class=if warning { "warn" } else { "ink2" }>
                <Icon name=icon size=14 />
            </span>
            <span class="cut" title=move || next.get()>
                <b class="med">{move || title.get()}</b>
                " "
                <span class="ink2">{move || next.get()}</span>
            </span>
            <span class="grow"></span>
            {children.map(|children| children())}
        </div>
    }
}
