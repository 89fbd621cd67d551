//! Layout of plots, titles and legends on a sheet, for any output.

use crate::label;
use crate::theme::Rgb;

/// Space around and between plots.
const GAP: f64 = 16.0;
/// Height of a line of title or legend.
const ROW: f64 = 18.0;

/// Title, legend and size of a plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Title.
    pub title: String,
    /// Names of the axes, in a line below the title; empty for none.
    pub note: String,
    /// Colour and name of each line.
    pub legend: Vec<(Rgb, String)>,
    /// Width in CSS pixels.
    pub width: f64,
    /// Height in CSS pixels.
    pub height: f64,
}

/// Position of a plot on a sheet.
pub(crate) struct Placement<'a> {
    /// Base line of the title.
    pub(crate) title: (f64, f64, &'a str),
    /// Base line of the note.
    pub(crate) note: Option<(f64, f64, &'a str)>,
    /// Base line, colour and text of each entry of the legend; its swatch is before it.
    pub(crate) legend: Vec<(f64, f64, Rgb, &'a str)>,
    /// Upper left corner of the plot.
    pub(crate) plot: (f64, f64),
}

/// Width of a swatch with the space after it.
pub(crate) const SWATCH: f64 = 14.0;

/// Places plots side by side in a number of columns; returns the total width and height, and the positions.
pub(crate) fn place(frames: &[Frame], columns: usize) -> (f64, f64, Vec<Placement<'_>>) {
    let columns = columns.clamp(1, frames.len().max(1));
    let (mut placed, mut width, mut top) = (Vec::with_capacity(frames.len()), 0.0_f64, GAP);
    for row in frames.chunks(columns) {
        let (mut left, mut bottom) = (GAP, top);
        for frame in row {
            let below = if frame.note.is_empty() {
                top
            } else {
                top + ROW
            };
            let (legend, head) = legend(frame, left, below);
            let head = head + below - top;
            placed.push(Placement {
                title: (left, top + 13.0, &frame.title),
                note: (below > top).then_some((left, below + 13.0, &*frame.note)),
                legend,
                plot: (left, top + head),
            });
            left += frame.width + GAP;
            bottom = bottom.max(top + head + frame.height);
        }
        width = width.max(left);
        top = bottom + GAP;
    }
    (width, top, placed)
}

/// Legend with line breaks; returns also the height of title and legend.
fn legend(frame: &Frame, left: f64, top: f64) -> (Vec<(f64, f64, Rgb, &str)>, f64) {
    let (mut x, mut y) = (left, top + ROW);
    let entries = frame.legend.iter().map(|(colour, name)| {
        let wanted = SWATCH + 1.2 * label::width(name) + 14.0;
        if x > left && x + wanted > left + frame.width {
            (x, y) = (left, y + ROW);
        }
        let entry = (x + SWATCH, y + 13.0, *colour, &**name);
        x += wanted;
        entry
    });
    let entries = entries.collect();
    (entries, y + ROW - top)
}
