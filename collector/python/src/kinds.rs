//! Kinds of records by their names: roles of tensors, kinds of spans and of lanes.

use pyo3::prelude::*;
use trainscope_collector::{LaneKind, Role, SpanKind};

use crate::refusal::Outcome;
use crate::value;

const SPAN_KINDS: [(&str, SpanKind); 7] = [
    ("compute", SpanKind::Compute),
    ("communication", SpanKind::Communication),
    ("copy", SpanKind::Copy),
    ("data", SpanKind::Data),
    ("host", SpanKind::Host),
    ("idle", SpanKind::Idle),
    ("other", SpanKind::Other),
];

const LANE_KINDS: [(&str, LaneKind); 4] = [
    ("thread", LaneKind::Thread),
    ("device", LaneKind::Device),
    ("stream", LaneKind::Stream),
    ("process", LaneKind::Process),
];

/// Role of a tensor by its name.
pub(crate) fn role_of(name: &str) -> Outcome<Role> {
    let role = match name {
        "other" => Role::Other,
        "weight" => Role::Weight,
        "gradient" => Role::Gradient,
        "activation" => Role::Activation,
        "input" => Role::Input,
        "output" => Role::Output,
        "loss" => Role::Loss,
        "optimizer_state" => Role::OptimizerState,
        "frozen_weight" => Role::FrozenWeight,
        other => {
            return Err(format!(
                "there is no role {other:?}: weight, gradient, activation, input, output, loss, optimizer_state, \
                 frozen_weight or other"
            ).into());
        }
    };
    Ok(role)
}

/// Kind of a span by its name.
pub(crate) fn span_kind(name: &Bound<'_, PyAny>) -> Outcome<SpanKind> {
    kind_of(&SPAN_KINDS, name)
}

/// Name of the kind of a span.
pub(crate) fn span_kind_name(kind: SpanKind) -> Option<&'static str> {
    let known = SPAN_KINDS.iter().find(|(_, other)| *other == kind);
    known.map(|(name, _)| *name)
}

/// Kind of a lane by its name.
pub(crate) fn lane_kind(name: &Bound<'_, PyAny>) -> Outcome<LaneKind> {
    kind_of(&LANE_KINDS, name)
}

fn kind_of<T: Copy>(kinds: &[(&str, T)], name: &Bound<'_, PyAny>) -> Outcome<T> {
    let text = value::name(name).map_err(|reason| reason.of("kind"))?;
    if let Some((_, kind)) = kinds.iter().find(|(name, _)| *name == text) {
        return Ok(*kind);
    }
    let names: Vec<_> = kinds.iter().map(|(name, _)| *name).collect();
    let text: String = text.chars().take(60).collect();
    Err(format!("there is no kind {text:?}: {}", names.join(", ")).into())
}
