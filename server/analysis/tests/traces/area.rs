//! Totals of areas, and the answer for one slice, against a slow computation.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::area::area;
use trainscope_analysis::trace::levels::Levels;
use trainscope_analysis::trace::ranges::{merge, total};
use trainscope_analysis::trace::slice::slice;
use trainscope_format::trace::{CounterSeries, NONE};

use crate::traces::scatter::{random_model, span, touches};
use crate::traces::support::model as fixture;

/// Totals by name and lane: number, time, self time.
fn slow(model: &Model, (from, to): (i64, i64)) -> BTreeMap<(String, String), (u64, i64, i64)> {
    let clip = |slice: u32| {
        let (begin, end) = span(model, slice);
        (begin.max(from), end.min(to))
    };
    let mut totals: BTreeMap<_, (u64, i64, i64)> = BTreeMap::new();
    for slice in model
        .slices()
        .filter(|slice| touches(model, *slice, (from, to)))
    {
        let (begin, end) = clip(slice);
        let children = model
            .slices()
            .filter(|other| model.parents[*other as usize] == slice);
        let children = merge(children.map(clip).collect());
        let lane = &model.trace.lanes[usize::from(model.trace.slices.lanes[slice as usize])];
        let key = (
            model.name(slice).to_owned(),
            format!("{}/{}", lane.process, lane.thread),
        );
        let sum = totals.entry(key).or_default();
        *sum = (
            sum.0 + 1,
            sum.1 + end - begin,
            sum.2 + end - begin - total(&children),
        );
    }
    totals
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn totals_are_those_of_the_slices(seed in any::<u64>(), count in 1_usize..200, a in 0.0_f64..1.0, b in 0.0_f64..1.0) {
        let model = random_model(seed, count, 14);
        let levels = Levels::new(&model);
        let extent = model.extent.end - model.origin();
        #[expect(clippy::cast_possible_truncation, reason = "a time within the extent")]
        let at = |share: f64| (share * extent as f64) as i64;
        let time = (at(a.min(b)), at(a.max(b)) + 1);
        let answer = area(&model, &levels, time, None);
        let names = answer.names.iter().map(|row| {
            ((row.name.clone(), row.lane.clone()), (row.count, row.total_nanos, row.self_nanos))
        });
        prop_assert_eq!(names.collect::<BTreeMap<_, _>>(), slow(&model, time));
        prop_assert!(answer.names.is_sorted_by(|a, b| a.total_nanos >= b.total_nanos));
        prop_assert_eq!(answer.length_nanos, time.1 - time.0);
        prop_assert_eq!(answer.slices, answer.names.iter().map(|row| row.count).sum::<u64>());
        for lane in &answer.lanes {
            let index = model.trace.lanes.iter().position(|recorded| lane.lane == format!("{}/{}", recorded.process, recorded.thread));
            let slices = model.lanes[index.unwrap()].slices.clone();
            let clipped = slices.map(|slice| span(&model, slice)).map(|(a, b)| (a.max(time.0), b.min(time.1)));
            prop_assert_eq!(lane.busy_nanos, total(&merge(clipped.collect())));
        }
        let only = area(&model, &levels, time, Some(&[1, 7]));
        prop_assert!(only.names.iter().all(|row| row.lane == "0/1"));
        prop_assert_eq!(only.names.len(), answer.names.iter().filter(|row| row.lane == "0/1").count());
    }

    #[test]
    fn the_neighbours_of_a_slice_are_those_of_the_columns(seed in any::<u64>(), count in 1_usize..120) {
        let model = random_model(seed, count, 14);
        let levels = Levels::new(&model);
        let whole = slow(&model, (i64::MIN / 4, i64::MAX / 4));
        let mut own_time: BTreeMap<(String, String), i64> = BTreeMap::new();
        for index in model.slices() {
            let answer = slice(&model, &levels, model.number(index)).unwrap();
            let lane = answer.slice.lane;
            let key = (answer.slice.name.clone(), format!("0/{lane}"));
            *own_time.entry(key).or_default() += answer.self_nanos;
            let in_row = |other: &u32| {
                u32::from(model.trace.slices.lanes[*other as usize]) == lane
                    && model.rows[*other as usize] == model.rows[index as usize]
            };
            let index_of = |entry: &Option<trainscope_api::timeline::SliceEntry>| model.numbered(entry.as_ref()?.index);
            prop_assert_eq!(index_of(&answer.previous), (0..index).rev().find(in_row));
            prop_assert_eq!(index_of(&answer.next), model.slices().skip(index as usize + 1).find(in_row));
            let child = model.slices().find(|other| model.parents[*other as usize] == index);
            prop_assert_eq!(index_of(&answer.child), child);
            let mut parents = Vec::new();
            let mut at = model.parents[index as usize];
            while at != NONE {
                parents.push(at);
                at = model.parents[at as usize];
            }
            parents.truncate(100);
            prop_assert_eq!(answer.parents.iter().filter_map(|entry| model.numbered(entry.index)).collect::<Vec<_>>(), parents);
            let names = &model.trace.slices.names;
            let same = model.slices().filter(|other| names[*other as usize] == names[index as usize]);
            let mut durations: Vec<_> = same.map(|other| model.trace.slices.durations[other as usize]).collect();
            durations.sort_unstable();
            prop_assert_eq!(answer.same_name, durations.len() as u64);
            let rank = (durations.len() * 99).div_ceil(100);
            prop_assert_eq!(answer.p99_nanos.unsigned_abs(), durations[rank - 1]);
        }
        let slow_own: BTreeMap<_, _> = whole.into_iter().map(|(key, sum)| (key, sum.2)).collect();
        prop_assert_eq!(own_time, slow_own);
    }
}

#[test]
fn totals_of_a_real_file_are_those_of_its_categories() {
    let model = fixture("torch-cnn/plain.pt.trace.json.gz");
    let levels = Levels::new(&model);
    let answer = area(&model, &levels, (0, 5_511_880), Some(&[0]));
    let operators: i64 = answer.names.iter().map(|row| row.total_nanos).sum();
    assert_eq!(operators, 8_911_996 + 5_498_468);
    assert_eq!(answer.slices, 774);
    let convolution = answer
        .names
        .iter()
        .find(|row| row.name == "aten::convolution_backward");
    let convolution = convolution.unwrap();
    assert_eq!((convolution.count, convolution.self_nanos), (4, 750_120));
    let memory = answer
        .counters
        .iter()
        .find(|counter| counter.name == "memory host");
    assert!((memory.unwrap().greatest - 314_672.0).abs() < 0.5);
}

#[test]
fn launches_flows_and_idle_time_of_a_kernel_are_found() {
    let model = fixture("generated/steps4-layers2.pt.trace.json.gz");
    let levels = Levels::new(&model);
    let mut launches = 0;
    for index in model.slices().map(|slice| model.number(slice)) {
        let answer = slice(&model, &levels, index).unwrap();
        if let Some(call) = &answer.launched_by {
            launches += 1;
            let back = slice(&model, &levels, call.index).unwrap();
            assert!(back.launches.iter().any(|entry| entry.index == index));
            assert!(
                answer
                    .flows_in
                    .iter()
                    .any(|entry| entry.index == call.index)
            );
            assert!(back.flows_out.iter().any(|entry| entry.index == index));
            let delay = answer.slice.begin_nanos - call.begin_nanos - call.duration_nanos;
            assert_eq!(answer.launch_delay_nanos, Some(delay.max(0)));
            assert_eq!(answer.phase, back.phase);
        }
        if answer.idle_before_nanos.is_some() {
            let lane = &model.trace.lanes[answer.slice.lane as usize];
            assert_eq!(lane.kind, trainscope_format::trace::LaneKind::Device);
        }
    }
    assert_eq!(launches, 140);
    assert!(slice(&model, &levels, u32::MAX).is_none());
}

#[test]
fn counters_of_an_area_are_weighted_by_time_and_keep_nan() {
    let mut trace = random_model(1, 50, 14).trace;
    let begin = trace.slices.begins.iter().min().copied().unwrap();
    let series = |name: &str, values: &[f64]| CounterSeries {
        name: name.to_owned(),
        times: vec![begin, begin + 100, begin + 400],
        values: values.to_vec(),
        ..CounterSeries::default()
    };
    trace.counters = vec![
        series("a", &[1.0, 4.0, 9.0]),
        series("b", &[1.0, f64::NAN, 2.0]),
    ];
    let model = Model::new(trace);
    let levels = Levels::new(&model);
    let answer = area(&model, &levels, (50, 200), None);
    let [a, b] = &answer.counters[..] else {
        panic!("{:?}", answer.counters)
    };
    assert_eq!((a.least, a.greatest), (1.0, 4.0));
    assert!((a.mean - 3.0).abs() < 1e-9, "{}", a.mean);
    assert!(b.least.is_nan() && b.mean.is_nan());
    assert!((b.greatest - 1.0).abs() < 1e-9);
}
