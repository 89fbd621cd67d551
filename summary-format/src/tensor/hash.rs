//! Content hash of a tensor: detects equal content without storing it.

use twox_hash::XxHash3_64;

/// XXH3 (64 bits, seed 0) of the bytes written, in any cuts. Equal hashes mean bit-identical content, except for one
/// pair in 2^64; 0.0 and −0.0 differ in bits.
#[derive(Clone, Default)]
pub struct ContentHasher(XxHash3_64);

impl ContentHasher {
    /// Hasher of an empty input.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) {
        std::hash::Hasher::write(&mut self.0, bytes);
    }

    /// The hash of all bytes so far.
    pub fn finish(&self) -> u64 {
        std::hash::Hasher::finish(&self.0)
    }

    /// The hash of these bytes.
    pub fn hash(bytes: &[u8]) -> u64 {
        XxHash3_64::oneshot(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::ContentHasher;

    #[test]
    fn it_is_xxh3_in_any_cuts() {
        // The empty input's value is part of the XXH3 specification's test vectors.
        assert_eq!(ContentHasher::new().finish(), 0x2d06_8005_38d3_94c2);
        let bytes: Vec<u8> = (0..10_000_u32).map(|i| (i % 251) as u8).collect();
        let whole = ContentHasher::hash(&bytes);
        for cut in [0, 1, 63, 64, 240, 241, 1024, 9_999, 10_000] {
            let mut hasher = ContentHasher::new();
            hasher.write(&bytes[..cut]);
            hasher.write(&bytes[cut..]);
            assert_eq!(hasher.finish(), whole);
        }
    }
}
