//! The table of runs, its importances and its notes over HTTP.

use std::fs::{self, File};
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use trainscope_api::paths;
use trainscope_api::table::{CellValue, TABLE_MEDIA_TYPE, TableAnswer, decode};
use trainscope_format::encode::Moment;
use trainscope_format::hparams::{Experiment, HparamDomain, HparamInfo};
use trainscope_format::{Hparams, RecordWriter};

use crate::support::lab::{fixture, workspace_root};
use crate::support::{Lab, Server, wait_for};

const JSON: &str = "application/json";

/// Runs of MindSpore with lineage, and the values that MindSpore's tools read from them.
fn mindspore(lab: &Lab) -> (Server, Value) {
    lab.copy_fixture("ms210-summary", ".");
    let server = lab.start();
    wait_for("all runs", || (server.run_ids().len() == 9).then_some(()));
    wait_for("an idle server", || {
        server.status().ingest.idle.then_some(())
    });
    let path = workspace_root().join("tests/fixtures/lineage-truth.json");
    let all: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    (server, all["ms210-summary"].clone())
}

fn table(server: &Server, request: &Value) -> TableAnswer {
    let answer = server.post(paths::TABLE, TABLE_MEDIA_TYPE, &request.to_string());
    assert_eq!(
        (answer.status, &*answer.media_type),
        (200, TABLE_MEDIA_TYPE)
    );
    decode(&answer.body).unwrap()
}

fn post(server: &Server, path: &str, request: &Value) -> Value {
    server.post(path, JSON, &request.to_string()).json()
}

fn column(server: &Server, key: &str) -> Value {
    let all = server.get(paths::TABLE_COLUMNS).json();
    let mut columns = all["columns"].as_array().unwrap().iter();
    let found = columns.find(|column| column["key"] == key);
    found.unwrap_or_else(|| panic!("no {key}: {all:#}")).clone()
}

fn text(text: &str) -> CellValue {
    CellValue::Text(text.to_owned())
}

#[test]
fn columns_have_facts_and_cells_have_the_values_of_the_files() {
    let lab = Lab::new();
    let (server, truth) = mindspore(&lab);
    let rate = column(&server, "learning_rate");
    assert_eq!(
        (
            &rate["group"],
            &rate["kind"],
            &rate["runs"],
            &rate["sources"]
        ),
        (
            &json!("parameter"),
            &json!("number"),
            &json!(8),
            &json!(["lineage"])
        )
    );
    let loss = column(&server, "lineage:loss");
    assert_eq!(
        (&loss["direction"], &loss["nan"]),
        (&json!("minimize"), &json!(1))
    );
    assert_eq!(column(&server, "loss_function")["distinct"], 1);
    let size = column(&server, "run:size");
    assert_eq!(
        (&size["unit"], &size["label"]),
        (&json!("bytes"), &json!("size"))
    );

    let rows = truth["rows"].as_object().unwrap();
    let keys: Vec<&String> = rows["hp-adam"].as_object().unwrap().keys().collect();
    let answer = table(&server, &json!({"columns": keys}));
    assert!(answer.runs.iter().eq(rows.keys()));
    for (row, expected) in rows.values().enumerate() {
        for (at, key) in keys.iter().enumerate() {
            let value: CellValue = serde_json::from_value(expected[*key].clone()).unwrap();
            let cell = answer.columns[at].cells.get(row);
            assert!(
                cell.agrees(&value),
                "{}: {key} is {cell:?}",
                answer.runs[row]
            );
        }
    }
    let page = post(
        &server,
        paths::TABLE,
        &json!({"columns": ["learning_rate", "lineage:loss"], "filter": "lineage:loss:nan"}),
    );
    assert_eq!(page["rows"][0]["run"], "overflow");
    assert_eq!(page["rows"][0]["cells"][1], "NaN");
    assert_eq!((&page["total"], &page["cut"]), (&json!(1), &json!(false)));
    let page = post(&server, paths::TABLE, &json!({"limit": 2, "offset": 8}));
    assert_eq!(
        (page["rows"].as_array().unwrap().len(), &page["total"]),
        (1, &json!(9))
    );
    let unknown = server.post(paths::TABLE, JSON, "{\"filter\": \"learning_rat:1\"}");
    assert_eq!(unknown.status, 400);
    let message = unknown.json()["message"].to_string();
    assert!(message.contains("learning_rate is similar"), "{message}");
}

#[test]
fn pipelines_of_one_kind_are_equal_but_for_places_on_the_disk() {
    let lab = Lab::new();
    let (server, truth) = mindspore(&lab);
    let pipelines = server
        .get("/api/table/pipelines?results=eval:Accuracy")
        .json();
    let kinds = pipelines["kinds"].as_array().unwrap();
    let runs: Vec<&Value> = kinds.iter().map(|kind| &kind["runs"]).collect();
    assert_eq!(json!(runs), truth["kinds"]);
    assert_eq!(pipelines["runs_without"], 1);
    let places = pipelines["places"].as_array().unwrap();
    let names: Vec<&str> = places
        .iter()
        .map(|place| place["operation"].as_str().unwrap())
        .collect();
    let batch = names
        .iter()
        .position(|name| name.contains("Batch"))
        .unwrap();
    assert!(
        places[batch]["differing"]
            .as_array()
            .unwrap()
            .contains(&json!("batch_size")),
        "{pipelines:#}"
    );
    let size = |kind: usize| {
        let cell = kinds[kind]["cells"][batch].as_array().unwrap().iter();
        let mut cell = cell.filter(|setting| setting[0] == "batch_size");
        cell.next().unwrap()[1].clone()
    };
    assert_eq!((size(0), size(1)), (json!("8"), json!("16")));
    let best = &kinds[0]["results"][0];
    assert_eq!(
        (&best["key"], &best["runs"], kinds[0]["run_count"].as_u64()),
        (&json!("eval:Accuracy"), &json!(5), Some(5))
    );
    assert!(best["best"].as_f64() >= best["median"].as_f64());
}

#[test]
fn importances_over_http_are_those_of_the_command() {
    let lab = Lab::new();
    let (server, truth) = mindspore(&lab);
    let importance = post(
        &server,
        paths::IMPORTANCE,
        &json!({"target": "eval:Accuracy"}),
    );
    assert_eq!(
        (
            &importance["measure"],
            &importance["goal"],
            &importance["runs"]
        ),
        (&json!("rank"), &json!("maximize"), &json!(9))
    );
    assert!(
        importance["sentences"][0]["zh"]
            .as_str()
            .unwrap()
            .contains("9 个训练"),
        "{importance:#}"
    );
    let expected = &truth["importance"]["eval:Accuracy"]["learning_rate"]["spearman"];
    let mut bars = importance["parameters"].as_array().unwrap().iter();
    let bar = bars.find(|bar| bar["name"] == "learning_rate").unwrap();
    let difference = bar["value"].as_f64().unwrap() - expected.as_f64().unwrap();
    assert!(difference.abs() < 1e-12, "{bar}");
    let constant = importance["parameters"].as_array().unwrap().iter();
    let mut constant = constant.filter(|bar| bar["reason"] == "constant");
    assert_eq!(
        constant.next().unwrap()["words"]["en"],
        "the same in all runs"
    );

    let few = json!({"target": "lineage:loss"});
    let few = post(&server, paths::IMPORTANCE, &few);
    assert!(
        few["sentences"][0]["en"]
            .as_str()
            .unwrap()
            .contains("7 runs"),
        "{few:#}"
    );
    let some = json!({"target": "eval:Accuracy", "measure": "linear",
        "runs": ["healthy", "hp-adam", "frozen", "vanishing"], "filter": "-frozen"});
    assert_eq!(post(&server, paths::IMPORTANCE, &some)["runs"], 3);
    let pair = json!({"target": "eval:Accuracy", "pair": ["learning_rate", "optimizer"]});
    let pair = post(&server, paths::IMPORTANCE_PAIR, &pair);
    assert_eq!(
        (&pair["cells"], &pair["runs"]),
        (&json!([]), &json!(9)),
        "too few for a forest"
    );
    let wrong = json!({"target": "optimizer"}).to_string();
    let refused = server.post(paths::IMPORTANCE, JSON, &wrong);
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (400, &json!("bad_request"))
    );
}

/// Forty runs with four learning rates, of which only 0.01 is good.
fn forty_runs(lab: &Lab) -> Server {
    for run in 0_u8..40 {
        let lr = 10.0_f64.powi(-i32::from(run % 4));
        let opt = if run % 2 == 0 { "adam" } else { "sgd" };
        let name = format!("run{run:02}");
        lab.record(&name)
            .scalar("loss", 0, if run % 4 == 2 { 0.5 } else { 2.0 });
        let config = format!("lr: {lr}\nopt: {opt}\nseed: {run}\n");
        fs::write(lab.base().join(&name).join("config.yaml"), config).unwrap();
    }
    let server = lab.start();
    wait_for("all runs", || (server.run_ids().len() >= 40).then_some(()));
    wait_for("an idle server", || {
        server.status().ingest.idle.then_some(())
    });
    server
}

#[test]
fn parameters_reach_over_the_domain_that_their_experiment_declares() {
    let lab = Lab::new();
    let path = lab.base().join("events.out.tfevents.1700000000.host.1.0");
    let mut writer = RecordWriter::new(File::create(path).unwrap(), 1.7e9).unwrap();
    let lr = HparamInfo {
        name: "lr".to_owned(),
        domain: HparamDomain::Interval {
            min: 1e-5,
            max: 10.0,
        },
        ..HparamInfo::default()
    };
    let experiment = Experiment {
        hparams: vec![lr],
        ..Experiment::default()
    };
    let at = Moment {
        step: 0,
        wall_time_secs: 1.7e9,
    };
    writer
        .hparams(at, &Hparams::Experiment(experiment))
        .unwrap();
    drop(writer);
    let server = forty_runs(&lab);
    let pair = json!({"target": "metric:loss", "pair": ["lr", "seed"]});
    let pair = post(&server, paths::IMPORTANCE_PAIR, &pair);
    let ends = |axis: usize| {
        let edges = pair["axes"][axis]["edges"].as_array().unwrap();
        [edges.first(), edges.last()].map(|edge| edge.and_then(Value::as_f64).unwrap())
    };
    let [least, greatest] = ends(0);
    assert!(
        (least / 1e-5 - 1.0).abs() < 1e-9 && (greatest / 10.0 - 1.0).abs() < 1e-9,
        "{pair:#}"
    );
    let ends = format!("{:?}", ends(1));
    assert_eq!(ends, "[0.0, 39.0]", "its own values");
}

#[test]
fn the_best_runs_of_a_pair_are_in_its_cells() {
    let lab = Lab::new();
    let server = forty_runs(&lab);
    let importance = post(
        &server,
        paths::IMPORTANCE,
        &json!({"target": "metric:loss"}),
    );
    assert_eq!(
        (&importance["measure"], &importance["trust"]),
        (&json!("variance"), &json!("good")),
        "{importance:#}"
    );
    assert_eq!(importance["parameters"][0]["name"], "lr");
    let seed = importance["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .find(|bar| bar["name"] == "seed");
    assert_eq!(seed.unwrap()["is_aside"], true);
    let words = importance["parameters"][0]["words"]["en"].as_str().unwrap();
    assert_eq!(words, "Best runs have lr 0.01 (all of the top 10)");

    let pair = json!({"target": "metric:loss", "pair": ["lr", "opt"]});
    let pair = post(&server, paths::IMPORTANCE_PAIR, &pair);
    assert_eq!(
        (
            pair["axes"][0]["is_log"].as_bool(),
            &pair["axes"][1]["choices"]
        ),
        (Some(true), &json!(["adam", "sgd"]))
    );
    let edges: Vec<f64> = serde_json::from_value(pair["axes"][0]["edges"].clone()).unwrap();
    let cells: Vec<f64> = serde_json::from_value(pair["cells"].clone()).unwrap();
    assert_eq!((edges.len(), cells.len()), (33, 64));
    let at = edges
        .windows(2)
        .position(|edge| (edge[0]..edge[1]).contains(&0.01))
        .unwrap();
    assert!(cells[at] < 1.0 && cells[31] > 1.5, "{cells:?}");
}

#[test]
fn a_configuration_file_that_changes_is_read_again() {
    let lab = Lab::new();
    let server = forty_runs(&lab);
    let lr = || {
        table(&server, &json!({"columns": ["lr"]})).columns[0]
            .cells
            .get(0)
    };
    let text = |lr: &str| fs::write(lab.base().join("run00/config.yaml"), format!("lr: {lr}\n"));
    let before = server.status().seq;
    text("0.125").unwrap();
    wait_for("the value in the file", || {
        (lr() == CellValue::Number(0.125)).then_some(())
    });
    // Notices have a minimum interval, so a request may see the value first.
    wait_for("the notice that announces it to pages", || {
        (server.status().seq > before).then_some(())
    });
}

#[test]
fn only_rows_that_changed_are_sent_again() {
    let lab = Lab::new();
    let mut first = lab.record("a");
    first.scalar("loss", 0, 1.0);
    lab.record("b").scalar("loss", 0, 2.0);
    let server = lab.start();
    server.wait_for_points("b", "loss", 1);
    server.wait_for_points("a", "loss", 1);
    let columns = json!(["metric:loss", "metric:loss@min", "run:steps", "note"]);
    let mut answer = table(&server, &json!({"columns": columns}));
    assert_eq!((&answer.indices, answer.runs.len()), (&None, 2));
    let changes =
        |answer: &TableAnswer| table(&server, &json!({"columns": columns, "since": answer.seq}));
    first.scalar("loss", 1, 3.0);
    server.wait_for_points("a", "loss", 2);
    let later = wait_for("a changed row", || {
        let later = changes(&answer);
        later.runs.contains(&"a".to_owned()).then_some(later)
    });
    assert!(later.indices.is_some_and(|indices| indices.contains(&0)));
    lab.record("0").scalar("loss", 0, 0.5);
    server.wait_for_points("0", "loss", 1);
    let note = json!({"version": 0, "runs": {"b": {"note": "best"}}});
    assert_eq!(server.patch(paths::NOTEBOOK, &note).status, 200);
    wait_for("all changes", || {
        let later = changes(&answer);
        assert!(later.indices.is_some() && answer.update(later));
        let cell = |at: usize, row: usize| answer.columns[at].cells.get(row);
        let has_all = answer.runs == ["a", "b", "0"] && cell(3, 1) == text("best");
        has_all.then_some(())
    });
    let cell = |at: usize, row: usize| answer.columns[at].cells.number(row);
    assert_eq!(
        [cell(0, 0), cell(1, 0), cell(2, 0)],
        [Some(3.0), Some(1.0), Some(1.0)]
    );
    assert_eq!([cell(0, 2), cell(1, 2)], [Some(0.5), Some(0.5)]);
    // A version of another server: everything.
    let all = table(&server, &json!({"columns": columns, "since": 1}));
    assert_eq!((all.indices, all.runs.len()), (None, 3));
}

#[test]
fn a_row_has_all_of_its_sources_and_hostile_files_do_no_harm() {
    let lab = Lab::new();
    let names = ["a", "<script>alert(1)</script>", "c", "d"];
    for (at, name) in (0_u8..).zip(names) {
        lab.record(name).scalar("loss", 0, f32::from(at));
    }
    let put = |run: &str, file: &str, text: &str| {
        fs::write(lab.base().join(run).join(file), text).unwrap();
    };
    put("a", "config.yaml", "lr: 0.1\nname: <b>x</b>\n");
    put("a", "args.json", "{\"lr\": 0.2}");
    put(names[1], "config.yaml", "lr: None\n");
    // A billion laughs.
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (anchor, before) in ('b'..='k').zip('a'..) {
        let alias = format!("*{before}");
        let line = format!("{anchor}: &{anchor} [{}]\n", vec![alias; 9].join(", "));
        bomb.push_str(&line);
    }
    put("c", "config.yaml", &bomb);
    // More columns than a table has.
    let columns: Vec<String> = (0..90_000)
        .map(|number| format!("\"k{number}\":1"))
        .collect();
    put("c", "args.json", &format!("{{{}}}", columns.join(",")));
    let outside = lab.cache().parent().unwrap().join("secret.yaml");
    fs::write(&outside, "password: secret\n").unwrap();
    symlink(&outside, lab.base().join("d").join("config.yaml")).unwrap();
    symlink("../a/args.json", lab.base().join("d").join("args.json")).unwrap();
    let server = lab.start();
    wait_for("all runs", || (server.run_ids().len() == 4).then_some(()));
    wait_for("an idle server", || {
        server.status().ingest.idle.then_some(())
    });

    let all = server.get(paths::TABLE_COLUMNS).json();
    assert_eq!(all["fault_count"], 3, "{:#}", all["faults"]);
    assert!(
        !all.to_string().contains("secret"),
        "a link out of the run is not followed"
    );
    let reasons = all["faults"].to_string();
    assert!(reasons.contains("link out of the folder"), "{reasons}");
    assert!(
        all["values_left_out"].as_u64() > Some(1_000),
        "values are cut, and counted"
    );
    let rate = column(&server, "lr");
    assert_eq!(
        (&rate["kind"], &rate["runs"], &rate["disagreeing"]),
        (&json!("number"), &json!(1), &json!(1))
    );

    let answer = table(&server, &json!({"columns": ["lr", "sources_differ:lr"]}));
    let row = answer.runs.iter().position(|run| run == "a").unwrap();
    assert_eq!(
        answer.columns[0].cells.number(row).map(f64::to_bits),
        Some(0.2_f64.to_bits())
    );
    assert_eq!(answer.columns[1].cells.get(row), CellValue::Truth(true));
    assert!(answer.runs.contains(&names[1].to_owned()));

    let row = server.get("/api/table/row?run=a").json();
    let mut columns = row["columns"].as_array().unwrap().iter();
    let rate = columns.find(|column| column["key"] == "lr").unwrap();
    assert_eq!(
        (&rate["disagrees"], &rate["values"][1]),
        (
            &json!(true),
            &json!({"source": {"configuration": "args.json"}, "value": 0.2})
        )
    );
    assert_eq!(server.get("/api/table/row?run=../a").status, 404);
}

#[test]
fn columns_of_one_meaning_are_shown_together_when_a_user_says_so() {
    let lab = Lab::new();
    for (run, text) in [
        ("a", "lr: 0.1\n"),
        ("b", "learning_rate: 0.2\n"),
        ("c", "lr: 0.3\nlearning_rate: 0.4\n"),
    ] {
        lab.record(run).scalar("loss", 0, 1.0);
        fs::write(lab.base().join(run).join("config.yaml"), text).unwrap();
    }
    let server = lab.start();
    wait_for("all runs", || (server.run_ids().len() == 3).then_some(()));
    wait_for("an idle server", || {
        server.status().ingest.idle.then_some(())
    });
    let runs_with = |key: &str| {
        let all = server.get(paths::TABLE_COLUMNS).json();
        let mut columns = all["columns"].as_array().unwrap().iter();
        columns
            .find(|column| column["key"] == key)
            .map_or(0, |column| column["runs"].as_u64().unwrap())
    };
    assert_eq!((runs_with("lr"), runs_with("learning_rate")), (2, 2));
    let alias = json!({"version": 0, "aliases": {"lr": "rate", "rate": "learning_rate", "x": "x"}});
    assert_eq!(server.patch(paths::NOTEBOOK, &alias).status, 200);
    wait_for("one column", || {
        ((runs_with("lr"), runs_with("learning_rate")) == (0, 3)).then_some(())
    });
    let answer = table(&server, &json!({"columns": ["learning_rate"]}));
    let rates: Vec<Option<f64>> = (0..3)
        .map(|row| answer.columns[0].cells.number(row))
        .collect();
    assert_eq!(rates, [Some(0.1), Some(0.2), Some(0.4)]);
    let row = server.get("/api/table/row?run=c").json();
    let mut columns = row["columns"].as_array().unwrap().iter();
    let rate = columns
        .find(|column| column["key"] == "learning_rate")
        .unwrap();
    assert_eq!(rate["values"].as_array().unwrap().len(), 2, "{rate}");
    let none = json!({"version": 1, "aliases": {}});
    assert_eq!(server.patch(paths::NOTEBOOK, &none).status, 200);
    wait_for("two columns", || {
        ((runs_with("lr"), runs_with("learning_rate")) == (2, 2)).then_some(())
    });
}

#[test]
fn notes_views_and_aliases_survive_everything() {
    let lab = Lab::new();
    lab.record("adam-1").scalar("loss", 0, 1.0);
    lab.record("sgd").scalar("loss", 0, 1.0);
    let server = lab.start();
    server.wait_for_points("sgd", "loss", 1);
    let view = json!({"name": "<b>best", "page": "lineage", "query": "q=loss:<1&cols=lr"});
    let change = json!({
        "version": 0,
        "runs": {"adam-1": {"note": "look again", "tags": ["1"]}},
        "aliases": {"lr": "learning_rate"},
        "views": [view],
    });
    let changed = server.patch(paths::NOTEBOOK, &change).json();
    assert_eq!(
        (&changed["views"], &changed["without_run"]),
        (&json!([view]), &json!([]))
    );
    let many = json!({"version": 1, "views": vec![view.clone(); 201]});
    assert_eq!(
        server.patch(paths::NOTEBOOK, &many).json()["code"],
        "too_large"
    );
    server.stop();

    // Without the index, at another place, with another name of the run.
    fs::remove_dir_all(lab.cache()).unwrap();
    let moved = lab.base().with_file_name("moved");
    fs::rename(lab.base(), &moved).unwrap();
    fs::rename(moved.join("adam-1"), moved.join("adam-2")).unwrap();
    let server = lab.start_on(&[&moved], &[]);
    server.wait_for_points("adam-2", "loss", 1);
    let book = wait_for("an idle server", || {
        let book = server.get(paths::NOTEBOOK).json();
        (book["without_run"] != json!([])).then_some(book)
    });
    assert_eq!(
        book["without_run"],
        json!([{"run": "adam-1", "similar": "adam-2"}])
    );
    assert_eq!(
        (&book["views"], &book["aliases"]["lr"]),
        (&json!([view]), &json!("learning_rate"))
    );
    let notes = book["runs"]["adam-1"].clone();
    let change = json!({"version": book["version"], "runs": {"adam-1": {}, "adam-2": notes}});
    let book = server.patch(paths::NOTEBOOK, &change).json();
    assert_eq!(
        (&book["without_run"], &book["runs"]),
        (
            &json!([]),
            &json!({"adam-2": {"note": "look again", "tags": ["1"]}})
        )
    );
    let answer = table(&server, &json!({"columns": ["note"], "filter": "adam"}));
    assert_eq!(answer.columns[0].cells.get(0), text("look again"));
}

#[test]
fn texts_of_torch_are_numbers_as_recorded() {
    let lab = Lab::new();
    assert!(fixture("torch-tensorboard/torch").is_dir());
    lab.copy_fixture("torch-tensorboard/torch", ".");
    let server = lab.start();
    wait_for("all runs", || (server.run_ids().len() >= 2).then_some(()));
    wait_for("an idle server", || {
        server.status().ingest.idle.then_some(())
    });
    let nesterov = column(&server, "nesterov");
    assert_eq!(nesterov["kind"], "truth");
    assert_eq!(nesterov["sources"], json!(["hparams"]));
}
