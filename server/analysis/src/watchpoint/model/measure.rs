//! Quantities that rules compare with limits, with operator and unit for display.

use serde::Serialize;
use trainscope_format::digits::{self, Operator, Unit};
use trainscope_format::float::Float;

use super::key::Key;
use crate::text::{Sentence, Text};

/// A measured quantity and the limit that it exceeded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// Its key in [`values`](super::finding::Hit::values) and [`thresholds`](super::finding::Hit::thresholds).
    pub name: Key,
    /// Measured quantity: `mean |x|`, `gap`, `NaN`.
    pub quantity: Sentence,
    /// The comparison of value and limit that makes a hit.
    pub operator: Operator,
    /// The unit of value and limit.
    pub unit: Unit,
    /// The measured value.
    pub value: Float,
    /// The limit in force for this hit; `None` for counts, where one is a hit.
    pub limit: Option<Float>,
    /// Number of elements that `value` was counted in.
    pub of: Option<u64>,
}

impl Measure {
    pub(crate) fn new(
        name: Key,
        quantity: Text,
        operator: Operator,
        unit: Unit,
        value: f64,
        limit: f64,
    ) -> Self {
        Self {
            name,
            quantity: quantity.into(),
            operator,
            unit,
            value: Float(value),
            limit: Some(Float(limit)),
            of: None,
        }
    }

    /// True if value and limit satisfy the operator; NaN satisfies any.
    pub fn holds(&self) -> bool {
        let Some(Float(limit)) = self.limit else {
            return true;
        };
        self.value.0.is_nan() || self.operator.holds(self.value.0, limit)
    }

    /// The value with its unit: `3e−8`, `48 of 80 NaN`, `×10,000`, without the name of the quantity unless it is a
    /// count.
    pub fn found(&self) -> Sentence {
        let Sentence { en, zh } = &self.quantity;
        let value = self.unit.text(self.value.0);
        match (self.unit, self.of) {
            (Unit::Count, Some(of)) => Sentence {
                en: format!("{value} of {} {en}", digits::count(of)),
                zh: if self.value.0 >= of as f64 {
                    format!("{} 个元素全为 {zh}", digits::count(of))
                } else {
                    format!("{} 个中有 {value} 个 {zh}", digits::count(of))
                },
            },
            (Unit::Count, None) => Sentence {
                en: format!("{value} {en}"),
                zh: format!("{value} {zh}"),
            },
            _ => Sentence {
                en: format!("{en} {value}"),
                zh: format!("{zh} {value}"),
            },
        }
    }

    /// Operator and limit: `< 1e−7`; empty for counts, where one is a hit.
    pub fn threshold(&self) -> String {
        self.limit.map_or_else(String::new, |limit| {
            format!("{} {}", self.operator.sign(), self.unit.text(limit.0))
        })
    }
}
