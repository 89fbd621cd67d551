//! Runs that match a filter, in the order of a column.

use std::cmp::Ordering;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use trainscope_analysis::columns::CellValue;

use super::{Filter, RunTable, UnknownColumn};
use crate::index::ReadError;

/// Key of the order by name, which is no column.
const NAME: &str = "name";

impl RunTable {
    /// The runs among `names` that match a filter, in the order of a column, from its greatest value if `-` is before
    /// its key. Equal values stay in the order of `names`. A run that is not in the table yet has no values.
    pub(crate) fn choose(
        &self,
        mut names: Vec<Arc<str>>,
        filter: Option<&str>,
        sort: Option<&str>,
    ) -> Result<Result<Vec<Arc<str>>, UnknownColumn>, ReadError> {
        let rows: FxHashMap<&str, usize> = self
            .rows
            .iter()
            .enumerate()
            .map(|(at, row)| (&*row.run, at))
            .collect();
        let row = |name: &str| rows.get(name).copied().unwrap_or(usize::MAX);
        if let Some(text) = filter {
            match Filter::new(self, text)? {
                Ok(filter) => names.retain(|name| filter.matches(row(name), name)),
                Err(unknown) => return Ok(Err(unknown)),
            }
        }
        let Some(sort) = sort else {
            return Ok(Ok(names));
        };
        let (is_reverse, key) = match sort.strip_prefix('-') {
            Some(key) => (true, key),
            None => (false, sort),
        };
        if key == NAME {
            if is_reverse {
                names.reverse();
            }
            return Ok(Ok(names));
        }
        let column = match self.key(key) {
            Ok(key) => self.column(&key)?,
            Err(unknown) => return Ok(Err(unknown)),
        };
        let with_value = names.into_iter().map(|name| (column.get(row(&name)), name));
        let mut by_value: Vec<(CellValue, Arc<str>)> = with_value.collect();
        by_value.sort_by(|(a, _), (b, _)| compare(a, b, is_reverse));
        Ok(Ok(by_value.into_iter().map(|(_, name)| name).collect()))
    }
}

/// Numbers before texts; NaN and then runs without a value last in both directions.
pub(crate) fn compare(a: &CellValue, b: &CellValue, is_reverse: bool) -> Ordering {
    let place = |value: &CellValue| match value {
        CellValue::Number(number) if number.is_nan() => 3,
        CellValue::Number(_) => 0,
        CellValue::Truth(_) => 1,
        CellValue::Text(_) => 2,
        CellValue::Missing => 4,
    };
    let last = |value: &CellValue| place(value) > 2;
    let order = match (a, b) {
        _ if last(a) || last(b) || place(a) != place(b) => return place(a).cmp(&place(b)),
        (CellValue::Number(a), CellValue::Number(b)) => a.total_cmp(b),
        (CellValue::Text(a), CellValue::Text(b)) => a.cmp(b),
        (CellValue::Truth(a), CellValue::Truth(b)) => a.cmp(b),
        _ => Ordering::Equal,
    };
    if is_reverse { order.reverse() } else { order }
}
