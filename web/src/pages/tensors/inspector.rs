//! The tensor at its step: elements by class, statistics beside the step before, a histogram of the slice, places to
//! jump to, files to take along.

use leptos::prelude::*;
use leptos::task::spawn_local;
use trainscope_api::paths;
use trainscope_api::tensors::{Bins, Positions, TensorQuery, TensorSlice, TensorSource};
use trainscope_format::tensor::TensorStats;

use super::model::use_model;
use super::plane::short;
use crate::client;
use crate::components::{Icon, IconName};
use crate::format;
use crate::i18n::use_i18n;
use crate::pages::debugger::ClassBar;
use crate::route::{self, RunPage};

/// Larger tensors are only looked at as a whole if somebody asks.
const SMALL_BYTES: u64 = 64 << 20;
const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 72.0;

/// The panel at the right.
#[component]
pub(super) fn Inspector() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let bins = RwSignal::new(40_usize);
    // Of the slice, and of the whole tensor where that is more.
    let slice = RwSignal::new(None::<TensorSlice>);
    let whole = RwSignal::new(None::<TensorSlice>);
    let asks_for_all = RwSignal::new(false);
    let has_elements = Memo::new(move |_| {
        model
            .source()
            .is_some_and(|s| s != TensorSource::Statistics)
    });
    let slice_query = Memo::new(move |_| {
        let plane = model.plane.get()?.ok()?;
        has_elements.get().then(|| TensorQuery {
            slice: Some(plane.slice.to_string()),
            bins: Some(bins.get()),
            ..model.query()
        })
    });
    let whole_query = Memo::new(move |_| {
        let is_small = slice.with(|slice| {
            let place = slice.as_ref().map(|slice| &slice.place);
            place.is_some_and(|place| place.len_bytes <= SMALL_BYTES)
        });
        (has_elements.get() && (is_small || asks_for_all.get())).then(|| model.query())
    });
    ask(slice_query, slice);
    ask(whole_query, whole);
    Effect::new(move |_| {
        model.tensor.track();
        model.step.track();
        asks_for_all.set(false);
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
                <h3>{i18n.texts().tensors.elements}</h3>
                <ClassBar stats=stats />
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
        let bins = slice.with(|slice| slice.as_ref()?.histogram.clone())?;
        Some(picture(&bins))
    };
    let jumps = move || {
        let positions = whole
            .with(|whole| whole.as_ref().map(|whole| whole.positions.clone()))
            .or_else(|| slice.with(|slice| slice.as_ref().map(|s| s.positions.clone())))?;
        Some(jump_buttons(positions))
    };
    let all = move || {
        let len_bytes = slice.with(|slice| slice.as_ref().map(|s| s.place.len_bytes))?;
        let is_known = whole.with(Option::is_some);
        (len_bytes > SMALL_BYTES && !is_known).then(|| {
            let is_asked = asks_for_all.get();
            let text = if is_asked {
                i18n.texts().tensors.looking.to_owned()
            } else {
                (i18n.texts().tensors.look_at_all)(&format::bytes(len_bytes))
            };
            view! {
                <button
                    type="button"
                    class="btn"
                    disabled=is_asked
                    on:click=move |_| asks_for_all.set(true)
                >
                    {text}
                </button>
            }
        })
    };
    let file = move |format: &str, of_slice: bool| {
        let slice = model.plane.get().and_then(Result::ok);
        let shape = model.shape.get().unwrap_or_default();
        client::tensor_url(
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
            <a class="btn grow" href=move || file(format, of_slice) download title=label>
                <Icon name=IconName::Download size=14 />
                {format}
            </a>
        }
    };
    let of_slice = Signal::derive(move || i18n.texts().tensors.of_slice.to_owned());
    let of_all = Signal::derive(move || i18n.texts().tensors.whole.to_owned());
    view! {
        <aside class="insp tensor-insp" aria-label=move || i18n.texts().tensors.statistics>
            {elements} {figures} <section hidden=move || !has_elements.get()>
                <h3 class="flex">
                    {move || i18n.texts().tensors.histogram}
                    <span class="ink3 plain-weight grow">{of_slice}</span>
                    <input
                        class="bins"
                        type="number"
                        min="1"
                        max="512"
                        aria-label=move || i18n.texts().tensors.bins
                        title=move || i18n.texts().tensors.bins
                        prop:value=move || bins.get().to_string()
                        on:change=move |event| {
                            let wanted = event_target_value(&event).parse().unwrap_or(40);
                            bins.set(usize::clamp(wanted, 1, 512));
                        }
                    />
                </h3>
                {histogram}
            </section>
            <section hidden=move || !has_elements.get()>
                <h3>{move || i18n.texts().tensors.jump}</h3>
                {jumps}
                {all}
            </section>
            <span class="grow"></span>
            <div class="insp-foot">
                <span class="flex" hidden=move || !has_elements.get()>
                    {link(of_all, "npy", false)}
                    {link(of_slice, "csv", true)}
                </span>
                <a class="btn grow" href=move || route::run_href(&model.run.get(), RunPage::Debugger)>
                    <Icon name=IconName::Debugger size=14 />
                    {move || i18n.texts().tensors.debugger}
                </a>
            </div>
        </aside>
    }
}

/// Keeps an answer as that of the query; while the next is on its way the one before stays, unless there is no query.
fn ask(query: Memo<Option<TensorQuery>>, answer: RwSignal<Option<TensorSlice>>) {
    let asked = StoredValue::new(0_u64);
    Effect::new(move |before: Option<(String, Option<i64>)>| {
        let number = asked.get_value() + 1;
        asked.set_value(number);
        let query = query.get();
        let now = query
            .as_ref()
            .map(|query| (query.tensor.clone(), query.step))
            .unwrap_or_default();
        if before.as_ref() != Some(&now) {
            answer.set(None);
        }
        if let Some(query) = query {
            spawn_local(async move {
                let found = client::tensor_summary(&query).await;
                if asked.try_get_value() == Some(number) {
                    // Why it cannot be read stands in the table.
                    answer.set(found.ok());
                }
            });
        }
        now
    });
}

fn statistics(now: &TensorStats, step: i64, before: Option<(i64, TensorStats)>) -> AnyView {
    let i18n = use_i18n();
    let texts = &i18n.texts().tensors;
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
    let names = ["min", "max", "mean", "std", "L2", "0"];
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
            <h3>{texts.statistics}</h3>
            <table class="dense figures">
                <thead>
                    <tr>
                        <th></th>
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
    let texts = &i18n.texts().tensors;
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
    view! { <div class="jump">{buttons.collect_view()}</div> }.into_any()
}

/// Counts in bins; those that reach beyond zero are of the other colour.
fn picture(bins: &Bins) -> AnyView {
    let i18n = use_i18n();
    let most = bins.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let width = WIDTH / bins.counts.len().max(1) as f64;
    let step = (bins.high - bins.low) / bins.counts.len().max(1) as f64;
    let bars = bins.counts.iter().enumerate().map(|(at, &count)| {
        let height = if count > 0 {
            (count as f64 / most * HEIGHT).max(1.0)
        } else {
            0.0
        };
        let from = bins.low + at as f64 * step;
        let class = if from + step / 2.0 < 0.0 {
            "neg"
        } else {
            "pos"
        };
        let title = format!(
            "{} – {}: {}",
            format::number(from, 3),
            format::number(from + step, 3),
            format::count(count)
        );
        view! {
            <rect
                class=class
                x=format!("{:.2}", at as f64 * width)
                y=format!("{:.2}", HEIGHT - height)
                width=format!("{:.2}", (width - 0.75).max(0.5))
                height=format!("{height:.2}")
            >
                <title>{title}</title>
            </rect>
        }
    });
    let (low, high) = (format::number(bins.low, 3), format::number(bins.high, 3));
    view! {
        <svg
            class="slice-bins"
            viewBox=format!("0 0 {WIDTH} {HEIGHT}")
            preserveAspectRatio="none"
            role="img"
            aria-label=(i18n.texts().tensors.histogram_label)(&low, &high)
        >
            {bars.collect_view()}
        </svg>
        <div class="flex micro ink3">
            <span>{low}</span>
            <span class="grow"></span>
            <span>{high}</span>
        </div>
    }
    .into_any()
}
