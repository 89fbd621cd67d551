//! Numbers that people type, read by the reader of JSON: a second one, with its tables, would make the compressed page
//! larger by 12 kB.

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

#[cfg(test)]
mod tests {
    use super::number;

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
