//! Endurance of live sessions on loopback: a hit until the session waits, the processor time of a held training, and
//! memory, descriptors and threads of server and training after many pauses and connections.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench that cannot go on has failed, and prints its result"
)]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::json;
use server::Server;
use sessions::{command, wait_for};
use trainscope_collector::{AtHit, Collector, Flow, Live, NamedTensor, Place, Role, TensorView};

#[path = "support/server.rs"]
mod server;
#[path = "support/sessions.rs"]
mod sessions;

/// Ticks of `/proc/PID/stat` in a second, which is the same on all Linux systems.
const TICKS_A_SECOND: f64 = 100.0;
/// Number of hits whose delay until the server is measured.
const HITS: usize = 20;

/// A training with a gate every millisecond, with a NaN gradient since step `nan_at`.
fn train(server: &Server, folder: &Path, nan_at: i64) -> (JoinHandle<()>, Arc<AtomicI64>) {
    let (address, folder) = (server.address.clone(), folder.to_path_buf());
    // Time of the hit in microseconds since the start, for the thread that waits for it.
    let hit_at = Arc::new(AtomicI64::new(0));
    let noted = Arc::clone(&hit_at);
    let thread = thread::spawn(move || {
        let builder = Collector::builder(folder).live(Live::to(address));
        let collector = builder.at_hit(AtHit::Pause).start().unwrap();
        for step in 0.. {
            let value = if step >= nan_at { f32::NAN } else { 0.1 };
            let gradient = [value; 64];
            let tensors = [NamedTensor {
                name: "w.grad",
                role: Role::Gradient,
                view: TensorView::of(&gradient, &[64]),
            }];
            if step == nan_at {
                noted.store(micros(), Ordering::SeqCst);
            }
            if collector.gate(step, Place::BeforeUpdate, &tensors.as_slice()) == Flow::Stop {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        collector.finish();
    });
    (thread, hit_at)
}

/// Microseconds since the first call in this process.
fn micros() -> i64 {
    static BEGAN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let elapsed = BEGAN.get_or_init(Instant::now).elapsed();
    i64::try_from(elapsed.as_micros()).unwrap()
}

/// Milliseconds from the gate of a hit to the answer of the server that the session waits.
fn hit_until_waiting(server: &Server, folder: &Path) -> Vec<f64> {
    let mut all: Vec<f64> = (0..HITS)
        .map(|number| {
            let run = format!("hit-{number}");
            let (training, hit_at) = train(server, &folder.join(&run), 100);
            let session = wait_for(server, &run, "waiting");
            let took = micros() - hit_at.load(Ordering::SeqCst);
            command(server, &session, &json!({"name": "stop"}));
            training.join().unwrap();
            took as f64 / 1e3
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all
}

/// Share of a core that this process takes while its training is held, in percent.
fn held_share(time: Duration) -> f64 {
    let before = cpu_secs();
    thread::sleep(time);
    100.0 * (cpu_secs() - before) / time.as_secs_f64()
}

fn cpu_secs() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the program, in parentheses, may have spaces.
    let fields: Vec<&str> = text
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / TICKS_A_SECOND
}

/// Memory in MB, descriptors and threads of a process.
fn holdings(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    let memory = field("VmRSS:") as f64 / 1e3;
    format!(
        "{memory:6.1} MB, {descriptors:3} descriptors, {:2} threads",
        field("Threads:")
    )
}

fn main() {
    let is_test = std::env::args().any(|arg| arg == "--test");
    let (pauses, connections) = if is_test { (20, 5) } else { (10_000, 1_000) };
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("runs");
    fs::create_dir_all(&base).unwrap();
    let server = Server::start(folder.path(), &base);

    let times = hit_until_waiting(&server, &base);
    println!(
        "hit until the session waits     p50 {:6.2} ms   most {:6.2} ms",
        times[HITS / 2],
        times[HITS - 1]
    );

    let (training, _) = train(&server, &base.join("soak"), i64::MAX);
    let print = |name: &str| {
        println!("{name:<30} server   {}", holdings(server.child.id()));
        println!("{:<30} training {}", "", holdings(std::process::id()));
    };
    let pause = || {
        let session = wait_for(&server, "soak", "running");
        command(&server, &session, &json!({"name": "pause"}));
        wait_for(&server, "soak", "waiting")
    };
    let session = pause();
    let share = held_share(Duration::from_secs(if is_test { 1 } else { 10 }));
    println!("processor time while held       {share:6.2} % of a core");
    command(&server, &session, &json!({"name": "continue"}));
    print("before");
    for _ in 0..pauses {
        command(&server, &pause(), &json!({"name": "continue"}));
    }
    print(&format!("after {pauses} pauses"));
    for number in 0..connections {
        let run = format!("short-{number}");
        let builder = Collector::builder(base.join(&run)).live(Live::to(&server.address));
        let collector = builder.start().unwrap();
        wait_for(&server, &run, "running");
        collector.finish();
    }
    print(&format!("after {connections} connections"));
    let session = wait_for(&server, "soak", "running");
    command(&server, &session, &json!({"name": "stop"}));
    training.join().unwrap();
}
