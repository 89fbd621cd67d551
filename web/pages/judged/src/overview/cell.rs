//! A cell of the matrix: a tensor at a step.

use trainscope_format::tensor::TensorStats;

/// Data of a tensor at a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CellStats {
    /// Number of NaN elements.
    pub(super) nan: u64,
    /// Number of infinite elements.
    pub(super) inf: u64,
    /// Maximum magnitude of the finite elements.
    pub(super) largest: Option<f64>,
}

impl CellStats {
    pub(super) fn of(stats: &TensorStats) -> Self {
        Self {
            nan: stats.nan,
            inf: stats.pos_inf + stats.neg_inf,
            largest: stats
                .finite
                .map(|finite| finite.min.abs().max(finite.max.abs())),
        }
    }
}

/// State of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing was recorded.
    Missing,
    /// Finite, and about as large as before.
    Finite,
    /// Finite, and larger than before: 1 to 4.
    Grown(u8),
    /// Finite, and near the limit of the first cause, or beyond it: 1 to 4.
    Measured(u8),
    /// Infinite.
    Inf,
    /// Not a number.
    Nan,
}

/// Cell of the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) state: State,
    /// `true` for the first cell of its row in that state.
    pub(super) is_first: bool,
    pub(super) seen: CellStats,
    /// Value of the quantity of the first cause, if known.
    pub(super) value: Option<f64>,
}
