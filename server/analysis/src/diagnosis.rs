//! Guided diagnosis beyond watchpoints: problems of a model and its input that show before any tensor is judged.
//!
//! An [`Examiner`] reads the context of a run (graphs, hyper-parameters, the data pipeline) and returns one [`Remark`]
//! per rule: a finding, its absence, or the data to record. A rule in doubt reports nothing.

use trainscope_format::{Graph, Hparams, Lineage};

use recording::Missing;

use crate::context::Context;
pub use crate::text::Sentence;
use crate::text::Text;
pub use recording::Framework;

pub(crate) mod loss;
mod model;
mod operation;
mod pipeline;
mod recording;
mod settings;
mod view;

/// Row of the guided diagnosis, in the order in which an expert checks them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Recorded data, and checks that need more.
    Recorded,
    /// Learning rate, batch size, size of updates, clipping.
    Hyperparameters,
    /// The graph, weights, gradients, activations.
    Model,
    /// Input data.
    Input,
    /// Loss and gradient norm.
    Loss,
    /// Metric and generalisation.
    Metric,
    /// Time of the steps, and memory of the devices.
    Speed,
}

impl Topic {
    /// All topics in order.
    pub const ALL: [Self; 7] = [
        Self::Recorded,
        Self::Hyperparameters,
        Self::Model,
        Self::Input,
        Self::Loss,
        Self::Metric,
        Self::Speed,
    ];
}

/// A rule of the guided diagnosis. Its name is part of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Hyper-parameters that an optimizer cannot work with.
    Settings,
    /// Activation between the last layer and the loss.
    LossActivation,
    /// Difference of two tensors that broadcasts to a larger one.
    Broadcast,
    /// Parameters without users.
    UnusedParameters,
    /// Bias that a following normalisation cancels.
    UselessBias,
    /// Linear layers without an activation between them.
    LinearLayers,
    /// The order of samples.
    Shuffling,
    /// The range of samples.
    Scaling,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 8] = [
        Self::Settings,
        Self::LossActivation,
        Self::Broadcast,
        Self::UnusedParameters,
        Self::UselessBias,
        Self::LinearLayers,
        Self::Shuffling,
        Self::Scaling,
    ];

    /// Name, which is also the id of the condition that turns its faults into hits.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::LossActivation => "loss_activation",
            Self::Broadcast => "broadcast",
            Self::UnusedParameters => "unused_parameters",
            Self::UselessBias => "useless_bias",
            Self::LinearLayers => "linear_layers",
            Self::Shuffling => "shuffling",
            Self::Scaling => "scaling",
        }
    }

    /// Subject of the rule, as a title.
    pub const fn title(self) -> Text {
        let (en, zh) = match self {
            Self::Settings => ("Hyper-parameter values", "超参数取值"),
            Self::LossActivation => ("Activation before the loss", "损失前的激活函数"),
            Self::Broadcast => ("Accidental broadcast", "意外广播"),
            Self::UnusedParameters => ("Unused parameters", "未使用的参数"),
            Self::UselessBias => ("Bias before normalization", "归一化前的偏置"),
            Self::LinearLayers => ("Activation between layers", "层间的激活函数"),
            Self::Shuffling => ("Sample order", "样本顺序"),
            Self::Scaling => ("Value range", "样本取值范围"),
        };
        Text { en, zh }
    }

    /// Topic of the rule.
    pub const fn topic(self) -> Topic {
        match self {
            Self::Settings => Topic::Hyperparameters,
            Self::Shuffling | Self::Scaling => Topic::Input,
            _ => Topic::Model,
        }
    }

    /// Object of the rule, for remarks without a node.
    pub const fn object(self) -> &'static str {
        match self.topic() {
            Topic::Hyperparameters => "hyperparameters",
            Topic::Input => "data pipeline",
            _ => "graph",
        }
    }

    /// Consequences of a fault of this rule. Every fault exists before the first step, but not every one can cause
    /// later findings.
    pub(crate) const fn causes(self) -> Causes {
        match self {
            Self::Settings => Causes::Everything,
            Self::LossActivation | Self::Broadcast | Self::Scaling => Causes::NoProgress,
            Self::UnusedParameters | Self::UselessBias | Self::LinearLayers | Self::Shuffling => {
                Causes::Nothing
            }
        }
    }
}

/// Consequences of a fault of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Causes {
    /// Any later finding except those about the data.
    Everything,
    /// A model that does not learn, and no NaN or infinity.
    NoProgress,
    /// Nothing else.
    Nothing,
}

/// Result of a rule, in ascending order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Not judged: the sentence names the data to record.
    Unknown,
    /// No problem.
    Fine,
    /// Worth knowing, but harmless.
    Note,
    /// It most likely harms the training.
    Fault,
    /// It cannot work with any data.
    Error,
}

/// Result of one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// The rule.
    pub rule: Rule,
    /// Result.
    pub state: State,
    /// The finding with its evidence, or the data to record.
    pub sentence: Sentence,
    /// Name of the first graph node concerned.
    pub node: Option<String>,
    /// Number of places; 0 if there is no finding.
    pub places: u64,
    /// A line of code that records the missing data; empty if none is missing, or the framework has none.
    pub record: &'static str,
}

/// Result of one rule for one graph.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Opinion {
    state: State,
    sentence: Sentence,
    node: Option<String>,
    places: u64,
    missing: Missing,
}

impl Opinion {
    pub(crate) fn fine(en: String, zh: String) -> Self {
        Self {
            state: State::Fine,
            sentence: Sentence { en, zh },
            node: None,
            places: 0,
            missing: Missing::Nothing,
        }
    }

    fn unknown(en: &str, zh: &str, missing: Missing) -> Self {
        Self {
            state: State::Unknown,
            missing,
            ..Self::fine(en.to_owned(), zh.to_owned())
        }
    }

    /// Creates a finding about the first of several places.
    pub(crate) fn found(
        state: State,
        node: Option<&str>,
        places: usize,
        en: String,
        zh: String,
    ) -> Self {
        Self {
            state,
            node: node.map(str::to_owned),
            places: places as u64,
            ..Self::fine(en, zh)
        }
    }
}

/// Collects the context of a run, in any order, and applies the rules.
#[derive(Clone, Debug, Default)]
pub struct Examiner {
    /// Worst result of each rule about graphs so far.
    of_graphs: Vec<(Rule, Opinion)>,
    normalises_batches: bool,
    settings: settings::Settings,
    pipeline: pipeline::Pipeline,
}

impl Examiner {
    /// Adds a part of the context.
    pub fn learn(&mut self, context: &Context<'_>) {
        match context {
            Context::Graph(graph) => self.graph(graph),
            Context::Lineage(lineage) => self.lineage(lineage),
            Context::Hparams(hparams) => self.hparams(hparams),
            _ => {}
        }
    }

    fn graph(&mut self, graph: &Graph) {
        let seen = model::examine(graph);
        self.normalises_batches |= seen.normalises_batches;
        self.settings.of_graph(graph);
        for (rule, opinion) in seen.opinions {
            match self.of_graphs.iter_mut().find(|(known, _)| *known == rule) {
                // The same graph is often recorded by every rank, and in parts.
                Some((_, known)) if known.state >= opinion.state => {}
                Some((_, known)) => *known = opinion,
                None => self.of_graphs.push((rule, opinion)),
            }
        }
    }

    fn lineage(&mut self, lineage: &Lineage) {
        match lineage {
            Lineage::Train(train) => self.settings.of_lineage(train),
            // Later pipelines are those of evaluation, which is not shuffled.
            Lineage::Dataset(root) if self.pipeline.is_empty() => {
                self.pipeline = pipeline::Pipeline::of(root);
            }
            Lineage::Dataset(_) | Lineage::Evaluation(_) | Lineage::UserDefined(_) => {}
        }
    }

    fn hparams(&mut self, hparams: &Hparams) {
        if let Hparams::SessionStart(session) = hparams {
            self.settings.of_session(session);
        }
    }

    /// One remark per rule, by topic, with lines of code for the framework.
    pub fn remarks(&self, framework: Framework) -> Vec<Remark> {
        let mut all = vec![(Rule::Settings, self.settings.judge(self.normalises_batches))];
        if self.of_graphs.is_empty() {
            let opinion = model::without_graph();
            all.push((Rule::LossActivation, opinion));
        }
        all.extend(self.of_graphs.iter().cloned());
        all.extend(self.pipeline.judge());
        all.sort_by_key(|(rule, _)| (rule.topic(), *rule));
        let told = all.into_iter().map(|(rule, opinion)| Remark {
            rule,
            state: opinion.state,
            sentence: opinion.sentence,
            node: opinion.node,
            places: opinion.places,
            record: opinion.missing.line(framework),
        });
        told.collect()
    }
}
