//! Commands of the bar that the state of the session allows.

use trainscope_api::sessions::{Session, SessionCommand, SessionState};
use trainscope_format::session::PauseLevel;

use super::keep::KeepMenu;
use super::question::Question;
use super::{Bar, may_pause, may_stop};
use crate::session_nodes::NodeMenu;
use trainscope_web_kit::components::{IconName, ToolButton};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Levels in the order of their texts.
const LEVELS: [(PauseLevel, &str); 4] = [
    (PauseLevel::Error, "error"),
    (PauseLevel::Warning, "warning"),
    (PauseLevel::Info, "info"),
    (PauseLevel::Never, "never"),
];

/// Buttons and fields of all commands.
#[component]
pub(super) fn Commands(bar: Bar) -> impl IntoView {
    let i18n = use_i18n();
    let may_pause = bar.has_state(may_pause);
    let may_go_on = bar.has_state(|state| {
        use SessionState::{Pausing, Stepping, Waiting};
        matches!(state, Waiting | Pausing | Stepping)
    });
    let can_step =
        bar.has_state(|state| matches!(state, SessionState::Running | SessionState::Waiting));
    let may_stop = bar.has_state(may_stop);
    let is_off = move || {
        let off =
            |session: &Session| session.is_pausing_off && session.state == SessionState::Running;
        bar.session
            .with(|session| session.as_deref().is_some_and(off))
    };
    let steps = bar.steps;
    let count = move |event: web_sys::Event| {
        // An empty field is being edited.
        if let Ok(typed) = event_target_value(&event).parse::<u64>() {
            steps.set(typed.clamp(1, 1_000_000));
        }
    };
    view! {
        <Show when=is_off>
            <button
                type="button"
                class="link small"
                on:click=move |_| bar.ask(Question::Each)
            >
                {i18n.text(|t| t.session().hold_each)}
            </button>
        </Show>
        <Show when=move || may_pause.get()>
            <Level bar />
            <ToolButton
                icon=IconName::Pause
                label=i18n.label(|t| t.session().pause)
                key="F8"
                on_press=move || bar.pause()
            />
        </Show>
        <Show when=move || may_go_on.get()>
            <ToolButton
                icon=IconName::Play
                class="primary"
                label=i18n.label(|t| t.session().go_on)
                key="F8"
                on_press=move || bar.command(SessionCommand::Continue)
            />
        </Show>
        <Show when=move || can_step.get()>
            <span class="flex step-count">
                <button
                    type="button"
                    class="btn"
                    on:click=move |_| bar.command(SessionCommand::Step { n: steps.get_untracked() })
                >
                    {i18n.text(|t| t.session().step)}
                    <kbd aria-hidden="true">"F10"</kbd>
                </button>
                <input
                    class="field"
                    type="number"
                    min="1"
                    max="1000000"
                    name="steps"
                    aria-label=i18n.text(|t| t.session().steps)
                    prop:value=move || steps.get().to_string()
                    on:input=count
                />
            </span>
        </Show>
        <NodeMenu session=bar.session on_answer=move |error| bar.told(error) />
        <KeepMenu bar />
        <Show when=move || may_stop.get()>
            <ToolButton
                icon=IconName::Stop
                label=i18n.label(|t| t.session().stop)
                on_press=move || bar.ask(Question::Stop)
            />
        </Show>
    }
}

/// Choice of the minimum severity of hits that pause.
#[component]
fn Level(bar: Bar) -> impl IntoView {
    let i18n = use_i18n();
    let level = Memo::new(move |_| {
        bar.session
            .with(|session| session.as_ref().map(|session| session.level))
    });
    let options = move || {
        let current = level.get();
        let names = i18n.texts().session().levels;
        let all = LEVELS.iter().zip(names).map(|((level, key), name)| {
            let is_current = Some(*level) == current;
            view! { <option value=*key selected=is_current>{name}</option> }
        });
        all.collect_view()
    };
    let choose = move |event: web_sys::Event| {
        let key = event_target_value(&event);
        if let Some((level, _)) = LEVELS.iter().find(|(_, name)| *name == key) {
            bar.command(SessionCommand::Pausing { level: *level });
        }
    };
    view! {
        <label class="flex small ink2 hide-narrow">
            {i18n.text(|t| t.session().pauses_at)}
            <select class="field" name="level" on:change=choose>
                {options}
            </select>
        </label>
    }
}
