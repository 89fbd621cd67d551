//! Ranks of a training as squares, in a panel below their number.

use trainscope_api::sessions::{HoldMode, SessionCommand, SessionRankState, SessionState};

use super::Bar;
use super::question::Question;
use trainscope_web_kit::components::{IconName, Popover, fixed_icon};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Ranks as squares, if there are several.
#[component]
pub(super) fn Ranks(bar: Bar) -> impl IntoView {
    let i18n = use_i18n();
    let is_open = RwSignal::new(false);
    let count = Memo::new(move |_| {
        bar.session
            .with(|session| session.as_ref().map_or(0, |session| session.world_size))
    });
    let face = move || {
        let texts = i18n.texts().session();
        let count = count.get().into();
        let lost = bar.session.with(|session| {
            let mut ranks = session.iter().flat_map(|session| &session.ranks);
            ranks
                .find(|rank| rank.state == SessionRankState::Lost)
                .map(|rank| (rank.rank, format::duration(rank.seen_secs)))
        });
        let text = match lost {
            Some((rank, time)) => (texts.rank_lost)(count, rank, &time),
            None => (texts.ranks)(count),
        };
        view! {
            <span class="small">{text}</span>
            {fixed_icon(IconName::Down, 12)}
        }
        .into_any()
    };
    let squares = move || {
        let texts = i18n.texts().session();
        bar.session.with(|session| {
            let ranks = session.iter().flat_map(|session| &session.ranks);
            let squares = ranks.map(|rank| {
                let (letter, key) = match rank.state {
                    SessionRankState::Running => ("r", "running"),
                    SessionRankState::Asking => ("a", "asking"),
                    SessionRankState::Held => ("w", "held"),
                    SessionRankState::Lost => ("✕", "lost"),
                    SessionRankState::Ended => ("e", "ended"),
                };
                let mut title = (texts.rank)(rank.rank, &format::integer(rank.step), &rank.host);
                if let Some(error) = &rank.error {
                    title.push_str(texts.colon);
                    title.push_str(error);
                }
                view! {
                    <span class="rank-square" data-rank-state=key title=title>
                        {letter}
                    </span>
                }
            });
            squares.collect_view()
        })
    };
    let mode = Memo::new(move |_| {
        bar.session.with(|session| {
            session
                .as_ref()
                .map_or(HoldMode::Together, |session| session.hold)
        })
    });
    let runs = bar.has_state(|state| state == SessionState::Running);
    // Ranks held separately are held together at the next pause, without a question.
    let change = move |_| {
        is_open.set(false);
        match mode.get_untracked() {
            HoldMode::Together => bar.ask(Question::Each),
            HoldMode::Each => bar.command(SessionCommand::Hold {
                mode: HoldMode::Together,
            }),
        }
    };
    let mode_text = move || i18n.texts().session().modes[usize::from(mode.get() == HoldMode::Each)];
    let change_text = move || match mode.get() {
        HoldMode::Together => i18n.texts().session().hold_each,
        HoldMode::Each => i18n.texts().session().hold_together,
    };
    view! {
        <Show when=move || { count.get() > 1 }>
            <Popover
                is_open=is_open
                label=Signal::derive(move || (i18n.texts().session().ranks)(count.get().into()))
                class="btn bare"
                panel_class="popover ranks"
                face=ViewFn::from(face)
            >
                <div class="rank-squares">{squares}</div>
                <p class="small ink2">{mode_text}</p>
                <Show when=move || runs.get()>
                    <button type="button" class="btn" on:click=change>
                        {change_text}
                    </button>
                </Show>
            </Popover>
        </Show>
    }
}
