//! Commands of users and programs.

use std::time::Duration;

use trainscope_api::sessions::HoldMode;
use trainscope_format::session::{
    HoldReason, MAX_HOLD_SECS, MAX_STEPS, PauseLevel, StopOrigin, ToTraining,
};

use super::{Action, Machine, RankState, State, Target};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    /// Holds all ranks at the next gate that all of them reach. `partial` allows it if not all ranks are connected: the
    /// others may then wait for the held ones in vain.
    Pause { partial: bool },
    /// Lets the ranks go on.
    Continue,
    /// Holds after this number of steps.
    Step(u64),
    /// Holds at a node.
    ToNode(String),
    /// Ends the training.
    Stop,
    /// Restarts the limit of the hold.
    Extend(Duration),
    /// Sets the causes of automatic pauses.
    Pausing {
        level: PauseLevel,
        has_pausing_watchpoint: bool,
    },
    /// Sets the patterns of activations to keep.
    Keep(Vec<String>),
    /// Sets how ranks are held.
    Hold(HoldMode),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CommandError {
    /// The state has changed since the command was given.
    #[error("the session has changed meanwhile")]
    Conflict,
    /// The state does not allow it.
    #[error("{0}")]
    Refused(&'static str),
}

impl Machine {
    /// Carries out a command that was given at a turn.
    pub(crate) fn command(
        &mut self,
        now: Duration,
        turn: u64,
        command: Command,
    ) -> Result<Vec<Action>, CommandError> {
        if turn != self.turn {
            return Err(CommandError::Conflict);
        }
        let mut out = Vec::new();
        let before = self.turn;
        let state = self.state.clone();
        self.carry_out(now, command, &mut out)?;
        self.decide_open(now, &mut out);
        self.settle(now, &mut out);
        self.note_change(now, &state);
        // The next command has to refer to the new turn, even if the state is the same.
        self.turn = before + 1;
        Ok(out)
    }

    fn carry_out(
        &mut self,
        now: Duration,
        command: Command,
        out: &mut Vec<Action>,
    ) -> Result<(), CommandError> {
        let refused = |why| Err(CommandError::Refused(why));
        match self.state {
            State::Finished(_) => return refused("the training has ended"),
            State::Lost => return refused("the training is not connected"),
            _ => {}
        }
        match command {
            Command::Stop => {
                let is_alone = self.connected().count() <= 1;
                let waits = matches!(self.state, State::Waiting { .. } | State::Joining);
                self.state = State::Stopping;
                if is_alone || waits || self.holds_each() {
                    self.stop_all(StopOrigin::Person, out);
                } else {
                    self.stops_together = true;
                    self.arm(None, out);
                }
                return Ok(());
            }
            Command::Pausing {
                level,
                has_pausing_watchpoint,
            } => {
                self.level = level;
                self.has_pausing_watchpoint = has_pausing_watchpoint;
                self.allow_pausing(out);
                return Ok(());
            }
            Command::Hold(mode) => return self.set_mode(mode, out),
            Command::Keep(patterns) => {
                self.keep = patterns;
                let ranks: Vec<u32> = self.connected().map(|entry| entry.0).collect();
                for rank in ranks {
                    let patterns = self.keep.clone();
                    out.push(Action::Send(rank, ToTraining::Keep { patterns }));
                }
                return Ok(());
            }
            _ => {}
        }
        match &self.state {
            State::Joining => refused("ranks are still connecting: only stop is possible"),
            State::Stopping => refused("the training is being stopped"),
            State::Waiting { at, .. } => {
                let place = at.place.clone();
                self.while_waiting(now, command, place, out)
            }
            _ => self.while_running(command, out),
        }
    }

    fn while_waiting(
        &mut self,
        now: Duration,
        command: Command,
        place: trainscope_format::session::Place,
        out: &mut Vec<Action>,
    ) -> Result<(), CommandError> {
        match command {
            Command::Continue => {
                if !self.needs_arming() {
                    self.disarm(out);
                }
                self.resume_all(None, out);
                self.run();
            }
            Command::Step(total) => {
                let target = steps(total, Some(place))?;
                self.arm(None, out);
                self.resume_all(Some(&target), out);
                self.state = State::Stepping(target);
            }
            Command::ToNode(name) => {
                let target = Target::Node(name);
                self.arm(None, out);
                self.resume_all(Some(&target), out);
                self.state = State::Stepping(target);
            }
            Command::Extend(time) => {
                let time = time.min(Duration::from_secs(MAX_HOLD_SECS));
                self.hold_ends = now + time;
                let secs = time.as_secs_f64();
                let ranks: Vec<u32> = self.connected().map(|entry| entry.0).collect();
                for rank in ranks {
                    out.push(Action::Send(rank, ToTraining::Extend { secs }));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Carries out a command in a running, pausing or stepping session.
    fn while_running(
        &mut self,
        command: Command,
        out: &mut Vec<Action>,
    ) -> Result<(), CommandError> {
        let is_pausing = self.state == State::Pausing;
        match command {
            Command::Pause { partial } => {
                if !self.is_complete() && !partial {
                    return Err(CommandError::Refused(
                        "not all ranks are connected, and the others would wait for those that are paused: \
                         pause with `partial` to do it anyway",
                    ));
                }
                self.want(HoldReason::Asked, out);
            }
            Command::Continue => {
                if !self.needs_arming() {
                    self.disarm(out);
                }
                self.resume_all(None, out);
                self.run();
            }
            Command::Step(_) | Command::ToNode(_) if is_pausing => {
                return Err(CommandError::Refused(
                    "the ranks are being paused: wait until they are, or continue",
                ));
            }
            Command::Step(total) => {
                let target = steps(total, None)?;
                self.ranks.values_mut().for_each(|rank| rank.stepped = 0);
                self.arm(None, out);
                self.state = State::Stepping(target);
            }
            Command::ToNode(name) => {
                // Before they are armed: the first gate at which they ask is then that of the node.
                let ranks: Vec<u32> = self.connected().map(|entry| entry.0).collect();
                for rank in ranks {
                    let node = Some(name.clone());
                    out.push(Action::Send(rank, ToTraining::Resume { steps: None, node }));
                }
                self.arm(None, out);
                self.state = State::Stepping(Target::Node(name));
            }
            Command::Extend(_) => {
                return Err(CommandError::Refused(
                    "nothing waits, so there is no limit to extend",
                ));
            }
            _ => {}
        }
        Ok(())
    }

    /// Asks all connected ranks to end at this or their next gate.
    pub(super) fn stop_all(&mut self, by: StopOrigin, out: &mut Vec<Action>) {
        self.stops_together = false;
        for (number, rank) in &mut self.ranks {
            if rank.is_connected() {
                rank.state = RankState::Running;
                let hits = Vec::new();
                out.push(Action::Send(*number, ToTraining::Stop { by, hits }));
            }
        }
    }

    /// Lets hits pause again, if ranks were not aligned before.
    pub(super) fn allow_pausing(&mut self, out: &mut Vec<Action>) {
        self.is_auto_off = false;
        self.missed = 0;
        self.arm_as_needed(out);
    }

    /// Arms or disarms all ranks as the watchpoints and the state require.
    pub(super) fn arm_as_needed(&mut self, out: &mut Vec<Action>) {
        match self.state {
            State::Running if self.needs_arming() => self.arm(None, out),
            State::Running => self.disarm(out),
            _ => {}
        }
    }
}

fn steps(
    total: u64,
    place: Option<trainscope_format::session::Place>,
) -> Result<Target, CommandError> {
    if total == 0 || total > MAX_STEPS {
        return Err(CommandError::Refused(
            "the number of steps is between 1 and 1,000,000",
        ));
    }
    Ok(Target::Steps {
        done: 0,
        total,
        place,
    })
}
