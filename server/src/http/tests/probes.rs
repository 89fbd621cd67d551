//! Probes of the platform, and metrics.

use super::server::{Server, ServerOptions, TOKEN};

#[tokio::test]
async fn probes_answer_anybody_and_name_nothing() {
    for prefix in ["", "/a/b"] {
        let server = Server::made(ServerOptions {
            token: true,
            prefix,
            ..ServerOptions::default()
        });
        while server.index.listing().is_none() {
            tokio::task::yield_now().await;
        }
        for path in ["/healthz", "/readyz"] {
            for path in [path.to_owned(), format!("{prefix}{path}")] {
                let answer = server.get_with(&path, &[("host", "10.0.0.7:8080")]).await;
                assert_eq!(
                    (answer.status.as_u16(), answer.text()),
                    (200, "ok"),
                    "{path}"
                );
                assert_eq!(answer.header("cache-control"), "no-store");
            }
        }
        server.end.send_replace(true);
        assert_eq!(server.get("/readyz").await.status, 503);
        assert_eq!(server.get("/healthz").await.status, 200);
    }
}

#[tokio::test]
async fn a_thread_that_has_ended_fails_the_probe_of_life() {
    let mut server = Server::new();
    server.ingester.take().unwrap().stop();
    let answer = server.get("/healthz").await;
    assert_eq!(answer.status, 503);
    assert!(answer.text().contains("has ended"));
}

#[tokio::test]
async fn metrics_count_runs_and_requests_by_route() {
    let server = Server::of_samples(ServerOptions {
        token: true,
        ..ServerOptions::default()
    });
    let bearer = format!("Bearer {TOKEN}");
    let token = [("authorization", bearer.as_str())];
    server.get("/metrics").await;
    server.get_with("/api/tags?run=mlp/healthy", &token).await;
    server.get_with("/api/tags?run=nothing", &token).await;
    server.get("/api/tags?run=mlp/healthy").await;
    let answer = server.get_with("/metrics", &token).await;
    assert!(
        answer
            .header("content-type")
            .starts_with("application/openmetrics-text")
    );
    let text = answer.text();
    for line in [
        "trainscope_runs 27.0",
        "trainscope_unreadable_files 0.0",
        "trainscope_hits{severity=\"error\"} 0",
        "trainscope_http_requests_total{path=\"/api/tags\",status=\"200\"} 1",
        "trainscope_http_requests_total{path=\"/api/tags\",status=\"404\"} 1",
        // Refused before the route was known.
        "trainscope_http_requests_total{path=\"other\",status=\"401\"} 2",
        "trainscope_http_request_seconds_count{path=\"/api/tags\"} 2",
        "# UNIT trainscope_listing_seconds seconds",
        "process_start_time_seconds 1.5",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} in\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
    assert_eq!(text.matches("# EOF").count(), 1);
    assert!(!text.contains("healthy"), "{text}");
}
