//! Judgements of profiles, one for each session and rank.

use std::sync::Arc;

use trainscope_api::profile::Advice;

use crate::trace::advice::{Judgement, Lack, Rule};

/// Judgement of the profile of one rank.
#[derive(Clone, Debug, Default)]
pub struct ProfileJudgement {
    /// Rank.
    pub rank: u32,
    /// Name of the session, as pages show it.
    pub session: Arc<str>,
    /// First and last step, as the profiler counts; 0 without steps.
    pub step_range: (i64, i64),
    /// Added to the numbers of the profiler to give those of the training.
    pub step_offset: i64,
    /// Number of steps.
    pub steps: u64,
    /// Number of events beyond a limit of the reader, which were counted only.
    pub left_out: u64,
    /// Judgements with each of the limits of
    /// [`Watchpoints::profile_limits`](crate::watchpoint::Watchpoints::profile_limits), in their order.
    pub judged: Vec<Judgement>,
}

/// Result of a rule for a profile.
pub(crate) enum Outcome<'a> {
    Hit(&'a Advice),
    Passed,
    NotJudged(Lack),
}

impl ProfileJudgement {
    /// Result of a rule; `None` if the profile has nothing for the rule. `place` is the index of the judgement by its
    /// limits.
    pub(crate) fn outcome(&self, rule: Rule, place: usize) -> Option<Outcome<'_>> {
        let judged = self.judged.get(place)?;
        let advice = judged.advice.iter().find(|advice| advice.id == rule.name());
        let lack = || judged.not_judged.iter().find(|entry| entry.0 == rule);
        if let Some(advice) = advice {
            Some(Outcome::Hit(advice))
        } else if let Some((_, lack)) = lack() {
            (!lack.is_without_object()).then_some(Outcome::NotJudged(*lack))
        } else {
            judged.passed.contains(&rule).then_some(Outcome::Passed)
        }
    }
}
