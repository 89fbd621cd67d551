//! Ranks of a generated training with a slow rank: lateness, waiting, and clocks that differ.

use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::ranks::{RankDigest, RankModel, ranks, ranks_of};
use trainscope_api::profile::{LateCause, RankTrack, RanksAnswer};

use trainscope_format::digits::percent;
use trainscope_format::formats::trace_json::TraceReader;

use crate::traces::support::{generated, model};

/// Four ranks of 40 steps; rank 2 computes 23 % slower since step 15.
pub(crate) fn four() -> Vec<Model> {
    let file = |rank: u32| {
        model(&format!(
            "ranks/host_rank{rank}.179521325600000000{rank}.pt.trace.json.gz"
        ))
    };
    (0..4).map(file).collect()
}

pub(crate) fn compare(models: &[Model]) -> RanksAnswer {
    let of: Vec<RankModel<'_>> = (0..)
        .zip(models)
        .map(|(rank, model)| RankModel { rank, model })
        .collect();
    ranks_of(&of)
}

#[test]
fn ranks_without_their_traces_compare_as_with_them() {
    let models = four();
    let digests = (0..)
        .zip(&models)
        .map(|(rank, model)| RankDigest::of(rank, model));
    let digests: Vec<RankDigest> = digests.collect();
    let whole = compare(&models);
    assert!(whole.pair.is_some());
    drop(models);
    let brief = ranks(&digests);
    assert_eq!(
        brief,
        RanksAnswer {
            pair: None,
            ..whole
        }
    );
}

#[test]
fn the_slow_rank_is_named_with_its_first_step() {
    let models = four();
    let answer = compare(&models);
    assert_eq!(answer.steps, (0..40).collect::<Vec<i64>>());
    let compute: Vec<i64> = answer.ranks.iter().map(|rank| rank.compute_nanos).collect();
    assert_eq!(compute, [78_273_784, 78_358_779, 89_549_746, 78_351_498]);
    let waits: Vec<i64> = answer.ranks.iter().map(|rank| rank.wait_nanos).collect();
    assert_eq!(waits, [5_083_702, 5_675_905, 452_852, 4_811_499]);
    let by_step: Vec<i64> = answer
        .wait_nanos
        .iter()
        .map(|row| row.iter().sum())
        .collect();
    assert_eq!(by_step, waits);
    // The others are slow for a step or two, by chance.
    let slow = &answer.ranks[2];
    assert_eq!((slow.slow_steps, slow.slow_from_step), (25, Some(15)));
    assert!(
        [0, 1, 3]
            .iter()
            .all(|rank| answer.ranks[*rank].slow_steps < 3)
    );
    assert_eq!(answer.stragglers.len(), 1);
    let straggler = answer.stragglers[0];
    assert_eq!(
        (straggler.rank, straggler.from_step, straggler.steps),
        (2, 15, 25)
    );
    // The kernels of the rank take 23 % longer, a step 4 %.
    assert!((1.03..1.06).contains(&straggler.slowness), "{straggler:?}");
    assert_eq!(straggler.cause, Some(LateCause::Compute));
    // The parts are those of the steps in the sentence.
    assert_eq!(answer.parts_steps, Some((15, 39)));
    let slow = &answer.ranks[2];
    let lost = trainscope_format::digits::nanos(straggler.gain_nanos.unsigned_abs());
    let sentence = &answer.sentence.en;
    // Rank 2 makes its steps longer by this share: a length of a step would be another one than that of each rank.
    let part = percent(1.0 - 1.0 / answer.stragglers[0].slowness);
    let end = "of every step for rank 2, whose compute takes longer.";
    assert_eq!(
        *sentence,
        format!("The other ranks wait {lost} ({part}) {end}")
    );
    let others = answer.ranks.iter().filter(|rank| rank.rank != 2);
    assert!(
        others
            .clone()
            .all(|rank| rank.parts_wait_nanos > slow.parts_wait_nanos)
    );
    let late: i64 = answer.late_nanos.iter().flatten().sum();
    assert_eq!(late, waits.iter().sum::<i64>());
    assert_eq!(answer.lost_nanos, late / 40);
    assert!(answer.ranks.iter().all(|rank| rank.offset_nanos == 0));
    for (rank, model) in answer.ranks.iter().zip(&models) {
        let sum = rank.parts_nanos.total();
        let steps = &model.steps.list[15..];
        let mean = steps.iter().map(|step| step.end - step.begin).sum::<i64>() / 25;
        assert!((sum - mean).abs() <= 8, "{sum} {mean}");
    }
}

#[test]
fn collectives_end_420_microseconds_after_the_last_arrival() {
    let answer = compare(&four());
    assert_eq!(answer.collectives.len(), 1);
    let collective = &answer.collectives[0];
    assert_eq!(collective.name, "ncclDevKernel_AllReduce_Sum_f16_RING_LL");
    assert_eq!(
        (collective.count, collective.transfer_nanos),
        (240, 420_000)
    );
    assert!(collective.spread_nanos > 0 && collective.nanos > 420_000);
    assert!((0.0..=1.0).contains(&collective.hidden));
}

const AHEAD_NANOS: i64 = 5_000_000;

#[test]
fn a_clock_that_is_ahead_changes_only_the_offset() {
    let (models, mut ahead) = (four(), four());
    let model = &mut ahead[3];
    let mut trace = model.trace.clone();
    for begin in &mut trace.slices.begins {
        *begin += AHEAD_NANOS;
    }
    *model = Model::new(trace);
    let (same, moved) = (compare(&models), compare(&ahead));
    assert_eq!(moved.ranks[3].offset_nanos, AHEAD_NANOS);
    assert_eq!(moved.wait_nanos, same.wait_nanos);
    assert_eq!(moved.collectives, same.collectives);
}

#[test]
fn without_common_collectives_the_clocks_are_taken_as_equal() {
    let mut models = four();
    for (rank, model) in (0..).zip(&mut models) {
        let mut trace = model.trace.clone();
        // Each recording began a second after the one before, and every rank has another communicator.
        trace.head.unix_offset_nanos = Some(1_700_000_000_000_000_000 + rank * 1_000_000_000);
        let group = trace.texts.intern(&format!("group {rank}"));
        for work in &mut trace.device_work {
            work.group = Some(group);
        }
        *model = Model::new(trace);
    }
    let answer = compare(&models);
    assert!(answer.ranks.iter().all(|rank| rank.offset_nanos == 0));
}

#[test]
fn one_rank_is_nothing_to_compare() {
    let answer = compare(&[generated()]);
    assert_eq!((answer.ranks.len(), answer.stragglers.len()), (1, 0));
    assert_eq!(answer.lost_nanos, 0);
    assert!(answer.sentence.en.starts_with("One rank was recorded"));
    assert_eq!(compare(&[]).ranks.len(), 0);
}

#[test]
fn the_slow_rank_and_a_usual_one_are_on_one_clock() {
    let mut models = four();
    let pair = compare(&models).pair.unwrap();
    assert_eq!((pair.step, pair.tracks[1].rank), (15, 2));
    let [usual, slow] = [&pair.tracks[0], &pair.tracks[1]];
    let computed = |track: &RankTrack| -> i64 {
        let stretches = track.compute.iter();
        stretches
            .map(|stretch| stretch.end_nanos - stretch.begin_nanos)
            .sum()
    };
    assert!(computed(slow) > computed(usual), "{pair:#?}");
    let waited = |track: &RankTrack| -> i64 {
        let meetings = track.collectives.iter();
        meetings
            .map(|meeting| meeting.arrived_nanos - meeting.begin_nanos)
            .sum()
    };
    assert!(waited(usual) > 4 * waited(slow), "{pair:?}");
    for track in &pair.tracks {
        assert!(
            track
                .compute
                .windows(2)
                .all(|two| two[0].end_nanos <= two[1].begin_nanos)
        );
        assert!(track.collectives.iter().all(|meeting| {
            (0..=meeting.arrived_nanos).contains(&meeting.begin_nanos)
                && meeting.arrived_nanos <= meeting.end_nanos
        }));
    }
    // All arrive at the same moment.
    let arrived = |track: &RankTrack| -> Vec<i64> {
        let meetings = track.collectives.iter();
        meetings.map(|meeting| meeting.arrived_nanos).collect()
    };
    for (first, other) in arrived(usual).into_iter().zip(arrived(slow)) {
        assert!((first - other).abs() <= 1_000, "{pair:?}");
    }
    // Nor does a clock that is ahead move them.
    for begin in &mut models[2].trace.slices.begins {
        *begin += 5_000_000;
    }
    let ahead = Model::new(models.remove(2).trace);
    models.insert(2, ahead);
    assert_eq!(compare(&models).pair, Some(pair));
}

/// Work of a rank before the collective of a step, in microseconds.
#[derive(Clone, Copy, Default)]
struct Before {
    /// Later start of the step.
    begin: i64,
    data: i64,
    host: i64,
    kernel: i64,
}

/// A rank whose steps end with a collective that lasts until `end` microseconds after their start.
fn rank_of(steps: i64, before: impl Fn(i64) -> Before, end: i64) -> Model {
    let mut events = Vec::new();
    let mut add = |category: &str, name: &str, thread: i64, begin: i64, length: i64| {
        events.push(format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":{thread},"tid":{thread},"ts":{begin},"dur":{length}}}"#
        ));
    };
    for step in 0..steps {
        let before = before(step);
        let first = step * 2_000 + before.begin;
        add(
            "user_annotation",
            &format!("ProfilerStep#{step}"),
            1,
            first,
            2_000 - before.begin,
        );
        let mut now = first;
        if before.data > 0 {
            let name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
            add("user_annotation", name, 1, now, before.data);
            now += before.data;
        }
        add("cpu_op", "aten::mm", 1, now, 10 + before.host);
        now += 10 + before.host;
        add("kernel", "gemm", 7, now, 500 + before.kernel);
        now += 500 + before.kernel;
        let last = step * 2_000 + end;
        add(
            "kernel",
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
            20,
            now,
            last - now,
        );
    }
    let mut reader = TraceReader::new();
    reader.push(format!(r#"{{"traceEvents":[{}]}}"#, events.join(",")).as_bytes());
    Model::new(reader.finish())
}

#[test]
fn a_late_rank_is_found_in_one_step_whatever_made_it_late() {
    let more = 400;
    for (before, cause, words) in [
        (
            Before {
                begin: more,
                ..Before::default()
            },
            LateCause::Begin,
            "begins the step later",
        ),
        (
            Before {
                data: more,
                ..Before::default()
            },
            LateCause::Data,
            "waits longer for data",
        ),
        (
            Before {
                host: more,
                ..Before::default()
            },
            LateCause::Host,
            "host launches work later",
        ),
        (
            Before {
                kernel: more,
                ..Before::default()
            },
            LateCause::Compute,
            "compute takes longer",
        ),
    ] {
        for steps in [1, 2, 5, 20] {
            let usual = || rank_of(steps, |_| Before::default(), 1_000);
            let models = [usual(), usual(), rank_of(steps, |_| before, 1_000), usual()];
            let answer = compare(&models);
            let [slow] = answer.stragglers[..] else {
                panic!("{cause:?} {steps}: {:?}", answer.stragglers)
            };
            assert_eq!((slow.rank, slow.cause), (2, Some(cause)), "{steps}");
            assert_eq!(
                (slow.gain_nanos, slow.steps),
                (400_000, steps.unsigned_abs())
            );
            assert_eq!(answer.lost_nanos, 3 * 400_000);
            assert!(answer.sentence.en.contains(words), "{}", answer.sentence.en);
        }
    }
}

#[test]
fn equal_ranks_that_are_last_by_turns_are_not_slow() {
    // Up to 4 % of a step by chance, for another rank in each step.
    let kernel = |rank: i64, step: i64| (rank * 37 + step * 53) % 11 * 8;
    for steps in [1, 4, 30] {
        let of_rank = |rank: i64| {
            let before = move |step| Before {
                kernel: kernel(rank, step),
                ..Before::default()
            };
            rank_of(steps, before, 1_000)
        };
        let answer = compare(&(0..4).map(of_rank).collect::<Vec<Model>>());
        assert_eq!(answer.stragglers, [], "{steps}");
        assert!(answer.lost_nanos > 0);
        let sentence = &answer.sentence.en;
        assert!(sentence.starts_with("None of the 4 ranks"), "{sentence}");
    }
    // Waiting for more than 5 % of a step is in the sentence.
    let of_rank = |rank: i64| {
        let before = move |step| Before {
            kernel: kernel(rank, step) * 5,
            ..Before::default()
        };
        rank_of(30, before, 1_000)
    };
    let answer = compare(&(0..4).map(of_rank).collect::<Vec<Model>>());
    assert_eq!(answer.stragglers, []);
    let sentence = &answer.sentence.en;
    assert!(
        sentence.contains("for one another, but not for the same rank"),
        "{sentence}"
    );
}

/// Place at which the size of a message is written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Size {
    /// Arguments of the kernel.
    Kernel,
    /// Arguments of the operator around the launch.
    Operator,
    /// Inputs of the annotation around the launch.
    Annotation,
    Nowhere,
}

/// A rank that arrives at two collectives of 100 and 25 MB at these times, and ends them 10 and 4 ms after 2 ms.
fn rank_with_messages(size: Size, arrivals: [i64; 2], has_lines: bool) -> Model {
    let told = |elements: u64| {
        format!(
            r#""Collective name": "allreduce", "In msg nelems": {elements}, "Out msg nelems": {elements}, "Group size": 8, "dtype": "BFloat16""#
        )
    };
    let mut events = Vec::new();
    let mut add = |category: &str,
                   name: &str,
                   thread: i64,
                   begin: i64,
                   length: i64,
                   args: String| {
        let args = if has_lines {
            format!("{{\n      {args}\n    }}")
        } else {
            format!("{{{}}}", args.replace("\": ", "\":"))
        };
        events.push(format!(
            "{{\n    \"ph\": \"X\",\n    \"cat\": \"{category}\",\n    \"name\": \"{name}\",\n    \"pid\": {thread},\n    \"tid\": {thread},\n    \"ts\": {begin},\n    \"dur\": {length},\n    \"args\": {args}\n  }}"
        ));
    };
    let both = [(50_000_000_u64, 0_i64, 10_000), (12_500_000, 20_000, 4_000)];
    for (at, (elements, begin, transfer)) in both.into_iter().enumerate() {
        let id = at + 1;
        let around = match size {
            Size::Operator => told(elements),
            _ => format!(r#""External id": {id}"#),
        };
        add("cpu_op", "record_param_comms", 1, begin, 90, around);
        let inputs = match size {
            Size::Annotation => format!(
                r#""External id": {id}, "Input type": ["c10::BFloat16"], "Input Dims": [[{elements}]]"#
            ),
            _ => format!(r#""External id": {id}"#),
        };
        add(
            "user_annotation",
            "nccl:all_reduce",
            1,
            begin + 10,
            70,
            inputs,
        );
        let link = format!(r#""correlation": {id}"#);
        add(
            "cuda_runtime",
            "cudaLaunchKernel",
            1,
            begin + 20,
            10,
            link.clone(),
        );
        let kernel = match size {
            Size::Kernel => format!("{link}, {}", told(elements)),
            _ => link,
        };
        let arrived = begin + arrivals[at];
        add(
            "kernel",
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL128(ncclDevComm*)",
            20,
            arrived,
            begin + 2_000 + transfer - arrived,
            kernel,
        );
    }
    let mut reader = TraceReader::new();
    reader.push(format!("{{\"traceEvents\": [\n  {}\n]}}", events.join(",\n  ")).as_bytes());
    Model::new(reader.finish())
}

#[test]
fn collectives_have_rows_by_size_with_the_bandwidth_of_their_links() {
    for size in [
        Size::Kernel,
        Size::Operator,
        Size::Annotation,
        Size::Nowhere,
    ] {
        for has_lines in [true, false] {
            let arrivals = [[100, 2_000], [2_000, 500]];
            let models = arrivals.map(|times| rank_with_messages(size, times, has_lines));
            let rows = compare(&models).collectives;
            if size == Size::Nowhere {
                let [row] = &rows[..] else { panic!("{rows:?}") };
                assert_eq!((row.bytes, row.count, row.bandwidth), (0, 2, 0.0));
                continue;
            }
            let [large, small] = &rows[..] else {
                panic!("{size:?}: {rows:?}")
            };
            assert_eq!(
                (large.operation.as_str(), large.algorithm.as_str()),
                ("all_reduce", "ring, LL128")
            );
            assert_eq!((large.bytes, large.count), (100_000_000, 1), "{size:?}");
            assert_eq!((small.bytes, small.count), (25_000_000, 1), "{size:?}");
            assert_eq!(
                (large.transfer_nanos, small.transfer_nanos),
                (10_000_000, 4_000_000)
            );
            // An annotation does not tell the size of the group: it has the ranks that were recorded.
            let ranks = if size == Size::Annotation { 2.0 } else { 8.0 };
            let factor = 2.0 * (ranks - 1.0) / ranks;
            let expected = [factor * 1e8 / 10e-3, factor * 25e6 / 4e-3];
            for (row, expected) in [large, small].into_iter().zip(expected) {
                let ratio = row.bandwidth / expected;
                assert!((ratio - 1.0).abs() < 1e-9, "{size:?}: {ratio}");
            }
        }
    }
}

#[test]
fn communication_is_summed_by_process_group() {
    let mut events = Vec::new();
    let mut add = |category: &str, name: &str, thread: i64, begin: i64, length: i64, args: &str| {
        events.push(format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":{thread},"tid":{thread},"ts":{begin},"dur":{length},"args":{{{args}}}}}"#
        ));
    };
    for (step, link) in [(0, 1), (1_000, 2)] {
        add("user_annotation", "nccl:recv 0<-1", 1, step, 20, "");
        let launch = format!(r#""correlation":{link}"#);
        add("cuda_runtime", "cudaLaunchKernel", 1, step + 5, 5, &launch);
        let sent = format!(
            r#"{launch},"Process Group Name":"21","Group size":4,"In msg nelems":1000,"dtype":"Float""#
        );
        add(
            "kernel",
            "ncclDevKernel_SendRecv(x)",
            20,
            step + 100,
            300,
            &sent,
        );
        add("kernel", "gemm", 7, step + 350, 400, "");
        let reduced =
            r#""Process Group Name":"5","Group size":2,"In msg nelems":500,"dtype":"Half""#;
        add(
            "kernel",
            "ncclDevKernel_AllReduce_Sum_f16_RING_LL(x)",
            21,
            step + 700,
            100,
            reduced,
        );
        add(
            "kernel",
            "ncclDevKernel_AllGather_RING_LL(x)",
            22,
            step + 400,
            10,
            "",
        );
    }
    let mut reader = TraceReader::new();
    let groups = r#"{"rank":0,"world_size":8,"pg_config":[{"pg_name":"5","pg_desc":"mesh_tp"},{"pg_name":21,"pg_desc":"undefined"}]}"#;
    let text = format!(
        r#"{{"schemaVersion":1,"distributedInfo":{groups},"traceEvents":[{}]}}"#,
        events.join(",")
    );
    reader.push(text.as_bytes());
    let models = [Model::new(reader.finish())];
    let rows = compare(&models).groups;
    let row = |at: usize| {
        let row = &rows[at];
        (
            &*row.name,
            row.size,
            row.point_to_point,
            row.count,
            row.bytes,
        )
    };
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(row(0), ("21", 4, true, 2, 8_000));
    assert_eq!(row(1), ("mesh_tp", 2, false, 2, 2_000));
    let times: Vec<(i64, i64)> = rows
        .iter()
        .map(|row| (row.nanos, row.exposed_nanos))
        .collect();
    assert_eq!(times, [(600_000, 500_000), (200_000, 100_000)]);
}
