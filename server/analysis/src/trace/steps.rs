//! Steps of a trace, by the first rule that gives any.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use trainscope_api::profile::StepSource;
use trainscope_format::trace::{NONE, SliceClass, TextId, TraceFormat};

use super::meaning::{numbered_step, step_number};
use super::ranges::{Span, merge};
use super::rows::nest_lane;
use super::{Model, Step, Steps};

/// A last step with a smaller share of the launches of the one before was cut off by the end of the recording.
const WHOLE_SHARE: f64 = 0.8;

/// Minimum number of annotations with a number: a single one may be anything.
const MIN_NUMBERED: usize = 2;

/// Finds the steps of a model that has everything else.
pub(super) fn steps(model: &Model) -> Steps {
    let rules: [fn(&Model) -> Steps; 5] =
        [profiler_steps, declared, executions, numbered, annotations];
    let mut steps = rules.iter().map(|rule| rule(model));
    let mut steps = steps
        .find(|steps| !steps.list.is_empty())
        .unwrap_or_default();
    // A moment belongs to one step at most, even if a file contradicts.
    let mut last = i64::MIN;
    for step in &mut steps.list {
        step.begin = step.begin.max(last);
        step.end = step.end.max(step.begin);
        last = step.end;
    }
    steps
}

/// `ProfilerStep#N`.
fn profiler_steps(model: &Model) -> Steps {
    Steps {
        source: StepSource::ProfilerStep,
        by: None,
        list: with_launches(model, marked(model, step_number)),
    }
}

/// Annotations that a program numbers itself: `iteration 3`, `step_3`.
fn numbered(model: &Model) -> Steps {
    let list = marked(model, |name| Some(numbered_step(name)?.1));
    if list.len() < MIN_NUMBERED {
        return Steps::default();
    }
    let mut texts = model.trace.texts.iter();
    let word = texts.find_map(|name| Some(numbered_step(name)?.0));
    Steps {
        source: StepSource::Annotations,
        by: word.map(str::to_owned),
        list: with_launches(model, list),
    }
}

/// Steps, each lasting until the work that it launched has ended.
fn with_launches(model: &Model, mut list: Vec<Step>) -> Vec<Step> {
    for slice in model.slices() {
        let call = model.launches[slice as usize];
        if call == NONE {
            continue;
        }
        let (begin, end) = model.span(call);
        let step = list
            .partition_point(|step| step.begin <= begin)
            .checked_sub(1);
        let step = step.and_then(|step| list.get_mut(step));
        if let Some(step) = step.filter(|step| end <= step.host_end) {
            step.launched += 1;
            step.end = step.end.max(model.span(slice).1);
        }
    }
    judge(&mut list);
    list
}

/// The marks with a number of the thread with the maximum number of marks, and those of other threads at other times: a
/// second thread may mark the same steps.
fn marked(model: &Model, number_of: impl Fn(&str) -> Option<i64>) -> Vec<Step> {
    let slices = model.slices();
    let marks = slices.filter(|slice| {
        matches!(
            model.class(*slice),
            SliceClass::Annotation | SliceClass::Operator
        )
    });
    let mut numbers: HashMap<TextId, Option<i64>, foldhash::fast::RandomState> = HashMap::default();
    let mut by_lane: BTreeMap<u16, Vec<Step>> = BTreeMap::new();
    for slice in marks {
        let name = model.trace.slices.names[slice as usize];
        let number = numbers
            .entry(name)
            .or_insert_with(|| number_of(model.trace.texts.get(name)));
        if let Some(number) = *number {
            let (begin, end) = model.span(slice);
            let lane = model.trace.slices.lanes[slice as usize];
            by_lane
                .entry(lane)
                .or_default()
                .push(whole(number, begin, end));
        }
    }
    let mut lanes: Vec<Vec<Step>> = by_lane.into_values().collect();
    lanes.sort_by_key(|lane| Reverse(lane.len()));
    let mut list: Vec<Step> = Vec::new();
    for lane in lanes {
        let taken = TimeChoice::of(&list);
        let is_free = |step: &Step| !taken.holds(step.begin) && !taken.holds(step.end - 1);
        list.extend(lane.into_iter().filter(is_free));
    }
    list.sort_by_key(|step| (step.begin, step.number));
    list
}

/// Marks the last steps that are not whole: those without launches where others have some, and one with too few.
fn judge(steps: &mut [Step]) {
    let Some(last) = steps.iter().rposition(|step| step.launched > 0) else {
        return;
    };
    for step in &mut steps[last + 1..] {
        step.is_whole = false;
    }
    if let Some(before) = last.checked_sub(1) {
        let share = f64::from(steps[last].launched) / f64::from(steps[before].launched);
        steps[last].is_whole = share >= WHOLE_SHARE;
    }
}

/// Steps of native spans, of tables, and of the step trace of `msprof`.
fn declared(model: &Model) -> Steps {
    let steps = model.trace.declared_steps.iter();
    let mut list: Vec<Step> = steps
        .map(|step| whole(step.number, step.begin, step.end))
        .collect();
    if list.is_empty() {
        list = iterations(model);
    }
    list.sort_by_key(|step| (step.begin, step.number));
    count_operators(model, &mut list);
    judge(&mut list);
    let source = match model.trace.head.format {
        TraceFormat::Spans => StepSource::Spans,
        _ => StepSource::Table,
    };
    Steps {
        source,
        by: None,
        list,
    }
}

/// Iterations in the step trace that `msprof` of Ascend devices exports: `Iteration N` of the category `Iteration Time`.
fn iterations(model: &Model) -> Vec<Step> {
    let categories = &model.trace.categories;
    let is_iteration = |slice: &u32| {
        let category = model.trace.slices.categories[*slice as usize];
        let category = categories.get(usize::from(category));
        category.is_some_and(|category| category.name == "Iteration Time")
    };
    if !categories
        .iter()
        .any(|category| category.name == "Iteration Time")
    {
        return Vec::new();
    }
    let steps = model.slices().filter(is_iteration).filter_map(|slice| {
        let number = model.name(slice).strip_prefix("Iteration ")?;
        let (begin, end) = model.span(slice);
        Some(whole(number.parse().ok()?, begin, end))
    });
    steps.collect()
}

/// Counts the operators on a device in each step. Tables may list the steps of a whole training, but only the operators
/// of its start.
fn count_operators(model: &Model, steps: &mut [Step]) {
    let is_on_device =
        |slice: &u32| model.class(*slice) == SliceClass::Operator && model.is_device(*slice);
    for slice in model.slices().filter(is_on_device) {
        let begin = model.span(slice).0;
        let step = steps.partition_point(|step| step.begin <= begin);
        let step = step.checked_sub(1).and_then(|step| steps.get_mut(step));
        if let Some(step) = step.filter(|step| begin < step.end) {
            step.launched += 1;
        }
    }
}

fn whole(number: i64, begin: i64, end: i64) -> Step {
    Step {
        number,
        begin,
        end,
        host_end: end,
        launched: 0,
        is_whole: true,
    }
}

/// Executions of the operators of a compiled graph: each runs once a step. The count that explains most executions is
/// that of the training; others (evaluation) are outside of steps.
fn executions(model: &Model) -> Steps {
    if model.trace.head.format != TraceFormat::Mindspore {
        return Steps::default();
    }
    let is_work = |slice: &u32| {
        model.class(*slice) == SliceClass::Operator
            && model.roles[*slice as usize] != super::Role::None
    };
    let mut runs: BTreeMap<TextId, Vec<(i64, i64)>> = BTreeMap::new();
    for slice in model.slices().filter(is_work) {
        let name = model.trace.slices.names[slice as usize];
        runs.entry(name).or_default().push(model.span(slice));
    }
    let mut operators: BTreeMap<usize, usize> = BTreeMap::new();
    for times in runs.values() {
        *operators.entry(times.len()).or_default() += 1;
    }
    let commonest = operators
        .iter()
        .max_by_key(|(count, operators)| (*count * *operators, **count));
    let Some((count, _)) = commonest else {
        return Steps::default();
    };
    let mut spans: Vec<Option<(i64, i64)>> = vec![None; *count];
    for times in runs.values_mut().filter(|times| times.len() == *count) {
        times.sort_unstable();
        for (step, (begin, end)) in spans.iter_mut().zip(times) {
            let (first, last) = step.unwrap_or((*begin, *end));
            *step = Some((first.min(*begin), last.max(*end)));
        }
    }
    let list = (1..).zip(spans.into_iter().flatten());
    Steps {
        source: StepSource::Executions,
        by: None,
        list: list
            .map(|(number, (begin, end))| whole(number, begin, end))
            .collect(),
    }
}

/// Annotations at the top of their lane with equal counts are a cycle: the first of them begins a step.
fn annotations(model: &Model) -> Steps {
    let mut tops: BTreeMap<TextId, Vec<(i64, i64)>> = BTreeMap::new();
    for lane in &model.lanes {
        let notes = lane.slices.clone();
        let notes = notes.filter(|slice| model.class(*slice) == SliceClass::Annotation);
        nest_lane(&model.trace.slices, notes, |slice, row, _| {
            if row == 0 {
                let name = model.trace.slices.names[slice as usize];
                tops.entry(name).or_default().push(model.span(slice));
            }
        });
    }
    let mut names: BTreeMap<usize, usize> = BTreeMap::new();
    for times in tops.values().filter(|times| times.len() >= 2) {
        *names.entry(times.len()).or_default() += 1;
    }
    let Some((count, _)) = names.iter().max_by_key(|(count, names)| (**names, **count)) else {
        return Steps::default();
    };
    tops.retain(|_, times| times.len() == *count);
    let begin = |times: &[(i64, i64)]| times.iter().map(|span| span.0).min();
    let first = tops.iter().min_by_key(|(_, times)| begin(times));
    let Some((name, first)) = first else {
        return Steps::default();
    };
    let last = tops.values().flatten().map(|span| span.1).max();
    let mut edges: Vec<i64> = first.iter().map(|span| span.0).collect();
    edges.sort_unstable();
    edges.extend(last);
    let pairs = (0..).zip(edges.windows(2));
    Steps {
        source: StepSource::Annotations,
        by: Some(model.trace.texts.get(*name).to_owned()),
        list: pairs
            .map(|(number, edge)| whole(number, edge[0], edge[1]))
            .collect(),
    }
}

/// Requested steps, by their numbers; the default is all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StepRange {
    /// First step.
    pub since: Option<i64>,
    /// Last step.
    pub until: Option<i64>,
}

impl StepRange {
    /// `true` for a number in the range.
    pub fn holds(self, number: i64) -> bool {
        self.since.is_none_or(|since| since <= number)
            && self.until.is_none_or(|until| number <= until)
    }
}

/// Ranges of time that a [`StepRange`] chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeChoice {
    /// `None` for everything, also outside of steps.
    spans: Option<Vec<Span>>,
}

impl TimeChoice {
    /// The time of some steps.
    pub fn of(steps: &[Step]) -> Self {
        let spans = steps.iter().map(|step| (step.begin, step.end));
        Self {
            spans: Some(merge(spans.collect())),
        }
    }

    /// `true` for a moment that is chosen.
    pub fn holds(&self, time: i64) -> bool {
        let Some(spans) = &self.spans else {
            return true;
        };
        let span = spans.partition_point(|span| span.1 <= time);
        spans.get(span).is_some_and(|span| span.0 <= time)
    }
}

/// The whole trace as one step.
pub(super) fn whole_of(model: &Model) -> Step {
    whole(0, model.extent.start, model.extent.end)
}

fn steps_in(list: &[Step], all: Step, range: StepRange) -> Vec<Step> {
    if list.is_empty() {
        return vec![all];
    }
    let steps = list.iter().filter(|step| range.holds(step.number));
    steps.copied().collect()
}

/// Whole steps of a list in a range, all if none is whole; `all` without a list.
pub(super) fn whole_in(list: &[Step], all: Step, range: StepRange) -> Vec<Step> {
    let mut steps = steps_in(list, all, range);
    if steps.iter().any(|step| step.is_whole) {
        steps.retain(|step| step.is_whole);
    }
    steps
}

impl Model {
    /// Steps in a range, the whole trace as one if it has no steps.
    pub fn steps_in(&self, range: StepRange) -> Vec<Step> {
        steps_in(&self.steps.list, whole_of(self), range)
    }

    /// Whole steps in a range, for means; all steps if none is whole.
    pub fn whole_steps_in(&self, range: StepRange) -> Vec<Step> {
        whole_in(&self.steps.list, whole_of(self), range)
    }

    /// The time of a range of steps; without a range everything, also time outside of steps.
    pub fn chosen(&self, range: StepRange) -> TimeChoice {
        let is_everything = range == StepRange::default() || self.steps.list.is_empty();
        if is_everything {
            TimeChoice::default()
        } else {
            TimeChoice::of(&self.steps_in(range))
        }
    }

    /// The step of a moment, if it is in one.
    pub fn step_at(&self, time: i64) -> Option<&Step> {
        let steps = &self.steps.list;
        let step = steps.partition_point(|step| step.end <= time);
        steps.get(step).filter(|step| step.begin <= time)
    }
}
