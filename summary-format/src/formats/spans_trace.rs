//! Profiles of the collector as a trace.

use std::collections::{BTreeMap, HashMap};

use super::trace_builder::TraceBuilder;
use crate::profile::{LaneKind as SpanLane, Profile, SpanFlow, SpanKind};
use crate::trace::{
    CounterSeries, DeclaredStep, Flow, Lane, LaneKind, NONE, Slice, SliceClass, Trace, TraceFormat,
};

/// All profiles of one rank as one trace. Categories are the kinds that the program declares; for spans without a kind,
/// the reader decides by their names. A step lasts from the first begin to the last end of its spans.
pub fn spans_to_trace<'a>(profiles: impl Iterator<Item = &'a Profile>) -> Trace {
    let mut builder = TraceBuilder::new(TraceFormat::Spans);
    builder.trace.head.unix_offset_nanos = Some(0);
    let mut steps: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    let mut series: HashMap<String, usize> = HashMap::new();
    let mut flows: Vec<[(u16, i64); 2]> = Vec::new();
    for profile in profiles {
        let names: Vec<_> = profile
            .names
            .iter()
            .map(|name| builder.name(name))
            .collect();
        let lanes: Vec<_> = (0_u32..)
            .zip(&profile.lanes)
            .map(|(index, name)| builder.lane(lane(name, profile.lane_kind(index))))
            .collect();
        let lane_of = |index: u32| lanes.get(index as usize).copied().flatten();
        for span in &profile.spans {
            builder.trace.counts.events += 1;
            let name = names.get(span.name as usize).copied().flatten();
            let (Some(name), Some(lane)) = (name, lane_of(span.lane)) else {
                builder.trace.counts.over_limit += 1;
                continue;
            };
            let category =
                builder.category(category(profile.span_kind(span.name)), SliceClass::Span);
            let end = span
                .start_nanos
                .saturating_add_unsigned(span.duration_nanos);
            let step = steps.entry(span.step).or_insert((span.start_nanos, end));
            *step = (step.0.min(span.start_nanos), step.1.max(end));
            builder.push(&Slice {
                begin: span.start_nanos,
                duration: span.duration_nanos,
                name,
                lane,
                category,
                link: NONE,
                detail: NONE,
                place: 0,
            });
        }
        for counter in &profile.counters {
            builder.trace.counts.events += 1;
            let Some(name) = profile.names.get(counter.name as usize) else {
                continue;
            };
            let all = &mut builder.trace.counters;
            let index = *series.entry(name.clone()).or_insert_with(|| {
                all.push(CounterSeries {
                    name: name.clone(),
                    ..CounterSeries::default()
                });
                all.len() - 1
            });
            if let Some(series) = all.get_mut(index) {
                series.times.push(counter.time_nanos);
                series.values.push(counter.value);
            }
        }
        for flow in &profile.flows {
            builder.trace.counts.events += 1;
            let SpanFlow {
                from_lane,
                from_nanos,
                to_lane,
                to_nanos,
            } = *flow;
            match (lane_of(from_lane), lane_of(to_lane)) {
                (Some(from), Some(to)) => flows.push([(from, from_nanos), (to, to_nanos)]),
                _ => builder.trace.counts.over_limit += 1,
            }
        }
    }
    let declared = steps
        .into_iter()
        .map(|(number, (begin, end))| DeclaredStep { number, begin, end });
    builder.trace.declared_steps = declared.collect();
    bind(&flows, &mut builder);
    builder.trace
}

/// Category of a declared kind; empty for none.
const fn category(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Other => "",
        SpanKind::Compute => "compute",
        SpanKind::Communication => "communication",
        SpanKind::Copy => "copy",
        SpanKind::Data => "data",
        SpanKind::Host => "host",
        SpanKind::Idle => "idle",
    }
}

fn lane(name: &str, kind: SpanLane) -> Lane {
    let (process, thread) = match kind {
        SpanLane::Process => (name, ""),
        SpanLane::Thread => ("", name),
        SpanLane::Device | SpanLane::Stream => ("device", name),
    };
    Lane {
        process: process.to_owned(),
        thread: thread.to_owned(),
        process_name: process.to_owned(),
        thread_name: thread.to_owned(),
        kind: match kind {
            SpanLane::Device | SpanLane::Stream => LaneKind::Device,
            SpanLane::Thread | SpanLane::Process => LaneKind::Host,
        },
        ..Lane::default()
    }
}

/// Binds the ends of flows to the innermost slices around their times.
fn bind(flows: &[[(u16, i64); 2]], builder: &mut TraceBuilder) {
    if flows.is_empty() {
        return;
    }
    let slices = &builder.trace.slices;
    let mut order: Vec<u32> = (0..).take(slices.len()).collect();
    // Of slices with the same begin, the longer one encloses the other.
    order.sort_by_key(|slice| {
        let slice = slices.get(*slice as usize);
        slice.map(|slice| (slice.lane, slice.begin, std::cmp::Reverse(slice.duration)))
    });
    let mut ends: Vec<(u16, i64, usize)> = flows
        .iter()
        .flatten()
        .enumerate()
        .map(|(index, (lane, time))| (*lane, *time, index))
        .collect();
    ends.sort_unstable();
    let mut bound = vec![NONE; ends.len()];
    let mut order = order.into_iter().peekable();
    let mut open: Vec<u32> = Vec::new();
    let mut open_lane = None;
    for (lane, time, index) in ends {
        if open_lane != Some(lane) {
            open.clear();
            open_lane = Some(lane);
        }
        while let Some(slice) = order.peek() {
            match slices.get(*slice as usize) {
                Some(next) if (next.lane, next.begin) <= (lane, time) => {
                    if next.lane == lane {
                        open.push(*slice);
                    }
                }
                _ => break,
            }
            order.next();
        }
        while let Some(slice) = open.last() {
            if slices.end(*slice as usize) >= time {
                break;
            }
            open.pop();
        }
        if let (Some(place), Some(slice)) = (bound.get_mut(index), open.last()) {
            *place = *slice;
        }
    }
    let category = builder.trace.texts.intern("flow");
    for pair in bound.as_chunks::<2>().0 {
        let [from, to] = *pair;
        if from == NONE || to == NONE {
            builder.trace.counts.flows_without_end += 1;
        } else {
            builder.trace.flows.push(Flow { from, to, category });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Counter, Span};

    fn span(name: u32, lane: u32, step: i64, start_nanos: i64, duration_nanos: u64) -> Span {
        Span {
            name,
            lane,
            step,
            start_nanos,
            duration_nanos,
        }
    }

    #[test]
    fn profiles_become_one_trace() {
        let first = Profile {
            names: vec!["forward".to_owned(), "kernel".to_owned()],
            lanes: vec!["main".to_owned(), "stream 7".to_owned()],
            spans: vec![
                span(0, 0, 1, 10, 5),
                span(1, 1, 1, 12, 20),
                span(0, 0, 2, 40, 5),
            ],
            counters: vec![Counter {
                name: 0,
                time_nanos: 11,
                value: f64::NAN,
            }],
            name_kinds: vec![SpanKind::Other, SpanKind::Communication],
            lane_kinds: vec![SpanLane::Thread, SpanLane::Stream],
            flows: vec![SpanFlow {
                from_lane: 0,
                from_nanos: 13,
                to_lane: 1,
                to_nanos: 12,
            }],
        };
        let second = Profile {
            names: vec!["inner".to_owned(), "forward".to_owned()],
            lanes: vec!["main".to_owned()],
            spans: vec![span(0, 0, 2, 41, 2), span(1, 0, 2, 40, 6)],
            flows: vec![SpanFlow::default()],
            ..Profile::default()
        };
        let trace = spans_to_trace([&first, &second].into_iter());
        assert_eq!(trace.slices.begins, [10, 12, 40, 41, 40]);
        assert_eq!(trace.slices.lanes, [0, 1, 0, 0, 0]);
        let kinds: Vec<_> = trace.lanes.iter().map(|lane| lane.kind).collect();
        assert_eq!(kinds, [LaneKind::Host, LaneKind::Device]);
        let categories: Vec<_> = trace
            .categories
            .iter()
            .map(|one| (&*one.name, one.count))
            .collect();
        assert_eq!(categories, [("", 4), ("communication", 1)]);
        let steps: Vec<_> = trace
            .declared_steps
            .iter()
            .map(|step| (step.number, step.begin, step.end))
            .collect();
        assert_eq!(steps, [(1, 10, 32), (2, 40, 46)]);
        assert!(trace.counters[0].values[0].is_nan());
        let [flow] = trace.flows[..] else {
            panic!("{:?}", trace.flows);
        };
        assert_eq!((flow.from, flow.to), (0, 1));
        assert_eq!(trace.counts.flows_without_end, 1);
        assert_eq!(trace.head.unix_offset_nanos, Some(0));
    }

    #[test]
    fn flows_bind_to_the_innermost_span() {
        let flow = |from_nanos, to_nanos| SpanFlow {
            from_lane: 0,
            from_nanos,
            to_lane: 0,
            to_nanos,
        };
        let profile = Profile {
            names: vec!["a".to_owned()],
            lanes: vec!["main".to_owned()],
            spans: vec![
                span(0, 0, 0, 0, 100),
                span(0, 0, 0, 10, 10),
                span(0, 0, 0, 10, 50),
            ],
            flows: vec![flow(5, 15), flow(30, 70), flow(70, 101)],
            ..Profile::default()
        };
        let trace = spans_to_trace(std::iter::once(&profile));
        let ends: Vec<_> = trace
            .flows
            .iter()
            .map(|flow| (flow.from, flow.to))
            .collect();
        assert_eq!(ends, [(0, 1), (2, 0)]);
        assert_eq!(trace.counts.flows_without_end, 1);
    }
}
