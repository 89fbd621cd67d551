//! Benchmark of the event file decoder, both checksums included, from memory and on one core.
//!
//! `cargo bench -p trainscope-format --bench decode`; under `cargo test --benches` the files shrink to a few records.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use trainscope_format::{Format, RecordBatch};

#[path = "../tests/format/support.rs"]
#[expect(
    dead_code,
    reason = "the benches write events and do not compare what is decoded"
)]
mod support;
use support::{bytes_field, frame, simple_value, summary, tensor, tensor_value, varint_field};

/// Block size of the file readers.
const PIECE: usize = 1 << 20;

fn decode(format: Format, bytes: &[u8], batch: &mut RecordBatch) -> u64 {
    let mut decoder = format.decoder("");
    let mut records = 0;
    for piece in bytes.chunks(PIECE) {
        batch.clear();
        decoder.push(piece, batch);
        records += batch.len_records();
    }
    records
}

fn run(criterion: &mut Criterion, name: &str, records: u64, bytes: &[u8]) {
    let mut batch = RecordBatch::default();
    assert_eq!(decode(Format::Tfevents, bytes, &mut batch), records);
    let mut group = criterion.benchmark_group(name);
    for (unit, throughput) in [
        ("records", Throughput::Elements(records)),
        ("bytes", Throughput::Bytes(bytes.len() as u64)),
    ] {
        group.throughput(throughput);
        group.bench_function(unit, |bencher| {
            bencher.iter(|| decode(Format::Tfevents, black_box(bytes), &mut batch));
        });
    }
    group.finish();
}

fn benches(criterion: &mut Criterion) {
    // `cargo test --benches` passes `--test`: one pass is enough.
    let is_test = std::env::args().any(|argument| argument == "--test");
    let scalars: u32 = if is_test { 100 } else { 1_000_000 };
    let large: u32 = if is_test { 2 } else { 200 };
    let wall = |step: u32| 1.7e9 + f64::from(step) * 0.01;

    let simple: Vec<u8> = (0..scalars)
        .flat_map(|step| {
            let value = simple_value("metrics/tag_00", (step % 1000) as f32);
            summary(wall(step), step.into(), &[value])
        })
        .collect();
    run(
        criterion,
        "one simple scalar an event",
        scalars.into(),
        &simple,
    );

    let tags: Vec<String> = (0..10).map(|tag| format!("metrics/tag_{tag:02}")).collect();
    let grouped: Vec<u8> = (0..scalars / 10)
        .flat_map(|step| {
            let values: Vec<_> = tags.iter().map(|tag| simple_value(tag, 0.5)).collect();
            summary(wall(step), step.into(), &values)
        })
        .collect();
    run(
        criterion,
        "ten simple scalars an event",
        scalars.into(),
        &grouped,
    );

    let tensors: Vec<u8> = (0..scalars)
        .flat_map(|step| {
            let content = (step % 1000) as f32;
            let value = tensor_value(
                "metrics/tag_00",
                &tensor(1, &[], &content.to_le_bytes()),
                Some("scalars"),
            );
            summary(wall(step), step.into(), &[value])
        })
        .collect();
    run(
        criterion,
        "one tensor scalar an event",
        scalars.into(),
        &tensors,
    );

    // Rows of left edge, right edge and count.
    let payload = vec![0x5a; 24 << 13];
    let histograms: Vec<u8> = (0..large)
        .flat_map(|step| {
            let value = tensor_value(
                "weights",
                &tensor(2, &[1 << 13, 3], &payload),
                Some("histograms"),
            );
            summary(wall(step), step.into(), &[value])
        })
        .collect();
    run(criterion, "large histograms", large.into(), &histograms);

    let picture = vec![0x5a; 100_000];
    let images: Vec<u8> = (0..10 * large)
        .flat_map(|step| {
            let image = [
                varint_field(1, 200),
                varint_field(2, 200),
                bytes_field(4, &picture),
            ];
            let value = [bytes_field(1, b"sample"), bytes_field(4, &image.concat())];
            summary(wall(step), step.into(), &[value.concat()])
        })
        .collect();
    run(criterion, "images of 100 kB", (10 * large).into(), &images);

    // Frames with a wrong payload checksum, back to back: resynchronisation must stay linear.
    let mut damaged: Vec<u8> = (0..scalars / 10).flat_map(|_| frame(&[0x5a; 40])).collect();
    for byte in damaged.iter_mut().skip(20).step_by(56) {
        *byte ^= 1;
    }
    run(criterion, "nothing but damage", 0, &damaged);
}

criterion_group!(all, benches);
criterion_main!(all);
