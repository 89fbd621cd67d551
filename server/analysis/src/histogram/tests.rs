//! Rebinning, merging and odd input lose nothing.

use proptest::prelude::*;
use trainscope_format::Role;
use trainscope_format::tensor::{DType, TensorStats};

use super::*;

fn histogram(bins: &[(f64, f64, f64)]) -> Histogram {
    Histogram {
        lefts: bins.iter().map(|bin| bin.0).collect(),
        rights: bins.iter().map(|bin| bin.1).collect(),
        counts: bins.iter().map(|bin| bin.2).collect(),
        count: bins.iter().map(|bin| bin.2).sum(),
        ..Histogram::default()
    }
}

fn counted(histogram: &Histogram, bins: usize, spacing: Spacing) -> (Grid, Row) {
    let mass = Mass::of_histogram(histogram);
    let mut span = Span::default();
    span.add(&mass);
    let grid = Grid::new(&span, bins, spacing);
    let mut row = Row::new(&grid);
    row.add(&mass, &grid);
    (grid, row)
}

#[test]
fn edges_that_meet_are_counted_exactly() {
    let recorded = histogram(&[(0.0, 1.0, 3.0), (1.0, 2.0, 0.0), (2.0, 4.0, 8.0)]);
    let (grid, row) = counted(&recorded, 4, Spacing::Linear);
    assert_eq!(grid.edges(), [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(row.counts, [3.0, 0.0, 4.0, 4.0]);
    let percentiles = row.percentiles(&grid).unwrap();
    assert_eq!((percentiles[0], percentiles[6]), (0.0, 4.0));
    // Half of 11 is 2.5 of the 8 between 2 and 4.
    assert!((percentiles[3] - 2.625).abs() < 1e-12, "{percentiles:?}");
}

#[test]
fn a_single_value_is_a_bin_without_width() {
    let (grid, row) = counted(&histogram(&[(2.0, 2.0, 5.0)]), 10, Spacing::Linear);
    assert!((row.finite() - 5.0).abs() < 1e-12);
    assert_eq!(row.counts.iter().filter(|count| **count > 0.0).count(), 1);
    assert_eq!(row.percentiles(&grid), Some([2.0; 7]));
}

#[test]
fn nothing_finite_is_no_row_and_no_panic() {
    let recorded = Histogram {
        nan: 7,
        ..Histogram::default()
    };
    let (grid, row) = counted(&recorded, 10, Spacing::Symlog);
    assert!(grid.edges().is_empty() && row.counts.is_empty());
    assert_eq!((row.nan, row.percentiles(&grid)), (7, None));
}

#[test]
fn what_is_wrong_is_said_and_the_rest_counts() {
    let recorded = histogram(&[
        (1.0, 0.0, 2.0),
        (0.5, 3.0, 4.0),
        (3.0, 4.0, -1.0),
        (4.0, f64::INFINITY, 1.0),
        (f64::NAN, 5.0, 1.0),
        (5.0, 6.0, f64::NAN),
    ]);
    let (_, row) = counted(&recorded, 6, Spacing::Linear);
    assert_eq!(
        row.faults,
        [
            Fault::Unsorted,
            Fault::Overlapping,
            Fault::BadCount,
            Fault::BadEdge
        ]
    );
    assert!((row.finite() - 6.0).abs() < 1e-12);
}

#[test]
fn an_edge_that_is_no_number_is_not_taken_for_a_bound() {
    let mut recorded = histogram(&[
        (0.0, 1.0, 2.0),
        (1.0, f64::NAN, 1.0),
        (f64::NAN, 2.0, 1.0),
        (2.0, 3.0, 2.0),
    ]);
    (recorded.min, recorded.max) = (Some(0.0), Some(3.0));
    let (_, row) = counted(&recorded, 3, Spacing::Linear);
    assert_eq!(row.faults, [Fault::BadEdge]);
    assert!((row.finite() - 4.0).abs() < 1e-12);
}

#[test]
fn outer_bins_end_where_the_writer_says() {
    let mut recorded = histogram(&[
        (f64::MIN, -1.0, 1.0),
        (-1.0, 1.0, 2.0),
        (1.0, f64::MAX, 1.0),
    ]);
    (recorded.min, recorded.max) = (Some(-2.0), Some(3.0));
    let (grid, row) = counted(&recorded, 5, Spacing::Linear);
    assert_eq!(grid.edges(), [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]);
    assert_eq!(row.counts, [1.0, 1.0, 1.0, 0.5, 0.5]);
    assert!(row.faults.is_empty());
}

#[test]
fn small_and_large_values_have_bins_of_their_own() {
    let recorded = histogram(&[(1e-8, 2e-8, 50.0), (1.0, 2.0, 50.0)]);
    let (_, row) = counted(&recorded, 40, Spacing::Symlog);
    let filled = |counts: &[f64]| counts.iter().filter(|count| **count > 0.5).count();
    assert!(filled(&row.counts[..10]) > 0 && filled(&row.counts[30..]) > 0);
    assert_eq!(filled(&row.counts[10..30]), 0);
}

/// Bins with any edges and counts, including infinite and negative ones.
fn any_bins() -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
    let edge = prop_oneof![
        -1e3..1e3,
        any::<f64>(),
        Just(0.0),
        Just(f64::MAX),
        Just(f64::MIN)
    ];
    let count = prop_oneof![0.0..1e6, -1.0..1.0, Just(f64::NAN)];
    proptest::collection::vec((edge.clone(), edge, count), 0..40)
}

proptest! {
    #[test]
    fn no_value_is_lost_or_made(bins in any_bins(), count in 2_usize..200, symlog: bool) {
        let recorded = histogram(&bins);
        let spacing = if symlog { Spacing::Symlog } else { Spacing::Linear };
        let (grid, row) = counted(&recorded, count, spacing);
        let all: f64 = Mass::of_histogram(&recorded).bins.iter().map(|bin| bin.count).sum();
        prop_assert!((row.finite() - all).abs() <= all * 1e-9, "{} {}", row.finite(), all);
        prop_assert!(grid.edges().is_sorted());
        prop_assert!(row.counts.iter().all(|count| *count >= 0.0));
        if let Some(percentiles) = row.percentiles(&grid) {
            prop_assert!(percentiles.is_sorted(), "{percentiles:?}");
        }
    }

    /// Compared with the naive computation: the share of all values up to a percentile.
    #[test]
    fn percentiles_divide_the_values(bins in proptest::collection::vec((-10.0..10.0, 0.0..5.0, 1.0..100.0), 1..30)) {
        let bins: Vec<_> = bins.into_iter().map(|(low, width, count)| (low, low + width, count)).collect();
        let recorded = histogram(&bins);
        let (grid, row) = counted(&recorded, 17, Spacing::Linear);
        let percentiles = row.percentiles(&grid).unwrap();
        let all: f64 = bins.iter().map(|bin| bin.2).sum();
        for (value, share) in percentiles.into_iter().zip(SHARES) {
            let up_to = |value: f64| -> f64 {
                bins.iter().map(|&(low, high, count)| Bin { low, high, count }.share(f64::MIN, value) * count).sum()
            };
            prop_assert!(up_to(value + 1e-6) >= all * share - 1e-6);
            prop_assert!(up_to(value - 1e-6) <= all * share + 1e-6 || share == 0.0);
        }
    }
}

#[test]
fn exponents_keep_whole_counts_and_a_bin_for_zeros() {
    let bytes = |values: &[f32]| {
        values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let values: Vec<f32> = (1..=256_u16)
        .map(|n| (f32::from(n) / 64.0 - 2.0) * 0.4)
        .collect();
    let summary = |values: &[f32]| {
        let stats = TensorStats::of(DType::F32, &bytes(values));
        Mass::of_statistics(&TensorSummary {
            role: Role::Other,
            dtype: DType::F32,
            shape: vec![values.len() as u64],
            stats,
            hash: None,
            change: None,
            channels: None,
        })
    };
    let (wide, narrow) = (summary(&values), summary(&[0.0, 0.0, 0.3, 0.7]));
    let mut span = Span::default();
    span.add(&wide);
    span.add(&narrow);
    assert!(span.is_exponents());
    for bins in [2, 8, 200] {
        let grid = Grid::of_exponents(&span, bins);
        assert!(grid.edges().len() <= bins.max(3) + 1, "{bins}");
        for (mass, count) in [(&wide, 256.0), (&narrow, 4.0)] {
            let mut row = Row::new(&grid);
            row.add(mass, &grid);
            assert!(
                row.counts.iter().all(|count| count.fract() == 0.0),
                "{bins}: {:?}",
                row.counts
            );
            assert!((row.finite() - count).abs() < 1e-12);
        }
        let mut row = Row::new(&grid);
        row.add(&narrow, &grid);
        let zeros = grid.edges().iter().position(|edge| *edge > 0.0).unwrap() - 1;
        assert!(
            (row.counts[zeros] - 2.0).abs() < 1e-12,
            "{bins}: {:?}",
            row.counts
        );
    }
    // One sign alone, and zeros alone.
    let mut span = Span::default();
    span.add(&narrow);
    let grid = Grid::of_exponents(&span, 60);
    assert_eq!(grid.edges(), [0.0, 0.25, 0.5, 1.0]);
    let mut span = Span::default();
    span.add(&summary(&[0.0; 3]));
    assert_eq!(Grid::of_exponents(&span, 60).edges().len(), 2);
    // A histogram among them has other edges.
    span.add(&Mass::of_histogram(&histogram(&[(0.0, 1.0, 3.0)])));
    assert!(!span.is_exponents());
}
