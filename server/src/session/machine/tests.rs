//! Each row of the table of states of a session, and each cell of the table of commands.

mod apart;
mod ends;
mod reasons;

use std::time::Duration;

use trainscope_format::session::{
    ByeReason, Framework, Gate, Hello, HoldReason, HoldReport, PauseLevel, Place, ToTraining,
};

use super::{
    Action, Command, CommandError, Event, GateReasons, Limits, Machine, Note, RankState, State,
    Target,
};

pub(super) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(super) fn at(step: i64) -> Gate {
    Gate::new(step, Place::AfterStep)
}

pub(super) fn hello(rank: u32, world_size: u32) -> Hello {
    Hello {
        launch: "launch".into(),
        run_folder: "/runs/a".into(),
        rank,
        world_size,
        host: "host".into(),
        pid: 1,
        program: "train".into(),
        framework: Framework::default(),
        collector: "0.1.0".into(),
        step: 0,
        total_steps: None,
        places: vec![Place::AfterStep],
        can: Vec::new(),
        next_gate: at(1),
        held: None,
        armed: false,
        pause_at: PauseLevel::Never,
    }
}

fn joins(machine: &mut Machine, now: Duration, world_size: u32) -> Vec<Action> {
    let mut actions = Vec::new();
    for rank in 0..world_size {
        let hello = Box::new(hello(rank, world_size));
        actions.extend(machine.apply(now, Event::Hello(hello)));
    }
    actions
}

/// A running session of this many ranks at a level.
fn running(world_size: u32, level: PauseLevel) -> Machine {
    let mut machine = Machine::new(Limits::default(), level);
    joins(&mut machine, secs(0), world_size);
    assert_eq!(machine.state, State::Running);
    machine
}

fn asks(rank: u32, step: i64, pauses: bool) -> Event {
    Event::Gate {
        rank,
        at: at(step),
        reasons: GateReasons {
            pauses,
            ..GateReasons::default()
        },
    }
}

fn held(rank: u32, step: i64) -> Event {
    Event::Held {
        rank,
        at: at(step),
        reason: HoldReason::Asked,
        goes_on: None,
    }
}

fn armed(rank: u32, step: i64) -> Event {
    Event::Armed {
        rank,
        from: Some(at(step)),
    }
}

fn bye(rank: u32, reason: ByeReason) -> Event {
    Event::Bye {
        rank,
        reason,
        error: None,
    }
}

fn command(
    machine: &mut Machine,
    now: Duration,
    command: Command,
) -> Result<Vec<Action>, CommandError> {
    machine.command(now, machine.turn, command)
}

/// A waiting session of some ranks, held after step 3.
fn waiting(world_size: u32, level: PauseLevel) -> Machine {
    let mut machine = running(world_size, level);
    command(&mut machine, secs(1), Command::Pause { partial: false }).unwrap();
    for rank in 0..world_size {
        machine.apply(secs(1), armed(rank, 3));
    }
    for rank in 0..world_size {
        machine.apply(secs(1), asks(rank, 3, false));
    }
    for rank in 0..world_size {
        machine.apply(secs(1), held(rank, 3));
    }
    let reason = HoldReason::Asked;
    assert_eq!(machine.state, State::Waiting { at: at(3), reason });
    machine
}

fn sent(actions: &[Action], wanted: fn(&ToTraining) -> bool) -> Vec<u32> {
    let messages = actions.iter().filter_map(|action| match action {
        Action::Send(rank, message) if wanted(message) => Some(*rank),
        _ => None,
    });
    messages.collect()
}

fn resumes(actions: &[Action]) -> Vec<u32> {
    sent(actions, |message| {
        matches!(message, ToTraining::Resume { .. })
    })
}

fn goes(actions: &[Action]) -> Vec<u32> {
    sent(actions, |message| matches!(message, ToTraining::Go { .. }))
}

fn holds(actions: &[Action]) -> Vec<u32> {
    sent(actions, |message| {
        matches!(message, ToTraining::Hold { .. })
    })
}

fn arms(actions: &[Action]) -> Vec<u32> {
    sent(actions, |message| matches!(message, ToTraining::Arm(_)))
}

#[test]
fn joining_ends_when_all_are_there_or_after_a_minute() {
    let mut machine = Machine::new(Limits::default(), PauseLevel::Error);
    machine.apply(secs(0), Event::Hello(Box::new(hello(0, 2))));
    assert_eq!(machine.state, State::Joining);
    let actions = machine.apply(secs(1), asks(0, 1, true));
    assert_eq!(
        goes(&actions),
        [0],
        "while ranks join, all gates are passed"
    );
    let mut late = machine.clone();
    let actions = machine.apply(secs(2), Event::Hello(Box::new(hello(1, 2))));
    assert_eq!(machine.state, State::Running);
    assert_eq!(arms(&actions), [0, 1], "several ranks are armed to pause");
    late.apply(secs(50), Event::Alive { rank: 0, step: 1 });
    late.apply(secs(60), Event::Tick);
    assert_eq!(late.state, State::Running);
    assert_eq!(
        late.notes.back().unwrap().1,
        Note::NotAllJoined { connected: 1 }
    );
    assert!(!late.pauses_automatically());
}

#[test]
fn a_session_that_was_held_waits_again_after_a_reconnection() {
    let mut machine = Machine::new(Limits::default(), PauseLevel::Error);
    let hold = HoldReport {
        at: at(4),
        reason: HoldReason::Hit,
        since_secs: 3.0,
        goes_on_secs: None,
    };
    let back = Hello {
        held: Some(hold),
        ..hello(0, 1)
    };
    machine.apply(secs(0), Event::Hello(Box::new(back)));
    assert!(matches!(&machine.state, State::Waiting { at: gate, .. } if *gate == at(4)));
}

#[test]
fn a_pause_holds_all_at_the_first_gate_that_all_reach() {
    let mut machine = running(2, PauseLevel::Never);
    let actions = command(&mut machine, secs(1), Command::Pause { partial: false }).unwrap();
    assert_eq!(arms(&actions), [0, 1]);
    assert_eq!(machine.state, State::Pausing);
    // Rank 1 is one step ahead.
    machine.apply(secs(1), armed(0, 5));
    machine.apply(secs(1), armed(1, 6));
    assert_eq!(goes(&machine.apply(secs(1), asks(0, 5, false))), [0]);
    assert_eq!(machine.apply(secs(1), asks(0, 6, false)), []);
    assert_eq!(holds(&machine.apply(secs(1), asks(1, 6, false))), [0, 1]);
    machine.apply(secs(1), held(0, 6));
    assert_eq!(machine.state, State::Pausing);
    machine.apply(secs(1), held(1, 6));
    assert!(matches!(machine.state, State::Waiting { .. }));
}

#[test]
fn a_pausing_hit_holds_a_single_rank_and_armed_ranks() {
    let mut machine = running(1, PauseLevel::Error);
    assert_eq!(holds(&machine.apply(secs(1), asks(0, 7, true))), [0]);
    machine.apply(secs(1), held(0, 7));
    let reason = HoldReason::Hit;
    assert_eq!(machine.state, State::Waiting { at: at(7), reason });
    let mut machine = running(3, PauseLevel::Error);
    for rank in 0..3 {
        machine.apply(secs(1), armed(rank, 7));
    }
    machine.apply(secs(1), asks(0, 7, false));
    machine.apply(secs(1), asks(2, 7, true));
    assert_eq!(holds(&machine.apply(secs(1), asks(1, 7, false))), [0, 1, 2]);
}

#[test]
fn a_hit_after_the_decision_holds_all_at_the_next_gate() {
    let mut machine = running(2, PauseLevel::Error);
    machine.apply(secs(1), armed(0, 5));
    machine.apply(secs(1), armed(1, 6));
    assert_eq!(goes(&machine.apply(secs(1), asks(0, 5, false))), [0]);
    let actions = machine.apply(secs(1), asks(1, 5, true));
    assert_eq!(goes(&actions), [1], "a decided gate is answered at once");
    assert_eq!(machine.state, State::Pausing);
    machine.apply(secs(1), asks(0, 6, false));
    assert_eq!(holds(&machine.apply(secs(1), asks(1, 6, false))), [0, 1]);
}

#[test]
fn ranks_that_miss_a_gate_let_the_others_go_on() {
    let mut machine = running(2, PauseLevel::Error);
    for turn in 0..3_u64 {
        let step = 10 + turn.cast_signed();
        let now = secs(10 * (turn + 1));
        machine.apply(now, armed(0, step));
        machine.apply(now, armed(1, step));
        machine.apply(now, asks(0, step, true));
        assert_eq!(machine.apply(now + secs(1), Event::Tick), []);
        let actions = machine.apply(now + secs(2), Event::Tick);
        assert_eq!(goes(&actions), [0]);
        assert_eq!(machine.state, State::Running);
        assert_eq!(machine.is_auto_off, turn == 2);
    }
    assert_eq!(machine.ranks[&1].unaligned, 3);
    assert_eq!(machine.notes.back().unwrap().1, Note::PausingOff);
}

#[test]
fn a_pause_that_is_not_complete_in_time_is_given_up() {
    let mut machine = running(2, PauseLevel::Never);
    command(&mut machine, secs(1), Command::Pause { partial: false }).unwrap();
    machine.apply(secs(1), armed(0, 3));
    machine.apply(secs(1), armed(1, 3));
    machine.apply(secs(1), asks(0, 3, false));
    machine.apply(secs(1), asks(1, 3, false));
    machine.apply(secs(1), held(0, 3));
    let actions = machine.apply(secs(3), Event::Tick);
    assert_eq!(resumes(&actions), [0]);
    assert_eq!(machine.state, State::Running);
    assert!(matches!(
        machine.notes.back().unwrap().1,
        Note::Unaligned { rank: 1, .. }
    ));
}

#[test]
fn steps_end_exactly_there_or_at_a_hit() {
    let mut machine = waiting(1, PauseLevel::Error);
    let actions = command(&mut machine, secs(2), Command::Step(5)).unwrap();
    assert_eq!(resumes(&actions), [0]);
    let mut with_hit = machine.clone();
    for step in 4..8 {
        assert_eq!(goes(&machine.apply(secs(2), asks(0, step, false))), [0]);
    }
    let State::Stepping(Target::Steps { done, total, .. }) = &machine.state else {
        panic!("{:?}", machine.state);
    };
    assert_eq!((*done, *total), (4, 5));
    assert_eq!(holds(&machine.apply(secs(2), asks(0, 8, false))), [0]);
    machine.apply(secs(2), held(0, 8));
    let reason = HoldReason::Steps;
    assert_eq!(machine.state, State::Waiting { at: at(8), reason });
    with_hit.apply(secs(2), asks(0, 4, false));
    assert_eq!(holds(&with_hit.apply(secs(2), asks(0, 5, true))), [0]);
    with_hit.apply(secs(2), held(0, 5));
    command(&mut with_hit, secs(3), Command::Continue).unwrap();
    assert_eq!(
        with_hit.state,
        State::Running,
        "the rest of the steps is dropped"
    );
}

#[test]
fn a_pause_replaces_steps() {
    let mut machine = waiting(1, PauseLevel::Never);
    command(&mut machine, secs(2), Command::Step(5)).unwrap();
    command(&mut machine, secs(2), Command::Pause { partial: false }).unwrap();
    assert_eq!(machine.state, State::Pausing);
    assert_eq!(holds(&machine.apply(secs(2), asks(0, 4, false))), [0]);
}

#[test]
fn a_stop_ends_when_all_have_said_goodbye_or_after_ten_minutes() {
    let mut machine = running(2, PauseLevel::Never);
    let actions = command(&mut machine, secs(1), Command::Stop).unwrap();
    assert_eq!(
        (arms(&actions), &machine.state),
        (vec![0, 1], &State::Stopping)
    );
    let stops = |actions: &[Action]| {
        sent(actions, |message| {
            matches!(message, ToTraining::Stop { .. })
        })
    };
    // Ranks that do not meet at a gate stop individually.
    let mut apart = machine.clone();
    assert_eq!(stops(&apart.apply(secs(10), Event::Tick)), [0; 0]);
    assert_eq!(stops(&apart.apply(secs(11), Event::Tick)), [0, 1]);
    machine.apply(secs(1), armed(0, 5));
    machine.apply(secs(1), armed(1, 6));
    assert_eq!(goes(&machine.apply(secs(1), asks(0, 5, false))), [0]);
    assert_eq!(machine.apply(secs(1), asks(0, 6, false)), []);
    assert_eq!(stops(&machine.apply(secs(1), asks(1, 6, false))), [0, 1]);
    let mut silent = machine.clone();
    machine.apply(secs(2), bye(0, ByeReason::Stopped));
    assert_eq!(machine.state, State::Stopping);
    machine.apply(secs(2), bye(1, ByeReason::Stopped));
    assert_eq!(machine.state, State::Finished(ByeReason::Stopped));
    silent.apply(secs(601), Event::Tick);
    assert_eq!(silent.state, State::Finished(ByeReason::Stopped));
}

#[test]
fn the_worst_end_of_a_rank_is_that_of_the_session() {
    let mut machine = running(2, PauseLevel::Never);
    machine.apply(secs(1), bye(0, ByeReason::Failed));
    machine.apply(secs(1), bye(1, ByeReason::Finished));
    assert_eq!(machine.state, State::Finished(ByeReason::Failed));
    assert_eq!(machine.apply(secs(100), Event::Tick), []);
    assert_eq!(machine.apply(secs(3_601), Event::Tick), [Action::Forget]);
}

#[test]
fn silence_of_all_ranks_is_a_loss_until_one_says_hello() {
    let mut machine = running(2, PauseLevel::Never);
    machine.apply(secs(14), Event::Alive { rank: 0, step: 9 });
    machine.apply(secs(15), Event::Tick);
    assert_eq!(machine.state, State::Running);
    machine.apply(secs(29), Event::Tick);
    assert_eq!(machine.state, State::Lost);
    joins(&mut machine, secs(40), 2);
    assert_eq!(machine.state, State::Running);
    machine.apply(secs(41), Event::Gone { rank: 0 });
    machine.apply(secs(41), Event::Gone { rank: 1 });
    assert_eq!(machine.state, State::Lost);
    assert_eq!(machine.apply(secs(3_641), Event::Tick), [Action::Forget]);
}

#[test]
fn rules_over_ranks_pause_if_hits_may() {
    let mut machine = running(2, PauseLevel::Error);
    machine.apply(secs(1), Event::RuleHit { step: 3 });
    assert_eq!(machine.state, State::Pausing);
    assert_eq!(machine.notes.back().unwrap().1, Note::RuleHit { step: 3 });
    let mut machine = running(2, PauseLevel::Never);
    machine.apply(secs(1), Event::RuleHit { step: 3 });
    assert_eq!(machine.state, State::Running);
}

#[test]
fn not_all_ranks_are_paused_by_a_person_only_who_says_so() {
    let mut machine = running(2, PauseLevel::Error);
    machine.apply(secs(1), Event::Gone { rank: 1 });
    let refused = command(&mut machine, secs(1), Command::Pause { partial: false });
    assert!(matches!(refused, Err(CommandError::Refused(_))));
    command(&mut machine, secs(1), Command::Pause { partial: true }).unwrap();
    machine.apply(secs(1), armed(0, 3));
    assert_eq!(holds(&machine.apply(secs(1), asks(0, 3, false))), [0]);
}

#[test]
fn of_two_commands_with_one_turn_the_first_counts() {
    let mut machine = waiting(1, PauseLevel::Never);
    let turn = machine.turn;
    assert!(
        machine
            .command(secs(2), turn, Command::Extend(secs(60)))
            .is_ok()
    );
    let second = machine.command(secs(2), turn, Command::Continue);
    assert_eq!(second, Err(CommandError::Conflict));
    assert_eq!(machine.hold_ends, secs(62));
}

/// Sessions in the states of the table of commands.
fn in_states() -> [(&'static str, Machine); 6] {
    let mut pausing = running(2, PauseLevel::Never);
    command(&mut pausing, secs(1), Command::Pause { partial: false }).unwrap();
    let mut stepping = waiting(2, PauseLevel::Never);
    command(&mut stepping, secs(1), Command::Step(5)).unwrap();
    let mut lost = running(1, PauseLevel::Never);
    lost.apply(secs(1), Event::Gone { rank: 0 });
    let mut finished = running(1, PauseLevel::Never);
    finished.apply(secs(1), bye(0, ByeReason::Finished));
    [
        ("running", running(2, PauseLevel::Never)),
        ("pausing", pausing),
        ("waiting", waiting(2, PauseLevel::Never)),
        ("stepping", stepping),
        ("lost", lost),
        ("finished", finished),
    ]
}

fn word(state: &State) -> &'static str {
    match state {
        State::Joining => "joining",
        State::Running => "running",
        State::Pausing => "pausing",
        State::Waiting { .. } => "waiting",
        State::Stepping(Target::Steps { .. }) => "steps",
        State::Stepping(Target::Node(_)) => "node",
        State::Stopping => "stopping",
        State::Finished(_) => "finished",
        State::Lost => "lost",
    }
}

#[test]
fn each_command_in_each_state() {
    let pausing = |level| Command::Pausing {
        level,
        has_pausing_watchpoint: false,
    };
    // The states after the command in running, pausing, waiting and stepping sessions; `-` is refused.
    let table: [(Command, [&str; 4]); 8] = [
        (
            Command::Pause { partial: false },
            ["pausing", "pausing", "waiting", "pausing"],
        ),
        (
            Command::Continue,
            ["running", "running", "running", "running"],
        ),
        (Command::Step(2), ["steps", "-", "steps", "steps"]),
        (Command::ToNode("a".into()), ["node", "-", "node", "node"]),
        (Command::Stop, ["stopping"; 4]),
        (Command::Extend(secs(9)), ["-", "-", "waiting", "-"]),
        (
            pausing(PauseLevel::Error),
            ["running", "pausing", "waiting", "steps"],
        ),
        (
            Command::Keep(vec!["*".into()]),
            ["running", "pausing", "waiting", "steps"],
        ),
    ];
    for (given, wanted) in table {
        for (index, (name, mut machine)) in in_states().into_iter().enumerate() {
            let turn = machine.turn;
            let done = command(&mut machine, secs(2), given.clone());
            let wanted = wanted.get(index).copied().unwrap_or("-");
            let seen = if done.is_ok() {
                word(&machine.state)
            } else {
                "-"
            };
            assert_eq!(seen, wanted, "{given:?} while {name}");
            let is_new = machine.turn > turn;
            assert_eq!(is_new, done.is_ok(), "{given:?} while {name}");
        }
    }
}

#[test]
fn commands_send_their_messages() {
    let mut machine = running(2, PauseLevel::Never);
    let level = PauseLevel::Error;
    let pausing = |level| Command::Pausing {
        level,
        has_pausing_watchpoint: false,
    };
    let actions = command(&mut machine, secs(1), pausing(level)).unwrap();
    assert_eq!(arms(&actions), [0, 1]);
    let actions = command(&mut machine, secs(1), pausing(PauseLevel::Never)).unwrap();
    let disarms = sent(&actions, |message| *message == ToTraining::Disarm);
    assert_eq!(disarms, [0, 1]);
    let mut machine = waiting(2, PauseLevel::Never);
    let actions = command(&mut machine, secs(1), Command::Continue).unwrap();
    assert_eq!(resumes(&actions), [0, 1]);
    assert_eq!(
        sent(&actions, |message| *message == ToTraining::Disarm),
        [0, 1]
    );
    let mut machine = waiting(2, PauseLevel::Never);
    let actions = command(&mut machine, secs(1), Command::Extend(secs(99_999))).unwrap();
    let extends = sent(&actions, |message| {
        *message == ToTraining::Extend { secs: 28_800.0 }
    });
    assert_eq!(extends, [0, 1]);
    for steps in [0, 1_000_001] {
        let refused = command(&mut machine, secs(1), Command::Step(steps));
        assert!(matches!(refused, Err(CommandError::Refused(_))));
    }
}

#[test]
fn joining_and_stopping_sessions_only_stop() {
    let mut joining = Machine::new(Limits::default(), PauseLevel::Never);
    joining.apply(secs(0), Event::Hello(Box::new(hello(0, 2))));
    let refused = command(&mut joining, secs(1), Command::Pause { partial: true });
    assert!(refused.is_err());
    command(&mut joining, secs(1), Command::Stop).unwrap();
    assert!(command(&mut joining, secs(1), Command::Continue).is_err());
    assert_eq!(joining.ranks[&0].state, RankState::Running);
}

#[test]
fn a_rank_that_comes_back_from_an_earlier_hold_goes_on_to_the_gate_of_the_others() {
    let mut machine = waiting(2, PauseLevel::Never);
    machine.apply(secs(2), Event::Gone { rank: 1 });
    command(&mut machine, secs(2), Command::Continue).unwrap();
    command(&mut machine, secs(2), Command::Pause { partial: true }).unwrap();
    machine.apply(secs(2), armed(0, 4));
    machine.apply(secs(2), asks(0, 4, false));
    machine.apply(secs(2), held(0, 4));
    let reason = HoldReason::Asked;
    assert_eq!(machine.state, State::Waiting { at: at(4), reason });
    let mut behind = hello(1, 2);
    behind.held = Some(HoldReport {
        at: at(3),
        reason,
        since_secs: 1.0,
        goes_on_secs: None,
    });
    let returns =
        |machine: &mut Machine| machine.apply(secs(3), Event::Hello(Box::new(behind.clone())));

    let mut alone = machine.clone();
    alone.apply(secs(3), Event::Gone { rank: 0 });
    returns(&mut alone);
    assert_eq!(alone.state, State::Waiting { at: at(3), reason });

    assert_eq!(resumes(&returns(&mut machine)), [1]);
    assert_eq!(machine.state, State::Pausing);
    machine.apply(secs(3), armed(1, 4));
    assert_eq!(holds(&machine.apply(secs(3), asks(1, 4, false))), [1]);
    machine.apply(secs(3), held(1, 4));
    assert_eq!(machine.state, State::Waiting { at: at(4), reason });
}
