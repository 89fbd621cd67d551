//! Parameters of conditions: ranges of valid values, limits in force, and measured values.

use trainscope_api::Sentence;
use trainscope_format::digits::{Operator, Unit};

use super::key::Key;
use crate::text::Text;

/// A parameter of a condition.
#[derive(Debug)]
pub struct Parameter {
    /// Its key.
    pub name: Key,
    /// Default value; `None` if it is off by default.
    pub default: Option<f64>,
    /// Value in the recommended watchpoint, if it differs.
    pub recommended: Option<f64>,
    /// Range of valid values.
    pub range: Range,
    /// True for a limit that a value is compared with; a watchpoint needs at least one.
    pub is_limit: bool,
    /// Description.
    pub text: Text,
}

impl Parameter {
    /// The comparison from the suffix of its name: `_gt`, `_ge`, `_lt`, `_le`.
    pub fn operator(&self) -> Operator {
        match self.name.as_str().rsplit('_').next() {
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
            en: ends(
                self.text.en,
                &[" above", " below", " at least", ", at most", " at most"],
            ),
            zh: ends(
                self.text.zh,
                &[
                    "不低于",
                    "不高于",
                    "不小于",
                    "不大于",
                    "大于",
                    "小于",
                    "高于",
                    "低于",
                ],
            ),
        }
    }

    /// The unit of its value.
    pub fn unit(&self) -> Unit {
        match self.range {
            Range::Percentage => Unit::Percent,
            Range::Share => Unit::Share,
            Range::Count => Unit::Count,
            _ if self.name.as_str().starts_with("factor") => Unit::Times,
            _ if self.name.as_str().starts_with("secs") => Unit::Seconds,
            _ => Unit::Number,
        }
    }
}

/// Range of valid values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Any number but NaN and infinities.
    Finite,
    /// At least 0.
    NotNegative,
    /// Above 0.
    Positive,
    /// 0 to 100.
    Percentage,
    /// 0 to 1.
    Share,
    /// A whole number of at least 1.
    Count,
    /// A boolean.
    Switch,
}

impl Range {
    /// True for a boolean.
    pub const fn is_switch(self) -> bool {
        matches!(self, Self::Switch)
    }

    /// True if a number is within the range.
    pub fn holds(self, number: f64) -> bool {
        number.is_finite()
            && match self {
                Self::Finite => true,
                Self::NotNegative => number >= 0.0,
                Self::Positive => number > 0.0,
                Self::Percentage => (0.0..=100.0).contains(&number),
                Self::Share => (0.0..=1.0).contains(&number),
                Self::Count => number >= 1.0 && number.fract() == 0.0,
                Self::Switch => number.to_bits() == 0 || number.to_bits() == 1.0_f64.to_bits(),
            }
    }

    /// The range in words, after *must be*.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Finite => "a finite number",
            Self::NotNegative => "a number of at least 0",
            Self::Positive => "a number above 0",
            Self::Percentage => "a number from 0 to 100",
            Self::Share => "a number from 0 to 1",
            Self::Count => "a whole number of at least 1",
            Self::Switch => "true or false",
        }
    }

    /// The range in symbols, for a column of a table.
    pub const fn signs(self) -> &'static str {
        match self {
            Self::Finite | Self::Switch => "",
            Self::NotNegative => ">= 0",
            Self::Positive => "> 0",
            Self::Percentage => "0..100",
            Self::Share => "0..1",
            Self::Count => ">= 1",
        }
    }
}

/// Values of the parameters of a watchpoint, without those that are off.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits(Vec<(Key, f64)>);

impl Limits {
    /// The default or the recommended values of the parameters of a condition.
    pub(crate) fn of(parameters: &[Parameter], recommended: bool) -> Self {
        let value = |parameter: &Parameter| {
            let preferred = parameter.recommended.filter(|_| recommended);
            Some((parameter.name, preferred.or(parameter.default)?))
        };
        parameters.iter().filter_map(value).collect()
    }

    /// The value of a parameter, unless it is off.
    pub fn get(&self, key: Key) -> Option<f64> {
        self.iter()
            .find(|entry| entry.0 == key)
            .map(|entry| entry.1)
    }

    /// The value of a parameter that is always on, since it has a default: NaN, which no comparison satisfies, if the
    /// condition has no such parameter.
    pub(crate) fn value(&self, key: Key) -> f64 {
        let value = self.get(key);
        debug_assert!(value.is_some(), "the condition has no parameter {key}");
        value.unwrap_or(f64::NAN)
    }

    /// The value of a parameter that is a number of points.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a parameter that is a count, checked when it was given"
    )]
    pub(crate) fn count(&self, key: Key) -> usize {
        self.value(key) as usize
    }

    /// True if `value` is above the limit, and the limit is on.
    pub(crate) fn is_above(&self, key: Key, value: f64) -> bool {
        self.get(key).is_some_and(|limit| value > limit)
    }

    /// True if `value` is below the limit, and the limit is on.
    pub(crate) fn is_below(&self, key: Key, value: f64) -> bool {
        self.get(key).is_some_and(|limit| value < limit)
    }

    pub(crate) fn set(&mut self, key: Key, value: f64) {
        self.0.retain(|entry| entry.0 != key);
        self.0.push((key, value));
    }

    /// All parameters that are on.
    pub fn iter(&self) -> impl Iterator<Item = (Key, f64)> {
        self.0.iter().copied()
    }
}

impl FromIterator<(Key, f64)> for Limits {
    fn from_iter<I: IntoIterator<Item = (Key, f64)>>(limits: I) -> Self {
        Self(limits.into_iter().collect())
    }
}

/// Maximum number of values of one hit: the number of limits of `tensor_range` and of the conditions on four
/// statistics.
const MAX_VALUES: usize = 4;

/// Measured values by the parameters that limit them, or by the quantity that was counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Evidence([Option<(Key, f64)>; MAX_VALUES]);

impl PartialEq for Evidence {
    fn eq(&self, other: &Self) -> bool {
        let bits = |evidence: &Self| {
            evidence
                .0
                .map(|value| value.map(|(key, value)| (key, value.to_bits())))
        };
        bits(self) == bits(other)
    }
}

impl From<(Key, f64)> for Evidence {
    /// Evidence of one value; NaN is not evidence.
    fn from((key, value): (Key, f64)) -> Self {
        Self::of(key, value)
    }
}

impl Evidence {
    pub(crate) const NONE: Self = Self([None; MAX_VALUES]);

    /// Evidence of one value; NaN is not evidence.
    pub(crate) fn of(key: Key, value: f64) -> Self {
        Self::NONE.and(key, value)
    }

    /// Adds a value. Those beyond [`MAX_VALUES`] are left out.
    #[must_use]
    pub(crate) fn and(mut self, key: Key, value: f64) -> Self {
        if let Some(free) = self.0.iter_mut().find(|slot| slot.is_none())
            && !value.is_nan()
        {
            *free = Some((key, value));
        }
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }

    pub(crate) fn get(&self, key: Key) -> Option<f64> {
        self.iter()
            .find(|entry| entry.0 == key)
            .map(|entry| entry.1)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, f64)> {
        self.0.into_iter().flatten()
    }
}
