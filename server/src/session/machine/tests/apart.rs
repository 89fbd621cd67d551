//! Ranks that never meet at one gate.

use trainscope_api::sessions::HoldMode;
use trainscope_format::session::{HoldReason, ToTraining};

use super::super::{Command, CommandError, Event, Machine, Note, RankState, State, Target};
use super::PauseLevel;
use super::{armed, asks, at, command, goes, held, hello, holds, resumes, running, secs, sent};

/// A running session whose ranks are held individually; rank 1 is far ahead.
fn apart(level: PauseLevel) -> Machine {
    let mut machine = running(2, level);
    command(&mut machine, secs(1), Command::Hold(HoldMode::Each)).unwrap();
    machine.apply(secs(1), armed(0, 5));
    machine.apply(secs(1), armed(1, 900));
    machine
}

fn pause(machine: &mut Machine) {
    command(machine, secs(2), Command::Pause { partial: false }).unwrap();
    for (rank, step) in [(0, 5), (1, 900)] {
        machine.apply(secs(2), armed(rank, step));
        assert_eq!(
            holds(&machine.apply(secs(2), asks(rank, step, false))),
            [rank]
        );
        machine.apply(secs(2), held(rank, step));
    }
}

#[test]
fn each_rank_waits_at_its_own_next_gate() {
    let mut machine = apart(PauseLevel::Never);
    pause(&mut machine);
    let reason = HoldReason::Asked;
    assert_eq!(
        machine.state,
        State::Waiting {
            at: at(900),
            reason
        }
    );
    assert_eq!(machine.hold_ends, secs(602));
    let actions = command(&mut machine, secs(3), Command::Continue).unwrap();
    assert_eq!(
        (resumes(&actions), &machine.state),
        (vec![0, 1], &State::Running)
    );
}

#[test]
fn gates_are_answered_at_once_while_nothing_pauses() {
    let mut machine = apart(PauseLevel::Error);
    for step in 900..910 {
        assert_eq!(goes(&machine.apply(secs(2), asks(1, step, false))), [1]);
    }
    assert_eq!(machine.apply(secs(9), Event::Tick), []);
    assert_eq!(
        (machine.ranks[&0].unaligned, machine.is_auto_off),
        (0, false)
    );
}

#[test]
fn a_hit_holds_the_others_at_their_next_gates() {
    let mut machine = apart(PauseLevel::Error);
    assert_eq!(holds(&machine.apply(secs(2), asks(1, 900, true))), [1]);
    machine.apply(secs(2), held(1, 900));
    assert_eq!(machine.state, State::Pausing);
    assert_eq!(holds(&machine.apply(secs(3), asks(0, 5, false))), [0]);
    machine.apply(secs(3), held(0, 5));
    let reason = HoldReason::Hit;
    assert_eq!(
        machine.state,
        State::Waiting {
            at: at(900),
            reason
        }
    );
}

#[test]
fn a_rank_that_waits_for_a_held_one_is_held_when_it_comes() {
    let mut machine = apart(PauseLevel::Error);
    machine.apply(secs(2), asks(1, 900, true));
    machine.apply(secs(2), held(1, 900));
    machine.apply(secs(3), Event::Tick);
    assert_eq!(machine.state, State::Pausing);
    machine.apply(secs(4), Event::Tick);
    assert!(matches!(machine.state, State::Waiting { .. }));
    let secs_more = 3_600;
    let more = Command::Extend(secs(secs_more));
    command(&mut machine, secs(5), more).unwrap();
    let actions = machine.apply(secs(6), asks(0, 5, false));
    assert_eq!(holds(&actions), [0]);
    // Its limit would be the usual one.
    let extends = sent(
        &actions,
        |message| matches!(message, ToTraining::Extend { secs } if secs.to_bits() == 3_599.0_f64.to_bits()),
    );
    assert_eq!(extends, [0]);
    machine.apply(secs(6), held(0, 5));
    assert!(matches!(machine.state, State::Waiting { .. }));
}

#[test]
fn steps_are_those_of_the_rank_that_makes_them_first() {
    let mut machine = apart(PauseLevel::Never);
    pause(&mut machine);
    command(&mut machine, secs(3), Command::Step(2)).unwrap();
    assert_eq!(goes(&machine.apply(secs(3), asks(1, 901, false))), [1]);
    let steps = |machine: &Machine| match &machine.state {
        State::Stepping(Target::Steps { done, total, .. }) => Some((*done, *total)),
        _ => None,
    };
    assert_eq!(steps(&machine), Some((1, 2)));
    assert_eq!(goes(&machine.apply(secs(3), asks(0, 6, false))), [0]);
    assert_eq!(
        steps(&machine),
        Some((1, 2)),
        "one step of each is no two steps"
    );
    assert_eq!(holds(&machine.apply(secs(3), asks(1, 902, false))), [1]);
    machine.apply(secs(3), held(1, 902));
    assert_eq!(holds(&machine.apply(secs(3), asks(0, 7, false))), [0]);
    machine.apply(secs(3), held(0, 7));
    let reason = HoldReason::Steps;
    assert_eq!(
        machine.state,
        State::Waiting {
            at: at(902),
            reason
        }
    );
}

#[test]
fn all_ranks_stop_each_at_its_next_gate() {
    let mut machine = apart(PauseLevel::Never);
    let actions = command(&mut machine, secs(2), Command::Stop).unwrap();
    let stops = sent(&actions, |message| {
        matches!(message, ToTraining::Stop { .. })
    });
    assert_eq!(stops, [0, 1]);
}

#[test]
fn a_rank_that_comes_back_is_held_and_one_that_stays_away_ends_the_pause() {
    let mut machine = apart(PauseLevel::Never);
    pause(&mut machine);
    machine.apply(secs(3), Event::Gone { rank: 0 });
    let actions = machine.apply(secs(4), Event::Hello(Box::new(hello(0, 2))));
    assert_eq!(
        sent(&actions, |message| matches!(message, ToTraining::Arm(_))),
        [0]
    );
    assert_eq!(holds(&machine.apply(secs(4), asks(0, 6, false))), [0]);
    assert!(matches!(machine.state, State::Waiting { .. }));
    machine.apply(secs(5), Event::Gone { rank: 0 });
    assert_eq!(resumes(&machine.apply(secs(15), Event::Tick)), [1]);
    assert_eq!(machine.state, State::Running);
}

#[test]
fn the_mode_stays_while_ranks_wait() {
    let mut machine = apart(PauseLevel::Never);
    pause(&mut machine);
    let refused = command(&mut machine, secs(3), Command::Hold(HoldMode::Together));
    assert!(matches!(refused, Err(CommandError::Refused(_))));
    assert!(matches!(machine.ranks[&0].state, RankState::Held(_)));
}

#[test]
fn ranks_far_apart_turn_pausing_off_though_one_of_them_passes_gates() {
    let mut machine = running(2, PauseLevel::Error);
    machine.apply(secs(1), armed(0, 5));
    machine.apply(secs(1), armed(1, 900));
    for turn in 0..3_i64 {
        let now = secs(10 * (turn.unsigned_abs() + 1));
        assert_eq!(machine.apply(now, asks(1, 900 + turn, false)), []);
        assert_eq!(goes(&machine.apply(now, asks(0, 5 + turn, false))), [0]);
        let actions = machine.apply(now + secs(2), Event::Tick);
        assert_eq!(goes(&actions), [1]);
        assert_eq!(machine.is_auto_off, turn == 2);
        let disarmed = sent(&actions, |message| matches!(message, ToTraining::Disarm));
        assert_eq!(disarmed.len(), if turn == 2 { 2 } else { 0 });
    }
    assert_eq!(machine.notes.back().unwrap().1, Note::PausingOff);
    // Steps together would be as slow.
    command(&mut machine, secs(38), Command::Step(100)).unwrap();
    machine.apply(secs(38), armed(0, 8));
    machine.apply(secs(38), armed(1, 903));
    machine.apply(secs(38), asks(1, 903, false));
    assert_eq!(goes(&machine.apply(secs(40), Event::Tick)), [1]);
    assert_eq!(
        (&machine.state, machine.is_armed()),
        (&State::Running, false)
    );
    let actions = command(&mut machine, secs(40), Command::Hold(HoldMode::Each)).unwrap();
    let is_arm = |message: &ToTraining| matches!(message, ToTraining::Arm(_));
    assert_eq!(
        (sent(&actions, is_arm), machine.is_auto_off),
        (vec![0, 1], false)
    );
    assert_eq!(holds(&machine.apply(secs(41), asks(1, 904, true))), [1]);
}
