//! Editor of a tag's limits: up to two, stored with every displayed run that has the tag.

use std::collections::BTreeMap;

use trainscope_api::notebook::{Limit, Threshold};
use trainscope_charts::label;
use trainscope_web_kit::format;
use trainscope_web_kit::prelude::*;

use super::page::PageState;
use trainscope_web_kit::components::{RightPanel, RunChip, SegOption, Segmented};
use trainscope_web_kit::i18n::{ScalarsTexts, use_i18n};

/// One limit while it is edited.
#[derive(Clone, Copy)]
struct Draft {
    is_above: RwSignal<bool>,
    text: RwSignal<String>,
}

impl Draft {
    fn new(limit: Option<Limit>) -> Self {
        let text = limit.map_or_else(String::new, |limit| limit.value.to_string());
        Self {
            is_above: RwSignal::new(limit.is_none_or(|limit| limit.above)),
            text: RwSignal::new(text),
        }
    }

    /// The limit, if the field holds a number; reactive.
    fn limit(self) -> Option<Limit> {
        let value = self.text.with(|text| format::parse_number(text))?;
        Some(Limit {
            above: self.is_above.get(),
            value,
        })
    }

    fn is_wrong(self) -> bool {
        self.limit().is_none() && self.text.with(|text| !text.trim().is_empty())
    }
}

/// The panel of a tag's limits.
#[component]
pub(super) fn LimitsPanel(page: PageState, tag: String) -> impl IntoView {
    let i18n = use_i18n();
    let texts = move || i18n.texts().scalars();
    let word = move |word: fn(&ScalarsTexts) -> &'static str| {
        Signal::derive(move || word(texts()).to_owned())
    };
    let tag = StoredValue::new(tag);
    let runs = Memo::new(move |_| {
        let entry = tag.with_value(|tag| page.entry(tag));
        let mut runs: Vec<String> = entry
            .iter()
            .flat_map(|entry| entry.series.iter().map(|id| id.run.clone()))
            .collect();
        runs.dedup();
        runs
    });
    let known = untrack(|| {
        let found = runs.get();
        tag.with_value(|tag| found.iter().find_map(|run| page.threshold(run, tag)))
    });
    let first = Draft::new(known.map(|known| known.first));
    let second = Draft::new(known.and_then(|known| known.second));
    let both = RwSignal::new(known.is_some_and(|known| known.both));
    let threshold = Memo::new(move |_| {
        let (first, second) = (first.limit(), second.limit());
        Some(Threshold {
            first: first.or(second)?,
            second: first.and(second),
            both: both.get() && first.is_some() && second.is_some(),
        })
    });
    let save = move |threshold: Option<Threshold>| {
        let mut changes = BTreeMap::new();
        for run in runs.get_untracked() {
            let mut notes = untrack(|| page.notes.notes(&run));
            let name = tag.get_value();
            match threshold {
                Some(threshold) => notes.thresholds.insert(name, threshold),
                None => notes.thresholds.remove(&name),
            };
            changes.insert(run, notes);
        }
        page.notes.set_many(changes);
    };
    let has_any = move || {
        runs.with(|runs| {
            tag.with_value(|tag| runs.iter().any(|run| page.threshold(run, tag).is_some()))
        })
    };
    let remove = move |_| {
        save(None);
        first.text.set(String::new());
        second.text.set(String::new());
    };
    view! {
        <RightPanel
            title=Signal::derive(move || tag.get_value())
            on_close=move || page.panel.set(None)
        >
            <form
                class="limits"
                on:submit=move |event| {
                    event.prevent_default();
                    if let Some(threshold) = threshold.get_untracked() {
                        save(Some(threshold));
                    }
                }
            >
                <h3>{move || texts().limits_title}</h3>
                <LimitField draft=first label=word(|t| t.first_limit) />
                <Segmented
                    label=word(|t| t.joint)
                    options=vec![
                        SegOption { value: false, label: word(|t| t.or) },
                        SegOption { value: true, label: word(|t| t.and) },
                    ]
                    value=both
                    on_choose=move |value| both.set(value)
                />
                <LimitField draft=second label=word(|t| t.second_limit) />
                <p class="micro ink3">
                    {move || (texts().limits_kept)(runs.with(Vec::len) as u64)}
                </p>
                <ul class="small kept-with">
                    {move || {
                        runs.get()
                            .into_iter()
                            .map(|run| {
                                let name = run.clone();
                                view! {
                                    <li class="flex">
                                        <RunChip run=run />
                                        <span class="cut">{name}</span>
                                    </li>
                                }
                            })
                            .collect_view()
                    }}
                </ul>
                <div class="flex">
                    <button
                        type="submit"
                        class="btn primary"
                        prop:disabled=move || {
                            threshold.with(Option::is_none) || first.is_wrong() || second.is_wrong()
                        }
                    >
                        {move || texts().save_limits}
                    </button>
                    <Show when=has_any>
                        <button type="button" class="btn" on:click=remove>
                            {move || texts().remove_limits}
                        </button>
                    </Show>
                </div>
            </form>
        </RightPanel>
    }
}

/// The side and the value of a limit.
#[component]
fn LimitField(draft: Draft, #[prop(into)] label: Signal<String>) -> impl IntoView {
    let sign = |sign: &'static str| Signal::derive(move || sign.to_owned());
    view! {
        <div class="limit flex">
            <Segmented
                label=label
                options=vec![
                    SegOption { value: true, label: sign(">") },
                    SegOption { value: false, label: sign("<") },
                ]
                value=draft.is_above
                on_choose=move |value| draft.is_above.set(value)
            />
            <div class="field grow" class:invalid=move || draft.is_wrong()>
                <input
                    class="bare-input"
                    inputmode="decimal"
                    aria-label=move || label.get()
                    aria-invalid=move || draft.is_wrong().to_string()
                    placeholder=move || label.get()
                    prop:value=move || draft.text.get()
                    on:input=move |event| draft.text.set(event_target_value(&event))
                />
                <span class="ink3">{move || draft.limit().map(|limit| label::exact(limit.value))}</span>
            </div>
        </div>
    }
}
