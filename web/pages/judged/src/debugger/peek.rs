//! Sample of the elements of a tensor at a step, around the first NaN or infinity, else around the maximum, and the
//! histogram of all elements next to that of the step before.

use std::sync::Arc;

use trainscope_api::tensors::{Bins, Slice, TensorQuery};

use trainscope_web_kit::client;
use trainscope_web_kit::components::tensor::{Plane, Tile, Window, bins_picture, grid};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// Maximum number of elements of a sampled tensor. The page of tensors shows the progress of larger ones.
const MAX_ELEMENTS: u64 = 1 << 24;
const BINS: usize = 40;
const ROWS: u64 = 6;
const COLUMNS: u64 = 4;

/// Sample of a tensor.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Peek {
    run: String,
    tensor: String,
    rank: u32,
    /// Nearest steps with elements, if this step has none.
    elsewhere: Vec<i64>,
    bins: Option<Bins>,
    /// Previous step with elements, in the same bins.
    before: Option<(i64, Bins)>,
    tile: Option<(Arc<Tile>, (u64, u64))>,
}

impl Peek {
    /// Requests a sample of a tensor with `count` elements. `None` if it is too large or the request fails.
    pub(super) async fn at(
        run: &str,
        tensor: &str,
        rank: u32,
        step: i64,
        count: u64,
    ) -> Option<Self> {
        let steps = client::steps_with_elements(run, tensor, rank).await;
        let at = steps.partition_point(|other| *other < step);
        let mut seen = Self {
            run: run.to_owned(),
            tensor: tensor.to_owned(),
            rank,
            ..Self::default()
        };
        let before = at.checked_sub(1).and_then(|at| steps.get(at)).copied();
        if steps.get(at) != Some(&step) {
            seen.elsewhere = before.into_iter().chain(steps.get(at).copied()).collect();
            return Some(seen);
        }
        if count > MAX_ELEMENTS {
            return None;
        }
        let query = TensorQuery {
            run: run.to_owned(),
            tensor: tensor.to_owned(),
            rank,
            step: Some(step),
            bins: Some(BINS),
            ..TensorQuery::default()
        };
        let found = client::tensor_summary(&query).await.ok()?;
        let places = found.positions;
        let centre = places.nan.or(places.pos_inf).or(places.neg_inf);
        let centre = centre.or(places.max).unwrap_or_default();
        seen.tile = tile(&query, &found.place.shape, &centre).await;
        if let (Some(step), Some(bins)) = (before, &found.histogram) {
            let query = TensorQuery {
                step: Some(step),
                low: Some(bins.low),
                high: Some(bins.high),
                ..query
            };
            let earlier = client::tensor_summary(&query).await.ok();
            let earlier = earlier.and_then(|earlier| earlier.histogram);
            seen.before = earlier.map(|earlier| (step, earlier));
        }
        seen.bins = found.histogram;
        Some(seen)
    }

    /// Histogram of the elements, and some of them.
    pub(super) fn view(&self) -> AnyView {
        let i18n = use_i18n();
        let texts = i18n.texts().tensors();
        let links = self.elsewhere.iter().map(|&step| {
            let href = route::tensors_href(&self.run, &self.tensor, self.rank, Some(step));
            view! { <a class="link" href=href>{(texts.step)(step)}</a> }
        });
        let links = links.collect_view();
        let before = self.before.as_ref();
        let histogram = self.bins.as_ref().map(|bins| {
            let key = before.map(|(step, _)| before_key(*step));
            view! {
                <section>
                    <h3 class="flex">{texts.histogram} <span class="grow"></span> {key}</h3>
                    {bins_picture(bins, before.map(|(_, bins)| bins))}
                </section>
            }
        });
        let values = self.tile.as_ref().map(|(tile, at)| {
            let cells = grid(tile, tile.window, &tile.values.values, Some(*at), &|_, _| false);
            view! {
                <section>
                    <h3 class="flex">
                        {texts.values} <span class="micro ink3 mono cut">"["{tile.values.slice.clone()}"]"</span>
                    </h3>
                    <div class="sheet few" data-part="sheet">{cells}</div>
                </section>
            }
        });
        view! {
            <section class="small ink2 elsewhere" data-part="nearest-steps" hidden=self.elsewhere.is_empty()>
                <p>{texts.nearest_values} " " {links}</p>
            </section>
            {histogram}
            {values}
        }
        .into_any()
    }
}

/// Legend of the dashed line.
pub(super) fn before_key(step: i64) -> AnyView {
    let step = (use_i18n().texts().tensors().step)(step);
    view! { <span class="micro ink3 dashed">{step}</span> }.into_any()
}

/// Requests the elements around `centre`, and returns them with its position in the plane.
async fn tile(
    query: &TensorQuery,
    shape: &[u64],
    centre: &[u64],
) -> Option<(Arc<Tile>, (u64, u64))> {
    let slice = Slice::last_two(shape);
    // A single axis goes to the right.
    let is_swapped = slice.free().len() == 1;
    let (plane, at) = Plane::new(slice, is_swapped)?.through(centre);
    let all = plane.all();
    let part = |at: u64, len: u64, most: u64| {
        let most = most.min(len);
        (at.saturating_sub(most / 2).min(len - most), most)
    };
    let ((row, rows), (column, columns)) =
        (part(at.0, all.rows, ROWS), part(at.1, all.columns, COLUMNS));
    let window = Window {
        row,
        column,
        rows,
        columns,
    };
    if rows * columns == 0 {
        return None;
    }
    let query = TensorQuery {
        slice: Some(plane.slice_of(window).to_string()),
        bins: None,
        ..query.clone()
    };
    let values = client::tensor_values(&query).await.ok()?;
    let tile = Tile {
        tensor: query.tensor,
        plane,
        window,
        values,
    };
    Some((Arc::new(tile), at))
}
