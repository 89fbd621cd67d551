//! Search against the slow way, and the errors of its language.

use std::sync::Arc;

use proptest::prelude::*;
use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::search::{ArgumentMatches, argument_texts, search, search_with};
use trainscope_api::timeline::{
    MAX_NEAREST, SliceEntry, TimeKind, TimelineSearchAnswer, TimelineSearchQuery,
};

use crate::traces::scatter::{random_model, span, touches};
use crate::traces::support::model as fixture;

fn find(model: &Model, query: &str, view: (i64, i64)) -> TimelineSearchAnswer {
    let query = TimelineSearchQuery {
        query: query.to_owned(),
        from: Some(view.0),
        to: Some(view.1),
        ..TimelineSearchQuery::default()
    };
    search(model, &query).unwrap()
}

fn count(model: &Model, query: &str) -> u64 {
    find(model, query, (0, i64::MAX / 2)).count
}

fn error(query: &str) -> String {
    let query = TimelineSearchQuery {
        query: query.to_owned(),
        ..TimelineSearchQuery::default()
    };
    search(&random_model(1, 5, 14), &query)
        .unwrap_err()
        .to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn matches_are_those_of_the_slices(seed in any::<u64>(), len in 1_usize..1_500, at in 0_i64..20_000) {
        let model = random_model(seed, len, 14);
        let answer = find(&model, "ADD dur:>=64ns", (at, at + 3_000));
        let is_match = |slice: &u32| {
            model.name(*slice) == "aten::Add" && model.trace.slices.durations[*slice as usize] >= 64
        };
        let mut all: Vec<(i64, u32)> = model
            .slices()
            .filter(is_match)
            .map(|slice| (span(&model, slice).0, slice))
            .collect();
        all.sort_unstable();
        prop_assert_eq!(answer.count, all.len() as u64);
        let in_view = all.iter().filter(|(_, slice)| touches(&model, *slice, (at, at + 3_000)));
        prop_assert_eq!(answer.in_view, in_view.count() as u64);
        prop_assert_eq!(answer.by_pixel.len(), 160);
        prop_assert_eq!(answer.by_pixel.iter().map(|n| u64::from(*n)).sum::<u64>(), answer.count);
        let from = usize::try_from(answer.nearest_from).unwrap();
        let slice_of = |entry: &SliceEntry| model.numbered(entry.index).unwrap();
        let nearest: Vec<u32> = answer.nearest.iter().map(slice_of).collect();
        let expected: Vec<u32> = all[from..].iter().take(nearest.len()).map(|entry| entry.1).collect();
        prop_assert_eq!(&nearest, &expected);
        prop_assert_eq!(nearest.len(), all.len().min(MAX_NEAREST));
        let before = all.iter().filter(|entry| entry.0 < at).count();
        prop_assert!(from <= before && before <= from + nearest.len());
        for entry in &answer.nearest {
            prop_assert_eq!(entry.begin_nanos, span(&model, slice_of(entry)).0);
        }
    }
}

#[test]
fn terms_are_joined_by_and() {
    let model = fixture("generated/steps4-layers2.pt.trace.json.gz");
    let slow =
        |test: &dyn Fn(u32) -> bool| model.slices().filter(|slice| test(*slice)).count() as u64;
    let kind = |slice: u32| model.kinds[slice as usize];
    let duration = |slice: u32| model.trace.slices.durations[slice as usize];
    assert_eq!(
        count(&model, "kind:comm"),
        slow(&|slice| kind(slice) == TimeKind::Communication)
    );
    assert!(count(&model, "kind:comm") > 0);
    assert_eq!(count(&model, "kind:copy kind:comm"), 0);
    let long = slow(&|slice| duration(slice) > 1_000_000);
    assert!(long > 0);
    assert_eq!(count(&model, "dur:>1ms"), long);
    assert_eq!(count(&model, "dur:>0.001s"), long);
    assert_eq!(count(&model, "dur:>1000µs"), long);
    assert_eq!(
        count(&model, "dur:<=1ms"),
        model.trace.slices.len() as u64 - long
    );
    let step = model.steps.list[1];
    let inside = |slice: u32| (step.begin..step.end).contains(&model.span(slice).0);
    assert_eq!(
        count(&model, &format!("step:{}", step.number)),
        slow(&inside)
    );
    assert_eq!(count(&model, "step:99999"), 0);
    let stream = |slice: u32| {
        let lane = &model.trace.lanes[usize::from(model.trace.slices.lanes[slice as usize])];
        lane.thread_name.contains("stream 7") || lane.thread == "7"
    };
    assert_eq!(count(&model, "lane:\"stream 7\""), slow(&stream));
    assert!(slow(&stream) > 0);
    let launch = slow(&|slice| model.name(slice) == "cudaLaunchKernel");
    assert_eq!(count(&model, "/^cuda.*Kernel$/"), launch);
    assert_eq!(
        count(&model, "CUDALAUNCHKERNEL dur:<1s"),
        count(&model, "/(?i)cudalaunchkernel/")
    );
    let answer = find(&model, "/^cudaLaunchKernel$/", (0, 1));
    assert_eq!(answer.names, [("cudaLaunchKernel".to_owned(), launch)]);
    assert_eq!(answer.name_ids.len(), 1);
}

#[test]
fn arguments_that_were_read_are_joined_to_the_other_terms() {
    let model = random_model(3, 200, 14);
    let text = "args:\"Input Dims\" dur:>=64ns args:7";
    assert_eq!(argument_texts(text).unwrap(), ["input dims", "7"]);
    let query = TimelineSearchQuery {
        query: text.to_owned(),
        ..TimelineSearchQuery::default()
    };
    let arguments = ArgumentMatches::from([
        ("input dims".to_owned(), Arc::new(vec![3, 50, 51, 120])),
        ("7".to_owned(), Arc::new(vec![1, 50, 51, 120, 199])),
    ]);
    let answer = search_with(&model, &query, &arguments).unwrap();
    let long = |slice: &u32| model.trace.slices.durations[*slice as usize] >= 64;
    let mut expected: Vec<u32> = [50, 51, 120].into_iter().filter(long).collect();
    let slices = answer
        .nearest
        .iter()
        .map(|entry| model.numbered(entry.index));
    let mut found: Vec<u32> = slices.map(Option::unwrap).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
    assert!(search_with(&model, &query, &ArgumentMatches::new()).is_err());
}

#[test]
fn mistakes_are_explained() {
    assert!(error("").contains("part of a name"));
    assert!(error("kind:fast").contains("compute"));
    assert!(error("kind:com").contains("kind:com"));
    assert!(error("/a(/").contains("regular expression"));
    assert!(error("lane:\"stream 7").contains("not closed"));
    for bad in [
        "dur:1ms",
        "dur:>ms",
        "dur:>1",
        "dur:>-1ms",
        "dur:>nans",
        "dur:",
    ] {
        assert!(error(bad).contains("dur:>1ms"), "{bad}");
    }
    assert!(error("step:x").contains("number of a step"));
    assert!(error("args:relu").contains("no arguments"));
    assert!(error("args:").contains("after it"));
}

#[test]
fn a_slash_that_begins_a_name_is_a_part_of_it() {
    let model = random_model(1, 50, 14);
    assert_eq!(count(&model, "/aten"), 0);
    assert_eq!(count(&model, "aten::"), count(&model, "/aten::/"));
    assert_eq!(count(&model, "\"kind:comm\""), 0);
}
