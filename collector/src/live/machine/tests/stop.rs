//! A hit that ends a training of several ranks.

use trainscope_format::session::HoldReason;

use super::super::{Action, Event, Machine, Phase, Settings, Timer, step};
use super::{SINGLE, armed, at, in_phase, limits, row};

fn of_several(machine: Machine) -> Machine {
    let settings = Settings {
        is_single: false,
        ..SINGLE
    };
    Machine {
        settings,
        ..machine
    }
}

fn stopping() -> Event {
    Event::Gate {
        at: at(4),
        pauses: true,
        stops: true,
    }
}

#[test]
fn an_armed_rank_asks_first_so_that_all_stop_at_one_gate() {
    row(
        of_several(armed(Phase::Armed)),
        stopping(),
        &Phase::Asking(at(4)),
        &[Action::Ask, Action::Start(Timer::Gate, limits().gate)],
    );
    row(
        of_several(in_phase(Phase::Running)),
        stopping(),
        &Phase::Ending,
        &[Action::StopTraining],
    );
}

#[test]
fn it_stops_whatever_the_answer_is() {
    let (asking, _) = step(of_several(armed(Phase::Armed)), stopping());
    for event in [
        Event::Stop,
        Event::Go(at(4)),
        Event::Hold(at(4), HoldReason::Hit),
        Event::Expired(Timer::Gate),
        Event::Lost,
    ] {
        let shown = format!("{event:?}");
        let (after, actions) = step(asking.clone(), event);
        assert_eq!(after.phase, Phase::Ending, "{shown}");
        assert_eq!(actions.last(), Some(&Action::StopTraining), "{shown}");
        assert!(!actions.contains(&Action::GoOn), "{shown}");
    }
    let (after, actions) = step(asking, Event::Go(at(3)));
    assert_eq!((after.phase, actions), (Phase::Asking(at(4)), Vec::new()));
}
