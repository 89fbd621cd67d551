//! Settings of live sessions: by the program, else by environment variables.

use std::env;
use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;

use trainscope_analysis::watchpoint::Watchpoints;
use trainscope_analysis::watchpoint::config::WatchpointsFile;
use trainscope_format::Severity;
use trainscope_format::session::PauseLevel;

use super::link;

/// Maximum size of a file with a token in bytes.
const MAX_TOKEN_BYTES: u64 = 4_096;
/// Maximum size of a file with watchpoints in bytes.
const MAX_WATCHPOINTS_BYTES: u64 = 1 << 20;

/// Address of a server, and the rights that it gets.
#[derive(Clone, Debug, Default)]
pub struct Live {
    address: Option<String>,
    token: Option<String>,
}

impl Live {
    /// Reads `TRAINSCOPE_SERVER` (`http://host:8080`), and the token from the file `TRAINSCOPE_TOKEN_FILE` or from
    /// `TRAINSCOPE_TOKEN`. Without an address the training connects only if it is attached.
    pub fn from_env() -> Self {
        Self {
            address: env::var("TRAINSCOPE_SERVER")
                .ok()
                .filter(|address| !address.is_empty()),
            token: token_of_env(),
        }
    }

    /// Connects to a server, `http://host:8080` with an optional prefix of its paths. The token is that of the
    /// environment.
    pub fn to(address: impl Into<String>) -> Self {
        Self {
            address: Some(address.into()),
            token: token_of_env(),
        }
    }

    /// Checks the address, if it is set; the error describes the mistake.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.address.as_deref().map_or(Ok(()), link::check)
    }

    /// Sets the token of the server.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }
}

fn token_of_env() -> Option<String> {
    let of_file = env::var_os("TRAINSCOPE_TOKEN_FILE").and_then(|path| {
        let text = read_limited(PathBuf::from(path), MAX_TOKEN_BYTES).ok()?;
        Some(text.trim().to_owned())
    });
    of_file
        .or_else(|| env::var("TRAINSCOPE_TOKEN").ok())
        .filter(|token| !token.is_empty())
}

fn read_limited(path: PathBuf, limit_bytes: u64) -> io::Result<String> {
    let mut text = String::new();
    let len_bytes = fs::File::open(path)?
        .take(limit_bytes + 1)
        .read_to_string(&mut text)?;
    if len_bytes as u64 > limit_bytes {
        let error = format!("it is larger than {limit_bytes} bytes");
        return Err(io::Error::other(error));
    }
    Ok(text)
}

/// Reaction to a hit of a watchpoint at or above the severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtHit {
    /// It is only recorded, by the server's judgement.
    #[default]
    Record,
    /// The training waits at the gate if it is connected.
    Pause,
    /// The training ends at the gate, connected or not.
    Stop,
    /// The gate reports it to a program that asks, [`Collector::takes_hit`](crate::Collector::takes_hit), and the
    /// training continues.
    Capsule,
}

/// Minimum severity of hits that pause or stop a training.
pub type PauseSeverity = Severity;

/// Answer of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a training has to end when a gate says so"]
pub enum Flow {
    /// The training goes on.
    Continue,
    /// The training ends: stop before the update.
    Stop,
    /// The check of the caller has interrupted a hold.
    Interrupted,
}

/// All settings of one recording.
#[derive(Clone, Debug)]
pub(crate) struct LiveSettings {
    /// `false` if the environment forbids any connection.
    pub(crate) is_allowed: bool,
    /// `false` if the server may only look.
    pub(crate) may_hold: bool,
    pub(crate) address: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) at_hit: AtHit,
    pub(crate) severity: Severity,
    pub(crate) stops_if_lost: bool,
    pub(crate) hold_most: Duration,
    /// Longest wait at the first gate; `None` to pass it like any other.
    pub(crate) start_wait: Option<Duration>,
    pub(crate) watchpoints: Watchpoints,
    /// File for the report of a stop.
    pub(crate) stop_report: Option<PathBuf>,
    /// Mistakes in the environment, to be noted.
    pub(crate) mistakes: Vec<String>,
}

/// Settings of the program; absent ones are those of the environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgramSettings {
    pub(crate) live: Option<Live>,
    pub(crate) at_hit: Option<AtHit>,
    pub(crate) severity: Option<Severity>,
    pub(crate) stops_if_lost: bool,
    pub(crate) start_wait: Option<Duration>,
    pub(crate) watchpoints: Option<Watchpoints>,
}

impl ProgramSettings {
    /// Joins them with the environment.
    pub(crate) fn resolve(self) -> LiveSettings {
        let mut mistakes = Vec::new();
        let mode = env::var("TRAINSCOPE_LIVE").unwrap_or_default();
        let mut live = self.live.unwrap_or_else(Live::from_env);
        if let Err(mistake) = live.check() {
            live.address = None;
            mistakes.push(mistake);
        }
        let at_hit = self.at_hit.or_else(|| {
            of_env("TRAINSCOPE_AT_HIT", &mut mistakes, |text| match text {
                "record" => Some(AtHit::Record),
                "pause" => Some(AtHit::Pause),
                "stop" => Some(AtHit::Stop),
                "capsule" => Some(AtHit::Capsule),
                _ => None,
            })
        });
        let severity = self.severity.or_else(|| {
            of_env(
                "TRAINSCOPE_AT_HIT_SEVERITY",
                &mut mistakes,
                |text| match text {
                    "info" => Some(Severity::Info),
                    "warning" => Some(Severity::Warning),
                    "error" => Some(Severity::Error),
                    _ => None,
                },
            )
        });
        let secs = |text: &str| text.parse().ok().map(Duration::from_secs);
        let longest = Duration::from_secs(trainscope_format::session::MAX_HOLD_SECS);
        let hold_most = of_env("TRAINSCOPE_HOLD_MOST", &mut mistakes, secs);
        let hold_most = hold_most.unwrap_or(longest).min(longest);
        let start_wait = self
            .start_wait
            .or_else(|| of_env("TRAINSCOPE_WAIT", &mut mistakes, secs));
        let is_allowed = !matches!(&*mode, "0" | "never" | "false");
        let may_hold = mode != "read";
        let watchpoints = self
            .watchpoints
            .or_else(|| watchpoints_of_env(&mut mistakes))
            .unwrap_or_default();
        LiveSettings {
            is_allowed,
            may_hold,
            address: live.address,
            token: live.token,
            at_hit: at_hit.unwrap_or_default(),
            severity: severity.unwrap_or(Severity::Error),
            stops_if_lost: self.stops_if_lost,
            hold_most,
            start_wait: start_wait
                .filter(|wait| is_allowed && may_hold && !wait.is_zero())
                .map(|wait| wait.min(hold_most)),
            watchpoints,
            stop_report: env::var_os("TRAINSCOPE_STOP_REPORT").map(PathBuf::from),
            mistakes,
        }
    }
}

impl LiveSettings {
    /// Minimum severity that pauses, until a server sets another.
    pub(crate) fn level(&self) -> PauseLevel {
        match (self.at_hit, self.severity) {
            (AtHit::Record | AtHit::Capsule, _) => PauseLevel::Never,
            (_, Severity::Info) => PauseLevel::Info,
            (_, Severity::Warning) => PauseLevel::Warning,
            (_, Severity::Error) => PauseLevel::Error,
        }
    }
}

fn of_env<T>(
    name: &str,
    mistakes: &mut Vec<String>,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Option<T> {
    let text = env::var(name).ok().filter(|text| !text.is_empty())?;
    let value = parse(&text);
    if value.is_none() {
        mistakes.push(format!("{name} has an unknown value: {text:?}"));
    }
    value
}

/// Watchpoints of the TOML file that `TRAINSCOPE_WATCHPOINTS` names.
fn watchpoints_of_env(mistakes: &mut Vec<String>) -> Option<Watchpoints> {
    let path = env::var_os("TRAINSCOPE_WATCHPOINTS").filter(|path| !path.is_empty())?;
    let path = PathBuf::from(path);
    let read = |path| -> Result<Watchpoints, String> {
        let text = read_limited(path, MAX_WATCHPOINTS_BYTES).map_err(|error| error.to_string())?;
        let file: WatchpointsFile = toml::from_str(&text).map_err(|error| error.to_string())?;
        Watchpoints::from_file(&file).map_err(|error| error.to_string())
    };
    match read(path.clone()) {
        Ok(watchpoints) => Some(watchpoints),
        Err(error) => {
            let path = path.display();
            mistakes.push(format!(
                "{path}: {error}; the recommended watchpoints are used"
            ));
            None
        }
    }
}
