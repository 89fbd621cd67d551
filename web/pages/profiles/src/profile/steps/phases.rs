//! Phases of steps: stretches from the start of each step, and medians.

use trainscope_api::profile::{PhaseKind, ProfileStep, SessionSummary};
use trainscope_charts::profile::Shade;

use super::super::model::{KINDS, kinds_of, length, median, shade_of};
use trainscope_web_kit::i18n::Texts;

/// Change of the length of steps over a session that counts as drift, as a share.
pub(super) const DRIFT: f64 = 0.05;
/// Minimum number of steps to judge drift.
const DRIFT_STEPS: usize = 8;
/// Share of the regular steps that the spread covers.
const COVERED: f64 = 0.95;

/// A part of a step: a phase, or a kind of time if no phases were recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Phase(PhaseKind),
    Kind(usize, bool),
}

impl Part {
    pub(super) const fn shade(self) -> Shade {
        match self {
            Self::Phase(kind) => shade_of(kind),
            Self::Kind(kind, _) => Shade::Time(kind),
        }
    }

    pub(super) fn name(self, texts: Texts) -> &'static str {
        match self {
            Self::Phase(kind) => texts.profile().phases[kind as usize],
            Self::Kind(kind, has_device) => texts.parts().kinds[usize::from(!has_device)][kind],
        }
    }

    pub(super) const fn is_forward(self) -> bool {
        matches!(self, Self::Phase(PhaseKind::Forward | PhaseKind::Training))
    }
}

/// A part with its start and end, ns since the start of the step.
pub(super) type Stretch = (Part, i64, i64);

/// Parts of all steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Phases {
    /// Stretches of each step in order of time.
    pub(super) steps: Vec<Vec<Stretch>>,
    /// Occurring parts, by their mean start.
    pub(super) parts: Vec<Part>,
}

impl Phases {
    pub(super) fn new(summary: &SessionSummary) -> Self {
        let has_phases = summary.steps.iter().any(|step| !step.phases.is_empty());
        let has_device = summary.device.is_some();
        let mut steps: Vec<Vec<Stretch>> = summary
            .steps
            .iter()
            .map(|step| {
                if has_phases {
                    of_phases(step)
                } else {
                    of_parts(step, has_device)
                }
            })
            .collect();
        add_intervals(summary, &mut steps);
        let mut begins: Vec<(Part, i64, i64)> = Vec::new();
        for (part, begin, _) in steps.iter().flatten() {
            match begins.iter_mut().find(|entry| entry.0 == *part) {
                Some(entry) => {
                    entry.1 = entry.1.saturating_add(*begin);
                    entry.2 += 1;
                }
                None => begins.push((*part, *begin, 1)),
            }
        }
        begins.sort_by_key(|entry| entry.1 / entry.2);
        Self {
            steps,
            parts: begins.into_iter().map(|entry| entry.0).collect(),
        }
    }

    /// Time of a part in a step, ns.
    pub(super) fn total(&self, step: usize, part: Part) -> i64 {
        let stretches = self.steps.get(step).into_iter().flatten();
        let stretches = stretches.filter(|stretch| stretch.0 == part);
        stretches
            .map(|(_, begin, end)| end.saturating_sub(*begin))
            .sum()
    }

    /// Start of the forward pass of a step, ns since the start of the step; 0 without one.
    pub(super) fn forward(&self, step: usize) -> i64 {
        let mut stretches = self.steps.get(step).into_iter().flatten();
        stretches
            .find(|stretch| stretch.0.is_forward())
            .map_or(0, |stretch| stretch.1)
    }

    /// Median time of each part over the whole steps.
    pub(super) fn medians(&self, summary: &SessionSummary) -> Vec<(Part, i64)> {
        let whole = whole(summary);
        let medians = self.parts.iter().map(|part| {
            let totals = whole.iter().map(|at| self.total(*at, *part));
            (*part, median(totals.collect()))
        });
        medians.filter(|entry| entry.1 > 0).collect()
    }
}

fn of_phases(step: &ProfileStep) -> Vec<Stretch> {
    let phases = step.phases.iter().map(|phase| {
        (
            Part::Phase(phase.kind),
            phase.begin_nanos.saturating_sub(step.begin_nanos),
            phase.end_nanos.saturating_sub(step.begin_nanos),
        )
    });
    phases.filter(|stretch| stretch.2 > stretch.1).collect()
}

/// Kinds of time one after another, data first.
fn of_parts(step: &ProfileStep, has_device: bool) -> Vec<Stretch> {
    let parts = kinds_of(&step.parts_nanos, has_device);
    let mut now = 0_i64;
    let mut stretches = Vec::with_capacity(KINDS);
    for kind in [3, 2, 0, 1, 4, 5] {
        let nanos = parts.get(kind).copied().unwrap_or(0);
        if nanos > 0 {
            let end = now.saturating_add(nanos);
            stretches.push((Part::Kind(kind, has_device), now, end));
            now = end;
        }
    }
    stretches
}

/// Adds the time between a step and the next one, if the answer has both.
fn add_intervals(summary: &SessionSummary, steps: &mut [Vec<Stretch>]) {
    for (at, pair) in summary.steps.windows(2).enumerate() {
        let [step, next] = pair else { continue };
        let is_next = next.number == step.number.saturating_add(1) && step.of_steps <= 1;
        let gap = next.begin_nanos.saturating_sub(step.end_nanos);
        if let (true, 1.., Some(stretches)) = (is_next, gap, steps.get_mut(at)) {
            let end = length(step);
            let part = Part::Phase(PhaseKind::Interval);
            stretches.push((part, end, end.saturating_add(gap)));
        }
    }
}

/// Positions of the whole steps; of all if none is whole.
fn whole(summary: &SessionSummary) -> Vec<usize> {
    let all = summary.steps.iter().enumerate();
    let whole: Vec<usize> = all
        .filter(|(_, step)| step.is_whole)
        .map(|(at, _)| at)
        .collect();
    if whole.is_empty() {
        (0..summary.steps.len()).collect()
    } else {
        whole
    }
}

/// Deviation from the median that 95 % of the steps do not exceed, as a share; without outliers.
pub(super) fn regular_spread(summary: &SessionSummary) -> f64 {
    let median = (summary.median_step_nanos as f64).max(1.0);
    let regular = summary
        .steps
        .iter()
        .filter(|step| step.is_whole && !step.is_outlier);
    let mut all: Vec<f64> = regular
        .map(|step| (length(step) as f64 - median).abs() / median)
        .collect();
    all.sort_by(f64::total_cmp);
    let at = trainscope_web_kit::pixels::whole(all.len() as f64 * COVERED);
    let last = all.len().saturating_sub(1);
    all.get(at.min(last)).copied().unwrap_or(0.0)
}

/// Median lengths of the first and of the last quarter of the steps; `None` with fewer than [`DRIFT_STEPS`].
pub(super) fn drift(summary: &SessionSummary) -> Option<(i64, i64)> {
    let lengths: Vec<i64> = summary
        .steps
        .iter()
        .filter(|step| step.is_whole)
        .map(length)
        .collect();
    if lengths.len() < DRIFT_STEPS {
        return None;
    }
    let quarter = lengths.len() / 4;
    let first = lengths.get(..quarter)?.to_vec();
    let last = lengths.get(lengths.len() - quarter..)?.to_vec();
    Some((median(first), median(last)))
}

/// Equal bins of lengths: edges, one more than counts, and counts.
pub(super) fn bins(lengths: &[i64], bins: usize) -> (Vec<f64>, Vec<f64>) {
    let (Some(least), Some(most)) = (lengths.iter().min(), lengths.iter().max()) else {
        return (Vec::new(), Vec::new());
    };
    let from = *least as f64;
    let width = ((*most as f64 - from) / bins as f64).max(1.0);
    let edges = (0..=bins).map(|bin| from + bin as f64 * width).collect();
    let mut counts = vec![0.0; bins];
    for length in lengths {
        let bin = trainscope_web_kit::pixels::whole((*length as f64 - from) / width);
        if let Some(count) = counts.get_mut(bin.min(bins.saturating_sub(1))) {
            *count += 1.0;
        }
    }
    (edges, counts)
}

#[cfg(test)]
mod tests {
    use trainscope_api::profile::{Parts, Phase};

    use super::*;

    fn step(number: i64, data: i64, is_outlier: bool) -> ProfileStep {
        let begin = number * 1_000;
        let phase = |kind, from: i64, to: i64| Phase {
            kind,
            begin_nanos: begin + from,
            end_nanos: begin + to,
        };
        ProfileStep {
            number,
            of_steps: 1,
            begin_nanos: begin,
            end_nanos: begin + data + 100,
            phases: vec![
                phase(PhaseKind::Data, 0, data),
                phase(PhaseKind::Forward, data, data + 60),
                phase(PhaseKind::Host, data + 60, data + 100),
            ],
            is_whole: true,
            is_outlier,
            ..ProfileStep::default()
        }
    }

    fn session() -> SessionSummary {
        let steps = (0..12).map(|number| {
            let is_outlier = number % 6 == 1;
            step(number, if is_outlier { 500 } else { 20 }, is_outlier)
        });
        SessionSummary {
            steps: steps.collect(),
            median_step_nanos: 120,
            ..SessionSummary::default()
        }
    }

    #[test]
    fn medians_are_those_of_all_whole_steps() {
        let summary = session();
        let phases = Phases::new(&summary);
        let data = Part::Phase(PhaseKind::Data);
        assert_eq!(phases.forward(0), 20);
        let medians = phases.medians(&summary);
        assert_eq!(medians[0], (data, 20));
        assert_eq!(medians[1], (Part::Phase(PhaseKind::Forward), 60));
        assert!(regular_spread(&summary) < 1e-9);
        assert_eq!(drift(&summary), Some((120, 120)));
    }

    #[test]
    fn time_between_steps_is_a_part_of_its_own() {
        let phases = Phases::new(&session());
        let interval = Part::Phase(PhaseKind::Interval);
        assert_eq!(phases.total(0, interval), 880);
        assert_eq!(phases.total(11, interval), 0, "the last has no next one");
    }

    #[test]
    fn without_phases_kinds_of_time_fill_the_step() {
        let summary = SessionSummary {
            steps: vec![ProfileStep {
                end_nanos: 10,
                parts_nanos: Parts {
                    data: 3,
                    operators: 7,
                    ..Parts::default()
                },
                ..ProfileStep::default()
            }],
            ..SessionSummary::default()
        };
        let phases = Phases::new(&summary);
        let found = &phases.steps[0];
        assert_eq!(found[0], (Part::Kind(3, false), 0, 3));
        assert_eq!(found[1], (Part::Kind(0, false), 3, 10));
        assert_eq!(drift(&summary), None);
    }

    #[test]
    fn every_length_is_in_a_bin() {
        let (edges, counts) = bins(&[5, 5, 9, 105], 10);
        assert_eq!(edges.len(), 11);
        assert_eq!((counts[0], counts[9]), (3.0, 1.0));
        let (_, counts) = bins(&[7, 7], 4);
        assert_eq!(counts, [2.0, 0.0, 0.0, 0.0]);
        assert_eq!(bins(&[], 4), (vec![], vec![]));
    }
}
