//! The slider of a card over its recorded steps, and the text about its step.

use std::sync::Arc;

use trainscope_charts::label;

use super::settings::Settings;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// A slider with a place for each recorded step; moving it separates the card from the others.
#[component]
pub(super) fn OwnStep(
    settings: Settings,
    tag: StoredValue<String>,
    steps: Memo<Arc<Vec<i64>>>,
) -> impl IntoView {
    let i18n = use_i18n();
    let place = Memo::new(move |_| {
        let wanted = tag.with_value(|tag| settings.step_of(tag));
        steps.with(|steps| {
            let last = steps.len().saturating_sub(1);
            wanted.map_or(last, |wanted| {
                steps
                    .partition_point(|step| *step <= wanted)
                    .saturating_sub(1)
            })
        })
    });
    let is_own = move || {
        settings
            .own_steps
            .with(|own_steps| tag.with_value(|tag| own_steps.contains_key(tag)))
    };
    let on_input = move |event: leptos::ev::Event| {
        let at = event_target_value(&event).parse::<usize>().ok();
        let step = at.and_then(|at| steps.with_untracked(|steps| steps.get(at).copied()));
        if let Some(step) = step {
            tag.with_value(|tag| settings.set_own(tag, Some(step)));
        }
    };
    view! {
        <Show when=move || steps.with(|steps| steps.len() > 1)>
            <div class="own-step micro ink3">
                <input
                    type="range"
                    class="range"
                    aria-label=i18n.text(|t| t.recorded().own_step)
                    min="0"
                    max=move || steps.with(|steps| steps.len().saturating_sub(1)).to_string()
                    prop:value=move || place.get().to_string()
                    style:--v=move || {
                        let last = steps.with(|steps| steps.len().saturating_sub(1)).max(1);
                        format!("{:.1}%", 100.0 * place.get() as f64 / last as f64)
                    }
                    on:input=on_input
                />
                <span>
                    {move || {
                        let all = steps.with(|steps| steps.len());
                        format!("{}/{all}", place.get() + 1)
                    }}
                </span>
                <Show when=is_own>
                    <button
                        type="button"
                        class="link"
                        on:click=move |_| tag.with_value(|tag| settings.set_own(tag, None))
                    >
                        {i18n.text(|t| t.recorded().follow)}
                    </button>
                </Show>
            </div>
        </Show>
    }
}

/// `step 400`, or `nearest 400` if another step was wanted.
pub(super) fn step_text(step: i64, wanted: Option<i64>, word: &str, nearest: &str) -> String {
    let text = label::step(step);
    if wanted.is_some_and(|wanted| wanted != step) {
        format!("{nearest} {text}")
    } else {
        format!("{word} {text}")
    }
}
