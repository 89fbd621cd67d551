//! `f64` that survives JSON: a number, or one of the strings `"NaN"`, `"Infinity"`, `"-Infinity"`. In binary formats
//! it is the plain eight bytes.
//!
//! Use it as `#[serde(with = "trainscope_format::float")]`, and the submodules for options and lists.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A number in the wire form of this module; lets lists and options borrow it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Float(pub f64);

impl Serialize for Float {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() || !serializer.is_human_readable() {
            serializer.serialize_f64(self.0)
        } else if self.0.is_nan() {
            serializer.serialize_str("NaN")
        } else if self.0 > 0.0 {
            serializer.serialize_str("Infinity")
        } else {
            serializer.serialize_str("-Infinity")
        }
    }
}

struct FloatVisitor;

impl Visitor<'_> for FloatVisitor {
    type Value = Float;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, \"NaN\", \"Infinity\" or \"-Infinity\"")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Float, E> {
        Ok(Float(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Float, E> {
        Ok(Float(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Float, E> {
        Ok(Float(value as f64))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Float, E> {
        match value {
            "NaN" => Ok(Float(f64::NAN)),
            "Infinity" => Ok(Float(f64::INFINITY)),
            "-Infinity" => Ok(Float(f64::NEG_INFINITY)),
            other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(FloatVisitor)
        } else {
            deserializer.deserialize_f64(FloatVisitor)
        }
    }
}

/// Writes one number.
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Float(*value).serialize(serializer)
}

/// Reads one number.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Float::deserialize(deserializer).map(|f| f.0)
}

/// The same for `Option<f64>`; `None` is `null`.
pub mod option {
    use super::Float;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes a number or `null`.
    pub fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Float).serialize(serializer)
    }

    /// Reads a number or `null`.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Float>::deserialize(deserializer)?.map(|f| f.0))
    }
}

/// The same for `Vec<f64>`.
pub mod list {
    use super::Float;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes a list of numbers.
    pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|v| Float(*v)))
    }

    /// Reads a list of numbers.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<Float>::deserialize(deserializer)?
            .into_iter()
            .map(|f| f.0)
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Float;

    #[test]
    fn every_kind_of_number_survives_json() {
        for value in [
            0.0,
            -0.0,
            1.5,
            f64::MIN_POSITIVE / 2.0,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ] {
            let text = serde_json::to_string(&Float(value)).unwrap();
            let back: Float = serde_json::from_str(&text).unwrap();
            assert!(
                back.0.to_bits() == value.to_bits() || (back.0.is_nan() && value.is_nan()),
                "{value} as {text}"
            );
        }
        assert_eq!(serde_json::to_string(&Float(f64::NAN)).unwrap(), "\"NaN\"");
        assert_eq!(
            serde_json::to_string(&Float(f64::NEG_INFINITY)).unwrap(),
            "\"-Infinity\""
        );
        assert!(serde_json::from_str::<Float>("\"nan\"").is_err());
    }
}
