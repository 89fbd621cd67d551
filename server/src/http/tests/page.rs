//! The page, its files, and the prefix.

use serde_json::Value;
use trainscope_api::error::ErrorCode;

use super::server::{Server, ServerOptions, TOKEN};

#[tokio::test]
async fn a_prefix_is_above_everything() {
    let server = Server::made(ServerOptions {
        prefix: "/a/b",
        token: false,
        ..ServerOptions::default()
    });
    assert_eq!(server.get("/a/b/api/status").await.status, 200);
    for path in ["/a/b/", "/a/b/run/x/scalars"] {
        let page = server.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(
            page.text().contains("<base href=\"/a/b/\">"),
            "{}",
            page.text()
        );
    }
    for path in ["/", "/a/b"] {
        let there = server.get(path).await;
        assert_eq!(
            (there.status.as_u16(), there.header("location")),
            (307, "/a/b/")
        );
    }
    server
        .get("/api/status")
        .await
        .fails(404, ErrorCode::UnknownPath);
    server
        .get("/a/bc/api/status")
        .await
        .fails(404, ErrorCode::UnknownPath);
    server
        .get("/a/b/api/x")
        .await
        .fails(404, ErrorCode::UnknownPath);
    let document: Value = server.get("/a/b/api/openapi.json").await.json();
    assert_eq!(document["servers"][0]["url"], "/a/b");
}

#[tokio::test]
async fn a_prefix_and_a_token_go_together() {
    let server = Server::made(ServerOptions {
        prefix: "/p",
        token: true,
        ..ServerOptions::default()
    });
    server
        .get("/p/api/runs")
        .await
        .fails(401, ErrorCode::TokenWanted);
    assert!(server.get("/p/").await.text().contains("action=\"/p/\""));
    let welcome = server.get(&format!("/p/?token={TOKEN}")).await;
    assert_eq!(welcome.header("location"), "/p/");
    assert!(welcome.header("set-cookie").contains("; Path=/p/;"));
}

#[tokio::test]
async fn the_page_answers_every_place_on_it() {
    let server = Server::new();
    let page = server.get("/").await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(page.header("cache-control"), "no-cache");
    assert!(page.text().contains("<base href=\"/\">"));
    for path in [
        "/runs",
        "/run/a/b/scalars",
        "/run/lr-0.01",
        "/apiary",
        "/index.html",
    ] {
        let same = server.get(path).await;
        assert_eq!(same.status, 200, "{path}");
        assert_eq!(same.body, page.body, "{path}");
    }
    server
        .get("/missing.js")
        .await
        .fails(404, ErrorCode::UnknownPath);

    let etag = page.header("etag");
    assert!(etag.starts_with('"') && etag.ends_with('"'), "{etag}");
    let weak = format!("\"other\", W/{etag}");
    for known in [etag, weak.as_str(), "*"] {
        let unchanged = server.get_with("/runs", &[("if-none-match", known)]).await;
        assert_eq!((unchanged.status.as_u16(), unchanged.body.len()), (304, 0));
        assert_eq!(unchanged.header("etag"), etag);
    }
    let changed = server
        .get_with("/", &[("if-none-match", "\"other\"")])
        .await;
    assert_eq!(changed.status, 200);
}

#[tokio::test]
async fn files_of_a_version_are_kept_for_good_and_others_are_asked_for() {
    let web = tempfile::tempdir().unwrap();
    std::fs::create_dir(web.path().join("icons")).unwrap();
    let index = r#"<head></head><img src="icons/a.svg"><script src="boot.js"></script>"#;
    std::fs::write(web.path().join("index.html"), index).unwrap();
    std::fs::write(web.path().join("icons/a.svg"), "<svg/>").unwrap();
    std::fs::write(web.path().join("boot.js"), "1").unwrap();
    let server = Server::made(ServerOptions {
        web_dir: Some(web.path().to_owned()),
        ..ServerOptions::default()
    });
    let page = server.get("/").await;
    let text = page.text();
    let parts: Vec<&str> = text
        .split('"')
        .filter(|part| part.starts_with("v/"))
        .collect();
    assert_eq!(parts.len(), 2, "{text}");
    for part in &parts {
        let kept = server.get(&format!("/{part}")).await;
        assert!(kept.header("cache-control").contains("immutable"), "{part}");
        let name = part.splitn(3, '/').nth(2).unwrap();
        let answer = server.get(&format!("/{name}")).await;
        assert_eq!(answer.header("cache-control"), "no-cache", "{name}");
        assert_eq!(answer.body, kept.body, "{name}");
        // Files of two builds do not fit together.
        let older = server.get(&format!("/v/older/{name}")).await;
        older.fails(404, ErrorCode::UnknownPath);
        // A place on the page is not a file of the version.
        let place = part.replace(name, "run/a/scalars");
        let place = server.get(&format!("/{place}")).await;
        assert_eq!(place.header("cache-control"), "no-cache");
    }
    // Another build has another version.
    std::fs::write(web.path().join("boot.js"), "22").unwrap();
    let later = server.get("/").await;
    assert_ne!(later.text(), text);
    assert_ne!(later.header("etag"), page.header("etag"));
    let before = server.get(&format!("/{}", parts[0])).await;
    before.fails(404, ErrorCode::UnknownPath);
}

#[tokio::test]
async fn a_folder_is_served_as_it_is_now_and_nothing_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let web = dir.path().join("web");
    std::fs::create_dir_all(web.join("icons")).unwrap();
    std::fs::write(dir.path().join("secret.txt"), "secret").unwrap();
    std::fs::write(web.join("index.html"), "<head></head>").unwrap();
    std::fs::write(web.join("app.wasm"), "\0asm").unwrap();
    std::fs::write(web.join("icons/a.svg"), "<svg/>").unwrap();
    std::fs::write(web.join("boot.js"), "1").unwrap();
    let server = Server::made(ServerOptions {
        web_dir: Some(web.clone()),
        prefix: "/p",
        ..ServerOptions::default()
    });
    assert_eq!(
        server.get("/p/").await.text(),
        "<head><base href=\"/p/\"></head>"
    );
    for (path, content_type) in [
        ("/p/app.wasm", "application/wasm"),
        ("/p/icons/a.svg", "image/svg+xml"),
        ("/p/boot.js", "text/javascript; charset=utf-8"),
    ] {
        assert_eq!(server.get(path).await.header("content-type"), content_type);
    }
    let before = server.get("/p/boot.js").await;
    std::fs::write(web.join("boot.js"), "2").unwrap();
    let after = server.get("/p/boot.js").await;
    assert_eq!(after.text(), "2");
    assert_ne!(before.header("etag"), after.header("etag"));
    let absolute = format!("/p/{}", dir.path().join("secret.txt").display());
    for path in [
        "/p/../secret.txt",
        "/p/icons/../../secret.txt",
        "/p/%2e%2e/secret.txt",
        &absolute,
    ] {
        assert!(
            !server.get(path).await.text().contains("secret\""),
            "{path}"
        );
        assert_ne!(server.get(path).await.status, 200, "{path}");
    }
    // A folder is a place like any other.
    assert_eq!(server.get("/p/icons").await.status, 200);
}
