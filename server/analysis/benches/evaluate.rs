//! Benchmark of watchpoints on recorded statistics: 1,000 tensors at 1,000 steps with 30 watchpoints, and with the
//! recommended ones. Smaller under test.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use trainscope_analysis::watchpoint::config::{Value, WatchpointConfig, WatchpointsFile};
use trainscope_analysis::watchpoint::{Evaluator, Findings, Observation, Watchpoints};
use trainscope_format::tensor::{ChangeStats, DType, Select, Tolerance};
use trainscope_format::{Role, TensorSummary};

const TENSORS: usize = 1_000;
const STEPS: i64 = 1_000;

fn summary(role: Role, seed: usize) -> TensorSummary {
    let value = |i: usize| ((seed * 31 + i * 17) % 97) as f32 / 97.0 - 0.4;
    let bytes: Vec<u8> = (0..256).flat_map(|i| value(i).to_le_bytes()).collect();
    let computed = Select::new().exponents().hash().read(DType::F32, &bytes);
    TensorSummary {
        role,
        dtype: DType::F32,
        shape: vec![16, 16],
        stats: computed.stats,
        hash: computed.hash,
        change: (role == Role::Weight).then_some(ChangeStats {
            count: 256,
            finite: 256,
            changed: 256,
            sum_abs_change: 0.1,
            sum_abs_before: 60.0,
            sum_squares_change: 0.001,
            sum_squares_before: 20.0,
            max_abs_change: 0.01,
        }),
        channels: None,
    }
}

/// Thirty formula watchpoints with limits that no tensor exceeds.
fn thirty() -> Watchpoints {
    let conditions: [(&str, &[(&str, f64)]); 15] = [
        ("tensor_overflow", &[]),
        ("weight_overflow", &[]),
        ("gradient_exploding", &[]),
        ("tensor_all_zero", &[]),
        ("tensor_too_large", &[("abs_mean_gt", 1e3), ("max_gt", 1e4)]),
        ("tensor_too_small", &[("abs_mean_lt", 1e-9)]),
        ("tensor_range", &[("max_min_gt", 1e6)]),
        ("weight_too_large", &[("abs_mean_gt", 1e3)]),
        ("weight_too_small", &[("abs_mean_lt", 1e-9)]),
        ("weight_not_changed", &[]),
        ("weight_change_too_large", &[]),
        (
            "weight_change_too_small",
            &[("abs_mean_update_ratio_lt", 1e-6)],
        ),
        ("gradient_vanishing", &[("abs_mean_lt", 1e-9)]),
        ("gradient_too_large", &[("max_gt", 1e6)]),
        ("near_overflow", &[]),
    ];
    let watchpoint = conditions.iter().cycle().take(30).map(|(id, limits)| {
        let condition = ("condition".to_owned(), Value::Text((*id).to_owned()));
        let limits = limits
            .iter()
            .map(|(k, v)| ((*k).to_owned(), Value::Float(*v)));
        WatchpointConfig(std::iter::once(condition).chain(limits).collect())
    });
    let file = WatchpointsFile {
        watchpoint: watchpoint.collect(),
    };
    Watchpoints::from_file(&file).unwrap_or_else(|_| Watchpoints::recommended())
}

fn judge(
    watchpoints: &Watchpoints,
    recorded: &[(String, [TensorSummary; 4])],
    steps: i64,
) -> Findings {
    let mut evaluator = Evaluator::new(watchpoints.clone());
    for (step, turn) in (0..steps).zip((0..4).cycle()) {
        for (name, states) in recorded {
            evaluator.observe(&Observation {
                rank: 0,
                step,
                name,
                op: "",
                summary: &states[turn],
                tolerance: Tolerance::default(),
            });
        }
        evaluator.scalar(0, "loss", step, 0.0, 1.0 / (1.0 + step as f64));
    }
    evaluator.findings()
}

fn evaluate(criterion: &mut Criterion) {
    let is_test = std::env::args().any(|arg| arg == "--test");
    let (tensors, steps) = if is_test { (10, 10) } else { (TENSORS, STEPS) };
    let kinds = [
        (Role::Weight, "weight", "weight"),
        (Role::Gradient, "grad", "weight"),
        (Role::Activation, "activation", ""),
    ];
    let recorded: Vec<_> = (0..tensors)
        .map(|i| {
            let (role, prefix, leaf) = kinds[i % kinds.len()];
            let states = [0, 1, 2, 3].map(|state| summary(role, i * 4 + state));
            (format!("{prefix}/layer{i}.{leaf}"), states)
        })
        .collect();
    let mut group = criterion.benchmark_group("1000 tensors, 1000 steps");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(10));
    for (name, watchpoints) in [
        ("30 watchpoints", thirty()),
        ("recommended", Watchpoints::recommended()),
    ] {
        group.bench_function(name, |bench| {
            bench.iter(|| black_box(judge(&watchpoints, &recorded, steps)));
        });
    }
    group.finish();
}

/// Judging inside of a training: one step of 1,000 tensors after 1,000 steps, with fresh hits and a short history, and the
/// findings that a fresh hit asks for.
fn judge_in_training(criterion: &mut Criterion) {
    let is_test = std::env::args().any(|arg| arg == "--test");
    let (tensors, steps) = if is_test { (10, 10) } else { (TENSORS, STEPS) };
    let roles = [Role::Weight, Role::Gradient, Role::Activation];
    let recorded: Vec<_> = (0..tensors)
        .map(|i| {
            let role = roles[i % roles.len()];
            (format!("{role:?}/layer{i}.weight"), summary(role, i))
        })
        .collect();
    let mut evaluator = Evaluator::new(Watchpoints::recommended())
        .with_history(32, 64)
        .with_fresh_hits();
    let mut step = 0;
    let mut judge_step = |evaluator: &mut Evaluator| {
        for (name, summary) in &recorded {
            evaluator.observe(&Observation {
                rank: 0,
                step,
                name,
                op: "",
                summary,
                tolerance: Tolerance::default(),
            });
        }
        step += 1;
        evaluator.fresh()
    };
    for _ in 0..steps {
        judge_step(&mut evaluator);
    }
    let mut group = criterion.benchmark_group("in a training, 1000 tensors");
    group.sample_size(10);
    group.bench_function("a step", |bench| {
        bench.iter(|| black_box(judge_step(&mut evaluator)));
    });
    group.bench_function("findings", |bench| {
        bench.iter(|| black_box(evaluator.findings()));
    });
    group.finish();
}

criterion_group!(benches, evaluate, judge_in_training);
criterion_main!(benches);
