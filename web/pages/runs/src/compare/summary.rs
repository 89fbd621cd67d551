//! The summary: the sentence, the loss, the map, and cards of settings, graphs and first partings.

use std::sync::Arc;

use trainscope_api::compare::{AgainstBase, Outcome};

use super::curve::CurveCard;
use super::graph::GraphCard;
use super::map::MapCard;
use super::model::use_model;
use super::tables::{ConfigurationCard, FirstPartings};
use trainscope_web_kit::components::{IconName, RunChip, fixed_icon};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{I18n, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

#[component]
pub(super) fn Summary() -> impl IntoView {
    let model = use_model();
    let has_map = Memo::new(move |_| {
        model
            .with_other(|other| other.tensors + other.scalars_total > 0)
            .unwrap_or_default()
    });
    view! {
        <Verdict />
        <div class="cols">
            <div>
                <CurveCard />
                <Show when=move || has_map.get()>
                    <MapCard />
                </Show>
            </div>
            <div>
                <ConfigurationCard />
                <GraphCard />
                <FirstPartings />
            </div>
        </div>
    }
}

/// Sentence of the run shown against the base, with those of the other runs below.
#[component]
pub(super) fn Verdict() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let all = Memo::new(move |_| {
        model.query.answer.with(|answer| {
            Arc::new(
                answer
                    .as_deref()
                    .map(|answer| answer.others.clone())
                    .unwrap_or_default(),
            )
        })
    });
    let shown = move || {
        let other = model.other.get();
        all.with(|all| {
            let against = all
                .iter()
                .find(|against| Some(&against.run) == other.as_ref())?;
            Some(sentence(i18n, against))
        })
    };
    let others = move || {
        let other = model.other.get();
        let all = all.get();
        let more = all
            .iter()
            .filter(|against| Some(&against.run) != other.as_ref());
        more.map(|against| {
            let run = against.run.clone();
            let words = i18n.words(&against.sentence);
            view! {
                <li>
                    <button
                        type="button"
                        class="link small flex"
                        on:click={
                            let run = run.clone();
                            move |_| model.show_other(&run)
                        }
                    >
                        <RunChip run=run.clone() />
                        <bdi>{model.name(&run)}</bdi>
                        <span class="ink2 cut">{words}</span>
                    </button>
                </li>
            }
        })
        .collect_view()
    };
    view! {
        {shown}
        <Show when=move || all.with(|all| all.len() > 1)>
            <ul class="other-sentences">{others}</ul>
        </Show>
    }
}

fn sentence(i18n: I18n, against: &AgainstBase) -> AnyView {
    let model = use_model();
    let texts = i18n.texts().compare();
    let class = match against.outcome {
        Outcome::Part | Outcome::PartInScalars => "warn",
        Outcome::Same | Outcome::Within => "okc",
        Outcome::SoFar | Outcome::Unread | Outcome::Nothing => "ink3",
    };
    let words = i18n.words(&against.sentence);
    let detail = [Some(&against.detail), against.align_fault.as_ref()];
    let detail: Vec<String> = detail
        .into_iter()
        .flatten()
        .map(|words| i18n.words(words))
        .filter(|words| !words.is_empty())
        .collect();
    // If the runs differ from the start, the sentence names a later parting.
    let first = against
        .beyond
        .as_ref()
        .or(against.partings.first())
        .cloned();
    let base = model.base();
    let open = first
        .as_ref()
        .filter(|first| first.role.is_some())
        .map(|first| {
            let href = route::tensors_beside_href(
                &base,
                &against.run,
                &first.name,
                first.rank,
                first.step,
            );
            view! {
                <a class="btn hide-small" href=href data-part="open-both">
                    {fixed_icon(IconName::Arrow, 14)}
                    {(texts.open_both)(&format::integer(first.step))}
                </a>
            }
        });
    let heading = match first {
        Some(first) => {
            let href = match first.role {
                Some(_) => route::tensors_beside_href(
                    &base,
                    &against.run,
                    &first.name,
                    first.rank,
                    first.step,
                ),
                None => route::scalars_href(&base, &model.runs.get(), Some(&first.name)),
            };
            let (before, after) = around_name(&words, &first.name).unwrap_or((&words, ""));
            let has_name = before.len() < words.len();
            let name = has_name.then(|| {
                view! {
                    <a class="link mono" href=href>
                        <bdi>{first.name.clone()}</bdi>
                    </a>
                }
            });
            view! {
                {before.to_owned()}
                {name}
                {after.to_owned()}
            }
            .into_any()
        }
        None => words.into_any(),
    };
    let progress = against
        .progress
        .filter(|_| against.reading == trainscope_api::compare::Reading::Going);
    let progress = progress.map(|progress| {
        let (done, all) = (
            format::bytes(progress.done_bytes),
            format::bytes(progress.total_bytes),
        );
        view! {
            <p class="small ink3" role="status" data-part="reading">
                {(texts.reading)(&done, &all)}
            </p>
        }
    });
    let faults = (!against.faults.is_empty()).then(|| {
        let count = against.faults.len() as u64;
        let all: Vec<String> = against
            .faults
            .iter()
            .take(20)
            .map(|fault| format!("{}: {}", fault.place, fault.reason))
            .collect();
        view! {
            <p class="small warn" title=all.join("\n") data-part="faults">
                {(texts.faults)(count)}
            </p>
        }
    });
    view! {
        <section class="verdict-head" data-part="sentence" data-outcome=outcome_name(against.outcome)>
            <span class=class>{fixed_icon(IconName::Compare, 20)}</span>
            <div class="grow">
                <h1>{heading}</h1>
                <p class="ink2">{detail.join(" ")}</p>
                {progress}
                {faults}
            </div>
            {open}
        </section>
    }
    .into_any()
}

/// Name of an outcome for tests and styles.
const fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Part => "part",
        Outcome::PartInScalars => "part-in-scalars",
        Outcome::Within => "within",
        Outcome::Same => "same",
        Outcome::SoFar => "so-far",
        Outcome::Unread => "unread",
        Outcome::Nothing => "nothing",
    }
}

/// Text before and after the last place where a name is a word of its sentence: `0` does not match `step 80`.
fn around_name<'a>(words: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let is_letter =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
    let mut places = words.rmatch_indices(name);
    places.find_map(|(at, _)| {
        let (before, after) = (&words[..at], &words[at + name.len()..]);
        let is_part = is_letter(before.chars().next_back()) || is_letter(after.chars().next());
        (!is_part).then_some((before, after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_as_a_word() {
        let words = "They differ from step 80, first in 0.";
        assert_eq!(around_name(words, "0").unwrap().1, ".");
        let words = "从迭代 80 起不同，最先是 fc.weight。";
        assert_eq!(around_name(words, "fc.weight").unwrap().1, "。");
        assert_eq!(around_name("They are equal.", "0"), None);
        assert_eq!(around_name("a step", "ste"), None);
    }
}
