//! How a run is named wherever it is named: its chip, its folder, its short name, its status.

use leptos::prelude::*;
use trainscope_api::runs::RunStatus;

use super::{Icon, IconName};
use crate::i18n::use_i18n;
use crate::run_colour::use_run_colours;

/// The chip in the run's colour.
#[component]
pub fn RunChip(
    /// Name of the run; may change.
    #[prop(into)]
    run: Signal<String>,
) -> impl IntoView {
    let colours = use_run_colours();
    view! { <i class=move || run.with(|run| colours.get(run)).chip_class()></i> }
}

/// The status of a run: dot or icon, and its word.
#[component]
pub fn RunStatusLabel(
    /// The status; may change.
    #[prop(into)]
    status: Signal<RunStatus>,
) -> impl IntoView {
    let i18n = use_i18n();
    view! {
        {move || {
            let texts = &i18n.texts().frame;
            match status.get() {
                RunStatus::Live => {
                    view! {
                        <span class="flex status live">
                            <i class="dot live"></i>
                            {texts.live}
                        </span>
                    }
                        .into_any()
                }
                RunStatus::Stopped => {
                    view! { <span class="flex status ink2">{texts.stopped}</span> }.into_any()
                }
                RunStatus::Gone => {
                    view! {
                        <span class="flex status ink3">
                            <Icon name=IconName::Gone size=12 />
                            {texts.gone}
                        </span>
                    }
                        .into_any()
                }
            }
        }}
    }
}

/// Folder and last segment of a run's name: `a/b/c` is (`a/b`, `c`).
pub fn split_name(run: &str) -> (&str, &str) {
    run.rsplit_once('/').unwrap_or(("", run))
}

/// The last segment of a run's name.
pub fn short_name(run: &str) -> &str {
    split_name(run).1
}
