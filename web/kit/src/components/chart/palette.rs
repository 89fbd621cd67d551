//! The design tokens for canvases: read from the style sheet, again when the theme changes.

use std::sync::Arc;

use crate::format;
use crate::prelude::*;
use trainscope_charts::theme::{Rgb, Theme};

use crate::run_colour::{COLOURS, RunColour};
use crate::theme::{Tokens, use_tokens};

/// Names of the tokens of [`Theme::times`] and [`Theme::diverging`].
const TIMES: [&str; 6] = ["compute", "comm", "memcpy", "data", "host", "idle"];
const DIVERGING: [&str; 9] = ["n4", "n3", "n2", "n1", "0", "p1", "p2", "p3", "p4"];

/// Colours and font of all charts.
#[derive(Clone, Debug, PartialEq)]
pub struct Palette {
    /// Theme of plots.
    pub theme: Theme,
    /// The surface colour as CSS, for pictures.
    pub surface: String,
    runs: Vec<Rgb>,
}

impl Palette {
    /// The colour of a run's line.
    pub fn run(&self, colour: RunColour) -> Rgb {
        let index = usize::from(colour.number.saturating_sub(1));
        self.runs.get(index).copied().unwrap_or(self.theme.ink_2)
    }
}

impl Palette {
    /// Provides the tokens and follows the theme. Called once, above all pages: a value provided by a page is disposed
    /// of with it, but would still be found by the next page.
    pub fn provide() {
        provide_context(use_tokens(read));
    }
}

/// The tokens in force.
pub fn use_palette() -> Signal<Arc<Palette>> {
    expect_context::<Memo<Arc<Palette>>>().into()
}

/// Missing tokens have the light theme's value.
fn read(tokens: &Tokens) -> Palette {
    let mut theme = Theme::light();
    let colour = |name: &str| Rgb::from_hex(&tokens.text(name));
    for (name, token) in [
        ("--surface", &mut theme.surface),
        ("--grid", &mut theme.grid),
        ("--line-2", &mut theme.base),
        ("--ink", &mut theme.ink),
        ("--ink-2", &mut theme.ink_2),
        ("--ink-3", &mut theme.ink_3),
        ("--solid", &mut theme.solid),
        ("--on-solid", &mut theme.on_solid),
        ("--accent", &mut theme.accent),
        ("--cls-nan", &mut theme.nan),
        ("--cls-pinf", &mut theme.inf),
        ("--error", &mut theme.error),
        ("--warning", &mut theme.warning),
        ("--edge", &mut theme.edge),
        ("--k-text", &mut theme.on_time),
    ] {
        *token = colour(name).unwrap_or(*token);
    }
    let numbers = 0..theme.sequence.len();
    let sequence = numbers.map(|number| format!("--seq-{number}"));
    let times = TIMES.map(|name| format!("--k-{name}"));
    let diverging = DIVERGING.map(|name| format!("--div-{name}"));
    let lists = theme.sequence.iter_mut().zip(sequence);
    let lists = lists.chain(theme.times.iter_mut().zip(times));
    for (token, name) in lists.chain(theme.diverging.iter_mut().zip(diverging)) {
        *token = colour(&name).unwrap_or(*token);
    }
    if let Some(alpha) = format::parse_number(&tokens.text("--env")) {
        theme.envelope_alpha = alpha;
    }
    let font = tokens.font();
    if !font.is_empty() {
        theme.font = font;
    }
    let runs = (1..=COLOURS)
        .filter_map(|number| colour(&format!("--run-{number}")))
        .collect();
    Palette {
        theme,
        surface: tokens.text("--surface"),
        runs,
    }
}
