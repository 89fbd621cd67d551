//! The panel that chooses the columns of the list.

use std::collections::BTreeMap;

use trainscope_format::Kind;

use super::columns::{Column, names};
use super::layout::StandardColumn;
use super::model::use_model;
use trainscope_web_kit::components::{Check, RightPanel};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Maximum number of listed names of one kind.
const MAX_LISTED: usize = 200;
/// Number of runs whose tags are loaded for the names of scalars.
const RUNS_ASKED: usize = 50;

/// All columns with check boxes.
#[component]
pub(super) fn ColumnsPanel() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let texts = move || i18n.texts().runs();
    let search = RwSignal::new(String::new());
    Effect::new(move || {
        let list = model.state.runs.get();
        let first = list.runs.iter().take(RUNS_ASKED);
        let first: Vec<String> = first.map(|run| run.id.clone()).collect();
        model.state.load_tags(first, false);
    });
    let hparams = Memo::new(move |_| model.state.runs.with(|list| names(&list.runs)));
    let metrics = Memo::new(move |_| {
        model.state.with_tags(|known| {
            let mut names = BTreeMap::new();
            for list in known.values() {
                let scalars = list.tags.iter().filter(|tag| tag.kind == Kind::Scalars);
                // Ranks and writers of one tag are adjacent.
                let mut last = None;
                for tag in scalars.filter(|tag| last.replace(&tag.tag) != Some(&tag.tag)) {
                    *names.entry(tag.tag.clone()).or_insert(0) += 1;
                }
            }
            names
        })
    });
    let rows = move |all: Memo<BTreeMap<String, usize>>,
                     column: fn(String) -> Column,
                     none: &str| {
        let wanted = search.get().to_lowercase();
        let all = all.get();
        if all.is_empty() {
            return view! { <p class="small ink2">{none.to_owned()}</p> }.into_any();
        }
        let found = all
            .into_iter()
            .filter(|(name, _)| name.to_lowercase().contains(&wanted))
            .take(MAX_LISTED);
        let rows = found.map(|(name, runs)| {
            let column = column(name.clone());
            let toggled = column.clone();
            let checked = Memo::new(move |_| model.columns.with(|shown| shown.contains(&column)));
            view! {
                <li class="flex column-choice">
                    <Check
                        checked=checked
                        label=Signal::stored(name.clone())
                        on_press=move || model.toggle_column(&toggled)
                    />
                    <span class="cut" title=name.clone()>{name.clone()}</span>
                    <span class="grow"></span>
                    <span class="ink3 num">{format::count(runs as u64)}</span>
                </li>
            }
        });
        view! { <ul class="column-choices">{rows.collect_view()}</ul> }.into_any()
    };
    view! {
        <RightPanel
            title=Signal::derive(move || texts().columns.to_owned())
            on_close=move || model.open_panel(None)
        >
            <p class="small ink2">{move || texts().columns_next}</p>
            <input
                class="field"
                type="search"
                name="columns"
                aria-label=move || texts().find_column
                placeholder=move || texts().find_column
                on:input=move |event| search.set(event_target_value(&event))
            />
            <h3 class="small med">{move || texts().own_columns}</h3>
            <ul class="column-choices" aria-label=move || texts().own_columns>
                {StandardColumn::ALL
                    .into_iter()
                    .map(|column| {
                        let checked = Memo::new(move |_| model.off.with(|off| !off.contains(&column)));
                        view! {
                            <li class="flex column-choice">
                                <Check
                                    checked=checked
                                    label=Signal::derive(move || column.head(texts()).to_owned())
                                    on_press=move || model.toggle_standard(column)
                                />
                                <span class="cut">{move || column.head(texts())}</span>
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
            <h3 class="small med">{move || texts().last_values}</h3>
            {move || rows(metrics, Column::Metric, texts().no_metrics)}
            <h3 class="small med">{move || (texts().kind)("hparams")}</h3>
            {move || rows(hparams, Column::Hparam, texts().no_hparams)}
        </RightPanel>
    }
}
