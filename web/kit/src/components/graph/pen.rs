//! Draws graphs on a canvas element, at device pixels.

use trainscope_charts::graph::{Hang, Letters, Pen};
use trainscope_charts::theme::Rgb;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use crate::components::chart::css;
use crate::components::drawing::clear;

pub(super) struct CanvasPen {
    context: CanvasRenderingContext2d,
    font: String,
}

impl CanvasPen {
    /// Clears a canvas of this size in device pixels, and scales its unit by `zoom` from `at`.
    pub(super) fn new(
        canvas: &HtmlCanvasElement,
        size: (f64, f64),
        zoom: f64,
        at: (f64, f64),
        font: &str,
    ) -> Option<Self> {
        let context = clear(canvas, size, zoom, at)?;
        context.set_text_baseline("middle");
        context.set_line_join("round");
        Some(Self {
            context,
            font: font.to_owned(),
        })
    }

    fn stroke(&self, colour: Rgb, width: f64) {
        self.context.set_stroke_style_str(&css(colour));
        self.context.set_line_width(width);
        self.context.stroke();
    }

    fn fill(&self, colour: Rgb) {
        self.context.set_fill_style_str(&css(colour));
        self.context.fill();
    }
}

impl Pen for CanvasPen {
    fn boxes(
        &mut self,
        boxes: &[[f64; 4]],
        radius: f64,
        fill: Option<Rgb>,
        stroke: Option<(Rgb, f64)>,
    ) {
        self.context.begin_path();
        for [x, y, w, h] in boxes {
            let r = radius.min(w / 2.0).min(h / 2.0);
            if r > 0.0 {
                // Only negative radii are rejected.
                let _never = self.context.round_rect_with_f64(*x, *y, *w, *h, r);
            } else {
                self.context.rect(*x, *y, *w, *h);
            }
        }
        if let Some(fill) = fill {
            self.fill(fill);
        }
        if let Some((colour, width)) = stroke {
            self.stroke(colour, width);
        }
    }

    fn curves(&mut self, curves: &[[f64; 4]], colour: Rgb, width: f64, is_dashed: bool) {
        self.context.begin_path();
        for [x, y, to_x, to_y] in curves {
            let middle = f64::midpoint(*y, *to_y);
            self.context.move_to(*x, *y);
            self.context
                .bezier_curve_to(*x, middle, *to_x, middle, *to_x, *to_y);
        }
        let dashes = js_sys::Array::new();
        if is_dashed {
            dashes.push(&5.0.into());
            dashes.push(&3.0.into());
        }
        // Only NaN is rejected.
        let _never = self.context.set_line_dash(&dashes);
        self.stroke(colour, width);
        let _never = self.context.set_line_dash(&js_sys::Array::new());
    }

    fn triangles(&mut self, triangles: &[[(f64, f64); 3]], colour: Rgb) {
        self.context.begin_path();
        for [a, b, c] in triangles {
            self.context.move_to(a.0, a.1);
            self.context.line_to(b.0, b.1);
            self.context.line_to(c.0, c.1);
            self.context.close_path();
        }
        self.fill(colour);
    }

    fn text(&mut self, (x, y): (f64, f64), text: &str, style: Letters) {
        let weight = if style.is_strong { "500 " } else { "" };
        self.context
            .set_font(&format!("{weight}{}px {}", style.size, self.font));
        self.context.set_fill_style_str(&css(style.colour));
        self.context.set_text_align(match style.hang {
            Hang::Start => "start",
            Hang::Middle => "center",
            Hang::End => "end",
        });
        // A canvas rejects no text.
        let _never = self.context.fill_text(text, x, y);
    }
}
