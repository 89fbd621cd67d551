//! A server for a bench, which ends when the value is dropped.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The built program over a folder.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// Requests over as few connections as possible.
    pub(crate) agent: ureq::Agent,
    pub(crate) address: String,
}

impl Server {
    /// Starts it with cache and port file in `lab`.
    pub(crate) fn start(lab: &Path, base: &Path) -> Self {
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
            agent: ureq::Agent::new_with_defaults(),
            address: format!("http://127.0.0.1:{port}"),
        }
    }

    /// An answer, and true for a success.
    pub(crate) fn get(&self, path: &str) -> (bool, Value) {
        let request = self.agent.get(format!("{}{path}", self.address));
        let answer = request.config().http_status_as_error(false).build().call();
        let mut answer = answer.expect("an answer");
        let text = answer.body_mut().read_to_string().expect("text");
        let told = serde_json::from_str(&text).expect("JSON");
        (answer.status().is_success(), told)
    }

    /// Polls until the condition is met.
    pub(crate) fn wait(&self, path: &str, is_so: impl Fn(bool, &Value) -> bool) -> Value {
        let until = Instant::now() + Duration::from_mins(2);
        loop {
            let (is_yes, told) = self.get(path);
            if is_so(is_yes, &told) {
                return told;
            }
            assert!(Instant::now() < until, "{path} is not answered: {told}");
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
