//! The summary of a session: the content of the overview without its advice.

use std::collections::BTreeMap;

use trainscope_api::profile::{
    CategoryTotal, KindGrowth, LaneTotal, MAX_STRETCHES, OperatorGroup, Parts, ProfileStep,
    SessionSummary,
};
use trainscope_api::timeline::TimeKind;

use super::figures::{Lengths, device_figures, device_shares, launch_delays};
use super::operators::Operators;
use super::parts::{self, RoleRanges, StepTime};
use super::ranges::Span;
use super::step_phases::MainThread;
use super::steps::StepRange;
use super::{Model, Step, critical, idle, memory};

/// Number of operators in a summary.
const OPERATORS: usize = 10;

/// The summary of a model over a range of steps, with at most `max_steps` steps. With more steps, each group of
/// neighbours is represented by its longest step.
pub fn summary(model: &Model, range: StepRange, max_steps: usize) -> SessionSummary {
    let steps = model.steps_in(range);
    let whole = model.whole_steps_in(range);
    let ranges = RoleRanges::new(model);
    let times: Vec<StepTime> = steps.iter().map(|step| ranges.time(step)).collect();
    let whole_times: Vec<StepTime> = whole.iter().map(|step| ranges.time(step)).collect();
    let lengths = Lengths::new(whole.iter().map(length).collect());
    let whole_parts: Vec<Parts> = whole_times.iter().map(|time| time.parts).collect();
    let is_outlier = |step: &Step| lengths.is_outlier(length(step));
    let outliers = whole.iter().filter(|step| is_outlier(step));
    let parts_of = |wanted: bool| -> Vec<Parts> {
        let pairs = whole.iter().zip(&whole_parts);
        pairs
            .filter(|(step, _)| is_outlier(step) == wanted)
            .map(|(_, parts)| *parts)
            .collect()
    };
    let has_device = !ranges.device.is_empty();
    let outlier_growth = growth(&parts_of(true), &parts_of(false), has_device);
    let operators = Operators::new(model);
    let mut rows = operators.table(OperatorGroup::Name, range).rows;
    let operator_count = rows.len() as u64;
    rows.truncate(OPERATORS);
    let has_steps = !model.steps.list.is_empty();
    let chosen = model.chosen(range);
    let mut gaps = idle::gaps(model);
    gaps.retain(|gap| chosen.holds(gap.begin));
    let spans: Vec<Span> = steps.iter().map(|step| (step.begin, step.end)).collect();
    let devices = device_shares(model, &whole);
    let mut device = device_figures(model, &ranges, &whole, &whole_times);
    if let (Some(figures), false) = (&mut device, devices.is_empty()) {
        let sum: f64 = devices.iter().map(|device| device.utilization).sum();
        figures.utilization = sum / devices.len() as f64;
    }
    SessionSummary {
        steps_from: model.steps.source,
        steps_by: model.steps.by.clone(),
        step_count: if has_steps { steps.len() as u64 } else { 0 },
        whole_steps: if has_steps {
            steps.iter().filter(|step| step.is_whole).count() as u64
        } else {
            0
        },
        median_step_nanos: lengths.median,
        mean_step_nanos: lengths.mean,
        p95_step_nanos: lengths.p95,
        mad_step_nanos: lengths.mad,
        outliers: outliers
            .take(MAX_STRETCHES)
            .map(|step| step.number)
            .collect(),
        outlier_growth,
        mean_parts_nanos: parts::mean(&whole_parts),
        device,
        devices,
        idle: idle::totals(model, &gaps),
        host_while_idle_nanos: idle::host_meanwhile(model, &gaps),
        critical_path_nanos: critical::totals(model, &spans),
        launch_delay_nanos: launch_delays(model, range),
        memory: memory::totals(model),
        flops: operators.flops(range),
        peak_flops: operators.peak_flops(range),
        counted_flops: operators.counted_flops(range),
        operators: rows,
        operator_count,
        steps: step_rows(model, &steps, &times, lengths, max_steps),
        ..facts(model)
    }
}

/// The kind of time that grew most from the usual steps to the long ones, by their means.
fn growth(long: &[Parts], usual: &[Parts], has_device: bool) -> Option<KindGrowth> {
    if long.is_empty() || usual.is_empty() {
        return None;
    }
    let kinds = |of: &[Parts]| parts::mean(of).kinds(has_device);
    let pairs = kinds(long).into_iter().zip(kinds(usual));
    let grown = TimeKind::ALL.into_iter().zip(pairs);
    grown
        .map(|(kind, (long, usual))| KindGrowth {
            kind,
            nanos: long.saturating_sub(usual),
        })
        .max_by_key(|growth| growth.nanos)
        .filter(|growth| growth.nanos > 0)
}

fn length(step: &Step) -> i64 {
    step.end.saturating_sub(step.begin)
}

/// The facts of a trace that do not depend on its steps.
fn facts(model: &Model) -> SessionSummary {
    let trace = &model.trace;
    let origin = model.origin();
    let unix = trace.head.unix_offset_nanos;
    let device = trace.head.devices.first();
    let mut categories: BTreeMap<String, CategoryTotal> = BTreeMap::new();
    for category in &trace.categories {
        let total = categories.entry(category.name.clone()).or_default();
        total.count += category.count;
        total.nanos = total.nanos.saturating_add(category.nanos);
    }
    let mut flows: BTreeMap<String, u64> = BTreeMap::new();
    for flow in &trace.flows {
        let category = trace.texts.get(flow.category);
        match flows.get_mut(category) {
            Some(count) => *count += 1,
            None => {
                flows.insert(category.to_owned(), 1);
            }
        }
    }
    SessionSummary {
        rank: trace.head.rank.unwrap_or_default(),
        format: trace.head.format.as_str().to_owned(),
        damaged: trace.counts.damaged,
        host: trace.head.host.clone(),
        device_name: device.map(|device| device.name.clone()),
        origin_nanos: origin.to_string(),
        unix_nanos: unix.map(|unix| unix.saturating_add(origin).to_string()),
        extent_nanos: model.extent.end.saturating_sub(origin),
        events: trace.counts.events,
        by_phase: trace.counts.by_phase.clone(),
        unread: trace.counts.unread.clone(),
        unnested: model.unnested,
        categories,
        lanes: lanes(model),
        flows,
        flows_without_end: trace.counts.flows_without_end,
        ..SessionSummary::default()
    }
}

fn lanes(model: &Model) -> Vec<LaneTotal> {
    let lanes = model.trace.lanes.iter().zip(&model.lanes);
    let used = lanes.filter(|(_, lane_slices)| !lane_slices.slices.is_empty());
    let totals = used.map(|(lane, lane_slices)| {
        let slices = lane_slices.slices.start as usize..lane_slices.slices.end as usize;
        let durations = model.trace.slices.durations.get(slices).unwrap_or_default();
        LaneTotal {
            process: lane.process.clone(),
            thread: lane.thread.clone(),
            slices: durations.len() as u64,
            nanos: durations.iter().copied().fold(0, u64::saturating_add),
            rows: u32::from(lane_slices.rows),
        }
    });
    totals.collect()
}

fn step_rows(
    model: &Model,
    steps: &[Step],
    times: &[StepTime],
    lengths: Lengths,
    max_steps: usize,
) -> Vec<ProfileStep> {
    let each = steps.len().div_ceil(max_steps.max(1)).max(1);
    let thread = MainThread::new(model);
    let origin = model.origin();
    let groups = steps.chunks(each).zip(times.chunks(each));
    let rows = groups.filter_map(|(steps, times)| {
        let pairs = steps.iter().zip(times).rev();
        let (step, time) = pairs.max_by_key(|(step, _)| length(step))?;
        Some(ProfileStep {
            number: step.number,
            of_steps: steps.len() as u64,
            begin_nanos: step.begin.saturating_sub(origin),
            end_nanos: step.end.saturating_sub(origin),
            parts_nanos: time.parts,
            communication_nanos: time.communication,
            hidden_nanos: time.hidden,
            busy_nanos: time.busy,
            phases: thread.phases(model, step),
            is_whole: step.is_whole,
            is_outlier: step.is_whole && lengths.is_outlier(length(step)),
        })
    });
    rows.collect()
}
