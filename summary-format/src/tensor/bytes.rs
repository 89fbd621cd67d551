//! Statistics of one-byte types: counts of the 256 values determine everything else.

use super::exponents::{BUCKETS, Exponents};
use super::kernel::Real;
use super::{DType, FiniteStats, TensorStats};

/// Copies of the counts, so that consecutive equal bytes do not wait for each other.
const TABLES: usize = 8;
/// Bytes counted before a 32-bit count could overflow.
const PART: usize = 1 << 30;

pub(super) fn stats_of(dtype: DType, bytes: &[u8], exponents: bool) -> TensorStats {
    let counts = count(bytes);
    let mut values = [0.0_f64; 256];
    let every_byte: [u8; 256] = std::array::from_fn(|byte| u8::try_from(byte).unwrap_or(u8::MAX));
    dtype.widen_to_f64(&every_byte, &mut values);

    let mut stats = TensorStats {
        count: bytes.len() as u64,
        ..TensorStats::default()
    };
    let min_normal = dtype
        .min_normal_exponent()
        .map_or(0.0, |exponent| 2.0_f64.powi(exponent));
    let mut dense = [0; BUCKETS];
    let seen = || values.iter().copied().zip(counts).filter(|seen| seen.1 > 0);
    for (value, count) in seen() {
        if value.is_nan() {
            stats.nan += count;
        } else if value == f64::INFINITY {
            stats.pos_inf += count;
        } else if value == f64::NEG_INFINITY {
            stats.neg_inf += count;
        } else if value == 0.0 {
            stats.zero += count;
        } else {
            dense[value.bucket() % BUCKETS] += count;
            if value < 0.0 {
                stats.negative += count;
            } else {
                stats.positive += count;
            }
            if value.abs() < min_normal {
                stats.subnormal += count;
            }
        }
    }
    stats.exponents = exponents.then(|| Exponents::from_dense(&dense));

    let finite = || seen().filter(|seen| seen.0.is_finite());
    let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
        finite()
            .map(|(value, count)| of(value) * count as f64)
            .sum()
    };
    let total = stats.finite_count();
    if total > 0 {
        let mean = sum(&|x| x) / total as f64;
        stats.finite = Some(FiniteStats {
            min: finite().fold(f64::INFINITY, |min, seen| min.min(seen.0)),
            max: finite().fold(f64::NEG_INFINITY, |max, seen| max.max(seen.0)),
            mean,
            m2: sum(&|x| (x - mean) * (x - mean)),
            mean_abs: sum(&f64::abs) / total as f64,
            l2: sum(&|x| x * x).sqrt(),
        });
    }
    stats
}

fn count(bytes: &[u8]) -> [u64; 256] {
    let mut counts = [0_u64; 256];
    let mut tables = [[0_u32; 256]; TABLES];
    for part in bytes.chunks(PART) {
        let (chunks, rest) = part.as_chunks::<TABLES>();
        for chunk in chunks {
            for (table, &byte) in tables.iter_mut().zip(chunk) {
                table[usize::from(byte)] += 1;
            }
        }
        for &byte in rest {
            tables[0][usize::from(byte)] += 1;
        }
        for table in &mut tables {
            for (sum, count) in counts.iter_mut().zip(table) {
                *sum += u64::from(std::mem::take(count));
            }
        }
    }
    counts
}
