//! Profiles in `diff`, `export` and `report`, and single traces as runs.

use crate::cli::against::{place, trace};
use crate::cli::check::Place;
use crate::support::lab::{fixture, workspace_root};
use crate::support::terminal::{CommandOutput, trainscope_in};

fn run(place: &Place, args: &[&str]) -> CommandOutput {
    trainscope_in(place.0.path(), args)
}

fn sample(name: &str) -> String {
    let path = workspace_root().join("sample-runs/torch").join(name);
    path.display().to_string()
}

#[test]
fn the_difference_of_two_profiles_names_operators_and_parts() {
    let place = place();
    let text = run(&place, &["diff", "slow", "good", "--profile"]);
    assert_eq!(text.status, 1, "{text:?}");
    for wanted in [
        "A  slow",
        "B  good",
        "longer than the baseline",
        "step, median",
        "operators",
        "aten::mm",
    ] {
        assert!(text.out.contains(wanted), "{wanted}: {}", text.out);
    }
    let json = run(
        &place,
        &["diff", "slow", "good", "--profile", "--format", "json"],
    );
    let answer = json.json();
    assert_eq!(answer["a"]["run"], "slow");
    let median = &answer["median_step_nanos"];
    let grown = median[0].as_i64().unwrap() - median[1].as_i64().unwrap();
    assert_eq!(grown, 4_000_000, "{median}");
    let first = &answer["operators"][0];
    assert_eq!(first["name"], "aten::mm");
    let times = &first["self_step_nanos"];
    let grown = times[0].as_i64().unwrap() - times[1].as_i64().unwrap();
    assert_eq!(grown, 4_000_000, "{times}");
    // The same profile is as long, and three steps tell nothing.
    let same = run(&place, &["diff", "good", "good", "--profile"]);
    assert_eq!(same.status, 0, "{same:?}");
    let short = run(&place, &["diff", "short", "good", "--profile", "--quiet"]);
    assert_eq!(
        (short.status, short.out.lines().count()),
        (2, 1),
        "{short:?}"
    );
    let none = run(&place, &["diff", "curve", "good", "--profile"]);
    assert_eq!(none.status, 2);
    assert!(none.err.contains("has no profile"), "{none:?}");
    // Ranks of one session.
    let ranks = sample("eight-ranks");
    let flags = [
        "--profile",
        "--rank",
        "5",
        "--other-rank",
        "0",
        "--format",
        "json",
    ];
    let of_ranks = run(&place, &[&["diff", &ranks, &ranks], &flags[..]].concat()).json();
    assert_eq!(
        (&of_ranks["a"]["rank"], &of_ranks["b"]["rank"]),
        (&5.into(), &0.into())
    );
}

#[test]
fn a_single_trace_is_a_run_of_every_command() {
    let place = Place::new();
    place.write("a.pt.trace.json", &trace(20, 10_000, 50));
    place.write("b.pt.trace.json", &trace(20, 14_000, 50));
    let checked = run(
        &place,
        &["check", "b.pt.trace.json", "--against", "a.pt.trace.json"],
    );
    assert_eq!(checked.status, 1, "{checked:?}");
    let exported = run(&place, &["export", "a.pt.trace.json", "--kind", "steps"]);
    assert_eq!(exported.status, 0, "{exported:?}");
    assert!(exported.out.lines().count() > 20, "{exported:?}");
    let differs = run(
        &place,
        &["diff", "b.pt.trace.json", "a.pt.trace.json", "--profile"],
    );
    assert_eq!(differs.status, 1, "{differs:?}");
    let reported = run(&place, &["report", "a.pt.trace.json", "-o", "-"]);
    assert_eq!(reported.status, 0, "{reported:?}");
    assert!(reported.out.contains("id=\"profile\""));
    place.write("notes.txt", b"no run");
    let none = run(&place, &["export", "notes.txt", "--kind", "profile"]);
    assert_eq!(none.status, 2);
    assert!(none.err.contains("no runs found in notes.txt"), "{none:?}");
}

#[test]
fn a_trace_whose_events_come_late_is_found_by_its_content() {
    let place = Place::new();
    let events = String::from_utf8(trace(20, 10_000, 50)).unwrap();
    let events = events.trim_start().strip_prefix('{').unwrap();
    let about = "x".repeat(26_000);
    let whole = format!(r#"{{"metadata": {{"environment": "{about}"}}, {events}"#);
    place.write("result.json", whole.as_bytes());
    let exported = run(&place, &["export", "result.json", "--kind", "steps"]);
    assert_eq!(exported.status, 0, "{exported:?}");
    assert!(exported.out.lines().count() > 20, "{exported:?}");
}

#[test]
fn a_report_has_the_profile_in_both_languages() {
    let place = place();
    let run_of = sample("eight-ranks");
    for (language, wanted) in [
        (
            "en",
            [
                "A step takes",
                "Part of a step",
                "Self time a step",
                "Slow steps",
            ],
        ),
        (
            "zh",
            ["每次迭代", "迭代的组成", "每次迭代自身时间", "慢迭代数"],
        ),
    ] {
        let page = run(&place, &["report", &run_of, "-o", "-", "--lang", language]).out;
        for text in wanted {
            assert!(page.contains(text), "{language} {text}");
        }
        // The advice about the slow rank, and a row for each rank.
        assert!(page.contains(if language == "en" { "Rank 5" } else { "rank 5" }));
    }
    let with_memory = fixture("profile/torch-cnn/plain.pt.trace.json.gz");
    let with_memory = with_memory.display().to_string();
    let page = run(&place, &["report", &with_memory, "-o", "-"]).out;
    assert!(page.contains("Peak of memory, device"));
    let without = run(&place, &["report", "curve", "-o", "-"]).out;
    assert!(!without.contains("id=\"profile\""));
}

#[test]
fn a_timeline_is_exported_as_a_picture_with_the_names_of_its_lanes() {
    let place = place();
    let export = |flags: &[&str]| {
        let all = ["export", "good", "--kind", "timeline"];
        run(&place, &[&all, flags].concat())
    };
    let whole = export(&["--format", "svg"]).out;
    assert!(
        whole.starts_with("<svg") && whole.ends_with("</svg>\n"),
        "{whole}"
    );
    for wanted in ["good · ", "rank 0", ">19<"] {
        assert!(whole.contains(wanted), "{wanted}: {whole}");
    }
    let part = export(&["--format", "svg", "--from", "0ms", "--until", "5ms"]).out;
    assert!(
        part.contains("aten::mm") && !part.contains(">19<"),
        "{part}"
    );
    let png = export(&["--format", "png", "-o", "picture.png"]);
    assert_eq!(png.status, 0, "{png:?}");
    let bytes = std::fs::read(place.0.path().join("picture.png")).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"));
    let none = export(&["--format", "svg", "--from", "5ms", "--until", "5ms"]);
    assert_eq!(none.status, 2, "{none:?}");
    let graph = run(
        &place,
        &["export", "good", "--kind", "steps", "--format", "png"],
    );
    assert_eq!(graph.status, 2, "{graph:?}");
}

#[test]
fn memory_over_time_is_exported_from_the_file_beside_a_trace_without_events() {
    let place = place();
    // Two moments in microseconds since 1970, within the trace, and nine categories of each.
    let timeline = "[[1000000000002000, 1000000000003000], [[0, 7, 0, 0, 0, 5, 0, 0, 1], [0, 7, 0, 0, 0, 0, 0, 0, 1]]]";
    place.write("good/memory_timeline.json", timeline.as_bytes());
    let exported = run(&place, &["export", "good", "--kind", "memory"]);
    let rows: Vec<&str> = exported.out.lines().skip(1).collect();
    assert_eq!(rows.len(), 2, "{exported:?}");
    assert!(rows[0].ends_with(",1000000,13,"), "{rows:?}");
    assert!(rows[1].ends_with(",2000000,8,"), "{rows:?}");
    // Without a trace it is a session of its own, which begins with its first point.
    place.write("alone/memory_timeline.json", timeline.as_bytes());
    let alone = run(&place, &["export", "alone", "--kind", "memory"]);
    let rows: Vec<&str> = alone.out.lines().skip(1).collect();
    assert_eq!(
        rows,
        ["memory_timeline,0,,0,13,", "memory_timeline,0,,1000000,8,"]
    );
    place.write("empty/memory_timeline.json", b"[[], []]");
    let empty = run(
        &place,
        &["export", "empty", "--kind", "profile", "--format", "json"],
    )
    .json();
    assert_eq!(empty["sessions"][0]["state"], "unreadable", "{empty}");
}
