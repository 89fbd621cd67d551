//! Display of a run: its chip and its status.

use trainscope_api::runs::RunStatus;

use super::{Icon, IconName};
use crate::i18n::use_i18n;
use crate::live::use_live;
use crate::prelude::*;
use crate::run_colour::use_run_colours;

/// The chip in the run's colour.
#[component]
pub fn RunChip(
    /// Name of the run; may change.
    #[prop(into)]
    run: Signal<String>,
) -> impl IntoView {
    let colours = use_run_colours();
    let colour = move || run.with(|run| colours.get(run));
    view! { <i class=move || colour().chip_class() data-colour=move || colour().index()></i> }
}

/// The status of a run: dot or icon, and its word. Without a connection it is unknown whether a live run still is.
#[component]
pub fn RunStatusLabel(
    /// The status; may change.
    #[prop(into)]
    status: Signal<RunStatus>,
    /// `true` while its training waits in a live session.
    #[prop(into)]
    waits: Signal<bool>,
) -> impl IntoView {
    let i18n = use_i18n();
    let live = use_live();
    view! {
        {move || {
            let texts = i18n.texts().frame();
            match status.get() {
                _ if waits.get() => {
                    view! {
                        <span class="flex status-waiting" data-status="waiting">
                            <i class="dot wait" aria-hidden="true"></i>
                            {i18n.texts().frame().waiting}
                        </span>
                    }
                        .into_any()
                }
                RunStatus::Live if live.is_lost() => {
                    view! { <span class="flex status ink3">{texts.unknown}</span> }.into_any()
                }
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
