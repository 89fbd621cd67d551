//! Files that released versions wrote: they are read for ever, and this version still writes the newest of them.

use trainscope_format::encode::Moment;
use trainscope_format::hparams::{HparamValue, SessionEnd, SessionStart, SessionStatus};
use trainscope_format::{Body, Format, Histogram, Hparams, Kind, RecordWriter, Text};

use crate::support::whole;

/// Written by version 0.1.0. A change of the layout adds a file; none is ever changed.
const V0_1_0: &[u8] = include_bytes!("../golden/0.1.0.tfevents");

/// A file with one of everything that version 0.1.0 writes.
fn one_of_each() -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new(), 1.7e9).unwrap();
    let at = |step: i64| Moment {
        step,
        wall_time_secs: 1.7e9 + 0.5,
    };
    let start = SessionStart {
        values: vec![
            ("lr".to_owned(), HparamValue::Number(0.1)),
            ("amp".to_owned(), HparamValue::Bool(true)),
        ],
        ..SessionStart::default()
    };
    let histogram = Histogram {
        lefts: vec![-1.0, 0.0],
        rights: vec![0.0, 2.0],
        counts: vec![3.0, 4.0],
        count: 7.0,
        nan: 5,
        ..Histogram::default()
    };
    let text = Text {
        shape: vec![1],
        items: vec!["**bold** é".to_owned()],
    };
    let end = SessionEnd {
        status: SessionStatus::Success,
        end_secs: 1.7e9 + 9.0,
    };
    writer
        .hparams(at(0), &Hparams::SessionStart(start))
        .unwrap();
    writer.scalar("loss", at(0), 0.5).unwrap();
    writer.scalar("loss", at(1), 0.1).unwrap();
    writer.scalar("loss", at(2), f64::NAN).unwrap();
    writer.histogram("weights", at(2), &histogram).unwrap();
    writer
        .images("picture", at(2), [1, 1], &[b"\x89PNG\r\n\x1a\n"])
        .unwrap();
    writer.text("note", at(2), &text).unwrap();
    writer.hparams(at(2), &Hparams::SessionEnd(end)).unwrap();
    writer.into_inner()
}

#[test]
fn this_version_writes_what_version_0_1_0_wrote() {
    let bytes = one_of_each();
    let differs = bytes.iter().zip(V0_1_0).position(|(new, old)| new != old);
    assert_eq!((differs, bytes.len()), (None, V0_1_0.len()));
}

#[test]
fn what_version_0_1_0_wrote_is_read() {
    let seen = whole(Format::Tfevents, V0_1_0);
    assert_eq!(
        (&seen.batch.damages[..], seen.batch.skipped_records),
        (&[][..], 0)
    );
    let loss: Vec<_> = seen
        .points("loss")
        .iter()
        .map(|(step, value)| (*step, value.to_bits()))
        .collect();
    assert_eq!(loss[..2], [(0, 0.5_f64.to_bits()), (1, 0.1_f64.to_bits())]);
    assert!(f64::from_bits(loss[2].1).is_nan());
    let kinds: Vec<_> = seen
        .batch
        .records
        .iter()
        .map(|record| record.body.kind())
        .collect();
    let wanted = [
        Kind::Hparams,
        Kind::Histograms,
        Kind::Images,
        Kind::Text,
        Kind::Hparams,
    ];
    assert_eq!(kinds, wanted);
    for record in &seen.batch.records {
        match &record.body {
            Body::Histogram(histogram) => {
                assert_eq!((histogram.nan, &histogram.counts[..]), (5, &[3.0, 4.0][..]));
            }
            Body::Images(images) => {
                let begin = usize::try_from(images.items[0].offset).unwrap();
                assert_eq!(V0_1_0[begin..][..4], *b"\x89PNG");
            }
            Body::Text(text) => assert_eq!(text.items, ["**bold** é"]),
            _ => {}
        }
    }
}
