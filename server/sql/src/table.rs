//! Virtual tables: `SQLite` reads rows in place, in the order and of the values that a statement asks for.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::sync::Arc;

use rusqlite::types::{Null, ValueRef};
use rusqlite::vtab::{
    Context, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConnection, VTabCursor,
    sqlite3_vtab, sqlite3_vtab_cursor,
};
use rusqlite::{Connection, Result};
use trainscope_api::profile::SqlColumn;

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(&'a str),
}

/// The values of a column that has few, in the order of `SQLite`, and the value of each row.
pub(crate) struct Keys<'a> {
    /// Values, each once.
    pub(crate) values: Vec<Cell<'a>>,
    /// Position of the value of each row among them.
    pub(crate) of_rows: Vec<u32>,
}

pub(crate) trait Rows: Send + Sync + 'static {
    fn columns(&self) -> &'static [SqlColumn];
    fn len(&self) -> u32;
    fn cell(&self, row: u32, column: usize) -> Cell<'_>;
    /// Values of a column, if they are few: rows can then be found and grouped by it.
    fn keys(&self, column: usize) -> Option<Keys<'_>>;
    /// `true` for a column that [`Rows::keys`] has.
    fn has_keys(&self, column: usize) -> bool;
    /// Rows with this value of the first column, if that one is a number that finds them.
    fn find(&self, id: i64) -> Option<Vec<u32>>;
}

/// Adds a table to a connection.
pub(crate) fn add(connection: &Connection, name: &str, rows: Arc<dyn Rows>) -> Result<()> {
    const MODULE: &Module<'static, Table> = &Module::<Table>::eponymous_only_module();
    connection.create_module(name, MODULE, Some(rows))
}

/// A table of one connection.
#[repr(C)]
struct Table {
    /// Used by `SQLite`; it must be first.
    base: sqlite3_vtab,
    rows: Arc<dyn Rows>,
}

#[expect(
    unsafe_code,
    reason = "SQLite takes the table by a pointer to its first field"
)]
// SAFETY: `Table` is `repr(C)` and begins with `sqlite3_vtab`, as rusqlite requires.
unsafe impl VTab<'_> for Table {
    type Aux = Arc<dyn Rows>;
    type Cursor = Cursor;

    fn connect(
        _: &mut VTabConnection,
        rows: Option<&Self::Aux>,
        _: &[u8],
        _: &[u8],
        _: &[u8],
        _: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        let rows = rows.ok_or(rusqlite::Error::InvalidQuery)?;
        let columns = rows.columns().iter();
        let columns: Vec<String> = columns
            .map(|column| format!("\"{}\" {}", column.name, column.r#type))
            .collect();
        let declared = CString::new(format!("CREATE TABLE x({})", columns.join(", ")))?;
        let table = Self {
            base: sqlite3_vtab::default(),
            rows: Arc::clone(rows),
        };
        Ok((Cow::Owned(declared), table))
    }

    /// Writes its plan as a text: `#` finds rows by number, `=3` takes those of a value of column 3, `+3` and `-3`
    /// order by it, `^4` reads it.
    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let count = f64::from(self.rows.len()).max(1.0);
        let equal: Vec<(usize, usize)> = (info.constraints().enumerate())
            .filter(|(_, constraint)| {
                constraint.is_usable()
                    && constraint.operator() == IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ
            })
            .filter_map(|(at, constraint)| Some((at, usize::try_from(constraint.column()).ok()?)))
            .collect();
        let is_binary = |at: usize| info.collation(at).is_ok_and(|name| name == "BINARY");
        let found = equal
            .iter()
            .find(|(_, column)| *column == 0 && self.rows.find(0).is_some());
        let mut plan: Vec<String> = Vec::new();
        let mut rows = count;
        let chosen: Vec<usize> = if let Some((at, _)) = found {
            plan.push("#".to_owned());
            rows = 1.0;
            vec![*at]
        } else {
            let keyed = equal
                .iter()
                .filter(|(at, column)| self.rows.has_keys(*column) && is_binary(*at));
            let keyed: Vec<_> = keyed.copied().collect();
            for (_, column) in &keyed {
                plan.push(format!("={column}"));
                rows /= 10.0;
            }
            keyed.iter().map(|(at, _)| *at).collect()
        };
        for (argument, at) in (1..).zip(&chosen) {
            info.constraint_usage(*at).set_argv_index(argument);
        }
        let mut order = Vec::new();
        let is_ordered = info.num_of_order_by() > 0
            && info.order_bys().all(|term| {
                let sign = if term.is_order_by_desc() { '-' } else { '+' };
                order.push(format!("{sign}{}", term.column()));
                usize::try_from(term.column()).is_ok_and(|column| self.rows.has_keys(column))
            });
        if is_ordered && found.is_none() {
            plan.append(&mut order);
            info.set_order_by_consumed(true);
            let used = info.col_used();
            // The last bit means its column and all later ones.
            let used = (0..63).filter(|column| used & (1 << column) != 0);
            plan.extend(used.map(|column| format!("^{column}")));
        }
        let scanned = if found.is_some() { 1.0 } else { count / 20.0 };
        info.set_estimated_cost(scanned + rows);
        #[expect(clippy::cast_possible_truncation, reason = "an estimate")]
        info.set_estimated_rows(rows as i64);
        info.set_idx_str(&plan.join(" "));
        Ok(true)
    }

    fn open(&mut self) -> Result<Cursor> {
        Ok(Cursor {
            base: sqlite3_vtab_cursor::default(),
            rows: Arc::clone(&self.rows),
            chosen: None,
            copied: Vec::new(),
            at: 0,
            end: 0,
        })
    }
}

/// A walk over the rows of a table.
#[repr(C)]
struct Cursor {
    /// Used by `SQLite`; it must be first.
    base: sqlite3_vtab_cursor,
    rows: Arc<dyn Rows>,
    /// Rows in their order; `None` for all as they are.
    chosen: Option<Vec<u32>>,
    /// Columns whose values were copied in that order.
    copied: Vec<(usize, ColumnCopy)>,
    at: u32,
    end: u32,
}

/// Values of a column in the order of a walk: rows that are read in another order than they are stored cost a miss of
/// the processor's cache for each value, five times the time of `SQLite` itself.
enum ColumnCopy {
    /// One for each row; [`NO_NUMBER`] for NULL.
    Ints(Vec<i64>),
    /// Values, each with the end of the rows that have it, and the position of the last one read: `SQLite` reads rows in
    /// their order, and a search for each row takes 8 % of the time of a GROUP BY.
    Runs(Vec<(u32, Run)>, std::cell::Cell<usize>),
}

enum Run {
    Null,
    Int(i64),
    Text(String),
}

/// A number that no column has, for NULL.
const NO_NUMBER: i64 = i64::MIN;
/// Columns that are copied: eight bytes of memory for each value.
const MAX_COPIED: usize = 4;

impl Cursor {
    fn row(&self) -> u32 {
        let row = self.chosen.as_ref().map(|rows| rows.get(self.at as usize));
        row.map_or(self.at, |row| row.copied().unwrap_or(0))
    }
}

#[expect(
    unsafe_code,
    reason = "SQLite takes the cursor by a pointer to its first field"
)]
// SAFETY: `Cursor` is `repr(C)` and begins with `sqlite3_vtab_cursor`, as rusqlite requires.
unsafe impl VTabCursor for Cursor {
    fn filter(&mut self, _: c_int, plan: Option<&str>, args: &Filters<'_>) -> Result<()> {
        let plan = plan.unwrap_or("");
        let mut rows = None;
        let mut copied = Vec::new();
        if plan.starts_with('#') {
            let id = match args.iter().next() {
                Some(ValueRef::Integer(id)) => self.rows.find(id),
                // Compared by SQLite itself.
                Some(ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_)) => None,
                Some(ValueRef::Null) | None => Some(Vec::new()),
            };
            rows = id;
        } else {
            let terms = || {
                plan.split_ascii_whitespace().filter_map(|term| {
                    let (sign, column) = term.split_at_checked(1)?;
                    Some((sign, column.parse::<usize>().ok()?))
                })
            };
            let equal = terms().filter(|(sign, _)| *sign == "=");
            for ((_, column), wanted) in equal.zip(args.iter()) {
                rows = with_value(&*self.rows, rows, column, wanted);
            }
            let order = terms().filter(|(sign, _)| matches!(*sign, "+" | "-"));
            let order: Vec<_> = order
                .filter_map(|(sign, column)| Some((sign, column, self.rows.keys(column)?)))
                .collect();
            // From the last to the first, each keeps the order of those after it.
            for (sign, _, keys) in order.iter().rev() {
                let all = rows.unwrap_or_else(|| (0..self.rows.len()).collect());
                rows = Some(ordered(&all, keys, *sign == "-"));
            }
            let used = terms().filter(|(sign, _)| *sign == "^").take(MAX_COPIED);
            for (_, column) in used {
                let keys = order.iter().find(|(_, other, _)| *other == column);
                copied.extend(rows.iter().filter_map(|rows| {
                    let copy = match keys {
                        Some((_, _, keys)) => {
                            ColumnCopy::Runs(runs(rows, keys), std::cell::Cell::new(0))
                        }
                        None => ColumnCopy::Ints(ints(&*self.rows, rows, column)?),
                    };
                    Some((column, copy))
                }));
            }
        }
        self.at = 0;
        self.end = rows.as_ref().map_or(self.rows.len(), |rows| {
            u32::try_from(rows.len()).unwrap_or(u32::MAX)
        });
        self.chosen = rows;
        self.copied = copied;
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        self.at += 1;
        Ok(())
    }

    fn eof(&self) -> bool {
        self.at >= self.end
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        let column = usize::try_from(column).unwrap_or(0);
        let copy = self.copied.iter().find(|(copied, _)| *copied == column);
        match copy {
            Some((_, ColumnCopy::Ints(values))) => {
                return match values.get(self.at as usize) {
                    Some(value) if *value != NO_NUMBER => context.set_result(*value),
                    _ => context.set_result(Null),
                };
            }
            Some((_, ColumnCopy::Runs(runs, last))) => {
                // The rows before the end of a run are in it if those of the run before it are passed.
                let is_in = |run: usize| {
                    let begin = run.checked_sub(1).and_then(|run| runs.get(run));
                    let begins = begin.is_none_or(|(end, _)| *end <= self.at);
                    begins && runs.get(run).is_some_and(|(end, _)| self.at < *end)
                };
                let mut near = [last.get(), last.get() + 1].into_iter();
                let run = near.find(|run| is_in(*run));
                let run = run.unwrap_or_else(|| runs.partition_point(|(end, _)| *end <= self.at));
                last.set(run);
                return match runs.get(run).map(|(_, run)| run) {
                    Some(Run::Int(value)) => context.set_result(*value),
                    Some(Run::Text(text)) => context.set_result(text.as_str()),
                    Some(Run::Null) | None => context.set_result(Null),
                };
            }
            None => {}
        }
        match self.rows.cell(self.row(), column) {
            Cell::Null => context.set_result(Null),
            Cell::Int(value) => context.set_result(value),
            Cell::Real(value) => context.set_result(value),
            Cell::Text(text) => context.set_result(text),
        }
    }

    fn rowid(&self) -> Result<i64> {
        Ok(i64::from(self.row()))
    }
}

/// The rows with a value of a column, of those that are left; all rows if only `SQLite` can compare the two.
fn with_value(
    rows: &dyn Rows,
    left: Option<Vec<u32>>,
    column: usize,
    wanted: ValueRef<'_>,
) -> Option<Vec<u32>> {
    let Some(keys) = rows.keys(column) else {
        return left;
    };
    let is_text = rows.columns()[column].r#type == "TEXT";
    let is_wanted = |value: &Cell<'_>| match (value, wanted) {
        (Cell::Text(text), ValueRef::Text(wanted)) => text.as_bytes() == wanted,
        (Cell::Int(value), ValueRef::Integer(wanted)) => *value == wanted,
        _ => false,
    };
    match wanted {
        ValueRef::Text(_) if is_text => {}
        ValueRef::Integer(_) if !is_text => {}
        // Nothing is equal to NULL.
        ValueRef::Null => return Some(Vec::new()),
        _ => return left,
    }
    let Some(key) = keys.values.iter().position(is_wanted) else {
        return Some(Vec::new());
    };
    let is_kept = |row: &u32| {
        keys.of_rows
            .get(*row as usize)
            .is_some_and(|position| *position as usize == key)
    };
    Some(match left {
        Some(left) => left.into_iter().filter(is_kept).collect(),
        None => (0..rows.len()).filter(is_kept).collect(),
    })
}

/// Rows by the values of a column; those of one value stay in their order.
fn ordered(rows: &[u32], keys: &Keys<'_>, is_descending: bool) -> Vec<u32> {
    let count = keys.values.len();
    let key = |row: u32| {
        let key = keys
            .of_rows
            .get(row as usize)
            .map_or(0, |key| *key as usize);
        let key = key.min(count.saturating_sub(1));
        if is_descending { count - 1 - key } else { key }
    };
    let mut ends = vec![0_usize; count + 1];
    for row in rows {
        ends[key(*row) + 1] += 1;
    }
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let mut sorted = vec![0; rows.len()];
    for row in rows {
        let place = &mut ends[key(*row)];
        sorted[*place] = *row;
        *place += 1;
    }
    sorted
}

/// Values of a column of whole numbers for rows in their order; `None` for other columns.
fn ints(rows: &dyn Rows, chosen: &[u32], column: usize) -> Option<Vec<i64>> {
    let info = rows.columns().get(column)?;
    (info.r#type == "INTEGER").then(|| {
        let number = |row: &u32| match rows.cell(*row, column) {
            Cell::Int(value) => value,
            _ => NO_NUMBER,
        };
        chosen.iter().map(number).collect()
    })
}

/// Values of a column with keys for rows in their order.
fn runs(chosen: &[u32], keys: &Keys<'_>) -> Vec<(u32, Run)> {
    let mut runs: Vec<(u32, Run)> = Vec::new();
    let mut last = None;
    for (end, row) in (1..).zip(chosen) {
        let key = keys.of_rows.get(*row as usize).copied().unwrap_or(0);
        match runs.last_mut() {
            Some(run) if last == Some(key) => run.0 = end,
            _ => {
                let value = match keys.values.get(key as usize) {
                    Some(Cell::Int(value)) => Run::Int(*value),
                    Some(Cell::Text(text)) => Run::Text((*text).to_owned()),
                    _ => Run::Null,
                };
                runs.push((end, value));
                last = Some(key);
            }
        }
    }
    runs
}
