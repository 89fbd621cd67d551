//! A second session or rank below the first one, with its start at a time of the first.

use std::sync::Arc;

use trainscope_api::profile::{ProfileQuery, ProfileState};
use trainscope_api::timeline::TimelineLanes;

use super::{Model, Source, number};
use crate::timeline::cache::Cache;
use trainscope_web_kit::client;
use trainscope_web_kit::components::profile_tabs::{Profiles, READING_PAUSE};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};
use trainscope_web_kit::url_state::History;

/// Keys of the address: run, session and rank; those of the comparison of two profiles.
const OTHER: [&str; 3] = ["other", "other_session", "other_rank"];
/// Key of the address: the alignment. Without it there is no second session.
const ALIGN: &str = "align";

/// Moments of the two sessions that are above each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::timeline) enum Align {
    /// Their starts.
    #[default]
    Begin,
    /// The same wall time.
    Clock,
    /// The start of the first step that both have; without one, of the first step of each.
    First,
    /// The start of a step, by its number in the training.
    Step(i64),
}

impl Align {
    /// Its text in the address.
    pub(in crate::timeline) fn text(self) -> String {
        match self {
            Self::Begin => "begin".to_owned(),
            Self::Clock => "clock".to_owned(),
            Self::First => "step".to_owned(),
            Self::Step(step) => step.to_string(),
        }
    }

    /// The alignment of a text; their starts for an unknown one.
    pub(in crate::timeline) fn parse(text: &str) -> Self {
        match text {
            "clock" => Self::Clock,
            "step" => Self::First,
            text => text.parse().map_or(Self::Begin, Self::Step),
        }
    }
}

/// The second session. `Copy`.
#[derive(Clone, Copy)]
pub(in crate::timeline) struct Other {
    /// `None` without one.
    pub(in crate::timeline) source: Memo<Option<Source>>,
    pub(in crate::timeline) lanes: Query<TimelineLanes>,
    pub(in crate::timeline) frame: Memo<Arc<TimelineLanes>>,
    pub(in crate::timeline) align: Memo<Align>,
    /// Time of the first session at which it begins, nanoseconds; `None` if they cannot be aligned so.
    pub(in crate::timeline) shift: Memo<Option<f64>>,
    pub(in crate::timeline) cache: StoredValue<Cache>,
}

impl Other {
    pub(super) fn new(profiles: Profiles, frame: Memo<Arc<TimelineLanes>>) -> Self {
        let [run, session, rank] = OTHER.map(|key| profiles.url.param(key));
        let align = profiles.url.param(ALIGN);
        let source = Memo::new(move |_| {
            align.with(Option::is_some).then(|| Source {
                run: run.get().unwrap_or_else(|| profiles.run.get()),
                session: session.get(),
                rank: number(rank),
            })
        });
        let align = Memo::new(move |_| {
            align.with(|text| Align::parse(text.as_deref().unwrap_or_default()))
        });
        let lanes = query(
            move || source.get(),
            |own: Source| async move {
                client::timeline_lanes(&ProfileQuery {
                    run: own.run,
                    session: own.session,
                    rank: own.rank,
                    ..ProfileQuery::default()
                })
                .await
            },
        )
        .cleared_with(move || source.get());
        let own = Memo::new(move |_| lanes.answer.get().unwrap_or_default());
        Effect::new(move || {
            if own.with(|own| own.state == ProfileState::Reading && own.total_bytes > 0) {
                set_timeout(move || lanes.ask_again(), READING_PAUSE);
            }
        });
        let shift = Memo::new(move |_| {
            let is_there = lanes.answer.with(Option::is_some);
            is_there.then(|| frame.with(|first| own.with(|own| shift(first, own, align.get()))))?
        });
        Self {
            source,
            lanes,
            frame: own,
            align,
            shift,
            cache: StoredValue::new(Cache::default()),
        }
    }
}

/// Time of the first session at which the second one begins; `None` if a clock or the step is missing.
fn shift(first: &TimelineLanes, second: &TimelineLanes, align: Align) -> Option<f64> {
    match align {
        Align::Begin => Some(0.0),
        Align::Clock => {
            let clock = |own: &TimelineLanes| own.unix_nanos.as_ref()?.parse::<i128>().ok();
            Some((clock(second)? - clock(first)?) as f64)
        }
        Align::First => {
            let numbers = |own: &TimelineLanes| {
                let steps = own.steps.iter();
                let number = steps.map(|step| step.number.saturating_add(own.step_offset));
                number.collect::<Vec<_>>()
            };
            let (own, other) = (numbers(first), numbers(second));
            let common = own.iter().find(|step| other.contains(step));
            shift(first, second, Align::Step(*common.or(own.first())?))
        }
        Align::Step(step) => {
            let at = |own: &TimelineLanes| {
                let number = step.saturating_sub(own.step_offset);
                own.steps.iter().position(|own| own.number == number)
            };
            let own = at(first)?;
            // A run with other numbers has the step at the same place.
            let other = at(second).unwrap_or(own);
            let (own, other) = (first.steps.get(own)?, second.steps.get(other)?);
            Some((own.begin_nanos as f64) - (other.begin_nanos as f64))
        }
    }
}

impl Model {
    /// Shows a session and rank of the same run below the first one, or none.
    pub(in crate::timeline) fn set_other(self, other: Option<(&str, u32)>) {
        let align = self.other.align.get_untracked().text();
        let rank = other.map(|(_, rank)| rank.to_string());
        let changes = [
            (OTHER[0], None),
            (OTHER[1], other.map(|(session, _)| session)),
            (OTHER[2], rank.as_deref()),
            (ALIGN, other.map(|_| &*align)),
        ];
        self.url.set(&changes, History::Push);
    }

    /// Aligns the second session in another way.
    pub(in crate::timeline) fn set_align(self, align: Align) {
        self.url
            .set(&[(ALIGN, Some(&align.text()))], History::Replace);
    }

    /// Time of the first session at which the second one begins; the same begin if they cannot be aligned.
    pub(in crate::timeline) fn shift(self) -> f64 {
        self.other.shift.get().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
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
        // Step 10 is the first one; the second session has none of that number.
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
    fn alignments_have_texts_in_the_address() {
        for align in [
            Align::Begin,
            Align::Clock,
            Align::First,
            Align::Step(-3),
            Align::Step(17),
        ] {
            assert_eq!(Align::parse(&align.text()), align);
        }
        assert_eq!(Align::parse("?"), Align::Begin);
    }
}
