//! `trainscope check` for people and programs: flags, output formats, exit statuses, invalid input.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::EventFile;
use crate::support::lab::STARTED_SECS;
use crate::support::program::program;
use crate::support::terminal::{CommandOutput, Dump, trainscope_in};

const OVERFLOW: &str = "[[watchpoint]]\ncondition = \"tensor_overflow\"\n";

/// An empty folder to write dumps into.
pub(crate) struct Place(pub(crate) TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) -> &Self {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    pub(crate) fn check(&self, flags: &[&str]) -> CommandOutput {
        trainscope_in(self.0.path(), &[&["check", "run"], flags].concat())
    }

    /// Checks only for NaN and Inf.
    pub(crate) fn overflows(&self) -> Value {
        self.write("rules.toml", OVERFLOW.as_bytes());
        self.check(&["--watchpoints", "rules.toml", "--format", "json"])
            .json()
    }
}

pub(crate) fn npy(descr: &str, fortran_order: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran_order { "True" } else { "False" };
    let header =
        format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}          \n");
    let len = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &len[..], header.as_bytes(), data].concat()
}

pub(crate) fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

pub(crate) fn safetensors(tensors: &[(&str, &[f32])]) -> Vec<u8> {
    let mut entries = serde_json::Map::new();
    let mut data = Vec::new();
    for (name, numbers) in tensors {
        let begin = data.len();
        data.extend(floats(numbers));
        let entry =
            json!({"dtype": "F32", "shape": [numbers.len()], "data_offsets": [begin, data.len()]});
        entries.insert((*name).to_owned(), entry);
    }
    let header = Value::Object(entries).to_string();
    let len = (header.len() as u64).to_le_bytes();
    [&len[..], header.as_bytes(), &data].concat()
}

pub(crate) fn names(answer: &Value, key: &str, field: &str) -> Vec<String> {
    let all = answer[key].as_array().unwrap().iter();
    all.map(|item| item[field].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_answer_has_the_promised_shape() {
    let dump = Dump::unpack("torch-overflow");
    let answer = dump.check(&["--format", "json"]).json();
    let keys = |value: &Value| -> Vec<String> {
        let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    let of_hit = [
        "condition",
        "node",
        "rank",
        "run",
        "sentence",
        "severity",
        "step",
        "tensor",
        "thresholds",
        "values",
    ];
    for key in [
        "version",
        "first_cause",
        "causes",
        "hits",
        "inconclusive",
        "damaged",
        "judged",
        "runs",
    ] {
        assert!(answer.get(key).is_some(), "{key}");
    }
    assert_eq!(keys(&answer["first_cause"]), of_hit);
    let causes = answer["causes"].as_array().unwrap();
    let of_cause = ["explains", "hit", "sentence"];
    assert!(!causes.is_empty() && causes.iter().all(|cause| keys(cause) == of_cause));
    assert!(
        causes
            .iter()
            .any(|cause| cause["hit"] == answer["first_cause"])
    );
    assert!(
        answer["hits"]
            .as_array()
            .unwrap()
            .iter()
            .all(|hit| keys(hit) == of_hit)
    );
    let of_unjudged = ["condition", "rank", "reason", "run", "step", "tensor"];
    let unjudged = answer["inconclusive"].as_array().unwrap();
    assert!(!unjudged.is_empty() && unjudged.iter().all(|item| keys(item) == of_unjudged));
    assert_eq!(
        keys(&answer["judged"]),
        [
            "histograms",
            "overwritten",
            "profiles",
            "scalars",
            "steps",
            "tensors",
            "unwatched",
            "watchpoints"
        ]
    );
    assert!(answer["hits"].as_array().unwrap().iter().any(|hit| {
        hit["values"]
            .as_object()
            .is_some_and(|values| values.values().any(Value::is_number))
    }));
}

#[test]
fn exit_statuses_tell_hits_from_damage_from_what_cannot_be_judged() {
    let healthy = Dump::unpack("torch-healthy");
    assert_eq!(healthy.check(&[]).status, 0);
    // The loss is too short for some rules.
    assert_eq!(healthy.check(&["--strict"]).status, 2);
    let unchanged = Dump::unpack("torch-unchanged");
    assert_eq!(unchanged.check(&[]).status, 1);
    assert_eq!(unchanged.check(&["--fail-on", "error"]).status, 0);
    // A hit takes precedence over damage.
    fs::write(unchanged.path.join("steps/step_00000.safetensors"), b"none").unwrap();
    assert_eq!(unchanged.check(&[]).status, 1);
    assert_eq!(unchanged.check(&["--fail-on", "error"]).status, 2);
}

#[test]
fn a_baseline_and_a_first_step_leave_hits_out() {
    let dump = Dump::unpack("torch-overflow");
    let folder = TempDir::new().unwrap();
    let baseline = folder.path().join("known.json").display().to_string();
    let first = dump.check(&["--format", "json", "-o", &baseline]);
    assert_eq!((first.status, &*first.out), (1, ""));
    let again = dump.check(&["--baseline", &baseline]);
    assert_eq!(again.status, 0, "{again:?}");
    assert!(
        again.last_line().contains("of the baseline left out"),
        "{again:?}"
    );
    let late = dump
        .check(&["--since-step", "8", "--format", "json"])
        .json();
    let all = dump.check(&["--format", "json"]).json();
    let count = |answer: &Value| answer["hits"].as_array().unwrap().len();
    assert!(count(&late) < count(&all));
}

#[test]
fn shares_of_ranges_count_elements_of_files() {
    let place = Place::new();
    let rules =
        [("lt", "-1", "1", 50), ("gt", "-0.3", "0.7", 66)].map(|(than, from, to, share)| {
            format!(
                "[[watchpoint]]\ncondition = \"tensor_range\"\nrange_start_inclusive = {from}\n\
             range_end_inclusive = {to}\nrange_percentage_{than} = {share}\n"
            )
        });
    place.write("rules.toml", rules.concat().as_bytes());
    // One ulp above 1; 25 % are between -1 and 1.
    let wide = [-1.0, 1.0_f64.next_up(), 2.0, 3.0].map(f64::to_le_bytes);
    // Two of three are between -0.3 and 0.7, and all of them between -1 and 1.
    let narrow = [-0.29, 0.69, 0.71];
    let stored = safetensors(&[("weight/narrow", &narrow)]);
    place
        .write(
            "run/steps/0/weight.wide.npy",
            &npy("'<f8'", true, "(2, 2)", &wide.concat()),
        )
        .write("run/steps/0/model.safetensors", &stored);
    let printed = place.check(&["--watchpoints", "rules.toml", "--format", "json"]);
    let answer = printed.json();
    let hits = answer["notes"].as_array().unwrap().iter();
    let mut hits: Vec<(&str, String)> = hits
        .map(|hit| (hit["tensor"].as_str().unwrap(), hit["values"].to_string()))
        .collect();
    hits.sort();
    let [narrow, wide] = &hits[..] else {
        panic!("{answer}")
    };
    assert!(
        narrow.0 == "weight/narrow" && narrow.1.contains("66.6"),
        "{narrow:?}"
    );
    assert!(
        wide.0 == "weight/wide" && wide.1.contains("25.0"),
        "{wide:?}"
    );
    assert_eq!(answer["inconclusive"], json!([]));
}

#[test]
fn text_fits_pipes_and_narrow_locales() {
    let dump = Dump::unpack("torch-overflow");
    let printed = dump.check(&[]);
    assert!(!printed.out.contains('\x1b'), "no colours in a pipe");
    assert!(
        printed.out.lines().any(|line| line.starts_with('>')),
        "{}",
        printed.out
    );
    assert!(
        printed
            .last_line()
            .starts_with(|c: char| c.is_ascii_digit())
    );
    assert_eq!(dump.check(&["-q"]).out.lines().count(), 1);
    let coloured = dump.check(&["--color", "always"]);
    assert!(
        coloured.out.contains("\x1b[1m\x1b[31merror"),
        "{:?}",
        &coloured.out[..200]
    );
    // `--all` prints every hit.
    let all = dump.check(&["--all"]).out.lines().count();
    assert!(all > printed.out.lines().count() + 20);
}

#[test]
fn a_folder_of_runs_is_told_a_line_each() {
    let place = Place::new();
    let steps = |numbers: [f32; 2]| safetensors(&[("weight/a", &numbers)]);
    for step in 0..3_i8 {
        let value = f32::from(step);
        place
            .write(
                &format!("run/good/steps/step_{step}.safetensors"),
                &steps([value, 1.0]),
            )
            .write(
                &format!("run/bad/steps/step_{step}.safetensors"),
                &steps([value, f32::NAN]),
            );
    }
    let printed = place.check(&[]);
    assert_eq!(printed.status, 1);
    let lines: Vec<&str> = printed.out.lines().collect();
    assert!(lines[0].contains("2 runs"), "{lines:?}");
    assert!(
        lines[2].starts_with("error") && lines[2].contains("bad"),
        "{lines:?}"
    );
    assert!(
        lines[3].starts_with("ok") && lines[3].contains("good"),
        "{lines:?}"
    );
    let answer = place.check(&["--format", "json"]).json();
    assert_eq!(answer["hits"][0]["run"], "bad");
}

#[test]
fn annotations_junit_and_sarif_are_what_their_readers_expect() {
    let dump = Dump::unpack("torch-overflow");
    let github = dump.check(&["--format", "github"]);
    let first = github.out.lines().next().unwrap();
    assert!(
        first.starts_with("::error title=First cause") || first.starts_with("::warning title=")
    );
    assert!(
        github
            .out
            .lines()
            .all(|line| line.starts_with("::") && line.matches("::").count() >= 2)
    );

    let junit = dump.check(&["--format", "junit"]).out;
    let report = quick_junit::Report::deserialize_from_str(&junit).unwrap();
    assert_eq!(report.test_suites.len(), 1);
    assert!(report.failures > 0 && report.tests > 10, "{junit}");
    assert!(
        junit.contains("<skipped"),
        "what is not judged has not passed"
    );

    let sarif = dump.check(&["--format", "sarif"]).json();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let is_first = |result: &Value| result["properties"]["isFirstCause"] == true;
    assert!(is_first(&run["results"][0]), "the first cause is on top");
    let rules = names(&run["tool"]["driver"], "rules", "id");
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index], result["ruleId"].as_str().unwrap());
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(result["message"]["text"].is_string());
        assert!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].is_string());
    }
}

#[test]
fn a_closed_pipe_is_the_end_of_the_output() {
    let dump = Dump::unpack("torch-overflow");
    let mut child = program()
        .args(["check", ".", "--all", "--format", "sarif"])
        .current_dir(&dump.path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(1));
}

/// Files as Keras writes them: `train` and `validation` with the same tags. The training loss falls as e^-t, the other
/// rises again.
#[test]
fn a_training_is_judged_with_the_validation_beside_it() {
    let scalars = |place: &Place, run: &str, loss: fn(f32) -> f32| {
        place.write(&format!("run/{run}/events.out.tfevents.1.host"), b"");
        let path = place
            .0
            .path()
            .join(format!("run/{run}/events.out.tfevents.1.host"));
        let file = fs::File::create(path).unwrap();
        let mut file = EventFile::begin(file, STARTED_SECS).unwrap();
        for epoch in 0..20_u8 {
            let loss = loss(f32::from(epoch));
            let tags = [("epoch_loss", loss), ("epoch_learning_rate", 0.01)];
            file.scalars(STARTED_SECS, i64::from(epoch), &tags).unwrap();
        }
        file.flush().unwrap();
    };
    let falls: fn(f32) -> f32 = |t| (-0.2 * t).exp();
    let rises: fn(f32) -> f32 = |t| 0.5 + 0.08 * (t - 5.0).max(0.0) - 0.02 * t.min(5.0);
    for (training, evaluation) in [("train", "validation"), ("fit/train", "fit/val")] {
        let place = Place::new();
        scalars(&place, training, falls);
        scalars(&place, evaluation, rises);
        let answer = place.check(&["--format", "json"]).json();
        assert_eq!(names(&answer, "hits", "condition"), ["overfit"], "{answer}");
        assert_eq!(names(&answer, "hits", "run"), [training]);
        let (_, name) = evaluation.rsplit_once('/').unwrap_or(("", evaluation));
        assert_eq!(
            names(&answer, "hits", "tensor"),
            [format!("{name}/epoch_loss")]
        );
        // The same numbers, of two trainings.
        let place = Place::new();
        scalars(&place, "a", falls);
        scalars(&place, "b", rises);
        let answer = place.check(&["--format", "json"]).json();
        assert!(!names(&answer, "hits", "condition").contains(&"overfit".to_owned()));
    }
}

#[test]
fn answers_to_real_and_generated_samples_are_judged_together_from_folders_side_by_side() {
    let accuracy = |place: &Place, run: &str, value: f32| {
        let path = format!("run/{run}/events.out.tfevents.1.host");
        place.write(&path, b"");
        let file = fs::File::create(place.0.path().join(path)).unwrap();
        let mut file = EventFile::begin(file, STARTED_SECS).unwrap();
        for epoch in 0..40 {
            let tags = [("Accuracy", value)];
            file.scalars(STARTED_SECS, epoch, &tags).unwrap();
        }
        file.flush().unwrap();
    };
    for (fake, real, is_one_sided) in [
        ("gan/fake_data", "gan/real_data", true),
        ("fake", "real", true),
        ("a/fake_data", "b/real_data", false),
        ("fake_data", "real_images", false),
    ] {
        let place = Place::new();
        accuracy(&place, fake, 0.0);
        accuracy(&place, real, 0.8);
        let answer = place.check(&["--format", "json"]).json();
        let found = answer["notes"].as_array().unwrap().iter();
        let found: Vec<_> = found
            .filter(|hit| hit["condition"] == "one_sided_discriminator")
            .map(|hit| {
                (
                    hit["run"].as_str().unwrap(),
                    hit["tensor"].as_str().unwrap(),
                )
            })
            .collect();
        let folder = fake.rsplit('/').next().unwrap();
        let tag = format!("{folder}/Accuracy");
        let expected: &[_] = if is_one_sided { &[(fake, &*tag)] } else { &[] };
        assert_eq!(found, expected, "{fake}, {real}");
    }
}

#[test]
fn the_catalogue_explains_itself() {
    let here = Path::new(".");
    let list = trainscope_in(here, &["check", "--list-conditions"]);
    assert_eq!(list.status, 0);
    for id in [
        "weight_not_changed",
        "loss_nan",
        "rank_divergence",
        "operator_overflow",
    ] {
        assert!(list.out.contains(id));
        let explained = trainscope_in(here, &["check", "--explain", id]);
        assert_eq!(explained.status, 0);
        assert!(explained.out.starts_with(id) && explained.out.contains("[[watchpoint]]"));
    }
    // Both report the limit that applies without a file.
    for (id, limit) in [
        ("weight_change_too_large", "abs_mean_update_ratio_gt"),
        ("gradient_vanishing", ""),
    ] {
        let row = list
            .out
            .lines()
            .find(|line| line.contains(&format!(" {id} ")));
        let words: Vec<&str> = row.unwrap().split_whitespace().collect();
        let at = words
            .iter()
            .position(|word| word.contains("_lt") || word.contains("_gt"));
        let (name, value) = (
            words[at.unwrap()],
            words[at.unwrap() + 1].trim_end_matches(','),
        );
        assert!(name.starts_with(limit), "{row:?}");
        let explained = trainscope_in(here, &["check", "--explain", id]).out;
        assert!(
            explained.contains(&format!("  {name} = {value}")),
            "{explained}"
        );
    }
    let mistake = trainscope_in(here, &["check", "--explain", "weight_unchanged"]);
    assert_eq!(mistake.status, 2);
    assert!(mistake.err.contains("weight_not_changed"), "{mistake:?}");
}

#[test]
fn mistakes_are_told_in_three_lines() {
    let place = Place::new();
    place.write(
        "run/steps/step_0.safetensors",
        &safetensors(&[("weight/a", &[1.0])]),
    );
    let missing = trainscope_in(place.0.path(), &["check", "rum"]);
    assert_eq!(missing.status, 2);
    assert!(
        missing.err.contains("trainscope check ./run"),
        "{missing:?}"
    );
    place.write("data/a.jpg", b"x");
    let nothing = trainscope_in(place.0.path(), &["check", "data"]);
    assert_eq!(nothing.status, 2);
    assert!(nothing.err.contains("no runs found in data") && nothing.err.contains("1 .jpg"));
    for (toml, marks) in [
        (
            "[[watchpoint]]\ncondition = \"tensor_overflow\"\nlimit = 3\n",
            "line 3, column 1",
        ),
        (
            "[[watchpoint]]\ncondition = \"tensor_overflow\"\nseverity = \"fatal\"\n",
            "line 3, column 12",
        ),
        (
            "[[watchpoint]]\ncondition = \"nothing\"\n",
            "line 2, column 13",
        ),
        ("[[watchpoints]]\n", "line 1, column 3"),
        ("[[watchpoint]\n", "line 1"),
    ] {
        place.write("rules.toml", toml.as_bytes());
        let printed = place.check(&["--watchpoints", "rules.toml"]);
        assert_eq!(printed.status, 2, "{printed:?}");
        assert!(printed.err.contains(marks), "{toml}: {}", printed.err);
    }
}

#[test]
fn a_reader_that_closes_the_pipe_does_not_hide_the_result() {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample-runs");
    for (args, status) in [
        (vec!["check", "mlp/overflow"], 1),
        (vec!["check", "mlp/overflow", "--format", "json"], 1),
        (vec!["check", "mlp/healthy"], 0),
        (
            vec!["diff", "mlp/healthy", "mlp/overflow", "--format", "json"],
            1,
        ),
    ] {
        let mut command = program();
        command.args(&args).current_dir(&runs);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let done = child.wait().unwrap();
        assert_eq!(done.code(), Some(status), "{args:?}");
    }
}
