//! Random traces against slow and plain ways.

use proptest::prelude::*;
use trainscope_analysis::trace::calls::Calls;
use trainscope_analysis::trace::parts::RoleRanges;
use trainscope_analysis::trace::steps::StepRange;
use trainscope_analysis::trace::summary::summary;
use trainscope_analysis::trace::{Model, Role, Step};
use trainscope_api::profile::Parts;
use trainscope_format::trace::{
    Category, Flow, Lane, LaneKind, NONE, Slice, SliceClass, Trace, TraceFormat,
};

const CLASSES: [SliceClass; 7] = [
    SliceClass::Operator,
    SliceClass::Annotation,
    SliceClass::PythonFrame,
    SliceClass::Runtime,
    SliceClass::Kernel,
    SliceClass::Memcpy,
    SliceClass::Memset,
];
const NAMES: [&str; 7] = [
    "aten::mm",
    "ProfilerStep#3",
    "## data ##",
    "ncclKernel_AllReduce",
    "gloo:all_reduce",
    "forward",
    "aten::add",
];
const END: i64 = 120;

/// Lane, class, name, begin, length and link of a slice.
type Row = (u16, u16, usize, i64, u64, u32);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (
        0_u16..3,
        0_u16..7,
        0_usize..7,
        0_i64..80,
        0_u64..40,
        0_u32..6,
    );
    proptest::collection::vec(row, 1..40)
}

fn trace(rows: &[Row]) -> Trace {
    let mut trace = Trace::default();
    trace.head.format = TraceFormat::Kineto;
    trace.lanes = (0..3)
        .map(|lane| Lane {
            thread: lane.to_string(),
            kind: LaneKind::Host,
            ..Lane::default()
        })
        .collect();
    trace.categories = CLASSES
        .iter()
        .map(|class| Category {
            name: format!("{class:?}"),
            class: *class,
            ..Category::default()
        })
        .collect();
    for ((lane, category, name, begin, duration, link), place) in rows.iter().zip(0_u64..) {
        let name = trace.texts.intern(NAMES[*name]);
        let total = &mut trace.categories[usize::from(*category)];
        total.count += 1;
        total.nanos = total.nanos.saturating_add(*duration);
        trace.slices.push(&Slice {
            begin: *begin,
            duration: *duration,
            name,
            lane: *lane,
            category: *category,
            link: if *link == 0 { NONE } else { *link },
            detail: NONE,
            place,
        });
    }
    trace
}

/// Row, parent (as places) and crossing of each slice of a lane that is in order, by looking at all slices before it.
fn nested(spans: &[(i64, i64, u64)]) -> Vec<(u16, Option<u64>, bool)> {
    let mut rows: Vec<u16> = Vec::new();
    let mut nested = Vec::new();
    for (index, (begin, end, _)) in spans.iter().enumerate() {
        let open: Vec<usize> = (0..index)
            .filter(|other| spans[*other].1 > *begin)
            .collect();
        let row = open.iter().map(|other| rows[*other] + 1).max().unwrap_or(0);
        let holders = open.iter().filter(|other| spans[**other].1 >= *end);
        let parent = holders.clone().max_by_key(|other| rows[**other]);
        let crosses = holders.clone().count() < open.len();
        nested.push((row, parent.map(|other| spans[*other].2), crosses));
        rows.push(row);
    }
    nested
}

fn sum(parts: &Parts) -> i64 {
    parts.kernel
        + parts.memcpy
        + parts.memset
        + parts.communication
        + parts.runtime
        + parts.data
        + parts.operators
        + parts.other
}

proptest! {
    #[test]
    fn rows_and_parents_are_those_of_the_definition(rows in rows()) {
        let model = Model::new(trace(&rows));
        let mut unnested = 0;
        for (lane, lane_slices) in model.lanes.iter().enumerate() {
            let slices: Vec<u32> = lane_slices.slices.clone().collect();
            let spans: Vec<(i64, i64, u64)> = slices
                .iter()
                .map(|slice| {
                    let (begin, end) = model.span(*slice);
                    (begin, end, model.trace.slices.places[*slice as usize])
                })
                .collect();
            let expected_count = rows.iter().filter(|row| usize::from(row.0) == lane).count();
            prop_assert_eq!(slices.len(), expected_count);
            prop_assert!(spans.is_sorted_by_key(|(begin, end, place)| (*begin, -*end, *place)));
            let nested = nested(&spans);
            for (slice, (row, parent, crosses)) in slices.iter().zip(&nested) {
                prop_assert_eq!(model.rows[*slice as usize], *row);
                let holder = model.parents[*slice as usize];
                let place = (holder != NONE).then(|| model.trace.slices.places[holder as usize]);
                prop_assert_eq!(place, *parent);
                unnested += u64::from(*crosses);
            }
            let depth = nested.iter().map(|(row, _, _)| row + 1).max().unwrap_or(0);
            prop_assert_eq!(lane_slices.rows, depth);
        }
        prop_assert_eq!(model.unnested, unnested);
    }

    #[test]
    fn arrows_keep_their_ends(rows in rows(), ends in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..5)) {
        let mut trace = trace(&rows);
        let category = trace.texts.intern("ac2g");
        let number = |index: usize| u32::try_from(index).unwrap();
        for (from, to) in &ends {
            trace.flows.push(Flow {
                from: number(from.index(rows.len())),
                to: number(to.index(rows.len())),
                category,
            });
        }
        trace.counts.unfinished = vec![number(rows.len() - 1)];
        let model = Model::new(trace);
        let place = |slice: u32| model.trace.slices.places[slice as usize];
        for (flow, (from, to)) in model.trace.flows.iter().zip(&ends) {
            prop_assert_eq!(place(flow.from), from.index(rows.len()) as u64);
            prop_assert_eq!(place(flow.to), to.index(rows.len()) as u64);
        }
        prop_assert_eq!(place(model.trace.counts.unfinished[0]), rows.len() as u64 - 1);
    }

    #[test]
    fn each_moment_of_a_step_is_of_one_part(rows in rows(), begin in 0_i64..60, length in 0_i64..60) {
        let model = Model::new(trace(&rows));
        let step = Step { begin, end: begin + length, ..Step::default() };
        let time = RoleRanges::new(&model).time(&step);
        let parts = time.parts;
        prop_assert_eq!(sum(&parts), length);
        let mut slow = Parts::default();
        let (mut communication, mut hidden) = (0, 0);
        for moment in begin..begin + length {
            let open = |role: Role| model.slices().any(|slice| {
                let (from, to) = model.span(slice);
                model.roles[slice as usize] == role && from <= moment && moment < to
            });
            let part = if open(Role::Kernel) { &mut slow.kernel }
                else if open(Role::Memcpy) { &mut slow.memcpy }
                else if open(Role::Memset) { &mut slow.memset }
                else if open(Role::Communication) { &mut slow.communication }
                else if open(Role::Runtime) { &mut slow.runtime }
                else if open(Role::Data) { &mut slow.data }
                else if open(Role::Operators) { &mut slow.operators }
                else { &mut slow.other };
            *part += 1;
            communication += i64::from(open(Role::Communication));
            hidden += i64::from(open(Role::Communication) && open(Role::Kernel));
        }
        prop_assert_eq!(parts, slow);
        prop_assert_eq!((time.communication, time.hidden), (communication, hidden));
    }

    #[test]
    fn own_time_is_what_calls_within_leave(rows in rows()) {
        let model = Model::new(trace(&rows));
        let calls = Calls::new(&model);
        let is_call = |slice: &u32| matches!(model.class(*slice), SliceClass::Operator | SliceClass::Annotation)
            && !model.name(*slice).starts_with("ProfilerStep");
        prop_assert_eq!(calls.len(), model.slices().filter(is_call).count());
        for call in 0..calls.len() {
            let (begin, end) = model.span(calls.slices[call]);
            let children: Vec<(i64, i64)> = (0..calls.len())
                .filter(|other| calls.parent(*other) == Some(call))
                .map(|other| model.span(calls.slices[other]))
                .collect();
            prop_assert_eq!(calls.children[call] as usize, children.len());
            let moments = (begin..end).filter(|moment| !children.iter().any(|(a, b)| a <= moment && moment < b));
            prop_assert_eq!(calls.self_nanos[call], i64::try_from(moments.count()).unwrap());
        }
    }

    #[test]
    fn summaries_of_random_traces_hold_together(rows in rows(), max in 1_usize..4) {
        let model = Model::new(trace(&rows));
        for slice in model.slices() {
            let call = model.launches[slice as usize];
            if call != NONE {
                prop_assert_eq!(model.class(call), SliceClass::Runtime);
                let links = &model.trace.slices.links;
                prop_assert_eq!(links[call as usize], links[slice as usize]);
            }
        }
        let summary = summary(&model, StepRange::default(), max);
        prop_assert!(summary.steps.len() <= max.max(1));
        prop_assert!(summary.extent_nanos <= END);
        let steps = summary.steps.iter();
        prop_assert!(steps.clone().all(|step| sum(&step.parts_nanos) == step.end_nanos - step.begin_nanos));
        for step in steps {
            let phases: i64 = step.phases.iter().map(|phase| phase.end_nanos - phase.begin_nanos).sum();
            prop_assert_eq!(phases, step.end_nanos - step.begin_nanos);
            prop_assert!(step.phases.windows(2).all(|pair| pair[0].end_nanos == pair[1].begin_nanos));
        }
    }
}

#[test]
fn slices_that_all_cross_take_bounded_time() {
    // Each begins within all before it and ends after them: the deepest possible row, and no quadratic work.
    let count = 8_000;
    let rows: Vec<Row> = (0..count)
        .map(|index| (0, 0, 0, i64::from(index), 1_000_000, 0))
        .collect();
    let model = Model::new(trace(&rows));
    assert_eq!(model.lanes[0].rows, 1_024);
    assert_eq!(model.unnested, u64::try_from(count).unwrap() - 1);
}

#[test]
fn times_at_the_ends_of_their_range_are_summed() {
    let mut rows: Vec<Row> = Vec::new();
    for class in 0..7 {
        for name in 0..7 {
            rows.push((class % 3, class, name, i64::MIN, u64::MAX, 1));
            rows.push((class % 3, class, name, i64::MAX, u64::MAX, 1));
            rows.push((class % 3, class, name, -1, u64::MAX, 2));
        }
    }
    let summary = summary(&Model::new(trace(&rows)), StepRange::default(), 10);
    assert_eq!(summary.extent_nanos, i64::MAX);
    assert!(summary.steps.iter().all(|step| step.parts_nanos.other == 0));
}

#[test]
fn empty_traces_are_models_too() {
    let summary = summary(&Model::new(Trace::default()), StepRange::default(), 10);
    assert_eq!((summary.extent_nanos, summary.step_count), (0, 0));
    assert!(summary.operators.is_empty());
}
