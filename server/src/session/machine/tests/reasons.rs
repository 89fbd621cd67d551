//! Reasons other than a pause: a node, the first gate, a hit that ends the training. And activations that are kept.

use trainscope_format::session::{Gate, HoldReason, Place, StopOrigin, ToTraining};

use super::super::{Action, Command, Event, GateReasons, Machine, State};
use super::{Limits, PauseLevel};
use super::{armed, asks, at, command, goes, hello, holds, joins, running, secs, sent, waiting};

#[test]
fn a_node_is_waited_for() {
    let mut machine = waiting(1, PauseLevel::Never);
    command(&mut machine, secs(2), Command::ToNode("fc2".into())).unwrap();
    assert_eq!(goes(&machine.apply(secs(2), asks(0, 4, false))), [0]);
    let node = Gate::new(5, Place::Node("fc2".into()));
    let event = Event::Gate {
        rank: 0,
        at: node,
        reasons: GateReasons {
            is_target: true,
            ..GateReasons::default()
        },
    };
    let actions = machine.apply(secs(2), event);
    assert_eq!(holds(&actions), [0]);
}

/// Holds a rank at its first gate, without a decision, for five more seconds.
fn starts(rank: u32, step: i64) -> Event {
    Event::Held {
        rank,
        at: at(step),
        reason: HoldReason::Start,
        goes_on: Some(secs(5)),
    }
}

fn resumes(actions: &[Action]) -> Vec<u32> {
    sent(actions, |message| {
        matches!(message, ToTraining::Resume { .. })
    })
}

#[test]
fn ranks_wait_at_their_first_gates_however_long_the_last_one_takes() {
    let reason = HoldReason::Start;
    let mut machine = running(2, PauseLevel::Never);
    machine.apply(secs(1), starts(0, 0));
    assert_eq!(machine.state, State::Pausing);
    machine.apply(secs(9), Event::Alive { rank: 1, step: 0 });
    machine.apply(secs(9), Event::Tick);
    assert_eq!(machine.state, State::Pausing);
    machine.apply(secs(9), starts(1, 0));
    assert_eq!(machine.state, State::Waiting { at: at(0), reason });
    assert_eq!(machine.hold_ends, secs(14));
    let actions = command(&mut machine, secs(10), Command::Continue).unwrap();
    assert_eq!(
        (resumes(&actions), &machine.state),
        (vec![0, 1], &State::Running)
    );
}

#[test]
fn a_rank_that_is_not_at_its_first_gate_yet_does_not_wait_there_after_continue() {
    let mut machine = running(2, PauseLevel::Never);
    machine.apply(secs(1), starts(0, 0));
    let actions = command(&mut machine, secs(2), Command::Continue).unwrap();
    assert_eq!(
        (resumes(&actions), &machine.state),
        (vec![0, 1], &State::Running)
    );
}

#[test]
fn ranks_that_wait_before_all_have_joined_wait_for_them() {
    let reason = HoldReason::Start;
    let mut machine = Machine::new(Limits::default(), PauseLevel::Never);
    machine.apply(secs(0), Event::Hello(Box::new(hello(0, 2))));
    machine.apply(secs(1), starts(0, 0));
    assert_eq!(machine.state, State::Joining);
    machine.apply(secs(2), Event::Hello(Box::new(hello(1, 2))));
    assert_eq!(machine.state, State::Pausing);
    machine.apply(secs(3), starts(1, 0));
    assert_eq!(machine.state, State::Waiting { at: at(0), reason });
}

#[test]
fn a_hit_that_ends_one_rank_ends_all_that_ask() {
    let mut machine = running(2, PauseLevel::Error);
    for rank in 0..2 {
        machine.apply(secs(1), armed(rank, 3));
    }
    let stops = Event::Gate {
        rank: 0,
        at: at(3),
        reasons: GateReasons {
            stops: true,
            ..GateReasons::default()
        },
    };
    assert_eq!(machine.apply(secs(1), stops), []);
    let actions = machine.apply(secs(1), asks(1, 3, false));
    let by_hit = |message: &ToTraining| matches!(message, ToTraining::Stop { by, .. } if *by == StopOrigin::Hit);
    assert_eq!(
        (sent(&actions, by_hit), &machine.state),
        (vec![0, 1], &State::Stopping)
    );
}

#[test]
fn patterns_of_activations_go_to_all_ranks_and_to_those_that_come_later() {
    let keeps = |message: &ToTraining| matches!(message, ToTraining::Keep { patterns } if patterns == &["fc*"]);
    let mut machine = running(2, PauseLevel::Never);
    let given = Command::Keep(vec!["fc*".into()]);
    let actions = command(&mut machine, secs(1), given).unwrap();
    assert_eq!(sent(&actions, keeps), [0, 1]);
    assert_eq!(sent(&joins(&mut machine, secs(2), 1), keeps), [0]);
}
