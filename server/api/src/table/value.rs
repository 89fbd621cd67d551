//! Value of a run in a column.

#![expect(clippy::float_cmp, reason = "equal means equal to the bit")]

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use trainscope_format::csv;
use trainscope_format::float::Float;

/// Value of a run in a column. In JSON `null`, a number, `"NaN"`, `"Infinity"`, `"-Infinity"`, a text, `true` or `false`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum CellValue {
    /// No value, or the words `None` and `null`.
    #[default]
    Missing,
    /// A number; NaN and infinities too.
    Number(f64),
    /// A text.
    Text(String),
    /// A truth value.
    Truth(bool),
}

impl CellValue {
    /// Value of a text: the words for no value are none.
    pub fn of_text(text: &str) -> Self {
        match text {
            "" | "None" | "null" => Self::Missing,
            _ => Self::Text(text.to_owned()),
        }
    }

    /// A number; if it is an `f32` that was widened, the shortest decimal that reads back as that `f32`: 0.005 and not
    /// 0.004999999888241291.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "single precision is wanted"
    )]
    pub fn of_single(value: f64) -> Self {
        let single = value as f32;
        let shortest = single.to_string().parse();
        Self::Number(
            shortest
                .ok()
                .filter(|_| f64::from(single) == value)
                .unwrap_or(value),
        )
    }

    /// The number.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Text in tables that reads back exactly: whole numbers have no fraction, and no value is no text.
    pub fn text(&self) -> String {
        match self {
            Self::Missing => String::new(),
            Self::Number(number) => {
                let text = csv::number(*number);
                text.strip_suffix(".0").unwrap_or(&text).to_owned()
            }
            Self::Text(text) => text.clone(),
            Self::Truth(yes) => yes.to_string(),
        }
    }

    /// `true` without a value.
    pub fn is_missing(&self) -> bool {
        *self == Self::Missing
    }

    /// `true` if two values mean the same: numbers of which one is the other in single precision do.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "single precision is wanted"
    )]
    pub fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => {
                a == b
                    || (a.is_nan() && b.is_nan())
                    || f64::from(*a as f32) == *b
                    || f64::from(*b as f32) == *a
            }
            _ => self == other,
        }
    }
}

impl Serialize for CellValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing => serializer.serialize_unit(),
            Self::Number(number) => Float(*number).serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Truth(yes) => serializer.serialize_bool(*yes),
        }
    }
}

impl<'de> Deserialize<'de> for CellValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl Visitor<'_> for CellVisitor {
    type Value = CellValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a number, a text, true or false")
    }

    fn visit_unit<E: Error>(self) -> Result<CellValue, E> {
        Ok(CellValue::Missing)
    }

    fn visit_bool<E: Error>(self, yes: bool) -> Result<CellValue, E> {
        Ok(CellValue::Truth(yes))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<CellValue, E> {
        Ok(CellValue::Number(number as f64))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<CellValue, E> {
        Ok(CellValue::Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<CellValue, E> {
        Ok(CellValue::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<CellValue, E> {
        Ok(match text {
            "NaN" => CellValue::Number(f64::NAN),
            "Infinity" => CellValue::Number(f64::INFINITY),
            "-Infinity" => CellValue::Number(f64::NEG_INFINITY),
            text => CellValue::Text(text.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::CellValue;

    #[test]
    fn every_value_survives_json() {
        for (value, json) in [
            (CellValue::Missing, "null"),
            (CellValue::Number(0.005), "0.005"),
            (CellValue::Number(f64::INFINITY), "\"Infinity\""),
            (CellValue::Number(f64::NEG_INFINITY), "\"-Infinity\""),
            (CellValue::Text("<b>adam".to_owned()), "\"<b>adam\""),
            (CellValue::Truth(true), "true"),
        ] {
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
            assert_eq!(serde_json::from_str::<CellValue>(json).unwrap(), value);
        }
        let nan: CellValue = serde_json::from_str("\"NaN\"").unwrap();
        assert!(nan.number().is_some_and(f64::is_nan));
        let whole: CellValue = serde_json::from_str("8").unwrap();
        assert_eq!(whole, CellValue::Number(8.0));
    }

    #[test]
    fn texts_of_numbers_read_back_and_whole_ones_have_no_fraction() {
        for (number, text) in [
            (8.0, "8"),
            (-0.5, "-0.5"),
            (0.00005, "5e-5"),
            (1e300, "1e300"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(CellValue::Number(number).text(), text);
        }
    }
}
