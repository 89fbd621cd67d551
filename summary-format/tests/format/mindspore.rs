//! MindSpore values written by hand: decoded content and memory use.

use trainscope_format::lineage::{LineageValue, UserInfo};
use trainscope_format::tensor::DType;
use trainscope_format::{Body, Format, Lineage, OpaqueTensor, TensorData};

use crate::support::{
    NOT_A_MESSAGE, WRONG_LEN, bytes_field, double, doubles, event, fixed32_field, frame, one_value,
    only_body, summary, value, varint_field, whole,
};

/// A value of MindSpore, or the error.
fn mindspore(value: &[u8]) -> Result<Body, String> {
    only_body(&one_value(Format::MindsporeSummary, value))
}

#[test]
fn values_of_mindspore() {
    let bucket = [double(1, -1.0), double(2, 0.5), varint_field(3, 7)].concat();
    let message = [
        bytes_field(1, &bucket),
        varint_field(2, 3),
        varint_field(3, u64::MAX),
        varint_field(8, 10),
    ]
    .concat();
    let seen = matched!(mindspore(&value(9, &message)), Ok(Body::Histogram(seen)) => seen);
    assert_eq!(
        (&seen.lefts[..], &seen.rights[..], &seen.counts[..]),
        (&[-1.0][..], &[-0.5][..], &[7.0][..])
    );
    assert_eq!(
        (seen.nan, seen.pos_inf, seen.count, seen.min),
        (3, 0, 10.0, None)
    );

    let f32s: Vec<_> = [1.0_f32, 2.0]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let head = [varint_field(1, 2), varint_field(2, 5)].concat();
    for (list, dtype, is_stretch) in [
        (bytes_field(3, &f32s), DType::F32, true),
        (
            [
                fixed32_field(3, 1.0_f32.to_bits()),
                fixed32_field(3, 2.0_f32.to_bits()),
            ]
            .concat(),
            DType::F32,
            false,
        ),
        (
            [bytes_field(3, &f32s[..4]), bytes_field(3, &f32s[4..])].concat(),
            DType::F32,
            false,
        ),
        (bytes_field(4, &[1, 2]), DType::I32, false),
        (bytes_field(5, &[1, 2]), DType::I64, false),
        (doubles(6, &[1.0, 2.0]), DType::F64, true),
        (
            bytes_field(
                8,
                &[[1, 0, 0, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0, 0, 0]].concat(),
            ),
            DType::I64,
            true,
        ),
    ] {
        let value = value(8, &[head.clone(), list].concat());
        let bytes = summary(1.0, 3, std::slice::from_ref(&value));
        let seen = matched!(mindspore(&value), Ok(Body::Tensor(seen)) => seen);
        assert_eq!((seen.dtype, &seen.shape[..]), (dtype, &[2][..]));
        assert_eq!(
            seen.original_dtype,
            (dtype != DType::I64).then_some(DType::I64)
        );
        let elements = match &seen.data {
            TensorData::Stretch(stretch) => {
                assert!(is_stretch, "{dtype:?}");
                &bytes[usize::try_from(stretch.offset).unwrap()..]
            }
            TensorData::Inline(inline) => {
                assert!(!is_stretch, "{dtype:?}");
                inline
            }
        };
        assert_eq!(seen.numbers(elements, 0, 9), [1.0, 2.0]);
    }
    for list in [bytes_field(3, &f32s[..4]), vec![], bytes_field(8, &[0; 15])] {
        assert_eq!(
            mindspore(&value(8, &[head.clone(), list].concat())),
            Err(WRONG_LEN.into())
        );
    }
    let newer = [
        varint_field(1, 2),
        varint_field(2, 48),
        bytes_field(8, &[0; 32]),
    ]
    .concat();
    let (dtype, shape) = ("MindSpore type 48".to_owned(), vec![2]);
    assert_eq!(
        mindspore(&value(8, &newer)),
        Ok(Body::Opaque(OpaqueTensor { dtype, shape }))
    );
    for (number, message) in [(9, &[0x0a][..]), (10, &[0x0a, 2, 0x0a, 9])] {
        assert_eq!(
            mindspore(&value(number, message)),
            Err(NOT_A_MESSAGE.into())
        );
    }
}

#[test]
fn explanations_are_read_in_full() {
    let layer = [
        fixed32_field(1, 0.5_f32.to_bits()),
        bytes_field(2, &[1, 2, 3, 4, 5]),
    ]
    .concat();
    let message = [
        varint_field(1, 9),
        bytes_field(2, b"images/9.png"),
        bytes_field(3, &[0, 2]),
        bytes_field(
            4,
            &[
                bytes_field(1, &0.25_f32.to_le_bytes()),
                varint_field(2, 1),
                fixed32_field(7, 1.0_f32.to_bits()),
            ]
            .concat(),
        ),
        bytes_field(
            5,
            &[
                bytes_field(1, b"Gradient"),
                varint_field(2, 2),
                bytes_field(3, b"heat.png"),
            ]
            .concat(),
        ),
        bytes_field(
            6,
            &[
                bytes_field(1, b"Robustness"),
                fixed32_field(3, 0.75_f32.to_bits()),
            ]
            .concat(),
        ),
        bytes_field(
            7,
            &[
                bytes_field(1, b"cat"),
                bytes_field(1, b"dog"),
                bytes_field(2, b"Gradient"),
            ]
            .concat(),
        ),
        bytes_field(8, b"end"),
        bytes_field(9, &[varint_field(1, 2), bytes_field(3, &layer)].concat()),
    ];
    let seen = whole(
        Format::MindsporeSummary,
        &frame(&event(1.0, 0, 6, &message.concat())),
    );
    let seen = matched!(only_body(&seen), Ok(Body::Explanation(seen)) => seen);
    assert_eq!(
        (seen.sample_id, &seen.ground_truth_labels[..]),
        (Some(9), &[0, 2][..])
    );
    let inference = seen.inference.unwrap();
    assert_eq!(inference.ground_truth_probs, [0.25]);
    assert_eq!(
        (
            inference.predicted_labels,
            inference.predicted_prob_deviations
        ),
        (vec![1], vec![1.0])
    );
    assert_eq!(
        (&*seen.heatmaps[0].path, seen.heatmaps[0].label),
        ("heat.png", 2)
    );
    assert_eq!(seen.benchmarks[0].total_score, 0.75);
    assert_eq!(seen.labels, ["cat", "dog"]);
    assert_eq!(seen.status.as_deref(), Some("end"));
    assert_eq!(seen.occlusions[0].layers[0].boxes, [[1, 2, 3, 4]]);
}

#[test]
fn lineage_may_be_nested_but_not_without_end() {
    let lineage = |number, message: &[u8]| {
        only_body(&whole(
            Format::MindsporeLineage,
            &frame(&event(1.0, 0, number, message)),
        ))
    };
    let entry = |key: &[u8], value: Vec<u8>| [bytes_field(1, key), value].concat();
    let nested = bytes_field(
        1,
        &bytes_field(
            2,
            &entry(
                b"outer",
                bytes_field(2, &bytes_field(4, &entry(b"inner", bytes_field(2, b"v")))),
            ),
        ),
    );
    let seen = matched!(lineage(10, &nested), Ok(Body::Lineage(seen)) => seen);
    let user = matched!(*seen, Lineage::UserDefined(user) => user);
    let values = vec![("inner".to_owned(), LineageValue::Text("v".into()))];
    let inner = UserInfo { values };
    assert_eq!(user.values, [("outer".into(), LineageValue::Map(inner))]);

    let (mut dataset, mut user) = (Vec::new(), Vec::new());
    for _ in 0..5000 {
        dataset = bytes_field(1, &dataset);
        user = bytes_field(1, &user);
    }
    for (number, message) in [(9, dataset), (10, user)] {
        assert_eq!(
            lineage(number, &message),
            Err("lineage is nested more than 64 levels deep".into())
        );
    }

    let parameters = [
        bytes_field(1, &entry(b"op", bytes_field(2, b"Batch"))),
        bytes_field(
            2,
            &entry(
                b"columns",
                bytes_field(2, &[bytes_field(1, b"a"), bytes_field(1, b"b")].concat()),
            ),
        ),
        bytes_field(3, &entry(b"shuffle", varint_field(2, 1))),
        bytes_field(4, &entry(b"rows", varint_field(2, u64::MAX))),
        bytes_field(5, &entry(b"rate", double(2, 0.5))),
        bytes_field(3, &entry(b"left_out", vec![])),
    ];
    let seen = matched!(
        lineage(9, &bytes_field(2, &parameters.concat())),
        Ok(Body::Lineage(seen)) => seen
    );
    let node = matched!(*seen, Lineage::Dataset(node) => node);
    let values: Vec<_> = node
        .parameters
        .into_iter()
        .map(|parameter| parameter.1)
        .collect();
    assert_eq!(
        values,
        [
            LineageValue::Text("Batch".into()),
            LineageValue::Texts(vec!["a".into(), "b".into()]),
            LineageValue::Bool(true),
            LineageValue::Int(-1),
            LineageValue::Number(0.5),
            LineageValue::Bool(false),
        ]
    );
}
