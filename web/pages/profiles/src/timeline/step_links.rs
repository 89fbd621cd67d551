//! Links of a step: curves, hits of watchpoints, and its row on the page of steps.

use super::model::ChosenStep;
use trainscope_web_kit::i18n::TimelineTexts;
use trainscope_web_kit::prelude::*;

/// The links of a step, one after the other.
pub(super) fn step_links(step: ChosenStep, texts: &'static TimelineTexts) -> AnyView {
    let [scalars, debugger, steps] = texts.step_links;
    view! {
        <span class="step-links small" data-part="step-links">
            <a class="link" href=step.scalars>
                {scalars}
            </a>
            <a class="link" href=step.debugger>
                {debugger}
            </a>
            <a class="link" href=step.steps>
                {steps}
            </a>
        </span>
    }
    .into_any()
}
