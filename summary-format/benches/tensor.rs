//! Benchmark of tensor statistics on one core: each selection next to a plain sum of the same memory, in GB/s.
//!
//! `cargo bench -p trainscope-format --bench tensor`; `TRAINSCOPE_BENCH_ELEMENTS` sets the size of the large tensor
//! (default 25 million, 100 MB of `f32`). Under `cargo test --benches` the tensors shrink.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use half::{bf16, f16};
use trainscope_format::tensor::{
    ChangeStats, ContentHasher, DType, Histogram, Registers, Select, Tolerance,
};

/// Weights from −1 to 1.
fn weights(elements: usize) -> Vec<f32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    };
    (0..elements).map(next).collect()
}

fn bytes_of<const N: usize>(weights: &[f32], bytes: impl Fn(f32) -> [u8; N]) -> Vec<u8> {
    weights.iter().flat_map(|&x| bytes(x)).collect()
}

fn benches(criterion: &mut Criterion) {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let large = std::env::var("TRAINSCOPE_BENCH_ELEMENTS");
    let large = large.ok().and_then(|elements| elements.parse().ok());
    // Larger than the caches, the size of a layer, and the size of one block of a file.
    for elements in [large.unwrap_or(25_000_000), 1_000_000, 65_536] {
        let elements = if is_test { 1000 } else { elements };
        let mut weights = weights(elements);
        let bytes = bytes_of(&weights, f32::to_le_bytes);
        let before = bytes.clone();
        let tolerance = Tolerance::default();
        let mut group = criterion.benchmark_group(format!("{elements} elements"));
        group.sample_size(10);

        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function("plain sum of the memory", |bencher| {
            bencher.iter(|| {
                let (words, _) = black_box(&bytes).as_chunks::<8>();
                let add = |sum: u64, word: &[u8; 8]| sum.wrapping_add(u64::from_le_bytes(*word));
                words.iter().fold(0, add)
            });
        });
        let moments = Select::new();
        for (name, select) in [
            ("moments", moments),
            ("moments, exponents", moments.exponents()),
            ("moments, hash", moments.hash()),
            ("moments, exponents, hash", moments.exponents().hash()),
            (
                "moments, histogram",
                moments.histogram(-1.0, 1.0, Histogram::BINS),
            ),
            ("moments, change", moments.change(&before, tolerance)),
        ] {
            group.bench_function(name, |bencher| {
                bencher.iter(|| select.read(DType::F32, black_box(&bytes)));
            });
        }
        for registers in Registers::available() {
            group.bench_function(format!("moments, {registers:?}"), |bencher| {
                let select = moments.registers(registers);
                bencher.iter(|| select.read(DType::F32, black_box(&bytes)));
            });
        }
        group.bench_function("hash alone", |bencher| {
            bencher.iter(|| ContentHasher::hash(black_box(&bytes)));
        });
        // Two streams are read.
        group.bench_function("change alone", |bencher| {
            bencher.iter(|| ChangeStats::of(DType::F32, &before, black_box(&bytes), tolerance));
        });

        for share in ["finite", "with NaN in each block"] {
            if share != "finite" {
                weights.iter_mut().step_by(1000).for_each(|x| *x = f32::NAN);
            }
            for (dtype, bytes) in [
                (DType::F32, bytes_of(&weights, f32::to_le_bytes)),
                (
                    DType::F16,
                    bytes_of(&weights, |x| f16::from_f32(x).to_le_bytes()),
                ),
                (
                    DType::Bf16,
                    bytes_of(&weights, |x| bf16::from_f32(x).to_le_bytes()),
                ),
            ] {
                group.throughput(Throughput::Bytes(bytes.len() as u64));
                group.bench_function(format!("moments of {}, {share}", dtype.as_str()), |b| {
                    b.iter(|| moments.read(dtype, black_box(&bytes)));
                });
            }
        }
        group.finish();
    }
}

criterion_group!(all, benches);
criterion_main!(all);
