//! `GET /api/program`: facts of the training program, as its collector has seen it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trainscope_format::SourceLine;
use trainscope_format::float::Float;

use crate::Sentence;

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
    /// The facts in words, by part.
    #[serde(default)]
    pub description: Vec<ProgramRow>,
    /// Operations from the first one whose result is not finite to the loss, in the order of the forward pass, behind
    /// those whose results go into it; empty if none was found.
    #[serde(default)]
    pub chain: Vec<ChainLink>,
    /// Checks of the first batch, in the order of their results and of the checks.
    #[serde(default)]
    pub probes: Vec<Probe>,
}

/// A check of the first batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Probe {
    /// Name of the check.
    pub name: Sentence,
    /// Its result.
    pub result: ProbeResult,
    /// The finding, or the reason why it was not tried; in English.
    pub says: String,
    /// Line of the program that it is about.
    pub source: Option<SourceLine>,
}

/// Result of a check of the first batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ProbeResult {
    /// Something is wrong.
    Failed,
    /// It has no meaning for this program, or did not fit.
    NotTried,
    /// Nothing is wrong.
    Passed,
}

/// A row of the description of a program: a heading, or a name with a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProgramRow {
    /// Part that it describes.
    pub part: ProgramPart,
    /// Name of the value, or the heading.
    pub name: Sentence,
    /// The value; `null` for a heading.
    pub value: Option<Sentence>,
    /// Line of the program that it is about.
    pub source: Option<SourceLine>,
}

/// An operation between the first one whose result is not finite and the loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChainLink {
    /// Name of the operation, as PyTorch has it; of a value that no operation made, what it is.
    pub operation: String,
    /// Module that called it; empty for the program.
    pub module: String,
    /// `true` for the first one whose result is not finite.
    pub is_first: bool,
    /// Operations before this one that are left out.
    pub left_out: u64,
    /// Elements of its result; `null` if it was not kept. So for the counts of elements below.
    pub elements: Option<u64>,
    /// Elements that are NaN.
    pub nan: Option<u64>,
    /// Elements that are infinite.
    pub infinite: Option<u64>,
    /// Elements that are 0.
    pub zeros: Option<u64>,
    /// The result in words: `3 of 4,096 are NaN`.
    pub result: Sentence,
    /// Line of the program that called it.
    pub source: Option<SourceLine>,
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
