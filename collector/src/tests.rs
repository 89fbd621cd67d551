//! Behaviour with a full disk, a stuck disk and removed files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod allocator;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use trainscope_format::{Body, Format, RecordBatch};

use crate::{Collector, CollectorReport, Overflow};

/// All records in a file of a run.
fn read(path: &Path) -> RecordBatch {
    let mut batch = RecordBatch::default();
    let mut decoder = Format::Tfevents.decoder("");
    decoder.push(&fs::read(path).unwrap(), &mut batch);
    assert_eq!(batch.damages, []);
    assert_eq!(decoder.open_damage(), None);
    batch
}

fn scalars_in(report: &CollectorReport) -> usize {
    let files = report.files.iter();
    files.map(|path| read(path).scalars.len()).sum()
}

fn full(path: &Path) -> io::Result<File> {
    // As `create_new` does, the file must not exist; then every write fails with a full disk.
    drop(crate::file::create_new(path)?);
    OpenOptions::new().write(true).open("/dev/full")
}

/// A pipe without a reader: writing blocks once 64 KiB are in it.
fn stuck(path: &Path) -> io::Result<File> {
    let made = std::process::Command::new("mkfifo").arg(path).status()?;
    assert!(made.success());
    OpenOptions::new().read(true).write(true).open(path)
}

#[test]
fn a_full_disk_loses_records_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let collector = Collector::builder(&run).open(full).start().unwrap();
    for step in 0..100 {
        collector.scalar("loss", step, 1.0);
    }
    assert!(collector.flush());
    collector.scalar("loss", 100, 1.0);
    let report = collector.finish();
    assert!(report.is_closed);
    assert_eq!((report.records_written, report.lost.disk), (0, 101));
    assert_eq!(report.files.len(), 0);
    assert!(report.first_error.unwrap().contains("No space left"));
    assert_eq!(
        fs::read_dir(&run).unwrap().count(),
        0,
        "empty files are removed"
    );
}

#[test]
fn a_disk_that_has_room_again_is_written_to_and_told_of_the_loss() {
    use std::sync::atomic::{AtomicBool, Ordering};
    static IS_FULL: AtomicBool = AtomicBool::new(true);
    let open = |path: &Path| {
        if IS_FULL.load(Ordering::SeqCst) {
            full(path)
        } else {
            crate::file::create_new(path)
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path())
        .open(open)
        .start()
        .unwrap();
    collector.scalars(0, &[("a", 1.0), ("b", 2.0)]);
    assert!(collector.flush());
    IS_FULL.store(false, Ordering::SeqCst);
    collector.text("note", 1, "still here");
    let report = collector.finish();
    assert_eq!((report.records_written, report.lost.disk), (1, 2));
    let batch = read(&report.files[0]);
    let loss = batch.records.iter().find_map(|record| match &record.body {
        Body::Loss(loss) => Some(loss),
        _ => None,
    });
    assert_eq!(loss.unwrap().records, 2);
}

#[test]
fn memory_is_bounded_while_the_disk_is_stuck() {
    let folder = tempfile::tempdir().unwrap();
    let limit_bytes = 64 << 20;
    let collector = Collector::builder(folder.path())
        .open(stuck)
        .queue_bytes(limit_bytes)
        .patience(Duration::from_millis(50))
        .start()
        .unwrap();
    let pixels = [7; 3 * 64 * 64];
    let (before, _) = allocator::held_and_most();
    let begun = Instant::now();
    let mut step = 0;
    while collector.report().lost.queue_full < 10_000 {
        for _ in 0..1_000 {
            collector.scalar("loss", step, 1.0);
            step += 1;
        }
        let picture = crate::Picture {
            width: 64,
            height: 64,
            channels: 3,
            pixels: &pixels,
        };
        collector.images("picture", step, &[picture]);
        assert!(begun.elapsed() < Duration::from_mins(1), "it never waits");
    }
    // Other tests run at the same time, with little memory.
    let (_, most) = allocator::held_and_most();
    assert!(
        most - before < 3 * limit_bytes,
        "{} MiB",
        (most - before) >> 20
    );
    assert!(!collector.flush());
    let report = collector.finish();
    assert!(!report.is_closed && !report.is_complete());
    let begun = Instant::now();
    drop(collector);
    assert!(begun.elapsed() < Duration::from_secs(30), "not forever");
}

#[test]
fn blocking_waits_no_longer_than_asked() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path())
        .open(stuck)
        .queue_bytes(200 << 10)
        .overflow(Overflow::Block(Duration::from_millis(20)))
        .patience(Duration::ZERO)
        .start()
        .unwrap();
    let begun = Instant::now();
    let mut step = 0;
    while collector.report().lost.queue_full < 5 {
        collector.scalar("loss", step, 1.0);
        step += 1;
        assert!(begun.elapsed() < Duration::from_mins(1));
    }
    assert!(begun.elapsed() >= Duration::from_millis(100));
}

#[test]
fn blocking_loses_nothing_on_a_disk_that_works() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path())
        .queue_bytes(64 << 10)
        .overflow(Overflow::Block(Duration::from_mins(1)))
        .start()
        .unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let collector = collector.clone();
            scope.spawn(move || {
                for step in 0..5_000 {
                    collector.scalar(&format!("thread/{thread}"), step, 0.5);
                }
            });
        }
    });
    let report = collector.finish();
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(scalars_in(&report), 20_000);
}

#[test]
fn a_removed_folder_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let collector = Collector::builder(&run).start().unwrap();
    collector.scalar("loss", 0, 1.0);
    assert!(collector.flush());
    fs::remove_dir_all(&run).unwrap();
    collector.scalar("loss", 1, 1.0);
    collector.scalar("loss", 2, 1.0);
    let report = collector.finish();
    assert_eq!((report.records_written, report.lost.removed), (2, 1));
    assert_eq!(scalars_in(&report), 2);
}

#[test]
fn a_folder_that_becomes_a_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let collector = Collector::builder(&run).start().unwrap();
    fs::remove_dir(&run).unwrap();
    fs::write(&run, "in the way").unwrap();
    collector.scalar("loss", 0, 1.0);
    let report = collector.finish();
    assert_eq!((report.records_written, report.lost.disk), (0, 1));
    assert!(Collector::builder(run.join("below")).start().is_err());
}

#[test]
fn a_large_record_waits_for_small_ones_only() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path())
        .queue_bytes(100 << 10)
        .flush_every(Duration::MAX)
        .overflow(Overflow::Block(Duration::from_mins(1)))
        .start()
        .unwrap();
    let begun = Instant::now();
    collector.text("small", 0, "x".repeat(10 << 10));
    collector.text("large", 0, "x".repeat(95 << 10));
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert!(collector.finish().is_complete());
}
