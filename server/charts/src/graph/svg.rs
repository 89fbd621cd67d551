//! Graph drawings as SVG text.

use std::fmt::Write as _;

use super::{Figure, Hang, Ink, Letters, Pen, Window, draw};
use crate::svg::{Document, escaped, hex};
use crate::theme::Rgb;

/// The whole figure as an SVG document on the background of the page. Names are escaped.
pub fn svg(figure: &Figure, ink: &Ink) -> String {
    let (width, height) = (figure.width.max(1.0), figure.height.max(1.0));
    let font = format!(" font-family=\"{}\"", escaped(&ink.font));
    let mut document = Document::new((width, height), &font, ink.bg);
    let window = Window {
        left: 0.0,
        top: 0.0,
        right: width,
        bottom: height,
        scale: 1.0,
    };
    draw(&mut document, figure, ink, &window);
    document.end()
}

impl Pen for Document {
    fn boxes(
        &mut self,
        boxes: &[[f64; 4]],
        radius: f64,
        fill: Option<Rgb>,
        stroke: Option<(Rgb, f64)>,
    ) {
        let fill = fill.map_or_else(|| "none".to_owned(), hex);
        let stroke = stroke.map_or_else(String::new, |(colour, width)| {
            format!(" stroke=\"{}\" stroke-width=\"{width}\"", hex(colour))
        });
        self.put(format_args!("<g fill=\"{fill}\"{stroke}>"));
        for [x, y, w, h] in boxes {
            self.put(format_args!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{radius}\"/>"
            ));
        }
        self.put(format_args!("</g>"));
    }

    fn curves(&mut self, curves: &[[f64; 4]], colour: Rgb, width: f64, is_dashed: bool) {
        let dash = if is_dashed {
            " stroke-dasharray=\"5 3\""
        } else {
            ""
        };
        let mut path = String::new();
        for [x, y, to_x, to_y] in curves {
            let middle = f64::midpoint(*y, *to_y);
            write!(path, "M{x} {y}C{x} {middle} {to_x} {middle} {to_x} {to_y}").unwrap_or_default();
        }
        self.put(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"{dash}/>",
            hex(colour)
        ));
    }

    fn triangles(&mut self, triangles: &[[(f64, f64); 3]], colour: Rgb) {
        let mut path = String::new();
        for [a, b, c] in triangles {
            write!(path, "M{} {}L{} {}L{} {}Z", a.0, a.1, b.0, b.1, c.0, c.1).unwrap_or_default();
        }
        self.put(format_args!(
            "<path d=\"{path}\" fill=\"{}\"/>",
            hex(colour)
        ));
    }

    fn text(&mut self, (x, y): (f64, f64), text: &str, style: Letters) {
        let anchor = match style.hang {
            Hang::Start => "start",
            Hang::Middle => "middle",
            Hang::End => "end",
        };
        let weight = if style.is_strong { 500 } else { 400 };
        self.put(format_args!(
            "<text x=\"{x}\" y=\"{}\" font-size=\"{}\" font-weight=\"{weight}\" text-anchor=\"{anchor}\" fill=\"{}\">{}</text>",
            y + style.size * 0.36,
            style.size,
            hex(style.colour),
            escaped(text)
        ));
    }
}
