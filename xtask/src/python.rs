//! The Python package: its wheel, and its tests in environments with the frameworks that they need.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;

use anyhow::{Context, Result, anyhow, bail};

use crate::bundle::Bundle;
use crate::console;
use crate::packages;
use crate::process::{cargo, find_program, output_of, run};
use crate::workspace::{WEB_DIR, Workspace};

/// Builds wheels.
const MATURIN: &str = "maturin>=1.9,<2";

/// Tests to run, by the variable `XTASK_PYTHON`. Without it: frameworks if `CI` is set, else the core.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// No Python.
    None,
    /// Everything that needs no framework.
    Core,
    /// Also PyTorch, Lightning, Hugging Face, Keras and JAX: 6 GB of packages.
    Frameworks,
    /// Also `MindSpore`: 3 GB more.
    All,
}

impl Tier {
    /// The tier that the environment selects.
    pub fn of_environment() -> Result<Self> {
        let is_ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false");
        match std::env::var("XTASK_PYTHON").as_deref() {
            Ok("none") => Ok(Self::None),
            Ok("core") => Ok(Self::Core),
            Ok("frameworks") => Ok(Self::Frameworks),
            Ok("all") => Ok(Self::All),
            Ok(other) => {
                bail!("XTASK_PYTHON is none, core, frameworks or all, not {other:?}")
            }
            Err(_) if is_ci => Ok(Self::Frameworks),
            Err(_) => Ok(Self::Core),
        }
    }

    /// Environments with their folders of tests.
    fn environments(self) -> &'static [Environment] {
        match self {
            Self::None => &[],
            Self::Core => &[CORE],
            Self::Frameworks => &[FRAMEWORKS],
            Self::All => &[FRAMEWORKS, MINDSPORE],
        }
    }

    /// Tests of this tier and those that it leaves out, as a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::None => "Python was not tested: XTASK_PYTHON=core does",
            Self::Core => {
                "Python was tested without frameworks: XTASK_PYTHON=frameworks has them, with 6 GB of packages"
            }
            Self::Frameworks => {
                "Python was tested with all frameworks but MindSpore: XTASK_PYTHON=all has it, with 3 GB of packages"
            }
            Self::All => "Python was tested with all frameworks",
        }
    }
}

/// An environment in `target/`, and the folders of tests that run in it.
struct Environment {
    name: &'static str,
    /// Parts of the names of the files that list its packages.
    requirements: &'static [&'static str],
    tests: &'static [&'static str],
}

const CORE: Environment = Environment {
    name: "core",
    requirements: &["core"],
    tests: &["core"],
};
const FRAMEWORKS: Environment = Environment {
    name: "frameworks",
    requirements: &["core", "frameworks"],
    tests: &["core", "frameworks"],
};
const MINDSPORE: Environment = Environment {
    name: "mindspore",
    requirements: &["mindspore"],
    tests: &["mindspore"],
};

impl Environment {
    fn folder(&self, workspace: &Workspace) -> PathBuf {
        workspace.target.join(format!("python-{}", self.name))
    }

    fn requirements(&self, workspace: &Workspace) -> Vec<PathBuf> {
        let tests = package(workspace).join("tests");
        let file = |name: &&str| tests.join(format!("requirements-{name}.txt"));
        self.requirements.iter().map(file).collect()
    }
}

fn package(workspace: &Workspace) -> PathBuf {
    workspace.root.join("collector/python")
}

/// Starts to install the packages that tests need, in the background: a download of minutes.
pub fn prepare(workspace: &Workspace, tier: Tier) -> JoinHandle<Result<()>> {
    let folders: Vec<(PathBuf, Vec<PathBuf>)> = tier
        .environments()
        .iter()
        .map(|environment| {
            (
                environment.folder(workspace),
                environment.requirements(workspace),
            )
        })
        .collect();
    std::thread::spawn(move || {
        for (folder, files) in folders {
            let mut wanted = String::new();
            let mut arguments = Vec::new();
            for file in &files {
                wanted += &fs::read_to_string(file).with_context(|| file.display().to_string())?;
                arguments.push("--requirement".to_owned());
                arguments.push(file.display().to_string());
            }
            ensure(&folder, &wanted, &arguments)?;
        }
        Ok(())
    })
}

/// Creates an environment with these packages, again if it was made for others.
pub fn ensure(folder: &Path, wanted: &str, packages: &[impl AsRef<OsStr>]) -> Result<()> {
    let stamp = folder.join("requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    if find_program("python3").is_none() && packages::is_debian() {
        packages::ensure(&["python3", "python3-venv"])?;
    }
    console::line(&format!("    a Python environment: {}", folder.display()));
    let make = || {
        // `--clear` discards an incomplete environment.
        output_of(
            Command::new("python3")
                .args(["-m", "venv", "--clear"])
                .arg(folder),
        )
    };
    if make().is_err() && packages::is_debian() {
        // Debian packages the `venv` module separately.
        packages::ensure(&["python3-venv"])?;
        make()?;
    }
    let python = folder.join("bin/python");
    output_of(
        Command::new(python)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                // Python compiles the modules that are imported, a few of the 40,000 of the frameworks.
                "--no-compile",
            ])
            .args(packages),
    )
    .context("packages could not be installed from the Python package index")?;
    fs::write(stamp, wanted)?;
    Ok(())
}

/// Builds the wheel of a release, with the program and its page inside.
pub fn wheel(workspace: &Workspace) -> Result<()> {
    if !Bundle::Small.folder(workspace).join("index.html").exists() {
        Bundle::Small.build(workspace)?;
    }
    run(cargo().current_dir(&workspace.root).args([
        "build",
        "--release",
        "--locked",
        "--package",
        "trainscope",
    ]))?;
    let program = workspace.target.join("release/trainscope");
    let wheels = workspace.target.join("wheels");
    let wheel = build(workspace, &program, &wheels, "release")?;
    let megabytes = fs::metadata(&wheel)?.len() as f64 / 1e6;
    console::line(&format!(
        "    {} ({megabytes:.1} MB)",
        workspace.relative(&wheel)
    ));
    Ok(())
}

/// Builds a wheel around this program and returns its path.
fn build(workspace: &Workspace, program: &Path, to: &Path, profile: &str) -> Result<PathBuf> {
    let tools = workspace.target.join("python-tools");
    ensure(&tools, MATURIN, &[MATURIN])?;
    // Wheels of earlier versions would be found again below.
    drop(fs::remove_dir_all(to));
    run(Command::new(tools.join("bin/python"))
        .current_dir(&workspace.root)
        .env("TRAINSCOPE_PROGRAM", program)
        .env("CARGO_TARGET_DIR", &workspace.target)
        .env("PATH", path_with(&tools.join("bin"))?)
        .env(
            "MATURIN_PEP517_ARGS",
            format!("--locked --profile {profile}"),
        )
        .args([
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
        ])
        .arg("--wheel-dir")
        .arg(to)
        .arg(package(workspace)))?;
    let built = fs::read_dir(to)?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    built.with_context(|| format!("{}: no wheel was built", to.display()))
}

/// The search path with `folder` before it.
pub fn path_with(folder: &Path) -> Result<OsString> {
    let before = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&before));
    Ok(std::env::join_paths(folders)?)
}

/// Builds a wheel around the program of the tests, installs it, and runs the tests of a tier. Returns how many passed
/// and failed.
pub fn test(
    workspace: &Workspace,
    tier: Tier,
    prepared: JoinHandle<Result<()>>,
) -> Result<(u64, u64)> {
    if tier == Tier::None {
        return Ok((0, 0));
    }
    let prepared = prepared.join();
    prepared.map_err(|_| anyhow!("the installation of packages has panicked"))??;
    // Nothing to compile after the part `rust`: the same features, and so the same program.
    run(workspace
        .cargo("test")
        .args(["--no-run", "--test", "workspace"]))?;
    let built = workspace.target.join("debug/trainscope");
    // Ten times smaller without the tables for backtraces.
    let program = workspace.target.join("wheel/trainscope");
    fs::create_dir_all(workspace.target.join("wheel"))?;
    run(Command::new("strip").arg("-o").arg(&program).arg(&built))?;
    let wheels = workspace.target.join("wheels-of-tests");
    let wheel = build(workspace, &program, &wheels, "wheel")?;
    let mut counts = (0, 0);
    for environment in tier.environments() {
        let python = environment.folder(workspace).join("bin/python");
        run(Command::new(&python)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ])
            .args(["--no-deps", "--force-reinstall"])
            .arg(&wheel))?;
        let mut last = String::new();
        let succeeded = crate::process::run_reading(
            Command::new(&python)
                .current_dir(package(workspace).join("tests"))
                .env("OMP_NUM_THREADS", "1")
                // Tests compile the modules of the frameworks once, and share them.
                .env_remove("PYTHONDONTWRITEBYTECODE")
                .env("TRAINSCOPE_WHEEL", &wheel)
                .env(WEB_DIR, workspace.quick_page())
                .env("TRAINSCOPE_PROGRAM", &built)
                .args([
                    "-m",
                    "pytest",
                    "--quiet",
                    "--durations=5",
                    "--numprocesses=2",
                ])
                .args(environment.tests),
            |line| {
                if !line.trim().is_empty() {
                    line.clone_into(&mut last);
                }
            },
        )?;
        let (passed, failed) = counts_of(&last);
        if passed == 0 || (!succeeded && failed == 0) {
            bail!(
                "the tests in {} could not all be run: {last}",
                environment.name
            );
        }
        counts = (counts.0 + passed, counts.1 + failed);
    }
    Ok(counts)
}

/// Passed and failed tests of a line like `1 failed, 12 passed in 3.2s`. Errors and skipped tests count as failed: a
/// tier has everything that its tests need.
fn counts_of(line: &str) -> (u64, u64) {
    let mut counts = (0, 0);
    for part in line
        .trim_matches(['=', ' '])
        .split(" in ")
        .next()
        .unwrap_or("")
        .split(", ")
    {
        let Some((number, word)) = part.split_once(' ') else {
            continue;
        };
        let number: u64 = number.parse().unwrap_or(0);
        match word {
            "passed" => counts.0 += number,
            "failed" | "error" | "errors" | "skipped" | "xpassed" => counts.1 += number,
            _ => {}
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::counts_of;

    #[test]
    fn results_of_pytest_are_read() {
        assert_eq!(counts_of("12 passed in 3.21s"), (12, 0));
        assert_eq!(
            counts_of("=== 1 failed, 11 passed, 2 warnings in 0.5s ==="),
            (11, 1)
        );
        assert_eq!(
            counts_of("2 skipped, 3 passed, 1 error in 61.00s (0:01:01)"),
            (3, 3)
        );
        assert_eq!(counts_of("no tests ran in 0.01s"), (0, 0));
    }
}
