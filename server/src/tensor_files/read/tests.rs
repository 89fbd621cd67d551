//! Reading block by block gives the same result as reading at once.

use std::path::Path;

use tempfile::TempDir;
use trainscope_analysis::watchpoint::Needs;
use trainscope_format::TensorSummary;
use trainscope_format::tensor::{ContentHasher, DType, Select, Tolerance};

use super::{BLOCK_BYTES, Before, Place, Reader, TensorReadError};

const EVERYTHING: Needs = Needs {
    exponents: true,
    ranges: Vec::new(),
    hash: true,
    change: Some(Tolerance {
        relative: 1e-5,
        absolute: 1e-8,
    }),
    channels: false,
};

/// Numbers that depend on the seed, including non-finite ones.
fn numbers(len: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            match state % 1_000 {
                0 => f32::NAN,
                1 => f32::INFINITY,
                2 => 0.0,
                other => (other as f32 - 500.0) / 100.0,
            }
        })
        .collect()
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn npy(folder: &Path, name: &str, descr: &str, data: &[u8]) -> Place {
    shaped(folder, name, descr, &format!("({},)", data.len() / 4), data)
}

fn shaped(folder: &Path, name: &str, descr: &str, shape: &str, data: &[u8]) -> Place {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let len = u16::try_from(header.len()).unwrap().to_le_bytes();
    let path = folder.join(name);
    let file = [b"\x93NUMPY\x01\x00", &len[..], header.as_bytes(), data].concat();
    std::fs::write(&path, file).unwrap();
    Place {
        path: path.into(),
        tensor: None,
        dtype: None,
    }
}

fn at_once(before: Option<&[u8]>, now: &[u8]) -> TensorSummary {
    let mut select = Select::new().exponents();
    if let (Some(before), Some(tolerance)) = (before, EVERYTHING.change) {
        select = select.change(before, tolerance);
    }
    let seen = select.read(DType::F32, now);
    TensorSummary {
        role: trainscope_format::Role::Other,
        dtype: DType::F32,
        shape: vec![(now.len() / 4) as u64],
        stats: seen.stats,
        hash: Some(ContentHasher::hash(now)),
        change: seen.change,
        channels: None,
    }
}

/// Asserts equality except for the rounding of sums.
fn assert_alike(a: &TensorSummary, b: &TensorSummary) {
    assert_eq!((a.hash, a.dtype, &a.shape), (b.hash, b.dtype, &b.shape));
    let (x, y) = (&a.stats, &b.stats);
    assert_eq!(
        (x.count, x.nan, x.pos_inf, x.neg_inf),
        (y.count, y.nan, y.pos_inf, y.neg_inf)
    );
    assert_eq!(
        (x.zero, x.negative, x.positive),
        (y.zero, y.negative, y.positive)
    );
    assert_eq!(x.exponents, y.exponents);
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
    if let (Some(x), Some(y)) = (x.finite, y.finite) {
        assert!(close(x.min, y.min) && close(x.max, y.max) && close(x.mean, y.mean));
        assert!(close(x.l2, y.l2) && close(x.m2, y.m2) && close(x.mean_abs, y.mean_abs));
    }
    assert_eq!(a.change.is_some(), b.change.is_some());
    if let (Some(x), Some(y)) = (a.change, b.change) {
        assert_eq!(
            (x.count, x.finite, x.changed),
            (y.count, y.finite, y.changed)
        );
        assert!(
            close(x.sum_abs_change, y.sum_abs_change) && close(x.max_abs_change, y.max_abs_change)
        );
    }
}

#[test]
fn blocks_kept_tensors_and_whole_ones_tell_the_same() {
    let folder = TempDir::new().unwrap();
    let block = BLOCK_BYTES / 4;
    for len in [
        0,
        1,
        7,
        block - 40,
        block - 1,
        block,
        block + 1,
        3 * block + 5,
    ] {
        let states: Vec<Vec<u8>> = (0..3).map(|seed| bytes(&numbers(len, seed))).collect();
        let places: Vec<Place> = (0..3)
            .map(|step| npy(folder.path(), &format!("{step}.npy"), "<f4", &states[step]))
            .collect();
        // One after the other, each kept for the next.
        let mut reader = Reader::default();
        let mut again = Reader::default();
        for step in 0..3 {
            let (last, at) = match step {
                0 => (Before::Nothing, Before::Nothing),
                _ => (
                    Before::Last(&places[step - 1]),
                    Before::At(&places[step - 1]),
                ),
            };
            let kept = reader
                .summary(&places[step], last, &EVERYTHING, step < 2)
                .unwrap();
            let read = again
                .summary(&places[step], at, &EVERYTHING, false)
                .unwrap();
            let before = step.checked_sub(1).map(|before| &*states[before]);
            let wanted = at_once(before, &states[step]);
            assert_alike(&kept, &wanted);
            assert_alike(&read, &wanted);
        }
    }
}

#[test]
fn a_summary_does_not_depend_on_what_else_is_computed() {
    let folder = TempDir::new().unwrap();
    let of = |name: &str, seed: u32| {
        let data = bytes(&numbers(1_024 * 256, seed));
        shaped(folder.path(), name, "<f4", "(1024, 256)", &data)
    };
    let (before, now) = (of("0.npy", 1), of("1.npy", 2));
    let with_channels = Needs {
        channels: true,
        ..EVERYTHING
    };
    let [alone, beside] = [EVERYTHING, with_channels].map(|needs| {
        let mut reader = Reader::default();
        let summary = reader.summary(&now, Before::Last(&before), &needs, false);
        summary.unwrap()
    });
    assert!(beside.channels.is_some());
    assert_eq!(alone.stats.finite, beside.stats.finite);
    assert_eq!((alone.change, alone.hash), (beside.change, beside.hash));
}

#[test]
fn counts_in_ranges_are_of_all_blocks() {
    let folder = TempDir::new().unwrap();
    let numbers = numbers(2 * BLOCK_BYTES / 4 + 3, 4);
    let place = npy(folder.path(), "a.npy", "<f4", &bytes(&numbers));
    let ranges = vec![(-1.3, 0.7), (0.3, 4.9)];
    let needs = Needs {
        ranges: ranges.clone(),
        ..Needs::default()
    };
    let summary = Reader::default()
        .summary(&place, Before::Nothing, &needs, false)
        .unwrap();
    for (low, high) in ranges {
        let inside = numbers.iter().map(|x| f64::from(*x));
        let inside = inside.filter(|x| (low..=high).contains(x)).count() as u64;
        assert!(inside > 0);
        assert_eq!(summary.stats.count_within(low, high), (inside, inside));
    }
    assert_eq!(summary.stats.exponents, None);
}

#[test]
fn bytes_in_the_other_order_are_the_same_numbers() {
    let folder = TempDir::new().unwrap();
    let numbers = numbers(1_000, 5);
    let big: Vec<u8> = numbers.iter().flat_map(|x| x.to_be_bytes()).collect();
    let place = npy(folder.path(), "big.npy", ">f4", &big);
    let read = Reader::default()
        .summary(&place, Before::Nothing, &EVERYTHING, true)
        .unwrap();
    assert_alike(&read, &at_once(None, &bytes(&numbers)));
}

#[test]
fn what_is_missing_is_told_and_what_came_before_does_not_matter_then() {
    let folder = TempDir::new().unwrap();
    let state = bytes(&numbers(BLOCK_BYTES, 1));
    let whole = npy(folder.path(), "whole.npy", "<f4", &state);
    let cut = npy(folder.path(), "cut.npy", "<f4", &state);
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(&cut.path)
        .unwrap();
    let len = file.metadata().unwrap().len() - 2 * BLOCK_BYTES as u64;
    file.set_len(len).unwrap();
    let mut reader = Reader::default();
    let unread = reader
        .summary(&cut, Before::Nothing, &EVERYTHING, true)
        .unwrap_err();
    assert!(
        matches!(unread, TensorReadError::Truncated { offset, .. } if offset == len),
        "{unread:?}"
    );
    // A truncated previous step yields no change, and no error for this one.
    for before in [Before::Last(&cut), Before::At(&cut)] {
        let read = reader.summary(&whole, before, &EVERYTHING, false).unwrap();
        assert_eq!(read.change, None);
        assert_eq!(read.hash, Some(ContentHasher::hash(&state)));
    }
    // The same for another shape.
    let other = npy(folder.path(), "other.npy", "<f4", &state[4..]);
    let read = reader
        .summary(&whole, Before::At(&other), &EVERYTHING, false)
        .unwrap();
    assert_eq!(read.change, None);
}
