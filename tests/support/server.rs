//! The built program as a child process, and requests to it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;
use serde_json::Value;
use trainscope_api::paths;
use trainscope_api::runs::{Run, RunList};
use trainscope_api::scalars::{ScalarsAnswer, ScalarsRequest, Series};
use trainscope_api::status::Status;
use trainscope_api::tags::TagList;
use ureq::Agent;

use super::lab::{Lab, workspace_root};
use super::live::Live;
use super::program;
use super::wait::{DEADLINE, wait_for};

/// The variable with the folder of a bundle to test, in place of the one that the program was built with.
const WEB_DIR: &str = "TRAINSCOPE_WEB_DIR";

/// Folder of the bundle that is tested.
pub(crate) fn bundle_folder() -> PathBuf {
    let folder = std::env::var_os(WEB_DIR).unwrap_or_else(|| "web/dist".into());
    workspace_root().join(folder)
}

/// A running server, killed when dropped. Its log is printed if a test fails.
pub(crate) struct Server {
    child: Child,
    address: String,
    agent: Agent,
    log: PathBuf,
}

/// An HTTP answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) media_type: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("not JSON: {error}: {}", String::from_utf8_lossy(&self.body))
        })
    }
}

/// The program with a separate home directory.
pub(crate) fn program(lab: &Lab) -> Command {
    let mut command = program::program();
    for variable in [
        "HOME",
        "XDG_CACHE_HOME",
        "XDG_STATE_HOME",
        "XDG_RUNTIME_DIR",
        "XDG_CONFIG_HOME",
    ] {
        let folder = lab.path("home").join(variable);
        fs::create_dir_all(&folder).unwrap();
        command.env(variable, folder);
    }
    command.stdin(Stdio::null());
    command
}

impl Server {
    pub(super) fn start(lab: &Lab, base_dirs: &[&Path], flags: &[&str]) -> Self {
        Self::spawn(lab, program(lab), base_dirs, flags)
    }

    /// A server with further variables of the environment.
    pub(crate) fn start_with(
        lab: &Lab,
        base_dirs: &[&Path],
        environment: &[(&str, String)],
    ) -> Self {
        let mut program = program(lab);
        program.envs(environment.iter().map(|(name, value)| (name, value)));
        Self::spawn(lab, program, base_dirs, &[])
    }

    /// A server with a limit of the system, such as `ulimit -n 256` or, in blocks of 512 bytes, `ulimit -f 4096`.
    pub(crate) fn start_limited(lab: &Lab, base_dirs: &[&Path], limit: &str) -> Self {
        let program = program(lab);
        let mut command = Command::new("sh");
        // The signal of a file that grows too large would end the program.
        command
            .arg("-c")
            .arg(format!("trap '' XFSZ; {limit}; exec \"$0\" \"$@\""));
        command.arg(program.get_program()).args(program.get_args());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::null());
        Self::spawn(lab, command, base_dirs, &[])
    }

    fn spawn(lab: &Lab, mut command: Command, base_dirs: &[&Path], flags: &[&str]) -> Self {
        let number = fs::read_dir(lab.path("")).unwrap().count();
        let port_file = lab.path(&format!("port-{number}"));
        let log = lab.path(&format!("log-{number}"));
        command.arg("start").arg("--port-file").arg(&port_file);
        // On a busy machine a rank may come late to a gate.
        command.env("TRAINSCOPE_SESSION_LIMITS", "30,600,10");
        if !flags.contains(&"--token-file") {
            // The same if other users share the machine.
            command.arg("--no-token");
        }
        if !flags.contains(&"--port") {
            command.args(["--port", "0"]);
        }
        if !flags.contains(&"--cache-dir") {
            command.arg("--cache-dir").arg(lab.cache());
        }
        if !flags.contains(&"--reload-interval") {
            command.args(["--reload-interval", "0.1"]);
        }
        if std::env::var_os(WEB_DIR).is_some() && !flags.contains(&"--web-dir") {
            command.arg("--web-dir").arg(bundle_folder());
        }
        for folder in base_dirs {
            command.arg("--summary-base-dir").arg(folder);
        }
        let output = File::create(&log).unwrap();
        let mut child = command
            .args(flags)
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap();
        let port = wait_for("the server to listen", || {
            if let Some(status) = child.try_wait().unwrap() {
                panic!(
                    "the server ended with {status}:\n{}",
                    fs::read_to_string(&log).unwrap()
                );
            }
            fs::read_to_string(&port_file)
                .ok()?
                .trim()
                .parse::<u16>()
                .ok()
        });
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(DEADLINE))
            .build()
            .into();
        Self {
            child,
            address: format!("http://127.0.0.1:{port}"),
            agent,
            log,
        }
    }

    /// `http://127.0.0.1:<port>`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// `GET` of a path with an encoded query.
    pub(crate) fn get(&self, path: &str) -> Answer {
        let response = self
            .agent
            .get(format!("{}{path}", self.address))
            .call()
            .unwrap();
        answer(response)
    }

    /// `GET` with headers, for requests that the server refuses.
    pub(crate) fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.agent.get(format!("{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answer(request.call().unwrap())
    }

    /// `POST` of a JSON body.
    pub(crate) fn post(&self, path: &str, accept: &str, body: &str) -> Answer {
        self.try_post(path, accept, body).unwrap()
    }

    /// `POST` of a JSON body; an error if the server closes the connection before the body was sent, as for a refusal.
    pub(crate) fn try_post(
        &self,
        path: &str,
        accept: &str,
        body: &str,
    ) -> Result<Answer, ureq::Error> {
        let response = self
            .agent
            .post(format!("{}{path}", self.address))
            .header("content-type", "application/json")
            .header("accept", accept)
            .send(body)?;
        Ok(answer(response))
    }

    /// `PATCH` with a JSON body.
    pub(crate) fn patch(&self, path: &str, body: &serde_json::Value) -> Answer {
        let url = format!("{}{path}", self.address);
        let request = self.agent.patch(url);
        let request = request.header("content-type", "application/json");
        answer(request.send(body.to_string()).unwrap())
    }

    /// `PUT` with a JSON body.
    pub(crate) fn put(&self, path: &str, body: &serde_json::Value) -> Answer {
        let url = format!("{}{path}", self.address);
        let request = self.agent.put(url);
        let request = request.header("content-type", "application/json");
        answer(request.send(body.to_string()).unwrap())
    }

    fn typed<T: DeserializeOwned>(&self, path: &str) -> T {
        let answer = self.get(path);
        assert_eq!(
            answer.status,
            200,
            "{path}: {}",
            String::from_utf8_lossy(&answer.body)
        );
        serde_json::from_slice(&answer.body).unwrap()
    }

    /// `GET /api/status`.
    pub(crate) fn status(&self) -> Status {
        self.typed(paths::STATUS)
    }

    /// `GET /api/runs`.
    pub(crate) fn runs(&self) -> RunList {
        self.typed(paths::RUNS)
    }

    /// One run of `GET /api/runs`.
    pub(crate) fn run(&self, id: &str) -> Option<Run> {
        self.runs().runs.into_iter().find(|run| run.id == id)
    }

    /// Names of the runs.
    pub(crate) fn run_ids(&self) -> Vec<String> {
        self.runs().runs.into_iter().map(|run| run.id).collect()
    }

    /// `GET /api/tags`.
    pub(crate) fn tags(&self, run: &str) -> TagList {
        self.typed(&format!("{}?{}", paths::TAGS, query(&[("run", run)])))
    }

    /// Up to a million points of a scalar; `None` if there is no such series.
    pub(crate) fn scalars(&self, run: &str, tag: &str) -> Option<Series> {
        self.scalars_where(&[("run", run), ("tag", tag), ("points", "1000000")])
    }

    /// The same with any query.
    pub(crate) fn scalars_where(&self, pairs: &[(&str, &str)]) -> Option<Series> {
        let answer = self.get(&format!("{}?{}", paths::SCALARS, query(pairs)));
        (answer.status == 200).then(|| serde_json::from_slice(&answer.body).unwrap())
    }

    /// `POST /api/scalars`, as JSON.
    pub(crate) fn many_scalars(&self, request: &ScalarsRequest) -> ScalarsAnswer {
        let answer = self.post(
            paths::SCALARS,
            "application/json",
            &serde_json::to_string(request).unwrap(),
        );
        assert_eq!(
            answer.status,
            200,
            "{}",
            String::from_utf8_lossy(&answer.body)
        );
        serde_json::from_slice(&answer.body).unwrap()
    }

    /// Opens the live stream.
    pub(crate) fn live(&self) -> Live {
        Live::open(&self.address, None)
    }

    /// The same for a client that has received everything up to `seq`.
    pub(crate) fn live_since(&self, seq: u64) -> Live {
        Live::open(&self.address, Some(seq))
    }

    /// Waits until a scalar has this many points.
    pub(crate) fn wait_for_points(&self, run: &str, tag: &str, total: u64) -> Series {
        wait_for(&format!("{total} points of {run} {tag}"), || {
            self.scalars(run, tag)
                .filter(|series| series.total == total)
        })
    }

    /// Waits until everything on disk has been read, at least `records` of them.
    pub(crate) fn wait_for_records(&self, records: u64) -> Status {
        wait_for(&format!("{records} records"), || {
            Some(self.status())
                .filter(|status| status.ingest.idle && status.ingest.records >= records)
        })
    }

    /// Waits until reading has caught up and everything is committed.
    pub(crate) fn wait_for_commit(&self, records: u64) {
        wait_for(&format!("{records} records to be committed"), || {
            Some(self.status().ingest)
                .filter(|ingest| ingest.idle && ingest.committed_records >= records)
        });
    }

    /// Kills it without warning, as in a crash.
    pub(crate) fn crash(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Requests its end and waits for it.
    pub(crate) fn stop(mut self) -> ExitStatus {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM).unwrap();
        wait_for("the server to end", || self.child.try_wait().unwrap())
    }

    /// Processor time of the server in seconds.
    #[cfg(target_os = "linux")]
    pub(crate) fn processor_secs(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // After the name, which may contain anything: user and system time are the 12th and 13th field, in ticks.
        let fields: Vec<&str> = stat
            .rsplit_once(')')
            .unwrap()
            .1
            .split_whitespace()
            .collect();
        let ticks: f64 = fields[11..13]
            .iter()
            .map(|field| field.parse::<f64>().unwrap())
            .sum();
        // A constant of the Linux ABI.
        ticks / 100.0
    }

    /// Resident memory.
    #[cfg(target_os = "linux")]
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "--- log of the server:\n{}",
                fs::read_to_string(&self.log).unwrap_or_default()
            );
        }
        // It may have ended already, which is not a failure here.
        if self.child.kill().is_ok() {
            self.child.wait().ok();
        }
    }
}

fn answer(mut response: ureq::http::Response<ureq::Body>) -> Answer {
    let media_type = response
        .headers()
        .get("content-type")
        .map(|value| value.to_str().unwrap().to_owned())
        .unwrap_or_default();
    Answer {
        status: response.status().as_u16(),
        media_type,
        body: response
            .body_mut()
            .with_config()
            .limit(1 << 30)
            .read_to_vec()
            .unwrap(),
    }
}

/// Encodes pairs as a query.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let encoded = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
                other => format!("%{other:02X}"),
            })
            .collect()
    };
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={}", encoded(value)))
        .collect();
    pairs.join("&")
}
