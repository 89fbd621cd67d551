//! Written records read back equal.

use std::io::{self, Write};

use proptest::prelude::*;
use trainscope_format::encode::Moment;
use trainscope_format::hparams::{
    Experiment, HparamDomain, HparamInfo, HparamType, HparamValue, MetricDataset, MetricInfo,
    SessionEnd, SessionStart, SessionStatus,
};
use trainscope_format::{
    Body, Format, Histogram, Hparams, ImageEncoding, Kind, RecordWriter, Text,
};

use crate::support::{DecoderOutput, bytes_field, event, fixed64_field, frame, whole};

fn at(step: i64) -> Moment {
    Moment {
        step,
        wall_time_secs: 1.7e9 + 0.25,
    }
}

/// Decoded records of the output of `write`, and the bytes.
fn written(
    write: impl FnOnce(&mut RecordWriter<Vec<u8>>) -> io::Result<()>,
) -> (DecoderOutput, Vec<u8>) {
    let mut writer = RecordWriter::new(Vec::new(), 1.7e9).unwrap();
    write(&mut writer).unwrap();
    writer.flush().unwrap();
    let bytes = writer.into_inner();
    let seen = whole(Format::Tfevents, &bytes);
    assert_eq!(seen.offset, bytes.len() as u64);
    assert_eq!(
        (&seen.batch.damages[..], seen.batch.skipped_records),
        (&[][..], 0)
    );
    (seen, bytes)
}

#[test]
fn a_file_begins_by_saying_who_writes_it() {
    let (seen, bytes) = written(|_| Ok(()));
    assert_eq!(seen.batch.len_records(), 0);
    let event = [
        fixed64_field(1, 1.7e9_f64.to_bits()),
        bytes_field(3, b"brain.Event:2"),
        bytes_field(10, &bytes_field(1, b"trainscope")),
    ];
    assert_eq!(bytes, frame(&event.concat()));
}

#[test]
fn scalars_are_exact() {
    let values = [
        0.1,
        0.5,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e300,
        -5e-324,
        16_777_217.0,
        f64::MAX,
    ];
    let (seen, bytes) = written(|writer| {
        for (step, value) in (-3..).zip(values) {
            writer.scalar("loss/é", at(step), value)?;
        }
        writer.scalar("nan", at(i64::MIN), f64::NAN)?;
        writer.scalars(at(9), &[("a", 1.0), ("b", 0.1)])
    });
    let read: Vec<_> = seen
        .points("loss/é")
        .iter()
        .map(|point| point.1.to_bits())
        .collect();
    assert_eq!(read, values.map(f64::to_bits));
    assert_eq!(seen.points("loss/é")[0].0, -3);
    assert!(seen.points("nan")[0].1.is_nan());
    assert_eq!(
        (seen.points("a"), seen.points("b")),
        (vec![(9, 1.0)], vec![(9, 0.1)])
    );
    assert!(
        seen.batch
            .scalars
            .wall_times_secs
            .iter()
            .all(|&wall| wall == 1.7e9 + 0.25)
    );

    // A number that fits an f32 takes no more room than elsewhere.
    let usual = event(
        1.7e9 + 0.25,
        -2,
        5,
        &bytes_field(1, &crate::support::simple_value("loss/é", 0.5)),
    );
    assert!(bytes.windows(usual.len()).any(|window| window == usual));
}

#[test]
fn histograms_keep_what_their_tensor_cannot_hold() {
    let plain = Histogram {
        lefts: vec![-1.0, 0.0],
        rights: vec![0.0, 2.0],
        counts: vec![3.0, 4.0],
        count: 7.0,
        ..Histogram::default()
    };
    let full = Histogram {
        nan: 1,
        pos_inf: 2,
        neg_inf: u64::MAX,
        min: Some(-1.0),
        max: Some(f64::INFINITY),
        sum: Some(1e9),
        sum_squares: Some(0.1),
        count: 10.0,
        ..plain.clone()
    };
    let none = Histogram::default();
    let (seen, _) = written(|writer| {
        for (step, histogram) in (0..).zip([&plain, &full, &none]) {
            writer.histogram("weights", at(step), histogram)?;
        }
        Ok(())
    });
    let expected = [plain, full, none].map(Body::Histogram);
    let bodies: Vec<_> = seen
        .bodies("weights")
        .into_iter()
        .map(|record| record.1.clone())
        .collect();
    assert_eq!(bodies, expected);
}

#[test]
fn pictures_and_text_come_back() {
    let png = b"\x89PNG\r\n\x1a\n...";
    let text = Text {
        shape: vec![2, 1],
        items: vec!["# é <script>".into(), String::new()],
    };
    let (seen, bytes) = written(|writer| {
        for step in 0..2 {
            writer.images("photo", at(step), [7, 5], &[png, b"GIF89a"])?;
            writer.text("note", at(step), &text)?;
        }
        Ok(())
    });
    for step in 0..2 {
        let (seen_step, Body::Images(images)) = seen.bodies("photo")[step] else {
            panic!()
        };
        assert_eq!(usize::try_from(seen_step).unwrap(), step);
        assert_eq!(
            (images.width, images.height, images.encoding),
            (7, 5, ImageEncoding::Png)
        );
        let contents: Vec<_> = images
            .items
            .iter()
            .map(|item| {
                let from = usize::try_from(item.offset).unwrap();
                &bytes[from..from + usize::try_from(item.len_bytes).unwrap()]
            })
            .collect();
        assert_eq!(contents, [&png[..], b"GIF89a"]);
        assert_eq!(seen.bodies("note")[step].1, &Body::Text(text.clone()));
    }
    // Each plugin is named once.
    for name in [&b"\x0a\x06images"[..], b"\x0a\x04text"] {
        assert_eq!(
            bytes
                .windows(name.len())
                .filter(|window| *window == name)
                .count(),
            1
        );
    }
}

#[test]
fn hyper_parameters_come_back() {
    let values = vec![
        ("lr".to_owned(), HparamValue::Number(0.1)),
        ("opt".to_owned(), HparamValue::Text("sgd".into())),
        (String::new(), HparamValue::Bool(false)),
        ("none".to_owned(), HparamValue::Null),
    ];
    let records = [
        Hparams::Experiment(Experiment {
            name: "sweep".into(),
            description: "d".into(),
            user: "u".into(),
            created_secs: 1.5,
            hparams: vec![
                HparamInfo {
                    name: "lr".into(),
                    value_type: HparamType::Number,
                    domain: HparamDomain::Interval {
                        min: 0.0,
                        max: f64::INFINITY,
                    },
                    ..HparamInfo::default()
                },
                HparamInfo {
                    name: "opt".into(),
                    display_name: "optimizer".into(),
                    description: "which".into(),
                    value_type: HparamType::Text,
                    domain: HparamDomain::Discrete(
                        values.iter().map(|value| value.1.clone()).collect(),
                    ),
                },
                HparamInfo {
                    value_type: HparamType::Bool,
                    domain: HparamDomain::Discrete(vec![]),
                    ..HparamInfo::default()
                },
            ],
            metrics: vec![MetricInfo {
                group: "validation".into(),
                tag: "accuracy".into(),
                display_name: "a".into(),
                description: "b".into(),
                dataset: MetricDataset::Validation,
            }],
        }),
        Hparams::SessionStart(SessionStart {
            values,
            group: "g".into(),
            model_uri: "m".into(),
            monitor_url: "o".into(),
            start_secs: 2.5,
        }),
        Hparams::SessionEnd(SessionEnd {
            status: SessionStatus::Failure,
            end_secs: f64::NEG_INFINITY,
        }),
    ];
    let (seen, _) = written(|writer| {
        records
            .iter()
            .try_for_each(|record| writer.hparams(at(0), record))
    });
    let bodies: Vec<_> = seen
        .batch
        .records
        .iter()
        .map(|record| record.body.clone())
        .collect();
    assert_eq!(bodies, records.map(Body::Hparams));
    let tags: Vec<_> = seen
        .batch
        .new_tags
        .iter()
        .map(|tag| (&*tag.name, tag.kind))
        .collect();
    assert_eq!(
        tags,
        [
            ("_hparams_/experiment", Kind::Hparams),
            ("_hparams_/session_start_info", Kind::Hparams),
            ("_hparams_/session_end_info", Kind::Hparams),
        ]
    );
}

/// A writer that fails after a few calls.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn each_record_is_one_write_and_errors_come_back() {
    let mut writer = RecordWriter::new(Full(3), 0.0).unwrap();
    writer.scalars(at(0), &[("a", 1.0), ("b", 2.0)]).unwrap();
    writer.text("c", at(0), &Text::default()).unwrap();
    let error = writer.scalar("a", at(1), 1.0).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert!(RecordWriter::new(Full(0), 0.0).is_err());
}

proptest! {
    #[test]
    fn any_scalar_and_histogram_comes_back(
        tag in ".{0,40}",
        step in any::<i64>(),
        value in any::<f64>(),
        bins in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>()), 0..20),
        sum in any::<Option<f64>>(),
        count in any::<f64>(),
        nan in any::<u64>(),
    ) {
        let histogram = Histogram {
            lefts: bins.iter().map(|bin| bin.0).collect(),
            rights: bins.iter().map(|bin| bin.1).collect(),
            counts: bins.iter().map(|bin| bin.2).collect(),
            sum,
            count,
            nan,
            ..Histogram::default()
        };
        let (seen, _) = written(|writer| {
            writer.scalar(&tag, at(step), value)?;
            writer.histogram(&tag, at(step), &histogram)
        });
        prop_assert_eq!(seen.points(&tag), [(step, value)]);
        prop_assert_eq!(&seen.batch.records[0].body, &Body::Histogram(histogram));
    }
}
