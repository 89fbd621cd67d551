//! Conditions of `MindInsight`, compared with naive computations; neither storing the state nor another order of
//! tensors changes the findings.

#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_wrap,
    clippy::needless_range_loop,
    reason = "a test that cannot go on has failed; steps are few, and index several things"
)]

use proptest::prelude::*;
use trainscope_analysis::watchpoint::config::{Value, WatchpointConfig, WatchpointsFile};
use trainscope_analysis::watchpoint::{Evaluator, Findings, Watchpoints};
use trainscope_format::tensor::DType;

use crate::support::bytes;

fn watchpoint(condition: &str, limits: &[(&str, f64)]) -> WatchpointConfig {
    let condition = ("condition".to_owned(), Value::Text(condition.to_owned()));
    let limits = limits
        .iter()
        .map(|(key, limit)| ((*key).to_owned(), Value::Float(*limit)));
    WatchpointConfig(std::iter::once(condition).chain(limits).collect())
}

fn observe(evaluator: &mut Evaluator, name: &str, step: i64, now: &[f32], old: Option<&[f32]>) {
    let (shape, old) = ([now.len() as u64], old.map(bytes));
    let kind = (DType::F32, &shape[..]);
    crate::support::observe(
        evaluator,
        (0, step),
        name,
        kind,
        &bytes(now),
        old.as_deref(),
    );
}

/// Findings of a weight at its second step.
fn found(condition: &str, limits: &[(&str, f64)], before: &[f32], now: &[f32]) -> Findings {
    found_of("weight/fc.weight", condition, limits, before, now)
}

/// The same for a tensor of any name.
fn found_of(
    name: &str,
    condition: &str,
    limits: &[(&str, f64)],
    before: &[f32],
    now: &[f32],
) -> Findings {
    let file = WatchpointsFile {
        watchpoint: vec![watchpoint(condition, limits)],
    };
    let mut evaluator = Evaluator::new(Watchpoints::from_file(&file).unwrap());
    observe(&mut evaluator, name, 0, before, None);
    observe(&mut evaluator, name, 1, now, Some(before));
    evaluator.findings()
}

fn is_hit(findings: &Findings) -> bool {
    findings.hits.iter().any(|h| h.step == 1)
}

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -10.0_f32..10.0,
        2 => Just(0.0_f32),
        1 => -1e-6_f32..1e-6,
        1 => prop_oneof![Just(f32::NAN), Just(f32::INFINITY), Just(f32::NEG_INFINITY)],
    ]
}

fn pairs() -> impl Strategy<Value = (Vec<f32>, Vec<f32>)> {
    let step = prop_oneof![Just(1.0_f32), Just(1.0 + 1e-6), 0.5_f32..2.0];
    prop::collection::vec((number(), step), 1..60).prop_map(|all| {
        let before: Vec<f32> = all.iter().map(|p| p.0).collect();
        let now = all.iter().map(|p| p.0 * p.1).collect();
        (before, now)
    })
}

proptest! {
    #[test]
    fn magnitudes((_, x) in pairs(), limit in -5.0..5.0_f64) {
        let wide: Vec<f64> = x.iter().map(|v| f64::from(*v)).collect();
        let len = wide.len() as f64;
        let is_finite = wide.iter().all(|v| v.is_finite());
        let figures = [
            ("abs_mean", wide.iter().map(|v| v.abs()).sum::<f64>() / len),
            ("max", wide.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            ("min", wide.iter().copied().fold(f64::INFINITY, f64::min)),
            ("mean", wide.iter().sum::<f64>() / len),
        ];
        for (figure, actual) in figures {
            let limit = if figure == "abs_mean" { limit.abs() } else { limit };
            prop_assume!((actual - limit).abs() > 1e-9);
            let above = found("tensor_too_large", &[(&format!("{figure}_gt"), limit)], &x, &x);
            prop_assert_eq!(is_hit(&above), is_finite && actual > limit);
            let below = found("weight_too_small", &[(&format!("{figure}_lt"), limit)], &x, &x);
            prop_assert_eq!(is_hit(&below), is_finite && actual < limit);
            prop_assert_eq!(below.inconclusive.is_empty(), is_finite);
            for (condition, limit_of, name, hits) in [
                ("weight_too_large", "gt", "weight/fc.weight", actual > limit),
                ("gradient_too_large", "gt", "grad/fc.weight", actual > limit),
                ("tensor_too_small", "lt", "activation/fc", actual < limit),
            ] {
                let limits = [(&*format!("{figure}_{limit_of}"), limit)];
                let findings = found_of(name, condition, &limits, &x, &x);
                prop_assert_eq!(is_hit(&findings), is_finite && hits, "{}", condition);
            }
            let other = found_of("activation/fc", "gradient_too_large", &[("max_gt", -9.0)], &x, &x);
            prop_assert!(!is_hit(&other), "it is no gradient");
        }
    }

    #[test]
    fn zeros_and_overflow((_, x) in pairs(), limit in 0.0..100.0_f64) {
        let is_finite = x.iter().all(|v| v.is_finite());
        let zeros = 100.0 * x.iter().filter(|v| **v == 0.0).count() as f64 / x.len() as f64;
        prop_assume!((zeros - limit).abs() > 1e-9);
        let findings = found("tensor_all_zero", &[("zero_percentage_ge", limit)], &x, &x);
        prop_assert_eq!(is_hit(&findings), is_finite && zeros >= limit);
        prop_assert_eq!(is_hit(&found("weight_overflow", &[], &x, &x)), !is_finite);
    }

    #[test]
    fn beginnings((x, later) in pairs(), percentage in 0.0..100.0_f64, most in 0.0..12.0_f64, least in -12.0..0.0_f64) {
        let wide: Vec<f64> = x.iter().map(|v| f64::from(*v)).collect();
        let is_finite = wide.iter().all(|v| v.is_finite());
        let zeros = 100.0 * wide.iter().filter(|v| **v == 0.0).count() as f64 / wide.len() as f64;
        prop_assume!((zeros - percentage).abs() > 1e-9);
        let max = wide.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let min = wide.iter().copied().fold(f64::INFINITY, f64::min);
        let limits = [("zero_percentage_ge", percentage), ("max_gt", most), ("min_lt", least)];
        let findings = found("weight_initialization", &limits, &x, &later);
        let hits: Vec<i64> = findings.hits.iter().map(|h| h.step).collect();
        let is_bad = is_finite && (zeros >= percentage || max > most || min < least);
        prop_assert_eq!(hits, if is_bad { vec![0] } else { Vec::new() });
    }

    #[test]
    fn changes((before, now) in pairs(), limit in 1e-6..1.0_f64) {
        let wide = |x: &[f32]| x.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
        let (p, x) = (wide(&before), wide(&now));
        let is_finite = p.iter().chain(&x).all(|v| v.is_finite());
        let close = p.iter().zip(&x).all(|(p, x)| (x - p).abs() <= 1e-8 + 1e-5 * p.abs());
        let unchanged = found("weight_not_changed", &[], &before, &now);
        prop_assert_eq!(is_hit(&unchanged), is_finite && close);
        let len = x.len() as f64;
        let moved = p.iter().zip(&x).map(|(p, x)| (x - p).abs()).sum::<f64>() / len;
        let ratio = moved / (p.iter().map(|v| v.abs()).sum::<f64>() / len + 1e-9);
        prop_assume!(!is_finite || (ratio - limit).abs() > 1e-9);
        let large = found("weight_change_too_large", &[("abs_mean_update_ratio_gt", limit)], &before, &now);
        prop_assert_eq!(is_hit(&large), is_finite && ratio > limit);
        let small = found("weight_change_too_small", &[("abs_mean_update_ratio_lt", limit)], &before, &now);
        prop_assert_eq!(is_hit(&small), is_finite && ratio < limit);
    }

    #[test]
    fn ranges((_, x) in pairs(), start in -4.0..4.0_f64, width in 0.0..6.0_f64, limit in 0.0..100.0_f64) {
        let is_finite = x.iter().all(|v| v.is_finite());
        let inside = x.iter().filter(|v| (start..=start + width).contains(&f64::from(**v))).count();
        let percentage = 100.0 * inside as f64 / x.len() as f64;
        prop_assume!((percentage - limit).abs() > 1e-9);
        let limits = [("range_start_inclusive", start), ("range_end_inclusive", start + width), ("range_percentage_lt", limit)];
        let findings = found("tensor_range", &limits, &x, &x);
        prop_assert_eq!(is_hit(&findings), is_finite && percentage < limit);
        prop_assert_eq!(findings.inconclusive.is_empty(), is_finite);
        let of_activation = found_of("activation/relu1", "activation_range", &limits, &x, &x);
        prop_assert_eq!(is_hit(&of_activation), is_hit(&findings));
        let spread = x.iter().copied().fold(f32::NEG_INFINITY, f32::max) - x.iter().copied().fold(f32::INFINITY, f32::min);
        prop_assume!((f64::from(spread) - width).abs() > 1e-5);
        let wide = found_of("activation/relu1", "activation_range", &[("max_min_gt", width)], &x, &x);
        prop_assert_eq!(is_hit(&wide), is_finite && f64::from(spread) > width);
    }

    #[test]
    fn another_order_changes_nothing_that_is_found(
        states in prop::collection::vec(prop::collection::vec(number(), 4), 2..12),
    ) {
        let names = ["weight/a.weight", "grad/a.weight", "activation/relu1", "weight/b.bias"];
        let mut by_step = Evaluator::new(Watchpoints::recommended());
        let mut by_tensor = by_step.clone();
        let at = |step: usize, tensor: usize| {
            let mut state = states[step].clone();
            state.rotate_left(tensor);
            state
        };
        let show = |evaluator: &mut Evaluator, step: usize, tensor: usize| {
            let old = step.checked_sub(1).map(|before| at(before, tensor));
            observe(evaluator, names[tensor], step as i64, &at(step, tensor), old.as_deref());
        };
        for step in 0..states.len() {
            for tensor in 0..names.len() {
                show(&mut by_step, step, tensor);
            }
            by_step.scalar(0, "loss", step as i64, 0.0, f64::from(states[step][0]));
        }
        for (step, state) in states.iter().enumerate() {
            by_tensor.scalar(0, "loss", step as i64, 0.0, f64::from(state[0]));
        }
        for tensor in 0..names.len() {
            for step in 0..states.len() {
                show(&mut by_tensor, step, tensor);
            }
        }
        prop_assert_eq!(&by_step.findings().hits, &by_tensor.findings().hits);
    }
}

#[test]
fn a_mistake_is_named_with_its_key() {
    let mistake = |config: WatchpointConfig| {
        let file = WatchpointsFile {
            watchpoint: vec![watchpoint("tensor_overflow", &[]), config],
        };
        let error = Watchpoints::from_file(&file).unwrap_err();
        (error.entry, error.key, error.mistake.to_string())
    };
    let of = |key: &str, words: &str| (1, Some(key.to_owned()), words.to_owned());
    assert_eq!(
        mistake(watchpoint("tensor_overflows", &[])),
        of("condition", "there is no condition `tensor_overflows`")
    );
    assert_eq!(
        mistake(watchpoint("weight_change_too_large", &[("ratio", 0.5)])),
        of("ratio", "unknown key `ratio` of `weight_change_too_large`")
    );
    assert_eq!(
        mistake(watchpoint(
            "tensor_all_zero",
            &[("zero_percentage_ge", 101.0)]
        )),
        of(
            "zero_percentage_ge",
            "`zero_percentage_ge` must be a number from 0 to 100, and is 101"
        )
    );
    assert_eq!(
        mistake(watchpoint("tensor_range", &[("range_percentage_lt", 5.0)]))
            .1
            .as_deref(),
        Some("range_percentage_lt")
    );
    assert_eq!(mistake(watchpoint("tensor_too_large", &[])).1, None);
    let severity = ("severity".to_owned(), Value::Text("fatal".to_owned()));
    let mut fatal = watchpoint("loss_nan", &[]);
    fatal.0.extend([severity]);
    assert_eq!(
        mistake(fatal),
        of(
            "severity",
            "`severity` must be \"error\", \"warning\" or \"info\", and is \"fatal\""
        )
    );
}

#[test]
fn what_is_recommended_can_be_written_and_read_again() {
    let recommended = Watchpoints::recommended();
    let again = Watchpoints::from_file(&recommended.to_file()).unwrap();
    assert_eq!(again.all().len(), recommended.all().len());
    for (a, b) in recommended.all().iter().zip(again.all()) {
        let limits = |w: &trainscope_analysis::watchpoint::Watchpoint| {
            let bits = |key| w.limits.get(key).map(f64::to_bits);
            let keys = w
                .condition
                .parameters
                .iter()
                .map(|parameter| parameter.name);
            keys.map(bits).collect::<Vec<_>>()
        };
        assert_eq!((a.condition.id, limits(a)), (b.condition.id, limits(b)));
        let counts = |w: &trainscope_analysis::watchpoint::Watchpoint| {
            (w.patience, w.cooldown, w.warmup, w.context)
        };
        assert_eq!(counts(a), counts(b), "{}", a.condition.id);
    }
}
