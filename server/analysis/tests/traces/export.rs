//! Chrome JSON that is written is read back as the same trace.

use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::export_json::write;
use trainscope_analysis::trace::levels::Levels;

use crate::traces::scatter::{read, touches};
use crate::traces::support::model as fixture;

fn written(model: &Model, time: (i64, i64)) -> Model {
    let mut bytes = Vec::new();
    write(model, &Levels::new(model), time, &mut bytes).unwrap();
    let trace = read(&bytes);
    assert_eq!((trace.counts.damaged, trace.counts.truncated), (0, false));
    Model::new(trace)
}

/// All properties of a slice, as text.
fn rows(model: &Model, counts: impl Fn(u32) -> bool) -> Vec<String> {
    let slices = &model.trace.slices;
    let row = |slice: u32| {
        let index = slice as usize;
        let lane = &model.trace.lanes[usize::from(slices.lanes[index])];
        let category = &model.trace.categories[usize::from(slices.categories[index])].name;
        let lane = (&lane.process, &lane.thread, &lane.thread_name, lane.kind);
        let name = model.name(slice);
        let begin = slices.begins[index] - model.origin();
        let kind = model.kinds[index];
        format!(
            "{lane:?} {category} {name} {begin} {} {kind:?} {}",
            slices.durations[index], slices.links[index]
        )
    };
    let mut rows: Vec<String> = model
        .slices()
        .filter(|slice| counts(*slice))
        .map(row)
        .collect();
    rows.sort();
    rows
}

fn flows(model: &Model) -> Vec<(i64, i64, String)> {
    let begin = |slice: u32| model.span(slice).0 - model.origin();
    let flows = model.trace.flows.iter();
    let mut flows: Vec<_> = flows
        .map(|flow| {
            let category = model.trace.texts.get(flow.category).to_owned();
            (begin(flow.from), begin(flow.to), category)
        })
        .collect();
    flows.sort();
    flows
}

#[test]
fn whole_traces_survive_the_way_through_chrome_json() {
    for path in [
        "torch-cnn/plain.pt.trace.json.gz",
        "torch-cnn/stack.pt.trace.json.gz",
        "torch-transformer/tb.pt.trace.json.gz",
        "generated/steps4-layers2.pt.trace.json.gz",
        "ms210-lenet/trace_view.json.gz",
    ] {
        let model = fixture(path);
        let all = (-1_000_000_000_000, 1_000_000_000_000);
        let again = written(&model, all);
        assert_eq!(rows(&again, |_| true), rows(&model, |_| true), "{path}");
        assert_eq!(flows(&again), flows(&model), "{path}");
        let unix = |model: &Model| {
            model
                .trace
                .head
                .unix_offset_nanos
                .map(|offset| offset + model.origin())
        };
        assert_eq!(unix(&again), unix(&model), "{path}");
        assert_eq!(again.steps.list.len(), model.steps.list.len(), "{path}");
        let facts = |model: &Model| {
            let head = &model.trace.head;
            (
                head.format,
                head.rank,
                head.host.clone(),
                head.devices.clone(),
            )
        };
        assert_eq!(facts(&again), facts(&model), "{path}");
        let memory = |model: &Model| -> Vec<_> {
            let events = model.trace.memory.iter();
            events
                .map(|event| {
                    (
                        event.time - model.origin(),
                        event.bytes,
                        event.address,
                        event.allocated,
                    )
                })
                .collect()
        };
        assert_eq!(memory(&again), memory(&model), "{path}");
        let counters = |model: &Model| -> Vec<_> {
            let counters = model.trace.counters.iter();
            counters
                .map(|counter| (counter.name.clone(), counter.values.clone()))
                .collect()
        };
        assert_eq!(counters(&again), counters(&model), "{path}");
    }
}

#[test]
fn an_area_has_the_slices_that_touch_it() {
    let model = fixture("generated/steps4-layers2.pt.trace.json.gz");
    let time = (4_000_000, 6_000_000);
    let again = written(&model, time);
    // The part begins with another first slice; its times count from that.
    let durations = |model: &Model, counts: &dyn Fn(u32) -> bool| {
        let slices = model.slices().filter(|slice| counts(*slice));
        let mut rows: Vec<_> = slices
            .map(|slice| {
                (
                    model.name(slice).to_owned(),
                    model.trace.slices.durations[slice as usize],
                )
            })
            .collect();
        rows.sort();
        rows
    };
    let expected = durations(&model, &|slice| touches(&model, slice, time));
    assert_eq!(durations(&again, &|_| true), expected);
    assert!(!expected.is_empty() && expected.len() < model.trace.slices.len());
}

#[test]
fn names_with_quotes_and_control_characters_are_escaped() {
    let name = "a\"b\\c\u{1}\n\u{7f}é…";
    let model = crate::traces::scatter::of_lanes(&[(
        trainscope_format::trace::LaneKind::Host,
        &[(0, 5, name)],
    )]);
    let again = written(&model, (0, 10));
    assert_eq!(again.name(0), name);
}
