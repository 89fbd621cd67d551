//! Memory over time, folded stacks and `XSpace`: real files, and cut and changed ones.

use proptest::prelude::*;
use proptest::sample::Index;
use trainscope_format::formats::memory_timeline::{MemoryTimeline, total};
use trainscope_format::formats::{folded, xplane};
use trainscope_format::trace::{LaneKind, NONE, SliceClass, Trace};

use crate::mindspore_profile::{holds, unpacked};

#[test]
fn the_peaks_of_memory_are_those_of_the_file() {
    for (model, points, peak, at_micros, row) in [
        (
            "torch-cnn",
            275,
            400_912,
            1_795_213_256_595_565,
            [
                0, 28_712, 57_456, 24_704, 0, 65_608, 27_816, 131_072, 65_544,
            ],
        ),
        (
            "torch-transformer",
            959,
            601_260,
            1_795_213_260_940_390,
            [0, 76_072, 152_252, 416, 0, 296_448, 67_624, 0, 8_448],
        ),
    ] {
        let bytes = unpacked(&format!("{model}/memory_timeline.json.gz"));
        assert!(MemoryTimeline::sniff(&bytes[..16]));
        let timeline = MemoryTimeline::read(&bytes);
        let index = timeline.peak().unwrap();
        assert_eq!(timeline.times.len(), points);
        assert_eq!(total(&timeline.bytes[index]), peak);
        assert_eq!(timeline.times[index], at_micros * 1_000);
        assert_eq!(timeline.bytes[index], row);
        assert_eq!(
            (timeline.counts.damaged, timeline.counts.truncated),
            (0, false)
        );
    }
}

#[test]
fn a_cut_memory_timeline_is_a_prefix() {
    let bytes = unpacked("torch-cnn/memory_timeline.json.gz");
    let whole = MemoryTimeline::read(&bytes);
    let end = bytes.len();
    for len in (0..end - 200).step_by(23).chain(end - 200..end) {
        let cut = MemoryTimeline::read(&bytes[..len]);
        let points = cut.times.len();
        assert!(cut.counts.truncated, "{len}");
        assert_eq!(cut.counts.damaged, 0, "{len}");
        assert_eq!(cut.times, whole.times[..points]);
        assert_eq!(cut.bytes, whole.bytes[..points]);
    }
}

#[test]
fn cut_folded_stacks_hold_the_stacks_before_the_cut() {
    let text = b"main;a 3\nmain;a;b 5\nother 2\nmain;c;d;e 12\n";
    let sum = |trace: &Trace| {
        let last = trace.slices.len().checked_sub(1);
        last.map_or(0, |last| trace.slices.end(last))
    };
    for len in 0..=text.len() {
        let cut = folded::read(&text[..len]);
        holds(&cut);
        let lines = text[..len].split(|byte| *byte == b'\n').count() - 1;
        assert_eq!(cut.counts.events, lines as u64);
        assert_eq!(cut.counts.truncated, len > 0 && text[len - 1] != b'\n');
        assert_eq!(cut.counts.damaged, 0);
        let ends = [0, 3, 8, 10, 22];
        let most = (0..cut.slices.len()).map(|slice| cut.slices.end(slice));
        assert_eq!(most.max().unwrap_or(0), ends[lines]);
        assert!(sum(&cut) <= 22);
    }
}

#[test]
fn folded_stacks_of_torch_have_all_of_their_frames() {
    let trace = folded::read(&unpacked("torch-mlp/stacks.folded.txt.gz"));
    holds(&trace);
    assert_eq!(trace.counts.events, 165);
    assert_eq!((trace.counts.damaged, trace.counts.truncated), (0, false));
    assert_eq!(trace.slices.len(), 74);
    let ends = (0..trace.slices.len()).map(|slice| trace.slices.end(slice));
    assert_eq!(ends.max(), Some(1_157));
}

/// Lane, name, begin and duration of each slice, sorted.
fn events(trace: &Trace) -> Vec<(String, String, i64, u64)> {
    let slices = (0..trace.slices.len()).map(|index| trace.slices.get(index).unwrap());
    let mut all: Vec<_> = slices
        .map(|slice| {
            let lane = &trace.lanes[usize::from(slice.lane)];
            let name = trace.texts.get(slice.name).to_owned();
            (lane.thread_name.clone(), name, slice.begin, slice.duration)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn an_xspace_has_the_events_of_the_chrome_file_beside_it() {
    let trace = xplane::read(&unpacked("jax-cpu/host.xplane.pb.gz"));
    holds(&trace);
    let json: serde_json::Value =
        serde_json::from_slice(&unpacked("jax-cpu/host.trace.json.gz")).unwrap();
    let list = json["traceEvents"].as_array().unwrap();
    let lane = |tid: &serde_json::Value| {
        let named = list
            .iter()
            .find(|event| event["name"] == "thread_name" && event["tid"] == *tid);
        named.unwrap()["args"]["name"].as_str().unwrap().to_owned()
    };
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds")]
    let nanos = |micros: &serde_json::Value| (micros.as_f64().unwrap() * 1e3).round() as i64;
    let slices = list.iter().filter(|event| event["ph"] == "X");
    let mut expected: Vec<_> = slices
        .map(|event| {
            let name = event["name"].as_str().unwrap().to_owned();
            let duration = nanos(&event["dur"]).unsigned_abs();
            (lane(&event["tid"]), name, nanos(&event["ts"]), duration)
        })
        .collect();
    expected.sort();
    assert_eq!(events(&trace), expected);
    assert_eq!(expected.len(), 120);
}

#[test]
fn steps_operators_and_flows_of_an_xspace() {
    let trace = xplane::read(&unpacked("jax-cpu/host.xplane.pb.gz"));
    let steps: Vec<_> = (trace.declared_steps.iter())
        .map(|step| (step.number, step.begin, step.end - step.begin))
        .collect();
    assert_eq!(
        steps,
        [
            (0, 80_399, 1_432_076),
            (1, 1_526_927, 1_237_727),
            (2, 2_776_972, 1_224_468)
        ]
    );
    let of = |class| {
        let category = trace.categories.iter().find(|one| one.class == class);
        category.map(|one| (one.count, one.nanos))
    };
    assert_eq!(of(SliceClass::Operator), Some((21, 125_535)));
    assert!(of(SliceClass::PythonFrame).is_some());
    assert_eq!(of(SliceClass::Annotation).unwrap().0, 3);
    assert!(!trace.flows.is_empty());
    for flow in &trace.flows {
        let name = |slice: u32| trace.texts.get(trace.slices.names[slice as usize]);
        let ends = (name(flow.from), name(flow.to));
        assert!(
            trace.slices.begins[flow.from as usize] <= trace.slices.begins[flow.to as usize],
            "{ends:?}"
        );
    }
    assert_eq!(trace.head.host.as_deref(), Some("vm"));
    // November 2026.
    assert_eq!(
        trace.head.unix_offset_nanos.unwrap() / 10_i64.pow(15),
        1_795
    );
    assert!(trace.lanes.iter().all(|lane| lane.kind == LaneKind::Host));
    assert_eq!((trace.counts.damaged, trace.counts.truncated), (0, false));
}

#[test]
fn a_cut_xspace_is_a_prefix() {
    let bytes = unpacked("jax-cpu/host.xplane.pb.gz");
    let whole = xplane::read(&bytes);
    let mut whole_ends = 0;
    for len in (0..bytes.len()).step_by(5) {
        let cut = xplane::read(&bytes[..len]);
        holds(&cut);
        let slices = cut.slices.len();
        assert_eq!(cut.slices.begins, whole.slices.begins[..slices], "{len}");
        assert_eq!(cut.slices.durations, whole.slices.durations[..slices]);
        assert_eq!(cut.slices.places, whole.slices.places[..slices]);
        assert_eq!(cut.counts.damaged, 0, "{len}");
        whole_ends += usize::from(!cut.counts.truncated);
    }
    // Between the messages of the file itself nothing is missing.
    assert!(whole_ends < 10, "{whole_ends}");
}

/// A field of bytes.
fn field(number: u64, content: &[u8]) -> Vec<u8> {
    crate::support::bytes_field(number, content)
}

#[test]
fn devices_have_kernels_copies_and_steps() {
    use crate::support::varint_field as number;
    let named = |field_number: u64, id: u64, name: &str| {
        let metadata = [number(1, id), field(2, name.as_bytes())].concat();
        field(field_number, &[number(1, id), field(2, &metadata)].concat())
    };
    let event = |id: u64, offset: u64, picos: u64, stats: &[u8]| {
        let fields = [
            number(1, id),
            number(2, offset),
            number(3, picos),
            stats.to_vec(),
        ];
        field(4, &fields.concat())
    };
    let line = |id: u64, name: &str, events: &[Vec<u8>]| {
        let head = [number(1, id), field(2, name.as_bytes()), number(3, 1_000)];
        field(3, &[head.concat(), events.concat()].concat())
    };
    let correlation = field(4, &[number(1, 1), number(3, 77)].concat());
    let size = field(
        4,
        &[number(1, 2), field(5, b"kind_dst:device size:4096 dest:0")].concat(),
    );
    let mut lonely = event(9, 0, 0, &[]);
    lonely.extend(field(4, &[number(1, 1), number(5, 4)].concat()));
    let plane = [
        field(2, b"/device:GPU:1"),
        line(
            7,
            "Stream #7",
            &[
                event(1, 1_999, 5_002, &correlation),
                event(2, 9_000, 1, &size),
            ],
        ),
        line(8, "Steps", &[event(3, 0, 100_000, &[])]),
        line(9, "XLA Modules", &[lonely]),
        field(3, &[number(1, 10), field(4, b"\xff")].concat()),
        named(4, 1, "fusion"),
        named(4, 2, "MemcpyH2D"),
        named(4, 3, "12"),
        named(5, 1, "correlation_id"),
        named(5, 2, "memcpy_details"),
    ]
    .concat();
    let bytes = field(1, &plane);
    let trace = xplane::read(&bytes);
    holds(&trace);
    // The end is cut, not the duration: 1,000 + 7,001 / 1,000.
    assert_eq!(trace.slices.begins[..2], [1_001, 1_009]);
    assert_eq!(trace.slices.durations[..2], [6, 0]);
    assert_eq!(trace.slices.links[..2], [77, NONE]);
    let classes: Vec<_> = trace
        .categories
        .iter()
        .map(|one| (one.class, one.count))
        .collect();
    assert_eq!(
        classes,
        [
            (SliceClass::Kernel, 1),
            (SliceClass::Memcpy, 1),
            (SliceClass::Derived, 2)
        ]
    );
    assert_eq!(
        (trace.device_work[1].bytes, trace.device_work[1].device),
        (4_096, 1)
    );
    let step = trace.declared_steps[0];
    assert_eq!((step.number, step.begin, step.end), (12, 1_000, 1_100));
    assert_eq!(trace.counts.unread["aggregate"], 1);
    let damage = trace.counts.damages[0];
    assert_eq!(
        (damage.len, bytes[usize::try_from(damage.offset).unwrap()]),
        (1, 0xff)
    );
    assert_eq!(trace.head.devices[0].name, "GPU:1");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_profile_is_too_odd(
        file in 0..2_usize,
        (from, len) in (any::<Index>(), any::<Index>()),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 0..40),
    ) {
        let mut bytes = if file == 0 {
            unpacked("jax-cpu/host.xplane.pb.gz")
        } else {
            unpacked("torch-cnn/memory_timeline.json.gz")
        };
        bytes.drain(..from.index(bytes.len()) / 16);
        bytes.truncate(len.index(bytes.len() + 1) * 4);
        for (place, byte) in changes {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        let timeline = MemoryTimeline::read(&bytes);
        prop_assert_eq!(timeline.times.len(), timeline.bytes.len());
        holds(&xplane::read(&bytes));
        holds(&folded::read(&bytes));
    }

    #[test]
    fn folded_stacks_keep_their_sum(
        lines in prop::collection::vec((prop::collection::vec("[ab ]{1,2}", 1..5), 0..1_000_u64), 0..20),
    ) {
        let line = |(frames, value): &(Vec<String>, u64)| format!("x{} {value}\n", frames.join(";"));
        let text: String = lines.iter().map(line).collect();
        let trace = folded::read(text.as_bytes());
        holds(&trace);
        let sum: u64 = lines.iter().map(|(_, value)| value).sum();
        let end = (0..trace.slices.len()).map(|slice| trace.slices.end(slice)).max();
        prop_assert_eq!(end.unwrap_or(0), sum.cast_signed());
        prop_assert_eq!(trace.counts.damaged, 0);
    }
}
