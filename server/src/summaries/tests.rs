//! Summaries come back bit for bit, or are named as damaged.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use trainscope_format::tensor::{
    ChangeStats, ChannelStats, DType, Exponents, FiniteStats, RangeCount, TensorStats,
};
use trainscope_format::{OpaqueTensor, Role};

use super::*;

/// A NaN with a payload, which arithmetic would not produce.
const ODD_NAN: u64 = 0x7ff8_0000_dead_beef;

#[expect(clippy::unnecessary_wraps, reason = "it is the type of what is stored")]
fn summary(number: u64) -> Summary {
    let value = f64::from_bits(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    Ok(Box::new(TensorSummary {
        role: Role::Other,
        dtype: DType::F32,
        shape: vec![2, number],
        stats: TensorStats {
            count: number,
            finite: Some(FiniteStats {
                min: f64::from_bits(ODD_NAN),
                max: f64::INFINITY,
                mean: value,
                m2: -0.0,
                ..FiniteStats::default()
            }),
            exponents: Exponents::from_counts(vec![(1, 2), (300, 4)]),
            ranges: vec![RangeCount {
                start: f64::NEG_INFINITY,
                end: -0.0,
                count: number,
            }],
            ..TensorStats::default()
        },
        hash: Some(number),
        change: Some(ChangeStats {
            sum_abs_change: f64::from_bits(ODD_NAN),
            ..ChangeStats::default()
        }),
        channels: Some(ChannelStats {
            axis: 1,
            count: 1,
            not_finite: vec![1, 2],
            zero: vec![0, number],
            min: vec![f64::NAN, value],
            max: vec![1.0, f64::from_bits(ODD_NAN)],
            mean: vec![0.0, 0.0],
            mean_abs: vec![0.0, 0.0],
        }),
    }))
}

fn key(number: u64) -> Key {
    u128::from(number).wrapping_mul(0x9e37_79b9).to_le_bytes()
}

/// Everything about a summary, each number by its bits.
fn bits(summary: &Summary) -> Vec<u8> {
    let ranges = summary.as_ref().map_or_else(
        |_| Vec::new(),
        |summary| {
            let ranges = summary.stats.ranges.iter();
            ranges
                .map(|range| (range.start.to_bits(), range.end.to_bits(), range.count))
                .collect()
        },
    );
    postcard::to_allocvec(&(summary, ranges)).unwrap()
}

fn all() -> Vec<Summary> {
    let errors = [
        TensorReadError::Truncated {
            offset: 7,
            reason: "cut".to_owned(),
        },
        TensorReadError::Damaged {
            offset: u64::MAX,
            reason: "坏".to_owned(),
        },
        TensorReadError::Refused {
            offset: 0,
            reason: String::new(),
        },
        TensorReadError::Opaque(OpaqueTensor {
            dtype: "complex64".to_owned(),
            shape: vec![3],
        }),
    ];
    let summaries = (0..400).map(summary);
    summaries.chain(errors.into_iter().map(Err)).collect()
}

fn write(folder: &Path, name: &str, summaries: &[Summary]) {
    let all = Summaries::open(folder, &Label::default(), Missing::Computed, true).unwrap();
    all.put((0..).map(key).zip(summaries));
    all.finish(Some(name)).unwrap();
}

fn read(folder: &Path, keys: u64) -> (Vec<Option<Summary>>, Vec<String>) {
    let all = Summaries::open(folder, &Label::default(), Missing::Counted, false).unwrap();
    let keys: Vec<Option<Key>> = (0..keys).map(|number| Some(key(number))).collect();
    let found = all.take(&keys);
    (found, all.finish(None).unwrap().notes)
}

#[test]
fn summaries_come_back_bit_for_bit() {
    let folder = TempDir::new().unwrap();
    let summaries = all();
    write(folder.path(), "0", &summaries);
    let (found, notes) = read(folder.path(), summaries.len() as u64 + 1);
    assert_eq!(notes, Vec::<String>::new());
    assert!(found.last().unwrap().is_none());
    for (found, written) in found.iter().zip(&summaries) {
        assert_eq!(bits(found.as_ref().unwrap()), bits(written));
    }
}

#[test]
fn a_file_that_is_written_twice_has_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("0.summaries");
    write(folder.path(), "0", &all());
    let first = fs::read(&path).unwrap();
    write(folder.path(), "0", &all());
    assert_eq!(fs::read(&path).unwrap(), first);
    // Nothing else stays in the folder.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn files_end_where_they_are_cut_and_damage_is_named_with_its_file_and_offset() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("0.summaries");
    let summaries = all();
    write(folder.path(), "0", &summaries);
    let whole = fs::read(&path).unwrap();
    let check = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let (found, notes) = read(folder.path(), summaries.len() as u64);
        let missing = found.iter().filter(|found| found.is_none()).count();
        assert!(missing > 0 && !notes.is_empty());
        for note in notes {
            assert!(
                note.contains("0.summaries: ") && note.contains("at byte "),
                "{note}"
            );
            assert!(note.contains("run its shard again"), "{note}");
        }
        for (found, written) in found.iter().zip(&summaries) {
            let found = found.as_ref().map(bits);
            assert!(found.is_none_or(|found| found == bits(written)));
        }
    };
    let distance = whole.len() / 97 + 1;
    for at in (0..whole.len()).step_by(distance) {
        check(&whole[..at]);
        let mut flipped = whole.clone();
        flipped[at] ^= 0x10;
        check(&flipped);
    }
}

#[test]
fn lengths_that_lie_reserve_no_memory_and_do_not_panic() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("0.summaries");
    // A directory whose checksum is right, with lists of 2^60 items.
    let huge = postcard::to_allocvec(&(1_u64 << 60)).unwrap();
    for before in [&b""[..], b"\0", b"\0\0"] {
        let directory = [before, &huge].concat();
        let checksum = twox_hash::XxHash3_64::oneshot(&directory);
        let trailer = [7, directory.len() as u64, checksum].map(u64::to_le_bytes);
        let bytes = [b"TSSUM1\n", &directory[..], trailer.as_flattened()].concat();
        fs::write(&path, bytes).unwrap();
        let (found, notes) = read(folder.path(), 1);
        assert!(found[0].is_none() && notes.len() == 1, "{notes:?}");
    }
}

#[test]
fn files_of_another_version_or_folder_are_not_used() {
    let folder = TempDir::new().unwrap();
    let others = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let [first, second] = others.map(|folder| Label::new(&[folder.keep()]));
    let all = Summaries::open(folder.path(), &first, Missing::Computed, true).unwrap();
    all.put([(key(0), &summary(0))].into_iter());
    all.finish(Some("0")).unwrap();
    let notes = |label: Label| {
        let all = Summaries::open(folder.path(), &label, Missing::Counted, false).unwrap();
        (
            all.take(&[Some(key(0))])[0].is_some(),
            all.finish(None).unwrap().notes,
        )
    };
    assert_eq!(notes(first), (true, Vec::new()));
    let (is_found, notes_of_other) = notes(second);
    assert!(!is_found && notes_of_other[0].contains("another folder"));
    // A folder that is not on this machine may be the same one elsewhere.
    let elsewhere = Label::new(&["/nowhere/else".into()]);
    assert_eq!(notes(elsewhere), (true, Vec::new()));
    let (is_found, notes) = notes(Label::default());
    assert!(
        !is_found && notes[0].contains("it is of trainscope "),
        "{notes:?}"
    );
}

#[test]
fn statistics_that_no_tensor_has_are_damage() {
    let folder = TempDir::new().unwrap();
    let mut odd = summary(1);
    if let Ok(summary) = &mut odd {
        summary.channels.as_mut().unwrap().max.pop();
    }
    write(folder.path(), "0", &[odd]);
    let (found, notes) = read(folder.path(), 1);
    assert!(found[0].is_none());
    assert!(
        notes[0].contains("statistics that no tensor has"),
        "{notes:?}"
    );
}

#[test]
fn what_the_system_did_not_let_one_reader_read_is_not_stored() {
    let folder = TempDir::new().unwrap();
    let reason = "it cannot be read: too many open files".to_owned();
    write(
        folder.path(),
        "0",
        &[Err(TensorReadError::Unreadable { reason })],
    );
    assert!(read(folder.path(), 1).0[0].is_none());
}
