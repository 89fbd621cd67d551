//! Each row of the table of states of a rank.

mod property;
mod start;
mod stop;

use std::time::Duration;

use trainscope_format::session::{
    ByeReason, Gate, GoingReason, HoldReason, MAX_UNREADABLE, Place, ToServer,
};

use super::{
    Action, Event, Hold, Limits, Machine, Note, Phase, Refusal, Settings, Target, Timer, step,
};

const SINGLE: Settings = Settings {
    is_single: true,
    may_hold: true,
    stops_if_lost: false,
};

fn at(step: i64) -> Gate {
    Gate::new(step, Place::AfterStep)
}

fn hold() -> Hold {
    Hold {
        at: at(4),
        reason: HoldReason::Hit,
    }
}

fn in_phase(phase: Phase) -> Machine {
    let is_armed = phase == Phase::Armed;
    Machine {
        phase,
        is_armed,
        ..Machine::new(SINGLE, Limits::default(), None)
    }
}

fn armed(phase: Phase) -> Machine {
    Machine {
        is_armed: true,
        ..in_phase(phase)
    }
}

fn gate(number: i64) -> Event {
    Event::Gate {
        at: at(number),
        pauses: false,
        stops: false,
    }
}

fn pausing(number: i64) -> Event {
    Event::Gate {
        at: at(number),
        pauses: true,
        stops: false,
    }
}

fn resume() -> Event {
    Event::Resume {
        steps: None,
        node: None,
    }
}

/// Checks phase and actions after one event.
fn row(before: Machine, event: Event, phase: &Phase, actions: &[Action]) {
    let shown = format!("{:?} + {event:?}", before.phase);
    let (after, done) = step(before, event);
    assert_eq!(&after.phase, phase, "{shown}");
    assert_eq!(done, actions, "{shown}");
}

fn going(why: GoingReason) -> Action {
    Action::Send(ToServer::Going { at: at(4), why })
}

fn limits() -> Limits {
    Limits::default()
}

#[test]
fn off() {
    row(
        in_phase(Phase::Off),
        Event::Address,
        &Phase::Connecting,
        &[Action::Connect],
    );
    row(in_phase(Phase::Off), gate(1), &Phase::Off, &[Action::GoOn]);
    row(
        in_phase(Phase::Off),
        pausing(1),
        &Phase::Off,
        &[Action::GoOn],
    );
    let stops = Event::Gate {
        at: at(1),
        pauses: true,
        stops: true,
    };
    for phase in [Phase::Off, Phase::Connecting, Phase::Running, Phase::Armed] {
        row(
            in_phase(phase),
            stops.clone(),
            &Phase::Ending,
            &[Action::StopTraining],
        );
    }
}

#[test]
fn connecting() {
    row(
        in_phase(Phase::Connecting),
        Event::Welcome(limits()),
        &Phase::Running,
        &[],
    );
    row(
        in_phase(Phase::Connecting),
        gate(1),
        &Phase::Connecting,
        &[Action::GoOn],
    );
    for refusal in [Refusal::Access, Refusal::Protocol] {
        row(
            in_phase(Phase::Connecting),
            Event::Refused(refusal),
            &Phase::Off,
            &[Action::Note(Note::Refused(refusal))],
        );
    }
}

#[test]
fn attempts_to_connect_become_rarer() {
    let mut machine = in_phase(Phase::Connecting);
    let mut delays = Vec::new();
    for _ in 0..7 {
        let (next, actions) = step(machine, Event::Unreachable { jitter: 0.0 });
        machine = next;
        let [Action::Retry(delay)] = actions[..] else {
            panic!("{actions:?}");
        };
        delays.push(delay.as_secs_f64());
        assert_eq!(machine.phase, Phase::Connecting);
    }
    assert_eq!(delays, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]);
    machine.tried_for = Duration::from_hours(1);
    let retry = |jitter, secs: u64| {
        let (_, actions) = step(machine.clone(), Event::Unreachable { jitter });
        assert_eq!(actions, [Action::Retry(Duration::from_secs(secs))]);
    };
    retry(0.0, 60);
    retry(1.0, 72);
    retry(-1.0, 48);
    retry(9.0, 72);
}

#[test]
fn a_proxy_without_upgrades_is_noted_once() {
    let proxy = Event::Refused(Refusal::Proxy);
    let retry = Action::Retry(Duration::from_mins(5));
    let (machine, actions) = step(in_phase(Phase::Connecting), proxy.clone());
    let note = Action::Note(Note::Refused(Refusal::Proxy));
    assert_eq!(actions, [note, retry.clone()]);
    row(machine, proxy, &Phase::Connecting, &[retry]);
}

#[test]
fn running() {
    let armed = ToServer::Armed { from: Some(at(5)) };
    row(
        in_phase(Phase::Running),
        Event::Arm { next: at(5) },
        &Phase::Armed,
        &[Action::Send(armed)],
    );
    let asks = [Action::Ask, Action::Start(Timer::Gate, limits().gate)];
    row(
        in_phase(Phase::Running),
        pausing(3),
        &Phase::Asking(at(3)),
        &asks,
    );
    row(
        in_phase(Phase::Running),
        gate(3),
        &Phase::Running,
        &[Action::GoOn],
    );
    let of_many = Machine {
        settings: Settings {
            is_single: false,
            ..SINGLE
        },
        ..in_phase(Phase::Running)
    };
    row(of_many, pausing(3), &Phase::Running, &[Action::GoOn]);
}

#[test]
fn armed_ranks() {
    row(
        in_phase(Phase::Armed),
        gate(3),
        &Phase::Asking(at(3)),
        &[Action::Ask, Action::Start(Timer::Gate, limits().gate)],
    );
    row(
        in_phase(Phase::Armed),
        Event::Disarm,
        &Phase::Running,
        &[Action::Send(ToServer::Armed { from: None })],
    );
}

#[test]
fn asking() {
    let asking = || Phase::Asking(at(4));
    let goes = [Action::Cancel(Timer::Gate), Action::GoOn];
    row(armed(asking()), Event::Go(at(4)), &Phase::Armed, &goes);
    row(in_phase(asking()), Event::Go(at(4)), &Phase::Running, &goes);
    let held = ToServer::Held {
        at: at(4),
        reason: HoldReason::Hit,
        goes_on_secs: None,
    };
    row(
        armed(asking()),
        Event::Hold(at(4), HoldReason::Hit),
        &Phase::Held(hold()),
        &[
            Action::Cancel(Timer::Gate),
            Action::Send(held),
            Action::Start(Timer::Hold, limits().hold),
        ],
    );
    for event in [Event::Go(at(3)), Event::Hold(at(3), HoldReason::Asked)] {
        let (after, actions) = step(armed(asking()), event);
        assert_eq!((after.phase, after.ignored), (asking(), 1));
        assert_eq!(actions, []);
    }
}

#[test]
fn three_late_answers_in_a_row_disarm() {
    let mut machine = armed(Phase::Armed);
    for number in 0..3 {
        let (asking, _) = step(machine, gate(number));
        let (after, actions) = step(asking, Event::Expired(Timer::Gate));
        machine = after;
        if number < 2 {
            assert_eq!(machine.phase, Phase::Armed);
            assert_eq!(actions, [Action::GoOn]);
        } else {
            let disarmed = Action::Send(ToServer::Armed { from: None });
            let note = Action::Note(Note::NoAnswers);
            assert_eq!(machine.phase, Phase::Running);
            assert_eq!(actions, [disarmed, note, Action::GoOn]);
        }
    }
}

#[test]
fn an_answer_in_time_resets_the_count() {
    let mut machine = armed(Phase::Armed);
    for number in 0..9 {
        let (asking, _) = step(machine, gate(number));
        let answer = match number % 3 {
            2 => Event::Go(at(number)),
            _ => Event::Expired(Timer::Gate),
        };
        machine = step(asking, answer).0;
        assert_eq!(machine.phase, Phase::Armed);
    }
}

#[test]
fn held() {
    let held = || Phase::Held(hold());
    let resumed = [
        Action::Cancel(Timer::Hold),
        going(GoingReason::Resumed),
        Action::GoOn,
    ];
    row(armed(held()), resume(), &Phase::Armed, &resumed);
    row(in_phase(held()), resume(), &Phase::Running, &resumed);
    row(armed(held()), Event::Request, &held(), &[Action::Answer]);
    let secs = Duration::from_secs;
    for (given, wanted) in [(30, 30), (80_000, 28_800)] {
        row(
            armed(held()),
            Event::Extend(secs(given)),
            &held(),
            &[Action::Start(Timer::Hold, secs(wanted))],
        );
    }
    let (after, actions) = step(armed(held()), Event::Expired(Timer::Hold));
    assert_eq!((after.phase, after.is_armed), (Phase::Running, false));
    let note = Action::Note(Note::HoldOver);
    assert_eq!(actions, [going(GoingReason::Limit), note, Action::GoOn]);
    row(
        armed(held()),
        Event::Lost,
        &Phase::LostHeld(hold()),
        &[
            Action::Start(Timer::Grace, limits().grace),
            Action::Retry(Duration::ZERO),
        ],
    );
    row(
        armed(held()),
        Event::Signal,
        &Phase::Ending,
        &[
            Action::Cancel(Timer::Hold),
            going(GoingReason::Interrupted),
            Action::Raise,
        ],
    );
}

#[test]
fn held_without_a_connection() {
    let lost = || Phase::LostHeld(hold());
    row(
        armed(lost()),
        Event::Welcome(limits()),
        &Phase::Held(hold()),
        &[Action::Cancel(Timer::Grace)],
    );
    let cancelled = [Action::Cancel(Timer::Hold), Action::Cancel(Timer::Grace)];
    let with = |rest: &[Action]| [&cancelled[..], rest].concat();
    for timer in [Timer::Grace, Timer::Hold] {
        row(
            armed(lost()),
            Event::Expired(timer),
            &Phase::Connecting,
            &with(&[Action::Note(Note::ServerLost), Action::GoOn]),
        );
        let stops = Machine {
            settings: Settings {
                stops_if_lost: true,
                ..SINGLE
            },
            ..armed(lost())
        };
        row(
            stops,
            Event::Expired(timer),
            &Phase::Ending,
            &with(&[Action::Note(Note::ServerLost), Action::StopTraining]),
        );
    }
    row(
        armed(lost()),
        Event::Signal,
        &Phase::Ending,
        &with(&[Action::Raise]),
    );
    let (after, _) = step(armed(lost()), Event::Unreachable { jitter: 0.0 });
    assert_eq!(after.phase, lost());
}

#[test]
fn a_lost_connection_lets_the_training_go_on() {
    let retry = Action::Retry(Duration::ZERO);
    for phase in [Phase::Connecting, Phase::Running, Phase::Armed] {
        let (after, actions) = step(armed(phase), Event::Lost);
        assert_eq!((after.phase, after.is_armed), (Phase::Connecting, false));
        assert_eq!(actions, std::slice::from_ref(&retry));
    }
    row(
        armed(Phase::Asking(at(4))),
        Event::Lost,
        &Phase::Connecting,
        &[Action::Cancel(Timer::Gate), retry, Action::GoOn],
    );
}

#[test]
fn a_stop_acts_at_once_or_at_the_next_gate() {
    for phase in [Phase::Connecting, Phase::Running, Phase::Armed] {
        let (after, actions) = step(armed(phase), Event::Stop);
        assert_eq!(
            (&after.phase, actions.as_slice()),
            (&Phase::Ending, &[][..])
        );
        row(after, gate(9), &Phase::Ending, &[Action::StopTraining]);
    }
    for phase in [
        Phase::Asking(at(4)),
        Phase::Held(hold()),
        Phase::LostHeld(hold()),
    ] {
        let (after, actions) = step(armed(phase), Event::Stop);
        assert_eq!(after.phase, Phase::Ending);
        assert_eq!(actions.last(), Some(&Action::StopTraining));
    }
}

#[test]
fn an_end_says_goodbye_and_closes() {
    let bye = Action::Bye(ByeReason::Finished);
    let close = Action::Close("the training has ended");
    for phase in [Phase::Running, Phase::Armed, Phase::Ending] {
        row(
            armed(phase),
            Event::Finish(ByeReason::Finished),
            &Phase::Off,
            &[bye.clone(), close.clone()],
        );
    }
    for phase in [Phase::Asking(at(4)), Phase::Held(hold())] {
        row(
            armed(phase),
            Event::Finish(ByeReason::Finished),
            &Phase::Off,
            &[bye.clone(), close.clone(), Action::GoOn],
        );
    }
}

#[test]
fn a_fork_forgets_everything() {
    for phase in [
        Phase::Off,
        Phase::Connecting,
        Phase::Armed,
        Phase::Held(hold()),
    ] {
        row(armed(phase), Event::Fork, &Phase::Off, &[Action::Forget]);
    }
}

#[test]
fn a_hundred_unreadable_messages_end_the_connection() {
    let mut machine = armed(Phase::Held(hold()));
    for number in 1..=MAX_UNREADABLE {
        let (after, actions) = step(machine, Event::Unreadable);
        machine = after;
        assert_eq!(actions.is_empty(), number < MAX_UNREADABLE);
        assert_eq!(machine.phase, Phase::Held(hold()));
    }
}

#[test]
fn a_number_of_steps_ends_exactly_there() {
    let five = Event::Resume {
        steps: Some(5),
        node: None,
    };
    let (mut machine, _) = step(in_phase(Phase::Held(hold())), five);
    for number in 5..9 {
        machine = step(machine, gate(number)).0;
        assert_eq!(machine.phase, Phase::Running, "{number}");
        let before = Event::Gate {
            at: Gate::new(number + 1, Place::BeforeUpdate),
            pauses: false,
            stops: false,
        };
        machine = step(machine, before).0;
        assert_eq!(machine.phase, Phase::Running, "{number}");
    }
    machine = step(machine, gate(9)).0;
    assert_eq!(machine.phase, Phase::Asking(at(9)));
    assert!(machine.is_target(&at(9)));
}

#[test]
fn a_hit_drops_the_rest_of_the_steps() {
    let five = Event::Resume {
        steps: Some(5),
        node: None,
    };
    let (machine, _) = step(in_phase(Phase::Held(hold())), five);
    let (machine, _) = step(machine, pausing(5));
    let (machine, _) = step(machine, Event::Hold(at(5), HoldReason::Hit));
    let (machine, _) = step(machine, resume());
    assert_eq!((machine.phase, machine.target), (Phase::Running, None));
}

#[test]
fn a_node_is_waited_for_over_steps() {
    let to_node = Event::Resume {
        steps: None,
        node: Some("fc2".into()),
    };
    let (mut machine, _) = step(in_phase(Phase::Held(hold())), to_node);
    let node = |name: &str, number| Event::Gate {
        at: Gate::new(number, Place::Node(name.into())),
        pauses: false,
        stops: false,
    };
    for event in [node("fc1", 5), gate(5), node("fc1", 6)] {
        machine = step(machine, event).0;
        assert_eq!(machine.phase, Phase::Running);
    }
    assert_eq!(machine.target, Some(Target::Node("fc2".into())));
    machine = step(machine, node("fc2", 6)).0;
    assert!(matches!(machine.phase, Phase::Asking(_)));
}

#[test]
fn a_server_may_be_allowed_to_look_only() {
    let looks = Settings {
        may_hold: false,
        ..SINGLE
    };
    let machine = Machine {
        settings: looks,
        ..armed(Phase::Asking(at(4)))
    };
    let hold = Event::Hold(at(4), HoldReason::Asked);
    let goes = [Action::Cancel(Timer::Gate), Action::GoOn];
    row(machine.clone(), hold, &Phase::Armed, &goes);
    row(machine, Event::Stop, &Phase::Asking(at(4)), &[]);
}

#[test]
fn the_training_limits_a_hold_whatever_the_server_says() {
    let far = Duration::from_secs(1 << 40);
    let given = Limits {
        hold: far,
        hold_most: far,
        ..limits()
    };
    let (machine, _) = step(in_phase(Phase::Connecting), Event::Welcome(given));
    assert_eq!(machine.limits.hold, Duration::from_hours(8));
}
