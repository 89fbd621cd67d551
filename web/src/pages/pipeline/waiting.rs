//! How long the training waits for its data: in a sentence, and over steps.

use std::fmt::Write as _;

use leptos::html;
use leptos::prelude::*;
use trainscope_api::pipeline::{InputTimes, StepTime};
use trainscope_format::Severity;

use super::model::use_model;
use super::recording::{Recording, Wanted};
use crate::components::{IconName, fixed_icon, severity_icon};
use crate::erased::handler;
use crate::format;
use crate::i18n::use_i18n;

/// The sentence on top.
#[component]
pub(super) fn Verdict() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let content = move || {
        let texts = i18n.texts().pipeline;
        let Some(input) = model.input() else {
            let has_profile = model.answer.with(|answer| answer.has_profile);
            let [no_profile, no_span] = texts.not_timed;
            return view! {
                <span class="ink3">{fixed_icon(IconName::Info, 18)}</span>
                <div class="grow">
                    <h1>{if has_profile { no_span } else { no_profile }}</h1>
                </div>
            }
            .into_any();
        };
        let (class, icon) = input.severity.map_or(("okc", IconName::Ok), severity_icon);
        let sentence = match input.severity {
            None | Some(Severity::Info) => texts.waits[0],
            Some(Severity::Warning) => texts.waits[1],
            Some(Severity::Error) => texts.waits[2],
        };
        let sentence = sentence(
            &format::nanos(input.mean_input_nanos),
            &format::nanos(input.mean_whole_nanos),
            &share(input.share),
        );
        let longest = (texts.longest)(
            &format::integer(input.longest.step),
            &format::nanos(input.longest.input_nanos),
            &format::nanos(input.longest.whole_nanos),
            input.steps,
        );
        let advice = input.severity.map(|_| format!(" {}", texts.advice));
        view! {
            <span class=class>{fixed_icon(icon, 18)}</span>
            <div class="grow">
                <h1>{sentence}</h1>
                <p class="ink2">{longest} {advice}</p>
            </div>
        }
        .into_any()
    };
    view! { <section class="verdict-head">{content}</section> }
}

/// The bars below the picture, or what to record for them.
#[component]
pub(super) fn Waiting() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    move || {
        let texts = i18n.texts().pipeline;
        match model.input() {
            Some(input) => view! { <Bars input=input /> }.into_any(),
            None => view! {
                <section class="lower unknown">
                    <p class="small ink2">{texts.not_timed_next}</p>
                    <Recording wanted=Wanted::Times />
                </section>
            }
            .into_any(),
        }
    }
}

#[component]
fn Bars(input: InputTimes) -> impl IntoView {
    let i18n = use_i18n();
    let longest = input.longest;
    let lane = input.lane;
    let stretches = StoredValue::new(input.stretches);
    let all = stretches.with_value(Vec::len);
    let path = stretches.with_value(|all| bars(all, longest.input_nanos));
    let pointed = RwSignal::new(None::<usize>);
    let plot = NodeRef::<html::Div>::new();
    let on_move = move |event: web_sys::PointerEvent| {
        let Some(plot) = plot.get_untracked() else {
            return;
        };
        let rect = plot.get_bounding_client_rect();
        let share = (f64::from(event.client_x()) - rect.left()) / rect.width().max(1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast of floats saturates"
        )]
        let index = (share * all as f64) as usize;
        pointed.set((share >= 0.0 && index < all).then_some(index));
    };
    let at = move || {
        pointed
            .get()
            .map(|index| (index as f64 + 0.5) / all as f64 * 100.0)
    };
    let mark = move || at().map(|at| view! { <i class="at" style:left=format!("{at}%")></i> });
    let reading = move || {
        let texts = i18n.texts().pipeline;
        let own = stretches.with_value(|all| all.get(pointed.get()?).copied());
        own.map(|own| {
            (texts.reading)(
                &steps(own),
                &format::nanos(own.input_nanos),
                &format::nanos(own.whole_nanos),
                &share(own.input_nanos as f64 / (own.whole_nanos as f64).max(1.0)),
            )
        })
    };
    let (first, last) = stretches.with_value(|all| {
        let first = all.first().map_or(0, |own| own.step);
        (first, all.last().map_or(0, |own| own.last_step))
    });
    view! {
        <section class="lower">
            <div class="hd">
                <h2>{i18n.text(|t| t.pipeline.over_steps)}</h2>
                <span class="micro ink3 cut">{move || (i18n.texts().pipeline.on_lane)(&lane)}</span>
                <span class="grow"></span>
                <span class="small" role="status">
                    {reading}
                </span>
            </div>
            <div class="bars">
                <span class="micro ink3 top">{format::nanos(longest.input_nanos)}</span>
                <div
                    class="plot"
                    node_ref=plot
                    on:pointermove=on_move
                    on:pointerleave=handler(move |_| pointed.set(None))
                >
                    <svg
                        role="img"
                        aria-label=move || {
                            (i18n.texts().pipeline.bars)(
                                input.steps,
                                &format::nanos(longest.input_nanos),
                            )
                        }
                        viewBox=format!("0 0 {all} 100")
                        preserveAspectRatio="none"
                    >
                        <path d=path></path>
                    </svg>
                    {mark}
                </div>
                <span class="micro ink3 first">{format::integer(first)}</span>
                <span class="micro ink3 last">{format::integer(last)}</span>
            </div>
        </section>
    }
}

/// One bar a stretch, the longest as high as the picture.
fn bars(all: &[StepTime], longest_nanos: u64) -> String {
    // Gaps between bars as long as they can be seen.
    let width = if all.len() > 200 { 1.0 } else { 0.85 };
    let mut path = String::new();
    for (index, own) in all.iter().enumerate() {
        let height = own.input_nanos as f64 / (longest_nanos as f64).max(1.0) * 100.0;
        // Writing to a text does not fail.
        write!(path, "M{index} 100v{:.2}h{width}V100z", -height).unwrap_or_default();
    }
    path
}

fn steps(own: StepTime) -> String {
    if own.step == own.last_step {
        format::integer(own.step)
    } else {
        format!(
            "{} … {}",
            format::integer(own.step),
            format::integer(own.last_step)
        )
    }
}

fn share(share: f64) -> String {
    format!("{} %", format::number(share * 100.0, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_is_as_high_as_the_picture() {
        let bar = |input_nanos| StepTime {
            input_nanos,
            ..StepTime::default()
        };
        let path = bars(&[bar(5), bar(10), bar(0)], 10);
        assert_eq!(
            path,
            "M0 100v-50.00h0.85V100zM1 100v-100.00h0.85V100zM2 100v-0.00h0.85V100z"
        );
        assert_eq!(bars(&[bar(0)], 0), "M0 100v-0.00h0.85V100z");
    }
}
