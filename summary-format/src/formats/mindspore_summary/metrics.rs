//! Numbers in the metrics of an evaluation, which are JSON text.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

const SPECIAL: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// The numbers of a JSON object, in order. Python writes `NaN`, `Infinity` and `-Infinity`, which are not JSON; they
/// are accepted, and so are numbers in quotes. Other values, and anything but an object, are skipped.
pub(super) fn numbers(json: &str) -> Vec<(String, f64)> {
    let quoted = quote_special_numbers(json);
    serde_json::from_str::<Numbers>(&quoted).map_or_else(|_| Vec::new(), |numbers| numbers.0)
}

/// Quotes `NaN`, `Infinity` and `-Infinity` outside of strings.
fn quote_special_numbers(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find(['"', 'N', 'I', '-']) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let word = SPECIAL.into_iter().find(|word| found.starts_with(word));
        let len = if let Some(word) = word {
            out.extend(["\"", word, "\""]);
            word.len()
        } else {
            let len = if found.starts_with('"') {
                text_len(found)
            } else {
                1
            };
            out.push_str(&found[..len]);
            len
        };
        rest = &found[len..];
    }
    out.push_str(rest);
    out
}

/// Length of the string literal at the beginning, both quotation marks included.
fn text_len(json: &str) -> usize {
    let mut is_escaped = false;
    for (index, byte) in json.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    json.len()
}

struct Numbers(Vec<(String, f64)>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NumbersVisitor)
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of numbers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Numbers, A::Error> {
        let mut numbers = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Metric>()? {
            let number = match value {
                Metric::Number(number) => Some(number),
                Metric::Text(text) => text.trim().parse().ok(),
                Metric::Other(_) => None,
            };
            numbers.extend(number.map(|number| (name, number)));
        }
        Ok(Numbers(numbers))
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Metric {
    Number(f64),
    Text(String),
    Other(IgnoredAny),
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn numbers_of_an_object_in_its_order() {
        let seen = numbers(
            r#"{"z": 1, "Accuracy": NaN, "a\"NaN": -Infinity, "loss": [1, NaN], "f1": "0.5", "-": -2.5e-1, "n": null}"#,
        );
        assert!(seen[1].1.is_nan());
        let seen: Vec<_> = seen
            .into_iter()
            .filter(|(_, number)| !number.is_nan())
            .collect();
        assert_eq!(
            seen,
            [
                ("z".into(), 1.0),
                ("a\"NaN".into(), f64::NEG_INFINITY),
                ("f1".into(), 0.5),
                ("-".into(), -0.25),
            ]
        );
    }

    #[test]
    fn what_is_no_object_has_none() {
        for json in [
            "",
            "NaN",
            "[1]",
            "{\"a\": 1",
            "\"",
            "{\"a\": \"\\",
            "\u{e9}-",
        ] {
            assert_eq!(numbers(json), [], "{json}");
        }
    }
}
