//! The edge of the machine: a full disk, few descriptors, clients that take time and memory.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use trainscope_api::paths;

use super::hostile::run;
use crate::support::event_file::{put_frame, put_scalars};
use crate::support::lab::STARTED_SECS;
use crate::support::{Lab, Server, wait_for};

/// Values that do not compress.
fn noise(step: i64) -> f32 {
    (step * 2_654_435_761 % 1_000_003) as f32
}

fn stream(server: &Server) -> TcpStream {
    TcpStream::connect(server.address().strip_prefix("http://").unwrap()).unwrap()
}

#[test]
fn a_full_disk_costs_no_points() {
    let lab = Lab::new();
    let mut first = lab.record("first");
    first.curve("loss", 0..1_000, noise);
    // 2 MiB: a first commit has room.
    let server = Server::start_limited(&lab, &[&lab.base()], "ulimit -f 4096");
    server.wait_for_commit(1_000);
    let mut large = lab.record("large");
    large.curve("loss", 0..250_000, noise);
    server.wait_for_points("large", "loss", 250_000);
    let notes = wait_for("a note of the full disk", || {
        let notes = server.status().notes;
        (!notes.is_empty()).then_some(notes)
    });
    assert!(
        notes.len() == 1 && notes[0].contains("cannot be written"),
        "{notes:?}"
    );
    for turn in 0..5 {
        for recording in [&mut first, &mut large] {
            recording.curve("more", turn * 100..(turn + 1) * 100, noise);
        }
        for (run, points) in [("first", 1_000), ("large", 250_000)] {
            server.wait_for_points(run, "more", (turn.unsigned_abs() + 1) * 100);
            // Committed points are read from a tree that takes no more writes; the rest is in memory.
            assert_eq!(server.scalars(run, "loss").unwrap().total, points);
        }
    }
    let curve = server.scalars("first", "loss").unwrap();
    assert_eq!(server.status().notes, notes);
    assert_eq!(server.stop().code(), Some(0));
    let server = lab.start();
    server.wait_for_points("large", "loss", 250_000);
    assert_eq!(server.scalars("first", "loss").unwrap(), curve);
}

#[test]
fn a_cache_folder_that_cannot_be_written_is_replaced_by_a_temporary_one() {
    let lab = Lab::new();
    lab.record("run").curve("loss", 0..100, noise);
    fs::create_dir(lab.cache()).unwrap();
    fs::set_permissions(lab.cache(), Permissions::from_mode(0o555)).unwrap();
    let server = lab.start();
    server.wait_for_points("run", "loss", 100);
    let notes = server.status().notes;
    assert!(
        notes.iter().any(|note| note.contains("cannot be used")),
        "{notes:?}"
    );
}

#[test]
fn files_are_read_while_clients_hold_all_connections() {
    let lab = Lab::new();
    lab.record("first").curve("loss", 0..10, noise);
    let server = Server::start_limited(&lab, &[&lab.base()], "ulimit -n 96");
    server.wait_for_points("first", "loss", 10);
    let live = server.live();
    let silent: Vec<TcpStream> = (0..96).map(|_| stream(&server)).collect();
    lab.record("second").curve("loss", 0..10, noise);
    live.wait_for("the second run", |event| event.data["runs_changed"] == true);
    drop(silent);
    server.wait_for_points("second", "loss", 10);
}

#[test]
fn clients_share_the_memory_for_their_bodies() {
    let lab = Lab::new();
    let server = lab.start();
    let before = server.resident_bytes();
    let part = vec![b' '; 4_000_000];
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4100000\r\n\r\n",
        paths::SCALARS
    );
    let client = |_| {
        let mut client = stream(&server);
        // A refused client is disconnected.
        drop(
            client
                .write_all(head.as_bytes())
                .and_then(|()| client.write_all(&part)),
        );
        client
    };
    let clients: Vec<TcpStream> = (0..80).map(client).collect();
    let small = r#"{"series": []}"#;
    assert_eq!(
        server
            .post(paths::SCALARS, "application/json", small)
            .status,
        200
    );
    let grown = server.resident_bytes().saturating_sub(before);
    assert!(grown < 160 << 20, "{grown} bytes for 80 clients");
    let large = small.to_owned() + &" ".repeat(3_000_000);
    // Those that were refused have left room: these take it.
    let more: Vec<TcpStream> = (0..16).map(client).collect();
    let busy = wait_for("no room for a large body", || {
        let answer = server.try_post(paths::SCALARS, "application/json", &large);
        let answer = answer.ok()?;
        (answer.status != 200).then_some(answer)
    });
    assert_eq!((busy.status, &busy.json()["code"]), (503, &"busy".into()));
    drop((clients, more));
    wait_for("room for a large body", || {
        let answer = server.try_post(paths::SCALARS, "application/json", &large);
        let answer = answer.ok()?;
        (answer.status == 200).then_some(())
    });
}

#[test]
fn silent_clients_are_disconnected() {
    use std::io::Read as _;

    let lab = Lab::new();
    let server = lab.start();
    let silent = stream(&server);
    let mut slow = stream(&server);
    slow.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
    for mut client in [silent, slow] {
        // It ends when the server closes the connection; a timeout fails the test.
        client
            .set_read_timeout(Some(crate::support::wait::DEADLINE))
            .unwrap();
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).unwrap();
    }
}

#[test]
fn a_hundred_thousand_losses_are_checked_in_time() {
    let lab = Lab::new();
    let names: Vec<String> = (0..100_000)
        .map(|layer| format!("layer{layer}/loss"))
        .collect();
    let mut recording = lab.record("run");
    for step in 0..2 {
        let values: Vec<(&str, f32)> = names.iter().map(|name| (&**name, noise(step))).collect();
        let (mut event, mut frame) = (Vec::new(), Vec::new());
        put_scalars(&mut event, STARTED_SECS + step as f64, step, &values);
        put_frame(&mut frame, &event);
        recording.bytes(&frame);
    }
    let checked = run(&lab.base(), &["check", "run"]);
    assert!(
        checked.status.code().is_some_and(|code| code < 2),
        "{checked:?}"
    );
}
