//! How long a slice of a tensor of gigabytes takes, and how much of the file is read for it.
//!
//! `cargo bench -p trainscope --bench tensors -- --gigabytes 4`; without the argument the tensor is small, so that it runs
//! under test. The file is sparse: it takes no room, and its elements are 0 but for a few.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench prints, and has failed if it cannot go on"
)]

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Nothing is judged meanwhile: a tensor is only read for what is asked.
const NO_TENSORS: &str = "[[watchpoint]]\ncondition = \"loss_nan\"\n";

fn main() {
    let mut arguments = std::env::args().skip_while(|word| word != "--gigabytes");
    let gigabytes: Option<u64> = arguments.nth(1).map(|n| n.parse().expect("a number"));
    let rounds = if gigabytes.is_some() { 51 } else { 3 };
    // Rows of 128 KiB.
    let (rows, columns) = (gigabytes.map_or(64, |n| n << 13), 1 << 15);
    let lab = tempfile::tempdir().expect("a temporary folder");
    let base = lab.path().join("base");
    write_matrix(&base.join("run/steps/1"), rows, columns);
    let watched = base.join(".trainscope");
    fs::create_dir_all(&watched).expect("a folder");
    fs::write(watched.join("watchpoints.toml"), NO_TENSORS).expect("the watchpoints");

    let server = Server::start(lab.path(), &base);
    let middle = rows / 2;
    for (what, slice) in [
        (
            "128 rows and columns",
            format!("{middle}:{}, 9000:9128", (middle + 128).min(rows)),
        ),
        ("the last row", "-1, :".to_owned()),
        ("a column, an element a row", ":, 12345".to_owned()),
    ] {
        let query = format!(
            "/api/tensor?run=run&tensor=weight&slice={}",
            slice.replace(' ', "")
        );
        let answer = server.wait(&query);
        let read = answer["read_bytes"].as_u64().expect("a number");
        let mut all: Vec<Duration> = (0..rounds)
            .map(|_| {
                let began = Instant::now();
                server.get(&query).expect("an answer");
                began.elapsed()
            })
            .collect();
        all.sort_unstable();
        let (median, most) = (all[all.len() / 2], all[all.len() - 1]);
        println!(
            "{rows} x {columns} f32, {what:<28} {median:>9.2?}, at most {most:>9.2?}; {:>8.1} kB read",
            read as f64 / 1e3
        );
    }
}

/// An npy file of zeros with ones on its diagonal.
fn write_matrix(folder: &Path, rows: u64, columns: u64) {
    fs::create_dir_all(folder).expect("a folder");
    let mut file = File::create(folder.join("weight.npy")).expect("a file");
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let len = u16::try_from(header.len()).expect("a short header");
    file.write_all(b"\x93NUMPY\x01\x00").expect("on disk");
    file.write_all(&len.to_le_bytes()).expect("on disk");
    file.write_all(header.as_bytes()).expect("on disk");
    let begin = 10 + u64::from(len);
    file.set_len(begin + rows * columns * 4).expect("on disk");
    for at in (0..rows.min(columns)).step_by(16) {
        let one = 1.0_f32.to_le_bytes();
        file.write_all_at(&one, begin + (at * columns + at) * 4)
            .expect("on disk");
    }
}

/// A server that ends with the value.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(lab: &Path, base: &Path) -> Self {
        let port_file = lab.join("port");
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

    /// An answer; `None` while the run is not found yet.
    fn get(&self, path: &str) -> Option<Value> {
        let answer = ureq::get(format!("{}{path}", self.address))
            .config()
            .http_status_as_error(false)
            .build()
            .call();
        let mut answer = answer.expect("a server");
        let text = answer.body_mut().read_to_string().expect("text");
        let is_found = answer.status().is_success();
        is_found.then(|| serde_json::from_str(&text).expect("JSON"))
    }

    fn wait(&self, path: &str) -> Value {
        let until = Instant::now() + Duration::from_mins(1);
        loop {
            if let Some(answer) = self.get(path) {
                return answer;
            }
            assert!(Instant::now() < until, "{path} is not answered");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}
