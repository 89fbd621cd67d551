//! Values of every kind and type, written by hand as the two generations of writers do.

use proptest::prelude::*;
use trainscope_format::{Body, Format, Kind, RecordBatch, TagInfo};

use crate::support::{
    DecoderOutput, bytes_field, double, doubles, event, fixed32_field, fixed64_field, frame,
    simple_value, summary, tensor, tensor_value, text_tensor, value, varint, varint_field, whole,
};

fn read(records: &[Vec<u8>]) -> DecoderOutput {
    let seen = whole(Format::Tfevents, &records.concat());
    assert_eq!(seen.batch.damages, []);
    assert_eq!(seen.open_damage, None);
    seen
}

fn tags(seen: &DecoderOutput) -> Vec<(&str, Kind)> {
    let tags = seen.batch.new_tags.iter();
    tags.map(|TagInfo { name, kind }| (&**name, *kind))
        .collect()
}

fn one_value(value: Vec<u8>) -> DecoderOutput {
    read(&[summary(1.0, 1, &[value])])
}

#[test]
fn tensors_of_one_element_are_scalars_of_every_type() {
    let cases: [(u64, &[u8], f64); 14] = [
        (1, &0.1_f32.to_le_bytes(), f64::from(0.1_f32)),
        (2, &0.1_f64.to_le_bytes(), 0.1),
        (3, &(-7_i32).to_le_bytes(), -7.0),
        (4, &[200], 200.0),
        (5, &(-300_i16).to_le_bytes(), -300.0),
        (6, &[0xff], -1.0),
        (9, &(-1_i64 << 40).to_le_bytes(), -1_099_511_627_776.0),
        (10, &[1], 1.0),
        (14, &[0x40, 0xc0], -3.0),
        (14, &[0xc0, 0x7f], f64::NAN),
        (17, &60_000_u16.to_le_bytes(), 60_000.0),
        (19, &[0x00, 0x7c], f64::INFINITY),
        (22, &u32::MAX.to_le_bytes(), 4_294_967_295.0),
        (
            23,
            &(1_u64 << 63).to_le_bytes(),
            9_223_372_036_854_775_808.0,
        ),
    ];
    for (data_type, content, expected) in cases {
        for dims in [&[][..], &[1], &[1, 1]] {
            let seen = one_value(tensor_value(
                "x",
                &tensor(data_type, dims, content),
                Some("scalars"),
            ));
            let value = seen.points("x")[0].1;
            assert!(
                value == expected || (value.is_nan() && expected.is_nan()),
                "type {data_type}: {value} instead of {expected}"
            );
        }
    }
}

#[test]
fn lists_of_one_element_are_scalars_packed_or_not() {
    let minus_two = varint((-2_i64).cast_unsigned());
    let f32_bits = 0.1_f32.to_bits();
    let cases: [(u64, Vec<u8>, f64); 14] = [
        (1, fixed32_field(5, f32_bits), f64::from(0.1_f32)),
        (
            1,
            bytes_field(5, &f32_bits.to_le_bytes()),
            f64::from(0.1_f32),
        ),
        (2, fixed64_field(6, 0.1_f64.to_bits()), 0.1),
        (2, bytes_field(6, &0.1_f64.to_le_bytes()), 0.1),
        (3, bytes_field(7, &minus_two), -2.0),
        (6, varint_field(7, (-2_i64).cast_unsigned()), -2.0),
        (9, bytes_field(10, &minus_two), -2.0),
        (10, varint_field(11, 1), 1.0),
        (14, varint_field(13, 0xc040), -3.0),
        (19, bytes_field(13, &varint(0x3e00)), 1.5),
        (22, varint_field(16, 4_000_000_000), 4e9),
        (23, varint_field(17, 1 << 63), 9_223_372_036_854_775_808.0),
        // A zero may be omitted.
        (1, Vec::new(), 0.0),
        (3, bytes_field(7, b""), 0.0),
    ];
    for (data_type, list, expected) in cases {
        let tensor = [varint_field(1, data_type), bytes_field(2, b""), list].concat();
        let seen = one_value(tensor_value("x", &tensor, Some("scalars")));
        assert_eq!(seen.points("x"), [(1, expected)], "type {data_type}");
    }
}

#[test]
fn what_is_no_number_is_skipped_and_counted() {
    for tensor in [
        tensor(1, &[0], b""),
        tensor(1, &[], &[0; 3]),
        tensor(7, &[], b"text"),
        tensor(8, &[], &[0; 8]),
        tensor(0, &[], &[0; 8]),
        tensor(99, &[], &[0; 8]),
    ] {
        let seen = one_value(tensor_value("x", &tensor, Some("scalars")));
        assert_eq!(seen.batch.skipped_records, 1);
        assert_eq!(seen.batch.len_records(), 0);
    }
    // Several numbers are a tensor, whatever the plugin.
    let several = tensor(1, &[2], &[0; 8]);
    let seen = one_value(tensor_value("x", &several, Some("scalars")));
    assert_eq!(seen.batch.records[0].body.kind(), Kind::Tensors);
    // No value at all, no summary at all, an unknown field.
    let seen = read(&[
        summary(1.0, 1, &[bytes_field(1, b"x")]),
        summary(1.0, 1, &[]),
        frame(&event(1.0, 1, 77, b"?")),
    ]);
    assert_eq!(seen.batch.skipped_records, 3);
}

#[test]
fn a_step_counter_of_32_bits_goes_on_after_its_largest_number() {
    let meant = (1_i64 << 31) - 50..(1 << 31) + 50;
    let record = |step: i64| {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "as the counter of the program"
        )]
        let step = i64::from(step as i32);
        summary(1.0, step, &[simple_value("x", 2.0)])
    };
    let written: Vec<Vec<u8>> = meant.clone().map(record).collect();
    let seen = read(&written);
    assert!(seen.batch.scalars.steps.iter().copied().eq(meant.clone()));
    assert!(seen.batch.has_step_overflow);
    // A restart of the reader between the largest and the lowest number, and after both.
    for cut in [50, 60] {
        let first = read(&written[..cut]);
        let mut decoder = Format::Tfevents.resume("", first.checkpoint).unwrap();
        let mut rest = RecordBatch::default();
        decoder.push(&written[cut..].concat(), &mut rest);
        let steps = first.batch.scalars.steps.iter().chain(&rest.scalars.steps);
        assert!(steps.copied().eq(meant.clone()), "{cut}");
        assert_eq!(rest.has_step_overflow, cut == 50);
    }
    // Negative steps stay elsewhere, and so do large ones.
    let others = [-3, 5, -7, (1 << 31) - 1, -1, (1 << 31) + 7, 1 << 40, -5];
    let seen = read(&others.map(|step| summary(1.0, step, &[simple_value("x", 2.0)])));
    assert_eq!(seen.batch.scalars.steps, others);
    assert!(!seen.batch.has_step_overflow);
}

#[test]
fn a_plugin_is_named_once_a_tag() {
    let number = tensor(1, &[], &2.0_f32.to_le_bytes());
    let image = text_tensor(&[3], &[b"4", b"5", b"GIF89a"]);
    let values = |plugin: bool| {
        vec![
            tensor_value("loss", &number, plugin.then_some("scalars")),
            tensor_value("photo", &image, plugin.then_some("images")),
            tensor_value("strange", &image, plugin.then_some("of_the_future")),
            tensor_value("bare", &image, None),
            tensor_value("numbers", &number, None),
        ]
    };
    let records = [
        summary(1.0, 1, &values(true)),
        summary(2.0, 2, &values(false)),
        summary(3.0, 3, &values(false)),
    ];
    let seen = read(&records);
    assert_eq!(
        tags(&seen),
        [
            ("loss", Kind::Scalars),
            ("photo", Kind::Images),
            ("strange", Kind::Unknown),
            ("bare", Kind::Text),
            ("numbers", Kind::Tensors),
        ]
    );
    assert_eq!(seen.points("loss"), [(1, 2.0), (2, 2.0), (3, 2.0)]);
    assert_eq!(seen.batch.unread.len(), 3);
    assert_eq!(seen.batch.records.len(), 9);

    // The tags of a checkpoint survive a restart.
    let first = whole(Format::Tfevents, &records[0]);
    let resumed = Format::Tfevents.resume("", first.checkpoint).unwrap();
    let rest = crate::support::feed(resumed, &records[1..].concat(), &[]);
    assert_eq!(rest.batch.new_tags, []);
    assert_eq!(rest.batch.scalars.steps, [2, 3]);
    assert_eq!(rest.batch.unread, seen.batch.unread[1..]);
    assert_eq!(rest.batch.records.len(), 6);
}

#[test]
fn a_tag_of_two_kinds_is_two_tags() {
    let histogram = [bytes_field(1, b"x"), bytes_field(5, b"")].concat();
    let seen = read(&[
        summary(1.0, 1, &[simple_value("x", 1.0), histogram.clone()]),
        summary(1.0, 2, &[histogram, simple_value("x", 2.0)]),
    ]);
    assert_eq!(tags(&seen), [("x", Kind::Scalars), ("x", Kind::Histograms)]);
    assert_eq!(seen.points("x"), [(1, 1.0), (2, 2.0)]);
}

#[test]
fn the_exact_value_wins_in_either_order() {
    let exact = fixed64_field(1000, 0.1_f64.to_bits());
    let simple = simple_value("x", 0.1);
    for value in [
        [simple.clone(), exact.clone()].concat(),
        [exact, simple].concat(),
    ] {
        assert_eq!(one_value(value).points("x"), [(1, 0.1)]);
    }
}

#[test]
fn what_an_event_does_not_say_is_zero() {
    let seen = read(&[frame(&bytes_field(
        5,
        &bytes_field(1, &simple_value("x", -0.0)),
    ))]);
    assert_eq!(seen.batch.scalars.steps, [0]);
    assert_eq!(seen.batch.scalars.wall_times_secs, [0.0]);
    assert!(seen.batch.scalars.values[0].is_sign_negative());
}

#[test]
fn steps_and_times_are_kept_as_written() {
    let steps = [-1, i64::MIN, i64::MAX, 0, 5, 3];
    let records: Vec<_> = steps
        .iter()
        .map(|&step| summary(f64::NEG_INFINITY, step, &[simple_value("x", 1.0)]))
        .collect();
    let seen = read(&records);
    assert_eq!(seen.batch.scalars.steps, steps);
    assert!(
        seen.batch
            .scalars
            .wall_times_secs
            .iter()
            .all(|&wall| wall == f64::NEG_INFINITY)
    );
}

#[test]
fn fields_may_come_in_any_order_and_unknown_ones_between() {
    let value = [
        fixed32_field(2, 1.5_f32.to_bits()),
        varint_field(900, 7),
        bytes_field(1, b"x"),
    ]
    .concat();
    let event = [
        bytes_field(5, &[varint_field(12, 1), bytes_field(1, &value)].concat()),
        bytes_field(44, b"?"),
        // A known number with another wire type is another field.
        fixed32_field(2, 9),
        varint_field(2, 3),
        fixed64_field(1, 8.0_f64.to_bits()),
    ]
    .concat();
    let seen = read(&[frame(&event)]);
    assert_eq!(seen.points("x"), [(3, 1.5)]);
    assert_eq!(seen.batch.scalars.wall_times_secs, [8.0]);
}

#[test]
fn any_bytes_are_a_tag() {
    let long = "t".repeat(1 << 20);
    let invalid = [
        bytes_field(1, b"a\xffb"),
        fixed32_field(2, 1.0_f32.to_bits()),
    ]
    .concat();
    let seen = read(&[
        summary(1.0, 1, &[simple_value("", 1.0), simple_value(&long, 2.0)]),
        summary(1.0, 2, &[invalid.clone(), invalid]),
    ]);
    let names: Vec<_> = tags(&seen).iter().map(|tag| tag.0).collect();
    assert_eq!(names, ["", &long, "a\u{fffd}b"]);
    assert_eq!(seen.points("a\u{fffd}b").len(), 2);
}

#[test]
fn ten_thousand_tags_keep_their_order() {
    let names: Vec<_> = (0..10_000).map(|tag| format!("layer/{tag}")).collect();
    let values: Vec<_> = names.iter().map(|name| simple_value(name, 1.0)).collect();
    let mut backwards = values.clone();
    backwards.reverse();
    let seen = read(&[
        summary(1.0, 1, &values),
        summary(1.0, 2, &values),
        summary(1.0, 3, &backwards),
    ]);
    assert!(tags(&seen).iter().map(|tag| tag.0).eq(names));
    let ids: Vec<_> = seen.batch.scalars.tags.iter().map(|id| id.0).collect();
    assert!(
        ids.into_iter()
            .eq((0..10_000).chain(0..10_000).chain((0..10_000).rev()))
    );
}

#[test]
fn graphs_have_names_of_their_own() {
    let seen = read(&[
        frame(&event(1.0, 0, 4, b"graph")),
        frame(&event(1.0, 0, 9, b"meta graph")),
        frame(&event(1.0, 7, 8, &bytes_field(1, b"step7"))),
    ]);
    assert_eq!(
        tags(&seen),
        [
            ("graph", Kind::Graphs),
            ("meta_graph", Kind::Graphs),
            ("step7", Kind::Graphs),
        ]
    );
}

proptest! {
    #[test]
    fn the_usual_layout_is_read_as_any_other(
        step in any::<i64>(),
        wall_time_secs in any::<f64>(),
        tag in "[a-zé]{0,130}",
        bits in any::<u32>(),
        is_tensor in any::<bool>(),
    ) {
        let value = if is_tensor {
            tensor_value(&tag, &tensor(1, &[], &bits.to_le_bytes()), Some("scalars"))
        } else {
            simple_value(&tag, f32::from_bits(bits))
        };
        let usual = event(wall_time_secs, step, 5, &bytes_field(1, &value));
        let unusual = [&usual[..], &varint_field(99, 1)].concat();
        let a = read(&[frame(&usual)]);
        let b = read(&[frame(&unusual)]);
        prop_assert_eq!(a.points(&tag).len(), 1);
        prop_assert_eq!(format!("{:?}", a.batch), format!("{:?}", b.batch));
        prop_assert_eq!(a.batch.scalars.steps, [step]);
        let value = a.batch.scalars.values[0];
        let expected = f64::from(f32::from_bits(bits));
        prop_assert!(value == expected || (value.is_nan() && expected.is_nan()));
    }
}

#[test]
fn explanations_and_lineage_share_a_number_and_are_told_apart_by_file() {
    let bytes = frame(&event(1.0, 0, 6, b""));
    for (format, tag, kind) in [
        (Format::MindsporeSummary, "explain", Kind::Explanations),
        (Format::MindsporeLineage, "train_lineage", Kind::Lineage),
    ] {
        assert_eq!(tags(&whole(format, &bytes)), [(tag, kind)]);
    }
}

#[test]
fn values_outside_of_all_bins_are_nan_if_the_smallest_is() {
    let of = |min: f64, count: f64| {
        let stated = [double(1, min), double(2, min), double(3, count)];
        let bins = [doubles(6, &[1.0, 2.0]), doubles(7, &[0.0, 4.0])];
        let message = [stated.concat(), bins.concat()].concat();
        match &one_value(value(5, &message)).batch.records[0].body {
            Body::Histogram(histogram) => histogram.nan,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        [of(f64::NAN, 10.0), of(f64::NAN, 4.0), of(1.5, 10.0)],
        [6, 1, 0]
    );
}
