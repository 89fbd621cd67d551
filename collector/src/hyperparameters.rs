//! Hyper-parameters of a training, and the tags of its metrics.

use trainscope_format::Hparams;
use trainscope_format::hparams::{
    Experiment, HparamInfo, HparamType, HparamValue, MetricInfo, SessionStart,
};

/// Names and values in their order.
///
/// ```
/// use trainscope_collector::Hyperparameters;
///
/// Hyperparameters::default()
///     .number("learning_rate", 1e-3)
///     .text("optimizer", "adam")
///     .flag("nesterov", true)
///     .metric("val/accuracy");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Hyperparameters {
    values: Vec<(String, HparamValue)>,
    metrics: Vec<String>,
    group: String,
}

impl Hyperparameters {
    /// Adds a number.
    #[must_use]
    pub fn number(self, name: &str, value: f64) -> Self {
        self.value(name, HparamValue::Number(value))
    }

    /// Adds text.
    #[must_use]
    pub fn text(self, name: &str, value: &str) -> Self {
        self.value(name, HparamValue::Text(value.to_owned()))
    }

    /// Adds a boolean.
    #[must_use]
    pub fn flag(self, name: &str, value: bool) -> Self {
        self.value(name, HparamValue::Bool(value))
    }

    fn value(mut self, name: &str, value: HparamValue) -> Self {
        self.values.push((name.to_owned(), value));
        self
    }

    /// Adds the tag of a scalar that measures the success of the training.
    #[must_use]
    pub fn metric(mut self, tag: &str) -> Self {
        self.metrics.push(tag.to_owned());
        self
    }

    /// Sets the group: trainings of one group are repetitions of each other.
    #[must_use]
    pub fn group(mut self, group: &str) -> Self {
        group.clone_into(&mut self.group);
        self
    }

    /// The two records of TensorBoard's plugin: the experiment, and the start of this session.
    pub(crate) fn records(&self, now_secs: f64) -> (Hparams, Hparams) {
        let hparams = self.values.iter().map(|(name, value)| HparamInfo {
            name: name.clone(),
            value_type: match value {
                HparamValue::Null => HparamType::Unset,
                HparamValue::Number(_) => HparamType::Number,
                HparamValue::Text(_) => HparamType::Text,
                HparamValue::Bool(_) => HparamType::Bool,
            },
            ..HparamInfo::default()
        });
        let metrics = self.metrics.iter().map(|tag| MetricInfo {
            tag: tag.clone(),
            ..MetricInfo::default()
        });
        let experiment = Experiment {
            created_secs: now_secs,
            hparams: hparams.collect(),
            metrics: metrics.collect(),
            ..Experiment::default()
        };
        let session = SessionStart {
            values: self.values.clone(),
            group: self.group.clone(),
            start_secs: now_secs,
            ..SessionStart::default()
        };
        (
            Hparams::Experiment(experiment),
            Hparams::SessionStart(session),
        )
    }
}
