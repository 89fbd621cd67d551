//! Advice about a profile: rules over its steps, device, memory and ranks, with the time that each finding would save.
//!
//! The pages and the conditions of watchpoints about profiles show the same judgement. Ids of rules are those of their
//! conditions, and limits are the parameters of these. Gains are taken from disjoint parts of the steps and of the
//! waiting between them. Their sum never exceeds that time less its compute; only tensor cores would make compute
//! itself shorter.

use trainscope_api::Sentence;
use trainscope_api::profile::{Advice, NotJudged, ProfileState, RanksAnswer, SessionSummary};

use super::{Model, Role};
use facts::{Claims, Finding, claim_order};

pub mod baseline;
mod device;
mod facts;
mod lack;
mod limits;
mod memory;
mod ranks;
mod rule;
mod sentences;
mod steps;
mod texts;

pub use facts::Facts;
pub use lack::Lack;
pub use limits::Limits;
pub use rule::Rule;

/// Judgement of one session of one rank. A rule that is missing in all lists does not apply to the profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// Findings, the largest gain first. Their ids are [`Rule::name`].
    pub advice: Vec<Advice>,
    /// Rules that found nothing.
    pub passed: Vec<Rule>,
    /// Rules that could not be judged.
    pub not_judged: Vec<(Rule, Lack)>,
}

/// A finding, nothing found, or the data that the rule lacks.
type Verdict = Result<Option<Finding>, Lack>;

/// Judges a profile by all rules that need no baseline.
pub fn judge(facts: &Facts<'_>, limits: &Limits) -> Judgement {
    let mut judged = Judgement::default();
    let mut findings = Vec::new();
    for rule in Rule::ALL.into_iter().filter(|rule| !rule.needs_baseline()) {
        match verdict(rule, facts, limits) {
            Ok(Some(finding)) => findings.push((rule, finding)),
            Ok(None) => match passes(rule, facts) {
                Ok(()) => judged.passed.push(rule),
                Err(lack) => judged.not_judged.push((rule, lack)),
            },
            Err(lack) => judged.not_judged.push((rule, lack)),
        }
    }
    judged.advice = advise(facts, findings);
    judged
}

/// Reason why a rule that found nothing is not judged.
fn passes(rule: Rule, facts: &Facts<'_>) -> Result<(), Lack> {
    // The data set counts its batches itself.
    let has_batches = facts.summary.input.is_some_and(|input| input.is_judged);
    if !rule.is_about_time() || (rule == Rule::DataBound && has_batches) {
        return Ok(());
    }
    facts.needs_even_steps()
}

/// Judges a profile with the default limits, and adds the advice and the sentences to its summary.
pub fn apply(model: &Model, summary: &mut SessionSummary, ranks: Option<&RanksAnswer>) {
    let limits = Limits::default();
    let facts = Facts::new(model, summary, ranks);
    let mut judged = judge(&facts, &limits);
    let unjudged = sentences::unjudged(&facts, &judged);
    let knows_kernels = judged
        .not_judged
        .iter()
        .all(|(_, lack)| *lack != Lack::UnknownKernels);
    judged.add(baseline::judge(summary, None, &limits));
    summary.passed = judged
        .passed
        .iter()
        .map(|rule| rule.name().to_owned())
        .collect();
    summary.not_judged = judged
        .not_judged
        .iter()
        .map(|(rule, lack)| NotJudged {
            id: rule.name().to_owned(),
            reason: lack.words().into(),
            applies: lack.leaves_open(),
        })
        .collect();
    // No kernel uses tensor cores by its name, and some names do not tell: the share is unknown, and not 0.
    if let Some(device) = summary.device.as_mut().filter(|_| !knows_kernels) {
        device.tensor_cores = None;
    }
    summary.advice = judged.advice;
    summary.sentence = sentences::sentence(summary);
    if steps::runs_behind(&model.steps.list) {
        let Sentence { en, zh } = &mut summary.sentence;
        en.push_str(
            " The device ran more than a step behind the host: a step ends with its last kernel.",
        );
        zh.push_str("设备落后主机超过一个迭代：迭代以其最后一个 kernel 结束为准。");
    }
    summary.unjudged = unjudged;
    summary.detail = sentences::detail(summary);
}

impl Judgement {
    /// Adds the judgement of other rules.
    pub fn add(&mut self, other: Self) {
        self.advice.extend(other.advice);
        self.passed.extend(other.passed);
        self.not_judged.extend(other.not_judged);
        sort(&mut self.advice);
    }
}

fn sort(advice: &mut [Advice]) {
    advice.sort_by_key(|entry| std::cmp::Reverse((entry.gain_nanos, entry.severity)));
}

fn verdict(rule: Rule, facts: &Facts<'_>, limits: &Limits) -> Verdict {
    match facts.summary.state {
        ProfileState::Reading => return Err(Lack::Reading),
        ProfileState::Unreadable => return Err(Lack::Unreadable),
        _ => {}
    }
    let judge = match rule {
        Rule::DataBound => steps::data,
        Rule::DeviceIdle => device::idle,
        Rule::HostBound => device::host,
        Rule::LaunchBound => device::launches,
        Rule::SyncInStep => device::waits,
        Rule::PageableCopies => device::pageable,
        Rule::ExposedCommunication => ranks::exposed,
        Rule::StragglerRank => ranks::straggler,
        Rule::UnevenRanks => ranks::uneven,
        Rule::TensorCoresUnused => device::tensor_cores,
        Rule::ManySmallOptimizerKernels => device::update_kernels,
        Rule::MemoryNearLimit => memory::near_limit,
        Rule::MemoryGrowth => memory::growth,
        Rule::MemoryFragmentation => memory::fragmentation,
        Rule::AllocatorInStep => memory::allocator,
        Rule::StepOutliers => steps::outliers,
        Rule::StepTimeDrift => steps::drift,
        Rule::Recompilation => steps::compilation,
        Rule::ProfilerOverhead => steps::overhead,
        Rule::ProfileDamaged => steps::damage,
        Rule::StepTimeRegression | Rule::OperatorRegression => return Err(Lack::NoBaseline),
    };
    judge(facts, limits)
}

/// Findings with their gains and texts.
fn advise(facts: &Facts<'_>, mut findings: Vec<(Rule, Finding)>) -> Vec<Advice> {
    findings.sort_by_key(|(rule, _)| claim_order(*rule));
    let mut claims = Claims::new(facts);
    // Waiting for data may be known from the profile of the data set alone.
    let has_data = facts.model.roles.contains(&Role::Data);
    let in_pipeline = |rule: Rule| rule == Rule::DataBound && !has_data;
    let advice = findings.into_iter().map(|(rule, finding)| {
        let gain_nanos = claims.gain(&finding.claim);
        let [en, zh] = finding.evidence;
        Advice {
            id: rule.name().to_owned(),
            severity: finding.severity,
            value: finding.value,
            limit: finding.limit,
            gain_nanos,
            title: texts::title(rule),
            evidence: Sentence { en, zh },
            remedy: texts::remedy(rule, facts.model.trace.head.format, finding.remedy),
            search: if in_pipeline(rule) {
                String::new()
            } else {
                texts::search(rule).to_owned()
            },
            in_pipeline: in_pipeline(rule),
            step: finding.step,
            rank: finding.rank,
        }
    });
    let mut advice: Vec<Advice> = advice.collect();
    sort(&mut advice);
    advice
}
