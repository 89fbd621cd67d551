//! The frame of the timeline: groups, lanes, steps and counters.

use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::counters::MAX_BUCKETS;
use trainscope_analysis::trace::lanes::lanes;
use trainscope_analysis::trace::levels::Levels;
use trainscope_api::timeline::TimelineLanes;
use trainscope_format::trace::{CounterSeries, Lane, LaneKind};

use crate::traces::scatter::{of_lanes, random_model};
use crate::traces::support::model as fixture;

fn frame(model: &Model) -> TimelineLanes {
    lanes(model, &Levels::new(model))
}

#[test]
fn hosts_come_before_devices_and_streams_that_send_last() {
    let answer = frame(&fixture("generated/steps4-layers2.pt.trace.json.gz"));
    let kinds: Vec<&str> = answer
        .groups
        .iter()
        .map(|group| group.kind.as_str())
        .collect();
    assert_eq!(kinds[..2], ["host", "device"]);
    let threads: Vec<&str> = answer.groups[0]
        .lanes
        .iter()
        .map(|lane| lane.name.as_str())
        .collect();
    assert!(threads[0].contains("4199"), "{threads:?}");
    let streams: Vec<&str> = answer.groups[1]
        .lanes
        .iter()
        .map(|lane| lane.name.as_str())
        .collect();
    assert!(
        streams[0].contains('7') && streams.last().unwrap().contains("20"),
        "{streams:?}"
    );
    assert!(answer.groups[1].name.starts_with("GPU 0"));
    let folded: Vec<bool> = answer.groups.iter().map(|group| group.folded).collect();
    assert_eq!(folded[..2], [false, false]);
    assert_eq!((answer.steps.len(), answer.events), (4, 1_404));
    assert_eq!(answer.busy.len(), 160);
    assert!(!answer.cut);
}

#[test]
fn counters_are_utilization_queues_memory_and_those_of_the_file() {
    let model = fixture("generated/steps4-layers2.pt.trace.json.gz");
    let answer = frame(&model);
    let of = |part: &str| {
        let found = answer
            .counters
            .iter()
            .find(|counter| counter.name.contains(part));
        found.unwrap_or_else(|| panic!("no {part}"))
    };
    let utilization = of("utilization GPU 0");
    assert_eq!(utilization.unit, "share");
    assert!(
        utilization
            .greatest
            .iter()
            .all(|share| (0.0..=1.0).contains(share))
    );
    let mean = utilization.last.iter().sum::<f64>() / utilization.last.len() as f64;
    assert!((mean - 0.8588).abs() < 0.03, "{mean}");
    let queue = of("queue");
    assert!(queue.least.iter().all(|waiting| *waiting >= 0.0));
    assert!(queue.last.last().unwrap().abs() < 0.5);
    let memory = of("memory GPU 0");
    let peak = memory.greatest.iter().copied().fold(0.0, f64::max);
    assert!((peak - 2_248_146_944.0).abs() < 0.5, "{peak}");
    assert!(
        answer
            .counters
            .iter()
            .all(|counter| counter.times_nanos.len() <= MAX_BUCKETS)
    );
    assert_eq!(
        answer
            .counters
            .iter()
            .filter(|c| !c.name.contains("queue"))
            .count(),
        2 + model.trace.counters.len()
    );
}

#[test]
fn buckets_lose_neither_spikes_nor_nan_nor_the_last_value() {
    let mut trace = random_model(3, 50, 20).trace;
    let begin = trace.slices.begins.iter().min().copied().unwrap();
    let times: Vec<i64> = (0..5_000).map(|at| begin + at * 100).collect();
    let mut values = vec![1.0; times.len()];
    (values[777], values[3_333], values[4_999]) = (1e9, f64::NAN, 7.0);
    values[3_334] = -5.0;
    trace.counters.push(CounterSeries {
        name: "loss".to_owned(),
        times,
        values,
        ..CounterSeries::default()
    });
    let answer = frame(&Model::new(trace));
    let counter = answer
        .counters
        .iter()
        .find(|counter| counter.name == "loss")
        .unwrap();
    assert!(counter.times_nanos.len() <= MAX_BUCKETS && counter.times_nanos.len() > 100);
    assert!(counter.times_nanos.is_sorted_by(|a, b| a < b));
    assert_eq!(
        counter
            .greatest
            .iter()
            .filter(|value| **value > 1e8)
            .count(),
        1
    );
    assert_eq!(
        counter.least.iter().filter(|value| value.is_nan()).count(),
        1
    );
    assert_eq!(
        counter
            .greatest
            .iter()
            .filter(|value| value.is_nan())
            .count(),
        0
    );
    assert!((counter.last.last().unwrap() - 7.0).abs() < 1e-9);
}

#[test]
fn lanes_have_the_order_of_the_file_then_the_main_thread_then_the_busiest() {
    let short = [(0, 10, "a")];
    let long = [(0, 90, "a")];
    let mut trace = of_lanes(&[
        (LaneKind::Host, &short),
        (LaneKind::Host, &long),
        (LaneKind::Host, &short),
        (LaneKind::Host, &long),
    ])
    .trace;
    let names = ["0", "5", "6", "7"];
    for (lane, thread) in trace.lanes.iter_mut().zip(names) {
        lane.thread = thread.to_owned();
        // In the notation of Kineto: the number of the thread, which is not an order.
        lane.thread_sort = thread.parse().unwrap();
    }
    trace.lanes[2].thread_sort = -1;
    trace.lanes.push(Lane {
        process: "0".to_owned(),
        thread: "8".to_owned(),
        ..Lane::default()
    });
    trace.lanes.push(Lane {
        process: "9".to_owned(),
        thread: "Free Time".to_owned(),
        kind: LaneKind::Derived,
        ..Lane::default()
    });
    let answer = frame(&Model::new(trace));
    let order: Vec<u32> = answer.groups[0]
        .lanes
        .iter()
        .map(|lane| lane.lane)
        .collect();
    assert_eq!(order, [2, 0, 1, 3]);
    assert_eq!(answer.groups[0].empty, 1);
    assert_eq!(answer.groups[0].empty_names, ["thread 8"]);
    assert!((answer.groups[0].lanes[2].busy - 1.0).abs() < 1e-9);
    assert_eq!(
        (answer.groups[1].kind.as_str(), answer.groups[1].folded),
        ("derived", true)
    );
}

#[test]
fn the_strip_is_the_share_of_each_stretch() {
    let work = [(0, 160, "mm"), (240, 80, "mm"), (200, 20, "mm")];
    let model = of_lanes(&[
        (LaneKind::Host, &[(0, 320, "all")]),
        (LaneKind::Device, &work),
    ]);
    let busy = frame(&model).busy;
    assert!(busy[..80].iter().all(|share| *share == 255));
    assert!(busy[80..100].iter().all(|share| *share == 0));
    assert!(busy[100..110].iter().all(|share| *share == 255));
    assert_eq!((busy[110], busy[120], busy[159]), (0, 255, 255));
}

#[test]
fn an_empty_trace_has_an_empty_frame() {
    let answer = frame(&Model::default());
    assert!(answer.groups.is_empty() && answer.counters.is_empty());
    assert_eq!(answer.busy, [0; 160]);
}

#[test]
fn streams_come_before_deep_stacks() {
    let order = |depth: usize| {
        let stack: Vec<(i64, u64, &str)> = (0..depth).map(|_| (0, 100, "frame")).collect();
        let lanes = [
            (LaneKind::Host, &*stack),
            (LaneKind::Device, &[(0, 50, "mm")]),
        ];
        let answer = frame(&of_lanes(&lanes));
        let kinds = answer.groups.iter().map(|group| group.kind.clone());
        kinds.collect::<Vec<String>>()
    };
    assert_eq!(order(12), ["host", "device"]);
    assert_eq!(order(13), ["device", "host"]);
}
