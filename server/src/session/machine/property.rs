//! Random sequences of events for one to eight ranks, which follow the protocol as trainings do.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use trainscope_api::sessions::HoldMode;
use trainscope_format::session::{
    ByeReason, Gate, GoingReason, HoldReason, HoldReport, PauseLevel, Place, ToTraining,
};

use super::tests::hello;
use super::{Action, Command, Event, GateReasons, Limits, Machine, RankState, State};

/// A rank, simulated by its table of states.
#[derive(Clone, Debug)]
struct Rank {
    state: Side,
    is_connected: bool,
    is_armed: bool,
    step: i64,
    /// Maximum wait at its first gate; `None` once it has passed that.
    start_wait: Option<Duration>,
    reason: HoldReason,
    /// Time at which its wait ends automatically.
    limit: Duration,
    has_ended: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Side {
    Computes,
    Asks(Gate),
    Holds(Gate),
}

#[derive(Clone, Debug)]
enum Input {
    /// A rank reaches its next gate.
    Gate {
        rank: u32,
        hits: bool,
    },
    /// The connection of a rank ends.
    Drop(u32),
    /// A rank connects again.
    Connect(u32),
    End(u32),
    Wait(u64),
    Command(Command),
    RuleHit,
}

struct World {
    machine: Machine,
    ranks: BTreeMap<u32, Rank>,
    size: u32,
    now: Duration,
}

impl World {
    fn new(size: u32, level: PauseLevel, start_wait: Option<Duration>) -> Self {
        let rank = Rank {
            state: Side::Computes,
            is_connected: false,
            is_armed: false,
            step: 0,
            start_wait,
            reason: HoldReason::Asked,
            limit: Duration::ZERO,
            has_ended: false,
        };
        Self {
            machine: Machine::new(Limits::default(), level),
            ranks: (0..size).map(|number| (number, rank.clone())).collect(),
            size,
            now: Duration::ZERO,
        }
    }

    fn gate(rank: &Rank) -> Gate {
        Gate::new(rank.step, Place::AfterStep)
    }

    fn apply(&mut self, event: Event) {
        let actions = self.machine.apply(self.now, event);
        self.deliver(actions);
    }

    fn deliver(&mut self, actions: Vec<Action>) {
        let limits = self.machine.limits;
        for action in actions {
            let Action::Send(number, message) = action else {
                continue;
            };
            let rank = self.ranks.get_mut(&number).unwrap();
            assert!(
                !rank.has_ended,
                "{message:?} to rank {number}, which said goodbye"
            );
            if !rank.is_connected {
                continue;
            }
            let answer = match (message, rank.state.clone()) {
                (ToTraining::Arm(_), _) => {
                    rank.is_armed = true;
                    let from = Some(Self::gate(rank));
                    Some(Event::Armed { rank: number, from })
                }
                (ToTraining::Disarm, _) => {
                    rank.is_armed = false;
                    let from = None;
                    Some(Event::Armed { rank: number, from })
                }
                (ToTraining::Go { at }, Side::Asks(asked)) if at == asked => {
                    rank.state = Side::Computes;
                    rank.step += 1;
                    None
                }
                (ToTraining::Hold { at, reason }, Side::Asks(asked)) if at == asked => {
                    rank.state = Side::Holds(at.clone());
                    rank.limit = self.now + limits.hold;
                    rank.reason = reason;
                    Some(Event::Held {
                        rank: number,
                        at,
                        reason,
                        goes_on: None,
                    })
                }
                (ToTraining::Resume { .. }, Side::Holds(at)) => {
                    rank.state = Side::Computes;
                    rank.step += 1;
                    let why = GoingReason::Resumed;
                    Some(Event::Going {
                        rank: number,
                        at,
                        why,
                    })
                }
                (ToTraining::Resume { .. }, _) => {
                    rank.start_wait = None;
                    None
                }
                (ToTraining::Extend { secs }, Side::Holds(_)) => {
                    rank.limit = self.now + Duration::from_secs_f64(secs);
                    None
                }
                (ToTraining::Stop { .. }, _) => {
                    rank.has_ended = true;
                    rank.is_connected = false;
                    rank.state = Side::Computes;
                    let reason = ByeReason::Stopped;
                    Some(Event::Bye {
                        rank: number,
                        reason,
                        error: None,
                    })
                }
                _ => None,
            };
            if let Some(answer) = answer {
                self.apply(answer);
            }
        }
    }

    fn connect(&mut self, number: u32) {
        let rank = self.ranks.get_mut(&number).unwrap();
        if rank.is_connected || rank.has_ended {
            return;
        }
        rank.is_connected = true;
        let mut hello = hello(number, self.size);
        hello.step = rank.step;
        hello.next_gate = Self::gate(rank);
        hello.armed = rank.is_armed;
        if let Side::Holds(at) = &rank.state {
            hello.held = Some(HoldReport {
                at: at.clone(),
                reason: rank.reason,
                since_secs: 0.0,
                goes_on_secs: Some(rank.limit.saturating_sub(self.now).as_secs_f64()),
            });
        }
        self.apply(Event::Hello(Box::new(hello)));
    }

    fn input(&mut self, input: Input) {
        match input {
            Input::Gate { rank: number, hits } => {
                let single = self.size == 1;
                let rank = self.ranks.get_mut(&number).unwrap();
                if rank.state != Side::Computes || rank.has_ended {
                    return;
                }
                if let Some(wait) = rank.start_wait.take() {
                    let at = Self::gate(rank);
                    rank.state = Side::Holds(at.clone());
                    rank.reason = HoldReason::Start;
                    rank.limit = self.now + wait;
                    if rank.is_connected {
                        self.apply(Event::Held {
                            rank: number,
                            at,
                            reason: HoldReason::Start,
                            goes_on: Some(wait),
                        });
                    }
                    return;
                }
                if !rank.is_connected || !(rank.is_armed || (single && hits)) {
                    rank.step += 1;
                    return;
                }
                let at = Self::gate(rank);
                rank.state = Side::Asks(at.clone());
                rank.limit = self.now + self.machine.limits.gate;
                self.apply(Event::Gate {
                    rank: number,
                    at,
                    reasons: GateReasons {
                        pauses: hits,
                        ..GateReasons::default()
                    },
                });
            }
            Input::Drop(number) => {
                let rank = self.ranks.get_mut(&number).unwrap();
                if !rank.is_connected {
                    return;
                }
                rank.is_connected = false;
                if let Side::Holds(_) = rank.state {
                    rank.limit = rank.limit.min(self.now + self.machine.limits.grace);
                } else {
                    rank.state = Side::Computes;
                    rank.is_armed = false;
                }
                self.apply(Event::Gone { rank: number });
            }
            Input::Connect(number) => self.connect(number),
            Input::End(number) => {
                let rank = self.ranks.get_mut(&number).unwrap();
                if rank.is_connected && rank.state == Side::Computes {
                    rank.is_connected = false;
                    rank.has_ended = true;
                    self.apply(Event::Bye {
                        rank: number,
                        reason: ByeReason::Finished,
                        error: None,
                    });
                }
            }
            Input::Wait(millis) => self.wait(Duration::from_millis(millis)),
            Input::Command(command) => {
                let turn = self.machine.turn;
                if let Ok(actions) = self.machine.command(self.now, turn, command) {
                    self.deliver(actions);
                }
            }
            Input::RuleHit => self.apply(Event::RuleHit { step: 1 }),
        }
    }

    /// Lets time pass in small pieces: ticks of the server, heartbeats, and limits of the ranks.
    fn wait(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += Duration::from_millis(250).min(end.saturating_sub(self.now));
            for number in 0..self.size {
                let rank = self.ranks.get_mut(&number).unwrap();
                let event = match rank.state.clone() {
                    _ if rank.has_ended => continue,
                    Side::Asks(_) if self.now >= rank.limit => {
                        rank.state = Side::Computes;
                        rank.step += 1;
                        continue;
                    }
                    Side::Holds(at) if self.now >= rank.limit => {
                        rank.state = Side::Computes;
                        rank.step += 1;
                        rank.is_armed = false;
                        let why = GoingReason::Limit;
                        Event::Going {
                            rank: number,
                            at,
                            why,
                        }
                    }
                    _ => {
                        let step = rank.step;
                        Event::Alive { rank: number, step }
                    }
                };
                if rank.is_connected {
                    self.apply(event);
                }
            }
            self.apply(Event::Tick);
        }
    }

    fn check(&self) {
        for (number, rank) in &self.ranks {
            if rank.state != Side::Computes {
                assert!(
                    rank.limit >= self.now,
                    "rank {number} waits without a limit"
                );
            }
        }
        if let State::Waiting { at, .. } = &self.machine.state {
            if self.machine.mode == HoldMode::Each {
                let waits = |rank: &super::Rank| matches!(rank.state, RankState::Held(_));
                let is_any = self.machine.ranks.values().any(waits);
                assert!(is_any || self.machine.has_lost(), "none is held");
                return;
            }
            for (number, rank) in self.machine.connected() {
                let is_held = rank.state == RankState::Held(at.clone());
                assert!(is_held, "rank {number} is not held at {at:?}: {rank:?}");
            }
        }
    }
}

fn inputs() -> impl Strategy<Value = Input> {
    let rank = 0_u32..8;
    let commands = prop_oneof![
        Just(Command::Pause { partial: true }),
        Just(Command::Pause { partial: false }),
        Just(Command::Continue),
        (1_u64..4).prop_map(Command::Step),
        Just(Command::Extend(Duration::from_secs(5))),
        Just(Command::ToNode("a".into())),
        Just(Command::Hold(HoldMode::Each)),
        Just(Command::Hold(HoldMode::Together)),
    ];
    prop_oneof![
        12 => (rank.clone(), any::<u8>()).prop_map(|(rank, hit)| Input::Gate { rank, hits: hit < 20 }),
        1 => rank.clone().prop_map(Input::Drop),
        3 => rank.clone().prop_map(Input::Connect),
        1 => rank.prop_map(Input::End),
        3 => (1_u64..1_500).prop_map(Input::Wait),
        1 => (1_500_u64..30_000).prop_map(Input::Wait),
        3 => commands.prop_map(Input::Command),
        1 => Just(Input::RuleHit),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn sessions_hold_together_and_every_hold_ends(
        size in 1_u32..=8,
        pauses: bool,
        start_wait in prop::option::of((1_u64..120).prop_map(Duration::from_secs)),
        inputs in prop::collection::vec(inputs(), 1..120),
    ) {
        let level = if pauses { PauseLevel::Error } else { PauseLevel::Never };
        let mut world = World::new(size, level, start_wait);
        for number in 0..size {
            world.connect(number);
        }
        for input in inputs {
            let input = match input {
                Input::Gate { rank, hits } => Input::Gate { rank: rank % size, hits },
                Input::Drop(rank) => Input::Drop(rank % size),
                Input::Connect(rank) => Input::Connect(rank % size),
                Input::End(rank) => Input::End(rank % size),
                other => other,
            };
            world.input(input);
            world.check();
        }
        // Without further commands all ranks compute again after the limit of the hold.
        world.wait(Duration::from_secs(620));
        let waits = world.ranks.values().filter(|rank| rank.state != Side::Computes);
        prop_assert_eq!(waits.count(), 0);
        let is_held = matches!(world.machine.state, State::Waiting { .. } | State::Pausing);
        let is_armed = world.ranks.values().any(|rank| rank.is_armed && rank.is_connected);
        prop_assert!(!is_held || is_armed, "{:?}", world.machine.state);
    }
}
