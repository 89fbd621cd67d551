//! Input of the rules: the judged steps, the time of their parts, idle time, and the ranks.

use trainscope_api::profile::{RanksAnswer, SessionSummary};
use trainscope_format::trace::{NONE, SliceClass};

use super::super::figures::{self, Lengths};
use super::super::idle::{self, Cause, Gap};
use super::super::parts::{RoleRanges, StepTime};
use super::super::ranges::{self, Span};
use super::super::steps::StepRange;
use super::super::work::is_waiting;
use super::super::{Model, Role, Step};
use super::{Lack, Rule};

/// Minimum number of steps for rules that compare steps: chosen, the smallest number that has outliers.
pub(super) const MIN_STEPS: usize = 5;
/// Steps are uneven if the longest exceeds the median by this factor (chosen).
const UNEVEN_LONGEST: i64 = 10;
/// Steps are uneven if the upper quartile exceeds the lower one by this factor (chosen): the mean describes none.
const UNEVEN_QUARTERS: i64 = 3;

/// A profile with the input of its rules, for judgements with any limits.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    pub(super) model: &'a Model,
    pub(super) summary: &'a SessionSummary,
    pub(super) ranks: Option<&'a RanksAnswer>,
    /// Steps that are judged: the whole ones, without the first of the session if there are enough.
    pub(super) steps: Vec<Step>,
    /// Time of each judged step.
    pub(super) times: Vec<StepTime>,
    /// Ranges of the judged steps, merged.
    pub(super) spans: Vec<Span>,
    /// Length of the merged ranges.
    pub(super) length: i64,
    pub(super) lengths: Lengths,
    pub(super) ranges: RoleRanges,
    /// Time of compute: kernels, or operators if there is no device.
    compute: Vec<Span>,
    /// Time in the steps in which no device works; empty without a device.
    pub(super) idle: Vec<Span>,
    /// Gaps of devices in the steps.
    pub(super) gaps: Vec<Gap>,
    /// Calls that wait for a device.
    pub(super) waits: Vec<u32>,
    /// Device work that begins in the steps.
    pub(super) device: Vec<u32>,
    /// Calls of the runtime that begin in the steps.
    pub(super) calls: Vec<u32>,
    /// Cost of the profiler as recorded by itself, merged.
    pub(super) overhead: Vec<Span>,
    /// Number of Python frames that begin in the steps.
    pub(super) frames: i64,
    /// Tenth percentile of the times between the starts of consecutive frames of a thread: no frame costs more.
    pub(super) frame_nanos: Option<i64>,
    is_few: bool,
    has_launches: bool,
}

impl<'a> Facts<'a> {
    /// Looks at the steps from the first to the last one of a summary.
    pub fn new(
        model: &'a Model,
        summary: &'a SessionSummary,
        ranks: Option<&'a RanksAnswer>,
    ) -> Self {
        let list = &model.steps.list;
        let mut steps = model.whole_steps_in(range(model, summary));
        let is_few = steps.len() < MIN_STEPS;
        let begins = steps.first().map(|step| step.begin);
        // The first step of a session compiles, allocates and fills caches.
        if !is_few && begins == list.first().map(|step| step.begin) {
            steps.remove(0);
        }
        let ranges = RoleRanges::new(model);
        let times: Vec<StepTime> = steps.iter().map(|step| ranges.time(step)).collect();
        let spans = ranges::merge(steps.iter().map(|step| (step.begin, step.end)).collect());
        let lengths = Lengths::new(steps.iter().map(length).collect());
        let idle = if ranges.device.is_empty() {
            Vec::new()
        } else {
            ranges::minus(&spans, &ranges.device)
        };
        let mut gaps = idle::device_gaps(model);
        gaps.retain(|gap| !ranges::cut(&spans, gap.begin, gap.end).is_empty());
        let mut facts = Self {
            model,
            summary,
            ranks,
            length: ranges::total(&spans),
            steps,
            times,
            spans,
            lengths,
            compute: compute(&ranges),
            ranges,
            idle,
            gaps,
            waits: Vec::new(),
            device: Vec::new(),
            calls: Vec::new(),
            overhead: Vec::new(),
            frames: 0,
            frame_nanos: None,
            is_few,
            has_launches: model.launches.iter().any(|call| *call != NONE),
        };
        facts.sort_slices();
        facts
    }

    /// Sorts slices into the lists of the rules, in one pass.
    fn sort_slices(&mut self) {
        let model = self.model;
        let mut overhead = Vec::new();
        // Slices are in the order of lanes and begins.
        let (mut between, mut last_frame) = (Vec::new(), None::<(u16, i64)>);
        for slice in model.slices() {
            if is_waiting(model, slice) {
                self.waits.push(slice);
            }
            let (begin, end) = model.span(slice);
            if !self.holds(begin) {
                continue;
            }
            match model.class(slice) {
                SliceClass::Runtime => self.calls.push(slice),
                SliceClass::PythonFrame => {
                    self.frames += 1;
                    let lane = model.trace.slices.lanes[slice as usize];
                    if let Some((_, before)) = last_frame.filter(|(other, _)| *other == lane) {
                        between.push(begin.saturating_sub(before));
                    }
                    last_frame = Some((lane, begin));
                }
                SliceClass::Overhead => overhead.push((begin, end)),
                _ if model.is_device(slice) => self.device.push(slice),
                _ => {}
            }
        }
        self.overhead = self.within(overhead);
        self.frame_nanos = (!between.is_empty()).then(|| figures::percentile(&mut between, 0.1));
    }

    /// Reason why no rule about time can judge. Without steps, the whole recording counts as one.
    pub(super) fn needs_time(&self) -> Result<(), Lack> {
        let trace = &self.model.trace;
        if trace.slices.is_empty() && !trace.memory.is_empty() {
            return Err(Lack::NoSlices);
        }
        if self.steps.is_empty() || self.length <= 0 {
            return Err(Lack::NoSteps);
        }
        Ok(())
    }

    /// Reason why no rule that compares steps can judge.
    pub(super) fn needs_enough_steps(&self) -> Result<(), Lack> {
        self.needs_time()?;
        if self.model.steps.list.is_empty() {
            return Err(Lack::NoSteps);
        }
        if self.is_few {
            return Err(Lack::TooFewSteps);
        }
        Ok(())
    }

    /// Reason why a rule about times that found nothing does not pass.
    pub(super) fn needs_even_steps(&self) -> Result<(), Lack> {
        self.needs_time()?;
        if self.is_few {
            return Ok(());
        }
        let mut lengths: Vec<i64> = self.steps.iter().map(length).collect();
        let [quarter, upper, longest] =
            [0.25, 0.75, 1.0].map(|share| figures::percentile(&mut lengths, share));
        let is_uneven = longest > self.lengths.median.saturating_mul(UNEVEN_LONGEST)
            || upper > quarter.saturating_mul(UNEVEN_QUARTERS);
        if is_uneven {
            return Err(Lack::UnevenSteps);
        }
        Ok(())
    }

    /// Shortest and longest of the judged steps.
    pub(super) fn range(&self) -> (i64, i64) {
        let lengths = self.steps.iter().map(length);
        (
            lengths.clone().min().unwrap_or(0),
            lengths.max().unwrap_or(0),
        )
    }

    /// Reason why no rule about a device can judge.
    pub(super) fn needs_device(&self) -> Result<(), Lack> {
        self.needs_time()?;
        if self.ranges.device.is_empty() {
            return Err(Lack::NoDevice);
        }
        Ok(())
    }

    /// Reason why no rule about launches can judge.
    pub(super) fn needs_launches(&self) -> Result<(), Lack> {
        self.needs_device()?;
        if self.has_launches {
            Ok(())
        } else {
            Err(Lack::NoLaunches)
        }
    }

    /// `true` if there are calls of the runtime.
    pub(super) fn has_runtime(&self) -> bool {
        !self.ranges.of(Role::Runtime).is_empty()
    }

    /// Number of judged steps, at least 1.
    pub(super) fn count(&self) -> i64 {
        i64::try_from(self.steps.len()).unwrap_or(i64::MAX).max(1)
    }

    /// Share of the time of the steps.
    pub(super) fn share(&self, nanos: i64) -> f64 {
        nanos as f64 / self.length.max(1) as f64
    }

    /// Mean time of a judged step without compute: gains within steps do not exceed it.
    pub fn without_compute(&self) -> i64 {
        self.a_step(ranges::total(&ranges::minus(&self.spans, &self.compute)))
    }

    /// Mean time from the start of a judged step to that of the next one, less its compute: the sum of all gains does
    /// not exceed it, except those within compute.
    pub fn outside_of_compute(&self) -> i64 {
        let edges = self.steps.first().zip(self.steps.last());
        let span = edges.map_or(0, |(first, last)| last.end.saturating_sub(first.begin));
        let computed = ranges::total(&ranges::meet(&self.spans, &self.compute));
        self.a_step(span.saturating_sub(computed))
    }

    /// Mean time per judged step.
    pub(super) fn a_step(&self, nanos: i64) -> i64 {
        nanos / self.count()
    }

    /// Words for the judged time.
    pub(super) fn words(&self) -> Words {
        if self.model.steps.list.is_empty() {
            return Words {
                each: "",
                each_zh: "",
                all: "the recording",
                all_zh: "记录",
            };
        }
        Words {
            each: " a step",
            each_zh: "每个迭代",
            all: "the steps",
            all_zh: "迭代",
        }
    }

    /// Ranges within the judged steps.
    pub(super) fn within(&self, spans: Vec<Span>) -> Vec<Span> {
        ranges::meet(&ranges::merge(spans), &self.spans)
    }

    /// Sum of a part over the judged steps.
    pub(super) fn sum(&self, part: impl Fn(&StepTime) -> i64) -> i64 {
        self.times.iter().map(part).fold(0, i64::saturating_add)
    }

    /// Number of the judged step with the maximum of a figure.
    pub(super) fn clearest(&self, figure: impl Fn(&Step, &StepTime) -> i64) -> Option<i64> {
        let all = self.steps.iter().zip(&self.times).rev();
        let most = all.max_by_key(|(step, time)| figure(step, time));
        most.map(|(step, _)| step.number)
    }

    /// Number of the judged step with the maximum time in some ranges.
    pub(super) fn clearest_of(&self, spans: &[Span]) -> Option<i64> {
        self.clearest(|step, _| ranges::total(&ranges::cut(spans, step.begin, step.end)))
    }

    /// Idle time of the device before work of some causes, without the time in which the host waited for data or for
    /// the device.
    pub(super) fn host_idle(&self, causes: &[Cause], wanted: impl Fn(u32) -> bool) -> Vec<Span> {
        let gaps = self.gaps.iter();
        let gaps = gaps.filter(|gap| causes.contains(&gap.cause) && wanted(gap.next));
        let spans = self.within(gaps.map(|gap| (gap.begin, gap.end)).collect());
        let spans = ranges::meet(&spans, &self.idle);
        let spans = ranges::minus(&spans, self.ranges.of(Role::Data));
        let waits = self.waits.iter().map(|slice| self.model.span(*slice));
        ranges::minus(&spans, &ranges::merge(waits.collect()))
    }

    /// Idle time of the device from the end of each call to the next work.
    pub(super) fn idle_behind(&self, calls: impl Iterator<Item = u32>) -> Vec<Span> {
        let device = &self.ranges.device;
        let behind = calls.filter_map(|call| {
            let end = self.model.span(call).1;
            let next = device.partition_point(|span| span.1 <= end);
            let next = device.get(next)?.0;
            (next > end).then_some((end, next))
        });
        let spans = self.within(behind.collect());
        ranges::meet(&spans, &self.idle)
    }

    /// `true` for a moment within the judged steps.
    pub(super) fn holds(&self, time: i64) -> bool {
        let span = self.spans.partition_point(|span| span.1 <= time);
        self.spans.get(span).is_some_and(|span| span.0 <= time)
    }

    /// The judged steps that are not among the first ones of the session.
    pub(super) fn later_than(&self, steps: u64) -> Vec<Span> {
        let skipped = usize::try_from(steps).unwrap_or(usize::MAX);
        let begin = self.model.steps.list.get(skipped).map(|step| step.begin);
        let later = self
            .steps
            .iter()
            .filter(|step| Some(step.begin) >= begin && begin.is_some());
        ranges::merge(later.map(|step| (step.begin, step.end)).collect())
    }

    /// Class of the device by its compute capability; 0 if unknown.
    pub(super) fn compute_major(&self) -> u32 {
        let devices = self.model.trace.head.devices.iter();
        devices
            .map(|device| device.compute_major)
            .max()
            .unwrap_or(0)
    }

    /// `true` if there are kernels.
    pub(super) fn has_kernels(&self) -> bool {
        let categories = self.model.trace.categories.iter();
        let mut used = categories.filter(|category| category.count > 0);
        used.any(|category| category.class == SliceClass::Kernel)
    }
}

/// Range of the steps of a summary.
fn range(model: &Model, summary: &SessionSummary) -> StepRange {
    let is_all = summary.step_count >= model.steps.list.len() as u64;
    let edges = summary.steps.first().zip(summary.steps.last());
    match edges.filter(|_| !is_all) {
        Some((first, last)) => StepRange {
            since: Some(first.number),
            until: Some(last.number),
        },
        None => StepRange::default(),
    }
}

/// Ranges of compute; without a device, operators compute, except while they wait or communicate.
fn compute(ranges: &RoleRanges) -> Vec<Span> {
    if !ranges.device.is_empty() {
        return ranges.of(Role::Kernel).to_vec();
    }
    let others = [
        Role::Memcpy,
        Role::Memset,
        Role::Communication,
        Role::Runtime,
        Role::Data,
    ];
    others
        .iter()
        .fold(ranges.of(Role::Operators).to_vec(), |left, role| {
            ranges::minus(&left, ranges.of(*role))
        })
}

pub(super) fn length(step: &Step) -> i64 {
    step.end.saturating_sub(step.begin)
}

/// Words for the judged time: the steps, or a recording without steps.
#[derive(Clone, Copy)]
pub(super) struct Words {
    /// Follows a time or a number in English, with the space before it.
    pub(super) each: &'static str,
    /// Begins a sentence in Chinese.
    pub(super) each_zh: &'static str,
    /// The whole of a share, in English.
    pub(super) all: &'static str,
    /// The same in Chinese.
    pub(super) all_zh: &'static str,
}

/// Time of steps that no finding has claimed yet. Gains are disjoint and can be added.
pub(super) struct Claims {
    left: Vec<Span>,
    /// Time per step that is left for gains outside of compute, with the waiting between steps.
    room: i64,
    steps: i64,
}

impl Claims {
    /// Starts with all time of the steps except compute.
    pub(super) fn new(facts: &Facts<'_>) -> Self {
        Self {
            left: ranges::minus(&facts.spans, &facts.compute),
            room: facts.outside_of_compute(),
            steps: facts.count(),
        }
    }

    /// The gain of a finding; other findings cannot claim its time any more.
    pub(super) fn gain(&mut self, claim: &Claim) -> i64 {
        let gain = match claim {
            Claim::None => 0,
            Claim::Compute(nanos) => return *nanos,
            Claim::Spans(spans) => self.take(spans, i64::MAX),
            Claim::AtMost(spans, limit) => self.take(spans, *limit),
            Claim::Apart(nanos) => *nanos,
        };
        let gain = gain.clamp(0, self.room);
        self.room -= gain;
        gain
    }

    /// Claims the unclaimed time of some ranges, at most `limit` per step; returns the time per step.
    fn take(&mut self, spans: &[Span], limit: i64) -> i64 {
        let mut room = limit.saturating_mul(self.steps);
        let mut claimed = ranges::meet(&self.left, spans);
        claimed.retain_mut(|(begin, end)| {
            *end = (*end).min(begin.saturating_add(room));
            room -= *end - *begin;
            begin < end
        });
        self.left = ranges::minus(&self.left, &claimed);
        ranges::total(&claimed) / self.steps
    }
}

/// A finding of a rule, without its constant texts.
#[derive(Clone, Debug, Default)]
pub(super) struct Finding {
    pub(super) value: f64,
    pub(super) limit: f64,
    pub(super) severity: trainscope_format::Severity,
    /// Time that it would save if no other finding claims it, in the order of [`claim_order`].
    pub(super) claim: Claim,
    pub(super) evidence: [String; 2],
    pub(super) step: Option<i64>,
    pub(super) rank: Option<u32>,
    /// Code or setting for this cause; that of the rule if missing.
    pub(super) remedy: Option<&'static str>,
}

/// Time that a finding would save.
#[derive(Clone, Debug, Default)]
pub(super) enum Claim {
    /// No time, or unknown.
    #[default]
    None,
    /// Time of some ranges.
    Spans(Vec<Span>),
    /// Time of some ranges, up to a maximum number of nanoseconds per step.
    AtMost(Vec<Span>, i64),
    /// Nanoseconds of waiting per step, possibly between steps.
    Apart(i64),
    /// Nanoseconds per step within compute, which no other rule claims.
    Compute(i64),
}

/// Rules in the order in which they claim time: the nearer the cause, the earlier.
pub(super) const fn claim_order(rule: Rule) -> u8 {
    match rule {
        Rule::DataBound => 0,
        Rule::StragglerRank => 1,
        Rule::ExposedCommunication => 2,
        Rule::PageableCopies => 3,
        Rule::Recompilation => 4,
        Rule::AllocatorInStep => 5,
        Rule::SyncInStep => 6,
        Rule::ManySmallOptimizerKernels => 7,
        Rule::LaunchBound => 8,
        Rule::HostBound => 9,
        Rule::StepOutliers => 10,
        Rule::DeviceIdle => 11,
        _ => 12,
    }
}
