//! Order of the rows: by several columns, rows without a value last in both directions, NaN before them.

use std::cmp::Ordering;

use trainscope_api::order::natural;
use trainscope_api::table::CellValue;

use super::view::View;
use trainscope_web_kit::url_state::AddressText;

/// Column of names in sort keys.
pub(super) const NAME: &str = "run";

/// A sorted column and its direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SortKey {
    pub(super) column: String,
    pub(super) is_descending: bool,
}

/// The column, with a minus before a descending key.
impl AddressText for SortKey {
    fn read(text: &str) -> Option<Self> {
        let column = text.strip_prefix('-');
        Some(Self {
            column: column.unwrap_or(text).to_owned(),
            is_descending: column.is_some(),
        })
    }

    fn write(&self) -> String {
        let sign = if self.is_descending { "-" } else { "" };
        format!("{sign}{}", self.column)
    }
}

/// Sort keys after a press on the head of a column, which reverses its direction. `is_further` keeps the other keys.
pub(super) fn pressed(keys: &[SortKey], column: &str, is_further: bool) -> Vec<SortKey> {
    let before = keys.iter().find(|key| key.column == column);
    let next = SortKey {
        column: column.to_owned(),
        is_descending: before.is_some_and(|key| !key.is_descending),
    };
    if !is_further {
        return vec![next];
    }
    let mut keys: Vec<SortKey> = keys.to_vec();
    match keys.iter_mut().find(|key| key.column == column) {
        Some(key) => *key = next,
        None => keys.push(next),
    }
    keys
}

/// All rows in the order of the keys; equal ones keep the order of their names.
pub(super) fn sorted(view: &View, keys: &[SortKey]) -> Vec<u32> {
    let mut rows: Vec<u32> = (0_u32..).take(view.len()).collect();
    let by_number: Vec<(Option<Vec<Option<f64>>>, &SortKey)> = keys
        .iter()
        .map(|key| (numbers(view, &key.column), key))
        .collect();
    rows.sort_by(|a, b| {
        let (a, b) = (*a as usize, *b as usize);
        let keys = by_number.iter().map(|(numbers, key)| match numbers {
            Some(numbers) => of_numbers(numbers[a], numbers[b], key.is_descending),
            None if key.column == NAME => {
                let order = natural(&view.names[a], &view.names[b]);
                if key.is_descending {
                    order.reverse()
                } else {
                    order
                }
            }
            None => of_values(
                &view.value(&key.column, a),
                &view.value(&key.column, b),
                key.is_descending,
            ),
        });
        let order = keys.fold(Ordering::Equal, Ordering::then);
        order.then_with(|| natural(&view.names[a], &view.names[b]))
    });
    rows
}

/// Numbers of all rows; `None` if the column has texts or truth values.
fn numbers(view: &View, key: &str) -> Option<Vec<Option<f64>>> {
    let column = view.columns.get(key)?;
    let is_other = |row: usize| {
        matches!(
            column.cells.get(row),
            CellValue::Text(_) | CellValue::Truth(_)
        )
    };
    if (0..view.len()).any(is_other) {
        return None;
    }
    Some(
        (0..view.len())
            .map(|row| column.cells.number(row))
            .collect(),
    )
}

/// Rank of a number: finite and infinite numbers first, then NaN, then missing ones.
const fn rank(number: Option<f64>) -> u8 {
    match number {
        Some(number) if number.is_nan() => 1,
        Some(_) => 0,
        None => 2,
    }
}

fn of_numbers(a: Option<f64>, b: Option<f64>, is_descending: bool) -> Ordering {
    rank(a).cmp(&rank(b)).then_with(|| {
        let order = a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0));
        if rank(a) != 0 {
            Ordering::Equal
        } else if is_descending {
            order.reverse()
        } else {
            order
        }
    })
}

fn of_values(a: &CellValue, b: &CellValue, is_descending: bool) -> Ordering {
    let rank = |value: &CellValue| match value {
        CellValue::Missing => 2_u8,
        CellValue::Number(number) if number.is_nan() => 1,
        _ => 0,
    };
    rank(a).cmp(&rank(b)).then_with(|| {
        let order = match (a, b) {
            (CellValue::Number(a), CellValue::Number(b)) => a.total_cmp(b),
            (CellValue::Number(_), _) => Ordering::Less,
            (_, CellValue::Number(_)) => Ordering::Greater,
            _ => natural(&super::view::text_of(a), &super::view::text_of(b)),
        };
        if rank(a) != 0 {
            Ordering::Equal
        } else if is_descending {
            order.reverse()
        } else {
            order
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::view::table;
    use super::*;
    use CellValue::{Missing, Number, Text};

    fn order(keys: &[&str]) -> Vec<u32> {
        let of = |text: &str| Text(text.to_owned());
        let table = table(&[
            (
                "a",
                &[
                    Number(2.0),
                    Missing,
                    Number(f64::NAN),
                    Number(1.0),
                    Number(f64::INFINITY),
                    Number(1.0),
                ],
            ),
            (
                "b",
                &[of("x"), of("y"), Missing, of("y"), Number(3.0), of("x")],
            ),
        ]);
        let view = View::of(&table, |_| true);
        let keys: Vec<SortKey> = keys.iter().filter_map(|key| SortKey::read(key)).collect();
        sorted(&view, &keys)
    }

    #[test]
    fn rows_without_a_value_are_last_in_both_directions_and_nan_is_before_them() {
        assert_eq!(order(&["a"]), [3, 5, 0, 4, 2, 1]);
        assert_eq!(order(&["-a"]), [4, 0, 3, 5, 2, 1]);
        assert_eq!(order(&["b"]), [4, 0, 5, 1, 3, 2]);
        assert_eq!(order(&["-b", "a"]), [3, 1, 5, 0, 4, 2]);
        assert_eq!(order(&["-run"]), [5, 4, 3, 2, 1, 0]);
        assert_eq!(order(&[]), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_press_turns_the_direction_and_shift_adds_a_key() {
        let texts = |keys: &[SortKey]| keys.iter().map(SortKey::write).collect::<Vec<_>>();
        let one = pressed(&[], "a", false);
        assert_eq!(texts(&one), ["a"]);
        assert_eq!(texts(&pressed(&one, "a", false)), ["-a"]);
        assert_eq!(texts(&pressed(&one, "b", true)), ["a", "b"]);
        assert_eq!(texts(&pressed(&one, "b", false)), ["b"]);
    }
}
