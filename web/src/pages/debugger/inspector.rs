//! The tensor of the hit at its step: elements by class, statistics beside the steps before, magnitudes, advice.

use leptos::prelude::*;
use leptos::task::spawn_local;
use trainscope_api::findings::Hit;
use trainscope_api::records::At;
use trainscope_format::{Kind, TensorSummary};

use super::model::use_model;
use super::picture::{ClassBar, Magnitudes};
use super::steps::OverSteps;
use crate::client;
use crate::components::{Icon, severity_icon};
use crate::format;
use crate::i18n::use_i18n;
use crate::keys::use_keys;
use crate::route;
use crate::state::use_app_state;

/// Steps shown beside each other.
const STEPS: usize = 3;
/// Recorded steps before and after the one that is looked at.
const AROUND: (usize, usize) = (47, 16);

/// What is known of the tensor.
#[derive(Clone, PartialEq)]
enum Known {
    Loading,
    /// It is not among the statistics: a scalar, or a tensor of a dump.
    Nothing,
    /// Steps around the one that is looked at, and which that is.
    Steps(Vec<At<TensorSummary>>, usize),
}

/// The panel at the right.
#[component]
pub(super) fn Inspector() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let state = use_app_state();
    let known = RwSignal::new(Known::Loading);
    let asked = StoredValue::new(0_u64);
    let shown = StoredValue::new((String::new(), 0));
    let place = Memo::new(move |_| Some((model.run.get(), model.place.get()?)));
    use_keys(move |key, _| {
        let by = match key {
            "ArrowLeft" => -1,
            "ArrowRight" => 1,
            _ => return false,
        };
        let next = known.with_untracked(|known| match known {
            Known::Steps(steps, at) => Some(steps.get(at.checked_add_signed(by)?)?.step),
            _ => None,
        });
        if let Some(next) = next {
            model.set_step(next);
        }
        next.is_some()
    });
    Effect::new(move |_| {
        let Some((run, (tensor, rank, step))) = place.get() else {
            return;
        };
        let number = asked.get_value() + 1;
        asked.set_value(number);
        // Of a scalar, or of a tensor in a dump, there are none to ask for.
        state.load_tags([run.clone()], false);
        let is_recorded = state.tags(&run).map(|list| {
            let mut tags = list.tags.iter();
            tags.any(|tag| tag.kind == Kind::Statistics && tag.tag == tensor && tag.rank == rank)
        });
        match is_recorded {
            // Another step of what is shown takes its place when it is there.
            Some(true) if shown.get_value() == (tensor.clone(), rank) => {}
            Some(true) => known.set(Known::Loading),
            Some(false) => return known.set(Known::Nothing),
            // The tags are on their way.
            None => return known.set(Known::Loading),
        }
        spawn_local(async move {
            let found = client::statistics_around(&run, &tensor, rank, step, AROUND).await;
            if asked.try_get_value() == Some(number) {
                shown.set_value((tensor, rank));
                known.set(match found {
                    Ok(steps) if !steps.is_empty() => {
                        let at = steps.partition_point(|own| own.step <= step);
                        Known::Steps(steps, at.saturating_sub(1))
                    }
                    _ => Known::Nothing,
                });
            }
        });
    });
    let head = move || {
        model.selected.get().map(|hit| {
            let (class, icon) = severity_icon(hit.severity);
            let tensor = model.place.get().map_or_else(String::new, |place| place.0);
            let is_other = tensor != hit.tensor;
            let kind = known.with(|known| match known {
                Known::Steps(steps, at) => steps.get(*at).map(|at| kind_of(&at.body)),
                _ => None,
            });
            // A scalar has no values but its curve.
            let run = model.run.get();
            let is_scalar = state.tags(&run).is_some_and(|list| {
                let mut tags = list.tags.iter();
                tags.any(|tag| tag.kind == Kind::Scalars && tag.tag == tensor)
            });
            let values = model.place.get().filter(|_| !is_scalar).map(|place| {
                let (tensor, rank, step) = place;
                let href = route::tensors_href(&run, &tensor, rank, Some(step));
                view! {
                    <a class="link small" href=href>
                        {i18n.texts().tensors.show_values}
                    </a>
                }
            });
            view! {
                <section class="inspector-head">
                    <h2 class="flex">
                        <span class=class>
                            <Icon name=icon size=14 />
                        </span>
                        <span class="cut" title=tensor.clone()>
                            <bdi>{tensor.clone()}</bdi>
                        </span>
                    </h2>
                    <p class="micro ink3">{kind}</p>
                    {values}
                    {if is_other {
                        view! {
                            <button
                                type="button"
                                class="link small"
                                on:click=move |_| model.look_at(None)
                            >
                                {move || i18n.texts().debugger.back_to_hit}
                            </button>
                        }
                            .into_any()
                    } else {
                        view! { <p class="small">{move || i18n.words(&hit.sentence)}</p> }.into_any()
                    }}
                </section>
            }
        })
    };
    let content = move || {
        let hit = model.selected.get()?;
        Some(match known.get() {
            Known::Loading => ().into_any(),
            Known::Nothing => {
                let run = model.run.get();
                let is_scalar = state.tags(&run).is_some_and(|list| {
                    let mut tags = list.tags.iter();
                    tags.any(|tag| tag.kind == Kind::Scalars && tag.tag == hit.tensor)
                });
                without(&hit, &run, is_scalar)
            }
            Known::Steps(steps, at) => with(steps, at),
        })
    };
    let advice = move || {
        let hit = model.selected.get()?;
        let advice = model.findings.with(|findings| {
            let own = findings.watchpoints.get(hit.watchpoint as usize)?;
            Some(own.advice.clone()).filter(|advice| !advice.en.is_empty())
        })?;
        Some(view! {
            <section>
                <h3>{i18n.texts().debugger.try_this}</h3>
                <p class="small ink2">{i18n.words(&advice)}</p>
                <p class="micro ink3 mono">{hit.condition}</p>
                {hit.source
                    .map(|(file, line)| {
                        view! {
                            <h3>{i18n.texts().debugger.source}</h3>
                            <p class="small mono source">{format!("{file}:{line}")}</p>
                        }
                    })}
            </section>
        })
    };
    view! {
        <aside class="insp" aria-label=move || i18n.texts().debugger.inspector>
            {head}
            {move || {
                model
                    .is_lost
                    .get()
                    .then(|| {
                        view! {
                            <section>
                                <p class="small ink2">{i18n.texts().debugger.lost}</p>
                            </section>
                        }
                    })
            }}
            {content}
            {advice}
        </aside>
    }
}

fn kind_of(summary: &TensorSummary) -> String {
    let sizes: Vec<String> = summary.shape.iter().map(u64::to_string).collect();
    let shape = if sizes.is_empty() {
        String::new()
    } else {
        format!(" · {}", sizes.join("×"))
    };
    format!("{}{shape}", summary.dtype)
}

/// A scalar leads to its curve; of a tensor that lies in a dump only the hit is known.
fn without(hit: &Hit, run: &str, is_scalar: bool) -> AnyView {
    let i18n = use_i18n();
    let href = route::scalars_href(run, &[], Some(&hit.tensor));
    view! {
        <section class="small ink2">
            {if is_scalar {
                view! { <a class="link" href=href>{i18n.texts().debugger.show_curve}</a> }.into_any()
            } else {
                view! { <p>{i18n.texts().debugger.no_statistics}</p> }.into_any()
            }}
        </section>
    }
    .into_any()
}

fn with(around: Vec<At<TensorSummary>>, at: usize) -> AnyView {
    let i18n = use_i18n();
    let texts = &i18n.texts().debugger;
    let until = around.get(..=at).unwrap_or(&around);
    let steps = until
        .get(until.len().saturating_sub(STEPS)..)
        .unwrap_or(until)
        .to_vec();
    let last = steps.last().map(|at| at.body.clone());
    let heads = steps.iter().map(|at| {
        view! { <th class="num">{format::integer(at.step)}</th> }
    });
    let figure = |name: &'static str, read: fn(&TensorSummary) -> Option<f64>| {
        let cells = steps.iter().map(|at| {
            let value = read(&at.body);
            let is_bad = value.is_none_or(|value| !value.is_finite());
            let text = value.map_or_else(|| "–".to_owned(), |value| format::number(value, 4));
            view! { <td class="num" class:ink3=is_bad>{text}</td> }
        });
        view! { <tr><td class="ink3">{name}</td> {cells.collect_view()}</tr> }
    };
    let counted = |name: &'static str, read: fn(&TensorSummary) -> u64| {
        let cells = steps.iter().map(|at| {
            let count = read(&at.body);
            view! { <td class="num" class:err=count != 0 class:med=count != 0>{format::count(count)}</td> }
        });
        view! { <tr><td class="ink3">{name}</td> {cells.collect_view()}</tr> }
    };
    view! {
        {last
            .clone()
            .map(|last| {
                view! {
                    <section>
                        <h3 class="flex">
                            {texts.elements} <span class="grow"></span>
                            <span class="micro ink3">{format::count(last.stats.count)}</span>
                        </h3>
                        <ClassBar stats=last.stats />
                    </section>
                }
            })}
        <section>
            <table class="dense figures">
                <thead>
                    <tr>
                        <th>{texts.finite}</th>
                        {heads.collect_view()}
                    </tr>
                </thead>
                <tbody>
                    {figure("max", |s| Some(s.stats.finite?.max))}
                    {figure("mean", |s| Some(s.stats.finite?.mean))}
                    {figure("min", |s| Some(s.stats.finite?.min))}
                    {figure("std", |s| Some(s.stats.variance()?.sqrt()))}
                    {figure("L2", |s| Some(s.stats.finite?.l2))}
                    {figure("Δ/|w|", |s| s.change?.mean_change_ratio(1e-9))}
                    {counted("NaN", |s| s.stats.nan)}
                    {counted("±Inf", |s| s.stats.pos_inf + s.stats.neg_inf)}
                </tbody>
            </table>
        </section>
        <OverSteps records=around at=at />
        {last
            .and_then(|last| last.stats.exponents)
            .filter(|exponents| !exponents.counts().is_empty())
            .map(|exponents| {
                view! {
                    <section>
                        <h3>{texts.magnitudes}</h3>
                        <Magnitudes exponents=exponents />
                    </section>
                }
            })}
    }
    .into_any()
}
