//! Colours of the timeline from the style sheet, read again when the theme changes.

use std::sync::Arc;

use trainscope_api::timeline::TimeKind;
use trainscope_charts::timeline::Ink;
use trainscope_format::Severity;

use trainscope_web_kit::prelude::*;
use trainscope_web_kit::theme::{Tokens, use_tokens};

/// Tokens of kinds of time, in the order of their numbers.
const KINDS: [&str; 6] = [
    "--k-compute",
    "--k-comm",
    "--k-memcpy",
    "--k-data",
    "--k-host",
    "--k-idle",
];

/// Colours of pixels, and CSS colours of the drawing above them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Paint {
    pub(super) pixels: Ink,
    pub(super) kinds: [String; 6],
    pub(super) ink: String,
    pub(super) ink_2: String,
    pub(super) ink_3: String,
    pub(super) on_kind: String,
    pub(super) surface: String,
    pub(super) surface_2: String,
    pub(super) surface_3: String,
    pub(super) line: String,
    pub(super) accent: String,
    pub(super) on_accent: String,
    pub(super) error: String,
    pub(super) warning: String,
    pub(super) info: String,
    pub(super) font: String,
}

impl Paint {
    pub(super) fn severity(&self, severity: Severity) -> &str {
        match severity {
            Severity::Error => &self.error,
            Severity::Warning => &self.warning,
            Severity::Info => &self.info,
        }
    }
}

/// CSS colour of a kind.
pub(super) fn colour_of(kind: TimeKind) -> String {
    colour_number(kind as u8)
}

/// CSS colour of a kind by its number.
pub(super) fn colour_number(kind: u8) -> String {
    let token = KINDS[usize::from(kind).min(KINDS.len() - 1)];
    format!("var({token})")
}

/// Current colours.
pub(super) fn use_paint() -> Memo<Arc<Paint>> {
    use_tokens(read)
}

fn read(tokens: &Tokens) -> Paint {
    let text = |name: &str| tokens.text(name);
    let colour = |name: &str| tokens.colour(name);
    Paint {
        pixels: Ink {
            kinds: KINDS.map(colour),
            surface: colour("--surface"),
            surface_2: colour("--surface-2"),
            grid: colour("--grid"),
            hatch: colour("--line-2"),
        },
        kinds: KINDS.map(text),
        ink: text("--ink"),
        ink_2: text("--ink-2"),
        ink_3: text("--ink-3"),
        on_kind: text("--k-text"),
        surface: text("--surface"),
        surface_2: text("--surface-2"),
        surface_3: text("--surface-3"),
        line: text("--line-2"),
        accent: text("--accent"),
        on_accent: text("--on-accent"),
        error: text("--error"),
        warning: text("--warning"),
        info: text("--info"),
        font: tokens.font(),
    }
}
