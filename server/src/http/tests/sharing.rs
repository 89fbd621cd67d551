//! A server for many: login by a proxy, permissions, the audit log.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use axum::extract::ConnectInfo;
use axum::http::Method;
use serde_json::{Value, json};
use tower::ServiceExt;
use trainscope_api::error::ErrorCode;
use trainscope_api::live::{ChangeNotice, RunChange};
use trainscope_api::notebook::Notebook;
use trainscope_api::runs::RunList;
use trainscope_api::status::{AccessRole, Status};

use super::live::event;
use super::server::{Answer, Server, ServerOptions, TOKEN, copy_folder, request, samples};
use crate::http::{Audit, Login, LoginSettings};
use crate::people::AccessFile;

const PROXY: &str = "10.1.2.3:4000";
const STRANGER: &str = "10.2.0.1:4000";

/// Rules for the sample runs: `ada` manages all, `vision` annotates what PyTorch wrote, and everybody sees one run.
const RULES: &str = r#"
    [[rule]]
    users = ["ada"]
    may = "manage"
    [[rule]]
    groups = ["vision"]
    runs = ["torch/**"]
    may = "annotate"
    [[rule]]
    users = ["*"]
    runs = ["mlp/healthy"]
    may = "see"
"#;

fn login(dir: &Path) -> Login {
    let file = dir.join("access.toml");
    std::fs::write(&file, RULES).unwrap();
    Login::new(LoginSettings {
        proxies: vec!["10.1.0.0/16".parse().unwrap()],
        user_header: "x-forwarded-user".parse().unwrap(),
        groups_header: "x-forwarded-groups".parse().unwrap(),
        access: Some(AccessFile::open(&file).unwrap()),
    })
}

/// A server of a copy of the sample runs behind a proxy, which writes an audit log into the folder.
fn shared(dir: &Path) -> Server {
    let runs = dir.join("runs");
    copy_folder(&samples(), &runs);
    Server::of_samples(ServerOptions {
        base_dir: Some(runs),
        token: true,
        login: login(dir),
        audit: Audit::open(&dir.join("audit")).unwrap(),
        ..ServerOptions::default()
    })
}

impl Server {
    async fn ask(
        &self,
        peer: &str,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut request = request(method, path, headers, body);
        let peer: SocketAddr = peer.parse().unwrap();
        request.extensions_mut().insert(ConnectInfo(peer));
        self.send(request).await
    }

    /// A request that the proxy passes on for a person.
    async fn ask_as(&self, who: (&str, &str), method: Method, path: &str, body: &str) -> Answer {
        let headers = [("x-forwarded-user", who.0), ("x-forwarded-groups", who.1)];
        self.ask(PROXY, method, path, &headers, body).await
    }

    async fn get_as(&self, who: (&str, &str), path: &str) -> Answer {
        self.ask_as(who, Method::GET, path, "").await
    }
}

const ADA: (&str, &str) = ("ada", "");
const BOB: (&str, &str) = ("bob", "hiking, vision");
const EVE: (&str, &str) = ("eve", "");

#[tokio::test]
async fn headers_of_login_are_believed_from_the_proxy_alone() {
    let dir = tempfile::tempdir().unwrap();
    let server = shared(dir.path());
    let name = ("x-forwarded-user", "ada");
    let status = |answer: Answer| answer.json::<Status>();
    let answer = server
        .ask(PROXY, Method::GET, "/api/status", &[name], "")
        .await;
    assert_eq!(status(answer).may, AccessRole::Manage);
    for (peer, headers, code) in [
        (STRANGER, &[name][..], ErrorCode::TokenWanted),
        ("[::ffff:10.2.0.1]:1", &[name], ErrorCode::TokenWanted),
        (PROXY, &[], ErrorCode::LoginWanted),
        (PROXY, &[("x-forwarded-user", " ")], ErrorCode::LoginWanted),
        (
            PROXY,
            &[name, ("x-forwarded-user", "eve")],
            ErrorCode::LoginWanted,
        ),
        (
            PROXY,
            &[("x-forwarded-email", "ada")],
            ErrorCode::LoginWanted,
        ),
    ] {
        let answer = server
            .ask(peer, Method::GET, "/api/status", headers, "")
            .await;
        answer.fails(401, code);
    }
    let bearer = format!("Bearer {TOKEN}");
    let token = ("authorization", bearer.as_str());
    // The token is of the person who runs the server, and a forged name beside it is ignored.
    for peer in [STRANGER, PROXY] {
        let answer = server
            .ask(peer, Method::GET, "/api/status", &[token], "")
            .await;
        assert_eq!(status(answer).may, AccessRole::Manage, "{peer}");
    }
    let forged = [token, ("x-forwarded-user", "eve")];
    let answer = server
        .ask(STRANGER, Method::GET, "/api/status", &forged, "")
        .await;
    assert_eq!(status(answer).runs, 27);
    // A proxy writes IPv4 addresses as IPv6, too.
    let answer = server
        .ask(
            "[::ffff:10.1.2.3]:1",
            Method::GET,
            "/api/status",
            &[name],
            "",
        )
        .await;
    assert_eq!(status(answer).may, AccessRole::Manage);
}

#[tokio::test]
async fn lists_and_counts_hold_what_a_person_may_see() {
    let dir = tempfile::tempdir().unwrap();
    let server = shared(dir.path());
    let notes = json!({"version": 0, "views": [{"name": "a", "page": "compare", "query": "run=mlp/torn"}],
        "runs": {"mlp/torn": {"note": "secret"}, "torch/run1": {"note": "known"}}});
    let answer = server
        .ask_as(ADA, Method::PATCH, "/api/notebook", &notes.to_string())
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    for (who, runs, may) in [
        (ADA, 27, AccessRole::Manage),
        (BOB, 10, AccessRole::Annotate),
        (EVE, 1, AccessRole::See),
    ] {
        let list: RunList = server.get_as(who, "/api/runs").await.json();
        assert_eq!((list.runs.len(), list.total), (runs, runs), "{who:?}");
        let page: RunList = server.get_as(who, "/api/runs?limit=1").await.json();
        assert_eq!((page.total, page.cut), (runs, runs > 1), "{who:?}");
        let found = "/api/runs?filter=torn&sort=-name";
        let found: RunList = server.get_as(who, found).await.json();
        assert_eq!(found.total, usize::from(who == ADA), "{who:?}");
        let status: Status = server.get_as(who, "/api/status").await.json();
        assert_eq!((status.runs, status.may), (runs as u64, may), "{who:?}");
        assert_eq!(status.ingest.files == 0, runs != 27);
        let columns: Value = server.get_as(who, "/api/table/columns").await.json();
        assert_eq!(columns["runs"], runs, "{who:?}");
        let page = r#"{"columns": ["note"]}"#;
        let headers = [
            ("x-forwarded-user", who.0),
            ("x-forwarded-groups", who.1),
            ("accept", "application/json"),
        ];
        let page: Value = server
            .ask(PROXY, Method::POST, "/api/table", &headers, page)
            .await
            .json();
        assert_eq!(page["rows"].as_array().unwrap().len(), runs, "{page}");
        let notebook: Notebook = server.get_as(who, "/api/notebook").await.json();
        let keys: Vec<_> = notebook.runs.keys().map(String::as_str).collect();
        let (seen, views): (&[_], _) = match runs {
            27 => (&["mlp/torn", "torch/run1"], 1),
            10 => (&["torch/run1"], 0),
            _ => (&[], 0),
        };
        assert_eq!((keys.as_slice(), notebook.views.len()), (seen, views));
        for path in [
            "/api/runs",
            "/api/table/columns",
            "/api/notebook",
            "/api/sessions",
            "/api/status",
        ] {
            let answer = server.get_as(who, path).await;
            let names_others = answer.text().contains("mlp/torn");
            assert!(runs == 27 || !names_others, "{who:?} {path}");
        }
    }
    let metrics = server.get_as(BOB, "/metrics").await;
    metrics.fails(403, ErrorCode::Forbidden);
}

/// Bodies of the requests that only ask, by path, with `RUN` for the name of a run.
const QUESTIONS: [(&str, &str); 8] = [
    ("/api/tags", r#"{"runs": ["RUN"]}"#),
    (
        "/api/scalars",
        r#"{"series": [{"run": "RUN", "tag": "loss"}]}"#,
    ),
    (
        "/api/distributions",
        r#"{"series": [{"run": "RUN", "tag": "w"}]}"#,
    ),
    (
        "/api/table",
        r#"{"columns": ["note"], "filter": "run:RUN"}"#,
    ),
    (
        "/api/importance",
        r#"{"target": "metric:loss", "runs": ["RUN"]}"#,
    ),
    (
        "/api/importance/pair",
        r#"{"target": "metric:loss", "runs": ["RUN"], "pair": ["lr", "batch"]}"#,
    ),
    (
        "/api/profile/sql",
        r#"{"run": "RUN", "sql": "select count(*) from slices"}"#,
    ),
    ("/api/recheck", r#"{"run": "RUN"}"#),
];

/// The requests that change something, by method and path.
const CHANGES: [(&str, &str, &str); 5] = [
    (
        "patch",
        "/api/notebook",
        r#"{"version": 0, "runs": {"RUN": {"note": "a"}}}"#,
    ),
    (
        "put",
        "/api/watchpoints",
        r#"{"run": "RUN", "only_this_run": true, "version": "", "watchpoints": null}"#,
    ),
    ("post", "/api/recheck", r#"{"run": "RUN"}"#),
    (
        "post",
        "/api/session/attach",
        r#"{"run": "RUN", "level": "error"}"#,
    ),
    (
        "post",
        "/api/session/command",
        r#"{"session": "a", "turn": 0, "command": {"command": "continue"}}"#,
    ),
];

/// All requests of the documented API about a run, some of them beside a second one: method, path with query, body.
fn requests_about(run: &str, second: &str) -> Vec<(Method, String, String)> {
    let document: Value = serde_json::from_str(include_str!("../openapi.json")).unwrap();
    let mut requests = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let named = |name: &str| name == path;
            if method != "get" {
                let question = QUESTIONS.iter().find(|(path, _)| named(path));
                let change = CHANGES
                    .iter()
                    .find(|(of, path, _)| of == method && named(path));
                let body = question
                    .map(|(_, body)| body)
                    .or(change.map(|(_, _, body)| body));
                let body = body.unwrap_or_else(|| panic!("no body is known for {method} {path}"));
                let method = method.to_uppercase().parse().unwrap();
                requests.push((method, path.clone(), body.replace("RUN", run)));
                continue;
            }
            let parameters = operation["parameters"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let wanted = parameters.iter().filter_map(|parameter| {
                let name = parameter["name"].as_str()?;
                let is_wanted = parameter["required"] == true || name == "base" || name == "other";
                is_wanted.then_some(name)
            });
            let query: Vec<String> = wanted
                .map(|name| match name {
                    "run" | "runs" => format!("{name}={run}"),
                    "base" | "other" => format!("{name}={second}"),
                    "tag" | "tensor" | "node" | "name" | "q" | "query" => format!("{name}=loss"),
                    "session" | "id" => format!("{name}=0-0-8"),
                    _ => format!("{name}=1"),
                })
                .collect();
            let named = [run, second];
            if query
                .iter()
                .any(|part| named.iter().any(|run| part.ends_with(run)))
            {
                let target = format!("{path}?{}", query.join("&"));
                requests.push((Method::GET, target, String::new()));
            }
        }
    }
    requests
}

#[tokio::test]
async fn a_forbidden_run_is_answered_as_one_that_does_not_exist() {
    let dir = tempfile::tempdir().unwrap();
    let server = shared(dir.path());
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for forbidden in [
        "mlp/torn",
        "mlp/overflow",
        "torch/eight-ranks",
        "torch/profiled",
        "mindspore/overflow",
        "transformer-small/fp16",
        "program/double-softmax",
    ] {
        // A name of the same form that sorts next to it.
        let absent = format!("{forbidden}0");
        let alone = requests_about(forbidden, forbidden).into_iter();
        let alone = alone.zip(requests_about(&absent, &absent));
        // Beside a run that she may see.
        let beside = requests_about("mlp/healthy", forbidden).into_iter();
        let beside = beside.zip(requests_about("mlp/healthy", &absent));
        let beside = beside.filter(|((_, path, _), _)| {
            path.ends_with(forbidden) || path.contains(&format!("{forbidden}&"))
        });
        let pairs = alone.chain(beside);
        for ((method, path, body), (_, other_path, other_body)) in pairs {
            // Her answers are cached for everybody: they must not reach others.
            if !CHANGES.iter().any(|(_, known, _)| *known == path) {
                let known = server.ask_as(ADA, method.clone(), &path, &body).await;
                let status = known.status.as_u16();
                assert!(
                    !known.text().contains("not understood"),
                    "{path} {}",
                    known.text()
                );
                *statuses.entry(status).or_default() += 1;
            }
            let hidden = server.ask_as(EVE, method.clone(), &path, &body).await;
            let nothing = server
                .ask_as(EVE, method.clone(), &other_path, &other_body)
                .await;
            let text = nothing.text().replace(&absent, forbidden);
            assert_eq!(
                hidden.status,
                nothing.status,
                "{method} {path} {}",
                hidden.text()
            );
            assert_eq!(
                without_seq(hidden.text()),
                without_seq(&text),
                "{method} {path}"
            );
        }
    }
    // The requests are real ones: those who may see the runs get answers.
    assert!(statuses[&200] > 60, "{statuses:?}");
}

/// The text of an answer without the number of the last change.
fn without_seq(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(mut fields)) => {
            fields.remove("seq");
            Value::Object(fields).to_string()
        }
        _ => text.to_owned(),
    }
}

#[tokio::test]
async fn notices_name_the_runs_that_a_person_may_see() {
    let dir = tempfile::tempdir().unwrap();
    let server = shared(dir.path());
    let headers = [("x-forwarded-user", "eve"), ("x-forwarded-groups", "")];
    let mut asked = request(Method::GET, "/api/live", &headers, "");
    let peer: SocketAddr = PROXY.parse().unwrap();
    asked.extensions_mut().insert(ConnectInfo(peer));
    let response = server.router.clone().oneshot(asked).await.unwrap();
    let mut body = response.into_body();
    let of_run = |run: &str| RunChange {
        run: run.to_owned(),
        tags: Vec::new(),
        tags_changed: false,
        last_step: None,
    };
    let changes = ["mlp/healthy", "mlp/torn", "torch/run1"].map(of_run);
    server.index.notices().announce(changes.to_vec(), false);
    let (name, _, data) = event(&mut body).await.unwrap();
    let notice: ChangeNotice = serde_json::from_str(&data).unwrap();
    assert_eq!(name, "change");
    assert_eq!(notice.runs, [of_run("mlp/healthy")]);
    assert_eq!(notice.ingest.files, 0);
}

#[tokio::test]
async fn bytes_of_a_forbidden_run_have_no_address() {
    let dir = tempfile::tempdir().unwrap();
    let server = shared(dir.path());
    let images = "/api/images?run=torch/run1";
    let tags: Value = server.get_as(ADA, "/api/tags?run=torch/run1").await.json();
    let tag = tags["tags"]
        .as_array()
        .unwrap()
        .iter()
        .find(|tag| tag["kind"] == "images");
    let tag = tag.unwrap()["tag"].as_str().unwrap().to_owned();
    let records = server.get_as(ADA, &format!("{images}&tag={tag}")).await;
    let text = records.text();
    let id = text
        .split("\"blob\":\"")
        .nth(1)
        .or_else(|| text.split("\"id\":\"").nth(1));
    let id = id
        .unwrap_or_else(|| panic!("{text}"))
        .split('"')
        .next()
        .unwrap();
    let path = format!("/api/blob?id={id}");
    assert_eq!(server.get_as(BOB, &path).await.status, 200);
    server
        .get_as(EVE, &path)
        .await
        .fails(404, ErrorCode::UnknownBlob);
}

#[tokio::test]
async fn a_role_allows_its_changes_and_the_log_has_them() {
    let dir = tempfile::tempdir().unwrap();
    let server = shared(dir.path());
    let note = |run: &str, version: u64| {
        json!({"version": version, "runs": {run: {"tags": ["good"]}}}).to_string()
    };
    let patch = |who, body: String| {
        let server = &server;
        async move {
            server
                .ask_as(who, Method::PATCH, "/api/notebook", &body)
                .await
        }
    };
    patch(EVE, note("mlp/healthy", 0))
        .await
        .fails(403, ErrorCode::Forbidden);
    patch(EVE, note("mlp/torn", 0))
        .await
        .fails(404, ErrorCode::UnknownRun);
    patch(BOB, r#"{"version": 0, "pinned": ["loss"]}"#.to_owned())
        .await
        .fails(403, ErrorCode::Forbidden);
    let answer = patch(BOB, note("torch/run1", 0)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let watch =
        r#"{"run": "torch/run1", "only_this_run": true, "version": "", "watchpoints": null}"#;
    let answer = server
        .ask_as(BOB, Method::PUT, "/api/watchpoints", watch)
        .await;
    answer.fails(403, ErrorCode::Forbidden);
    server
        .ask(STRANGER, Method::GET, "/api/runs?token=wrong", &[], "")
        .await;
    server.get_as(BOB, "/api/runs").await;

    let log = std::fs::read_to_string(dir.path().join("audit")).unwrap();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<_> = lines
        .iter()
        .map(|line| {
            (
                line["user"].as_str(),
                line["peer"].as_str().unwrap(),
                line["status"].as_u64().unwrap(),
            )
        })
        .collect();
    let proxy = "10.1.2.3";
    let wanted = [
        (Some("eve"), proxy, 403),
        (Some("bob"), proxy, 403),
        (Some("bob"), proxy, 200),
        (Some("bob"), proxy, 403),
        (None, "10.2.0.1", 401),
    ];
    assert_eq!(told, wanted, "{log}");
    assert_eq!(lines[2]["route"], "/api/notebook");
    assert_eq!(lines[2]["run"], "torch/run1");
    assert_eq!(
        lines[2]["changes"],
        json!(["notebook of `torch/run1`.tags: null → [\"good\"]"])
    );
    assert!(!log.contains(TOKEN) && !log.contains("wrong"), "{log}");
    let permissions = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(dir.path().join("audit"))
            .unwrap()
            .permissions(),
    );
    assert_eq!(permissions & 0o777, 0o600);
}

#[tokio::test]
async fn a_server_that_is_read_only_refuses_every_change() {
    let server = Server::of_samples(ServerOptions {
        is_read_only: true,
        ..ServerOptions::default()
    });
    let status: Status = server.get("/api/status").await.json();
    assert_eq!(status.may, AccessRole::See);
    let mut refused = 0;
    for (method, path, body) in requests_about("mlp/healthy", "mlp/healthy") {
        let answer = server
            .send(request(method.clone(), &path, &[], &body))
            .await;
        let name = method.as_str().to_lowercase();
        if CHANGES
            .iter()
            .any(|(of, known, _)| *of == name && *known == path)
        {
            // A session that does not exist is not found first.
            if path != "/api/session/command" {
                answer.fails(403, ErrorCode::ReadOnly);
            }
            refused += 1;
        } else {
            assert_ne!(answer.status, 403, "{method} {path}");
        }
    }
    assert_eq!(refused, CHANGES.len());
}
