//! Files written by released versions: they stay readable forever, and this version still writes the newest form.

use trainscope_format::encode::Moment;
use trainscope_format::hparams::{HparamValue, SessionEnd, SessionStart, SessionStatus};
use trainscope_format::tensor::{ContentHasher, DType};
use trainscope_format::{
    Body, CollectorLoss, DumpRef, Format, Histogram, Hparams, Kind, RecordWriter, Role, Severity,
    Text, WatchHit,
};

use crate::native;
use crate::support::whole;

/// Written by version 0.1.0. A change of the layout adds a file; none is ever changed.
const V0_1_0: &[u8] = include_bytes!("../golden/0.1.0.tfevents");

/// Written by version 0.1.0: the messages of the native plugin, audio and tensors.
const V0_1_0_NATIVE: &[u8] = include_bytes!("../golden/0.1.0-native.tfevents");

/// A file with one of every native message.
fn one_of_each_native() -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new(), 1.7e9).unwrap();
    let weight = native::summary_of(Role::Weight, &[1.0, -2.5, 0.0], Some(&[1.0, -2.0, 0.0]));
    let odd = native::summary_of(Role::Gradient, &[f32::NAN, f32::INFINITY], None);
    let tensors = [("fc/weight", &weight), ("fc/weight.grad", &odd)];
    writer.statistics(native::AT, &tensors).unwrap();
    for lineage in &native::lineages() {
        writer.lineage(native::AT, lineage).unwrap();
    }
    writer.graph("model", native::AT, &native::graph()).unwrap();
    let profile = native::profile();
    writer.profile("spans", native::AT, &profile).unwrap();
    let dump = DumpRef {
        path: "dump/step_7.safetensors".into(),
        tensors: 3,
        len_bytes: 1 << 40,
        reason: "overflow".into(),
    };
    writer.dump(native::AT, &dump).unwrap();
    let hit = WatchHit {
        condition: "tensor_overflow".into(),
        tag: "fc/weight.grad".into(),
        severity: Severity::Error,
        detail: "2 of 2".into(),
    };
    writer.hit(native::AT, &hit).unwrap();
    let loss = CollectorLoss {
        reason: "the queue was full".into(),
        records: 9,
        len_bytes: 200,
    };
    writer.loss(native::AT, &loss).unwrap();
    writer
        .audio("beep", native::AT, &[(b"RIFF", "label")])
        .unwrap();
    let shape = (DType::F8E4m3, &[2, 1][..]);
    writer
        .tensor("t", native::AT, shape, &[0x7e, 0x7f])
        .unwrap();
    writer.into_inner()
}

#[test]
fn this_version_writes_the_messages_that_version_0_1_0_wrote() {
    let bytes = one_of_each_native();
    let pairs = bytes.iter().zip(V0_1_0_NATIVE);
    let differs = pairs.clone().position(|(new, old)| new != old);
    assert_eq!((differs, bytes.len()), (None, V0_1_0_NATIVE.len()));
}

#[test]
fn the_messages_that_version_0_1_0_wrote_are_read() {
    let seen = whole(Format::Tfevents, V0_1_0_NATIVE);
    assert_eq!(
        (&seen.batch.damages[..], seen.batch.skipped_records),
        (&[][..], 0)
    );
    let kinds: Vec<_> = seen
        .batch
        .records
        .iter()
        .map(|record| record.body.kind())
        .collect();
    let wanted = [
        &[Kind::Statistics; 2][..],
        &[Kind::Lineage; 5],
        &[Kind::Graphs, Kind::Profile, Kind::Dumps, Kind::Hits],
        &[Kind::Losses, Kind::Audio, Kind::Tensors],
    ];
    assert_eq!(kinds, wanted.concat());
    let [(7, Body::Statistics(weight))] = &seen.bodies("fc/weight")[..] else {
        panic!();
    };
    assert_eq!(weight.change.map(|change| change.changed), Some(1));
    assert_eq!(weight.stats.finite.map(|finite| finite.min), Some(-2.5));
    let bytes = [1.0_f32, -2.5, 0.0].map(f32::to_le_bytes).concat();
    assert_eq!(weight.hash, Some(ContentHasher::hash(&bytes)));
}

/// A file with one of every record that version 0.1.0 writes.
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
