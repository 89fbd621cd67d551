//! Questions of the bar before commands that may cost other users time.

use trainscope_api::sessions::{HoldMode, Session, SessionCommand, SessionState};

use super::{Bar, connected, may_pause, may_stop};
use trainscope_web_kit::components::{IconName, ToolButton};
use trainscope_web_kit::i18n::{SessionTexts, use_i18n};
use trainscope_web_kit::prelude::*;

/// A question about a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Pause although not all ranks are connected.
    Partial,
    /// Hold each rank separately.
    Each,
    Stop,
}

impl Question {
    /// `true` while the session is in a state in which the command is possible.
    pub(super) const fn applies(self, state: SessionState) -> bool {
        match self {
            Self::Partial => may_pause(state),
            Self::Each => matches!(state, SessionState::Running),
            Self::Stop => may_stop(state),
        }
    }

    fn text(self, session: &Session, texts: &SessionTexts) -> String {
        match self {
            Self::Partial => {
                (texts.partial_question)(connected(session), session.world_size.into())
            }
            Self::Each => texts.each_question.to_owned(),
            Self::Stop => texts.stop_question.to_owned(),
        }
    }

    const fn label(self, texts: &SessionTexts) -> &'static str {
        match self {
            Self::Partial => texts.pause_these,
            Self::Each => texts.hold_each,
            Self::Stop => texts.stop,
        }
    }

    /// The answer that changes nothing.
    const fn no(self, texts: &SessionTexts) -> &'static str {
        match self {
            Self::Partial | Self::Stop => texts.keep,
            Self::Each => texts.hold_together,
        }
    }

    const fn icon(self) -> IconName {
        match self {
            Self::Partial | Self::Each => IconName::Pause,
            Self::Stop => IconName::Stop,
        }
    }

    const fn command(self) -> SessionCommand {
        match self {
            Self::Partial => SessionCommand::Pause { partial: true },
            Self::Each => SessionCommand::Hold {
                mode: HoldMode::Each,
            },
            Self::Stop => SessionCommand::Stop,
        }
    }
}

/// A question with its two answers.
#[component]
pub(super) fn AskQuestion(bar: Bar, question: Question) -> impl IntoView {
    let i18n = use_i18n();
    let text = move || {
        bar.session.with(|session| {
            let session = session.as_ref()?;
            Some(question.text(session, i18n.texts().session()))
        })
    };
    view! {
        <span class="small warn">{text}</span>
        <ToolButton
            icon=question.icon()
            class="primary"
            label=Signal::derive(move || question.label(i18n.texts().session()).to_owned())
            on_press=move || {
                bar.question.set(None);
                bar.command(question.command());
            }
        />
        <button type="button" class="btn" on:click=move |_| bar.question.set(None)>
            {move || question.no(i18n.texts().session())}
        </button>
    }
}
