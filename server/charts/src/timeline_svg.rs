//! A stretch of a timeline as an SVG document, for exports: lanes with their names, steps and a ruler.

use std::fmt::Write as _;

use crate::frame::Unit;
use crate::svg::{Document, escaped, hex};
use crate::theme::{Rgb, Theme};
use crate::ticks;
use crate::timeline::Cell;

/// Width of the plot, and of the names on its left, CSS pixels.
const PLOT_WIDTH: f64 = 1_000.0;
const NAMES_WIDTH: f64 = 190.0;
/// Space around everything, and the heights of the title, the ruler, the steps, heads of groups and rows.
const MARGIN: f64 = 12.0;
const TITLE: f64 = 24.0;
const RULER: f64 = 20.0;
const STEPS: f64 = 16.0;
const HEAD: f64 = 22.0;
const ROW: f64 = 13.0;
/// Height of a cell, which leaves a line free below it, and the space between lanes.
const CELL: f64 = 12.0;
const LANE_GAP: f64 = 4.0;
/// Mean width of a letter.
const LETTER: f64 = 6.2;
/// Minimum width of a slice that has its name.
const NAMED_FROM: f64 = 34.0;
/// Maximum number of ticks.
const TICKS: u32 = 10;

/// A stretch of time with its lanes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// Title.
    pub title: String,
    /// Start and end, nanoseconds since the start of the session.
    pub time: (i64, i64),
    /// Groups of lanes in order: names and lanes.
    pub groups: Vec<(String, Vec<SheetLane>)>,
    /// Steps: number, begin and end.
    pub steps: Vec<(i64, i64, i64)>,
    /// Sentence about parts that are not in the picture; empty if nothing was left out.
    pub note: String,
}

/// A lane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetLane {
    /// Name.
    pub name: String,
    /// Cells of each row in order of time, with the name of a single slice.
    pub rows: Vec<Vec<(Cell, String)>>,
}

/// The picture on the background of the theme. Names are escaped.
pub fn svg(sheet: &Sheet, theme: &Theme) -> String {
    let lanes = || sheet.groups.iter().flat_map(|(_, lanes)| lanes);
    let rows: usize = lanes().map(|lane| lane.rows.len()).sum();
    let steps = if sheet.steps.is_empty() { 0.0 } else { STEPS };
    let top = MARGIN + TITLE + RULER + steps;
    let height = top
        + sheet.groups.len() as f64 * HEAD
        + lanes().count() as f64 * LANE_GAP
        + rows as f64 * ROW
        + if sheet.note.is_empty() { 0.0 } else { TITLE }
        + MARGIN;
    let width = 2.0 * MARGIN + NAMES_WIDTH + PLOT_WIDTH;
    let font = format!(" font-family=\"{}\" font-size=\"11\"", escaped(&theme.font));
    let mut plot = Plot {
        out: Document::new((width, height), &font, theme.surface),
        left: MARGIN + NAMES_WIDTH,
        from: sheet.time.0,
        length: sheet.time.1.saturating_sub(sheet.time.0).max(1) as f64,
    };
    plot.text((MARGIN, MARGIN + 12.0), theme.ink, &sheet.title);
    plot.ruler(sheet.time, (MARGIN + TITLE, height - MARGIN), theme);
    plot.steps(&sheet.steps, MARGIN + TITLE + RULER, theme);
    let mut y = top;
    for (name, lanes) in &sheet.groups {
        plot.text((MARGIN, y + 15.0), theme.ink, name);
        y += HEAD;
        for lane in lanes {
            let name = fitting(&lane.name, NAMES_WIDTH - 16.0);
            plot.text((MARGIN + 8.0, y + 10.0), theme.ink_2, &name);
            for row in &lane.rows {
                plot.row(row, y, theme);
                y += ROW;
            }
            y += LANE_GAP;
        }
    }
    if !sheet.note.is_empty() {
        plot.text((MARGIN, y + 15.0), theme.ink_3, &sheet.note);
    }
    plot.out.end()
}

/// The start of a name that fits into a width.
fn fitting(name: &str, width: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of floats saturates, and widths are not negative"
    )]
    let letters = (width / LETTER) as usize;
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    let begin: String = name.chars().take(letters.saturating_sub(1)).collect();
    format!("{begin}…")
}

struct Plot {
    out: Document,
    left: f64,
    from: i64,
    length: f64,
}

impl Plot {
    fn text(&mut self, (x, y): (f64, f64), ink: Rgb, text: &str) {
        let (ink, text) = (hex(ink), escaped(text));
        self.out.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{ink}\">{text}</text>"
        ));
    }

    /// Position of a time, within the plot.
    fn x(&self, time: i64) -> f64 {
        let share = time.saturating_sub(self.from) as f64 / self.length;
        self.left + share.clamp(0.0, 1.0) * PLOT_WIDTH
    }

    /// Times on top, and lines down to the bottom.
    fn ruler(&mut self, (from, to): (i64, i64), (top, bottom): (f64, f64), theme: &Theme) {
        let most = from.unsigned_abs().max(to.unsigned_abs()) as f64;
        let (factor, unit) = Unit::Nanos.shown(most);
        let ticks = ticks::linear(from as f64 / factor, to as f64 / factor, TICKS);
        for (value, label) in ticks.labelled() {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a cast of floats saturates, and ticks are within the range"
            )]
            let x = self.x((value * factor) as i64);
            let grid = hex(theme.grid);
            let from = top + RULER - 4.0;
            self.out.put(format_args!(
                "<path d=\"M{x:.1} {from:.1}V{bottom:.1}\" stroke=\"{grid}\"/>"
            ));
            let text = format!("{label} {unit}");
            self.text((x + 2.0, top + 10.0), theme.ink_3, &text);
        }
    }

    /// Steps as a row of boxes with their numbers.
    fn steps(&mut self, steps: &[(i64, i64, i64)], top: f64, theme: &Theme) {
        for (number, begin, end) in steps {
            let (left, right) = (self.x(*begin), self.x(*end));
            if right - left < 0.5 {
                continue;
            }
            let (line, width, height) = (hex(theme.base), right - left, STEPS - 4.0);
            self.out.put(format_args!(
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"none\" stroke=\"{line}\"/>"
            ));
            let name = format!("{number}");
            if width > LETTER * (name.len() as f64 + 1.0) {
                self.text((left + 3.0, top + 10.0), theme.ink_2, &name);
            }
        }
    }

    /// Cells of a row: one path for each kind of time, and the names of wide slices.
    fn row(&mut self, cells: &[(Cell, String)], top: f64, theme: &Theme) {
        for (kind, colour) in theme.times.iter().enumerate() {
            let last = theme.times.len() - 1;
            let is_of_kind = |cell: &Cell| usize::from(cell.kind).min(last) == kind;
            let mut path = String::new();
            for (cell, _) in cells.iter().filter(|(cell, _)| is_of_kind(cell)) {
                let (left, width) = self.sides(cell);
                // The height of several slices in one cell is their busy share, in quarters as on the page.
                let quarters = if cell.is_merged {
                    (u32::from(cell.busy) * 4).div_ceil(255).clamp(1, 4)
                } else {
                    4
                };
                let height = CELL * f64::from(quarters) / 4.0;
                let y = top + CELL - height;
                write!(
                    path,
                    "M{left:.1} {y:.1}h{width:.1}v{height:.1}h-{width:.1}z"
                )
                .unwrap_or_default();
            }
            if !path.is_empty() {
                let colour = hex(*colour);
                self.out
                    .put(format_args!("<path fill=\"{colour}\" d=\"{path}\"/>"));
            }
        }
        for (cell, name) in cells {
            let (left, width) = self.sides(cell);
            if !name.is_empty() && width >= NAMED_FROM {
                let idle = theme.times.len() - 1;
                let is_idle = usize::from(cell.kind) >= idle;
                let ink = if is_idle { theme.ink } else { theme.on_time };
                let name = fitting(name, width - 4.0);
                self.text((left + 2.0, top + 10.0), ink, &name);
            }
        }
    }

    /// Left side and width of a cell, at least half a pixel.
    fn sides(&self, cell: &Cell) -> (f64, f64) {
        let left = self.x(cell.begin);
        let right = self.x(cell.begin.saturating_add(cell.length));
        (left, (right - left).max(0.5))
    }
}

#[cfg(test)]
mod tests {
    use super::{Sheet, SheetLane, svg};
    use crate::theme::Theme;
    use crate::timeline::Cell;

    fn sheet() -> Sheet {
        let cell = |begin, length, busy| Cell {
            begin,
            length,
            busy,
            kind: 0,
            is_merged: busy < 255,
        };
        let rows = vec![
            vec![(cell(0, 500, 255), "aten::<mm>".to_owned())],
            vec![(cell(100, 10, 128), String::new())],
        ];
        let lane = SheetLane {
            name: "thread 1".to_owned(),
            rows,
        };
        Sheet {
            title: "run & session".to_owned(),
            time: (0, 1_000),
            groups: vec![("Host".to_owned(), vec![lane])],
            steps: vec![(7, 0, 1_000)],
            note: "lanes were left out".to_owned(),
        }
    }

    #[test]
    fn lanes_have_names_cells_and_steps() {
        let text = svg(&sheet(), &Theme::light());
        for wanted in [
            "run &amp; session",
            ">Host<",
            ">thread 1<",
            ">aten::&lt;mm&gt;<",
            // Half of the time is half of the width, and a share of a half is two quarters high.
            "h500.0v12.0h-500.0z",
            "h10.0v9.0h-10.0z",
            ">7<",
            ">0.0 µs<",
            ">lanes were left out<",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
    }

    #[test]
    fn any_times_make_a_picture() {
        for time in [(0, 0), (5, -5), (i64::MIN, i64::MAX)] {
            let text = svg(&Sheet { time, ..sheet() }, &Theme::dark());
            assert!(
                text.ends_with("</svg>\n") && !text.contains("NaN"),
                "{time:?}"
            );
        }
    }
}
