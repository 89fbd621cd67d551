//! Files that grow, appear, move, shrink and vanish while the server runs: answers match the content on disk, which is
//! never changed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use trainscope_api::runs::{FileStatus, RunStatus};

use crate::support::lab::{STARTED_SECS, copy_folder, workspace_root};
use crate::support::terminal::trainscope_in;
use crate::support::wait::wait_until_equal;
use crate::support::{Lab, Recording, Server, wait_for};

/// A rescan comes so late that only file events can be in time.
const EVENTS_ALONE: [&str; 2] = ["--reload-interval", "3600"];
/// No events, as on network mounts.
const RESCAN_ALONE: [&str; 4] = ["--reload-interval", "0.05", "--file-events", "false"];

fn file_status(server: &Server, run: &str) -> Option<FileStatus> {
    Some(server.run(run)?.files.first()?.status)
}

fn a_growing_file_is_followed(flags: &[&str]) {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("loss", 0..10, |step| step as f32);
    let server = lab.start_with(flags);
    server.wait_for_points("run", "loss", 10);
    for (round, points) in [(1, 20), (2, 30), (3, 40), (4, 50), (5, 60)] {
        recording.curve("loss", round * 10..(round + 1) * 10, |step| step as f32);
        let series = server.wait_for_points("run", "loss", points);
        assert!(series.steps.iter().copied().eq(0..(round + 1) * 10));
    }
    recording.scalar("accuracy", 60, 0.5);
    server.wait_for_points("run", "accuracy", 1);
}

#[test]
fn a_growing_file_is_followed_by_events() {
    a_growing_file_is_followed(&EVENTS_ALONE);
}

#[test]
fn a_growing_file_is_followed_by_rescans() {
    a_growing_file_is_followed(&RESCAN_ALONE);
}

fn new_folders_are_found(flags: &[&str]) {
    let lab = Lab::new();
    let server = lab.start_with(flags);
    wait_until_equal("an empty list", &Vec::<String>::new(), || server.run_ids());
    for name in ["first", "deep/below/other/folders", "first/inner"] {
        lab.record(name).scalar("loss", 0, 1.0);
        server.wait_for_points(name, "loss", 1);
    }
    assert_eq!(
        server.run_ids(),
        ["deep/below/other/folders", "first", "first/inner"]
    );
}

#[test]
fn new_folders_are_found_by_events() {
    new_folders_are_found(&EVENTS_ALONE);
}

#[test]
fn new_folders_are_found_by_rescans() {
    new_folders_are_found(&RESCAN_ALONE);
}

#[test]
fn the_base_directory_itself_can_be_a_run() {
    let lab = Lab::new();
    lab.record("").scalar("loss", 7, 1.0);
    let server = lab.start();
    assert_eq!(server.wait_for_points(".", "loss", 1).steps, [7]);
}

#[test]
fn a_rotated_file_continues_the_run() {
    let lab = Lab::new();
    lab.record("run").curve("loss", 0..10, |step| step as f32);
    let server = lab.start();
    server.wait_for_points("run", "loss", 10);
    let next = lab
        .base()
        .join("run/events.out.tfevents.1760000001.host.1.1");
    Recording::begin_file(&next, STARTED_SECS + 1.0).curve("loss", 10..20, |step| step as f32);
    let series = server.wait_for_points("run", "loss", 20);
    assert!(series.steps.iter().copied().eq(0..20));
}

#[test]
fn a_restart_that_goes_back_supersedes_what_it_writes_again() {
    let lab = Lab::new();
    lab.record("run").curve("loss", 0..20, |_| 1.0);
    // Started after the first one had ended, at a step that it had passed.
    let next = lab
        .base()
        .join("run/events.out.tfevents.1760000100.host.2.0");
    let mut second = Recording::begin_file(&next, STARTED_SECS + 100.0);
    for step in 12..30 {
        second.scalar_at("loss", step, STARTED_SECS + 100.0 + step as f64, 2.0);
    }
    let server = lab.start();
    let shown = server.wait_for_points("run", "loss", 30);
    assert!(shown.steps.iter().copied().eq(0..30));
    assert_eq!(&shown.values[11..13], &[1.0, 2.0]);
    assert_eq!(server.tags("run").tags[0].superseded, 8);
    let all = server
        .scalars_where(&[("run", "run"), ("tag", "loss"), ("superseded", "1")])
        .unwrap();
    assert_eq!(all.total, 38);
}

#[test]
fn a_retry_that_ends_early_hides_no_more_than_it_has_written() {
    let lab = Lab::new();
    lab.record("run").curve("loss", 0..20, |_| 1.0);
    let next = lab
        .base()
        .join("run/events.out.tfevents.1760000100.host.2.0");
    let mut second = Recording::begin_file(&next, STARTED_SECS + 100.0);
    for step in 0..2 {
        second.scalar_at("loss", step, STARTED_SECS + 100.0 + step as f64, 2.0);
    }
    let server = lab.start();
    server.wait_for_records(22);
    let series = server.wait_for_points("run", "loss", 20);
    assert!(series.steps.iter().copied().eq(0..20));
    assert_eq!(&series.values[..3], &[2.0, 2.0, 1.0]);
    let both = server
        .scalars_where(&[("run", "run"), ("tag", "loss"), ("superseded", "1")])
        .unwrap();
    assert_eq!((both.total, both.live), (22, Some(20)));
    assert_eq!(both.steps[20..], [0, 1]);
}

#[test]
fn a_renamed_run_has_its_new_name() {
    let lab = Lab::new();
    lab.record("before")
        .curve("loss", 0..10, |step| step as f32);
    let server = lab.start();
    server.wait_for_points("before", "loss", 10);
    fs::rename(lab.base().join("before"), lab.base().join("after")).unwrap();
    let series = server.wait_for_points("after", "loss", 10);
    assert!(series.steps.iter().copied().eq(0..10));
    wait_for("the old name to be gone", || {
        server
            .run("before")
            .is_none_or(|run| run.status == RunStatus::Gone)
            .then_some(())
    });
}

#[test]
fn a_deleted_run_is_gone_and_its_points_stay() {
    let lab = Lab::new();
    lab.record("doomed")
        .curve("loss", 0..10, |step| step as f32);
    lab.record("kept").scalar("loss", 0, 1.0);
    let server = lab.start();
    server.wait_for_points("doomed", "loss", 10);
    fs::remove_dir_all(lab.base().join("doomed")).unwrap();
    wait_until_equal("the run to be gone", &Some(RunStatus::Gone), || {
        server.run("doomed").map(|run| run.status)
    });
    assert_eq!(file_status(&server, "doomed"), Some(FileStatus::Gone));
    assert_eq!(server.scalars("doomed", "loss").unwrap().total, 10);
    assert_ne!(server.run("kept").unwrap().status, RunStatus::Gone);
}

#[test]
fn a_file_replaced_by_a_shorter_one_is_read_anew() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.curve("loss", 0..100, |_| 1.0);
    let server = lab.start();
    server.wait_for_points("run", "loss", 100);
    // The same name, as in a restarted training.
    let path = recording.path().to_path_buf();
    Recording::begin_file(&path, STARTED_SECS + 500.0).curve("loss", 0..3, |_| 2.0);
    let series = server.wait_for_points("run", "loss", 3);
    assert_eq!(series.values, [2.0, 2.0, 2.0]);
    assert_eq!(server.run("run").unwrap().files.len(), 1);
}

#[test]
fn notices_say_which_run_changed() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.scalar("loss", 0, 1.0);
    let server = lab.start();
    server.wait_for_points("run", "loss", 1);
    let live = server.live();
    recording.scalar("loss", 1, 1.0);
    let first = live.wait_for_run("run");
    recording.scalar("accuracy", 2, 1.0);
    let second = live.wait_for("a new tag", |event| {
        event.data["runs"][0]["tags_changed"] == true
    });
    let number = |id: &str| id.parse::<u64>().unwrap();
    assert!(number(&second.id) > number(&first.id));
    assert_eq!(second.data["runs"][0]["last_step"], 2);
    lab.record("another").scalar("loss", 0, 1.0);
    live.wait_for("a new run", |event| event.data["runs_changed"] == true);
    assert!(server.status().seq >= number(&second.id));
}

#[test]
fn links_that_lead_in_circles_end() {
    let lab = Lab::new();
    lab.record("run").scalar("loss", 0, 1.0);
    symlink(lab.base(), lab.base().join("run/again")).unwrap();
    symlink(lab.base().join("loop"), lab.base().join("loop")).unwrap();
    symlink(lab.base().join("nowhere"), lab.base().join("dangling")).unwrap();
    let server = lab.start();
    server.wait_for_points("run", "loss", 1);
    let status = server.wait_for_records(1);
    assert_eq!((status.runs, status.ingest.records), (1, 1));
}

#[test]
fn several_base_directories_are_served_together() {
    let lab = Lab::new();
    let (one, two) = (lab.path("one"), lab.path("two"));
    Recording::begin(&one.join("alpha")).scalar("loss", 0, 1.0);
    Recording::begin(&two.join("beta")).scalar("loss", 0, 2.0);
    Recording::begin(&one.join("same")).scalar("loss", 0, 3.0);
    Recording::begin(&two.join("same")).scalar("loss", 0, 4.0);
    let server = lab.start_on(&[&one, &two], &[]);
    let status = server.wait_for_records(4);
    assert_eq!(status.base_dirs.len(), 2);
    let ids = server.run_ids();
    assert_eq!(ids.len(), 4, "{ids:?}");
    // Any names: every run can be requested, and no two are mixed up.
    let mut values: Vec<f64> = ids
        .iter()
        .map(|id| {
            let series = server.scalars(id, "loss").unwrap();
            assert_eq!(series.total, 1, "{id}");
            series.values[0]
        })
        .collect();
    values.sort_by(f64::total_cmp);
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_run_that_is_written_is_live() {
    let lab = Lab::new();
    let mut run = lab.record("run");
    run.scalar("loss", 0, 1.0);
    let server = lab.start();
    server.wait_for_points("run", "loss", 1);
    // A new file may be a copy; a growing one is being written.
    assert_eq!(
        server.run("run").map(|run| run.status),
        Some(RunStatus::Stopped)
    );
    run.scalar("loss", 1, 1.0);
    wait_until_equal("the run to be live", &Some(RunStatus::Live), || {
        server.run("run").map(|run| run.status)
    });
    // The count is that of the last scan of all files.
    wait_until_equal("one live run to be counted", &1, || {
        server.status().live_runs
    });
}

#[test]
fn a_client_that_missed_notices_is_told_to_ask_again() {
    let lab = Lab::new();
    let mut recording = lab.record("run");
    recording.scalar("loss", 0, 1.0);
    let server = lab.start();
    server.wait_for_points("run", "loss", 1);
    let seen = server.status().seq;
    recording.scalar("loss", 1, 1.0);
    // A client that asks before the notice is sent misses nothing.
    wait_for("a notice", || (server.status().seq > seen).then_some(()));
    let live = server.live_since(seen);
    let event = live.wait_for("what was missed", |event| event.name == "reload");
    assert!(event.id.parse::<u64>().unwrap() > seen);
}

#[test]
fn the_end_of_the_server_does_not_wait_for_streams() {
    let lab = Lab::new();
    lab.record("run").scalar("loss", 0, 1.0);
    let server = lab.start();
    server.wait_for_points("run", "loss", 1);
    let _live = server.live();
    assert_eq!(server.stop().code(), Some(0));
}

/// Path, length, time of the last change and content of everything below a folder.
fn everything_below(folder: &Path) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let changed = path.metadata().unwrap().modified().unwrap();
            if path.is_dir() {
                folders.push(path.clone());
                found.insert(path, (changed, Vec::new()));
            } else {
                let bytes = fs::read(&path).unwrap();
                found.insert(path, (changed, bytes));
            }
        }
    }
    found
}

#[test]
fn files_of_runs_are_only_read() {
    let lab = Lab::new();
    copy_folder(&workspace_root().join("sample-runs"), &lab.base());
    let before = everything_below(&lab.base());
    let server = lab.start();
    wait_for("every run to be judged", || {
        let runs = server.runs().runs;
        (runs.len() > 20 && runs.iter().all(|run| run.health.is_some())).then_some(())
    });
    server.get("/api/graph_scene?run=candle");
    server.get("/api/tensor_summary?run=mlp/overflow&tensor=fc1.weight&step=45&bins=40");
    assert!(server.stop().success());
    let base = lab.base();
    for command in [
        &["check", "mlp/overflow"][..],
        &["diff", "mlp/frozen", "mlp/healthy"],
        &["export", "mlp/overflow", "--kind", "scalars"],
        &["report", "mlp/overflow", "-o", "../report.html"],
    ] {
        assert!(trainscope_in(&base, command).status < 2, "{command:?}");
    }
    let after = everything_below(&base);
    for (path, content) in &before {
        assert!(after.get(path) == Some(content), "{}", path.display());
    }
    let state_folder = base.join(".trainscope");
    let mut new = after.keys().filter(|path| !before.contains_key(*path));
    assert!(
        new.all(|path| path.starts_with(&state_folder)),
        "{:?}",
        after.keys()
    );
}
