//! Cutting the bytes into other calls, or restarting a reader, changes no result.

use std::fs;

use proptest::prelude::*;
use trainscope_format::{Checkpoint, Damage, Format};

use crate::fixtures;
use crate::support::{append, feed, frame, header, simple_value, summary, whole};

/// Files small enough to be fed in every possible way.
fn small_files() -> Vec<(Vec<u8>, Format)> {
    let mut files: Vec<_> = fixtures::all()
        .into_iter()
        .map(|(path, format)| (fs::read(path).unwrap(), format))
        .filter(|(bytes, _)| bytes.len() < 3000)
        .collect();
    files.push((damaged_file(), Format::Tfevents));
    files
}

/// Every kind of damage, between valid records.
fn damaged_file() -> Vec<u8> {
    let record = |step| summary(1.5, step, &[simple_value("a", 0.5)]);
    let mut wrong_payload = record(100);
    wrong_payload[20] ^= 0x10;
    let mut wrong_length = record(101);
    wrong_length[0] ^= 1;
    [
        record(0),
        wrong_payload.clone(),
        wrong_payload,
        record(1),
        wrong_length,
        record(2),
        vec![0; 50],
        record(3),
        frame(b""),
        frame(b"\x0b not an event"),
        frame(&[0xff; 30]),
        record(4),
        // A record whose end was never written, followed by another writer.
        record(102)[..30].to_vec(),
        record(5),
        record(6),
        header(1 << 40),
        record(7),
        b"garbage".to_vec(),
        header(77),
        record(8),
        record(9),
        record(103)[..35].to_vec(),
    ]
    .concat()
}

#[test]
fn byte_by_byte_is_the_same_as_whole() {
    for (path, format) in fixtures::all() {
        let bytes = fs::read(&path).unwrap();
        let cuts: Vec<_> = (1..bytes.len()).collect();
        let fed = feed(format.decoder(""), &bytes, &cuts);
        assert_eq!(
            fed.comparable(),
            whole(format, &bytes).comparable(),
            "{path:?}"
        );
    }
    let bytes = damaged_file();
    let cuts: Vec<_> = (1..bytes.len()).collect();
    let fed = feed(Format::Tfevents.decoder(""), &bytes, &cuts);
    assert_eq!(
        fed.comparable(),
        whole(Format::Tfevents, &bytes).comparable()
    );
}

#[test]
fn every_single_cut_is_the_same_as_whole() {
    for (bytes, format) in small_files() {
        let expected = whole(format, &bytes).comparable();
        for cut in 0..=bytes.len() {
            let fed = feed(format.decoder(""), &bytes, &[cut]);
            assert_eq!(fed.comparable(), expected, "cut at {cut}");
        }
    }
}

#[test]
fn every_truncation_gives_a_prefix() {
    for (bytes, format) in small_files() {
        let all = whole(format, &bytes);
        let mut last_offset = 0;
        for len in 0..bytes.len() {
            let cut = whole(format, &bytes[..len]);
            let points = cut.batch.scalars.len();
            assert_eq!(
                format!("{:?}", cut.batch.scalars.values),
                format!("{:?}", &all.batch.scalars.values[..points]),
            );
            assert_eq!(cut.batch.scalars.steps, all.batch.scalars.steps[..points]);
            assert_eq!(cut.batch.scalars.tags, all.batch.scalars.tags[..points]);
            assert_eq!(
                cut.batch.new_tags,
                all.batch.new_tags[..cut.batch.new_tags.len()]
            );
            assert_eq!(
                format!("{:?}", cut.batch.records),
                format!("{:?}", &all.batch.records[..cut.batch.records.len()]),
            );
            assert_eq!(cut.batch.unread, all.batch.unread[..cut.batch.unread.len()]);
            assert_eq!(
                cut.batch.damages,
                all.batch.damages[..cut.batch.damages.len()]
            );
            assert!(last_offset <= cut.offset && cut.offset <= len as u64);
            last_offset = cut.offset;
            if let Some(Damage {
                offset, len_bytes, ..
            }) = cut.open_damage
            {
                assert_eq!((offset, offset + len_bytes), (cut.offset, len as u64));
            }
        }
    }
}

#[test]
fn a_restart_anywhere_gives_the_rest() {
    for (bytes, format) in small_files() {
        let expected = whole(format, &bytes).comparable();
        for cut in 0..=bytes.len() {
            let mut first = whole(format, &bytes[..cut]);
            let from = usize::try_from(first.checkpoint.offset).unwrap();
            let stored = serde_json::to_string(&first.checkpoint).unwrap();
            let restored = serde_json::from_str(&stored).unwrap();
            let rest = feed(format.resume("", restored).unwrap(), &bytes[from..], &[]);
            append(&mut first.batch, &rest.batch);
            let both = crate::support::DecoderOutput {
                batch: first.batch,
                ..rest
            };
            assert_eq!(both.comparable(), expected, "restart at {cut}");
        }
    }
}

#[test]
fn a_checkpoint_of_another_version_is_refused() {
    let mut checkpoint = whole(Format::Tfevents, &damaged_file()).checkpoint;
    checkpoint.state.push(1);
    assert!(Format::Tfevents.resume("", checkpoint).is_err());
    assert!(Format::Tfevents.resume("", Checkpoint::default()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_cuts_are_the_same_as_whole(
        file in any::<prop::sample::Index>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let files = fixtures::all();
        let (path, format) = &files[file.index(files.len())];
        let bytes = fs::read(path).unwrap();
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let fed = feed(format.decoder(""), &bytes, &cuts);
        prop_assert_eq!(fed.comparable(), whole(*format, &bytes).comparable());
    }

    #[test]
    fn random_bytes_in_random_cuts_are_the_same_as_whole(
        // Pieces of valid records, cut and joined.
        pieces in prop::collection::vec((0..8_i64, 0..60_usize, 0..60_usize, any::<u8>()), 0..30),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut bytes = Vec::new();
        for (step, from, to, noise) in pieces {
            let mut record = summary(0.25, step, &[simple_value("tag", 1.0)]);
            if noise < 32 {
                record.truncate(to);
                record.drain(..from.min(record.len()));
            } else if noise < 64 {
                let index = from % record.len();
                record[index] ^= noise;
            }
            bytes.extend(record);
        }
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let fed = feed(Format::Tfevents.decoder(""), &bytes, &cuts);
        prop_assert_eq!(fed.comparable(), whole(Format::Tfevents, &bytes).comparable());
    }
}
