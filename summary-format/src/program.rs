//! Facts of the training program: its loss, optimizers, gradients, batches and lines, as its collector has seen them.

use serde::{Deserialize, Serialize};

/// Maximum number of numbers, and of texts, of a fact.
pub const MAX_FIELDS: usize = 64;
/// Maximum size of a text of a fact in bytes.
pub const MAX_TEXT_BYTES: usize = 4 << 10;
/// Maximum size of an excerpt in bytes: 16 lines of 400 characters.
pub const MAX_EXCERPT_BYTES: usize = 6400;

/// A measurement of the program. Whether it is a fault is decided by its readers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProgramFact {
    /// Kind of the measurement: `loss_function`, `optimizer_settings`, …
    pub kind: String,
    /// Object of the measurement: a function, a module, a class of optimizers; empty for the program.
    pub subject: String,
    /// Numbers by name. Those that count do so from the start of the program.
    pub numbers: Vec<(String, f64)>,
    /// Texts by name.
    pub texts: Vec<(String, String)>,
    /// Line of the program that it comes from.
    pub source: Option<SourceLine>,
}

/// A line of the program, with the lines around it as they were when it ran. It is text: no path is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ProgramLine))]
pub struct SourceLine {
    /// Path of the file: relative to the repository or the working directory if it is in it.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Function that the line is in; empty if unknown.
    pub function: String,
    /// Line of the first line of the excerpt, from 1.
    pub first_line: u64,
    /// Lines around it; empty if the source could not be read.
    pub excerpt: String,
}

impl SourceLine {
    /// A line of a file, without its function and excerpt.
    pub fn at(file: &str, line: u32) -> Self {
        Self {
            file: file.to_owned(),
            line: line.into(),
            ..Self::default()
        }
    }

    /// Lines of the excerpt with their numbers. Numbers of a damaged file stay at the highest one.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &str)> {
        let lines = (0_u64..).zip(self.excerpt.lines());
        lines.map(|(at, line)| (self.first_line.saturating_add(at), line))
    }
}

impl ProgramFact {
    /// Name of its records: the kind, and the subject after a colon.
    pub fn tag(&self) -> String {
        if self.subject.is_empty() {
            self.kind.clone()
        } else {
            format!("{}:{}", self.kind, self.subject)
        }
    }

    /// A number by its name.
    pub fn number(&self, name: &str) -> Option<f64> {
        let found = self.numbers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| *value)
    }

    /// A text by its name; empty if it is missing.
    pub fn text(&self, name: &str) -> &str {
        let found = self.texts.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, text)| text)
    }
}
