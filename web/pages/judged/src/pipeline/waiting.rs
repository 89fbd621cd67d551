//! Time that training waits for its data: as a sentence, and over steps.

use std::fmt::Write as _;

use trainscope_api::pipeline::{InputClock, InputTimes, StepTime, WorkersEstimate};
use trainscope_format::Severity;

use super::heat::{Heat, PlotPointer, head};
use super::model::{use_model, whole_share};
use super::recording::{MissingData, Recording};
use trainscope_web_kit::components::{IconName, fixed_icon, severity_icon};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Sentence at the top: the operation that the others wait for, else the waiting time of the training.
#[component]
pub(super) fn Verdict() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let content = move || {
        let texts = i18n.texts().pipeline();
        let input = model.input();
        let waited = input.as_ref().map(sentence);
        let severity = input.as_ref().and_then(|input| input.severity);
        let slow = model.slow().map(|(operation, slow)| {
            let fill = operation.running.map_or(0.0, |running| running.fill);
            let before = slow.fill_before.map(whole_share);
            let [source, other] = texts.slow_advice;
            let advice = if before.is_some() { other } else { source };
            let head = (texts.slow)(&operation.name, before.as_deref(), &whole_share(fill));
            (head, advice, gain(&slow.more_workers))
        });
        let is_slow = slow.is_some();
        let (head, advice, gain) = slow.unwrap_or_else(|| {
            let advice = severity.map_or("", |_| texts.advice);
            (String::new(), advice, String::new())
        });
        let (head, waited) = match (is_slow, waited) {
            (false, Some(waited)) => (waited, String::new()),
            (false, None) => {
                let has_profile = model.answer.with(|answer| answer.has_profile);
                (
                    texts.not_timed[usize::from(has_profile)].to_owned(),
                    String::new(),
                )
            }
            (true, waited) => (head, waited.unwrap_or_default()),
        };
        let judged = input.as_ref().filter(|input| input.judged);
        let (class, icon) = match (severity, judged.is_some()) {
            (None, true) => ("okc", IconName::Ok),
            (None, false) if !is_slow => ("ink3", IconName::Info),
            (severity, _) => severity_icon(severity.unwrap_or(Severity::Warning)),
        };
        let details = judged.map(details).unwrap_or_default();
        let faults = model.answer.with(|answer| {
            let faults = answer.faults.iter();
            let faults = faults.map(|fault| (texts.fault)(&fault.path, &fault.reason));
            faults.collect::<Vec<_>>()
        });
        let faults = faults
            .into_iter()
            .map(|fault| view! { <p class="small warn">{fault}</p> });
        view! {
            <span class=class>{fixed_icon(icon, 18)}</span>
            <div class="grow">
                <h1>{head}</h1>
                <p class="ink2">{sentences(&[&*waited, &*gain, advice, &*details])}</p>
                {faults.collect_view()}
            </div>
        }
        .into_any()
    };
    view! { <section class="verdict-head">{content}</section> }
}

/// Sentence about the waiting time.
fn sentence(input: &InputTimes) -> String {
    let texts = use_i18n().texts().pipeline();
    if !input.judged {
        let mean = format::nanos(input.mean_input_nanos);
        let whole = format::nanos(input.mean_whole_nanos);
        return (texts.too_few_steps)(input.steps, &mean, &whole);
    }
    if input.clock == InputClock::Device {
        let found = input.found.unwrap_or_default();
        return texts.device[usize::from(input.severity.is_some())](found.empty, found.batches);
    }
    let sentence = match input.severity {
        None | Some(Severity::Info) => texts.waits[0],
        Some(Severity::Warning) => texts.waits[1],
        Some(Severity::Error) => texts.waits[2],
    };
    sentence(
        &format::nanos(input.mean_input_nanos),
        &format::nanos(input.mean_whole_nanos),
        &share(input.share),
        texts.wholes[usize::from(input.clock == InputClock::Iterator)],
    )
}

/// Estimated gain of more workers for the slow operation; empty if the times carry no estimate.
fn gain(all: &[WorkersEstimate]) -> String {
    let texts = use_i18n().texts().pipeline();
    let (Some(first), Some(last)) = (all.first(), all.last()) else {
        return String::new();
    };
    let nanos = first.step_nanos.saturating_sub(last.step_nanos);
    let whole = (first.step_nanos as f64).max(1.0);
    (texts.gain)(
        &format::number(1e9 / whole, 3),
        first.workers,
        last.workers,
        &format::nanos(nanos),
        &share(nanos as f64 / whole),
    )
}

/// Joins the non-empty sentences.
pub(super) fn sentences(all: &[&str]) -> String {
    let all = all.iter().copied().filter(|text| !text.is_empty());
    all.collect::<Vec<_>>()
        .join(use_i18n().texts().pipeline().between)
}

/// Sentences about the longest wait, and about the queue at the start of batches.
fn details(input: &InputTimes) -> String {
    let texts = use_i18n().texts().pipeline();
    let longest = (texts.longest)(
        &format::integer(input.longest.step),
        &format::nanos(input.longest.input_nanos),
        &format::nanos(input.longest.whole_nanos),
        input.steps,
    );
    let longest = if input.longest.input_nanos > 0 {
        longest
    } else {
        String::new()
    };
    match input.found.filter(|found| found.batches > 0) {
        Some(found) => {
            let first = format::nanos(found.first_nanos);
            let found = (texts.found)(found.empty, found.batches, &first);
            sentences(&[&longest, &found])
        }
        None => longest,
    }
}

/// Part below the picture: the queues over time, and the bars of waiting or the code that records them.
#[component]
pub(super) fn Waiting() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    move || {
        let texts = i18n.texts().pipeline();
        let waiting = match model.input() {
            Some(input) if input.judged && input.longest.input_nanos > 0 => over_steps(input),
            Some(_) => ().into_any(),
            None => view! {
                <div class="unknown">
                    <p class="small ink2">{texts.not_timed_next}</p>
                    <Recording wanted=MissingData::Times />
                </div>
            }
            .into_any(),
        };
        view! { <section class="lower"><Heat /> {waiting}</section> }
    }
}

/// The bars of waiting.
fn over_steps(input: InputTimes) -> AnyView {
    let i18n = use_i18n();
    let longest = input.longest;
    let (lane, clock) = (input.lane, input.clock);
    let stretches = StoredValue::new(input.stretches);
    let all = stretches.with_value(Vec::len);
    let path = stretches.with_value(|all| {
        let all = all.iter().map(|stretch| stretch.input_nanos);
        bars(&all.collect::<Vec<_>>(), longest.input_nanos)
    });
    let pointed = PlotPointer::new((all, 1));
    let reading = move || {
        let texts = i18n.texts().pipeline();
        let stretch = stretches.with_value(|all| all.get(pointed.get()?.0).copied());
        stretch.map(|stretch| {
            (texts.reading)(
                &steps(stretch),
                &format::nanos(stretch.input_nanos),
                &format::nanos(stretch.whole_nanos),
                &share(stretch.input_nanos as f64 / (stretch.whole_nanos as f64).max(1.0)),
            )
        })
    };
    let texts = i18n.texts().pipeline();
    let by = match clock {
        InputClock::Spans => (texts.on_lane)(&lane),
        InputClock::Iterator => texts.clocks[0].to_owned(),
        InputClock::Device => texts.clocks[1].to_owned(),
    };
    let (first, last) = stretches.with_value(|all| {
        let first = all.first().map_or(0, |stretch| stretch.step);
        (first, all.last().map_or(0, |stretch| stretch.last_step))
    });
    let label = (texts.bars)(input.steps, &format::nanos(longest.input_nanos));
    let path = view! { <path d=path></path> }.into_any();
    view! {
        {head(texts.over_steps, by, ().into_any(), reading)}
        <div class="bars" data-part="bars">
            <span class="micro ink3 top">{format::nanos(longest.input_nanos)}</span>
            {pointed.plot(label, path)}
            <span class="micro ink3 first">{format::integer(first)}</span>
            <span class="micro ink3 last">{format::integer(last)}</span>
        </div>
    }
    .into_any()
}

/// SVG path with one bar per value; `most` has the height of the picture.
pub(super) fn bars(all: &[u64], most: u64) -> String {
    // Gaps between bars are left out once they are too narrow to see.
    let width = if all.len() > 200 { 1.0 } else { 0.85 };
    let mut path = String::new();
    for (index, value) in all.iter().enumerate() {
        let height = *value as f64 / (most as f64).max(1.0) * 100.0;
        // Writing to a `String` does not fail.
        write!(path, "M{index} 100v{:.2}h{width}V100z", -height).unwrap_or_default();
    }
    path
}

fn steps(stretch: StepTime) -> String {
    if stretch.step == stretch.last_step {
        format::integer(stretch.step)
    } else {
        format!(
            "{} … {}",
            format::integer(stretch.step),
            format::integer(stretch.last_step)
        )
    }
}

fn share(share: f64) -> String {
    format::percent(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_is_as_high_as_the_picture() {
        let path = bars(&[5, 10, 0], 10);
        assert_eq!(
            path,
            "M0 100v-50.00h0.85V100zM1 100v-100.00h0.85V100zM2 100v-0.00h0.85V100z"
        );
        assert_eq!(bars(&[0], 0), "M0 100v-0.00h0.85V100z");
    }
}
