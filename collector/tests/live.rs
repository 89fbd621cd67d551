//! Live sessions against a scripted server: gates, holds, limits, losses, and none of these without a connection.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod live_support;
use std::net::TcpListener;
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use live_support::{FAR, PATIENCE, Peer, Server, bodies, builder, notes, train};
use trainscope_collector::{AtHit, Collector, Flow, Live, Place, Role, SamplePolicy, TensorView};
use trainscope_format::Body;
use trainscope_format::session::{
    ByeReason, Gate, GoingReason, HoldReason, PauseLevel, ToServer, ToTraining,
};
use tungstenite::Message;

const PACE: Duration = Duration::from_millis(2);

#[test]
fn a_pause_shows_tensors_to_the_bit_and_changes_no_result() {
    let run = tempfile::tempdir().unwrap();
    let alone = run.path().join("alone");
    let (wanted, _) = train(builder(&alone), 1_500, Duration::ZERO, None).end();
    let server = Server::new();
    let held = run.path().join("held");
    let settings = builder(&held).live(Live::to(server.address()));
    let training = train(settings, 1_500, PACE, None);
    let (mut peer, hello) = server.welcome([FAR; 3], PauseLevel::Never);
    assert_eq!(Path::new(&hello.run_folder), held.canonicalize().unwrap());
    assert_eq!((hello.rank, hello.world_size), (0, 1));
    peer.arm();
    let at = peer.gate().at;
    peer.hold(&at);
    while training.passes(Duration::from_millis(50)) {}
    peer.send(&ToTraining::List {
        id: 7,
        pattern: "grad".into(),
        offset: 0,
    });
    if at.place == Place::BeforeUpdate {
        let ToServer::Tensors(list) = peer.next() else {
            panic!("no list");
        };
        assert_eq!((list.id, &*list.items[0].name), (7, "fc.weight.grad"));
        peer.send(&ToTraining::Read {
            id: 8,
            tensor: "fc.weight".into(),
            slice: vec![(1, 2), (0, 2)],
        });
        let ToServer::Slice(slice) = peer.next() else {
            panic!("no slice");
        };
        assert_eq!(
            (slice.id, slice.shape, slice.full_shape),
            (8, vec![1, 2], vec![2, 2])
        );
        let mut weight = 1.0_f32;
        for _ in 0..at.step {
            weight -= 0.01;
        }
        let bytes = weight.to_le_bytes().repeat(2);
        assert_eq!(peer.elements(), bytes);
    }
    peer.disarm();
    peer.resume();
    let (weights, last) = training.end();
    assert_eq!((weights, last), (wanted, 1_499));
    assert_eq!(
        loop {
            if let ToServer::Bye { reason, .. } = peer.next() {
                break reason;
            }
        },
        ByeReason::Finished
    );
}

#[test]
fn five_steps_are_five_steps() {
    let run = tempfile::tempdir().unwrap();
    let server = Server::new();
    let settings = builder(run.path()).live(Live::to(server.address()));
    let training = train(settings, 100_000, PACE, None);
    let (mut peer, _) = server.welcome([FAR; 3], PauseLevel::Never);
    peer.arm();
    let at = peer.gate().at;
    peer.hold(&at);
    peer.send(&ToTraining::Disarm);
    peer.send(&ToTraining::Resume {
        steps: Some(5),
        node: None,
    });
    let report = loop {
        if let ToServer::Gate(report) = peer.next() {
            break report;
        }
    };
    assert_eq!(report.at, Gate::new(at.step + 5, at.place));
    assert!(report.is_target);
    peer.stop();
    let bye = peer.next();
    assert!(
        matches!(
            bye,
            ToServer::Bye {
                reason: ByeReason::Stopped,
                ..
            }
        ),
        "{bye:?}"
    );
    training.end();
}

#[test]
fn a_node_is_a_gate_while_it_is_the_target() {
    let run = tempfile::tempdir().unwrap();
    let server = Server::new();
    let settings = builder(run.path()).live(Live::to(server.address()));
    let training = train(settings, 100_000, PACE, None);
    let (mut peer, _) = server.welcome([FAR; 3], PauseLevel::Never);
    loop {
        if let ToServer::Status { nodes: 2, .. } = peer.read() {
            break;
        }
    }
    // Names are known while it runs.
    peer.send(&ToTraining::Nodes {
        id: 3,
        pattern: "f*".into(),
        offset: 0,
    });
    let ToServer::Nodes(list) = peer.next() else {
        panic!("no nodes");
    };
    assert_eq!((list.id, list.items.len(), list.cut), (3, 1, false));
    let place = Place::Node("fc".into());
    assert_eq!(list.items[0].place.as_ref(), Some(&place));
    let to_node = |peer: &mut Peer| {
        let node = Some("fc".to_owned());
        peer.send(&ToTraining::Resume { steps: None, node });
    };
    to_node(&mut peer);
    let first = peer.gate();
    assert!(first.is_target && first.at.place == place);
    peer.hold(&first.at);
    // The same node again is that of the next step.
    to_node(&mut peer);
    let ToServer::Going { .. } = peer.next() else {
        panic!("it does not go on");
    };
    let second = peer.gate();
    assert_eq!(second.at, Gate::new(first.at.step + 1, place));
    peer.hold(&second.at);
    peer.resume();
    training.wait_for(second.at.step + 3);
    peer.stop();
    training.end();
}

#[test]
fn nan_is_held_before_the_update() {
    let run = tempfile::tempdir().unwrap();
    let server = Server::new();
    let settings = builder(run.path())
        .live(Live::to(server.address()))
        .at_hit(AtHit::Pause);
    // No step of the policy: the sentinel sees it.
    let training = train(settings, 100_000, PACE, Some(733));
    let (mut peer, hello) = server.welcome([FAR; 3], PauseLevel::Error);
    assert_eq!(hello.pause_at, PauseLevel::Error);
    let report = peer.gate();
    assert_eq!(report.at, Gate::new(733, Place::BeforeUpdate));
    let hit = &report.hits[0];
    assert_eq!(
        (&*hit.condition, hit.step, hit.pauses),
        ("gradient_exploding", 733, true)
    );
    assert_eq!(hit.tensor, "fc.weight.grad");
    peer.hold(&report.at);
    peer.send(&ToTraining::Read {
        id: 1,
        tensor: "fc.weight".into(),
        slice: Vec::new(),
    });
    let ToServer::Slice(_) = peer.next() else {
        panic!("no slice");
    };
    let weights = peer.elements();
    assert!(
        weights
            .chunks_exact(4)
            .all(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()).is_finite())
    );
    peer.stop();
    let (weights, last) = training.end();
    assert!(weights.iter().all(|weight| weight.is_finite()));
    assert_eq!(last, 732, "the update of step 733 was not made");
    let hits = bodies(run.path());
    let hits = hits.iter().filter_map(|(step, body)| match body {
        Body::Hit(hit) => Some((*step, &*hit.condition, &*hit.tag)),
        _ => None,
    });
    let hits: Vec<_> = hits.collect();
    assert!(
        hits.contains(&(733, "gradient_exploding", "fc.weight.grad")),
        "{hits:?}"
    );
}

#[test]
fn a_hit_stops_a_training_that_is_not_connected() {
    let run = tempfile::tempdir().unwrap();
    let settings = builder(run.path()).at_hit(AtHit::Stop);
    let (weights, last) = train(settings, 1_000, Duration::ZERO, Some(17)).end();
    assert_eq!(last, 16);
    assert!(weights.iter().all(|weight| weight.is_finite()));
    let paused = run.path().join("pause");
    let settings = builder(&paused).at_hit(AtHit::Pause);
    let (_, last) = train(settings, 60, Duration::ZERO, Some(17)).end();
    assert_eq!(last, 59, "nothing can answer, so it goes on");
    let hits = bodies(&paused).into_iter();
    assert!(
        hits.filter(|record| matches!(record.1, Body::Hit(_)))
            .count()
            > 0
    );
}

/// Names of the threads of this process.
#[cfg(target_os = "linux")]
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| {
        let name = task.ok()?.path().join("comm");
        std::fs::read_to_string(name).ok()
    });
    names.map(|name| name.trim().to_owned()).collect()
}

#[test]
fn without_a_connection_nothing_is_different() {
    // In a separate process: threads of other tests have connections.
    if std::env::var_os("TRAINSCOPE_TEST_ALONE").is_none() {
        let program = std::env::current_exe().unwrap();
        let done = std::process::Command::new(program)
            .args([
                "--exact",
                "without_a_connection_nothing_is_different",
                "--nocapture",
            ])
            .env("TRAINSCOPE_TEST_ALONE", "1")
            .status()
            .unwrap();
        assert!(done.success());
        return;
    }
    let run = tempfile::tempdir().unwrap();
    let bytes = |has_gates: bool| {
        let folder = run.path().join(has_gates.to_string());
        let collector = Collector::builder(&folder)
            .samples(SamplePolicy::every(3))
            .clock(|| 1.5)
            .identity("host", 1)
            .flush_every(Duration::MAX)
            .start()
            .unwrap();
        for step in 0..100 {
            let mut recorder = collector.step(step);
            let weights = [1.0_f32, f32::NAN, 3.0];
            recorder.tensor("w", Role::Weight, TensorView::of(&weights, &[3]));
            recorder.scalars(&[("loss", f64::NAN)]);
            drop(recorder);
            if has_gates {
                assert_eq!(collector.gate(step, Place::AfterStep, &()), Flow::Continue);
            }
        }
        #[cfg(target_os = "linux")]
        assert!(!threads().contains(&"trainscope-live".to_owned()));
        let report = collector.finish();
        std::fs::read(&report.files[0]).unwrap()
    };
    assert_eq!(bytes(true), bytes(false));
}

#[test]
fn a_late_decision_costs_its_limit_and_three_disarm() {
    let run = tempfile::tempdir().unwrap();
    let server = Server::new();
    let settings = builder(run.path()).live(Live::to(server.address()));
    let training = train(settings, 2_000, PACE, None);
    let (mut peer, _) = server.welcome([0.1, FAR, FAR], PauseLevel::Never);
    let begun = Instant::now();
    peer.arm();
    for _ in 0..3 {
        peer.gate();
    }
    assert_eq!(peer.next(), ToServer::Armed { from: None });
    assert!(begun.elapsed() >= Duration::from_millis(250));
    training.wait_for(50);
    training.end();
    assert!(notes(run.path()).contains("three decisions"));
}

#[test]
fn a_hold_ends_at_its_limit() {
    let run = tempfile::tempdir().unwrap();
    let server = Server::new();
    let settings = builder(run.path()).live(Live::to(server.address()));
    let training = train(settings, 1_500, PACE, None);
    let (mut peer, _) = server.welcome([FAR, 2.0, FAR], PauseLevel::Never);
    peer.arm();
    let at = peer.gate().at;
    peer.hold(&at);
    let begun = Instant::now();
    peer.send(&ToTraining::Extend { secs: 3.0 });
    let why = GoingReason::Limit;
    assert_eq!(peer.next(), ToServer::Going { at, why });
    assert!(begun.elapsed() >= Duration::from_millis(2_900));
    assert_eq!(training.end().1, 1_499);
    assert!(notes(run.path()).contains("reached its limit"));
}

#[test]
fn a_lost_server_holds_no_longer_than_the_grace() {
    let run = tempfile::tempdir().unwrap();
    let server = Server::new();
    let settings = builder(run.path()).live(Live::to(server.address()));
    let training = train(settings, 1_500, PACE, None);
    let (mut peer, _) = server.welcome([FAR, FAR, 0.3], PauseLevel::Never);
    peer.arm();
    let at = peer.gate().at;
    peer.hold(&at);
    while training.passes(Duration::from_millis(20)) {}
    let begun = Instant::now();
    drop(peer);
    drop(server);
    assert!(training.passes(PATIENCE), "it goes on");
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(250), "{took:?}");
    assert_eq!(training.end().1, 1_499);
    assert!(notes(run.path()).contains("server was lost during a pause"));
}

#[test]
fn a_hold_outlives_a_reconnection_within_the_grace() {
    let run = tempfile::tempdir().unwrap();
    let server = Server::new();
    let settings = builder(run.path()).live(Live::to(server.address()));
    let training = train(settings, 1_500, PACE, None);
    let (mut peer, _) = server.welcome([FAR, FAR, FAR], PauseLevel::Never);
    peer.arm();
    let at = peer.gate().at;
    peer.hold(&at);
    drop(peer);
    let (mut peer, hello) = server.welcome([FAR; 3], PauseLevel::Never);
    let held = hello.held.unwrap();
    assert_eq!((held.at, held.reason), (at, HoldReason::Asked));
    assert!(hello.armed && held.since_secs > 0.0);
    peer.disarm();
    peer.resume();
    assert_eq!(training.end().1, 1_499);
}

#[test]
fn a_connection_that_is_lost_while_running_holds_nothing() {
    let run = tempfile::tempdir().unwrap();
    let server = Server::new();
    let settings = builder(run.path()).live(Live::to(server.address()));
    let training = train(settings, 100_000, PACE, None);
    let (mut peer, _) = server.welcome([FAR; 3], PauseLevel::Never);
    peer.arm();
    peer.gate();
    drop(peer);
    training.wait_for(20);
    let (mut peer, hello) = server.welcome([FAR; 3], PauseLevel::Never);
    assert!(!hello.armed && hello.held.is_none());
    peer.stop();
    training.end();
}

#[test]
fn rubbish_is_counted_and_a_hundred_messages_of_it_end_the_connection() {
    let run = tempfile::tempdir().unwrap();
    let server = Server::new();
    let settings = builder(run.path()).live(Live::to(server.address()));
    let training = train(settings, 100_000, PACE, None);
    let (mut peer, _) = server.welcome([FAR; 3], PauseLevel::Never);
    for number in 0..100 {
        let text = if number % 2 == 0 {
            "{"
        } else {
            r#"{"type":"song"}"#
        };
        peer.socket.send(Message::text(text)).unwrap();
    }
    let ended = loop {
        match peer.socket.read() {
            Ok(Message::Close(_)) | Err(_) => break true,
            Ok(_) => {}
        }
    };
    assert!(ended);
    let (mut peer, hello) = server.welcome([FAR; 3], PauseLevel::Never);
    assert_eq!(hello.rank, 0, "it comes back");
    peer.stop();
    training.end();
}

#[test]
fn a_server_that_stops_reading_holds_nothing_for_long() {
    let run = tempfile::tempdir().unwrap();
    let server = Server::new();
    let settings = builder(run.path()).live(Live::to(server.address()));
    let training = train(settings, 1_500, PACE, None);
    let (mut peer, _) = server.welcome([0.05, FAR, FAR], PauseLevel::Never);
    peer.arm();
    // From now on the server neither reads nor writes.
    assert_eq!(training.end().1, 1_499);
}

/// An answer of HTTP instead of a WebSocket.
fn answers(status: &str, body: &str) -> (String, JoinHandle<String>) {
    use std::io::{Read, Write};

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (status, body) = (status.to_owned(), body.to_owned());
    let thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4_096];
        let len = stream.read(&mut request).unwrap();
        let len_body = body.len();
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {len_body}\r\n\r\n{body}");
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8_lossy(&request[..len]).into_owned()
    });
    (address, thread)
}

#[test]
fn refusals_are_noted_and_the_token_goes_to_the_address_alone() {
    for (status, body, wanted) in [
        (
            "401 Unauthorized",
            r#"{"code":"token_wanted","message":"the token"}"#,
            "TRAINSCOPE_TOKEN_FILE",
        ),
        (
            "426 Upgrade Required",
            r#"{"code":"protocol","message":"version 2 only"}"#,
            "version 2 only",
        ),
        ("400 Bad Request", "<html>", "WebSockets"),
    ] {
        let run = tempfile::tempdir().unwrap();
        let (address, answer) = answers(status, body);
        let live = Live::to(address).token("secret-token");
        let training = train(builder(run.path()).live(live), 1_000, PACE, None);
        let request = answer.join().unwrap();
        assert!(
            request
                .to_lowercase()
                .contains("authorization: bearer secret-token")
        );
        assert_eq!(training.end().1, 999);
        let notes = notes(run.path());
        assert!(notes.contains(wanted), "{status}: {notes}");
        assert!(!notes.contains("secret-token"));
    }
    let run = tempfile::tempdir().unwrap();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let location = format!(
        "302 Found\r\nLocation: http://{}/",
        other.local_addr().unwrap()
    );
    let (address, answer) = answers(&location, "");
    let live = Live::to(address).token("secret-token");
    let training = train(builder(run.path()).live(live), 500, PACE, None);
    answer.join().unwrap();
    training.end();
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "a redirect is not followed");
}

#[cfg(unix)]
#[test]
fn an_attach_file_connects_a_training_that_runs() {
    use std::os::unix::fs::PermissionsExt;

    let run = tempfile::tempdir().unwrap();
    let server = Server::new();
    let training = train(builder(run.path()), 100_000, PACE, None);
    training.wait_for(5);
    let folder = run.path().join(".trainscope");
    std::fs::create_dir(&folder).unwrap();
    let draft = folder.join("draft");
    let text = format!(r#"{{"address":"{}","asked_secs":1.5}}"#, server.address());
    std::fs::write(&draft, text).unwrap();
    std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::rename(&draft, folder.join("attach.json")).unwrap();
    let (mut peer, _) = server.welcome([FAR; 3], PauseLevel::Never);
    peer.stop();
    training.end();
}
