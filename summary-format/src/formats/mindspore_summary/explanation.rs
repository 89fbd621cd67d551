//! Explanations: the `Explain` message.

use super::super::event_file::{Fault, detailed};
use crate::body::Body;
use crate::explanation::{Benchmark, Explanation, Heatmap, Inference, Occlusion, OcclusionLayer};
use crate::wire::{Fields, Value, WireError, floats, int32, text, varints};

/// Sample 1, image 2, true labels 3, inference 4, saliency maps 5, benchmarks 6, metadata 7 (labels 1, explainers 2,
/// benchmarks 3), status 8, occlusions 9.
pub(super) fn read(message: &[u8]) -> Result<Body, Fault> {
    let mut explanation = Explanation::default();
    for field in Fields::of(detailed(message)?) {
        match field? {
            (1, Value::Varint(bits)) => explanation.sample_id = Some(int32(bits).into()),
            (2, Value::Bytes(path)) => explanation.image_path = Some(text(path)),
            (3, value) => varints(value, |bits| {
                explanation.ground_truth_labels.push(int32(bits).into());
            })?,
            (4, Value::Bytes(message)) => explanation.inference = Some(inference(message)?),
            (5, Value::Bytes(message)) => explanation.heatmaps.push(heatmap(message)?),
            (6, Value::Bytes(message)) => explanation.benchmarks.push(benchmark(message)?),
            (7, Value::Bytes(metadata)) => {
                for field in Fields::of(metadata) {
                    match field? {
                        (1, Value::Bytes(name)) => explanation.labels.push(text(name)),
                        (2, Value::Bytes(name)) => explanation.explain_methods.push(text(name)),
                        (3, Value::Bytes(name)) => explanation.benchmark_methods.push(text(name)),
                        _ => {}
                    }
                }
            }
            (8, Value::Bytes(status)) => explanation.status = Some(text(status)),
            (9, Value::Bytes(message)) => explanation.occlusions.push(occlusion(message)?),
            _ => {}
        }
    }
    Ok(Body::Explanation(Box::new(explanation)))
}

/// An `Inference`: true probabilities 1, predicted labels 2, their probabilities 3, then deviation, lower and upper end
/// of the true ones 4 to 6 and of the predicted ones 7 to 9.
fn inference(message: &[u8]) -> Result<Inference, WireError> {
    let mut inference = Inference::default();
    for field in Fields::of(message) {
        let (number, value) = field?;
        let list = match number {
            1 => &mut inference.ground_truth_probs,
            2 => {
                varints(value, |bits| {
                    inference.predicted_labels.push(int32(bits).into());
                })?;
                continue;
            }
            3 => &mut inference.predicted_probs,
            4 => &mut inference.ground_truth_prob_deviations,
            5 => &mut inference.ground_truth_prob_lows,
            6 => &mut inference.ground_truth_prob_highs,
            7 => &mut inference.predicted_prob_deviations,
            8 => &mut inference.predicted_prob_lows,
            9 => &mut inference.predicted_prob_highs,
            _ => continue,
        };
        floats(value, |number| list.push(number.into()))?;
    }
    Ok(inference)
}

/// An `Explanation`: explainer 1, label 2, image 3.
fn heatmap(message: &[u8]) -> Result<Heatmap, WireError> {
    let mut heatmap = Heatmap::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(name)) => heatmap.explain_method = text(name),
            (2, Value::Varint(bits)) => heatmap.label = int32(bits).into(),
            (3, Value::Bytes(path)) => heatmap.path = text(path),
            _ => {}
        }
    }
    Ok(heatmap)
}

/// A `Benchmark`: benchmark 1, explainer 2, total 3, scores of the labels 4.
fn benchmark(message: &[u8]) -> Result<Benchmark, WireError> {
    let mut benchmark = Benchmark::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(name)) => benchmark.benchmark_method = text(name),
            (2, Value::Bytes(name)) => benchmark.explain_method = text(name),
            (3, Value::Fixed32(bits)) => benchmark.total_score = f32::from_bits(bits).into(),
            (4, value) => floats(value, |score| benchmark.label_scores.push(score.into()))?,
            _ => {}
        }
    }
    Ok(benchmark)
}

/// A `Hoc`: label 1, mask 2, layers 3 (probability 1, boxes 2 in groups of four).
fn occlusion(message: &[u8]) -> Result<Occlusion, WireError> {
    let mut occlusion = Occlusion::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Varint(bits)) => occlusion.label = int32(bits).into(),
            (2, Value::Bytes(mask)) => occlusion.mask = text(mask),
            (3, Value::Bytes(message)) => {
                let mut layer = OcclusionLayer::default();
                let mut sides: Vec<i64> = Vec::new();
                for field in Fields::of(message) {
                    match field? {
                        (1, Value::Fixed32(bits)) => layer.prob = f32::from_bits(bits).into(),
                        (2, value) => varints(value, |bits| sides.push(int32(bits).into()))?,
                        _ => {}
                    }
                }
                layer.boxes = sides.as_chunks().0.to_vec();
                occlusion.layers.push(layer);
            }
            _ => {}
        }
    }
    Ok(occlusion)
}
