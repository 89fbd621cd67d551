//! Steps as rows of phases from a common start, with the median step on top, and one step against the median.

use std::sync::Arc;

use trainscope_api::profile::{ProfileStep, SessionSummary};
use trainscope_charts::profile::{Figure, Hit, Key, Row, Rows, Segment, Shade};
use trainscope_format::Severity;

mod beside;
mod phases;

use beside::{Lengths, OneStep, OverSteps};
use phases::{Phases, regular_spread};

use super::model::{Model, ORDER, Order, length, time, use_model};
use super::overview::title_of;
use super::parts::{Standing, downloads, read_out, verdict};
use trainscope_web_kit::components::{ProfileChart, SegOption, Segmented};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{Texts, use_i18n};
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::parameters::STEP;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::url_state::{self, History, Setting};

/// Parameter of the address: the rows begin at the forward pass instead of the step.
const IS_FORWARD: Setting<bool> = url_state::Key::of_words("align", &[(true, "forward")]).or(false);

/// Fields of steps in downloads.
const FIELDS: [&str; 8] = [
    "number",
    "begin_nanos",
    "end_nanos",
    "is_whole",
    "is_outlier",
    "communication_nanos",
    "hidden_nanos",
    "parts_nanos",
];

#[derive(Clone, Copy)]
struct StepsModel {
    model: Model,
    /// Phases of the steps in order of time.
    phases: Memo<Arc<Phases>>,
    /// Positions of the steps in the order of the rows.
    order: Memo<Vec<usize>>,
    /// Position of the selected step among the steps.
    chosen: Memo<Option<usize>>,
    is_longest: Memo<bool>,
    is_forward: Memo<bool>,
}

fn use_steps() -> StepsModel {
    expect_context()
}

impl StepsModel {
    fn provide() -> Self {
        let model = use_model();
        let url = model.url;
        let (step, order) = (url.param(STEP), url.param(ORDER));
        let is_longest = Memo::new(move |_| order.get() == Some(Order::Longest));
        let phases = Memo::new(move |_| Arc::new(model.with(Phases::new).unwrap_or_default()));
        let order = Memo::new(move |_| {
            let lengths =
                model.with(|summary| summary.steps.iter().map(length).collect::<Vec<_>>());
            let lengths = lengths.unwrap_or_default();
            let mut order: Vec<usize> = (0..lengths.len()).collect();
            if is_longest.get() {
                order.sort_by_key(|at| std::cmp::Reverse(lengths.get(*at).copied()));
            }
            order
        });
        let chosen = Memo::new(move |_| {
            let number = step.get();
            model.with(|summary| {
                let at = summary
                    .steps
                    .iter()
                    .position(|step| Some(step.number) == number);
                let outlier = || summary.steps.iter().position(|step| step.is_outlier);
                let all = || summary.steps.iter().enumerate();
                let longest = || Some(all().max_by_key(|entry| length(entry.1))?.0);
                at.or_else(outlier).or_else(longest)
            })?
        });
        let steps = Self {
            model,
            phases,
            order,
            chosen,
            is_longest,
            is_forward: url.setting(IS_FORWARD),
        };
        provide_context(steps);
        steps
    }

    fn select(self, at: usize) {
        let number = self.model.summary.with_untracked(|summary| {
            let step = summary.as_ref()?.steps.get(at)?;
            Some(step.number)
        });
        let changes = [STEP.to_option(number)];
        self.model.url.set(&changes, History::Replace);
    }

    /// Selects the step `by` rows further.
    fn go(self, by: isize) {
        let next = self.order.with_untracked(|order| {
            let now = self.chosen.get_untracked()?;
            let row = order.iter().position(|at| *at == now)?;
            order.get(row.checked_add_signed(by)?).copied()
        });
        if let Some(next) = next {
            self.select(next);
        }
    }

    /// The timeline at the selected step; reactive.
    fn href(self) -> String {
        let number = self.model.with(|summary| {
            let step = summary.steps.get(self.chosen.get()?)?;
            Some(step.number)
        });
        self.model.step_href(number.flatten(), None)
    }
}

/// Start of the ids of the rules about lengths of steps.
const RULES: &str = "step_";

/// True if all rules about lengths of steps that apply were judged.
fn are_judged(summary: &SessionSummary) -> bool {
    let mut open = summary.not_judged.iter().filter(|one| one.applies);
    !open.any(|one| one.id.starts_with(RULES))
}

#[component]
pub(super) fn Steps() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let steps = StepsModel::provide();
    use_keys(move |key, _| match key {
        "j" | "ArrowDown" => {
            steps.go(1);
            true
        }
        "k" | "ArrowUp" => {
            steps.go(-1);
            true
        }
        "Enter" => {
            model.open(&untrack(|| steps.href()));
            true
        }
        _ => false,
    });
    let sentence = move || {
        let texts = i18n.texts();
        let href = steps.href();
        let at = steps.chosen.get();
        model.with(|summary| {
            let number = summary.steps.get(at?)?.number;
            let open = (texts.profile().open_step)(&format::integer(number));
            let (sentence, detail) = sentence(summary, texts);
            let severity = (!summary.outliers.is_empty()).then_some(Severity::Warning);
            let standing = Standing::new(severity, are_judged(summary));
            Some(verdict(standing, sentence, detail, Some((open, href))))
        })
    };
    view! {
        {sentence}
        <div class="profile-steps">
            <Trace />
            <div>
                <OneStep />
                <Lengths />
                <OverSteps />
            </div>
        </div>
    }
}

/// Sentence about the lengths of the steps, and one about outliers and drift.
fn sentence(summary: &SessionSummary, texts: Texts) -> (String, String) {
    let outliers = summary.outliers.len() as u64;
    let all = summary.whole_steps.max(summary.steps.len() as u64);
    let median = time(summary.median_step_nanos);
    let spread = format::percent(regular_spread(summary));
    let names = &texts.parts().kinds[usize::from(summary.device.is_none())];
    let grown = summary
        .outlier_growth
        .map(|grown| (names[grown.kind as usize], time(grown.nanos)));
    let grown = grown.as_ref().map(|(name, nanos)| (*name, &**nanos));
    let sentence = (texts.profile().steps_sentence)(all, outliers, &median, &spread, grown);
    let detail = match phases::drift(summary) {
        None => texts.profile().too_few_to_drift.to_owned(),
        Some((first, last)) => {
            let change = last.saturating_sub(first) as f64 / (first as f64).max(1.0);
            let percent = format::percent(change.abs());
            let place = match change {
                change if change > phases::DRIFT => 1,
                change if change < -phases::DRIFT => 2,
                _ => 0,
            };
            (texts.profile().drift[place])(&percent)
        }
    };
    (sentence, detail)
}

/// Rows of phases.
#[component]
fn Trace() -> impl IntoView {
    let steps = use_steps();
    let model = steps.model;
    let i18n = use_i18n();
    let figure = Signal::derive(move || {
        let texts = i18n.texts();
        let phases = steps.phases.get();
        let is_forward = steps.is_forward.get();
        let order = steps.order.get();
        let rows = model.with(|summary| rows(summary, &phases, &order, is_forward, texts));
        Arc::new(Figure::Rows(rows.unwrap_or_default()))
    });
    let framed = Signal::derive(move || {
        let at = steps.chosen.get()?;
        let index = steps
            .order
            .with(|order| order.iter().position(|known| *known == at))?;
        Some(Hit { index, part: None })
    });
    let at_row = move |hit: Hit| {
        steps
            .order
            .with_untracked(|order| order.get(hit.index).copied())
    };
    let tip = move |hit: Hit| {
        let texts = i18n.texts();
        let at = at_row(hit)?;
        steps.phases.with(|phases| {
            model.with(|summary| {
                let step = summary.steps.get(at)?;
                let totals = phases.parts.iter().map(|part| {
                    let nanos = phases.total(at, *part);
                    (Some(part.shade()), part.name(texts).to_owned(), nanos)
                });
                let totals = totals.filter(|total| total.2 > 0);
                let totals = totals.map(|(shade, name, nanos)| (shade, name, time(nanos)));
                Some(read_out(
                    title_of(step),
                    time(length(step)),
                    totals.collect(),
                ))
            })?
        })
    };
    let press = move |hit: Hit| {
        if let Some(at) = at_row(hit) {
            steps.select(at);
        }
    };
    let label = move || {
        let count = model.with(|summary| summary.steps.len()).unwrap_or(0);
        (i18n.texts().profile().parts_label)(count as u64)
    };
    let height = move || {
        let count = model.with(|summary| summary.steps.len()).unwrap_or(0);
        format!("{}px", Rows::least_height(count))
    };
    let option = |value: bool, text: fn(Texts) -> &'static str| SegOption {
        value,
        label: Signal::derive(move || text(i18n.texts()).to_owned()),
    };
    let url = model.url;
    view! {
        <section class="card" data-part="steps">
            <div class="head">
                <h2>{i18n.text(|t| t.profile().step_trace)}</h2>
                <span class="micro ink3 cut">{i18n.text(|t| t.profile().one_row)}</span>
                <span class="grow"></span>
                <span class="ctl">
                    <span class="hide-narrow">{i18n.text(|t| t.profile().order)}</span>
                    <Segmented
                        label=i18n.label(|t| t.profile().order)
                        options=vec![
                            option(false, |t| t.profile().orders[0]),
                            option(true, |t| t.profile().orders[1]),
                        ]
                        value=steps.is_longest
                        on_choose=move |is_longest: bool| {
                            let order = ORDER.to_option(is_longest.then_some(Order::Longest));
                            url.set(&[order], History::Replace);
                        }
                    />
                </span>
                <span class="ctl">
                    <span class="hide-narrow">{i18n.text(|t| t.profile().align)}</span>
                    <Segmented
                        label=i18n.label(|t| t.profile().align)
                        options=vec![
                            option(false, |t| t.profile().aligns[0]),
                            option(true, |t| t.profile().aligns[1]),
                        ]
                        value=steps.is_forward
                        on_choose=move |is_forward: bool| {
                            url.set(&[IS_FORWARD.to(is_forward)], History::Replace);
                        }
                    />
                </span>
                {downloads(
                    "steps",
                    &FIELDS,
                    move || -> Vec<ProfileStep> {
                        let summary = model.summary.get_untracked();
                        summary.map(|summary| summary.steps.clone()).unwrap_or_default()
                    },
                )}
            </div>
            <div class="body scroll">
                <div class="plot" style:min-height=height>
                    <ProfileChart
                        figure
                        label=Signal::derive(label)
                        chosen=framed
                        tip=Callback::new(tip)
                        on_press=Callback::new(press)
                    />
                </div>
            </div>
        </section>
    }
}

fn rows(
    summary: &SessionSummary,
    phases: &Phases,
    order: &[usize],
    is_forward: bool,
    texts: Texts,
) -> Rows {
    let zero = |at: usize| if is_forward { phases.forward(at) } else { 0 };
    let row = |at: &usize| {
        let step = summary.steps.get(*at)?;
        let zero = zero(*at);
        let stretches = phases.steps.get(*at)?.iter();
        let segments = stretches.map(|(part, begin, end)| Segment {
            shade: part.shade(),
            begin: begin.saturating_sub(zero) as f64,
            end: end.saturating_sub(zero) as f64,
        });
        let note = if step.is_outlier {
            time(length(step))
        } else {
            String::new()
        };
        Some(Row {
            text: format::integer(step.number),
            segments: segments.collect(),
            note,
            is_pale: !step.is_whole,
        })
    };
    let medians = phases.medians(summary);
    let before = if is_forward {
        let before = medians.iter().take_while(|median| !median.0.is_forward());
        -before.map(|median| median.1).sum::<i64>()
    } else {
        0
    };
    let mut at = before;
    let key = medians.iter().map(|(part, nanos)| {
        let segment = Segment {
            shade: part.shade(),
            begin: at as f64,
            end: at.saturating_add(*nanos) as f64,
        };
        at = at.saturating_add(*nanos);
        Key {
            segment,
            name: part.name(texts).to_owned(),
            value: time(*nanos),
        }
    });
    let key: Vec<Key> = key.collect();
    let rows: Vec<Row> = order.iter().filter_map(row).collect();
    let is_alone = rows.len() < 2;
    Rows {
        key: if is_alone { Vec::new() } else { key },
        key_texts: (
            texts.profile().median.to_owned(),
            time(summary.median_step_nanos),
        ),
        line: (!is_alone).then(|| (summary.median_step_nanos + before) as f64),
        rows,
    }
}

/// The colour of a finding, or of plain bars.
fn plain_or(is_finding: bool) -> Shade {
    if is_finding {
        Shade::Warning
    } else {
        Shade::Plain
    }
}
