//! A gradient norm that is 0 although the training goes on.

use trainscope_format::digits;

use super::{Evidence, Judgement, design};
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::history::Digest;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::NewHit;
use crate::watchpoint::model::run::{LATE_FLOW, Run};
use crate::watchpoint::model::scalars::{Meaning, Series};
use crate::watchpoint::model::subject::Class;

/// Minimum number of different values of a loss that changes. Chosen.
const MIN_LEVELS: usize = 5;

/// The fact of a clipping without parameters, or else a norm of exactly 0 at all points while the loss changes.
pub(crate) fn zero(run: &Run<'_>, index: u32, watchpoint: &Watchpoint) -> Judgement {
    let of_facts = design::remarked(run, index, watchpoint);
    if !of_facts.found.is_empty() {
        return of_facts;
    }
    let points = watchpoint.limits.count(Key::Points);
    let mut found = Vec::new();
    for norm in run.scalars(Meaning::GradientNorm) {
        let is_zero = norm.values.iter().all(|value| *value == 0.0);
        if norm.len() < points
            || !is_zero
            || !changes(run, norm)
            || has_zero_gradients(run, norm.rank)
        {
            continue;
        }
        let (Some(first), Some(last)) = (norm.steps.first(), norm.steps.last()) else {
            continue;
        };
        let hit = NewHit::of_scalar(norm, *first, LATE_FLOW, Evidence::NONE).until(*last);
        let (tag, count) = (&norm.tag, digits::count(norm.len() as u64));
        found.push(hit.saying(
            format!("{tag} is 0 at all {count} points while the loss changes: no parameter with a gradient was clipped or measured"),
            format!("{tag} 在全部 {count} 个点上都为 0，而损失在变化：没有裁剪或测量任何带梯度的参数"),
        ));
    }
    found.into()
}

/// True if the loss of its rank has several levels at the steps of the norm.
fn changes(run: &Run<'_>, norm: &Series) -> bool {
    let Some(loss) = run.scalar(norm.rank, Meaning::Loss) else {
        return false;
    };
    let mut levels: Vec<f64> = loss
        .values
        .iter()
        .copied()
        .filter(|v| v.is_finite())
        .collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels.len() > MIN_LEVELS
}

/// True if recorded gradients are zeros as well: then the norm is right.
fn has_zero_gradients(run: &Run<'_>, rank: u32) -> bool {
    let mut gradients = run.of_class(rank, Class::Gradient).peekable();
    gradients.peek().is_some()
        && gradients.all(|gradient| gradient.history.iter().all(Digest::is_zero))
}
