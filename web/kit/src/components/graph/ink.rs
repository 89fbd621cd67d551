//! The colours of graphs, from the style sheet, again when the theme changes.

use std::sync::Arc;

use trainscope_charts::graph::Ink;

use crate::prelude::*;
use crate::run_colour::COLOURS;
use crate::theme::{Tokens, use_tokens};

/// Current colours.
pub fn use_graph_ink() -> Memo<Arc<Ink>> {
    use_tokens(read)
}

fn read(tokens: &Tokens) -> Ink {
    let colour = |name: &str| tokens.colour(name);
    Ink {
        bg: colour("--bg"),
        surface: colour("--surface"),
        surface_2: colour("--surface-2"),
        surface_3: colour("--surface-3"),
        line_2: colour("--line-2"),
        edge: colour("--edge"),
        ink: colour("--ink"),
        ink_2: colour("--ink-2"),
        ink_3: colour("--ink-3"),
        accent: colour("--accent"),
        accent_wash: colour("--accent-wash"),
        error: colour("--error"),
        error_wash: colour("--error-wash"),
        error_line: colour("--error-line"),
        warning: colour("--warning"),
        warning_wash: colour("--warning-wash"),
        warning_line: colour("--warning-line"),
        ok: colour("--ok"),
        ok_wash: colour("--ok-wash"),
        ok_line: colour("--ok-line"),
        time: colour("--k-compute"),
        series: (1..=COLOURS)
            .map(|number| colour(&format!("--run-{number}")))
            .collect(),
        font: tokens.font(),
    }
}
