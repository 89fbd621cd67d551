//! Answers and errors of the API, and its description.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use axum::http::Method;
use serde_json::Value;
use tower::ServiceExt;
use trainscope_api::error::ErrorCode;
use trainscope_api::paths;
use trainscope_api::runs::{Run, RunList};
use trainscope_api::scalars::{MAX_POINTS, MAX_SERIES, ScalarsAnswer, Series, decode};
use trainscope_api::status::Status;
use trainscope_api::tags::TagList;
use trainscope_format::Kind;

use super::server::{Server, request};

#[tokio::test]
async fn errors_are_json_and_say_where() {
    let server = Server::new();
    for path in ["/api", "/api/", "/api/nothing", "/api/status/x"] {
        server.get(path).await.fails(404, ErrorCode::UnknownPath);
    }
    server
        .post("/api/nothing", &[], "")
        .await
        .fails(404, ErrorCode::UnknownPath);
    for method in [Method::POST, Method::PUT, Method::DELETE] {
        let answer = server.send(request(method, "/api/runs", &[], "")).await;
        answer.fails(405, ErrorCode::MethodNotAllowed);
        assert_eq!(answer.header("allow"), "GET,HEAD");
    }
    server
        .post("/", &[], "")
        .await
        .fails(405, ErrorCode::MethodNotAllowed);

    let message = server
        .get("/api/tags")
        .await
        .fails(400, ErrorCode::BadRequest);
    assert!(message.contains("`run`"), "{message}");
    server
        .get("/api/tags?run=none")
        .await
        .fails(404, ErrorCode::UnknownRun);
    server
        .get("/api/scalars?run=none&tag=x")
        .await
        .fails(404, ErrorCode::UnknownRun);

    for (query, says) in [
        ("points=0", "`points` wants 1 to"),
        ("points=1000001", "`points` wants 1 to"),
        ("points=many", "points"),
        ("points=-1", "points"),
        ("from=2&to=1", "above"),
        ("from=x", "from"),
        ("superseded=2", "`superseded` wants 0 or 1"),
        ("rank=-1", "rank"),
    ] {
        let answer = server
            .get(&format!("/api/scalars?run=a&tag=b&{query}"))
            .await;
        let message = answer.fails(400, ErrorCode::BadRequest);
        assert!(message.contains(says), "{query}: {message}");
    }

    for (body, says) in [
        ("", "line 1 column 0"),
        ("{", "line 1 column 1"),
        ("{\"series\": 1}", "expected a sequence at line 1 column 12"),
        ("{\"series\": [], \"more\": 1}", "unknown field `more`"),
        ("{\"series\": [{\"run\": \"a\"}]}", "missing field `tag`"),
        ("{\"series\": [], \"from\": 2, \"to\": 1}", "above"),
        ("{\"series\": [], \"points\": 0}", "`points`"),
    ] {
        let json = [("content-type", "application/json")];
        let answer = server.post("/api/scalars", &json, body).await;
        let message = answer.fails(400, ErrorCode::BadRequest);
        assert!(message.contains(says), "{body}: {message}");
    }
    let deep = "[".repeat(100_000);
    server
        .post("/api/scalars", &[], &deep)
        .await
        .fails(400, ErrorCode::BadRequest);
    let long = format!("{{\"series\": [], \"fields\": [{}]}}", " ".repeat(4 << 20));
    server
        .post("/api/scalars", &[], &long)
        .await
        .fails(413, ErrorCode::TooLarge);
    let key = "{\"run\":\"a\",\"tag\":\"b\"},".repeat(20_001);
    let many = format!("{{\"series\": [{}]}}", key.trim_end_matches(','));
    server
        .post("/api/scalars", &[], &many)
        .await
        .fails(413, ErrorCode::TooLarge);
}

#[tokio::test]
async fn status_says_who_answers() {
    let server = Server::new();
    let answer = server.get("/api/status").await;
    assert_eq!(answer.header("cache-control"), "no-store");
    let status: Status = answer.json();
    assert_eq!(
        (status.pid, status.started_secs.to_bits()),
        (7, 1.5_f64.to_bits())
    );
    assert_eq!(status.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(status.base_dirs.len(), 1);
    let head = server
        .send(request(Method::HEAD, "/api/status", &[], ""))
        .await;
    assert_eq!((head.status.as_u16(), head.body.len()), (200, 0));
}

/// Runs as JSON, in which NaN equals itself.
fn same(runs: &[Run]) -> serde_json::Value {
    serde_json::to_value(runs).unwrap()
}

#[tokio::test]
async fn pages_of_runs_are_the_whole_list() {
    let server = Server::with_samples();
    let all: RunList = server.get("/api/runs").await.json();
    assert_eq!((all.total, all.cut), (all.runs.len(), false));
    let mut joined = Vec::new();
    while joined.len() < all.total {
        let path = format!("/api/runs?offset={}&limit=4", joined.len());
        let page: RunList = server.get(&path).await.json();
        assert_eq!(page.total, all.total);
        assert!((1..=4).contains(&page.runs.len()));
        joined.extend(page.runs);
        assert_eq!(page.cut, joined.len() < all.total);
    }
    assert_eq!(same(&joined), same(&all.runs));
    let beyond: RunList = server.get("/api/runs?offset=1000000&limit=4").await.json();
    assert_eq!((beyond.runs.len(), beyond.total), (0, all.total));
    for wrong in ["limit=0", "limit=1001", "limit=x", "offset=-1"] {
        server
            .get(&format!("/api/runs?{wrong}"))
            .await
            .fails(400, ErrorCode::BadRequest);
    }
}

#[tokio::test]
async fn runs_are_searched_and_ordered_by_columns_of_the_table() {
    let server = Server::with_samples();
    let all: RunList = server.get("/api/runs").await.json();
    let ids = |list: &RunList| {
        list.runs
            .iter()
            .map(|run| run.id.clone())
            .collect::<Vec<_>>()
    };
    let found: RunList = server.get("/api/runs?filter=MLP&limit=3").await.json();
    let mut expected = ids(&all);
    expected.retain(|id| id.contains("mlp"));
    assert_eq!((found.total, found.cut), (expected.len(), true));
    assert_eq!(ids(&found), expected[..3]);

    let backwards: RunList = server.get("/api/runs?sort=-name").await.json();
    let reversed: Vec<Run> = all.runs.iter().rev().cloned().collect();
    assert_eq!(same(&backwards.runs), same(&reversed));

    let values = |list: &RunList| {
        list.runs
            .iter()
            .map(|run| run.last_step)
            .collect::<Vec<_>>()
    };
    let mut rising = all.clone();
    rising.runs.retain(|run| run.kinds.contains_key("scalars"));
    let known: Vec<String> = ids(&rising);
    for (sort, is_reverse) in [("run:steps", false), ("-run:steps", true)] {
        let mut sorted: RunList = server.get(&format!("/api/runs?sort={sort}")).await.json();
        assert_eq!(sorted.total, all.total);
        sorted.runs.retain(|run| known.contains(&run.id));
        let mut expected = rising.clone();
        expected.runs.sort_by(|a, b| {
            let order = a.last_step.cmp(&b.last_step);
            if is_reverse { order.reverse() } else { order }
        });
        assert_eq!(values(&sorted), values(&expected), "{sort}");
    }
    for unknown in ["sort=run:stops", "filter=run:stops:1"] {
        let failure = server.get(&format!("/api/runs?{unknown}")).await;
        assert!(failure.text().contains("run:steps"), "{}", failure.text());
        failure.fails(400, ErrorCode::BadRequest);
    }
}

#[tokio::test]
async fn scalars_are_the_same_as_json_and_as_columns() {
    let server = Server::with_samples();
    let runs: RunList = server.get("/api/runs").await.json();
    let run = runs
        .runs
        .iter()
        .find(|run| run.kinds.contains_key("scalars"))
        .unwrap();
    let tags: TagList = server
        .get(&format!("/api/tags?run={}", run.id))
        .await
        .json();
    let tag = tags
        .tags
        .iter()
        .find(|tag| tag.kind == Kind::Scalars)
        .unwrap();
    let query = format!(
        "/api/scalars?run={}&tag={}&rank={}",
        run.id, tag.tag, tag.rank
    );
    let one: Series = server
        .get(&format!("{query}&points={MAX_POINTS}"))
        .await
        .json();
    assert_eq!(one.total, tag.points);
    assert_eq!(one.steps.len() as u64, tag.points);
    server
        .get(&format!("{query}x"))
        .await
        .fails(400, ErrorCode::BadRequest);

    let body = serde_json::json!({
        "series": [
            {"run": run.id, "tag": tag.tag, "rank": tag.rank},
            {"run": run.id, "tag": "there is no such tag"},
        ],
        "points": MAX_POINTS,
    });
    let json = server.post("/api/scalars", &[], &body.to_string()).await;
    let many: ScalarsAnswer = json.json();
    assert_eq!(many.series.len(), 2);
    assert_eq!(many.series[1], None);
    let first = many.series[0].as_ref().unwrap();
    assert_eq!(first.steps, one.steps);
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&first.values), bits(&one.values));

    for accept in [
        "application/octet-stream",
        "text/plain;q=0.1, Application/Octet-Stream;q=1",
    ] {
        let columns = server
            .post("/api/scalars", &[("accept", accept)], &body.to_string())
            .await;
        assert_eq!(columns.status, 200);
        assert_eq!(columns.header("content-type"), "application/octet-stream");
        let decoded = decode(&columns.body).unwrap();
        let again = decoded.series[0].as_ref().unwrap();
        assert_eq!(again.steps, one.steps);
        assert_eq!(bits(&again.values), bits(&one.values));
    }
    let any = server
        .post("/api/scalars", &[("accept", "*/*")], &body.to_string())
        .await;
    assert_eq!(any.header("content-type"), "application/json");
}

#[tokio::test]
async fn only_other_machines_get_compressed_answers() {
    let server = Server::with_samples();
    let size = server.get("/api/openapi.json").await.body.len();
    let runs = server.get("/api/runs").await.body.len();
    let gzip = [("accept-encoding", "gzip")];
    for (peer, path, encoding) in [
        ("127.0.0.1:1", "/api/runs", ""),
        ("[::ffff:127.0.0.1]:1", "/api/runs", ""),
        (
            "10.0.0.1:1",
            "/api/runs",
            if runs >= 64 << 10 { "gzip" } else { "" },
        ),
        (
            "10.0.0.1:1",
            "/api/openapi.json",
            if size >= 64 << 10 { "gzip" } else { "" },
        ),
    ] {
        let peer: SocketAddr = peer.parse().unwrap();
        let mut request = request(Method::GET, path, &gzip, "");
        request.extensions_mut().insert(ConnectInfo(peer));
        let response = server.router.clone().oneshot(request).await.unwrap();
        let got = response.headers().get("content-encoding");
        assert_eq!(
            got.map_or("", |value| value.to_str().unwrap()),
            encoding,
            "{peer} {path}"
        );
    }
}

#[tokio::test]
async fn the_description_is_whole_and_valid() {
    let server = Server::new();
    let answer = server.get("/api/openapi.json").await;
    let document: Value = answer.json();
    let spec = oas3::from_json(answer.text()).unwrap();
    assert!(spec.validate_version().is_ok());

    let routes = [
        (paths::STATUS, &["get"][..]),
        (paths::RUNS, &["get"]),
        (paths::TAGS, &["get", "post"]),
        (paths::SCALARS, &["get", "post"]),
        (paths::FINDINGS, &["get"]),
        (paths::NEIGHBOURS, &["get"]),
        (paths::CONDITIONS, &["get"]),
        (paths::WATCHPOINTS, &["get", "put"]),
        (paths::RECHECK, &["post"]),
        (paths::SESSIONS, &["get"]),
        (paths::SESSION_COMMAND, &["post"]),
        (paths::SESSION_TENSORS, &["get"]),
        (paths::SESSION_NODES, &["get"]),
        (paths::SESSION_ATTACH, &["post"]),
        (paths::NOTEBOOK, &["get", "patch"]),
        (paths::TENSOR_INDEX, &["get"]),
        (paths::TENSOR, &["get"]),
        (paths::TENSOR_SUMMARY, &["get"]),
        (paths::TENSOR_HISTORY, &["get"]),
        (paths::TENSOR_FILE, &["get"]),
        (paths::HISTOGRAMS, &["get"]),
        (paths::DISTRIBUTIONS, &["post"]),
        (paths::IMAGES, &["get"]),
        (paths::AUDIO, &["get"]),
        (paths::TEXT, &["get"]),
        (paths::MARKDOWN, &["get"]),
        (paths::TENSORS, &["get"]),
        (paths::PR_CURVES, &["get"]),
        (paths::CUSTOM_SCALARS, &["get"]),
        (paths::LANDSCAPES, &["get"]),
        (paths::LANDSCAPE_SETTINGS, &["get"]),
        (paths::EXPLANATIONS, &["get"]),
        (paths::STATISTICS, &["get"]),
        (paths::PROFILES, &["get"]),
        (paths::DUMPS, &["get"]),
        (paths::RECORDED_HITS, &["get"]),
        (paths::LOSSES, &["get"]),
        (paths::LINEAGE, &["get"]),
        (paths::HPARAMS, &["get"]),
        (paths::PIPELINE, &["get"]),
        (paths::PROFILE, &["get"]),
        (paths::PROFILE_OVERVIEW, &["get"]),
        (paths::PROFILE_OPERATORS, &["get"]),
        (paths::PROFILE_OPERATOR, &["get"]),
        (paths::PROFILE_MEMORY, &["get"]),
        (paths::PROFILE_RANKS, &["get"]),
        (paths::PROFILE_FLAME, &["get"]),
        (paths::PROFILE_DIFF, &["get"]),
        (paths::PROFILE_SQL, &["post"]),
        (paths::TIMELINE, &["get"]),
        (paths::TIMELINE_LANES, &["get"]),
        (paths::TIMELINE_SLICE, &["get"]),
        (paths::TIMELINE_STEP, &["get"]),
        (paths::TIMELINE_AREA, &["get"]),
        (paths::TIMELINE_PATH, &["get"]),
        (paths::TIMELINE_SEARCH, &["get"]),
        (paths::GRAPH, &["get"]),
        (paths::GRAPH_SCENE, &["get"]),
        (paths::GRAPH_SUMMARY, &["get"]),
        (paths::GRAPH_NODE, &["get"]),
        (paths::GRAPH_SEARCH, &["get"]),
        (paths::GRAPH_DIFF, &["get"]),
        (paths::TABLE_COLUMNS, &["get"]),
        (paths::TABLE, &["post"]),
        (paths::TABLE_ROW, &["get"]),
        (paths::TABLE_PIPELINES, &["get"]),
        (paths::IMPORTANCE, &["post"]),
        (paths::IMPORTANCE_PAIR, &["post"]),
        (paths::COMPARE, &["get"]),
        (paths::COMPARE_MAP, &["get"]),
        (paths::BLOB, &["get"]),
        (paths::PROGRAM, &["get"]),
        (paths::LIVE, &["get"]),
        (paths::OPENAPI, &["get"]),
    ];
    let described = document["paths"].as_object().unwrap();
    assert_eq!(described.len(), routes.len());
    for (path, methods) in routes {
        let item = described[path].as_object().unwrap();
        assert_eq!(item.len(), methods.len(), "{path}");
        for method in methods {
            let operation = &item[*method];
            assert!(operation["responses"]["200"].is_object(), "{method} {path}");
            if path != paths::OPENAPI {
                let error = &operation["responses"]["default"]["content"]["application/json"];
                assert_eq!(error["schema"]["$ref"], "#/components/schemas/ApiError");
            }
        }
    }
    let post = &described[paths::SCALARS]["post"];
    let media = post["responses"]["200"]["content"].as_object().unwrap();
    assert!(media.contains_key("application/json"));
    assert!(media.contains_key("application/octet-stream"));
    let columns = &document["components"]["schemas"]["Columns"];
    assert_eq!(
        (&columns["type"], &columns["format"]),
        (&"string".into(), &"binary".into())
    );
    let points = &described[paths::SCALARS]["get"]["parameters"][5];
    assert_eq!(
        (&points["name"], &points["schema"]["maximum"]),
        (&"points".into(), &MAX_POINTS.into())
    );
    let many = &document["components"]["schemas"]["ScalarsRequest"]["properties"]["series"];
    assert_eq!(many["maxItems"], MAX_SERIES);
    assert!(
        !answer.text().contains("](crate"),
        "links lead into the sources"
    );
    let parameters = described[paths::SCALARS]["get"]["parameters"]
        .as_array()
        .unwrap();
    assert!(
        parameters
            .iter()
            .all(|parameter| parameter["in"] == "query")
    );
    assert!(document["components"]["schemas"]["ChangeNotice"].is_object());

    let mut refs = Vec::new();
    collect_refs(&document, &mut refs);
    assert!(!refs.is_empty());
    for reference in refs {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(
            document.pointer(pointer).is_some(),
            "{reference} leads nowhere"
        );
    }
}

fn collect_refs(value: &Value, refs: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                refs.push(reference.clone());
            }
            fields.values().for_each(|field| collect_refs(field, refs));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_refs(item, refs)),
        _ => {}
    }
}
