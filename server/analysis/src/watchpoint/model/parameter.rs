//! Parameters of conditions: ranges of valid values, limits in force, and measured values.

use trainscope_format::digits::{Operator, Unit};

use crate::text::{Sentence, Text};

/// Maximum number of parameters of a condition.
pub(crate) const MAX_PARAMETERS: usize = 8;

/// A parameter of a condition.
#[derive(Debug)]
pub struct Parameter {
    /// Its key.
    pub name: &'static str,
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

/// The limits of a watchpoint in the order of its condition's parameters; NaN if off.
pub(crate) type Limits = [f64; MAX_PARAMETERS];

/// Measured values in the order of the parameters; NaN if the limit is not exceeded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence(pub(crate) [f64; MAX_PARAMETERS]);

impl PartialEq for Evidence {
    fn eq(&self, other: &Self) -> bool {
        self.0.map(f64::to_bits) == other.0.map(f64::to_bits)
    }
}

impl Evidence {
    pub(crate) const NONE: Self = Self([f64::NAN; MAX_PARAMETERS]);

    /// Evidence for one parameter, by its index.
    pub(crate) const fn one(parameter: usize, actual: f64) -> Self {
        let mut evidence = Self::NONE;
        evidence.0[parameter] = actual;
        evidence
    }
}
