//! Tensors with all values that a collector computes from them, for an evaluator.

use trainscope_analysis::watchpoint::{Evaluator, Observation, channel_axis};
use trainscope_format::tensor::{ChannelStats, DType, Select, Tolerance};
use trainscope_format::{Role, TensorSummary};

/// The elements of a tensor of single precision.
pub(crate) fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// Adds a tensor at a step, and its change if there is an earlier state.
pub(crate) fn observe(
    evaluator: &mut Evaluator,
    at: (u32, i64),
    name: &str,
    kind: (DType, &[u64]),
    bytes: &[u8],
    before: Option<&[u8]>,
) {
    observe_as(evaluator, Role::Other, at, name, kind, bytes, before);
}

/// The same for a tensor whose role was recorded.
pub(crate) fn observe_as(
    evaluator: &mut Evaluator,
    role: Role,
    (rank, step): (u32, i64),
    name: &str,
    (dtype, shape): (DType, &[u64]),
    bytes: &[u8],
    before: Option<&[u8]>,
) {
    let ranges = evaluator.needs(name, Role::Other, "").ranges;
    let mut select = Select::new().exponents().hash().ranges(&ranges);
    if let Some(before) = before {
        select = select.change(before, Tolerance::default());
    }
    let computed = select.read(dtype, bytes);
    let axis = channel_axis(shape);
    let summary = TensorSummary {
        role,
        dtype,
        shape: shape.to_vec(),
        stats: computed.stats,
        hash: computed.hash,
        change: computed.change,
        channels: axis.and_then(|axis| ChannelStats::of(dtype, shape, bytes, axis)),
    };
    evaluator.observe(&Observation {
        rank,
        step,
        name,
        op: "",
        summary: &summary,
        tolerance: Tolerance::default(),
    });
}
