//! Each kind of event of Chrome JSON, and the facts around the events.

use std::fmt::Write;

use trainscope_format::formats::trace_json::{arguments, is_trace_json};
use trainscope_format::trace::{LaneKind, NONE, SliceClass, Trace, TraceFormat};

use crate::support::{events, lane, names, whole};

/// `name begin duration` of each slice.
fn rows(trace: &Trace) -> Vec<String> {
    let slices = &trace.slices;
    let times = slices.begins.iter().zip(&slices.durations);
    names(trace)
        .iter()
        .zip(times)
        .map(|(name, (begin, duration))| format!("{name} {begin} {duration}"))
        .collect()
}

/// `category from to` of each flow, by the names of its slices.
fn arrows(trace: &Trace) -> Vec<String> {
    let names = names(trace);
    trace
        .flows
        .iter()
        .map(|flow| {
            let category = trace.texts.get(flow.category);
            format!(
                "{category} {} {}",
                names[flow.from as usize], names[flow.to as usize]
            )
        })
        .collect()
}

#[test]
fn times_are_read_digit_by_digit() {
    for (time, duration, begin, nanos) in [
        ("1", "2", 1_000, 2_000),
        (
            "4356230544447.395",
            "188.192",
            4_356_230_544_447_395,
            188_192,
        ),
        (
            "\"1795213065592204.822\"",
            "\"8.372\"",
            1_795_213_065_592_204_822,
            8_372,
        ),
        (
            "2493444181.77",
            "35.266999999999996",
            2_493_444_181_770,
            35_267,
        ),
        ("-0.5", "0.0004999", -500, 0),
        ("1.5e3", "2E-3", 1_500_000, 2),
        ("7", "N/A", 7_000, 0),
        ("7", "null", 7_000, 0),
    ] {
        let trace = events(&format!(
            r#"{{"ph":"X","name":"a","ts":{time},"dur":{duration}}}"#
        ));
        assert_eq!(trace.slices.begins, [begin], "{time}");
        assert_eq!(trace.slices.durations, [nanos], "{duration}");
        assert_eq!(trace.counts.damaged, 0);
    }
}

#[test]
fn negative_durations_count_as_0_and_missing_ones_are_0() {
    let trace = events(
        r#"{"ph":"X","name":"a","ts":1,"dur":-2},{"ph":"X","name":"b","ts":2},{"ph":"X","name":"c","ts":3,"dur":4}"#,
    );
    assert_eq!(rows(&trace), ["a 1000 0", "b 2000 0", "c 3000 4000"]);
    assert_eq!(trace.counts.negative_durations, 1);
    assert_eq!(trace.categories[0].nanos, 4_000);
    assert_eq!(trace.categories[0].count, 3);
}

#[test]
fn begins_and_ends_pair_on_their_lane() {
    let trace = events(
        r#"
        {"ph":"E","pid":1,"tid":1,"ts":0},
        {"ph":"B","name":"outer","cat":"c","pid":1,"tid":1,"ts":1},
        {"ph":"B","name":"other","pid":1,"tid":2,"ts":2},
        {"ph":"B","name":"inner","pid":1,"tid":1,"ts":3},
        {"ph":"E","pid":"1","tid":"1","ts":5},
        {"ph":"E","name":"outer","pid":1,"tid":1,"ts":9},
        {"ph":"B","name":"open","pid":1,"tid":1,"ts":10},
        {"ph":"X","name":"last","pid":1,"tid":3,"ts":11,"dur":4}"#,
    );
    assert_eq!(
        rows(&trace),
        [
            "outer 1000 8000",
            "other 2000 13000",
            "inner 3000 2000",
            "open 10000 5000",
            "last 11000 4000"
        ]
    );
    assert_eq!(trace.counts.ends_without_begin, 1);
    assert_eq!(trace.counts.unfinished, [1, 3]);
    assert_eq!(
        (trace.categories[0].name.as_str(), trace.categories[0].nanos),
        ("c", 8_000)
    );
}

#[test]
fn asynchronous_slices_pair_by_category_and_identifier() {
    let trace = events(
        r#"
        {"ph":"b","name":"a","cat":"io","id":"0x1","pid":1,"tid":1,"ts":1},
        {"ph":"b","name":"b","cat":"io","id":"0x2","pid":1,"tid":1,"ts":2},
        {"ph":"n","name":"half","cat":"io","id":"0x2","pid":1,"tid":1,"ts":3},
        {"ph":"e","name":"a","cat":"io","id":"0x1","pid":1,"tid":1,"ts":4},
        {"ph":"e","name":"b","cat":"io","id":"0x2","pid":1,"tid":9,"ts":6},
        {"ph":"b","name":"c","cat":"io","id2":{"local":"7"},"pid":1,"tid":1,"ts":7},
        {"ph":"b","name":"d","cat":"io","id2":{"local":"7"},"pid":2,"tid":1,"ts":7},
        {"ph":"e","cat":"io","id2":{"local":"7"},"pid":2,"tid":1,"ts":8},
        {"ph":"e","cat":"io","id2":{"local":"7"},"pid":1,"tid":1,"ts":9},
        {"ph":"e","cat":"net","id":"0x1","pid":1,"tid":1,"ts":9},
        {"ph":"S","name":"old","id":3,"pid":1,"tid":1,"ts":10},
        {"ph":"T","name":"old","id":3,"pid":1,"tid":1,"ts":11,"args":{"step":"x"}},
        {"ph":"F","name":"old","id":3,"pid":1,"tid":1,"ts":12}"#,
    );
    assert_eq!(
        rows(&trace),
        [
            "a 1000 3000",
            "b 2000 4000",
            "c 7000 2000",
            "d 7000 1000",
            "old 10000 2000"
        ]
    );
    assert_eq!(trace.counts.ends_without_begin, 1);
    assert!(trace.lanes.iter().all(|lane| lane.kind == LaneKind::Async));
    let lanes: Vec<_> = (0..5).map(|slice| lane(&trace, slice)).collect();
    assert_eq!(lanes, ["1/io", "1/io", "1/io", "2/io", "1/async"]);
    assert_eq!(trace.marks.len(), 2);
}

#[test]
fn flows_bind_to_the_slice_around_them_or_to_the_next() {
    let trace = events(
        r#"
        {"ph":"s","cat":"c","id":1,"pid":1,"tid":1,"ts":5},
        {"ph":"f","cat":"c","id":1,"pid":1,"tid":2,"ts":12,"bp":"e"},
        {"ph":"s","cat":"c","id":"2","pid":1,"tid":1,"ts":25},
        {"ph":"f","cat":"c","id":2,"pid":1,"tid":2,"ts":12},
        {"ph":"s","cat":"d","id":1,"pid":1,"tid":1,"ts":6},
        {"ph":"s","cat":"gone","id":1,"pid":1,"tid":1,"ts":99},
        {"ph":"f","cat":"lost","id":1,"pid":1,"tid":1,"ts":6},
        {"ph":"X","name":"outer","pid":1,"tid":1,"ts":0,"dur":30},
        {"ph":"X","name":"inner","pid":1,"tid":1,"ts":5,"dur":2},
        {"ph":"X","name":"before","pid":1,"tid":2,"ts":10,"dur":5},
        {"ph":"X","name":"next","pid":1,"tid":2,"ts":20,"dur":5}"#,
    );
    assert_eq!(arrows(&trace), ["c outer next", "c inner before"]);
    // The flow of category d, and the one outside of all slices.
    assert_eq!(trace.counts.flows_without_end, 2);
}

#[test]
fn steps_of_flows_and_reused_identifiers_make_chains() {
    let slices = r#"
        {"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":9},
        {"ph":"X","name":"b","pid":1,"tid":1,"ts":10,"dur":9},
        {"ph":"X","name":"c","pid":1,"tid":1,"ts":20,"dur":9},
        {"ph":"X","name":"d","pid":1,"tid":1,"ts":30,"dur":9}"#;
    let flow = |phase, time| {
        format!(r#",{{"ph":"{phase}","cat":"c","id":7,"pid":1,"tid":1,"ts":{time},"bp":"e"}}"#)
    };
    let chain = [
        slices.to_owned(),
        flow("s", 1),
        flow("t", 11),
        flow("t", 21),
        flow("f", 31),
    ];
    assert_eq!(
        arrows(&events(&chain.concat())),
        ["c a b", "c b c", "c c d"]
    );
    let twice = [
        slices.to_owned(),
        flow("s", 1),
        flow("f", 11),
        flow("s", 21),
        flow("f", 31),
    ];
    assert_eq!(arrows(&events(&twice.concat())), ["c a b", "c c d"]);
    // One launch of two kernels; the clock of the device is late.
    let graph = [
        slices.to_owned(),
        flow("f", 1),
        flow("s", 11),
        flow("f", 21),
    ];
    assert_eq!(arrows(&events(&graph.concat())), ["c b a", "c b c"]);
}

#[test]
fn flows_are_fields_of_slices_too() {
    let trace = events(
        r#"
        {"ph":"X","name":"a","cat":"x","pid":1,"tid":1,"ts":0,"dur":9,"bind_id":"0xf","flow_out":true},
        {"ph":"X","name":"b","cat":"y","pid":1,"tid":1,"ts":10,"dur":9,"bind_id":"0xf","flow_in":true,"flow_out":true},
        {"ph":"X","name":"c","cat":"z","pid":1,"tid":1,"ts":20,"dur":9,"bind_id":"0xf","flow_in":true}"#,
    );
    assert_eq!(arrows(&trace), ["x a b", "y b c"]);
}

#[test]
fn counters_have_a_series_for_each_number() {
    let trace = events(
        r#"
        {"ph":"C","name":"sm","pid":"GPU 0 Counters","ts":1,"args":{"":0.5}},
        {"ph":"C","name":"sm","pid":"GPU 0 Counters","ts":2,"args":{"":NaN}},
        {"ph":"C","name":"queue","pid":1,"ts":1,"args":{"a":1,"b":"2.5","c":N/A,"d":{"e":1}}},
        {"ph":"C","name":"queue","pid":1,"id":4,"ts":1,"args":{"value":3}},
        {"ph":"C","name":"sm","pid":"GPU 0 Counters","ts":3,"args":{"":-1e3}}"#,
    );
    let series: Vec<_> = trace
        .counters
        .iter()
        .map(|series| {
            format!(
                "{}|{} {:?} {:?}",
                series.process, series.name, series.times, series.values
            )
        })
        .collect();
    assert_eq!(
        series,
        [
            "GPU 0 Counters|sm [1000, 2000, 3000] [0.5, NaN, -1000.0]",
            "1|queue a [1000] [1.0]",
            "1|queue b [1000] [2.5]",
            "1|queue[4] [1000] [3.0]",
        ]
    );
    assert_eq!(trace.counts.damaged, 0);
}

#[test]
fn lanes_are_pairs_of_texts() {
    let trace = events(
        r#"
        {"ph":"X","name":"a","pid":12000,"tid":"7999","ts":1},
        {"ph":"X","name":"b","pid":"12000","tid":7999,"ts":2},
        {"ph":"X","name":"c","pid":"\u0031200\u0030","tid":7999,"ts":3},
        {"ph":"X","name":"d","pid":1200,"tid":"07999","ts":4},
        {"ph":"X","name":"e","ts":5},
        {"ph":"X","name":"f","pid":0,"tid":1,"scope_level":2,"ts":6}"#,
    );
    let lanes: Vec<_> = (0..6).map(|slice| lane(&trace, slice)).collect();
    assert_eq!(
        lanes,
        [
            "12000/7999",
            "12000/7999",
            "12000/7999",
            "1200/07999",
            "/",
            "0/1#2"
        ]
    );
    assert_eq!(trace.lanes.len(), 4);
}

#[test]
fn names_of_lanes_come_before_and_after_and_have_no_time() {
    let trace = events(
        r#"
        {"ph":"M","name":"process_name","pid":1,"ts":0,"args":{"name":"train"}},
        {"ph":"M","name":"process_labels","pid":2,"args":{"labels":"Host CPU OP"}},
        {"ph":"X","name":"a","pid":1,"tid":5,"ts":1000,"dur":1},
        {"ph":"X","name":"b","pid":2,"tid":5,"ts":1000,"dur":1},
        {"ph":"M","name":"thread_name","pid":"1","tid":"5","args":{"name":"lo\u00e4der"}},
        {"ph":"M","name":"thread_sort_index","pid":1,"tid":5,"args":{"sort_index":-3}},
        {"ph":"M","name":"process_sort_index","pid":1,"tid":0,"args":{"sort_index":7}},
        {"ph":"M","name":"unknown","pid":1,"args":{"name":"x"}}"#,
    );
    let lane = &trace.lanes[0];
    assert_eq!(
        (lane.process_name.as_str(), lane.thread_name.as_str()),
        ("train", "loäder")
    );
    assert_eq!((lane.process_sort, lane.thread_sort), (7, -3));
    assert_eq!(trace.lanes[1].process_name, "Host CPU OP");
    assert_eq!(trace.lanes.len(), 2);
    assert_eq!(trace.head.format, TraceFormat::Chrome);
    assert_eq!(trace.head.unix_offset_nanos, None);
}

#[test]
fn instants_have_a_scope_and_memory_is_apart() {
    let trace = events(
        r#"
        {"ph":"i","name":"a","s":"g","pid":1,"tid":1,"ts":1},
        {"ph":"I","name":"b","s":"t","pid":1,"tid":1,"ts":2},
        {"ph":"R","name":"c","pid":1,"tid":1,"ts":3},
        {"ph":"i","name":"[memory]","s":"t","pid":1,"tid":1,"ts":4,"args":{"Bytes":-512,"Addr":18446744073709551615,
            "Total Allocated":100,"Total Reserved":200,"Device Type":1,"Device Id":3}}"#,
    );
    let marks: Vec<_> = trace
        .marks
        .iter()
        .map(|mark| (mark.time, mark.is_global))
        .collect();
    assert_eq!(marks, [(1_000, true), (2_000, false), (3_000, false)]);
    let memory = trace.memory[0];
    assert_eq!(
        (memory.time, memory.bytes, memory.address),
        (4_000, -512, u64::MAX)
    );
    assert_eq!((memory.allocated, memory.reserved), (100, 200));
    assert_eq!((memory.device_type, memory.device), (1, 3));
}

#[test]
fn other_phases_are_counted() {
    let trace = events(
        r#"{"ph":"N","name":"a","ts":1},{"ph":"N","ts":2},{"ph":"P"},{"ph":"XX"},{"ph":"M","name":"a"},{}"#,
    );
    assert_eq!(trace.counts.events, 5);
    let unread: Vec<_> = trace
        .counts
        .unread
        .iter()
        .map(|(phase, count)| (phase.as_str(), *count))
        .collect();
    assert_eq!(unread, [("?", 1), ("N", 2), ("P", 1)]);
    assert_eq!(trace.counts.by_phase["M"], 1);
    assert_eq!(trace.counts.damaged, 0);
}

#[test]
fn texts_lose_their_escapes_and_long_ones_their_end() {
    let long = "é".repeat(40_000);
    let trace = events(&format!(
        r#"{{"ph":"X","name":"C:\\a\"b\"\n\u00e9\ud83d\ude00\ud800\q","ts":1}},{{"ph":"X","name":"{long}","ts":2}}"#
    ));
    assert_eq!(names(&trace)[0], "C:\\a\"b\"\né😀\u{fffd}\u{fffd}q");
    assert_eq!(names(&trace)[1].len(), 64 << 10);
}

#[test]
fn a_trace_has_at_most_65_535_lanes() {
    let mut text = String::new();
    for lane in 0..65_540 {
        write!(
            text,
            r#"{{"ph":"X","name":"a","pid":1,"tid":{lane},"ts":1}},"#
        )
        .unwrap();
    }
    text.push_str(r#"{"ph":"X","name":"z","pid":1,"tid":3,"ts":2}"#);
    let trace = events(&text);
    assert_eq!(trace.lanes.len(), 65_535);
    assert_eq!(trace.counts.over_limit, 5);
    assert_eq!(trace.counts.events, 65_541);
    assert_eq!(trace.slices.len(), 65_536);
    assert_eq!(lane(&trace, 65_535), "1/3");
}

#[test]
fn facts_are_read_before_and_after_the_events() {
    let trace = whole(
        br#"{"schemaVersion": 1, "with_stack": 1, "with_flops": 0, "otherData": {"traceEvents": ["\"]}"]},
            "deviceProperties": [{"id": 1, "name": "H100", "totalGlobalMem": 80, "computeMajor": 9, "numSms": 132}],
            "traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": -7, "ts": 1}],
            "host_name": "node\u002d3", "baseTimeNanoseconds": 1700000000000000001,
            "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [{"pg_name": "0"}]}
        }"#,
    );
    let head = &trace.head;
    assert_eq!(head.format, TraceFormat::Kineto);
    assert_eq!((head.rank, head.world_size), (Some(3), Some(8)));
    assert_eq!(head.host.as_deref(), Some("node-3"));
    assert_eq!(head.unix_offset_nanos, Some(1_700_000_000_000_000_001));
    assert_eq!(head.options, ["stacks"]);
    assert_eq!(
        (
            head.devices[0].multiprocessors,
            head.devices[0].compute_major
        ),
        (132, 9)
    );
    assert_eq!(lane(&trace, 0), "1/7");
    assert!(!trace.counts.truncated);
    assert_eq!(trace.counts.damaged, 0);
}

#[test]
fn devices_of_other_programs_are_told_by_names() {
    let trace = events(
        r#"
        {"ph":"M","name":"process_name","pid":1,"args":{"name":"Ascend Hardware"}},
        {"ph":"M","name":"process_name","pid":2,"args":{"name":"Overlap Analysis"}},
        {"ph":"M","name":"process_name","pid":3,"args":{"name":"/device:GPU:0"}},
        {"ph":"M","name":"thread_name","pid":3,"tid":1,"args":{"name":"Stream #13(Compute)"}},
        {"ph":"M","name":"thread_name","pid":3,"tid":2,"args":{"name":"Steps"}},
        {"ph":"X","name":"MatMul","pid":1,"tid":1,"ts":1,"dur":1},
        {"ph":"X","name":"Free","pid":2,"tid":1,"ts":1,"dur":1},
        {"ph":"X","name":"fusion","pid":3,"tid":1,"ts":1,"dur":1},
        {"ph":"X","name":"7","pid":3,"tid":2,"ts":1,"dur":1},
        {"ph":"X","name":"Steps","pid":4,"tid":2,"ts":1,"dur":1},
        {"ph":"X","name":"flush","cat":"overhead","pid":-1,"tid":0,"ts":1,"dur":1}"#,
    );
    let lanes: Vec<_> = trace.lanes.iter().map(|lane| lane.kind).collect();
    let (device, derived) = (LaneKind::Device, LaneKind::Derived);
    assert_eq!(
        lanes,
        [
            device,
            derived,
            device,
            derived,
            LaneKind::Host,
            LaneKind::Profiler
        ]
    );
    let classes: Vec<_> = trace
        .slices
        .categories
        .iter()
        .map(|category| trace.categories[usize::from(*category)].class)
        .collect();
    let (kernel, derived) = (SliceClass::Kernel, SliceClass::Derived);
    assert_eq!(
        classes,
        [
            kernel,
            derived,
            kernel,
            derived,
            SliceClass::Span,
            SliceClass::Overhead
        ]
    );
}

#[test]
fn old_names_of_categories_mean_the_same() {
    for (category, class) in [
        ("cpu_op", SliceClass::Operator),
        ("Operator", SliceClass::Operator),
        ("user_annotation", SliceClass::Annotation),
        ("python_function", SliceClass::PythonFrame),
        ("cuda_runtime", SliceClass::Runtime),
        ("Runtime", SliceClass::Runtime),
        ("privateuse1_driver", SliceClass::Runtime),
        ("Kernel", SliceClass::Kernel),
        ("Memcpy", SliceClass::Memcpy),
        ("gpu_memset", SliceClass::Memset),
        ("gpu_user_annotation", SliceClass::DeviceAnnotation),
        ("cuda_sync", SliceClass::DeviceWait),
        ("overhead", SliceClass::Overhead),
        ("Trace", SliceClass::Window),
        ("trace", SliceClass::Span),
        ("", SliceClass::Span),
    ] {
        let trace = events(&format!(
            r#"{{"ph":"X","cat":"{category}","name":"a","ts":1}}"#
        ));
        assert_eq!(trace.categories[0].class, class, "{category}");
        assert_eq!(
            trace.slices.details,
            [
                if matches!(
                    class,
                    SliceClass::Kernel | SliceClass::Memcpy | SliceClass::Memset
                ) {
                    0
                } else {
                    NONE
                }
            ]
        );
    }
}

#[test]
fn collectives_have_bytes_group_and_number() {
    let trace = events(
        r#"{"ph":"X","cat":"kernel","name":"ncclDevKernel","ts":1,"dur":2,"args":{"correlation":5,"device":1,
            "Collective name":"allgather","In msg nelems":100,"Out msg nelems":800,"dtype":"BFloat16","Group size":8,
            "Process Group Name":"tp","Seq":41,"blocks per SM":0.5,"est. achieved occupancy %":31}},
        {"ph":"X","cat":"gpu_memcpy","name":"Memcpy","ts":5,"dur":2,"args":{"bytes":4096,"device":1}},
        {"ph":"X","cat":"gpu_memcpy","name":"Memcpy","ts":8,"dur":2,"args":{"bytes":4096,"device":1}}"#,
    );
    let work = trace.device_work[0];
    assert_eq!(
        (work.device, work.bytes, work.group_size, work.sequence),
        (1, 1_600, 8, 41)
    );
    assert_eq!(work.group.map(|group| trace.texts.get(group)), Some("tp"));
    assert_eq!(
        format!(
            "{} {}",
            work.blocks_per_multiprocessor, work.occupancy_percent
        ),
        "0.5 31"
    );
    assert_eq!(trace.slices.links, [5, NONE, NONE]);
    assert_eq!(trace.slices.details, [0, 1, 1]);
    assert_eq!(trace.device_work[1].bytes, 4_096);
}

#[test]
fn traces_are_recognised_by_their_first_bytes() {
    for (is_trace, head) in [
        (true, r#"{"traceEvents": ["#),
        (true, r#" { "schemaVersion": 1, "deviceProperties": [{"id"#),
        (
            true,
            r#"{"displayTimeUnit":"ns","metadata":{"a":[1,"}"]},"traceEvents":["#,
        ),
        (true, r#"[{"name":"a","ph":"X","ts"#),
        (true, "\u{feff}[\n  {\"ph\""),
        (true, r#"[{"args":{"x":1},"ph":"M"}]"#),
        (true, r#"{"baseTimeNanoseconds": 1"#),
        (false, r#"[{"name":"a","args":{"ph":"X"}},{"ph":"X"}]"#),
        (false, r#"{"nodes": {"traceEvents": []}}"#),
        (false, r#"{"schemaVersion": 1, "name": "traceEvents"}"#),
        (false, "[[1,2],[3,4]]"),
        (false, "[]"),
        (false, "{}"),
        (false, ""),
        (false, "ph"),
    ] {
        // A key counts once its colon is there.
        let head = head.replace("\"ph\"\u{0}", "");
        let head = if head.ends_with("\"ph\"") {
            format!("{head}:")
        } else {
            head
        };
        assert_eq!(is_trace_json(head.as_bytes()), is_trace, "{head}");
    }
}

#[test]
fn arguments_of_an_event_are_texts_in_order() {
    let event = br#"{"ph":"X","args":{"b":1.50,"a":"x\ny","Input Dims":[[1, 2], []],"c":{"d":null},"e":N/A},"ts":1} , {"#;
    let texts: Vec<_> = arguments(event)
        .into_iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    assert_eq!(
        texts,
        [
            "b=1.50",
            "a=x\ny",
            "Input Dims=[[1, 2], []]",
            r#"c={"d":null}"#,
            "e=N/A"
        ]
    );
    for cut in 0..event.len() {
        assert!(arguments(&event[..cut]).len() <= 5);
    }
    assert!(arguments(br#"{"ph":"X"}"#).is_empty());
    assert!(arguments(br#"{"ph":"X","args":"none"}"#).is_empty());
    assert!(arguments(b"").is_empty());
}
