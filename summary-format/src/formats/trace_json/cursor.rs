//! Reader of JSON in place: strings, numbers and nested values, each up to its last byte.

use std::borrow::Cow;

use memchr::memchr3;

use super::words::{
    beyond_number, ends_of_string, first_bytes, first_marked, structural, visible, word_at, word_of,
};
use crate::formats::decimal::scaled;

/// Number of words of eight bytes that are checked for the end of a string before a search begins: most strings are
/// shorter.
const SHORT_STRING_WORDS: usize = 4;

/// Maximum distance to the end of a line of arguments, in bytes.
const MAX_LINE_LEN: usize = 8 << 10;

/// Power of ten from microseconds to nanoseconds.
const MICROS_TO_NANOS: usize = 3;

/// Reasons why a value has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The bytes end within it.
    Incomplete,
    /// It is not JSON.
    Damage,
}

/// A value as the file has it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    /// A string without its quotes.
    Text(&'a [u8]),
    /// A number, `true`, `null`, or anything else without quotes: `N/A`.
    Token(&'a [u8]),
    /// An object or array with its brackets.
    Nested(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The bytes, of strings without quotes.
    pub(super) const fn raw(self) -> &'a [u8] {
        match self {
            Self::Text(raw) | Self::Token(raw) | Self::Nested(raw) => raw,
        }
    }

    /// The text, of strings without escapes.
    pub(super) fn text(self) -> Cow<'a, str> {
        match self {
            Self::Text(raw) => unescaped(raw),
            Self::Token(raw) | Self::Nested(raw) => String::from_utf8_lossy(raw),
        }
    }
}

/// A position in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// The next byte after white space. Other control characters count as white space too.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<u8, Stop> {
        match self.bytes.get(self.at) {
            Some(byte) if *byte > b' ' => Ok(*byte),
            _ => self.peek_behind_space(),
        }
    }

    fn peek_behind_space(&mut self) -> Result<u8, Stop> {
        let bytes = self.bytes;
        let mut at = self.at;
        while let Some(word) = word_at(bytes, at) {
            let spaces = first_marked(visible(word));
            at += spaces as usize;
            if spaces < 8 {
                break;
            }
        }
        while let Some(byte) = bytes.get(at) {
            if *byte > b' ' {
                self.at = at;
                return Ok(*byte);
            }
            at += 1;
        }
        self.at = at;
        Err(Stop::Incomplete)
    }

    /// Steps over one byte after white space.
    #[inline]
    pub(super) fn expect(&mut self, wanted: u8) -> Result<(), Stop> {
        if self.peek()? == wanted {
            self.at += 1;
            Ok(())
        } else {
            Err(Stop::Damage)
        }
    }

    /// A key with its colon, and its first eight bytes as a word.
    #[inline]
    pub(super) fn key(&mut self) -> Result<(&'a [u8], u64), Stop> {
        self.expect(b'"')?;
        let word = word_at(self.bytes, self.at);
        let key = self.string()?;
        self.expect(b':')?;
        let word = match (word, key.len()) {
            (Some(word), len @ 0..8) => first_bytes(word, len),
            (Some(word), _) => word,
            (None, _) => word_of(key),
        };
        Ok((key, word))
    }

    /// `true` if a value of an object is followed by another key; `false` if its end follows. A comma before the end
    /// is allowed.
    #[inline]
    pub(super) fn goes_on(&mut self) -> Result<bool, Stop> {
        // Layout of Kineto, and a line of its arguments: the cursor is at the key.
        let rest = self.bytes.get(self.at..).ok_or(Stop::Incomplete)?;
        if rest.starts_with(b",\n    \"") {
            self.at += 6;
            return Ok(true);
        }
        if rest.starts_with(b", \"") {
            self.at += 2;
            return Ok(true);
        }
        let mut byte = self.peek()?;
        if byte == b',' {
            self.at += 1;
            byte = self.peek()?;
        } else if byte != b'}' {
            return Err(Stop::Damage);
        }
        let is_end = byte == b'}';
        self.at += usize::from(is_end);
        Ok(!is_end)
    }

    /// Steps over the given bytes; `false` if others follow.
    #[inline]
    pub(super) fn passes<const LEN: usize>(&mut self, literal: &[u8; LEN]) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_there = rest.first_chunk::<LEN>() == Some(literal);
        self.at += if is_there { LEN } else { 0 };
        is_there
    }

    /// Steps over an object whose content is one line, between lines with its braces, and returns that line and the
    /// brace after it. `None`, and no step, for other layouts. No string has a line break, so none is open at the end
    /// of the line. If the line has no brace, the one after it closes the object.
    pub(super) fn line_object(&mut self) -> Result<Option<&'a [u8]>, Stop> {
        let mut behind = *self;
        behind.at += 1;
        behind.peek()?;
        let rest = self.bytes.get(behind.at..).ok_or(Stop::Incomplete)?;
        let near = rest.get(..MAX_LINE_LEN).unwrap_or(rest);
        let Some(len) = memchr3(b'{', b'}', b'\n', near) else {
            return if near.len() < MAX_LINE_LEN {
                Err(Stop::Incomplete)
            } else {
                Ok(None)
            };
        };
        let from = behind.at;
        behind.at += len;
        if rest.get(len) == Some(&b'\n') && behind.peek()? == b'}' {
            self.at = behind.at + 1;
            return Ok(self.bytes.get(from..self.at));
        }
        Ok(None)
    }

    /// The rest of a string after its opening quote. A line break in it is damage: no valid string has one.
    #[inline]
    fn string(&mut self) -> Result<&'a [u8], Stop> {
        let from = self.at;
        if let Some(word) = word_at(self.bytes, from) {
            let end = from + first_marked(ends_of_string(word)) as usize;
            if self.bytes.get(end) == Some(&b'"') {
                self.at = end + 1;
                return self.bytes.get(from..end).ok_or(Stop::Damage);
            }
        }
        self.long_string()
    }

    fn long_string(&mut self) -> Result<&'a [u8], Stop> {
        let from = self.at;
        let mut at = from;
        loop {
            at = end_in_string(self.bytes, at).ok_or(Stop::Incomplete)?;
            match self.bytes.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return self.bytes.get(from..at).ok_or(Stop::Damage);
                }
                Some(b'\\') => at += 2,
                _ => {
                    self.at = at;
                    return Err(Stop::Damage);
                }
            }
        }
    }

    /// Any value.
    pub(super) fn value(&mut self) -> Result<Value<'a>, Stop> {
        let first = self.peek()?;
        let raw = self.raw_value()?;
        Ok(match first {
            b'"' => Value::Text(raw),
            b'{' | b'[' => Value::Nested(raw),
            _ => Value::Token(raw),
        })
    }

    /// The bytes of any value, of strings without quotes.
    #[inline]
    pub(super) fn raw_value(&mut self) -> Result<&'a [u8], Stop> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.string()
            }
            b'{' | b'[' => self.nested(),
            _ => self.token(),
        }
    }

    /// A value that is neither quoted nor in brackets, up to the next `,`, `}` or `]`, without trailing white space.
    #[inline]
    fn token(&mut self) -> Result<&'a [u8], Stop> {
        let bytes = self.bytes;
        let from = self.at;
        let mut at = from;
        // Mostly numbers, which end at the next other character.
        while let Some(word) = word_at(bytes, at) {
            let len = first_marked(beyond_number(word)) as usize;
            at += len;
            if len < 8 {
                break;
            }
        }
        loop {
            match bytes.get(at).ok_or(Stop::Incomplete)? {
                b',' | b'}' | b']' => break,
                b'"' | b'{' | b'[' | b':' => {
                    self.at = at;
                    return Err(Stop::Damage);
                }
                _ => at += 1,
            }
        }
        self.at = at;
        let token = bytes.get(from..at).ok_or(Stop::Damage)?;
        Ok(match token.last() {
            Some(b' ' | b'\n' | b'\r' | b'\t') => token.trim_ascii_end(),
            _ => token,
        })
    }

    /// An object or array; depth is counted.
    fn nested(&mut self) -> Result<&'a [u8], Stop> {
        let bytes = self.bytes;
        let from = self.at;
        let mut depth = 0_usize;
        let mut at = from;
        loop {
            // Single bytes near the end, and if a mark is wrong.
            if let Some(word) = word_at(bytes, at) {
                let plain = first_marked(structural(word)) as usize;
                at += plain;
                if plain == 8 {
                    continue;
                }
            }
            let byte = bytes.get(at).ok_or(Stop::Incomplete)?;
            at += 1;
            match byte {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at = at;
                        return bytes.get(from..at).ok_or(Stop::Damage);
                    }
                }
                b'"' => {
                    self.at = at;
                    self.string()?;
                    at = self.at;
                }
                _ => {}
            }
        }
    }
}

/// Place of the first byte, at or after `at`, that ends a string or escapes the next byte.
fn end_in_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..SHORT_STRING_WORDS {
        let Some(word) = word_at(bytes, at) else {
            break;
        };
        let plain = first_marked(ends_of_string(word)) as usize;
        at += plain;
        if plain < 8 {
            return Some(at);
        }
    }
    let rest = bytes.get(at..)?;
    memchr3(b'"', b'\\', b'\n', rest).map(|len| at + len)
}

/// Nanoseconds of a decimal number of microseconds, to the nearest.
pub(super) fn nanos(text: &[u8]) -> Option<i64> {
    scaled(text, MICROS_TO_NANOS)
}

fn digit(digits: &[u8], at: usize) -> Option<u64> {
    let digit = digits.get(at)?.wrapping_sub(b'0');
    (digit < 10).then_some(digit.into())
}

/// A number.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// An integer without sign, as addresses and identifiers are.
pub(super) fn unsigned(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut value = 0_u64;
    for at in 0..text.len() {
        value = value.checked_mul(10)?.checked_add(digit(text, at)?)?;
    }
    Some(value)
}

/// An integer; of other numbers the integer part.
pub(super) fn signed(text: &[u8]) -> Option<i64> {
    let integer = match text {
        [b'-', digits @ ..] => unsigned(digits).and_then(|value| 0_i64.checked_sub_unsigned(value)),
        digits => unsigned(digits).and_then(|value| i64::try_from(value).ok()),
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value is within the range of an i64"
    )]
    integer.or_else(|| {
        let value = number(text)?;
        (value.abs() < 9.2e18).then_some(value as i64)
    })
}

/// The text of a string; invalid escapes and invalid UTF-8 become U+FFFD.
pub(super) fn unescaped(raw: &[u8]) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', raw) else {
        // The usual case, and faster than a search for invalid parts.
        return match str::from_utf8(raw) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(raw),
        };
    };
    let mut text = Vec::with_capacity(raw.len());
    let mut at = first;
    text.extend_from_slice(raw.get(..first).unwrap_or_default());
    while let Some(&byte) = raw.get(at) {
        at += 1;
        if byte != b'\\' {
            text.push(byte);
            continue;
        }
        let escape = raw.get(at).copied();
        at += 1;
        let character = match escape {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(quoted @ (b'"' | b'\\' | b'/')) => char::from(quoted),
            Some(b'u') => {
                let (character, len) = code_point(raw.get(at..).unwrap_or_default());
                at += len;
                character
            }
            _ => {
                at -= 1;
                char::REPLACEMENT_CHARACTER
            }
        };
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Cow::Owned(match String::from_utf8_lossy(&text) {
        Cow::Owned(lossy) => lossy,
        Cow::Borrowed(text) => text.to_owned(),
    })
}

/// The character of four hexadecimal digits, with another escape if they are the first half of a pair, and the number
/// of bytes that were read.
fn code_point(raw: &[u8]) -> (char, usize) {
    let unit = |from: usize| {
        let digits = raw.get(from..from + 4)?;
        let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let Some(first) = unit(0) else {
        return (char::REPLACEMENT_CHARACTER, 0);
    };
    if (0xd800..0xdc00).contains(&first)
        && raw.get(4..6) == Some(b"\\u")
        && let Some(second @ 0xdc00..0xe000) = unit(6)
        && let Some(character) =
            char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))
    {
        return (character, 10);
    }
    let character = char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER);
    (character, 4)
}
