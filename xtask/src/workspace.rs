//! Folders of the checkout that this program was built from.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// The folders of the checkout.
pub(crate) struct Workspace {
    /// Folder of the root manifest.
    pub(crate) root: PathBuf,
    /// Target folder of cargo.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// The workspace that `cargo xtask` was called in.
    pub(crate) fn locate() -> Result<Self> {
        // Cargo sets it for `cargo run`; the value at build time serves a direct call of the binary.
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest
            .parent()
            .context("xtask has no parent folder")?
            .to_path_buf();
        ensure!(
            root.join("Cargo.toml").is_file(),
            "{} is not the workspace",
            root.display()
        );
        let target = env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| root.join("target"), |dir| root.join(dir));
        Ok(Self { root, target })
    }

    /// Folder of the browser program.
    pub(crate) fn web(&self) -> PathBuf {
        self.root.join("web")
    }

    /// Folder of the bundle.
    pub(crate) fn dist(&self) -> PathBuf {
        self.root.join("web/dist")
    }

    /// A path relative to the workspace, for messages.
    pub(crate) fn relative<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }
}
