//! Flags, environment, defaults; folders; prefixes.

use std::path::Path;
use std::process::Command;

use clap::Parser;

use super::{Settings, SettingsError, StartFlags, is_beyond_loopback, prefix, short_path};

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    start: StartFlags,
}

fn resolve(args: &[&str]) -> Result<Settings, SettingsError> {
    let flags = Flags::try_parse_from([&["trainscope"], args].concat()).unwrap();
    Settings::resolve(flags.start)
}

#[test]
fn defaults_stay_on_this_machine() {
    let settings = resolve(&[]).unwrap();
    assert_eq!(settings.host, "127.0.0.1");
    assert_eq!(settings.port, 8080);
    assert_eq!(settings.reload_interval, None);
    assert_eq!(settings.url_path_prefix, "");
    assert!(settings.base_dir_assumed);
    assert_eq!(settings.base_dirs, [Path::new(".").canonicalize().unwrap()]);
    assert!(settings.cache_dir.ends_with("trainscope"));
    assert!(settings.notes.is_empty());
}

#[test]
fn folders_are_canonical_and_named_once() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("a")).unwrap();
    let a = dir.path().join("a");
    let roundabout = dir.path().join("a/../a");
    let settings = resolve(&[
        "--summary-base-dir",
        a.to_str().unwrap(),
        "--summary-base-dir",
        roundabout.to_str().unwrap(),
    ])
    .unwrap();
    assert_eq!(settings.base_dirs, [a.canonicalize().unwrap()]);
    assert!(!settings.base_dir_assumed);
}

#[test]
fn a_folder_that_cannot_be_watched_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let of = |path: &Path| resolve(&["--summary-base-dir", path.to_str().unwrap()]);
    assert!(matches!(
        of(&dir.path().join("nothing")),
        Err(SettingsError::MissingDir(_))
    ));
    assert!(matches!(of(&file), Err(SettingsError::NotADir(_))));
    assert!(matches!(
        of(&file.join("below")),
        Err(SettingsError::NotADir(_))
    ));
}

#[test]
fn a_missing_folder_of_the_page_is_not_taken_for_one_of_runs() {
    let error = resolve(&["--web-dir", "nowhere/page"]).unwrap_err();
    assert!(matches!(error, SettingsError::BadWebDir(_)));
    assert_eq!(
        error.to_string(),
        "the page cannot be served: there is no folder nowhere/page"
    );
}

#[test]
fn flags_of_the_older_command_line_are_noted() {
    let settings = resolve(&["--workspace", "./ws", "--enable-debugger", "true"]).unwrap();
    assert_eq!(settings.notes.len(), 2);
    assert_eq!(
        settings.notes[1],
        "--enable-debugger is accepted and does nothing: the debugger is always on"
    );
}

#[test]
fn prefixes_have_one_form() {
    for (given, form) in [
        ("", ""),
        ("/", ""),
        ("a", "/a"),
        ("/a/b/", "/a/b"),
        ("//a", "/a"),
    ] {
        assert_eq!(prefix(given).unwrap(), form, "{given}");
    }
    for bad in ["a b", "..", "/a/../b", "a?b", "a\"><script>", "{x}", "ä"] {
        assert!(prefix(bad).is_err(), "{bad}");
    }
}

#[test]
fn loopback_is_told_from_the_world() {
    for here in [
        "127.0.0.1",
        "127.1.2.3",
        "::1",
        "[::1]",
        "localhost",
        "LOCALHOST",
    ] {
        assert!(!is_beyond_loopback(here), "{here}");
    }
    for beyond in [
        "0.0.0.0",
        "::",
        "192.168.1.2",
        "gpu-07",
        "localhost.example.org",
    ] {
        assert!(is_beyond_loopback(beyond), "{beyond}");
    }
}

#[test]
fn paths_below_home_are_short() {
    let home = Some(Path::new("/home/a"));
    assert_eq!(short_path(Path::new("/home/a/x"), home), "~/x");
    assert_eq!(short_path(Path::new("/home/a"), home), "~");
    assert_eq!(short_path(Path::new("/home/ab"), home), "/home/ab");
    assert_eq!(short_path(Path::new("/x"), Some(Path::new("/"))), "/x");
}

/// Helper process of the next test: prints settings from its environment.
#[test]
#[ignore = "runs as the child of environment_yields_to_flags"]
fn child_prints_settings() {
    let args: Vec<String> = std::env::var("CHILD_ARGS")
        .unwrap_or_default()
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let settings = resolve(&args).unwrap();
    println!(
        "port={} host={} dirs={} hosts={} prefix={} interval={:?} cache={}",
        settings.port,
        settings.host,
        settings.base_dirs.len(),
        settings.allowed_hosts.join("+"),
        settings.url_path_prefix,
        settings.reload_interval,
        settings.cache_dir.display(),
    );
}

#[test]
fn environment_yields_to_flags() {
    // The environment of this process must not change while other tests run, so a child process is used.
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("a")).unwrap();
    std::fs::create_dir_all(dir.path().join("b")).unwrap();
    let dirs = std::env::join_paths([dir.path().join("a"), dir.path().join("b")]).unwrap();
    let child = |args: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "settings::tests::child_prints_settings",
                "--exact",
                "--ignored",
                "--nocapture",
            ])
            .env("CHILD_ARGS", args)
            .env("TRAINSCOPE_PORT", "9001")
            .env("TRAINSCOPE_HOST", "127.0.0.2")
            .env("TRAINSCOPE_SUMMARY_BASE_DIR", &dirs)
            .env("TRAINSCOPE_ALLOWED_HOST", "a.example,b.example")
            .env("TRAINSCOPE_URL_PATH_PREFIX", "p")
            .env("TRAINSCOPE_RELOAD_INTERVAL", "0.5")
            .env("XDG_CACHE_HOME", dir.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let cache = dir.path().join("trainscope").display().to_string();
    let from_environment = child("");
    assert!(
        from_environment.contains(&format!(
            "port=9001 host=127.0.0.2 dirs=2 hosts=a.example+b.example prefix=/p interval=Some(500ms) cache={cache}"
        )),
        "{from_environment}"
    );
    let from_flags = child(&format!(
        "--port 9002 --summary-base-dir {} --allowed-host c.example --cache-dir /elsewhere",
        dir.path().display()
    ));
    assert!(
        from_flags.contains(
            "port=9002 host=127.0.0.2 dirs=1 hosts=c.example prefix=/p interval=Some(500ms) cache=/elsewhere"
        ),
        "{from_flags}"
    );
}

#[test]
fn who_is_told_of_hits() {
    let alarm = resolve(&[]).unwrap().alarm;
    assert_eq!((alarm.command, alarm.webhook), (None, None));
    let alarm = resolve(&[
        "--on-hit",
        "notify 'two words' $HOME",
        "--on-hit-severity",
        "error",
    ]);
    let alarm = alarm.unwrap().alarm;
    assert_eq!(alarm.command.unwrap(), ["notify", "two words", "$HOME"]);
    assert_eq!(alarm.severity, trainscope_format::Severity::Error);
    for command in ["", "  ", "say 'it"] {
        let refused = resolve(&["--on-hit", command]);
        assert!(
            matches!(refused, Err(SettingsError::BadCommand(_))),
            "{command}"
        );
    }
    assert!(resolve(&["--webhook", "https://host/path?x=1"]).is_ok());
    for address in ["host", "ftp://host/", "/path", ""] {
        let refused = resolve(&["--webhook", address]);
        assert!(
            matches!(refused, Err(SettingsError::BadWebhook(_))),
            "{address}"
        );
    }
}
