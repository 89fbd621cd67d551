//! One card: a tensor of all shown runs. One request asks for all of them, because they share their bins.

use std::sync::Arc;

use leptos::html;
use trainscope_api::distributions::{
    DistributionKey, DistributionsAnswer, DistributionsRequest, Fault, MAX_SERIES, Source,
};
use trainscope_charts::distribution::{self, View};
use trainscope_charts::label;
use trainscope_charts::theme::{Rgb, Theme};
use trainscope_format::Kind;

use super::drawing::{Look, Part, in_order, spec, steps_between, view_of};
use super::readout::ReadOut;
use super::settings::{Settings, VIEWS};
use trainscope_web_kit::client;
use trainscope_web_kit::components::browse::SeriesId;
use trainscope_web_kit::components::download::{file_name, save as save_blob};
use trainscope_web_kit::components::{
    CardFault, DistributionChart, FullButton, IconButton, IconName, Panel, Place, PointedElement,
    RunChip, to_png, use_palette,
};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;
use trainscope_web_kit::run_colour::use_run_colours;
use trainscope_web_kit::state::use_app_state;

/// Number of blends between the colours of a heat map's scale.
const STOPS: u32 = 8;

/// Maximum number of rows of each view: more are not distinguishable.
const fn rows_of(view: View) -> usize {
    match view {
        View::Offset => 40,
        View::Overlay => 12,
        View::HeatMap => 160,
        View::Percentiles => 240,
    }
}

/// The series of a card: histograms, or statistics of a run without a histogram of this name.
fn series_of(settings: Settings, tag: &str) -> Vec<SeriesId> {
    let all = settings.browse.entry(tag).map(|entry| entry.series);
    let all = all.unwrap_or_default();
    let has_histogram = |run: &str| {
        all.iter()
            .any(|id| id.run == run && id.kind == Kind::Histograms)
    };
    let wanted = all
        .iter()
        .filter(|id| id.kind == Kind::Histograms || !has_histogram(&id.run));
    let mut series: Vec<SeriesId> = wanted.take(MAX_SERIES).cloned().collect();
    let runs: Vec<String> = series.iter().map(|id| id.run.clone()).collect();
    for id in &mut series {
        // Counted again, without the statistics that were left out.
        let mine = runs.iter().filter(|run| **run == id.run).count();
        id.is_one_of_many = mine > 1 || id.rank > 0;
    }
    series
}

#[component]
pub(super) fn Card(settings: Settings, tag: String, is_in_view: Memo<bool>) -> impl IntoView {
    let i18n = use_i18n();
    let colours = use_run_colours();
    let palette = use_palette();
    let state = use_app_state();
    let tag = StoredValue::new(tag);
    let series = Memo::new(move |_| tag.with_value(|tag| series_of(settings, tag)));
    let view = Memo::new(move |_| tag.with_value(|tag| settings.view_of(tag)));
    let view = Place::follow(is_in_view, view);
    let range = Place::follow(is_in_view, settings.range);
    let want = Memo::new(move |_| {
        let series = series.get();
        let range = range.get();
        (!series.is_empty()).then(|| DistributionsRequest {
            series: series
                .into_iter()
                .map(|id| DistributionKey {
                    run: id.run,
                    tag: tag.get_value(),
                    rank: id.rank,
                    source: if id.kind == Kind::Statistics {
                        Source::Statistics
                    } else {
                        Source::Histograms
                    },
                    writer: id.writer,
                })
                .collect(),
            from: range.map(|range| range.0),
            to: range.map(|range| range.1),
            rows: Some(rows_of(view.get())),
            bins: Some(settings.bins.get()),
            spacing: settings.spacing.get(),
        })
    });
    let runs = Signal::derive(move || {
        let runs = series.with(|series| series.iter().map(|id| id.run.clone()).collect());
        Arc::new(runs)
    });
    let ask = move |want: DistributionsRequest| async move {
        let answer = client::distributions(&want).await;
        settings.browse.card_arrived();
        let is_whole = want.from.is_none() && want.to.is_none();
        if let (true, Ok(answer)) = (is_whole, &answer) {
            let rows = answer.series.iter().flatten().flat_map(|of| &of.rows);
            let last = rows.map(|row| row.step).max();
            let total: u64 = answer.series.iter().flatten().map(|of| of.total).sum();
            tag.with_value(|tag| {
                let entry = untrack(|| settings.browse.entry(tag));
                let is_all = entry.is_some_and(|entry| entry.series.len() == want.series.len());
                let points = is_all.then_some(total);
                settings.browse.set_drawn(tag, points, last);
            });
        }
        answer
    };
    let asking = query(move || want.get(), ask).again_with_runs(runs);
    let parts = Memo::new(move |_| {
        let palette = palette.get();
        let Some(answer) = asking.answer.get() else {
            return Arc::new(Vec::new());
        };
        let over = settings.over.get();
        let series = series.get();
        let found = series.into_iter().zip(&answer.series);
        let parts = found.filter_map(|(id, of)| {
            let colour = palette.run(colours.get(&id.run));
            let start = state.run(&id.run).and_then(|run| run.first_wall_time_secs);
            let mut of = of.clone()?;
            in_order(&mut of, over);
            Some(Part {
                id,
                of,
                colour,
                start,
            })
        });
        Arc::new(parts.collect::<Vec<_>>())
    });
    let drawn_view = Memo::new(move |_| {
        let chosen = view.get();
        asking
            .answer
            .with(|answer| view_of(chosen, answer.as_deref()))
    });
    let look = Memo::new(move |_| Look {
        view: drawn_view.get(),
        over: settings.over.get(),
        offset_secs: -60.0 * js_sys::Date::new_0().get_timezone_offset(),
    });
    // One picture per run, or one for all.
    let divided = Memo::new(move |_| {
        let parts = parts.get();
        if matches!(drawn_view.get(), View::Offset | View::HeatMap) {
            parts
                .iter()
                .map(|part| Arc::new(vec![part.clone()]))
                .collect::<Vec<_>>()
        } else if parts.is_empty() {
            Vec::new()
        } else {
            vec![parts]
        }
    });
    let canvases = StoredValue::new(Vec::<NodeRef<html::Canvas>>::new());
    let picture = move |index: usize| {
        let mine = Memo::new(move |_| {
            divided.with(|divided| divided.get(index).cloned().unwrap_or_default())
        });
        let canvas = NodeRef::new();
        canvases.update_value(|all| {
            all.truncate(index);
            all.push(canvas);
        });
        view! {
            <Picture
                settings=settings
                tag=tag
                answer=asking.answer
                parts=mine
                look=look
                canvas=canvas
                is_alone=Signal::derive(move || divided.with(Vec::len) <= 1)
            />
        }
    };
    let remark = move || {
        let texts = i18n.texts().histograms();
        let answer = asking.answer.get()?;
        let has_values = !answer.edges.is_empty();
        let rows = || answer.series.iter().flatten().flat_map(|of| &of.rows);
        let fault = rows().find_map(|row| row.faults.first()).map(|fault| {
            (texts.fault)(match fault {
                Fault::Unsorted => "unsorted",
                Fault::Overlapping => "overlapping",
                Fault::BadCount => "bad_count",
                Fault::BadEdge => "bad_edge",
                Fault::NoExponents => "no_exponents",
            })
        });
        let is_broken = rows().any(|row| row.nan + row.pos_inf + row.neg_inf > 0);
        let why = match (has_values, fault, is_broken) {
            (true, fault, _) => fault,
            (false, Some(fault), _) => Some(fault),
            (false, None, true) => Some(texts.nothing_finite),
            (false, None, false) => Some(texts.empty),
        };
        why.map(|why| (why, has_values))
    };
    let is_full = Signal::derive(move || {
        settings
            .full
            .with(|full| tag.with_value(|tag| full.as_ref() == Some(tag)))
    });
    let role = move || {
        let role = tag.with_value(|tag| settings.browse.entry(tag)?.role)?;
        let texts = i18n.texts().histograms();
        Some(match role {
            trainscope_format::Role::Weight => texts.weights,
            trainscope_format::Role::Gradient => texts.gradients,
            trainscope_format::Role::Activation => texts.activations,
            _ => return None,
        })
    };
    // Source of the drawing, and other kinds of data recorded under this tag.
    let sources = move || {
        let texts = i18n.texts().histograms();
        let entry = tag.with_value(|tag| settings.browse.entry(tag))?;
        let has_statistics = entry.statistics > 0;
        let is_drawn = parts.with(|parts| parts.iter().any(Part::is_exponents));
        has_statistics.then(|| {
            let text = if is_drawn {
                texts.from_exponents.to_owned()
            } else {
                (texts.sources)(entry.points - entry.statistics, entry.statistics)
            };
            view! {
                <span class="micro ink3 sources" title=is_drawn.then_some(texts.from_exponents_title)>
                    {text}
                </span>
            }
        })
    };
    let own_view = move || {
        settings.view.get().is_none().then(|| {
            let texts = i18n.texts().histograms();
            let names = [
                texts.offset,
                texts.overlay,
                texts.heat_map,
                texts.percentiles,
            ];
            let options = VIEWS.iter().zip(names).map(|((choice, word), name)| {
                view! {
                    <option value=*word selected=*choice == Some(view.get())>
                        {name}
                    </option>
                }
            });
            let options = options.collect::<Vec<_>>();
            view! {
                <select
                    class="field own-view"
                    aria-label=texts.view
                    on:change=move |event| {
                        let word = event_target_value(&event);
                        let found = VIEWS.iter().find(|(_, known)| *known == word);
                        if let Some((Some(view), _)) = found {
                            tag.with_value(|tag| settings.set_view_of(tag, *view));
                        }
                    }
                >
                    {options}
                </select>
            }
        })
    };
    let save = move || {
        let divided = divided.get_untracked();
        let all = divided.iter().zip(canvases.get_value());
        let panels = all.filter_map(|(parts, canvas)| {
            let names = parts.iter().map(|part| {
                // Full name of the run: a saved picture may be opened elsewhere.
                let (run, label) = (&part.id.run, part.id.label());
                let more = label.strip_prefix(&part.id.name).unwrap_or_default();
                (part.colour, format!("{run}{more}"))
            });
            Some(Panel {
                canvas: canvas.try_get_untracked().flatten()?,
                names: names.collect(),
            })
        });
        let panels: Vec<Panel> = panels.collect();
        let (palette, tag) = (palette.get_untracked(), tag.get_value());
        let name = format!("{}.png", file_name(&tag));
        to_png(&tag, &panels, &palette, move |blob| save_blob(&blob, &name));
    };
    view! {
        <section
            class="card scalar-card"
            class:fetching=move || asking.is_fetching.get()
            aria-busy=move || asking.is_fetching.get().to_string()
            data-tag=tag.get_value()
            aria-label=tag.get_value()
        >
            <div class="head">
                {move || role().map(|role| view! { <span class="micro ink3">{role}</span> })}
                <h2 class="cut" title=tag.get_value()>
                    {tag.get_value()}
                </h2>
                {sources}
                <span class="grow"></span>
                <CardFault
                    has_failed=asking.has_failed()
                    is_drawn=Signal::derive(move || asking.answer.with(Option::is_some))
                />
                {own_view}
                <span class="acts">
                    <IconButton
                        icon=IconName::Download
                        size=12
                        label=i18n.label(|t| t.scalars().download_png)
                        on_press=save
                    />
                    <FullButton
                        is_full=is_full
                        on_press=move || {
                            let wanted = tag.get_value();
                            settings.set_full((!is_full.get_untracked()).then_some(&*wanted));
                        }
                    />
                </span>
            </div>
            <div class="body pictures">
                <For each=move || 0..divided.with(Vec::len) key=|index| *index children=picture />
                {move || {
                    remark()
                        .map(|(why, has_values)| {
                            let class = if has_values { "fault micro warn" } else { "on-plot" };
                            view! { <p class=class>{why}</p> }
                        })
                }}
            </div>
        </section>
    }
}

/// A picture of a card, with its read-out under the pointer.
#[component]
fn Picture(
    settings: Settings,
    tag: StoredValue<String>,
    answer: RwSignal<Option<Arc<DistributionsAnswer>>>,
    parts: Memo<Arc<Vec<Part>>>,
    look: Memo<Look>,
    canvas: NodeRef<html::Canvas>,
    is_alone: Signal<bool>,
) -> impl IntoView {
    let i18n = use_i18n();
    let pointed = RwSignal::new(None as PointedElement);
    let drawn = Memo::new(move |_| {
        let answer = answer.get().unwrap_or_default();
        spec(&answer, &parts.get(), look.get())
    });
    let label = Signal::derive(move || {
        let texts = i18n.texts().histograms();
        let parts = parts.get();
        let rows = || parts.iter().flat_map(|part| &part.of.rows);
        let first = rows().map(|row| row.first_step).min().unwrap_or(0);
        let last = rows().map(|row| row.step).max().unwrap_or(0);
        let view = match look.get().view {
            View::Offset => texts.offset,
            View::Overlay => texts.overlay,
            View::HeatMap => texts.heat_map,
            View::Percentiles => texts.percentiles,
        };
        let count = rows().count() as u64;
        tag.with_value(|tag| {
            let (first, last) = (label::step(first), label::step(last));
            (texts.canvas)(tag, view, count, &first, &last)
        })
    });
    let select = Callback::new(move |range: (f64, f64)| {
        let steps = parts.with_untracked(|parts| {
            let look = look.get_untracked();
            steps_between(parts, look, range)
        });
        if let Some(steps) = steps {
            settings.set_range(Some(steps));
        }
    });
    let holder = NodeRef::<html::Div>::new();
    let names = move || {
        let parts = parts.get();
        (!is_alone.get() || parts.len() > 1).then(|| {
            parts
                .iter()
                .map(|part| {
                    let run = part.id.run.clone();
                    view! {
                        <span class="flex">
                            <RunChip run=run />
                            {part.id.label()}
                        </span>
                    }
                })
                .collect_view()
        })
    };
    let palette = use_palette();
    let heat_scale = move || {
        let is_heat = look.with(|look| look.view == View::HeatMap);
        let greatest = drawn.with(|drawn| {
            let rows = drawn.stacks.first().map(|stack| stack.rows.as_slice());
            let rows = rows.unwrap_or_default().iter();
            rows.map(distribution::Row::greatest_share)
                .fold(0.0, f64::max)
        });
        (is_heat && greatest > 0.0).then(|| {
            let colours = palette.with(|palette| ramp(&palette.theme));
            let title = i18n.texts().histograms().heat_scale;
            view! {
                <span class="heat-scale ink3" role="img" aria-label=title title=title>
                    "0 "
                    <i style:background=colours></i>
                    {format!(" {} %", label::value(100.0 * greatest))}
                </span>
            }
        })
    };
    view! {
        <div class="picture" node_ref=holder>
            <div class="names micro ink2">{names} {heat_scale}</div>
            <DistributionChart
                spec=drawn
                label=label
                pointed=pointed
                canvas=canvas
                on_select=select
                on_fit=Callback::new(move |()| settings.set_range(None))
            />
            {move || {
                let (hit, x, y) = pointed.get()?;
                let answer = answer.get()?;
                let across = holder.get().map_or(400.0, |holder| f64::from(holder.client_width()));
                Some(
                    view! {
                        <ReadOut
                            answer=answer
                            parts=parts.get()
                            hit=hit
                            at=(x, y)
                            across=across
                        />
                    },
                )
            }}
        </div>
    }
}

/// CSS gradient of a heat map's colours, from an empty bin to the fullest one.
fn ramp(theme: &Theme) -> String {
    let stops = (0..=STOPS).map(|stop| {
        let Rgb(red, green, blue) =
            distribution::heat_colour(theme, f64::from(stop) / f64::from(STOPS));
        format!("rgb({red} {green} {blue})")
    });
    let stops: Vec<String> = stops.collect();
    format!("linear-gradient(to right, {})", stops.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_of_a_heat_map_ends_in_the_colour_of_the_fullest_bin() {
        let theme = Theme::light();
        let Rgb(red, green, blue) = theme.sequence(1.0);
        let last = format!("rgb({red} {green} {blue}))");
        assert!(ramp(&theme).ends_with(&last), "{}", ramp(&theme));
    }
}
