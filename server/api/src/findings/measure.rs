//! Quantities that rules compare with limits, with operator and unit for display.

use serde::{Deserialize, Serialize};
use trainscope_format::digits::{Operator, Unit, count};
use trainscope_format::float::Float;

use crate::Sentence;

/// A measured quantity and the limit that it exceeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Measure {
    /// Its key in `values` and `thresholds`.
    pub name: String,
    /// Measured quantity.
    pub quantity: Sentence,
    /// The comparison of value and limit that makes a hit.
    pub operator: Operator,
    /// The unit of value and limit.
    pub unit: Unit,
    /// The measured value.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::Float))]
    pub value: Float,
    /// The limit in force; `null` for counts of which a single one is a hit.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::Float>))]
    pub limit: Option<Float>,
    /// Number of elements that `value` was counted in.
    pub of: Option<u64>,
    /// Quantity and value as text: `mean |x| 3e−8`, `48 of 80 NaN`.
    pub found: Sentence,
    /// Operator and limit as text: `< 1e−7`.
    pub threshold: String,
}

impl Measure {
    /// A quantity with its texts.
    pub fn new(
        name: impl Into<String>,
        quantity: Sentence,
        (operator, unit): (Operator, Unit),
        value: f64,
        limit: Option<f64>,
        of: Option<u64>,
    ) -> Self {
        Self {
            name: name.into(),
            operator,
            unit,
            value: Float(value),
            limit: limit.map(Float),
            of,
            found: found(&quantity, unit, value, of),
            threshold: limit.map_or_else(String::new, |limit| {
                format!("{} {}", operator.sign(), unit.text(limit))
            }),
            quantity,
        }
    }
}

fn found(Sentence { en, zh }: &Sentence, unit: Unit, value: f64, of: Option<u64>) -> Sentence {
    let text = unit.text(value);
    match (unit, of) {
        (Unit::Count, Some(of)) => Sentence {
            en: format!("{text} of {} {en}", count(of)),
            zh: if value >= of as f64 {
                format!("{} 个元素全为 {zh}", count(of))
            } else {
                format!("{} 个中有 {text} 个 {zh}", count(of))
            },
        },
        (Unit::Count, None) => Sentence::new(format!("{text} {en}"), format!("{text} {zh}")),
        _ => Sentence::new(format!("{en} {text}"), format!("{zh} {text}")),
    }
}
