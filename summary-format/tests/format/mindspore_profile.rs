//! Profiles of `MindSpore` on a CPU: real ones, and cut, changed and recombined ones.

use std::io::Read;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use trainscope_format::formats::mindspore_profile::{MindsporeFiles, read};
use trainscope_format::formats::trace_json::TraceReader;
use trainscope_format::trace::{
    LaneKind, NONE, Slice, SliceClass, Trace, TraceCounts, TraceFormat,
};

/// Unpacked content of a packed file below `tests/fixtures/profile`.
pub(crate) fn unpacked(name: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profile");
    let packed = std::fs::read(root.join(name)).unwrap();
    if Path::new(name).extension().is_none_or(|ext| ext != "gz") {
        return packed;
    }
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&*packed)
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

/// Content of the files of one folder.
struct Folder([Vec<u8>; 5]);

impl Folder {
    fn of(name: &str) -> Self {
        Self(
            [
                "cpu_op_execute_timestamp_0.txt.gz",
                "cpu_framework_0.txt.gz",
                "cpu_op_type_info_0.csv.gz",
                "cpu_op_detail_info_0.csv.gz",
                "dataset_iterator_profiling_0.txt",
            ]
            .map(|file| unpacked(&format!("{name}/{file}"))),
        )
    }

    fn files(&self) -> MindsporeFiles<'_> {
        let [executions, framework, types, details, iterator] = &self.0;
        MindsporeFiles {
            executions: Some(executions),
            framework: Some(framework),
            types: Some(types),
            details: Some(details),
            iterator: Some(iterator),
            ..MindsporeFiles::default()
        }
    }
}

/// Columns have the same length, and indices are valid.
pub(crate) fn holds(trace: &Trace) {
    let slices = &trace.slices;
    let len = slices.len();
    assert_eq!(slices.durations.len(), len);
    let mut sums = vec![(0, 0_u64); trace.categories.len()];
    for index in 0..len {
        let slice = slices.get(index).unwrap();
        assert!(usize::from(slice.lane) < trace.lanes.len());
        assert!((slice.name.0 as usize) < trace.texts.len());
        let sum = &mut sums[usize::from(slice.category)];
        *sum = (sum.0 + 1, sum.1.saturating_add(slice.duration));
        let category = &trace.categories[usize::from(slice.category)];
        let details = match category.class {
            SliceClass::Kernel | SliceClass::Memcpy | SliceClass::Memset => trace.device_work.len(),
            _ => trace.shapes.len(),
        };
        assert!(slice.detail == NONE || (slice.detail as usize) < details);
    }
    let totals = trace.categories.iter().map(|one| (one.count, one.nanos));
    assert_eq!(sums, totals.collect::<Vec<_>>());
    for flow in &trace.flows {
        assert!((flow.from as usize) < len && (flow.to as usize) < len);
    }
    assert!(trace.counts.damages.len() as u64 <= trace.counts.damaged);
    assert!(trace.counts.damages.len() <= 1_000);
}

/// Number, operators, sum of durations and first start of the executions, batches of the data set and empty waits.
fn figures(trace: &Trace) -> (usize, usize, u64, i64) {
    let operators = (0..trace.slices.len()).map(|index| trace.slices.get(index).unwrap());
    let is_operator =
        |slice: &Slice| trace.categories[usize::from(slice.category)].class == SliceClass::Operator;
    let operators: Vec<_> = operators.filter(is_operator).collect();
    let names: std::collections::BTreeSet<_> = operators.iter().map(|one| one.name).collect();
    (
        operators.len(),
        names.len(),
        operators.iter().map(|one| one.duration).sum(),
        operators.iter().map(|one| one.begin).min().unwrap(),
    )
}

#[test]
fn executions_of_both_versions_are_read_to_the_nanosecond() {
    for (folder, count, names, total, first, unix) in [
        ("ms20-lenet", 684, 65, 345_459_957, 2_493_444_181_770, None),
        (
            "ms20-slow-data",
            412,
            37,
            130_252_795,
            2_498_654_433_875,
            None,
        ),
        (
            "ms210-lenet",
            744,
            72,
            286_899_709,
            1_795_213_065_485_396_901,
            Some(0),
        ),
        (
            "ms210-slow-data",
            520,
            50,
            59_888_141,
            1_795_213_070_051_413_911,
            Some(0),
        ),
    ] {
        let files = Folder::of(folder);
        let (trace, notes) = read(&files.files(), None);
        holds(&trace);
        assert_eq!(figures(&trace), (count, names, total, first), "{folder}");
        assert_eq!(trace.head.format, TraceFormat::Mindspore);
        assert_eq!(trace.head.unix_offset_nanos, unix);
        // The tables agree; in 2.10 the iterator has a different clock.
        assert_eq!(notes.len(), usize::from(unix.is_some()), "{notes:?}");
        assert_eq!((trace.counts.damaged, trace.counts.truncated), (0, false));
        assert_eq!(trace.counts.events, count as u64 + 12);
        assert_eq!(trace.lanes.len(), 2);
        let shaped = trace.slices.details.iter().filter(|one| **one != NONE);
        assert_eq!(shaped.count(), count);
    }
}

#[test]
fn an_execution_has_the_shapes_of_its_line() {
    let folder = Folder::of("ms210-lenet");
    let (trace, _) = read(&folder.files(), None);
    let dims = |name: &str| {
        let id = trace.texts.find(name).unwrap();
        let slice = trace.slices.names.iter().position(|one| *one == id);
        let detail = trace.slices.details[slice.unwrap()];
        trace.shapes[detail as usize].dims.clone()
    };
    // Two operators whose names without scopes are both BiasAdd-op1.
    let conv = "Default/network-WithLossCell/_backbone-Lenet/conv1-Conv2d/BiasAdd-op0";
    assert_eq!(dims(conv), "[[8, 4, 14, 14], [4], []]");
    let dense = "Default/network-WithLossCell/_backbone-Lenet/fc1-Dense/BiasAdd-op1";
    assert_eq!(dims(dense), "[[8, 32], [32], []]");
}

#[test]
fn waits_for_batches_end_before_the_operators_of_their_step() {
    for (folder, longest) in [("ms20-slow-data", 163), ("ms210-slow-data", 164)] {
        let files = Folder::of(folder);
        let (trace, _) = read(&files.files(), None);
        let name = trace.texts.find("get_next").unwrap();
        let slices = (0..trace.slices.len()).map(|index| trace.slices.get(index).unwrap());
        let (waits, operators): (Vec<_>, Vec<_>) = slices.partition(|slice| slice.name == name);
        assert_eq!(waits.len(), 12);
        let most = waits.iter().map(|wait| wait.duration).max();
        assert_eq!(most, Some(longest * 1_000_000));
        // Nothing runs while the training waits, but for the milliseconds of the clock.
        let tolerance = 2_000_000;
        for wait in waits {
            let end = wait.begin + wait.duration.cast_signed();
            let overlaps = operators.iter().filter(|operator| {
                operator.begin + operator.duration.cast_signed() > wait.begin + tolerance
                    && operator.begin < end - tolerance
            });
            assert_eq!(overlaps.count(), 0, "{folder}: {wait:?}");
        }
    }
}

fn timeline(folder: &str) -> Trace {
    let name = if folder.starts_with("ms210") {
        "trace_view.json.gz"
    } else {
        "cpu_timeline_display_0.json.gz"
    };
    let mut reader = TraceReader::new();
    reader.push(&unpacked(&format!("{folder}/{name}")));
    reader.finish()
}

#[test]
fn the_text_file_wins_and_the_timeline_adds_scopes() {
    for (folder, executions, events, late_nanos) in [
        ("ms20-lenet", 684, 3_862, 0),
        ("ms20-slow-data", 412, 2_542, 0),
        ("ms210-lenet", 744, 1_380, 37),
        ("ms210-slow-data", 520, 1_000, 37),
    ] {
        let files = Folder::of(folder);
        let chrome = timeline(folder);
        let text = MindsporeFiles {
            executions: files.files().executions,
            ..MindsporeFiles::default()
        };
        let (alone, _) = read(&text, None);
        let (both, _) = read(&text, Some(chrome.clone()));
        holds(&both);
        assert_eq!(figures(&both), figures(&alone), "{folder}");
        assert_eq!(both.slices.len(), chrome.slices.len());
        assert_eq!(both.lanes.len(), chrome.lanes.len());
        assert_eq!(both.head.unix_offset_nanos, alone.head.unix_offset_nanos);
        assert_eq!(chrome.counts.events, events);
        assert_eq!(both.counts.events, events + executions);
        let (kept, _) = read(&MindsporeFiles::default(), Some(chrome.clone()));
        holds(&kept);
        assert_eq!(kept.slices, chrome.slices);
        let (count, _, _, first) = figures(&kept);
        assert_eq!(count as u64, executions);
        assert_eq!(first - figures(&alone).3, late_nanos, "{folder}");
        // Everything but the executions is derived.
        for slice in 0..both.slices.len() {
            let slice = both.slices.get(slice).unwrap();
            let class = both.categories[usize::from(slice.category)].class;
            let kind = both.lanes[usize::from(slice.lane)].kind;
            assert_eq!(class == SliceClass::Operator, kind == LaneKind::Host);
            assert_eq!(class == SliceClass::Derived, kind == LaneKind::Derived);
        }
    }
}

#[test]
fn lines_that_cannot_be_read_are_damage_where_they_are() {
    let text = b"A-op1;H;5,0.001,0 x,1,0 7,-1,0 \nnonsense\n\nB;H;1,2\nA-op1;H;9,0.0015,0 10,0.2";
    let files = MindsporeFiles {
        executions: Some(text),
        ..MindsporeFiles::default()
    };
    let (trace, _) = read(&files, None);
    holds(&trace);
    assert_eq!(trace.slices.begins, [5, 7, 9]);
    assert_eq!(trace.slices.durations, [1_000, 0, 1_500]);
    let places: Vec<_> = (trace.counts.damages.iter())
        .map(|damage| (damage.offset, damage.len))
        .collect();
    assert_eq!(places, [(18, 5), (32, 8), (46, 3)]);
    assert_eq!(trace.counts.damaged, 3);
    assert_eq!(trace.counts.negative_durations, 1);
    assert!(trace.counts.truncated);
}

#[test]
fn every_truncation_gives_a_prefix() {
    let folder = Folder::of("ms20-slow-data");
    let [bytes, ..] = &folder.0;
    let of = |bytes: &[u8]| {
        let files = MindsporeFiles {
            executions: Some(bytes),
            ..MindsporeFiles::default()
        };
        read(&files, None).0
    };
    let whole = of(bytes);
    let end = bytes.len();
    for len in (0..end - 400).step_by(29).chain(end - 400..end) {
        let cut = of(&bytes[..len]);
        let count = cut.slices.len();
        assert_eq!(cut.slices.begins, whole.slices.begins[..count]);
        assert_eq!(cut.slices.durations, whole.slices.durations[..count]);
        assert_eq!(cut.slices.names, whole.slices.names[..count]);
        assert_eq!(cut.counts.damaged, 0, "{len}");
        let at_line_end = len == 0 || bytes[len - 1] == b'\n';
        assert_eq!(cut.counts.truncated, !at_line_end);
    }
    assert_eq!(
        of(bytes).counts,
        TraceCounts {
            events: 412,
            bytes: bytes.len() as u64,
            ..TraceCounts::default()
        }
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_file_is_too_odd(
        cuts in prop::array::uniform5((any::<Index>(), any::<Index>())),
        changes in prop::collection::vec(
            (0..5_usize, any::<Index>(), prop_oneof![any::<u8>(), Just(b'-'), Just(b'9'), Just(b';'), Just(b',')]),
            0..30,
        ),
        shift in 0..5_usize,
    ) {
        let mut folder = Folder::of("ms210-slow-data");
        for (bytes, (from, len)) in folder.0.iter_mut().zip(cuts) {
            let from = from.index(bytes.len());
            bytes.drain(..from / 8);
            bytes.truncate(len.index(bytes.len() + 1) * 2);
        }
        for (file, place, byte) in changes {
            let bytes = &mut folder.0[file];
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        // Files in the places of others.
        folder.0.rotate_left(if shift > 2 { shift } else { 0 });
        let (trace, _) = read(&folder.files(), Some(timeline("ms210-slow-data")));
        holds(&trace);
        let mut files = folder.files();
        (files.kernels, files.steps, files.info) = (files.types, files.details, files.framework);
        holds(&read(&files, None).0);
    }
}
