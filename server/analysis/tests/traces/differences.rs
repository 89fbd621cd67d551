//! Differences of two profiles.

use proptest::prelude::*;
use trainscope_analysis::trace::diff::{Side, diff, ratio};
use trainscope_analysis::trace::steps::StepRange;
use trainscope_api::profile::{OperatorRow, Parts, ProfileStep, SessionSummary};

use crate::traces::support::model as fixture;

fn side(lengths: &[i64], operators: &[(&str, i64, u64)]) -> Side {
    let steps = lengths.iter().map(|length| ProfileStep {
        end_nanos: *length,
        is_whole: true,
        ..ProfileStep::default()
    });
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let rows = operators.iter().map(|(name, nanos, calls)| OperatorRow {
        name: (*name).to_owned(),
        calls: *calls,
        self_step_nanos: *nanos,
        ..OperatorRow::default()
    });
    Side {
        summary: SessionSummary {
            median_step_nanos: sorted.get(sorted.len() / 2).copied().unwrap_or_default(),
            mean_parts_nanos: Parts {
                operators: operators.iter().map(|row| row.1).sum(),
                ..Parts::default()
            },
            steps: steps.collect(),
            ..SessionSummary::default()
        },
        operators: rows.collect(),
        kernels: Vec::new(),
        steps: lengths.len() as u64,
    }
}

#[test]
fn what_costs_a_step_more_comes_first() {
    let base = side(
        &[1_000_000; 10],
        &[
            ("mm", 600_000, 20),
            ("add", 100_000, 10),
            ("gone", 5_000, 10),
        ],
    );
    let current = side(
        &[1_300_000; 10],
        &[
            ("mm", 900_000, 30),
            ("add", 100_000, 10),
            ("new", 1_000, 10),
        ],
    );
    let answer = diff(&current, &base);
    let names: Vec<&str> = answer
        .operators
        .iter()
        .map(|row| row.name.as_str())
        .collect();
    assert_eq!(names, ["mm", "gone", "new", "add"]);
    assert_eq!(answer.operators[0].calls_step, (3.0, 2.0));
    assert_eq!(answer.operators[0].self_step_nanos, (900_000, 600_000));
    assert_eq!(answer.operators[1].self_step_nanos, (0, 5_000));
    assert_eq!(answer.ratio, Some((1.3, 1.3, 1.3)));
    assert_eq!(
        answer.sentence.en,
        "The median step takes 1.30 ms, 30 % longer than the baseline (95 % interval 30 % to 30 %), 296 µs more of it for operators."
    );
    assert_eq!(
        answer.sentence.zh,
        "迭代中位数 1.30 ms，比基线长 30 %（95 % 区间 30 % 至 30 %），其中算子多用 296 µs。"
    );
}

#[test]
fn few_steps_noise_and_no_steps_are_said() {
    let few = diff(&side(&[12, 12, 12], &[]), &side(&[10; 9], &[]));
    assert_eq!(few.ratio, None);
    assert!(
        few.sentence.en.contains("may be chance"),
        "{}",
        few.sentence.en
    );
    let noisy = [90, 95, 100, 105, 110, 92, 108];
    let shifted = [91, 96, 101, 106, 111, 93, 109];
    let same = diff(&side(&shifted, &[]), &side(&noisy, &[]));
    assert!(
        same.sentence.en.contains("within chance"),
        "{}",
        same.sentence.en
    );
    let none = diff(&side(&[], &[]), &side(&noisy, &[]));
    assert!(none.sentence.en.contains("cannot be compared"));
}

proptest! {
    #[test]
    fn the_interval_contains_the_ratio_and_is_the_same_each_time(
        current in proptest::collection::vec(1_i64..1_000_000, 5..40),
        base in proptest::collection::vec(1_i64..1_000_000, 5..40),
    ) {
        let first = ratio(&current, &base);
        prop_assert_eq!(first, ratio(&current, &base));
        let (ratio, low, high) = first.unwrap();
        prop_assert!(low <= high && low <= ratio * 1.000_001 && ratio <= high * 1.000_001);
    }
}

#[test]
fn a_profile_does_not_differ_from_itself() {
    let model = fixture("torch-cnn/tb.pt.trace.json.gz");
    let side = Side::new(&model, StepRange::default());
    let answer = diff(&side, &side);
    assert_eq!(answer.median_step_nanos, (2_417_579, 2_417_579));
    assert_eq!(answer.parts_nanos.0, answer.parts_nanos.1);
    assert!(!answer.operators.is_empty());
    assert!(
        answer
            .operators
            .iter()
            .all(|row| row.self_step_nanos.0 == row.self_step_nanos.1)
    );
}
