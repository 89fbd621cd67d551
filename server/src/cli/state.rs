//! Servers started by this user: one file per port in the runtime folder.
//!
//! A file is only a hint: the answer of the server decides, because process ids are reused.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trainscope_api::status::Status;

use super::client::{self, Answer};
use crate::settings::{SettingsError, UserDirs};

/// Description of a running server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ServerState {
    pub(super) pid: u32,
    /// Seconds since 1970.
    pub(super) started_secs: f64,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) prefix: String,
    pub(super) base_dirs: Vec<PathBuf>,
    pub(super) token_file: Option<PathBuf>,
    pub(super) log: Option<PathBuf>,
}

/// State of a server with a state file.
#[derive(Clone, Debug)]
pub(super) enum Presence {
    Answers(Box<Status>),
    /// Its process exists but does not answer.
    Silent,
    /// Its process has ended.
    Gone,
}

impl ServerState {
    /// URL by which this machine reaches it.
    pub(super) fn address(&self) -> String {
        client::local_address(&self.host, self.port, &self.prefix)
    }

    /// Requests its status. Process id and start time are compared, to detect another server on the port.
    pub(super) fn presence(&self) -> Presence {
        let token = self.token();
        match client::ask(&self.address(), token.as_deref().map(str::trim)) {
            Answer::Status(status) if self.is_this(&status) => Presence::Answers(status),
            Answer::TokenWanted | Answer::Silence if process_lives(self.pid) => Presence::Silent,
            // Another program on the port means that the server no longer listens.
            Answer::Status(_) | Answer::Stranger | Answer::TokenWanted | Answer::Silence => {
                Presence::Gone
            }
        }
    }

    /// Its token, if it has one and this user may read it.
    pub(super) fn token(&self) -> Option<String> {
        fs::read_to_string(self.token_file.as_ref()?).ok()
    }

    fn is_this(&self, status: &Status) -> bool {
        // Both come from the same number; the tolerance covers rounding in JSON.
        status.pid == self.pid && (status.started_secs - self.started_secs).abs() < 0.001
    }
}

/// Token of the environment, for a server that was named by its address.
pub(super) fn token_of_env() -> Option<String> {
    let of_file = std::env::var_os("TRAINSCOPE_TOKEN_FILE");
    let of_file = of_file.and_then(|path| fs::read_to_string(path).ok());
    of_file.or_else(|| std::env::var("TRAINSCOPE_TOKEN").ok())
}

/// True if a process with this id exists and may be a trainscope.
pub(super) fn process_lives(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    else {
        return false;
    };
    if rustix::process::test_kill_process(pid).is_err_and(|error| error == rustix::io::Errno::SRCH)
    {
        return false;
    }
    // With `/proc`, zombies do not count, nor do other programs that got the same id.
    match stat(&pid.as_raw_nonzero().to_string()) {
        Some((name, state)) => {
            let ours = name.starts_with("trainscope")
                || stat("self").is_some_and(|(own_name, _)| own_name == name);
            ours && state != 'Z'
        }
        None => true,
    }
}

/// Name and state of a process, on systems with `/proc`.
fn stat(process: &str) -> Option<(String, char)> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name is in parentheses and may contain some.
    let (_, rest) = text.split_once('(')?;
    let (name, rest) = rest.rsplit_once(')')?;
    Some((name.to_owned(), rest.trim_start().chars().next()?))
}

/// The folder of the state files.
#[derive(Clone, Debug)]
pub(super) struct StateDir(PathBuf);

impl StateDir {
    pub(super) fn of_user() -> Result<Self, SettingsError> {
        Ok(Self(UserDirs::find()?.runtime))
    }

    #[cfg(test)]
    pub(super) fn at(dir: &Path) -> Self {
        Self(dir.to_owned())
    }

    fn file(&self, port: u16) -> PathBuf {
        self.0.join(format!("{port}.json"))
    }

    /// Writes the file of a running server.
    pub(super) fn write(&self, state: &ServerState) -> io::Result<()> {
        let text = serde_json::to_string_pretty(state)?;
        replace_file(&self.file(state.port), text.as_bytes())
    }

    /// Removes the file of `state`, unless another server has taken the port.
    pub(super) fn remove(&self, state: &ServerState) -> io::Result<()> {
        match self.read(state.port) {
            Some(written) if written == *state => remove_file(&self.file(state.port)),
            _ => Ok(()),
        }
    }

    /// The server of a state file by port.
    pub(super) fn read(&self, port: u16) -> Option<ServerState> {
        read_state(&self.file(port))
    }

    /// State files of all servers by port, including ended ones.
    pub(super) fn all(&self) -> Vec<ServerState> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut states: Vec<ServerState> = entries
            .map(|entry| entry.path())
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "json")
            })
            .filter_map(|path| read_state(&path))
            .collect();
        states.sort_by_key(|state| state.port);
        states
    }

    /// All existing servers by port, with their answers. Files of ended servers are removed.
    pub(super) fn servers(&self) -> Vec<(ServerState, Presence)> {
        let mut servers = Vec::new();
        for state in self.all() {
            match state.presence() {
                Presence::Gone => {
                    if let Err(error) = self.remove(&state) {
                        tracing::warn!(%error, port = state.port, "an old state file stays");
                    }
                }
                presence => servers.push((state, presence)),
            }
        }
        servers
    }
}

fn read_state(path: &Path) -> Option<ServerState> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Replaces a file atomically.
pub(super) fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let dir = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    };
    fs::create_dir_all(dir)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let draft = dir.join(name);
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&draft)?;
    file.write_all(content)?;
    drop(file);
    fs::rename(&draft, path)
}

/// Removes a file that may be gone already.
pub(super) fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Presence, ServerState, StateDir, process_lives, replace_file};

    fn state(pid: u32, port: u16) -> ServerState {
        ServerState {
            pid,
            started_secs: 1.7e9,
            host: "127.0.0.1".to_owned(),
            port,
            prefix: String::new(),
            base_dirs: vec!["/runs".into()],
            token_file: None,
            log: None,
        }
    }

    /// A port without a listener: it was free a moment ago and the system hands out others first.
    fn free_port() -> u16 {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    }

    /// The id of an ended process.
    fn dead_pid() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        pid
    }

    #[test]
    fn files_of_dead_servers_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let states = StateDir::at(dir.path());
        let dead = state(dead_pid(), free_port());
        states.write(&dead).unwrap();
        assert_eq!(states.read(dead.port), Some(dead.clone()));
        assert!(matches!(dead.presence(), Presence::Gone));
        assert!(states.servers().is_empty());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_live_process_that_is_silent_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let states = StateDir::at(dir.path());
        // The test program itself: its name begins with that of the package.
        let silent = state(std::process::id(), free_port());
        assert!(process_lives(silent.pid));
        states.write(&silent).unwrap();
        let servers = states.servers();
        assert!(matches!(servers[..], [(_, Presence::Silent)]));
    }

    #[test]
    fn the_file_of_another_server_is_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        let states = StateDir::at(dir.path());
        let (mine, other) = (state(1, 80), state(2, 80));
        states.write(&other).unwrap();
        states.remove(&mine).unwrap();
        assert_eq!(states.read(80), Some(other));
    }

    #[test]
    fn files_appear_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/port");
        replace_file(&path, b"1\n").unwrap();
        replace_file(&path, b"22\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"22\n");
        assert_eq!(std::fs::read_dir(dir.path().join("a")).unwrap().count(), 1);
    }
}
