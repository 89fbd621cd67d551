//! The live stream.

use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use http_body_util::BodyExt;
use tower::ServiceExt;
use trainscope_api::error::ErrorCode;
use trainscope_api::live::ChangeNotice;

use super::server::{Server, request};

/// The next event of a stream, without comments.
pub(super) async fn event(body: &mut Body) -> Option<(String, String, String)> {
    loop {
        let frame = tokio::time::timeout(Duration::from_secs(20), body.frame())
            .await
            .unwrap()?;
        let Ok(bytes) = frame.unwrap().into_data() else {
            continue;
        };
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let field = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name))
                .map(|rest| rest.trim_start().to_owned())
        };
        if let Some(name) = field("event:") {
            return Some((name, field("id:").unwrap(), field("data:").unwrap()));
        }
    }
}

#[tokio::test]
async fn who_has_missed_something_is_told_to_reload() {
    let server = Server::with_samples();
    let seq = server.index.notices().seq();
    let stale = seq.wrapping_sub(1).to_string();
    let now = seq.to_string();
    let query = format!("/api/live?since={stale}");
    let current = format!("/api/live?since={now}");
    for (path, headers) in [
        (query.as_str(), &[][..]),
        // The header of a reconnecting browser takes precedence over the URL, which stays the same.
        (current.as_str(), &[("last-event-id", stale.as_str())][..]),
        // Sequence numbers of another server that had the port before.
        ("/api/live?since=999999999", &[]),
    ] {
        let response = server
            .router
            .clone()
            .oneshot(request(Method::GET, path, headers, ""))
            .await
            .unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-cache");
        let mut body = response.into_body();
        let (name, id, data) = event(&mut body).await.unwrap();
        assert_eq!((name.as_str(), &data), ("reload", &id), "{path}");
        assert!(id.parse::<u64>().unwrap() >= seq, "{path}: {id}");
    }
    for path in ["/api/live?since=x", "/api/live?since=-1"] {
        server.get(path).await.fails(400, ErrorCode::BadRequest);
    }
    server
        .get_with("/api/live", &[("last-event-id", "x")])
        .await
        .fails(400, ErrorCode::BadRequest);
}

#[tokio::test]
async fn changes_are_told_and_streams_end_with_the_server() {
    let server = Server::new();
    let response = server
        .router
        .clone()
        .oneshot(request(Method::GET, "/api/live", &[], ""))
        .await
        .unwrap();
    let mut body = response.into_body();
    let runs = server.dir.path().join("runs/a");
    std::fs::create_dir(&runs).unwrap();
    std::fs::write(runs.join("events.out.tfevents.1.host"), "").unwrap();
    let (name, id, data) = event(&mut body).await.unwrap();
    assert!(name == "change" || name == "reload", "{name}");
    if name == "change" {
        let notice: ChangeNotice = serde_json::from_str(&data).unwrap();
        assert_eq!(notice.seq.to_string(), id);
    }
    server.end.send_replace(true);
    // Pending events may still come, then the end.
    while event(&mut body).await.is_some() {}
}
