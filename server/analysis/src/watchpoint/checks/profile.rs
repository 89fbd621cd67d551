//! Findings of the advice about profiles.

use trainscope_api::profile::Advice;
use trainscope_format::digits;

use super::{Evidence, Judgement};
use crate::trace::advice::Rule;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::missing::Missing;
use crate::watchpoint::model::new_hit::NewHit;
use crate::watchpoint::model::profile::{Outcome, ProfileJudgement};
use crate::watchpoint::model::run::{LATE_FLOW, Run};

/// Nanoseconds of a second.
const SECOND_NANOS: f64 = 1e9;

/// The findings of the rule of the condition, one for each rank that they are about.
pub(crate) fn advised(run: &Run<'_>, index: u32, watchpoint: &Watchpoint) -> Judgement {
    let mut judged = Judgement::default();
    for (profile, outcome) in outcomes(run, index, watchpoint) {
        match outcome {
            Outcome::Hit(advice) => {
                let hit = hit(profile, advice, watchpoint);
                // Every rank of a session reports the same slow one.
                let is_same = |known: &NewHit| known.rank == hit.rank && known.tensor == hit.tensor;
                if !judged.found.iter().any(is_same) {
                    judged.found.push(hit);
                }
            }
            Outcome::NotJudged(lack) => {
                let first = profile.step_range.0.saturating_add(profile.step_offset);
                let why = (Missing::Profile(lack), first, profile.steps.max(1));
                judged
                    .missing
                    .push((profile.rank, profile.session.clone(), why));
            }
            Outcome::Passed => {}
        }
    }
    judged
}

/// Results of the rule of a watchpoint for the profiles that it covers.
pub(crate) fn outcomes<'a>(
    run: &Run<'a>,
    index: u32,
    watchpoint: &Watchpoint,
) -> impl Iterator<Item = (&'a ProfileJudgement, Outcome<'a>)> {
    let rule = watchpoint.condition.profile_rule.into_iter();
    rule.flat_map(move |rule| run.profile_outcomes(index, rule))
        .filter(|(profile, _)| watchpoint.covers(&profile.session))
}

fn hit(profile: &ProfileJudgement, advice: &Advice, watchpoint: &Watchpoint) -> NewHit {
    let step = |local: i64| local.saturating_add(profile.step_offset);
    let (first, last) = profile.step_range;
    let rule = watchpoint.condition.profile_rule;
    let at_step = advice
        .step
        .filter(|_| !rule.is_some_and(Rule::is_about_all_steps));
    let at = (
        advice.rank.unwrap_or(profile.rank),
        step(at_step.unwrap_or(first)),
    );
    let mut limits = watchpoint.condition.parameters.iter();
    let limit = limits.find(|parameter| parameter.is_limit);
    let key = limit.map_or(Key::Count, |parameter| parameter.name);
    let gain_secs = advice.gain_nanos as f64 / SECOND_NANOS;
    let evidence = Evidence::of(key, advice.value);
    let (evidence, gain) = if advice.gain_nanos > 0 {
        let gain = digits::span(gain_secs);
        let (each, each_zh) = if profile.steps == 0 {
            ("", "")
        } else {
            (" a step", "每个迭代")
        };
        let en = format!("; at best {gain} less{each}");
        let zh = format!("；{each_zh}最多可缩短 {gain}");
        (evidence.and(Key::GainSecs, gain_secs), (en, zh))
    } else {
        (evidence, (String::new(), String::new()))
    };
    let sentence =
        |text: &str, end: &str, gain: &str| format!("{}{gain}", text.trim_end_matches(end));
    let hit = NewHit::of_name(&profile.session, at, LATE_FLOW, evidence)
        .until(step(at_step.unwrap_or(last)))
        .called(advice.severity)
        .saying(
            sentence(&advice.evidence.en, ".", &gain.0),
            sentence(&advice.evidence.zh, "。", &gain.1),
        );
    if limit.is_some() {
        hit.against(advice.limit)
    } else {
        hit
    }
}
