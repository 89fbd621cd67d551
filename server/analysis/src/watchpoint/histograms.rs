//! Histograms of tensors: evidence for NaN and infinities, and its limits.
//!
//! A histogram has no order and no exact elements: neither a change nor a moment of the tensor follows from it. Equal
//! histograms do not prove that one weight was not updated, but those of all weights are never equal by chance: the
//! edges are the minimum and maximum of the elements.

use trainscope_api::Sentence;
use trainscope_format::tensor::{ContentHasher, DType, TensorStats};
use trainscope_format::{Histogram, Role, Severity, TensorSummary};

use super::checks::overflow;
use super::model::condition::{Judgement, Watchpoint};
use super::model::missing::Missing;
use super::model::new_hit::NewHit;
use super::model::run::Run;
use super::model::subject::{Class, Target};
use super::model::tensor::{Memory, Tensor};

/// Converts the counts of NaN and infinities to those of a tensor; all else stays unknown. If the format has no such
/// counts, NaN shows in the minimum, maximum, sum or edges.
pub(crate) fn summary_of(histogram: &Histogram) -> TensorSummary {
    let in_bins: f64 = histogram.counts.iter().filter(|count| **count > 0.0).sum();
    let mut stats = TensorStats {
        nan: histogram.nan,
        pos_inf: histogram.pos_inf,
        neg_inf: histogram.neg_inf,
        ..TensorStats::default()
    };
    let not_finite = stats.nan + stats.pos_inf + stats.neg_inf;
    if not_finite > 0 {
        stats.count = not_finite.saturating_add(whole(in_bins));
    } else if in_bins > 0.0 {
        mark_implied(histogram, &mut stats);
    }
    TensorSummary {
        role: Role::Other,
        dtype: DType::F64,
        shape: Vec::new(),
        stats,
        hash: (in_bins > 0.0).then(|| hash_of(histogram)),
        change: None,
        channels: None,
    }
}

/// Hash of edges and counts. Different hashes mean different tensors.
fn hash_of(histogram: &Histogram) -> u64 {
    let mut hasher = ContentHasher::new();
    let bins = [&histogram.lefts, &histogram.rights, &histogram.counts];
    let stated = [
        histogram.min,
        histogram.max,
        histogram.sum,
        histogram.sum_squares,
    ];
    for value in bins.into_iter().flatten().chain(stated.iter().flatten()) {
        hasher.write(&value.to_le_bytes());
    }
    hasher.finish()
}

/// Sets one NaN, Inf or -Inf if a recorded figure of the values, or without any an edge of a non-empty bin, has that
/// value.
fn mark_implied(histogram: &Histogram, stats: &mut TensorStats) {
    let stated = [histogram.min, histogram.max, histogram.sum];
    let bins = histogram
        .counts
        .iter()
        .zip(&histogram.lefts)
        .zip(&histogram.rights);
    let filled = bins.filter(|((count, _), _)| **count > 0.0);
    let edges = filled.flat_map(|((_, left), right)| [*left, *right]);
    let all: Vec<f64> = if stated.iter().any(Option::is_some) {
        stated.into_iter().flatten().collect()
    } else {
        edges.collect()
    };
    stats.nan = u64::from(all.iter().any(|value| value.is_nan()));
    stats.pos_inf = u64::from(all.contains(&f64::INFINITY));
    stats.neg_inf = u64::from(all.contains(&f64::NEG_INFINITY));
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are positive here, and a larger one saturates"
)]
fn whole(count: f64) -> u64 {
    count.round() as u64
}

/// Adds findings in histograms to those in tensors. A tensor that was also recorded in full at a step is judged by its
/// elements there; consecutive steps are one finding, however they were recorded.
pub(crate) fn judge(run: &Run<'_>, index: u32, watchpoint: &Watchpoint, judged: &mut Judgement) {
    for tensor in run.histograms {
        if !watchpoint.watches(&tensor.name, &tensor.subject) {
            continue;
        }
        let in_full = run.in_full(tensor);
        if !tensor.watching.contains(&index) {
            let target = watchpoint.condition.target;
            let is_about_tensors = !matches!(target, Target::Run | Target::Profile);
            if let Some(first) = tensor
                .history
                .first()
                .filter(|_| in_full.is_none() && is_about_tensors)
            {
                let why = (Missing::OnlyHistogram, first.step, tensor.history.seen);
                judged.missing.push((tensor.rank, tensor.name.clone(), why));
            }
            continue;
        }
        let mut memories = tensor.memories.iter();
        let memory = memories.find(|memory| memory.watchpoint == index);
        for episode in memory.map(Memory::episodes).unwrap_or_default() {
            let step = episode.first;
            if in_full.is_some_and(|full| full.history.at(step).is_some()) {
                continue;
            }
            let found = NewHit::at(run, tensor, step, episode.evidence).until(episode.last);
            let mut found = said(run, tensor, found);
            if let Some(full) = in_full.filter(|_| watchpoint.context) {
                let of_own = |other: &NewHit| {
                    other.rank == full.rank && other.tensor == full.name && other.step > step
                };
                if let Some(at) = judged.found.iter().position(of_own) {
                    found.last_step = found.last_step.max(judged.found.remove(at).last_step);
                }
            }
            judged.found.push(found);
        }
    }
}

/// Adds the sentence to a finding. -Inf alone may be a mask, except in weights and gradients.
fn said(run: &Run<'_>, tensor: &Tensor, found: NewHit) -> NewHit {
    let Some(digest) = tensor.history.at(found.step) else {
        return found;
    };
    let is_trained = matches!(
        tensor.subject.class,
        Class::Weight | Class::Gradient | Class::ActivationGradient
    );
    let is_mask = digest.has_neg_inf && !digest.has_nan && !digest.has_pos_inf && !is_trained;
    let sentence = if digest.count > 0 {
        overflow::counted(tensor, &found, digest, false)
    } else {
        let name = &tensor.name;
        Sentence {
            en: format!("{name} holds NaN or Inf; its histogram does not count them"),
            zh: format!("{name} 含有 NaN 或 Inf；其直方图未计数"),
        }
    };
    NewHit {
        severity: is_mask.then_some(Severity::Info),
        sentence: Some(sentence),
        flow: run.flow(tensor),
        ..found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(histogram: &Histogram) -> [u64; 4] {
        let stats = summary_of(histogram).stats;
        [stats.nan, stats.pos_inf, stats.neg_inf, stats.count]
    }

    #[test]
    fn counts_come_first_and_stated_figures_tell_the_rest() {
        let bins = |edges: [f64; 3]| Histogram {
            lefts: edges[..2].to_vec(),
            rights: edges[1..].to_vec(),
            counts: vec![3.0, 5.0],
            count: 8.0,
            ..Histogram::default()
        };
        let plain = bins([-1.0, 0.0, 1.0]);
        assert_eq!(kinds(&plain), [0, 0, 0, 0]);
        assert_eq!(
            kinds(&Histogram {
                nan: 2,
                neg_inf: 1,
                ..plain.clone()
            }),
            [2, 0, 1, 11]
        );
        assert_eq!(
            kinds(&Histogram {
                sum: Some(f64::NAN),
                ..plain.clone()
            }),
            [1, 0, 0, 0]
        );
        assert_eq!(
            kinds(&Histogram {
                max: Some(f64::INFINITY),
                ..plain.clone()
            }),
            [0, 1, 0, 0]
        );
        // The last bin of TensorFlow's histograms is unbounded; minimum and maximum show that the values are not.
        let open = bins([-1.0, 0.0, f64::INFINITY]);
        let stated = Histogram {
            min: Some(-1.0),
            max: Some(7.0),
            ..open.clone()
        };
        assert_eq!(kinds(&stated), [0, 0, 0, 0]);
        assert_eq!(kinds(&open), [0, 1, 0, 0]);
        assert_eq!(kinds(&bins([f64::NAN, f64::NAN, f64::NAN])), [1, 0, 0, 0]);
        // Without values there is no minimum and maximum.
        let empty = Histogram {
            counts: vec![0.0, 0.0],
            min: Some(f64::INFINITY),
            ..plain
        };
        assert_eq!(kinds(&empty), [0, 0, 0, 0]);
    }
}
