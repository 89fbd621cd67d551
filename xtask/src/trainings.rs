//! `samples`, second half: real trainings below `sample-runs/mlp`, written by an example of the collector,
//! reproducible to the byte.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use xtask::console;
use xtask::process::{cargo, run};
use xtask::workspace::Workspace;

/// Folders with the flags that generate their content.
const TRAININGS: [(&str, &str); 8] = [
    ("healthy", "none"),
    ("overflow", "overflow"),
    ("vanishing", "vanishing"),
    ("frozen", "frozen"),
    ("dead-relu", "dead-relu"),
    ("diverging", "diverging"),
    ("restarted", "restarted"),
    ("torn", "torn"),
];

/// Runs all trainings. `RUN.toml` is preserved, everything else is written again.
pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    for (name, fault) in TRAININGS {
        let folder = workspace.root.join("sample-runs/mlp").join(name);
        empty(&folder).with_context(|| format!("{} cannot be emptied", folder.display()))?;
        run(cargo()
            .current_dir(&workspace.root)
            .args(["run", "--release", "--quiet"])
            .args(["--package", "trainscope-collector", "--example", "mlp"])
            .args(["--", "--same-bytes", "--fault", fault, "--out"])
            .arg(Path::new("sample-runs/mlp").join(name)))?;
        console::line(&format!("    {}", workspace.relative(&folder)));
    }
    Ok(())
}

fn empty(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else if entry.file_name() != "RUN.toml" {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
