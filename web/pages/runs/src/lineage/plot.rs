//! Parallel coordinates with their gestures. Brushes are drawn, moved, resized and cleared on axes; heads are dragged
//! or open a menu.

use std::collections::HashSet;
use std::sync::Arc;

use leptos::html::Div;
use trainscope_charts::parallel::{AxisKind, Layout, Spec};
use trainscope_charts::theme::Rgb;

use super::brush::{Brush, BrushMark, MARK_WIDTH};
use super::gesture::ends_at;
use super::gestures::Gestures;
use super::head::AxisHead;
use super::model::{Model, use_model};
use super::shades::{Shades, use_shades};
use super::tip::Tip;
use trainscope_web_kit::components::{Lines, ParallelChart, use_palette, use_size};
use trainscope_web_kit::format;
use trainscope_web_kit::frames::after_paint;
use trainscope_web_kit::prelude::*;

/// The card with the lines.
#[component]
pub(super) fn Plot() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let palette = use_palette();
    let shades = use_shades();
    let (holder, chart) = (NodeRef::<Div>::new(), NodeRef::<Div>::new());
    let size = use_size(holder);
    let layout = Memo::new(move |_| {
        let (width, height, dpr) = size.get();
        let axes = model.axes.get();
        let spec = Spec {
            width,
            height,
            dpr,
            axes: axes.iter().map(|(_, axis)| axis.clone()).collect(),
        };
        Arc::new(if width < 1.0 {
            Layout::default()
        } else {
            Layout::new(&spec)
        })
    });
    let lines = Memo::new(move |_| {
        let kept = model.kept.get();
        let order = model.order.get();
        let shades = shades.get();
        let view = model.view.get();
        let marked = model.selected.with(|selected| {
            model.cursor.with(|cursor| {
                let runs: HashSet<&String> = selected.iter().chain(cursor).collect();
                if runs.is_empty() {
                    return Vec::new();
                }
                let rows = view.runs_of_rows().zip(0..);
                let found =
                    rows.filter(|(members, _)| members.iter().any(|run| runs.contains(run)));
                found.map(|(_, row)| row).collect()
            })
        });
        Arc::new(Lines {
            colours: shades.colours.clone(),
            shades: shades.positions.clone(),
            kept: kept.marks.clone(),
            // The first row of the table is drawn last, on top.
            order: order.iter().rev().copied().collect(),
            marked,
        })
    });
    let scale = Memo::new(move |_| {
        let palette = palette.get();
        let share = |shade: u16| Shades::of_share(f64::from(shade) / 255.0, &palette.theme);
        Arc::new((0..256).map(share).collect::<Vec<Rgb>>())
    });
    let under = Memo::new(move |_| {
        model.hovered.get().or_else(|| {
            let view = model.view.get();
            let row = model
                .cursor
                .with(|cursor| view.row_of(cursor.as_deref()?))?;
            u32::try_from(row).ok()
        })
    });
    let label = move || {
        let texts = i18n.texts().lineage();
        let (all, kept) = (
            model.view.get().len() as u64,
            model.kept.with(|kept| kept.rows.len() as u64),
        );
        let first = model.order.with(|order| order.first().copied());
        let view = model.view.get();
        let best = first
            .and_then(|row| view.names.get(row as usize))
            .cloned()
            .unwrap_or_default();
        (texts.picture)(all, kept, &best)
    };
    let gestures = Gestures::new(holder, chart, layout);
    let marks = Memo::new(move |_| layout.with(|layout| brush_marks(&model, layout)));
    let pointer = RwSignal::new((0.0, 0.0));
    let on_move = move |event: web_sys::PointerEvent| {
        let Some(at) = gestures.place(&event) else {
            return;
        };
        pointer.set(at);
        gestures.pointed(at);
    };
    let groups = move || {
        layout.with(|layout| {
            let caption = |(name, from, to): (&str, f64, f64)| {
                view! {
                    <span
                        class="pc-group"
                        style:left=format!("{from}px")
                        style:width=format!("{}px", to - from)
                    >
                        {name.to_owned()}
                    </span>
                }
            };
            layout.groups().into_iter().map(caption).collect_view()
        })
    };
    // If the axes do not fit, the plot is scrolled to the last one, which is the result.
    let is_placed = StoredValue::new(false);
    Effect::new(move || {
        let width = layout.with(|layout| layout.width);
        let (room, ..) = size.get();
        if width < 1.0 || is_placed.get_value() || model.axes.with(|axes| axes.is_empty()) {
            return;
        }
        is_placed.set_value(true);
        if width > room + 1.0 {
            after_paint(move || {
                if let Some(Some(holder)) = holder.try_get_untracked() {
                    holder.set_scroll_left(holder.scroll_width());
                }
            });
        }
    });
    // Live values change the axes but not the heads, hence an open menu stays open.
    let keys = Memo::new(move |_| {
        model
            .axes
            .with(|axes| axes.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>())
    });
    let heads = move || {
        let heads = keys.get().into_iter().enumerate().map(|(index, key)| {
            let x = Memo::new(move |_| {
                layout.with(|layout| layout.axes.get(index).map_or(0.0, |axis| axis.x))
            });
            view! { <AxisHead key=key x=x gestures=gestures /> }
        });
        heads.collect_view()
    };
    view! {
        <section class="card pc-card" data-part="lines" aria-label=i18n.text(|t| t.lineage().lines)>
            <div class="pc-scroll" node_ref=holder>
                <div
                    class="chart pc"
                    node_ref=chart
                    style:width=move || format!("{}px", layout.with(|layout| layout.width))
                    style=("--pitch", move || format!("{:.0}px", layout.with(pitch)))
                    on:pointerdown=move |event| gestures.begin(&event)
                    on:pointermove=on_move
                    on:pointerup=move |event| gestures.end(&event)
                    on:pointercancel=move |_| gestures.cancel()
                    on:pointerleave=move |_| {
                        if !gestures.is_active() && model.hovered.get_untracked().is_some() {
                            model.hovered.set(None);
                        }
                    }
                >
                    <ParallelChart
                        layout=layout
                        lines=lines
                        hovered=under
                        scale=scale
                        names=Signal::derive(move || i18n.texts().lineage().lanes)
                        label=Signal::derive(label)
                    />
                    {groups}
                    {heads}
                    <BrushMarks marks=marks />
                </div>
            </div>
            <Tip pointer=pointer layout=layout marks=marks holder=holder />
        </section>
    }
}

/// Minimum distance of neighbouring axes, at most 96 CSS pixels; heads are not wider.
fn pitch(layout: &Arc<Layout>) -> f64 {
    let pairs = layout.axes.windows(2);
    pairs.map(|pair| pair[1].x - pair[0].x).fold(96.0, f64::min)
}

/// Minimum height of a mark, CSS pixels.
const MARK_HEIGHT: f64 = 6.0;

/// All brushes as rectangles; reactive.
fn brush_marks(model: &Model, layout: &Layout) -> Vec<BrushMark> {
    let lane_names = model.i18n.texts().lineage().lanes;
    let mut marks = Vec::new();
    model.brushes.with(|brushes| {
        model.axes.with(|axes| {
            for ((key, axis), placed) in axes.iter().zip(&layout.axes) {
                let Some(brush) = brushes.get(key) else {
                    continue;
                };
                let said = words(brush, |lane| lane.label(lane_names).to_owned());
                let label = format!("{key} {said}");
                let mut mark = |top: f64, bottom: f64| {
                    marks.push(BrushMark {
                        x: placed.x,
                        top,
                        bottom: bottom.max(top + MARK_HEIGHT),
                        label: label.clone(),
                    });
                };
                for range in &brush.ranges {
                    let (top, bottom) = ends_at(placed, *range);
                    mark(top, bottom);
                }
                if let AxisKind::Choices(names) = &axis.kind {
                    let all = names.iter().enumerate();
                    for (choice, _) in all.filter(|(_, name)| brush.choices.contains(name)) {
                        let y = placed.y_of_choice(choice);
                        mark(y - 7.0, y + 7.0);
                    }
                }
                for lane in &brush.lanes {
                    let y = layout.lane_y(*lane);
                    mark(y - 6.0, y + 6.0);
                }
            }
        });
    });
    marks
}

/// Brushes as rectangles over their axes.
#[component]
fn BrushMarks(marks: Memo<Vec<BrushMark>>) -> impl IntoView {
    let view = |mark: BrushMark| {
        view! {
            <i
                class="pc-brush"
                role="img"
                data-part="brush"
                aria-label=mark.label
                style:left=format!("{}px", mark.x - MARK_WIDTH / 2.0)
                style:top=format!("{}px", mark.top)
                style:height=format!("{}px", mark.bottom - mark.top)
            ></i>
        }
    };
    move || marks.get().into_iter().map(view).collect_view()
}

/// Short text of a brush: `6e−5 – 1e−3, NaN`.
pub(super) fn words(
    brush: &Brush,
    lane: impl Fn(&trainscope_charts::parallel::Lane) -> String,
) -> String {
    let range = |(from, to): &(f64, f64)| match (from.is_finite(), to.is_finite()) {
        (true, true) => format!("{} – {}", format::cell(*from), format::cell(*to)),
        (true, false) => format!("≥ {}", format::cell(*from)),
        (false, true) => format!("≤ {}", format::cell(*to)),
        (false, false) => "−∞ – +∞".to_owned(),
    };
    let ranges = brush.ranges.iter().map(range);
    let choices = brush.choices.iter().cloned();
    ranges
        .chain(choices)
        .chain(brush.lanes.iter().map(lane))
        .collect::<Vec<_>>()
        .join(", ")
}
