//! A hit of a check, before it is reported.

use std::sync::Arc;

use trainscope_api::Sentence;
use trainscope_api::findings::Measure;
use trainscope_format::Severity;
use trainscope_format::digits::{Operator, Unit};
pub(crate) use trainscope_format::digits::{brief as number, percent};
use trainscope_format::program::SourceLine;

use super::key::Key;
use super::parameter::Evidence;
use super::run::{Flow, Run};
use super::scalars::Series;
use super::tensor::Tensor;
use crate::text::Text;

/// A hit before it is reported: step, position in the data flow, and evidence.
#[derive(Clone, Debug)]
pub(crate) struct NewHit {
    pub(crate) rank: u32,
    pub(crate) step: i64,
    pub(crate) last_step: i64,
    pub(crate) tensor: Arc<str>,
    pub(crate) node: Option<Arc<str>>,
    pub(crate) flow: Flow,
    pub(crate) evidence: Evidence,
    /// Severity by context, if it differs.
    pub(crate) severity: Option<Severity>,
    /// Sentence, if it is not the default one about the limit exceeded.
    pub(crate) sentence: Option<Sentence>,
    /// The limit in force, if it is not that of the watchpoint.
    pub(crate) limit: Option<f64>,
    /// Measured quantity, if it is not a parameter of the condition.
    pub(crate) measure: Option<Box<(Key, Measure)>>,
    /// Line of the program that it is about.
    pub(crate) source: Option<Arc<SourceLine>>,
}

/// A warning for a fault, otherwise a note.
pub(crate) const fn warning_if(is_fault: bool) -> Severity {
    if is_fault {
        Severity::Warning
    } else {
        Severity::Info
    }
}

impl NewHit {
    /// Creates a hit of a tensor.
    pub(crate) fn at(
        run: &Run<'_>,
        tensor: &Tensor,
        step: i64,
        evidence: impl Into<Evidence>,
    ) -> Self {
        let module = &tensor.subject.module;
        let at = (tensor.rank, step);
        Self {
            node: (!module.is_empty()).then(|| module.clone()),
            ..Self::of_name(&tensor.name, at, run.flow(tensor), evidence)
        }
    }

    /// Creates a hit of a scalar.
    pub(crate) fn of_scalar(
        series: &Series,
        step: i64,
        flow: Flow,
        evidence: impl Into<Evidence>,
    ) -> Self {
        Self::of_name(&series.tag, (series.rank, step), flow, evidence)
    }

    /// Creates a hit of anything that has a name, at a rank and step.
    pub(crate) fn of_name(
        name: &Arc<str>,
        (rank, step): (u32, i64),
        flow: Flow,
        evidence: impl Into<Evidence>,
    ) -> Self {
        Self {
            rank,
            step,
            last_step: step,
            tensor: Arc::clone(name),
            node: None,
            flow,
            evidence: evidence.into(),
            severity: None,
            sentence: None,
            limit: None,
            measure: None,
            source: None,
        }
    }

    #[must_use]
    pub(crate) fn until(self, last_step: i64) -> Self {
        Self { last_step, ..self }
    }

    #[must_use]
    pub(crate) fn called(self, severity: Severity) -> Self {
        Self {
            severity: Some(severity),
            ..self
        }
    }

    /// Sets another limit than that of the watchpoint.
    #[must_use]
    pub(crate) fn against(self, limit: f64) -> Self {
        Self {
            limit: Some(limit),
            ..self
        }
    }

    /// Sets another quantity than the parameters of the condition.
    #[must_use]
    pub(crate) fn measuring(
        self,
        (key, quantity): (Key, Text),
        kind: (Operator, Unit),
        value: f64,
        limit: f64,
    ) -> Self {
        let measure = Measure::new(
            key.as_str(),
            quantity.into(),
            kind,
            value,
            Some(limit),
            None,
        );
        Self {
            measure: Some(Box::new((key, measure))),
            ..self
        }
    }

    #[must_use]
    pub(crate) fn saying(self, en: String, zh: String) -> Self {
        Self {
            sentence: Some(Sentence { en, zh }),
            ..self
        }
    }
}
