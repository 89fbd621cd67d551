//! One element of a tensor in JSON, without loss of precision.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use trainscope_format::float::Float;

/// A number, `"NaN"`, `"Infinity"`, `"-Infinity"`, or the digits of an integer beyond 2^53, which many JSON readers
/// would round.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// A value that an `f64` represents exactly; booleans are 0 and 1.
    Number(f64),
    /// The digits of any other integer.
    Digits(String),
}

impl Element {
    /// The nearest `f64`.
    pub fn number(&self) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Digits(digits) => digits
                .parse::<i128>()
                .map_or(f64::NAN, |whole| whole as f64),
        }
    }
}

impl From<i64> for Element {
    fn from(integer: i64) -> Self {
        if integer.unsigned_abs() > 1 << 53 {
            Self::Digits(integer.to_string())
        } else {
            Self::Number(integer as f64)
        }
    }
}

impl From<u64> for Element {
    fn from(integer: u64) -> Self {
        if integer > 1 << 53 {
            Self::Digits(integer.to_string())
        } else {
            Self::Number(integer as f64)
        }
    }
}

impl Serialize for Element {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => Float(*number).serialize(serializer),
            Self::Digits(digits) => serializer.serialize_str(digits),
        }
    }
}

struct ElementVisitor;

impl Visitor<'_> for ElementVisitor {
    type Value = Element;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, \"NaN\", \"Infinity\", \"-Infinity\" or digits")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Element, E> {
        Ok(Element::Number(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Element, E> {
        Ok(Element::Number(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Element, E> {
        Ok(Element::Number(value as f64))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Element, E> {
        Ok(match value {
            "NaN" => Element::Number(f64::NAN),
            "Infinity" => Element::Number(f64::INFINITY),
            "-Infinity" => Element::Number(f64::NEG_INFINITY),
            digits => Element::Digits(digits.to_owned()),
        })
    }
}

impl<'de> Deserialize<'de> for Element {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ElementVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::Element;

    #[test]
    fn every_element_survives_json() {
        let beyond = i64::MAX;
        for (element, json) in [
            (Element::Number(0.5), "0.5"),
            (Element::Number(f64::INFINITY), "\"Infinity\""),
            (Element::Number(f64::NEG_INFINITY), "\"-Infinity\""),
            (Element::from(1_i64 << 53), "9007199254740992.0"),
            (Element::from((1_i64 << 53) + 1), "\"9007199254740993\""),
            (Element::from(-beyond), "\"-9223372036854775807\""),
            (Element::from(u64::MAX), "\"18446744073709551615\""),
        ] {
            assert_eq!(serde_json::to_string(&element).unwrap(), json);
            assert_eq!(serde_json::from_str::<Element>(json).unwrap(), element);
        }
        let nan: Element = serde_json::from_str("\"NaN\"").unwrap();
        assert!(nan.number().is_nan());
    }
}
