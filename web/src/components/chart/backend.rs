//! A canvas of the browser as what plots are drawn to. Each call from here into the browser takes its time, and what it
//! is told twice it works out twice: so it is told of colours and fonts only when they change.

use std::convert::Infallible;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use web_sys::CanvasRenderingContext2d;

type Done = Result<(), DrawingErrorKind<Infallible>>;

/// What strokes look like.
type Pen = (BackendColor, u32);

/// Points of a path that are stroked at once. Without a graphics processor a browser takes four times as long for a line
/// of 360 that goes up and down as for the same in such pieces: 105 and 25 ms for twenty of them.
const PIECE: usize = 16;

/// A canvas that is drawn to.
pub(super) struct Canvas {
    context: CanvasRenderingContext2d,
    size: (u32, u32),
    /// What the browser knows.
    pen: Option<Pen>,
    fill: Option<BackendColor>,
    font: String,
    hangs: Option<(&'static str, &'static str)>,
}

impl Canvas {
    /// Of this many units.
    pub(super) fn new(context: CanvasRenderingContext2d, size: (u32, u32)) -> Self {
        Self {
            context,
            size,
            pen: None,
            fill: None,
            font: String::new(),
            hangs: None,
        }
    }

    fn take_pen(&mut self, pen: Pen) {
        let before = self.pen.replace(pen);
        if before.is_none_or(|before| !is_same(before.0, pen.0)) {
            self.context.set_stroke_style_str(&text_of(pen.0));
        }
        if before.is_none_or(|before| before.1 != pen.1) {
            self.context.set_line_width(f64::from(pen.1));
        }
    }

    fn take_fill(&mut self, colour: BackendColor) {
        let before = self.fill.replace(colour);
        if before.is_none_or(|before| !is_same(before, colour)) {
            self.context.set_fill_style_str(&text_of(colour));
        }
    }

    fn lines(&self, points: impl IntoIterator<Item = BackendCoord>) {
        for (index, (x, y)) in points.into_iter().enumerate() {
            if index == 0 {
                self.context.move_to(f64::from(x), f64::from(y));
            } else {
                self.context.line_to(f64::from(x), f64::from(y));
            }
        }
    }
}

impl DrawingBackend for Canvas {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, colour: BackendColor) -> Done {
        self.take_fill(colour);
        let (x, y) = (f64::from(point.0), f64::from(point.1));
        self.context.fill_rect(x, y, 1.0, 1.0);
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Done {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        is_filled: bool,
    ) -> Done {
        let (x, y) = (f64::from(from.0), f64::from(from.1));
        let (width, height) = (f64::from(to.0) - x, f64::from(to.1) - y);
        if is_filled {
            self.take_fill(style.color());
            self.context.fill_rect(x, y, width, height);
        } else {
            self.take_pen((style.color(), style.stroke_width()));
            self.context.stroke_rect(x, y, width, height);
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        let pen = (style.color(), style.stroke_width());
        self.take_pen(pen);
        // Where strokes that let something through meet, both would be seen.
        let piece = if pen.0.alpha < 1.0 { usize::MAX } else { PIECE };
        self.context.begin_path();
        let mut is_open = false;
        for (index, (x, y)) in path.into_iter().enumerate() {
            let (x, y) = (f64::from(x), f64::from(y));
            if index == 0 {
                self.context.move_to(x, y);
                continue;
            }
            self.context.line_to(x, y);
            is_open = index % piece != 0;
            if !is_open {
                self.context.stroke();
                self.context.begin_path();
                self.context.move_to(x, y);
            }
        }
        if is_open {
            self.context.stroke();
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        self.take_fill(style.color());
        self.context.begin_path();
        self.lines(path);
        self.context.fill();
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        is_filled: bool,
    ) -> Done {
        self.context.begin_path();
        let (x, y, radius) = (f64::from(centre.0), f64::from(centre.1), f64::from(radius));
        // A canvas refuses nothing but a negative radius.
        let _never = self.context.arc(x, y, radius, 0.0, std::f64::consts::TAU);
        if is_filled {
            self.take_fill(style.color());
            self.context.fill();
        } else {
            self.take_pen((style.color(), style.stroke_width()));
            self.context.stroke();
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Done {
        let anchor = style.anchor();
        let hangs = (
            match anchor.h_pos {
                HPos::Left => "start",
                HPos::Right => "end",
                HPos::Center => "center",
            },
            match anchor.v_pos {
                VPos::Top => "top",
                VPos::Center => "middle",
                VPos::Bottom => "bottom",
            },
        );
        if self.hangs != Some(hangs) {
            self.hangs = Some(hangs);
            self.context.set_text_align(hangs.0);
            self.context.set_text_baseline(hangs.1);
        }
        let weight = style.style();
        let font = format!(
            "{} {}px {}",
            weight.as_str(),
            style.size(),
            style.family().as_str()
        );
        if self.font != font {
            self.context.set_font(&font);
            self.font = font;
        }
        self.take_fill(style.color());
        // Text without a font is not drawn; there is nothing that could be done.
        let _ignored = self
            .context
            .fill_text(text, f64::from(at.0), f64::from(at.1));
        Ok(())
    }
}

fn is_same(a: BackendColor, b: BackendColor) -> bool {
    a.rgb == b.rgb && a.alpha.to_bits() == b.alpha.to_bits()
}

fn text_of(colour: BackendColor) -> String {
    let (r, g, b) = colour.rgb;
    format!("rgba({r},{g},{b},{})", colour.alpha)
}
