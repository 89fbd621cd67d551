//! Tables of operators and kernels: by name, type, scope, shape and kernel.

use trainscope_api::profile::{
    DEFAULT_OPERATORS, MAX_OPERATORS, OperatorGroup, OperatorRow, OperatorsAnswer, PhaseKind,
};

use super::calls::{Calls, LaunchedWork};
use super::kernels::{TensorCores, is_over_the_bus, multiplies};
use super::peaks::{FlopsByType, Precision, peak_of, peaks_of};
use super::roofline::bytes_of;
use super::steps::{StepRange, TimeChoice};
use super::{Model, flops};

mod detail;
mod groups;
mod sums;

pub use detail::operator;

pub use super::meaning::type_of;
use groups::Groups;
use sums::Sums;

/// Requested rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request<'a> {
    /// Group.
    pub by: OperatorGroup,
    /// Steps; everything if both ends are open, also time outside of steps.
    pub range: StepRange,
    /// Text in the name, `type:TEXT`, or `> 1 ms` of self time (kernels: device time).
    pub filter: Option<&'a str>,
    /// Number of rows to skip.
    pub from: usize,
    /// Maximum number of rows.
    pub limit: Option<usize>,
}

/// Operators of a model with everything that tables need.
#[derive(Clone, Debug)]
pub struct Operators<'a> {
    model: &'a Model,
    /// Calls of operators and annotations.
    pub calls: Calls,
    launched: Vec<LaunchedWork>,
    device_own: Vec<i64>,
    device_total: Vec<i64>,
    flops: Vec<u64>,
    bytes: Vec<u64>,
    tensor_cores: TensorCores,
}

/// Rows of a table, and the totals of their shares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Rows, the largest self time first (kernels: the largest device time).
    pub rows: Vec<OperatorRow>,
    /// Self time of all operators.
    pub self_nanos: i64,
    /// Time of all device work.
    pub device_nanos: i64,
    /// Number of steps, the divisor of times per step.
    pub steps: u64,
}

/// Steps of a table: the counted time, and the steps of times per step.
struct Scale {
    chosen: TimeChoice,
    steps: TimeChoice,
    count: u64,
}

impl Scale {
    fn new(model: &Model, range: StepRange) -> Self {
        let steps = model.whole_steps_in(range);
        Self {
            chosen: model.chosen(range),
            count: steps.len().max(1) as u64,
            steps: TimeChoice::of(&steps),
        }
    }
}

impl<'a> Operators<'a> {
    /// Operators of a model.
    pub fn new(model: &'a Model) -> Self {
        let calls = Calls::new(model);
        let launched = calls.launched(model);
        let (device_own, device_total) = calls.device_times(model, &launched);
        let flops = flops::of_calls(model, &calls);
        let mut bytes = flops::outermost(model, &calls, |name, shapes| {
            bytes_of(&model.operator_rules, name, shapes)
        });
        // Copies from and to the host run at the speed of the bus.
        for work in &launched {
            if is_over_the_bus(model.name(work.slice)) {
                bytes[work.call] = 0;
            }
        }
        Self {
            model,
            calls,
            launched,
            device_own,
            device_total,
            flops,
            bytes,
            tensor_cores: TensorCores::new(model),
        }
    }

    /// All rows of a group.
    pub fn table(&self, by: OperatorGroup, range: StepRange) -> Table {
        let scale = Scale::new(self.model, range);
        let mut groups = Groups::new(self.model, by);
        let slices = self.model.slices();
        let works = slices.filter(|slice| {
            self.model.is_device(*slice) && scale.chosen.holds(self.model.span(*slice).0)
        });
        let length = |slice| {
            let (begin, end) = self.model.span(slice);
            end.saturating_sub(begin)
        };
        let device_nanos = works.clone().map(length).fold(0, i64::saturating_add);
        let calls = (0..self.calls.len()).filter(|call| self.is_chosen(*call, &scale));
        let self_nanos = calls.clone().map(|call| self.calls.self_nanos[call]);
        let self_nanos = self_nanos.fold(0, i64::saturating_add);
        let (sums, all) = if by.is_of_kernels() {
            (self.kernel_sums(&mut groups, works, &scale), device_nanos)
        } else {
            (self.call_sums(&mut groups, calls, &scale), self_nanos)
        };
        Table {
            rows: rows(&groups, sums, all, scale.count),
            self_nanos,
            device_nanos,
            steps: scale.count,
        }
    }

    /// `true` for a call with FLOPs that the model needs: recomputation is not needed.
    fn counts_flops(&self, call: usize) -> bool {
        let phase = self.model.phases.get(self.calls.slices[call] as usize);
        self.flops[call] > 0 && phase != Some(&PhaseKind::Recomputation)
    }

    /// FLOPs by name of operator, without those of recomputation.
    pub fn flops(&self, range: StepRange) -> std::collections::BTreeMap<String, u64> {
        let scale = Scale::new(self.model, range);
        let mut flops = std::collections::BTreeMap::new();
        let calls = (0..self.calls.len()).filter(|call| self.counts_flops(*call));
        for call in calls.filter(|call| self.is_chosen(*call, &scale)) {
            let name = self.model.name(self.calls.slices[call]);
            let all: &mut u64 = match flops.get_mut(name) {
                Some(all) => all,
                None => flops.entry(name.to_owned()).or_default(),
            };
            *all = all.saturating_add(self.flops[call]);
        }
        flops
    }

    /// Peak of the device in FLOP per second for the FLOPs of the range; `None` if the device's is not known.
    pub fn peak_flops(&self, range: StepRange) -> Option<f64> {
        let model = self.model;
        let device = model.trace.head.devices.first()?;
        let scale = Scale::new(model, range);
        let mut flops = FlopsByType::default();
        let calls = (0..self.calls.len()).filter(|call| self.counts_flops(*call));
        for call in calls.filter(|call| self.is_chosen(*call, &scale)) {
            let detail = model.trace.slices.details[self.calls.slices[call] as usize];
            let shapes = model.trace.shapes.get(detail as usize)?;
            flops.add(Precision::of(shapes), self.flops[call]);
        }
        peak_of(&device.name, flops, self.tensor_cores.is_any())
    }

    /// Share of the device time of operators that multiply matrices whose FLOPs are known, 0 to 1; `None` without any.
    pub fn counted_flops(&self, range: StepRange) -> Option<f64> {
        let scale = Scale::new(self.model, range);
        let name = |call: usize| self.model.name(self.calls.slices[call]);
        let calls = (0..self.calls.len()).filter(|call| self.device_own[*call] > 0);
        let calls = calls.filter(|call| self.is_chosen(*call, &scale));
        let (mut all, mut known) = (0_i64, 0_i64);
        for call in calls {
            let around = || std::iter::successors(Some(call), |call| self.calls.parent(*call));
            if !around().any(|call| multiplies(name(call))) {
                continue;
            }
            all = all.saturating_add(self.device_own[call]);
            if around().any(|call| self.flops[call] > 0) {
                known = known.saturating_add(self.device_own[call]);
            }
        }
        (all > 0).then(|| known as f64 / all as f64)
    }

    fn is_chosen(&self, call: usize, scale: &Scale) -> bool {
        scale
            .chosen
            .holds(self.model.span(self.calls.slices[call]).0)
    }

    fn call_sums(
        &self,
        groups: &mut Groups<'_>,
        calls: impl Iterator<Item = usize>,
        scale: &Scale,
    ) -> Vec<Sums> {
        let mut sums = Vec::new();
        let mut group_of = vec![usize::MAX; self.calls.len()];
        for call in calls {
            let slice = self.calls.slices[call];
            let group = groups.of(slice);
            group_of[call] = group;
            let parent = self.calls.parent(call);
            let is_within =
                groups.joins_names() && parent.is_some_and(|parent| group_of[parent] == group);
            let (begin, end) = self.model.span(slice);
            let sum = sums::slot(&mut sums, group);
            let self_nanos = self.calls.self_nanos[call];
            sum.self_nanos = sum.self_nanos.saturating_add(self_nanos);
            if scale.steps.holds(begin) {
                sum.self_in_steps = sum.self_in_steps.saturating_add(self_nanos);
            }
            sum.add_phase(self.model.phases[slice as usize], self_nanos);
            sum.device_own = sum.device_own.saturating_add(self.device_own[call]);
            sum.flops = sum.flops.saturating_add(self.flops[call]);
            self.add_roofline(sum, call);
            if self.calls.counts(self.model, call) {
                sum.durations.push(end.saturating_sub(begin));
                if !is_within {
                    sum.total = sum.total.saturating_add(end.saturating_sub(begin));
                    sum.device_total = sum.device_total.saturating_add(self.device_total[call]);
                }
            }
        }
        for work in &self.launched {
            if let Some(sum) = sums.get_mut(group_of[work.call]) {
                sum.add_work(
                    self.model,
                    work.slice,
                    self.tensor_cores.uses(self.model, work.slice),
                );
            }
        }
        sums
    }

    /// Adds the bytes of a call and its shortest time; calls without kernels, or of unknown bytes, have none.
    fn add_roofline(&self, sum: &mut sums::Sums, call: usize) {
        let (flops, bytes) = (self.flops[call], self.bytes[call]);
        let nanos = self.device_total[call];
        if bytes == 0 || nanos == 0 {
            return;
        }
        sum.bytes = sum.bytes.saturating_add(bytes);
        sum.bytes_nanos = sum.bytes_nanos.saturating_add(nanos);
        let detail = self.model.trace.slices.details[self.calls.slices[call] as usize];
        let shapes = self.model.trace.shapes.get(detail as usize);
        let device = self.model.trace.head.devices.first();
        if let (Some(shapes), Some(device)) = (shapes, device)
            && let precision = Precision::of(shapes)
            && let Some(peaks) = peaks_of(&device.name, precision, self.tensor_cores.is_any())
        {
            sum.shortest.add((flops, peaks.0), (bytes, peaks.1));
        }
    }

    fn kernel_sums(
        &self,
        groups: &mut Groups<'_>,
        slices: impl Iterator<Item = u32>,
        scale: &Scale,
    ) -> Vec<Sums> {
        let mut sums = Vec::new();
        for slice in slices {
            let sum: &mut Sums = sums::slot(&mut sums, groups.of(slice));
            let (begin, end) = self.model.span(slice);
            let nanos = end.saturating_sub(begin);
            sum.durations.push(nanos);
            for all in [
                &mut sum.self_nanos,
                &mut sum.total,
                &mut sum.device_own,
                &mut sum.device_total,
            ] {
                *all = all.saturating_add(nanos);
            }
            if scale.steps.holds(begin) {
                sum.self_in_steps = sum.self_in_steps.saturating_add(nanos);
            }
            sum.add_phase(self.model.phases[slice as usize], nanos);
            sum.add_work(self.model, slice, self.tensor_cores.uses(self.model, slice));
        }
        sums
    }
}

/// Rows of sums, the largest self time first.
fn rows(groups: &Groups<'_>, sums: Vec<Sums>, all: i64, steps: u64) -> Vec<OperatorRow> {
    let labels = groups.labels.iter();
    let mut rows: Vec<OperatorRow> = labels
        .zip(sums)
        .filter(|(_, sums)| !sums.is_empty())
        .map(|(label, sums)| sums.into_row(label, all, steps))
        .collect();
    rows.sort_by(|a, b| {
        let by_time = b.self_nanos.cmp(&a.self_nanos);
        by_time.then_with(|| (&a.name, &a.shapes).cmp(&(&b.name, &b.shapes)))
    });
    rows
}

/// Answer of `GET /api/profile/operators`.
pub fn operators(model: &Model, request: &Request<'_>) -> OperatorsAnswer {
    let table = Operators::new(model).table(request.by, request.range);
    let mut rows = table.rows;
    if let Some(filter) = request.filter {
        let filter = Filter::new(filter);
        rows.retain(|row| filter.matches(row));
    }
    let total = rows.len();
    let limit = request
        .limit
        .unwrap_or(DEFAULT_OPERATORS)
        .min(MAX_OPERATORS);
    let end = request.from.saturating_add(limit).min(total);
    OperatorsAnswer {
        rows: rows.drain(request.from.min(end)..end).collect(),
        total: total as u64,
        self_nanos: table.self_nanos,
        device_nanos: table.device_nanos,
        steps: table.steps,
        cut: end < total || request.from > 0,
    }
}

enum Filter {
    Name(String),
    Type(String),
    Longer(f64),
}

impl Filter {
    fn new(text: &str) -> Self {
        let text = text.trim();
        if let Some(nanos) = text.strip_prefix('>').and_then(nanos) {
            return Self::Longer(nanos);
        }
        let lower = text.to_lowercase();
        match lower.strip_prefix("type:") {
            Some(name) => Self::Type(name.trim().to_owned()),
            None => Self::Name(lower),
        }
    }

    fn matches(&self, row: &OperatorRow) -> bool {
        match self {
            Self::Name(text) => row.name.to_lowercase().contains(text),
            Self::Type(text) => row.r#type.to_lowercase().contains(text),
            Self::Longer(nanos) => row.self_nanos as f64 > *nanos,
        }
    }
}

/// Nanoseconds of a text such as `1.5 ms`.
fn nanos(text: &str) -> Option<f64> {
    let text = text.trim();
    let unit = text.find(|char: char| char.is_alphabetic())?;
    let (number, unit) = text.split_at(unit);
    let scale = match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let number: f64 = number.trim().parse().ok()?;
    Some(number * scale)
}

#[cfg(test)]
mod tests {
    use trainscope_format::trace::TraceFormat;

    use super::*;

    #[test]
    fn types_have_no_namespace_overload_scope_or_number() {
        let torch = |name| type_of(name, TraceFormat::Kineto);
        assert_eq!(torch("aten::add_.Tensor"), "add_");
        assert_eq!(
            torch("autograd::engine::evaluate_function: AddmmBackward0"),
            "AddmmBackward0"
        );
        assert_eq!(
            torch("Optimizer.step#Adam.step"),
            "Optimizer.step#Adam.step"
        );
        let graph = |name| type_of(name, TraceFormat::Mindspore);
        assert_eq!(graph("Default/conv1-Conv2d/BiasAdd-op200"), "BiasAdd");
        assert_eq!(graph("Mul"), "Mul");
    }

    #[test]
    fn filters_look_in_names_types_and_times() {
        let row = OperatorRow {
            name: "aten::MM".to_owned(),
            r#type: "mm".to_owned(),
            self_nanos: 1_000_001,
            ..OperatorRow::default()
        };
        for text in ["mm", " aten::m ", "type:mm", "> 1 ms", ">1000us", ""] {
            assert!(Filter::new(text).matches(&row), "{text}");
        }
        for text in ["addmm", "type:aten", "> 2 ms", "> 1"] {
            assert!(!Filter::new(text).matches(&row), "{text}");
        }
    }
}
