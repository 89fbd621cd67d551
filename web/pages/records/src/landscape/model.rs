//! State of the page: the answer, and the choices in the address.

use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

use trainscope_analysis::landscape::{LossScale, Point};

use super::drawing;
use super::load::{LandscapeView, RunLandscapes, load};
use trainscope_web_kit::parameters::STEP;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};
use trainscope_web_kit::route::use_run;
use trainscope_web_kit::run_colour::use_run_colours;
use trainscope_web_kit::url_state::{History, Key, Setting, UrlState, use_url_state};

const WHICH: Key<String> = Key::new("which");
/// Scale of losses; without it, logarithmic where that is possible.
const SCALE: Key<LossScale> = Key::of_words(
    "scale",
    &[(LossScale::Linear, "linear"), (LossScale::Log, "log")],
);
const IS_SURFACE: Setting<bool> = Key::of_words("view", &[(true, "surface")]).or(false);
/// Both axes in one unit; without it, only directions of a recorded length.
const IS_EQUAL: Key<bool> = Key::of_words("axes", &[(true, "equal"), (false, "stretched")]);
const LINES: Setting<bool> = Key::new("contours").or(true);
/// The chosen point.
const AT: Key<Point> = Key::of_items(
    "at",
    |items| match items {
        [x, y] => x.parse().ok().zip(y.parse().ok()),
        _ => None,
    },
    |(x, y)| vec![x.to_string(), y.to_string()],
);
/// Other runs.
const ALSO: Setting<Vec<String>> = Key::new("also").or(Vec::new());

/// Initial direction of view, radians: from the right, a third above the ground.
const YAW: f64 = -0.62;
const PITCH: f64 = 0.62;
/// Range of the height of the eye, radians: below it, the surface hides itself.
const PITCHES: (f64, f64) = (0.1, FRAC_PI_2);
/// Turn for a pixel of a drag, and for a key, radians.
const PER_PIXEL: f64 = 0.01;
const PER_KEY: f64 = PI / 24.0;
/// Maximum number of runs on the page: more tiles are too small to read.
pub(super) const MAX_RUNS: usize = 6;

/// The page's state. `Copy`: take it with [`use_model`].
#[derive(Clone, Copy)]
pub(super) struct Model {
    url: UrlState,
    pub(super) run: Memo<String>,
    /// Other runs.
    pub(super) also: Memo<Vec<String>>,
    pub(super) load: Query<Vec<RunLandscapes>>,
    /// Runs with a landscape; the first is the run of the page.
    pub(super) shown: Memo<Vec<(String, Arc<LandscapeView>)>>,
    /// Minimum and maximum loss of all shown landscapes.
    pub(super) range: Memo<Option<(f64, f64)>>,
    pub(super) scale: Memo<LossScale>,
    /// `true` if all losses are above 0.
    pub(super) can_be_log: Memo<bool>,
    pub(super) is_surface: Memo<bool>,
    pub(super) is_equal: Memo<bool>,
    pub(super) has_lines: Memo<bool>,
    /// The chosen point.
    pub(super) at: Memo<Option<Point>>,
    /// Turn and height of the eye, radians.
    pub(super) eye: RwSignal<(f64, f64)>,
}

/// The state of this page.
pub(super) fn use_model() -> Model {
    expect_context()
}

impl Model {
    pub(super) fn provide() -> Self {
        let url = use_url_state();
        let run = use_run();
        let run = Memo::new(move |_| run.get().unwrap_or_default());
        let also = url.setting(ALSO);
        let also = Memo::new(move |_| {
            let mut also = also.get();
            also.retain(|other| run.with(|run| run != other));
            also.truncate(MAX_RUNS - 1);
            also
        });
        let runs = Memo::new(move |_| {
            let mut runs = vec![run.get()];
            runs.extend(also.get());
            runs
        });
        let (which, step) = (url.param(WHICH), url.param(STEP));
        let all = Signal::derive(move || Arc::new(runs.get()));
        let load = query(move || Some((runs.get(), which.get(), step.get())), load)
            .cleared_with(move || run.get())
            .again_with_runs(all);
        let shown = Memo::new(move |_| {
            let answer = load.answer.get().unwrap_or_default();
            let shown = answer.iter().filter_map(|landscapes| {
                let shown = landscapes.shown.as_ref().ok()?;
                Some((landscapes.run.clone(), Arc::clone(shown)))
            });
            shown.collect::<Vec<_>>()
        });
        let colours = use_run_colours();
        Effect::new(move || colours.draw_together(runs.get()));
        on_cleanup(move || colours.draw_together(Vec::new()));
        let range = Memo::new(move |_| shown.with(|shown| drawing::range(shown)));
        let can_be_log = Memo::new(move |_| range.get().is_some_and(|(low, _)| low > 0.0));
        let scale = url.param(SCALE);
        let scale = Memo::new(move |_| match scale.get() {
            Some(LossScale::Linear) => LossScale::Linear,
            _ => LossScale::of(range.get()),
        });
        let is_equal = url.param(IS_EQUAL);
        let model = Self {
            url,
            run,
            also,
            load,
            shown,
            range,
            scale,
            can_be_log,
            is_surface: url.setting(IS_SURFACE),
            is_equal: Memo::new(move |_| {
                // Directions of a recorded length have a common unit.
                is_equal.get().unwrap_or_else(|| {
                    shown.with(|shown| {
                        let first = shown.first();
                        first.is_some_and(|(_, first)| !first.landscape.normalisation.is_empty())
                    })
                })
            }),
            has_lines: url.setting(LINES),
            at: url.param(AT),
            eye: RwSignal::new((YAW, PITCH)),
        };
        provide_context(model);
        model
    }

    /// Calls `of` with the answer for the page's run; `None` before the answer; reactive.
    pub(super) fn with_own<T>(self, of: impl FnOnce(&RunLandscapes) -> T) -> Option<T> {
        let answer = self.load.answer.get()?;
        answer.first().map(of)
    }

    /// The landscape of the page's run; reactive.
    pub(super) fn landscape(self) -> Option<Arc<LandscapeView>> {
        self.shown
            .with(|shown| shown.first().map(|first| Arc::clone(&first.1)))
    }

    pub(super) fn choose(self, name: &str) {
        let changes = [WHICH.to(name), STEP.clear(), AT.clear()];
        self.url.set(&changes, History::Push);
    }

    pub(super) fn choose_step(self, step: i64) {
        self.url.set(&[STEP.to(step), AT.clear()], History::Push);
    }

    pub(super) fn set_scale(self, scale: LossScale) {
        self.url.set(&[SCALE.to(scale)], History::Replace);
    }

    pub(super) fn show_surface(self, is_surface: bool) {
        self.url.set(&[IS_SURFACE.to(is_surface)], History::Replace);
    }

    pub(super) fn set_equal(self, is_equal: bool) {
        self.url.set(&[IS_EQUAL.to(is_equal)], History::Replace);
    }

    pub(super) fn toggle_lines(self) {
        let lines = LINES.to(!self.has_lines.get_untracked());
        self.url.set(&[lines], History::Replace);
    }

    pub(super) fn read(self, point: Point) {
        self.url.set(&[AT.to(point)], History::Replace);
    }

    pub(super) fn toggle_run(self, run: &str) {
        let mut also = self.also.get_untracked();
        if also.iter().any(|other| other == run) {
            also.retain(|other| other != run);
        } else {
            also.push(run.to_owned());
        }
        self.url.set(&[ALSO.to(also)], History::Push);
    }

    /// Turns the surface by pixels of a drag.
    pub(super) fn drag(self, (right, down): (f64, f64)) {
        self.turn(right * PER_PIXEL, down * PER_PIXEL);
    }

    fn turn(self, yaw: f64, pitch: f64) {
        self.eye.update(|eye| {
            eye.0 = (eye.0 + yaw).rem_euclid(2.0 * PI);
            eye.1 = (eye.1 + pitch).clamp(PITCHES.0, PITCHES.1);
        });
    }

    /// Shows the landscape `by` places further; `true` if there is one.
    fn next(self, by: isize) -> bool {
        let next = self.with_own(|landscapes| {
            let at = landscapes
                .choices
                .iter()
                .position(|other| other.name == landscapes.chosen)?;
            landscapes
                .choices
                .get(at.checked_add_signed(by)?)
                .map(|next| next.name.clone())
        });
        let next = next.flatten();
        if let Some(next) = &next {
            self.choose(next);
        }
        next.is_some()
    }

    /// Handles a key; `true` if it has a meaning here.
    pub(super) fn press(self, key: &str) -> bool {
        match key {
            "m" => self.show_surface(false),
            "s" => self.show_surface(true),
            "g" if self.can_be_log.get_untracked() => {
                self.set_scale(match self.scale.get_untracked() {
                    LossScale::Linear => LossScale::Log,
                    LossScale::Log => LossScale::Linear,
                });
            }
            "[" => return untrack(|| self.next(-1)),
            "]" => return untrack(|| self.next(1)),
            "ArrowLeft" => self.turn(-PER_KEY, 0.0),
            "ArrowRight" => self.turn(PER_KEY, 0.0),
            "ArrowUp" => self.turn(0.0, -PER_KEY),
            "ArrowDown" => self.turn(0.0, PER_KEY),
            _ => return false,
        }
        true
    }
}
