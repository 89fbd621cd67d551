//! Benchmark of the timeline of five million slices: nesting, levels, cells of 40 rows, totals of an area, search.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::area::area;
use trainscope_analysis::trace::flame::flame;
use trainscope_analysis::trace::lanes::lanes;
use trainscope_analysis::trace::levels::Levels;
use trainscope_analysis::trace::search::search;
use trainscope_analysis::trace::slice::slice;
use trainscope_analysis::trace::view::timeline;
use trainscope_api::timeline::{TimelineQuery, TimelineSearchQuery};
use trainscope_format::trace::{
    Category, Lane, LaneKind, NONE, Slice, SliceClass, TextId, Trace, TraceFormat,
};

/// Steps of about 5,000 slices; only a few under test.
fn steps() -> u64 {
    if std::env::args().any(|flag| flag == "--test") {
        2
    } else {
        1_000
    }
}

/// Operators of a step on each of four threads.
const OPERATORS: u64 = 250;
/// Length of an operator, nanoseconds.
const OPERATOR_NANOS: u64 = 40_000;
/// Names of operators and of kernels.
const NAMES: u32 = 200;

/// Threads with operators eight deep and four streams: 40 rows with those of the threads' calls.
fn synthetic() -> Trace {
    let mut trace = Trace::default();
    trace.head.format = TraceFormat::Kineto;
    trace.categories = [
        SliceClass::Operator,
        SliceClass::Runtime,
        SliceClass::Kernel,
    ]
    .map(|class| Category {
        class,
        count: 1,
        ..Category::default()
    })
    .to_vec();
    for name in 0..NAMES {
        trace.texts.intern(&format!("aten::operator_{name}"));
    }
    let lanes = (0..8).map(|number| Lane {
        process: if number < 4 { "100" } else { "0" }.to_owned(),
        thread: number.to_string(),
        kind: if number < 4 {
            LaneKind::Host
        } else {
            LaneKind::Device
        },
        ..Lane::default()
    });
    trace.lanes = lanes.collect();
    let mut link = 0;
    for operator in 0..steps() * OPERATORS {
        let begin = operator * OPERATOR_NANOS;
        for thread in 0..4_u16 {
            let shift = begin + u64::from(thread) * 7_000;
            let mut add = |begin: u64, duration, lane, category, link| {
                let turn = u32::try_from(begin >> 13 & 0xffff).unwrap_or_default();
                let name = (link ^ u32::from(category) ^ turn) % NAMES;
                trace.slices.push(&Slice {
                    begin: begin.cast_signed(),
                    duration,
                    name: TextId(name),
                    lane,
                    category,
                    link,
                    detail: NONE,
                    place: begin,
                });
            };
            // Some operators are deep, most are not.
            let depth = if operator % 16 == 0 { 8 } else { 3 };
            for level in 0..depth {
                add(shift + level * 400, 9_000 - level * 900, thread, 0, NONE);
            }
            add(shift + depth * 400, 1_500, thread, 1, link);
            add(shift + 20_000, 15_000 + begin % 9_000, thread + 4, 2, link);
            link += 1;
        }
    }
    trace
}

fn traces(bench: &mut Criterion) {
    let trace = synthetic();
    let mut group = bench.benchmark_group(format!("trace of {} slices", trace.slices.len()));
    group.sample_size(10);
    group.bench_function("nesting", |run| {
        run.iter_batched(
            || trace.clone(),
            Model::new,
            criterion::BatchSize::PerIteration,
        );
    });
    let model = Model::new(trace);
    group.bench_function("levels", |run| run.iter(|| Levels::new(black_box(&model))));
    let levels = Levels::new(&model);
    let extent = model.extent.end - model.origin();
    for (name, share) in [("everything", 1), ("a hundredth", 100), ("a step", 1_000)] {
        let query = TimelineQuery {
            from: Some(extent / 3),
            to: Some(extent / 3 + extent / share),
            ..TimelineQuery::default()
        };
        group.bench_function(format!("cells of all rows, {name}"), |run| {
            run.iter(|| timeline(&model, &levels, black_box(&query)));
        });
    }
    group.bench_function("lanes and counters", |run| {
        run.iter(|| lanes(black_box(&model), &levels));
    });
    group.bench_function("totals of everything", |run| {
        run.iter(|| area(&model, &levels, black_box((0, extent)), None));
    });
    group.bench_function("stacks of everything", |run| {
        run.iter(|| flame(&model, &levels, black_box((0, extent)), None, false));
    });
    for text in ["operator_7", "/_1[0-9]$/ dur:>2us kind:compute"] {
        let query = TimelineSearchQuery {
            query: text.to_owned(),
            ..TimelineSearchQuery::default()
        };
        group.bench_function(format!("search for {text}"), |run| {
            run.iter(|| search(&model, black_box(&query)));
        });
    }
    let last = u32::try_from(model.trace.slices.len() - 1).unwrap_or_default();
    group.bench_function("one slice", |run| {
        run.iter(|| slice(&model, &levels, black_box(last)));
    });
    group.finish();
}

criterion_group!(benches, traces);
criterion_main!(benches);
