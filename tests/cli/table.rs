//! `trainscope table` and `trainscope importance`: many runs as one table, and the parameters that move a result.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::support::lab::workspace_root;
use crate::support::terminal::{CommandOutput, trainscope_in};

fn fixture(name: &str) -> String {
    workspace_root()
        .join("tests/fixtures")
        .join(name)
        .display()
        .to_string()
}

fn trainscope(arguments: &[&str]) -> CommandOutput {
    trainscope_in(Path::new("."), arguments)
}

/// Values of each run that were read by programs of the frameworks.
fn truth(folder: &str) -> Value {
    let path = workspace_root().join("tests/fixtures/lineage-truth.json");
    let all: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    all[folder].clone()
}

/// Rows of a table as JSON by the name of their run.
fn rows(arguments: &[&str]) -> BTreeMap<String, Map<String, Value>> {
    let printed = trainscope(&[&["table", "--format", "json"], arguments].concat());
    assert_eq!(printed.status, 0, "{printed:?}");
    let rows: Vec<Map<String, Value>> = serde_json::from_str(&printed.out).unwrap();
    rows.into_iter()
        .map(|row| (row["run"].as_str().unwrap().to_owned(), row))
        .collect()
}

/// Numbers as `f64`, so that 8 equals 8.0.
fn plain(value: &Value) -> Value {
    value
        .as_f64()
        .map_or_else(|| value.clone(), |number| json!(number))
}

#[test]
fn rows_of_mindspore_runs_hold_all_of_their_lineage() {
    for folder in ["ms210-summary", "ms20-summary"] {
        let rows = rows(&[&fixture(folder)]);
        let truth = truth(folder);
        let expected = truth["rows"].as_object().unwrap();
        assert!(rows.keys().eq(expected.keys()));
        for (run, expected) in expected {
            let row = &rows[run];
            for (key, value) in expected.as_object().unwrap() {
                assert_eq!(
                    row.get(key).map(plain),
                    Some(plain(value)),
                    "{folder}/{run}: {key}"
                );
            }
            let is_settled = |key: &&String| {
                !["run", "data:pipeline"].contains(&&***key)
                    && !key.starts_with("run:")
                    && !key.starts_with("metric:")
            };
            let keys = row.keys().filter(is_settled).count();
            assert_eq!(keys, expected.as_object().unwrap().len(), "{run}: {row:?}");
        }
        let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (run, row) in &rows {
            if let Some(kind) = row.get("data:pipeline") {
                kinds.entry(kind.as_str().unwrap()).or_default().push(run);
            }
        }
        let kinds: Vec<Vec<&str>> = kinds.into_values().collect();
        assert_eq!(json!(kinds), truth["kinds"], "{folder}");
    }
}

#[test]
fn hyper_parameters_and_summaries_of_scalars_are_columns() {
    let folder = fixture("torch-tensorboard/torch");
    let rows = rows(&[&folder]);
    for (run, expected) in truth("torch").as_object().unwrap() {
        for (key, value) in expected["hparams"].as_object().unwrap() {
            assert_eq!(
                rows[run].get(key).map(plain),
                Some(plain(value)),
                "{run}: {key}"
            );
        }
        for (tag, value) in expected["scalars"].as_object().unwrap() {
            let key = format!("metric:{tag}");
            assert_eq!(
                rows[run].get(&key).map(plain),
                Some(plain(value)),
                "{run}: {key}"
            );
        }
    }
    let columns = "metric:loss@first,metric:loss@min,metric:loss@step_of_min,metric:loss";
    let printed = trainscope(&[
        "table",
        &folder,
        "--format",
        "csv",
        "--filter",
        "hp0",
        "--columns",
        columns,
    ]);
    let lines: Vec<&str> = printed.out.lines().collect();
    assert_eq!(lines[0], format!("run,{columns}"));
    let cells: Vec<&str> = lines[1].split(',').collect();
    assert_eq!((cells[0], cells[4]), ("hp0", "0.25178507"), "{lines:?}");
    assert!(cells[2].parse::<f64>().unwrap() <= cells[1].parse().unwrap());
}

#[test]
fn runs_are_filtered_and_sorted_and_missing_values_are_last() {
    let folder = fixture("ms210-summary");
    let names = |flags: &[&str]| -> Vec<String> {
        let arguments = [
            &[
                "table",
                &*folder,
                "--format",
                "csv",
                "--columns",
                "lineage:loss",
            ],
            flags,
        ];
        let printed = trainscope(&arguments.concat());
        assert_eq!(printed.status, 0, "{printed:?}");
        let lines = printed.out.lines().skip(1);
        lines
            .map(|line| line.split(',').next().unwrap().to_owned())
            .collect()
    };
    let sorted = names(&["--sort", "-lineage:loss"]);
    assert_eq!(sorted[0], "vanishing");
    assert_eq!(sorted[7..], ["overflow", "hp-adam-lineage-lost"]);
    assert_eq!(names(&["--sort", "lineage:loss"])[7..], sorted[7..]);
    assert_eq!(
        names(&["--filter", "learning_rate:>0.01 -optimizer:momentum"]),
        ["hp-batch16", "overflow"]
    );
    assert_eq!(names(&["--filter", "lineage:loss:nan"]), ["overflow"]);
    assert_eq!(
        names(&["--filter", "learning_rate:0.005..0.04"]),
        ["hp-adam"]
    );
    assert_eq!(
        names(&["--filter", "learning_rate:none"]),
        ["hp-adam-lineage-lost"]
    );
    let printed = trainscope(&["table", &folder, "--sort", "learning_rat"]);
    assert_eq!(printed.status, 2);
    assert!(printed.err.contains("learning_rate"), "{printed:?}");
}

#[test]
fn configuration_files_are_columns_and_damage_is_located() {
    let base = tempfile::tempdir().unwrap();
    let event = Path::new(&fixture("torch-tensorboard/torch/hp0"))
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .min()
        .unwrap();
    for (run, config) in [
        ("a", "lr: 5.0\nmodel:\n  layers: 2\n"),
        ("b", "model:\n  layers: [1, 2\n"),
    ] {
        let folder = base.path().join(run);
        fs::create_dir(&folder).unwrap();
        fs::copy(&event, folder.join(event.file_name().unwrap())).unwrap();
        fs::write(folder.join("config.yaml"), config).unwrap();
    }
    fs::write(
        base.path().join("a/args.json"),
        "{\"host\": \"=cmd()\", \"width\": null}",
    )
    .unwrap();
    let folder = base.path().display().to_string();
    let printed = trainscope(&[
        "table",
        &folder,
        "--format",
        "csv",
        "--columns",
        "model.layers,host",
    ]);
    assert_eq!(printed.out, "run,model.layers,host\na,2,'=cmd()\nb,,\n");
    assert!(
        printed.err.contains("b/config.yaml is left out: "),
        "{printed:?}"
    );
    assert!(printed.err.contains("line 2"), "{printed:?}");
}

#[test]
fn runs_are_grouped_and_have_fronts() {
    let folder = fixture("ms210-summary");
    let csv = |flags: &[&str]| -> Vec<Vec<String>> {
        let printed = trainscope(&[&["table", &*folder, "--format", "csv"], flags].concat());
        assert_eq!(printed.status, 0, "{printed:?}");
        let lines = printed.out.lines();
        lines
            .map(|line| line.split(',').map(str::to_owned).collect())
            .collect()
    };
    let rows = csv(&["--group-by", "batch_size", "--columns", "lineage:loss"]);
    assert_eq!(
        rows[0],
        [
            "run",
            "batch_size",
            "runs",
            "lineage:loss",
            "lineage:loss sd",
            "lineage:loss n"
        ]
    );
    let runs: usize = rows[1..]
        .iter()
        .map(|line| line[2].parse::<usize>().unwrap())
        .sum();
    assert_eq!(runs, 9, "{rows:?}");
    let eights = rows.iter().find(|line| line[1] == "8").unwrap();
    assert_eq!(
        (&*eights[2], &*eights[5]),
        ("7", "6"),
        "NaN does not enter: {rows:?}"
    );

    let rows = csv(&[
        "--pareto",
        "lineage:loss,accuracy",
        "--columns",
        "lineage:loss,eval:Accuracy",
    ]);
    assert_eq!(rows[0][3], "front");
    let best = |at: usize, is_less: bool| {
        let numbers = rows[1..]
            .iter()
            .filter_map(|line| line[at].parse::<f64>().ok().zip(Some(line)));
        let numbers = numbers.filter(|(number, line)| number.is_finite() && !line[3].is_empty());
        let sign = if is_less { 1.0 } else { -1.0 };
        let best = numbers.min_by(|a, b| (a.0 * sign).total_cmp(&(b.0 * sign)));
        best.unwrap().1[3].clone()
    };
    assert_eq!(
        (best(1, true).as_str(), best(2, false).as_str()),
        ("1", "1"),
        "{rows:?}"
    );
    let overflow = rows.iter().find(|line| line[0] == "overflow").unwrap();
    assert_eq!(overflow[3], "", "a loss of NaN is on no front");
    let one = trainscope(&["table", &folder, "--pareto", "lineage:loss"]);
    assert_eq!(one.status, 2, "{one:?}");
}

#[test]
fn text_for_people_shows_the_parameters_that_differ() {
    let printed = trainscope(&["table", &fixture("ms210-summary")]);
    let head = printed.out.lines().next().unwrap();
    for key in ["learning_rate", "optimizer"] {
        assert!(head.contains(key), "{head}");
    }
    assert!(!head.contains("loss_function"), "all runs have one: {head}");
    assert!(printed.out.contains("9 of 9 runs"), "{}", printed.out);
}

#[test]
fn importance_names_the_parameter_or_says_that_runs_are_too_few() {
    let folder = fixture("ms210-summary");
    let printed = trainscope(&[
        "importance",
        &folder,
        "--target",
        "eval:Accuracy",
        "--format",
        "json",
    ]);
    assert_eq!(printed.status, 0, "{printed:?}");
    let answer = printed.json();
    assert_eq!(
        (&answer["runs"], &answer["left_out"], &answer["measure"]),
        (&json!(9), &json!(0), &json!("rank"))
    );
    let bar = |name: &str| -> Value {
        let mut all = answer["parameters"].as_array().unwrap().iter();
        let has = |parameter: &&Value| {
            parameter["name"] == name
                || parameter["same_as"]
                    .as_array()
                    .unwrap()
                    .contains(&json!(name))
        };
        all.find(has)
            .unwrap_or_else(|| panic!("no {name}: {answer:#}"))
            .clone()
    };
    let truth = truth("ms210-summary");
    for (name, wanted) in truth["importance"]["eval:Accuracy"].as_object().unwrap() {
        let bar = bar(name);
        match wanted["status"].as_str().unwrap() {
            "constant" => assert_eq!(bar["reason"], "constant", "{name}"),
            "numeric" => {
                let (value, expected) = (
                    bar["value"].as_f64().unwrap(),
                    wanted["spearman"].as_f64().unwrap(),
                );
                assert!(
                    (value - expected).abs() < 1e-12,
                    "{name}: {value} is not {expected}"
                );
            }
            _ if wanted["note"].is_string() => {
                assert_eq!(bar["reason"], "names_each_run", "{name}");
            }
            _ => match wanted["rank_epsilon_squared"].as_f64() {
                Some(expected) => {
                    let value = bar["value"].as_f64().unwrap();
                    assert!(
                        (value - expected.max(0.0).sqrt()).abs() < 1e-12,
                        "{name}: {value}"
                    );
                }
                None => assert_eq!(bar["reason"], "too_few_runs", "{name}"),
            },
        }
    }
    let linear = [
        "importance",
        &folder,
        "--target",
        "accuracy",
        "--measure",
        "linear",
    ];
    assert!(trainscope(&linear).out.contains("learning_rate"));
    let few = trainscope(&["importance", &folder, "--target", "lineage:loss"]);
    assert!(
        few.out
            .contains("7 runs with a finite loss: too few to tell, 8 are needed"),
        "{few:?}"
    );
    let unknown = trainscope(&["importance", &folder, "--target", "eval:Acuracy"]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.err.contains("eval:Accuracy"), "{unknown:?}");
}
