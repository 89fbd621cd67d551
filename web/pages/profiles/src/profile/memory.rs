//! Memory over time by category, its peak, its holders, and its growth over the steps.

use std::sync::Arc;

use trainscope_api::profile::{
    MemoryAnswer, MemoryCategory, MemoryHolder, MemoryQuery, MemoryTotal, SessionSummary,
};
use trainscope_charts::profile::{Figure, Hit};
use trainscope_format::Severity;

mod beside;
mod holders;
mod picture;

use beside::{MemoryAdvice, OverSession};
use holders::{GROUP, HolderGroup, Holders};
use picture::{layers, phases, picture, shade_of};

use super::lack::{Lack, missing};
use super::model::{Model, time, use_model};
use super::parts::{Refusal, Standing, read_out, verdict};
use trainscope_web_kit::client;
use trainscope_web_kit::components::{ProfileChart, SegOption, Segmented};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{Texts, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};
use trainscope_web_kit::url_state::{History, Key, Setting};

const DEVICE: Key<String> = Key::new("device");
/// The whole session instead of one step.
const IS_SESSION: Setting<bool> = Key::of_words("span", &[(true, "session")]).or(false);
/// The moment whose holders are listed.
const AT: Key<i64> = Key::new("at");

/// Share of the device above which a peak is a warning.
const NEAR_LIMIT: f64 = 0.9;

#[derive(Clone, Copy)]
struct MemoryModel {
    model: Model,
    answer: Query<MemoryAnswer>,
    /// The device of the answer.
    total: Memo<Option<MemoryTotal>>,
    /// Number, start and end of the shown step; `None` for the session.
    step: Memo<Option<(i64, i64, i64)>>,
    is_session: Memo<bool>,
    /// The moment of the address.
    at: Memo<Option<i64>>,
    group: Memo<HolderGroup>,
}

fn use_memory() -> MemoryModel {
    expect_context()
}

impl MemoryModel {
    fn provide() -> Self {
        let model = use_model();
        let url = model.url;
        let (device, at) = (url.param(DEVICE), url.param(AT));
        let (is_session, group) = (url.setting(IS_SESSION), url.setting(GROUP));
        let step = Memo::new(move |_| {
            if is_session.get() {
                return None;
            }
            let device = device.get();
            model.with(|summary| step_of_peak(summary, device.as_deref()))?
        });
        let asked = Memo::new(move |_| {
            let wanted = model.profiles.query.get();
            // The summary has the step of the peak, or shows that there are no steps.
            model.summary.with(Option::is_some).then(|| MemoryQuery {
                run: wanted.run,
                session: wanted.session,
                rank: wanted.rank,
                device: device.get(),
                at_nanos: at.get(),
                from_nanos: step.get().map(|step| step.1),
                to_nanos: step.get().map(|step| step.2),
                single: group.get() == HolderGroup::Allocation,
            })
        });
        let run = Signal::derive(move || Arc::new(vec![model.profiles.run.get()]));
        let answer = query(
            move || asked.get(),
            |wanted| async move { client::profile_memory(&wanted).await },
        )
        .cleared_with(move || model.profiles.subject())
        .again_with_runs(run);
        let total = Memo::new(move |_| {
            let answer = answer.answer.get()?;
            let mut devices = answer.devices.iter();
            devices.find(|total| total.device == answer.device).cloned()
        });
        let memory = Self {
            model,
            answer,
            total,
            step,
            is_session,
            at,
            group,
        };
        provide_context(memory);
        memory
    }

    /// Start of the shown stretch of time, ns.
    fn origin(self) -> i64 {
        self.step.get().map_or(0, |step| step.1)
    }
}

/// The step with the peak of a device; without that device, of the device with the highest peak.
fn step_of_peak(summary: &SessionSummary, device: Option<&str>) -> Option<(i64, i64, i64)> {
    let totals = || summary.memory.iter();
    let wanted = totals().find(|total| Some(&*total.device) == device);
    let highest = || totals().max_by_key(|total| total.peak_len_bytes);
    let number = wanted.or_else(highest)?.peak_step?;
    let step = summary.steps.iter().find(|step| step.number == number)?;
    Some((step.number, step.begin_nanos, step.end_nanos))
}

#[component]
pub(super) fn MemoryView() -> impl IntoView {
    let memory = MemoryModel::provide();
    let model = memory.model;
    let i18n = use_i18n();
    let has_memory = Memo::new(move |_| {
        let answer = memory.answer.answer.get()?;
        Some(!answer.devices.is_empty())
    });
    let sentence = move || {
        let texts = i18n.texts();
        let total = memory.total.get()?;
        let answer = memory.answer.answer.get()?;
        let step = memory.step.get();
        let peak = (total.peak_at_nanos, total.peak_at_nanos);
        let open = step.map_or(peak, |step| (step.1, step.2));
        let open = model.profiles.timeline_href(Some(open), None);
        let open = (texts.memory().open_peak.to_owned(), open);
        let share = total.share();
        let severity = share.is_some_and(|share| share > NEAR_LIMIT);
        let severity = severity.then_some(Severity::Warning);
        let severity = severity.or_else(|| grows(&answer).then_some(Severity::Warning));
        let severity = (total.failures > 0).then_some(Severity::Error).or(severity);
        let (mut sentence, mut detail) = sentence(&total, &answer, step, texts);
        if let Some(first) = answer.failures.first() {
            let (asked, free) = (format::bytes(first.bytes), format::bytes(first.free_bytes));
            let at = time(first.at_nanos);
            let failed = (texts.memory().memory_failed)(total.failures, &asked, &at, &free);
            detail = [sentence, detail].join(texts.profile().between);
            sentence = failed;
        }
        let open_rules = model.with(beside::not_judged)?;
        if let Some(reasons) = &open_rules {
            detail = [&*detail, reasons].join(texts.profile().between);
        }
        let standing = Standing::new(severity, open_rules.is_none());
        Some(verdict(standing, sentence, detail, Some(open)))
    };
    move || match has_memory.get() {
        None => view! { <Refusal error=memory.answer.error /> }.into_any(),
        Some(false) => {
            let format = model.profiles.chosen.get().unwrap_or_default();
            view! {
                <section class="card state-page">
                    <h1>{i18n.text(|t| t.memory().memory_none)}</h1>
                    {missing(Lack::Memory, &format.format)}
                </section>
            }
            .into_any()
        }
        Some(true) => view! {
            {sentence}
            <div class="profile-top memory">
                <OverTime />
                <MemoryAdvice />
            </div>
            <div class="profile-low memory">
                <Holders />
                <OverSession />
            </div>
        }
        .into_any(),
    }
}

/// Memory over time, for a recording without other data.
#[component]
pub(super) fn MemoryAlone() -> impl IntoView {
    MemoryModel::provide();
    view! { <OverTime /> }
}

/// `true` if memory grows with 95 % confidence.
fn grows(answer: &MemoryAnswer) -> bool {
    answer.growth.is_some_and(|growth| growth.low > 0.0)
}

fn sentence(
    total: &MemoryTotal,
    answer: &MemoryAnswer,
    step: Option<(i64, i64, i64)>,
    texts: Texts,
) -> (String, String) {
    let peak = format::bytes(total.peak_len_bytes);
    let of = total.share().map(|share| {
        let size = format::bytes(total.device_len_bytes);
        (size, format::percent(share))
    });
    let into = step.map(|(number, begin, _)| {
        let into = total.peak_at_nanos.saturating_sub(begin);
        (time(into), format::integer(number))
    });
    let largest = largest_at(answer, total.peak_at_nanos);
    let largest = largest
        .filter(|_| !total.without_addresses || answer.categories_from_file)
        .map(|(category, bytes)| {
            (
                format::bytes(bytes),
                texts.memory().categories[category as usize],
            )
        });
    let sentence = (texts.memory().memory_sentence)(
        &peak,
        of.as_ref().map(|(size, share)| (&**size, &**share)),
        into.as_ref().map(|(into, step)| (&**into, &**step)),
        largest.as_ref().map(|(bytes, name)| (&**bytes, *name)),
    );
    let growth = answer.growth.map(|growth| {
        if growth.low > 0.0 {
            (texts.memory().memory_grows)(&slope(growth.slope), growth.steps_until_full)
        } else {
            texts.memory().memory_steady.to_owned()
        }
    });
    let origin = match (answer.categories_from_file, total.without_addresses) {
        (true, _) => texts.memory().categories_from[0],
        (false, true) => texts.memory().without_addresses,
        (false, false) => texts.memory().categories_from[1 + usize::from(total.by_stacks)],
    };
    let since = total.since_recording.then_some(texts.memory().since_begin);
    let details = [growth.as_deref(), since, Some(origin)];
    let details = details.into_iter().flatten().collect::<Vec<_>>();
    (sentence, details.join(texts.profile().between))
}

/// Bytes per step, with a minus sign if negative.
fn slope(bytes: f64) -> String {
    let size = format::bytes(format::whole(bytes.abs()));
    if bytes < 0.0 {
        format!("−{size}")
    } else {
        size
    }
}

/// The category with the most bytes at a moment.
fn largest_at(answer: &MemoryAnswer, at: i64) -> Option<(MemoryCategory, u64)> {
    let after = answer.times_nanos.partition_point(|time| *time <= at);
    let index = after.checked_sub(1)?;
    let all = answer.series.iter();
    let all = all.filter_map(|series| Some((series.category, *series.bytes.get(index)?)));
    all.max_by_key(|entry| entry.1).filter(|entry| entry.1 > 0)
}

/// The stack over time. A press lists the memory alive at that moment.
#[component]
fn OverTime() -> impl IntoView {
    let memory = use_memory();
    let model = memory.model;
    let i18n = use_i18n();
    let url = model.url;
    let figure = Signal::derive(move || {
        let texts = i18n.texts();
        let origin = memory.origin();
        let total = memory.total.get();
        let step = memory.step.get();
        let phases = model
            .with(|summary| phases(summary, step, texts))
            .unwrap_or_default();
        let picture = memory.answer.answer.with(|answer| {
            let answer = answer.as_deref()?;
            Some(picture(answer, total.as_ref(), origin, phases, texts))
        });
        Arc::new(Figure::Memory(picture.unwrap_or_default()))
    });
    let moment = move |index: usize| {
        memory
            .answer
            .answer
            .with(|answer| answer.as_ref()?.times_nanos.get(index).copied())
    };
    let framed = Signal::derive(move || {
        let at = memory.at.get()?;
        memory.answer.answer.with(|answer| {
            let times = &answer.as_ref()?.times_nanos;
            let index = times.partition_point(|time| *time <= at).checked_sub(1)?;
            Some(Hit { index, part: None })
        })
    });
    let tip = move |hit: Hit| {
        let texts = i18n.texts();
        let at = moment(hit.index)?;
        memory.answer.answer.with(|answer| {
            let answer = answer.as_deref()?;
            let mut sum = 0;
            let mut rows = Vec::new();
            for (category, bytes) in layers(answer) {
                let bytes = bytes.get(hit.index).copied().unwrap_or(0);
                sum += bytes;
                if bytes > 0 {
                    let name = texts.memory().categories[category as usize].to_owned();
                    rows.push((Some(shade_of(category)), name, format::bytes(bytes)));
                }
            }
            rows.reverse();
            if let Some(reserved) = answer.reserved.get(hit.index).filter(|bytes| **bytes > 0) {
                let reserved = format::bytes(*reserved);
                rows.push((None, texts.memory().reserved.to_owned(), reserved));
            }
            let title = time(at.saturating_sub(memory.origin()));
            Some(read_out(title, format::bytes(sum), rows))
        })
    };
    let press = move |hit: Hit| {
        let at = AT.to_option(untrack(|| moment(hit.index)));
        url.set(&[at], History::Replace);
    };
    let number = move || {
        let step = memory.step.get().or_else(|| {
            let device = memory.total.get().map(|total| total.device);
            model.with(|summary| step_of_peak(summary, device.as_deref()))?
        });
        step.map(|step| format::integer(step.0))
    };
    let spans = move || {
        let number = number()?;
        let title = move || (i18n.texts().profile().step_title)(&number);
        Some(view! {
            <Segmented
                label=i18n.label(|t| t.memory().memory_over)
                options=vec![
                    SegOption { value: false, label: Signal::derive(title) },
                    SegOption { value: true, label: i18n.label(|t| t.memory().whole_session) },
                ]
                value=memory.is_session
                on_choose=move |is_session: bool| {
                    let changes = [IS_SESSION.to(is_session), AT.clear()];
                    url.set(&changes, History::Replace);
                }
            />
        })
    };
    let devices = move || {
        let answer = memory.answer.answer.get()?;
        let options = answer.devices.iter().map(|total| {
            let is_now = total.device == answer.device;
            view! {
                <option value=total.device.clone() selected=is_now>
                    {device_name(&total.device, i18n.texts())}
                </option>
            }
        });
        let options = options.collect::<Vec<_>>();
        (options.len() > 1).then(|| {
            view! {
                <select
                    class="field"
                    aria-label=i18n.text(|t| t.memory().device)
                    on:change=move |event| {
                        let changes = [DEVICE.to(event_target_value(&event)), AT.clear()];
                        url.set(&changes, History::Push);
                    }
                >
                    {options}
                </select>
            }
        })
    };
    let legend = move || {
        let texts = i18n.texts();
        let answer = memory.answer.answer.get()?;
        let all = layers(&answer).into_iter().map(|(category, _)| {
            view! {
                <span>
                    {super::model::swatch(shade_of(category))}
                    {texts.memory().categories[category as usize]}
                </span>
            }
        });
        Some(view! { <span class="legend">{all.collect::<Vec<_>>()}</span> })
    };
    view! {
        <section class="card" data-part="memory">
            <div class="head">
                <h2>{i18n.text(|t| t.memory().memory_over)}</h2>
                {spans}
                {devices}
                <span class="grow"></span>
                {legend}
            </div>
            <div class="body plot">
                <ProfileChart
                    figure
                    label=i18n.label(|t| t.memory().memory_over)
                    chosen=framed
                    tip=Callback::new(tip)
                    on_press=Callback::new(press)
                />
            </div>
        </section>
    }
}

/// Type and index of a device as text: `0:-1` is the host.
fn device_name(device: &str, texts: Texts) -> String {
    match device.split_once(':') {
        Some(("0", _)) => texts.memory().host.to_owned(),
        Some(("1", index)) => format!("cuda:{index}"),
        _ => device.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use trainscope_api::profile::{MemorySeries, ProfileStep};

    use super::*;

    #[test]
    fn the_step_of_the_peak_is_that_of_the_device() {
        let total = |device: &str, peak, step| MemoryTotal {
            device: device.to_owned(),
            peak_len_bytes: peak,
            peak_step: Some(step),
            ..MemoryTotal::default()
        };
        let step = |number: i64| ProfileStep {
            number,
            begin_nanos: number * 10,
            end_nanos: number * 10 + 9,
            ..ProfileStep::default()
        };
        let summary = SessionSummary {
            memory: vec![total("0:-1", 5, 1), total("1:0", 9, 2)],
            steps: vec![step(1), step(2)],
            ..SessionSummary::default()
        };
        assert_eq!(step_of_peak(&summary, None), Some((2, 20, 29)));
        assert_eq!(step_of_peak(&summary, Some("0:-1")), Some((1, 10, 19)));
        assert_eq!(step_of_peak(&summary, Some("gone")), Some((2, 20, 29)));
    }

    #[test]
    fn categories_without_bytes_are_left_out_and_the_rest_is_in_order() {
        let series = |category, bytes: u64| MemorySeries {
            category,
            bytes: vec![0, bytes],
        };
        let answer = MemoryAnswer {
            times_nanos: vec![0, 5],
            series: vec![
                series(MemoryCategory::Workspace, 7),
                series(MemoryCategory::Parameters, 3),
                series(MemoryCategory::Inputs, 0),
            ],
            ..MemoryAnswer::default()
        };
        let found: Vec<_> = layers(&answer).into_iter().map(|layer| layer.0).collect();
        assert_eq!(
            found,
            [MemoryCategory::Parameters, MemoryCategory::Workspace]
        );
        let largest = largest_at(&answer, 6);
        assert_eq!(largest, Some((MemoryCategory::Workspace, 7)));
        assert_eq!(largest_at(&answer, -1), None);
    }
}
