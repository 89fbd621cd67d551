//! Cells of small heat maps as SVG, one path for each shade.

use std::fmt::Write as _;

use trainscope_web_kit::prelude::*;

/// Number of shades above zero: `--seq-1` to `--seq-9`.
pub(crate) const SHADES: usize = 9;

/// Cells with column, row and shade. `outline` is the path of a cell after its row: a fraction of it, then lines.
pub(crate) fn shades(cells: impl Iterator<Item = (usize, usize, usize)>, outline: &str) -> AnyView {
    let paths = paths(cells, outline).into_iter().enumerate();
    let paths = paths.map(|(shade, path)| view! { <path class=format!("l{shade}") d=path></path> });
    paths.collect_view().into_any()
}

fn paths(cells: impl Iterator<Item = (usize, usize, usize)>, outline: &str) -> Vec<String> {
    let mut paths = vec![String::new(); SHADES + 1];
    for (x, y, shade) in cells {
        // Writing to a `String` does not fail.
        write!(paths[shade.min(SHADES)], "M{x} {y}{outline}").unwrap_or_default();
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::paths;

    #[test]
    fn cells_of_a_shade_share_a_path() {
        let cells = [(0, 1, 0), (0, 0, 9), (7, 0, 12)];
        let paths = paths(cells.into_iter(), ".06h.88z");
        assert_eq!(paths[0], "M0 1.06h.88z");
        assert_eq!(paths[9], "M0 0.06h.88zM7 0.06h.88z");
    }
}
