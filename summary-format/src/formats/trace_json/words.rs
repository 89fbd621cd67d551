//! Bytes eight at a time: most keys and strings are short, so a search function costs more than it saves.

const LOW: u64 = u64::from_le_bytes([0x01; 8]);
const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

/// Eight bytes at an offset, the first one lowest; `None` closer to the end.
#[inline]
pub(super) fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*word))
}

/// The first bytes of a text, at most eight, as in [`word_at`].
pub(super) const fn word_of(text: &[u8]) -> u64 {
    let mut word = [0; 8];
    let mut at = 0;
    while at < text.len() && at < 8 {
        word[at] = text[at];
        at += 1;
    }
    u64::from_le_bytes(word)
}

/// The first `len` bytes of a word, `len` below 8, followed by zeros.
#[inline]
pub(super) const fn first_bytes(word: u64, len: usize) -> u64 {
    word & !(u64::MAX << (8 * len))
}

/// Place of the first byte that a mask marks; 8 if it marks none.
#[inline]
pub(super) const fn first_marked(mask: u64) -> u32 {
    mask.trailing_zeros() / 8
}

/// Marks of bytes in a string that end it, escape the next one or are not allowed. The first mark is right, later ones
/// may be wrong.
#[inline]
pub(super) const fn ends_of_string(word: u64) -> u64 {
    equal(word, b'"') | equal(word, b'\\') | equal(word, b'\n')
}

/// Marks of bytes that are neither white space nor control characters.
#[inline]
pub(super) const fn visible(word: u64) -> u64 {
    const ABOVE_SPACE: u64 = LOW * (0x7f - b' ' as u64);
    (((word & !HIGH) + ABOVE_SPACE) | word) & HIGH
}

/// Marks of bytes that are not part of a number without an exponent, except for `/`.
#[inline]
pub(super) const fn beyond_number(word: u64) -> u64 {
    const ABOVE_9: u64 = LOW * (0x7f - b'9' as u64);
    const FROM_MINUS: u64 = LOW * b'-' as u64;
    let above = (word & !HIGH) + ABOVE_9;
    let not_below = (word | HIGH) - FROM_MINUS;
    (above | !not_below | word) & HIGH
}

/// Marks of quotes and brackets. The first mark is right, later ones may be wrong.
#[inline]
pub(super) const fn structural(word: u64) -> u64 {
    // `[` and `{` differ in one bit, as `]` and `}` do.
    let folded = word | (LOW * 0x20);
    equal(folded, b'{') | equal(folded, b'}') | equal(word, b'"')
}

/// Marks of equal bytes, the first of which is right.
#[inline]
const fn equal(word: u64, wanted: u8) -> u64 {
    let zero_if_equal = word ^ (LOW * wanted as u64);
    zero_if_equal.wrapping_sub(LOW) & !zero_if_equal & HIGH
}

#[cfg(test)]
mod tests {
    use super::{
        beyond_number, ends_of_string, first_bytes, first_marked, structural, visible, word_at,
        word_of,
    };

    /// Place of the first byte that is `wanted`.
    fn first(bytes: [u8; 8], wanted: impl Fn(u8) -> bool) -> u32 {
        let place = bytes.iter().position(|byte| wanted(*byte));
        u32::try_from(place.unwrap_or(8)).unwrap()
    }

    #[test]
    fn marks_are_those_of_the_bytes_one_by_one() {
        for byte in 0..=u8::MAX {
            for place in 0..8 {
                for filling in [b'a', b' ', 0, 0x80, 0xff, b'!', b'"' + 1, b'\\' + 1] {
                    let mut bytes = [filling; 8];
                    bytes[place] = byte;
                    let word = u64::from_le_bytes(bytes);
                    let is_end = |byte| matches!(byte, b'"' | b'\\' | b'\n');
                    assert_eq!(first_marked(ends_of_string(word)), first(bytes, is_end));
                    assert_eq!(
                        first_marked(visible(word)),
                        first(bytes, |byte| byte > b' ')
                    );
                    let is_beyond = |byte| !matches!(byte, b'-'..=b'9');
                    assert_eq!(first_marked(beyond_number(word)), first(bytes, is_beyond));
                    let is_structural = |byte| matches!(byte, b'"' | b'[' | b']' | b'{' | b'}');
                    assert_eq!(first_marked(structural(word)), first(bytes, is_structural));
                }
            }
        }
    }

    #[test]
    fn words_are_the_same_of_texts_and_of_places() {
        assert_eq!(word_at(b"xname\": \"", 1), Some(word_of(b"name\": \"")));
        assert_eq!(word_at(b"12345678", 1), None);
        assert_eq!(first_bytes(word_of(b"name\""), 4), word_of(b"name"));
        assert_eq!(first_bytes(word_of(b"name\""), 0), 0);
    }
}
