//! Reading of JSON where it lies: strings, numbers and nested values, each up to its last byte.

use std::borrow::Cow;

use memchr::memchr3;

/// Bytes that are compared one by one before a string is searched for its end: most are shorter.
const SHORT_STRING_LEN: usize = 16;

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
    pub(super) fn peek(&mut self) -> Result<u8, Stop> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Ok(byte);
            }
            self.at += 1;
        }
        Err(Stop::Incomplete)
    }

    /// Steps over one byte behind white space.
    pub(super) fn expect(&mut self, wanted: u8) -> Result<(), Stop> {
        if self.peek()? == wanted {
            self.at += 1;
            Ok(())
        } else {
            Err(Stop::Damage)
        }
    }

    /// A key with its colon.
    pub(super) fn key(&mut self) -> Result<&'a [u8], Stop> {
        self.expect(b'"')?;
        let key = self.string()?;
        self.expect(b':')?;
        Ok(key)
    }

    /// `true` if a value of an object or array is followed by another one; `false` if `end` follows. A comma before
    /// the end is allowed.
    pub(super) fn goes_on(&mut self, end: u8) -> Result<bool, Stop> {
        let mut byte = self.peek()?;
        if byte == b',' {
            self.at += 1;
            byte = self.peek()?;
        } else if byte != end {
            return Err(Stop::Damage);
        }
        let is_end = byte == end;
        self.at += usize::from(is_end);
        Ok(!is_end)
    }

    /// A string from behind its opening quote. A line break within is damage: no valid string has one.
    fn string(&mut self) -> Result<&'a [u8], Stop> {
        let from = self.at;
        let mut at = from;
        loop {
            let rest = self.bytes.get(at..).ok_or(Stop::Incomplete)?;
            let short = rest
                .iter()
                .take(SHORT_STRING_LEN)
                .position(|byte| matches!(byte, b'"' | b'\\' | b'\n'));
            let step = match short {
                Some(step) => step,
                None => memchr3(b'"', b'\\', b'\n', rest).ok_or(Stop::Incomplete)?,
            };
            at += step;
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
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.string().map(Value::Text)
            }
            b'{' | b'[' => self.nested().map(Value::Nested),
            _ => self.token().map(Value::Token),
        }
    }

    /// Whatever is neither quoted nor in brackets, up to the next `,`, `}` or `]`, without white space behind.
    fn token(&mut self) -> Result<&'a [u8], Stop> {
        let from = self.at;
        loop {
            match self.bytes.get(self.at).ok_or(Stop::Incomplete)? {
                b',' | b'}' | b']' => break,
                b'"' | b'{' | b'[' | b':' => return Err(Stop::Damage),
                _ => self.at += 1,
            }
        }
        let token = self.bytes.get(from..self.at).unwrap_or_default();
        Ok(token.trim_ascii_end())
    }

    /// An object or array; depth is counted.
    fn nested(&mut self) -> Result<&'a [u8], Stop> {
        let from = self.at;
        let mut depth = 0_usize;
        loop {
            let byte = *self.bytes.get(self.at).ok_or(Stop::Incomplete)?;
            self.at += 1;
            match byte {
                b'"' => drop(self.string()?),
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        return self.bytes.get(from..self.at).ok_or(Stop::Damage);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Nanoseconds of a decimal number of microseconds, to the nearest, halves to the even one. Only numbers with an
/// exponent go through an `f64`.
pub(super) fn nanos(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let mut value = 0_u64;
    let mut at = 0;
    while let Some(digit) = digit(digits, at) {
        value = value.checked_mul(10)?.checked_add(digit)?;
        at += 1;
    }
    let mut any_digit = at > 0;
    let mut decimals = 0;
    let mut half = std::cmp::Ordering::Less;
    if digits.get(at) == Some(&b'.') {
        at += 1;
        while let Some(digit) = digit(digits, at) {
            match decimals {
                0..3 => value = value.checked_mul(10)?.checked_add(digit)?,
                3 => half = digit.cmp(&5),
                _ if digit > 0 && half.is_eq() => half = std::cmp::Ordering::Greater,
                _ => {}
            }
            decimals += 1;
            at += 1;
        }
        any_digit |= decimals > 0;
    }
    if !any_digit {
        return None;
    }
    if matches!(digits.get(at), Some(b'e' | b'E')) {
        return exponential_nanos(text);
    }
    if at < digits.len() {
        return None;
    }
    for _ in decimals..3 {
        value = value.checked_mul(10)?;
    }
    if half.is_gt() || half.is_eq() && value % 2 == 1 {
        value = value.checked_add(1)?;
    }
    let value = i64::try_from(value).ok()?;
    Some(if is_negative { -value } else { value })
}

fn exponential_nanos(text: &[u8]) -> Option<i64> {
    let nanos = (number(text)? * 1e3).round();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value is within the range of an i64"
    )]
    (nanos.abs() < 9.2e18).then_some(nanos as i64)
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
        return String::from_utf8_lossy(raw);
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
