//! Values without meaning or nearly so: decoded content and memory use.

use proptest::prelude::*;
use trainscope_format::tensor::DType;
use trainscope_format::{
    Body, Damage, Format, Histogram, ImageEncoding, Kind, OpaqueTensor, Stretch, TensorData,
};

use crate::support::{
    NOT_A_MESSAGE, WRONG_LEN, bytes_field, double, doubles, event, feed, fixed32_field,
    fixed64_field, frame, one_value, only_body, simple_value, summary, tensor, tensor_value,
    text_tensor, value, varint_field, whole,
};

/// The body of a value of TensorBoard, or the error.
fn body(value: &[u8]) -> Result<Body, String> {
    only_body(&one_value(Format::Tfevents, value))
}

fn histogram(message: &[u8]) -> Histogram {
    match body(&value(5, message)).unwrap() {
        Body::Histogram(histogram) => histogram,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_outer_edges_of_a_histogram_are_its_smallest_and_largest_value() {
    let seen = histogram(
        &[
            double(1, -1.5),
            double(2, 2.5),
            double(3, 6.0),
            double(4, 3.25),
            double(5, 12.5),
            doubles(6, &[-1.0, 0.0, f64::MAX]),
            doubles(7, &[1.0, 2.0, 3.0]),
        ]
        .concat(),
    );
    assert_eq!(seen.lefts, [-1.5, -1.0, 0.0]);
    assert_eq!(seen.rights, [-1.0, 0.0, 2.5]);
    assert_eq!(seen.counts, [1.0, 2.0, 3.0]);
    assert_eq!((seen.min, seen.max), (Some(-1.5), Some(2.5)));
    assert_eq!(
        (seen.sum, seen.sum_squares, seen.count),
        (Some(3.25), Some(12.5), 6.0)
    );

    // An empty bin below the smallest value, as torch writes it; not packed.
    let seen = histogram(
        &[
            double(1, 0.5),
            double(2, 2.0),
            double(6, 0.0),
            double(6, 2.0),
            double(7, 0.0),
            double(7, 4.0),
        ]
        .concat(),
    );
    assert_eq!(
        (&seen.lefts[..], &seen.rights[..]),
        (&[0.0, 0.5][..], &[0.0, 2.0][..])
    );

    // Empty bins at both ends: the inner ones are cut to the values.
    let seen = histogram(
        &[
            double(1, 1.25),
            double(2, 2.5),
            doubles(6, &[0.0, 1.0, 2.0, 3.0, f64::MAX]),
            doubles(7, &[0.0, 0.0, 3.0, 1.0, 0.0]),
        ]
        .concat(),
    );
    assert_eq!(seen.lefts, [0.0, 0.0, 1.25, 2.0, 3.0]);
    assert_eq!(seen.rights, [0.0, 1.0, 2.0, 2.5, f64::MAX]);
}

#[test]
fn nothing_of_a_histogram_is_put_right() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let seen = histogram(
        &[
            double(1, nan),
            double(2, nan),
            doubles(6, &[inf, -1.0, nan]),
            doubles(7, &[-3.0, nan, inf]),
        ]
        .concat(),
    );
    assert_eq!(format!("{:?}", seen.lefts), "[inf, inf, -1.0]");
    assert_eq!(format!("{:?}", seen.rights), "[inf, -1.0, NaN]");
    assert_eq!(format!("{:?}", seen.counts), "[-3.0, NaN, inf]");
    assert_eq!(histogram(b"").counts, [0.0; 0]);

    let rows = [nan, inf, -1.0, 5.0, 4.0, 0.5];
    let content: Vec<_> = rows
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let seen = matched!(
        body(&tensor_value("x", &tensor(2, &[2, 3], &content), Some("histograms"))),
        Ok(Body::Histogram(seen)) => seen
    );
    assert_eq!(
        format!("{:?}{:?}{:?}", seen.lefts, seen.rights, seen.counts),
        "[NaN, 5.0][inf, 4.0][-1.0, 0.5]"
    );
    assert_eq!(seen.count, -0.5);
}

#[test]
fn histograms_that_cannot_be_read_are_damage() {
    for (message, reason) in [
        (
            doubles(6, &[1.0, 2.0]),
            "a histogram has different numbers of edges and counts",
        ),
        (bytes_field(6, &[0; 9]), NOT_A_MESSAGE),
        (vec![0x0a, 0x7f], NOT_A_MESSAGE),
    ] {
        assert_eq!(body(&value(5, &message)), Err(reason.into()));
    }
    for (dims, len, reason) in [
        (
            &[2_u64, 4][..],
            64,
            "a histogram is not a tensor of three columns",
        ),
        (&[6], 48, "a histogram is not a tensor of three columns"),
        (&[2, 3], 47, WRONG_LEN),
        (&[1 << 62, 3], 48, WRONG_LEN),
        (&[u64::MAX, 3], 48, WRONG_LEN),
        (&[2, 3], 0, WRONG_LEN),
    ] {
        let value = tensor_value("x", &tensor(2, dims, &vec![0; len]), Some("histograms"));
        assert_eq!(body(&value), Err(reason.into()), "{dims:?}");
    }
}

#[test]
fn a_damaged_value_costs_nothing_else() {
    let bad = value(5, &doubles(6, &[1.0]));
    let good = value(5, b"");
    let first = summary(1.0, 0, &[simple_value("loss", 1.0)]);
    let mut torn = first.clone();
    torn[20] ^= 1;
    let event = summary(
        2.0,
        1,
        &[
            simple_value("loss", 2.0),
            bad.clone(),
            good,
            bad.clone(),
            simple_value("loss", 3.0),
        ],
    );
    let bytes = [&first[..], &torn, &event, &first].concat();
    let seen = whole(Format::Tfevents, &bytes);
    assert_eq!(
        seen.points("loss"),
        [(0, 1.0), (1, 2.0), (1, 3.0), (0, 1.0)]
    );
    assert_eq!(seen.bodies("x").len(), 1);

    // The header of the frame, then the values in place.
    let at = |from: usize| {
        (from..bytes.len())
            .find(|&at| bytes[at..].starts_with(&bad))
            .unwrap()
    };
    let second = at(0);
    let third = at(second + 1);
    let spans: Vec<_> = seen
        .batch
        .damages
        .iter()
        .map(|damage| (damage.offset, damage.len_bytes))
        .collect();
    let len = bad.len() as u64;
    assert_eq!(
        spans,
        [
            (first.len() as u64, torn.len() as u64),
            (second as u64, len),
            (third as u64, len)
        ]
    );
    for cut in 0..bytes.len() {
        let cut = feed(Format::Tfevents.decoder(""), &bytes, &[cut]);
        assert_eq!(cut.comparable(), seen.comparable());
    }

    // An invalid event takes its damaged values with it: it is damage as a whole.
    let broken = frame(&[event_with(&bad), vec![0x0a, 0x7f]].concat());
    let seen = whole(Format::Tfevents, &[&broken[..], &first].concat());
    assert_eq!(seen.batch.damages.len(), 1);
    assert_eq!(seen.batch.damages[0].len_bytes, broken.len() as u64);
}

fn event_with(value: &[u8]) -> Vec<u8> {
    event(1.0, 1, 5, &bytes_field(1, value))
}

#[test]
fn a_tag_is_what_its_damaged_first_value_said() {
    let bad = tensor_value("x", &tensor(2, &[1], &[0; 8]), Some("histograms"));
    let good = tensor_value("x", &tensor(2, &[1, 3], &[0; 24]), None);
    let seen = whole(
        Format::Tfevents,
        &[summary(1.0, 1, &[bad]), summary(2.0, 2, &[good])].concat(),
    );
    assert_eq!(seen.batch.damages.len(), 1);
    assert!(matches!(seen.bodies("x")[..], [(2, Body::Histogram(_))]));
}

#[test]
fn pictures_may_lie_about_their_size_and_be_anything() {
    let image = |height: u64, width: u64, encoded: &[u8]| {
        [
            varint_field(1, height),
            varint_field(2, width),
            varint_field(3, 4),
            bytes_field(4, encoded),
        ]
        .concat()
    };
    for (message, size, encoding) in [
        (
            image(5, 7, b"\x89PNG\r\n\x1a\n"),
            (7, 5),
            ImageEncoding::Png,
        ),
        (
            image(u64::MAX, 1 << 40, b"GIF89a..."),
            (0, 0),
            ImageEncoding::Gif,
        ),
        (
            image(1, 1, b"<svg onload=alert(1)>"),
            (1, 1),
            ImageEncoding::Unknown,
        ),
    ] {
        for format in [Format::Tfevents, Format::MindsporeSummary] {
            let images = matched!(
                only_body(&one_value(format, &value(4, &message))),
                Ok(Body::Images(images)) => images
            );
            assert_eq!((images.width, images.height), size);
            assert_eq!(
                (images.channels, images.encoding, images.items.len()),
                (4, encoding, 1)
            );
        }
    }
    // Without content they are counted, and nothing is damaged.
    let empty = [varint_field(1, 3), image(1, 1, b"")].map(|image| value(4, &image));
    for empty in empty.into_iter().chain([value(6, b"")]) {
        let seen = one_value(Format::Tfevents, &empty).batch;
        assert_eq!((seen.unread.len(), seen.damages.len()), (1, 0));
    }

    let images = |dims: &[u64], texts: &[&[u8]]| {
        body(&tensor_value(
            "x",
            &text_tensor(dims, texts),
            Some("images"),
        ))
    };
    let seen = matched!(
        images(&[4], &[b"10", b"ten", b"GIF87a", b"\xff\xd8\xff"]),
        Ok(Body::Images(seen)) => seen
    );
    assert_eq!(
        (seen.width, seen.height, seen.items.len(), seen.encoding),
        (10, 0, 2, ImageEncoding::Gif)
    );
    assert_eq!(
        images(&[1], &[b"10"]),
        Err("a tensor of images does not begin with width and height".into())
    );
    assert_eq!(images(&[9], &[b"10", b"10", b""]), Err(WRONG_LEN.into()));
    let number = tensor_value("x", &tensor(1, &[], &[0; 4]), Some("images"));
    assert_eq!(
        body(&number),
        Err("a tensor holds numbers where text belongs".into())
    );
}

#[test]
fn sound_says_itself_what_it_is() {
    let wav = |data_len: u32| {
        let mut wav = b"RIFF\0\0\0\0WAVEjunk\x03\0\0\0abc\0fmt \x10\0\0\0".to_vec();
        wav.extend([1_u8, 0, 2, 0]);
        wav.extend(44_100_u32.to_le_bytes());
        wav.extend(176_400_u32.to_le_bytes());
        wav.extend([4_u8, 0, 16, 0]);
        wav.extend(b"data");
        wav.extend(data_len.to_le_bytes());
        wav.extend([0; 40]);
        wav
    };
    // The actual length counts, not the declared one.
    for len in [40, u32::MAX] {
        let tensor = text_tensor(&[1, 2], &[&wav(len), b"a *label*"]);
        let audio = matched!(
            body(&tensor_value("x", &tensor, Some("audio"))),
            Ok(Body::Audio(audio)) => audio
        );
        assert_eq!(
            (audio.sample_rate_hz, audio.channels, audio.frames),
            (Some(44_100.0), Some(2), Some(10))
        );
        assert_eq!(audio.labels, ["a *label*"]);
    }
    for end in 0..60 {
        let tensor = text_tensor(&[1], &[&wav(40)[..end]]);
        let audio = matched!(
            body(&tensor_value("x", &tensor, Some("audio"))),
            Ok(Body::Audio(audio)) => audio
        );
        assert_eq!(audio.items[0].len_bytes, end as u64);
    }
}

#[test]
fn tensors_are_left_where_they_lie_or_gathered() {
    let f32s: Vec<_> = [1.5_f32, -2.0]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let head = |data_type, size| {
        [
            varint_field(1, data_type),
            bytes_field(2, &bytes_field(2, &varint_field(1, size))),
        ]
        .concat()
    };
    let listed = |data_type, size, list: Vec<u8>| [head(data_type, size), list].concat();
    let cases = [
        (tensor(1, &[2], &f32s), DType::F32, vec![1.5, -2.0], true),
        (
            listed(1, 2, bytes_field(5, &f32s)),
            DType::F32,
            vec![1.5, -2.0],
            true,
        ),
        (
            listed(
                1,
                2,
                [
                    fixed32_field(5, 1.5_f32.to_bits()),
                    fixed32_field(5, (-2.0_f32).to_bits()),
                ]
                .concat(),
            ),
            DType::F32,
            vec![1.5, -2.0],
            false,
        ),
        (
            listed(
                3,
                2,
                bytes_field(7, b"\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
            ),
            DType::I32,
            vec![5.0, -1.0],
            false,
        ),
        (
            listed(10, 3, bytes_field(11, &[1, 0])),
            DType::Bool,
            vec![1.0, 0.0, 0.0],
            false,
        ),
        // One value is used for all.
        (
            listed(9, 1 << 50, varint_field(10, 7)),
            DType::I64,
            vec![7.0; 9],
            false,
        ),
        (listed(2, 4, vec![]), DType::F64, vec![0.0; 4], false),
        (
            listed(19, 1, varint_field(13, 0x3c00)),
            DType::F16,
            vec![1.0],
            false,
        ),
    ];
    for (message, dtype, numbers, is_stretch) in cases {
        let value = tensor_value("x", &message, None);
        let bytes = summary(1.0, 3, std::slice::from_ref(&value));
        let seen = matched!(body(&value), Ok(Body::Tensor(seen)) => seen);
        assert_eq!(seen.dtype, dtype);
        let elements = match &seen.data {
            TensorData::Stretch(Stretch { offset, len_bytes }) => {
                assert!(is_stretch);
                let from = usize::try_from(*offset).unwrap();
                &bytes[from..from + usize::try_from(*len_bytes).unwrap()]
            }
            TensorData::Inline(inline) => {
                assert!(!is_stretch && inline.len() < 100);
                inline
            }
        };
        assert_eq!(
            seen.numbers(elements, 0, numbers.len()),
            numbers,
            "{dtype:?}"
        );
        assert_eq!(
            seen.numbers(elements, 1, 1),
            numbers.get(1..2).unwrap_or_default(),
            "{dtype:?}"
        );
        assert!(seen.numbers(elements, 1 << 60, 5).is_empty());
    }
    for (message, reason) in [
        (tensor(1, &[3], &f32s), WRONG_LEN),
        (tensor(1, &[1], &f32s), WRONG_LEN),
        (tensor(1, &[u64::MAX], &f32s), WRONG_LEN),
        (tensor(1, &[1 << 33, 1 << 33], &f32s), WRONG_LEN),
        (listed(1, 1, bytes_field(5, &f32s)), WRONG_LEN),
        (
            tensor(99, &[1], &[0; 16]),
            "a tensor has an unknown element type",
        ),
    ] {
        assert_eq!(
            body(&tensor_value("x", &message, Some("tensor"))),
            Err(reason.into())
        );
    }
    for (data_type, dtype) in [
        (8, "complex64"),
        (18, "complex128"),
        (20, "resource"),
        (29, "i4"),
    ] {
        let message = tensor(data_type, &[2, 3], &[0; 16]);
        let (dtype, shape) = (dtype.to_owned(), vec![2, 3]);
        assert_eq!(
            body(&tensor_value("x", &message, Some("tensor"))),
            Ok(Body::Opaque(OpaqueTensor { dtype, shape }))
        );
    }
}

#[test]
fn text_need_not_be_text() {
    let message = text_tensor(&[2], &[b"a\xff", b""]);
    let text = matched!(
        body(&tensor_value("x", &message, Some("text"))),
        Ok(Body::Text(text)) => text
    );
    assert_eq!(text.items, ["a\u{fffd}", ""]);
    let none = body(&tensor_value(
        "x",
        &text_tensor(&[1 << 40], &[]),
        Some("text"),
    ));
    assert_eq!(none, Err(WRONG_LEN.into()));
}

#[test]
fn other_plugins_with_other_things_in_them() {
    let plugin = |name: &str, content: &[u8], tensor: Option<Vec<u8>>| {
        let data = [bytes_field(1, name.as_bytes()), bytes_field(2, content)].concat();
        let tensor = tensor
            .map(|tensor| bytes_field(8, &tensor))
            .unwrap_or_default();
        [
            bytes_field(1, b"x"),
            tensor,
            bytes_field(9, &bytes_field(1, &data)),
        ]
        .concat()
    };
    for (value, reason) in [
        (
            plugin("hparams", b"", None),
            "hyper-parameters have no content",
        ),
        (
            plugin("hparams", &bytes_field(3, &[0x0a]), None),
            NOT_A_MESSAGE,
        ),
        (
            plugin("pr_curves", b"", Some(tensor(1, &[5, 1], &[0; 20]))),
            "precision and recall are not a tensor of six rows",
        ),
        (
            plugin(
                "custom_scalars",
                b"",
                Some(text_tensor(&[], &[&[0x12, 0x7f]])),
            ),
            NOT_A_MESSAGE,
        ),
        (
            plugin("custom_scalars", b"", Some(text_tensor(&[2], &[b"", b""]))),
            WRONG_LEN,
        ),
        (
            plugin("graphs", b"", Some(text_tensor(&[0], &[]))),
            WRONG_LEN,
        ),
        (
            plugin("hparams", &bytes_field(2, &vec![0; 5 << 20]), None),
            "a value of many parts exceeds 4 MiB",
        ),
    ] {
        assert_eq!(body(&value), Err(reason.into()));
    }
    let Ok(Body::PrCurve(curve)) = body(&plugin(
        "pr_curves",
        b"",
        Some(tensor(1, &[6, 1], &[0; 24])),
    )) else {
        panic!()
    };
    assert_eq!(curve.thresholds, [0.0]);
}

/// All byte ranges that a record refers to.
fn stretches(body: &Body) -> Vec<Stretch> {
    match body {
        Body::Images(images) => images.items.clone(),
        Body::Audio(audio) => audio.items.clone(),
        Body::Graph(graph) => vec![graph.data],
        Body::Tensor(tensor) => match tensor.data {
            TensorData::Stretch(stretch) => vec![stretch],
            TensorData::Inline(_) => vec![],
        },
        _ => vec![],
    }
}

proptest! {
    #[test]
    fn made_up_messages_are_read_or_damage(
        message in prop::collection::vec(
            prop_oneof![
                (1_u64..12, any::<u64>()).prop_map(|(number, value)| varint_field(number, value)),
                (1_u64..12, any::<u64>()).prop_map(|(number, value)| fixed64_field(number, value)),
                (1_u64..12, any::<u32>()).prop_map(|(number, value)| fixed32_field(number, value)),
                (1_u64..12, prop::collection::vec(any::<u8>(), 0..20)).prop_map(|(number, bytes)| bytes_field(number, &bytes)),
                (1_u64..12, 1_u64..6, 0_u64..9).prop_map(|(number, inner, value)| bytes_field(number, &varint_field(inner, value))),
            ],
            0..12,
        ),
        field in 3_u64..11,
        plugin in 0_usize..12,
        cut in any::<prop::sample::Index>(),
    ) {
        const PLUGINS: [&str; 12] = [
            "scalars", "histograms", "images", "audio", "text", "tensor", "hparams", "pr_curves", "custom_scalars", "mesh", "graphs", "?",
        ];
        let message = message.concat();
        let values = [
            value(field, &message),
            tensor_value("y", &message, Some(PLUGINS[plugin])),
            simple_value("loss", 1.0),
        ];
        let bytes = [
            summary(1.0, 1, &values),
            frame(&event(1.0, 2, field, &message)),
            summary(1.0, 3, &[simple_value("loss", 1.0)]),
        ].concat();
        for format in [Format::Tfevents, Format::MindsporeSummary, Format::MindsporeLineage] {
            let seen = whole(format, &bytes);
            for record in &seen.batch.records {
                prop_assert_eq!(seen.batch.new_tags[record.tag.0 as usize].kind, record.body.kind());
                for stretch in stretches(&record.body) {
                    prop_assert!(stretch.offset + stretch.len_bytes <= bytes.len() as u64);
                }
            }
            let end = |damage: &Damage| damage.offset + damage.len_bytes;
            prop_assert!(seen.batch.damages.iter().is_sorted_by_key(|damage| damage.offset));
            prop_assert!(seen.batch.damages.iter().all(|damage| end(damage) <= bytes.len() as u64));
            let cut = feed(format.decoder(""), &bytes, &[cut.index(bytes.len())]);
            prop_assert_eq!(cut.comparable(), seen.comparable());
            if format == Format::Tfevents {
                // The next record is read whatever came before.
                prop_assert_eq!(seen.points("loss").last().copied(), Some((3, 1.0)));
                prop_assert!(seen.batch.new_tags.iter().any(|tag| tag.kind == Kind::Scalars));
            }
        }
    }
}
