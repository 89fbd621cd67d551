//! Several ranks are held together, at one gate.

use std::time::{Duration, Instant};

use serde_json::json;
use trainscope_api::sessions::{Session, SessionRank, SessionRankState, SessionState};
use trainscope_collector::AtHit;
use trainscope_format::session::{ByeReason, HoldReason};

use super::training::{Sessions, Setup, Training, command_at};
use crate::support::lab::Lab;
use crate::support::wait::wait_for;

#[test]
fn a_hit_in_one_rank_holds_all_at_the_same_gate() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    setup.ranks = 4;
    setup.steps = 400;
    setup.nan = Some((2, 100));
    setup.at_hit = Some(AtHit::Pause);
    let training = Training::start_connected(&setup, &server, || {});
    let session = server.wait_for_state("a", SessionState::Waiting);
    assert_eq!((session.step, session.world_size), (100, 4));
    assert!(session.is_armed);
    for rank in &session.ranks {
        assert_eq!((rank.state, rank.step), (SessionRankState::Held, 100));
    }
    training.wait_until_still();
    // Rules over all ranks find the same fault a second later.
    let never = json!({"name": "pausing", "level": "never"});
    assert_eq!(server.command("a", &never).0, 200);
    assert_eq!(server.command("a", &json!({"name": "continue"})).0, 200);
    let ends = training.end();
    assert!(ends.iter().all(|end| end.1 == 399), "{ends:?}");
}

#[test]
fn a_hit_that_stops_one_rank_stops_all_at_the_same_gate() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    setup.ranks = 4;
    setup.nan = Some((2, 100));
    setup.at_hit = Some(AtHit::Stop);
    // The ranks meet in each step: one that stopped alone would leave the others waiting forever.
    let ends = Training::start_connected(&setup, &server, || {}).end();
    assert!(ends.iter().all(|end| end.1 == 99), "{ends:?}");
    let session = server.wait_for_state("a", SessionState::Finished);
    assert_eq!(session.end, Some(ByeReason::Stopped));
}

#[test]
fn ranks_wait_at_their_first_gate_until_they_are_continued() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    setup.ranks = 4;
    setup.wait = Some(Duration::from_mins(5));
    let training = Training::start(&setup);
    let session = server.wait_for_state("a", SessionState::Waiting);
    assert_eq!((session.step, session.reason), (0, Some(HoldReason::Start)));
    let rest = session.goes_on_secs.unwrap();
    assert!((200.0..=300.0).contains(&rest), "{rest}");
    assert_eq!(server.command("a", &json!({"name": "continue"})).0, 200);
    training.wait_until_moving();
    assert_eq!(server.command("a", &json!({"name": "stop"})).0, 200);
    training.end();
}

#[test]
fn ranks_are_held_at_a_node_together_again_and_again() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    (setup.ranks, setup.has_node) = (4, true);
    let training = Training::start(&setup);
    server.wait_for_state("a", SessionState::Running);
    let to_node = json!({"name": "to_node", "node": "fc"});
    let mut last = -1;
    for _ in 0..3 {
        assert_eq!(server.command("a", &to_node).0, 200);
        let session = server.wait_for_state("a", SessionState::Waiting);
        assert_eq!(session.place.as_deref(), Some("node:fc"));
        assert_eq!(session.reason, Some(HoldReason::Node));
        assert_eq!(session.ranks.len(), 4);
        for rank in &session.ranks {
            let state = (rank.state, rank.step, rank.place.as_deref(), rank.unaligned);
            assert_eq!(
                state,
                (SessionRankState::Held, session.step, Some("node:fc"), 0)
            );
        }
        assert!(session.step > last, "{} after {last}", session.step);
        last = session.step;
        training.wait_until_still();
    }
    assert_eq!(server.command("a", &json!({"name": "continue"})).0, 200);
    training.wait_until_moving();
    assert_eq!(server.command("a", &json!({"name": "stop"})).0, 200);
    training.end();
}

#[test]
fn a_launch_of_the_same_name_has_a_session_of_its_own() {
    let lab = Lab::new();
    let server = lab.start();
    let setup = |process| Setup {
        ranks: 2,
        identity: Some(("host", process)),
        ..Setup::new(&lab.base().join("a"), Some(&server))
    };
    let wait_for_sessions = |count| {
        wait_for("sessions with all ranks", || {
            let all = server.sessions();
            let is_whole = |session: &Session| session.ranks.len() == 2;
            (all.len() == count && all.iter().all(is_whole)).then_some(all)
        })
    };
    let first = Training::start(&setup(7));
    wait_for_sessions(1);
    // As after a crash that was not seen yet: torchrun gives the same name again.
    let second = Training::start(&setup(8));
    let sessions = wait_for_sessions(2);
    let newest = &sessions[0];
    assert!(newest.ranks.iter().all(|rank| rank.pid == 8), "{newest:?}");
    for session in &sessions {
        assert_eq!(
            command_at(&server, session, &json!({"name": "stop"})).0,
            200
        );
    }
    first.end();
    second.end();
}

#[test]
fn a_first_gate_without_a_server_is_passed_after_its_limit() {
    let lab = Lab::new();
    let mut setup = Setup::new(&lab.base().join("a"), None);
    (setup.steps, setup.wait) = (3, Some(Duration::from_millis(300)));
    let begun = Instant::now();
    assert_eq!(Training::start(&setup).end()[0].1, 2);
    assert!(begun.elapsed() >= Duration::from_millis(300));
}

#[test]
fn sixty_four_ranks_are_paused_and_go_on() {
    let lab = Lab::new();
    let server = lab.start();
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    setup.ranks = 64;
    let training = Training::start(&setup);
    server.wait_for_state("a", SessionState::Running);
    for _ in 0..3 {
        // On a busy machine a rank may come later than a gate waits; then all go on, and the pause is given again.
        let session = wait_for("all ranks to wait", || {
            let session = server.session_of("a")?;
            if session.state == SessionState::Running {
                server.command("a", &json!({"name": "pause"}));
            }
            (session.state == SessionState::Waiting).then_some(session)
        });
        let step = session.step;
        assert_eq!(session.ranks.len(), 64);
        assert!(session.ranks.iter().all(|rank| rank.step == step));
        assert_eq!(server.command("a", &json!({"name": "continue"})).0, 200);
        training.wait_until_moving();
    }
    assert_eq!(server.command("a", &json!({"name": "stop"})).0, 200);
    // The ranks meet in each step: one that stopped earlier than the others would leave them waiting forever.
    server.wait_for_state("a", SessionState::Finished);
    let ends = training.end();
    assert!(ends.iter().all(|end| end.1 == ends[0].1), "{ends:?}");
}

#[test]
fn ranks_of_unequal_steps_are_held_each_by_itself() {
    let lab = Lab::new();
    let server = lab.start_with(&["--session-limits", "1,600,10"]);
    let mut setup = Setup::new(&lab.base().join("a"), Some(&server));
    (setup.ranks, setup.lead) = (2, Some(100_000));
    setup.at_hit = Some(AtHit::Pause);
    setup.weights = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5];
    setup.nan = Some((1, 102_000));
    let training = Training::start(&setup);
    // Held together, the one ahead would wait for a gate that the other reaches in 100,000 steps.
    let off = wait_for("three missed gates", || {
        server
            .session_of("a")
            .filter(|session| session.is_pausing_off)
    });
    assert!(off.ranks[0].unaligned >= 3, "{off:?}");
    assert!(!off.is_armed, "{off:?}");
    let each = json!({"name": "hold", "mode": "each"});
    assert_eq!(server.command("a", &each).0, 200);
    assert_eq!(server.command("a", &json!({"name": "pause"})).0, 200);
    let is_held = |rank: &SessionRank| rank.state == SessionRankState::Held;
    let wait_until_held = || {
        wait_for("both ranks to be held", || {
            let session = server.session_of("a")?;
            let is_waiting = session.state == SessionState::Waiting;
            (is_waiting && session.ranks.iter().all(is_held)).then_some(session)
        })
    };
    let session = wait_until_held();
    assert!(session.ranks[0].step < 100_000 && session.ranks[1].step >= 100_000);
    assert_eq!(session.step, session.ranks[1].step);
    let together = json!({"name": "hold", "mode": "together"});
    assert_eq!(server.command("a", &together).0, 400);
    training.wait_until_still();
    assert_eq!(server.command("a", &json!({"name": "continue"})).0, 200);
    // A hit of one rank makes the other wait at its next step.
    let session = wait_until_held();
    assert_eq!(session.reason, Some(HoldReason::Hit));
    assert_eq!((session.step, session.ranks[1].step), (102_000, 102_000));
    assert_eq!(server.command("a", &json!({"name": "stop"})).0, 200);
    training.end();
    server.wait_for_state("a", SessionState::Finished);
}
