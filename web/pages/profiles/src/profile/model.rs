//! State of the page of profiles, and shared code of its views: kinds of time, texts of times, links to slices.

use std::sync::Arc;

use trainscope_api::notebook::RunNotes;
use trainscope_api::profile::{
    OperatorGroup, Parts, PhaseKind, ProfileOverview, ProfileStep, SessionSummary,
};
use trainscope_charts::profile::Shade;

use trainscope_web_kit::client;
use trainscope_web_kit::components::KIND_TOKENS as TOKENS;
use trainscope_web_kit::components::profile_tabs::Profiles;
use trainscope_web_kit::format;
use trainscope_web_kit::location::{Address, use_address};
use trainscope_web_kit::notebook::{Notes, use_notebook};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};
use trainscope_web_kit::url_state::{History, Key, Setting, UrlState};

/// Kinds of time, in the order of the design tokens and of stacks from below: compute, communication, copy, data, host,
/// idle.
pub(super) const KINDS: usize = 6;
/// Position of waiting for data among the kinds.
pub(super) const DATA: usize = 3;
/// Position of idle time among the kinds.
pub(super) const IDLE: usize = 5;

/// Position of the host among the kinds.
pub(super) const HOST: usize = 4;

/// Names of the kinds in searches of the timeline; idle time has no slices.
const SEARCHES: [Option<&str>; KINDS] = [
    Some("compute"),
    Some("communication"),
    Some("copy"),
    Some("data"),
    Some("host"),
    None,
];

/// Parameter of the address: group of the rows.
pub(super) const BY: Setting<OperatorGroup> = Key::of_words(
    "by",
    &[
        (OperatorGroup::Type, "type"),
        (OperatorGroup::Name, "name"),
        (OperatorGroup::Scope, "scope"),
        (OperatorGroup::Shape, "shape"),
        (OperatorGroup::Kernel, "kernel"),
        (OperatorGroup::Variant, "variant"),
    ],
)
.or(OperatorGroup::Name);
/// Order of the rows other than that of time or rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Ranks by their compute.
    Compute,
    /// The longest steps first.
    Longest,
}

pub(super) const ORDER: Key<Order> = Key::of_words(
    "order",
    &[(Order::Compute, "compute"), (Order::Longest, "longest")],
);

/// State of the page; see [`use_model`].
#[derive(Clone, Copy)]
pub(super) struct Model {
    pub(super) profiles: Profiles,
    pub(super) url: UrlState,
    pub(super) overview: Query<ProfileOverview>,
    /// Summary of the shown profile.
    pub(super) summary: Memo<Option<Arc<SessionSummary>>>,
    address: Address,
    notebook: Notes,
}

pub(super) fn use_model() -> Model {
    expect_context()
}

impl Model {
    pub(super) fn provide(profiles: Profiles) -> Self {
        let run = Signal::derive(move || Arc::new(vec![profiles.run.get()]));
        let overview = query(
            move || {
                let is_there = profiles.is_there() && profiles.gone().is_none();
                is_there.then(|| profiles.query.get())
            },
            |wanted| async move { client::profile_overview(&wanted).await },
        )
        .cleared_with(move || profiles.subject())
        .again_with_runs(run);
        let summary = Memo::new(move |_| {
            let answer = overview.answer.get()?;
            answer.sessions.first().cloned().map(Arc::new)
        });
        let model = Self {
            profiles,
            url: profiles.url,
            overview,
            summary,
            address: use_address(),
            notebook: use_notebook(),
        };
        provide_context(model);
        model
    }

    /// Looks at the profile; `None` before its answer; reactive.
    pub(super) fn with<T>(self, look: impl FnOnce(&SessionSummary) -> T) -> Option<T> {
        self.summary.with(|summary| summary.as_deref().map(look))
    }

    /// Peak of the device in FLOP per second, as typed by a user, else by its name; reactive.
    pub(super) fn peak_flops(self) -> Option<f64> {
        let typed = self
            .profiles
            .run
            .with(|run| self.notebook.notes(run).peak_flops);
        typed.or_else(|| self.with(|summary| summary.peak_flops).flatten())
    }

    /// Stores a peak in the notes of the run; `None` removes it.
    pub(super) fn set_peak_flops(self, peak: Option<f64>) {
        self.profiles.run.with_untracked(|run| {
            let notes = RunNotes {
                peak_flops: peak,
                ..untrack(|| self.notebook.notes(run))
            };
            self.notebook.set_notes(run, notes);
        });
    }

    /// Follows an address of this program.
    pub(super) fn open(self, href: &str) {
        self.address.go(href, History::Push);
    }

    /// The timeline from the start to the end of a step; reactive.
    pub(super) fn step_href(self, number: Option<i64>, search: Option<&str>) -> String {
        let range = self.with(|summary| {
            let mut steps = summary.steps.iter();
            let step = steps.find(|step| Some(step.number) == number)?;
            Some((step.begin_nanos, step.end_nanos))
        });
        self.profiles.timeline_href(range.flatten(), search)
    }

    /// The timeline with the slices of a kind of time framed, if it has slices; reactive.
    pub(super) fn kind_href(self, kind: usize) -> Option<String> {
        let has_device = self
            .with(|summary| summary.device.is_some())
            .unwrap_or(true);
        // Without a device the host computes.
        let kind = if kind == 0 && !has_device { HOST } else { kind };
        let name = SEARCHES.get(kind).copied().flatten()?;
        let search = format!("kind:{name}");
        Some(self.profiles.timeline_href(None, Some(&search)))
    }

    /// The timeline around a stretch of time, with a margin of its length on both sides; reactive.
    pub(super) fn around_href(self, (begin, end): (i64, i64), search: Option<&str>) -> String {
        let margin = end.saturating_sub(begin).max(1);
        let range = (
            begin.saturating_sub(margin).max(0),
            end.saturating_add(margin),
        );
        self.profiles.timeline_href(Some(range), search)
    }
}

/// Parts of a step by kind of time. Without a device the host computes.
pub(super) const fn kinds_of(parts: &Parts, has_device: bool) -> [i64; KINDS] {
    parts.kinds(has_device)
}

/// Colour of a phase.
pub(super) const fn shade_of(kind: PhaseKind) -> Shade {
    match kind {
        PhaseKind::Data => Shade::Time(DATA),
        PhaseKind::Forward | PhaseKind::Training => Shade::Time(0),
        PhaseKind::Backward => Shade::Pale(0, 0.72),
        PhaseKind::Recomputation => Shade::Pale(0, 0.58),
        PhaseKind::Update => Shade::Pale(0, 0.46),
        PhaseKind::Communication => Shade::Time(1),
        PhaseKind::Host => Shade::Time(4),
        PhaseKind::Interval => Shade::Time(IDLE),
    }
}

/// A shade as CSS.
pub(super) fn css_of(shade: Shade) -> String {
    let token = |kind: usize| TOKENS.get(kind).copied().unwrap_or("idle");
    match shade {
        Shade::Time(kind) => format!("var(--k-{})", token(kind)),
        Shade::Pale(kind, part) => format!(
            "color-mix(in oklab, var(--k-{}) {:.0}%, var(--surface))",
            token(kind),
            part * 100.0
        ),
        Shade::Magnitude(at) => format!("var(--seq-{at})"),
        Shade::Warning => "var(--warning)".to_owned(),
        Shade::Error => "var(--error)".to_owned(),
        Shade::Plain => "var(--edge)".to_owned(),
    }
}

/// A square of a colour, for legends and tables.
pub(super) fn swatch(shade: Shade) -> impl IntoView {
    view! { <i class="sw" style:--c=css_of(shade)></i> }
}

/// Text of a duration: `141 ms`. Differences may be negative.
pub(super) fn time(nanos: i64) -> String {
    let text = format::nanos(nanos.unsigned_abs());
    if nanos < 0 {
        format!("−{text}")
    } else {
        text
    }
}

/// A difference with its sign: `+49.7 ms`.
pub(super) fn signed(nanos: i64) -> String {
    if nanos > 0 {
        format!("+{}", time(nanos))
    } else {
        time(nanos)
    }
}

/// Share of a part in a whole; 0 if the whole is not positive.
pub(super) fn share(part: i64, whole: i64) -> f64 {
    if whole > 0 {
        part as f64 / whole as f64
    } else {
        0.0
    }
}

/// Length of a step, ns.
pub(super) fn length(step: &ProfileStep) -> i64 {
    step.end_nanos.saturating_sub(step.begin_nanos)
}

/// Median of numbers; 0 without any.
pub(super) fn median(mut all: Vec<i64>) -> i64 {
    all.sort_unstable();
    let middle = all.len() / 2;
    match (all.get(middle), all.len() % 2) {
        (None, _) => 0,
        (Some(one), 1) => *one,
        (Some(after), _) => {
            let before = all.get(middle.saturating_sub(1)).unwrap_or(after);
            before.midpoint(*after)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_by_kind_add_up_with_and_without_a_device() {
        let parts = Parts {
            kernel: 1,
            memcpy: 2,
            memset: 4,
            communication: 8,
            runtime: 16,
            data: 32,
            operators: 64,
            other: 128,
        };
        assert_eq!(kinds_of(&parts, true), [1, 8, 6, 32, 80, 128]);
        assert_eq!(kinds_of(&parts, false), [81, 8, 6, 32, 0, 128]);
    }

    #[test]
    fn the_middle_of_an_even_number_is_between_two() {
        assert_eq!(median(vec![]), 0);
        assert_eq!(median(vec![9, 1, 5]), 5);
        assert_eq!(median(vec![1, 9, 5, 7]), 6);
    }

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(signed(49_700_000), "+49.7 ms");
        assert_eq!(signed(-100_000), "−100 µs");
        assert_eq!(signed(0), "0 ns");
    }
}
