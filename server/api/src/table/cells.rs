//! Columns of the table in memory: numbers, or a dictionary of the different values with a code for each row.

use std::collections::BTreeMap;

use super::CellValue;

/// Bits of the NaN that means no value, in columns of numbers. Every other NaN is a recorded one.
pub(super) const NO_VALUE: u64 = 0x7ff8_0000_0000_0001;

/// The answer of `POST /api/table` as bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableAnswer {
    /// Version of the table.
    pub seq: u64,
    /// Names of the runs, a row each.
    pub runs: Vec<String>,
    /// Indices of the rows in the whole table; `None` if these are all rows in order.
    pub indices: Option<Vec<u32>>,
    /// Columns in the order of the request.
    pub columns: Vec<TableColumn>,
}

/// A column with the values of all rows of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableColumn {
    /// Its key, the first 255 bytes.
    pub key: String,
    /// Its values.
    pub cells: Cells,
}

/// Values of a column. Equal columns may have different forms.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Numbers; rows without a value have a NaN that [`Cells::get`] tells from others.
    Numbers(Vec<f64>),
    /// Different values, and for each row the position of its value among them. Positions beyond the entries mean no
    /// value.
    Dictionary {
        /// Different values.
        entries: Vec<CellValue>,
        /// Positions.
        codes: Vec<u32>,
    },
}

impl Default for Cells {
    fn default() -> Self {
        Self::Numbers(Vec::new())
    }
}

impl PartialEq for Cells {
    fn eq(&self, other: &Self) -> bool {
        let bits = |own: CellValue| match own {
            CellValue::Number(number) => (number.to_bits(), CellValue::Missing),
            other => (NO_VALUE, other),
        };
        self.len() == other.len()
            && (0..self.len()).all(|row| bits(self.get(row)) == bits(other.get(row)))
    }
}

impl Cells {
    /// Cells of values, in the form that is the smallest as bytes.
    pub fn new<'a>(values: impl Iterator<Item = &'a CellValue> + Clone) -> Self {
        let dictionary = Self::dictionary(values.clone());
        if values.clone().all(is_number) && dictionary.len_bytes() >= dictionary.len() * 8 {
            return Self::Numbers(values.map(bare).collect());
        }
        dictionary
    }

    fn dictionary<'a>(values: impl Iterator<Item = &'a CellValue>) -> Self {
        let (mut entries, mut codes) = (Vec::new(), Vec::new());
        let mut positions: BTreeMap<(u8, u64, &str), u32> = BTreeMap::new();
        for value in values {
            let next = u32::try_from(entries.len()).unwrap_or(u32::MAX);
            let code = *positions.entry(key(value)).or_insert(next);
            if code == next {
                entries.push(value.clone());
            }
            codes.push(code);
        }
        Self::Dictionary { entries, codes }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Dictionary { codes, .. } => codes.len(),
        }
    }

    /// `true` without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Value of a row; none beyond the last row.
    pub fn get(&self, row: usize) -> CellValue {
        match self {
            Self::Numbers(numbers) => match numbers.get(row) {
                Some(number) if number.to_bits() != NO_VALUE => CellValue::Number(*number),
                _ => CellValue::Missing,
            },
            Self::Dictionary { entries, codes } => {
                let code = codes.get(row).and_then(|code| usize::try_from(*code).ok());
                let entry = code.and_then(|code| entries.get(code));
                entry.cloned().unwrap_or_default()
            }
        }
    }

    /// Number of a row; NaN and infinities too.
    pub fn number(&self, row: usize) -> Option<f64> {
        match self {
            Self::Numbers(numbers) => {
                let number = numbers.get(row).copied();
                number.filter(|number| number.to_bits() != NO_VALUE)
            }
            Self::Dictionary { entries, codes } => {
                let code = usize::try_from(*codes.get(row)?).ok()?;
                entries.get(code)?.number()
            }
        }
    }

    /// Values of all rows.
    pub fn values(&self) -> Vec<CellValue> {
        (0..self.len()).map(|row| self.get(row)).collect()
    }

    /// Sets values of rows; rows up to the greatest index are added. `rows` and `values` are of one length.
    pub fn set(&mut self, rows: &[u32], values: &[CellValue]) {
        let last = rows.iter().max().map_or(0, |row| *row as usize + 1);
        let len = last.max(self.len());
        if self.is_empty() {
            // A form for the values that come.
            let mut all = vec![CellValue::Missing; len];
            for (row, value) in rows.iter().zip(values) {
                all[*row as usize].clone_from(value);
            }
            *self = Self::new(all.iter());
            return;
        }
        if let Self::Numbers(numbers) = self {
            if values.iter().all(is_number) {
                numbers.resize(len, f64::from_bits(NO_VALUE));
                for (row, value) in rows.iter().zip(values) {
                    numbers[*row as usize] = bare(value);
                }
                return;
            }
            *self = Self::dictionary(self.values().iter());
        }
        if let Self::Dictionary { entries, codes } = self {
            codes.resize(len, u32::MAX);
            set_codes(entries, codes, rows, values);
            // Values that no row has any more are dropped from time to time.
            if entries.len() > 2 * len + 16 || self.len_bytes() > len * 8 {
                *self = Self::new(self.values().iter());
            }
        }
    }

    /// Length of the cells as bytes, without the head of their column.
    pub(super) fn len_bytes(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len() * 8,
            Self::Dictionary { entries, codes } => {
                let entry = |own: &CellValue| match own {
                    CellValue::Number(_) => 9,
                    CellValue::Text(text) => 5 + text.len(),
                    CellValue::Missing | CellValue::Truth(_) => 1,
                };
                let bytes: usize = entries.iter().map(entry).sum();
                4 + bytes + codes.len() * width(entries.len())
            }
        }
    }
}

impl TableAnswer {
    /// Takes over the rows of a later answer to the same columns. `false` if the two do not fit: request all rows.
    pub fn update(&mut self, later: Self) -> bool {
        let Some(rows) = &later.indices else {
            *self = later;
            return true;
        };
        let keys = |own: &Self| {
            own.columns
                .iter()
                .map(|own| own.key.clone())
                .collect::<Vec<_>>()
        };
        let beyond = |row: &u32| usize::try_from(*row).unwrap_or(usize::MAX) >= self.runs.len();
        let added = rows.iter().filter(|row| beyond(row)).count();
        let last = rows.iter().max().map_or(0, |row| *row as usize + 1);
        // New rows follow the others without a gap.
        if keys(self) != keys(&later) || last > self.runs.len() + added {
            return false;
        }
        self.runs.resize(self.runs.len() + added, String::new());
        for (row, run) in rows.iter().zip(&later.runs) {
            self.runs[*row as usize].clone_from(run);
        }
        for (own, later) in self.columns.iter_mut().zip(&later.columns) {
            own.cells.set(rows, &later.cells.values());
        }
        self.seq = later.seq;
        true
    }
}

/// A number that is not taken for a missing one.
pub(super) fn recorded(number: f64) -> f64 {
    if number.is_nan() { f64::NAN } else { number }
}

/// Bytes of a code.
pub(super) fn width(entries: usize) -> usize {
    match entries {
        0..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        _ => 4,
    }
}

/// Key of a value: equal values have equal keys, all NaN too.
fn key(value: &CellValue) -> (u8, u64, &str) {
    match value {
        CellValue::Missing => (0, 0, ""),
        CellValue::Number(number) => (1, recorded(*number).to_bits(), ""),
        CellValue::Text(text) => (2, 0, text),
        CellValue::Truth(yes) => (3, u64::from(*yes), ""),
    }
}

fn owned_key(value: &CellValue) -> (u8, u64, String) {
    let (kind, bits, text) = key(value);
    (kind, bits, text.to_owned())
}

fn is_number(value: &CellValue) -> bool {
    matches!(value, CellValue::Number(_) | CellValue::Missing)
}

/// A number as in columns of numbers.
fn bare(value: &CellValue) -> f64 {
    value.number().map_or(f64::from_bits(NO_VALUE), recorded)
}

/// Sets the codes of rows, with new entries at the end. A few rows are looked up one by one: sorting all entries first
/// pays for many.
fn set_codes(entries: &mut Vec<CellValue>, codes: &mut [u32], rows: &[u32], values: &[CellValue]) {
    const FEW: usize = 16;
    let positions = (rows.len() > FEW).then(|| {
        let of_entry = |(code, own): (u32, &CellValue)| (owned_key(own), code);
        (0..)
            .zip(entries.iter())
            .map(of_entry)
            .collect::<BTreeMap<_, u32>>()
    });
    let mut positions = positions.unwrap_or_default();
    for (row, value) in rows.iter().zip(values) {
        let next = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let code = if rows.len() > FEW {
            *positions.entry(owned_key(value)).or_insert(next)
        } else {
            let same = entries.iter().position(|own| key(own) == key(value));
            same.and_then(|code| u32::try_from(code).ok())
                .unwrap_or(next)
        };
        if code == next {
            entries.push(value.clone());
        }
        codes[*row as usize] = code;
    }
}
