//! Relative difference of two numbers or tensors: 0 is equal, 1 is as large as the values.
//!
//! NaN in one of them only is a difference of NaN, an infinity in one only one of ∞; both exceed every tolerance.

use trainscope_format::TensorSummary;
use trainscope_format::tensor::{DType, Select, TensorStats, Tolerance};

/// Difference |a − b| / max(|a|, |b|) of two numbers. NaN equals NaN, an infinity equals itself, and numbers of which
/// one is the other in single precision are equal.
pub fn of_numbers(a: f64, b: f64) -> f64 {
    if a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() {
        return 0.0;
    }
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a.is_infinite() || b.is_infinite() {
        return f64::INFINITY;
    }
    if is_rounded(a, b) || is_rounded(b, a) {
        return 0.0;
    }
    (a - b).abs() / a.abs().max(b.abs())
}

/// True if `b` is `a` in single precision.
#[expect(
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    reason = "equality in single precision is wanted"
)]
fn is_rounded(a: f64, b: f64) -> bool {
    f64::from(a as f32) == b
}

/// Difference of two tensors by their recorded statistics: the largest relative difference of extremes, mean, mean
/// absolute value and Euclidean norm. Equal statistics do not prove equal elements; equal hashes do.
pub fn of_statistics(a: &TensorSummary, b: &TensorSummary) -> f64 {
    if is_same_content(a, b) {
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
    of_figures(x, y)
}

/// True if the hashes of the bytes say that two tensors are equal to the bit.
pub fn is_same_content(a: &TensorSummary, b: &TensorSummary) -> bool {
    a.hash.is_some() && a.hash == b.hash && a.dtype == b.dtype && a.shape == b.shape
}

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
    // NaN here is a figure that was not recorded.
    extremes.into_iter().chain(sizes).fold(0.0, f64::max)
}

/// True if a difference is beyond a tolerance; NaN and ∞ are beyond every one.
pub fn exceeds(difference: f64, tolerance: f64) -> bool {
    !difference.is_finite() || difference > tolerance
}

/// True if one difference is worse than another: NaN before ∞ before numbers.
pub fn is_worse(one: f64, other: f64) -> bool {
    let class = |value: f64| (value.is_nan(), value.is_infinite());
    class(one) > class(other) || class(one) == class(other) && one > other
}

/// Difference ‖a − b‖₂ / max(‖a‖₂, ‖b‖₂) of two tensors of one shape, over elements finite in both; fed block by block.
#[derive(Clone, Copy, Debug, Default)]
pub struct ElementDifference {
    change: f64,
    a: f64,
    b: f64,
    has_nan: bool,
    has_infinity: bool,
    differs_in_bits: bool,
}

impl ElementDifference {
    /// Adds the elements of two blocks, little-endian, up to the length of the shorter one.
    pub fn add(&mut self, (dtype_a, a): (DType, &[u8]), (dtype_b, b): (DType, &[u8])) {
        if dtype_a == dtype_b {
            if a == b {
                // The norms matter if other blocks differ.
                let squares = square(&Select::new().read(dtype_a, a).stats);
                self.a += squares;
                self.b += squares;
                return;
            }
            let x = Select::new().read(dtype_a, a).stats;
            let y = Select::new()
                .change(a, Tolerance::default())
                .read(dtype_b, b);
            let is_finite = |stats: &TensorStats| stats.nan + stats.pos_inf + stats.neg_inf == 0;
            if let (true, true, Some(change)) = (is_finite(&x), is_finite(&y.stats), &y.change) {
                self.differs_in_bits = true;
                self.change += change.sum_squares_change;
                self.a += square(&x);
                self.b += square(&y.stats);
                return;
            }
        }
        self.differs_in_bits = true;
        let elements_a = a.chunks_exact(dtype_a.size_bytes());
        let elements_b = b.chunks_exact(dtype_b.size_bytes());
        for (a, b) in elements_a.zip(elements_b) {
            self.add_pair(dtype_a.number(a), dtype_b.number(b));
        }
    }

    #[expect(clippy::float_cmp, reason = "an infinity equals itself")]
    fn add_pair(&mut self, a: f64, b: f64) {
        if a.is_finite() && b.is_finite() {
            self.change += (a - b) * (a - b);
            self.a += a * a;
            self.b += b * b;
        } else if a.is_nan() != b.is_nan() {
            self.has_nan = true;
        } else if !a.is_nan() && a != b {
            self.has_infinity = true;
        }
    }

    /// The difference of all elements so far.
    pub fn value(&self) -> f64 {
        if self.has_nan {
            f64::NAN
        } else if self.has_infinity {
            f64::INFINITY
        } else if self.change == 0.0 {
            0.0
        } else {
            self.change.sqrt() / self.a.sqrt().max(self.b.sqrt())
        }
    }

    /// True if all blocks so far were equal to the bit.
    pub fn is_same(&self) -> bool {
        !self.differs_in_bits
    }
}

fn square(stats: &TensorStats) -> f64 {
    stats.finite.map_or(0.0, |finite| finite.l2 * finite.l2)
}

#[cfg(test)]
mod tests {
    use super::{ElementDifference, exceeds, is_worse, of_numbers, of_statistics};
    use trainscope_format::tensor::{ContentHasher, DType, Select};
    use trainscope_format::{Role, TensorSummary};

    fn bytes(numbers: &[f32]) -> Vec<u8> {
        numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    fn summary(numbers: &[f32]) -> TensorSummary {
        TensorSummary {
            role: Role::Other,
            dtype: DType::F32,
            shape: vec![numbers.len() as u64],
            stats: Select::new().read(DType::F32, &bytes(numbers)).stats,
            hash: Some(ContentHasher::hash(&bytes(numbers))),
            change: None,
            channels: None,
        }
    }

    fn elements(a: &[f32], b: &[f32]) -> ElementDifference {
        let mut difference = ElementDifference::default();
        difference.add((DType::F32, &bytes(a)), (DType::F32, &bytes(b)));
        difference
    }

    #[test]
    fn numbers() {
        assert!(of_numbers(f64::NAN, f64::NAN).abs() < 1e-300);
        assert!(of_numbers(1.0, f64::NAN).is_nan());
        assert!(of_numbers(f64::INFINITY, 1.0).is_infinite());
        assert!((of_numbers(1.0, 0.9) - 0.1).abs() < 1e-12);
        assert!(of_numbers(0.0, -0.0).abs() < 1e-300);
        // One is the other in single precision.
        assert!(of_numbers(0.1, f64::from(0.1_f32)).abs() < 1e-300);
        assert!(of_numbers(0.1, 0.1 + 1e-9) > 0.0);
    }

    #[test]
    fn tensors() {
        let a = [3.0, 4.0];
        assert!(elements(&a, &a).value().abs() < 1e-300 && elements(&a, &a).is_same());
        assert!((elements(&a, &[3.0, 3.5]).value() - 0.1).abs() < 1e-6);
        assert!(elements(&a, &[3.0, f32::NAN]).value().is_nan());
        assert!(elements(&a, &[3.0, f32::INFINITY]).value().is_infinite());
        // Equal counts of NaN at other places.
        assert!(
            elements(&[f32::NAN, 1.0], &[1.0, f32::NAN])
                .value()
                .is_nan()
        );
        assert!(elements(&[f32::NAN, 1.0], &[f32::NAN, 1.0]).value().abs() < 1e-300);
        let figures = of_statistics(&summary(&a), &summary(&[3.0, 3.5]));
        assert!(figures > 0.1 && figures < 0.2);
        assert!(of_statistics(&summary(&a), &summary(&[3.0])).is_infinite());
    }

    #[test]
    fn types_may_differ() {
        let mut difference = ElementDifference::default();
        let b: Vec<u8> = [3.0_f64, 4.0]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        difference.add((DType::F32, &bytes(&[3.0, 4.0])), (DType::F64, &b));
        assert!(difference.value().abs() < 1e-300 && !difference.is_same());
    }

    #[test]
    fn nan_and_infinities_are_beyond_every_tolerance() {
        assert!(exceeds(f64::NAN, 1e9) && exceeds(f64::INFINITY, 1e9) && !exceeds(0.1, 0.1));
        assert!(is_worse(f64::NAN, f64::INFINITY) && is_worse(f64::INFINITY, 1.0));
        assert!(is_worse(0.2, 0.1) && !is_worse(f64::NAN, f64::NAN));
    }
}
