//! Guided diagnosis beyond watchpoints: problems of a model and its input that show before any tensor is judged.
//!
//! An [`Examiner`] reads the context of a run (graphs, hyper-parameters, the data pipeline, facts of the program) and
//! returns [`Remark`]s: one for each rule or each of its subjects: a finding, its absence, or the data to record.
//! A rule in doubt reports nothing.

use std::sync::Arc;

use trainscope_api::Sentence;
use trainscope_format::program::SourceLine;
use trainscope_format::{Graph, Hparams, Lineage};

use recording::Missing;

use crate::context::Context;
pub use recording::Framework;
pub(crate) use rule::Causes;
pub use rule::Rule;

pub(crate) mod loss;
mod model;
mod operation;
mod pipeline;
mod program;
mod recording;
mod rule;
mod settings;
mod view;

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
    /// The function, module or optimizer that a fact of the program is about, or else the object of the rule.
    pub object: String,
    /// Line of the program, if a fact names it.
    pub source: Option<Arc<SourceLine>>,
    /// Rank, and first and last step, of the fact; `None` without a fact.
    pub at: Option<(u32, i64, i64)>,
    /// Number of places; 0 if there is no finding.
    pub places: u64,
    /// A line of code that records the missing data; empty if no data are missing, or the framework has no such line.
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
    object: Option<String>,
    source: Option<Arc<SourceLine>>,
    at: Option<(u32, i64, i64)>,
}

impl Opinion {
    pub(crate) fn fine(en: String, zh: String) -> Self {
        Self {
            state: State::Fine,
            sentence: Sentence { en, zh },
            node: None,
            places: 0,
            missing: Missing::Nothing,
            object: None,
            source: None,
            at: None,
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
    facts: program::Facts,
}

impl Examiner {
    /// Adds a part of the context of a rank.
    pub fn learn(&mut self, rank: u32, context: &Context<'_>) {
        match context {
            Context::Graph(graph) => self.graph(graph),
            Context::Lineage(lineage) => self.lineage(lineage),
            Context::Hparams(hparams) => self.hparams(hparams),
            Context::Program { step, fact } => self.facts.learn(rank, *step, fact),
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

    /// Remarks of all rules, by topic, with lines of code for the framework.
    pub fn remarks(&self, framework: Framework) -> Vec<Remark> {
        let by_facts = self.facts.judge();
        let mut all = vec![(Rule::Settings, self.settings.judge(self.normalises_batches))];
        if self.of_graphs.is_empty() {
            let opinion = model::without_graph();
            all.push((Rule::LossActivation, opinion));
        }
        all.extend(self.of_graphs.iter().cloned());
        all.extend(self.pipeline.judge());
        // A fact shows the behaviour of the program; a graph or a setting shows only the intention.
        all.retain(|(rule, opinion)| {
            let mut facts = by_facts.iter();
            let is_judged =
                facts.any(|(judged, fact)| judged == rule && fact.state > State::Unknown);
            !is_judged || *rule == Rule::Settings && opinion.state > State::Fine
        });
        let known: Vec<Rule> = all.iter().map(|(rule, _)| *rule).collect();
        let new = by_facts.into_iter();
        all.extend(new.filter(|(rule, fact)| fact.state > State::Fine || !known.contains(rule)));
        all.sort_by_key(|(rule, _)| (rule.topic(), *rule));
        let told = all.into_iter().map(|(rule, opinion)| Remark {
            rule,
            state: opinion.state,
            sentence: opinion.sentence,
            object: opinion.object.unwrap_or_else(|| rule.object().to_owned()),
            node: opinion.node,
            source: opinion.source,
            at: opinion.at,
            places: opinion.places,
            record: opinion.missing.line(framework),
        });
        told.collect()
    }
}
