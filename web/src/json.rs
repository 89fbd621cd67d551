//! JSON that the page writes, and numbers that people type: with the tables for floating-point numbers that are there
//! anyway, as the compressed page would be larger by 20 kB with a second set of each.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// A value as JSON; the error is that of a type that JSON has no word for.
pub fn to_string(value: &impl Serialize) -> serde_json::Result<String> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, Plain))?;
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

/// The number that a text is: as in JSON, and without digits on one side of the point, or with a plus before it. None
/// if it is something else, or not finite.
pub fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let spelled = format!("{sign}{whole}{point}{fraction}{exponent}");
    serde_json::from_slice(spelled.as_bytes()).ok()
}

/// The shortest digits that are read as the same number.
struct Plain;

impl Formatter for Plain {
    fn write_f32<W: ?Sized + Write>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        write!(writer, "{value:?}")
    }

    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        write!(writer, "{value:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::{number, to_string};

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for value in [
            0.0_f64,
            -0.0,
            0.1,
            1e-308,
            5e-324,
            1e308,
            1e16,
            123_456.789,
            -3.0,
        ] {
            let json = to_string(&value).unwrap();
            let read: f64 = serde_json::from_str(&json).unwrap();
            assert_eq!(read.to_bits(), value.to_bits(), "{json}");
        }
        assert_eq!(to_string(&f64::NAN).unwrap(), "null");
        assert_eq!(
            to_string(&("a\"b", 0.5_f32, 7)).unwrap(),
            r#"["a\"b",0.5,7]"#
        );
    }

    #[test]
    fn numbers_are_read_as_people_type_them() {
        for (text, value) in [
            ("5", 5.0),
            (" .5 ", 0.5),
            ("-.5", -0.5),
            ("+5.", 5.0),
            ("007", 7.0),
            ("1e-3", 1e-3),
            ("1.5E+3", 1500.0),
            ("-0", 0.0),
            ("0.1", 0.1),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        for text in [
            "", ".", "-", "e5", "1e", "0x10", "1 2", "NaN", "inf", "1e999", "--1", "1.2.3",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
