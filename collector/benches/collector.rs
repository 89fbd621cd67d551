//! Benchmark of the recording thread: calls in nanoseconds, statistics in plain reads of the same memory.
//!
//! If `TRAINSCOPE_WRITER_PEER` is a Python environment with tensorboardX, its calls are measured in the same run.
//! Every figure is the median of many batches.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that cannot go on has failed, and printing is what it is for"
)]

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use trainscope_collector::{Collector, Role, SamplePolicy, TensorView};

/// Calls per time measurement; the queue has room for them all.
const CALLS: u32 = 10_000;

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Median time of a call in nanoseconds. Before each batch the writer catches up.
fn nanos_a_call(collector: &Collector, batches: u32, call: impl Fn(i64)) -> f64 {
    let mut step = 0;
    let times = (0..batches).map(|_| {
        assert!(collector.flush());
        let begun = Instant::now();
        for _ in 0..CALLS {
            call(step);
            step += 1;
        }
        begun.elapsed().as_nanos() as f64 / f64::from(CALLS)
    });
    median(times.collect())
}

fn calls(folder: &Path) -> f64 {
    let collector = Collector::builder(folder).start().unwrap();
    // One core for the training, one for the writing thread, as in practice.
    let scalar = nanos_a_call(&collector, 200, |step| {
        collector.scalar("train/loss", step, black_box(0.5));
    });
    println!("{:<52} {scalar:>9.1} ns", "scalar: one call");
    let four = nanos_a_call(&collector, 100, |step| {
        let values = [
            ("train/loss", 0.5),
            ("train/grad_norm", 1.5),
            ("train/learning_rate", 1e-3),
            ("train/tokens_per_sec", 13_400.0),
        ];
        collector.scalars(step, black_box(&values));
    });
    println!("{:<52} {four:>9.1} ns", "scalars: four of them in one call");
    let span = nanos_a_call(&collector, 200, |_| drop(collector.span("forward")));
    println!("{:<52} {span:>9.1} ns", "span: enter and exit");
    let counter = nanos_a_call(&collector, 100, |_| collector.counter("memory", 0.5));
    println!("{:<52} {counter:>9.1} ns", "counter: one call");
    let report = collector.finish();
    assert!(report.is_complete(), "{report:?}");
    scalar
}

/// Four threads at once, each with a separate tag.
fn contended(folder: &Path) {
    let collector = Collector::builder(folder)
        .queue_bytes(1 << 30)
        .start()
        .unwrap();
    let times: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let collector = collector.clone();
                scope.spawn(move || {
                    let tag = format!("thread/{thread}");
                    let begun = Instant::now();
                    for step in 0..100_000 {
                        collector.scalar(&tag, step, 0.5);
                    }
                    begun.elapsed().as_nanos() as f64 / 1e5
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(collector.finish().is_complete());
    println!(
        "{:<52} {:>9.1} ns",
        "scalar: four threads at once, each",
        median(times)
    );
}

/// Sum of all words: the speed limit of memory.
fn plain_read(memory: &[f32]) -> Duration {
    let begun = Instant::now();
    let words: &[u64] = bytemuck::cast_slice(memory);
    black_box(
        words
            .iter()
            .fold(0_u64, |sum, word| sum.wrapping_add(*word)),
    );
    begun.elapsed()
}

/// Statistics of a model, alternating with plain reads of the same memory.
fn statistics(folder: &Path, parameters: usize) {
    let mut seed = 1_u32;
    let model: Vec<f32> = (0..parameters)
        .map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits(0x3f80_0000 | (seed >> 9)) - 1.5
        })
        .collect();
    let len = parameters / 100;
    let names: Vec<String> = (0..100)
        .map(|layer| format!("layer{layer}.weight"))
        .collect();
    let bare = || SamplePolicy::every(1).exponents(false).hash(false);
    let policies = [
        ("counts and moments", bare()),
        ("and a hash", bare().hash(true)),
        ("and exponents", bare().exponents(true)),
        ("and a hash and a histogram", bare().hash(true).histograms()),
        (
            "and a hash and exponents (the default)",
            SamplePolicy::every(1),
        ),
        ("the default and change", SamplePolicy::every(1).change()),
        (
            "the default and channels",
            SamplePolicy::every(1).channels(Role::Weight, 0),
        ),
    ];
    for (what, policy) in policies {
        let collector = Collector::builder(folder).samples(policy).start().unwrap();
        let shape = [1_000, len / 1_000];
        let mut ratios = Vec::new();
        let mut secs = Vec::new();
        for round in 0..6 {
            let read = plain_read(&model);
            let begun = Instant::now();
            let mut step = collector.step(round);
            for (name, layer) in names.iter().zip(model.chunks_exact(len)) {
                step.tensor(name, Role::Weight, TensorView::of(layer, &shape));
            }
            drop(step);
            let took = begun.elapsed();
            // The first round is a warm-up for memory and snapshots.
            if round > 0 {
                ratios.push(took.as_secs_f64() / read.as_secs_f64());
                secs.push(took.as_secs_f64());
            }
            assert!(collector.flush());
        }
        assert!(collector.finish().is_complete());
        println!(
            "{:<52} {:>9.1} ms {:>6.2} plain reads",
            format!("{} M parameters: {what}", parameters / 1_000_000),
            median(secs) * 1e3,
            median(ratios)
        );
    }
}

/// Microseconds per call of tensorboardX in a training loop with the same number of calls.
fn peer(folder: &Path) -> Option<f64> {
    const PROGRAM: &str = "
import sys, time
from tensorboardX import SummaryWriter
writer = SummaryWriter(sys.argv[1])
times = []
for batch in range(11):
    begun = time.perf_counter()
    for step in range(10000):
        writer.add_scalar('train/loss', 0.5, batch * 10000 + step)
    times.append((time.perf_counter() - begun) / 10000)
writer.close()
print(sorted(times)[5] * 1e9)";
    let venv = std::env::var_os("TRAINSCOPE_WRITER_PEER")?;
    let output = Command::new(Path::new(&venv).join("bin/python"))
        .args(["-c", PROGRAM])
        .arg(folder)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.trim().parse().unwrap())
}

fn main() {
    // Cargo passes it for measurements, but not for a test run.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let parameters = if is_bench { 100_000_000 } else { 1_000_000 };
    let folder = tempfile::tempdir().unwrap();
    let scalar = calls(&folder.path().join("calls"));
    contended(&folder.path().join("threads"));
    if let Some(peer) = peer(&folder.path().join("peer")) {
        println!(
            "{:<52} {peer:>9.1} ns {:>6.0} times as much",
            "scalar: one call of tensorboardX",
            peer / scalar
        );
    }
    statistics(&folder.path().join("model"), parameters);
}
