//! The files of a release, made from a clean checkout into `target/dist`; `cargo xtask dist` calls it.

mod archive;
mod glibc;
mod licences;
mod sizes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::{Metadata, MetadataCommand};
use xtask::bundle::Bundle;
use xtask::process::{cargo, output_of, run};
use xtask::workspace::Workspace;
use xtask::{console, python};

use self::archive::Archive;

/// The oldest C library that Linux programs of a release run on: that of RHEL 8 and its relatives, which many clusters
/// have.
const OLDEST_GLIBC: glibc::Version = (2, 28);
/// Maximum size of a wheel in bytes.
const MAX_WHEEL_BYTES: u64 = 16_000_000;
/// Programs from the Python package index: a C compiler with the C libraries of all systems, and the tool that passes
/// it to cargo.
const CROSS_TOOLS: [&str; 4] = [
    "maturin>=1.16,<2",
    "cargo-zigbuild>=0.20,<1",
    "ziglang>=0.13,<0.16",
    // Packs the wheel again, smaller.
    "zopflipy>=1.11,<2",
];
/// Writes the bill of materials; from the registry of crates.
const CYCLONEDX: &str = "cargo-cyclonedx@^0.5";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let made = Workspace::locate().and_then(|workspace| match arguments.as_slice() {
        [] => make(&workspace, None),
        [flag, tag] if flag == "--tag" => make(&workspace, Some(tag)),
        [flag] if flag == "--sizes" => {
            Bundle::Small.build(&workspace)?;
            sizes::write(&workspace.root, &Bundle::Small.folder(&workspace))
        }
        other => bail!("`dist` takes --tag TAG, --sizes or nothing, not {other:?}"),
    });
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console::error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Makes all files. A tag has to be `v` and the version, and the changelog has to have a section about it.
fn make(workspace: &Workspace, tag: Option<&str>) -> Result<()> {
    let metadata = MetadataCommand::new()
        .manifest_path(workspace.root.join("Cargo.toml"))
        .other_options(["--locked".to_owned()])
        .exec()?;
    let version = version(&metadata)?;
    if let Some(tag) = tag {
        let changelog = fs::read_to_string(workspace.root.join("CHANGELOG.md"))?;
        check_tag(tag, &version, &changelog)?;
    }
    let host = host()?;
    let dist = workspace.target.join("dist");
    if dist.exists() {
        fs::remove_dir_all(&dist)?;
    }
    fs::create_dir_all(&dist)?;
    Bundle::Small.build(workspace)?;
    sizes::check(&workspace.root, &Bundle::Small.folder(workspace))?;

    let tools = workspace.target.join("dist-tools");
    python::ensure(&tools, &CROSS_TOOLS.join("\n"), &CROSS_TOOLS)?;
    let program = build_program(workspace, &tools, &host)?;
    let wheel = build_wheel(workspace, &tools, &program, &dist)?;
    if host.contains("linux") {
        console::step("symbols of the C library");
        glibc::check(&program, OLDEST_GLIBC)?;
        glibc::check_wheel(
            &tools,
            &wheel,
            &workspace.target.join("dist-wheel"),
            OLDEST_GLIBC,
        )?;
    }
    let len_bytes = fs::metadata(&wheel)?.len();
    ensure!(
        len_bytes <= MAX_WHEEL_BYTES,
        "{} has {len_bytes} bytes, and {MAX_WHEEL_BYTES} are allowed",
        wheel.display()
    );

    console::step("archives");
    let licences = licences::of_program(&metadata)?;
    let name = format!("trainscope-{version}-{host}");
    let mut archive = Archive::create(&dist.join(format!("{name}.tar.gz")), &name)?;
    archive.program("trainscope", &fs::read(&program)?)?;
    archive.file("LICENSE", &fs::read(workspace.root.join("LICENSE"))?)?;
    archive.file("README.md", &fs::read(workspace.root.join("README.md"))?)?;
    archive.file("THIRD-PARTY-LICENCES.txt", licences.as_bytes())?;
    archive.finish()?;
    source_archive(workspace, &dist, &version)?;
    bill_of_materials(workspace, &dist, &version)?;
    archive::write_checksums(&dist)?;

    console::step("made");
    for path in archive::files_of(&dist)? {
        let megabytes = fs::metadata(&path)?.len() as f64 / 1e6;
        console::line(&format!(
            "    {megabytes:>6.1} MB  {}",
            workspace.relative(&path)
        ));
    }
    Ok(())
}

/// The version that all packages share.
fn version(metadata: &Metadata) -> Result<String> {
    let packages = metadata.workspace_packages();
    let program = packages
        .iter()
        .find(|package| *package.name == "trainscope");
    let program = program.context("the workspace has no package `trainscope`")?;
    Ok(program.version.to_string())
}

fn check_tag(tag: &str, version: &str, changelog: &str) -> Result<()> {
    ensure!(
        tag == format!("v{version}"),
        "the tag is {tag}, and the manifests say version {version}"
    );
    let heading = format!("## {version}");
    ensure!(
        changelog.lines().any(|line| line.starts_with(&heading)),
        "CHANGELOG.md has no section `{heading}`"
    );
    Ok(())
}

/// The target that the active compiler builds for.
fn host() -> Result<String> {
    let version = output_of(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

/// Builds the program, on Linux against the oldest supported C library.
fn build_program(workspace: &Workspace, tools: &Path, host: &str) -> Result<PathBuf> {
    console::step("build the program");
    let mut build = cargo();
    build.current_dir(&workspace.root);
    if host.contains("linux") {
        let (major, minor) = OLDEST_GLIBC;
        build
            .arg("zigbuild")
            .env("PATH", python::path_with(&tools.join("bin"))?)
            .args(["--target", &format!("{host}.{major}.{minor}")]);
    } else {
        build.args(["build", "--target", host]);
    }
    run(build.args(["--release", "--locked", "--package", "trainscope"]))?;
    Ok(workspace.target.join(host).join("release/trainscope"))
}

/// Builds the wheel around the program and returns its path.
fn build_wheel(
    workspace: &Workspace,
    tools: &Path,
    program: &Path,
    dist: &Path,
) -> Result<PathBuf> {
    console::step("build the wheel");
    let scripts = workspace.root.join("collector/python/wheel.data/scripts");
    fs::create_dir_all(&scripts)?;
    fs::copy(program, scripts.join("trainscope"))?;
    let mut build = Command::new(tools.join("bin/maturin"));
    build
        .current_dir(workspace.root.join("collector/python"))
        .env("CARGO_TARGET_DIR", &workspace.target)
        .env("PATH", python::path_with(&tools.join("bin"))?)
        .args(["build", "--locked", "--release"])
        .args(["--compression-level", "9", "--out"])
        .arg(dist);
    if cfg!(target_os = "linux") {
        let (major, minor) = OLDEST_GLIBC;
        build.args([
            "--zig",
            "--compatibility",
            &format!("manylinux_{major}_{minor}"),
        ]);
    }
    run(&mut build)?;
    let mut files = archive::files_of(dist)?.into_iter();
    let wheel = files.find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    let wheel = wheel.with_context(|| format!("{}: no wheel was built", dist.display()))?;
    run(Command::new(tools.join("bin/python"))
        .arg(workspace.root.join("xtask/dist/repack.py"))
        .arg(&wheel))?;
    Ok(wheel)
}

/// The committed sources and the bundle, so that `cargo install --path server` needs no compiler for the browser.
fn source_archive(workspace: &Workspace, dist: &Path, version: &str) -> Result<()> {
    let listed = output_of(
        Command::new("git")
            .current_dir(&workspace.root)
            .arg("ls-files"),
    )?;
    let name = format!("trainscope-{version}-source");
    let mut archive = Archive::create(&dist.join(format!("{name}.tar.gz")), &name)?;
    for path in listed.lines() {
        let file = workspace.root.join(path);
        archive.file_of_disk(path, &file)?;
    }
    let bundle = Bundle::Small.folder(workspace);
    for file in archive::files_below(&bundle)? {
        let path = file.strip_prefix(&workspace.root)?.display().to_string();
        archive.file_of_disk(&path, &file)?;
    }
    archive.finish()
}

/// A list of all crates in the program, in the format `CycloneDX`.
fn bill_of_materials(workspace: &Workspace, dist: &Path, version: &str) -> Result<()> {
    let tools = workspace.target.join("cargo-tools");
    run(cargo()
        .args(["install", "--locked", "--quiet", CYCLONEDX, "--root"])
        .arg(&tools))?;
    let name = format!("trainscope-{version}.cdx");
    run(Command::new(tools.join("bin/cargo-cyclonedx"))
        .current_dir(&workspace.root)
        .args([
            "cyclonedx",
            "--format",
            "json",
            "--manifest-path",
            "server/Cargo.toml",
        ])
        .args(["--override-filename", &name]))?;
    // It writes a file next to the manifest of every package.
    let written = output_of(Command::new("git").current_dir(&workspace.root).args([
        "ls-files",
        "--others",
        "--",
        &format!("*{name}.json"),
    ]))?;
    for path in written.lines() {
        let path = workspace.root.join(path);
        if path.parent() == Some(&workspace.root.join("server")) {
            fs::copy(&path, dist.join(format!("{name}.json")))?;
        }
        fs::remove_file(path)?;
    }
    ensure!(
        dist.join(format!("{name}.json")).is_file(),
        "no bill of materials was written for the package `trainscope`"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_tag;

    #[test]
    fn a_tag_agrees_with_manifests_and_changelog() {
        let changelog = "# Changelog\n\n## 0.2.0 (2027-01-02)\n";
        assert!(check_tag("v0.2.0", "0.2.0", changelog).is_ok());
        for (tag, version, changelog) in [
            ("v0.2.1", "0.2.0", changelog),
            ("0.2.0", "0.2.0", changelog),
            ("v0.3.0", "0.3.0", changelog),
            ("v0.2.0", "0.2.0", "# Changelog\n\n## Unreleased\n"),
        ] {
            assert!(check_tag(tag, version, changelog).is_err(), "{tag}");
        }
    }
}
