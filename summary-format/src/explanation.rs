//! Explanations of single predictions, as `MindSpore`'s explainers write them: what a model looked at.
//!
//! Pictures lie in files of their own, named relative to the folder of the run. Numbers are `f32`, widened.

use serde::{Deserialize, Serialize};

use crate::float;

/// A sample with its explanations, or what a file of them has in common; what was not written is empty or `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// The number of the sample.
    pub sample_id: Option<i64>,
    /// The picture that was explained.
    pub image_path: Option<String>,
    /// What it shows, as indices of `labels`.
    pub ground_truth_labels: Vec<i64>,
    /// What the model said.
    pub inference: Option<Inference>,
    /// Where the model looked.
    pub heatmaps: Vec<Heatmap>,
    /// How good the explainers are.
    pub benchmarks: Vec<Benchmark>,
    /// The names of the classes, once a file.
    pub labels: Vec<String>,
    /// The names of the explainers, once a file.
    pub explain_methods: Vec<String>,
    /// The names of the benchmarks, once a file.
    pub benchmark_methods: Vec<String>,
    /// `run` or `end`.
    pub status: Option<String>,
    /// What must be covered for the prediction to change.
    pub occlusions: Vec<Occlusion>,
}

/// What a model said of a sample. Deviations and 95 % intervals are there where it was asked many times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Inference {
    /// Probability of each true class.
    #[serde(with = "float::list")]
    pub ground_truth_probs: Vec<f64>,
    /// Standard deviation of each of them.
    #[serde(with = "float::list")]
    pub ground_truth_prob_deviations: Vec<f64>,
    /// Lower ends of their intervals.
    #[serde(with = "float::list")]
    pub ground_truth_prob_lows: Vec<f64>,
    /// Upper ends of their intervals.
    #[serde(with = "float::list")]
    pub ground_truth_prob_highs: Vec<f64>,
    /// The classes it predicts, as indices.
    pub predicted_labels: Vec<i64>,
    /// Probability of each of them.
    #[serde(with = "float::list")]
    pub predicted_probs: Vec<f64>,
    /// Standard deviation of each of them.
    #[serde(with = "float::list")]
    pub predicted_prob_deviations: Vec<f64>,
    /// Lower ends of their intervals.
    #[serde(with = "float::list")]
    pub predicted_prob_lows: Vec<f64>,
    /// Upper ends of their intervals.
    #[serde(with = "float::list")]
    pub predicted_prob_highs: Vec<f64>,
}

/// Where a model looked for one class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Heatmap {
    /// The explainer.
    pub explain_method: String,
    /// The class, as an index.
    pub label: i64,
    /// The picture.
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
    /// Over all classes.
    #[serde(with = "float")]
    pub total_score: f64,
    /// Of each class.
    #[serde(with = "float::list")]
    pub label_scores: Vec<f64>,
}

/// What must be covered for a prediction of one class to change, coarse to fine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Occlusion {
    /// The class, as an index.
    pub label: i64,
    /// What it was covered with, in words.
    pub mask: String,
    /// From coarse to fine.
    pub layers: Vec<OcclusionLayer>,
}

/// One level of covering.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OcclusionLayer {
    /// The probability that is left.
    #[serde(with = "float")]
    pub prob: f64,
    /// What stays visible: x, y, width, height in pixels.
    pub boxes: Vec<[i64; 4]>,
}
