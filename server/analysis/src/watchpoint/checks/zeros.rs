//! Shares of zeros, and initial weights.

use super::{FormulaInput, Judgement, Limits, Verdict, any_of, not_finite};
use crate::watchpoint::model::condition::Watchpoint;
use crate::watchpoint::model::key::Key;
use crate::watchpoint::model::new_hit::{NewHit, warning_if};
use crate::watchpoint::model::run::Run;
use crate::watchpoint::model::scalars::Meaning;
use crate::watchpoint::model::subject::Class;
use crate::watchpoint::model::tensor::Tensor;

/// Limit: the percentage of elements that are zero.
pub(crate) fn all_zero(limits: &Limits, seen: &FormulaInput<'_>) -> Verdict {
    if let Some(missing) = not_finite(seen.digest) {
        return Verdict::Inconclusive(missing);
    }
    let percentage = zero_percentage(seen);
    any_of([(
        Key::ZeroPercentageGe,
        percentage,
        is_zero(limits, percentage),
    )])
}

/// Limits: the percentage of zeros, the maximum, the minimum; of a weight at its first step.
pub(crate) fn initial(limits: &Limits, seen: &FormulaInput<'_>) -> Verdict {
    if seen.before.is_some() {
        return Verdict::Pass;
    }
    if let Some(missing) = not_finite(seen.digest) {
        return Verdict::Inconclusive(missing);
    }
    let percentage = zero_percentage(seen);
    let (max, min) = (seen.digest.max, seen.digest.min);
    any_of([
        (
            Key::ZeroPercentageGe,
            percentage,
            is_zero(limits, percentage),
        ),
        (Key::MaxGt, max, limits.is_above(Key::MaxGt, max)),
        (Key::MinLt, min, limits.is_below(Key::MinLt, min)),
    ])
}

fn is_zero(limits: &Limits, percentage: f64) -> bool {
    let limit = limits.get(Key::ZeroPercentageGe);
    limit.is_some_and(|limit| percentage >= limit)
}

fn zero_percentage(seen: &FormulaInput<'_>) -> f64 {
    let stats = &seen.now.summary.stats;
    100.0 * stats.zero as f64 / stats.count as f64
}

/// Minimum number of consecutive steps with an input, an output of a layer or a gradient of zeros. Chosen.
const INPUT_STEPS: usize = 2;
const ACTIVATION_STEPS: usize = 3;
const GRADIENT_STEPS: usize = 5;
/// Multiple of the longest earlier interval of zeros that the last one exceeds. Chosen.
const MUCH_LONGER: usize = 3;

/// Tensors that stay zero: inputs, outputs of layers, gradients of weights. A gradient may be zero for a while if a
/// part of the model had no samples; weights and biases may start at zero.
pub(crate) fn judge(run: &Run<'_>, _: u32, watchpoint: &Watchpoint) -> Judgement {
    let limit = watchpoint.limits.value(Key::ZeroPercentageGe);
    let mut found = Vec::new();
    for tensor in watchpoint.tensors_of(run) {
        let needed = match run.class(tensor) {
            Class::Input => INPUT_STEPS,
            Class::Activation => ACTIVATION_STEPS,
            Class::Gradient => GRADIENT_STEPS,
            _ => continue,
        };
        let Some((first, last, steps, before)) = final_zeros(tensor, limit) else {
            continue;
        };
        let is_done =
            run.class(tensor) != Class::Input && has_come_to_zero(run, tensor.rank, first);
        let is_lasting = steps >= needed
            && steps > MUCH_LONGER * before
            && !is_done
            && !is_without_effect(run, tensor);
        let severity = warning_if(is_lasting);
        let hit = NewHit::at(run, tensor, first, (Key::ZeroPercentageGe, 100.0)).until(last);
        let name = &tensor.name;
        found.push(hit.called(severity).saying(
            format!("{name} is all zero for {steps} consecutive recorded steps"),
            format!("{name} 连续 {steps} 个记录的迭代全部为零"),
        ));
    }
    found.into()
}

/// True for the gradient of a bias whose weight has one: the loss does not depend on the bias, as for the critic of a
/// Wasserstein GAN.
fn is_without_effect(run: &Run<'_>, gradient: &Tensor) -> bool {
    let of_module = run.of_class(gradient.rank, Class::Gradient);
    let mut others = of_module.filter(|other| other.subject.module == gradient.subject.module);
    let gets_one = |other: &Tensor| other.history.last().is_some_and(|digest| !digest.is_zero());
    run.class(gradient) == Class::Gradient
        && gradient.subject.is_vector()
        && others.any(|other| !other.subject.is_vector() && gets_one(other))
}

/// True if the loss has been exactly 0 since a step, and was not before: every sample satisfies the margin of a hinge
/// loss, and there is no gradient.
fn has_come_to_zero(run: &Run<'_>, rank: u32, from: i64) -> bool {
    let Some(loss) = run.scalar(rank, Meaning::Loss) else {
        return false;
    };
    let mut since = loss.since(from).peekable();
    since.peek().is_some() && since.all(|p| p.1 == 0.0) && loss.before(from).any(|p| p.1 != 0.0)
}

/// The last interval of zeros, if the tensor ends with it, and the length of the longest earlier one.
fn final_zeros(tensor: &Tensor, limit: f64) -> Option<(i64, i64, usize, usize)> {
    let (mut longest, mut steps, mut first) = (0, 0, 0);
    for digest in tensor.history.iter() {
        let is_zero =
            digest.is_finite() && digest.count > 0 && f64::from(digest.zero_share) * 100.0 >= limit;
        if !is_zero {
            longest = longest.max(steps);
            steps = 0;
            continue;
        }
        if steps == 0 {
            first = digest.step;
        }
        steps += 1;
    }
    (steps > 0).then_some((first, tensor.history.last()?.step, steps, longest))
}

#[cfg(test)]
mod tests {
    use super::super::Evidence;
    use super::super::testing::{on, summary, verdict};
    use super::*;
    use crate::watchpoint::model::missing::Missing;

    const OFF: f64 = f64::NAN;

    #[test]
    fn the_share_of_zeros_is_held_against_the_limit() {
        let of = |limit: f64, values: &[f32]| {
            verdict(all_zero, &[(Key::ZeroPercentageGe, limit)], values)
        };
        assert_eq!(
            of(100.0, &[0.0, -0.0]),
            Verdict::Hit(Evidence::of(Key::ZeroPercentageGe, 100.0))
        );
        assert_eq!(of(100.0, &[0.0, 1e-45]), Verdict::Pass);
        assert_eq!(
            of(50.0, &[0.0, 1.0]),
            Verdict::Hit(Evidence::of(Key::ZeroPercentageGe, 50.0))
        );
        assert_eq!(
            of(50.0, &[0.0, f32::NAN]),
            Verdict::Inconclusive(Missing::Nan)
        );
        assert_eq!(of(50.0, &[]), Verdict::Inconclusive(Missing::Empty));
    }

    #[test]
    fn only_the_first_state_of_a_weight_is_its_initial_one() {
        let of = |limits: [f64; 3], values: &[f32]| {
            let keys = [Key::ZeroPercentageGe, Key::MaxGt, Key::MinLt];
            verdict(
                initial,
                &keys.into_iter().zip(limits).collect::<Vec<_>>(),
                values,
            )
        };
        assert_eq!(
            of([100.0, OFF, OFF], &[0.0]),
            Verdict::Hit(Evidence::of(Key::ZeroPercentageGe, 100.0))
        );
        assert_eq!(
            of([OFF, 1.0, OFF], &[2.0, 0.0]),
            Verdict::Hit(Evidence::of(Key::MaxGt, 2.0))
        );
        assert_eq!(
            of([OFF, OFF, -1.0], &[-2.0]),
            Verdict::Hit(Evidence::of(Key::MinLt, -2.0))
        );
        assert_eq!(of([100.0, 1.0, -1.0], &[0.5]), Verdict::Pass);
        let zero = summary(&[0.0]);
        assert_eq!(
            on(
                initial,
                &[(Key::ZeroPercentageGe, 100.0)],
                &zero,
                Some(&zero)
            ),
            Verdict::Pass
        );
    }
}
