//! Differences of two profiles: steps, parts, operators and kernels.

use std::collections::BTreeMap;

use trainscope_api::Sentence;
use trainscope_api::profile::{
    OperatorDifference, OperatorGroup, OperatorRow, Parts, ProfileDiff, SessionSummary,
};
use trainscope_format::digits::{nanos, percent};

use super::Model;
use super::figures::{median, percentile};
use super::operators::Operators;
use super::steps::StepRange;
use super::summary::summary;

/// Steps that each of two profiles needs for an interval of their ratio.
const MIN_STEPS: usize = 5;
/// Number of samples of the bootstrap.
const SAMPLES: usize = 1_000;
/// Maximum number of sampled steps; of more steps, this number at equal distances. The interval becomes wider.
const MAX_SAMPLED: usize = 1_000;
/// Shares of the samples below the two ends of the interval of 95 %.
const ENDS: [f64; 2] = [0.025, 0.975];
/// Seed of the samples: the same profiles have the same interval.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
/// Maximum number of operators, and of kernels, in one answer.
const MAX_ROWS: usize = 1_000;

/// One of two profiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// Its summary with all steps.
    pub summary: SessionSummary,
    /// Operators by name.
    pub operators: Vec<OperatorRow>,
    /// Kernels by short name.
    pub kernels: Vec<OperatorRow>,
    /// Number of steps of the calls of operators and kernels.
    pub steps: u64,
}

impl Side {
    /// Side of a model over a range of steps.
    pub fn new(model: &Model, range: StepRange) -> Self {
        let operators = Operators::new(model);
        let by_name = operators.table(OperatorGroup::Name, range);
        Self {
            summary: summary(model, range, usize::MAX),
            operators: by_name.rows,
            kernels: operators.table(OperatorGroup::Kernel, range).rows,
            steps: by_name.steps,
        }
    }

    fn lengths(&self) -> Vec<i64> {
        let steps = self.summary.steps.iter().filter(|step| step.is_whole);
        steps
            .map(|step| step.end_nanos.saturating_sub(step.begin_nanos))
            .collect()
    }

    fn peak(&self) -> Option<u64> {
        let peaks = self
            .summary
            .memory
            .iter()
            .map(|memory| memory.peak_len_bytes);
        peaks.max()
    }
}

/// The differences of a profile from another one, its baseline.
pub fn diff(current: &Side, base: &Side) -> ProfileDiff {
    let medians = (
        current.summary.median_step_nanos,
        base.summary.median_step_nanos,
    );
    let ratio = ratio(&current.lengths(), &base.lengths());
    let parts = (
        current.summary.mean_parts_nanos,
        base.summary.mean_parts_nanos,
    );
    let steps = (current.steps, base.steps);
    let mut operators = differences((&current.operators, &base.operators), steps);
    let mut kernels = differences((&current.kernels, &base.kernels), steps);
    let cut = operators.len() > MAX_ROWS || kernels.len() > MAX_ROWS;
    operators.truncate(MAX_ROWS);
    kernels.truncate(MAX_ROWS);
    ProfileDiff {
        median_step_nanos: medians,
        ratio,
        parts_nanos: parts,
        peak_len_bytes: (current.peak(), base.peak()),
        operators,
        kernels,
        sentence: sentence(medians, ratio, parts),
        cut,
    }
}

/// Ratio of the medians of two lists of lengths, and the ends of its 95 % interval; `None` with fewer than five in one
/// of them, or if the second median is 0.
pub fn ratio(current: &[i64], base: &[i64]) -> Option<(f64, f64, f64)> {
    if current.len() < MIN_STEPS || base.len() < MIN_STEPS {
        return None;
    }
    let medians = (median(&mut current.to_vec()), median(&mut base.to_vec()));
    if medians.1 <= 0 {
        return None;
    }
    let quotient = |current: i64, base: i64| current as f64 / base.max(1) as f64;
    let (current, base) = (sampled(current), sampled(base));
    let mut random = Random(SEED);
    let (mut left, mut right) = (current.clone(), base.clone());
    let mut ratios: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            random.draw(&current, &mut left);
            random.draw(&base, &mut right);
            quotient(median(&mut left), median(&mut right))
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    // Places of the sorted ratios: percentiles are of integers.
    let mut places: Vec<i64> = (0_i64..).take(ratios.len()).collect();
    let [low, high] = ENDS.map(|share| {
        let place = percentile(&mut places, share);
        usize::try_from(place)
            .ok()
            .and_then(|place| ratios.get(place))
    });
    Some((quotient(medians.0, medians.1), *low?, *high?))
}

fn sampled(lengths: &[i64]) -> Vec<i64> {
    let each = lengths.len().div_ceil(MAX_SAMPLED).max(1);
    lengths.iter().copied().step_by(each).collect()
}

/// Random numbers by `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Fills a sample with values drawn from others with equal probability.
    fn draw(&mut self, from: &[i64], sample: &mut [i64]) {
        let len = from.len() as u64;
        for slot in sample {
            let place = usize::try_from(self.next() % len.max(1)).unwrap_or_default();
            *slot = from.get(place).copied().unwrap_or_default();
        }
    }
}

/// Rows of both sides by name, the largest difference of self time a step first.
fn differences(
    (current, base): (&[OperatorRow], &[OperatorRow]),
    steps: (u64, u64),
) -> Vec<OperatorDifference> {
    let mut rows: BTreeMap<&str, OperatorDifference> = BTreeMap::new();
    let per_step = |row: &OperatorRow, steps: u64| row.calls as f64 / steps.max(1) as f64;
    for row in current {
        let difference = rows.entry(&row.name).or_default();
        difference.calls_step.0 += per_step(row, steps.0);
        difference.self_step_nanos.0 += row.self_step_nanos;
        difference.mean_nanos.0 = row.mean_nanos;
    }
    for row in base {
        let difference = rows.entry(&row.name).or_default();
        difference.calls_step.1 += per_step(row, steps.1);
        difference.self_step_nanos.1 += row.self_step_nanos;
        difference.mean_nanos.1 = row.mean_nanos;
    }
    let mut rows: Vec<OperatorDifference> = rows
        .into_iter()
        .map(|(name, difference)| OperatorDifference {
            name: name.to_owned(),
            ..difference
        })
        // Marks around steps have no self time.
        .filter(|row| row.self_step_nanos != (0, 0))
        .collect();
    rows.sort_by_key(|row| {
        let (current, base) = row.self_step_nanos;
        std::cmp::Reverse(current.abs_diff(base))
    });
    rows
}

/// The part that changed most, in English and Chinese, and its change.
fn most_changed((current, base): (Parts, Parts)) -> ((&'static str, &'static str), i64) {
    let changes = [
        (("kernels", "kernel"), current.kernel - base.kernel),
        (("copies", "拷贝"), current.memcpy - base.memcpy),
        (("memset", " memset "), current.memset - base.memset),
        (
            ("communication", "通信"),
            current.communication - base.communication,
        ),
        (
            ("calls of the runtime", "运行时调用"),
            current.runtime - base.runtime,
        ),
        (("waiting for data", "等待数据"), current.data - base.data),
        (("operators", "算子"), current.operators - base.operators),
        (("everything else", "其他"), current.other - base.other),
    ];
    let most = changes
        .into_iter()
        .max_by_key(|(_, change)| change.unsigned_abs());
    most.unwrap_or_default()
}

fn sentence(
    (current, base): (i64, i64),
    ratio: Option<(f64, f64, f64)>,
    parts: (Parts, Parts),
) -> Sentence {
    if current <= 0 || base <= 0 {
        return Sentence::new(
            "Steps cannot be compared: one of the profiles has none.",
            "无法对比迭代：其中一个性能分析没有迭代。",
        );
    }
    let change = current as f64 / base as f64 - 1.0;
    let step = nanos(current.unsigned_abs());
    let share = percent(change.abs());
    let (longer, longer_zh) = if change > 0.0 {
        ("longer", "长")
    } else {
        ("shorter", "短")
    };
    let Some((_, low, high)) = ratio else {
        return Sentence {
            en: format!(
                "The median step takes {step}, {share} {longer} than the baseline; with fewer than {MIN_STEPS} steps that may be chance."
            ),
            zh: format!(
                "迭代中位数 {step}，比基线{longer_zh} {share}；少于 {MIN_STEPS} 个迭代，可能是偶然。"
            ),
        };
    };
    if low <= 1.0 && high >= 1.0 {
        return Sentence {
            en: format!(
                "The median step takes {step}, as long as the baseline: a difference of {share} is within chance."
            ),
            zh: format!("迭代中位数 {step}，与基线相同：{share} 的差异在偶然范围内。"),
        };
    }
    let (near, far) = if change > 0.0 {
        (low - 1.0, high - 1.0)
    } else {
        (1.0 - high, 1.0 - low)
    };
    let (near, far) = (percent(near), percent(far));
    let ((part, part_zh), grown) = most_changed(parts);
    let (more, more_zh) = if grown > 0 {
        ("more", "多")
    } else {
        ("less", "少")
    };
    let grown = nanos(grown.unsigned_abs());
    Sentence {
        en: format!(
            "The median step takes {step}, {share} {longer} than the baseline (95 % interval {near} to {far}), {grown} {more} of it for {part}."
        ),
        zh: format!(
            "迭代中位数 {step}，比基线{longer_zh} {share}（95 % 区间 {near} 至 {far}），其中{part_zh}{more_zh}用 {grown}。"
        ),
    }
}
