//! Pauses that end without a command: by a limit, a signal, a lost rank.

use trainscope_format::session::{ByeReason, GoingReason, ToTraining};

use super::super::{Command, Event, Note, State};
use super::PauseLevel;
use super::{armed, asks, at, bye, command, hello, holds, resumes, running, secs, sent, waiting};

#[test]
fn a_pause_whose_ranks_have_ended_is_over() {
    let mut machine = waiting(2, PauseLevel::Never);
    machine.apply(secs(2), Event::Gone { rank: 1 });
    let actions = machine.apply(secs(3), Event::Hello(Box::new(hello(1, 2))));
    assert_eq!(
        sent(&actions, |message| matches!(message, ToTraining::Arm(_))),
        [1]
    );
    assert_eq!(machine.state, State::Pausing);
    machine.apply(secs(3), bye(0, ByeReason::Failed));
    assert_eq!(machine.state, State::Running);
    // Holds that are on their way keep the state.
    let mut machine = running(1, PauseLevel::Error);
    command(&mut machine, secs(1), Command::Pause { partial: false }).unwrap();
    machine.apply(secs(1), armed(0, 3));
    assert_eq!(holds(&machine.apply(secs(20), asks(0, 3, false))), [0]);
    machine.apply(secs(21), Event::Tick);
    assert_eq!(machine.state, State::Pausing);
}

#[test]
fn a_hold_that_one_rank_ends_is_ended_for_all() {
    for why in [GoingReason::Limit, GoingReason::Interrupted] {
        let mut machine = waiting(3, PauseLevel::Never);
        let actions = machine.apply(
            secs(600),
            Event::Going {
                rank: 1,
                at: at(3),
                why,
            },
        );
        assert_eq!(resumes(&actions), [0, 2]);
        assert_eq!(machine.state, State::Running);
    }
}

#[test]
fn a_lost_rank_ends_the_hold_after_the_grace() {
    let mut machine = waiting(2, PauseLevel::Never);
    machine.apply(secs(2), Event::Gone { rank: 1 });
    assert!(matches!(machine.state, State::Waiting { .. }));
    assert_eq!(machine.notes.back().unwrap().1, Note::RankLost { rank: 1 });
    let actions = machine.apply(secs(12), Event::Tick);
    assert_eq!(resumes(&actions), [0]);
    assert_eq!(machine.state, State::Running);
    let mut single = waiting(1, PauseLevel::Never);
    single.apply(secs(2), Event::Gone { rank: 0 });
    single.apply(secs(12), Event::Tick);
    assert_eq!(single.state, State::Lost);
}
