//! Random sequences of events.

use std::time::Duration;

use proptest::prelude::*;
use trainscope_format::session::{ByeReason, Gate, HoldReason, Place};

use super::super::{Action, Event, Limits, Machine, Phase, Refusal, Timer, step};
use super::start::START;
use super::{SINGLE, at, resume};

fn events() -> impl Strategy<Value = Event> {
    let number = 0_i64..3;
    prop_oneof![
        Just(Event::Address),
        Just(Event::Welcome(Limits::default())),
        Just(Event::Refused(Refusal::Access)),
        Just(Event::Refused(Refusal::Proxy)),
        Just(Event::Unreachable { jitter: 0.5 }),
        Just(Event::Lost),
        (number.clone(), any::<(bool, bool)>()).prop_map(|(step, (pauses, early))| {
            let place = if early {
                Place::BeforeUpdate
            } else {
                Place::AfterStep
            };
            Event::Gate {
                at: Gate::new(step, place),
                pauses,
                stops: false,
            }
        }),
        Just(Event::Arm { next: at(1) }),
        Just(Event::Disarm),
        number.clone().prop_map(|step| Event::Go(at(step))),
        number.prop_map(|step| Event::Hold(at(step), HoldReason::Asked)),
        Just(resume()),
        (0_u64..3).prop_map(|steps| Event::Resume {
            steps: Some(steps),
            node: None,
        }),
        Just(Event::Extend(Duration::from_secs(1))),
        Just(Event::Request),
        Just(Event::Expired(Timer::Gate)),
        Just(Event::Expired(Timer::Hold)),
        Just(Event::Expired(Timer::Grace)),
        Just(Event::Signal),
        Just(Event::Unreadable),
        Just(Event::Finish(ByeReason::Finished)),
    ]
}

proptest! {
    /// Each wait has a running limit, and the training leaves a gate exactly if it no longer waits.
    #[test]
    fn every_wait_has_a_limit(waits: bool, events in prop::collection::vec(events(), 1..200)) {
        let start_wait = waits.then_some(START);
        let mut machine = Machine::new(SINGLE, Limits::default(), start_wait);
        let mut running: Vec<Timer> = Vec::new();
        for event in events {
            // A training that waits reaches no gate, and only running timers expire.
            let is_gate = matches!(event, Event::Gate { .. });
            if is_gate && machine.is_waiting() {
                continue;
            }
            if let Event::Expired(timer) = event {
                if !running.contains(&timer) {
                    continue;
                }
                running.retain(|other| *other != timer);
            }
            let waited = machine.is_waiting() || is_gate;
            let (next, actions) = step(machine, event);
            machine = next;
            for action in &actions {
                match action {
                    Action::Start(timer, _) => {
                        running.retain(|other| other != timer);
                        running.push(*timer);
                    }
                    Action::Cancel(timer) => running.retain(|other| other != timer),
                    _ => {}
                }
            }
            let wanted: &[Timer] = match &machine.phase {
                Phase::Asking(_) => &[Timer::Gate],
                Phase::Held(_) => &[Timer::Hold],
                // It may not have had a connection yet.
                Phase::LostHeld(hold) if hold.reason == HoldReason::Start => &[Timer::Hold],
                Phase::LostHeld(_) => &[Timer::Hold, Timer::Grace],
                _ => &[],
            };
            for timer in wanted {
                prop_assert!(running.contains(timer), "{:?} without {timer:?}", machine.phase);
            }
            let leaves = actions.iter().any(|action| {
                matches!(action, Action::GoOn | Action::StopTraining | Action::Raise)
            });
            prop_assert_eq!(leaves, waited && !machine.is_waiting(), "{:?}", actions);
        }
    }
}
