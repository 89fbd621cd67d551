//! Loss landscape of a finished training: a plane through the weights of every tenth step.

use trainscope_collector::{Collector, LandscapeGrid, Plane, Snapshot};

use crate::data::Batch;
use crate::model::Mlp;

/// Steps between two saved states.
pub(crate) const EVERY: i64 = 10;
/// Points along each axis.
const SIZE: usize = 25;

/// The weights at a step.
pub(crate) fn snapshot(step: i64, mlp: &Mlp) -> Snapshot {
    let layers = mlp.layers.iter();
    layers.fold(Snapshot::new(step), |saved, layer| {
        saved
            .parameter(&[layer.outputs, layer.inputs], layer.weight.clone())
            .parameter(&[layer.outputs], layer.bias.clone())
    })
}

/// Records the mean loss over the training data. Weights that span no plane become a note.
pub(crate) fn record(collector: &Collector, saved: &[Snapshot], mlp: &Mlp, seen: &Batch) {
    let grid = LandscapeGrid {
        size: SIZE,
        samples: seen.labels.len() as u64,
    };
    let mut mlp = mlp.clone();
    let loss = |weights: &[Vec<f32>]| {
        for (layer, parameters) in mlp.layers.iter_mut().zip(weights.chunks(2)) {
            if let [weight, bias] = parameters {
                layer.weight.clone_from(weight);
                layer.bias.clone_from(bias);
            }
        }
        mlp.forward(&seen.inputs);
        mlp.loss(&seen.labels).0
    };
    let plane = Plane::pca(saved);
    if let Err(error) = plane.and_then(|plane| plane.record(collector, "landscape", grid, loss)) {
        collector.note(format!("No loss landscape: {error}."));
    }
}
