//! `GET /api/program`: facts of the training program, as its collector has seen it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainscope_format::SourceLine;
use trainscope_format::float::Float;

/// Maximum number of facts in one answer.
pub const MAX_FACTS: usize = 10_000;

/// Facts of the program of a run: the newest of each rank, kind and subject, in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProgramFacts {
    /// The facts, at most [`MAX_FACTS`].
    pub facts: Vec<RecordedFact>,
    /// `true` if facts were left out.
    pub cut: bool,
}

/// A measurement of the program. Its kinds are listed in the book.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RecordedFact {
    /// Rank that recorded it.
    pub rank: u32,
    /// Step of the first record of it.
    pub first_step: i64,
    /// Step of the newest record of it, which this is.
    pub step: i64,
    /// Kind of the measurement: `loss_function`, `optimizer_settings`, …
    pub kind: String,
    /// Object of the measurement; empty for the program.
    pub subject: String,
    /// Numbers by name.
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, crate::openapi::Float>))]
    pub numbers: BTreeMap<String, Float>,
    /// Texts by name.
    pub texts: BTreeMap<String, String>,
    /// Line of the program that it comes from.
    pub source: Option<SourceLine>,
}

/// Part of the program that a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ProgramPart {
    /// Parameters, and what the loss reaches of them.
    Model,
    /// Optimizers and their settings.
    Optimizer,
    /// Loss functions.
    Loss,
    /// Batches, labels and loaders.
    Data,
    /// Passes and updates.
    Loop,
}

impl RecordedFact {
    /// A number by its name.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).map(|number| number.0)
    }

    /// A text by its name; empty if there is none.
    pub fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }
}
