//! `trainscope export`: records are complete in every format, and errors list the alternatives.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::cli::check::{Place, floats, npy};
use crate::support::lab::{Lab, Recording, STARTED_SECS, fixture, workspace_root};
use crate::support::server::query;
use crate::support::terminal::{CommandOutput, trainscope_in};

fn export(run: &Path, kind: &str, flags: &[&str]) -> CommandOutput {
    let run = run.display().to_string();
    trainscope_in(
        Path::new("."),
        &[&["export", &run, "--kind", kind], flags].concat(),
    )
}

fn sample(name: &str) -> std::path::PathBuf {
    workspace_root().join("sample-runs").join(name)
}

/// Rows of a table without quoted cells, by its header.
fn rows(printed: &CommandOutput) -> Vec<BTreeMap<&str, &str>> {
    assert_eq!(printed.status, 0, "{printed:?}");
    let mut lines = printed
        .out
        .lines()
        .map(|line| line.split(',').collect::<Vec<&str>>());
    let head = lines.next().unwrap();
    lines
        .map(|cells| head.iter().copied().zip(cells).collect())
        .collect()
}

#[test]
fn an_evaluation_that_writes_step_0_again_hides_nothing_of_the_training() {
    let table = export(
        &fixture("ms20-summary/landscape"),
        "scalars",
        &["--tags", "^conv1_activation_mean$"],
    );
    let rows = rows(&table);
    let training = rows.iter().filter(|row| row["writer"].is_empty());
    let steps: Vec<_> = training.map(|row| row["step"]).collect();
    assert_eq!(steps, ["1", "4", "8", "12", "16", "20", "24", "28", "32"]);
    let evaluation = rows.iter().filter(|row| !row["writer"].is_empty());
    // It wrote the step twice: the newest value counts.
    assert!(evaluation.map(|row| row["step"]).eq(["0"]));
}

#[test]
fn rows_of_concurrent_writers_are_told_apart() {
    let lab = Lab::new();
    lab.record("run").curve("loss", 0..3, |_| 1.0);
    let other = lab
        .base()
        .join("run/events.out.tfevents.1760000000.host.2.0");
    Recording::begin_file(&other, STARTED_SECS).curve("loss", 0..3, |_| 2.0);
    let table = export(&lab.base().join("run"), "scalars", &[]);
    let rows = rows(&table);
    let of = |writer: &str| {
        let matching = rows.iter().filter(|row| row["writer"] == writer);
        matching.map(|row| row["value"]).collect::<Vec<_>>()
    };
    let name = rows.iter().map(|row| row["writer"]).max().unwrap();
    assert!(name.contains("tfevents"), "{rows:?}");
    assert_eq!(of("").len() + of(name).len(), 6);
    assert!(of("").windows(2).all(|pair| pair[0] == pair[1]));
    assert_ne!(of("")[0], of(name)[0]);
}

#[test]
fn scalars_are_those_of_the_api_and_nothing_finite_is_lost() {
    let run = sample("mlp/overflow");
    let table = export(&run, "scalars", &["--tags", "^train/loss$"]);
    let rows = rows(&table);
    let lab = Lab::new();
    let server = lab.start_on(&[&run], &[]);
    let answer = server.wait_for_points(".", "train/loss", rows.len() as u64);
    assert_eq!(rows.len(), answer.steps.len());
    for ((row, step), value) in rows.iter().zip(&answer.steps).zip(&answer.values) {
        assert_eq!(row["step"].parse::<i64>().unwrap(), *step);
        // `NaN` parses as a float.
        let exported: f64 = row["value"].parse().unwrap();
        assert!(
            exported.to_bits() == value.to_bits() || exported.is_nan() && value.is_nan(),
            "{row:?}"
        );
    }
    assert_eq!(
        rows.iter().find(|row| row["value"] == "NaN").unwrap()["step"],
        "43"
    );
    // The same as JSON, byte for byte the API's answer.
    let json = export(
        &run,
        "scalars",
        &["--tags", "^train/loss$", "--format", "json"],
    )
    .json();
    let asked = server
        .get(&format!(
            "/api/scalars?{}",
            query(&[("run", "."), ("tag", "train/loss")])
        ))
        .json();
    for column in ["steps", "values", "wall_times_secs", "non_finite", "total"] {
        assert_eq!(json[0][column], asked[column], "{column}");
    }
    // A range of steps.
    let part = export(
        &run,
        "scalars",
        &[
            "--tags",
            "loss$",
            "--since-step",
            "40",
            "--until-step",
            "45",
        ],
    );
    assert_eq!(
        part.out
            .lines()
            .filter(|line| line.starts_with("train/loss"))
            .count(),
        6
    );
}

#[test]
fn every_kind_comes_as_a_table_and_as_objects() {
    let torch = sample("torch/run1");
    let mindspore = sample("mindspore/healthy");
    for (run, kind, column, least) in [
        (&torch, "histograms", "left", 10),
        (&torch, "images", "encoding", 2),
        (&torch, "audio", "sample_rate_hz", 1),
        (&torch, "graph", "op_type", 44),
        (&torch, "pr-curves", "recall", 10),
        (&sample("mlp/healthy"), "statistics", "mean_abs", 100),
        (&sample("mlp/healthy"), "tensors", "dtype", 6),
        (&sample("mlp/overflow"), "hits", "condition", 20),
        (&sample("mlp/overflow"), "diagnosis", "rule", 7),
        (&sample("torch/hp0"), "hparams", "name", 2),
        (&mindspore, "lineage", "value", 10),
    ] {
        let table = export(run, kind, &[]);
        assert_eq!(table.status, 0, "{kind}: {table:?}");
        let mut lines = table.out.lines();
        let head = lines.next().unwrap();
        assert!(head.split(',').any(|name| name == column), "{kind}: {head}");
        assert!(lines.count() >= least, "{kind}: {}", table.out);
        let json = export(run, kind, &["--format", "json"]);
        assert!(!json.json().as_array().unwrap().is_empty(), "{kind}");
    }
    let text = export(&torch, "text", &["--format", "json"]).json();
    assert!(text[0]["items"][0].is_string(), "{text}");
}

#[test]
fn pictures_are_drawn_without_a_browser() {
    let run = sample("mlp/overflow");
    let svg = export(&run, "scalars", &["--format", "svg", "--tags", "^train/"]).out;
    assert!(
        svg.starts_with("<svg") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    assert!(
        svg.contains(">train/loss</text>") && svg.contains("NaN</text>") || svg.contains("\nNaN\n"),
        "{svg}"
    );
    let folder = tempfile::tempdir().unwrap();
    let (light, dark) = (
        folder.path().join("light.png"),
        folder.path().join("dark.png"),
    );
    for (path, flags) in [(&light, &[][..]), (&dark, &["--dark"])] {
        let path = path.display().to_string();
        let flags = [&["--format", "png", "-o", &path], flags].concat();
        let printed = export(&run, "scalars", &flags);
        assert_eq!(printed.status, 0, "{printed:?}");
    }
    let [light, dark] = [light, dark].map(|path| fs::read(path).unwrap());
    assert_eq!(&light[..8], b"\x89PNG\r\n\x1a\n");
    assert_ne!(light, dark);
    // Three plots of 400 pixels with margins, at two pixels per CSS pixel.
    let width = u32::from_be_bytes(light[16..20].try_into().unwrap());
    assert_eq!(width, 2 * (3 * 400 + 4 * 16));
    let heat = export(&sample("torch/run1"), "histograms", &["--format", "svg"]);
    assert!(heat.out.contains("<rect") && heat.status == 0, "{heat:?}");
}

#[test]
fn files_are_written_byte_by_byte_under_safe_names() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("out");
    let path = to.display().to_string();
    let printed = export(
        &sample("mlp/overflow"),
        "images",
        &["--format", "files", "-o", &path],
    );
    assert_eq!(printed.status, 0, "{printed:?}");
    let mut names: Vec<_> = fs::read_dir(&to)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    assert_eq!(names.len(), 3);
    assert!(
        names[0].ends_with("000001_plane.step_15.0.png"),
        "{names:?}"
    );
    assert_eq!(&fs::read(&names[0]).unwrap()[..4], b"\x89PNG");
    // Elements of tensors, readable by NumPy.
    let to = folder.path().join("npy");
    let path = to.display().to_string();
    let flags = [
        "--format",
        "files",
        "-o",
        &path,
        "--tags",
        "fc3.weight$",
        "--until-step",
        "50",
    ];
    let printed = export(&sample("mlp/overflow"), "tensors", &flags);
    assert_eq!(printed.status, 0, "{printed:?}");
    for entry in fs::read_dir(&to).unwrap() {
        assert_eq!(&fs::read(entry.unwrap().path()).unwrap()[..6], b"\x93NUMPY");
    }
    let nowhere = export(&sample("mlp/overflow"), "images", &["--format", "files"]);
    assert_eq!(nowhere.status, 2);
    assert!(nowhere.err.contains("--output DIR"), "{nowhere:?}");
}

#[test]
fn what_cannot_be_exported_says_what_can() {
    let run = sample("mlp/overflow");
    for (kind, flags, says) in [
        ("audio", &[][..], "has recorded no audio"),
        ("scalars", &["--tags", "nothing"], "train/loss"),
        ("scalars", &["--rank", "7"], "one of these ranks: 0"),
        (
            "scalars",
            &["--since-step", "10", "--until-step", "5"],
            "--since-step 5 --until-step 10",
        ),
        ("text", &["--format", "png"], "--format csv, or json"),
        ("scalars", &["--tags", "("], "regex"),
        (
            "scalars",
            &["--output", "/nowhere/at/all.csv"],
            "cannot be written",
        ),
        ("nothing", &[], "--kind"),
    ] {
        let printed = export(&run, kind, flags);
        assert_eq!(printed.status, 2, "{kind}: {printed:?}");
        assert!(printed.err.contains(says), "{kind}: {printed:?}");
        assert!(printed.out.is_empty(), "{kind}: {printed:?}");
    }
    let many = export(&sample("mlp"), "scalars", &[]);
    assert!(
        many.status == 2 && many.err.contains("one is wanted"),
        "{many:?}"
    );
    let missing = export(&sample("mlp/overflov"), "scalars", &[]);
    assert!(
        missing.status == 2 && missing.err.contains("mlp/overflow"),
        "{missing:?}"
    );
}

#[test]
fn graphs_of_every_framework_are_exported_and_none_is_at_fault() {
    let onnx = fixture("torch-onnx");
    let mut faults = Vec::new();
    for (run, kind) in [
        (onnx, "Conv"),
        (
            fixture("ms210-summary/healthy"),
            "SparseSoftmaxCrossEntropyWithLogits",
        ),
        (fixture("ms20-summary/healthy"), "Conv2D"),
        (fixture("tensorflow-events/v2"), "MatMul"),
        (fixture("tensorflow-events/keras/train"), "Dense"),
        (fixture("torch-tensorboard/torch/run1"), "aten::linear"),
        (
            fixture("torch-tensorboard/tensorboardX/run1"),
            "aten::linear",
        ),
        (fixture("mindspore-graphs"), "Conv2D"),
        (sample("mlp/healthy"), "SoftmaxCrossEntropy"),
    ] {
        let graph = export(&run, "graph", &[]);
        assert!(
            graph.status == 0 && graph.out.contains(kind),
            "{}: {graph:?}",
            run.display()
        );
        let told = export(&run, "diagnosis", &["--format", "json"]).json();
        let told = told.as_array().unwrap();
        assert!(
            told.iter()
                .any(|section| section["topic"] == "model" && section["state"] != "unknown"),
            "{told:?}"
        );
        faults.extend(
            told.iter()
                .filter(|section| section["state"] == "fault")
                .map(|section| (run.clone(), Value::clone(section))),
        );
    }
    assert!(faults.is_empty(), "{faults:#?}");
    // The batch normalisation of this one cancels the bias before it.
    let run = fixture("torch-tensorboard/torch/run1");
    let told = export(&run, "diagnosis", &["--format", "json"]).json();
    let bias = told
        .as_array()
        .unwrap()
        .iter()
        .find(|section| section["rule"] == "useless_bias")
        .unwrap();
    assert_eq!(
        (&bias["state"], &bias["node"]),
        (
            &Value::from("note"),
            &Value::from("Net/Conv2d[conv1]/input.1")
        )
    );
}

#[test]
fn a_graph_is_a_picture_with_the_scopes_that_are_asked_for() {
    let run = sample("mlp/healthy");
    let picture = |flags: &[&str]| export(&run, "graph", &[&["--format", "svg"], flags].concat());
    let closed = picture(&["--depth", "0"]);
    let open = picture(&["--expand", "fc2"]);
    let (closed, open) = match (closed.status, open.status) {
        (0, 0) => (closed.out, open.out),
        _ => panic!("{closed:?} {open:?}"),
    };
    // Names are escaped, and closed scopes show the number of their nodes.
    assert!(
        closed.starts_with("<svg ") && closed.ends_with("</svg>\n"),
        "{closed}"
    );
    for scope in ["fc1", "fc2", "fc3"] {
        assert!(closed.contains(&format!(">{scope}</text>")), "{closed}");
    }
    let boxes = |svg: &str| svg.matches("<rect ").count();
    assert!(boxes(&open) > boxes(&closed), "{open}");
    assert!(
        !closed.contains(">weight<") && open.contains(">weight<"),
        "{open}"
    );
    let deep = picture(&["--depth", "9"]);
    assert!(boxes(&deep.out) > boxes(&open), "{deep:?}");
    let dark = picture(&["--dark"]);
    assert!(dark.out.contains("#0d1013"), "{dark:?}");

    let missing = picture(&["--expand", "fc9"]);
    assert!(
        missing.status == 2 && missing.err.contains("fc1, fc2, fc3"),
        "{missing:?}"
    );
    let many = export(&fixture("torch-onnx"), "graph", &["--format", "svg"]);
    assert!(
        many.status == 2 && many.err.contains("--tags REGEX"),
        "{many:?}"
    );
    let one = export(
        &fixture("torch-onnx"),
        "graph",
        &["--format", "svg", "--tags", "^cnn.dynamo$"],
    );
    assert!(
        one.status == 0 && one.out.contains("node_max_pool2d"),
        "{one:?}"
    );
}

#[test]
fn tensors_that_cannot_be_read_are_left_out_and_told() {
    let place = Place::new();
    let good = npy("'<f4'", false, "(2,)", &floats(&[1.0, f32::NAN]));
    place
        .write("run/steps/0/weight.a.npy", &good)
        .write("run/steps/1/weight.a.npy", &good)
        .write(
            "run/steps/0/buffer.freqs.npy",
            &npy("'<c8'", false, "(1,)", &[0; 8]),
        );
    let run = place.0.path().join("run");
    let out = place.0.path().join("out");
    let out_flag = out.display().to_string();
    let flags = ["--format", "files", "--output", &out_flag];
    let files = || {
        let entries = fs::read_dir(&out).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let printed = export(&run, "tensors", &flags);
    assert_eq!(printed.status, 0, "{printed:?}");
    let wanted = [
        "000001_weight_a.rank_0.step_0.npy",
        "000002_weight_a.rank_0.step_1.npy",
    ];
    assert_eq!(files(), wanted);
    assert!(
        printed
            .err
            .contains("left out  buffer/freqs, rank 0, step 0")
            && printed.err.contains("complex64"),
        "{printed:?}"
    );
    // A truncated file: all others are still written.
    fs::remove_dir_all(&out).unwrap();
    place.write("run/steps/0/gradient.cut.npy", &good[..good.len() - 1]);
    let printed = export(&run, "tensors", &flags);
    assert_eq!(printed.status, 2, "{printed:?}");
    assert_eq!(files(), wanted);
    assert!(
        printed.err.contains("left out  gradient/cut"),
        "{printed:?}"
    );
    // No other files are written.
    let printed = export(
        &run,
        "tensors",
        &[&flags[..], &["--tags", "freqs"]].concat(),
    );
    assert_eq!(printed.status, 2);
    assert!(printed.err.contains("complex64"), "{printed:?}");
}

#[test]
fn statistics_of_dumps_are_computed() {
    let place = Place::new();
    let header = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,Count,NaN Count\n";
    let row = "Mul,Default_Mul-op2,0,0,18,output,0,24,Float32,\"(2)\",2.5,-1,2,0\n";
    place
        .write(
            "run/rank_1/Net/0/4/Add.Default_Add-op1.0.0.9.output.0.DefaultFormat.npy",
            &npy("'<f4'", false, "(3,)", &floats(&[1.0, f32::NAN, 3.0])),
        )
        .write(
            "run/rank_1/Net/0/4/Exp.Default_Exp-op3.0.0.9.output.0.DefaultFormat.npy",
            &npy("'<c8'", false, "(1,)", &[0; 8]),
        )
        .write(
            "run/rank_1/Net/0/4/statistic.csv",
            format!("{header}{row}").as_bytes(),
        );
    let run = place.0.path().join("run");
    let table = export(&run, "statistics", &[]);
    let rows = rows(&table);
    let row = |at: usize| {
        [
            "tag", "rank", "step", "shape", "count", "nan", "min", "max", "mean",
        ]
        .map(|name| rows[at][name])
    };
    assert_eq!(
        row(0),
        [
            "Default_Add-op1",
            "1",
            "4",
            "3",
            "3",
            "1",
            "1.0",
            "3.0",
            "2.0"
        ]
    );
    assert_eq!(
        row(1),
        [
            "Default_Mul-op2",
            "1",
            "4",
            "2",
            "2",
            "0",
            "-1.0",
            "2.5",
            "NaN"
        ]
    );
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["wall_time_secs"], "");
    assert!(table.err.contains("left out  Default_Exp-op3"), "{table:?}");
    let json = export(&run, "statistics", &["--format", "json", "--tags", "Add"]).json();
    assert_eq!(json[0]["stats"]["nan"], 1);
    assert_eq!(json.as_array().unwrap().len(), 1);
}

#[test]
fn constants_of_dumps_are_listed_with_the_first_step_and_not_judged() {
    let place = Place::new();
    let number = |number| npy("'<f4'", false, "(1,)", &floats(&[number]));
    let constants = "run/rank_0/Net/0/constants";
    place
        .write(
            "run/rank_0/Net/0/7/Add.Default_Add-op1.0.0.9.output.0.DefaultFormat.npy",
            &number(1.0),
        )
        .write(
            &format!("{constants}/Parameter.data-1.0.0.3.output.0.DefaultFormat.npy"),
            &number(f32::NEG_INFINITY),
        )
        // MindSpore writes an empty file for values that are not tensors.
        .write(
            &format!("{constants}/Parameter.data-2.0.0.3.output.0.DefaultFormat.npy"),
            b"",
        );
    let table = export(&place.0.path().join("run"), "tensors", &[]);
    let listed: Vec<[&str; 3]> = rows(&table)
        .iter()
        .map(|row| ["tensor", "dtype", "first_step"].map(|name| row[name]))
        .collect();
    assert_eq!(
        listed,
        [
            ["Default_Add-op1", "f32", "7"],
            ["constants/data-1", "f32", "7"]
        ]
    );
    let answer = place.overflows();
    assert_eq!(answer["judged"]["tensors"], 1, "{answer:#}");
    assert_eq!(answer["damaged"].as_array().map(Vec::len), Some(0));
}

#[test]
fn loss_landscapes_are_points_and_maps() {
    let run = fixture("ms20-summary/landscape");
    let table = export(&run, "landscape", &["--tags", "^landscape_.4.$"]);
    let rows = rows(&table);
    assert_eq!(
        rows.iter().filter(|row| row["part"] == "surface").count(),
        81
    );
    let end = rows.iter().find(|row| row["part"] == "end").unwrap();
    assert_eq!((end["x"], end["y"]), ("0.0", "0.0"));
    let loss: f64 = end["z"].parse().unwrap();
    assert!((loss - 0.111_739_1).abs() < 1e-6);
    let picture = export(&run, "landscape", &["--format", "svg"]);
    assert_eq!(picture.status, 0, "{picture:?}");
    assert!(picture.out.contains("landscape_[1, 4]") && picture.out.contains("<polygon"));
}
