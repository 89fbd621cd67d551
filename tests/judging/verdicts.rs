//! The verdict on a run: a problem, no problem in the data checked, or little or nothing checked. The command line,
//! the API and every output format agree.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use trainscope_api::findings::{Findings, JudgementState, Verdict};
use trainscope_api::paths;
use trainscope_format::encode::{Moment, RecordWriter};
use trainscope_format::hparams::{HparamValue, SessionStart};
use trainscope_format::{Hparams, Severity, Text};

use crate::cli::check::{floats, npy};
use crate::support::lab::{STARTED_SECS, copy_folder, workspace_root};
use crate::support::server::query;
use crate::support::terminal::{CommandOutput, trainscope_in};
use crate::support::{Browser, Lab, wait_for};

/// A folder of runs.
pub(crate) struct Runs(TempDir);

impl Runs {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    fn folder(&self, run: &str) -> PathBuf {
        let folder = self.path().join(run);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// An event file of a run.
    pub(crate) fn events(&self, run: &str) -> Events {
        let path = self
            .folder(run)
            .join("events.out.tfevents.1760000000.host.1.0");
        Events(RecordWriter::new(File::create(path).unwrap(), STARTED_SECS).unwrap())
    }

    /// A tensor of a step as an npy file.
    pub(crate) fn npy(&self, run: &str, step: u32, name: &str, values: &[f32]) {
        let folder = self.folder(&format!("{run}/step_{step}"));
        let shape = format!("({},)", values.len());
        let bytes = npy("'<f4'", false, &shape, &floats(values));
        fs::write(folder.join(format!("{name}.npy")), bytes).unwrap();
    }

    pub(crate) fn check(&self, run: &str, flags: &[&str]) -> CommandOutput {
        trainscope_in(self.path(), &[&["check", run], flags].concat())
    }

    /// The answer about one run as JSON.
    pub(crate) fn json(&self, run: &str) -> Value {
        self.check(run, &["--format", "json"]).json()
    }
}

/// The moment of a step, ten steps a second.
pub(crate) fn at(step: i64) -> Moment {
    Moment {
        step,
        wall_time_secs: STARTED_SECS + step as f64 / 10.0,
    }
}

/// An event file being written.
pub(crate) struct Events(pub(crate) RecordWriter<File>);

impl Events {
    pub(crate) fn curve(&mut self, tag: &str, steps: i64, value: impl Fn(i64) -> f64) -> &mut Self {
        for step in 0..steps {
            self.0.scalar(tag, at(step), value(step)).unwrap();
        }
        self
    }

    fn hparam(&mut self, name: &str, value: f64) -> &mut Self {
        let session = SessionStart {
            values: vec![(name.to_owned(), HparamValue::Number(value))],
            ..SessionStart::default()
        };
        let hparams = Hparams::SessionStart(session);
        self.0.hparams(at(0), &hparams).unwrap();
        self
    }
}

fn falling(step: i64) -> f64 {
    2.0 / (1.0 + 0.1 * step as f64)
}

/// The runs `whole`, `scalars`, `nothing` and `problem`.
fn four_states() -> Runs {
    let runs = Runs::new();
    let note = Text {
        shape: Vec::new(),
        items: vec!["warm start".to_owned()],
    };
    runs.events("scalars")
        .curve("train/loss", 50, falling)
        .curve("val_loss", 50, falling);
    runs.events("nothing").0.text("note", at(0), &note).unwrap();
    runs.events("problem").curve("train/loss", 50, |step| {
        if step < 40 { falling(step) } else { f64::NAN }
    });
    for step in 0..3_u8 {
        let values: Vec<f32> = (0..64_u8)
            .map(|at| (f32::from(at) * 0.37 + f32::from(step) * 0.01).sin())
            .collect();
        runs.npy("whole", step.into(), "fc1.weight", &values);
    }
    runs
}

const SCALARS: &str = "No problems found in 2 scalars over 50 steps. No tensors were checked.";

#[test]
fn what_was_not_checked_is_never_called_ok() {
    let runs = four_states();
    for (run, word, sentence, status, strict) in [
        (
            "whole",
            "ok",
            "No problems found in 1 tensor over 3 steps.",
            0,
            0,
        ),
        ("scalars", "partial", SCALARS, 0, 2),
        (
            "nothing",
            "nothing",
            "Nothing was checked: no tensor or scalar was recorded.",
            2,
            2,
        ),
        ("problem", "error", "train/loss is NaN", 1, 1),
    ] {
        let printed = runs.check(run, &[]);
        assert_eq!(printed.status, status, "{run}: {printed:?}");
        let said = |line: &str| line.starts_with(word) && line.contains(sentence);
        assert!(printed.out.lines().any(said), "{run}: {}", printed.out);
        let has_ok = printed.out.lines().any(|line| line.starts_with("ok"));
        assert_eq!(has_ok, run == "whole", "{}", printed.out);
        if run != "whole" {
            assert_eq!(runs.check(run, &["--strict"]).status, strict, "{run}");
        }
    }
    // Next to others, a run without checkable data is reported, and does not hide that the rest is healthy.
    let all = runs.check(".", &["--fail-on", "error"]);
    assert_eq!(all.status, 1);
    fs::remove_dir_all(runs.path().join("problem")).unwrap();
    let all = runs.check(".", &[]);
    assert_eq!(all.status, 0, "{all:?}");
    for (begin, end) in [
        ("partial  scalars ", SCALARS),
        (
            "nothing  nothing ",
            "Nothing was checked: no tensor or scalar was recorded.",
        ),
    ] {
        let mut lines = all.out.lines();
        let has_line = lines.any(|line| line.starts_with(begin) && line.ends_with(end));
        assert!(has_line, "{}", all.out);
    }
    assert_eq!(runs.check(".", &["--strict"]).status, 2);
}

#[test]
fn every_form_of_output_tells_what_was_not_checked() {
    let runs = four_states();
    for (run, verdict) in [
        ("whole", "no_problem"),
        ("scalars", "in_part"),
        ("nothing", "nothing"),
        ("problem", "problem"),
    ] {
        let answer = runs.json(run);
        let checked = &answer["runs"][0];
        assert_eq!(checked["verdict"], verdict, "{run}");
        let github = runs.check(run, &["--format", "github"]).out;
        let is_told = github.contains("Not checked in full");
        assert_eq!(is_told, matches!(run, "scalars" | "nothing"), "{github}");
        let sarif = runs.check(run, &["--format", "sarif"]).json();
        let notifications = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
        assert_eq!(
            !notifications.as_array().unwrap().is_empty(),
            is_told,
            "{run}"
        );
        // No JUnit test passes without data to judge.
        let junit = runs.check(run, &["--format", "junit"]).out;
        let case = |name: &str| {
            let from = junit.find(&format!("<testcase name=\"{name}\"")).unwrap();
            let rest = &junit[from..];
            let next = rest[1..].find("<testcase").unwrap_or(rest.len() - 1);
            rest[..next].to_owned()
        };
        let is_skipped = |name: &str| case(name).contains("<skipped");
        assert_eq!(is_skipped("weight_overflow"), run != "whole", "{junit}");
        assert_eq!(
            is_skipped("loss_nan"),
            matches!(run, "whole" | "nothing"),
            "{junit}"
        );
        assert!(is_skipped("loss_activation"), "{junit}");
    }
    assert_eq!(runs.json("scalars")["runs"][0]["judged"]["scalars"], 2);
    let without = runs.json("scalars")["runs"][0]["without_data"].clone();
    assert!(
        without
            .as_array()
            .unwrap()
            .contains(&json!("weight_overflow")),
        "{without}"
    );
}

#[test]
fn pages_and_the_command_line_have_one_verdict() {
    let runs = four_states();
    let lab = Lab::new();
    crate::support::lab::copy_folder(runs.path(), &lab.base());
    let server = lab.start();
    let ask = |run: &str| -> Findings {
        let path = format!("{}?{}", paths::FINDINGS, query(&[("run", run)]));
        serde_json::from_slice(&server.get(&path).body).unwrap_or_default()
    };
    // The last step of a fresh dump is judged once it is certainly complete.
    let names = ["whole", "scalars", "nothing", "problem"];
    wait_for("every run to be judged", || {
        let is_judged = |run: &&str| ask(run).state == JudgementState::Done;
        names.iter().all(is_judged).then_some(())
    });
    for run in server.runs().runs {
        let health = run.health.unwrap();
        let findings = ask(&run.id);
        assert_eq!(
            (health.verdict, &health.summary),
            (findings.verdict, &findings.summary),
            "{}",
            run.id
        );
        let expected = match &*run.id {
            "whole" => Verdict::NoProblem,
            "scalars" => Verdict::InPart,
            "problem" => Verdict::Problem,
            _ => Verdict::Nothing,
        };
        assert_eq!(health.verdict, expected, "{}", run.id);
        let said = &runs.json(&run.id)["runs"][0]["summary"];
        assert_eq!(&health.summary.en, said, "{}", run.id);
        let overflow = findings
            .watchpoints
            .iter()
            .find(|watchpoint| watchpoint.condition == "weight_overflow");
        assert_eq!(overflow.unwrap().has_data, run.id == "whole", "{}", run.id);
    }
}

#[test]
fn tensors_that_no_watchpoint_is_about_are_told() {
    let runs = four_states();
    fs::write(
        runs.path().join("rules.toml"),
        "[[watchpoint]]\ncondition = \"loss_nan\"\n",
    )
    .unwrap();
    let printed = runs.check("whole", &["--watchpoints", "rules.toml"]);
    assert_eq!(printed.status, 2, "{printed:?}");
    assert!(
        printed
            .out
            .contains("Nothing was checked: no watchpoint is about the 1 tensor"),
        "{printed:?}"
    );
}

/// A fault of the guided diagnosis counts like any other hit, and comes first if it can be the cause.
#[test]
fn faults_of_the_guided_diagnosis_are_part_of_check() {
    let runs = Runs::new();
    runs.events("rate")
        .hparam("learning_rate", 1e6)
        .curve("train/loss", 50, |step| match step {
            0 => 2.0,
            _ => f64::NAN,
        });
    runs.events("quiet")
        .hparam("momentum", 1.5)
        .curve("train/loss", 50, falling);
    let answer = runs.json("quiet");
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 1, "{answer}");
    assert_eq!(hits[0]["condition"], "settings");
    assert_eq!(hits[0]["severity"], "warning");
    assert_eq!(answer["first_cause"], hits[0]);
    let printed = runs.check("quiet", &[]);
    assert_eq!(printed.status, 1);
    assert!(printed.out.contains("momentum is 1.5"), "{}", printed.out);
    assert_eq!(runs.check("quiet", &["--fail-on", "error"]).status, 0);
    assert!(
        runs.check("quiet", &["--format", "github"])
            .out
            .contains("::warning")
    );
    assert!(
        runs.check("quiet", &["--format", "junit"])
            .out
            .contains("<failure")
    );
    let sarif = runs.check("quiet", &["--format", "sarif"]).json();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "settings");
    let explained = trainscope_in(runs.path(), &["check", "--explain", "settings"]);
    assert!(explained.out.contains("learning rate"), "{explained:?}");

    let answer = runs.json("rate");
    assert_eq!(answer["first_cause"]["condition"], "settings", "{answer}");
    let others = answer["hits"].as_array().unwrap();
    assert!(others.iter().any(|hit| hit["condition"] == "loss_nan"));

    // A file of watchpoints may leave a rule out, or change its severity.
    let rules = |name: &str, text: &str| {
        fs::write(runs.path().join(name), text).unwrap();
        runs.check("quiet", &["--watchpoints", name, "--format", "json"])
    };
    let one = rules("one.toml", "[[watchpoint]]\ncondition = \"loss_nan\"\n");
    assert_eq!((one.status, &one.json()["hits"]), (0, &json!([])));
    let error = rules(
        "error.toml",
        "[[watchpoint]]\ncondition = \"settings\"\nseverity = \"error\"\n",
    );
    let severity: Severity =
        serde_json::from_value(error.json()["hits"][0]["severity"].clone()).unwrap();
    assert_eq!(severity, Severity::Error);
}

#[tokio::test]
async fn the_debugger_of_a_healthy_run_says_how_much_was_checked() {
    let lab = Lab::new();
    let healthy = workspace_root().join("sample-runs/mlp/healthy");
    copy_folder(&healthy, &lab.base().join("healthy"));
    let server = lab.start();
    let browser = Browser::open().await;
    browser.goto(&server, "/run/healthy/debugger").await;
    browser
        .wait_for_text("No problems found in 15 tensors and 7 scalars over 200 steps.")
        .await;
    browser.wait_for_text("No hits.").await;
    let any = "tr[data-severity], [data-part=cause] button";
    assert_eq!(browser.count(any).await, 0);
    browser.close();
}
