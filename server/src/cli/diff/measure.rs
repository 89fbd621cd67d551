//! Relative difference of two tensors or numbers: 0 is equal, 1 is as large as the values.

use trainscope_format::TensorSummary;
use trainscope_format::tensor::TensorStats;

/// Difference of two numbers. NaN equals NaN, and an infinity equals itself.
pub(super) fn of_numbers(a: f64, b: f64) -> f64 {
    if a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() {
        return 0.0;
    }
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a.is_infinite() || b.is_infinite() {
        return f64::INFINITY;
    }
    let larger = a.abs().max(b.abs());
    if larger == 0.0 {
        0.0
    } else {
        (a - b).abs() / larger
    }
}

/// Difference of two tensors, from the element-wise change of `b` to `a` if there is one, otherwise from their
/// statistics. Elements that are NaN or infinite in one of them only are the largest difference.
pub(super) fn of_tensors(a: &TensorSummary, b: &TensorSummary) -> f64 {
    if a.hash.is_some() && a.hash == b.hash && a.dtype == b.dtype && a.shape == b.shape {
        return 0.0;
    }
    if a.shape != b.shape {
        return f64::INFINITY;
    }
    let (x, y) = (&a.stats, &b.stats);
    if x.nan != y.nan {
        return f64::NAN;
    }
    if (x.pos_inf, x.neg_inf) != (y.pos_inf, y.neg_inf) {
        return f64::INFINITY;
    }
    match &b.change {
        Some(change) => {
            let larger = norm(x).max(norm(y));
            let apart = change.sum_squares_change.sqrt();
            if apart == 0.0 { 0.0 } else { apart / larger }
        }
        None => of_figures(x, y),
    }
}

fn norm(stats: &TensorStats) -> f64 {
    stats.finite.map_or(0.0, |finite| finite.l2)
}

/// Difference of statistics: two tensors with equal ones may still differ.
fn of_figures(a: &TensorStats, b: &TensorStats) -> f64 {
    let (Some(a), Some(b)) = (a.finite, b.finite) else {
        return if a.finite.is_none() == b.finite.is_none() {
            0.0
        } else {
            f64::INFINITY
        };
    };
    let largest = a.abs_max().max(b.abs_max());
    let extremes = [(a.min, b.min), (a.max, b.max), (a.mean, b.mean)].map(|(a, b)| {
        if largest > 0.0 {
            (a - b).abs() / largest
        } else {
            0.0
        }
    });
    let sizes = [(a.mean_abs, b.mean_abs), (a.l2, b.l2)].map(|(a, b)| of_numbers(a, b));
    // NaN here is an unrecorded figure.
    extremes.into_iter().chain(sizes).fold(0.0, f64::max)
}

pub(super) fn exceeds(difference: f64, tolerance: f64) -> bool {
    difference.is_nan() || difference > tolerance
}

#[cfg(test)]
mod tests {
    use super::{exceeds, of_numbers, of_tensors};
    use trainscope_format::tensor::{ContentHasher, DType, Select, Tolerance};
    use trainscope_format::{Role, TensorSummary};

    fn summary(numbers: &[f32], before: Option<&[f32]>) -> TensorSummary {
        let bytes =
            |numbers: &[f32]| -> Vec<u8> { numbers.iter().flat_map(|x| x.to_le_bytes()).collect() };
        let before = before.map(bytes);
        let mut select = Select::new();
        if let Some(before) = &before {
            select = select.change(before, Tolerance::default());
        }
        let seen = select.read(DType::F32, &bytes(numbers));
        TensorSummary {
            role: Role::Other,
            dtype: DType::F32,
            shape: vec![numbers.len() as u64],
            stats: seen.stats,
            hash: Some(ContentHasher::hash(&bytes(numbers))),
            change: seen.change,
            channels: None,
        }
    }

    #[test]
    fn numbers() {
        assert!(of_numbers(f64::NAN, f64::NAN).abs() < 1e-300);
        assert!(of_numbers(1.0, f64::NAN).is_nan());
        assert!(of_numbers(f64::INFINITY, 1.0).is_infinite());
        assert!((of_numbers(1.0, 0.9) - 0.1).abs() < 1e-12);
        assert!(of_numbers(0.0, -0.0).abs() < 1e-300);
    }

    #[test]
    fn tensors() {
        let a = [3.0, 4.0];
        let apart = |b: &[f32]| of_tensors(&summary(&a, None), &summary(b, Some(&a)));
        assert!(apart(&a).abs() < 1e-300);
        assert!((apart(&[3.0, 3.5]) - 0.1).abs() < 1e-6);
        assert!(apart(&[3.0, f32::NAN]).is_nan());
        assert!(apart(&[3.0, f32::INFINITY]).is_infinite());
        let figures = of_tensors(&summary(&a, None), &summary(&[3.0, 3.5], None));
        assert!(figures > 0.1 && figures < 0.2);
        assert!(exceeds(f64::NAN, 1e9) && !exceeds(0.1, 0.1));
    }
}
