//! One watchpoints file, kept up to date: read when it has changed, written when a page changes it.

use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use rustc_hash::FxHasher;
use trainscope_analysis::watchpoint::config::WatchpointsFile;
use trainscope_analysis::watchpoint::{WatchpointConfig, Watchpoints};
use trainscope_api::watchpoints::{MAX_WATCHPOINTS, Origin, WatchpointKeys, WatchpointList};
use trainscope_format::tensor::ContentHasher;

use super::edit::edit;
use super::{RECOMMENDED, Sets, parse};
use crate::files;
use crate::watched_file::WatchedFile;

/// The file of one base directory.
pub(crate) struct WatchpointFile {
    file: WatchedFile,
    text: String,
    /// True if the file does not exist.
    is_missing: bool,
    sets: Sets,
    /// Fingerprint of the list of runs without one of their own: it is asked for each of 100,000 runs.
    common_version: u64,
    problem: Option<String>,
}

/// Reason why a change is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChangeError {
    /// Another client has changed the file.
    #[error("the watchpoints were changed meanwhile")]
    Conflict,
    /// The change is invalid.
    #[error("{0}")]
    Mistake(String),
    /// The file cannot be written.
    #[error("{path} cannot be written: {reason}")]
    Unwritable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system, or in the existing file.
        reason: String,
    },
}

impl WatchpointFile {
    /// The file of a base directory, which need not exist.
    pub(crate) fn new(base_dir: &Path) -> Self {
        Self {
            file: WatchedFile::new(base_dir.join(".trainscope").join("watchpoints.toml")),
            text: String::new(),
            is_missing: true,
            sets: Sets::default(),
            common_version: fingerprint(&RECOMMENDED),
            problem: None,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Error in the current file; then its previous content applies.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// The watchpoints of a run by its name below the base directory, and their scope.
    pub(crate) fn of(&self, run: &str) -> (&Watchpoints, Origin) {
        self.sets.of(run)
    }

    /// Fingerprint of the watchpoints of a run.
    pub(crate) fn version_of(&self, run: &str) -> u64 {
        let own = self.sets.runs.get(run);
        own.map_or(self.common_version, fingerprint)
    }

    /// Reads the file again if it has changed. An invalid one leaves the previous watchpoints in force.
    pub(crate) fn look(&mut self) {
        match self.file.read_change() {
            None => {}
            Some(Ok(text)) => {
                self.is_missing = text.is_none();
                self.take(text.unwrap_or_default());
            }
            Some(Err(error)) => {
                self.is_missing = false;
                self.problem = Some(error.to_string());
            }
        }
    }

    fn take(&mut self, text: String) {
        let sets = if self.is_missing {
            Ok(Sets::default())
        } else {
            parse(&text).map_err(|wrong| wrong.in_line(&text))
        };
        self.text = text;
        match sets {
            Ok(sets) => {
                self.common_version = fingerprint(sets.base.as_ref().unwrap_or(&RECOMMENDED));
                self.sets = sets;
                self.problem = None;
            }
            Err(reason) => self.problem = Some(reason),
        }
    }

    fn version(&self) -> String {
        if self.is_missing {
            return "none".to_owned();
        }
        format!("{:016x}", ContentHasher::hash(self.text.as_bytes()))
    }

    /// The watchpoints of a run in the types of the API.
    pub(crate) fn list(&self, run: &str) -> WatchpointList {
        let (watchpoints, origin) = self.of(run);
        let file = watchpoints.to_file();
        let is_whole =
            origin == Origin::Base && self.sets.runs.is_empty() && self.problem.is_none();
        let toml = if is_whole {
            Ok(self.text.clone())
        } else {
            edit("", None, Some(&file.watchpoint))
        };
        WatchpointList {
            origin,
            file: self.path().display().to_string(),
            version: self.version(),
            watchpoints: file.watchpoint.iter().map(keys_of).collect(),
            toml: toml.unwrap_or_default(),
            problem: self.problem.clone(),
        }
    }

    /// Changes watchpoints in the file.
    pub(crate) fn change(
        &mut self,
        run: Option<&str>,
        version: &str,
        list: Option<&[WatchpointKeys]>,
    ) -> Result<(), ChangeError> {
        self.look();
        let unwritable = |path: &Path, reason: String| ChangeError::Unwritable {
            path: path.to_owned(),
            reason,
        };
        if self.version() != version {
            return Err(ChangeError::Conflict);
        }
        if let Some(problem) = &self.problem {
            let reason = format!("the file is invalid and was left unchanged: {problem}");
            return Err(unwritable(self.path(), reason));
        }
        let list = list.map(configs).transpose()?;
        let text = edit(&self.text, run, list.as_deref())
            .map_err(|reason| unwritable(self.path(), reason))?;
        // Text that cannot be parsed again must not be written.
        parse(&text).map_err(|wrong| ChangeError::Mistake(wrong.in_line(&text)))?;
        let is_empty = text
            .lines()
            .all(|line| line.trim().is_empty() || line.starts_with('#'));
        let written = if is_empty {
            self.file.remove()
        } else {
            self.file.write(&text)
        };
        written.map_err(|error| {
            if files::is_conflict(&error) {
                ChangeError::Conflict
            } else {
                unwritable(self.path(), error.to_string())
            }
        })?;
        self.is_missing = is_empty;
        self.take(if is_empty { String::new() } else { text });
        Ok(())
    }
}

/// Converts a list, if each entry is valid.
fn configs(list: &[WatchpointKeys]) -> Result<Vec<WatchpointConfig>, ChangeError> {
    let mistake = |what: String| ChangeError::Mistake(what);
    if list.len() > MAX_WATCHPOINTS {
        return Err(mistake(format!(
            "{MAX_WATCHPOINTS} watchpoints are the most"
        )));
    }
    let configs = serde_json::to_value(list).and_then(serde_json::from_value);
    let configs: Vec<WatchpointConfig> = configs.map_err(|e| mistake(e.to_string()))?;
    let file = WatchpointsFile {
        watchpoint: configs,
    };
    Watchpoints::from_file(&file).map_err(|error| {
        let key = error.key.as_ref().map(|key| format!(" ({key})"));
        mistake(format!("{error}{}", key.unwrap_or_default()))
    })?;
    Ok(file.watchpoint)
}

/// A watchpoint in the types of the API.
pub(super) fn keys_of(config: &WatchpointConfig) -> WatchpointKeys {
    let keys = serde_json::to_value(config).and_then(serde_json::from_value);
    keys.unwrap_or_default()
}

/// Fingerprint of a list.
fn fingerprint(watchpoints: &Watchpoints) -> u64 {
    let mut hasher = FxHasher::default();
    format!("{:?}", watchpoints.to_file()).hash(&mut hasher);
    hasher.finish()
}
