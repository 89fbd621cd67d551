//! Guided diagnosis beyond watchpoints: what is odd about a model and about what feeds it, before any tensor is judged.
//!
//! An [`Examiner`] is shown what a run says of itself (graphs, hyper-parameters, the data pipeline) and answers with one
//! [`Remark`] a rule: what was found, that nothing was, or what would have to be recorded to tell. A rule that is not
//! sure says nothing.

use trainscope_format::{Graph, Hparams, Lineage};

use recording::Missing;

use crate::watchpoint::Context;
pub use crate::watchpoint::finding::Sentence;
pub use recording::Framework;

pub(crate) mod loss;
mod model;
mod operation;
mod pipeline;
mod recording;
mod settings;

/// What a remark is about, in the order in which an expert looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Learning rate, batch size, momentum.
    Hyperparameters,
    /// The graph.
    Model,
    /// What is fed.
    Input,
}

impl Topic {
    /// The name of what a remark is about where it is about no node.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hyperparameters => "hyperparameters",
            Self::Model => "graph",
            Self::Input => "data pipeline",
        }
    }
}

/// What is looked at. Its name is part of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Values that an optimizer can work with.
    Settings,
    /// What stands between the last layer and the loss.
    LossActivation,
    /// A difference of two tensors that is larger than both.
    Broadcast,
    /// Parameters that nothing computes with.
    UnusedParameters,
    /// A bias that a normalisation takes out again.
    UselessBias,
    /// Layers without an activation between them.
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

    /// The rule of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// Its name, which is also the id of the condition that makes its faults hits.
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

    /// What it is about.
    pub const fn topic(self) -> Topic {
        match self {
            Self::Settings => Topic::Hyperparameters,
            Self::Shuffling | Self::Scaling => Topic::Input,
            _ => Topic::Model,
        }
    }

    /// Consequences of a fault of this rule. Every fault is there before the first step, and not every one is the cause of
    /// what happens later.
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
    /// Any later finding but those about the data.
    Everything,
    /// A model that does not learn, and no NaN or infinity.
    NoProgress,
    /// Nothing beyond itself.
    Nothing,
}

/// What a rule says; the worse, the later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It could not be judged: the sentence says what to record.
    Unknown,
    /// It was looked at and nothing is odd.
    Fine,
    /// Worth knowing; it harms nothing.
    Note,
    /// It most likely harms the training.
    Fault,
    /// It cannot work, whatever the data are.
    Error,
}

/// What a rule has found.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// Which rule.
    pub rule: Rule,
    /// What it says.
    pub state: State,
    /// What was found, with the evidence for it, or what would have to be recorded.
    pub sentence: Sentence,
    /// The node that it is about first, by its name in the graph.
    pub node: Option<String>,
    /// In how many places; 0 where nothing was found.
    pub places: u64,
    /// A line of code that records what is missing; empty if nothing is, or the framework has none.
    pub record: &'static str,
}

/// What one rule says of one graph.
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

    /// About the first of so many places.
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

/// Looks at what a run says of itself, in any order.
#[derive(Clone, Debug, Default)]
pub struct Examiner {
    /// What each rule about graphs says of the graphs so far: the worst of them.
    of_graphs: Vec<(Rule, Opinion)>,
    normalises_batches: bool,
    settings: settings::Settings,
    pipeline: pipeline::Pipeline,
}

impl Examiner {
    /// Shows it something that was recorded.
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
            // What comes later is what the model is evaluated on, which is not shuffled.
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

    /// One remark a rule, by topic, in the order of the rules, for somebody who trains with that framework.
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
