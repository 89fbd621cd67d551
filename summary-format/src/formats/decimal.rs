//! Decimal numbers as integers of a smaller unit, digit by digit: an `f64` has 53 bits, times since 1970 in
//! nanoseconds need 61.

/// Maximum number of digits of a scaled number; an `i64` has 19.
const MAX_DIGITS: usize = 38;

/// A decimal number times ten to the power of `decimals`, rounded to the nearest integer, halves away from zero.
/// `None` for other text, and for results beyond an `i64`. Numbers with an exponent pass through an `f64`.
pub(crate) fn scaled(text: &[u8], decimals: usize) -> Option<i64> {
    let (is_negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let (mut value, whole_len) = leading_digits(0, digits, MAX_DIGITS);
    if whole_len + decimals > MAX_DIGITS {
        return None;
    }
    let mut rest = digits.get(whole_len..)?;
    let mut fraction_len = 0;
    if let Some((b'.', fraction)) = rest.split_first() {
        (value, fraction_len) = leading_digits(value, fraction, decimals);
        rest = fraction.get(fraction_len..)?;
    }
    if whole_len + fraction_len == 0 {
        return None;
    }
    for _ in fraction_len..decimals {
        value *= 10;
    }
    if let Some(next) = rest.first() {
        // Remaining digits, all after the decimal point.
        if !rest.iter().all(u8::is_ascii_digit) {
            return with_exponent(text, decimals);
        }
        value += u128::from(*next >= b'5');
    }
    let value = i64::try_from(value).ok()?;
    Some(if is_negative { -value } else { value })
}

/// Appends up to `max` leading digits of a text to a number; returns the number and how many digits it took.
fn leading_digits(mut value: u128, text: &[u8], max: usize) -> (u128, usize) {
    let mut len = 0;
    for byte in text.iter().take(max) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value * 10 + u128::from(digit);
        len += 1;
    }
    (value, len)
}

fn with_exponent(text: &[u8], decimals: usize) -> Option<i64> {
    /// 2^63: doubles of at least this size do not fit into an `i64`.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let is_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    if !text.iter().all(is_number) {
        return None;
    }
    let number: f64 = str::from_utf8(text).ok()?.parse().ok()?;
    let power = i32::try_from(decimals).ok()?;
    let value = (number * 10_f64.powi(power)).round();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole numbers within the range of an i64"
    )]
    (value.abs() < LIMIT).then_some(value as i64)
}

#[cfg(test)]
mod tests {
    use super::scaled;

    #[test]
    fn digits_are_kept_and_the_rest_is_rounded() {
        for (text, decimals, value) in [
            ("0.015703", 6, Some(15_703)),
            ("3.9931", 6, Some(3_993_100)),
            ("35.266999999999996", 3, Some(35_267)),
            ("1795213065592204.8225", 3, Some(1_795_213_065_592_204_823)),
            ("1.33966e-05", 6, Some(13)),
            ("-2.5", 0, Some(-3)),
            ("7", 3, Some(7_000)),
            (".5", 1, Some(5)),
            ("5.", 1, Some(50)),
            ("9223372036854775807", 0, Some(i64::MAX)),
            ("9223372036854775808", 0, None),
            (
                "12345678901234567890123e-10",
                3,
                Some(1_234_567_890_123_457),
            ),
            ("1.2.3", 3, None),
            ("1.2.3", 1, None),
            (
                "0.12345678901234567890123456789012345678901234567890",
                3,
                Some(123),
            ),
            ("99999999999999999999999999999999999999999", 0, None),
            ("99999999999999999999999999999999999999.999", 3, None),
            ("99999999999999999999999999999999999.999", 3, None),
            ("1x", 0, None),
            ("+4", 0, Some(4)),
            ("-.05", 1, Some(-1)),
            ("1e300", 0, None),
            ("N/A", 3, None),
            ("nan", 3, None),
            ("inf", 3, None),
            (".", 3, None),
            ("-", 3, None),
            ("", 3, None),
        ] {
            assert_eq!(scaled(text.as_bytes(), decimals), value, "{text}");
        }
    }
}
