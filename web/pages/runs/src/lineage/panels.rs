//! Panels at the right: choice of columns, and all values of a run with their sources.

use std::collections::BTreeMap;

use trainscope_api::table::{ColumnGroup, ColumnInfo, ColumnSource, RunRow};

use super::axis::differs;
use super::columns::cell_text;
use super::model::use_model;
use trainscope_web_kit::client;
use trainscope_web_kit::components::{Check, NoteFields, RightPanel};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;
use trainscope_web_kit::registry::PAGES;
use trainscope_web_kit::route;

/// Maximum number of columns in the panel; the search finds the others.
const MAX_LISTED: usize = 300;

/// Choice of columns. Columns with the same value in all runs are optional.
#[component]
pub(super) fn ColumnsPanel() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let wanted = RwSignal::new(String::new());
    let shows_equal = RwSignal::new(false);
    let shown = Memo::new(move |_| {
        let mut keys = model.table_keys.get();
        keys.extend(model.axis_keys.get());
        keys
    });
    let equal = move || {
        model
            .columns
            .with(|columns| columns.columns.iter().filter(|info| !differs(info)).count() as u64)
    };
    let groups = move || {
        let wanted = wanted.get().to_lowercase();
        let with_equal = shows_equal.get();
        let mut groups: BTreeMap<ColumnGroup, Vec<ColumnInfo>> = BTreeMap::new();
        model.columns.with(|columns| {
            let found = columns.columns.iter().filter(|info| {
                (with_equal || differs(info)) && info.key.to_lowercase().contains(&wanted)
            });
            for info in found.take(MAX_LISTED) {
                groups.entry(info.group).or_default().push(info.clone());
            }
        });
        let rows = |info: ColumnInfo| {
            let key = info.key.clone();
            let id = StoredValue::new(key.clone());
            let is_shown =
                Memo::new(move |_| shown.with(|keys| id.with_value(|key| keys.contains(key))));
            let value = info
                .constant
                .as_ref()
                .map(|value| cell_text(value, info.unit));
            let label = Signal::stored(info.label.clone());
            view! {
                <li class="flex">
                    <Check
                        checked=is_shown
                        label=label
                        on_press=move || id.with_value(|key| model.toggle_column(key))
                    />
                    <span class="cut" title=key>{info.label}</span>
                    <span class="grow"></span>
                    <span class="micro ink3 cut">{value.unwrap_or_else(|| trainscope_web_kit::format::count(info.runs as u64))}</span>
                </li>
            }
        };
        groups
            .into_iter()
            .map(|(group, infos)| {
                view! {
                    <h3 class="small med">{(i18n.texts().lineage().group)(group)}</h3>
                    <ul class="column-list">{infos.into_iter().map(rows).collect_view()}</ul>
                }
            })
            .collect_view()
    };
    view! {
        <RightPanel title=i18n.label(|t| t.runs().columns) on_close=move || model.open_panel(None)>
            <input
                class="field"
                type="text"
                name="columns"
                placeholder=i18n.text(|t| t.lineage().find_column)
                aria-label=i18n.text(|t| t.lineage().find_column)
                on:input=move |event| wanted.set(event_target_value(&event))
            />
            <p class="small ink2">
                <button
                    type="button"
                    class="link"
                    aria-pressed=move || shows_equal.get().to_string()
                    on:click=move |_| shows_equal.update(|shown| *shown = !*shown)
                >
                    {move || (i18n.texts().lineage().equal_columns)(equal(), shows_equal.get())}
                </button>
            </p>
            {groups}
        </RightPanel>
    }
}

/// All values of a run, with their sources and earlier values, notes, and links to its pages.
#[component]
pub(super) fn RowPanel(run: String) -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let id = StoredValue::new(run.clone());
    let asked = run.clone();
    let row = query(
        move || Some(asked.clone()),
        |run| async move { client::table_row(&run).await },
    );
    let entry = Memo::new(move |_| id.with_value(|run| model.state.run(run)));
    let links = move || {
        let entry = entry.get()?;
        let pages = PAGES
            .iter()
            .filter(|page| page.parent.is_none() && model.state.page_count(&entry, page).is_some());
        Some(
            pages
                .map(|page| {
                    let href = id.with_value(|run| route::run_href(run, page.page));
                    view! { <a class="link small" href=href>{(page.title)(i18n.texts())}</a> }
                })
                .collect_view(),
        )
    };
    let values = move || {
        let texts = i18n.texts().lineage();
        let Some(answer) = row.answer.get() else {
            let failed = row.error.with(Option::is_some);
            let text = if failed {
                texts.no_row
            } else {
                texts.computing
            };
            return view! { <p class="small ink3">{text}</p> }.into_any();
        };
        groups(&answer, &model).into_any()
    };
    view! {
        <RightPanel title=Signal::stored(run) on_close=move || model.open_panel(None)>
            <p class="flex row-links">{links}</p>
            <NoteFields run=id />
            {values}
        </RightPanel>
    }
}

fn groups(answer: &RunRow, model: &super::model::Model) -> impl IntoView + use<> {
    let texts = model.i18n.texts().lineage();
    let mut groups: BTreeMap<ColumnGroup, Vec<AnyView>> = BTreeMap::new();
    for column in &answer.columns {
        let info = model.info(&column.key);
        let mark = column
            .disagrees
            .then(|| view! { <b class="warn" title=texts.sources_differ>"≠ "</b> });
        let all = column.values.iter().map(|value| {
            format!(
                "{} ({})",
                cell_text(&value.value, info.unit),
                source_text(&value.source, texts)
            )
        });
        let all: Vec<String> = all.collect();
        let several = (column.values.len() > 1).then(|| {
            view! {
                <details class="micro ink3">
                    <summary>{(texts.values)(column.values.len() as u64)}</summary>
                    {all.join(" · ")}
                </details>
            }
        });
        let source = column
            .values
            .last()
            .map(|value| source_text(&value.source, texts));
        let row = view! {
            <dt title=column.key.clone()>{info.label.clone()}</dt>
            <dd title=source>
                {mark}
                {cell_text(&column.value, info.unit)}
                {several}
            </dd>
        };
        groups.entry(column.group).or_default().push(row.into_any());
    }
    let faults = answer
        .faults
        .iter()
        .map(|fault| view! { <p class="small warn">{format!("{}: {}", fault.path, fault.reason)}</p> })
        .collect_view();
    let groups = groups
        .into_iter()
        .map(|(group, rows)| {
            view! {
                <h3 class="small med">{(texts.group)(group)}</h3>
                <dl class="kv">{rows.collect_view()}</dl>
            }
        })
        .collect_view();
    view! {
        {faults}
        {groups}
    }
}

fn source_text(source: &ColumnSource, texts: &trainscope_web_kit::i18n::LineageTexts) -> String {
    match source {
        ColumnSource::Configuration(path) => path.clone(),
        other => (texts.source)(other).to_owned(),
    }
}
