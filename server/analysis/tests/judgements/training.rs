//! A synthetic training: small, deterministic, and healthy except for the changes of a test.

use std::collections::HashMap;

use trainscope_analysis::watchpoint::{Context, Evaluator, Findings, Watchpoints};
use trainscope_format::Severity;
use trainscope_format::float::Float;
use trainscope_format::tensor::DType;

use crate::support::{bytes, observe};

/// Pseudo-random, deterministic number between −1 and 1.
pub(crate) fn noise(seed: u64) -> f32 {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 31;
    x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 27;
    f32::from(u16::try_from(x >> 48).unwrap_or(0)) / 32768.0 - 1.0
}

const MODEL: &str = "Net(
  (input): Identity()
  (fc1): Linear(in_features=4, out_features=8)
  (relu1): ReLU()
  (fc2): Linear(in_features=8, out_features=8)
  (tanh1): Tanh()
  (bn1): BatchNorm1d(8)
  (scores): Scores()
  (softmax): Softmax(dim=-1)
  (head): Linear(in_features=8, out_features=3)
)";
const ORDER: [&str; 9] = [
    "input", "fc1", "relu1", "fc2", "tanh1", "bn1", "scores", "softmax", "head",
];
const TENSORS: [(&str, &[u64]); 18] = [
    ("weight/fc1.weight", &[8, 4]),
    ("weight/fc2.weight", &[8, 8]),
    ("weight/bn1.weight", &[8]),
    ("weight/head.weight", &[3, 8]),
    ("buffer/bn1.running_mean", &[8]),
    ("activation/input", &[16, 4]),
    ("target", &[16]),
    ("activation/fc1", &[16, 8]),
    ("activation/relu1", &[16, 8]),
    ("activation/fc2", &[16, 8]),
    ("activation/tanh1", &[16, 8]),
    ("activation/scores", &[16, 8]),
    ("activation/softmax", &[16, 8]),
    ("activation/head", &[16, 3]),
    ("grad/head.weight", &[3, 8]),
    ("grad/bn1.weight", &[8]),
    ("grad/fc2.weight", &[8, 8]),
    ("grad/fc1.weight", &[8, 4]),
];
const SCALARS: [&str; 7] = [
    "loss",
    "val_loss",
    "accuracy",
    "learning_rate",
    "grad_norm",
    "loss_scale",
    "time",
];

/// A training: number of steps and ranks, and the changes in it.
#[derive(Clone, Copy)]
pub(crate) struct Training {
    pub(crate) steps: i64,
    pub(crate) ranks: u32,
    pub(crate) dtype: DType,
    /// Modifies a tensor: rank, step, name and elements.
    pub(crate) tensor: fn(u32, i64, &str, &mut Vec<f32>),
    /// Modifies a scalar: step, tag and value; NaN leaves it out.
    pub(crate) scalar: fn(i64, &str, f64) -> f64,
}

pub(crate) const WELL: Training = Training {
    steps: 16,
    ranks: 1,
    dtype: DType::F32,
    tensor: |_, _, _, _| {},
    scalar: |_, _, value| value,
};

impl Training {
    pub(crate) fn steps(self, steps: i64) -> Self {
        Self { steps, ..self }
    }

    pub(crate) fn ranks(self, ranks: u32) -> Self {
        Self { ranks, ..self }
    }

    pub(crate) fn of(self, dtype: DType) -> Self {
        Self { dtype, ..self }
    }

    pub(crate) fn tensors(self, tensor: fn(u32, i64, &str, &mut Vec<f32>)) -> Self {
        Self { tensor, ..self }
    }

    pub(crate) fn scalars(self, scalar: fn(i64, &str, f64) -> f64) -> Self {
        Self { scalar, ..self }
    }
}

pub(crate) fn elements(rank: u32, step: i64, name: &str, len: u64) -> Vec<f32> {
    let seed = name
        .bytes()
        .fold(7_u64, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
    let turn = step.unsigned_abs();
    let of = |i: u64| noise(seed.wrapping_add(i));
    let at = |i: u64| noise(seed.wrapping_add(i + 1000 * turn + 77_777 * u64::from(rank)));
    // Replicated tensors do not depend on the rank.
    let shared = |i: u64| noise(seed.wrapping_add(i + 1000 * turn));
    let lag = turn as f32;
    (0..len)
        .map(|i| match name {
            "target" => (i % 3) as f32,
            "weight/bn1.weight" => 1.0 + 0.01 * lag * of(i),
            _ if name.starts_with("weight/") => 0.5 * of(i) + 0.005 * lag * of(i + 500),
            _ if name.starts_with("buffer/") => 0.1 * lag * of(i),
            _ if name.starts_with("grad/") => 0.1 * shared(i),
            "activation/relu1" => at(i).max(0.0),
            "activation/tanh1" => at(i).tanh(),
            "activation/softmax" => 0.125 + 0.05 * at(i),
            _ => at(i),
        })
        .collect()
}

fn value(step: i64, tag: &str) -> f64 {
    let step = step as f64;
    let wobble = f64::from(noise(step.to_bits())) * 0.03;
    match tag {
        "loss" => 1.1 * (-step / 20.0).exp() + wobble,
        "val_loss" => 1.1 * (-step / 22.0).exp() + 0.02,
        "accuracy" => (0.3 + step * 0.03).min(1.0),
        "learning_rate" => 0.1,
        "grad_norm" => 0.8 + wobble,
        // Not recorded, unless a test gives one.
        "loss_scale" => f64::NAN,
        _ => step,
    }
}

impl Training {
    pub(crate) fn judge(&self) -> Findings {
        let mut evaluator = Evaluator::new(Watchpoints::recommended());
        evaluator.context(0, Context::ExecutionOrder(&ORDER));
        let (tag, text) = ("model", MODEL);
        evaluator.context(0, Context::Text { tag, text });
        for rank in 0..self.ranks {
            let mut before = HashMap::new();
            for step in 0..self.steps {
                for tag in SCALARS {
                    let value = (self.scalar)(step, tag, value(step, tag));
                    if !value.is_nan() || tag == "loss" {
                        evaluator.scalar(rank, tag, step, 10.0 * step as f64, value);
                    }
                }
                for (name, shape) in TENSORS {
                    let mut elements = elements(rank, step, name, shape.iter().product());
                    (self.tensor)(rank, step, name, &mut elements);
                    if elements.is_empty() {
                        continue;
                    }
                    let dtype = self.dtype_of(name);
                    let bytes = bytes_of(dtype, &elements);
                    let old: Option<Vec<u8>> = before.insert(name, bytes.clone());
                    let (at, kind) = ((rank, step), (dtype, shape));
                    observe(&mut evaluator, at, name, kind, &bytes, old.as_deref());
                }
            }
        }
        let findings = evaluator.findings();
        assert_measured(&findings);
        findings
    }

    fn dtype_of(&self, name: &str) -> DType {
        match name {
            "target" => DType::I32,
            _ => self.dtype,
        }
    }
}

fn bytes_of(dtype: DType, values: &[f32]) -> Vec<u8> {
    let each = values.iter();
    match dtype {
        #[expect(clippy::cast_possible_truncation, reason = "labels are small")]
        DType::I32 => each.flat_map(|v| (*v as i32).to_le_bytes()).collect(),
        DType::F16 => each.flat_map(|v| half(*v).to_le_bytes()).collect(),
        _ => bytes(values),
    }
}

pub(crate) fn scale(elements: &mut [f32], by: f32) {
    for element in elements {
        *element *= by;
    }
}

/// Converts to half precision, towards zero.
pub(crate) fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = u16::try_from(bits >> 16 & 0x8000).unwrap_or(0);
    let magnitude = value.abs();
    if magnitude >= 65_536.0 {
        return sign | 0x7c00;
    }
    // Subnormal numbers are multiples of 2⁻²⁴.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below 2¹⁰"
    )]
    let tiny = (magnitude * 2.0_f32.powi(24)) as u16;
    if magnitude < 2.0_f32.powi(-14) {
        return sign | tiny;
    }
    sign | u16::try_from(((bits & 0x7fff_ffff) - ((127 - 15) << 23)) >> 13).unwrap_or(0)
}

/// Asserts that each hit has a measured value that exceeds its limit.
pub(crate) fn assert_measured(findings: &Findings) {
    for hit in &findings.hits {
        for measure in hit.measures() {
            let holds = |limit: Float| measure.operator.holds(measure.value.0, limit.0);
            let is_nan = measure.value.0.is_nan();
            assert!(is_nan || measure.limit.is_none_or(holds), "{hit:?}");
            assert!(!measure.quantity.en.is_empty(), "{hit:?}");
            let value = (measure.name.as_str(), measure.value);
            let mut values = hit.values.iter();
            assert!(
                values.any(|(key, of)| (key.as_str(), *of) == value),
                "{hit:?}"
            );
        }
    }
}

/// Conditions with an alarm, without duplicates.
pub(crate) fn alarms(findings: &Findings) -> Vec<&str> {
    let alarms = findings
        .hits
        .iter()
        .filter(|h| h.severity >= Severity::Warning);
    let mut ids: Vec<&str> = alarms.map(|h| h.condition.id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

pub(crate) fn expect(condition: &str, training: &Training) {
    let findings = training.judge();
    let hits: Vec<_> = findings
        .hits
        .iter()
        .map(|h| (&h.condition.id, h.step, &h.tensor))
        .collect();
    assert!(
        alarms(&findings).contains(&condition),
        "{condition}: {hits:?}"
    );
    assert!(findings.first_cause.is_some(), "{condition}");
}

pub(crate) fn expect_note(condition: &str, training: &Training) {
    let findings = training.judge();
    let is_there = findings.hits.iter().any(|h| h.condition.id == condition);
    assert!(is_there, "{condition}: {:?}", findings.hits);
}
