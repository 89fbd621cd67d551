//! Parallel coordinates on three canvases: all lines pale, those of the selection above them, axes and the line under
//! the pointer on top. Up to [`MAX_STROKES`] lines are strokes. More are counted by pixel, and a change of the
//! selection adds or subtracts only the lines that enter or leave.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use leptos::html;
use trainscope_charts::density::{Density, SHADES};
use trainscope_charts::parallel::{LaneNames, Layout, Stroke, draw_axes, draw_bands, draw_lines};
use trainscope_charts::theme::{Rgb, Theme};
use web_sys::HtmlCanvasElement;

use super::{canvas, use_palette};
use crate::components::drawing::{Ticket, put_pixels};
use crate::format;
use crate::prelude::*;

/// Maximum number of lines drawn as strokes.
const MAX_STROKES: usize = 2_000;
/// Time per frame for counting lines, in milliseconds.
const SLICE_MILLIS: f64 = 8.0;
/// Width of a line of the selection, of one under the pointer, and of the others, CSS pixels.
const KEPT_WIDTH: f64 = 1.75;
const MARKED_WIDTH: f64 = 2.5;
const OTHER_WIDTH: f64 = 1.0;
/// Opacity of lines outside of the selection.
const OTHER_ALPHA: f64 = 0.55;

/// Looks of the lines of all rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// Colour of each row.
    pub colours: Vec<Rgb>,
    /// Position of each row's colour on the scale, 0 to 255.
    pub shades: Vec<u8>,
    /// Marks of the rows of the selection.
    pub kept: Vec<bool>,
    /// Rows of the selection in the order of drawing, the last one on top.
    pub order: Vec<u32>,
    /// Rows that stand out, ascending: the run of the page, selected ones.
    pub marked: Vec<u32>,
}

/// Strokes of all rows, and of those of the selection.
pub fn strokes(lines: &Lines, theme: &Theme) -> (Vec<Stroke>, Vec<Stroke>) {
    let below = (0..lines.kept.len()).map(|row| pale(row, theme));
    let above = lines.order.iter().map(|row| {
        let is_marked = lines.marked.binary_search(row).is_ok();
        stroke(
            lines,
            *row as usize,
            if is_marked { MARKED_WIDTH } else { KEPT_WIDTH },
            theme,
        )
    });
    (below.collect(), above.collect())
}

fn pale(row: usize, theme: &Theme) -> Stroke {
    Stroke {
        row,
        colour: theme.base,
        alpha: OTHER_ALPHA,
        width: OTHER_WIDTH,
        has_casing: false,
    }
}

fn stroke(lines: &Lines, row: usize, width: f64, theme: &Theme) -> Stroke {
    Stroke {
        row,
        colour: lines.colours.get(row).copied().unwrap_or(theme.ink_3),
        alpha: 1.0,
        width,
        has_casing: true,
    }
}

/// Counts on a canvas, with the lines that are still to be added or subtracted.
struct CountState {
    layout: Arc<Layout>,
    density: Density,
    shades: Vec<u8>,
    kept: Vec<bool>,
    waiting: VecDeque<(usize, bool)>,
    is_running: bool,
    colours: Rc<[Rgb; SHADES]>,
}

/// A canvas of counts.
#[derive(Clone)]
struct Counts(Rc<RefCell<Option<CountState>>>);

impl Counts {
    fn new() -> Self {
        Self(Rc::new(RefCell::new(None)))
    }

    fn forget(&self) {
        self.0.replace(None);
    }

    /// Brings the counts to a selection; the first rows of `order` are drawn first.
    fn show(
        &self,
        canvas: &HtmlCanvasElement,
        layout: &Arc<Layout>,
        (kept, shades): (&[bool], &[u8]),
        order: &[u32],
        colours: Rc<[Rgb; SHADES]>,
    ) {
        let is_running = {
            let mut state = self.0.borrow_mut();
            let fits = state.as_ref().is_some_and(|state| {
                Arc::ptr_eq(&state.layout, layout)
                    && state.shades == shades
                    && state.kept.len() == kept.len()
            });
            if !fits {
                let was_running = state.as_ref().is_some_and(|state| state.is_running);
                *state = Some(CountState {
                    layout: Arc::clone(layout),
                    density: Density::new(layout),
                    shades: shades.to_vec(),
                    kept: vec![false; kept.len()],
                    waiting: VecDeque::new(),
                    is_running: was_running,
                    colours: Rc::clone(&colours),
                });
            }
            let Some(state) = state.as_mut() else { return };
            state.colours = colours;
            // Waiting lines have not been counted yet.
            for (row, enters) in state.waiting.drain(..) {
                state.kept[row] = !enters;
            }
            let first = order
                .iter()
                .map(|row| *row as usize)
                .filter(|row| *row < kept.len());
            let rest = 0..kept.len();
            let mut is_queued = vec![false; kept.len()];
            for row in first.chain(rest) {
                if state.kept[row] != kept[row] && !is_queued[row] {
                    is_queued[row] = true;
                    state.waiting.push_back((row, kept[row]));
                }
            }
            for (row, enters) in &state.waiting {
                state.kept[*row] = *enters;
            }
            std::mem::replace(&mut state.is_running, true)
        };
        if !is_running {
            self.clone().slice(canvas.clone());
        }
    }

    /// Counts lines for a while, shows them, and goes on in the next frame.
    fn slice(self, canvas: HtmlCanvasElement) {
        let is_done = {
            let mut state = self.0.borrow_mut();
            let Some(state) = state.as_mut() else { return };
            let begun = format::now_millis();
            let mut counted = 0_u32;
            while let Some((row, enters)) = state.waiting.pop_front() {
                let shade = state.shades.get(row).copied().unwrap_or(0);
                if enters {
                    state.density.add(&state.layout, row, shade);
                } else {
                    state.density.subtract(&state.layout, row, shade);
                }
                counted += 1;
                if counted.is_multiple_of(16) && format::now_millis() - begun >= SLICE_MILLIS {
                    break;
                }
            }
            let pixels = state.density.pixels(&state.colours);
            // Only a canvas without room rejects pixels.
            let _ignored = put_pixels(&canvas, state.density.size().0, &pixels);
            state.is_running = !state.waiting.is_empty();
            !state.is_running
        };
        if !is_done {
            request_animation_frame(move || self.slice(canvas));
        }
    }
}

/// Parallel coordinates without heads and brushes, which are elements over it.
#[component]
pub fn ParallelChart(
    #[prop(into)] layout: Signal<Arc<Layout>>,
    #[prop(into)] lines: Signal<Arc<Lines>>,
    /// The row under the pointer or the cursor.
    #[prop(into)]
    hovered: Signal<Option<u32>>,
    /// Colours of the scale, from its minimum to its maximum.
    #[prop(into)]
    scale: Signal<Arc<Vec<Rgb>>>,
    /// Names of lanes.
    #[prop(into)]
    names: Signal<LaneNames>,
    /// Description for screen readers.
    #[prop(into)]
    label: Signal<String>,
) -> impl IntoView {
    let palette = use_palette();
    let [below, above, top] = std::array::from_fn(|_| NodeRef::<html::Canvas>::new());
    let [below_ticket, above_ticket, top_ticket] = std::array::from_fn(|_| Ticket::unique());
    let counts = LocalValue::new_local([Counts::new(), Counts::new()]);
    let rows = Memo::new(move |_| lines.with(|lines| lines.kept.len()));
    Effect::new(move || {
        let (layout, palette, rows) = (layout.get(), palette.get(), rows.get());
        let Some(canvas) = below.get() else { return };
        below_ticket.ask(move || {
            let theme = &palette.theme;
            let Some(below_counts) = counts.try_with_value(|counts| counts[0].clone()) else {
                return;
            };
            if rows > MAX_STROKES {
                let colours = Rc::new([theme.base; SHADES]);
                below_counts.show(
                    &canvas,
                    &layout,
                    (&vec![true; rows], &vec![0; rows]),
                    &[],
                    colours,
                );
                return;
            }
            below_counts.forget();
            if let Some(backend) = prepare(&canvas, &layout) {
                let strokes: Vec<Stroke> = (0..rows).map(|row| pale(row, theme)).collect();
                // A canvas rejects only arcs of negative radius, which do not occur.
                let _never = draw_lines(backend, &layout, &strokes, theme);
            }
        });
    });
    Effect::new(move || {
        let (layout, palette, lines) = (layout.get(), palette.get(), lines.get());
        let scale = scale.get();
        let Some(canvas) = above.get() else { return };
        above_ticket.ask_first(move || {
            let theme = &palette.theme;
            let Some(above_counts) = counts.try_with_value(|counts| counts[1].clone()) else {
                return;
            };
            if lines.kept.len() > MAX_STROKES {
                let last = scale.len().saturating_sub(1);
                let colours = std::array::from_fn(|shade| {
                    scale
                        .get(shade * last / (SHADES - 1))
                        .copied()
                        .unwrap_or(theme.ink_2)
                });
                let best: Vec<u32> = lines.order.iter().rev().copied().collect();
                above_counts.show(
                    &canvas,
                    &layout,
                    (&lines.kept, &lines.shades),
                    &best,
                    Rc::new(colours),
                );
                return;
            }
            above_counts.forget();
            let (_, strokes) = strokes(&lines, theme);
            let has_bands = layout.axes.iter().any(|axis| axis.bands.is_some());
            if has_bands && let Some(backend) = prepare(&canvas, &layout) {
                let _never = draw_bands(backend, &layout, &strokes, theme);
            }
            let backend = if has_bands {
                canvas::resume(&canvas)
            } else {
                prepare(&canvas, &layout)
            };
            if let Some(backend) = backend {
                let _never = draw_lines(backend, &layout, &strokes, theme);
            }
        });
    });
    Effect::new(move || {
        let (layout, palette, names) = (layout.get(), palette.get(), names.get());
        let hovered = hovered.get();
        // Axes do not change with the selection: they are drawn again for a line under the pointer.
        let lines = hovered.map(|_| lines.get());
        let Some(canvas) = top.get() else { return };
        top_ticket.ask_first(move || {
            let Some(backend) = prepare(&canvas, &layout) else {
                return;
            };
            let theme = &palette.theme;
            let row = hovered
                .map(|row| row as usize)
                .filter(|row| *row < layout.rows);
            if let (Some(row), Some(lines)) = (row, &lines) {
                let stroke = stroke(lines, row, MARKED_WIDTH, theme);
                let _never = draw_lines(backend, &layout, &[stroke], theme);
                if let Some(backend) = canvas::resume(&canvas) {
                    let _never = draw_axes(backend, &layout, names, theme);
                }
            } else {
                let _never = draw_axes(backend, &layout, names, theme);
            }
        });
    });
    on_cleanup(move || {
        for ticket in [below_ticket, above_ticket, top_ticket] {
            ticket.give_up();
        }
    });
    view! {
        <canvas node_ref=below aria-hidden="true"></canvas>
        <canvas node_ref=above role="img" aria-label=move || label.get()></canvas>
        <canvas node_ref=top aria-hidden="true"></canvas>
    }
}

fn prepare(element: &HtmlCanvasElement, layout: &Layout) -> Option<super::backend::Canvas> {
    canvas::prepare(element, (layout.width, layout.height, layout.dpr))
}
