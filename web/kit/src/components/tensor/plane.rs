//! Mapping of elements to cells: one or two axes of a slice as rows and columns.

use trainscope_api::tensors::{Axis, Slice};

/// Rows and columns of a request: a large screen and a margin around it.
const WINDOW: (u64, u64) = (128, 64);

/// Rows and columns of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// The slice that can be scrolled through.
    pub slice: Slice,
    /// The vertical axis; `None` for a single number.
    pub rows: Option<usize>,
    /// The horizontal axis; `None` for a column.
    pub columns: Option<usize>,
}

/// A part of a plane, by the indices of the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub row: u64,
    pub column: u64,
    pub rows: u64,
    pub columns: u64,
}

impl Plane {
    /// Plane of a slice of at most two ranges; `None` for more. `is_swapped` makes the first of two horizontal.
    pub fn new(slice: Slice, is_swapped: bool) -> Option<Self> {
        let (rows, columns) = match (&slice.free()[..], is_swapped) {
            ([], _) => (None, None),
            ([one], false) => (Some(*one), None),
            ([one], true) => (None, Some(*one)),
            ([first, second], false) => (Some(*first), Some(*second)),
            ([first, second], true) => (Some(*second), Some(*first)),
            _ => return None,
        };
        Some(Self {
            slice,
            rows,
            columns,
        })
    }

    fn range(&self, axis: Option<usize>) -> (u64, u64) {
        axis.and_then(|axis| self.slice.axes.get(axis))
            .map_or((0, 1), |axis| (axis.start(), axis.len()))
    }

    pub fn all(&self) -> Window {
        let ((row, rows), (column, columns)) = (self.range(self.rows), self.range(self.columns));
        Window {
            row,
            column,
            rows,
            columns,
        }
    }

    /// The slice of a part.
    pub fn slice_of(&self, window: Window) -> Slice {
        let mut slice = self.slice.clone();
        let parts = [
            (self.rows, window.row, window.rows),
            (self.columns, window.column, window.columns),
        ];
        for (axis, from, len) in parts {
            if let Some(axis) = axis.and_then(|axis| slice.axes.get_mut(axis)) {
                *axis = Axis::Range(from, from + len);
            }
        }
        slice
    }

    /// Index of the element of a row and column in an answer for `window`.
    pub fn place(&self, window: Window, row: u64, column: u64) -> Option<usize> {
        let row = row
            .checked_sub(window.row)
            .filter(|row| *row < window.rows)?;
        let column = column
            .checked_sub(window.column)
            .filter(|column| *column < window.columns)?;
        let place = if self.rows > self.columns && self.columns.is_some() {
            column * window.rows + row
        } else {
            row * window.columns + column
        };
        usize::try_from(place).ok()
    }

    /// The indices of the element of a row and column.
    pub fn indices(&self, row: u64, column: u64) -> Vec<u64> {
        let axes = self.slice.axes.iter().enumerate();
        axes.map(|(axis, part)| {
            if Some(axis) == self.rows {
                row
            } else if Some(axis) == self.columns {
                column
            } else {
                part.start()
            }
        })
        .collect()
    }

    /// The same plane through an element, and the element's row and column.
    pub fn through(&self, indices: &[u64]) -> (Self, (u64, u64)) {
        let mut plane = self.clone();
        for (axis, &index) in plane.slice.axes.iter_mut().zip(indices) {
            match axis {
                Axis::At(at) => *at = index,
                Axis::Range(from, to) if !(*from..*to).contains(&index) => {
                    // The element is outside of the chosen range: a range of the same length around it.
                    let len = *to - *from;
                    *from = index.saturating_sub(len / 2);
                    *to = (*from + len).max(index + 1);
                }
                Axis::Range(..) => {}
            }
        }
        let at = |axis: Option<usize>| axis.and_then(|axis| indices.get(axis)).copied();
        let cell = (at(plane.rows).unwrap_or(0), at(plane.columns).unwrap_or(0));
        (plane, cell)
    }
}

/// Text of a slice: a whole axis is a colon.
pub fn short(slice: &Slice, shape: &[u64]) -> String {
    let axes = slice.axes.iter().zip(shape);
    let axes = axes.map(|(axis, len)| match axis {
        Axis::At(at) => at.to_string(),
        Axis::Range(0, to) if to == len => ":".to_owned(),
        Axis::Range(from, to) => format!("{from}:{to}"),
    });
    axes.collect::<Vec<_>>().join(",")
}

/// Window to request around `view`: aligned to half a window, so that scrolling a little needs no request.
pub fn around(view: Window, all: Window) -> Window {
    let one = |from: u64, len: u64, first: u64, total: u64, most: u64| {
        let half = (most / 2).max(1);
        let offset = from.saturating_sub(first) / half * half;
        let wanted = most.max(len + half).min(total.saturating_sub(offset));
        (first + offset, wanted)
    };
    let (row, rows) = one(view.row, view.rows, all.row, all.rows, WINDOW.0);
    let (column, columns) = one(view.column, view.columns, all.column, all.columns, WINDOW.1);
    Window {
        row,
        column,
        rows,
        columns,
    }
}

#[cfg(test)]
mod tests {
    use trainscope_api::tensors::Slice;

    use super::{Plane, Window, around, short};

    fn plane(text: &str, shape: &[u64], is_swapped: bool) -> Plane {
        Plane::new(Slice::parse(text, shape).unwrap(), is_swapped).unwrap()
    }

    #[test]
    fn rows_and_columns_find_their_elements() {
        let shape = [4, 10, 20];
        let window = Window {
            row: 2,
            column: 5,
            rows: 3,
            columns: 7,
        };
        let upright = plane("1,:,:", &shape, false);
        assert_eq!(upright.all().columns, 20);
        assert_eq!(upright.slice_of(window).to_string(), "1,2:5,5:12");
        assert_eq!(upright.place(window, 3, 6), Some(7 + 1));
        assert_eq!(upright.place(window, 5, 6), None);
        assert_eq!(upright.indices(3, 6), [1, 3, 6]);
        let swapped = plane("1,:,:", &shape, true);
        assert_eq!(swapped.all().columns, 10);
        assert_eq!(swapped.slice_of(window).to_string(), "1,5:12,2:5");
        // Row 3 is index 3 of the last axis: elements of one column follow each other.
        assert_eq!(swapped.place(window, 3, 6), Some(3 + 1));
        assert_eq!(swapped.indices(3, 6), [1, 6, 3]);
    }

    #[test]
    fn one_axis_or_none() {
        let column = plane("", &[9], false);
        assert_eq!((column.all().rows, column.all().columns), (9, 1));
        assert_eq!(column.place(column.all(), 4, 0), Some(4));
        let row = plane("", &[9], true);
        assert_eq!((row.all().rows, row.all().columns), (1, 9));
        assert_eq!(row.place(row.all(), 0, 4), Some(4));
        let number = plane("", &[], false);
        assert_eq!(number.place(number.all(), 0, 0), Some(0));
        assert!(number.indices(0, 0).is_empty());
        let cube = Slice::whole(&[2, 2, 2]);
        assert!(Plane::new(cube, false).is_none());
    }

    #[test]
    fn a_plane_follows_an_element() {
        let (moved, cell) = plane("1,:,5:10", &[4, 10, 20], false).through(&[3, 7, 15]);
        assert_eq!(moved.slice.to_string(), "3,0:10,13:18");
        assert_eq!(cell, (7, 15));
        assert_eq!(short(&moved.slice, &[4, 10, 20]), "3,:,13:18");
    }

    #[test]
    fn what_is_in_view_is_asked_for() {
        let all = Window {
            row: 10,
            column: 0,
            rows: 1_000,
            columns: 30,
        };
        for row in (10..1_000).step_by(7) {
            let view = Window {
                row,
                column: 3,
                rows: 40,
                columns: 20,
            };
            let asked = around(view, all);
            assert!(asked.row <= row && asked.column <= 3);
            let end = (row + 40).min(1_010);
            assert!(asked.row + asked.rows >= end, "{row}: {asked:?}");
            assert!(asked.row + asked.rows <= 1_010 && asked.column + asked.columns <= 30);
            assert!(asked.rows * asked.columns <= 16_384);
        }
    }
}
