//! The first view: parts of the time of a step, advice, figures of the device, the most expensive operators.

use std::sync::Arc;

use trainscope_api::profile::{ProfileStep, SessionSummary, StepSource};
use trainscope_charts::profile::{Bar, Figure, Hit, Shade, Stack, Unit};

use super::advice::{AdviceCard, worst};
use super::figures::{Causes, Tiles};
use super::memory::MemoryAlone;
use super::model::{KINDS, kinds_of, length, swatch, time, use_model};
use super::operators::TopOperators;
use super::parts::{Standing, head, linked, read_out, verdict};
use trainscope_web_kit::components::ProfileChart;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

#[component]
pub(super) fn Overview() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let is_memory_alone = Memo::new(move |_| {
        let is_alone = model.with(|summary| summary.lanes.is_empty() && !summary.memory.is_empty());
        is_alone.unwrap_or(false)
    });
    let sentence = move || {
        let texts = i18n.texts();
        let open = (
            texts.profile().open_all.to_owned(),
            model.step_href(None, None),
        );
        model.with(|summary| {
            let mut sentence = i18n.raw(&summary.sentence);
            if sentence.is_empty() {
                sentence = (texts.profile().step_takes)(&time(summary.mean_step_nanos));
            }
            let from = match (&summary.steps_by, summary.steps_from) {
                (Some(name), _) => (texts.profile().steps_by)(name),
                (None, StepSource::None) if summary.format == "kineto" => {
                    texts.profile().no_steps.to_owned()
                }
                _ => String::new(),
            };
            let standing = Standing::new(worst(summary), summary.unjudged.is_none());
            let detail = [i18n.raw(&summary.detail), from];
            let detail = detail.iter().filter(|text| !text.is_empty()).cloned();
            let detail = detail.collect::<Vec<_>>().join(texts.profile().between);
            verdict(standing, sentence, detail, Some(open))
        })
    };
    let parts = move || {
        if is_memory_alone.get() {
            view! { <MemoryAlone /> }.into_any()
        } else {
            view! { <StepParts /> }.into_any()
        }
    };
    view! {
        {sentence}
        <div class="profile-top">
            {parts}
            <AdviceCard />
        </div>
        <Tiles />
        <TopOperators />
        <Causes />
    }
}

/// Parts of each step as stacked bars. A press opens the step in the timeline.
#[component]
fn StepParts() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let figure = Signal::derive(move || {
        let texts = i18n.texts();
        let stack = model.with(|summary| {
            stack(
                summary,
                &(texts.profile().mean)(&time(summary.mean_step_nanos)),
            )
        });
        Arc::new(Figure::Stack(stack.unwrap_or_default()))
    });
    // Each entry links to the slices of its kind of time.
    let legend = move || {
        let texts = i18n.texts();
        model.with(|summary| {
            let has_device = summary.device.is_some();
            let means = kinds_of(&summary.mean_parts_nanos, has_device);
            let shown = means.into_iter().enumerate().filter(|(_, mean)| *mean > 0);
            let shown = shown.map(|(kind, mean)| {
                let name = view! {
                    {swatch(Shade::Time(kind))}
                    {texts.parts().kinds[usize::from(!has_device)][kind]}
                    <b class="med ink">{time(mean)}</b>
                };
                linked(model.kind_href(kind), name.into_any())
            });
            view! { <span class="legend">{shown.collect::<Vec<_>>()}</span> }
        })
    };
    let tip = move |hit: Hit| {
        let texts = i18n.texts();
        model.with(|summary| {
            let step = summary.steps.get(hit.index)?;
            let has_device = summary.device.is_some();
            let parts = kinds_of(&step.parts_nanos, has_device);
            let rows = parts.into_iter().enumerate().rev();
            let rows = rows.filter(|(_, part)| *part > 0).map(|(kind, part)| {
                let name = texts.parts().kinds[usize::from(!has_device)][kind].to_owned();
                (Some(Shade::Time(kind)), name, time(part))
            });
            let mut rows: Vec<_> = rows.collect();
            if step.hidden_nanos > 0 {
                rows.push((
                    None,
                    texts.profile().hidden.to_owned(),
                    time(step.hidden_nanos),
                ));
            }
            if !step.is_whole {
                rows.push((None, texts.profile().cut_off.to_owned(), String::new()));
            }
            Some(read_out(title_of(step), time(length(step)), rows))
        })?
    };
    let press = move |hit: Hit| {
        let number = model.with(|summary| Some(summary.steps.get(hit.index)?.number));
        model.open(&untrack(|| model.step_href(number.flatten(), None)));
    };
    let label = move || {
        let texts = i18n.texts();
        let steps = model.with(|summary| summary.step_count).unwrap_or(0);
        (texts.profile().parts_label)(steps)
    };
    view! {
        <section class="card" data-part="parts">
            {move || {
                let is_stepless = model.with(|summary| summary.step_count == 0).unwrap_or(false);
                let title = i18n.texts().profile().where_time[usize::from(is_stepless)];
                head(title.to_owned(), String::new(), legend().into_any())
            }}
            <div class="body plot">
                <ProfileChart
                    figure
                    label=Signal::derive(label)
                    tip=Callback::new(tip)
                    on_press=Callback::new(press)
                />
            </div>
        </section>
    }
}

/// `step 2,617`, or a title for the longest of several steps.
pub(super) fn title_of(step: &ProfileStep) -> String {
    let texts = use_i18n().texts().profile();
    (texts.step)(&format::integer(step.number), step.of_steps)
}

fn stack(summary: &SessionSummary, mean: &str) -> Stack {
    let has_device = summary.device.is_some();
    // A recording without steps is a single bar without a number.
    let text = |step: &ProfileStep| match summary.step_count {
        0 => String::new(),
        _ => format::integer(step.number),
    };
    let bars = summary.steps.iter().map(|step| Bar {
        text: text(step),
        parts: kinds_of(&step.parts_nanos, has_device)
            .map(|part| part as f64)
            .to_vec(),
        is_pale: !step.is_whole,
    });
    let has_mean = summary.whole_steps > 1;
    Stack {
        bars: bars.collect(),
        shades: (0..KINDS).map(Shade::Time).collect(),
        mean: has_mean.then(|| (summary.mean_step_nanos as f64, mean.to_owned())),
        unit: Unit::Nanos,
    }
}
