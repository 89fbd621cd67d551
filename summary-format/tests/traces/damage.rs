//! Truncated files and unreadable events: nothing else is lost.

use std::fmt::Write;

use proptest::prelude::*;
use trainscope_format::trace::Trace;

use crate::support::{fixture, names, pieces, whole};

/// An event in Kineto's layout.
fn event(name: &str, time: u32) -> String {
    format!(
        "\n  {{\n    \"ph\": \"X\",\n    \"cat\": \"cpu_op\",\n    \"name\": \"{name}\",\n    \"pid\": 1,\n    \"tid\": 1,\n    \
         \"ts\": {time}.500,\n    \"dur\": 0.250\n    ,\n    \"args\": {{\n      \"External id\": {time},\"Input Dims\": \
         [[1], []], \"Ev Idx\": 0\n    }}\n  }}"
    )
}

/// A file in Kineto's layout.
fn kineto(events: &[String]) -> Vec<u8> {
    format!(
        " {{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n  {}\n  ],\"traceName\": \"a\", \"distributedInfo\": \
         {{\"rank\": 2}} }}",
        events.join(",")
    )
    .into_bytes()
}

/// A file without white space.
fn compact(events: &[&str]) -> Vec<u8> {
    format!(
        "{{\"traceEvents\":[{}],\"distributedInfo\":{{\"rank\":2}}}}",
        events.join(",")
    )
    .into_bytes()
}

/// The stretches of damage as texts of the file.
fn damages<'a>(trace: &Trace, bytes: &'a [u8]) -> Vec<&'a str> {
    let damages = trace.counts.damages.iter();
    let texts = damages.map(|damage| {
        let from = usize::try_from(damage.offset).unwrap();
        let len = usize::try_from(damage.len).unwrap();
        std::str::from_utf8(&bytes[from..from + len]).unwrap()
    });
    texts.collect()
}

#[test]
fn quotes_without_escape_cost_their_event_alone() {
    for name in [
        r#"a "b" c"#,
        r#"<built-in method of "x">"#,
        r"C:\dir\",
        r#"""#,
        r#"a", "x": {"#,
    ] {
        for place in 0..3 {
            let mut all = [event("one", 1), event("two", 2), event("three", 3)];
            all[place] = event(name, 9);
            let bytes = kineto(&all);
            let trace = whole(&bytes);
            let mut expected = vec!["one", "two", "three"];
            expected.remove(place);
            assert_eq!(names(&trace), expected, "{name} {place}");
            assert_eq!(trace.counts.damaged, 1, "{name} {place}");
            let damages = damages(&trace, &bytes);
            assert!(
                damages[0].starts_with("{\n    \"ph\": \"X\""),
                "{}",
                damages[0]
            );
            assert!(damages[0].contains(name));
            assert!(!damages[0].contains("\"ts\": 1.500") && !damages[0].contains("\"ts\": 2.500"));
            assert!(!trace.counts.truncated);
            assert_eq!(trace.head.rank, Some(2));
            assert_eq!(pieces(bytes.chunks(7)), trace);
        }
    }
}

#[test]
fn values_that_are_no_json_are_passed_over() {
    let bytes = compact(&[
        r#"{"ph":"X","name":"a","ts":1,"dur":N/A,"x":nan,"args":{"y":-inf,"z":not available,"correlation":7}}"#,
        r#"{"ph":"X","name":"b","ts":2,"dur":undefined}"#,
    ]);
    let trace = whole(&bytes);
    assert_eq!(names(&trace), ["a", "b"]);
    assert_eq!(trace.slices.links[0], 7);
    assert_eq!(trace.counts.damaged, 0);
}

#[test]
fn events_are_found_again_in_a_file_of_one_line() {
    let good = r#"{"ph":"X","name":"a","ts":1}"#;
    for bad in [
        r#"{"ph":"X","name":"x"y","ts":1}"#,
        r#"{"ph":"X","name":"x","ts":1,"args":{"k":"v"w"}}"#,
        r#"{"ph":"X","name":"x","args":{"k":"an end is missing}}"#,
        r#"{"ph":"X" "name":"x"}"#,
        r#"{"ph":"X","name":"x","ts":1"#,
        r#"{"ph":"X","name":"x"}"#,
        r#"{"ph":"X","name":"x","ts":"soon"}"#,
        r#"{"name":"no phase","ts":1}"#,
        r#"{ph:"X"}"#,
        "garbage",
        "null",
        "\u{0}\u{1}",
        "}",
    ] {
        let bytes = compact(&[good, bad, good, good]);
        let trace = whole(&bytes);
        assert_eq!(names(&trace), ["a", "a", "a"], "{bad}");
        assert_eq!(trace.counts.damaged, 1, "{bad}");
        assert_eq!(trace.counts.damages[0].offset, 45, "{bad}");
        assert_eq!(trace.head.rank, Some(2), "{bad}");
        assert!(!trace.counts.truncated);
        assert_eq!(pieces(bytes.chunks(1)), trace, "{bad}");
    }
}

#[test]
fn events_before_a_missing_end_are_kept() {
    let bytes = kineto(&[event("one", 1), event("two", 2), event("three", 3)]);
    let all = whole(&bytes);
    assert!(!all.counts.truncated);
    for len in 0..bytes.len() {
        let trace = whole(&bytes[..len]);
        let kept = trace.slices.len();
        assert_eq!(names(&trace), names(&all)[..kept]);
        assert_eq!(trace.slices.begins, all.slices.begins[..kept]);
        assert_eq!(trace.slices.durations, all.slices.durations[..kept]);
        assert_eq!(trace.slices.places, all.slices.places[..kept]);
        assert_eq!(trace.counts.damaged, 0, "{len}");
        assert!(trace.counts.truncated);
        // An event counts as soon as its last byte has arrived.
        let ends = [1, 2, 3].map(|time| {
            let text = event(
                ["one", "two", "three"][time - 1],
                u32::try_from(time).unwrap(),
            );
            let at = bytes
                .windows(text.len())
                .position(|window| window == text.as_bytes());
            at.unwrap() + text.len()
        });
        assert_eq!(kept, ends.iter().filter(|end| **end <= len).count());
    }
}

#[test]
fn every_cut_of_a_real_file_is_a_prefix_of_it() {
    let bytes = fixture("torch-cnn/stack.pt.trace.json.gz");
    let all = whole(&bytes);
    for len in (0..bytes.len()).step_by(9_973) {
        let trace = whole(&bytes[..len]);
        let kept = trace.slices.len();
        assert_eq!(names(&trace), names(&all)[..kept]);
        assert_eq!(trace.slices.durations, all.slices.durations[..kept]);
        assert_eq!(trace.memory, all.memory[..trace.memory.len()]);
        assert_eq!(trace.counts.damaged, 0);
    }
}

#[test]
fn nothing_is_a_truncated_trace() {
    for bytes in ["", " ", "{", "[", "{\"traceEvents\": [", "{\"a\": 1"] {
        let trace = whole(bytes.as_bytes());
        assert!(trace.counts.truncated, "{bytes}");
        assert_eq!(trace.counts.events, 0);
        assert_eq!(trace.counts.damaged, 0);
    }
    for bytes in ["{}", "[]", "{\"traceEvents\":[]}", " [ ] \n"] {
        assert!(!whole(bytes.as_bytes()).counts.truncated, "{bytes}");
    }
}

#[test]
fn an_event_above_16_mib_is_damage() {
    let long = "x".repeat(17 << 20);
    let bytes = compact(&[
        r#"{"ph":"X","name":"a","ts":1}"#,
        &format!(r#"{{"ph":"X","name":"{long}","ts":1}}"#),
        r#"{"ph":"X","name":"b","ts":2}"#,
    ]);
    let trace = whole(&bytes);
    assert_eq!(names(&trace), ["a", "b"]);
    assert_eq!(trace.counts.damaged, 1);
    assert_eq!(trace.counts.damages[0].len, (17 << 20) + 28);
    assert_eq!(pieces(bytes.chunks(1 << 20)), trace);
}

#[test]
fn damage_beyond_1000_places_is_counted() {
    let mut text = String::new();
    for index in 0..1_500 {
        write!(
            text,
            "{{\"ph\":\"X\"x{index}}},{{\"ph\":\"i\",\"name\":\"m\",\"ts\":{index}}},"
        )
        .unwrap();
    }
    let trace = whole(format!("[{text}]").as_bytes());
    assert_eq!(trace.counts.damaged, 1_500);
    assert_eq!(trace.counts.damages.len(), 1_000);
    assert_eq!(trace.marks.len(), 1_500);
}

#[test]
fn damage_that_reaches_to_the_end_again_and_again_is_not_read_again_each_time() {
    // Each of these is readable up to the end of the file: 60,000 times 3 MB, if each were tried to its end.
    let bytes = format!(
        "[{}",
        "{\"ph\":\"X\",\"args\":{\"a\":[{\"name\":[1,".repeat(90_000)
    );
    let trace = whole(bytes.as_bytes());
    assert!(trace.counts.truncated);
    assert_eq!(trace.slices.len(), 0);
}

#[test]
fn facts_that_cannot_be_read_are_damage() {
    let bytes = br#"{"deviceProperties": [{"id": "x"}], "distributedInfo": 5, "traceEvents": [{"ph":"M"}]}"#;
    let trace = whole(bytes);
    assert_eq!(
        damages(&trace, bytes),
        [
            r#""deviceProperties": [{"id": "x"}]"#,
            r#""distributedInfo": 5"#
        ]
    );
    assert_eq!(trace.counts.events, 1);
}

/// Pieces of files, whole and broken.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(event("a", 1)),
        Just(event("q\"q", 2)),
        Just(r#"{"ph":"X","name":"a","ts":1,"dur":2,"args":{"a":[1,{"name":2}]}}"#.to_owned()),
        Just("{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":3,\"args\":{\"Bytes\":1}}".to_owned()),
        Just(",".to_owned()),
        Just("\n".to_owned()),
        Just("]".to_owned()),
        Just("}".to_owned()),
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("],\"traceName\":\"b\"".to_owned()),
        Just("{\"traceEvents\":[".to_owned()),
        Just("[".to_owned()),
        Just(" ".repeat(70)),
        "[ -~]{0,6}",
    ]
}

proptest! {
    #[test]
    fn cuts_change_nothing(
        parts in proptest::collection::vec(piece(), 0..12),
        mut cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
        is_object in any::<bool>(),
    ) {
        let start = if is_object { "{\"traceEvents\":[" } else { "[" };
        let bytes = [start, &parts.concat()].concat().into_bytes();
        let mut cuts: Vec<usize> = cuts.drain(..).map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let expected = whole(&bytes);
        let mut from = 0;
        let mut parts = Vec::new();
        for cut in cuts {
            parts.push(&bytes[from..cut]);
            from = cut;
        }
        parts.push(&bytes[from..]);
        prop_assert_eq!(&pieces(parts), &expected);
        prop_assert_eq!(&pieces(bytes.chunks(1)), &expected);
    }

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let trace = whole(&bytes);
        prop_assert_eq!(trace.counts.bytes, bytes.len() as u64);
        prop_assert_eq!(&pieces(bytes.chunks(1)), &trace);
    }
}
