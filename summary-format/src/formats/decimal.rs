//! Decimal numbers as integers of a smaller unit, digit by digit: an `f64` has 53 bits, times since 1970 in
//! nanoseconds need 61.

/// Most digits behind the point that are moved before it: milliseconds to nanoseconds take 6.
const MAX_DECIMALS: usize = 18;

/// A decimal number times ten to the power of `decimals`, rounded to the nearest integer, halves away from zero.
/// `None` for other text, and for results beyond an `i64`. Numbers with an exponent pass through an `f64`.
pub(crate) fn scaled(text: &[u8], decimals: usize) -> Option<i64> {
    let (is_negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    if decimals > MAX_DECIMALS {
        return None;
    }
    let mut value = 0_i64;
    let mut has_digit = false;
    // Digits behind the point that still belong before it.
    let mut missing = decimals;
    let mut is_fraction = false;
    let mut is_half = None;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            if *byte == b'.' && !is_fraction {
                is_fraction = true;
                continue;
            }
            return with_exponent(text, decimals);
        }
        has_digit = true;
        if is_fraction {
            if missing == 0 {
                is_half.get_or_insert(digit >= 5);
                continue;
            }
            missing -= 1;
        }
        value = value.checked_mul(10)?.checked_add(digit.into())?;
    }
    if !has_digit {
        return None;
    }
    for _ in 0..missing {
        value = value.checked_mul(10)?;
    }
    value = value.checked_add(is_half.unwrap_or(false).into())?;
    Some(if is_negative { -value } else { value })
}

fn with_exponent(text: &[u8], decimals: usize) -> Option<i64> {
    /// Doubles of this size and more are beyond an `i64`.
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
