//! Tensor of the hit at its step: elements by class, statistics next to those of the steps before, magnitudes, advice.

use trainscope_api::findings::{Findings, Hit};
use trainscope_format::Kind;

use super::curve::Curve;
use super::history::{StepStats, TensorPlace, around, at_step};
use super::in_timeline::InTimeline;
use super::model::{Model, use_model};
use super::peek::{Peek, before_key};
use super::picture::Magnitudes;
use super::steps::OverSteps;
use crate::advice::advice_on;
use crate::excerpt::source_excerpt;
use trainscope_web_kit::components::tensor::ClassBar;
use trainscope_web_kit::components::{Icon, severity_icon};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;
use trainscope_web_kit::route;
use trainscope_web_kit::state::{AppState, use_app_state};

/// Number of steps shown side by side.
const STEPS: usize = 3;
/// Data of the tensor.
#[derive(Clone, PartialEq)]
enum TensorState {
    Loading,
    /// A scalar, or a tensor without remaining records.
    Nothing,
    /// Steps around the selected one, and its index.
    Steps(Vec<StepStats>, usize),
}

/// The selected place, once the tags of the run are known.
#[derive(Clone, PartialEq)]
enum Subject {
    Loading,
    /// A scalar or a part of the program.
    Nothing,
    Tensor(TensorPlace),
}

/// The panel at the right.
#[component]
pub(super) fn Inspector() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let state = use_app_state();
    let subject = Memo::new(move |_| subject(&model, state));
    let seen = query(
        move || match subject.get() {
            Subject::Tensor(place) => Some(place),
            Subject::Loading | Subject::Nothing => None,
        },
        |place| async move { Ok((around(&place).await, place)) },
    );
    // Another step of the same tensor replaces the shown one once it is loaded.
    let seen = seen.cleared_with(move || model.place.get().map(|(tensor, rank, _)| (tensor, rank)));
    let known = Memo::new(
        move |_| match (subject.get(), seen.answer.get().as_deref()) {
            (Subject::Nothing, _) => TensorState::Nothing,
            (Subject::Tensor(_), Some((found, place))) => match found.len() {
                0 => TensorState::Nothing,
                _ => TensorState::Steps(found.clone(), at_step(found, place.step)),
            },
            _ => TensorState::Loading,
        },
    );
    let peek = query(
        move || {
            let (found, place) = &*seen.answer.get()?;
            let record = found.get(at_step(found, place.step))?;
            Some((place.clone(), record.stats.count))
        },
        |(place, count)| async move {
            Ok(Peek::at(&place.run, &place.tensor, place.rank, place.step, count).await)
        },
    );
    // Elements of another tensor or step are invalid here.
    let peek = peek.cleared_with(move || (model.run.get(), model.place.get()));
    let peek = Memo::new(move |_| Option::clone(&*peek.answer.get()?));
    Effect::new(move || state.load_tags([model.run.get()], false));
    use_keys(move |key, _| {
        let by = match key {
            "ArrowLeft" => -1,
            "ArrowRight" => 1,
            _ => return false,
        };
        let next = known.with_untracked(|known| match known {
            TensorState::Steps(steps, at) => Some(steps.get(at.checked_add_signed(by)?)?.step),
            _ => None,
        });
        if let Some(next) = next {
            model.set_step(next);
        }
        next.is_some()
    });
    let head = move || {
        model.selected.get().map(|hit| {
            let (class, icon) = severity_icon(hit.severity);
            let tensor = model.place.get().map_or_else(String::new, |place| place.0);
            let is_other = tensor != hit.tensor;
            let kind = known.with(|known| match known {
                TensorState::Steps(steps, at) => steps.get(*at).and_then(|at| at.kind.clone()),
                _ => None,
            });
            let parts = [model.rank_of(&hit), kind].into_iter().flatten();
            let kind = parts.collect::<Vec<_>>().join(" · ");
            // A scalar has no values but its curve.
            let run = model.run.get();
            let is_scalar = state.tags(&run).is_some_and(|list| {
                let mut tags = list.tags.iter();
                tags.any(|tag| tag.kind == Kind::Scalars && tag.tag == tensor)
            });
            let has_values = !is_scalar && known.with(|known| *known != TensorState::Nothing);
            let values = model.place.get().filter(|_| has_values).map(|place| {
                let (tensor, rank, step) = place;
                let href = route::tensors_href(&run, &tensor, rank, Some(step));
                view! {
                    <a class="link small" href=href>
                        {i18n.texts().tensors().show_values}
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
                    <div class="flex">{values} <InTimeline /></div>
                    {if is_other {
                        view! {
                            <button
                                type="button"
                                class="link small"
                                on:click=move |_| model.look_at(None)
                            >
                                {i18n.text(|t| t.debugger().back_to_hit)}
                            </button>
                        }
                            .into_any()
                    } else {
                        view! { <p class="small">{move || i18n.words_of(&hit.sentence, &hit.tensor)}</p> }.into_any()
                    }}
                </section>
            }
        })
    };
    let content = move || {
        let hit = model.selected.get()?;
        Some(match known.get() {
            TensorState::Loading => ().into_any(),
            TensorState::Nothing => {
                let run = model.run.get();
                let tags = state.tags(&run);
                let is_tag_of = |kind: Kind| {
                    let tags = tags.iter().flat_map(|list| &list.tags);
                    tags.clone()
                        .any(|tag| tag.kind == kind && tag.tag == hit.tensor)
                };
                let texts = i18n.texts();
                if is_tag_of(Kind::Scalars) {
                    let (tensor, rank, step) = (hit.tensor, hit.rank, hit.step);
                    view! { <Curve tag=tensor rank=rank step=step /> }.into_any()
                } else if is_tag_of(Kind::Histograms) {
                    let href = route::histograms_href(&run, &hit.tensor);
                    without(texts.titles().histograms, Some(href))
                } else if model.findings.with(|found| is_about_run(found, &hit)) {
                    ().into_any()
                } else {
                    without(texts.debugger().no_statistics, None)
                }
            }
            TensorState::Steps(steps, at) => with(steps, at),
        })
    };
    let elements = move || peek.with(|peek| peek.as_ref().map(Peek::view));
    let advice = move || {
        let hit = model.selected.get()?;
        let advice = model.findings.with(|findings| {
            let advice = advice_on(findings, &hit)?;
            Some(i18n.words(advice))
        });
        let advice = advice.map(|advice| {
            view! {
                <h3>{i18n.texts().debugger().try_this}</h3>
                <p class="small ink2">{advice}</p>
            }
        });
        Some(view! {
            <section>
                {advice}
                <p class="micro ink3">
                    {i18n.texts().debugger().condition} " " <span class="mono">{hit.condition}</span>
                </p>
                {hit.source
                    .map(|source| {
                        view! {
                            <h3>{i18n.texts().debugger().source}</h3>
                            {source_excerpt(&source)}
                        }
                    })}
            </section>
        })
    };
    view! {
        <aside class="insp" aria-label=i18n.text(|t| t.debugger().inspector)>
            {head}
            {move || model.is_lost.get().then(|| lost(&model.run.get(), model.named.get()))}
            {content}
            {elements}
            {advice}
        </aside>
    }
}

fn subject(model: &Model, state: AppState) -> Subject {
    let Some((tensor, rank, step)) = model.place.get() else {
        return Subject::Loading;
    };
    let run = model.run.get();
    let Some(list) = state.tags(&run) else {
        return Subject::Loading;
    };
    let has = |kind: Kind| {
        let mut tags = list.tags.iter();
        tags.any(|tag| tag.kind == kind && tag.tag == tensor && tag.rank == rank)
    };
    let is_recorded = has(Kind::Statistics);
    // Hits about the program name one of its nodes or settings; hits about a profile name its session.
    let is_of_program = model.selected.get_untracked().is_some_and(|hit| {
        let target = model
            .findings
            .with_untracked(|found| target_of(found, &hit).map(str::to_owned));
        let has_no_values = match target.as_deref() {
            Some("profile") => true,
            Some("run") => hit.values.is_empty(),
            _ => false,
        };
        has_no_values && hit.tensor == tensor
    });
    if (has(Kind::Scalars) || is_of_program) && !is_recorded {
        return Subject::Nothing;
    }
    Subject::Tensor(TensorPlace {
        run,
        tensor,
        rank,
        step,
        is_recorded,
    })
}

/// Notice about a hit in the address that no longer exists: its tensor, its condition, and a link to the remaining
/// values.
fn lost(run: &str, named: Option<String>) -> Option<AnyView> {
    let i18n = use_i18n();
    let named = named?;
    let mut parts = named.splitn(4, ':');
    let (rank, step) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let (condition, tensor) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let href = route::tensors_href(run, &tensor, rank, Some(step));
    let at = format!("{} {}", i18n.texts().frame().step, format::integer(step));
    let view = view! {
        <section class="inspector-head">
            <h2 class="cut" title=tensor.clone()>
                <bdi>{tensor.clone()}</bdi>
            </h2>
            <p class="micro ink3">
                {at} " · " {i18n.texts().debugger().condition} " "
                <span class="mono">{condition}</span>
            </p>
            <p class="small ink2">{i18n.texts().debugger().lost}</p>
            <a class="link small" href=href>
                {i18n.texts().tensors().show_values}
            </a>
        </section>
    };
    Some(view.into_any())
}

/// `true` if a hit is about the run or a profile and has no values to show.
fn is_about_run(found: &Findings, hit: &Hit) -> bool {
    matches!(target_of(found, hit), Some("run" | "profile"))
}

/// Target of the condition of a hit.
fn target_of<'a>(found: &'a Findings, hit: &Hit) -> Option<&'a str> {
    let watched = found.watchpoints.get(hit.watchpoint as usize);
    watched.map(|watchpoint| &*watchpoint.target)
}

/// Text in place of values; a link if `href` is given.
fn without(text: &'static str, href: Option<String>) -> AnyView {
    view! {
        <section class="small ink2">
            {match href {
                Some(href) => view! { <a class="link" href=href>{text}</a> }.into_any(),
                None => view! { <p>{text}</p> }.into_any(),
            }}
        </section>
    }
    .into_any()
}

fn with(around: Vec<StepStats>, at: usize) -> AnyView {
    let i18n = use_i18n();
    let texts = i18n.texts().debugger();
    let until = around.get(..=at).unwrap_or(&around);
    let steps = until
        .get(until.len().saturating_sub(STEPS)..)
        .unwrap_or(until)
        .to_vec();
    let [max, mean, mean_abs, min, std] = texts.figures;
    let last = steps.last().map(|at| at.stats.clone());
    let before = steps.len().checked_sub(2).and_then(|at| steps.get(at));
    let before = before.and_then(|record| Some((record.step, record.stats.exponents.clone()?)));
    let has_change = steps.iter().any(|at| at.change.is_some());
    let step_word = i18n.texts().frame().step;
    let heads = steps.iter().map(|at| {
        view! { <th class="num">{format!("{step_word} {}", format::integer(at.step))}</th> }
    });
    let figure = |name: &'static str, read: fn(&StepStats) -> Option<f64>| {
        let cells = steps.iter().map(|at| {
            let value = read(at);
            let is_bad = value.is_none_or(|value| !value.is_finite());
            let text = value.map_or_else(|| "–".to_owned(), |value| format::number(value, 4));
            view! { <td class="num" class:ink3=is_bad>{text}</td> }
        });
        view! { <tr><td class="ink3">{name}</td> {cells.collect_view()}</tr> }
    };
    let counted = |name: &'static str, read: fn(&StepStats) -> u64| {
        let cells = steps.iter().map(|at| {
            let count = read(at);
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
                            <span class="micro ink3">{format::count(last.count)}</span>
                        </h3>
                        <ClassBar stats=last />
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
                    {figure(max, |s| Some(s.stats.finite?.max))}
                    {figure(mean, |s| Some(s.stats.finite?.mean))}
                    {figure(mean_abs, |s| Some(s.stats.finite?.mean_abs))}
                    {figure(min, |s| Some(s.stats.finite?.min))}
                    {figure(std, |s| Some(s.stats.variance()?.sqrt()))}
                    {figure("L2", |s| Some(s.stats.finite?.l2))}
                    {has_change.then(|| figure("Δ/|w|", |s| s.change?.mean_change_ratio(1e-9)))}
                    {counted("NaN", |s| s.stats.nan)}
                    {counted("±∞", |s| s.stats.pos_inf + s.stats.neg_inf)}
                </tbody>
            </table>
        </section>
        <OverSteps records=around at=at />
        {last
            .and_then(|last| last.exponents)
            .filter(|exponents| !exponents.counts().is_empty())
            .map(|exponents| {
                view! {
                    <section>
                        <h3 class="flex">
                            {texts.magnitudes} <span class="grow"></span>
                            {before.as_ref().map(|before| before_key(before.0))}
                        </h3>
                        <Magnitudes exponents=exponents before=before.map(|before| before.1) />
                    </section>
                }
            })}
    }
    .into_any()
}
