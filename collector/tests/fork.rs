//! Calls in a fork of a recording process do nothing and return, and the parent's file is unchanged.

#![cfg(unix)]

use std::time::{Duration, Instant};

use trainscope_collector::{Collector, Role, TensorView};
use trainscope_format::{Format, RecordBatch};

#[test]
fn a_fork_neither_writes_nor_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let collector = Collector::builder(&run).panic_hook().start().unwrap();
    collector.scalar("loss", 0, 1.0);
    #[expect(unsafe_code, reason = "there is no safe way to fork")]
    // SAFETY: the child calls what is to be tested, and ends without running the parent's destructors.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let mut code = 1;
        for step in 0..1_000 {
            collector.scalar("child", step, 1.0);
            collector
                .step(step)
                .tensor("w", Role::Weight, TensorView::from(&1.0_f32));
            drop(collector.span("child"));
        }
        collector.note("child");
        let report = collector.finish();
        if !collector.flush() && report.lost.forked >= 2_000 {
            // A collector started here works.
            if let Ok(child) = Collector::builder(folder.path().join("child")).start() {
                child.scalar("loss", 0, 1.0);
                if child.finish().is_complete() {
                    drop(collector);
                    code = 0;
                }
            }
        }
        #[expect(unsafe_code, reason = "the parent's destructors must not run here")]
        // SAFETY: ends the process.
        unsafe {
            libc::_exit(code)
        }
    }
    assert!(child > 0);
    let mut status = 0;
    let begun = Instant::now();
    loop {
        #[expect(unsafe_code, reason = "waiting for a process that std did not start")]
        // SAFETY: `child` is a child process of this one, and `status` is valid for writes.
        let ended = unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) };
        if ended == child {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "the child hangs");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(status, 0);
    collector.scalar("loss", 1, 1.0);
    let report = collector.finish();
    assert!(report.is_complete(), "{report:?}");
    let mut batch = RecordBatch::default();
    let bytes = std::fs::read(&report.files[0]).unwrap();
    Format::Tfevents.decoder("").push(&bytes, &mut batch);
    assert_eq!((batch.scalars.len(), batch.damages.len()), (2, 0));
}
