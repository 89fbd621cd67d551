//! Rules about hyper-parameters: values that an optimizer cannot work with, and values that are probably mistakes.

use trainscope_format::Graph;
use trainscope_format::digits::brief;
use trainscope_format::hparams::{HparamValue, SessionStart};
use trainscope_format::lineage::TrainLineage;

use super::operation::attribute;
use super::recording::Missing;
use super::{Opinion, State};

/// Recorded hyper-parameters of a run; the last value counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    /// Recorded name, and value.
    values: Vec<(String, f64)>,
    optimizer: String,
}

/// Meaning of a hyper-parameter, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    LearningRate,
    BatchSize,
    /// Shares that must be below 1: momentum, betas, dropout.
    Share,
    WeightDecay,
}

fn meaning(name: &str) -> Option<Meaning> {
    let name = name.to_ascii_lowercase().replace(['-', ' '], "_");
    let leaf = name.rsplit(['/', '.']).next().unwrap_or_default();
    match leaf {
        "lr"
        | "learning_rate"
        | "init_lr"
        | "base_lr"
        | "initial_lr"
        | "max_lr"
        | "initial_learning_rate" => Some(Meaning::LearningRate),
        "batch_size" | "bsize" | "batchsize" | "train_batch_size" | "bs" => {
            Some(Meaning::BatchSize)
        }
        "momentum" | "beta1" | "beta2" | "beta_1" | "beta_2" | "dropout" | "dropout_rate"
        | "dropout_p" | "p_dropout" | "drop_rate" | "label_smoothing" => Some(Meaning::Share),
        "weight_decay" | "wd" => Some(Meaning::WeightDecay),
        _ => None,
    }
}

/// The number in the program if it was stored in single precision: 0.1, not 0.10000000149.
#[expect(
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    reason = "only what single precision holds exactly is written again"
)]
fn as_written(value: f64) -> f64 {
    let single = value as f32;
    if f64::from(single) == value {
        single.to_string().parse().unwrap_or(value)
    } else {
        value
    }
}

impl Settings {
    pub(super) fn of_session(&mut self, session: &SessionStart) {
        for (name, value) in &session.values {
            match value {
                HparamValue::Number(value) => self.set(name, *value),
                HparamValue::Text(text)
                    if matches!(&*name.to_ascii_lowercase(), "optimizer" | "optim") =>
                {
                    self.optimizer.clone_from(text);
                }
                HparamValue::Text(text) => {
                    if let Ok(value) = text.trim().parse() {
                        self.set(name, value);
                    }
                }
                HparamValue::Null | HparamValue::Bool(_) => {}
            }
        }
    }

    pub(super) fn of_lineage(&mut self, train: &TrainLineage) {
        if let Some(optimizer) = &train.optimizer {
            self.optimizer.clone_from(optimizer);
        }
        // Writers use 0 for an unknown rate, a schedule for example.
        if let Some(rate) = train.learning_rate.filter(|rate| *rate != 0.0) {
            self.set("learning_rate", rate);
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "a batch has fewer samples than 2^53"
        )]
        if let Some(size) = train.batch_size.filter(|size| *size != 0) {
            self.set("batch_size", size as f64);
        }
    }

    /// Hyper-parameters of a compiled Keras model, and invalid dropout rates.
    pub(super) fn of_graph(&mut self, graph: &Graph) {
        if !graph.producer.starts_with("keras") {
            return;
        }
        for node in &graph.nodes {
            if node.name == "optimizer" && node.inputs.iter().all(|edge| edge.is_control) {
                self.optimizer.clone_from(&node.op_type);
                for (name, value) in &node.attributes {
                    if let (Some(_), Ok(value)) = (meaning(name), value.parse()) {
                        self.set(name, value);
                    }
                }
            }
            let rate = attribute(node, "rate").filter(|_| node.op_type.ends_with("Dropout"));
            let rate = rate.and_then(|rate| rate.parse().ok());
            if let Some(rate) = rate.filter(|rate| !(0.0..1.0).contains(rate)) {
                self.set(&format!("{}/dropout_rate", node.name), rate);
            }
        }
    }

    fn set(&mut self, name: &str, value: f64) {
        let value = as_written(value);
        match self.values.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.values.push((name.to_owned(), value)),
        }
    }

    /// Judges the hyper-parameters; batch normalisation needs more than one sample.
    pub(super) fn judge(&self, normalises_batches: bool) -> Opinion {
        let known = self.values.iter();
        let known = known.filter_map(|(name, value)| Some((name, *value, meaning(name)?)));
        let known: Vec<(&String, f64, Meaning)> = known.collect();
        if known.is_empty() {
            return Opinion::unknown(
                "learning rate and batch size were not recorded",
                "未记录学习率和批次大小",
                Missing::Settings,
            );
        }
        let found = known.iter().filter_map(|&(name, value, meaning)| {
            self.complaint(name, value, meaning, normalises_batches)
        });
        let mut found: Vec<(State, String, String)> = found.collect();
        found.sort_by_key(|(state, ..)| std::cmp::Reverse(*state));
        let places = found.len();
        if let Some((state, en, zh)) = found.into_iter().next() {
            return Opinion::found(state, None, places, en, zh);
        }
        let names: Vec<&str> = known.iter().map(|(name, ..)| &***name).collect();
        Opinion::fine(
            format!("values in the usual range: {}", names.join(", ")),
            format!("取值在常见范围内：{}", names.join("、")),
        )
    }

    fn complaint(
        &self,
        name: &str,
        value: f64,
        meaning: Meaning,
        normalises_batches: bool,
    ) -> Option<(State, String, String)> {
        let fault = |en: &str, zh: &str| {
            Some((
                State::Fault,
                format!("{name} is {}: {en}", brief(value)),
                format!("{name} 为 {}：{zh}", brief(value)),
            ))
        };
        let note = |en: &str, zh: &str| fault(en, zh).map(|(_, en, zh)| (State::Note, en, zh));
        if !value.is_finite() {
            return fault("not a finite number", "不是有限数值");
        }
        let is_adaptive = ["adam", "lamb", "rmsprop", "adagrad"]
            .iter()
            .any(|word| self.optimizer.to_ascii_lowercase().contains(word));
        match meaning {
            Meaning::LearningRate if value == 0.0 => {
                fault("the model does not learn", "模型不会学习")
            }
            Meaning::LearningRate if value < 0.0 => fault("the loss increases", "损失会变大"),
            Meaning::LearningRate if value > 1_000.0 => {
                fault("every update destroys the weights", "每次更新都会毁掉权重")
            }
            Meaning::LearningRate if is_adaptive && value > 0.1 => note(
                "too high for most adaptive optimizers",
                "超出自适应优化器通常能承受的范围",
            ),
            Meaning::LearningRate if value > 10.0 => note("unusually high", "异常地高"),
            Meaning::BatchSize if value < 1.0 => fault("must be at least 1", "不能小于 1"),
            Meaning::BatchSize if value < 2.0 && normalises_batches => fault(
                "batch normalization over a single sample removes the signal",
                "只有一个样本的批归一化会抹去学习所需的信息",
            ),
            Meaning::Share if !(0.0..1.0).contains(&value) => {
                fault("must be at least 0 and below 1", "取值须不小于 0 且小于 1")
            }
            Meaning::WeightDecay if value < 0.0 => fault("weights grow", "权重会不断增大"),
            Meaning::WeightDecay if value > 0.5 => {
                note("weights are pulled to zero", "权重会被拉向零")
            }
            _ => None,
        }
    }
}
