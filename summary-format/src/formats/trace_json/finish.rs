//! Results that are only known at the end of a file: missing ends, flows, kinds of lanes, the clock.

use super::classes::{is_device, is_mindspore, lane_meaning};
use super::columns::Columns;
use super::flows;
use super::memory_totals;
use super::names::Map;
use crate::trace::{Category, LaneKind, NONE, SliceClass, Slices, Trace, TraceFormat};

/// Times of at least this number of nanoseconds count from 1970: 10¹⁵ µs, the year 2001.
const SINCE_1970: i64 = 1_000_000_000_000_000_000;

impl Columns {
    pub(super) fn finish(mut self) -> Trace {
        self.drop_impossible();
        self.end_open_slices();
        let points = std::mem::take(&mut self.flow_points);
        let (flows, without_end) = flows::resolve(points, &self.trace.slices);
        self.trace.flows = flows;
        self.trace.counts.flows_without_end = without_end;
        self.name_lanes();
        self.judge_lanes();
        self.find_clock();
        self.count_phases();
        let mut trace = self.trace;
        memory_totals::count(&mut trace);
        shrink(&mut trace.slices);
        trace
    }

    /// Slices without an end last until the end of the trace.
    fn end_open_slices(&mut self) {
        let mut open: Vec<u32> = self.open.drain().flat_map(|(_, slices)| slices).collect();
        open.extend(self.open_async.drain().flat_map(|(_, slices)| slices));
        open.retain(|slice| *slice != NONE);
        open.sort_unstable();
        if open.is_empty() {
            return;
        }
        let end = self.last_time();
        for slice in &open {
            self.close(Some(*slice), end);
        }
        self.trace.counts.unfinished = open;
    }

    /// End of the last slice or memory event, except for the window of the recording.
    fn last_time(&self) -> i64 {
        let slices = &self.trace.slices;
        let ends = slices.categories.iter().enumerate();
        let ends = ends
            .filter(|(_, category)| self.class(**category) != SliceClass::Window)
            .map(|(slice, _)| slices.end(slice));
        let memory = self.trace.memory.iter().map(|event| event.time);
        ends.chain(memory).max().unwrap_or(0)
    }

    fn name_lanes(&mut self) {
        let is_kineto = self.trace.head.format == TraceFormat::Kineto;
        for (lane, facts) in self.trace.lanes.iter_mut().zip(&self.lane_facts) {
            let thread = match lane.thread.rsplit_once('#') {
                Some((thread, _)) if facts.is_scope => thread.to_owned(),
                _ => lane.thread.clone(),
            };
            self.names.give(lane, &thread);
            let label = self.names.label(&lane.process);
            // Kineto gives the program's name to devices too, and says in the label that they are devices.
            if is_kineto && !matches!(label, "" | "CPU") {
                label.clone_into(&mut lane.process_name);
            }
        }
        if is_kineto {
            self.drop_signs();
        }
    }

    /// Replaces negative identifiers of threads, as older versions of Kineto wrote them, by their absolute values.
    fn drop_signs(&mut self) {
        let mut lanes: std::collections::BTreeSet<(String, String)> = self
            .trace
            .lanes
            .iter()
            .map(|lane| (lane.process.clone(), lane.thread.clone()))
            .collect();
        for lane in &mut self.trace.lanes {
            if let Some(thread) = lane.thread.strip_prefix('-')
                && !thread.is_empty()
                && thread.bytes().all(|byte| byte.is_ascii_digit())
                && lanes.insert((lane.process.clone(), thread.to_owned()))
            {
                let thread = thread.to_owned();
                if lane.thread_name.is_empty() {
                    self.names.give(lane, &thread);
                }
                lane.thread = thread;
            }
        }
    }

    /// Gives lanes their kind, and slices of lanes with a meaning the class that follows from it.
    fn judge_lanes(&mut self) {
        let lanes = &mut self.trace.lanes;
        let is_of_mindspore =
            lanes.iter().any(is_mindspore) || self.lane_facts.iter().any(|facts| facts.is_scope);
        if is_of_mindspore && self.trace.head.format == TraceFormat::Chrome {
            self.trace.head.format = TraceFormat::Mindspore;
        }
        let mut classes: Vec<Option<SliceClass>> = Vec::with_capacity(lanes.len());
        for (lane, facts) in lanes.iter_mut().zip(&self.lane_facts) {
            let meaning = if facts.is_scope {
                Some((LaneKind::Derived, SliceClass::Derived))
            } else {
                lane_meaning(lane, is_of_mindspore)
            };
            let meaning = meaning.filter(|_| lane.kind != LaneKind::Async);
            classes.push(meaning.map(|(_, class)| class));
            let is_of_profiler = |class| matches!(class, SliceClass::Window | SliceClass::Overhead);
            lane.kind = match meaning {
                _ if lane.kind == LaneKind::Async => LaneKind::Async,
                Some((kind, _)) => kind,
                None if facts.any(is_device) => LaneKind::Device,
                // Only slices of the profiler, or instants of the whole trace.
                None if !facts.has_points && !facts.any(|class| !is_of_profiler(class)) => {
                    LaneKind::Profiler
                }
                None => LaneKind::Host,
            };
        }
        if classes.iter().any(Option::is_some) {
            self.divide_categories(&classes);
        }
    }

    /// Makes categories by name and class, in the order of their first slices.
    fn divide_categories(&mut self, classes: &[Option<SliceClass>]) {
        let old = std::mem::take(&mut self.trace.categories);
        let mut divided: Vec<Category> = Vec::new();
        let mut numbers: Map<(u16, SliceClass), u16> = Map::default();
        let slices = &mut self.trace.slices;
        let rows = slices.categories.iter_mut().zip(&slices.lanes);
        for ((category, lane), nanos) in rows.zip(&slices.durations) {
            let Some(known) = old.get(usize::from(*category)) else {
                continue;
            };
            let class = match classes.get(usize::from(*lane)) {
                Some(Some(SliceClass::Derived)) => SliceClass::Derived,
                Some(Some(class)) if known.class == SliceClass::Span => *class,
                _ => known.class,
            };
            let number = *numbers.entry((*category, class)).or_insert_with(|| {
                divided.push(Category {
                    name: known.name.clone(),
                    class,
                    ..Category::default()
                });
                u16::try_from(divided.len() - 1).unwrap_or(u16::MAX)
            });
            *category = number;
            if let Some(total) = divided.get_mut(usize::from(number)) {
                total.count += 1;
                total.nanos = total.nanos.saturating_add(*nanos);
            }
        }
        self.trace.categories = divided;
    }

    /// Times of 10¹⁵ µs and more count from 1970.
    fn find_clock(&mut self) {
        if self.trace.head.unix_offset_nanos.is_some() {
            return;
        }
        let slices = &self.trace.slices;
        let begins = slices.begins.iter().zip(&slices.categories);
        let first = begins
            .filter(|(_, category)| self.class(**category) != SliceClass::Window)
            .map(|(begin, _)| *begin)
            .min();
        self.trace.head.unix_offset_nanos = first.filter(|begin| *begin >= SINCE_1970).map(|_| 0);
    }
}

fn shrink(slices: &mut Slices) {
    let Slices {
        begins,
        durations,
        names,
        lanes,
        categories,
        links,
        details,
        places,
    } = slices;
    begins.shrink_to_fit();
    durations.shrink_to_fit();
    names.shrink_to_fit();
    lanes.shrink_to_fit();
    categories.shrink_to_fit();
    links.shrink_to_fit();
    details.shrink_to_fit();
    places.shrink_to_fit();
}
