//! Benchmark of the Chrome JSON reader against `serde_json` with typed events on the same bytes, and of the reader of
//! memory snapshots; from memory and on one core.
//!
//! `cargo bench -p trainscope-format --bench trace`; under `cargo test --benches` the file shrinks to a few events.

#![expect(
    clippy::unwrap_used,
    reason = "the file of a bench is written here, and right"
)]

use std::collections::HashMap;
use std::fmt::Write;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde::Deserialize;
use serde::de::{SeqAccess, Visitor};
use trainscope_format::formats::memory_snapshot;
use trainscope_format::formats::trace_json::TraceReader;

/// Block size of the file readers.
const PIECE: usize = 4 << 20;

/// A file as Kineto writes it: of every nine events, four are operators, one is a Python frame, two are a call and its
/// kernel, two are the ends of the flow between them.
fn file(events: u32) -> Vec<u8> {
    let mut text = String::from(
        "{\n  \"schemaVersion\": 1,\n  \"baseTimeNanoseconds\": 1790857026000000000,\n  \"traceEvents\": [\n",
    );
    let open = |text: &mut String,
                category: &str,
                name: &str,
                lane: [u32; 2],
                at: u64,
                dur: u64| {
        let [pid, tid] = lane;
        write!(
            text,
            "  {{\n    \"ph\": \"X\",\n    \"cat\": \"{category}\",\n    \"name\": \"{name}\",\n    \"pid\": {pid},\n    \
             \"tid\": {tid},\n    \"ts\": {}.{:03},\n    \"dur\": {}.{:03}\n    ,\n    \"args\": {{\n      ",
            at / 1000,
            at % 1000,
            dur / 1000,
            dur % 1000,
        )
        .unwrap();
    };
    let flow = |text: &mut String, phase: &str, id: u32, lane: [u32; 2], at: u64| {
        let [pid, tid] = lane;
        write!(
            text,
            "  {{\n    \"ph\": \"{phase}\",\n    \"id\": {id},\n    \"pid\": {pid},\n    \"tid\": {tid},\n    \
             \"ts\": {}.{:03},\n    \"cat\": \"ac2g\",\n    \"name\": \"ac2g\"\n    ,\"bp\": \"e\"\n  }},\n",
            at / 1000,
            at % 1000,
        )
        .unwrap();
    };
    let host = [4199, 4199];
    let device = [0, 7];
    for group in 0..events / 9 {
        let at = 4_356_230_544_000_000 + u64::from(group) * 100_000;
        for operator in 0..4 {
            let names = ["aten::linear", "aten::addmm", "aten::copy_", "aten::expand"];
            let name = names[operator as usize];
            open(
                &mut text,
                "cpu_op",
                name,
                host,
                at + 100 * u64::from(operator),
                90_000,
            );
            let size = 8 << (group % 4);
            writeln!(
                text,
                "\"External id\": {},\"Record function id\": 0, \"Concrete Inputs\": [\"\", \"\", \"\", \"1\"], \
                 \"Input type\": [\"float\", \"float\", \"float\", \"Scalar\"], \"Input Strides\": [[1], [{size}, 1], \
                 [1, {size}], []], \"Input Dims\": [[{size}], [16, {size}], [{size}, {size}], []], \"Ev Idx\": {group}\n    \
                 }}\n  }},",
                group * 4 + operator,
            )
            .unwrap();
        }
        open(
            &mut text,
            "python_function",
            "torch/nn/modules/linear.py(124): forward",
            host,
            at + 50,
            95_000,
        );
        writeln!(
            text,
            "\"CallFrom\": \"train.py:88\", \"Python parent id\": {group}, \"Python id\": {}, \"Ev Idx\": {group}\n    \
             }}\n  }},",
            group + 1,
        )
        .unwrap();
        open(
            &mut text,
            "cuda_runtime",
            "cudaLaunchKernel",
            host,
            at + 5_000,
            4_000,
        );
        writeln!(
            text,
            "\"External id\": {group}, \"cbid\": 211, \"correlation\": {group}\n    }}\n  }},"
        )
        .unwrap();
        flow(&mut text, "s", group, host, at + 5_000);
        open(
            &mut text,
            "kernel",
            "ampere_sgemm_128x64_tn(float const*, float const*, float*, int, int)",
            device,
            at + 12_000,
            60_000,
        );
        writeln!(
            text,
            "\"External id\": {group}, \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \
             \"correlation\": {group}, \"registers per thread\": 96, \"shared memory\": 0, \"blocks per SM\": 1.185185, \
             \"warps per SM\": 4.740741, \"grid\": [128, 1, 1], \"block\": [128, 1, 1], \
             \"est. achieved occupancy %\": 7\n    }}\n  }},"
        )
        .unwrap();
        flow(&mut text, "f", group, device, at + 12_000);
    }
    text.push_str("  {\n    \"ph\": \"M\",\n    \"name\": \"none\"\n  }\n  ]\n}\n");
    text.into_bytes()
}

fn scan(bytes: &[u8]) -> usize {
    let mut reader = TraceReader::new();
    for piece in bytes.chunks(PIECE) {
        reader.push(piece);
    }
    reader.finish().slices.len()
}

/// The same events for `serde_json`, one after another into columns.
#[derive(Deserialize)]
struct TypedEvents {
    #[serde(rename = "traceEvents")]
    events: Columns,
}

#[derive(Default)]
struct Columns {
    begins: Vec<f64>,
    durations: Vec<f64>,
    names: Vec<u32>,
    categories: Vec<u32>,
    lanes: Vec<(u64, u64)>,
    links: Vec<u32>,
    flows: Vec<(u64, f64)>,
}

#[derive(Deserialize)]
struct Event<'a> {
    ph: &'a str,
    #[serde(default)]
    name: &'a str,
    #[serde(default)]
    cat: &'a str,
    #[serde(default)]
    pid: u64,
    #[serde(default)]
    tid: u64,
    #[serde(default)]
    ts: f64,
    #[serde(default)]
    dur: f64,
    #[serde(default)]
    id: u64,
    #[serde(default)]
    args: Arguments,
}

#[derive(Default, Deserialize)]
struct Arguments {
    correlation: Option<u32>,
}

impl<'de> Deserialize<'de> for Columns {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Rows)
    }
}

struct Rows;

impl<'de> Visitor<'de> for Rows {
    type Value = Columns;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<Columns, A::Error> {
        let mut texts: HashMap<&'de str, u32> = HashMap::new();
        let mut columns = Columns::default();
        while let Some(event) = events.next_element::<Event<'de>>()? {
            let mut id = |text| {
                let new = u32::try_from(texts.len()).unwrap();
                *texts.entry(text).or_insert(new)
            };
            if event.ph == "X" {
                columns.begins.push(event.ts);
                columns.durations.push(event.dur);
                columns.names.push(id(event.name));
                columns.categories.push(id(event.cat));
                columns.lanes.push((event.pid, event.tid));
                columns
                    .links
                    .push(event.args.correlation.unwrap_or(u32::MAX));
            } else {
                columns.flows.push((event.id, event.ts));
            }
        }
        Ok(columns)
    }
}

fn parse(bytes: &[u8]) -> usize {
    let typed: TypedEvents = serde_json::from_slice(bytes).unwrap();
    black_box(typed.events).begins.len()
}

/// A memory snapshot as Python's pickle writes it in protocol 4: a third of its actions are allocations, each followed
/// by its two releases.
fn snapshot(actions: u32) -> Vec<u8> {
    const TEXTS: [&str; 16] = [
        "action",
        "addr",
        "size",
        "stream",
        "time_us",
        "compile_context",
        "user_metadata",
        "frames",
        "alloc",
        "free_requested",
        "free_completed",
        "N/A",
        "filename",
        "line",
        "name",
        "device_traces",
    ];
    const STACKS: u32 = 256;
    let text = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend([0x8c, u8::try_from(text.len()).unwrap()]);
        bytes.extend(text.as_bytes());
    };
    let mut bytes = vec![0x80, 4];
    // Texts and stacks are put into the memo first.
    for (number, value) in (0..).zip(TEXTS) {
        text(&mut bytes, value);
        bytes.extend([b'q', number, b'0']);
    }
    for stack in 0..STACKS {
        bytes.push(b']');
        bytes.push(b'r');
        bytes.extend((1_000 + stack).to_le_bytes());
        bytes.push(b'(');
        for depth in 0..8 {
            bytes.extend([b'}', b'(', b'h', 12]);
            text(&mut bytes, &format!("/home/user/project/file{depth}.py"));
            bytes.extend([b'h', 13, b'M']);
            bytes.extend(u16::try_from(stack + depth).unwrap().to_le_bytes());
            bytes.extend([b'h', 14]);
            text(&mut bytes, "forward");
            bytes.push(b'u');
        }
        bytes.extend(*b"e0");
    }
    bytes.extend([b'}', b'h', 15, b']', b']']);
    for action in 0..actions {
        if action % 1_000 == 0 {
            bytes.push(b'(');
        }
        let address = 0x7f00_0000_0000_u64 + u64::from(action / 3) * 512;
        let time = 1_790_000_000_000_000_u64 + u64::from(action) * 9;
        bytes.extend([
            b'}',
            b'(',
            b'h',
            0,
            b'h',
            8 + u8::try_from(action % 3).unwrap(),
        ]);
        bytes.extend([b'h', 1, 0x8a, 6]);
        bytes.extend(&address.to_le_bytes()[..6]);
        bytes.extend([
            b'h', 2, b'J', 0, 2, 0, 0, b'h', 3, b'K', 0, b'h', 4, 0x8a, 7,
        ]);
        bytes.extend(&time.to_le_bytes()[..7]);
        bytes.extend([b'h', 5, b'h', 11, b'h', 6, b'h', 11, b'h', 7, b'j']);
        bytes.extend((1_000 + action / 3 % STACKS).to_le_bytes());
        bytes.push(b'u');
        if action % 1_000 == 999 || action + 1 == actions {
            bytes.push(b'e');
        }
    }
    bytes.extend(*b"as.");
    bytes
}

fn read_snapshot(bytes: &[u8]) -> usize {
    memory_snapshot::read(|| Ok(bytes)).unwrap().0.memory.len()
}

fn benches(criterion: &mut Criterion) {
    // `cargo test --benches` passes `--test`: one pass is enough.
    let is_test = std::env::args().any(|argument| argument == "--test");
    let events = if is_test { 900 } else { 360_000 };
    let bytes = file(events);
    assert_eq!(scan(&bytes), events as usize / 9 * 7);
    assert_eq!(parse(&bytes), events as usize / 9 * 7);
    let mut group = criterion.benchmark_group("Chrome JSON");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("reader", |bencher| bencher.iter(|| scan(black_box(&bytes))));
    group.bench_function("serde_json, typed", |bencher| {
        bencher.iter(|| parse(black_box(&bytes)));
    });
    group.finish();

    let actions = if is_test { 900 } else { 1_500_000 };
    let bytes = snapshot(actions);
    assert_eq!(read_snapshot(&bytes), actions as usize / 3 * 2);
    let mut group = criterion.benchmark_group("memory snapshot");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("reader", |bencher| {
        bencher.iter(|| read_snapshot(black_box(&bytes)));
    });
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
