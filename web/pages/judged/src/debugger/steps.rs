//! A tensor over the steps around the selected one: maximum and mean magnitude, and marks for NaN and infinities. A
//! press chooses a step.

use leptos::ev::MouseEvent;
use leptos::svg;

use super::history::{AROUND, StepStats};
use super::model::use_model;
use trainscope_web_kit::components::pointer::share;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 60.0;
/// Maximum number of steps with a dot each.
const DOTTED: usize = 12;
/// Share of the width that a label on the step axis takes.
const LABEL: f64 = 0.16;
/// Room below for the marks of NaN and infinities, in units of the picture.
const FOOT: f64 = 6.0;

/// Picture of the steps; `at` is the index of the selected one.
#[component]
#[expect(
    clippy::needless_pass_by_value,
    reason = "components own what they are given"
)]
pub(super) fn OverSteps(records: Vec<StepStats>, at: usize) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let (Some(first), Some(last)) = (records.first(), records.last()) else {
        return ().into_any();
    };
    let (first, last) = (first.step, last.step);
    let pair = |record: &StepStats| {
        let finite = record.stats.finite?;
        Some((finite.min.abs().max(finite.max.abs()), finite.mean_abs))
    };
    let values: Vec<Option<(f64, f64)>> = records.iter().map(pair).collect();
    let known = values.iter().flatten().flat_map(|&(max, mean)| [max, mean]);
    let scale = Scale::of(known);
    let x = |index: usize| (index as f64 + 0.5) / records.len() as f64 * WIDTH;
    let line = |of: fn((f64, f64)) -> f64| {
        let mut path = String::new();
        let mut is_down = false;
        for (index, value) in values.iter().enumerate() {
            let Some(value) = value else {
                is_down = false;
                continue;
            };
            let sign = if is_down { 'L' } else { 'M' };
            let (x, y) = (x(index), scale.y(of(*value)));
            path.extend([format!("{sign}{x:.1} {y:.1}")]);
            is_down = true;
        }
        path
    };
    let dots = |of: fn((f64, f64)) -> f64| {
        let is_there = |index: usize| values.get(index).is_some_and(Option::is_some);
        let mut path = String::new();
        for (index, value) in values.iter().enumerate() {
            let is_alone = !is_there(index.wrapping_sub(1)) && !is_there(index + 1);
            if let Some(value) = value.filter(|_| is_alone || values.len() <= DOTTED) {
                path.extend([format!("M{:.1} {:.1}h.01", x(index), scale.y(of(value)))]);
            }
        }
        path
    };
    let mut marks = String::new();
    for (index, record) in records.iter().enumerate() {
        let stats = &record.stats;
        if stats.nan + stats.pos_inf + stats.neg_inf > 0 {
            marks.extend([format!("M{:.1} {HEIGHT}v-{FOOT}", x(index))]);
        }
    }
    let steps: Vec<i64> = records.iter().map(|record| record.step).collect();
    let picture = NodeRef::<svg::Svg>::new();
    let pressed = move |event: MouseEvent| {
        let at = share(&event, picture).map(|(x, _)| index_at(x, steps.len()));
        if let Some(step) = at.and_then(|at| steps.get(at)) {
            model.set_step(*step);
        }
    };
    let ends = [first, last].map(format::integer);
    // More steps exist than are drawn.
    let (before, after) = (at, records.len().saturating_sub(at + 1));
    let cut = (before >= AROUND.0 || after >= AROUND.1).then(|| {
        let text = (i18n.texts().debugger().nearest_steps)(records.len() as u64);
        let all = model.place.get_untracked().map(|(tensor, rank, step)| {
            let run = model.run.get_untracked();
            let href = route::tensors_href(&run, &tensor, rank, Some(step));
            view! {
                <a class="link" href=href>
                    {i18n.texts().debugger().all_steps}
                </a>
            }
        });
        view! { <p class="micro ink3">{text} " " {all}</p> }
    });
    let labels = labelled(records.len(), at).into_iter().map(|index| {
        let share = x(index) / WIDTH;
        let text = records
            .get(index)
            .map(|record| format::integer(record.step));
        // Labels at the ends stay within the picture.
        let shift = if share < LABEL / 2.0 {
            0.0
        } else if share > 1.0 - LABEL / 2.0 {
            -100.0
        } else {
            -50.0
        };
        view! {
            <span
                class:now=index == at
                style:left=format!("{:.2}%", share * 100.0)
                style:transform=format!("translateX({shift}%)")
            >
                {text}
            </span>
        }
    });
    let labels = labels.collect_view();
    let [high, low] = scale.labels();
    let label = move || (i18n.texts().debugger().over_steps_label)(&ends[0], &ends[1]);
    view! {
        <section>
            <h3 class="flex">
                {i18n.text(|t| t.debugger().over_steps)} <span class="grow"></span>
                <span class="legend micro ink3">
                    <span class="max">"max |x|"</span>
                    <span class="mean">"mean |x|"</span>
                </span>
            </h3>
            <div class="over-grid">
                <div class="over-y micro ink3">
                    <span>{high}</span>
                    <span>{low}</span>
                </div>
                <svg
                    class="over-steps"
                    node_ref=picture
                    data-part="over-steps"
                    viewBox=format!("0 0 {WIDTH} {HEIGHT}")
                    preserveAspectRatio="none"
                    role="img"
                    aria-label=label
                    on:click=pressed
                >
                    <path class="at" d=format!("M{:.1} 0V{HEIGHT}", x(at)) />
                    <path class="mean" d=line(|pair| pair.1) />
                    <path class="mean dot" d=dots(|pair| pair.1) />
                    <path class="max" d=line(|pair| pair.0) />
                    <path class="max dot" d=dots(|pair| pair.0) />
                    <path class="bad" d=marks />
                </svg>
                <div class="over-x micro ink3">{labels}</div>
            </div>
            {cut}
        </section>
    }
    .into_any()
}

/// Index of the entry at a share of the width.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is within the list"
)]
fn index_at(share: f64, len: usize) -> usize {
    let last = len.saturating_sub(1);
    ((share.clamp(0.0, 1.0) * len as f64) as usize).min(last)
}

/// Indices of the labelled steps: the selected one, the ends, and others between, without overlap.
fn labelled(len: usize, at: usize) -> Vec<usize> {
    let last = len.saturating_sub(1);
    let share = |index: usize| (index as f64 + 0.5) / len.max(1) as f64;
    let quarters = (0..=4).map(|part| last * part / 4);
    let mut chosen: Vec<usize> = Vec::new();
    for index in [at, 0, last].into_iter().chain(quarters) {
        let is_free = |other: &usize| (share(index) - share(*other)).abs() >= LABEL;
        if index < len && chosen.iter().all(is_free) {
            chosen.push(index);
        }
    }
    chosen
}

/// Logarithmic scale: faulty values change by factors.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| *value > 0.0 && value.is_finite()) {
            low = low.min(value);
            high = high.max(value);
        }
        if high <= 0.0 {
            return Self {
                low: 0.0,
                high: 0.0,
            };
        }
        Self { low, high }
    }

    /// Labels at the top and at the bottom; the second is empty if all values are equal.
    fn labels(&self) -> [String; 2] {
        let [high, low] = [self.high, self.low].map(|value| format::number(value, 2));
        let low = if self.high > self.low {
            low
        } else {
            String::new()
        };
        [high, low]
    }

    fn y(&self, value: f64) -> f64 {
        let room = HEIGHT - FOOT - 4.0;
        let (low, high) = (self.low.ln(), self.high.ln());
        let share = if value <= 0.0 || self.high <= 0.0 {
            0.0
        } else if high - low < 1e-9 {
            0.5
        } else {
            (value.ln() - low) / (high - low)
        };
        2.0 + (1.0 - share) * room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_below_the_picture_never_overlap() {
        assert_eq!(labelled(3, 1), [1, 0, 2]);
        assert_eq!(labelled(1, 0), [0]);
        assert_eq!(labelled(64, 47), [47, 0, 63, 15, 31]);
        // The label of the end gives way to that of the selected step next to it.
        assert_eq!(labelled(64, 62)[..2], [62, 0]);
        assert!(!labelled(64, 62).contains(&63));
    }

    #[test]
    fn equal_values_have_one_label() {
        assert_eq!(Scale::of([2.0, 2.0].into_iter()).labels(), ["2", ""]);
        assert_eq!(Scale::of([0.5, 2.0].into_iter()).labels(), ["2", "0.50"]);
    }

    #[test]
    fn what_is_larger_is_higher_and_nothing_leaves_the_picture() {
        let scale = Scale::of([1e-6, 0.0, 1e3, f64::INFINITY].into_iter());
        assert_eq!((scale.low, scale.high), (1e-6, 1e3));
        let heights = [0.0, 1e-6, 1.0, 1e3].map(|value| scale.y(value));
        assert!(heights.is_sorted_by(|a, b| a >= b), "{heights:?}");
        assert!(heights.iter().all(|y| (0.0..=HEIGHT - FOOT).contains(y)));
        assert!(Scale::of(std::iter::empty()).y(0.0).is_finite());
        assert!(Scale::of([2.0].into_iter()).y(2.0).is_finite());
        assert_eq!(
            [0.0, 0.34, 1.0, 7.0].map(|share| index_at(share, 3)),
            [0, 1, 2, 2]
        );
    }
}
