//! The wait at the first gate.

use std::time::Duration;

use trainscope_format::session::{GoingReason, HoldReason, ToServer};

use super::super::{Action, Event, Hold, Machine, Note, Phase, Refusal, Settings, Timer, step};
use super::{SINGLE, at, gate, going, in_phase, limits, resume, row};

/// A rank that is to wait 30 s at its first gate.
fn starting(phase: Phase) -> Machine {
    Machine {
        start_wait: Some(START),
        ..in_phase(phase)
    }
}

/// The longest wait at the first gate.
pub(super) const START: Duration = Duration::from_secs(30);

#[test]
fn the_first_gate_waits_connected_or_not() {
    let reason = HoldReason::Start;
    let hold = Hold { at: at(4), reason };
    let waiting = Phase::Held(hold.clone());
    let lost = Phase::LostHeld(hold);
    let start = Action::Start(Timer::Hold, START);
    let told = Action::Send(ToServer::Held {
        at: at(4),
        reason,
        goes_on_secs: Some(30.0),
    });
    for phase in [Phase::Running, Phase::Armed] {
        let actions = [told.clone(), start.clone()];
        row(starting(phase), gate(4), &waiting, &actions);
    }
    for phase in [Phase::Off, Phase::Connecting] {
        row(
            starting(phase.clone()),
            gate(4),
            &lost,
            std::slice::from_ref(&start),
        );
        let (alone, _) = step(starting(phase), gate(4));
        row(alone.clone(), Event::Address, &lost, &[Action::Connect]);
        let welcome = Event::Welcome(limits());
        row(
            alone.clone(),
            welcome,
            &waiting,
            &[Action::Cancel(Timer::Grace)],
        );
        row(
            alone.clone(),
            Event::Refused(Refusal::Access),
            &Phase::Off,
            &[
                Action::Note(Note::Refused(Refusal::Access)),
                Action::Cancel(Timer::Hold),
                Action::GoOn,
            ],
        );
        let strict = Settings {
            stops_if_lost: true,
            ..SINGLE
        };
        let alone = Machine {
            settings: strict,
            ..alone
        };
        let (over, actions) = step(alone, Event::Expired(Timer::Hold));
        assert_eq!(over.phase, Phase::Connecting);
        let rest = [Action::Note(Note::StartOver), Action::GoOn];
        assert!(actions.ends_with(&rest), "no server was lost: {actions:?}");
        // Only the first gate waits.
        row(over, gate(5), &Phase::Connecting, &[Action::GoOn]);
    }
    let (connected, _) = step(starting(Phase::Running), gate(4));
    row(
        connected,
        Event::Expired(Timer::Hold),
        &Phase::Running,
        &[
            going(GoingReason::Limit),
            Action::Note(Note::StartOver),
            Action::GoOn,
        ],
    );
    let (resumed, _) = step(starting(Phase::Running), resume());
    row(resumed, gate(4), &Phase::Running, &[Action::GoOn]);
}
