//! Memory snapshots: the content that `write.py` next to the fixtures describes, truncated and crafted pickles.

use std::io;
use std::path::Path;

use trainscope_format::formats::memory_snapshot;
use trainscope_format::trace::{NONE, Trace, TraceFile};

/// Bytes that the script prints.
const ACTIVE: u64 = 865_087_488;
const RESERVED: u64 = 1_101_004_800;
const PEAK: u64 = 896_544_768;

fn bytes(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/profile/snapshots");
    std::fs::read(folder.join(name).with_extension("pickle")).unwrap()
}

fn read(bytes: &[u8]) -> io::Result<(Trace, Vec<String>)> {
    memory_snapshot::read(|| Ok(bytes))
}

fn peak(trace: &Trace) -> u64 {
    trace
        .memory
        .iter()
        .map(|event| event.allocated)
        .max()
        .unwrap_or(0)
}

/// Frames of a stack, the innermost first.
fn frames(trace: &Trace, stack: u32) -> Vec<&str> {
    let frames = trace.stacks.frames(stack);
    frames.map(|name| trace.texts.get(name)).collect()
}

#[test]
fn each_protocol_says_the_same() {
    let (first, notes) = read(&bytes("protocol-4")).unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(peak(&first), PEAK);
    let last = first.memory.last().unwrap();
    assert_eq!((last.allocated, last.reserved), (ACTIVE, RESERVED));
    // The first allocation is the first of all, so no memory was allocated before it.
    let begin = first.memory[0];
    assert_eq!((begin.bytes, begin.allocated), (48 << 20, 48 << 20));
    assert_eq!(begin.time, 1_790_000_000_000_500_000);
    assert_eq!(
        frames(&first, begin.stack),
        [
            "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py(930): _apply",
            "/home/me/train.py(22): make",
            "/home/me/train.py(61): <module>"
        ]
    );
    assert!(first.memory_held.is_empty() && first.is_sound());
    let failure = first.memory_failures[0];
    assert_eq!(
        (failure.bytes, failure.free, failure.device),
        (300 << 20, 7 << 20, 0)
    );
    assert_eq!(
        frames(&first, failure.stack)[1],
        "/home/me/train.py(43): step"
    );
    let actions: u64 = first.counts.by_phase.values().sum();
    assert_eq!((actions, first.counts.events), (197, 197));
    let engine = first.memory.iter().map(|event| frames(&first, event.stack));
    assert!(
        engine
            .into_iter()
            .any(|frames| frames[0] == "torch::autograd::Engine::evaluate_function")
    );
    for protocol in [2, 3, 5] {
        let (other, _) = read(&bytes(&format!("protocol-{protocol}"))).unwrap();
        assert_eq!(other.memory, first.memory, "{protocol}");
        assert_eq!(other.memory_failures, first.memory_failures, "{protocol}");
        assert_eq!(other.stacks, first.stacks, "{protocol}");
    }
}

#[test]
fn levels_count_back_from_the_end() {
    let (whole, _) = read(&bytes("protocol-4")).unwrap();
    let (ring, notes) = read(&bytes("ring")).unwrap();
    assert!(notes.is_empty());
    let behind = &whole.memory[whole.memory.len() - ring.memory.len()..];
    let levels = |trace: &[_]| -> Vec<(u64, u64)> {
        let levels = trace
            .iter()
            .map(|event: &trainscope_format::trace::MemoryEvent| (event.allocated, event.reserved));
        levels.collect()
    };
    assert_eq!(levels(&ring.memory), levels(behind));
    // Live memory from before the history has its stack from the state.
    let held: u64 = ring.memory_held.iter().map(|block| block.bytes).sum();
    let alive: i64 = ring.memory.iter().map(|event| event.bytes).sum();
    let freed_unseen =
        ring.memory[0].allocated.cast_signed() - ring.memory[0].bytes - held.cast_signed();
    assert_eq!(
        held.cast_signed() + freed_unseen + alive,
        ACTIVE.cast_signed()
    );
    assert!(ring.memory_held.iter().all(|block| block.stack != NONE));
}

#[test]
fn a_state_without_a_history_is_one_moment() {
    for name in ["state", "segments"] {
        let (trace, notes) = read(&bytes(name)).unwrap();
        assert!(notes[0].contains("_record_memory_history"), "{notes:?}");
        assert_eq!(trace.memory.len(), 22);
        let last = trace.memory.last().unwrap();
        assert_eq!(
            (last.allocated, last.reserved, last.time),
            (ACTIVE, RESERVED, 0)
        );
        assert!(trace.is_sound());
    }
}

#[test]
fn older_snapshots_have_no_times_and_other_names() {
    let (new, _) = read(&bytes("protocol-4")).unwrap();
    let (old, notes) = read(&bytes("older")).unwrap();
    assert!(notes[0].contains("no times"), "{notes:?}");
    assert_eq!(old.memory.len(), new.memory.len());
    assert_eq!(peak(&old), PEAK);
    assert!(old.memory_held.is_empty());
    assert!(old.memory.is_sorted_by_key(|event| event.time));
    assert_eq!(old.head.unix_offset_nanos, None);
}

#[test]
fn a_file_that_is_cut_gives_what_is_before_the_end() {
    let bytes = bytes("protocol-4");
    let mut most = 0;
    // A test of all lengths would take a minute.
    for len in (0..bytes.len()).step_by(7) {
        let Ok((trace, _)) = read(&bytes[..len]) else {
            continue;
        };
        assert!(trace.counts.truncated, "{len}");
        assert!(trace.is_sound());
        // Each further byte can only add.
        let found = trace.memory.len() + trace.memory_held.len();
        assert!(found >= most, "{len}");
        most = found;
    }
    assert!(most > 120, "{most}");
}

#[test]
fn any_byte_may_be_wrong() {
    let whole = bytes("protocol-2");
    for (at, bit) in (0..whole.len())
        .step_by(5)
        .zip([0x01, 0x80, 0xff].into_iter().cycle())
    {
        let mut bytes = whole.clone();
        bytes[at] ^= bit;
        if let Ok((trace, _)) = read(&bytes) {
            assert!(trace.is_sound(), "{at}");
        }
    }
}

#[test]
fn nothing_is_called() {
    // `os.system("false")` in place of the settings of the allocator, as a value, and as the state of an object.
    let call = b"cos\nsystem\n(X\x05\x00\x00\x00falsetR";
    let build = b"cos\nsystem\n)\x81}b";
    for call in [&call[..], build] {
        let mut bytes = bytes("state");
        let end = bytes.len() - 2;
        // Another key at the end of the dict.
        let key = b"X\x01\x00\x00\x00c";
        bytes.splice(end..end, key.iter().chain(call).copied());
        // The frame of the pickle grows by the same length.
        bytes[3..11].copy_from_slice(&[0; 8]);
        let (trace, notes) = read(&bytes).unwrap();
        assert_eq!(trace.memory.len(), 22);
        assert!(
            notes[0].contains("calls") && notes[0].contains("none was made"),
            "{notes:?}"
        );
    }
}

#[test]
fn made_pickles_are_errors_or_empty() {
    let deep: Vec<u8> = [
        b"\x80\x04".to_vec(),
        b"]".repeat(200_000),
        b"a".repeat(199_999),
        b".".to_vec(),
    ]
    .concat();
    let list_of_itself = b"\x80\x02]q\x00h\x00a.".to_vec();
    let dict_of_itself = b"\x80\x02}q\x00X\x08\x00\x00\x00segmentsh\x00s.".to_vec();
    // Lists of lists of the same list: 2^100 elements.
    let mut laughs = b"\x80\x02]q\x00".to_vec();
    for number in 1..100_u8 {
        laughs.extend([
            b']',
            b'q',
            number,
            b'(',
            b'h',
            number - 1,
            b'h',
            number - 1,
            b'e',
        ]);
    }
    laughs.push(b'.');
    for (bytes, wanted) in [
        (deep, "neither segments"),
        (list_of_itself, "neither segments"),
        (dict_of_itself, "neither segments"),
        (laughs, "neither segments"),
        (
            b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff".to_vec(),
            "neither segments",
        ),
        (b"\x80\x04\x8b\xff\xff\xff\x7f".to_vec(), "neither segments"),
        (b"\x80\x02I1\n.".to_vec(), "byte 2 is 0x49"),
        (b"\x80\x02R.".to_vec(), "byte 2 has no value"),
        (b"\x80\x02u.".to_vec(), "byte 2 has no value"),
        (b"\x80\x02h\x05.".to_vec(), "byte 2 has no value"),
        (b"\x80\x06N.".to_vec(), "does not begin"),
        (b"(dp0\n.".to_vec(), "does not begin"),
        (Vec::new(), "does not begin"),
    ] {
        let error = read(&bytes).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn other_pickles_are_no_snapshots() {
    for name in ["protocol-2", "protocol-5", "state", "segments"] {
        let sniffed = TraceFile::sniff("a.PICKLE", || bytes(name));
        assert_eq!(sniffed, Some(TraceFile::MemorySnapshot), "{name}");
    }
    let other = b"\x80\x04\x95\x00}\x94\x8c\x07weights\x94".to_vec();
    assert_eq!(TraceFile::sniff("model.pkl", || other.clone()), None);
    assert_eq!(TraceFile::sniff("snapshot.txt", || bytes("state")), None);
}
