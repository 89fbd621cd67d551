//! Formulas over one tensor, judged at every step, and judgements over the whole run.
//!
//! Each number that decides a verdict is a parameter of a condition (`catalogue`) or a constant with its unit and its
//! source. *Chosen* means: by this project, from no publication or framework. Such a number keeps the families of sound
//! and of faulty trainings in `server/analysis/tests` apart; these tests are the measure of any change to it.

pub(crate) mod adversarial;
pub(crate) mod answers;
pub(crate) mod change;
pub(crate) mod contradiction;
pub(crate) mod data;
pub(crate) mod design;
pub(crate) mod explosion;
pub(crate) mod held_out;
pub(crate) mod initial;
pub(crate) mod loss;
pub(crate) mod magnitude;
pub(crate) mod metric;
pub(crate) mod norm;
pub(crate) mod overflow;
pub(crate) mod plateau;
pub(crate) mod policy;
pub(crate) mod precision;
pub(crate) mod profile;
pub(crate) mod program;
pub(crate) mod range;
pub(crate) mod ranks;
pub(crate) mod rate;
pub(crate) mod standstill;
pub(crate) mod units;
pub(crate) mod update;
pub(crate) mod vanishing;
pub(crate) mod zeros;

use super::model::condition::{FormulaInput, Judgement, Verdict, Watchpoint};
use super::model::history::Digest;
use super::model::key::Key;
use super::model::missing::Missing;
use super::model::new_hit::NewHit;
use super::model::parameter::{Evidence, Limits};
use super::model::run::Run;

pub(crate) fn judge(run: &Run<'_>, index: u32, watchpoint: &Watchpoint) -> Judgement {
    let condition = watchpoint.condition;
    let mut judged = match condition.judge {
        Some(judge) if watchpoint.context || condition.formula.is_none() => {
            judge(run, index, watchpoint)
        }
        _ => by_formula(run, index, watchpoint),
    };
    if let Some(from) = watchpoint.from_step {
        judged.found.retain(|found| found.step >= from);
    }
    judged
}

/// All results of the formula, unchanged.
pub(crate) fn by_formula(run: &Run<'_>, index: u32, watchpoint: &Watchpoint) -> Judgement {
    let mut judged = Judgement::default();
    for (tensor, episodes, missing) in run.memories(index) {
        for episode in episodes {
            let found = NewHit::at(run, tensor, episode.first, episode.evidence);
            judged.found.push(found.until(episode.last));
        }
        for reason in missing {
            // The first step has no previous one; that is reported only if no later step was judged.
            let is_expected = reason.0 == Missing::NoPrevious && reason.2 == 1;
            if !(watchpoint.context && (is_expected && tensor.history.seen > 1)) {
                judged
                    .missing
                    .push((tensor.rank, tensor.name.clone(), *reason));
            }
        }
    }
    judged
}

/// A hit if any limit is exceeded: names of limits, actual values, and flags that are true beyond the limit.
pub(crate) fn any_of<const N: usize>(values: [(Key, f64, bool); N]) -> Verdict {
    let beyond = values.into_iter().filter(|value| value.2);
    let evidence = beyond.fold(Evidence::NONE, |all, value| all.and(value.0, value.1));
    if evidence.is_empty() {
        Verdict::Pass
    } else {
        Verdict::Hit(evidence)
    }
}

/// Reason why figures over finite numbers do not represent the tensor; `None` if they do.
pub(crate) fn not_finite(digest: &Digest) -> Option<Missing> {
    if digest.has_nan {
        Some(Missing::Nan)
    } else if digest.has_pos_inf || digest.has_neg_inf {
        Some(Missing::Inf)
    } else if digest.count == 0 {
        Some(Missing::Empty)
    } else {
        None
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Tensors for the tables of the checks.

    use trainscope_format::tensor::{DType, Select, Tolerance};
    use trainscope_format::{Role, TensorSummary};

    use super::super::model::condition::Formula;
    use super::super::model::observation::Observation;
    use super::*;

    pub(crate) fn summary(values: &[f32]) -> TensorSummary {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let seen = Select::new().exponents().hash().read(DType::F32, &bytes);
        TensorSummary {
            role: Role::Other,
            dtype: DType::F32,
            shape: vec![values.len() as u64],
            stats: seen.stats,
            hash: seen.hash,
            change: None,
            channels: None,
        }
    }

    pub(crate) fn changed(before: &[f32], values: &[f32]) -> TensorSummary {
        let [old, new] =
            [before, values].map(|v| v.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
        let select = Select::new().change(&old, Tolerance::default());
        TensorSummary {
            change: select.read(DType::F32, &new).change,
            ..summary(values)
        }
    }

    pub(crate) fn verdict(formula: Formula, limits: &[(Key, f64)], values: &[f32]) -> Verdict {
        on(formula, limits, &summary(values), None)
    }

    pub(crate) fn verdict_after(
        formula: Formula,
        limits: &[(Key, f64)],
        before: &[f32],
        values: &[f32],
    ) -> Verdict {
        let old = summary(before);
        on(formula, limits, &changed(before, values), Some(&old))
    }

    pub(crate) fn on(
        formula: Formula,
        given: &[(Key, f64)],
        summary: &TensorSummary,
        before: Option<&TensorSummary>,
    ) -> Verdict {
        // NaN is off.
        let limits = given
            .iter()
            .copied()
            .filter(|limit| !limit.1.is_nan())
            .collect();
        let observe = |summary, step| Observation {
            rank: 0,
            step,
            name: "t",
            op: "",
            summary,
            tolerance: Tolerance::default(),
        };
        let now = observe(summary, 1);
        let before = before.map(|summary| Digest::of(&observe(summary, 0)));
        formula(
            &limits,
            &FormulaInput {
                now: &now,
                before: before.as_ref(),
                digest: &Digest::of(&now),
            },
        )
    }
}
