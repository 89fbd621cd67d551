//! Recomputation of real checkpointed trainings, and no recomputation in others.

use std::collections::BTreeMap;

use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::operators::Operators;
use trainscope_analysis::trace::steps::StepRange;
use trainscope_api::profile::PhaseKind;
use trainscope_format::trace::SliceClass;

use crate::traces::support::model;

fn checkpoint(name: &str) -> Model {
    model(&format!("checkpoint/{name}.pt.trace.json.gz"))
}

/// Number of operators of a name by phase.
fn phases(model: &Model, name: &str) -> BTreeMap<PhaseKind, usize> {
    let mut counts = BTreeMap::new();
    let slices = model
        .slices()
        .filter(|slice| model.class(*slice) == SliceClass::Operator && model.name(*slice) == name);
    for slice in slices {
        *counts.entry(model.phases[slice as usize]).or_default() += 1;
    }
    counts
}

#[test]
fn what_a_checkpoint_computes_again_is_apart() {
    for name in ["reentrant", "hooks"] {
        let model = checkpoint(name);
        // Two steps of three layers: GELU once forward, once again, and its gradient once.
        let gelu = phases(&model, "aten::gelu");
        assert_eq!(
            gelu.get(&PhaseKind::Recomputation),
            Some(&6),
            "{name}: {gelu:?}"
        );
        assert_eq!(gelu.values().sum::<usize>(), 12, "{name}");
        let products = phases(&model, "aten::addmm");
        assert_eq!(products.get(&PhaseKind::Recomputation), Some(&12), "{name}");
        let gradients = phases(&model, "aten::gelu_backward");
        assert_eq!(
            gradients,
            BTreeMap::from([(PhaseKind::Backward, 6)]),
            "{name}"
        );
        let backward = phases(&model, "aten::mm");
        assert_eq!(backward.get(&PhaseKind::Recomputation), None, "{name}");
    }
}

#[test]
fn a_backward_pass_that_is_recorded_recomputes_nothing() {
    for path in [
        "checkpoint/double.pt.trace.json.gz",
        "torch-mlp/everything.pt.trace.json.gz",
        "torch-transformer/plain.pt.trace.json.gz",
        "generated/steps4-layers2.pt.trace.json.gz",
    ] {
        let model = model(path);
        let has = model.phases.contains(&PhaseKind::Recomputation);
        assert!(!has, "{path}");
    }
}

#[test]
fn flops_are_those_of_the_model() {
    let flops = |name| {
        let model = checkpoint(name);
        let all = Operators::new(&model).flops(StepRange::default());
        all.get("aten::addmm").copied()
    };
    // Two steps, three layers, two products of 8 × 32 × 64.
    let forward = 2 * 3 * 2 * (2 * 8 * 32 * 64);
    assert_eq!(flops("hooks"), Some(forward));
    assert_eq!(flops("reentrant"), Some(forward));
}
