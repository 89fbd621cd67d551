//! The contract with clients other than our page: exact fields, exact forms of numbers, exact refusals.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use trainscope_api::paths;
use trainscope_api::scalars::{
    COLUMNS_MEDIA_TYPE, Field, ScalarsAnswer, ScalarsRequest, SeriesKey, decode,
};

use crate::support::lab::STARTED_SECS;
use crate::support::{Lab, Server};

/// One run with a scalar of four points, three of them not finite.
fn four_points(lab: &Lab) -> Server {
    lab.record("a/b")
        .scalar("loss", 0, 1.5)
        .scalar("loss", 1, f32::NAN)
        .scalar("loss", 2, f32::INFINITY)
        .scalar("loss", 3, f32::NEG_INFINITY);
    let server = lab.start();
    server.wait_for_points("a/b", "loss", 4);
    server
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn status_has_exactly_these_fields() {
    let lab = Lab::new();
    let server = four_points(&lab);
    server.wait_for_records(4);
    let status = server.get("/api/status").json();
    assert_eq!(
        keys(&status),
        BTreeSet::from([
            "version",
            "may",
            "pid",
            "started_secs",
            "base_dirs",
            "ingest",
            "seq",
            "runs",
            "live_runs",
            "waiting",
            "notes",
        ])
    );
    assert_eq!(
        keys(&status["ingest"]),
        BTreeSet::from([
            "idle",
            "records",
            "bytes",
            "total_bytes",
            "files",
            "committed_records"
        ])
    );
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(status["runs"], 1);
    assert_eq!(status["ingest"]["records"], 4);
    assert_eq!(status["ingest"]["files"], 1);
    assert_eq!(status["ingest"]["bytes"], status["ingest"]["total_bytes"]);
    let base = lab.base().canonicalize().unwrap();
    assert_eq!(status["base_dirs"], json!([base.to_str().unwrap()]));
}

#[test]
fn a_run_has_exactly_these_fields() {
    let lab = Lab::new();
    let server = four_points(&lab);
    let answer = server.get("/api/runs").json();
    assert_eq!(
        keys(&answer),
        BTreeSet::from(["seq", "runs", "cut", "total"])
    );
    let run = &answer["runs"][0];
    assert_eq!(
        keys(run),
        BTreeSet::from([
            "id",
            "status",
            "hparams",
            "health",
            "first_wall_time_secs",
            "last_wall_time_secs",
            "last_step",
            "kinds",
            "ranks",
            "files",
            "files_cut",
            "len_bytes",
            "loss",
            "metric",
            "colour",
        ])
    );
    assert_eq!(run["id"], "a/b");
    // Recorded long ago: a new file alone does not make the run live.
    assert_eq!(run["status"], "stopped");
    assert_eq!(run["first_wall_time_secs"], STARTED_SECS);
    assert_eq!(run["last_step"], 3);
    assert_eq!(run["kinds"], json!({"scalars": 1}));
    assert_eq!(run["ranks"], json!([0]));
    assert_eq!(
        run["loss"],
        json!({"tag": "loss", "rank": 0, "step": 3, "value": "-Infinity"})
    );
    assert_eq!(run["metric"], Value::Null);
    let file = &run["files"][0];
    assert_eq!(
        keys(file),
        BTreeSet::from([
            "path",
            "status",
            "format",
            "len_bytes",
            "read_bytes",
            "records",
            "unread",
            "skipped_records",
            "lost_records",
            "skipped_bytes",
        ])
    );
    assert_eq!(file["path"], "a/b/events.out.tfevents.1760000000.host.1.0");
    assert_eq!(file["format"], "tfevents");
    assert_eq!(file["records"], 4);
    assert_eq!(file["read_bytes"], file["len_bytes"]);
}

#[test]
fn a_tag_has_exactly_these_fields() {
    let lab = Lab::new();
    let server = four_points(&lab);
    assert_eq!(
        server.get("/api/tags?run=a/b").json(),
        json!({
            "tags": [{
                "tag": "loss", "rank": 0, "kind": "scalars", "points": 4, "superseded": 0,
                "first_step": 0, "last_step": 3,
            }],
            "cut": false,
        })
    );
}

#[test]
fn tags_of_several_runs_come_in_the_order_asked_for() {
    let lab = Lab::new();
    lab.record("other").scalar("acc", 0, 1.0);
    let server = four_points(&lab);
    server.wait_for_points("other", "acc", 1);
    let ask = |runs: Value| {
        let body = json!({ "runs": runs }).to_string();
        server.post(paths::TAGS, "application/json", &body)
    };
    let answer = ask(json!(["other", "gone", "a/b"])).json();
    let names: Vec<&Value> = (0..3)
        .map(|n| &answer["lists"][n]["tags"][0]["tag"])
        .collect();
    assert_eq!(names, [&json!("acc"), &Value::Null, &json!("loss")]);
    assert_eq!(answer["cut"], false);
    let too_many = ask(json!(vec!["a/b"; 1_001]));
    assert_eq!(too_many.json()["code"], "too_large");
}

#[test]
fn numbers_that_json_lacks_are_words() {
    let lab = Lab::new();
    let server = four_points(&lab);
    let answer = server.get("/api/scalars?run=a/b&tag=loss").json();
    assert_eq!(answer["total"], 4);
    assert_eq!(answer["cut"], false);
    assert_eq!(answer["steps"], json!([0, 1, 2, 3]));
    assert_eq!(
        answer["values"],
        json!([1.5, "NaN", "Infinity", "-Infinity"])
    );
    assert_eq!(
        answer["wall_times_secs"],
        json!([
            STARTED_SECS,
            STARTED_SECS + 0.1,
            STARTED_SECS + 0.2,
            STARTED_SECS + 0.3
        ])
    );
    let classes: Vec<&str> = answer["non_finite"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["class"].as_str().unwrap())
        .collect();
    assert_eq!(
        BTreeSet::from_iter(classes),
        BTreeSet::from(["NaN", "Infinity", "-Infinity"])
    );
}

#[test]
fn a_spike_survives_zooming_out_and_zooming_in_ends_at_points() {
    let lab = Lab::new();
    lab.record("long")
        .curve("loss", 0..100_000, |step| match step {
            77_777 => 1e30,
            88_888 => f32::NAN,
            _ => 1.0,
        });
    let server = lab.start();
    server.wait_for_points("long", "loss", 100_000);

    let wide = server
        .scalars_where(&[("run", "long"), ("tag", "loss"), ("points", "500")])
        .unwrap();
    assert!(wide.cut && wide.steps.len() <= 500 && wide.steps.len() > 100);
    assert_eq!(wide.total, 100_000);
    let highest = wide.max.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(highest.to_bits(), f64::from(1e30_f32).to_bits());
    assert_eq!(wide.non_finite.len(), 1);
    assert_eq!(
        (wide.non_finite[0].first_step, wide.non_finite[0].count),
        (88_888, 1)
    );
    assert_eq!(*wide.steps.last().unwrap(), 99_999);

    let close = server
        .scalars_where(&[
            ("run", "long"),
            ("tag", "loss"),
            ("from", "77700"),
            ("to", "77899"),
            ("points", "500"),
        ])
        .unwrap();
    assert!(!close.cut);
    assert_eq!(close.steps, (77_700..=77_899).collect::<Vec<i64>>());
    assert_eq!(close.values[77].to_bits(), f64::from(1e30_f32).to_bits());
}

#[test]
fn many_series_come_in_one_answer_in_the_order_asked_for() {
    let lab = Lab::new();
    for run in ["x", "y"] {
        lab.record(run)
            .curve("loss", 0..3, |step| step as f32)
            .curve("accuracy", 0..2, |step| step as f32 / 2.0);
    }
    let server = lab.start();
    server.wait_for_records(10);
    let key = |run: &str, tag: &str| SeriesKey {
        run: run.into(),
        tag: tag.into(),
        ..SeriesKey::default()
    };
    let request = ScalarsRequest {
        series: vec![
            key("y", "loss"),
            key("nowhere", "loss"),
            key("x", "accuracy"),
        ],
        fields: vec![Field::Min, Field::Max, Field::WallTimesSecs],
        ..ScalarsRequest::default()
    };
    let answer = server.many_scalars(&request);
    assert_eq!(answer.series.len(), 3);
    assert_eq!(answer.series[0].as_ref().unwrap().values, [0.0, 1.0, 2.0]);
    assert!(answer.series[1].is_none());
    assert_eq!(answer.series[2].as_ref().unwrap().values, [0.0, 0.5]);
    assert_eq!(answer.series[2].as_ref().unwrap().wall_times_secs.len(), 2);

    let body = serde_json::to_string(&request).unwrap();
    let columns = server.post(paths::SCALARS, COLUMNS_MEDIA_TYPE, &body);
    assert_eq!(columns.media_type, COLUMNS_MEDIA_TYPE);
    // A judgement may have ended between the two answers.
    let decoded = decode(&columns.body).unwrap();
    assert!(decoded.seq >= answer.seq);
    let seq = decoded.seq;
    assert_eq!(decoded, ScalarsAnswer { seq, ..answer });
}

#[test]
fn refusals_have_a_status_and_a_code() {
    let lab = Lab::new();
    let server = four_points(&lab);
    for (path, status, code) in [
        ("/api/scalars?run=a/b&tag=nothing", 404, "unknown_tag"),
        ("/api/scalars?run=nowhere&tag=loss", 404, "unknown_run"),
        (
            "/api/scalars?run=../../etc/passwd&tag=loss",
            404,
            "unknown_run",
        ),
        ("/api/tags?run=nowhere", 404, "unknown_run"),
        ("/api/scalars?run=a/b", 400, "bad_request"),
        ("/api/scalars?run=a/b&tag=loss&points=0", 400, "bad_request"),
        (
            "/api/scalars?run=a/b&tag=loss&points=1000001",
            400,
            "bad_request",
        ),
        (
            "/api/scalars?run=a/b&tag=loss&from=9&to=1",
            400,
            "bad_request",
        ),
        ("/api/nothing", 404, "unknown_path"),
    ] {
        let answer = server.get(path);
        let body = answer.json();
        assert_eq!(
            (answer.status, body["code"].as_str()),
            (status, Some(code)),
            "{path}"
        );
        assert_eq!(keys(&body), BTreeSet::from(["code", "message"]), "{path}");
    }
    let body = server.post("/api/runs", "application/json", "{}");
    assert_eq!(
        (body.status, body.json()["code"].as_str()),
        (405, Some("method_not_allowed"))
    );
    for bad in ["", "{", "[]", r#"{"series": [], "surprise": 1}"#] {
        let answer = server.post(paths::SCALARS, "application/json", bad);
        assert_eq!(
            (answer.status, answer.json()["code"].as_str()),
            (400, Some("bad_request")),
            "{bad}"
        );
    }
}

#[test]
fn other_origins_are_refused() {
    let lab = Lab::new();
    let server = four_points(&lab);
    for headers in [
        [("host", "evil.example")],
        [("origin", "http://evil.example")],
    ] {
        let answer = server.get_with("/api/runs", &headers);
        assert_eq!(
            (answer.status, answer.json()["code"].as_str()),
            (403, Some("foreign_origin")),
            "{headers:?}"
        );
    }
}

#[test]
fn everything_lies_below_a_prefix_if_one_is_given() {
    let lab = Lab::new();
    lab.record("run").scalar("loss", 0, 1.0);
    let server = lab.start_with(&["--url-path-prefix", "/proxy/here"]);
    assert_eq!(server.get("/proxy/here/api/status").status, 200);
    assert_eq!(
        server.get("/proxy/here/").media_type.split(';').next(),
        Some("text/html")
    );
    assert_eq!(server.get("/api/status").status, 404);
}
