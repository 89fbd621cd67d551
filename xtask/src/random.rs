//! Reproducible pseudo-random numbers.

/// A xorshift generator (Marsaglia 2003, shifts 13, 7, 17).
pub struct Random(u64);

impl Random {
    /// Creates a generator; `seed` must not be 0, a fixed point of the generator.
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed | 1 << 40);
        // Small seeds take some rounds to fill all bits.
        for _ in 0..16 {
            random.unit();
        }
        random
    }

    /// Uniform random number from 0 (inclusive) to 1 (exclusive).
    pub fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Approximately normal random number with mean 0 and variance 1: the sum of twelve uniform ones, within ±6.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}
