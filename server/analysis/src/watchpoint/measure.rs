//! Quantities that rules compare with limits, with operator and unit for display.

use serde::{Deserialize, Serialize};
use trainscope_format::digits::{self, Operator, Unit};
use trainscope_format::float::Float;

use super::catalogue::{self, Parameter, Range, Text};
use super::finding::{Hit, Sentence};

/// Key of the number of matching elements, points or steps for conditions without a limit.
pub(crate) const COUNT: &str = "count";
/// Key of the number of elements examined.
pub(crate) const ELEMENTS: &str = "elements";
/// Key of the number of NaN elements.
pub(crate) const NAN: &str = "nan";

/// A measured quantity and the limit that it exceeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Its key in [`Hit::values`] and [`Hit::thresholds`].
    pub name: String,
    /// Measured quantity: `mean |x|`, `gap`, `NaN`.
    pub quantity: Sentence,
    /// The comparison of value and limit that makes a hit.
    pub operator: Operator,
    /// The unit of value and limit.
    pub unit: Unit,
    /// The measured value.
    pub value: Float,
    /// The limit in force for this hit; `None` for counts of which a single one is a hit.
    pub limit: Option<Float>,
    /// Number of elements that `value` was counted in.
    pub of: Option<u64>,
}

impl Measure {
    pub(crate) fn new(
        name: &str,
        quantity: Text,
        operator: Operator,
        unit: Unit,
        value: f64,
        limit: f64,
    ) -> Self {
        Self {
            name: name.to_owned(),
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
                zh: format!("{} 个中有 {value} 个 {zh}", digits::count(of)),
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

    /// Operator and limit: `< 1e−7`; empty if a single one is a hit.
    pub fn threshold(&self) -> String {
        self.limit.map_or_else(String::new, |limit| {
            format!("{} {}", self.operator.sign(), self.unit.text(limit.0))
        })
    }
}

impl From<Text> for Sentence {
    fn from(text: Text) -> Self {
        Self {
            en: text.en.to_owned(),
            zh: text.zh.to_owned(),
        }
    }
}

impl Parameter {
    /// The comparison from the suffix of its name: `_gt`, `_ge`, `_lt`, `_le`.
    pub fn operator(&self) -> Operator {
        match self.name.rsplit('_').next() {
            Some("lt") => Operator::Below,
            Some("le" | "lte") => Operator::AtMost,
            Some("ge" | "gte") => Operator::AtLeast,
            _ => Operator::Above,
        }
    }

    /// The quantity compared: its text without the comparison.
    pub fn quantity(&self) -> Sentence {
        let ends = |text: &str, ends: &[&str]| {
            let cut = ends.iter().find_map(|end| text.strip_suffix(end));
            cut.unwrap_or(text).trim_end().to_owned()
        };
        Sentence {
            en: ends(self.text.en, &[" above", " below", " at least", " at most"]),
            zh: ends(
                self.text.zh,
                &["不低于", "不高于", "大于", "小于", "高于", "低于"],
            ),
        }
    }

    /// The unit of its value.
    pub fn unit(&self) -> Unit {
        match self.range {
            Range::Percentage => Unit::Percent,
            Range::Share => Unit::Share,
            Range::Count => Unit::Count,
            _ if self.name.starts_with("factor") => Unit::Times,
            _ if self.name.starts_with("secs") => Unit::Seconds,
            _ => Unit::Number,
        }
    }
}

impl Hit {
    /// Measured quantities, one for each limit exceeded.
    pub fn measures(&self) -> Vec<Measure> {
        if let Some(own) = &self.measure {
            return vec![Measure::clone(own)];
        }
        let condition = catalogue::find(&self.condition);
        let parameters = condition.map_or(&[][..], |own| own.parameters);
        let limits = self.values.iter().filter_map(|(name, value)| {
            let parameter = parameters.iter().find(|own| own.name == &**name)?;
            let limit = self.thresholds.of(name)?;
            Some(Measure {
                name: name.to_string(),
                quantity: parameter.quantity(),
                operator: parameter.operator(),
                unit: parameter.unit(),
                value: *value,
                limit: Some(Float(limit)),
                of: None,
            })
        });
        let mut all: Vec<Measure> = limits.collect();
        if let Some(count) = self.values.of(COUNT) {
            let nan = self.values.of(NAN);
            let quantity = match nan {
                Some(nan) if nan >= count => Text {
                    en: "NaN",
                    zh: "NaN",
                },
                Some(nan) if nan > 0.0 => Text {
                    en: "NaN or ±∞",
                    zh: "NaN 或 ±∞",
                },
                Some(_) => Text {
                    en: "±∞", zh: "±∞"
                },
                None => condition.map_or(Text::default(), |own| own.counts),
            };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count of elements"
            )]
            let of = self.values.of(ELEMENTS).map(|of| of as u64);
            all.push(Measure {
                name: COUNT.to_owned(),
                quantity: quantity.into(),
                operator: Operator::Above,
                unit: Unit::Count,
                value: Float(count),
                limit: None,
                of,
            });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watchpoint::CONDITIONS;

    #[test]
    fn every_limit_says_what_is_compared_and_how() {
        for condition in CONDITIONS {
            for parameter in condition.parameters.iter().filter(|own| own.is_limit) {
                let place = (condition.id, parameter.name);
                let quantity = parameter.quantity();
                assert_ne!(quantity.en, parameter.text.en, "{place:?}");
                assert_ne!(quantity.zh, parameter.text.zh, "{place:?}");
                let is_below = parameter.text.en.ends_with("below");
                assert_eq!(
                    parameter.operator() == Operator::Below,
                    is_below,
                    "{place:?}"
                );
            }
        }
    }
}
