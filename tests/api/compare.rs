//! `/api/compare` and `/api/compare/map`: the same facts as the command, bounded answers, and odd questions.

use serde_json::Value;
use trainscope_api::compare::{MAP_MEDIA_TYPE, decode_map};
use trainscope_api::paths;

use crate::cli::diff::{agree, assert_aligned_by_samples, truth};
use crate::support::lab::{copy_folder, workspace_root};
use crate::support::server::query;
use crate::support::terminal::Dump;
use crate::support::{Lab, Server, wait_for};

/// A server whose `runs` were read.
fn serve(lab: &Lab, runs: u64) -> Server {
    let server = lab.start();
    wait_for("the runs to be read", || {
        let status = server.status();
        (status.ingest.idle && status.runs >= runs).then_some(())
    });
    server
}

fn ask(server: &Server, pairs: &[(&str, &str)]) -> Value {
    let answer = server.get(&format!("{}?{}", paths::COMPARE, query(pairs)));
    assert_eq!(answer.status, 200, "{pairs:?}");
    answer.json()
}

/// Asks until all tensors were read.
fn ask_until_read(server: &Server, runs: &str) -> Value {
    wait_for("all tensors to be read", || {
        let answer = ask(server, &[("runs", runs), ("all", "1")]);
        let others = answer["others"].as_array().unwrap();
        others
            .iter()
            .all(|other| other["reading"] == "done")
            .then_some(answer)
    })
}

#[test]
fn the_api_has_the_settings_partings_and_pipelines_of_the_truth() {
    let lab = Lab::new();
    lab.copy_fixture("ms210-summary", "");
    let server = serve(&lab, 9);
    for expected in truth()["ms210-summary"].as_array().unwrap() {
        let [a, b] = ["a", "b"].map(|side| expected[side].as_str().unwrap());
        let answer = ask_until_read(&server, &format!("{a},{b}"));
        let differs = expected["configuration_differs"].as_object().unwrap();
        let settings = answer["settings"].as_array().unwrap();
        let found: Vec<&Value> = settings
            .iter()
            .filter(|setting| setting["differs"] == true)
            .collect();
        assert_eq!(found.len(), differs.len(), "{expected:#}");
        for setting in found {
            let key = setting["key"].as_str().unwrap();
            for at in [0, 1] {
                // Values are tagged with their type.
                let value = &setting["values"][at];
                let untagged = value.as_object().and_then(|object| object.values().next());
                assert!(
                    agree(untagged.unwrap_or(&Value::Null), &differs[key][at]),
                    "{key} {setting:#}"
                );
            }
        }
        let other = &answer["others"][0];
        for (tag, first) in expected["first_step_of_scalars_beyond_0.01"]
            .as_object()
            .into_iter()
            .flatten()
        {
            let partings = other["partings"].as_array().unwrap();
            let parting = partings
                .iter()
                .find(|parting| parting["name"] == **tag)
                .unwrap();
            assert_eq!(parting["step"], first["step"], "{b} {tag}");
            assert!(
                agree(&parting["difference"], &first["difference"]),
                "{b} {tag}"
            );
        }
    }
    let answer = ask_until_read(&server, "healthy,hp-batch16,pynative");
    assert_eq!(
        answer["others"][1]["sentence"]["en"],
        "They are equal to the bit."
    );
    let differences = &answer["others"][0]["pipeline"]["differences"];
    let batch = differences
        .as_array()
        .unwrap()
        .iter()
        .find(|operation| operation["operation"] == "Batch");
    let batch = &batch.unwrap()["parameters"][0];
    assert_eq!(
        (&batch["name"], &batch["base"], &batch["other"]),
        (&"batch_size".into(), &"8".into(), &"16".into())
    );
    let aligned = ask(
        &server,
        &[("runs", "healthy,hp-batch16"), ("align", "samples")],
    );
    for parting in aligned["others"][0]["partings"].as_array().unwrap() {
        assert_aligned_by_samples(parting);
    }
}

/// The norm of fp16's gradients grows from step 406 until it is ∞ at 411 and the loss NaN at 412; the learning rate of
/// `overflow` jumps at step 40; the other pairs differ by their seeds and precisions only.
#[test]
fn runs_that_differ_from_the_start_are_told_by_what_exceeds_that_noise() {
    let lab = Lab::new();
    copy_folder(&workspace_root().join("sample-runs"), &lab.base());
    let server = serve(&lab, 20);
    let sentence = |runs: &str| {
        let answer = ask_until_read(&server, runs);
        let other = &answer["others"][0];
        let text = |key: &str| other[key]["en"].as_str().unwrap().to_owned();
        (text("sentence"), text("detail"), other["beyond"].clone())
    };
    let (told, detail, beyond) = sentence("transformer-small/bf16,transformer-small/fp16");
    assert_eq!(
        told,
        "They differ from the start (other seed or settings). The first step beyond that noise is 406: scalar \
         train/grad_norm; train/loss of transformer-small/fp16 is NaN at step 412."
    );
    let first = "Relative difference of scalar train/grad_norm at step 0: 0.22.";
    assert!(detail.starts_with(first), "{detail}");
    assert_eq!(beyond["step"], 406);
    let (told, _, beyond) = sentence("mlp/healthy,mlp/overflow");
    let jump = "beyond that noise is 40: scalar train/learning_rate;";
    assert!(told.contains(jump), "{told}");
    assert_eq!(beyond["name"], "train/learning_rate");
    let pair = "transformer-small/bf16,transformer-small/fp16-loss-scale";
    let (told, detail, beyond) = sentence(pair);
    assert_eq!(
        told,
        "They differ from step 0, first in scalar train/grad_norm."
    );
    assert!(
        detail.contains("No later difference exceeds that noise."),
        "{detail}"
    );
    assert!(beyond.is_null());
}

#[test]
fn tensors_part_where_numpy_found_it_and_the_map_shows_it() {
    let lab = Lab::new();
    for name in ["torch-healthy", "torch-unchanged"] {
        copy_folder(&Dump::unpack(name).path, &lab.base().join(name));
    }
    let server = serve(&lab, 2);
    let truth = truth();
    let expected = &truth["torch-steps"]["healthy against unchanged"];
    let answer = ask_until_read(&server, "torch-healthy,torch-unchanged");
    let partings = answer["others"][0]["partings"].as_array().unwrap();
    for (name, step) in expected["parted"].as_object().unwrap() {
        let parting = partings.iter().find(|parting| parting["name"] == **name);
        assert_eq!(
            parting.map(|parting| &parting["step"]),
            Some(step),
            "{name}"
        );
    }
    let pairs = [("base", "torch-healthy"), ("other", "torch-unchanged")];
    let address = format!("{}?{}", paths::COMPARE_MAP, query(&pairs));
    let map = wait_for("all cells to be read", || {
        let map = server.get(&address).json();
        map["progress"].is_null().then_some(map)
    });
    let columns = map["columns"].as_array().unwrap();
    let names: Vec<&str> = map["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    // Weights come first, gradients last.
    assert!(
        names[0].starts_with("weight/") && names[names.len() - 1].contains("grad/"),
        "{names:?}"
    );
    let row = names
        .iter()
        .position(|name| *name == "grad/8.bias")
        .unwrap();
    let column = columns
        .iter()
        .position(|column| column["first"] == expected["first_step"])
        .unwrap();
    let size = expected["tensors_at_first_step"]["grad/8.bias"]
        .as_f64()
        .unwrap();
    let cell = map["cells"][row][column].as_f64().unwrap();
    assert!((cell - size).abs() < 1e-5, "{cell} {size}");
    let bytes = server.get_with(&address, &[("Accept", MAP_MEDIA_TYPE)]);
    let (_, cells) = decode_map(&bytes.body).unwrap();
    assert_eq!(cells.len(), names.len() * columns.len());
}

#[test]
fn odd_questions_are_answered_with_what_is_wrong() {
    let lab = Lab::new();
    let markup = "<b>run</b>";
    for run in ["one", markup] {
        lab.record(run)
            .scalar("<script>", 0, 1.0)
            .scalar("loss", 0, 1.0)
            .scalar("loss", 1, if run == "one" { 1.0 } else { f32::NAN });
    }
    let server = serve(&lab, 2);
    let many: Vec<String> = (0..9).map(|at| format!("run{at}")).collect();
    let many = many.join(",");
    let wrong: [(&[(&str, &str)], u16); 7] = [
        (&[("runs", "one")], 400),
        (&[("runs", &many)], 400),
        (&[("runs", "one,nowhere")], 404),
        (&[("runs", "one,one")], 400),
        (&[("runs", "one,<b>run</b>"), ("tolerance", "NaN")], 400),
        (&[("runs", "one,<b>run</b>"), ("tolerance", "-1")], 400),
        (&[("runs", "one,<b>run</b>"), ("base", "nowhere")], 400),
    ];
    for (pairs, status) in wrong {
        let answer = server.get(&format!("{}?{}", paths::COMPARE, query(pairs)));
        assert_eq!(answer.status, status, "{pairs:?}");
        assert!(!answer.json()["message"].as_str().unwrap().is_empty());
    }
    let answer = ask(&server, &[("runs", "one,<b>run</b>"), ("base", markup)]);
    assert_eq!(answer["runs"][0], markup);
    let first = &answer["others"][0]["partings"][0];
    assert_eq!(
        (&first["name"], &first["difference"]),
        (&"loss".into(), &"NaN".into())
    );
    let pairs = [("base", "one"), ("other", markup), ("limit", "0")];
    let address = format!("{}?{}", paths::COMPARE_MAP, query(&pairs));
    assert_eq!(server.get(&address).status, 400);
}
