//! Advice about a profile: rules over its steps, device, memory and ranks, with the time that each finding would save.
//!
//! The pages and the conditions of watchpoints about profiles show the same judgement. Ids of rules are those of their
//! conditions, and limits are the parameters of these.

use trainscope_api::profile::Advice;

mod lack;
mod limits;
mod rule;

pub use lack::Lack;
pub use limits::Limits;
pub use rule::Rule;

/// Judgement of one session of one rank. A rule that is in none of its lists does not apply to the profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// Findings, the largest gain first. Their ids are [`Rule::name`].
    pub advice: Vec<Advice>,
    /// Rules that found nothing.
    pub passed: Vec<Rule>,
    /// Rules that could not be judged.
    pub not_judged: Vec<(Rule, Lack)>,
}
