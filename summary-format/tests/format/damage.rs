//! Damage loses the damaged records, and nothing else.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use trainscope_format::{Damage, Format};

use crate::support::{DecoderOutput, feed, frame, header, simple_value, summary, whole};

fn record(step: i64) -> Vec<u8> {
    summary(1.5, step, &[simple_value("loss", 0.25)])
}

fn read(bytes: &[u8]) -> DecoderOutput {
    whole(Format::Tfevents, bytes)
}

fn spans(seen: &DecoderOutput) -> Vec<(u64, u64)> {
    let spans = seen.batch.damages.iter().chain(&seen.open_damage);
    spans
        .map(|damage| (damage.offset, damage.len_bytes))
        .collect()
}

#[test]
fn a_wrong_payload_costs_its_record() {
    let mut wrong = record(1);
    wrong[30] ^= 4;
    let bytes = [record(0), wrong, record(2)].concat();
    let seen = read(&bytes);
    assert_eq!(seen.batch.scalars.steps, [0, 2]);
    assert_eq!(
        seen.batch.damages,
        [Damage {
            offset: record(0).len() as u64,
            len_bytes: record(1).len() as u64,
            reason: "the checksum of a record is wrong".into(),
        }]
    );
    assert_eq!(seen.open_damage, None);
    assert_eq!(seen.offset, bytes.len() as u64);
}

#[test]
fn a_pointer_of_git_lfs_is_named() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n";
    for cut in 0..pointer.len() {
        let seen = feed(Format::Tfevents.decoder(""), pointer, &[cut]);
        let damage = seen.open_damage.unwrap();
        assert_eq!(damage.offset, 0);
        assert!(damage.reason.contains("git lfs pull"), "{}", damage.reason);
    }
    // The same text elsewhere is damage like any other.
    let seen = read(&[record(0), pointer.to_vec(), record(2)].concat());
    assert!(!seen.batch.damages[0].reason.contains("git lfs"));
}

#[test]
fn a_wrong_header_costs_its_record() {
    for byte in 0..12 {
        let mut wrong = record(1);
        wrong[byte] ^= 0x80;
        let seen = read(&[record(0), wrong, record(2)].concat());
        assert_eq!(seen.batch.scalars.steps, [0, 2]);
        assert_eq!(
            spans(&seen),
            [(record(0).len() as u64, record(1).len() as u64)]
        );
    }
}

#[test]
fn neighbours_are_one_stretch() {
    let mut wrong = record(1);
    wrong[30] ^= 4;
    let damage = [
        wrong.clone(),
        vec![0; 100],
        wrong.clone(),
        frame(&[0xff; 9]),
        wrong,
    ]
    .concat();
    let seen = read(&[record(0), damage.clone(), record(2)].concat());
    assert_eq!(seen.batch.scalars.steps, [0, 2]);
    assert_eq!(
        spans(&seen),
        [(record(0).len() as u64, damage.len() as u64)]
    );
}

#[test]
fn records_within_the_span_of_a_torn_one_are_found() {
    // A writer died within a record, and another continued in the same file.
    let torn = &record(1)[..20];
    let seen = read(&[&record(0)[..], torn, &record(2), &record(3), &record(4)].concat());
    assert_eq!(seen.batch.scalars.steps, [0, 2, 3, 4]);
    assert_eq!(spans(&seen), [(record(0).len() as u64, torn.len() as u64)]);
}

#[test]
fn a_torn_end_waits_and_is_not_damage() {
    let bytes = [record(0), record(1)].concat();
    for len in record(0).len()..bytes.len() {
        let seen = read(&bytes[..len]);
        assert_eq!(seen.offset, record(0).len() as u64);
        assert_eq!(seen.open_damage, None);
    }
}

#[test]
fn a_zero_filled_end_is_open_damage() {
    let seen = read(&[record(0), vec![0; 4096]].concat());
    assert_eq!(seen.batch.scalars.steps, [0]);
    assert_eq!(seen.batch.damages, []);
    assert_eq!(spans(&seen), [(record(0).len() as u64, 4096)]);
    assert_eq!(seen.offset, record(0).len() as u64);
}

#[test]
fn a_framed_record_that_is_no_event_is_damage_and_counts_for_nothing() {
    // The first value is valid, the second is cut off.
    let body = [
        crate::support::bytes_field(1, &simple_value("loss", 9.0)),
        vec![0x0a, 0x7f],
    ]
    .concat();
    let wrong = frame(&crate::support::event(1.0, 1, 5, &body));
    let seen = read(&[record(0), wrong.clone(), record(2)].concat());
    assert_eq!(seen.batch.scalars.values, [0.25, 0.25]);
    assert_eq!(
        seen.batch.damages,
        [Damage {
            offset: record(0).len() as u64,
            len_bytes: wrong.len() as u64,
            reason: "the frame of a record is intact, but its content is not an event".into(),
        }]
    );
}

#[test]
fn empty_records_hold_nothing() {
    let seen = read(&[frame(b""), frame(b""), record(0)].concat());
    assert_eq!(seen.batch.skipped_records, 2);
    assert_eq!(seen.batch.scalars.steps, [0]);
    assert_eq!(spans(&seen), []);
}

#[test]
fn absurd_lengths_are_damage_at_once() {
    for len in [(1 << 30) + 1, 1 << 40, u64::MAX] {
        let absurd = [header(len), vec![7; 30]].concat();
        let seen = read(&[record(0), absurd.clone(), record(1)].concat());
        assert_eq!(seen.batch.scalars.steps, [0, 1]);
        assert_eq!(
            spans(&seen),
            [(record(0).len() as u64, absurd.len() as u64)]
        );
        assert_eq!(
            seen.batch.damages[0].reason,
            "a record claims to be longer than 1 GiB"
        );
    }
}

#[test]
fn a_long_length_waits_for_its_bytes_and_asks_for_no_memory() {
    let seen = read(&[record(0), header(1 << 30), vec![7; 30]].concat());
    assert_eq!(seen.offset, record(0).len() as u64);
    assert_eq!(seen.open_damage, None);
}

#[test]
fn garbage_takes_linear_time() {
    const LEN: usize = 16 << 20;
    let noise = |len: usize| {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        (0..len).map(move |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        })
    };
    // A debug build on a busy machine takes about thirty times as long.
    let limit = Duration::from_mins(1);
    for garbage in [
        noise(LEN).collect::<Vec<_>>(),
        vec![0; LEN],
        // Valid headers and nothing else: the whole span of each would be checked.
        [
            header(LEN as u64 / 2).repeat(LEN / 24),
            vec![0; LEN / 2 + 99],
        ]
        .concat(),
    ] {
        let begin = Instant::now();
        let bytes = [&record(0)[..], &garbage, &record(1)].concat();
        let cuts: Vec<_> = (0..bytes.len()).step_by(64 << 10).collect();
        let seen = feed(Format::Tfevents.decoder(""), &bytes, &cuts);
        assert_eq!(seen.batch.scalars.steps, [0, 1]);
        assert_eq!(
            spans(&seen),
            [(record(0).len() as u64, garbage.len() as u64)]
        );
        assert!(begin.elapsed() < limit, "{:?}", begin.elapsed());
    }
}

proptest! {
    #[test]
    fn a_flipped_bit_costs_at_most_its_record(
        at in any::<prop::sample::Index>(),
        bit in 0..8_u32,
    ) {
        let records: Vec<_> = (0..20).map(record).collect();
        let mut bytes = records.concat();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let seen = read(&bytes);
        let len = records[0].len();
        let hit = at / len;
        let expected: Vec<i64> = (0..20).filter(|&step| step != i64::try_from(hit).unwrap()).collect();
        prop_assert_eq!(&seen.batch.scalars.steps, &expected);
        if hit < 19 {
            prop_assert_eq!(spans(&seen), [((hit * len) as u64, len as u64)]);
        }
    }

    #[test]
    fn arbitrary_payloads_never_panic(payload in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in [Format::Tfevents, Format::MindsporeSummary, Format::MindsporeLineage] {
            let seen = whole(format, &[frame(&payload), frame(b"")].concat());
            prop_assert!(seen.batch.damages.len() <= 1);
        }
    }
}
