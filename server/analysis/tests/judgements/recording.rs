//! A recording assembled step by step: any model, any tensors, any curves.

use std::collections::HashMap;

use trainscope_analysis::watchpoint::{Context, Evaluator, Findings, Watchpoints};
use trainscope_format::tensor::DType;
use trainscope_format::{Histogram, Role, Severity};

use super::training::noise;
use crate::support::observe_as;

pub(crate) struct Recording {
    evaluator: Evaluator,
    before: HashMap<(u32, String), Vec<u8>>,
    /// Role of the tensors that follow.
    pub(crate) role: Role,
}

impl Recording {
    /// A recording with this context.
    pub(crate) fn with(contexts: &[Context<'_>]) -> Self {
        let mut evaluator = Evaluator::new(Watchpoints::recommended());
        for context in contexts {
            evaluator.context(0, *context);
        }
        Self {
            evaluator,
            before: HashMap::new(),
            role: Role::Other,
        }
    }

    /// A recording of a model as printed by `PyTorch`, whose leaves run in the printed order.
    pub(crate) fn of(model: &str) -> Self {
        let (tag, text) = ("model", model);
        Self::with(&[Context::Text { tag, text }])
    }

    pub(crate) fn context(&mut self, context: Context<'_>) {
        self.evaluator.context(0, context);
    }

    pub(crate) fn scalar(&mut self, step: i64, tag: &str, value: f64) {
        self.evaluator.scalar(0, tag, step, step as f64, value);
    }

    pub(crate) fn curve(&mut self, tag: &str, steps: i64, value: impl Fn(i64) -> f64) {
        for step in 0..steps {
            self.scalar(step, tag, value(step));
        }
    }

    pub(crate) fn histogram(&mut self, step: i64, name: &str, histogram: &Histogram) {
        self.evaluator.histogram(0, name, step, histogram);
    }

    pub(crate) fn tensor(
        &mut self,
        (rank, step): (u32, i64),
        name: &str,
        shape: &[u64],
        value: impl Fn(u64) -> f64,
    ) {
        let values = (0..shape.iter().product()).map(value);
        self.values((rank, step), name, shape, values);
    }

    pub(crate) fn values(
        &mut self,
        (rank, step): (u32, i64),
        name: &str,
        shape: &[u64],
        values: impl Iterator<Item = f64>,
    ) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "tensors of single precision"
        )]
        let bytes: Vec<u8> = values.flat_map(|v| (v as f32).to_le_bytes()).collect();
        self.elements((rank, step), name, (DType::F32, shape), &bytes);
    }

    pub(crate) fn elements(
        &mut self,
        (rank, step): (u32, i64),
        name: &str,
        (dtype, shape): (DType, &[u64]),
        bytes: &[u8],
    ) {
        let old = self.before.insert((rank, name.to_owned()), bytes.to_vec());
        let (at, kind) = ((rank, step), (dtype, shape));
        let old = old.as_deref();
        observe_as(&mut self.evaluator, self.role, at, name, kind, bytes, old);
    }

    pub(crate) fn judge(&self) -> Findings {
        self.evaluator.findings()
    }
}

/// Pseudo-random number between −1 and 1, by seed, step and place.
pub(crate) fn at(seed: u64, step: i64, place: u64) -> f64 {
    let step = step.unsigned_abs();
    f64::from(noise(
        seed.wrapping_mul(0x1000_0001) + 131 * step + 7 * place,
    ))
}

/// Warnings and errors: condition and tensor.
pub(crate) fn alarms(findings: &Findings) -> Vec<String> {
    let alarms = findings.hits.iter();
    let alarms = alarms.filter(|h| h.severity >= Severity::Warning);
    alarms
        .map(|h| format!("{} {} {}", h.condition.id, h.step, h.tensor))
        .collect()
}

/// Condition, step and tensor of the first cause.
pub(crate) fn first(findings: &Findings) -> String {
    let hit = findings.first_hit();
    hit.map_or_else(String::new, |h| {
        format!("{} {} {}", h.condition.id, h.step, h.tensor)
    })
}
