//! The recorded steps of each run on one axis, which is the slider of all cards.

use trainscope_charts::{label, ticks};

use super::settings::Settings;
use trainscope_web_kit::components::RunChip;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::url_state::History;

/// Resolution of marks along the axis; screens have fewer pixels.
const PLACES: f64 = 4_000.0;
/// Number of labels on the axis.
const LABELS: u32 = 7;

/// Marks of all shown runs with the slider over them; empty if a single step was recorded.
#[component]
pub(super) fn Ruler(settings: Settings) -> impl IntoView {
    let i18n = use_i18n();
    let browse = settings.browse;
    let now = move || {
        let (first, last) = settings.whole.get();
        settings.step.get().unwrap_or(last).clamp(first, last)
    };
    let place = move || percent(share(now(), settings.whole.get()));
    let rows = move || {
        let whole = settings.whole.get();
        let rows = browse.shown.get();
        let rows = rows.iter().map(|run| {
            let marks = settings.known.with(|known| {
                let steps = known.get(run);
                (
                    steps.map_or(0, std::collections::BTreeSet::len),
                    marks(steps.into_iter().flatten().copied(), whole),
                )
            });
            let class = trainscope_web_kit::run_colour::use_run_colours()
                .get(run)
                .class();
            let title = (i18n.texts().recorded().recorded_steps)(&format::count(marks.0 as u64));
            view! {
                <div class="ruler-row" title=format!("{run}: {title}")>
                    <span class="flex micro ink2">
                        <RunChip run=run.clone() />
                        <span class="cut">{browse.name_of(run)}</span>
                    </span>
                    <svg
                        class=class
                        viewBox=format!("0 0 {PLACES} 8")
                        preserveAspectRatio="none"
                        aria-hidden="true"
                    >
                        <path d=marks.1></path>
                    </svg>
                </div>
            }
        });
        rows.collect_view()
    };
    let labels = move || {
        let whole = settings.whole.get();
        let labels = axis_labels(whole).into_iter().map(|(step, text)| {
            view! { <span style:left=percent(share(step, whole))>{text}</span> }
        });
        labels.collect_view()
    };
    view! {
        <Show when=move || settings.whole.with(|(first, last)| first < last)>
            <div class="ruler" data-part="ruler">
                {rows}
                <div class="ruler-row axis micro ink3">
                    <button
                        type="button"
                        class="link micro"
                        class:unseen=move || settings.step.get().is_none()
                        on:click=move |_| settings.set_step(None, History::Push)
                    >
                        {i18n.text(|t| t.recorded().last)}
                    </button>
                    <div class="labels" aria-hidden="true">
                        {labels}
                    </div>
                </div>
                <div class="over">
                    <i class="cursor" style:left=place>
                        <b class="micro now">{move || label::step(now())}</b>
                    </i>
                    <input
                        type="range"
                        class="step"
                        name="step"
                        aria-label=i18n.text(|t| t.recorded().step_cap)
                        min=move || settings.whole.get().0.to_string()
                        max=move || settings.whole.get().1.to_string()
                        prop:value=move || now().to_string()
                        on:input=move |event| {
                            if let Ok(step) = event_target_value(&event).parse() {
                                settings.step.set(Some(step));
                            }
                        }
                        on:change=move |event| {
                            if let Ok(step) = event_target_value(&event).parse::<i64>() {
                                settings.set_step(Some(step), History::Push);
                            }
                        }
                    />
                </div>
            </div>
        </Show>
    }
}

/// Position of a step on the axis, 0 to 1.
fn share(step: i64, (first, last): (i64, i64)) -> f64 {
    let span = (last as f64 - first as f64).max(1.0);
    ((step as f64 - first as f64) / span).clamp(0.0, 1.0)
}

fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

/// SVG path with a mark per step; marks at the same place of the screen are merged.
fn marks(steps: impl Iterator<Item = i64>, whole: (i64, i64)) -> String {
    let mut before = None;
    let places = steps.map(|step| (share(step, whole) * PLACES).round());
    let different = places.filter(|place| before.replace(*place) != Some(*place));
    different.fold(String::new(), |mut path, place| {
        path.push('M');
        path.push_str(&place.to_string());
        path.push_str(" 0v8");
        path
    })
}

/// Whole steps with their labels.
fn axis_labels((first, last): (i64, i64)) -> Vec<(i64, String)> {
    let found = ticks::linear(first as f64, last as f64, LABELS);
    let whole = found
        .values
        .into_iter()
        .filter(|value| value.fract() == 0.0);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole numbers between two steps"
    )]
    let steps = whole.map(|value| value as i64);
    steps.map(|step| (step, label::step(step))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_a_mark_and_those_of_one_pixel_share_it() {
        assert_eq!(
            marks([0, 50, 100].into_iter(), (0, 100)),
            "M0 0v8M2000 0v8M4000 0v8"
        );
        let dense = marks(0..=1_000_000, (0, 1_000_000));
        assert_eq!(dense.matches('M').count(), 4_001);
        let far = [i64::MIN, i64::MAX];
        assert_eq!(marks(far.into_iter(), (far[0], far[1])), "M0 0v8M4000 0v8");
    }

    #[test]
    fn labels_are_whole_steps() {
        let steps: Vec<i64> = axis_labels((0, 3))
            .into_iter()
            .map(|label| label.0)
            .collect();
        assert_eq!(steps, [0, 1, 2, 3]);
        assert!(axis_labels((0, 1_184)).len() <= LABELS as usize);
    }
}
