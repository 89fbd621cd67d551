//! Folders of the checkout that this program was built from.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::cargo;

/// Optional features that are checked too.
pub const FEATURES: &str = "trainscope-collector/candle,trainscope-collector/tracing";

/// The variable with the folder of a page that the server serves instead of the built-in one.
pub const WEB_DIR: &str = "TRAINSCOPE_WEB_DIR";

/// The compiler with the lints of clippy.
const CLIPPY: &str = "clippy-driver";

/// The variable in which `cargo clippy` passes the arguments after its `--`, with `-D warnings`.
const CLIPPY_ARGUMENTS: (&str, &str) = (
    "CLIPPY_ARGS",
    "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
);

/// The folders of the checkout.
pub struct Workspace {
    /// Folder of the root manifest.
    pub root: PathBuf,
    /// Target folder of cargo.
    pub target: PathBuf,
}

impl Workspace {
    /// The workspace that `cargo xtask` was called in.
    pub fn locate() -> Result<Self> {
        // Cargo sets it for `cargo run`; the value at build time serves a direct call of the binary.
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest
            .ancestors()
            .find(|folder| folder.join("rust-toolchain.toml").is_file())
            .with_context(|| format!("{} is in no workspace", manifest.display()))?
            .to_path_buf();
        let target = env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| root.join("target"), |dir| root.join(dir));
        Ok(Self { root, target })
    }

    /// `cargo build` or `cargo test` over all packages, compiled by clippy: the code is that of the compiler, and
    /// warnings are errors. All that tests need is compiled this way: other packages, features or compilers would
    /// compile most of it a second time.
    pub fn cargo(&self, command: &str) -> Command {
        let mut cargo = cargo();
        cargo
            .current_dir(&self.root)
            .env(WEB_DIR, self.quick_page())
            .env("RUSTC_WORKSPACE_WRAPPER", CLIPPY)
            .env(CLIPPY_ARGUMENTS.0, CLIPPY_ARGUMENTS.1)
            .args([command, "--workspace", "--locked", "--features", FEATURES]);
        cargo
    }

    /// Folder of the bundle that is built quickly.
    pub fn quick_page(&self) -> PathBuf {
        self.target.join("web-dev")
    }

    /// Folder of the browser program.
    pub fn web(&self) -> PathBuf {
        self.root.join("web")
    }

    /// A path relative to the workspace, for messages.
    pub fn relative<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::{CLIPPY, CLIPPY_ARGUMENTS};

    /// The variable is an agreement between two programs of clippy, which they could change.
    #[test]
    fn a_warning_of_clippy_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let compile = |source: &str| {
            let path = folder.path().join("lib.rs");
            fs::write(&path, source).unwrap();
            let mut clippy = Command::new(CLIPPY);
            clippy.env(CLIPPY_ARGUMENTS.0, CLIPPY_ARGUMENTS.1);
            clippy.args(["rustc", "--crate-type=lib", "--emit=metadata", "--out-dir"]);
            clippy.arg(folder.path()).arg(&path).output().unwrap()
        };
        let sound = compile("pub fn first(of: &[u8]) -> Option<&u8> { of.first() }");
        assert!(sound.status.success(), "{sound:?}");
        let warned = compile("pub fn first(of: &[u8]) -> Option<&u8> { of.get(0) }");
        assert!(!warned.status.success(), "{warned:?}");
    }
}
