//! Benchmark of live sessions on loopback: a gate of 1, 8 and 64 ranks together, compared with a bare ping-pong over
//! TCP with messages of the same size; a hit until the session waits, a command until the training goes on, and a
//! slice.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench that cannot go on has failed, and prints its result"
)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use server::Server;
use sessions::{command, wait_for};
use trainscope_collector::{Collector, Flow, Live, NamedTensor, Place, Role, TensorView};
use trainscope_format::session::{Gate, GateReport, ToServer, ToTraining};

#[path = "support/server.rs"]
mod server;
#[path = "support/sessions.rs"]
mod sessions;

/// Median and 99th percentile in microseconds.
fn shares(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e6;
    (at(50), at(99))
}

/// Durations of the gates of rank 0 while all ranks ask at each of them.
fn gates(server: &Server, folder: &Path, ranks: u32, count: usize) -> Vec<Duration> {
    let run = format!("gates-{ranks}");
    let barrier = Arc::new(Barrier::new(ranks as usize));
    let threads: Vec<_> = (0..ranks)
        .map(|rank| {
            let path = folder.join("runs").join(&run);
            let (address, barrier) = (server.address.clone(), Arc::clone(&barrier));
            thread::spawn(move || {
                let builder = Collector::builder(path).rank(rank, ranks);
                let collector = builder.live(Live::to(address)).start().unwrap();
                let mut times = Vec::new();
                for step in 0.. {
                    barrier.wait();
                    let begun = Instant::now();
                    let flow = collector.gate(step, Place::AfterStep, &());
                    times.push(begun.elapsed());
                    if flow == Flow::Stop {
                        break;
                    }
                }
                collector.finish();
                times
            })
        })
        .collect();
    let session = wait_for(server, &run, "running");
    command(server, &session, &json!({"name": "step", "n": count}));
    let session = wait_for(server, &run, "waiting");
    command(server, &session, &json!({"name": "stop"}));
    let mut all: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    // The first gates were not asked about, and the last one was a hold.
    let times = all.swap_remove(0);
    times[times.len() - count..times.len() - 1].to_vec()
}

/// Durations of bare exchanges of messages of the same size.
fn ping_pong(count: usize) -> Vec<Duration> {
    let at = Gate::new(1_000, Place::AfterStep);
    let report = GateReport {
        at: at.clone(),
        hits: Vec::new(),
        hits_total: 0,
        is_target: false,
        stops: false,
    };
    let question = ToServer::Gate(report).to_text().into_bytes();
    let answer = ToTraining::Go { at }.to_text().into_bytes();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (len, other) = (question.len(), answer.clone());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        let mut bytes = vec![0; len];
        for _ in 0..count {
            stream.read_exact(&mut bytes).unwrap();
            stream.write_all(&other).unwrap();
        }
    });
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut bytes = vec![0; answer.len()];
    let times = (0..count).map(|_| {
        let begun = Instant::now();
        stream.write_all(&question).unwrap();
        stream.read_exact(&mut bytes).unwrap();
        begun.elapsed()
    });
    let times = times.collect();
    server.join().unwrap();
    times
}

/// A gate without a connection.
fn idle_gate(folder: &Path, count: u32) -> f64 {
    let collector = Collector::builder(folder.join("idle")).start().unwrap();
    let begun = Instant::now();
    for step in 0..count {
        let flow = collector.gate(i64::from(step), Place::AfterStep, &());
        assert_eq!(std::hint::black_box(flow), Flow::Continue);
    }
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(count)
}

/// Times of a command until the training goes on, and of a slice of 128 × 128, in milliseconds.
fn command_and_slice(server: &Server, folder: &Path, count: usize) -> [Vec<Duration>; 2] {
    let path = folder.join("runs/held");
    let address = server.address.clone();
    let (sender, steps) = std::sync::mpsc::channel();
    let training = thread::spawn(move || {
        let collector = Collector::builder(path)
            .live(Live::to(address))
            .start()
            .unwrap();
        let weights = vec![0.5_f32; 1024 * 1024];
        let shape = [1024, 1024];
        let tensors = [NamedTensor {
            name: "w",
            role: Role::Weight,
            view: TensorView::of(&weights, &shape),
        }];
        for step in 0.. {
            if collector.gate(step, Place::AfterStep, &tensors.as_slice()) == Flow::Stop {
                break;
            }
            let _is_unread = sender.send(());
        }
        collector.finish();
    });
    let mut session = wait_for(server, "held", "running");
    let (mut slices, mut commands) = (Vec::new(), Vec::new());
    command(server, &session, &json!({"name": "pause"}));
    for _ in 0..count {
        session = wait_for(server, "held", "waiting");
        while steps.try_recv().is_ok() {}
        let id = session["id"].as_str().unwrap();
        let url = format!(
            "{}/api/tensor?run=held&tensor=w&slice=0:128,0:128&session={id}",
            server.address
        );
        let begun = Instant::now();
        let text = ureq::get(url).call().unwrap().body_mut().read_to_vec();
        assert!(text.unwrap().len() > 128 * 128);
        slices.push(begun.elapsed());
        let begun = Instant::now();
        command(server, &session, &json!({"name": "step", "n": 1}));
        steps.recv_timeout(Duration::from_secs(30)).unwrap();
        commands.push(begun.elapsed());
    }
    session = wait_for(server, "held", "waiting");
    command(server, &session, &json!({"name": "stop"}));
    training.join().unwrap();
    [slices, commands]
}

fn main() {
    let is_test = std::env::args().any(|arg| arg == "--test");
    let count = if is_test { 20 } else { 5_000 };
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("runs");
    std::fs::create_dir_all(&base).unwrap();
    let server = Server::start(folder.path(), &base);
    let nanos = idle_gate(folder.path(), if is_test { 1_000 } else { 10_000_000 });
    println!("gate without a connection       {nanos:8.1} ns");
    let print = |name: &str, times| {
        let (median, late) = shares(times);
        println!("{name:<30} p50 {median:9.1} µs   p99 {late:9.1} µs");
    };
    print("ping-pong over TCP", ping_pong(count));
    for ranks in [1, 8, 64] {
        let count = count.min(20_000 / ranks as usize);
        print(
            &format!("gate of {ranks} ranks"),
            gates(&server, folder.path(), ranks, count),
        );
    }
    let [slices, commands] =
        command_and_slice(&server, folder.path(), if is_test { 3 } else { 200 });
    print("slice of 128 × 128", slices);
    print("command until it goes on", commands);
}
