//! A range of steps, chosen by two handles on one track.

use trainscope_charts::label;

use crate::i18n::use_i18n;
use crate::prelude::*;

/// A range that ends at the last step has an open end: new steps belong to it.
fn open((from, to): (i64, i64), (first, last): (i64, i64)) -> Option<(i64, i64)> {
    let from = if from <= first { i64::MIN } else { from };
    let to = if to >= last { i64::MAX } else { to };
    (from > i64::MIN || to < i64::MAX).then_some((from, to))
}

/// Two sliders over each other, of which only the handles take the pointer.
#[component]
pub fn StepRange(
    /// First and last step.
    #[prop(into)]
    whole: Signal<(i64, i64)>,
    /// Selected range; `None` for everything.
    #[prop(into)]
    chosen: Signal<Option<(i64, i64)>>,
    /// Called after a drag of a handle; an end at the first or last step is `i64::MIN` or `i64::MAX`.
    on_choose: Callback<Option<(i64, i64)>>,
) -> impl IntoView {
    let i18n = use_i18n();
    // Positions of the handles during a drag.
    let held = RwSignal::new(None::<(i64, i64)>);
    Effect::new(move || {
        chosen.track();
        held.set(None);
    });
    let range = Memo::new(move |_| {
        let (first, last) = whole.get();
        let (from, to) = held.get().or_else(|| chosen.get()).unwrap_or((first, last));
        (from.clamp(first, last), to.clamp(first, last))
    });
    let share = move |step: i64| {
        let (first, last) = whole.get();
        let span = (last as f64 - first as f64).max(1.0);
        100.0 * (step as f64 - first as f64) / span
    };
    let handle = move |is_low: bool| {
        let on_input = move |event: leptos::ev::Event| {
            let Ok(step) = event_target_value(&event).parse::<i64>() else {
                return;
            };
            let (from, to) = range.get_untracked();
            held.set(Some(if is_low {
                (step.min(to), to)
            } else {
                (from, step.max(from))
            }));
        };
        view! {
            <input
                type="range"
                name=if is_low { "from-step" } else { "to-step" }
                aria-label=move || {
                    let texts = i18n.texts().histograms();
                    if is_low { texts.first_step } else { texts.last_step }
                }
                min=move || whole.get().0.to_string()
                max=move || whole.get().1.to_string()
                prop:value=move || {
                    let (from, to) = range.get();
                    if is_low { from } else { to }.to_string()
                }
                on:input=on_input
                on:change=move |_| {
                    let Some(now) = held.get_untracked() else { return };
                    on_choose.run(open(now, whole.get_untracked()));
                }
            />
        }
    };
    view! {
        <div class="stepbar">
            <span class="ink3">
                {i18n.text(|t| t.histograms().steps)} " "
                <b>
                    {move || {
                        let (from, to) = range.get();
                        format!("{} – {}", label::step(from), label::step(to))
                    }}
                </b>
            </span>
            <span class="two-range">
                <i
                    style:left=move || format!("{:.2}%", share(range.get().0))
                    style:right=move || format!("{:.2}%", 100.0 - share(range.get().1))
                ></i>
                {handle(true)}
                {handle(false)}
            </span>
            <span class="ink3">
                {move || (i18n.texts().scalars().of_all)(&label::step(whole.get().1))}
            </span>
            <Show when=move || chosen.get().is_some()>
                <button type="button" class="link" on:click=move |_| on_choose.run(None)>
                    {i18n.text(|t| t.histograms().all_steps)}
                </button>
            </Show>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::open;

    #[test]
    fn a_range_to_the_last_step_goes_on_with_the_run() {
        assert_eq!(open((2, 22), (0, 22)), Some((2, i64::MAX)));
        assert_eq!(open((0, 20), (0, 22)), Some((i64::MIN, 20)));
        assert_eq!(open((3, 20), (0, 22)), Some((3, 20)));
        assert_eq!(open((0, 22), (0, 22)), None);
    }
}
