//! Memory: the numbers of real files, lives, series without a lost peak, growth.

use proptest::prelude::*;
use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::advice::{self, Facts, Lack, Limits, Rule};
use trainscope_analysis::trace::memory::{self, MemoryAsk};
use trainscope_analysis::trace::ranks::{RankModel, ranks_of};
use trainscope_analysis::trace::steps::StepRange;
use trainscope_analysis::trace::summary::summary;
use trainscope_api::profile::{MAX_MEMORY_POINTS, MemoryAnswer, MemoryCategory, MemoryTotal};
use trainscope_format::formats::memory_timeline::{MemoryTimeline, total};
use trainscope_format::formats::trace_json::TraceReader;
use trainscope_format::trace::{DeclaredStep, Device, MemoryEvent, NONE, SliceClass, Trace};

use crate::traces::support::{GeneratedTrace, generated, model, unpacked};

fn only(totals: Vec<MemoryTotal>) -> MemoryTotal {
    assert_eq!(totals.len(), 1);
    totals.into_iter().next().unwrap()
}

#[test]
fn totals_of_real_files() {
    let cnn = model("torch-cnn/plain.pt.trace.json.gz");
    let total = only(memory::totals(&cnn));
    assert_eq!(total.device, "0:-1");
    assert_eq!(
        (total.events, total.allocations, total.frees),
        (528, 268, 260)
    );
    assert_eq!(
        (total.pairs, total.freed_unseen, total.never_freed),
        (260, 0, 8)
    );
    assert_eq!(total.peak_len_bytes, 314_672);
    assert_eq!(cnn.origin() + total.peak_at_nanos, 4_356_230_546_445_982);
    assert!(total.since_recording);

    let total = only(memory::totals(&model("torch-cnn/stack.pt.trace.json.gz")));
    assert_eq!(
        (total.pairs, total.freed_unseen, total.never_freed),
        (126, 8, 8)
    );

    let total = only(memory::totals(&model(
        "torch-transformer/plain.pt.trace.json.gz",
    )));
    assert_eq!(
        (total.events, total.allocations, total.frees),
        (1_829, 928, 901)
    );
    assert_eq!(total.peak_len_bytes, 372_936);

    let total = only(memory::totals(&generated()));
    assert_eq!(
        (total.device.as_str(), total.peak_len_bytes),
        ("1:0", 2_248_146_944)
    );
    assert_eq!(
        (total.pairs, total.freed_unseen, total.never_freed),
        (48, 0, 0)
    );
    assert_eq!(total.device_len_bytes, 85_097_971_712);
    assert!(!total.since_recording);
}

#[test]
fn the_peak_of_a_real_file_is_one_number_everywhere() {
    for (folder, peak) in [("torch-cnn", 400_912), ("torch-transformer", 601_260)] {
        let mut model = model(&format!("{folder}/stack.pt.trace.json.gz"));
        let file = unpacked(&format!("{folder}/memory_timeline.json.gz"));
        let timeline = MemoryTimeline::read(&file);
        let recorded = timeline.bytes.iter().map(total).max();
        assert_eq!(recorded, Some(peak), "{folder}");
        model.add_memory_timeline(&timeline);
        let answer = memory::memory(&model, &MemoryAsk::default());
        let total = only(answer.devices);
        assert_eq!((total.peak_len_bytes, total.since_recording), (peak, false));
        assert_eq!(only(memory::totals(&model)), total);
        assert_eq!(answer.allocated.iter().max(), Some(&peak));
        for (at, allocated) in answer.allocated.iter().enumerate() {
            let stack: u64 = answer.series.iter().map(|series| series.bytes[at]).sum();
            assert_eq!(stack, *allocated, "{folder} {at}");
        }
        let held: u64 = answer.holders.iter().map(|holder| holder.bytes).sum();
        assert_eq!((held, answer.at_len_bytes), (peak, peak), "{folder}");
        let ranked = ranks_of(&[RankModel {
            rank: 0,
            model: &model,
        }]);
        assert_eq!(ranked.ranks[0].peak_len_bytes, peak);
    }
}

/// Events of memory as PyTorch 1.9 writes them: bytes alone, of allocations that began before the recording too.
fn without_totals(bytes: &[i64]) -> Model {
    let events = bytes.iter().zip(1..).map(|(bytes, time)| {
        format!(
            r#"{{"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":{time},"args":{{"Device Type":1,"Device Id":0,"Bytes":{bytes}}}}}"#
        )
    });
    let events: Vec<String> = events.collect();
    let device = r#"{"id":0,"name":"V100","totalGlobalMem":34000000000}"#;
    let file = format!(
        r#"{{"deviceProperties":[{device}],"traceEvents":[{}]}}"#,
        events.join(",")
    );
    let mut reader = TraceReader::new();
    reader.push(file.as_bytes());
    Model::new(reader.finish())
}

#[test]
fn bytes_without_totals_are_summed_and_not_paired() {
    for (bytes, peak, last) in [
        (&[100, 50, -100, 200, -250][..], 250, 0),
        (&[100, -300, 40], 300, 40),
    ] {
        let model = without_totals(bytes);
        let total = only(memory::totals(&model));
        assert_eq!((total.peak_len_bytes, total.peak_reserved_bytes), (peak, 0));
        assert_eq!(
            (total.pairs, total.freed_unseen, total.never_freed),
            (0, 0, 0)
        );
        assert!(total.since_recording && total.without_addresses);
        assert_eq!(
            (total.device_len_bytes, total.share()),
            (34_000_000_000, None)
        );
        let answer = memory::memory(&model, &MemoryAsk::default());
        assert_eq!(answer.at_len_bytes, peak);
        assert_eq!(answer.allocated.last(), Some(&last));
        let held: u64 = answer.holders.iter().map(|holder| holder.bytes).sum();
        assert_eq!(held, peak);
        assert!(answer.holders.iter().all(|holder| holder.count == 0));
        let whole = summary(&model, StepRange::default(), 400);
        let judged = advice::judge(&Facts::new(&model, &whole, None), &Limits::default());
        let lack = (Rule::MemoryNearLimit, Lack::NoTotals);
        assert!(judged.not_judged.contains(&lack), "{judged:?}");
    }
}

#[test]
fn activations_of_generated_steps_hold_the_peak() {
    let model = generated();
    let answer = memory::memory(&model, &MemoryAsk::default());
    assert_eq!(answer.at_len_bytes, 2_248_146_944);
    assert_eq!(answer.allocated.iter().max(), Some(&2_248_146_944));
    let held: u64 = answer.holders.iter().map(|holder| holder.bytes).sum();
    assert_eq!(held, answer.at_len_bytes);
    assert_eq!(answer.holders[0].category, MemoryCategory::Kept);
    assert_eq!(answer.holders[0].bytes, 2 << 30);
    let activations = &answer.holders[1..];
    assert!(
        activations
            .iter()
            .all(|holder| holder.category == MemoryCategory::Activations)
    );
    let names: Vec<&str> = activations.iter().map(|holder| &*holder.operator).collect();
    assert!(
        names.contains(&"aten::addmm") && names.contains(&"aten::gelu"),
        "{names:?}"
    );
    assert!(
        activations
            .iter()
            .all(|holder| holder.scope.starts_with("DecoderLayer_"))
    );
    assert_eq!(
        answer.least_by_step,
        [0, 1, 2, 3].map(|step| (step, 2 << 30))
    );
    let growth = answer.growth.unwrap();
    assert_eq!((growth.slope, growth.steps_until_full), (0.0, None));
    let reserved = 8_589_934_592_f64;
    assert!((answer.fragmentation - (reserved - 2_248_146_944.0) / reserved).abs() < 1e-12);
}

#[test]
fn a_moment_holds_what_was_not_released_before_it() {
    let model = generated();
    for at in [0, 700_000, 2_000_000, 5_000_000] {
        let ask = MemoryAsk {
            at_nanos: Some(at),
            ..MemoryAsk::default()
        };
        let answer = memory::memory(&model, &ask);
        let held: u64 = answer.holders.iter().map(|holder| holder.bytes).sum();
        assert_eq!((held, answer.at_nanos), (answer.at_len_bytes, at));
        // Each allocation alone: the same number, and the same bytes.
        let single = MemoryAsk {
            single: true,
            ..ask
        };
        let single = memory::memory(&model, &single);
        assert!(!single.cut && single.holders.iter().all(|holder| holder.count <= 1));
        let sums = |answer: &MemoryAnswer| -> (u64, u64) {
            let holders = answer.holders.iter();
            holders.fold((0, 0), |sum, holder| {
                (sum.0 + holder.count, sum.1 + holder.bytes)
            })
        };
        assert_eq!(sums(&single), sums(&answer));
    }
    let unknown = MemoryAsk {
        device: Some("1:7".to_owned()),
        ..MemoryAsk::default()
    };
    let answer = memory::memory(&model, &unknown);
    assert_eq!((answer.times_nanos.len(), answer.devices.len()), (0, 1));
}

/// An event with the bytes that are allocated after it.
fn event(time: i64, bytes: i64, address: u64, allocated: i64) -> MemoryEvent {
    MemoryEvent {
        time,
        bytes,
        address,
        allocated: u64::try_from(allocated).unwrap(),
        reserved: 0,
        device_type: 1,
        device: 0,
        lane: 0,
        stack: NONE,
    }
}

#[test]
fn purposes_follow_from_lives() {
    let model = GeneratedTrace::new(0)
        .slice(
            0,
            SliceClass::Annotation,
            "ProfilerStep#0",
            (100, 1_000),
            None,
        )
        .slice(0, SliceClass::Annotation, "## forward ##", (110, 300), None)
        .slice(0, SliceClass::Operator, "aten::conv2d", (120, 200), None)
        .slice(
            0,
            SliceClass::Annotation,
            "## backward ##",
            (310, 600),
            None,
        )
        .slice(
            0,
            SliceClass::Annotation,
            "Optimizer.step#SGD.step",
            (610, 700),
            None,
        )
        .change(|trace: &mut Trace| {
            trace.memory = vec![
                event(50, 1, 1, 1_001),
                event(130, 2, 2, 1_003),
                event(140, 4, 3, 1_007),
                event(150, -4, 3, 1_003),
                event(320, 8, 4, 1_011),
                event(330, -2, 2, 1_009),
                event(720, -8, 4, 1_001),
                event(730, -16, 5, 985),
            ];
        })
        .model();
    let ask = MemoryAsk {
        from_nanos: Some(-1_000),
        ..MemoryAsk::default()
    };
    let answer = memory::memory(&model, &ask);
    let most = |category: MemoryCategory| {
        let series = answer
            .series
            .iter()
            .find(|series| series.category == category);
        series.and_then(|series| series.bytes.iter().max().copied())
    };
    assert_eq!(most(MemoryCategory::Activations), Some(2));
    assert_eq!(most(MemoryCategory::Workspace), Some(4));
    assert_eq!(most(MemoryCategory::Gradients), Some(8));
    // Released without its allocation.
    assert_eq!(most(MemoryCategory::Other), Some(16));
    // 1,000 before the recording without those 16, and one before the first step.
    assert_eq!(most(MemoryCategory::Kept), Some(985));
    assert_eq!(answer.least_by_step, [(0, 985)]);
}

#[test]
fn growth_says_when_the_device_is_full() {
    let steps = 40;
    let model = GeneratedTrace::new(0)
        .change(|trace: &mut Trace| {
            trace.head.devices = vec![Device {
                memory_len: 10_000,
                ..Device::default()
            }];
            for step in 0..steps {
                let (begin, leak) = (step * 1_000, 10 * (step + 1));
                trace.declared_steps.push(DeclaredStep {
                    number: step,
                    begin,
                    end: begin + 1_000,
                });
                let address = u64::try_from(step).unwrap();
                trace
                    .memory
                    .push(event(begin, 510, 1_000 + address, leak + 500));
                trace.memory.push(event(begin + 500, -500, 5, leak));
            }
        })
        .model();
    let answer = memory::memory(&model, &MemoryAsk::default());
    let growth = answer.growth.unwrap();
    assert_eq!(growth.slope, 10.0);
    assert!(growth.low > 9.0 && growth.high < 11.0);
    // Peak 900 of 10,000 bytes, 10 more each step.
    assert_eq!(growth.steps_until_full, Some(910));
}

proptest! {
    #[test]
    fn no_peak_is_lost_and_the_series_add_up(changes in proptest::collection::vec((1_i64..1_000, 0_u64..64), 1..3_000)) {
        let mut alive = std::collections::BTreeMap::new();
        let (mut time, mut total) = (0, 0);
        let mut events = Vec::new();
        for (bytes, address) in changes {
            time += bytes % 7;
            let change = alive.remove(&address).map_or(bytes, |held: i64| -held);
            if change > 0 {
                alive.insert(address, change);
            }
            total += change;
            events.push(event(time, change, address, total));
        }
        let peak = events.iter().map(|event| event.allocated).max();
        let count = events.len();
        let model = GeneratedTrace::new(0).change(|trace| trace.memory = events).model();
        let answer = memory::memory(&model, &MemoryAsk::default());
        prop_assert!(answer.times_nanos.len() <= MAX_MEMORY_POINTS + 1);
        prop_assert!(answer.times_nanos.is_sorted());
        prop_assert_eq!(answer.allocated.iter().max().copied(), peak);
        if count < MAX_MEMORY_POINTS {
            for (index, allocated) in answer.allocated.iter().enumerate() {
                let sum: u64 = answer.series.iter().map(|series| series.bytes[index]).sum();
                prop_assert_eq!(sum, *allocated);
            }
        }
    }
}
