//! Crashes, damage and hostile input: answers match the files, or the server reports the error with its position.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;
use trainscope_api::runs::FileStatus;

use crate::support::event_file::{put_frame, put_scalars};
use crate::support::lab::STARTED_SECS;
use crate::support::{Lab, Recording, Server, wait_for};

/// All answers of the API about the runs `names`, without time-dependent fields.
fn answers(server: &Server, names: &[&str], tags: &[&str]) -> Vec<Value> {
    let mut answers = Vec::new();
    for name in names {
        answers.push(serde_json::to_value(server.tags(name)).unwrap());
        for tag in tags {
            answers.push(serde_json::to_value(server.scalars(name, tag)).unwrap());
        }
    }
    answers
}

fn frame_of(step: i64, value: f32) -> Vec<u8> {
    let (mut event, mut frame) = (Vec::new(), Vec::new());
    put_scalars(&mut event, STARTED_SECS, step, &[("loss", value)]);
    put_frame(&mut frame, &event);
    frame
}

fn file(server: &Server, run: &str) -> trainscope_api::runs::File {
    server.run(run).unwrap().files.remove(0)
}

fn wait_for_status(server: &Server, run: &str, wanted: FileStatus) -> trainscope_api::runs::File {
    wait_for(&format!("{run} to be {wanted:?}"), || {
        let run = server.run(run)?;
        run.files.into_iter().find(|file| file.status == wanted)
    })
}

#[test]
fn after_a_crash_the_answers_are_the_same() {
    let lab = Lab::new();
    let names = ["one", "two", "three"];
    let mut recordings: Vec<Recording> = names.iter().map(|name| lab.record(name)).collect();
    for recording in &mut recordings {
        recording
            .curve("loss", 0..30_000, |step| 1.0 / (step + 1) as f32)
            .curve("accuracy", 0..500, |step| step as f32);
    }
    // Killed repeatedly at any moment, also before its first answer.
    let server = lab.start();
    server.crash();
    let server = lab.start();
    wait_for("some records", || {
        (server.status().ingest.records > 0).then_some(())
    });
    server.crash();
    let server = lab.start();
    server.wait_for_commit(91_500);
    for recording in &mut recordings {
        recording.curve("loss", 30_000..31_000, |step| step as f32);
    }
    server.wait_for_records(94_500);
    let before = answers(&server, &names, &["loss", "accuracy"]);
    server.crash();

    let server = lab.start();
    server.wait_for_records(94_500);
    assert_eq!(answers(&server, &names, &["loss", "accuracy"]), before);

    let fresh_cache = lab.path("fresh-cache");
    let fresh = lab.start_with(&["--cache-dir", fresh_cache.to_str().unwrap()]);
    fresh.wait_for_records(94_500);
    assert_eq!(answers(&fresh, &names, &["loss", "accuracy"]), before);
}

#[test]
fn a_graceful_end_commits_everything_and_a_restart_reads_nothing_again() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("loss", 0..5_000, |step| step as f32);
    let port_files = || {
        fs::read_dir(lab.path(""))
            .unwrap()
            .filter(|entry| {
                entry
                    .as_ref()
                    .unwrap()
                    .file_name()
                    .to_str()
                    .unwrap()
                    .starts_with("port-")
            })
            .count()
    };
    let server = lab.start();
    server.wait_for_points("run", "loss", 5_000);
    assert_eq!(port_files(), 1);
    assert_eq!(server.stop().code(), Some(0));
    assert_eq!(port_files(), 0, "the port file is removed at the end");

    // The bytes are overwritten by zeros: from now on answers come from the index.
    let len_bytes = recording.len_bytes();
    let modified = fs::metadata(recording.path()).unwrap().modified().unwrap();
    let mut file = OpenOptions::new()
        .write(true)
        .open(recording.path())
        .unwrap();
    file.seek(SeekFrom::Start(4_096)).unwrap();
    file.write_all(&vec![0; usize::try_from(len_bytes).unwrap() - 4_096])
        .unwrap();
    file.set_modified(modified).unwrap();
    drop(file);

    let server = lab.start();
    let series = server.wait_for_points("run", "loss", 5_000);
    assert!(series.values.iter().copied().eq((0..5_000).map(f64::from)));
}

#[test]
fn a_torn_record_waits_and_is_read_when_it_is_whole() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("loss", 0..10, |step| step as f32);
    let torn_at = recording.len_bytes();
    let frame = frame_of(10, 10.0);
    recording.bytes(&frame[..frame.len() / 2]);
    let server = lab.start();
    server.wait_for_points("run", "loss", 10);
    let file = wait_for_status(&server, "run", FileStatus::Truncated);
    assert_eq!(file.offset, Some(torn_at));
    recording.bytes(&frame[frame.len() / 2..]);
    server.wait_for_points("run", "loss", 11);
    wait_for("the file to be whole", || {
        matches!(
            server.run("run")?.files[0].status,
            FileStatus::Live | FileStatus::Complete
        )
        .then_some(())
    });
}

#[test]
fn a_torn_record_survives_a_restart() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("loss", 0..10, |step| step as f32);
    let frame = frame_of(10, 10.0);
    recording.bytes(&frame[..5]);
    let server = lab.start();
    server.wait_for_points("run", "loss", 10);
    server.stop();
    recording
        .bytes(&frame[5..])
        .curve("loss", 11..20, |step| step as f32);
    let server = lab.start();
    let series = server.wait_for_points("run", "loss", 20);
    assert!(series.steps.iter().copied().eq(0..20));
}

#[test]
fn flipped_bits_are_located_and_cost_one_record() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("loss", 0..100, |step| step as f32);
    let damaged_at = recording.len_bytes();
    let frame_len = frame_of(100, 1.0).len() as u64;
    recording.curve("loss", 100..200, |step| step as f32);
    flip(&recording, damaged_at + 20);
    let server = lab.start();
    let series = server.wait_for_points("run", "loss", 199);
    assert!(
        series
            .steps
            .iter()
            .copied()
            .eq((0..200).filter(|step| *step != 100))
    );
    let file = wait_for_status(&server, "run", FileStatus::Damaged);
    assert_eq!(file.offset, Some(damaged_at));
    assert_eq!(file.skipped_bytes, frame_len);
    assert!(file.reason.is_some_and(|reason| !reason.is_empty()));
}

#[test]
fn a_damaged_length_field_is_passed_over() {
    for zeros in [false, true] {
        let lab = Lab::new();
        let mut recording = lab.record("run");
        recording.curve("loss", 0..10, |step| step as f32);
        let damaged_at = recording.len_bytes();
        if zeros {
            // A hole in the file, as left by a crashed file system.
            recording.bytes(&[0; 5_000]);
        } else {
            // A frame with the largest possible length and invalid checksums.
            recording.bytes(&[0xff; 12]);
        }
        recording.curve("loss", 10..20, |step| step as f32);
        let server = lab.start();
        let series = server.wait_for_points("run", "loss", 20);
        assert!(series.steps.iter().copied().eq(0..20));
        let file = wait_for_status(&server, "run", FileStatus::Damaged);
        assert_eq!(file.offset, Some(damaged_at), "zeros: {zeros}");
        // Length fields never decide about allocations.
        assert!(server.resident_bytes() < 1 << 29);
    }
}

#[test]
fn an_honest_frame_of_a_huge_length_is_awaited_without_reserving_it() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("loss", 0..10, |step| step as f32);
    let torn_at = recording.len_bytes();
    let len = (1_u64 << 40).to_le_bytes();
    recording.bytes(&len).bytes(&{
        let crc = crc32c::crc32c(&len)
            .rotate_right(15)
            .wrapping_add(0xa282_ead8);
        crc.to_le_bytes()
    });
    let server = lab.start();
    server.wait_for_points("run", "loss", 10);
    let file = wait_for("the tail to be described", || {
        let file = file(&server, "run");
        matches!(file.status, FileStatus::Truncated | FileStatus::Damaged).then_some(file)
    });
    assert_eq!(file.offset, Some(torn_at));
    assert!(server.resident_bytes() < 1 << 29);
}

#[test]
fn an_index_that_cannot_be_read_is_made_anew() {
    let lab = Lab::new();
    lab.record("run")
        .curve("loss", 0..5_000, |step| step as f32);
    let server = lab.start();
    server.wait_for_commit(5_000);
    let before = answers(&server, &["run"], &["loss"]);
    server.stop();
    let mut overwritten = 0;
    let mut folders = vec![lab.cache()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if fs::write(&path, b"nothing that any version has written").is_ok() {
                overwritten += 1;
            }
        }
    }
    assert!(overwritten > 0);
    let server = lab.start();
    server.wait_for_records(5_000);
    assert_eq!(answers(&server, &["run"], &["loss"]), before);
    let notes = server.status().notes;
    assert!(!notes.is_empty(), "it says that the index was rebuilt");
}

#[test]
fn two_servers_on_the_same_folders_do_not_meet() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("loss", 0..100, |step| step as f32);
    let first = lab.start();
    let second = lab.start();
    for server in [&first, &second] {
        server.wait_for_points("run", "loss", 100);
    }
    assert!(
        !second.status().notes.is_empty(),
        "the second says that its index is a temporary one"
    );
    recording.curve("loss", 100..200, |step| step as f32);
    for server in [&first, &second] {
        server.wait_for_points("run", "loss", 200);
    }
    assert_eq!(second.stop().code(), Some(0));
    first.wait_for_points("run", "loss", 200);
}

#[test]
fn an_unreadable_folder_is_named_and_the_rest_is_read() {
    let lab = Lab::new();
    lab.record("open").scalar("loss", 0, 1.0);
    let closed = lab.base().join("closed");
    lab.record("closed/run").scalar("loss", 0, 1.0);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let server = lab.start();
    server.wait_for_points("open", "loss", 1);
    let notes = server.status().notes;
    assert!(
        notes.iter().any(|note| note.contains("closed")),
        "{notes:?}"
    );
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    server.wait_for_points("closed/run", "loss", 1);
}

#[test]
fn ten_thousand_empty_folders_do_not_hide_a_run() {
    let lab = Lab::new();
    for number in 0..10_000 {
        fs::create_dir_all(lab.base().join(format!("{}/{}", number / 100, number))).unwrap();
    }
    lab.record("50/5050").scalar("loss", 0, 1.0);
    let server = lab.start();
    server.wait_for_points("50/5050", "loss", 1);
    assert_eq!(server.run_ids(), ["50/5050"]);
}

#[test]
fn a_tag_of_a_megabyte_is_a_tag() {
    let lab = Lab::new();
    let tag = "x".repeat(1 << 20);
    lab.record("run")
        .scalar(&tag, 0, 1.0)
        .scalar("loss", 0, 2.0);
    let server = lab.start();
    server.wait_for_records(2);
    assert_eq!(server.scalars("run", "loss").unwrap().total, 1);
    let tags = server.tags("run");
    assert!(tags.cut || tags.tags.iter().any(|found| found.tag == tag));
}

#[test]
fn odd_wall_times_and_steps_are_kept_as_written() {
    let lab = Lab::new();
    lab.record("run")
        .scalar_at("loss", 5, 0.0, 1.0)
        .scalar_at("loss", 6, f64::NAN, 2.0)
        .scalar_at("loss", 7, f64::INFINITY, 3.0)
        .scalar_at("loss", i64::MAX, STARTED_SECS, 4.0)
        .scalar_at("low", i64::MIN, STARTED_SECS, 5.0)
        .scalar_at("low", -1, -1.0, 6.0);
    let server = lab.start();
    let series = server.wait_for_points("run", "loss", 4);
    assert_eq!(series.steps, [5, 6, 7, i64::MAX]);
    assert_eq!(series.values, [1.0, 2.0, 3.0, 4.0]);
    assert!(series.wall_times_secs[1].is_nan());
    assert_eq!(server.scalars("run", "low").unwrap().steps, [i64::MIN, -1]);
    let json = server.get("/api/scalars?run=run&tag=loss").json();
    assert_eq!(json["wall_times_secs"][2], "Infinity");
}

#[test]
fn steps_that_go_back_and_repeat_in_one_file_are_all_kept() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    for step in [0, 1, 2, 1, 2, 2, 3] {
        recording.scalar("loss", step, step as f32);
    }
    let server = lab.start();
    let status = server.wait_for_records(7);
    assert_eq!(status.ingest.records, 7);
    let tag = &server.tags("run").tags[0];
    assert_eq!(tag.points + tag.superseded, 7);
    let all = server
        .scalars_where(&[("run", "run"), ("tag", "loss"), ("superseded", "1")])
        .unwrap();
    assert_eq!(all.total, 7);
}

#[test]
fn names_are_text_and_never_paths_or_markup() {
    let lab = Lab::new();
    let names = [
        "<img src=x onerror=alert(1)>",
        "a b&c=d#e?f%2e%2e",
        "..hidden",
        "'; drop table runs; --",
        "日本語/ü",
        "tab\tnewline\n",
    ];
    for name in names {
        lab.record(name).scalar("<script>alert(1)</script>", 0, 1.0);
    }
    fs::write(lab.path("secret"), b"not a run").unwrap();
    let server = lab.start();
    server.wait_for_records(6);
    for name in names {
        let series = server.scalars(name, "<script>alert(1)</script>");
        assert_eq!(series.map(|series| series.total), Some(1), "{name:?}");
    }
    for outside in ["../secret", "/etc/passwd", "..", "%2e%2e/secret", "\0"] {
        let path = format!(
            "/api/tags?{}",
            crate::support::server::query(&[("run", outside)])
        );
        assert_eq!(server.get(&path).status, 404, "{outside:?}");
    }
}

#[test]
fn foreign_files_are_left_alone() {
    let lab = Lab::new();
    let run = lab.base().join("run");
    lab.record("run").scalar("loss", 0, 1.0);
    fs::write(run.join("checkpoint.pt"), vec![7; 100_000]).unwrap();
    fs::write(run.join("notes.txt"), "loss went up").unwrap();
    // Correct name, wrong content.
    fs::create_dir(lab.base().join("odd")).unwrap();
    fs::write(
        lab.base().join("odd/events.out.tfevents.1.host"),
        "no frames at all, only text, long enough to see",
    )
    .unwrap();
    fs::write(lab.base().join("odd/events.out.tfevents.2.host"), "").unwrap();
    let server = lab.start();
    server.wait_for_points("run", "loss", 1);
    assert_eq!(server.run("run").unwrap().files.len(), 1);
    let odd = wait_for("the odd files to be described", || {
        server.run("odd").filter(|run| run.files.len() == 2)
    });
    let bad = odd
        .files
        .iter()
        .find(|file| file.path.ends_with("1.host"))
        .unwrap();
    assert!(
        matches!(bad.status, FileStatus::Damaged | FileStatus::Truncated),
        "{bad:?}"
    );
    assert_eq!(bad.offset, Some(0));
}

fn flip(recording: &Recording, at: u64) {
    let mut bytes = fs::read(recording.path()).unwrap();
    bytes[usize::try_from(at).unwrap()] ^= 0x10;
    fs::write(recording.path(), bytes).unwrap();
}
