//! Tooltip with the values of the row under the pointer. It covers neither a brush nor the pointer.

use std::sync::Arc;

use leptos::html::Div;
use trainscope_charts::parallel::{AxisSpec, Layout};

use super::brush::{BrushMark, MARK_WIDTH};
use super::model::use_model;
use trainscope_web_kit::prelude::*;

/// Distance from the pointer, CSS pixels.
const BESIDE: f64 = 16.0;
/// Distance from the edges of the plot, and from a brush, CSS pixels.
const EDGE: f64 = 4.0;
/// Height of the names of groups and axes above the plot, CSS pixels: `.pc-head` and its top.
const HEADS: f64 = 38.0;

/// A rectangle, CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rect {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Rect {
    /// `true` if both overlap or are closer than `room`.
    fn meets(self, other: Self, room: f64) -> bool {
        self.left < other.left + other.width + room
            && other.left < self.left + self.width + room
            && self.top < other.top + other.height + room
            && other.top < self.top + self.height + room
    }
}

/// Upper left corner of a tooltip: next to the pointer, preferably on the side with more room, at the upper or lower
/// end of the plot. Below the plot if a brush is in the way everywhere.
fn place(
    (width, height): (f64, f64),
    plot: (f64, f64),
    (x, y): (f64, f64),
    brushes: &[Rect],
) -> (f64, f64) {
    let (right, left) = (x + BESIDE, x - BESIDE - width);
    let (upper, lower) = (HEADS, plot.1 - EDGE - height);
    let sides = if x > plot.0 / 2.0 {
        [left, right]
    } else {
        [right, left]
    };
    // The end away from the pointer comes first, to keep the line in view.
    let ends = if y > plot.1 / 2.0 {
        [upper, lower]
    } else {
        [lower, upper]
    };
    for left in sides {
        for top in ends {
            let rect = Rect {
                left,
                top: top.max(HEADS),
                width,
                height,
            };
            let is_within = left >= EDGE && left + width <= plot.0 - EDGE;
            if is_within && !brushes.iter().any(|brush| rect.meets(*brush, EDGE)) {
                return (rect.left, rect.top);
            }
        }
    }
    let most = (plot.0 - EDGE - width).max(EDGE);
    ((x - width / 2.0).clamp(EDGE, most), plot.1 + EDGE)
}

/// The values of the row under the pointer.
#[component]
pub(super) fn Tip(
    /// Position of the pointer on the plot, including the scroll offset.
    pointer: RwSignal<(f64, f64)>,
    layout: Memo<Arc<Layout>>,
    marks: Memo<Vec<BrushMark>>,
    /// The element that scrolls the plot.
    holder: NodeRef<Div>,
) -> impl IntoView {
    let model = use_model();
    let tip = NodeRef::<Div>::new();
    let put = move || {
        let tip = tip.try_get_untracked().flatten();
        let holder = holder.try_get_untracked().flatten();
        let (Some(tip), Some(holder)) = (tip, holder) else {
            return;
        };
        let scrolled = f64::from(holder.scroll_left());
        let brush = |mark: &BrushMark| Rect {
            left: mark.x - scrolled - MARK_WIDTH / 2.0,
            top: mark.top,
            width: MARK_WIDTH,
            height: mark.bottom - mark.top,
        };
        let Some(brushes) =
            marks.try_with_untracked(|marks| marks.iter().map(brush).collect::<Vec<_>>())
        else {
            return;
        };
        let size = (
            f64::from(tip.offset_width()),
            f64::from(tip.offset_height()),
        );
        let plot = (
            f64::from(holder.client_width()),
            f64::from(holder.client_height()),
        );
        let (x, y) = pointer.try_get_untracked().unwrap_or_default();
        let (left, top) = place(size, plot, (x - scrolled, y), &brushes);
        let style = web_sys::HtmlElement::style(&tip);
        for (name, value) in [
            ("left", format!("{left:.0}px")),
            ("top", format!("{top:.0}px")),
            ("visibility", "visible".to_owned()),
        ] {
            // Fails only for invalid names.
            let _never = style.set_property(name, &value);
        }
    };
    // The tooltip has a size once it is in the document, and gets its place before the next paint.
    Effect::new(move || {
        tip.track();
        model.hovered.track();
        pointer.track();
        marks.track();
        request_animation_frame(put);
    });
    move || {
        let row = model.hovered.get()? as usize;
        let view = model.view.get();
        let name = view.names.get(row)?.clone();
        let values = model.axes.with(|axes| {
            let value = |(key, axis): &(String, AxisSpec)| {
                let text = super::columns::cell_text(&view.value(key, row), model.info(key).unit);
                view! {
                    <div class="row">
                        {axis.name.clone()}
                        <b>{text}</b>
                    </div>
                }
            };
            axes.iter().map(value).collect_view()
        });
        let most = layout.with(|layout| layout.height) - HEADS - EDGE;
        Some(view! {
            <div class="tip pc-tip" data-part="tip" node_ref=tip style:max-height=format!("{most:.0}px")>
                <div class="row med">{name}</div>
                {values}
            </div>
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (f64, f64) = (200.0, 120.0);
    const PLOT: (f64, f64) = (1_000.0, 272.0);

    fn brush(x: f64, top: f64, bottom: f64) -> Rect {
        Rect {
            left: x - MARK_WIDTH / 2.0,
            top,
            width: MARK_WIDTH,
            height: bottom - top,
        }
    }

    #[test]
    fn values_are_at_the_side_with_room() {
        assert_eq!(place(SIZE, PLOT, (300.0, 60.0), &[]), (316.0, 148.0));
        assert_eq!(place(SIZE, PLOT, (300.0, 200.0), &[]), (316.0, HEADS));
        assert_eq!(place(SIZE, PLOT, (700.0, 200.0), &[]), (484.0, HEADS));
    }

    #[test]
    fn values_avoid_the_brushes_of_all_axes() {
        let right_low = brush(400.0, 170.0, 240.0);
        let right_high = brush(400.0, 50.0, 90.0);
        let left = brush(200.0, 40.0, 260.0);
        let at = (300.0, 60.0);
        assert_eq!(place(SIZE, PLOT, at, &[right_low]), (316.0, HEADS));
        assert_eq!(
            place(SIZE, PLOT, at, &[right_low, right_high]),
            (84.0, 148.0)
        );
        // No free place: below the plot.
        let everywhere = [right_low, right_high, left];
        assert_eq!(place(SIZE, PLOT, at, &everywhere), (200.0, 276.0));
    }

    #[test]
    fn no_place_meets_a_brush_or_the_pointer() {
        for x in (0..=1_000).step_by(50) {
            for y in (40..272).step_by(20) {
                for top in (40..240).step_by(25) {
                    let (x, y, top) = (f64::from(x), f64::from(y), f64::from(top));
                    let brushes = [200.0, 450.0, 700.0].map(|at| brush(at, top, top + 30.0));
                    let (left, top) = place(SIZE, PLOT, (x, y), &brushes);
                    let rect = Rect {
                        left,
                        top,
                        width: SIZE.0,
                        height: SIZE.1,
                    };
                    assert!(!brushes.iter().any(|brush| rect.meets(*brush, 0.0)));
                    assert!(!rect.meets(brush(x, y, y), 0.0), "{x} {y}");
                    assert!(left >= 0.0 && left + SIZE.0 <= PLOT.0, "{left}");
                }
            }
        }
    }
}
