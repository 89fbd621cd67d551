//! From what watchpoints found to findings: in order, with their sentences, and what they began with.

use std::sync::Arc;

use trainscope_format::Severity;
use trainscope_format::float::Float;

pub(crate) use trainscope_format::digits::{brief as number, percent};

use super::catalogue::{MAX_PARAMETERS, Target};
use super::checks::{Evidence, judge};
use super::config::{Watchpoint, Watchpoints};
use super::evaluator::Tensor;
use super::finding::{Figures, Findings, Hit, Inconclusive, Judged, Missing, Sentence};
use super::run::{Flow, Run};
use super::scalars::Series;
use crate::blame;

/// A hit before it is told: what, where, when.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) rank: u32,
    pub(crate) step: i64,
    pub(crate) last_step: i64,
    pub(crate) tensor: Arc<str>,
    pub(crate) node: Option<Arc<str>>,
    pub(crate) flow: Flow,
    pub(crate) evidence: Evidence,
    /// What circumstances make of it, if they do.
    pub(crate) severity: Option<Severity>,
    /// What was found, if it is not simply the limit that was exceeded.
    pub(crate) sentence: Option<Sentence>,
}

impl Found {
    /// About a tensor.
    pub(crate) fn at(run: &Run<'_>, tensor: &Tensor, step: i64, evidence: Evidence) -> Self {
        let has_module = !tensor.subject.module.is_empty();
        Self {
            rank: tensor.rank,
            step,
            last_step: step,
            tensor: tensor.name.clone(),
            node: has_module.then(|| tensor.subject.module.clone()),
            flow: run.flow(tensor),
            evidence,
            severity: None,
            sentence: None,
        }
    }

    /// About a scalar.
    pub(crate) fn of_scalar(series: &Series, step: i64, flow: Flow, evidence: Evidence) -> Self {
        Self {
            rank: series.rank,
            step,
            last_step: step,
            tensor: series.tag.clone(),
            node: None,
            flow,
            evidence,
            severity: None,
            sentence: None,
        }
    }

    #[must_use]
    pub(crate) fn until(self, last_step: i64) -> Self {
        Self { last_step, ..self }
    }

    #[must_use]
    pub(crate) fn called(self, severity: Severity) -> Self {
        Self {
            severity: Some(severity),
            ..self
        }
    }

    #[must_use]
    pub(crate) fn saying(self, en: String, zh: String) -> Self {
        Self {
            sentence: Some(Sentence { en, zh }),
            ..self
        }
    }
}

/// Everything that is to be said.
pub(crate) fn findings(watchpoints: &Watchpoints, run: &Run<'_>) -> Findings {
    let mut hits: Vec<(Flow, Hit)> = Vec::new();
    let mut inconclusive = Vec::new();
    for (index, watchpoint) in (0..).zip(watchpoints.all()).filter(|(_, w)| w.on) {
        let judged = judge(run, index, watchpoint);
        let names = Names::of(watchpoint);
        hits.extend(judged.found.into_iter().map(|found| {
            let flow = found.flow;
            (flow, told(index, watchpoint, &names, found))
        }));
        inconclusive.extend(judged.missing.into_iter().map(
            |(rank, tensor, (reason, step, steps))| Inconclusive {
                condition: Arc::clone(&names.condition),
                watchpoint: index,
                rank,
                step,
                tensor,
                reason,
                steps,
            },
        ));
    }
    let order =
        |(flow, hit): &(Flow, Hit)| (hit.step, *flow, std::cmp::Reverse(hit.severity), hit.rank);
    hits.sort_by(|a, b| {
        order(a)
            .cmp(&order(b))
            .then_with(|| a.1.tensor.cmp(&b.1.tensor))
    });
    let (flows, hits): (Vec<Flow>, Vec<Hit>) = hits.into_iter().unzip();
    let is_without_data = |watchpoint: &Watchpoint| match watchpoint.condition.target {
        Target::Scalar => run.scalar_count() == 0,
        Target::Run => !run.has_data_of(watchpoint),
        Target::Tensor | Target::Weight | Target::Gradient | Target::Activation => {
            run.watched(watchpoint).next().is_none()
        }
    };
    let without_data = (0..).zip(watchpoints.all());
    let without_data = without_data.filter(|(_, own)| own.on && is_without_data(own));
    let without_data = without_data.map(|(index, _)| index).collect();
    let first_cause = blame::first_cause(&hits, &flows, run, watchpoints);
    let is_watched = |tensor: &&Tensor| {
        let mut all = watchpoints.all().iter();
        all.any(|own| own.watches(&tensor.name, &tensor.subject))
    };
    let tensors = run.tensors.iter().filter(is_watched).count() as u64;
    let scalars = run.scalar_count();
    let causes = blame::causes(&hits, &flows, run);
    Findings {
        first_cause,
        causes,
        hits,
        inconclusive,
        without_data,
        unread: Vec::new(),
        judged: Judged {
            tensors,
            histograms: 0,
            scalars,
            unwatched: run.tensors.len() as u64 - tensors,
            steps: if tensors + scalars == 0 {
                0
            } else {
                run.steps.len()
            },
            watchpoints: watchpoints.watching(),
            ranks: run.ranks.len() as u64,
        },
    }
}

/// What could not be judged: rank, tensor, why, at which step first, at how many.
pub(crate) type Unjudged = (u32, Arc<str>, (Missing, i64, u64));

/// What all hits of a watchpoint are called by.
struct Names {
    condition: Arc<str>,
    parameters: [Arc<str>; MAX_PARAMETERS],
}

impl Names {
    fn of(watchpoint: &Watchpoint) -> Self {
        let parameters = watchpoint.condition.parameters;
        Self {
            condition: watchpoint.condition.id.into(),
            parameters: std::array::from_fn(|slot| {
                parameters.get(slot).map_or("count", |p| p.name).into()
            }),
        }
    }
}

fn told(index: u32, watchpoint: &Watchpoint, names: &Names, found: Found) -> Hit {
    let evidence = names
        .parameters
        .iter()
        .zip(found.evidence.0)
        .zip(watchpoint.limits);
    let beyond = || evidence.clone().filter(|((_, actual), _)| !actual.is_nan());
    let values: Figures = beyond()
        .map(|((name, actual), _)| (Arc::clone(name), Float(actual)))
        .collect();
    let limit = |limit: f64| Float(if limit.is_nan() { 0.0 } else { limit });
    let thresholds = beyond()
        .map(|((name, _), to)| (Arc::clone(name), limit(to)))
        .collect();
    let sentence = found
        .sentence
        .unwrap_or_else(|| plain(watchpoint, &found.tensor, &values));
    let severity = match found.severity {
        Some(severity) if watchpoint.may_raise => severity,
        _ => watchpoint.severity,
    };
    Hit {
        condition: Arc::clone(&names.condition),
        watchpoint: index,
        severity,
        rank: found.rank,
        step: found.step,
        last_step: found.last_step,
        tensor: found.tensor,
        node: found.node,
        values,
        thresholds,
        sentence,
    }
}

/// The condition's line, the tensor, and what exceeds which limit.
fn plain(watchpoint: &Watchpoint, tensor: &str, values: &[(Arc<str>, Float)]) -> Sentence {
    let says = watchpoint.condition.says;
    let found: Vec<String> = values
        .iter()
        .map(|(name, v)| format!("{name} {}", number(v.0)))
        .collect();
    let found = found.join(", ");
    Sentence {
        en: format!("{tensor}: {} ({found})", says.en),
        zh: format!("{tensor}：{}（{found}）", says.zh),
    }
}
