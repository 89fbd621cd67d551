//! Requests of a card, triggered by coming into view, a new range or a growing run.

use std::sync::Arc;

use leptos::task::spawn_local;

use super::choices::Range;
use super::choices::XChoice;
use super::data::{CardLines, Want, x_values};
use super::page::PageState;
use trainscope_web_kit::client;
use trainscope_web_kit::components::browse::TagEntry;
use trainscope_web_kit::live::use_live;
use trainscope_web_kit::prelude::*;

/// Maximum number of lines of a card with wall times on all x axes.
const TIMED_LINES: usize = 8;
/// Granularity of the number of points of a request: a few pixels more or less cause no new request.
const POINTS_STEP: usize = 64;

/// Approximate number of additional points before a zoomed range. Smoothed values in it then equal those without
/// zooming: for weights up to 0.96, earlier points have less than 10⁻⁴ of the influence.
const SMOOTHED_FROM: usize = 256;

/// A card's requests: only the latest counts, outdated answers are dropped, the old picture stays until then.
#[derive(Clone, Copy)]
pub(super) struct CardRequests {
    /// The last answer.
    pub(super) loaded: RwSignal<Arc<CardLines>>,
    /// `true` while a request is pending.
    is_fetching: StoredValue<bool>,
    /// `true` if the pending request was made by the user, not by growth of a run.
    pub(super) is_awaited: RwSignal<bool>,
    /// `true` after the first answer.
    pub(super) is_answered: RwSignal<bool>,
    /// `true` if the last request failed.
    pub(super) has_failed: RwSignal<bool>,
    /// The answer without a range, with its request. It converts ranges of other units to steps.
    pub(super) outline: RwSignal<Option<(Want, Arc<CardLines>)>>,
    round: StoredValue<u64>,
}

impl CardRequests {
    /// Starts the requests of a card.
    pub(super) fn start(
        page: PageState,
        tag: StoredValue<String>,
        zoomed: Memo<Option<Range>>,
        width: Signal<f64>,
    ) -> Self {
        let cached = tag.with_value(|tag| page.cached(tag));
        let loading = Self {
            is_answered: RwSignal::new(cached.is_some()),
            loaded: RwSignal::new(cached.unwrap_or_default()),
            is_fetching: StoredValue::new(false),
            is_awaited: RwSignal::new(false),
            has_failed: RwSignal::new(false),
            outline: RwSignal::new(None),
            round: StoredValue::new(0),
        };
        let want = Memo::new(move |_| loading.want(page, tag, zoomed, width));
        Effect::new(move |before: Option<Option<Want>>| {
            let now = want.get();
            if let Some(now) = &now {
                // A moving range waits for the pending answer: the picture follows at any speed.
                let is_move = before.flatten().is_some_and(|before| before.is_like(now));
                if !(is_move && loading.is_fetching.get_value()) {
                    loading.is_awaited.set(true);
                    loading.fetch(page, tag, want, now.clone());
                }
            }
            now
        });
        let live = use_live();
        Effect::new(move |before: Option<u64>| {
            let versions = want.with(|want| {
                let series = want
                    .as_ref()
                    .map(|want| want.series.as_slice())
                    .unwrap_or_default();
                series.iter().map(|id| live.version(&id.run)).sum()
            });
            if before.is_some_and(|before| before != versions) {
                tag.with_value(|tag| page.turns.wait(tag));
            }
            versions
        });
        Effect::new(move |before: Option<u64>| {
            let (number, is_mine) = page
                .turns
                .now
                .with(|(number, now)| (*number, tag.with_value(|tag| tag == now)));
            if is_mine && before.is_some_and(|before| before != number) {
                match want.get_untracked() {
                    Some(want_now) if !loading.is_fetching.get_value() => {
                        loading.fetch(page, tag, want, want_now);
                    }
                    // A pending request may have been answered before the change.
                    _ => tag.with_value(|tag| page.turns.wait(tag)),
                }
            }
            number
        });
        loading
    }

    fn want(
        self,
        page: PageState,
        tag: StoredValue<String>,
        zoomed: Memo<Option<Range>>,
        width: Signal<f64>,
    ) -> Option<Want> {
        let settings = page.settings;
        let entry = tag.with_value(|tag| page.entry(tag))?;
        let x = tag.with_value(|tag| settings.x_of(tag));
        let width = width.get();
        if width < 1.0 {
            return None;
        }
        let pixels = width * window().device_pixel_ratio();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the width of an element in pixels"
        )]
        let columns = (pixels.clamp(1.0, 16_384.0) as usize).next_multiple_of(POINTS_STEP);
        let before = steps_of_points(&entry, SMOOTHED_FROM);
        // Wall times of points are requested for few lines only.
        let is_few = entry.series.len() <= TIMED_LINES;
        let mut want = Want {
            series: entry.series,
            points: columns,
            superseded: settings.has_superseded.get(),
            wall_times: matches!(x, XChoice::Relative | XChoice::Wall) || is_few,
            x_tag: settings.x_tag.get(),
            ..Want::default()
        };
        if let Some((lo, hi)) = zoomed.get() {
            let steps = match x {
                XChoice::Step => Some(step_range(lo, hi)),
                XChoice::Relative | XChoice::Wall | XChoice::Tag => {
                    let facts = page.facts.get();
                    let outline = self.outline.get();
                    let fitting = outline.filter(|(asked, _)| asked.is_like(&want));
                    fitting.and_then(|(_, outline)| {
                        outline.steps_of((lo, hi), &|curve| {
                            let start = facts.get(&curve.id.run).and_then(|facts| facts.start);
                            x_values(curve, x, start)
                        })
                    })
                }
            };
            if let Some((from, to)) = steps {
                // Half a range more on each side: lines continue beyond the edges of the picture.
                let margin = to.saturating_sub(from) / 2 + 1;
                want.from = Some(from.saturating_sub(margin.max(before)));
                want.to = Some(to.saturating_add(margin));
                want.points = columns * 2 + SMOOTHED_FROM;
            }
        }
        Some(want)
    }

    fn fetch(
        self,
        page: PageState,
        tag: StoredValue<String>,
        wanted: Memo<Option<Want>>,
        want: Want,
    ) {
        self.round.update_value(|round| *round += 1);
        let round = self.round.get_value();
        self.is_fetching.set_value(true);
        let name = tag.get_value();
        spawn_local(async move {
            let answer = client::scalars_many(&want.request(&name)).await;
            // Meanwhile, the card may be gone, or something else wanted.
            if self.round.try_get_value() != Some(round) {
                return;
            }
            self.is_fetching.set_value(false);
            if self.is_awaited.get_untracked() {
                self.is_awaited.set(false);
            }
            if self.has_failed.get_untracked() != answer.is_err() {
                self.has_failed.set(answer.is_err());
            }
            if let Ok(answer) = answer {
                page.turns.look();
                let loaded = Arc::new(CardLines::new(&want, answer.series));
                page.keep(&name, &loaded);
                if want.from.is_none() {
                    if !want.superseded {
                        page.browse
                            .set_drawn(&name, Some(loaded.points()), loaded.last_step());
                    }
                    self.outline.set(Some((want.clone(), Arc::clone(&loaded))));
                }
                self.loaded.set(loaded);
                if !self.is_answered.get_untracked() {
                    self.is_answered.set(true);
                }
                // The range may have moved on meanwhile.
                if let Some(Some(now)) = wanted.try_get_untracked()
                    && now != want
                {
                    self.fetch(page, tag, wanted, now);
                }
            }
        });
    }
}

/// Number of steps spanned by a number of points of this tag, from their mean distance.
fn steps_of_points(entry: &TagEntry, points: usize) -> i64 {
    let span = entry.last_step.zip(entry.first_step);
    let span = span.map_or(0, |(last, first)| last.saturating_sub(first));
    let all = i64::try_from(entry.points / entry.series.len().max(1) as u64).unwrap_or(i64::MAX);
    let points = i64::try_from(points).unwrap_or(i64::MAX);
    span.saturating_mul(points) / all.max(1)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "`as` saturates, which is what a range beyond all steps means"
)]
fn step_range(lo: f64, hi: f64) -> (i64, i64) {
    (lo.floor() as i64, hi.ceil() as i64)
}
