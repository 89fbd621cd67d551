//! The style of a report: the design tokens of the pages, and plot colours for dark mode.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use trainscope_charts::theme::{Rgb, Theme};

const TOKENS: &str = include_str!("../../../../../web/style/tokens.css");
const STYLE: &str = include_str!("../report.css");

/// Tokens, page style, and plot colours for dark mode.
pub(super) fn style() -> String {
    // Printing uses the light theme.
    let tokens = TOKENS.replace(
        "@media (prefers-color-scheme: dark)",
        "@media screen and (prefers-color-scheme: dark)",
    );
    let mut style =
        format!("{tokens}\n{STYLE}\n@media screen and (prefers-color-scheme: dark) {{\n");
    for (light, dark) in colours() {
        let (light, dark) = (hex(light), hex(dark));
        for property in ["fill", "stroke"] {
            // Writing to a String does not fail.
            writeln!(
                style,
                ".plot [{property}=\"{light}\" i] {{ {property}: {dark}; }}"
            )
            .unwrap_or_default();
        }
    }
    style.push_str("}\n");
    style
}

/// Plot colours in light and dark mode.
fn colours() -> Vec<(Rgb, Rgb)> {
    let (light, dark) = (Theme::light(), Theme::dark());
    let of = |theme: &Theme| {
        let fixed = [
            theme.surface,
            theme.grid,
            theme.base,
            theme.ink,
            theme.ink_2,
            theme.ink_3,
            theme.nan,
            theme.inf,
            theme.error,
        ];
        let steps = 0..=SHADES;
        let shades = steps.map(|shade| theme.sequence(f64::from(shade) / f64::from(SHADES)));
        fixed.into_iter().chain(shades).collect::<Vec<Rgb>>()
    };
    let pairs = of(&light).into_iter().zip(of(&dark));
    let mut seen = BTreeSet::new();
    let runs = crate::cli::export::pictures::COLOURS;
    let all = pairs
        .chain(runs)
        .filter(|(light, _)| seen.insert((light.0, light.1, light.2)));
    all.collect()
}

/// Number of shades of a heat map.
const SHADES: u8 = 48;

fn hex(Rgb(r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
