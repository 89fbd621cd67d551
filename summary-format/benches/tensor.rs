//! How fast tensors are read: statistics, histograms, changes and hashes of `f32` weights, on one core.
//!
//! `cargo bench -p trainscope-format --bench tensor`; under `cargo test --benches` the tensors shrink.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use trainscope_format::tensor::{
    ChangeStats, ContentHasher, DType, Histogram, TensorStats, Tolerance,
};

fn benches(criterion: &mut Criterion) {
    let is_test = std::env::args().any(|argument| argument == "--test");
    // Larger than the caches, and as large as the part of a file that is read at once.
    for (name, elements) in [("100 MB", 25_000_000), ("256 KiB", 65_536)] {
        let elements = if is_test { 1000 } else { elements };
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let bytes: Vec<u8> = (0..elements)
            .flat_map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                ((state >> 40) as f32 / 8_388_608.0 - 1.0).to_le_bytes()
            })
            .collect();
        let after = bytes.clone();
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        for dtype in [DType::F32, DType::Bf16, DType::F16, DType::I32, DType::U8] {
            group.bench_function(format!("statistics of {}", dtype.as_str()), |bencher| {
                bencher.iter(|| TensorStats::of(dtype, black_box(&bytes)));
            });
        }
        group.bench_function("histogram", |bencher| {
            bencher.iter(|| {
                let mut histogram = Histogram::new(-1.0, 1.0, Histogram::BINS);
                histogram.add(DType::F32, black_box(&bytes));
                histogram
            });
        });
        group.bench_function("hash", |bencher| {
            bencher.iter(|| ContentHasher::hash(black_box(&bytes)));
        });
        group.bench_function("change", |bencher| {
            let tolerance = Tolerance::default();
            bencher.iter(|| ChangeStats::of(DType::F32, black_box(&bytes), &after, tolerance));
        });
        group.finish();
    }
}

criterion_group!(all, benches);
criterion_main!(all);
