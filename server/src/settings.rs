//! Settings of the server: flags over environment (`TRAINSCOPE_*`) over defaults, as one [`Settings`].
//!
//! Input comes from the command line alone; everything here is checked against the file system once, at the start.

mod shared_machine;
mod sharing;

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use clap::builder::TypedValueParser as _;
use etcetera::BaseStrategy;
use etcetera::base_strategy::Xdg;
use trainscope_analysis::watchpoint::config::name_of;
use trainscope_format::Severity;

pub use shared_machine::is_shared_machine;
pub use sharing::SharingFlags;

use crate::alarm::AlarmSettings;
use crate::files;
use crate::session::Limits;

/// Environment variable with several folders, separated as in `PATH`.
const BASE_DIRS_VARIABLE: &str = "TRAINSCOPE_SUMMARY_BASE_DIR";

/// The flags of `trainscope start`.
#[derive(Args, Clone, Debug)]
// The help names a variable, not its value, which may be secret.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
#[command(mut_args(|arg| arg.hide_env_values(true)))]
pub struct StartFlags {
    /// Folder with training runs; may be given several times [default: .]
    /// [env: `TRAINSCOPE_SUMMARY_BASE_DIR`, separated as in PATH]
    #[arg(long, value_name = "DIR")]
    pub summary_base_dir: Vec<PathBuf>,

    /// Address to listen on; beyond this machine a token is required
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1",
        env = "TRAINSCOPE_HOST"
    )]
    pub host: String,

    /// Port to listen on; 0 takes any that is free
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 8080,
        env = "TRAINSCOPE_PORT"
    )]
    pub port: u16,

    /// File to write the port to once the page answers; removed at the end
    #[arg(long, value_name = "FILE", env = "TRAINSCOPE_PORT_FILE")]
    pub port_file: Option<PathBuf>,

    /// Folder for the index, which may be deleted at any time [default: ~/.cache/trainscope]
    #[arg(long, value_name = "DIR", env = "TRAINSCOPE_CACHE_DIR")]
    pub cache_dir: Option<PathBuf>,

    /// Bytes of profiles that are kept in that folder as column files, the last used first; 0 keeps none
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 30, env = "TRAINSCOPE_PROFILE_CACHE")]
    pub profile_cache: u64,

    /// File with the token; made if it is not there
    #[arg(long, value_name = "FILE", env = "TRAINSCOPE_TOKEN_FILE")]
    pub token_file: Option<PathBuf>,

    /// Ask for no token on this machine, although other people have accounts on it
    #[arg(long, conflicts_with = "token_file", env = "TRAINSCOPE_NO_TOKEN")]
    pub no_token: bool,

    /// Name under which browsers may ask for the page; may be given several times
    #[arg(
        long,
        value_name = "NAME",
        env = "TRAINSCOPE_ALLOWED_HOST",
        value_delimiter = ','
    )]
    pub allowed_host: Vec<String>,

    /// Path that everything is served below, as behind a proxy
    #[arg(long, value_name = "PATH", env = "TRAINSCOPE_URL_PATH_PREFIX")]
    pub url_path_prefix: Option<String>,

    /// Seconds between two scans of the folders [default: 3, and 60 for object stores]; changes are usually noticed earlier
    #[arg(long, value_name = "SECONDS", env = "TRAINSCOPE_RELOAD_INTERVAL", value_parser = seconds)]
    pub reload_interval: Option<Duration>,

    /// Use file events of the system too; network mounts often send none, and scans suffice
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set, env = "TRAINSCOPE_FILE_EVENTS")]
    pub file_events: bool,

    /// Program to run for each new hit of a growing run, with its arguments; it gets the hit as JSON on its standard
    /// input. No shell is involved: to use one, write `sh -c '…'`
    #[arg(long, value_name = "COMMAND", env = "TRAINSCOPE_ON_HIT")]
    pub on_hit: Option<String>,

    /// URL to post the same JSON to
    #[arg(long, value_name = "URL", env = "TRAINSCOPE_WEBHOOK")]
    pub webhook: Option<String>,

    /// Lowest severity to notify
    #[arg(
        long,
        value_name = "SEVERITY",
        default_value = "warning",
        env = "TRAINSCOPE_ON_HIT_SEVERITY",
        value_parser = clap::builder::PossibleValuesParser::new(["info", "warning", "error"])
            .map(|name| severity(&name))
    )]
    pub on_hit_severity: Severity,

    /// Program to run each time that a training begins to wait; it gets the session as JSON on its standard input. As
    /// `--on-hit`, without a shell
    #[arg(long, value_name = "COMMAND", env = "TRAINSCOPE_ON_WAIT")]
    pub on_wait: Option<String>,

    /// Longest waits of connected trainings in seconds: for a decision at a gate, for a pause, and for a pause whose
    /// connection is lost
    #[arg(long, value_name = "GATE,PAUSE,LOST", default_value = "2,600,10", env = "TRAINSCOPE_SESSION_LIMITS", value_parser = session_limits)]
    pub session_limits: Limits,

    /// Run in the background and return once the page answers
    #[arg(long)]
    pub background: bool,

    /// Serve the page from this folder instead of the one built in
    #[arg(long, value_name = "DIR", env = "TRAINSCOPE_WEB_DIR")]
    pub web_dir: Option<PathBuf>,

    /// Print nothing but the address and errors
    #[arg(long, short)]
    pub quiet: bool,

    /// Ignored; accepted for compatibility with an older command line
    #[arg(long, value_name = "DIR", hide = true)]
    pub workspace: Option<PathBuf>,

    /// Ignored; accepted for compatibility with an older command line
    #[arg(long, value_name = "BOOL", hide = true, num_args = 0..=1, default_missing_value = "true")]
    pub enable_debugger: Option<String>,

    /// Ignored; accepted for compatibility with an older command line
    #[arg(long, value_name = "PORT", hide = true)]
    pub debugger_port: Option<String>,

    /// Login, permissions and metrics
    #[command(flatten)]
    pub sharing: SharingFlags,
}

fn severity(name: &str) -> Severity {
    let named = Severity::ALL.into_iter();
    named
        .into_iter()
        .find(|severity| name_of(*severity) == name)
        .unwrap_or(Severity::Warning)
}

/// Parses seconds as a positive number, at most a day.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let secs: f64 = text.parse().map_err(|_| "wants a number of seconds")?;
    if (0.01..=86_400.0).contains(&secs) {
        Ok(Duration::from_secs_f64(secs))
    } else {
        Err("wants 0.01 to 86400 seconds".to_owned())
    }
}

/// Parses three numbers of seconds.
fn session_limits(text: &str) -> Result<Limits, String> {
    let numbers: Vec<Duration> = text
        .split(',')
        .map(|part| seconds(part.trim()))
        .collect::<Result<_, _>>()?;
    let [gate, hold, grace] = numbers[..] else {
        return Err("wants three numbers of seconds, as in 2,600,10".to_owned());
    };
    Ok(Limits {
        gate,
        hold,
        grace,
        ..Limits::default()
    })
}

/// Checked settings of the server.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub struct Settings {
    /// Folders to watch: canonical, without repeats, in the order given. Never empty.
    pub base_dirs: Vec<PathBuf>,
    /// True if `base_dirs` is the current folder because none was given.
    pub base_dir_assumed: bool,
    /// Address to listen on, as given.
    pub host: String,
    /// Port to listen on; 0 for any.
    pub port: u16,
    /// File to write the port to.
    pub port_file: Option<PathBuf>,
    /// Folder for the index.
    pub cache_dir: PathBuf,
    /// Bytes of column files of profiles in that folder; 0 for none.
    pub profile_cache: u64,
    /// File with the token.
    pub token_file: Option<PathBuf>,
    /// True to ask for no token on this machine.
    pub no_token: bool,
    /// Further host names of the page.
    pub allowed_hosts: Vec<String>,
    /// Empty, or `/` and a path without `/` at its end.
    pub url_path_prefix: String,
    /// Time between two rescans, if it was set.
    pub reload_interval: Option<Duration>,
    /// True to use file events of the system too.
    pub file_events: bool,
    /// Notifications about hits.
    pub alarm: AlarmSettings,
    /// Limits of the waits of connected trainings.
    pub session_limits: Limits,
    /// Program, with its arguments, that runs when a training begins to wait.
    pub on_wait: Option<Vec<String>>,
    /// Login, permissions and metrics.
    pub sharing: SharingFlags,
    /// Folder to serve the page from.
    pub web_dir: Option<PathBuf>,
    /// True to run in the background.
    pub background: bool,
    /// True to print as little as possible.
    pub quiet: bool,
    /// Accepted flags without effect, a sentence each.
    pub notes: Vec<String>,
}

/// Error in the settings, which the user has to correct in a flag.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A folder does not exist.
    #[error("there is no folder {}", .0.display())]
    MissingDir(PathBuf),
    /// It is not a folder.
    #[error("{} is not a folder", .0.display())]
    NotADir(PathBuf),
    /// It exists but cannot be read.
    #[error("the folder {} cannot be read: {source}", path.display())]
    UnreadableDir {
        /// Path of the folder.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// `--web-dir` cannot be used, with the reason.
    #[error("the page cannot be served: {0}")]
    BadWebDir(String),
    /// The address of an object store is invalid.
    #[error("{0}")]
    BadAddress(String, PathBuf),
    /// The index cannot be in an object store.
    #[error("--cache-dir {0} must be a folder of this machine")]
    StoredCache(PathBuf),
    /// `--url-path-prefix` is not a path of plain segments.
    #[error("`{0}` cannot be the first part of an address")]
    BadPrefix(String),
    /// `--on-hit` names no program, or has an unclosed quotation mark.
    #[error("`{0}` is no command")]
    BadCommand(String),
    /// `--webhook` is not an HTTP URL.
    #[error("`{0}` is no address that can be posted to")]
    BadWebhook(String),
    /// The home folder is unknown, and so is the default cache.
    #[error("the home folder of this user is not known")]
    NoHome,
}

impl Settings {
    /// Checks `flags`; `assumed_base_dirs` comes from the environment, or is empty.
    pub fn resolve(flags: StartFlags) -> Result<Self, SettingsError> {
        let mut given = flags.summary_base_dir;
        if given.is_empty()
            && let Some(list) = std::env::var_os(BASE_DIRS_VARIABLE)
        {
            given = split_paths(&list);
        }
        let base_dir_assumed = given.is_empty();
        if base_dir_assumed {
            given.push(PathBuf::from("."));
        }
        let mut base_dirs: Vec<PathBuf> = Vec::with_capacity(given.len());
        for dir in given {
            let dir = canonical_dir(dir)?;
            if !base_dirs.contains(&dir) {
                base_dirs.push(dir);
            }
        }

        let mut notes = Vec::new();
        for (given, name, why) in [
            (
                flags.workspace.is_some(),
                "--workspace",
                "no workspace is needed",
            ),
            (
                flags.enable_debugger.is_some(),
                "--enable-debugger",
                "the debugger is always on",
            ),
            (
                flags.debugger_port.is_some(),
                "--debugger-port",
                "everything uses one port",
            ),
        ] {
            if given {
                notes.push(format!("{name} is accepted and does nothing: {why}"));
            }
        }

        Ok(Self {
            base_dirs,
            base_dir_assumed,
            host: flags.host,
            port: flags.port,
            port_file: flags.port_file,
            profile_cache: flags.profile_cache,
            cache_dir: match flags.cache_dir {
                Some(dir) if files::is_address(&dir) => {
                    return Err(SettingsError::StoredCache(dir));
                }
                Some(dir) => dir,
                None => UserDirs::find()?.cache,
            },
            token_file: flags.token_file,
            no_token: flags.no_token,
            allowed_hosts: flags.allowed_host,
            url_path_prefix: prefix(flags.url_path_prefix.as_deref().unwrap_or(""))?,
            reload_interval: flags.reload_interval,
            file_events: flags.file_events,
            alarm: AlarmSettings {
                command: flags.on_hit.map(command).transpose()?,
                webhook: flags.webhook.map(address).transpose()?,
                severity: flags.on_hit_severity,
            },
            session_limits: flags.session_limits,
            on_wait: flags.on_wait.map(command).transpose()?,
            sharing: flags.sharing,
            web_dir: flags.web_dir.map(page_dir).transpose()?,
            background: flags.background,
            quiet: flags.quiet,
            notes,
        })
    }
}

/// Splits a command line into a program and its arguments, by the quoting rules of a shell, without expansion.
fn command(text: String) -> Result<Vec<String>, SettingsError> {
    let words = shlex::split(&text).filter(|words| words.first().is_some_and(|w| !w.is_empty()));
    words.ok_or(SettingsError::BadCommand(text))
}

fn address(text: String) -> Result<String, SettingsError> {
    let uri = text.parse::<axum::http::Uri>();
    let is_address = uri.is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some()
    });
    if is_address {
        Ok(text)
    } else {
        Err(SettingsError::BadWebhook(text))
    }
}

fn split_paths(list: &OsString) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()) {
        // The colon of an address is none between paths.
        match paths.last_mut() {
            Some(scheme) if path.starts_with("//") && is_scheme(scheme) => {
                let mut address = std::mem::take(scheme).into_os_string();
                address.push(":");
                address.push(path);
                *scheme = address.into();
            }
            _ => paths.push(path),
        }
    }
    paths
}

/// True for the first part of an address, such as `s3`.
fn is_scheme(path: &Path) -> bool {
    let text = path.to_str().unwrap_or_default();
    text.len() >= 2 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn page_dir(dir: PathBuf) -> Result<PathBuf, SettingsError> {
    canonical_dir(dir).map_err(|error| SettingsError::BadWebDir(error.to_string()))
}

fn canonical_dir(dir: PathBuf) -> Result<PathBuf, SettingsError> {
    if files::is_address(&dir) {
        // A store that does not answer is a problem of the list, which is tried again.
        return files::canonical(&dir)
            .map_err(|error| SettingsError::BadAddress(error.to_string(), dir));
    }
    let canonical = match dir.canonicalize() {
        Ok(path) => path,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(SettingsError::MissingDir(dir));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(SettingsError::NotADir(dir));
        }
        Err(source) => return Err(SettingsError::UnreadableDir { path: dir, source }),
    };
    if !canonical.is_dir() {
        return Err(SettingsError::NotADir(dir));
    }
    match canonical.read_dir() {
        Ok(_) => Ok(canonical),
        Err(source) => Err(SettingsError::UnreadableDir { path: dir, source }),
    }
}

/// Normalises a path prefix to the form `/a/b`, or empty for none. Only characters that need no escaping are allowed,
/// for use in URLs, in routes and in the page.
fn prefix(text: &str) -> Result<String, SettingsError> {
    let mut prefix = String::new();
    for segment in text.split('/').filter(|segment| !segment.is_empty()) {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
        if !segment.chars().all(plain) || matches!(segment, "." | "..") {
            return Err(SettingsError::BadPrefix(text.to_owned()));
        }
        prefix.push('/');
        prefix.push_str(segment);
    }
    Ok(prefix)
}

/// Folders of this user for the program's files. They need not exist.
#[derive(Clone, Debug)]
pub struct UserDirs {
    /// Home, for abbreviating paths.
    pub home: PathBuf,
    /// Folder of derived data: the index.
    pub cache: PathBuf,
    /// Folder of persistent data: logs, the token.
    pub state: PathBuf,
    /// Folder of files about running servers.
    pub runtime: PathBuf,
}

impl UserDirs {
    /// Follows the XDG base directory specification on every system, so that the paths in messages are the same.
    pub fn find() -> Result<Self, SettingsError> {
        let xdg = Xdg::new().map_err(|_| SettingsError::NoHome)?;
        let below = |dir: PathBuf| dir.join("trainscope");
        let state = below(
            xdg.state_dir()
                .unwrap_or_else(|| xdg.home_dir().join(".local/state")),
        );
        Ok(Self {
            home: xdg.home_dir().to_path_buf(),
            cache: below(xdg.cache_dir()),
            // The runtime folder vanishes with the last login, where it exists at all; only state files go there.
            runtime: xdg
                .runtime_dir()
                .filter(|dir| dir.is_dir())
                .map_or_else(|| state.join("run"), below),
            state,
        })
    }
}

/// True if other machines can reach a server that listens on `host`. A name that is not an address counts as reachable
/// unless it is `localhost`.
pub fn is_beyond_loopback(host: &str) -> bool {
    match host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<IpAddr>()
    {
        Ok(address) => !address.is_loopback(),
        Err(_) => !host.eq_ignore_ascii_case("localhost"),
    }
}

/// A path with the home folder as `~`.
pub fn short_path(path: &Path, home: Option<&Path>) -> String {
    if let Some(home) = home.filter(|home| home.parent().is_some())
        && let Ok(rest) = path.strip_prefix(home)
    {
        if rest.as_os_str().is_empty() {
            return "~".to_owned();
        }
        return format!("~/{}", rest.display());
    }
    path.display().to_string()
}

#[cfg(test)]
mod tests;
