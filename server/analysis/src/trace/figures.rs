//! Statistics of steps, and figures of devices over them.

use std::collections::BTreeMap;

use trainscope_api::profile::{Delays, DeviceFigures, DeviceShare};
use trainscope_format::trace::{DeviceWork, LaneKind, NONE, SliceClass};

use super::kernels::TensorCores;
use super::parts::{RoleRanges, StepTime};
use super::ranges::{Span, meet, merge, total, within};
pub(super) use super::robust::rounded;
use super::steps::StepRange;
use super::{Model, Role, Step, lane};

/// Minimum distance of outliers from the median, in median absolute deviations.
const OUTLIER_DEVIATIONS: i64 = 5;
/// Minimum ratio of outliers to the median: steps of equal length have no deviation.
const OUTLIER_SHARE: f64 = 1.05;

/// Statistics of lengths, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// Mean.
    pub mean: i64,
    /// Median.
    pub median: i64,
    /// Length that 95 % do not exceed.
    pub p95: i64,
    /// Median absolute deviation.
    pub mad: i64,
}

impl Lengths {
    /// Statistics of `lengths`; zeros if it is empty.
    pub fn new(mut lengths: Vec<i64>) -> Self {
        let count = i64::try_from(lengths.len()).unwrap_or(i64::MAX).max(1);
        let sum = lengths.iter().copied().fold(0, i64::saturating_add);
        let p95 = percentile(&mut lengths, 0.95);
        let median = median(&mut lengths);
        for length in &mut lengths {
            *length = length.saturating_sub(median).saturating_abs();
        }
        Self {
            mean: rounded(sum, count),
            median,
            p95,
            mad: self::median(&mut lengths),
        }
    }

    /// `true` for a length that is an outlier among them.
    pub fn is_outlier(&self, length: i64) -> bool {
        let deviations = self.mad.saturating_mul(OUTLIER_DEVIATIONS);
        length > self.median.saturating_add(deviations)
            && length as f64 > OUTLIER_SHARE * self.median as f64
    }
}

/// Median, the mean of the two in the middle of an even number; reorders the values.
pub(super) fn median(values: &mut [i64]) -> i64 {
    if values.is_empty() {
        return 0;
    }
    let middle = values.len() / 2;
    let is_even = values.len().is_multiple_of(2);
    let (below, upper, _) = values.select_nth_unstable(middle);
    match below.iter().max() {
        Some(lower) if is_even => lower.midpoint(*upper),
        _ => *upper,
    }
}

/// The minimum value that a share of the values does not exceed; reorders the values.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a number of values"
)]
pub(super) fn percentile(values: &mut [i64], share: f64) -> i64 {
    let Some(last) = values.len().checked_sub(1) else {
        return 0;
    };
    let rank = (values.len() as f64 * share).ceil() as usize;
    let rank = rank.saturating_sub(1).min(last);
    *values.select_nth_unstable(rank).1
}

/// Delays between the end of each launch call and the start of its work; `None` without launches. Without a range all
/// launches count, also those outside of steps.
pub fn launch_delays(model: &Model, range: StepRange) -> Option<Delays> {
    let chosen = model.chosen(range);
    let launched = model.slices().filter_map(|slice| {
        let call = model.launches[slice as usize];
        let begin = model.span(slice).0;
        let counts = call != NONE && chosen.holds(begin);
        counts.then(|| begin.saturating_sub(model.span(call).1).max(0))
    });
    let mut delays: Vec<i64> = launched.collect();
    let max = delays.iter().copied().max()?;
    Some(Delays {
        count: delays.len() as u64,
        sum: delays.iter().copied().fold(0, i64::saturating_add),
        median: median(&mut delays),
        max,
    })
}

/// Figures of the devices over steps; `None` without work on a device.
pub fn device_figures(
    model: &Model,
    ranges: &RoleRanges,
    steps: &[Step],
    times: &[StepTime],
) -> Option<DeviceFigures> {
    if ranges.device.is_empty() {
        return None;
    }
    let (first, last) = (steps.first()?, steps.last()?);
    let length = last.end.saturating_sub(first.begin).max(1) as f64;
    let sum = |part: fn(&StepTime) -> i64| times.iter().map(part).fold(0, i64::saturating_add);
    let communication = sum(|time| time.communication);
    let hidden = sum(|time| time.hidden);
    let spans = merge(steps.iter().map(|step| (step.begin, step.end)).collect());
    let mut kernels = KernelFigures::new(model, &spans);
    Some(DeviceFigures {
        busy_nanos: sum(|time| time.busy),
        utilization: sum(|time| time.kernels) as f64 / length,
        sm_efficiency: kernels.efficiency(length),
        occupancy: kernels.occupancy(),
        overlap: (communication > 0).then(|| hidden as f64 / communication as f64),
        tensor_cores: kernels.tensor_cores(),
        short_kernels: kernels.short,
        kernels: kernels.count,
    })
}

/// The share of the time of steps during which each device runs kernels or collectives; empty for a single device.
pub fn device_shares(model: &Model, steps: &[Step]) -> Vec<DeviceShare> {
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        return Vec::new();
    };
    let length = last.end.saturating_sub(first.begin).max(1) as f64;
    let mut devices: BTreeMap<&str, (usize, Vec<Span>)> = BTreeMap::new();
    for (number, lane) in model.trace.lanes.iter().enumerate() {
        if lane.kind != LaneKind::Device {
            continue;
        }
        let counts = |slice: usize| {
            let role = model.roles.get(slice);
            role.is_some_and(|role| matches!(role, Role::Kernel | Role::Communication))
        };
        let mut spans = Vec::new();
        lane::spans(model, number, &mut spans, counts);
        if !spans.is_empty() {
            let entry = devices.entry(&lane.process);
            entry.or_insert((number, Vec::new())).1.extend(spans);
        }
    }
    if devices.len() < 2 {
        return Vec::new();
    }
    let steps = merge(steps.iter().map(|step| (step.begin, step.end)).collect());
    let shares = devices.into_values().map(|(lane, spans)| DeviceShare {
        name: lane::group_name(model, lane),
        utilization: total(&meet(&merge(spans), &steps)) as f64 / length,
    });
    shares.collect()
}

/// Sums over the kernels of steps.
#[derive(Default)]
struct KernelFigures {
    /// Change of blocks per multiprocessor by time; collectives are kernels too.
    blocks: Vec<(i64, f64)>,
    occupied_nanos: f64,
    occupancy_nanos: i64,
    compute_nanos: i64,
    tensor_core_nanos: i64,
    knows_tensor_cores: bool,
    short: u64,
    count: u64,
}

impl KernelFigures {
    /// Share of the time of kernels that use tensor cores.
    fn tensor_cores(&self) -> Option<f64> {
        let share = self.tensor_core_nanos as f64 / self.compute_nanos.max(1) as f64;
        self.knows_tensor_cores.then_some(share)
    }

    fn new(model: &Model, steps: &[Span]) -> Self {
        let mut figures = Self::default();
        let tensor_cores = TensorCores::new(model);
        figures.knows_tensor_cores = tensor_cores.is_known();
        let kernels = model.slices();
        for slice in kernels.filter(|slice| model.class(*slice) == SliceClass::Kernel) {
            let (begin, end) = model.span(slice);
            let inside = within(steps, begin, end);
            let lengths = inside
                .iter()
                .map(|step| step.1.min(end).saturating_sub(step.0.max(begin)));
            let nanos = lengths.fold(0, i64::saturating_add);
            let detail = model.trace.slices.details[slice as usize] as usize;
            if let Some(work) = model.trace.device_work.get(detail) {
                let parts = inside
                    .iter()
                    .map(|step| (step.0.max(begin), step.1.min(end)));
                figures.add_work(work, parts, nanos);
            }
            let is_outside = within(steps, begin, begin.saturating_add(1)).is_empty();
            if model.roles[slice as usize] != Role::Kernel || is_outside {
                continue;
            }
            figures.count += 1;
            figures.compute_nanos = figures.compute_nanos.saturating_add(nanos);
            if tensor_cores.uses(model, slice) {
                figures.tensor_core_nanos = figures.tensor_core_nanos.saturating_add(nanos);
            }
            let call = model.launches[slice as usize];
            if call != NONE {
                let call = model.span(call);
                figures.short +=
                    u64::from(end.saturating_sub(begin) < call.1.saturating_sub(call.0));
            }
        }
        figures
    }

    fn add_work(&mut self, work: &DeviceWork, parts: impl Iterator<Item = Span>, nanos: i64) {
        let blocks = f64::from(work.blocks_per_multiprocessor);
        if blocks >= 0.0 && blocks.is_finite() {
            for (begin, end) in parts {
                self.blocks.extend([(begin, blocks), (end, -blocks)]);
            }
        }
        let occupancy = f64::from(work.occupancy_percent);
        if occupancy >= 0.0 && occupancy.is_finite() {
            self.occupied_nanos += occupancy / 100.0 * nanos as f64;
            self.occupancy_nanos = self.occupancy_nanos.saturating_add(nanos);
        }
    }

    fn occupancy(&self) -> Option<f64> {
        (self.occupancy_nanos > 0).then(|| self.occupied_nanos / self.occupancy_nanos as f64)
    }

    /// Mean over `length` nanoseconds of the blocks per multiprocessor of all kernels that run, at most 1.
    fn efficiency(&mut self, length: f64) -> Option<f64> {
        if self.blocks.is_empty() {
            return None;
        }
        // Ends first: kernels back to back do not overlap.
        self.blocks
            .sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (mut last, mut blocks, mut nanos) = (i64::MIN, 0.0_f64, 0.0_f64);
        for &(time, change) in &self.blocks {
            if blocks > 0.0 {
                nanos += time.saturating_sub(last) as f64 * blocks.min(1.0);
            }
            blocks += change;
            last = time;
        }
        Some((nanos / length).min(1.0))
    }
}
