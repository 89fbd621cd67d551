//! The choice of other sessions or ranks below the first one, and of their alignment.

use trainscope_api::profile::ProfileEntry;

use super::model::{Below, Source, use_model};
use crate::parameters::Align;
use trainscope_web_kit::components::{Icon, IconName, Popover};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Value of the choice of all ranks.
const ALL: &str = "all";
/// Value of the choice of the shown session if it is not among the candidates.
const NOW: &str = "now";

/// A session and rank of the run.
type Candidate = (String, u32);

/// The button with both choices.
#[component]
pub(super) fn OtherButton() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let is_open = RwSignal::new(false);
    let candidates = Memo::new(move |_| {
        let chosen = model.profiles.chosen.get();
        let is_chosen = |session: &str, rank: u32| {
            chosen
                .as_ref()
                .is_some_and(|entry| entry.session == session && entry.rank == rank)
        };
        let list = model.profiles.list.answer.get().unwrap_or_default();
        let others = list.sessions.iter();
        let others = others.filter(|other| !is_chosen(&other.session, other.rank));
        let others = others.map(|other| (other.session.clone(), other.rank));
        others.collect::<Vec<Candidate>>()
    });
    let others = model.others;
    let has_other = Memo::new(move |_| others.sources.with(|all| !all.is_empty()));
    let profile = move || {
        let texts = i18n.texts().timeline();
        let candidates = candidates.get();
        let current = model
            .profiles
            .chosen
            .with(|chosen| chosen.as_ref().map(|entry| entry.session.clone()));
        let run = model.profiles.run.get();
        let is_all = has_other.get() && others.is_all.get();
        let now = others.sources.with(|all| all.first().cloned());
        let now = now.filter(|_| !is_all).map(|now| {
            let list = model.profiles.list.answer.get().unwrap_or_default();
            meant(&list.sessions, &run, now)
        });
        let source = |(session, rank): &Candidate| Source {
            run: run.clone(),
            session: Some(session.clone()),
            rank: Some(*rank),
        };
        let sources: Vec<Source> = candidates.iter().map(source).collect();
        let unlisted = now.clone().filter(|now| !sources.contains(now));
        let unlisted = unlisted.map(|now| {
            view! {
                <option value=NOW selected=true>
                    {model.name_of(now, texts)}
                </option>
            }
        });
        let options = sources.into_iter().enumerate().map(|(index, source)| {
            let is_now = now.as_ref() == Some(&source);
            view! {
                <option value=index.to_string() selected=is_now>
                    {model.name_of(source, texts)}
                </option>
            }
        });
        let options = options.collect_view();
        let of_session = candidates
            .iter()
            .filter(|(session, _)| Some(session) == current.as_ref());
        let has_ranks = is_all || of_session.count() > 1;
        let on_change = move |event| {
            let place: Option<usize> = event_target_value(&event).parse().ok();
            let chosen = place.and_then(|place| candidates.get(place));
            model.set_below(match chosen {
                Some((session, rank)) => Below::Rank(session, *rank),
                None if event_target_value(&event) == ALL => Below::AllRanks,
                None => Below::Nothing,
            });
        };
        view! {
            <select class="field" aria-label=texts.second on:change=on_change>
                <option value="" selected=!has_other.get()>
                    {texts.no_second}
                </option>
                {has_ranks
                    .then(|| {
                        view! {
                            <option value=ALL selected=is_all>
                                {texts.all_ranks}
                            </option>
                        }
                    })}
                {unlisted}
                {options}
            </select>
        }
    };
    let align = move || {
        let texts = i18n.texts().timeline();
        let now = others.align.get();
        let mut all = vec![Align::Begin, Align::Clock, Align::First];
        // The step in the middle of the view, and the alignment of the address.
        all.extend(model.middle_step().map(Align::Step));
        if !all.contains(&now) {
            all.push(now);
        }
        let [begin, clock, first] = texts.alignments;
        let options = all.into_iter().map(|align| {
            let name = match align {
                Align::Begin => begin.to_owned(),
                Align::Clock => clock.to_owned(),
                Align::First => first.to_owned(),
                Align::Step(step) => (texts.at_step)(&format::integer(step)),
            };
            view! {
                <option value=align.text() selected=align == now>
                    {name}
                </option>
            }
        });
        let options = options.collect_view();
        view! {
            <select
                class="field"
                aria-label=texts.align
                on:change=move |event| model.set_align(Align::parse(&event_target_value(&event)))
            >
                {options}
            </select>
        }
    };
    let note = move || {
        let texts = i18n.texts().timeline();
        if let Some(error) = others.error() {
            return match error {
                trainscope_web_kit::client::ClientError::Refused(error) => Some(error.message),
                _ => None,
            };
        }
        let cannot = others.cannot_align();
        let text = match others.align.get() {
            Align::Clock => texts.not_by_clock,
            _ => texts.not_at_step,
        };
        cannot.then(|| text.to_owned())
    };
    let face = move || view! { <Icon name=IconName::Columns size=14 /> }.into_any();
    move || {
        let is_useful = has_other.get() || candidates.with(|all| !all.is_empty());
        is_useful.then(|| {
            view! {
                <Popover
                    is_open
                    label=i18n.label(|t| t.timeline().second)
                    class="btn bare"
                    panel_class="popover lane-list"
                    pressed=Signal::derive(move || has_other.get())
                    face=ViewFn::from(face)
                >
                    <h3 class="micro ink3">{i18n.text(|t| t.timeline().second)}</h3>
                    {profile}
                    <Show when=move || has_other.get()>
                        <h3 class="micro ink3">{i18n.text(|t| t.timeline().align)}</h3>
                        {align}
                        <p class="small ink2">{note}</p>
                    </Show>
                </Popover>
            }
        })
    }
}

/// The session that is shown for a choice that lacks its session or rank: the first of the run that fits, as on the
/// server. The choice itself if the run has none, or if it is of another run.
fn meant(sessions: &[ProfileEntry], run: &str, choice: Source) -> Source {
    let is_meant = |entry: &&ProfileEntry| {
        let (session, rank) = (choice.session.as_ref(), choice.rank);
        choice.run == run
            && session.is_none_or(|session| *session == entry.session)
            && rank.is_none_or(|rank| rank == entry.rank)
    };
    match sessions.iter().find(is_meant) {
        Some(entry) => Source {
            session: Some(entry.session.clone()),
            rank: Some(entry.rank),
            ..choice
        },
        None => choice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_without_a_session_means_the_newest_that_has_the_rank() {
        let entry = |session: &str, rank| ProfileEntry {
            session: session.to_owned(),
            rank,
            ..ProfileEntry::default()
        };
        let sessions = [entry("new", 0), entry("old", 0), entry("old", 1)];
        let source = |run: &str, session: Option<&str>, rank| Source {
            run: run.to_owned(),
            session: session.map(str::to_owned),
            rank,
        };
        for (session, rank, expected) in [
            (None, Some(0), (Some("new"), Some(0))),
            (None, Some(1), (Some("old"), Some(1))),
            (Some("old"), Some(0), (Some("old"), Some(0))),
            (Some("old"), None, (Some("old"), Some(0))),
            (None, None, (Some("new"), Some(0))),
            (None, Some(7), (None, Some(7))),
        ] {
            let choice = source("run", session, rank);
            let expected = source("run", expected.0, expected.1);
            assert_eq!(meant(&sessions, "run", choice), expected);
        }
        let of_other_run = source("other", None, Some(0));
        assert_eq!(meant(&sessions, "run", of_other_run.clone()), of_other_run);
    }
}
