//! User errors in three lines: the error, its place, and the remedy.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::style::ERROR;
use super::words;
use crate::http::AssetsError;
use crate::http::access::TokenError;
use crate::ingest::StartError;
use crate::settings::SettingsError;

/// An error that the user can correct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) status: u8,
    what: String,
    places: Vec<String>,
    tries: Vec<String>,
}

impl Mistake {
    /// Creates an error from a sentence without a capital and without a full stop.
    pub(super) fn new(status: u8, what: impl Into<String>) -> Self {
        Self {
            status,
            what: what.into(),
            places: Vec::new(),
            tries: Vec::new(),
        }
    }

    /// Sets another exit status.
    pub(super) fn with_status(self, status: u8) -> Self {
        Self { status, ..self }
    }

    /// Adds the line with the place.
    pub(super) fn at(mut self, place: impl Into<String>) -> Self {
        self.places.push(place.into());
        self
    }

    /// Adds the line with the remedy.
    pub(super) fn attempt(mut self, attempt: impl Into<String>) -> Self {
        self.tries.push(attempt.into());
        self
    }

    /// Error for a missing folder, with a suggestion of a similar name; the command precedes its path.
    pub(super) fn missing_dir(dir: &Path, command: &str) -> Self {
        let (there, likely) = Nearest::of(dir).map_or_else(
            || (format!("{} is not there", dir.display()), None),
            |nearest| (nearest.to_string(), nearest.likely),
        );
        Self::new(2, format!("there is no folder {}", dir.display()))
            .at(there)
            .attempt(match likely {
                Some(likely) => format!("{command} {}", likely.display()),
                None => format!("{command} DIR, where the training writes to"),
            })
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{ERROR}error:{ERROR:#} {}", self.what)?;
        for (head, lines) in [("where", &self.places), ("try", &self.tries)] {
            for (number, line) in lines.iter().enumerate() {
                let head = if number == 0 { head } else { "" };
                writeln!(out, "  {head:<5}  {line}")?;
            }
        }
        Ok(())
    }
}

impl From<SettingsError> for Mistake {
    fn from(error: SettingsError) -> Self {
        let mistake = Self::new(2, error.to_string());
        match &error {
            SettingsError::MissingDir(dir) => {
                Self::missing_dir(dir, "trainscope start --summary-base-dir")
            }
            SettingsError::NotADir(path) => {
                let parent = path
                    .ancestors()
                    .skip(1)
                    .find(|parent| parent.is_dir())
                    .filter(|parent| !parent.as_os_str().is_empty())
                    .map_or_else(|| ".".to_owned(), |parent| parent.display().to_string());
                mistake.at(path.display().to_string()).attempt(format!(
                    "the folder it is in: trainscope start --summary-base-dir {parent}"
                ))
            }
            SettingsError::UnreadableDir { path, .. } => mistake
                .at(path.display().to_string())
                .attempt("ask its owner for read access (chmod -R g+rX), or name another folder"),
            SettingsError::BadAddress(_, address) => mistake.at(address.display().to_string()),
            SettingsError::StoredCache(_) => mistake,
            SettingsError::BadWebDir(_) => mistake
                .at("--web-dir, or the environment variable TRAINSCOPE_WEB_DIR")
                .attempt("leave it out: the program has the page built in"),
            SettingsError::BadPrefix(_) => mistake
                .at("--url-path-prefix")
                .attempt("--url-path-prefix name, or a/b: letters, digits, `-`, `_`, `.`, `~`"),
            SettingsError::BadCommand(_) => mistake
                .at("--on-hit")
                .attempt("--on-hit 'program argument \"another one\"'"),
            SettingsError::BadWebhook(_) => mistake
                .at("--webhook")
                .attempt("--webhook https://host/path, or http://"),
            SettingsError::NoHome => mistake
                .at("the environment variable HOME")
                .attempt("set HOME, or give --cache-dir DIR"),
        }
    }
}

/// The longest existing part of a missing path.
struct Nearest {
    /// The last existing folder of the path.
    parent: PathBuf,
    /// Number of folders in it.
    folders: usize,
    /// The first missing part of the path.
    missing: OsString,
    /// The path with a similar name in place of the missing part, if it exists.
    likely: Option<PathBuf>,
}

impl Nearest {
    fn of(path: &Path) -> Option<Self> {
        let parent = path
            .ancestors()
            .skip(1)
            .find(|parent| parent.is_dir() || parent.as_os_str().is_empty())?;
        let rest = path.strip_prefix(parent).ok()?;
        let mut parts = rest.components();
        let missing = parts.next()?.as_os_str().to_owned();
        let parent = if parent.as_os_str().is_empty() {
            Path::new(".")
        } else {
            parent
        };
        let names: Vec<OsString> = parent
            .read_dir()
            .ok()?
            .flatten()
            .filter(|entry| entry.path().is_dir())
            .map(|entry| entry.file_name())
            .collect();
        let wanted = missing.to_string_lossy();
        let likely = names
            .iter()
            .map(|name| {
                (
                    strsim::damerau_levenshtein(&name.to_string_lossy(), &wanted),
                    name,
                )
            })
            .filter(|(distance, _)| *distance <= (wanted.chars().count() / 3).max(2))
            .min()
            .map(|(_, name)| parent.join(name).join(parts.as_path()))
            .filter(|path| path.is_dir());
        Some(Self {
            parent: parent.to_owned(),
            folders: names.len(),
            missing,
            likely,
        })
    }
}

impl std::fmt::Display for Nearest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} exists and has {}; {} is not one of them",
            self.parent.display(),
            words::plural(self.folders as u64, "folder", "folders"),
            self.missing.display()
        )
    }
}

impl From<TokenError> for Mistake {
    fn from(error: TokenError) -> Self {
        let mistake = Self::new(2, error.to_string());
        match &error {
            TokenError::File { path, .. } | TokenError::Form(path) => {
                mistake.at(words::path(path)).attempt(
                    "--token-file FILE with a file that is not there: the token is made in it",
                )
            }
            TokenError::Random(_) => mistake.attempt("--token-file FILE with a token of your own"),
        }
    }
}

impl From<AssetsError> for Mistake {
    fn from(error: AssetsError) -> Self {
        Self::new(2, error.to_string())
            .at("--web-dir")
            .attempt("cargo xtask web, then --web-dir web/dist")
    }
}

impl From<StartError> for Mistake {
    fn from(error: StartError) -> Self {
        Self::new(2, error.to_string())
            .at("--cache-dir, TRAINSCOPE_CACHE_DIR or ~/.cache")
            .attempt("--cache-dir DIR with a folder that can be written to")
    }
}

#[cfg(test)]
mod tests;
