//! Findings of `check` in dumps of other programs, compared with other sources: `NumPy`, raw bytes, and `MindInsight`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::support::lab::fixture;
use crate::support::terminal::Dump;

/// Step and name of all hits of one condition.
fn hits(answer: &Value, condition: &str) -> BTreeSet<(i64, String)> {
    let all = ["hits", "notes"].map(|key| answer[key].as_array().unwrap());
    all.into_iter()
        .flatten()
        .filter(|hit| hit["condition"] == condition)
        .map(|hit| {
            (
                hit["step"].as_i64().unwrap(),
                hit["tensor"].as_str().unwrap().to_owned(),
            )
        })
        .collect()
}

fn judge(dump: &Dump, rules: &str) -> Value {
    let rules = dump.rules(rules);
    let printed = dump.check(&[
        "--watchpoints",
        &rules,
        "--format",
        "json",
        "--fail-on",
        "info",
    ]);
    assert!(matches!(printed.status, 0 | 1), "{printed:?}");
    printed.json()
}

/// A name without the differences between files, which cannot contain `/`, and graphs, whose numbers differ from those
/// of files.
fn comparable(name: &str) -> String {
    let name = name.replace(['/', '.'], "_");
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    stem.strip_suffix("-op").unwrap_or(&name).to_owned()
}

/// All outputs in the files of a `MindSpore` dump: iteration, name and statistics by `NumPy`.
fn outputs(dump: &Dump) -> Vec<(i64, String, Value)> {
    let truth = dump.read_json("truth-tensors.json");
    let mut found = Vec::new();
    for (path, stats) in truth["files"].as_object().unwrap() {
        let [graph, iteration, file] = path.splitn(3, '/').collect::<Vec<_>>()[..] else {
            continue;
        };
        if !file.contains(".output.") || iteration == "constants" {
            continue;
        }
        let (before, after) = file.split_once(".output.").unwrap();
        let parts: Vec<&str> = before.split('.').collect();
        let name = comparable(&parts[1..parts.len() - 3].join("."));
        let slot = after.split('.').next().unwrap();
        let slot = if slot == "0" {
            String::new()
        } else {
            format!(":{slot}")
        };
        let graph = if graph == "0" {
            String::new()
        } else {
            format!("graph_{graph}_")
        };
        found.push((
            iteration.parse().unwrap(),
            format!("{graph}{name}{slot}"),
            stats.clone(),
        ));
    }
    found
}

fn counts(items: impl Iterator<Item = (i64, String)>) -> Vec<(i64, String)> {
    let mut items: Vec<_> = items.collect();
    items.sort();
    items
}

#[test]
fn non_finite_tensors_of_mindspore_are_those_that_numpy_finds() {
    for case in ["overflow", "healthy", "frozen", "vanishing"] {
        for generation in ["ms20", "ms210"] {
            let dump = Dump::unpack(&format!("{generation}-{case}"));
            let answer = judge(&dump, "[[watchpoint]]\ncondition = \"tensor_overflow\"\n");
            let is_whole_name = generation == "ms210";
            let ours = hits(&answer, "tensor_overflow")
                .into_iter()
                .map(|(step, name)| {
                    let name = if is_whole_name {
                        &*name
                    } else {
                        name.rsplit('/').next().unwrap()
                    };
                    (step, comparable(name))
                });
            let truth = outputs(&dump)
                .into_iter()
                .filter_map(|(step, name, stats)| {
                    let count = |key: &str| stats[key].as_u64().unwrap();
                    (count("nan") + count("posinf") + count("neginf") > 0).then_some((step, name))
                });
            assert_eq!(counts(ours), counts(truth), "{generation}-{case}");
        }
    }
}

/// Parameters that are the state of an optimizer, or input data.
const NOT_WEIGHTS: [&str; 9] = [
    "accum.",
    "stat.",
    "moments.",
    "inputs",
    "learning_rate",
    "momentum",
    "global_step",
    "data",
    "label",
];

#[test]
fn bit_identical_weights_of_mindspore_are_those_whose_bytes_are_equal() {
    for case in ["overflow", "healthy", "frozen", "vanishing"] {
        let dump = Dump::unpack(&format!("ms20-{case}"));
        let answer = judge(
            &dump,
            "[[watchpoint]]\ncondition = \"weight_not_changed\"\nrtol = 0\natol = 0\nequal_nan = true\npatience = 1\n",
        );
        let graph = dump.path.join("rank_0/Net/0");
        let mut truth = BTreeSet::new();
        for step in 1_i64.. {
            let [before, now] = [step - 1, step].map(|step| graph.join(step.to_string()));
            if !now.exists() {
                break;
            }
            let weights = |folder: &std::path::Path| -> BTreeSet<(String, Vec<u8>)> {
                let files = fs::read_dir(folder).unwrap().flatten();
                files
                    .filter_map(|file| {
                        let name = file.file_name().into_string().unwrap();
                        let name = name.strip_prefix("Parameter.")?;
                        let parts: Vec<&str> = name.split_once(".output.")?.0.split('.').collect();
                        let name = parts[..parts.len() - 3].join(".");
                        let is_weight = !NOT_WEIGHTS.iter().any(|other| name.starts_with(other));
                        is_weight.then(|| (name, fs::read(file.path()).unwrap()))
                    })
                    .collect()
            };
            let same = weights(&before);
            truth.extend(
                weights(&now)
                    .into_iter()
                    .filter(|weight| same.contains(weight))
                    .map(|w| (step, w.0)),
            );
        }
        assert_eq!(hits(&answer, "weight_not_changed"), truth, "{case}");
    }
}

#[test]
fn hits_are_those_of_the_incumbent_where_it_could_judge() {
    for case in ["healthy", "frozen", "vanishing", "overflow"] {
        let dump = Dump::unpack(&format!("ms20-{case}"));
        let answers = fs::read(fixture("dumps").join(format!("ms20-{case}-hits.json"))).unwrap();
        let answers: Value = serde_json::from_slice(&answers).unwrap();
        let mut rules = String::new();
        for (condition, watchpoint) in answers["watchpoints"].as_object().unwrap() {
            writeln!(
                rules,
                "[[watchpoint]]\ncondition = \"{condition}\"\npatience = 1\n"
            )
            .unwrap();
            for parameter in watchpoint["params"].as_array().unwrap() {
                let name = parameter["name"].as_str().unwrap();
                writeln!(rules, "{name} = {}", parameter["value"]).unwrap();
            }
        }
        let answer = judge(&dump, &rules);
        for condition in answers["watchpoints"].as_object().unwrap().keys() {
            let ours: BTreeSet<(i64, String)> = hits(&answer, condition)
                .into_iter()
                .map(|(step, name)| (step, name.rsplit('/').next().unwrap().to_owned()))
                .collect();
            let mut theirs = BTreeSet::new();
            for step in answers["steps"].as_array().unwrap() {
                let iteration = step["iteration_in_dump"].as_i64().unwrap();
                for hit in step["hits"][condition].as_array().into_iter().flatten() {
                    // Other codes mean that it could not judge.
                    if hit["error_code"] == 0 {
                        let node = hit["node"].as_str().unwrap().rsplit('/').next().unwrap();
                        let slot = hit["slot"].as_str().unwrap();
                        let slot = if slot == "0" {
                            String::new()
                        } else {
                            format!(":{slot}")
                        };
                        theirs.insert((iteration, format!("{node}{slot}")));
                    }
                }
            }
            assert_eq!(ours, theirs, "{condition} in {case}");
        }
    }
}

#[test]
fn findings_in_steps_of_torch_are_those_that_numpy_finds() {
    for case in [
        "overflow",
        "unchanged",
        "healthy",
        "deadrelu",
        "vanishing",
        "npy",
    ] {
        let dump = Dump::unpack(&format!("torch-{case}"));
        let answer = judge(
            &dump,
            "[[watchpoint]]\ncondition = \"tensor_overflow\"\n\
             [[watchpoint]]\ncondition = \"weight_not_changed\"\nrtol = 0\natol = 0\nequal_nan = true\npatience = 1\n",
        );
        let truth = dump.read_json("truth.json");
        let mut not_finite = BTreeSet::new();
        let mut unchanged = BTreeSet::new();
        for step in truth["steps"].as_array().unwrap() {
            let number = step["step"].as_i64().unwrap();
            for (name, stats) in step["tensors"].as_object().unwrap() {
                let count = |key: &str| stats[key].as_u64().unwrap();
                if count("nan") + count("posinf") + count("neginf") > 0 {
                    not_finite.insert((number, name.clone()));
                }
                // `NumPy` treats all NaN as equal, and so do we with `equal_nan`.
                if stats["unchanged_since_previous_step"] == true {
                    unchanged.insert((number, name.clone()));
                }
            }
        }
        assert_eq!(hits(&answer, "tensor_overflow"), not_finite, "{case}");
        assert_eq!(hits(&answer, "weight_not_changed"), unchanged, "{case}");
    }
}

#[test]
fn the_first_cause_of_an_overflow_is_named() {
    for name in [
        "ms20-overflow",
        "ms210-overflow",
        "torch-overflow",
        "torch-npy",
    ] {
        let dump = Dump::unpack(name);
        let printed = dump.check(&[]);
        assert_eq!(printed.status, 1, "{printed:?}");
        assert!(printed.out.contains("First cause"), "{printed:?}");
        assert!(
            printed.out.lines().count() <= 50,
            "it fits a screen: {}",
            printed.out
        );
    }
}

#[test]
fn healthy_trainings_have_no_warnings() {
    for name in ["ms20-healthy", "ms210-healthy", "torch-healthy"] {
        let printed = Dump::unpack(name).check(&[]);
        assert_eq!(printed.status, 0, "{printed:?}");
    }
}
