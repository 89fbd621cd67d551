//! Terms of a filter of runs: words, and `key:value`. All terms must match; a leading `-` negates one, and `|` separates
//! alternatives.
//!
//! Values are compared case-insensitively; `*` matches any characters, and double quotes protect spaces and `|`.
//! A text needs to contain the value, or with `=` before it to be the value: `optimizer:=adam` is not `adamw`.
//! Numbers may have a sign before them, `lr:>0.01`, or be a range that includes both ends, `lr:1e-4..1e-2`.

use std::cmp::Ordering;

/// Names of the learning rate, which are one key.
pub const RATE_NAMES: [&str; 5] = [
    "lr",
    "learning_rate",
    "base_lr",
    "initial_lr",
    "learningrate",
];

/// Alternatives, of which one must hold, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// `true` if none may hold.
    pub is_negated: bool,
    /// Key in lower case; `None` for words.
    pub key: Option<String>,
    /// Values in lower case, without quotes.
    pub any: Vec<String>,
}

/// Comparison with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
    Exactly,
}

/// Terms of a text.
pub fn terms(text: &str) -> Vec<Term> {
    words(text).iter().map(|word| term(word)).collect()
}

/// Splits at spaces outside of double quotes; the quotes stay.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for character in text.chars() {
        if character == '"' {
            quoted = !quoted;
        }
        if character.is_whitespace() && !quoted {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
        } else {
            word.push(character);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Term of a word.
pub fn term(word: &str) -> Term {
    let (is_negated, word) = match word.strip_prefix('-') {
        Some(rest) if !rest.is_empty() => (true, rest),
        _ => (false, word),
    };
    let keyed = split_key(word).filter(|(key, value)| {
        let is_steps = |one: &str| one == "none" || interval(one).is_some();
        let is_number = *key != "steps" || value.split('|').all(is_steps);
        !key.is_empty() && !value.is_empty() && is_number
    });
    let (key, value) = keyed.map_or((None, word), |(key, value)| {
        (Some(key.to_lowercase()), value)
    });
    let plain = |text: &str| text.replace('"', "").to_lowercase();
    let alternatives = || {
        let parts = value.split('|').map(plain).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>()
    };
    let any = if value.contains('"') {
        vec![plain(value)]
    } else {
        alternatives()
    };
    Term {
        is_negated,
        key,
        // A lone `|` is a word.
        any: if any.is_empty() {
            vec![plain(value)]
        } else {
            any
        },
    }
}

/// Key and value: of a column of the table of runs (`metric:loss:<0.1`, `run:status:live`) the last colon divides.
fn split_key(word: &str) -> Option<(&str, &str)> {
    const GROUPS: [&str; 6] = ["metric:", "run:", "eval:", "data:", "lineage:", "user:"];
    let lower = word.to_lowercase();
    let is_column = GROUPS.iter().any(|group| lower.starts_with(group));
    let of_column = word
        .rsplit_once(':')
        .filter(|(key, _)| is_column && key.contains(':'));
    of_column.or_else(|| word.split_once(':'))
}

/// Interval of a comparison: `>0.1`, `<=3`, `1e-4..1e-2`, `5`; its ends with a mark of those that belong to it.
fn interval(value: &str) -> Option<((f64, bool), (f64, bool))> {
    if let Some((from, to)) = value.split_once("..") {
        let from = if from.is_empty() {
            f64::NEG_INFINITY
        } else {
            number(from)?
        };
        let to = if to.is_empty() {
            f64::INFINITY
        } else {
            number(to)?
        };
        return Some(((from, true), (to, true)));
    }
    let (comparison, text) = comparison(value);
    let number = number(&text)?;
    let (least, most) = ((f64::NEG_INFINITY, true), (f64::INFINITY, true));
    Some(match comparison {
        Comparison::Above => ((number, false), most),
        Comparison::AtLeast => ((number, true), most),
        Comparison::Below => (least, (number, false)),
        Comparison::AtMost => (least, (number, true)),
        Comparison::Exactly => ((number, true), (number, true)),
    })
}

fn number(text: &str) -> Option<f64> {
    let number = text.replace([',', '_'], "").trim().parse().ok();
    number.filter(|number: &f64| number.is_finite())
}

/// A sign and the text after it, without separators of thousands.
fn comparison(value: &str) -> (Comparison, String) {
    let signs = [
        (">=", Comparison::AtLeast),
        ("<=", Comparison::AtMost),
        (">", Comparison::Above),
        ("<", Comparison::Below),
        ("=", Comparison::Exactly),
    ];
    let signed = signs
        .iter()
        .find_map(|(sign, how)| Some((*how, value.strip_prefix(sign)?)));
    let (how, number) = signed.unwrap_or((Comparison::Exactly, value));
    (how, number.replace([',', '_'], ""))
}

/// Relative distance beyond which two numbers have different texts: lists show at least three digits.
const SAME_TEXT: f64 = 0.02;

/// `true` if a value is the NaN or the infinity that a text names.
pub fn is_class(value: f64, text: &str) -> bool {
    match text {
        "nan" => value.is_nan(),
        "inf" | "+inf" | "infinity" => value == f64::INFINITY,
        "-inf" | "−inf" | "-infinity" => value == f64::NEG_INFINITY,
        _ => false,
    }
}

/// `true` if a number is in an interval, or is the NaN or infinity that a text names. Numbers of one text are equal:
/// `text` gives that of the list.
pub fn is_number(own: f64, wanted: &str, text: &dyn Fn(f64) -> String) -> bool {
    let (how, named) = comparison(wanted);
    if is_class(own, &named) {
        return how == Comparison::Exactly;
    }
    let Some(((from, from_belongs), (to, to_belongs))) = interval(wanted) else {
        return false;
    };
    let order = |end: f64| {
        let is_near = end.is_finite() && (own - end).abs() <= SAME_TEXT * own.abs().max(end.abs());
        if is_near && text(own) == text(end) {
            Some(Ordering::Equal)
        } else {
            own.partial_cmp(&end)
        }
    };
    let is_above = order(from).is_some_and(|own| own.is_gt() || (from_belongs && own.is_eq()));
    let is_below = order(to).is_some_and(|own| own.is_lt() || (to_belongs && own.is_eq()));
    is_above && is_below
}

/// `true` if a text has a part in any case; `*` matches any characters.
pub fn contains(text: &str, wanted: &str) -> bool {
    if wanted.contains('*') {
        like(&text.to_lowercase(), &format!("*{wanted}*"))
    } else if text.is_ascii() {
        // Without a copy: thousands of names are searched at each key.
        let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
        let mut parts = text.windows(wanted.len().max(1));
        wanted.is_empty() || parts.any(|part| part.eq_ignore_ascii_case(wanted))
    } else {
        text.to_lowercase().contains(wanted)
    }
}

/// `true` if a text has a part, or after a `=` is the whole of it, in any case.
pub fn is_text(text: &str, wanted: &str) -> bool {
    match wanted.strip_prefix('=') {
        Some(whole) => like(&text.to_lowercase(), whole),
        None => contains(text, wanted),
    }
}

/// `true` if a truth value has the name, also after a `=`.
pub fn is_truth(yes: bool, wanted: &str) -> bool {
    let name = if yes { "true" } else { "false" };
    like(name, wanted.strip_prefix('=').unwrap_or(wanted))
}

/// `true` if all of `text` matches `pattern`, where `*` matches any characters.
pub fn like(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    if !pattern.contains('*') {
        return rest.is_empty();
    }
    let mut parts: Vec<_> = parts.collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(own: f64, wanted: &str) -> bool {
        is_number(own, wanted, &|number| number.to_string())
    }

    #[test]
    fn numbers_are_compared_by_signs_and_ranges() {
        for wanted in [
            ">0.01",
            ">=0.05",
            "=0.05",
            "0.05",
            "<1",
            "<=0.05",
            "1e-2..1e-1",
            "..0.05",
            "0.05..",
        ] {
            assert!(holds(0.05, wanted), "{wanted}");
        }
        for wanted in [">0.05", "<0.05", "0.06..1", "..0.01", "nan", "x", ""] {
            assert!(!holds(0.05, wanted), "{wanted}");
        }
        assert!(holds(f64::NAN, "nan") && !holds(f64::NAN, ">0") && !holds(f64::NAN, ">nan"));
        assert!(holds(f64::NEG_INFINITY, "-inf") && holds(f64::INFINITY, ">5"));
        assert!(holds(12_000.0, "12,000"));
    }

    #[test]
    fn an_equals_sign_wants_the_whole_text() {
        assert!(is_text("AdamW", "adam") && is_text("Adam", "=adam"));
        assert!(!is_text("AdamW", "=adam") && is_text("AdamW", "=adam*"));
        assert!(is_text("=a", "==a") && !is_text("a", "="));
        assert!(is_truth(true, "=true") && is_truth(false, "f*") && !is_truth(false, "true"));
    }

    #[test]
    fn columns_with_a_group_are_keys() {
        let own = term("-metric:train/loss:<0.1");
        assert_eq!(
            (own.is_negated, own.key.as_deref()),
            (true, Some("metric:train/loss"))
        );
        assert_eq!(own.any, ["<0.1"]);
        assert_eq!(term("run:status:live").key.as_deref(), Some("run:status"));
        assert_eq!(term("opt:adam|sgd").any, ["adam", "sgd"]);
        assert_eq!(term("\"two words\"").any, ["two words"]);
        assert_eq!(term("metric:0.5").key.as_deref(), Some("metric"));
        assert_eq!(term("steps:many").key, None);
    }
}
