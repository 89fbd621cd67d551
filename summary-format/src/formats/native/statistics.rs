//! The tensors of one step as columns: one entry per tensor, in the same order in every column.
//!
//! Optional parts (hash, exponents, changes, channels) are separate tables that begin with row numbers.

use super::super::event_file::Fault;
use crate::message::Message;
use crate::statistics::{Role, TensorSummary};
use crate::tensor::{ChangeStats, ChannelStats, DType, Exponents, FiniteStats, TensorStats};
use crate::wire::{Fields, Value, doubles, fixed64s, varints};

const WRONG: Fault = Fault("the columns of tensor statistics disagree");
const TOO_LONG: Fault = Fault("tensor statistics of one value exceed 64 MiB");
/// Size limit: writers put a few hundred tensors into a value, and decoded values take up to five times their length.
const MAX_BYTES: usize = 64 << 20;

/// Statistics in the order of their columns, which begin at field 6.
const COUNTS: [fn(&mut TensorStats) -> &mut u64; 8] = [
    |stats| &mut stats.count,
    |stats| &mut stats.nan,
    |stats| &mut stats.pos_inf,
    |stats| &mut stats.neg_inf,
    |stats| &mut stats.zero,
    |stats| &mut stats.negative,
    |stats| &mut stats.positive,
    |stats| &mut stats.subnormal,
];

/// Statistics starting at field 14; only of tensors with finite elements.
const FIGURES: [fn(&mut FiniteStats) -> &mut f64; 6] = [
    |finite| &mut finite.min,
    |finite| &mut finite.max,
    |finite| &mut finite.mean,
    |finite| &mut finite.m2,
    |finite| &mut finite.mean_abs,
    |finite| &mut finite.l2,
];

/// Fields 2 to 4 of a table of changes.
const CHANGE_COUNTS: [fn(&mut ChangeStats) -> &mut u64; 3] = [
    |change| &mut change.count,
    |change| &mut change.finite,
    |change| &mut change.changed,
];

/// Fields 5 to 9 of a table of changes.
const CHANGE_SUMS: [fn(&mut ChangeStats) -> &mut f64; 5] = [
    |change| &mut change.sum_abs_change,
    |change| &mut change.sum_abs_before,
    |change| &mut change.sum_squares_change,
    |change| &mut change.sum_squares_before,
    |change| &mut change.max_abs_change,
];

/// Fields 4 and 5 of the channels of a tensor.
const CHANNEL_COUNTS: [fn(&mut ChannelStats) -> &mut Vec<u64>; 2] = [
    |channels| &mut channels.not_finite,
    |channels| &mut channels.zero,
];

/// Fields 6 to 9 of the channels of a tensor.
const CHANNEL_FIGURES: [fn(&mut ChannelStats) -> &mut Vec<f64>; 4] = [
    |channels| &mut channels.min,
    |channels| &mut channels.max,
    |channels| &mut channels.mean,
    |channels| &mut channels.mean_abs,
];

/// Tags 1, roles 2, types 3, dimensions of each 4, all their sizes 5, counts from 6, figures from 14, hashes 20,
/// exponents 21, changes 22, channels 23. Roles and types are indices into the lists of this crate.
pub(crate) fn write(tensors: &[(&str, &TensorSummary)]) -> Message {
    let mut message = Message::default();
    for (tag, _) in tensors {
        message.bytes(1, tag.as_bytes());
    }
    let all = || tensors.iter().map(|(_, tensor)| *tensor);
    message.packed_varints(2, all().map(|tensor| tensor.role as u64));
    message.packed_varints(3, all().map(|tensor| tensor.dtype as u64));
    message.packed_varints(4, all().map(|tensor| tensor.shape.len() as u64));
    message.packed_varints(5, all().flat_map(|tensor| tensor.shape.iter().copied()));
    // The accessors, which need `mut`, are shared with the reader: they run on a copy without its long parts.
    let plain = |tensor: &TensorSummary| TensorStats {
        exponents: None,
        ..tensor.stats.clone()
    };
    let mut stats: Vec<TensorStats> = all().map(plain).collect();
    for (number, count) in (6..).zip(COUNTS) {
        message.packed_varints(number, stats.iter_mut().map(|stats| *count(stats)));
    }
    for (number, figure) in (14..).zip(FIGURES) {
        let finite = stats.iter_mut().filter_map(|stats| stats.finite.as_mut());
        message.packed_doubles(number, finite.map(|finite| *figure(finite)));
    }
    let mut table = Message::default();
    let hashes = rows(all().map(|tensor| tensor.hash));
    table.packed_varints(1, hashes.iter().map(|row| row.0));
    table.packed_fixed64(2, hashes.iter().map(|row| row.1));
    message.part(20, &table);

    table.clear();
    let exponents = rows(all().map(|tensor| tensor.stats.exponents.as_ref()));
    let buckets = || exponents.iter().flat_map(|row| row.1.counts());
    table.packed_varints(1, exponents.iter().map(|row| row.0));
    table.packed_varints(2, exponents.iter().map(|row| row.1.counts().len() as u64));
    table.packed_varints(3, buckets().map(|bucket| bucket.0.into()));
    table.packed_varints(4, buckets().map(|bucket| bucket.1));
    message.part(21, &table);

    table.clear();
    let mut changes = rows(all().map(|tensor| tensor.change));
    table.packed_varints(1, changes.iter().map(|row| row.0));
    for (number, count) in (2..).zip(CHANGE_COUNTS) {
        table.packed_varints(number, changes.iter_mut().map(|row| *count(&mut row.1)));
    }
    for (number, sum) in (5..).zip(CHANGE_SUMS) {
        table.packed_doubles(number, changes.iter_mut().map(|row| *sum(&mut row.1)));
    }
    message.part(22, &table);

    for (row, mut channels) in rows(all().map(|tensor| tensor.channels.clone())) {
        table.clear();
        table.count(1, row);
        table.count(2, channels.axis.into());
        table.count(3, channels.count);
        for (number, counts) in (4..).zip(CHANNEL_COUNTS) {
            table.packed_varints(number, counts(&mut channels).iter().copied());
        }
        for (number, figures) in (6..).zip(CHANNEL_FIGURES) {
            table.packed_doubles(number, figures(&mut channels).iter().copied());
        }
        message.message(23, &table);
    }
    message
}

/// Optional values that are present, with the index of their tensor.
fn rows<T>(all: impl Iterator<Item = Option<T>>) -> Vec<(u64, T)> {
    (0..)
        .zip(all)
        .filter_map(|(row, one)| Some((row, one?)))
        .collect()
}

/// Statistics by tag, as bytes.
pub(super) fn read(message: &[u8]) -> Result<Vec<(&[u8], TensorSummary)>, Fault> {
    if message.len() > MAX_BYTES {
        return Err(TOO_LONG);
    }
    let mut tags: Vec<&[u8]> = Vec::new();
    // Columns by field number; those that are not varints stay empty.
    let mut integers: [Vec<u64>; 14] = Default::default();
    let mut figures: [Vec<f64>; 6] = Default::default();
    let mut tables: [Option<&[u8]>; 3] = [None; 3];
    let mut channels = Vec::new();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(tag)) => tags.push(tag),
            (number @ 2..=13, value) => {
                varints(value, |value| integers[number as usize].push(value))?;
            }
            (number @ 14..=19, value) => doubles(value, &mut figures[number as usize - 14])?,
            (number @ 20..=22, Value::Bytes(table)) => tables[number as usize - 20] = Some(table),
            (23, Value::Bytes(table)) => channels.push(table),
            _ => {}
        }
    }
    let is_column = |column: &Vec<u64>| column.len() == tags.len();
    if !integers[2..5].iter().chain(&integers[6..]).all(is_column) {
        return Err(WRONG);
    }
    let mut sizes = integers[5].iter().copied();
    let mut finite_seen = 0;
    let mut tensors = Vec::with_capacity(tags.len());
    for (row, tag) in tags.into_iter().enumerate() {
        let mut stats = TensorStats::default();
        for (column, count) in integers[6..].iter().zip(COUNTS) {
            *count(&mut stats) = column[row];
        }
        if !stats.adds_up() {
            return Err(WRONG);
        }
        if stats.finite_count() > 0 {
            let mut finite = FiniteStats::default();
            for (column, figure) in figures.iter().zip(FIGURES) {
                *figure(&mut finite) = *column.get(finite_seen).ok_or(WRONG)?;
            }
            stats.finite = Some(finite);
            finite_seen += 1;
        }
        let dimensions = usize::try_from(integers[4][row]).map_err(|_| WRONG)?;
        let shape: Vec<u64> = sizes.by_ref().take(dimensions).collect();
        if shape.len() < dimensions {
            return Err(WRONG);
        }
        let summary = TensorSummary {
            role: nth(&Role::ALL, integers[2][row]).unwrap_or_default(),
            dtype: nth(&DType::ALL, integers[3][row])
                .ok_or(Fault("tensor statistics have an unknown element type"))?,
            shape,
            stats,
            hash: None,
            change: None,
            channels: None,
        };
        tensors.push((tag, summary));
    }
    let [hashes, exponents, changes] = tables.map(Option::unwrap_or_default);
    read_hashes(hashes, &mut tensors)?;
    read_exponents(exponents, &mut tensors)?;
    read_changes(changes, &mut tensors)?;
    for table in channels {
        read_channels(table, &mut tensors)?;
    }
    Ok(tensors)
}

fn nth<T: Copy>(all: &[T], index: u64) -> Option<T> {
    all.get(usize::try_from(index).ok()?).copied()
}

type Rows<'a, 't> = &'a mut [(&'t [u8], TensorSummary)];

fn row_of<'a>(tensors: &'a mut Rows<'_, '_>, row: u64) -> Result<&'a mut TensorSummary, Fault> {
    let row = usize::try_from(row)
        .ok()
        .and_then(|row| tensors.get_mut(row));
    Ok(&mut row.ok_or(WRONG)?.1)
}

/// Rows 1, hashes 2.
fn read_hashes(table: &[u8], mut tensors: Rows<'_, '_>) -> Result<(), Fault> {
    let (mut rows, mut hashes) = (Vec::new(), Vec::new());
    for field in Fields::of(table) {
        match field? {
            (1, value) => varints(value, |row| rows.push(row))?,
            (2, value) => fixed64s(value, |hash| hashes.push(hash))?,
            _ => {}
        }
    }
    if rows.len() != hashes.len() {
        return Err(WRONG);
    }
    for (row, hash) in rows.into_iter().zip(hashes) {
        row_of(&mut tensors, row)?.hash = Some(hash);
    }
    Ok(())
}

/// Rows 1, buckets of each 2, all their numbers 3 and counts 4.
fn read_exponents(table: &[u8], mut tensors: Rows<'_, '_>) -> Result<(), Fault> {
    let mut columns: [Vec<u64>; 4] = Default::default();
    for field in Fields::of(table) {
        if let (number @ 1..=4, value) = field? {
            varints(value, |value| columns[number as usize - 1].push(value))?;
        }
    }
    let [rows, lens, buckets, counts] = columns;
    if rows.len() != lens.len() || buckets.len() != counts.len() {
        return Err(WRONG);
    }
    let mut pairs = buckets.into_iter().zip(counts);
    for (row, len) in rows.into_iter().zip(lens) {
        let len = usize::try_from(len).map_err(|_| WRONG)?;
        let narrow = |(bucket, count)| Some((u16::try_from(bucket).ok()?, count));
        let counts: Option<Vec<_>> = pairs.by_ref().take(len).map(narrow).collect();
        let counts = counts.filter(|counts| counts.len() == len).ok_or(WRONG)?;
        let tensor = row_of(&mut tensors, row)?;
        let total = counts
            .iter()
            .try_fold(0_u64, |sum, bucket| sum.checked_add(bucket.1));
        // Zeros have no bucket.
        if total != Some(tensor.stats.negative + tensor.stats.positive) {
            return Err(WRONG);
        }
        tensor.stats.exponents = Some(Exponents::from_counts(counts).ok_or(WRONG)?);
    }
    Ok(())
}

/// Rows 1, counts from 2, sums from 5.
fn read_changes(table: &[u8], mut tensors: Rows<'_, '_>) -> Result<(), Fault> {
    let mut integers: [Vec<u64>; 4] = Default::default();
    let mut sums: [Vec<f64>; 5] = Default::default();
    for field in Fields::of(table) {
        match field? {
            (number @ 1..=4, value) => {
                varints(value, |value| integers[number as usize - 1].push(value))?;
            }
            (number @ 5..=9, value) => doubles(value, &mut sums[number as usize - 5])?,
            _ => {}
        }
    }
    let [rows, counts @ ..] = integers;
    let is_even = counts.iter().all(|column| column.len() == rows.len())
        && sums.iter().all(|column| column.len() == rows.len());
    if !is_even {
        return Err(WRONG);
    }
    for (index, row) in rows.into_iter().enumerate() {
        let mut change = ChangeStats::default();
        for (column, count) in counts.iter().zip(CHANGE_COUNTS) {
            *count(&mut change) = column[index];
        }
        for (column, sum) in sums.iter().zip(CHANGE_SUMS) {
            *sum(&mut change) = column[index];
        }
        row_of(&mut tensors, row)?.change = Some(change);
    }
    Ok(())
}

/// Row 1, axis 2, elements per channel 3, counts from 4, figures from 6.
fn read_channels(table: &[u8], mut tensors: Rows<'_, '_>) -> Result<(), Fault> {
    let mut row = 0;
    let mut channels = ChannelStats::default();
    for field in Fields::of(table) {
        match field? {
            (1, Value::Varint(number)) => row = number,
            (2, Value::Varint(axis)) => channels.axis = u32::try_from(axis).map_err(|_| WRONG)?,
            (3, Value::Varint(count)) => channels.count = count,
            (number @ 4..=5, value) => {
                let column = CHANNEL_COUNTS[number as usize - 4](&mut channels);
                varints(value, |value| column.push(value))?;
            }
            (number @ 6..=9, value) => {
                doubles(value, CHANNEL_FIGURES[number as usize - 6](&mut channels))?;
            }
            _ => {}
        }
    }
    let len = channels.len();
    let is_even = CHANNEL_COUNTS
        .iter()
        .all(|column| column(&mut channels).len() == len)
        && CHANNEL_FIGURES
            .iter()
            .all(|column| column(&mut channels).len() == len);
    if !is_even {
        return Err(WRONG);
    }
    row_of(&mut tensors, row)?.channels = Some(channels);
    Ok(())
}
