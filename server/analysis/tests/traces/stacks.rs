//! Flame charts and folded stacks: no time is lost or counted twice.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trainscope_analysis::trace::area::area;
use trainscope_analysis::trace::flame::{Stacks, flame};
use trainscope_analysis::trace::levels::Levels;
use trainscope_api::profile::{FlameFrame, MAX_FRAMES};
use trainscope_format::trace::LaneKind;

use crate::traces::scatter::{of_lanes, random_model};
use crate::traces::support::model as fixture;

/// Number of slices and total by name and path.
fn rows(frames: &[FlameFrame]) -> Vec<(u32, &str, i64, i64, u64)> {
    let row = |frame: &'_ FlameFrame| {
        (
            frame.depth,
            frame.total_nanos,
            frame.self_nanos,
            frame.count,
        )
    };
    frames
        .iter()
        .map(|frame| {
            let (depth, total, self_nanos, count) = row(frame);
            (depth, frame.name.as_str(), total, self_nanos, count)
        })
        .collect()
}

#[test]
fn stacks_of_one_path_are_one_frame_from_both_sides() {
    let slices = [
        (0, 100, "step"),
        (10, 30, "mm"),
        (20, 10, "copy"),
        (50, 20, "copy"),
        (200, 50, "step"),
        (210, 20, "mm"),
    ];
    let model = of_lanes(&[(LaneKind::Host, &slices)]);
    let levels = Levels::new(&model);
    let down = flame(&model, &levels, (0, 250), None, false);
    let expected = [
        (0, "step", 150, 80, 2),
        (1, "mm", 50, 40, 2),
        (2, "copy", 10, 10, 1),
        (1, "copy", 20, 20, 1),
    ];
    assert_eq!(rows(&down.frames), expected);
    assert_eq!((down.total_nanos, down.cut), (150, false));
    let up = flame(&model, &levels, (0, 250), None, true);
    let expected = [
        (0, "step", 80, 80, 2),
        (0, "mm", 40, 0, 2),
        (1, "step", 40, 40, 2),
        (0, "copy", 30, 0, 2),
        (1, "step", 20, 20, 1),
        (1, "mm", 10, 0, 1),
        (2, "step", 10, 10, 1),
    ];
    assert_eq!(rows(&up.frames), expected);
    let part = flame(&model, &levels, (25, 60), None, false);
    assert_eq!(rows(&part.frames)[0], (0, "step", 35, 10, 1));
    let mut folded = String::new();
    Stacks::new(&model, &levels, (0, 250), None)
        .fold(&mut folded)
        .unwrap();
    assert_eq!(
        folded,
        "step 80\nstep;mm 40\nstep;mm;copy 10\nstep;copy 20\n"
    );
}

#[test]
fn the_smallest_of_many_frames_are_joined() {
    let names: Vec<String> = (0..2 * MAX_FRAMES)
        .map(|number| format!("f{number}"))
        .collect();
    let mut slices = vec![(0, 10_000_000, "all")];
    let mut at = 0;
    for (number, name) in (1_u64..).zip(&names) {
        slices.push((at, number, name.as_str()));
        at += i64::try_from(number).unwrap();
    }
    slices[0].1 = at.unsigned_abs();
    let model = of_lanes(&[(LaneKind::Host, &slices)]);
    let levels = Levels::new(&model);
    let answer = flame(&model, &levels, (0, at), None, false);
    assert!(answer.cut && answer.frames.len() <= MAX_FRAMES);
    assert_eq!(answer.frames[1].name, names[names.len() - 1]);
    let joined = answer.frames.last().unwrap();
    assert_eq!((joined.name.as_str(), joined.depth), ("…", 1));
    let below: i64 = answer.frames[1..]
        .iter()
        .map(|frame| frame.total_nanos)
        .sum();
    assert_eq!(below, answer.total_nanos);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn self_time_is_the_same_as_in_the_totals_of_the_area(seed in any::<u64>(), count in 1_usize..200, up in any::<bool>()) {
        let model = random_model(seed, count, 14);
        let levels = Levels::new(&model);
        let time = (1_000, 9_000);
        let names = area(&model, &levels, time, None).names;
        let mut by_name: BTreeMap<String, i64> = BTreeMap::new();
        for row in names {
            *by_name.entry(row.name).or_default() += row.self_nanos;
        }
        by_name.retain(|_, nanos| *nanos > 0);
        let chart = flame(&model, &levels, time, None, up);
        let mut frames: BTreeMap<String, i64> = BTreeMap::new();
        for frame in chart.frames {
            let nanos = if up {
                if frame.depth > 0 { 0 } else { frame.total_nanos }
            } else {
                frame.self_nanos
            };
            *frames.entry(frame.name).or_default() += nanos;
        }
        frames.retain(|_, nanos| *nanos > 0);
        prop_assert_eq!(frames, by_name);
    }
}

#[test]
fn folded_stacks_of_a_real_file_have_all_of_its_self_time() {
    let model = fixture("torch-cnn/stack.pt.trace.json.gz");
    let levels = Levels::new(&model);
    let extent = model.extent.end - model.origin();
    let mut folded = String::new();
    Stacks::new(&model, &levels, (0, extent), None)
        .fold(&mut folded)
        .unwrap();
    let durations = folded.lines().map(|line| line.rsplit_once(' ').unwrap().1);
    let folded_nanos: i64 = durations.map(|nanos| nanos.parse::<i64>().unwrap()).sum();
    let names = area(&model, &levels, (0, extent), None).names;
    let lanes: Vec<String> = model
        .trace
        .lanes
        .iter()
        .filter(|lane| lane.kind == LaneKind::Host)
        .map(|lane| format!("{}/{}", lane.process, lane.thread))
        .collect();
    let expected = names.iter().filter(|row| lanes.contains(&row.lane));
    assert_eq!(
        folded_nanos,
        expected.map(|row| row.self_nanos).sum::<i64>()
    );
}
