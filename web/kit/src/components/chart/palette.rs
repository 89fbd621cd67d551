//! The design tokens for canvases: read from the style sheet, again when the theme changes.

use std::sync::Arc;

use crate::format;
use crate::prelude::*;
use trainscope_charts::theme::{Rgb, Theme};
use web_sys::CssStyleDeclaration;

use crate::run_colour::{COLOURS, RunColour};
use crate::theme::use_theme;

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
        let theme = use_theme();
        provide_context(Memo::new(move |_| {
            theme.get();
            Arc::new(read())
        }));
    }
}

/// The tokens in force.
pub fn use_palette() -> Signal<Arc<Palette>> {
    expect_context::<Memo<Arc<Palette>>>().into()
}

/// Missing tokens have the light theme's value.
fn read() -> Palette {
    let mut theme = Theme::light();
    let style = document()
        .document_element()
        .and_then(|root| window().get_computed_style(&root).ok().flatten());
    let Some(style) = style else {
        return Palette {
            theme,
            surface: "#fff".to_owned(),
            runs: Vec::new(),
        };
    };
    for (name, colour) in [
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
        if let Some(value) = Rgb::from_hex(&property(&style, name)) {
            *colour = value;
        }
    }
    let numbers = 0..theme.sequence.len();
    let sequence = numbers.map(|number| format!("--seq-{number}"));
    let times = TIMES.map(|name| format!("--k-{name}"));
    let diverging = DIVERGING.map(|name| format!("--div-{name}"));
    let lists = theme.sequence.iter_mut().zip(sequence);
    let lists = lists.chain(theme.times.iter_mut().zip(times));
    for (colour, name) in lists.chain(theme.diverging.iter_mut().zip(diverging)) {
        if let Some(value) = Rgb::from_hex(&property(&style, &name)) {
            *colour = value;
        }
    }
    if let Some(alpha) = format::parse_number(&property(&style, "--env")) {
        theme.envelope_alpha = alpha;
    }
    let font = property(&style, "--font");
    if !font.trim().is_empty() {
        theme.font = font.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let runs = (1..=COLOURS)
        .filter_map(|number| Rgb::from_hex(&property(&style, &format!("--run-{number}"))))
        .collect();
    Palette {
        theme,
        surface: property(&style, "--surface"),
        runs,
    }
}

fn property(style: &CssStyleDeclaration, name: &str) -> String {
    style.get_property_value(name).unwrap_or_default()
}
