//! Explanations of single predictions, as written by `MindSpore`'s explainers.
//!
//! Images are separate files, named relative to the folder of the run. Numbers are `f32`, widened.

use serde::{Deserialize, Serialize};

use crate::float;

/// A sample with its explanations, or the metadata of a file; missing fields are empty or `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// The number of the sample.
    pub sample_id: Option<i64>,
    /// Path of the explained image.
    pub image_path: Option<String>,
    /// True classes, as indices of `labels`.
    pub ground_truth_labels: Vec<i64>,
    /// Prediction of the model.
    pub inference: Option<Inference>,
    /// Saliency maps.
    pub heatmaps: Vec<Heatmap>,
    /// Scores of the explainers.
    pub benchmarks: Vec<Benchmark>,
    /// The names of the classes, once per file.
    pub labels: Vec<String>,
    /// The names of the explainers, once per file.
    pub explain_methods: Vec<String>,
    /// The names of the benchmarks, once per file.
    pub benchmark_methods: Vec<String>,
    /// `run` or `end`.
    pub status: Option<String>,
    /// Hierarchical occlusions: parts that change the prediction when covered.
    pub occlusions: Vec<Occlusion>,
}

/// Prediction for a sample. Deviations and 95 % intervals are present if the model was evaluated many times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Inference {
    /// Probability of each true class.
    #[serde(with = "float::list")]
    pub ground_truth_probs: Vec<f64>,
    /// Standard deviations of these probabilities.
    #[serde(with = "float::list")]
    pub ground_truth_prob_deviations: Vec<f64>,
    /// Lower ends of their intervals.
    #[serde(with = "float::list")]
    pub ground_truth_prob_lows: Vec<f64>,
    /// Upper ends of their intervals.
    #[serde(with = "float::list")]
    pub ground_truth_prob_highs: Vec<f64>,
    /// The predicted classes, as indices.
    pub predicted_labels: Vec<i64>,
    /// Their probabilities.
    #[serde(with = "float::list")]
    pub predicted_probs: Vec<f64>,
    /// Standard deviations of these probabilities.
    #[serde(with = "float::list")]
    pub predicted_prob_deviations: Vec<f64>,
    /// Lower ends of their intervals.
    #[serde(with = "float::list")]
    pub predicted_prob_lows: Vec<f64>,
    /// Upper ends of their intervals.
    #[serde(with = "float::list")]
    pub predicted_prob_highs: Vec<f64>,
}

/// Saliency map of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Heatmap {
    /// The explainer.
    pub explain_method: String,
    /// The class, as an index.
    pub label: i64,
    /// Path of the image.
    pub path: String,
}

/// The score of one explainer by one benchmark.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Benchmark {
    /// The benchmark.
    pub benchmark_method: String,
    /// The explainer.
    pub explain_method: String,
    /// Score over all classes.
    #[serde(with = "float")]
    pub total_score: f64,
    /// Score of each class.
    #[serde(with = "float::list")]
    pub label_scores: Vec<f64>,
}

/// Hierarchical occlusion for one class, coarse to fine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Occlusion {
    /// The class, as an index.
    pub label: i64,
    /// Name of the mask used as cover.
    pub mask: String,
    /// From coarse to fine.
    pub layers: Vec<OcclusionLayer>,
}

/// One level of occlusion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OcclusionLayer {
    /// Remaining probability.
    #[serde(with = "float")]
    pub prob: f64,
    /// Uncovered boxes: x, y, width, height in pixels.
    pub boxes: Vec<[i64; 4]>,
}
