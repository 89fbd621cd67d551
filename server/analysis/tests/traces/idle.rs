//! Idle time of streams: the numbers of the generated trace, against the slow way, and sums.

use proptest::prelude::*;
use trainscope_analysis::trace::idle::{self, Cause, Gap};
use trainscope_analysis::trace::{Model, Role};
use trainscope_format::trace::{NONE, SliceClass};

use crate::traces::critical::any_trace;
use crate::traces::support::{GeneratedTrace, generated, model};

#[test]
fn idle_time_of_generated_steps_by_cause() {
    let model = generated();
    let gaps = idle::gaps(&model);
    let mut totals: Vec<_> = idle::totals(&model, &gaps)
        .into_iter()
        .map(|total| (total.stream, total.cause, total.count, total.nanos))
        .collect();
    totals.sort();
    let row = |stream: &str, cause: &str, count, nanos| {
        (stream.to_owned(), cause.to_owned(), count, nanos)
    };
    let expected = [
        row("0/20", "host", 3, 5_118_631),
        row("0/7", "host", 7, 1_201_425),
        row("0/7", "other_stream", 4, 6_669_257),
    ];
    assert_eq!(totals, expected);
    for total in idle::totals(&model, &gaps) {
        let longest = total.longest_begin_nanos + model.origin();
        let same_cause = gaps.iter().filter(|gap| gap.cause.as_str() == total.cause);
        let longest = same_cause
            .clone()
            .find(|gap| gap.begin == longest)
            .expect("a gap");
        assert_eq!(longest.end - longest.begin, total.longest_nanos);
        assert!(total.longest_nanos * i64::try_from(total.count).unwrap() >= total.nanos);
    }
    let meanwhile = idle::host_meanwhile(&model, &gaps);
    assert_eq!(meanwhile.values().sum::<i64>(), 1_201_425 + 5_118_631);
    // Batches are fetched by the thread that launches into stream 7, whose idle time begins with the first kernel.
    let batches = model
        .slices()
        .filter(|slice| model.roles[*slice as usize] == Role::Data)
        .map(|slice| model.span(slice));
    let later: i64 = batches.skip(1).map(|(begin, end)| end - begin).sum();
    assert_eq!(meanwhile["data"], later);
}

#[test]
fn a_trace_without_a_device_has_no_idle_streams() {
    let model = model("torch-cnn/plain.pt.trace.json.gz");
    assert!(idle::gaps(&model).is_empty());
}

#[test]
fn the_host_is_told_by_the_innermost_slice() {
    let model = GeneratedTrace::new(1)
        .slice(0, SliceClass::Runtime, "cudaLaunchKernel", (0, 5), Some(1))
        .slice(1, SliceClass::Kernel, "a", (6, 10), Some(1))
        .slice(
            0,
            SliceClass::PythonFrame,
            "train.py(1): step",
            (8, 200),
            None,
        )
        .slice(
            0,
            SliceClass::Annotation,
            "enumerate(DataLoader)#X.__next__",
            (20, 40),
            None,
        )
        .slice(0, SliceClass::Operator, "aten::stack", (25, 35), None)
        .slice(0, SliceClass::Operator, "aten::mm", (50, 100), None)
        .slice(
            0,
            SliceClass::Runtime,
            "cudaStreamSynchronize",
            (60, 70),
            None,
        )
        .slice(
            0,
            SliceClass::Runtime,
            "cudaLaunchKernel",
            (90, 95),
            Some(2),
        )
        .slice(1, SliceClass::Kernel, "b", (110, 120), Some(2))
        .model();
    let gaps = idle::gaps(&model);
    assert_eq!(gaps.len(), 1);
    let meanwhile = idle::host_meanwhile(&model, &gaps);
    let nanos = |kind: &str| meanwhile.get(kind).copied().unwrap_or_default();
    assert_eq!((nanos("data"), nanos("waiting")), (20, 10));
    assert_eq!((nanos("python"), nanos("operators")), (10 + 10 + 10, 40));
    assert_eq!(nanos("nothing"), 0);
}

/// Gaps by their definition, each against all device work.
fn slow(model: &Model) -> Vec<Gap> {
    let work: Vec<u32> = model.slices().filter(|s| model.is_device(*s)).collect();
    let lane = |slice: u32| model.trace.slices.lanes[slice as usize];
    let mut gaps = Vec::new();
    for next in &work {
        let before = work
            .iter()
            .filter(|s| lane(**s) == lane(*next) && *s < next);
        let Some(begin) = before.map(|s| model.span(*s).1).max() else {
            continue;
        };
        let end = model.span(*next).0;
        if begin >= end {
            continue;
        }
        let call = model.launches[*next as usize];
        let others = work.iter().any(|other| {
            let ended = model.span(*other).1;
            lane(*other) != lane(*next) && ended > begin && end - 10_000 <= ended && ended <= end
        });
        let cause = if call != NONE && model.span(call).0 > begin {
            Cause::Host
        } else if end - begin < 30 {
            Cause::Kernel
        } else if others {
            Cause::OtherStream
        } else {
            Cause::Other
        };
        gaps.push(Gap {
            begin,
            end,
            next: *next,
            cause,
        });
    }
    gaps
}

proptest! {
    #[test]
    fn gaps_are_those_of_the_definition(made in any_trace()) {
        let model = made.model();
        let gaps = idle::gaps(&model);
        prop_assert_eq!(&gaps, &slow(&model));
        let sum = |gaps: &mut dyn Iterator<Item = &Gap>| gaps.map(|gap| gap.end - gap.begin).sum::<i64>();
        let totals = idle::totals(&model, &gaps);
        prop_assert_eq!(totals.iter().map(|total| total.nanos).sum::<i64>(), sum(&mut gaps.iter()));
        let meanwhile = idle::host_meanwhile(&model, &gaps);
        let host = sum(&mut gaps.iter().filter(|gap| gap.cause == Cause::Host));
        prop_assert_eq!(meanwhile.values().sum::<i64>(), host);
    }
}
