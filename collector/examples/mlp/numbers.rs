//! Arithmetic with identical bits on every machine: only operations that IEEE 754 defines exactly, and random numbers
//! from a seed.

/// A generator of 64-bit numbers (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Random number from 0 (inclusive) to 1 (exclusive).
    pub(crate) fn unit(&mut self) -> f64 {
        f64::from_bits(0x3ff0_0000_0000_0000 | (self.next() >> 12)) - 1.0
    }

    /// Approximately normal random number with mean 0 and standard deviation 1: a sum of twelve.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// Random number from 0 to `len` − 1.
    pub(crate) fn below(&mut self, len: usize) -> usize {
        usize::try_from(self.next() % len.max(1) as u64).unwrap_or(0)
    }
}

/// e to the power of `x`, to about 1e-15; saturates and propagates NaN.
pub(crate) fn exp(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let x = x.clamp(-700.0, 700.0);
    let power = (x * std::f64::consts::LOG2_E).round();
    let rest = x - power * std::f64::consts::LN_2;
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..16 {
        term *= rest / f64::from(n);
        sum += term;
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -1010 and 1010")]
    let exponent = power as i64 + 1023;
    sum * f64::from_bits(exponent.cast_unsigned() << 52)
}

/// The natural logarithm of a positive number, to about 1e-15; −∞ for 0.
pub(crate) fn ln(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 || x.is_infinite() {
        return if x > 0.0 {
            f64::INFINITY
        } else if x == 0.0 {
            f64::NEG_INFINITY
        } else {
            f64::NAN
        };
    }
    let bits = x.to_bits();
    let mut power = f64::from(u32::try_from(bits >> 52).unwrap_or(0)) - 1023.0;
    let mut mantissa = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        power += 1.0;
    }
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let (mut term, mut sum) = (ratio, 0.0);
    for n in 0..20 {
        sum += term / f64::from(2 * n + 1);
        term *= ratio * ratio;
    }
    2.0 * sum + power * std::f64::consts::LN_2
}

/// Rounds to single precision, the type of the weights.
pub(crate) fn single(x: f64) -> f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "weights have single precision"
    )]
    let single = x as f32;
    single
}
