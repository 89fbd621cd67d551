//! `test`: all checks and tests, and a summary with the time of each. The browser bundle is built beside the lints.
//!
//! A check that could not run counts as failed. The last line is `N passed, M failed`, for programs to parse.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};

use crate::bundle;
use crate::console;
use crate::packages;
use crate::process::{cargo, find_program, run, run_reading};
use crate::python::{self, Tier};
use crate::tensorboard;
use crate::workspace::Workspace;

/// A browser, its driver, and glyphs for the two languages of the pages.
const BROWSER_PACKAGES: [&str; 4] = [
    "chromium",
    "chromium-driver",
    "fonts-dejavu-core",
    "fonts-noto-cjk",
];

/// Optional features to be checked too.
const FEATURES: &str = "trainscope-collector/candle,trainscope-collector/tracing";

/// Test counts of one step.
#[derive(Default)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

struct Step {
    name: &'static str,
    took: Duration,
    outcome: Result<Counts>,
}

/// Runs all steps; the exit status is a failure if any of them failed.
pub(crate) fn run_all(workspace: &Workspace) -> ExitCode {
    let tier = match Tier::of_environment() {
        Ok(tier) => tier,
        Err(error) => {
            console::error(&format!("{error:#}"));
            return ExitCode::FAILURE;
        }
    };
    let packages = python::prepare(workspace, tier);
    let tensorboard =
        |workspace: &Workspace| tensorboard::ensure(workspace).map(|()| Counts::default());
    let bundle = |workspace: &Workspace| bundle::build(workspace).map(|()| Counts::default());
    let python = |workspace: &Workspace| {
        let (passed, failed) = python::test(workspace, tier, packages)?;
        let ignored = 0;
        Ok(Counts {
            passed,
            failed,
            ignored,
        })
    };
    let step = |name, action: Action<'_>| Step::take(name, workspace, action);
    let mut steps = vec![
        step("a browser to test with", Box::new(browser)),
        step("TensorBoard to test with", Box::new(tensorboard)),
        step("formatting", Box::new(formatting)),
    ];
    // Most of the bundle's build is the linker, which uses one core.
    std::thread::scope(|scope| {
        let bundle = scope.spawn(|| Step::take("browser bundle", workspace, Box::new(bundle)));
        steps.push(step("lints", Box::new(lints)));
        steps.push(step("documentation", Box::new(documentation)));
        steps.push(step("fuzz targets", Box::new(fuzz_targets)));
        steps.push(bundle.join().unwrap_or_else(|_| Step {
            name: "browser bundle",
            took: Duration::ZERO,
            outcome: Err(anyhow!("the thread that built it panicked")),
        }));
    });
    steps.push(step("tests", Box::new(tests)));
    steps.push(step("Python", Box::new(python)));
    summarise(&steps, tier.sentence())
}

type Action<'a> = Box<dyn FnOnce(&Workspace) -> Result<Counts> + 'a>;

impl Step {
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
}

fn browser(_: &Workspace) -> Result<Counts> {
    if packages::is_debian() {
        packages::ensure(&BROWSER_PACKAGES)?;
    }
    if find_program("chromedriver").is_none() {
        bail!(
            "no `chromedriver` is on the search path: install Chromium or Chrome with its driver"
        );
    }
    Ok(Counts::default())
}

fn formatting(workspace: &Workspace) -> Result<Counts> {
    run(cargo()
        .current_dir(&workspace.root)
        .args(["fmt", "--all", "--check"]))?;
    Ok(Counts::default())
}

fn lints(workspace: &Workspace) -> Result<Counts> {
    run(cargo().current_dir(&workspace.root).args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--features",
        FEATURES,
        "--locked",
        "--",
        "-D",
        "warnings",
    ]))?;
    Ok(Counts::default())
}

/// Builds the documentation of all packages, in which every link must lead to an item.
fn documentation(workspace: &Workspace) -> Result<Counts> {
    run(cargo()
        .current_dir(&workspace.root)
        .env("RUSTDOCFLAGS", "-D warnings")
        .args(["doc", "--workspace", "--no-deps", "--locked"])
        .args(["--document-private-items", "--features", FEATURES]))?;
    Ok(Counts::default())
}

/// Compiles the fuzz targets, which are a workspace of their own. They run with `cargo fuzz` only.
fn fuzz_targets(workspace: &Workspace) -> Result<Counts> {
    run(cargo()
        .current_dir(&workspace.root)
        .args([
            "clippy",
            "--manifest-path",
            "summary-format/fuzz/Cargo.toml",
        ])
        .args(["--no-default-features", "--locked", "--target-dir"])
        .arg(workspace.root.join("target/fuzz"))
        .args(["--", "-D", "warnings"]))?;
    Ok(Counts::default())
}

fn tests(workspace: &Workspace) -> Result<Counts> {
    let mut counts = Counts::default();
    let succeeded = run_reading(
        cargo()
            .current_dir(&workspace.root)
            .env("TRAINSCOPE_PEER", tensorboard::folder(workspace))
            .args(["test", "--workspace", "--features", FEATURES])
            .args(["--locked", "--no-fail-fast"]),
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

fn summarise(steps: &[Step], python: &str) -> ExitCode {
    console::step("summary");
    let mut total = Counts::default();
    for step in steps {
        let verdict = match &step.outcome {
            Err(_) => "FAILED".to_owned(),
            Ok(counts) => {
                total.passed += counts.passed;
                total.failed += counts.failed;
                total.ignored += counts.ignored;
                if counts.failed > 0 {
                    format!("{} FAILED", counts.failed)
                } else {
                    "ok".to_owned()
                }
            }
        };
        if step.outcome.is_err() {
            total.failed += 1;
        }
        console::line(&format!(
            "    {:<24} {:>7.1} s  {verdict}",
            step.name,
            step.took.as_secs_f64()
        ));
    }
    console::line(&format!("    {python}"));
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
