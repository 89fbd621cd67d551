//! Limits of a trace: events within them are kept, all others are counted, and memory is bounded.

use std::fmt::Write;

use trainscope_format::formats::trace_json::TraceReader;
use trainscope_format::trace::Trace;

use crate::support::{events, names, whole};

/// The trace of a file of which up to `max_events` events are kept.
fn bounded(max_events: u64, bytes: &[u8]) -> Trace {
    let mut reader = TraceReader::new().max_events(max_events);
    reader.push(bytes);
    reader.finish()
}

#[test]
fn events_beyond_the_limit_are_counted_and_facts_behind_them_read() {
    let mut text = String::new();
    for (at, phase) in ["X", "i", "s", "B", "b", "M", "X", "C", "X"]
        .iter()
        .enumerate()
    {
        write!(
            text,
            r#"{{"ph":"{phase}","name":"{at}","id":1,"ts":{at},"args":{{"a":1}}}},"#
        )
        .unwrap();
    }
    let bytes = format!(r#"{{"traceEvents":[{text}{{}}],"distributedInfo":{{"rank":3}}}}"#);
    let trace = bounded(4, bytes.as_bytes());
    assert_eq!(names(&trace), ["0", "3"]);
    assert_eq!((trace.marks.len(), trace.counters.len()), (1, 0));
    assert_eq!((trace.counts.events, trace.counts.over_limit), (9, 5));
    assert_eq!(trace.counts.by_phase["X"], 3);
    assert_eq!(trace.head.rank, Some(3));
    assert_eq!((trace.counts.damaged, trace.counts.truncated), (0, false));
    // The greatest number is the limit of the format.
    assert_eq!(bounded(u64::MAX, bytes.as_bytes()), whole(bytes.as_bytes()));
}

#[test]
fn one_event_with_many_numbers_is_within_the_limit_too() {
    let mut numbers = String::new();
    for at in 0..5_000 {
        write!(numbers, r#""{at}":{at},"#).unwrap();
    }
    let bytes = format!(r#"[{{"ph":"C","name":"c","ts":1,"args":{{{numbers}"z":0}}}}]"#);
    let values = |trace: &Trace| -> usize {
        let series = trace.counters.iter();
        series.map(|series| series.values.len()).sum()
    };
    assert_eq!(values(&whole(bytes.as_bytes())), 5_001);
    let trace = bounded(1_000, bytes.as_bytes());
    assert_eq!(values(&trace), 1_000);
    assert_eq!((trace.counts.events, trace.counts.over_limit), (1, 1));
}

#[test]
fn texts_beyond_256_mib_are_counted_with_their_events() {
    let filling = "x".repeat(64 << 10);
    let mut reader = TraceReader::new();
    reader.push(b"[");
    for number in 0..4_100 {
        let event = format!(r#"{{"ph":"X","name":"{number:08}{filling}","ts":{number}}},"#);
        reader.push(event.as_bytes());
    }
    reader.push(br#"{"ph":"X","name":"00000007","ts":1},{"ph":"X","name":"","ts":2}]"#);
    let trace = reader.finish();
    // Texts cut at 64 KiB use up the limit; the empty text takes nothing.
    assert_eq!(trace.counts.over_limit, 5);
    assert_eq!(trace.slices.len(), 4_097);
    assert_eq!(trace.counts.events, 4_102);
}

#[test]
fn times_beyond_an_integer_are_damage_and_the_greatest_are_not() {
    // Each is the first of its recording: of times that are centuries apart, one is kept.
    for (time, nanos) in [
        ("9223372036854775.807", i64::MAX),
        (r#""-9223372036854775.807""#, -i64::MAX),
    ] {
        let trace = events(&format!(
            r#"
            {{"ph":"X","name":"a","ts":{time}}},
            {{"ph":"X","name":"b","ts":9223372036854775.808,"dur":1}},
            {{"ph":"X","name":"c","ts":1e300}}"#,
        ));
        assert_eq!(names(&trace), ["a"]);
        assert_eq!(trace.slices.begins, [nanos]);
        assert_eq!(trace.counts.damaged, 2);
    }
    let trace = events(r#"{"ph":"X","name":"c","ts":1,"dur":1e300}"#);
    assert_eq!(trace.slices.durations, [0]);
}

#[test]
fn bytes_that_are_no_utf_8_are_replaced_and_the_mark_of_utf_8_is_passed_over() {
    let mut bytes = b"\xef\xbb\xbf{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a".to_vec();
    bytes.extend(b"\xff\xc3(\xed\xa0\x80\",\"pid\":\"\xfe\",\"cat\":\"\xfe\",\"ts\":1}]}");
    let trace = whole(&bytes);
    assert!(names(&trace)[0].starts_with("a\u{fffd}\u{fffd}("));
    assert_eq!(trace.lanes[0].process, "\u{fffd}");
    assert_eq!((trace.counts.damaged, trace.counts.truncated), (0, false));
    for mark in [&b"\xff\xfe"[..], b"\xfe\xff", b"\0"] {
        let trace = whole(&[mark, b"[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1}]"].concat());
        assert_eq!(trace.counts.damages[0].offset, 0);
    }
}

#[test]
fn nesting_is_counted_and_not_recursed() {
    let deep = format!("{}{}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    let bytes = format!(
        r#"{{"a":{deep},"traceEvents":[{{"ph":"X","name":"a","ts":1,"args":{{"b":{deep}}}}}],"deviceProperties":{deep}}}"#
    );
    let trace = whole(bytes.as_bytes());
    assert_eq!(names(&trace), ["a"]);
    // Properties of devices are not so deep.
    assert_eq!(trace.counts.damaged, 1);
    assert!(!trace.counts.truncated);
}
