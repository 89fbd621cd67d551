//! How fast a server judges a run again, tells of a new hit, and answers for a hundred thousand of them.
//!
//! `cargo bench -p trainscope --bench findings -- --full`; without the flag it takes seconds, so that it runs under test.
//! `--write DIR` leaves a run of a hundred thousand hits, to look at.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench prints, and has failed if it cannot go on"
)]

use std::fs::{self, File, OpenOptions};
use std::io::BufWriter;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trainscope_format::encode::{Moment, RecordWriter};
use trainscope_format::tensor::{DType, TensorStats};
use trainscope_format::{Role, TensorSummary};

/// What a run is judged by if every NaN is to be a hit of its own.
const EVERY_NAN: &str = "[[watchpoint]]\ncondition = \"tensor_overflow\"\n";

fn main() {
    let is_full = std::env::args().any(|argument| argument == "--full");
    let (tensors, steps, hit_steps, rounds) = if is_full {
        (1_000, 1_000, 1_000, 21)
    } else {
        (20, 50, 50, 3)
    };
    if let Some(folder) = std::env::args().skip_while(|word| word != "--write").nth(1) {
        // A hundred thousand hits to look at in a browser.
        write_hits(Path::new(&folder), 100, 1_000);
        return;
    }
    let lab = tempfile::tempdir().expect("a temporary folder");
    let base = lab.path().join("base");
    write_run(&base.join("judged"), tensors, steps, false);
    write_hits(&base.join("hits"), 100.min(tensors), hit_steps);

    {
        let server = Server::start(lab.path(), &base);
        server.wait("judged", |seen| seen["state"] == "done");
        let took = median(rounds.min(5), || {
            let began = Instant::now();
            server.post("/api/recheck", &json!({"run": "judged"}));
            server.wait("judged", |seen| {
                seen["state"] == "done" && seen["progress"].is_null()
            });
            began.elapsed()
        });
        println!(
            "{} statistics judged again                {took:>10.1?}",
            tensors * steps
        );

        let own = base.join("live");
        let mut live = writer(&own);
        for step in 0..100 {
            let (one, at) = (summary(step, false), moment(step));
            live.statistics(at, &[("fc1.weight", &one)])
                .expect("a record");
            live.scalar("train/loss", at, 1.0).expect("a record");
        }
        live.flush().expect("on disk");
        server.wait("live", |seen| seen["state"] == "done");
        let mut step = 100;
        let took = median(rounds, || {
            let before = server.findings("live", "&limit=1")["total"].as_u64();
            // Another tensor each time: one that stays wrong is one hit.
            let tensor = format!("fc{step}.weight");
            let one = summary(step, true);
            live.statistics(moment(step), &[(&*tensor, &one)])
                .expect("a record");
            live.flush().expect("on disk");
            step += 1;
            let began = Instant::now();
            server.wait("live", |seen| seen["total"].as_u64() > before);
            began.elapsed()
        });
        println!("record on disk until its hit is answered      {took:>10.1?}");
    }

    let server = Server::start(lab.path(), &base.join("hits"));
    server.wait("run", |seen| seen["state"] == "done");
    let total = server.findings("run", "&limit=1")["total"].clone();
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
            server.findings("run", &query);
            began.elapsed()
        });
        println!("{total} hits, {what:<24}        {took:>10.1?}");
    }
}

/// A run in which every tensor is a hit at every step.
fn write_hits(base: &Path, tensors: i64, steps: i64) {
    write_run(&base.join("run"), tensors, steps, true);
    let watched = base.join(".trainscope");
    fs::create_dir_all(&watched).expect("a folder");
    fs::write(watched.join("watchpoints.toml"), EVERY_NAN).expect("the watchpoints");
}

/// Statistics of so many tensors at each of so many steps; all NaN, or sound.
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

/// A server that ends with the value.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(lab: &Path, base: &Path) -> Self {
        let port_file = lab.join("port");
        fs::remove_file(&port_file).unwrap_or_default();
        let child = Command::new(env!("CARGO_BIN_EXE_trainscope"))
            .args(["start", "--quiet", "--port", "0", "--port-file"])
            .arg(&port_file)
            .arg("--summary-base-dir")
            .arg(base)
            .arg("--cache-dir")
            .arg(lab.join("cache"))
            .env("XDG_RUNTIME_DIR", lab)
            .env("XDG_STATE_HOME", lab)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a server");
        let until = Instant::now() + Duration::from_mins(1);
        let port = loop {
            match fs::read_to_string(&port_file) {
                Ok(port) => break port.trim().to_owned(),
                Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
                Err(error) => panic!("the server does not start: {error}"),
            }
        };
        Self {
            child,
            address: format!("http://127.0.0.1:{port}"),
        }
    }

    fn findings(&self, run: &str, query: &str) -> Value {
        let address = format!("{}/api/findings?run={run}{query}", self.address);
        let answer = ureq::get(address)
            .config()
            .http_status_as_error(false)
            .build()
            .call();
        let text = answer
            .expect("an answer")
            .body_mut()
            .read_to_string()
            .expect("text");
        serde_json::from_str(&text).expect("JSON")
    }

    fn post(&self, path: &str, body: &Value) {
        let address = format!("{}{path}", self.address);
        ureq::post(address)
            .send(body.to_string())
            .expect("an answer");
    }

    /// Asks again until it is so.
    fn wait(&self, run: &str, is_so: impl Fn(&Value) -> bool) {
        let until = Instant::now() + Duration::from_mins(2);
        while !is_so(&self.findings(run, "&limit=1")) {
            assert!(Instant::now() < until, "{run} is not judged");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}
