//! Measured quantities of a hit, one for each limit exceeded.

use trainscope_format::digits::{Operator, Unit};
use trainscope_format::float::Float;

use super::catalogue;
use super::model::finding::Hit;
use super::model::key::Key;
use super::model::measure::Measure;
use crate::text::Text;

impl Hit {
    /// Measured quantities, one for each limit exceeded.
    pub fn measures(&self) -> Vec<Measure> {
        if let Some(own) = &self.measure {
            return vec![Measure::clone(own)];
        }
        let condition = catalogue::find(&self.condition);
        let parameters = condition.map_or(&[][..], |own| own.parameters);
        let limits = self.values.iter().filter_map(|(name, value)| {
            let parameter = parameters.iter().find(|own| own.name == *name)?;
            let limit = self.thresholds.of(*name)?;
            Some(Measure {
                name: *name,
                quantity: parameter.quantity(),
                operator: parameter.operator(),
                unit: parameter.unit(),
                value: *value,
                limit: Some(Float(limit)),
                of: None,
            })
        });
        let mut all: Vec<Measure> = limits.collect();
        if let Some(count) = self.values.of(Key::Count) {
            let nan = self.values.of(Key::Nan);
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
            let of = self.values.of(Key::Elements).map(|of| of as u64);
            all.push(Measure {
                name: Key::Count,
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
