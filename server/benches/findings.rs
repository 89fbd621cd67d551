//! Benchmark of findings: judging a run again, notifying of a new hit, and answering queries over a hundred thousand
//! hits.
//!
//! `cargo bench -p trainscope --bench findings -- --full`; without the flag it takes seconds and also runs under test.
//! `--write DIR` leaves a run of a hundred thousand hits for inspection.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench prints, and has failed if it cannot go on"
)]

use std::fs::{self, File, OpenOptions};
use std::io::BufWriter;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use server::Server;
use trainscope_format::encode::{Moment, RecordWriter};
use trainscope_format::tensor::{DType, TensorStats};
use trainscope_format::{Role, TensorSummary};

#[path = "support/server.rs"]
mod server;

/// Watchpoints that report every NaN as a separate hit.
const EVERY_NAN: &str = "[[watchpoint]]\ncondition = \"tensor_overflow\"\n";

fn main() {
    let is_full = std::env::args().any(|argument| argument == "--full");
    let (tensors, steps, hit_steps, rounds) = if is_full {
        (1_000, 1_000, 1_000, 21)
    } else {
        (20, 50, 50, 3)
    };
    if let Some(folder) = std::env::args().skip_while(|word| word != "--write").nth(1) {
        // A hundred thousand hits for inspection in a browser.
        write_hits(Path::new(&folder), 100, 1_000);
        return;
    }
    let lab = tempfile::tempdir().expect("a temporary folder");
    let base = lab.path().join("base");
    write_run(&base.join("judged"), tensors, steps, false);
    write_hits(&base.join("hits"), 100.min(tensors), hit_steps);

    {
        let server = Server::start(lab.path(), &base);
        wait(&server, "judged", |seen| seen["state"] == "done");
        let took = median(rounds.min(5), || {
            let began = Instant::now();
            recheck(&server, "judged");
            wait(&server, "judged", |seen| {
                seen["state"] == "done" && seen["progress"].is_null()
            });
            began.elapsed()
        });
        println!(
            "{} statistics judged again                {took:>10.1?}",
            tensors * steps
        );

        let run_dir = base.join("live");
        let mut live = writer(&run_dir);
        for step in 0..100 {
            let (one, at) = (summary(step, false), moment(step));
            live.statistics(at, &[("fc1.weight", &one)])
                .expect("a record");
            live.scalar("train/loss", at, 1.0).expect("a record");
        }
        live.flush().expect("on disk");
        wait(&server, "live", |seen| seen["state"] == "done");
        let mut step = 100;
        let took = median(rounds, || {
            let before = findings(&server, "live", "&limit=1")["total"].as_u64();
            // Another tensor each time: a lasting fault is one hit.
            let tensor = format!("fc{step}.weight");
            let one = summary(step, true);
            live.statistics(moment(step), &[(&*tensor, &one)])
                .expect("a record");
            live.flush().expect("on disk");
            step += 1;
            let began = Instant::now();
            wait(&server, "live", |seen| seen["total"].as_u64() > before);
            began.elapsed()
        });
        println!("record on disk until its hit is answered      {took:>10.1?}");
    }

    let server = Server::start(lab.path(), &base.join("hits"));
    wait(&server, "run", |seen| seen["state"] == "done");
    let total = findings(&server, "run", "&limit=1")["total"].clone();
    for (what, query) in [
        ("the first 200 of them", "&limit=200&line=0".to_owned()),
        (
            "200 in the middle",
            format!("&limit=200&line={}", 50 * hit_steps),
        ),
        ("filtered by name", "&limit=200&search=7.weight".to_owned()),
        (
            "filtered by steps",
            "&limit=200&from_step=10&to_step=20".to_owned(),
        ),
    ] {
        let took = median(rounds, || {
            let began = Instant::now();
            findings(&server, "run", &query);
            began.elapsed()
        });
        println!("{total} hits, {what:<24}        {took:>10.1?}");
    }
}

/// A run with a hit in every tensor at every step.
fn write_hits(base: &Path, tensors: i64, steps: i64) {
    write_run(&base.join("run"), tensors, steps, true);
    let watched = base.join(".trainscope");
    fs::create_dir_all(&watched).expect("a folder");
    fs::write(watched.join("watchpoints.toml"), EVERY_NAN).expect("the watchpoints");
}

/// Statistics of a number of tensors and steps; all NaN, or healthy.
fn write_run(folder: &Path, tensors: i64, steps: i64, is_nan: bool) {
    let mut out = writer(folder);
    let names: Vec<String> = (0..tensors).map(|n| format!("layer{n}.weight")).collect();
    for step in 0..steps {
        let one = summary(step, is_nan);
        let all: Vec<(&str, &TensorSummary)> = names.iter().map(|name| (&**name, &one)).collect();
        out.statistics(moment(step), &all).expect("a record");
    }
    out.flush().expect("on disk");
}

fn writer(folder: &Path) -> RecordWriter<BufWriter<File>> {
    fs::create_dir_all(folder).expect("a folder");
    let path = folder.join("events.out.tfevents.1790000000.bench.1.0");
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .expect("a file");
    RecordWriter::new(BufWriter::new(file), 1.79e9).expect("a head")
}

fn moment(step: i64) -> Moment {
    Moment {
        step,
        wall_time_secs: 1.79e9 + step as f64,
    }
}

fn summary(step: i64, is_nan: bool) -> TensorSummary {
    let mut values: Vec<f32> = (0..64)
        .map(|n| (n as f32 - 31.0) * 0.01 + step as f32 * 1e-6)
        .collect();
    if is_nan {
        values[3] = f32::NAN;
    }
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    TensorSummary {
        role: Role::Weight,
        dtype: DType::F32,
        shape: vec![8, 8],
        stats: TensorStats::of(DType::F32, &bytes),
        hash: Some(step.cast_unsigned() + 1),
        change: None,
        channels: None,
    }
}

fn median(rounds: usize, mut run: impl FnMut() -> Duration) -> Duration {
    let mut all: Vec<Duration> = (0..rounds).map(|_| run()).collect();
    all.sort_unstable();
    all[all.len() / 2]
}

/// Findings of a run.
fn findings(server: &Server, run: &str, query: &str) -> Value {
    server.get(&format!("/api/findings?run={run}{query}")).1
}

/// Polls until the condition is met.
fn wait(server: &Server, run: &str, is_so: impl Fn(&Value) -> bool) {
    let path = format!("/api/findings?run={run}&limit=1");
    server.wait(&path, |_, told| is_so(told));
}

/// Requests a new judgement of a run.
fn recheck(server: &Server, run: &str) {
    let body = json!({ "run": run }).to_string();
    let address = format!("{}/api/recheck", server.address);
    ureq::post(address).send(body).expect("an answer");
}
