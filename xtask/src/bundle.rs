//! The browser bundle: the program compiled and split into the parts of its pages, the page that starts it, its icons
//! and one style sheet.
//!
//! Cargo knows best whether the program changed, so it is always asked; everything after it is skipped when its
//! output and the other sources are those of the last time. Files are only written when their bytes differ, so that
//! the server that embeds them is not rebuilt for nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use crate::console;
use crate::process::{cargo, run};
use crate::toolchain::{self, WasmCompiler};
use crate::workspace::Workspace;
use anyhow::{Context, Result, ensure};

/// The package that splits the program, and its program.
pub const BUNDLER: &str = "xtask-bundler";

/// Style sheets that come before all others, which follow by name.
const FIRST_STYLES: [&str; 2] = ["tokens.css", "components.css"];
/// Extensions of the files of the page, apart from the program.
const PAGE_EXTENSIONS: [&str; 6] = ["html", "js", "svg", "png", "ico", "webmanifest"];

/// With a standard library that is compiled too: panics abort without a message; a bundle smaller by another 7 %.
const SMALL_FLAGS_WITH_STD: [&str; 3] = [
    "-Zunstable-options",
    "-Cpanic=immediate-abort",
    "-Zlocation-detail=none",
];

/// With a standard library that is compiled too: small functions of it are inlined into their callers before code is
/// generated, which halves the bundle and saves a tenth of the time.
const QUICK_FLAGS_WITH_STD: [&str; 2] = ["-Zmir-opt-level=2", "-Zinline-mir=yes"];

/// The two bundles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bundle {
    /// Compiled in a fraction of the time, several times as large: in `target/web-dev`, to be served by `--web-dir`.
    Quick,
    /// Small, in `web/dist`, which a build of the server embeds.
    Small,
}

impl Bundle {
    /// The cargo profile, which also names the cache between builds.
    pub(crate) const fn profile(self) -> &'static str {
        match self {
            Self::Quick => "wasm-dev",
            Self::Small => "wasm",
        }
    }

    /// Folder of the files that browsers load.
    pub fn folder(self, workspace: &Workspace) -> PathBuf {
        match self {
            Self::Quick => workspace.quick_page(),
            Self::Small => workspace.root.join("web/dist"),
        }
    }

    /// `true` if functions keep their names, which profilers show.
    const fn is_named(self) -> bool {
        matches!(self, Self::Quick)
    }

    /// Updates the bundle.
    pub fn build(self, workspace: &Workspace) -> Result<()> {
        self.compile(workspace)?;
        console::step("build the bundler");
        run(cargo().current_dir(&workspace.root).args([
            "build",
            "--locked",
            "--package",
            BUNDLER,
        ]))?;
        self.assemble(workspace, "debug")
    }

    /// Compiles the browser program.
    pub fn compile(self, workspace: &Workspace) -> Result<()> {
        let compiler = WasmCompiler::find()?;
        console::step("compile the page");
        let flags_with_std: &[&str] = match self {
            Self::Quick => &QUICK_FLAGS_WITH_STD,
            Self::Small => &SMALL_FLAGS_WITH_STD,
        };
        run(&mut compiler.build_command(workspace, self.profile(), flags_with_std))
    }

    /// Puts the bundle together from the compiled program, unless nothing has changed since the last time. `bundler` is
    /// the folder of [`BUNDLER`] in the target folder.
    pub fn assemble(self, workspace: &Workspace, bundler: &str) -> Result<()> {
        let folder = self.folder(workspace);
        let shown = workspace.relative(&folder);
        let program = toolchain::output_path(workspace, self.profile());
        let sources = page_sources(&workspace.web())?;
        let stamp = stamp(workspace, &program, &sources)?;
        let kept = workspace.target.join("wasm").join(self.profile());
        fs::create_dir_all(&kept)?;
        let stamp_file = kept.join("bundle.stamp");
        if folder.join("trainscope_web_bg.wasm").exists()
            && fs::read_to_string(&stamp_file).is_ok_and(|last| last == stamp)
        {
            console::line(&format!("    {shown} is up to date"));
            return Ok(());
        }

        console::step(&format!("assemble {shown}"));
        let mut files = BTreeMap::new();
        let parts = kept.join("parts");
        let mut split = Command::new(workspace.target.join(bundler).join(BUNDLER));
        split.arg(&program).arg(&parts);
        if self.is_named() {
            split.arg("--named");
        }
        run(&mut split)?;
        collect(&parts, &parts, &mut files)?;
        for (name, path) in sources.page {
            files.insert(
                name,
                fs::read(&path).with_context(|| path.display().to_string())?,
            );
        }
        files.insert("style.css".into(), join_styles(&sources.styles)?);
        let len_bytes: usize = files.values().map(Vec::len).sum();
        synchronise(&folder, &files)?;
        fs::write(&stamp_file, stamp)?;
        console::line(&format!(
            "    {} files, {} kB",
            files.len(),
            len_bytes / 1000
        ));
        Ok(())
    }
}

/// Sources of the page, apart from the program.
struct PageSources {
    /// Path in the bundle, and source.
    page: Vec<(PathBuf, PathBuf)>,
    /// In the order in which they apply.
    styles: Vec<PathBuf>,
}

fn page_sources(web: &Path) -> Result<PageSources> {
    let mut page = Vec::new();
    for folder in ["", "icons"] {
        for path in sorted_files(&web.join(folder))? {
            let is_page = path
                .extension()
                .is_some_and(|extension| PAGE_EXTENSIONS.iter().any(|known| extension == *known));
            if let (true, Some(name)) = (is_page, path.file_name()) {
                page.push((Path::new(folder).join(name), path));
            }
        }
    }
    for wanted in ["index.html", "boot.js", "parts.js"] {
        ensure!(
            page.iter().any(|(name, _)| name == Path::new(wanted)),
            "web/{wanted} is missing"
        );
    }
    let mut styles: Vec<PathBuf> = sorted_files(&web.join("style"))?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "css"))
        .collect();
    styles.sort_by_key(|path| {
        FIRST_STYLES
            .iter()
            .position(|first| path.file_name().is_some_and(|name| name == *first))
            .unwrap_or(FIRST_STYLES.len())
    });
    Ok(PageSources { page, styles })
}

/// The files directly in `folder`, by name; none if there is no such folder.
fn sorted_files(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Fingerprint of everything that the bundle is built from, as text.
fn stamp(workspace: &Workspace, program: &Path, sources: &PageSources) -> Result<String> {
    let paths = std::iter::once(program)
        .chain(sources.page.iter().map(|(_, path)| path.as_path()))
        .chain(sources.styles.iter().map(PathBuf::as_path));
    let mut stamp = String::new();
    for path in paths {
        let metadata = fs::metadata(path).with_context(|| path.display().to_string())?;
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH)?.as_nanos();
        writeln!(
            stamp,
            "{} {} {modified}",
            workspace.relative(path),
            metadata.len()
        )?;
    }
    Ok(stamp)
}

/// Reads all files below `folder`, keyed by their path relative to `root`.
fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else {
            files.insert(path.strip_prefix(root)?.to_path_buf(), fs::read(&path)?);
        }
    }
    Ok(())
}

/// Concatenates the style sheets as they are: comments and indentation cost 2 kB after compression.
fn join_styles(styles: &[PathBuf]) -> Result<Vec<u8>> {
    let mut joined = Vec::new();
    for path in styles {
        joined.extend(fs::read(path).with_context(|| path.display().to_string())?);
        joined.push(b'\n');
    }
    Ok(joined)
}

/// Replaces the content of `folder` with `files`.
fn synchronise(folder: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
    let mut present = BTreeMap::new();
    if folder.is_dir() {
        collect(folder, folder, &mut present)?;
    }
    for name in present.keys().filter(|name| !files.contains_key(*name)) {
        fs::remove_file(folder.join(name))?;
    }
    for (name, bytes) in files {
        if present.get(name) != Some(bytes) {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, bytes).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}
