//! The bar of a live session: its state in words, and commands for the training.

mod commands;
mod keep;
mod question;
mod ranks;

use std::sync::Arc;
use std::time::Duration;

use leptos::task::spawn_local;
use trainscope_api::Sentence;
use trainscope_api::runs::{File, Run, RunStatus};
use trainscope_api::sessions::{
    AttachRequest, Session, SessionCommand, SessionNoteKind, SessionRankState, SessionState,
};
use trainscope_api::status::AccessRole;
use trainscope_format::session::{ByeReason, HoldReason, PauseLevel};

use self::commands::Commands;
use self::question::{AskQuestion, Question};
use self::ranks::Ranks;
use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::components::{IconName, Needs, ToolButton};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{I18n, SessionTexts, use_i18n};
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route::{self, use_place};
use trainscope_web_kit::sessions::{Sessions, use_sessions};
use trainscope_web_kit::state::use_app_state;

/// Seconds that a press adds to a pause.
const MORE_SECS: u64 = 600;
/// Interval of the countdown.
const TICK: Duration = Duration::from_secs(1);

/// Maximum time for the answer of a listening training. Its collector checks for requests each second.
const PATIENCE: Duration = Duration::from_secs(10);

/// State of the bar. `Copy`.
#[derive(Clone, Copy)]
struct Bar {
    session: Memo<Option<Arc<Session>>>,
    /// Answer to the last command, if it was refused.
    refusal: RwSignal<Option<String>>,
    sessions: Sessions,
    unreachable: Signal<String>,
    /// Number of steps of the *Step* command.
    steps: RwSignal<u64>,
    /// Open question before a command, and the id of its session.
    question: RwSignal<Option<(Question, String)>>,
}

impl Bar {
    /// Sends a command for the session in its shown state.
    fn command(self, command: SessionCommand) {
        if let Some(session) = self.session.get_untracked() {
            self.sessions
                .command(&session, command, move |error| self.told(error));
        }
    }

    fn ask(self, question: Question) {
        let id = self
            .session
            .with_untracked(|session| session.as_ref().map(|session| session.id.clone()));
        self.question.set(id.map(|id| (question, id)));
    }

    /// Pauses all ranks, or asks first if not all are connected.
    fn pause(self) {
        let is_partial = self.session.with_untracked(|session| {
            session
                .as_ref()
                .is_some_and(|session| connected(session) < session.world_size.into())
        });
        if is_partial {
            self.ask(Question::Partial);
        } else {
            self.command(SessionCommand::Pause { partial: false });
        }
    }

    /// `true` while the session is in a state that `wanted` accepts.
    fn has_state(self, wanted: fn(SessionState) -> bool) -> Signal<bool> {
        Signal::derive(move || {
            self.session.with(|session| {
                session
                    .as_ref()
                    .is_some_and(|session| wanted(session.state))
            })
        })
    }

    fn attach(self, run: String) {
        let request = AttachRequest {
            run,
            level: PauseLevel::Error,
        };
        spawn_local(async move {
            let answer = client::session_attach(&request).await;
            self.told(answer.err());
            self.sessions.ask_again();
        });
    }

    fn told(self, error: Option<ClientError>) {
        let text = error.map(|error| error.message_or(&self.unreachable.get_untracked()));
        // The page may have been left.
        self.refusal.try_set(text);
    }
}

/// Bar of the run in the address; nothing if the run neither has a session nor is live.
#[component]
pub fn SessionBar() -> impl IntoView {
    let place = use_place();
    let run = Memo::new(move |_| place.with(|place| place.run().unwrap_or_default().to_owned()));
    let i18n = use_i18n();
    let state = use_app_state();
    let sessions = use_sessions();
    let session = Memo::new(move |_| run.with(|run| sessions.of_run(run)).map(Arc::new));
    let bar = Bar {
        session,
        refusal: RwSignal::new(None),
        sessions,
        unreachable: i18n.label(|t| t.session().unreachable),
        steps: RwSignal::new(1),
        question: RwSignal::new(None),
    };
    let is_over = move || {
        session.with(|session| {
            session
                .as_ref()
                .is_none_or(|session| session.state.is_over())
        })
    };
    let may_attach = Memo::new(move |_| {
        let run = run.with(|run| state.run(run));
        run.is_some_and(|run| run.status == RunStatus::Live && may_listen(&run))
    });
    use_keys(move |key, event| {
        let Some(session) = session.get_untracked() else {
            return false;
        };
        let waits = session.state == SessionState::Waiting;
        if key == "F8" && session.state == SessionState::Running {
            bar.pause();
            return true;
        }
        let command = match key {
            "F8" if waits && event.shift_key() => SessionCommand::Step {
                n: bar.steps.get_untracked(),
            },
            "F8" if waits => SessionCommand::Continue,
            "F10" if waits => SessionCommand::Step { n: 1 },
            _ => return false,
        };
        bar.command(command);
        true
    });
    // Run that was asked to connect; `true` once its time to answer has passed.
    let asked = RwSignal::new(None::<(String, bool)>);
    let attach = move || {
        view! {
            <div class="session-bar" role="region" aria-label=i18n.text(|t| t.session().bar)>
                <span class="dot live"></span>
                <span class="small ink2">
                    {move || {
                        let texts = i18n.texts().session();
                        let asked = asked.get().filter(|asked| asked.0 == run.get());
                        match asked.filter(|_| bar.refusal.with(Option::is_none)) {
                            Some((_, true)) => texts.no_answer,
                            Some((_, false)) => texts.asked,
                            None => texts.not_connected,
                        }
                    }}
                </span>
                <span class="grow"></span>
                <Refusal bar />
                <ToolButton
                    icon=IconName::Play
                    label=i18n.label(|t| t.session().attach)
                    on_press=move || {
                        let run = run.get_untracked();
                        asked.set(Some((run.clone(), false)));
                        bar.attach(run.clone());
                        let give_up = move || {
                            // The page may have been left.
                            asked
                                .try_update(|asked| {
                                    if let Some(asked) = asked.as_mut().filter(|asked| asked.0 == run) {
                                        asked.1 = true;
                                    }
                                });
                        };
                        set_timeout(give_up, PATIENCE);
                    }
                />
            </div>
        }
    };
    view! {
        <Show when=move || session.with(Option::is_some)>
            <Connected bar />
        </Show>
        <Show when=move || is_over() && may_attach.get()>{attach()}</Show>
    }
}

/// `false` if the files of a run are not from a collector; only collectors connect. They name event files by process
/// and number, like `PyTorch` and unlike tensorboardX and `TensorFlow`.
fn may_listen(run: &Run) -> bool {
    let of_collector = |file: &File| {
        let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let after_host = name.strip_prefix("events.out.tfevents.");
        let mut parts = after_host
            .into_iter()
            .flat_map(|rest| rest.split('.').skip(1));
        // The host name may contain numbers, too; a suffix may follow.
        let is_named =
            parts.any(|part| is_number(&part)) && parts.next().as_ref().is_some_and(is_number);
        file.format == "tfevents" && is_named
    };
    run.files.iter().any(of_collector)
}

/// Answer of the server to a refused command.
#[component]
fn Refusal(bar: Bar) -> impl IntoView {
    move || {
        bar.refusal
            .get()
            .map(|text| view! { <span class="small warn cut" role="alert">{text}</span> })
    }
}

#[component]
fn Connected(bar: Bar) -> impl IntoView {
    let i18n = use_i18n();
    let session = move || bar.session.get().as_deref().cloned().unwrap_or_default();
    // Time of the browser in milliseconds at which the pause ends. The countdown continues between two answers.
    let ends_millis = Memo::new(move |_| {
        let secs = bar.session.get()?.goes_on_secs?;
        Some(format::now_millis() + secs * 1_000.0)
    });
    let now = RwSignal::new(format::now_millis());
    let ticking = set_interval_with_handle(
        move || {
            now.try_set(format::now_millis());
        },
        TICK,
    );
    on_cleanup(move || {
        if let Ok(handle) = ticking {
            handle.clear();
        }
    });
    let rest = move || {
        let ends = ends_millis.get()?;
        let secs = format::whole(((ends - now.get()) / 1_000.0).max(0.0));
        let text = if secs < 3_600 {
            format!("{}:{:02}", secs / 60, secs % 60)
        } else {
            format::duration(secs as f64)
        };
        Some((i18n.texts().session().goes_on)(&text))
    };
    let waits = bar.has_state(|state| state == SessionState::Waiting);
    let question = Memo::new(move |_| {
        let (open, id) = bar.question.get()?;
        bar.session.with(|session| {
            let session = session.as_ref().filter(|session| session.id == id)?;
            open.applies(session.state).then_some(open)
        })
    });
    let more = move || {
        view! {
            <span class="small cut" data-part="reason" title=move || reason(&session(), i18n)>
                {move || reason(&session(), i18n)}
            </span>
            <span class="small ink2 once">{rest}</span>
            <Needs role=AccessRole::Manage>
                <button
                    type="button"
                    class="link small"
                    on:click=move |_| bar.command(SessionCommand::Extend { secs: MORE_SECS })
                >
                    {i18n.text(|t| t.session().more_time)}
                </button>
            </Needs>
            <a
                class="link small"
                data-part="now"
                href=move || values_href(&session())
                title=i18n.text(|t| t.session().now_title)
            >
                {i18n.text(|t| t.session().live_values)}
            </a>
        }
    };
    view! {
        <div
            class="session-bar"
            class:waiting=move || waits.get()
            role="region"
            aria-label=i18n.text(|t| t.session().bar)
            data-state=move || state_key(session().state)
        >
            <span class="dot"></span>
            <b class="med small" role="status">
                {move || sentence(&session(), i18n.texts().session())}
            </b>
            <Show when=move || waits.get()>{more()}</Show>
            <span class="small warn cut">{move || note(&session(), i18n.texts().session())}</span>
            <span class="grow"></span>
            <Refusal bar />
            <Ranks bar />
            {move || match question.get() {
                Some(question) => view! { <AskQuestion bar question /> }.into_any(),
                None => view! { <Needs role=AccessRole::Manage><Commands bar /></Needs> }.into_any(),
            }}
        </div>
    }
}

/// `true` in states that allow a pause.
const fn may_pause(state: SessionState) -> bool {
    matches!(state, SessionState::Running | SessionState::Stepping)
}

/// `true` in states that allow a request to end the training.
const fn may_stop(state: SessionState) -> bool {
    !matches!(
        state,
        SessionState::Stopping | SessionState::Finished | SessionState::Lost
    )
}

/// Number of ranks that can be paused.
fn connected(session: &Session) -> u64 {
    let is_there = |state| !matches!(state, SessionRankState::Lost | SessionRankState::Ended);
    session
        .ranks
        .iter()
        .filter(|rank| is_there(rank.state))
        .count() as u64
}

/// Link to the values in memory of the tensor with the first hit, else of the first tensor in the list.
fn values_href(session: &Session) -> String {
    let run = session.run.clone().unwrap_or_default();
    let hit = session.hits.first().map(|hit| hit.tensor.as_str());
    let held = session.ranks.iter();
    let mut held = held.filter(|rank| rank.state == SessionRankState::Held);
    route::tensor_now_href(&run, hit, held.next().map_or(0, |rank| rank.rank))
}

/// Reason of a pause. For a hit it includes the sentence of the hit, which is available before the files are read.
fn reason(session: &Session, i18n: I18n) -> Option<String> {
    let texts = i18n.texts().session();
    let reason = session.reason?;
    let word = texts.reasons[reason_place(reason)];
    let hit = session.hits.first().filter(|_| reason == HoldReason::Hit);
    Some(match hit {
        Some(hit) => {
            let words = Sentence {
                en: hit.sentence.en.clone(),
                zh: hit.sentence.zh.clone(),
            };
            let more = session.hits_total.saturating_sub(1);
            let sentence = (texts.hits)(&i18n.words_of(&words, &hit.tensor), more);
            format!("{word} · {sentence}")
        }
        // New watchpoints have no hit at this step.
        None if reason == HoldReason::Hit => texts.no_hit_now.to_owned(),
        None => word.to_owned(),
    })
}

/// Name of a state in the API.
fn state_key(state: SessionState) -> &'static str {
    match state {
        SessionState::Joining => "joining",
        SessionState::Running => "running",
        SessionState::Pausing => "pausing",
        SessionState::Waiting => "waiting",
        SessionState::Stepping => "stepping",
        SessionState::Stopping => "stopping",
        SessionState::Finished => "finished",
        SessionState::Lost => "lost",
    }
}

fn sentence(session: &Session, texts: &SessionTexts) -> String {
    let step = format::integer(session.step);
    let waiting = || {
        let held = session.ranks.iter();
        held.filter(|rank| rank.state == SessionRankState::Held)
            .count() as u64
    };
    match session.state {
        SessionState::Joining => {
            (texts.joining)(session.ranks.len() as u64, session.world_size.into())
        }
        SessionState::Running => {
            let of = session.total_steps.map(format::integer);
            (texts.running)(&step, of.as_deref())
        }
        SessionState::Pausing => (texts.pausing)(waiting(), session.world_size.into()),
        SessionState::Waiting if session.waits_apart() => {
            (texts.waiting_apart)(waiting(), session.world_size.into())
        }
        SessionState::Waiting => match session.place.as_deref() {
            Some("before_update") => (texts.before_update)(&step),
            Some(place) if place.starts_with("node:") => {
                (texts.at_node)(&step, place.trim_start_matches("node:"))
            }
            _ => (texts.after_step)(&step),
        },
        SessionState::Stepping => {
            let [done, of] = session.steps.unwrap_or_default();
            (texts.stepping)(done, of)
        }
        SessionState::Stopping => texts.stopping.to_owned(),
        SessionState::Lost => (texts.lost)(&format::duration(session.since_secs)),
        SessionState::Finished => match session.end {
            Some(ByeReason::Stopped) => (texts.stopped)(&step),
            Some(ByeReason::Failed) => (texts.failed)(&step),
            Some(ByeReason::Interrupted) => (texts.interrupted)(&step),
            _ => (texts.finished)(&step),
        },
    }
}

fn reason_place(reason: HoldReason) -> usize {
    match reason {
        HoldReason::Hit => 0,
        HoldReason::Asked => 1,
        HoldReason::Steps => 2,
        HoldReason::Node => 3,
        HoldReason::Start => 4,
    }
}

/// Newest note with its rank, unless it no longer applies.
fn note(session: &Session, texts: &SessionTexts) -> Option<String> {
    let last = session.notes.last()?;
    let is_true = match last.kind {
        SessionNoteKind::PausingOff => session.is_pausing_off,
        SessionNoteKind::NotAllJoined => connected(session) < session.world_size.into(),
        _ => true,
    };
    if !is_true {
        return None;
    }
    let text = texts.notes[match last.kind {
        SessionNoteKind::Unaligned => 0,
        SessionNoteKind::PausingOff => 1,
        SessionNoteKind::HoldOver => 2,
        SessionNoteKind::RankLost => 3,
        SessionNoteKind::Interrupted => 4,
        SessionNoteKind::NotAllJoined => 5,
        SessionNoteKind::RuleHit => 6,
    }];
    Some(match last.rank {
        Some(rank) => format!("{}{}{text}", (texts.rank_name)(rank), texts.colon),
        None => text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use trainscope_api::sessions::{HoldMode, SessionNote, SessionRank};

    use super::*;
    use trainscope_web_kit::i18n::Locale;

    fn session(state: SessionState) -> Session {
        Session {
            state,
            step: 2_731,
            world_size: 4,
            ..Session::default()
        }
    }

    #[test]
    fn each_state_has_a_sentence_in_both_languages() {
        for locale in [Locale::En, Locale::Zh] {
            let texts = locale.texts().session();
            for state in [
                SessionState::Joining,
                SessionState::Running,
                SessionState::Pausing,
                SessionState::Waiting,
                SessionState::Stepping,
                SessionState::Stopping,
                SessionState::Finished,
                SessionState::Lost,
            ] {
                assert!(!sentence(&session(state), texts).is_empty());
            }
        }
    }

    #[test]
    fn a_pause_of_ranks_at_different_steps_says_how_many_wait() {
        let texts = Locale::En.texts().session();
        let rank = |rank, step| SessionRank {
            rank,
            step,
            state: SessionRankState::Held,
            ..SessionRank::default()
        };
        let mut waiting = Session {
            hold: HoldMode::Each,
            place: Some("after_step".to_owned()),
            ranks: vec![rank(0, 5), rank(1, 2_731)],
            world_size: 2,
            ..session(SessionState::Waiting)
        };
        assert_eq!(
            sentence(&waiting, texts),
            "Waiting: 2 of 2 ranks, each at its own step"
        );
        waiting.ranks[0].step = 2_731;
        assert_eq!(sentence(&waiting, texts), "Waiting after step 2,731");
    }

    #[test]
    fn a_note_that_hits_do_not_pause_ends_when_they_do() {
        let texts = Locale::En.texts().session();
        let note_of = |kind, is_pausing_off, connected| {
            let running = Session {
                is_pausing_off,
                ranks: vec![SessionRank::default(); connected],
                notes: vec![SessionNote {
                    kind,
                    since_secs: 1.0,
                    rank: None,
                    step: None,
                }],
                ..session(SessionState::Running)
            };
            note(&running, texts)
        };
        assert!(note_of(SessionNoteKind::PausingOff, true, 4).is_some());
        assert_eq!(note_of(SessionNoteKind::PausingOff, false, 4), None);
        assert!(note_of(SessionNoteKind::NotAllJoined, false, 3).is_some());
        assert_eq!(note_of(SessionNoteKind::NotAllJoined, false, 4), None);
    }

    #[test]
    fn a_note_names_its_rank_in_the_language_of_the_page() {
        let running = Session {
            notes: vec![SessionNote {
                kind: SessionNoteKind::Interrupted,
                since_secs: 1.0,
                rank: Some(3),
                step: None,
            }],
            ..session(SessionState::Running)
        };
        let of = |locale: Locale| note(&running, locale.texts().session()).unwrap_or_default();
        assert_eq!(of(Locale::En), "rank 3: a signal ended the pause");
        assert_eq!(of(Locale::Zh), "rank 3：信号结束了暂停");
    }

    #[test]
    fn a_pause_says_where() {
        let texts = Locale::En.texts().session();
        let waiting = Session {
            place: Some("before_update".to_owned()),
            reason: Some(HoldReason::Asked),
            ..session(SessionState::Waiting)
        };
        assert_eq!(
            sentence(&waiting, texts),
            "Waiting before the update of step 2,731"
        );
        let running = Session {
            total_steps: Some(5_000),
            ..session(SessionState::Running)
        };
        assert_eq!(sentence(&running, texts), "Running, step 2,731 of 5,000");
    }
}
