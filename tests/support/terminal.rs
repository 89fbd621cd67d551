//! The built program as a command: its output and exit status.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use super::lab::fixture;
use super::program::program;

/// Output of a command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl CommandOutput {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("not JSON: {error}: {self:?}"))
    }

    pub(crate) fn last_line(&self) -> &str {
        self.out.lines().last().unwrap_or_default()
    }
}

/// Runs the program with these arguments in this folder.
pub(crate) fn trainscope_in(folder: &Path, args: &[&str]) -> CommandOutput {
    trainscope_with(folder, args, &[])
}

/// Runs the program with further variables of the environment.
pub(crate) fn trainscope_with(
    folder: &Path,
    args: &[&str],
    environment: &[(&str, String)],
) -> CommandOutput {
    let output = program()
        .args(args)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(folder)
        .env("HOME", folder)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    CommandOutput {
        status: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A folder with a dump of another program, unpacked from `tests/fixtures/dumps`.
pub(crate) struct Dump {
    _folder: TempDir,
    /// The run.
    pub(crate) path: PathBuf,
}

impl Dump {
    pub(crate) fn unpack(name: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let packed = fixture("dumps").join(format!("{name}.tar.gz"));
        let status = Command::new("tar")
            .arg("-xzf")
            .arg(packed)
            .arg("-C")
            .arg(folder.path())
            .status()
            .unwrap();
        assert!(status.success(), "tar unpacks {name}");
        let path = fs::read_dir(folder.path())
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        Self {
            _folder: folder,
            path,
        }
    }

    /// Runs `check` with these flags.
    pub(crate) fn check(&self, flags: &[&str]) -> CommandOutput {
        trainscope_in(&self.path, &[&["check", "."], flags].concat())
    }

    /// Writes a file of watchpoints next to it.
    pub(crate) fn rules(&self, toml: &str) -> String {
        let path = self.path.join("rules.toml");
        fs::write(&path, toml).unwrap();
        path.display().to_string()
    }

    pub(crate) fn read_json(&self, file: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path.join(file)).unwrap()).unwrap()
    }
}
