//! Heat map over time, one row per operation: occupancy of its output queue, or utilization of its workers. The
//! read-out under the pointer is shared with the bars of waiting.

use leptos::html;
use trainscope_api::pipeline::{Pipeline, PipelineOperation};

use super::model::{View, use_model, whole_share};
use crate::shades::{SHADES, shades};
use trainscope_web_kit::components::pointer;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{PipelineTexts, use_i18n};
use trainscope_web_kit::prelude::*;

/// Minimum number of samples for a heat map.
const MIN_COLUMNS: usize = 5;

/// Row of the heat map: operation, label, shares over time, and the text at its end.
struct Row {
    operation: usize,
    name: String,
    shares: Vec<f64>,
    end: String,
    is_low: bool,
}

/// Rows of all operations, with a legend.
#[component]
pub(super) fn Heat() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    move || {
        let view = model.view.get();
        let texts = i18n.texts().pipeline();
        let (rows, millis) = model.with_pipeline(|pipeline| {
            let rows = rows(pipeline, view, texts);
            let samples = pipeline
                .operations
                .iter()
                .filter_map(|operation| operation.running.as_ref());
            let samples = samples.map(|stats| stats.samples).max().unwrap_or(0);
            (rows, samples.saturating_mul(pipeline.interval_millis))
        })?;
        let columns = rows.iter().map(|row| row.shares.len()).max()?;
        if columns < MIN_COLUMNS {
            let text = (texts.too_few_samples)(columns as u64);
            return Some(view! { <p class="small ink2 too-few">{text}</p> }.into_any());
        }
        let count = rows.len();
        let cells = rows.iter().enumerate().flat_map(|(y, row)| {
            let shares = row.shares.iter().enumerate();
            shares.map(move |(x, share)| (x, y, shade(*share)))
        });
        let paths = shades(cells, ".06h.88v.88h-.88z");
        let [title, beside, empty, full] = texts.heat[usize::from(view == View::Cpu)];
        let is_current = move |row: &Row| {
            let operation = row.operation;
            move || model.operation.get() == Some(operation)
        };
        let names = rows.iter().map(|row| {
            let (operation, name) = (row.operation, row.name.clone());
            view! {
                <button
                    type="button"
                    class="plain micro cut"
                    class:med=is_current(row)
                    title=name.clone()
                    on:click=move |_| model.select(operation)
                >
                    {name.clone()}
                </button>
            }
        });
        let names = names.collect_view();
        let ends = rows.iter().map(|row| {
            let class = if row.is_low { "warn" } else { "ink3" };
            view! { <span class=format!("micro cut {class}")>{row.end.clone()}</span> }
        });
        let ends = ends.collect_view();
        let legend = view! {
            <span class="legend" class:queues=view == View::Queues>
                {empty} <i class="ramp"></i> {full}
            </span>
        };
        let at = move |share: f64| {
            let nanos = share * millis as f64 * 1e6;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a cast of floats saturates"
            )]
            let nanos = nanos as u64;
            format::nanos(nanos)
        };
        let pointed = PlotPointer::new((columns, count));
        let rows = StoredValue::new(rows);
        let reading = move || {
            let (column, row) = pointed.get()?;
            rows.with_value(|rows| {
                let row = rows.get(row)?;
                let share = whole_share(*row.shares.get(column)?);
                let when = at(column as f64 / columns as f64);
                Some(format!("{when} · {}: {share}", row.name))
            })
        };
        let picture = view! {
            {head(title, beside.to_owned(), legend.into_any(), reading)}
            <div class="heat" data-part="heat" class:queues=view == View::Queues style:--rows=count.to_string()>
                <div class="names">{names}</div>
                {pointed.plot(title.to_owned(), paths)}
                <div class="ends">{ends}</div>
                <span class="micro ink3 first">"0"</span>
                <span class="micro ink3 last">{at(1.0)}</span>
            </div>
        };
        Some(picture.into_any())
    }
}

/// Rows of operations that have data for the view.
fn rows(pipeline: &Pipeline, view: View, texts: &PipelineTexts) -> Vec<Row> {
    let all = pipeline.operations.iter().enumerate();
    let all = all.filter_map(|(operation, one)| {
        let running = one.running.as_ref()?;
        let (shares, end, is_low) = match view {
            View::Parameters => return None,
            View::Queues => {
                let room = (running.capacity as f64).max(1.0);
                let shares = running.sizes.iter().map(|size| *size as f64 / room);
                let shares = shares.collect::<Vec<_>>();
                let is_low = running.judged && running.empty > 0;
                (shares, (texts.empties)(running.empty), is_low)
            }
            View::Cpu => {
                let share = whole_share(running.busy?);
                (running.busy_samples.clone(), share, false)
            }
        };
        (!shares.is_empty()).then(|| Row {
            operation,
            name: name(pipeline, operation, one, view, texts),
            shares,
            end,
            is_low,
        })
    });
    all.collect()
}

/// Name of a row. A queue is named after the operations on both of its sides.
fn name(
    pipeline: &Pipeline,
    index: usize,
    one: &PipelineOperation,
    view: View,
    texts: &PipelineTexts,
) -> String {
    if view == View::Cpu {
        return one.name.clone();
    }
    let mut users = pipeline.operations.iter();
    let user = users.find(|user| user.inputs.iter().any(|input| *input as usize == index));
    let user = user.map_or(texts.training, |user| &user.name);
    format!("{} → {user}", one.name)
}

fn shade(filled: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of floats saturates"
    )]
    let shade = (filled * SHADES as f64).ceil() as usize;
    shade.min(SHADES)
}

/// Header of a plot: name, subject, legend, and read-out under the pointer.
pub(super) fn head(
    title: &'static str,
    beside: String,
    legend: AnyView,
    reading: impl Fn() -> Option<String> + Send + 'static,
) -> AnyView {
    view! {
        <div class="hd">
            <h2>{title}</h2>
            <span class="micro ink3 cut">{beside}</span>
            <span class="grow"></span>
            <span class="small cut" role="status">
                {reading}
            </span>
            {legend}
        </div>
    }
    .into_any()
}

/// Pointer position over a plot of columns and rows. `Copy`.
#[derive(Clone, Copy)]
pub(super) struct PlotPointer {
    size: (usize, usize),
    at: RwSignal<Option<(usize, usize)>>,
}

impl PlotPointer {
    /// Creates a pointer without a position.
    pub(super) fn new(size: (usize, usize)) -> Self {
        Self {
            size,
            at: RwSignal::new(None),
        }
    }

    /// Column and row; reactive.
    pub(super) fn get(self) -> Option<(usize, usize)> {
        self.at.get()
    }

    /// Plot with a line through the column under the pointer. Columns have width 1. Several rows have height 1, a
    /// single row has height 100.
    pub(super) fn plot(self, label: String, paths: AnyView) -> AnyView {
        let (columns, rows) = self.size;
        let high = if rows == 1 { 100 } else { rows };
        let plot = NodeRef::<html::Div>::new();
        let on_move = move |event: web_sys::PointerEvent| {
            if let Some((x, y)) = pointer::share(&event, plot) {
                self.at.set(cell(x, columns).zip(cell(y, rows)));
            }
        };
        let mark = move || {
            let (column, _) = self.at.get()?;
            let at = (column as f64 + 0.5) / columns as f64 * 100.0;
            Some(view! { <i class="at" style:left=format!("{at}%")></i> })
        };
        view! {
            <div
                class="plot"
                node_ref=plot
                on:pointermove=on_move
                on:pointerleave=move |_| self.at.set(None)
            >
                <svg
                    role="img"
                    aria-label=label
                    viewBox=format!("0 0 {columns} {high}")
                    preserveAspectRatio="none"
                >
                    {paths}
                </svg>
                {mark}
            </div>
        }
        .into_any()
    }
}

/// Index of the cell at a share of a length; `None` outside.
fn cell(share: f64, of: usize) -> Option<usize> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of floats saturates"
    )]
    let index = (share * of as f64) as usize;
    (share >= 0.0 && index < of).then_some(index)
}

#[cfg(test)]
mod tests {
    use trainscope_api::pipeline::OperationStats;

    use super::*;

    #[test]
    fn only_nothing_is_empty_and_only_all_is_full() {
        assert_eq!((shade(0.0), shade(0.001), shade(1.0)), (0, 1, 9));
        assert_eq!((shade(f64::NAN), shade(7.0)), (0, 9));
        assert!(shade(0.99) == 9 && shade(0.8) == 8);
    }

    #[test]
    fn a_place_is_in_a_cell_or_beside_all() {
        assert_eq!((cell(0.0, 4), cell(0.99, 4)), (Some(0), Some(3)));
        assert_eq!((cell(-0.01, 4), cell(1.0, 4)), (None, None));
    }

    #[test]
    fn queues_are_called_after_both_of_their_sides() {
        let operation = |name: &str, inputs: &[u32], sizes: &[u64]| PipelineOperation {
            name: name.to_owned(),
            inputs: inputs.to_vec(),
            running: Some(OperationStats {
                capacity: 4,
                judged: true,
                empty: sizes.iter().filter(|size| **size == 0).count() as u64,
                sizes: sizes.to_vec(),
                ..OperationStats::default()
            }),
            ..PipelineOperation::default()
        };
        let pipeline = Pipeline {
            operations: vec![
                operation("Read", &[], &[4, 2]),
                operation("Skip", &[0], &[]),
                operation("Batch", &[0], &[0, 1]),
            ],
            ..Pipeline::default()
        };
        let texts = &trainscope_web_kit::i18n::Locale::En.texts().pipeline();
        let found = rows(&pipeline, View::Queues, texts);
        let names: Vec<_> = found
            .iter()
            .map(|row| (row.operation, &*row.name))
            .collect();
        assert_eq!(names, [(0, "Read → Skip"), (2, "Batch → training")]);
        assert_eq!(found[1].shares, [0.0, 0.25]);
        assert!(found[1].is_low && !found[0].is_low);
        assert!(rows(&pipeline, View::Cpu, texts).is_empty());
    }
}
