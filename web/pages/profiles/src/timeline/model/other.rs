//! Other sessions or ranks below the first one, and their alignment with it.

use std::sync::Arc;

use trainscope_api::profile::{ProfileList, ProfileQuery, ProfileState};
use trainscope_api::timeline::TimelineLanes;

use super::{Model, Source};
use crate::parameters::{ALIGN, Align, OTHER_RANK, OTHER_RUN, OTHER_SESSION, OtherRanks};
use crate::timeline::cache::Cache;
use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::components::profile_tabs::{Profiles, READING_PAUSE};
use trainscope_web_kit::i18n::TimelineTexts;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};
use trainscope_web_kit::url_state::History;

/// Maximum number of sessions below the first one.
const MAX_OTHERS: usize = 64;

/// Sessions shown below the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::timeline) enum Below<'a> {
    Nothing,
    /// Session and rank of the same run.
    Rank(&'a str, u32),
    /// All other ranks of the session.
    AllRanks,
}

/// The sessions below the first one.
#[derive(Clone, Copy)]
pub(in crate::timeline) struct Others {
    pub(in crate::timeline) sources: Memo<Vec<Source>>,
    /// `true` for all ranks of the session.
    pub(in crate::timeline) is_all: Memo<bool>,
    /// Lanes of the sources, once all arrived.
    lanes: Query<Vec<Arc<TimelineLanes>>>,
    /// Lanes of each source; empty until they arrive.
    pub(in crate::timeline) frames: Memo<Vec<Arc<TimelineLanes>>>,
    pub(in crate::timeline) align: Memo<Align>,
    /// Times of the first session at which the others begin, ns; `None` for a session that cannot be aligned.
    pub(in crate::timeline) shifts: Memo<Vec<Option<f64>>>,
    pub(in crate::timeline) caches: StoredValue<Vec<Cache>>,
}

impl Others {
    pub(super) fn new(profiles: Profiles, frame: Memo<Arc<TimelineLanes>>) -> Self {
        let url = profiles.url;
        let (run, session) = (url.param(OTHER_RUN), url.param(OTHER_SESSION));
        let (rank, align) = (url.param(OTHER_RANK), url.param(ALIGN));
        let is_all =
            Memo::new(move |_| align.get().is_some() && rank.get() == Some(OtherRanks::All));
        let sources = Memo::new(move |_| {
            if !align.with(Option::is_some) {
                return Vec::new();
            }
            if is_all.get() {
                let list = profiles.list.answer.get().unwrap_or_default();
                let chosen = profiles.chosen.get();
                let first = chosen.as_ref().map(|entry| (&*entry.session, entry.rank));
                return first.map_or_else(Vec::new, |first| {
                    other_ranks(&list, &profiles.run.get(), first)
                });
            }
            vec![Source {
                run: run.get().unwrap_or_else(|| profiles.run.get()),
                session: session.get(),
                rank: rank.get().and_then(OtherRanks::one),
            }]
        });
        let align = Memo::new(move |_| align.get().unwrap_or_default());
        let lanes = query(
            move || Some(sources.get()).filter(|sources| !sources.is_empty()),
            lanes_of,
        )
        .cleared_with(move || sources.get());
        let frames = Memo::new(move |_| {
            let answer = lanes.answer.get();
            answer.map_or_else(
                || vec![Arc::default(); sources.with(Vec::len)],
                |all| all.to_vec(),
            )
        });
        let is_reading = |other: &Arc<TimelineLanes>| {
            other.state == ProfileState::Reading && other.total_bytes > 0
        };
        Effect::new(move || {
            if frames.with(|all| all.iter().any(is_reading)) {
                set_timeout(move || lanes.ask_again(), READING_PAUSE);
            }
        });
        let shifts = Memo::new(move |_| {
            let is_there = lanes.answer.with(Option::is_some);
            let align = align.get();
            let shift = |other: &Arc<TimelineLanes>| {
                is_there.then(|| frame.with(|first| shift(first, other, align)))?
            };
            frames.with(|all| all.iter().map(shift).collect::<Vec<_>>())
        });
        Self {
            sources,
            is_all,
            lanes,
            frames,
            align,
            shifts,
            caches: StoredValue::new(Vec::new()),
        }
    }

    /// The error of the request for the lanes; reactive.
    pub(in crate::timeline) fn error(self) -> Option<ClientError> {
        self.lanes.error.get()
    }

    /// `true` if the lanes arrived, and some session cannot be aligned this way; reactive.
    pub(in crate::timeline) fn cannot_align(self) -> bool {
        let is_there = self.lanes.answer.with(Option::is_some);
        is_there && self.shifts.with(|all| all.iter().any(Option::is_none))
    }
}

/// Lanes of some sessions, in their order.
async fn lanes_of(sources: Vec<Source>) -> Result<Vec<Arc<TimelineLanes>>, ClientError> {
    let mut all = Vec::new();
    for source in sources {
        let query = ProfileQuery {
            run: source.run,
            session: source.session,
            rank: source.rank,
            ..ProfileQuery::default()
        };
        all.push(Arc::new(client::timeline_lanes(&query).await?));
    }
    Ok(all)
}

/// The other ranks of a session, in order; at most [`MAX_OTHERS`].
fn other_ranks(list: &ProfileList, run: &str, (session, rank): (&str, u32)) -> Vec<Source> {
    let ranks = list.sessions.iter();
    let ranks = ranks.filter(|entry| entry.session == session && entry.rank != rank);
    let mut ranks: Vec<u32> = ranks.map(|entry| entry.rank).collect();
    ranks.sort_unstable();
    ranks.truncate(MAX_OTHERS);
    let source = |rank| Source {
        run: run.to_owned(),
        session: Some(session.to_owned()),
        rank: Some(rank),
    };
    ranks.into_iter().map(source).collect()
}

/// Time of the first session at which the second one begins, ns; `None` if a clock or the step is missing.
fn shift(first: &TimelineLanes, second: &TimelineLanes, align: Align) -> Option<f64> {
    match align {
        Align::Begin => Some(0.0),
        Align::Clock => {
            let clock = |lanes: &TimelineLanes| lanes.unix_nanos.as_ref()?.parse::<i128>().ok();
            Some((clock(second)? - clock(first)?) as f64)
        }
        Align::First => {
            let numbers = |lanes: &TimelineLanes| {
                let steps = lanes.steps.iter();
                let number = steps.map(|step| step.number.saturating_add(lanes.step_offset));
                number.collect::<Vec<_>>()
            };
            let (ours, other) = (numbers(first), numbers(second));
            let common = ours.iter().find(|step| other.contains(step));
            shift(first, second, Align::Step(*common.or(ours.first())?))
        }
        Align::Step(step) => {
            let at = |lanes: &TimelineLanes| {
                let number = step.saturating_sub(lanes.step_offset);
                lanes.steps.iter().position(|span| span.number == number)
            };
            let position = at(first)?;
            // A run with other numbers has the step at the same position.
            let other = at(second).unwrap_or(position);
            let (ours, other) = (first.steps.get(position)?, second.steps.get(other)?);
            Some((ours.begin_nanos as f64) - (other.begin_nanos as f64))
        }
    }
}

impl Model {
    /// Shows other sessions of the same run below the first one, or hides them.
    pub(in crate::timeline) fn set_below(self, below: Below<'_>) {
        let align = self.others.align.get_untracked();
        let (session, rank) = match below {
            Below::Nothing => (None, None),
            Below::Rank(session, rank) => (Some(session), Some(OtherRanks::One(rank))),
            Below::AllRanks => (None, Some(OtherRanks::All)),
        };
        let changes = [
            OTHER_RUN.clear(),
            OTHER_SESSION.to_option(session),
            OTHER_RANK.to_option(rank),
            ALIGN.to_option((below != Below::Nothing).then_some(align)),
        ];
        self.url.set(&changes, History::Push);
    }

    /// Changes the alignment of the other sessions.
    pub(in crate::timeline) fn set_align(self, align: Align) {
        self.url.set(&[ALIGN.to(align)], History::Replace);
    }

    /// Name of a session next to the first one: its rank, after its run and session where they are others; reactive.
    pub(in crate::timeline) fn name_of(self, source: Source, texts: &TimelineTexts) -> String {
        let is_other_run = self.profiles.run.with(|run| *run != source.run);
        let run = is_other_run.then_some(source.run);
        let session = self.profiles.chosen.with(|chosen| {
            let chosen = chosen.as_ref().map(|entry| &entry.session);
            source.session.filter(|session| Some(session) != chosen)
        });
        let rank = source.rank.map(texts.rank);
        let parts: Vec<String> = run.into_iter().chain(session).chain(rank).collect();
        parts.join(" · ")
    }

    /// Times of the first session at which the others begin, ns; 0 for those that cannot be aligned.
    pub(in crate::timeline) fn shifts(self) -> Vec<f64> {
        let all = self.others.shifts.get();
        all.into_iter().map(Option::unwrap_or_default).collect()
    }
}

#[cfg(test)]
mod tests {
    use trainscope_api::profile::ProfileEntry;
    use trainscope_api::timeline::StepSpan;

    use super::*;

    fn lanes(unix_nanos: Option<&str>, first: i64, offset: i64) -> TimelineLanes {
        let step = |at: i64| StepSpan {
            number: first + at,
            begin_nanos: 100 * (first + at),
            end_nanos: 100 * (first + at) + 90,
        };
        TimelineLanes {
            unix_nanos: unix_nanos.map(str::to_owned),
            steps: (0..4).map(step).collect(),
            step_offset: offset,
            ..TimelineLanes::default()
        }
    }

    #[test]
    fn sessions_are_aligned_at_a_step_or_by_the_clock() {
        let first = lanes(Some("1790857026000000500"), 10, 2_000);
        let second = lanes(Some("1790857026000000100"), 11, 2_000);
        assert_eq!(shift(&first, &second, Align::Begin), Some(0.0));
        assert_eq!(shift(&first, &second, Align::Clock), Some(-400.0));
        assert_eq!(shift(&first, &second, Align::Step(2_012)), Some(0.0));
        // Step 10 is the first one; the second session lacks that number.
        assert_eq!(shift(&first, &second, Align::Step(2_010)), Some(-100.0));
        assert_eq!(shift(&first, &second, Align::Step(10)), None);
        assert_eq!(shift(&first, &second, Align::First), Some(0.0), "step 11");
        let other = lanes(None, 0, 0);
        assert_eq!(shift(&first, &other, Align::First), Some(1_000.0));
        let without = TimelineLanes::default();
        assert_eq!(shift(&first, &without, Align::First), None);
        assert_eq!(shift(&first, &other, Align::Clock), None);
        assert_eq!(shift(&first, &other, Align::Step(2_012)), Some(1_000.0));
    }

    #[test]
    fn all_ranks_are_those_of_the_session_in_order() {
        let entry = |session: &str, rank| ProfileEntry {
            session: session.to_owned(),
            rank,
            ..ProfileEntry::default()
        };
        let list = ProfileList {
            sessions: vec![entry("b", 0), entry("a", 3), entry("a", 0), entry("a", 1)],
            ..ProfileList::default()
        };
        let found = other_ranks(&list, "run", ("a", 1));
        let ranks: Vec<Option<u32>> = found.iter().map(|source| source.rank).collect();
        assert_eq!(ranks, [Some(0), Some(3)]);
        assert!(
            found
                .iter()
                .all(|source| source.session.as_deref() == Some("a"))
        );
    }
}
