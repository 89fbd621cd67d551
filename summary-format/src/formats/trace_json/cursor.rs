//! Reading of JSON where it lies: strings, numbers and nested values, each up to its last byte.

use std::borrow::Cow;

use memchr::memchr3;

use crate::formats::decimal::scaled;

/// Words of eight bytes that are compared before a string is searched for its end: most strings are shorter.
const SHORT_STRING_WORDS: usize = 4;

/// Bytes in which the end of a line of arguments is looked for.
const MAX_LINE_LEN: usize = 8 << 10;

/// Roles of bytes outside of strings.
const ROLES: [Role; 256] = roles();

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    None,
    Space,
    Quote,
    Open,
    Close,
    /// Comma or colon.
    Mark,
}

const fn roles() -> [Role; 256] {
    let mut roles = [Role::None; 256];
    roles[b' ' as usize] = Role::Space;
    roles[b'\n' as usize] = Role::Space;
    roles[b'\r' as usize] = Role::Space;
    roles[b'\t' as usize] = Role::Space;
    roles[b'"' as usize] = Role::Quote;
    roles[b'{' as usize] = Role::Open;
    roles[b'[' as usize] = Role::Open;
    roles[b'}' as usize] = Role::Close;
    roles[b']' as usize] = Role::Close;
    roles[b',' as usize] = Role::Mark;
    roles[b':' as usize] = Role::Mark;
    roles
}

/// Power of ten from microseconds to nanoseconds.
const MICROS_TO_NANOS: usize = 3;

/// Reasons why a value has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The bytes end within it.
    Incomplete,
    /// It is no JSON.
    Damage,
}

/// A value as the file has it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    /// A string without its quotes.
    Text(&'a [u8]),
    /// A number, `true`, `null`, or what else is not quoted: `N/A`.
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

    /// The next byte behind white space.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<u8, Stop> {
        let rest = self.bytes.get(self.at..).ok_or(Stop::Incomplete)?;
        for (step, byte) in rest.iter().enumerate() {
            if ROLES[usize::from(*byte)] != Role::Space {
                self.at += step;
                return Ok(*byte);
            }
        }
        self.at = self.bytes.len();
        Err(Stop::Incomplete)
    }

    /// Steps over one byte behind white space.
    #[inline]
    pub(super) fn expect(&mut self, wanted: u8) -> Result<(), Stop> {
        if self.peek()? == wanted {
            self.at += 1;
            Ok(())
        } else {
            Err(Stop::Damage)
        }
    }

    /// A key with its colon.
    #[inline]
    pub(super) fn key(&mut self) -> Result<&'a [u8], Stop> {
        self.expect(b'"')?;
        let key = self.string()?;
        self.expect(b':')?;
        Ok(key)
    }

    /// `true` if a value of an object is followed by another key; `false` if its end follows. A comma before the end
    /// is allowed.
    #[inline]
    pub(super) fn goes_on(&mut self) -> Result<bool, Stop> {
        // Kineto's own layout, and a line of its arguments: the key is where the cursor stops.
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

    /// Steps over an object whose values are not wanted, if its end can be told without reading it: from here no brace
    /// comes before the next line break, and a closing one first behind it. No string holds a line break, so this one
    /// is outside of strings.
    pub(super) fn pass_line(&mut self) -> Result<bool, Stop> {
        let rest = self.bytes.get(self.at + 1..).ok_or(Stop::Incomplete)?;
        let near = rest.get(..MAX_LINE_LEN).unwrap_or(rest);
        let Some(len) = memchr3(b'{', b'}', b'\n', near) else {
            return if near.len() < MAX_LINE_LEN {
                Err(Stop::Incomplete)
            } else {
                Ok(false)
            };
        };
        let mut behind = Self::new(self.bytes, self.at + 1 + len);
        // The arguments themselves are on the line behind the brace.
        if rest.get(..len).unwrap_or_default().trim_ascii().is_empty() {
            behind.peek()?;
            let Some(line) = self.bytes.get(behind.at..) else {
                return Ok(false);
            };
            let near = line.get(..MAX_LINE_LEN).unwrap_or(line);
            match memchr3(b'{', b'}', b'\n', near) {
                Some(len) => behind.at += len,
                None if near.len() < MAX_LINE_LEN => return Err(Stop::Incomplete),
                None => return Ok(false),
            }
        }
        let is_line = self.bytes.get(behind.at) == Some(&b'\n');
        if is_line && behind.peek()? == b'}' {
            self.at = behind.at + 1;
            return Ok(true);
        }
        Ok(false)
    }

    /// A string from behind its opening quote. A line break within is damage: no valid string has one.
    #[inline]
    fn string(&mut self) -> Result<&'a [u8], Stop> {
        let from = self.at;
        let mut at = from;
        loop {
            let rest = self.bytes.get(at..).ok_or(Stop::Incomplete)?;
            at += end_in_string(rest).ok_or(Stop::Incomplete)?;
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

    /// Whatever is neither quoted nor in brackets, up to the next `,`, `}` or `]`, without white space behind.
    #[inline]
    fn token(&mut self) -> Result<&'a [u8], Stop> {
        let rest = self.bytes.get(self.at..).ok_or(Stop::Incomplete)?;
        let is_end = |byte: &u8| !matches!(ROLES[usize::from(*byte)], Role::None | Role::Space);
        let len = rest.iter().position(is_end).ok_or(Stop::Incomplete)?;
        let (token, rest) = rest.split_at(len);
        self.at += len;
        match rest.first() {
            Some(b',' | b'}' | b']') => Ok(token.trim_ascii_end()),
            _ => Err(Stop::Damage),
        }
    }

    /// An object or array; depth is counted.
    fn nested(&mut self) -> Result<&'a [u8], Stop> {
        let bytes = self.bytes;
        let from = self.at;
        let mut depth = 0_usize;
        let mut at = from;
        while let Some(byte) = bytes.get(at) {
            at += 1;
            match ROLES[usize::from(*byte)] {
                Role::None | Role::Space | Role::Mark => {}
                Role::Open => depth += 1,
                Role::Close => {
                    depth -= 1;
                    if depth == 0 {
                        self.at = at;
                        return bytes.get(from..at).ok_or(Stop::Damage);
                    }
                }
                Role::Quote => {
                    self.at = at;
                    self.string()?;
                    at = self.at;
                }
            }
        }
        Err(Stop::Incomplete)
    }
}

/// Number of bytes before the first one that ends a string or escapes the next byte.
#[inline]
fn end_in_string(mut rest: &[u8]) -> Option<usize> {
    let mut before = 0;
    for _ in 0..SHORT_STRING_WORDS {
        let Some((word, behind)) = rest.split_first_chunk::<8>() else {
            break;
        };
        let word = u64::from_le_bytes(*word);
        let ends = bytes_equal(word, b'"') | bytes_equal(word, b'\\') | bytes_equal(word, b'\n');
        if ends != 0 {
            return Some(before + ends.trailing_zeros() as usize / 8);
        }
        before += 8;
        rest = behind;
    }
    memchr3(b'"', b'\\', b'\n', rest).map(|at| before + at)
}

/// The highest bit of the lowest byte that equals `wanted`, and of others above it perhaps; 0 without one.
#[inline]
const fn bytes_equal(word: u64, wanted: u8) -> u64 {
    const LOW: u64 = u64::from_le_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let zero_if_equal = word ^ (LOW * wanted as u64);
    zero_if_equal.wrapping_sub(LOW) & !zero_if_equal & HIGH
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

/// The text of a string; what is no valid escape or no UTF-8 becomes U+FFFD.
pub(super) fn unescaped(raw: &[u8]) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', raw) else {
        // The usual case, and faster than looking for what is not valid.
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
