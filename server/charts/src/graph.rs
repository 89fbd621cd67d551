//! Boxes and curves of a graph, drawn with any [`Pen`]: a canvas in the browser, SVG text for downloads and tests.
//!
//! Equal styles are drawn together, because a canvas is slow at changing colours and fast at everything else: ten
//! thousand boxes take some milliseconds. Only the visible part is drawn.

use std::collections::BTreeMap;

use crate::theme::Rgb;

#[cfg(feature = "svg")]
mod svg;

#[cfg(feature = "svg")]
mod ink;

#[cfg(feature = "svg")]
pub use svg::svg;

/// The colours of a graph, as the page's design tokens have them.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "they are called as in the style sheet")]
pub struct Ink {
    pub bg: Rgb,
    pub surface: Rgb,
    pub surface_2: Rgb,
    pub surface_3: Rgb,
    pub line_2: Rgb,
    pub edge: Rgb,
    pub ink: Rgb,
    pub ink_2: Rgb,
    pub ink_3: Rgb,
    pub accent: Rgb,
    pub accent_wash: Rgb,
    pub error: Rgb,
    pub error_wash: Rgb,
    pub error_line: Rgb,
    pub warning: Rgb,
    pub warning_wash: Rgb,
    pub warning_line: Rgb,
    pub ok: Rgb,
    pub ok_wash: Rgb,
    pub ok_line: Rgb,
    pub time: Rgb,
    /// Colours of categories, the most frequent first.
    pub series: Vec<Rgb>,
    /// Font families, as CSS has them.
    pub font: String,
}

/// Meaning of a box's colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// None.
    #[default]
    Plain,
    /// An error in it.
    Error,
    /// A warning in it, or a change.
    Warning,
    /// A note in it, or an addition.
    Good,
    /// A category: an index into [`Ink::series`].
    Series(usize),
}

/// A node or a scope.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is seen by itself: none excludes another"
)]
pub struct Node {
    /// Left, top, width, height.
    pub at: [f64; 4],
    /// Number of scopes around it.
    pub depth: usize,
    /// Its name.
    pub label: String,
    /// Text at its right side: type, or number of nodes.
    pub detail: String,
    /// Labels of parameters and constants.
    pub chips: Vec<String>,
    /// Number of further parameters and constants.
    pub more_chips: u64,
    /// Its colour.
    pub tone: Tone,
    /// Length of a bar at its foot: a share of its width, 0 to 1; 0 for none.
    pub bar: f64,
    /// True if an icon shows its tone, too.
    pub has_icon: bool,
    /// True if it can be opened.
    pub is_scope: bool,
    /// True if its content is drawn.
    pub is_open: bool,
    /// True if it represents several scopes.
    pub is_stack: bool,
    /// True if it is selected.
    pub is_selected: bool,
    /// True if it is part of the highlighted path.
    pub is_on_way: bool,
}

/// Style of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stroke {
    /// A control edge.
    Control,
    /// A data edge.
    #[default]
    Plain,
    /// A data edge from a node with a warning.
    Warning,
    /// A data edge from a node with an error.
    Error,
    /// An edge of the selected node.
    Near,
    /// Part of the highlighted path.
    Way,
}

/// A line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Curve {
    /// Both ends: x, y, x, y.
    pub at: [f64; 4],
    /// Style.
    pub stroke: Stroke,
    /// True if it ends with an arrow.
    pub has_arrow: bool,
}

/// Content of a graph drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// Boxes; each scope comes before its content.
    pub nodes: Vec<Node>,
    /// Lines between them.
    pub curves: Vec<Curve>,
}

/// The visible part in units of the figure, and the zoom factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Lower edge.
    pub bottom: f64,
    /// Pixels per unit.
    pub scale: f64,
}

impl Window {
    fn shows(&self, [x, y, width, height]: [f64; 4]) -> bool {
        x <= self.right && x + width >= self.left && y <= self.bottom && y + height >= self.top
    }
}

/// Horizontal alignment of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hang {
    /// It starts at the point.
    Start,
    /// It ends at the point.
    End,
    /// It is centred at the point.
    Middle,
}

/// Drawing operations in units of the figure.
pub trait Pen {
    /// Rectangles (left, top, width, height) with round corners.
    fn boxes(
        &mut self,
        boxes: &[[f64; 4]],
        radius: f64,
        fill: Option<Rgb>,
        stroke: Option<(Rgb, f64)>,
    );
    /// Curves with vertical tangents at both ends (x, y, x, y).
    fn curves(&mut self, curves: &[[f64; 4]], colour: Rgb, width: f64, is_dashed: bool);
    /// Filled triangles.
    fn triangles(&mut self, triangles: &[[(f64, f64); 3]], colour: Rgb);
    /// One line of text, centred vertically.
    fn text(&mut self, at: (f64, f64), text: &str, style: Letters);
}

/// Style of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Letters {
    /// Font size.
    pub size: f64,
    /// True for medium weight.
    pub is_strong: bool,
    /// Colour.
    pub colour: Rgb,
    /// Horizontal alignment.
    pub hang: Hang,
}

/// Minimum size of a text on the screen, in pixels; smaller ones are left out.
const MIN_TEXT: f64 = 5.0;
/// Height of the row with the name.
const ROW: f64 = 28.0;
/// Width in pixels of a character of the name, and of the detail.
const NAME_CHAR: f64 = 6.8;
const SMALL_CHAR: f64 = 6.0;
const CHIP_CHARS: usize = 12;

/// Draws the visible part.
pub fn draw(pen: &mut dyn Pen, figure: &Figure, ink: &Ink, window: &Window) {
    let shown = || figure.nodes.iter().filter(|node| window.shows(node.at));
    for node in shown().filter(|node| node.is_open) {
        let (_, stroke) = colours(node.tone, ink);
        let fill = ground(node, ink);
        pen.boxes(&[node.at], 10.0, Some(fill), Some((stroke, 1.0)));
    }
    curves(pen, figure, ink, window);
    let mut groups: BTreeMap<Tone, Vec<[f64; 4]>> = BTreeMap::new();
    let mut stacks: BTreeMap<Tone, Vec<[f64; 4]>> = BTreeMap::new();
    for node in shown().filter(|node| !node.is_open) {
        groups.entry(node.tone).or_default().push(node.at);
        if node.is_stack {
            let [x, y, w, h] = node.at;
            stacks
                .entry(node.tone)
                .or_default()
                .push([x + 3.0, y - 3.0, w, h]);
        }
    }
    for (tone, boxes) in stacks.iter().chain(&groups) {
        let (fill, stroke) = colours(*tone, ink);
        pen.boxes(boxes, 6.0, Some(fill), Some((stroke, 1.0)));
        if let Tone::Series(_) = tone {
            let marks: Vec<[f64; 4]> = boxes
                .iter()
                .map(|[x, y, _, h]| [*x, y + 4.0, 3.0, h - 8.0])
                .collect();
            pen.boxes(&marks, 1.5, Some(stroke), None);
        }
    }
    let bar = |node: &Node| {
        let [x, y, w, h] = node.at;
        [x + 6.0, y + h - 5.0, ((w - 12.0) * node.bar).max(1.0), 3.0]
    };
    let bars = shown().filter(|node| node.bar > 0.0 && !node.is_open);
    let bars: Vec<[f64; 4]> = bars.map(bar).collect();
    if !bars.is_empty() {
        pen.boxes(&bars, 1.5, Some(ink.time), None);
    }
    for node in shown() {
        let [x, y, w, h] = node.at;
        if node.is_on_way && !node.is_open {
            pen.boxes(&[node.at], 6.0, None, Some((ink.accent, 1.75)));
        }
        if node.is_selected {
            let around = [x - 3.5, y - 3.5, w + 7.0, h + 7.0];
            pen.boxes(&[around], 9.0, None, Some((ink.accent, 2.0)));
        }
    }
    if 11.0 * window.scale >= MIN_TEXT {
        for node in shown() {
            write(pen, node, ink);
        }
    }
}

/// Curves of one style, and their arrows.
type Strokes = (Vec<[f64; 4]>, Vec<[(f64, f64); 3]>);

fn curves(pen: &mut dyn Pen, figure: &Figure, ink: &Ink, window: &Window) {
    let mut groups: BTreeMap<Stroke, Strokes> = BTreeMap::new();
    for curve in &figure.curves {
        let [x, y, to_x, to_y] = curve.at;
        let (left, top) = (x.min(to_x), y.min(to_y));
        if !window.shows([left, top, (x - to_x).abs(), (y - to_y).abs()]) {
            continue;
        }
        let group = groups.entry(curve.stroke).or_default();
        if curve.has_arrow {
            let back = if to_y >= y { -6.0 } else { 6.0 };
            group.1.push([
                (to_x - 3.5, to_y + back),
                (to_x, to_y),
                (to_x + 3.5, to_y + back),
            ]);
            group.0.push([x, y, to_x, to_y + back]);
        } else {
            group.0.push(curve.at);
        }
    }
    for (stroke, (curves, arrows)) in &groups {
        let (colour, width, is_dashed) = match stroke {
            Stroke::Plain => (ink.edge, 1.25, false),
            Stroke::Control => (ink.line_2, 1.0, true),
            Stroke::Warning => (ink.warning, 1.75, false),
            Stroke::Error => (ink.error, 1.75, true),
            Stroke::Near => (ink.accent, 1.75, false),
            Stroke::Way => (ink.accent, 2.5, false),
        };
        pen.curves(curves, colour, width, is_dashed);
        pen.triangles(arrows, colour);
    }
}

/// Fill and border.
fn colours(tone: Tone, ink: &Ink) -> (Rgb, Rgb) {
    match tone {
        Tone::Plain => (ink.surface, ink.line_2),
        Tone::Error => (ink.error_wash, ink.error),
        Tone::Warning => (ink.warning_wash, ink.warning_line),
        Tone::Good => (ink.ok_wash, ink.ok_line),
        Tone::Series(index) => (
            ink.surface,
            ink.series.get(index).copied().unwrap_or(ink.ink_3),
        ),
    }
}

/// Ground of an open scope: scopes in scopes take turns, so that their borders are seen.
fn ground(node: &Node, ink: &Ink) -> Rgb {
    if node.depth % 2 == 1 {
        ink.surface_2
    } else {
        ink.surface
    }
}

fn write(pen: &mut dyn Pen, node: &Node, ink: &Ink) {
    let [x, y, w, _] = node.at;
    let middle = y + ROW / 2.0;
    let mut left = x + 10.0;
    if node.has_icon {
        icon(pen, node.tone, (left + 5.0, middle), ink);
        left += 16.0;
    }
    if node.is_scope {
        let (cx, cy) = (left + 4.0, middle);
        let chevron = if node.is_open {
            [(cx - 4.0, cy - 2.5), (cx + 4.0, cy - 2.5), (cx, cy + 3.5)]
        } else {
            [(cx - 2.5, cy - 4.0), (cx + 3.5, cy), (cx - 2.5, cy + 4.0)]
        };
        pen.triangles(&[chevron], ink.ink_3);
        left += 14.0;
    }
    let small = Letters {
        size: 11.0,
        is_strong: false,
        colour: ink.ink_3,
        hang: Hang::End,
    };
    let room = x + w - 9.0 - left;
    let detail_width = width_of(&node.detail, SMALL_CHAR);
    let name_width = width_of(&node.label, NAME_CHAR);
    // If there is no room for both, the name takes precedence.
    let has_detail =
        !node.detail.is_empty() && name_width.min(room * 0.7) + detail_width + 8.0 <= room + 4.0;
    let for_name = if has_detail {
        room - detail_width - 8.0
    } else {
        room
    };
    if node.is_open {
        // Edges into the scope end at its words.
        let words = name_width.min(for_name) + if has_detail { 10.0 + detail_width } else { 0.0 };
        let under = [left - 2.0, middle - 9.0, words + 4.0, 18.0];
        pen.boxes(&[under], 3.0, Some(ground(node, ink)), None);
    }
    let name = Letters {
        size: 12.0,
        is_strong: true,
        colour: if node.tone == Tone::Error {
            ink.error
        } else {
            ink.ink
        },
        hang: Hang::Start,
    };
    pen.text((left, middle), &cut(&node.label, for_name, NAME_CHAR), name);
    if has_detail {
        if node.is_open {
            let at = (left + name_width.min(for_name) + 10.0, middle);
            pen.text(
                at,
                &node.detail,
                Letters {
                    hang: Hang::Start,
                    ..small
                },
            );
        } else {
            pen.text((x + w - 9.0, middle), &node.detail, small);
        }
    }
    let mut left = x + 7.0;
    let row = y + ROW + 6.0;
    let chip_text = Letters {
        size: 10.0,
        is_strong: false,
        colour: ink.ink_2,
        hang: Hang::Middle,
    };
    for chip in &node.chips {
        let label = cut(chip, CHIP_CHARS as f64, 1.0);
        let width = label.chars().count() as f64 * 5.8 + 10.0;
        pen.boxes(
            &[[left, row - 7.0, width, 14.0]],
            7.0,
            Some(ink.surface_2),
            None,
        );
        pen.text((left + width / 2.0, row), &label, chip_text);
        left += width + 5.0;
    }
    if node.more_chips > 0 {
        let at = (left, row);
        pen.text(
            at,
            &format!("+{}", node.more_chips),
            Letters {
                hang: Hang::Start,
                ..chip_text
            },
        );
    }
}

/// Severity has a shape, never a colour alone.
fn icon(pen: &mut dyn Pen, tone: Tone, (x, y): (f64, f64), ink: &Ink) {
    let mark = Letters {
        size: 9.0,
        is_strong: true,
        colour: ink.surface,
        hang: Hang::Middle,
    };
    match tone {
        Tone::Error => {
            pen.boxes(
                &[[x - 5.5, y - 5.5, 11.0, 11.0]],
                5.5,
                Some(ink.error),
                None,
            );
            pen.text((x, y + 0.5), "!", mark);
        }
        Tone::Warning => {
            pen.triangles(
                &[[(x - 6.0, y + 5.0), (x, y - 6.0), (x + 6.0, y + 5.0)]],
                ink.warning,
            );
            pen.text((x, y + 1.0), "!", mark);
        }
        Tone::Good => {
            pen.boxes(&[[x - 5.0, y - 5.0, 10.0, 10.0]], 5.0, Some(ink.ok), None);
        }
        Tone::Plain | Tone::Series(_) => {}
    }
}

/// The minimap: closed boxes, and outlines of open ones.
pub fn draw_small(pen: &mut dyn Pen, figure: &Figure, ink: &Ink, scale: f64) {
    let mut groups: BTreeMap<Tone, Vec<[f64; 4]>> = BTreeMap::new();
    for node in figure.nodes.iter().filter(|node| !node.is_open) {
        groups.entry(node.tone).or_default().push(node.at);
    }
    let open: Vec<[f64; 4]> = figure
        .nodes
        .iter()
        .filter(|node| node.is_open)
        .map(|n| n.at)
        .collect();
    pen.boxes(&open, 4.0 / scale, None, Some((ink.line_2, 1.0 / scale)));
    for (tone, boxes) in &groups {
        let fill = match tone {
            Tone::Plain => ink.surface_3,
            Tone::Error => ink.error_line,
            Tone::Warning => ink.warning_line,
            Tone::Good => ink.ok_line,
            Tone::Series(_) => colours(*tone, ink).1,
        };
        pen.boxes(boxes, 0.0, Some(fill), None);
    }
}

fn width_of(text: &str, each: f64) -> f64 {
    text.chars()
        .map(|c| if c.is_ascii() { each } else { 1.8 * each })
        .sum()
}

/// Truncates a text to the available width.
fn cut(text: &str, room: f64, each: f64) -> String {
    if width_of(text, each) <= room + each * 0.5 {
        return text.to_owned();
    }
    let mut width = each;
    let mut out = String::new();
    for c in text.chars() {
        width += if c.is_ascii() { each } else { 1.8 * each };
        if width > room {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}
