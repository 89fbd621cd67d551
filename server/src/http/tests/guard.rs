//! Host names, token and headers.

use trainscope_api::error::ErrorCode;

use super::server::{Server, ServerOptions, TOKEN};
use crate::http::headers;

#[tokio::test]
async fn every_answer_is_confined_to_its_origin() {
    let server = Server::new();
    let answers = [
        server.get("/").await,
        server.get("/run/a/b/scalars").await,
        server.get("/missing.js").await,
        server.get("/api/status").await,
        server.get("/api/runs").await,
        server.get("/api/tags").await,
        server.get("/api/nothing").await,
        server.get("/api/openapi.json").await,
        server.post("/api/status", &[], "").await,
        server.post("/", &[], "").await,
        server.post("/api/scalars", &[], "{").await,
        server.get_with("/", &[("host", "evil.example")]).await,
        server
            .get_with("/api/status", &[("origin", "http://evil.example")])
            .await,
    ];
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(
            answer.header("content-security-policy"),
            headers::POLICY,
            "{number}"
        );
        assert_eq!(
            answer.header("x-content-type-options"),
            "nosniff",
            "{number}"
        );
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{number}");
        for name in ["cross-origin-opener-policy", "cross-origin-resource-policy"] {
            assert_eq!(answer.header(name), "same-origin", "{number}");
        }
        assert_eq!(answer.header("access-control-allow-origin"), "", "{number}");
    }
}

#[tokio::test]
async fn foreign_names_are_refused() {
    let server = Server::new();
    for headers in [
        &[("host", "evil.example")][..],
        &[("host", "")],
        &[("host", "localhost.evil.example:8080")],
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("host", "localhost"), ("host", "evil.example")],
    ] {
        for path in ["/", "/api/status", "/api/live"] {
            let answer = server.get_with(path, headers).await;
            let message = answer.fails(403, ErrorCode::ForeignOrigin);
            assert!(message.contains("of this server"), "{message}");
        }
    }
    for headers in [
        &[("host", "127.0.0.1:1")][..],
        &[("host", "[::1]:8080"), ("origin", "http://[::1]:8080")],
        // A proxy that changes the port of `Host`.
        &[
            ("origin", "https://localhost:8443"),
            ("sec-fetch-site", "same-origin"),
        ],
        &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")],
        &[
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
        ],
    ] {
        assert_eq!(server.get_with("/api/status", headers).await.status, 200);
    }
}

#[tokio::test]
async fn pages_of_other_ports_command_nothing() {
    let server = Server::new();
    let command = r#"{"session": "1", "turn": 0, "command": {"name": "pause"}}"#;
    let path = trainscope_api::paths::SESSION_COMMAND;
    for headers in [
        &[("origin", "http://localhost:9999")][..],
        &[("origin", "http://[::1]:7")],
        &[("origin", "https://127.0.0.1:1")],
        &[
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-mode", "no-cors"),
        ],
        &[("sec-fetch-site", "cross-site")],
        // Forms navigate too.
        &[
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-mode", "navigate"),
        ],
    ] {
        let answer = server.post(path, headers, command).await;
        answer.fails(403, ErrorCode::ForeignOrigin);
    }
    // Bodies that a page may send to another server without asking it first.
    for media_type in ["", "text/plain", "application/x-www-form-urlencoded"] {
        let answer = server
            .post(path, &[("content-type", media_type)], command)
            .await;
        let message = answer.fails(400, ErrorCode::BadRequest);
        assert!(message.contains("application/json"), "{message}");
    }
    let headers = [
        ("origin", "http://localhost:8080"),
        ("content-type", "application/json; charset=utf-8"),
    ];
    let answer = server.post(path, &headers, command).await;
    answer.fails(404, ErrorCode::UnknownSession);
}

#[tokio::test]
async fn the_token_is_asked_for_once() {
    let server = Server::made(ServerOptions {
        token: true,
        ..ServerOptions::default()
    });
    server
        .get("/api/runs")
        .await
        .fails(401, ErrorCode::TokenWanted);
    let asked = server.get("/run/a").await;
    assert_eq!(asked.status, 401);
    assert!(asked.text().contains("name=\"token\""));
    assert!(!asked.text().contains("style="), "the policy forbids it");

    // A token in the query of the API is refused, since it would end up in logs.
    let api = server.get(&format!("/api/runs?token={TOKEN}")).await;
    api.fails(401, ErrorCode::TokenWanted);
    let wrong = server.get("/?token=0123456789abcdef0123456789abcdee").await;
    assert_eq!(wrong.status, 401);
    assert!(wrong.text().contains("not the token"));
    assert_eq!(wrong.header("set-cookie"), "");

    // The form leads to the requested place, and no address contains the token.
    let place = "/run/a/debugger?step=412";
    assert!(
        server
            .get(place)
            .await
            .text()
            .contains(&format!("action=\"{place}\""))
    );
    let opened = server.post(place, &[], &format!("token={TOKEN}")).await;
    assert_eq!(
        (opened.status.as_u16(), opened.header("location")),
        (303, place)
    );
    assert!(opened.header("set-cookie").starts_with("trainscope-8080="));
    for wrong in ["token=", "token=wrong", "", &"x".repeat(10_000)] {
        let refused = server.post(place, &[], wrong).await;
        assert_eq!(refused.status, 401);
        assert_eq!(refused.header("set-cookie"), "");
        assert!(
            refused
                .header("content-security-policy")
                .contains("style-src 'sha256-")
        );
    }
    let chinese = server
        .get_with(place, &[("accept-language", "zh-CN,zh;q=0.9")])
        .await;
    assert!(chinese.text().contains("此服务器需要令牌"));
    // Language and theme are links, which keep the place.
    let link = format!("href=\"{place}&amp;lang=zh\"");
    assert!(server.get(place).await.text().contains(&link));
    let chosen = server.get(&format!("{place}&lang=zh&theme=dark")).await;
    let text = chosen.text();
    assert!(text.contains("此服务器需要令牌") && text.contains("data-theme=\"dark\""));
    let back = format!("href=\"{place}&amp;theme=dark&amp;lang=en\"");
    assert!(text.contains(&back), "{text}");

    let welcome = server
        .get(&format!("//evil.example/x?a=1&token={TOKEN}&b=2"))
        .await;
    assert_eq!(welcome.status, 303);
    assert_eq!(welcome.header("location"), "/evil.example/x?a=1&b=2");
    let cookie = welcome.header("set-cookie");
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert!(pair.starts_with("trainscope-8080="), "{pair}");

    assert!(
        !pair.contains(TOKEN),
        "another port of this machine gets it"
    );

    let both = format!("other=1; {pair}");
    assert_eq!(
        server
            .get_with("/api/runs", &[("cookie", &both)])
            .await
            .status,
        200
    );
    assert_eq!(server.get_with("/", &[("cookie", pair)]).await.status, 200);
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(
        server
            .get_with("/api/runs", &[("authorization", &bearer)])
            .await
            .status,
        200
    );
    for (name, value) in [
        ("authorization", "Bearer x".to_owned()),
        ("authorization", format!("Basic {TOKEN}")),
        ("cookie", format!("trainscope-8080={TOKEN}")),
        ("cookie", pair.replace("8080", "8081")),
        ("cookie", "trainscope-8080=".to_owned()),
    ] {
        let answer = server.get_with("/api/runs", &[(name, &value)]).await;
        answer.fails(401, ErrorCode::TokenWanted);
    }
    // The value belongs to one server: another one with the same token refuses it.
    let (_, value) = pair.split_once('=').unwrap();
    let moved = format!("trainscope-8081={value}");
    let headers = [("host", "localhost:8081"), ("cookie", &*moved)];
    let answer = server.get_with("/api/runs", &headers).await;
    answer.fails(401, ErrorCode::TokenWanted);
    // Host names are checked before the token.
    let foreign = [
        ("authorization", bearer.as_str()),
        ("origin", "http://evil.example"),
    ];
    server
        .get_with("/api/runs", &foreign)
        .await
        .fails(403, ErrorCode::ForeignOrigin);
}

#[tokio::test]
async fn after_five_wrong_tokens_the_next_waits() {
    let server = Server::made(ServerOptions {
        token: true,
        ..ServerOptions::default()
    });
    let right = format!("token={TOKEN}");
    for number in 0..5 {
        let refused = server.post("/", &[], &format!("token=wrong{number}")).await;
        assert_eq!(refused.status, 401);
    }
    for answer in [
        server.post("/", &[], &right).await,
        server.get(&format!("/?{right}")).await,
    ] {
        assert_eq!(answer.status, 429);
        assert_eq!(answer.header("set-cookie"), "");
        let secs: u64 = answer.header("retry-after").parse().unwrap();
        assert!((1..=30).contains(&secs), "{secs}");
        assert!(answer.text().contains("Too many wrong tokens"));
    }
    // The page stays visible, and clients with the token are not affected.
    assert_eq!(server.get("/").await.status, 401);
    let bearer = format!("Bearer {TOKEN}");
    let known = [("authorization", bearer.as_str())];
    assert_eq!(server.get_with("/api/runs", &known).await.status, 200);
}
