//! The thread that connects to the server and reads its messages.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use trainscope_format::float::Float;
use trainscope_format::session::{
    Capability, FailureCode, GateReport, Hello, HoldReport, MAX_HITS, StopOrigin, ToServer,
    ToTraining, Welcome,
};

use super::core::{Core, MAX_REQUESTS, Request};
use super::link::{self, ConnectError, Input, Receiver};
use super::machine::{Event, Limits, Phase};
use super::state::LiveState;
use crate::fork;

pub(crate) const THREAD_NAME: &str = "trainscope-live";

/// Time without any frame after which the server counts as lost. It sends a ping every few seconds.
const SILENCE: Duration = Duration::from_secs(15);
/// Timeout of a write: a stalled server must not hold the training for longer than a gate may.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval of heartbeats until the server sets another.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Interval of checks for the end of the session, while idle.
const IDLE: Duration = Duration::from_secs(1);
/// Maximum limit that a server can set: 8 h.
const LONGEST: f64 = 8.0 * 3_600.0;

/// Connects until the session ends.
pub(crate) fn run(live: &LiveState) {
    loop {
        let mut core = live.core();
        write_notes(live, &mut core);
        let due = match core.machine.phase {
            Phase::Off => break,
            Phase::Connecting | Phase::LostHeld(_) => core.retry_at.unwrap_or_else(Instant::now),
            _ => Instant::now() + IDLE,
        };
        let wait = due.saturating_duration_since(Instant::now());
        if !wait.is_zero() {
            let waited = live.changed.wait_timeout(core, wait.min(IDLE));
            drop(waited.unwrap_or_else(PoisonError::into_inner));
            continue;
        }
        let (Some(address), token) = (core.address.clone(), core.token.clone()) else {
            break;
        };
        drop(core);
        match link::connect(&address, token.as_deref(), WRITE_TIMEOUT) {
            Ok((sender, receiver)) => {
                let socket = fork::Socket::register(&sender.link());
                let mut core = live.core();
                if core.machine.phase == Phase::Off {
                    break;
                }
                core.sender = Some(sender);
                let hello = hello(live, &core);
                core.has_told_hold = matches!(core.machine.phase, Phase::LostHeld(_));
                core.send(&hello);
                drop(core);
                converse(live, receiver);
                drop(socket);
                let mut core = live.core();
                core.sender = None;
                core.apply(Event::Lost);
                live.set_keep(Vec::new());
                live.publish(&core);
            }
            Err(ConnectError::Refused(refusal, message)) => {
                let mut core = live.core();
                core.refusal = message;
                core.apply(Event::Refused(refusal));
            }
            Err(ConnectError::Unreachable(_)) => {
                let jitter = 2.0 * fastrand::f64() - 1.0;
                live.core().apply(Event::Unreachable { jitter });
            }
        }
        live.changed.notify_all();
    }
    let mut core = live.core();
    core.sender = None;
    core.has_thread = false;
    live.publish(&core);
    live.changed.notify_all();
}

/// Records the notes that the machine has made.
fn write_notes(live: &LiveState, core: &mut Core) {
    for text in core.notes.drain(..) {
        live.note(text);
    }
}

fn hello(live: &LiveState, core: &Core) -> ToServer {
    let identity = &live.identity;
    let held = match &core.machine.phase {
        Phase::LostHeld(hold) => Some(HoldReport {
            at: hold.at.clone(),
            reason: hold.reason,
            since_secs: core
                .held_since
                .map_or(0.0, |since| since.elapsed().as_secs_f64()),
            goes_on_secs: core.rest_of_hold().map(|rest| rest.as_secs_f64()),
        }),
        _ => None,
    };
    let mut can = vec![Capability::Read];
    if live.settings.may_hold {
        can.push(Capability::Stop);
    }
    if !live.nodes().is_empty() {
        can.push(Capability::Nodes);
    }
    if live.can_keep.load(Ordering::Relaxed) {
        can.push(Capability::Keep);
    }
    ToServer::Hello(Box::new(Hello {
        launch: identity.launch.clone(),
        run_folder: identity.run.to_string_lossy().into_owned(),
        rank: identity.rank,
        world_size: identity.world_size,
        host: identity.host.clone(),
        pid: identity.process,
        program: identity.program.clone(),
        framework: identity.framework.clone(),
        collector: env!("CARGO_PKG_VERSION").to_owned(),
        step: live.newest_step(),
        total_steps: live.total_steps(),
        places: live.places(),
        can,
        next_gate: live.next_gate(core.machine.target.as_ref()),
        held,
        armed: core.machine.is_armed,
        pause_at: live.own_level(),
    }))
}

/// Reads messages and sends heartbeats until the connection ends.
fn converse(live: &LiveState, mut receiver: Receiver) {
    let mut heartbeat = HEARTBEAT;
    let mut heard = Instant::now();
    let mut told = Instant::now();
    let mut told_step = live.newest_step();
    loop {
        let due = heartbeat.saturating_sub(told.elapsed());
        match receiver.receive(due) {
            Input::Text(text) => {
                heard = Instant::now();
                handle(live, &text, &mut heartbeat);
            }
            Input::Sign => heard = Instant::now(),
            Input::Nothing => {}
            Input::End => return,
        }
        if heard.elapsed() >= SILENCE {
            if let Some(sender) = &live.core().sender {
                sender.cut();
            }
            return;
        }
        let mut core = live.core();
        write_notes(live, &mut core);
        if core.sender.is_none() {
            return;
        }
        if told.elapsed() >= heartbeat {
            let step = live.newest_step();
            let steps = step.saturating_sub(told_step);
            let step_secs = if steps > 0 {
                told.elapsed().as_secs_f64() / steps as f64
            } else {
                f64::NAN
            };
            (told, told_step) = (Instant::now(), step);
            let lost = live.shared.queue.lost().total();
            let step_secs = Float(step_secs);
            core.send(&ToServer::Status {
                step,
                step_secs,
                lost,
                nodes: live.nodes().len() as u64,
                total_steps: live.total_steps(),
                keeps: live.can_keep.load(Ordering::Relaxed),
                places: live.places(),
            });
        }
    }
}

fn handle(live: &LiveState, text: &str, heartbeat: &mut Duration) {
    let message = match ToTraining::read(text) {
        Ok(message) => message,
        Err(error) => {
            let mut core = live.core();
            if error.is_fatal() {
                if let Some(mut sender) = core.sender.take() {
                    sender.close("a message exceeds a limit");
                }
            } else {
                core.apply(Event::Unreadable);
            }
            return;
        }
    };
    let watchpoints = match &message {
        // After a reconnection they are usually the same, and their state is kept.
        ToTraining::Welcome(welcome) => {
            let list = welcome.watchpoints.as_deref();
            (!live.judge().uses(list)).then_some(list)
        }
        ToTraining::Arm(order) => order.watchpoints.as_deref().map(Some),
        ToTraining::Watchpoints { list, .. } => Some(list.as_deref()),
        _ => None,
    };
    let level = match &message {
        ToTraining::Welcome(welcome) => Some(welcome.pause_at),
        ToTraining::Watchpoints { pause_at, .. } => *pause_at,
        ToTraining::Level { pause_at } => Some(*pause_at),
        _ => None,
    };
    let mut core = live.core();
    // A training that waits judges its step again at once; one that runs has its hits at the next gate.
    let held = match (&message, &core.machine.phase) {
        (ToTraining::Watchpoints { .. }, Phase::Held(hold)) => Some(hold.at.clone()),
        _ => None,
    };
    let (mistake, hits) = {
        let mut judge = live.judge();
        if let Some(level) = level {
            judge.set_level(level);
        }
        let mistake = watchpoints.and_then(|list| judge.set_watchpoints(list).err());
        (mistake, held.map(|at| (at, judge.hits_again())))
    };
    if let Some((at, hits)) = hits {
        let hits_total = hits.len() as u64;
        let report = GateReport {
            at,
            hits: hits.into_iter().take(MAX_HITS).collect(),
            hits_total,
            is_target: false,
            stops: false,
        };
        core.send(&ToServer::Gate(report));
    }
    if let Some(mistake) = mistake {
        core.notes.push(format!(
            "Live session: watchpoints of the server: {mistake}."
        ));
    }
    match message {
        ToTraining::Welcome(welcome) => {
            *heartbeat = duration(welcome.heartbeat_secs).max(Duration::from_millis(10));
            core.apply(Event::Welcome(limits(&welcome)));
            core.tell_hold();
        }
        ToTraining::Arm(_) => {
            let next = live.next_gate(core.machine.target.as_ref());
            // A gate that begins now sees that it has to ask.
            core.apply(Event::Arm { next });
            live.publish(&core);
        }
        ToTraining::Disarm => core.apply(Event::Disarm),
        ToTraining::Go { at } => core.apply(Event::Go(at)),
        ToTraining::Hold { at, reason } => core.apply(Event::Hold(at, reason)),
        ToTraining::Resume { steps, node } => core.apply(Event::Resume { steps, node }),
        ToTraining::Stop { by, .. } => {
            core.is_stopped_by_hit = by == StopOrigin::Hit;
            core.apply(Event::Stop);
        }
        ToTraining::Extend { secs } => core.apply(Event::Extend(duration(secs))),
        ToTraining::List {
            id,
            pattern,
            offset,
        } => ask(
            &mut core,
            id,
            Request::List {
                id,
                pattern,
                offset,
            },
        ),
        ToTraining::Nodes {
            id,
            pattern,
            offset,
        } => core.send(&ToServer::Nodes(live.node_list(id, &pattern, offset))),
        ToTraining::Read { id, tensor, slice } => {
            ask(&mut core, id, Request::Read { id, tensor, slice });
        }
        ToTraining::Watchpoints { .. } | ToTraining::Level { .. } => core.apply(Event::Request),
        ToTraining::Keep { patterns } => live.set_keep(patterns),
        ToTraining::Unknown => core.apply(Event::Unreadable),
    }
    live.publish(&core);
    drop(core);
    live.changed.notify_all();
}

fn ask(core: &mut Core, id: u64, request: Request) {
    if core.requests.len() >= MAX_REQUESTS {
        core.send(&ToServer::Failed {
            id,
            code: FailureCode::Busy,
            message: format!("{MAX_REQUESTS} requests wait already"),
        });
        return;
    }
    core.requests.push_back(request);
    core.apply(Event::Request);
}

fn limits(welcome: &Welcome) -> Limits {
    Limits {
        gate: duration(welcome.gate_limit_secs),
        hold: duration(welcome.hold_limit_secs),
        grace: duration(welcome.lost_grace_secs),
        ..Limits::default()
    }
}

/// A time from a message; NaN and negative numbers are 0, and the maximum is 8 h.
fn duration(secs: f64) -> Duration {
    Duration::from_secs_f64(if secs > 0.0 { secs.min(LONGEST) } else { 0.0 })
}
