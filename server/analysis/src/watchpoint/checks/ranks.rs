//! Replicas on several ranks that differ, and weights that are equal but should not be.

use std::collections::BTreeMap;
use std::sync::Arc;

use trainscope_format::Severity;

use super::Judgement;
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::missing::Missing;
use crate::watchpoint::model::new_hit::NewHit;
use crate::watchpoint::model::run::Run;
use crate::watchpoint::model::subject::{Class, Family};
use crate::watchpoint::model::tensor::Tensor;

/// A tensor that several ranks have: the steps at which all of them agree, and at which one differs.
struct Replica<'a> {
    class: Class,
    /// Steps recorded by at least two ranks.
    agrees: Vec<i64>,
    differs: Vec<(i64, &'a Tensor)>,
}

fn replicas<'a>(run: &Run<'a>, watchpoint: &'a Watchpoint) -> BTreeMap<Arc<str>, Replica<'a>> {
    let mut by_name: BTreeMap<Arc<str>, Vec<&'a Tensor>> = BTreeMap::new();
    for tensor in run.tensors {
        let is_replicated = matches!(tensor.subject.class, Class::Weight | Class::Gradient);
        if is_replicated && watchpoint.covers(&tensor.name) {
            by_name.entry(tensor.name.clone()).or_default().push(tensor);
        }
    }
    by_name.retain(|_, tensors| tensors.len() > 1);
    by_name
        .into_iter()
        .map(|(name, tensors)| {
            let mut replica = Replica {
                class: tensors[0].subject.class,
                agrees: Vec::new(),
                differs: Vec::new(),
            };
            for digest in tensors[0].history.iter().filter(|d| d.hash != 0) {
                let step = digest.step;
                let others = tensors[1..]
                    .iter()
                    .filter_map(|t| Some((*t, t.history.at(step)?)));
                let known: Vec<_> = others.filter(|(_, d)| d.hash != 0).collect();
                match odd_one(
                    tensors[0],
                    digest.hash,
                    &known.iter().map(|(t, d)| (*t, d.hash)).collect::<Vec<_>>(),
                ) {
                    _ if known.is_empty() => {}
                    Some(tensor) => replica.differs.push((step, tensor)),
                    None => replica.agrees.push(step),
                }
            }
            (name, replica)
        })
        .collect()
}

/// The rank that differs from most; of two, the second.
fn odd_one<'a>(first: &'a Tensor, hash: u64, others: &[(&'a Tensor, u64)]) -> Option<&'a Tensor> {
    let differing: Vec<_> = others.iter().filter(|(_, other)| *other != hash).collect();
    if differing.len() * 2 > others.len() && others.len() > 1 {
        return Some(first);
    }
    differing.first().map(|(tensor, _)| *tensor)
}

/// Weights, and averaged gradients, that differ between ranks in any bit. A tensor that never agreed is not
/// replicated, unless other data show that the ranks do the same.
pub(crate) fn divergence(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let mut judged = Judgement::default();
    if run.ranks.len() < 2 {
        return judged;
    }
    let replicas = replicas(run, watchpoint);
    let averaged = replicas
        .values()
        .any(|r| r.class == Class::Gradient && !r.agrees.is_empty());
    let mut has_hash = false;
    for replica in replicas.values() {
        has_hash |= !(replica.agrees.is_empty() && replica.differs.is_empty());
        let is_gradient = replica.class == Class::Gradient;
        let parts = replica.differs.first().copied().filter(|_| {
            if is_gradient {
                !replica.agrees.is_empty() && replica.agrees.len() >= replica.differs.len().min(2)
            } else {
                averaged || !replica.agrees.is_empty()
            }
        });
        let drives = || {
            replica
                .differs
                .iter()
                .find(|d| is_gradient && parts_weights(run, &replicas, d))
        };
        let Some((step, tensor)) = parts.or_else(|| drives().copied()) else {
            continue;
        };
        let last = replica.differs.last().map_or(step, |d| d.0);
        let hit = NewHit::at(
            run,
            tensor,
            step,
            (Key::Count, replica.differs.len() as f64),
        );
        let (name, rank) = (&tensor.name, tensor.rank);
        judged.found.push(hit.until(last).saying(
            format!("{name} differs between ranks: rank {rank} has other values"),
            format!("{name} 在各 rank 上不一致：rank {rank} 的值不同"),
        ));
    }
    if !has_hash && !replicas.is_empty() {
        let first = run.steps.first().unwrap_or(0);
        judged
            .missing
            .push((0, "".into(), (Missing::NoHash, first, run.steps.len())));
    }
    judged
}

/// True if the weights of a gradient that differs between ranks agreed at its step, and differ at their next one: then
/// it was not averaged, or changed on one rank after that. Gradients of shards and those from before the average leave
/// no such trace.
fn parts_weights(
    run: &Run<'_>,
    replicas: &BTreeMap<Arc<str>, Replica<'_>>,
    (step, gradient): &(i64, &Tensor),
) -> bool {
    let weight = run.partner(gradient, Class::Weight);
    let Some(weight) = weight.and_then(|weight| replicas.get(&weight.name)) else {
        return false;
    };
    let differs = weight.differs.iter().map(|d| d.0).find(|s| s > step);
    let agrees = weight.agrees.iter().copied().find(|s| s > step);
    weight.agrees.contains(step)
        && differs.is_some_and(|differs| agrees.is_none_or(|agrees| differs < agrees))
}

/// One weight of one rank that differs first, while all gradients before were equal: no program does that.
pub(crate) fn corruption(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    if run.ranks.len() < 2 {
        return Judgement::default();
    }
    let replicas = replicas(run, watchpoint);
    let first = replicas
        .values()
        .filter_map(|r| r.differs.first().map(|d| d.0))
        .min();
    let Some(first) = first else {
        return Judgement::default();
    };
    let mut at_first = replicas
        .values()
        .filter(|r| r.differs.first().is_some_and(|d| d.0 == first));
    let (Some(one), None) = (at_first.next(), at_first.next()) else {
        return Judgement::default();
    };
    let agreed_before = one.agrees.iter().any(|step| *step < first);
    if one.class != Class::Weight || !agreed_before {
        return Judgement::default();
    }
    let tensor = one.differs[0].1;
    let hit = NewHit::at(run, tensor, first, (Key::Count, 1.0)).called(Severity::Info);
    let (name, rank) = (&tensor.name, tensor.rank);
    vec![hit.saying(
        format!(
            "only {name} of rank {rank} differs although all gradients are equal: possible bit flip"
        ),
        format!("梯度全部相同，但 rank {rank} 的 {name} 不同：可能发生了位翻转"),
    )]
    .into()
}

/// Two weights of one rank that are equal at all steps, and are not an embedding tied on purpose.
pub(crate) fn shared(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let mut found = Vec::new();
    for &rank in &run.ranks {
        let mut by_hash: BTreeMap<(u64, u64), &Tensor> = BTreeMap::new();
        let weights = watchpoint.tensors_of(run).filter(|t| t.rank == rank);
        for weight in weights.filter(|t| t.subject.class == Class::Weight) {
            let Some(last) = weight.history.last() else {
                continue;
            };
            let is_telling = last.hash != 0 && last.is_finite() && last.max > last.min;
            if !is_telling || weight.history.len() < 2 {
                continue;
            }
            let Some(twin) = by_hash.insert((last.hash, last.count), weight) else {
                continue;
            };
            let same = weight.history.iter().all(|d| {
                twin.history
                    .at(d.step)
                    .is_some_and(|other| other.hash == d.hash)
            });
            let tied = [weight, twin]
                .iter()
                .any(|t| run.family(t) == Family::Embedding);
            if same && !tied {
                let step = weight.history.first().map_or(0, |d| d.step);
                let hit = NewHit::at(run, weight, step, (Key::Count, 1.0));
                let (name, other) = (&weight.name, &twin.name);
                found.push(hit.saying(
                    format!("{name} and {other} are identical at every step"),
                    format!("{name} 与 {other} 在每个迭代都相同"),
                ));
            }
        }
    }
    found.into()
}
