//! Statistics of tensors compared with a naive computation: element by element, in two passes, in `f64`.

use half::{bf16, f16};
use proptest::prelude::*;
use trainscope_format::tensor::{
    ChangeStats, ContentHasher, DType, Histogram, Registers, Select, TensorStats, Tolerance,
};

/// The elements as numbers, by the conversions of the standard library and of `half`.
fn numbers(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    fn each<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> f64) -> Vec<f64> {
        let elements = bytes.chunks_exact(N);
        elements
            .map(|element| read(element.try_into().unwrap()))
            .collect()
    }
    match dtype {
        DType::Bool => each(bytes, |[b]| f64::from(b != 0)),
        DType::U8 => each(bytes, |b| u8::from_le_bytes(b).into()),
        DType::U16 => each(bytes, |b| u16::from_le_bytes(b).into()),
        DType::U32 => each(bytes, |b| u32::from_le_bytes(b).into()),
        DType::U64 => each(bytes, |b| u64::from_le_bytes(b) as f64),
        DType::I8 => each(bytes, |b| i8::from_le_bytes(b).into()),
        DType::I16 => each(bytes, |b| i16::from_le_bytes(b).into()),
        DType::I32 => each(bytes, |b| i32::from_le_bytes(b).into()),
        DType::I64 => each(bytes, |b| i64::from_le_bytes(b) as f64),
        DType::F16 => each(bytes, |b| f16::from_le_bytes(b).to_f64()),
        DType::Bf16 => each(bytes, |b| bf16::from_le_bytes(b).to_f64()),
        DType::F8E5m2 => each(bytes, |[b]| f16::from_le_bytes([0, b]).to_f64()),
        DType::F8E4m3 => each(bytes, |[b]| {
            let sign = if b < 128 { 1.0 } else { -1.0 };
            let mantissa = f64::from(b & 7);
            match (b >> 3) & 15 {
                15 if b & 7 == 7 => f64::NAN,
                0 => sign * mantissa * 2.0_f64.powi(-9),
                exponent => sign * (8.0 + mantissa) * 2.0_f64.powi(i32::from(exponent) - 10),
            }
        }),
        DType::F32 => each(bytes, |b| f32::from_le_bytes(b).into()),
        DType::F64 => each(bytes, f64::from_le_bytes),
    }
}

fn is_near(a: f64, b: f64, size: f64) -> bool {
    (a - b).abs() <= 1e-12 * size
}

fn check(dtype: DType, bytes: &[u8], stats: &TensorStats) {
    let all = numbers(dtype, bytes);
    let count = |is: &dyn Fn(f64) -> bool| all.iter().filter(|&&x| is(x)).count() as u64;
    let min_normal = dtype
        .min_normal_exponent()
        .map_or(0.0, |exponent| 2.0_f64.powi(exponent));
    assert_eq!(stats.count, all.len() as u64);
    assert_eq!(stats.nan, count(&f64::is_nan));
    assert_eq!(stats.pos_inf, count(&|x| x == f64::INFINITY));
    assert_eq!(stats.neg_inf, count(&|x| x == f64::NEG_INFINITY));
    assert_eq!(stats.zero, count(&|x| x == 0.0));
    assert_eq!(stats.negative, count(&|x| x < 0.0 && x.is_finite()));
    assert_eq!(stats.positive, count(&|x| x > 0.0 && x.is_finite()));
    assert_eq!(
        stats.subnormal,
        count(&|x| x != 0.0 && x.abs() < min_normal),
        "{dtype:?}"
    );
    if let Some(exponents) = &stats.exponents {
        for (low, high, bucket) in exponents.iter() {
            assert_eq!(bucket, count(&|x| low <= x && x <= high), "{low}..={high}");
        }
        let buckets: u64 = exponents.iter().map(|bucket| bucket.2).sum();
        assert_eq!(buckets, stats.negative + stats.positive);
    }

    let finite: Vec<f64> = all.into_iter().filter(|x| x.is_finite()).collect();
    let Some(figures) = stats.finite else {
        assert!(finite.is_empty());
        return;
    };
    let n = finite.len() as f64;
    let mean = finite.iter().sum::<f64>() / n;
    let mean_abs = finite.iter().map(|x| x.abs()).sum::<f64>() / n;
    let m2: f64 = finite.iter().map(|x| (x - mean) * (x - mean)).sum();
    let l2 = finite.iter().map(|x| x * x).sum::<f64>().sqrt();
    assert_eq!(
        figures.min,
        finite.iter().copied().fold(f64::INFINITY, f64::min)
    );
    assert_eq!(
        figures.max,
        finite.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    );
    assert!(
        is_near(figures.mean, mean, mean_abs),
        "{} {mean}",
        figures.mean
    );
    assert!(is_near(figures.mean_abs, mean_abs, mean_abs));
    assert!(is_near(figures.l2, l2, l2), "{} {l2}", figures.l2);
    assert!(
        is_near(figures.m2, m2, m2.max(1e-12 * l2 * l2)),
        "{} {m2}",
        figures.m2
    );
}

/// Elements of any bits; `f64` is restricted to the range of `f32`, so that the naive sums do not overflow.
fn tensor() -> impl Strategy<Value = (DType, Vec<u8>)> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::collection::vec(any::<u8>(), 8000..20_000),
        // Ordinary weights, with some that are not.
        prop::collection::vec((-1.0_f32..1.0, 0..2000_u32), 0..9000).prop_map(|weights| {
            let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1e-40];
            let element = |(weight, chance): (f32, u32)| {
                special
                    .get(chance as usize)
                    .copied()
                    .unwrap_or(weight)
                    .to_le_bytes()
            };
            weights.into_iter().flat_map(element).collect()
        }),
    ];
    (prop::sample::select(&DType::ALL[..]), bytes).prop_map(|(dtype, bytes)| {
        if dtype == DType::F64 {
            let wide = numbers(DType::F32, &bytes);
            (dtype, wide.into_iter().flat_map(f64::to_le_bytes).collect())
        } else {
            (dtype, bytes)
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn one_pass_is_two_passes_whatever_the_registers((dtype, bytes) in tensor(), shift in 0..8_usize) {
        // Any alignment.
        let mut shifted = vec![0; shift];
        shifted.extend_from_slice(&bytes);
        let bytes = &shifted[shift..];
        let widest = TensorStats::of(dtype, bytes);
        for registers in Registers::available() {
            let stats = Select::new().exponents().registers(registers).read(dtype, bytes).stats;
            check(dtype, bytes, &stats);
            prop_assert_eq!(format!("{stats:?}"), format!("{widest:?}"), "{:?}", registers);
        }
    }

    #[test]
    fn what_is_selected_is_what_each_computes_alone(
        (dtype, bytes) in tensor(),
        before in prop::collection::vec(any::<u8>(), 0..9000),
        (exponents, hash, histogram, change) in any::<(bool, bool, bool, bool)>(),
    ) {
        let tolerance = Tolerance::default();
        // Its first part is unchanged.
        let same = before.len().min(bytes.len()) / 2;
        let mut before = before;
        before[..same].copy_from_slice(&bytes[..same]);
        let mut alone = Histogram::new(-0.5, 0.5, Histogram::BINS);
        alone.add(dtype, &bytes);
        for registers in Registers::available() {
            let mut select = Select::new().registers(registers);
            if exponents {
                select = select.exponents();
            }
            if hash {
                select = select.hash();
            }
            if histogram {
                select = select.histogram(-0.5, 0.5, Histogram::BINS);
            }
            if change {
                select = select.change(&before, tolerance);
            }
            let seen = select.read(dtype, &bytes);
            check(dtype, &bytes, &seen.stats);
            prop_assert_eq!(seen.stats.exponents.is_some(), exponents);
            prop_assert_eq!(seen.hash, hash.then(|| ContentHasher::hash(&bytes)));
            prop_assert_eq!(seen.histogram.as_ref(), histogram.then_some(&alone));
            let expected = change.then(|| ChangeStats::of(dtype, &before, &bytes, tolerance));
            prop_assert_eq!(format!("{:?}", seen.change), format!("{expected:?}"));
        }
    }

    #[test]
    fn parts_merge_to_the_whole((dtype, bytes) in tensor(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..5)) {
        let size = dtype.size_bytes();
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() / size + 1) * size).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let whole = TensorStats::of(dtype, &bytes);
        let mut merged = TensorStats::default();
        let mut from = 0;
        for to in cuts {
            merged.merge(&TensorStats::of(dtype, &bytes[from..to]));
            from = to;
        }
        if let (Some(a), Some(b)) = (&mut merged.finite, &whole.finite) {
            prop_assert!(is_near(a.mean, b.mean, b.mean_abs));
            prop_assert!(is_near(a.mean_abs, b.mean_abs, b.mean_abs));
            prop_assert!(is_near(a.l2, b.l2, b.l2));
            prop_assert!(is_near(a.m2, b.m2, b.m2.max(1e-12 * b.l2 * b.l2)));
            (a.mean, a.mean_abs, a.l2, a.m2) = (b.mean, b.mean_abs, b.l2, b.m2);
        }
        // Everything else is exact.
        prop_assert_eq!(merged, whole);
    }

    #[test]
    fn shares_are_bounded((dtype, bytes) in tensor(), a in -2.0_f64..2.0, width in 0.0_f64..2.0) {
        let stats = TensorStats::of(dtype, &bytes);
        let limits = a..=a + width;
        let within = numbers(dtype, &bytes).iter().filter(|x| limits.contains(x)).count() as u64;
        let moments = Select::new().read(dtype, &bytes).stats;
        for stats in [&stats, &moments] {
            let (least, most) = stats.count_within(*limits.start(), *limits.end());
            prop_assert!(least <= within && within <= most);
        }
        let numbers = stats.count - stats.nan;
        let everything = stats.count_within(f64::NEG_INFINITY, f64::INFINITY);
        prop_assert_eq!(everything, (numbers, numbers));
    }

    #[test]
    fn counts_in_ranges_are_those_of_a_filter(
        (_, bytes) in tensor(),
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), -1..=1_i8, -1..=1_i8), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        for dtype in DType::ALL {
            let all = numbers(dtype, &bytes);
            // Limits at elements, and one ulp away from them.
            let limits: Vec<f64> = all.iter().copied().filter(|x| !x.is_nan()).chain([0.3]).collect();
            let beside = |at: prop::sample::Index, ulps: i8| match (*at.get(&limits), ulps) {
                (x, -1) => x.next_down(),
                (x, 0) => x,
                (x, _) => x.next_up(),
            };
            let ranges: Vec<(f64, f64)> = picks
                .iter()
                .map(|&(a, b, down, up)| (beside(a, down), beside(b, up)))
                .map(|(a, b)| (a.min(b), a.max(b)))
                .collect();
            let cut = cut.index(all.len() + 1) * dtype.size_bytes();
            for registers in Registers::available() {
                let select = Select::new().ranges(&ranges).registers(registers);
                let whole = select.read(dtype, &bytes).stats;
                let mut merged = select.read(dtype, &bytes[..cut]).stats;
                merged.merge(&select.read(dtype, &bytes[cut..]).stats);
                prop_assert_eq!(whole.ranges.len(), ranges.len());
                for &(low, high) in &ranges {
                    let inside = all.iter().filter(|x| (low..=high).contains(*x)).count() as u64;
                    prop_assert_eq!(whole.count_within(low, high), (inside, inside), "{:?}", dtype);
                    prop_assert_eq!(merged.count_within(low, high), (inside, inside), "{:?}", dtype);
                }
            }
        }
    }

    #[test]
    fn stored_statistics_come_back((dtype, bytes) in tensor()) {
        let stats = TensorStats::of(dtype, &bytes);
        let stored = serde_json::to_string(&stats).unwrap();
        let back: TensorStats = serde_json::from_str(&stored).unwrap();
        prop_assert_eq!(back.count, stats.count);
        prop_assert_eq!(back.exponents, stats.exponents);
    }

    #[test]
    fn changes_are_those_of_the_definition(
        (dtype, before) in tensor(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..50),
    ) {
        let mut after = before.clone();
        for (at, mask) in flips {
            if !after.is_empty() {
                let at = at.index(after.len());
                after[at] ^= mask;
            }
        }
        let tolerance = Tolerance::default();
        let stats = ChangeStats::of(dtype, &before, &after, tolerance);
        let pairs: Vec<_> = numbers(dtype, &before).into_iter().zip(numbers(dtype, &after)).collect();
        prop_assert_eq!(stats.count, pairs.len() as u64);
        let changed = pairs.iter().filter(|(a, b)| {
            let is_close = a == b
                || (a.is_finite() && b.is_finite()
                    && (b - a).abs() <= tolerance.absolute + tolerance.relative * a.abs());
            !is_close
        });
        prop_assert_eq!(stats.changed, changed.count() as u64);
        let finite: Vec<_> = pairs.into_iter().filter(|(a, b)| a.is_finite() && b.is_finite()).collect();
        prop_assert_eq!(stats.finite, finite.len() as u64);
        let sum = |of: &dyn Fn(f64, f64) -> f64| finite.iter().map(|&(a, b)| of(a, b)).sum::<f64>();
        for (seen, expected) in [
            (stats.sum_abs_change, sum(&|a, b| (b - a).abs())),
            (stats.sum_abs_before, sum(&|a, _| a.abs())),
            (stats.sum_squares_change, sum(&|a, b| (b - a) * (b - a))),
            (stats.sum_squares_before, sum(&|a, _| a * a)),
        ] {
            prop_assert!(seen == expected || is_near(seen, expected, expected), "{} {}", seen, expected);
        }
        let max = finite.iter().map(|(a, b)| (b - a).abs()).fold(0.0, f64::max);
        prop_assert_eq!(stats.max_abs_change, max);
    }
}

#[test]
fn nothing_and_nothing_finite() {
    assert_eq!(
        Select::new().read(DType::F32, &[]).stats,
        TensorStats::default()
    );
    assert_eq!(TensorStats::of(DType::F32, &[1, 2, 3]).count, 0);
    let stats = TensorStats::of(DType::F32, &f32::NAN.to_le_bytes().repeat(3));
    assert_eq!((stats.count, stats.nan, stats.finite), (3, 3, None));
    assert_eq!(stats.variance(), None);
    assert_eq!(stats.count_within(-1.0, 1.0), (0, 0));
}

#[test]
fn a_range_is_known_of_the_whole_only_if_it_is_of_both_parts() {
    let bytes = 0.3_f32.to_le_bytes().repeat(3);
    let of = |ranges: &[(f64, f64)]| Select::new().ranges(ranges).read(DType::F32, &bytes).stats;
    let mut sum = of(&[(0.0, 0.4), (0.2, 0.4)]);
    sum.merge(&of(&[(0.2, 0.4)]));
    assert_eq!(sum.ranges.len(), 1);
    assert_eq!(sum.count_within(0.2, 0.4), (6, 6));
}

#[test]
fn parts_without_exponents_merge_to_a_whole_without() {
    let bytes = 1.0_f32.to_le_bytes().repeat(3);
    let with = TensorStats::of(DType::F32, &bytes);
    let without = Select::new().read(DType::F32, &bytes).stats;
    let merged = |a: &TensorStats, b: &TensorStats| {
        let mut sum = a.clone();
        sum.merge(b);
        sum.exponents.is_some()
    };
    assert!(merged(&with, &with) && merged(&TensorStats::default(), &with));
    assert!(merged(
        &TensorStats::default(),
        &TensorStats::of(DType::F32, &[])
    ));
    assert!(!merged(&with, &without) && !merged(&without, &with));
    assert_eq!(without.count_within(0.0, 2.0), (3, 3));
    assert_eq!(without.count_within(2.0, 3.0), (0, 0));
}

#[test]
fn a_small_spread_about_a_large_mean_does_not_cancel() {
    // 1e9 ± 0.5 in turn: the variance is 0.25.
    let values = (0..100_000).map(|i| 1e9 + if i % 2 == 0 { 0.5 } else { -0.5 });
    let bytes: Vec<u8> = values.flat_map(f64::to_le_bytes).collect();
    let stats = TensorStats::of(DType::F64, &bytes);
    assert!((stats.variance().unwrap() - 0.25).abs() < 1e-9);
    assert!((stats.finite.unwrap().mean - 1e9).abs() < 1e-6);
}

#[test]
fn numbers_whose_squares_do_not_fit() {
    for size in [1e300_f64, 1e-300] {
        let bytes: Vec<u8> = [3.0 * size, -4.0 * size]
            .into_iter()
            .flat_map(f64::to_le_bytes)
            .collect();
        let figures = TensorStats::of(DType::F64, &bytes).finite.unwrap();
        let is_about = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        assert!(is_about(figures.l2, 5.0 * size), "{figures:?}");
        assert!(is_about(figures.mean, -0.5 * size), "{figures:?}");
        assert!(is_about(figures.mean_abs, 3.5 * size), "{figures:?}");
        assert_eq!(figures.abs_max(), 4.0 * size);
    }
    let extremes: Vec<u8> = [f64::MAX, f64::MAX, f64::from_bits(1)]
        .into_iter()
        .flat_map(f64::to_le_bytes)
        .collect();
    let stats = TensorStats::of(DType::F64, &extremes);
    assert_eq!(stats.subnormal, 1);
    assert!((stats.finite.unwrap().mean / f64::MAX - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn bins_of_a_histogram() {
    let bytes: Vec<u8> = (0..=640_i16).flat_map(i16::to_le_bytes).collect();
    let mut histogram = Histogram::new(0.0, 640.0, Histogram::BINS);
    histogram.add(DType::I16, &bytes);
    // The last bin includes its end.
    let mut expected = vec![10; 64];
    expected[63] = 11;
    assert_eq!(histogram.bins, expected);

    let specials = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 641.0, 0.0];
    let bytes: Vec<u8> = specials.into_iter().flat_map(f32::to_le_bytes).collect();
    let mut other = Histogram::new(0.0, 640.0, Histogram::BINS);
    other.add(DType::F32, &bytes);
    assert!(histogram.merge(&other));
    assert_eq!((histogram.below, histogram.above, histogram.nan), (2, 2, 1));
    assert_eq!(histogram.bins[0], 11);
    assert!(!histogram.merge(&Histogram::new(0.0, 641.0, Histogram::BINS)));

    let mut constant = Histogram::new(2.0, 2.0, Histogram::BINS);
    constant.add(DType::F32, &2.0_f32.to_le_bytes().repeat(5));
    assert_eq!(constant.bins[0], 5);

    let extremes: Vec<u8> = [f64::MIN, 0.0, f64::MAX]
        .into_iter()
        .flat_map(f64::to_le_bytes)
        .collect();
    let mut widest = Histogram::new(f64::MIN, f64::MAX, 2);
    widest.add(DType::F64, &extremes);
    assert_eq!(widest.bins, [1, 2]);
}
