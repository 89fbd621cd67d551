//! `pictures`: screenshots for README and the book. The browser tests take them in passing; those in documents are
//! copied to `web/pictures`.

use std::fs;

use anyhow::{Context, Result};
use xtask::bundle::Bundle;
use xtask::console;
use xtask::process::run;
use xtask::workspace::Workspace;

/// Takes all pictures that are in `web/pictures` again.
pub(crate) fn take(workspace: &Workspace) -> Result<()> {
    Bundle::Quick.build(workspace)?;
    let taken = workspace.target.join("pictures");
    fs::create_dir_all(&taken)?;
    run(workspace
        .cargo("test")
        .env("TRAINSCOPE_PICTURES", &taken)
        .args(["--test", "workspace", "--", "pages::"]))?;
    for entry in fs::read_dir(workspace.root.join("web/pictures"))? {
        let shown = entry?.path();
        let name = shown.file_name().unwrap_or_default();
        let path = taken.join(name);
        fs::copy(&path, &shown)
            .with_context(|| format!("no test takes the picture {}", name.display()))?;
        console::line(&format!("    {}", workspace.relative(&shown)));
    }
    Ok(())
}
