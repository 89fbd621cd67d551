//! Matrix of tensors × recorded steps around the first cause: choice of steps and rows, and the state of each cell.

use trainscope_api::distributions;
use trainscope_api::scalars::{NonFiniteClass, Series};

use super::cell::{Cell, CellStats, State};
use super::measured::Quantity;

/// Maximum number of columns.
pub(super) const COLUMNS: usize = 16;
/// Maximum number of rows.
pub(super) const ROWS: usize = 11;
/// Maximum number of columns before that of the first cause.
const BEFORE: usize = 10;
/// Lower bounds of the growth levels, as multiples of the first magnitudes.
const GROWTH: [f64; 4] = [4.0, 16.0, 256.0, 65_536.0];

/// A row of the matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// Name of the tensor or scalar.
    pub(super) name: String,
    /// One for each column.
    pub(super) cells: Vec<Cell>,
}

/// Matrix of tensors × steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Onset {
    /// The step of each column.
    pub(super) steps: Vec<i64>,
    /// Index of the column of the first cause.
    pub(super) column: Option<usize>,
    /// The tensor of the first cause.
    pub(super) tensor: Option<String>,
    /// Tensors in the order of the hits, then by name.
    pub(super) rows: Vec<Row>,
    /// The quantity that the first cause is about, unless it is about NaN and infinities.
    pub(super) measured: Option<Quantity>,
}

impl Onset {
    /// Removes rows without hits that show only finite or missing cells, unless the matrix has NaN or infinities.
    pub(super) fn leave_out_plain(&mut self, is_hit: impl Fn(&str) -> bool) {
        let is_plain = |cell: &Cell| matches!(cell.state, State::Missing | State::Finite);
        let mut cells = self.rows.iter().flat_map(|row| &row.cells);
        let is_not_finite = |cell: &Cell| matches!(cell.state, State::Inf | State::Nan);
        if self.column.is_some() && !cells.any(is_not_finite) {
            let shows = |row: &Row| is_hit(&row.name) || !row.cells.iter().all(is_plain);
            self.rows.retain(shows);
        }
    }

    /// `true` if there is more to see than finite cells: NaN, infinities, growth, or a row of the first cause.
    pub(super) fn shows_anything(&self) -> bool {
        let mut cells = self.rows.iter().flat_map(|row| &row.cells);
        let is_plain = |cell: &Cell| matches!(cell.state, State::Missing | State::Finite);
        let has_cause = self.column.is_some()
            && self
                .rows
                .iter()
                .any(|row| Some(&row.name) == self.tensor.as_ref());
        has_cause || cells.any(|cell| !is_plain(cell))
    }
}

/// Adds the step of the first cause to the recorded steps: only a scalar may have been recorded there.
pub(super) fn with_cause(mut steps: Vec<i64>, cause: Option<i64>) -> Vec<i64> {
    if let Some(cause) = cause
        && let Err(at) = steps.binary_search(&cause)
    {
        steps.insert(at, cause);
    }
    steps
}

/// Columns among all recorded steps: some before `cause` and some after it, or the last ones.
pub(super) fn columns(steps: &[i64], cause: Option<i64>) -> &[i64] {
    let last = steps.len().saturating_sub(COLUMNS);
    let first = match cause {
        Some(cause) => steps
            .partition_point(|step| *step < cause)
            .saturating_sub(BEFORE),
        None => last,
    };
    let first = first.min(last);
    &steps[first..(first + COLUMNS).min(steps.len())]
}

/// Names of the rows: known tensors of hits, then `others`, without duplicates, at most [`ROWS`].
pub(super) fn rows<'a>(
    hits: impl Iterator<Item = &'a str>,
    others: impl Iterator<Item = &'a str> + Clone,
) -> Vec<&'a str> {
    let known: std::collections::HashSet<&str> = others.clone().collect();
    let mut rows: Vec<&str> = Vec::new();
    for name in hits.filter(|name| known.contains(name)).chain(others) {
        if rows.len() == ROWS {
            break;
        }
        if !rows.contains(&name) {
            rows.push(name);
        }
    }
    rows
}

/// Cells of a row from the data at each column.
pub(super) fn cells(seen: &[Option<CellStats>]) -> Vec<Cell> {
    let sizes = seen.iter().flatten().filter_map(|seen| seen.largest);
    let usual = sizes.filter(|size| *size > 0.0).take(3).fold(0.0, f64::max);
    let mut before: Vec<State> = Vec::new();
    seen.iter()
        .map(|seen| {
            let state = seen.map_or(State::Missing, |seen| state(&seen, usual));
            let is_first = !before.contains(&state);
            before.push(state);
            Cell {
                state,
                is_first,
                seen: seen.unwrap_or_default(),
                value: None,
            }
        })
        .collect()
}

fn state(seen: &CellStats, usual: f64) -> State {
    if seen.nan > 0 {
        return State::Nan;
    }
    if seen.inf > 0 {
        return State::Inf;
    }
    let ratio = seen.largest.map_or(0.0, |largest| largest / usual);
    let passed = GROWTH.iter().filter(|limit| ratio >= **limit).count();
    match u8::try_from(passed) {
        Ok(level) if level > 0 && usual > 0.0 => State::Grown(level),
        _ => State::Finite,
    }
}

/// State of a scalar at each column: points recorded since the previous column.
pub(super) fn of_series(series: &Series, steps: &[i64]) -> Vec<Option<CellStats>> {
    let mut after = None;
    let mut seen = Vec::with_capacity(steps.len());
    for &step in steps {
        // The first column covers only its step.
        let from = after.map_or(step, |before: i64| before.saturating_add(1));
        after = Some(step);
        let entries = series.steps.partition_point(|at| *at < from)
            ..series.steps.partition_point(|at| *at <= step);
        let touches = |class: fn(NonFiniteClass) -> bool| {
            let stretches = series.non_finite.iter();
            stretches
                .filter(|one| class(one.class))
                .any(|one| one.first_step <= step && one.last_step >= from)
        };
        let nan = touches(|class| class == NonFiniteClass::Nan);
        let inf = touches(|class| class != NonFiniteClass::Nan);
        if entries.is_empty() && !nan && !inf {
            seen.push(None);
            continue;
        }
        let sizes = entries.filter_map(|index| {
            let edge = |list: &[f64]| list.get(index).copied().unwrap_or(f64::NAN).abs();
            let value = series.values.get(index)?.abs();
            // `max` ignores NaN.
            Some(value.max(edge(&series.min)).max(edge(&series.max)))
        });
        let largest = sizes.filter(|size| size.is_finite()).reduce(f64::max);
        seen.push(Some(CellStats {
            nan: nan.into(),
            inf: inf.into(),
            largest,
        }));
    }
    seen
}

/// State of a tensor at each column, from the histograms recorded since the previous column.
pub(super) fn of_histograms(rows: &[distributions::Row], steps: &[i64]) -> Vec<Option<CellStats>> {
    let mut after = None;
    let mut seen = Vec::with_capacity(steps.len());
    for &step in steps {
        let from = after.map_or(step, |before: i64| before.saturating_add(1));
        after = Some(step);
        let covered = rows.iter().filter(|row| (from..=step).contains(&row.step));
        seen.push(covered.fold(None, |before: Option<CellStats>, row| {
            let before = before.unwrap_or_default();
            let ends = row
                .percentiles
                .first()
                .into_iter()
                .chain(row.percentiles.last());
            Some(CellStats {
                nan: before.nan + row.nan,
                inf: before.inf + row.pos_inf + row.neg_inf,
                largest: ends
                    .map(|end| end.abs())
                    .chain(before.largest)
                    .reduce(f64::max),
            })
        }));
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_api::scalars::NonFinite;

    #[test]
    fn histograms_fill_the_columns_up_to_their_step() {
        let row = |step, nan, percentiles: &[f64]| distributions::Row {
            step,
            first_step: step,
            nan,
            percentiles: percentiles.to_vec(),
            ..distributions::Row::default()
        };
        let rows = [
            row(0, 0, &[-3.0, 0.0, 1.0]),
            row(5, 0, &[-1.0, 0.0, 2.0]),
            row(7, 4, &[]),
        ];
        let seen = of_histograms(&rows, &[0, 2, 6, 8]);
        assert_eq!(seen[0], finite(3.0));
        assert_eq!(seen[1], None);
        assert_eq!(seen[2], finite(2.0));
        assert_eq!(
            seen[3].map(|seen| (seen.nan, seen.largest)),
            Some((4, None))
        );
        assert_eq!(cells(&seen)[3].state, State::Nan);
    }

    fn finite(largest: impl Into<Option<f64>>) -> Option<CellStats> {
        let largest = Some(largest.into()?);
        Some(CellStats {
            largest,
            ..CellStats::default()
        })
    }

    #[test]
    fn the_cause_has_steps_on_both_sides() {
        let steps: Vec<i64> = (0..40).map(|step| step * 5).collect();
        // 41 was not recorded; 45 is the first that can show it.
        assert_eq!(columns(&steps, Some(41)).first(), Some(&0));
        let shown = columns(&steps, Some(100));
        assert_eq!((shown[0], shown[10], shown.len()), (50, 100, COLUMNS));
        assert_eq!(columns(&steps, Some(195)).last(), Some(&195));
        assert_eq!(columns(&steps, None)[0], 120);
        assert_eq!(columns(&steps[..3], Some(5)).len(), 3);
        assert!(columns(&[], Some(5)).is_empty());
    }

    #[test]
    fn the_step_of_the_cause_is_a_column_though_no_tensor_was_recorded_then() {
        let steps = with_cause(vec![0, 20, 40], Some(9));
        assert_eq!(steps, [0, 9, 20, 40]);
        assert_eq!(with_cause(vec![0, 20], Some(20)), [0, 20]);
        assert_eq!(with_cause(vec![0, 20], None), [0, 20]);
    }

    #[test]
    fn a_map_of_finite_cells_is_left_out_unless_the_cause_is_on_it() {
        let plain = Onset {
            steps: vec![0, 1],
            rows: vec![Row {
                name: "a".to_owned(),
                cells: cells(&[finite(1.0), finite(2.0)]),
            }],
            ..Onset::default()
        };
        assert!(!plain.shows_anything());
        let mut grown = plain.clone();
        grown.rows[0].cells = cells(&[finite(1.0), finite(1.0), finite(1.0), finite(1e9)]);
        assert!(grown.shows_anything());
        let caused = Onset {
            column: Some(1),
            tensor: Some("a".to_owned()),
            ..plain
        };
        assert!(caused.shows_anything());
    }

    #[test]
    fn hits_come_first_and_nothing_twice() {
        let names = ["a", "b", "c"];
        let hits = ["c", "train/loss", "c", "a"];
        let found = rows(hits.into_iter(), names.into_iter());
        assert_eq!(found, ["c", "a", "b"]);
    }

    #[test]
    fn growth_and_what_is_not_finite_stand_out() {
        let nan = Some(CellStats {
            nan: 3,
            ..CellStats::default()
        });
        let inf = Some(CellStats {
            inf: 1,
            ..CellStats::default()
        });
        let row = [
            finite(1.0),
            finite(2.0),
            None,
            finite(40.0),
            finite(1e9),
            inf,
            nan,
            nan,
        ];
        let row = cells(&row);
        let states: Vec<State> = row.iter().map(|cell| cell.state).collect();
        let expected = [
            State::Finite,
            State::Finite,
            State::Missing,
            State::Finite,
            State::Grown(4),
            State::Inf,
            State::Nan,
            State::Nan,
        ];
        assert_eq!(states, expected);
        assert!(row[6].is_first && !row[7].is_first);
        assert_eq!(cells(&[finite(0.0)])[0].state, State::Finite);
    }

    #[test]
    fn a_scalar_shows_what_was_between_two_columns() {
        let series = Series {
            steps: (0..8).collect(),
            values: vec![1.0, 1.0, f64::NAN, 1.0, -9.0, f64::INFINITY, 1.0, 1.0],
            non_finite: vec![
                NonFinite {
                    class: NonFiniteClass::Nan,
                    first_step: 2,
                    last_step: 2,
                    count: 1,
                },
                NonFinite {
                    class: NonFiniteClass::PosInf,
                    first_step: 5,
                    last_step: 5,
                    count: 1,
                },
            ],
            ..Series::default()
        };
        let seen = of_series(&series, &[0, 3, 4, 7, 9]);
        assert_eq!(seen[0], finite(1.0));
        assert_eq!(seen[1].map(|seen| (seen.nan, seen.inf)), Some((1, 0)));
        assert_eq!(seen[2], finite(9.0));
        assert_eq!(seen[3].map(|seen| (seen.nan, seen.inf)), Some((0, 1)));
        assert_eq!(seen[4], None);
    }
}
