//! Tensor at its step: elements by class, statistics next to those of the step before, a histogram of the slice, jumps
//! to notable elements, and downloads.

use std::sync::Arc;

use leptos::task::spawn_local;
use trainscope_api::paths;
use trainscope_api::tensors::{
    Axis, Positions, Slice, TensorPlace, TensorQuery, TensorSlice, TensorSource,
};
use trainscope_format::tensor::{FiniteStats, TensorStats};

use super::model::{CellContent, use_model};
use trainscope_web_kit::client;
use trainscope_web_kit::components::tensor::{ClassBar, bins_picture, short};
use trainscope_web_kit::components::{Icon, IconName};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Load, query};
use trainscope_web_kit::route::{self, RunPage};

/// Larger tensors are examined as a whole only on request.
const SMALL_BYTES: u64 = 64 << 20;
/// Bytes examined per request.
const PIECE_BYTES: u64 = 128 << 20;

/// The panel at the right.
#[component]
pub(super) fn Inspector() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let bins = RwSignal::new(40_usize);
    let asks_for_all = RwSignal::new(false);
    let has_elements = Memo::new(move |_| {
        model
            .source()
            .is_some_and(|s| s != TensorSource::Statistics)
    });
    // The table reports the size before more data is read.
    let place = Memo::new(move |_| {
        model.loaded.with(|loaded| match loaded {
            Load::Ready(tile) => Some(tile.values.place.clone()),
            _ => None,
        })
    });
    let of_slice = Memo::new(move |_| {
        let (place, slice) = (place.get()?, model.plane.get()?.ok()?.slice);
        let is_it = slice.axes.len() == place.shape.len();
        is_it.then(|| (bytes_of(&slice, &place), slice))
    });
    // 0 while the size is unknown, or if nothing can be read.
    let elements_of = Memo::new(move |_| {
        place.with(|place| {
            place
                .as_ref()
                .map_or(0, |place| Slice::whole(&place.shape).len())
        })
    });
    let slice_key = move || {
        let (len_bytes, slice) = of_slice.get()?;
        (has_elements.get() && len_bytes <= SMALL_BYTES).then(|| TensorQuery {
            slice: Some(slice.to_string()),
            bins: Some(bins.get()),
            ..model.query()
        })
    };
    let whole_key = move || {
        let is_small = place.with(|place| place.as_ref().is_some_and(is_small));
        (has_elements.get() && is_small).then(|| model.query())
    };
    // Summaries of the slice and of the whole tensor. The table displays errors.
    let ask = |key: TensorQuery| async move { client::tensor_summary(&key).await };
    let subject = move || (model.tensor.get(), model.step.get());
    let slice = query(slice_key, ask).cleared_with(subject).answer;
    let whole = query(whole_key, ask).cleared_with(subject).answer;
    // Bytes read so far of a tensor examined on request.
    let read_bytes = RwSignal::new(0_u64);
    Effect::new(move || {
        model.tensor.track();
        model.step.track();
        model.rank.track();
        asks_for_all.set(false);
    });
    // Counts of another large slice, or in other bins, do not apply to this one.
    Effect::new(move || {
        of_slice.track();
        bins.track();
        if untrack(slice_key).is_none() {
            slice.set(None);
        }
    });
    Effect::new(move || {
        let (true, Some(place)) = (asks_for_all.get(), place.get_untracked()) else {
            return;
        };
        let query = untrack(|| model.query());
        let large = of_slice.get_untracked();
        let large = large.filter(|(len_bytes, _)| *len_bytes > SMALL_BYTES);
        let bins = bins.get_untracked();
        read_bytes.set(0);
        spawn_local(async move {
            let is_wanted = |now: u64| {
                read_bytes.try_set(now);
                let is_it = || asks_for_all.get_untracked() && model.query() == query;
                asks_for_all.try_get_untracked().is_some() && untrack(is_it)
            };
            let all = Slice::whole(&place.shape);
            let found = look_at(&query, &place, &all, &is_wanted).await;
            let counted = match (large, found.as_ref().and_then(|found| found.stats.finite)) {
                (Some((_, large)), Some(finite)) => {
                    let query = TensorQuery {
                        bins: Some(bins),
                        low: Some(finite.min),
                        high: Some(finite.max),
                        ..query.clone()
                    };
                    let is_wanted = |now: u64| is_wanted(place.len_bytes + now);
                    look_at(&query, &place, &large, &is_wanted).await
                }
                _ => None,
            };
            if is_wanted(place.len_bytes) {
                asks_for_all.set(false);
                if counted.is_some() {
                    slice.set(counted.map(Arc::new));
                }
                whole.set(found.map(Arc::new));
            }
        });
    });
    let stats = move || {
        let step = model.step.get()?;
        let known = model.point(step)?.stats;
        known.or_else(|| whole.with(|whole| Some(whole.as_ref()?.stats.clone())))
    };
    let elements = move || {
        let stats = stats()?;
        Some(view! {
            <section>
                <h2>{i18n.texts().tensors().elements}</h2>
                <ClassBar stats=stats is_listed=true />
            </section>
        })
    };
    let figures = move || {
        let (now, step) = (stats()?, model.step.get()?);
        let before = model.history.with(|history| {
            let points = &history.points;
            let at = points.partition_point(|point| point.step < step);
            let before = points.get(at.checked_sub(1)?)?;
            Some((before.step, before.stats.clone()?))
        });
        Some(statistics(&now, step, before))
    };
    let histogram = move || {
        let (bins, has_finite) = slice.with(|slice| {
            let slice = slice.as_ref()?;
            Some((slice.histogram.clone(), slice.stats.finite.is_some()))
        })?;
        Some(if let Some(bins) = bins.filter(|_| has_finite) {
            bins_picture(&bins, None)
        } else {
            let text = i18n.texts().tensors().nothing_finite;
            view! { <p class="small ink3">{text}</p> }.into_any()
        })
    };
    let jumps = move || {
        let positions = whole
            .with(|whole| whole.as_ref().map(|whole| whole.positions.clone()))
            .or_else(|| slice.with(|slice| slice.as_ref().map(|s| s.positions.clone())))?;
        Some(jump_buttons(positions))
    };
    let all = move || {
        let place = place.get()?;
        // All elements are read once for the statistics, and those of a large slice once more for its histogram.
        let again = of_slice.get().map_or(0, |(len_bytes, _)| len_bytes);
        let again = if again > SMALL_BYTES { again } else { 0 };
        let len_bytes = place.len_bytes + again;
        let is_known = |known: RwSignal<Option<Arc<TensorSlice>>>| known.with(Option::is_some);
        let is_all_known = is_known(whole) && (again == 0 || is_known(slice));
        if is_small(&place) || is_all_known {
            return None;
        }
        let is_asked = asks_for_all.get();
        let text = move || {
            let all = format::bytes(len_bytes);
            if is_asked {
                (i18n.texts().tensors().looking)(&format::bytes(read_bytes.get()), &all)
            } else {
                (i18n.texts().tensors().look_at_all)(&all)
            }
        };
        Some(view! {
            <button
                type="button"
                class="btn"
                data-part="read-all"
                title=is_asked.then(|| i18n.texts().tensors().stop)
                on:click=move |_| asks_for_all.set(!is_asked)
            >
                {text}
            </button>
            <progress
                hidden=!is_asked
                max=len_bytes.to_string()
                prop:value=move || read_bytes.get() as f64
            ></progress>
        })
    };
    let file = move |format: &str, of_slice: bool| {
        let slice = model.plane.get().and_then(Result::ok);
        let shape = model.shape.get().unwrap_or_default();
        client::address(
            paths::TENSOR_FILE,
            &TensorQuery {
                slice: slice
                    .filter(|_| of_slice)
                    .map(|plane| short(&plane.slice, &shape)),
                format: Some(format.to_owned()),
                ..model.query()
            },
        )
    };
    let link = move |label: Signal<String>, format: &'static str, of_slice: bool| {
        view! {
            <a class="btn grow" href=move || file(format, of_slice) download title=move || label.get()>
                <Icon name=IconName::Download size=14 />
                {format}
                // Files contain the recorded values, not the comparison.
                {move || {
                    let is_compared = model.shown.get() != CellContent::Current;
                    is_compared.then(|| format!(" · {}", i18n.texts().tensors().current))
                }}
            </a>
        }
    };
    let about_slice = i18n.label(|t| t.tensors().of_slice);
    let of_all = i18n.label(|t| t.tensors().whole);
    view! {
        <aside class="insp tensor-insp" aria-label=i18n.text(|t| t.tensors().statistics)>
            {elements} {figures} <section hidden=move || elements_of.get() == 0>
                <h2 class="flex">
                    {i18n.text(|t| t.tensors().histogram)}
                    <span class="ink3 plain-weight grow">{move || about_slice.get()}</span>
                    <input
                        class="bins"
                        type="number"
                        min="1"
                        max="512"
                        aria-label=i18n.text(|t| t.tensors().bins)
                        title=i18n.text(|t| t.tensors().bins)
                        prop:value=move || bins.get().to_string()
                        on:change=move |event| {
                            let wanted = event_target_value(&event).parse().unwrap_or(40);
                            bins.set(usize::clamp(wanted, 1, 512));
                        }
                    />
                </h2>
                {histogram}
            </section>
            // A single element needs no jumps.
            <section hidden=move || elements_of.get() < 2>
                <h2>{i18n.text(|t| t.tensors().jump)}</h2>
                {jumps}
                {all}
            </section>
            <span class="grow"></span>
            <div class="insp-foot">
                <span class="flex" hidden=move || place.with(Option::is_none)>
                    {link(of_all, "npy", false)}
                    {link(about_slice, "csv", true)}
                </span>
                <a class="btn grow" href=move || route::run_href(&model.run.get(), RunPage::Debugger)>
                    <Icon name=IconName::Debugger size=14 />
                    {i18n.text(|t| t.tensors().debugger)}
                </a>
            </div>
        </aside>
    }
}

fn is_small(place: &TensorPlace) -> bool {
    place.len_bytes <= SMALL_BYTES
}

/// Bytes that the elements of a slice take.
fn bytes_of(slice: &Slice, place: &TensorPlace) -> u64 {
    let all = Slice::whole(&place.shape).len().max(1);
    slice.len().saturating_mul(place.len_bytes / all)
}

/// Examines a large slice piece by piece for a progress display: `is_wanted` receives the number of bytes read, and
/// returns `false` to stop.
async fn look_at(
    query: &TensorQuery,
    place: &TensorPlace,
    slice: &Slice,
    is_wanted: &impl Fn(u64) -> bool,
) -> Option<TensorSlice> {
    let axis = slice.axes.iter().position(|axis| axis.len() > 1);
    let first = axis.and_then(|axis| slice.axes.get(axis));
    let (start, len) = first.map_or((0, 1), |axis| (axis.start(), axis.len()));
    let of_one = (bytes_of(slice, place) / len.max(1)).max(1);
    let many = (PIECE_BYTES / of_one).max(1);
    let mut all = None::<TensorSlice>;
    let mut from = 0;
    while from < len && is_wanted(from.saturating_mul(of_one)) {
        let to = (from + many).min(len);
        let mut piece = slice.clone();
        if let Some(axis) = axis.and_then(|axis| piece.axes.get_mut(axis)) {
            *axis = Axis::Range(start + from, start + to);
        }
        let query = TensorQuery {
            slice: Some(piece.to_string()),
            ..query.clone()
        };
        let found = client::tensor_summary(&query).await.ok()?;
        match &mut all {
            Some(all) => merge(all, found),
            None => all = Some(found),
        }
        from = to;
    }
    all.filter(|_| from >= len)
}

/// Adds the summary of the elements that follow those of `all`.
fn merge(all: &mut TensorSlice, more: TensorSlice) {
    let [known, new] = [&all.stats, &more.stats].map(|stats| stats.finite);
    let is_beyond = |beyond: fn(f64, f64) -> bool, of: fn(&FiniteStats) -> f64| match (known, new) {
        (Some(known), Some(new)) => beyond(of(&new), of(&known)),
        (known, new) => known.is_none() && new.is_some(),
    };
    let (positions, more_at) = (&mut all.positions, more.positions);
    if is_beyond(|new, known| new < known, |finite| finite.min) {
        positions.min = more_at.min;
    }
    if is_beyond(|new, known| new > known, |finite| finite.max) {
        positions.max = more_at.max;
    }
    positions.nan = positions.nan.take().or(more_at.nan);
    positions.pos_inf = positions.pos_inf.take().or(more_at.pos_inf);
    positions.neg_inf = positions.neg_inf.take().or(more_at.neg_inf);
    all.stats.merge(&more.stats);
    if let (Some(bins), Some(more)) = (&mut all.histogram, more.histogram) {
        for (sum, count) in bins.counts.iter_mut().zip(more.counts) {
            *sum += count;
        }
        bins.below += more.below;
        bins.above += more.above;
    }
    all.read_bytes += more.read_bytes;
}

fn statistics(now: &TensorStats, step: i64, before: Option<(i64, TensorStats)>) -> AnyView {
    let i18n = use_i18n();
    let texts = i18n.texts().tensors();
    let of = |stats: &TensorStats| {
        let finite = stats.finite;
        let number = |number: Option<f64>| number.map_or_else(|| "–".to_owned(), format::cell);
        [
            number(finite.map(|f| f.min)),
            number(finite.map(|f| f.max)),
            number(finite.map(|f| f.mean)),
            number(stats.variance().map(|variance| variance.max(0.0).sqrt())),
            number(finite.map(|f| f.l2)),
            format::count(stats.zero),
        ]
    };
    let [max, mean, _, min, std] = i18n.texts().debugger().figures;
    let names = [min, max, mean, std, texts.l2_norm, texts.zeros];
    let after = of(now);
    let earlier = before.as_ref().map(|(_, stats)| of(stats));
    let rows = names.into_iter().enumerate().map(|(at, name)| {
        let after = after[at].clone();
        let earlier = earlier.as_ref().map(|earlier| earlier[at].clone());
        view! {
            <tr>
                <td class="ink3">{name}</td>
                <td class="num ink2">{earlier}</td>
                <td class="num">{after}</td>
            </tr>
        }
    });
    let head = before.map(|(step, _)| (texts.step)(step));
    view! {
        <section>
            <h2>{texts.statistics}</h2>
            <table class="dense figures">
                <thead>
                    <tr>
                        <td></td>
                        <th class="num">{head}</th>
                        <th class="num">{(texts.step)(step)}</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </section>
    }
    .into_any()
}

fn jump_buttons(positions: Positions) -> AnyView {
    let model = use_model();
    let i18n = use_i18n();
    let texts = i18n.texts().tensors();
    let places = [
        ("max", positions.max, ""),
        ("min", positions.min, ""),
        (texts.first_nan, positions.nan, "nan"),
        (texts.first_pos_inf, positions.pos_inf, "pinf"),
        (texts.first_neg_inf, positions.neg_inf, "ninf"),
    ];
    let buttons = places.into_iter().filter_map(|(name, place, class)| {
        let place = place?;
        let indices: Vec<String> = place.iter().map(u64::to_string).collect();
        let text = format!("[{}]", indices.join(", "));
        let title = text.clone();
        Some(view! {
            <button
                type="button"
                class=format!("btn {class}")
                title=title
                on:click=move |_| model.jump(&place)
            >
                {name}
                <span class="cut ink3">{text}</span>
            </button>
        })
    });
    view! { <div class="jump" data-part="jump">{buttons.collect_view()}</div> }.into_any()
}
