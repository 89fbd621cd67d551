//! `test`: all checks and tests in parts, and a summary with the time of each.
//!
//! A check that could not run counts as failed. The last line is `N passed, M failed`, for programs to parse.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};

use xtask::axe;
use xtask::bundle::{BUNDLER, Bundle};
use xtask::console;
use xtask::packages;
use xtask::process::{cargo, find_program, run, run_reading};
use xtask::python::{self, Tier};
use xtask::tensorboard;
use xtask::workspace::{FEATURES, Workspace};

/// A browser without a window, its driver, and glyphs for the two languages of the pages.
const BROWSER_PACKAGES: [&str; 4] = [
    "chromium-headless-shell",
    "chromium-driver",
    "fonts-dejavu-core",
    "fonts-noto-cjk",
];

/// The parts in their order, each with a description.
const PARTS: [(&str, &str); 7] = [
    ("format", "formatting"),
    ("page", "the page in a quick build, for `rust` and `python`"),
    (
        "doc",
        "documentation of the libraries, in which every link leads to an item",
    ),
    ("fuzz", "clippy over the fuzz targets"),
    (
        "lint",
        "clippy over all targets of all packages, which compiles the tests of `rust`",
    ),
    (
        "rust",
        "all tests in Rust, those in a real browser among them",
    ),
    (
        "python",
        "the tests of the Python package, with its wheel around the program of `rust`",
    ),
];

/// Test counts of one part.
#[derive(Default)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

struct Part {
    name: &'static str,
    took: Duration,
    outcome: Result<Counts>,
}

/// Runs the named parts, or all if none is named. The exit status is a failure if any of them failed.
pub(crate) fn run_parts(workspace: &Workspace, names: &[String]) -> Result<ExitCode> {
    if names.iter().any(|name| name == "--help" || name == "-h") {
        console::line("usage: cargo xtask test [PART]...\n\nWithout a name, all parts:\n");
        for (name, what) in PARTS {
            console::line(&format!("  {name:<8} {what}"));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let is_part = |name: &String| PARTS.iter().any(|(part, _)| part == name);
    if let Some(unknown) = names.iter().find(|name| !is_part(name)) {
        bail!("`test` has no part {unknown}: `cargo xtask test --help` lists them");
    }
    let tier = Tier::of_environment()?;
    let wants = |part: &str| names.is_empty() || names.iter().any(|name| name == part);
    let parts = run_all(workspace, tier, wants);
    Ok(summarise(&parts, wants("python").then(|| tier.sentence())))
}

fn run_all(workspace: &Workspace, tier: Tier, wants: impl Fn(&str) -> bool) -> Vec<Part> {
    let mut parts = Vec::new();
    let take = |name: &'static str, action: Action<'_>| {
        wants(name).then(|| Part::take(name, workspace, action))
    };
    let packages = wants("python").then(|| python::prepare(workspace, tier));
    parts.extend(take("format", Box::new(formatting)));
    let mut peers = Ok(());
    // The page is compiled in parallel with everything else: much of the time it keeps only one core busy.
    std::thread::scope(|scope| {
        let preparing = wants("rust").then(|| scope.spawn(|| ensure_peers(workspace)));
        let page = wants("page").then(|| {
            scope.spawn(|| {
                let compile = |workspace: &Workspace| {
                    Bundle::Quick.compile(workspace)?;
                    Ok(Counts::default())
                };
                Part::take("page", workspace, Box::new(compile))
            })
        });
        parts.extend(take("doc", Box::new(documentation)));
        parts.extend(take("fuzz", Box::new(fuzz_targets)));
        parts.extend(take("lint", Box::new(lints)));
        parts.extend(page.map(|page| {
            page.join().unwrap_or_else(|_| Part {
                name: "page",
                took: Duration::ZERO,
                outcome: Err(anyhow!("the thread that compiled it panicked")),
            })
        }));
        if let Some(preparing) = preparing {
            let panicked = |_| Err(anyhow!("the installation of a browser panicked"));
            peers = preparing.join().unwrap_or_else(panicked);
        }
    });
    if let Some(page) = parts.iter_mut().find(|part| part.name == "page") {
        page.goes_on(workspace, assemble_page);
    }
    parts.extend(take(
        "rust",
        Box::new(|workspace| peers.and_then(|()| tests(workspace))),
    ));
    if let Some(packages) = packages {
        let python = |workspace: &Workspace| {
            let (passed, failed) = python::test(workspace, tier, packages)?;
            let ignored = 0;
            Ok(Counts {
                passed,
                failed,
                ignored,
            })
        };
        parts.extend(take("python", Box::new(python)));
    }
    parts
}

type Action<'a> = Box<dyn FnOnce(&Workspace) -> Result<Counts> + 'a>;

impl Part {
    fn take(name: &'static str, workspace: &Workspace, action: Action<'_>) -> Self {
        console::step(name);
        let begun = Instant::now();
        let outcome = action(workspace);
        if let Err(error) = &outcome {
            console::error(&format!("{name}: {error:#}"));
        }
        Self {
            name,
            took: begun.elapsed(),
            outcome,
        }
    }

    /// Continues a part that has not failed.
    fn goes_on(&mut self, workspace: &Workspace, action: fn(&Workspace) -> Result<Counts>) {
        if self.outcome.is_ok() {
            let more = Self::take(self.name, workspace, Box::new(action));
            self.took += more.took;
            self.outcome = more.outcome;
        }
    }
}

/// Puts the compiled page together.
fn assemble_page(workspace: &Workspace) -> Result<Counts> {
    run(workspace.cargo("build").args(["--bin", BUNDLER]))?;
    Bundle::Quick.assemble(workspace, "debug")?;
    Ok(Counts::default())
}

/// A browser and TensorBoard, which the tests drive.
fn ensure_peers(workspace: &Workspace) -> Result<()> {
    if packages::is_debian() {
        packages::ensure(&BROWSER_PACKAGES)?;
    }
    if find_program("chromedriver").is_none() {
        bail!(
            "no `chromedriver` is on the search path: install Chromium or Chrome with its driver"
        );
    }
    tensorboard::ensure(workspace)?;
    axe::ensure(workspace)
}

fn formatting(workspace: &Workspace) -> Result<Counts> {
    run(cargo()
        .current_dir(&workspace.root)
        .args(["fmt", "--all", "--check"]))?;
    Ok(Counts::default())
}

fn lints(workspace: &Workspace) -> Result<Counts> {
    let targets = ["--no-run", "--tests", "--benches", "--examples"];
    run(workspace.cargo("test").args(targets))?;
    // No test needs these two: nothing but their types is checked.
    run(cargo()
        .current_dir(&workspace.root)
        .args(["clippy", "--locked", "--package", "trainscope-web"])
        .args(["--package", "trainscope-python", "--", "-D", "warnings"]))?;
    Ok(Counts::default())
}

/// Packages that others may depend on.
const LIBRARIES: [&str; 4] = [
    "trainscope-format",
    "trainscope-collector",
    "trainscope-api",
    "trainscope-analysis",
];

/// Builds the documentation of the libraries, in which every link must lead to an item.
fn documentation(workspace: &Workspace) -> Result<Counts> {
    run(cargo()
        .current_dir(&workspace.root)
        .env("RUSTDOCFLAGS", "-D warnings")
        .args(["doc", "--no-deps", "--locked", "--features", FEATURES])
        .args(LIBRARIES.iter().flat_map(|name| ["--package", name])))?;
    Ok(Counts::default())
}

/// Compiles the fuzz targets, which are a separate workspace. They run with `cargo fuzz` only.
fn fuzz_targets(workspace: &Workspace) -> Result<Counts> {
    run(cargo()
        .current_dir(&workspace.root)
        .args([
            "clippy",
            "--manifest-path",
            "summary-format/fuzz/Cargo.toml",
        ])
        .args(["--no-default-features", "--locked", "--target-dir"])
        .arg(&workspace.target)
        .args(["--", "-D", "warnings"]))?;
    Ok(Counts::default())
}

fn tests(workspace: &Workspace) -> Result<Counts> {
    let mut counts = Counts::default();
    let succeeded = run_reading(
        workspace
            .cargo("test")
            .env("TRAINSCOPE_PEER", tensorboard::folder(workspace))
            .env("TRAINSCOPE_AXE", axe::folder(workspace))
            .arg("--no-fail-fast"),
        |line| counts.add(line),
    )?;
    if !succeeded && counts.failed == 0 {
        // It did not compile, or a test program ended without a result.
        bail!("the tests could not all be run");
    }
    Ok(counts)
}

impl Counts {
    /// Adds the counts of a line like `test result: ok. 3 passed; 0 failed; 1 ignored; …`; other lines are ignored.
    fn add(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        for part in result.split([';', '.']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(word)) = (words.next(), words.next()) else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

fn summarise(parts: &[Part], python: Option<&str>) -> ExitCode {
    console::step("summary");
    console::line(&format!(
        "    {:<8} {:>9} {:>8} {:>8}",
        "part", "seconds", "passed", "failed"
    ));
    let mut total = Counts::default();
    for part in parts {
        let (passed, failed) = match &part.outcome {
            Ok(counts) => {
                total.ignored += counts.ignored;
                (counts.passed, counts.failed)
            }
            Err(_) => (0, 1),
        };
        total.passed += passed;
        total.failed += failed;
        console::line(&format!(
            "    {:<8} {:>9.1} {passed:>8} {failed:>8}",
            part.name,
            part.took.as_secs_f64()
        ));
    }
    if let Some(python) = python {
        console::line(&format!("    {python}"));
    }
    if total.ignored > 0 {
        console::line(&format!("    {} tests were not run", total.ignored));
    }
    console::line(&format!("{} passed, {} failed", total.passed, total.failed));
    if total.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn results_of_test_programs_are_summed() {
        let mut counts = Counts::default();
        counts.add("running 2 tests");
        counts.add("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s");
        counts.add("test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.50s");
        assert_eq!((counts.passed, counts.failed, counts.ignored), (14, 3, 1));
    }
}
