//! The table, with sticky heads and only the rows in view.
//!
//! Rows are laid out as grids, because the columns that fit depend on the card. The ARIA roles make it a table.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use leptos::html::Tbody;
use trainscope_api::runs::{LastValue, Run, RunList};

use super::columns::{self, Column};
use super::layout::{CHIP, COUNT, Needs, PADDING, RowLook, arrange, text_width};
use super::model::{Model, use_model};
use super::order::{Item, SortKey};
use super::row::{GroupRow, RowRun, RunRow, health_words, shown_kinds};
use super::selection::SelectionBar;
use super::slots::{RowContent, Rows, Slot};
use super::sparks::use_sparks;
use trainscope_web_kit::components::{Check, RowHeights, RowList, RowRange};
use trainscope_web_kit::i18n::{I18n, use_i18n};
use trainscope_web_kit::parameters::RunsPanel;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::run_name::short_name;
use trainscope_web_kit::state::use_runs;

/// Width of the sign of the direction next to a head, CSS pixels.
const SORT_SIGN: f64 = 14.0;
/// Height of the table's head, CSS pixels.
const HEAD: f64 = 28.0;
/// Height of a folder's head, CSS pixels.
const GROUP: f64 = 26.0;
/// Height of a run, CSS pixels: `--row`.
const RUN: f64 = 32.0;

/// The card with the table and the bar of the selection.
#[component]
pub(super) fn RunsTable() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let sparks = use_sparks();
    let runs = use_runs();
    let list = RowList::new(HEAD, move || {
        let height = |item: &Item| match item {
            Item::Group(_) => (GROUP, true),
            Item::Run { .. } => (RUN, false),
        };
        model
            .items
            .with(|items| RowHeights::grouped(items.iter().map(height)))
    });
    let rows = Memo::new(move |_| {
        let RowRange {
            head, start, end, ..
        } = list.range.get();
        model.items.with(|items| {
            let stuck = head.and_then(|head| items.get(head).cloned());
            let shown = items.get(start..end).unwrap_or_default().to_vec();
            stuck.into_iter().chain(shown).collect::<Vec<_>>()
        })
    });
    let body = NodeRef::<Tbody>::new();
    let made = Rows::of(rows, body);
    Effect::new(move || {
        let ids = rows.with(|rows| {
            let ids = rows.iter().filter_map(|item| match item {
                Item::Run { id, .. } => Some(id.clone()),
                Item::Group(_) => None,
            });
            ids.collect()
        });
        sparks.show(ids);
    });
    reveal_cursor(list);
    let all = Memo::new(move |_| {
        model.selected.with(|selected| {
            model.items.with(|items| {
                let mut ids = items.iter().filter_map(|item| match item {
                    Item::Run { id, .. } => Some(id),
                    Item::Group(_) => None,
                });
                !selected.is_empty() && ids.all(|id| selected.contains(id))
            })
        })
    });
    let needs = Memo::new(move |_| needs(&model, i18n));
    let layout = Memo::new(move |_| needs.with(|needs| arrange(list.size.get().0, needs)));
    provide_context(RowLook {
        name: Memo::new(move |_| layout.with(|layout| layout.name)),
        kinds: Memo::new(move |_| needs.with(|needs| needs.kinds.iter().copied().collect())),
    });
    let some = Memo::new(move |_| model.selected.with(|selected| !selected.is_empty()));
    view! {
        <section class="card runs-card">
            <div
                class="scroll"
                node_ref=list.holder
                on:scroll=move |_| list.follow()
            >
                <table
                    style=("--cols", move || layout.with(|layout| layout.template.clone()))
                    style:min-width=move || format!("{:.0}px", layout.with(|layout| layout.width))
                    class=move || format!("runs{}", layout.with(|layout| layout.class.clone()))
                    role="table"
                    aria-label=i18n.text(|t| t.titles().runs)
                    aria-rowcount=move || model.items.with(|items| (items.len() + 1).to_string())
                >
                    <thead role="rowgroup">
                        <tr role="row">
                            <th class="c-check" role="columnheader">
                                <Check
                                    checked=all
                                    some=some
                                    label=Signal::derive(move || {
                                        i18n.texts().runs().select_all.to_owned()
                                    })
                                    on_press=move || model.toggle_all()
                                />
                            </th>
                            <Head
                                class="c-name"
                                column="name"
                                key=SortKey::Name
                                label=move || i18n.texts().runs().name.to_owned()
                            />
                            <Head
                                class="c-files"
                                column="files"
                                key=SortKey::Files
                                label=move || i18n.texts().runs().files.to_owned()
                            />
                            <Head
                                class="c-status"
                                column="status"
                                key=SortKey::Status
                                label=move || i18n.texts().runs().status.to_owned()
                            />
                            <Head
                                class="c-steps num"
                                column="steps"
                                key=SortKey::Steps
                                label=move || i18n.texts().runs().steps.to_owned()
                            />
                            <th
                                class="c-curve"
                                role="columnheader"
                                title=move || tags_of(runs, |run| run.loss.as_ref())
                            >
                                {move || {
                                    runs.with(|list| common_tag(list, |run| run.loss.as_ref()))
                                        .unwrap_or_else(|| i18n.texts().runs().loss.to_owned())
                                }}
                            </th>
                            <Head
                                class="c-loss num"
                                column="loss"
                                key=SortKey::Loss
                                label=move || i18n.texts().runs().last.to_owned()
                            />
                            <Head
                                class="c-metric num"
                                column="metric"
                                key=SortKey::Metric
                                title=Signal::derive(move || tags_of(runs, |run| run.metric.as_ref()))
                                label=move || {
                                    runs.with(|list| common_tag(list, |run| run.metric.as_ref()))
                                        .unwrap_or_else(|| i18n.texts().runs().metric.to_owned())
                                }
                            />
                            {move || {
                                let columns = model.columns.get();
                                columns.into_iter().map(|column| view! { <ColumnHead column=column /> }).collect_view()
                            }}
                            <Head
                                class="c-updated num"
                                column="updated"
                                key=SortKey::Updated
                                label=move || i18n.texts().runs().updated.to_owned()
                            />
                            <Head
                                class="c-duration num"
                                column="duration"
                                key=SortKey::Duration
                                label=move || i18n.texts().runs().duration.to_owned()
                            />
                            <th class="c-data" role="columnheader">
                                {i18n.text(|t| t.runs().data)}
                            </th>
                            <th class="c-note" role="columnheader">
                                {i18n.text(|t| t.runs().note_label)}
                            </th>
                        </tr>
                    </thead>
                    <tbody role="rowgroup" node_ref=body>
                        <Spacer height=Signal::derive(move || list.range.get().above) />
                        <For
                            each=move || made.slots.get()
                            key=|slot| slot.number
                            children=|slot: Slot| {
                                let is_spare = slot.is_spare.into();
                                match slot.shows {
                                    RowContent::Group(group) => {
                                        view! { <GroupRow group=group.into() is_spare=is_spare /> }.into_any()
                                    }
                                    RowContent::Run { id, is_grouped } => {
                                        let shown = RowRun {
                                            id: id.into(),
                                            is_grouped: is_grouped.into(),
                                            is_spare,
                                        };
                                        view! { <RunRow shown=shown /> }.into_any()
                                    }
                                }
                            }
                        />
                        <Spacer height=Signal::derive(move || {
                            let missing = rows.with(Vec::len).saturating_sub(made.shown.get());
                            list.range.get().below + missing as f64 * RUN
                        }) />
                    </tbody>
                </table>
            </div>
            <SelectionBar />
        </section>
    }
}

/// Maximum number of rows whose contents determine the widths of columns.
const MEASURED: usize = 500;
/// Space that the rows of the list need; reactive.
fn needs(model: &Model, i18n: I18n) -> Needs {
    let texts = i18n.texts().runs();
    let columns = model.columns.get();
    let mut needs = Needs {
        metric: text_width(texts.metric),
        extra: columns
            .iter()
            .map(|column| text_width(column.name()) + SORT_SIGN)
            .collect(),
        off: model.off.get(),
        is_choosing: model.panel.with(|panel| *panel == Some(RunsPanel::Columns)),
        ..Needs::default()
    };
    let grow = |width: &mut f64, text: &str, more: f64| *width = width.max(text_width(text) + more);
    let is_shown = model.items.with(|items| {
        let ids = items.iter().filter_map(|item| match item {
            Item::Run { id, grouped } => Some((id.clone(), *grouped)),
            Item::Group(_) => None,
        });
        ids.take(MEASURED).collect::<HashMap<_, _>>()
    });
    model.state.runs.with(|list| {
        for run in &list.runs {
            let Some(is_grouped) = is_shown.get(&run.id) else {
                continue;
            };
            let name = if *is_grouped {
                short_name(&run.id)
            } else {
                &*run.id
            };
            grow(&mut needs.name, name, CHIP);
            grow(&mut needs.health, &health_words(run, i18n), COUNT);
            needs.kinds.extend(shown_kinds(run));
            for (width, column) in needs.extra.iter_mut().zip(&columns) {
                if let Some(value) = model.cell(run, column) {
                    grow(width, &columns::text(&value), 0.0);
                }
            }
        }
        if let Some(tag) = common_tag(list, |run| run.metric.as_ref()) {
            grow(&mut needs.metric, &tag, SORT_SIGN);
        }
    });
    model.notebook.with(|book| {
        let noted = book
            .runs
            .iter()
            .filter(|(run, _)| is_shown.contains_key(*run));
        for (_, notes) in
            noted.filter(|(_, notes)| !notes.note.is_empty() || !notes.tags.is_empty())
        {
            grow(
                &mut needs.note,
                &format!("{} {}", notes.tags.join("  "), notes.note),
                PADDING,
            );
        }
    });
    needs
}

/// A head that sorts. The text is a button, which also works by keyboard.
#[component]
fn Head(
    class: &'static str,
    /// Name in `data-column`.
    column: &'static str,
    key: SortKey,
    label: impl Fn() -> String + Copy + Send + Sync + 'static,
    /// Title in place of the label.
    #[prop(optional, into)]
    title: Option<Signal<String>>,
) -> impl IntoView {
    let model = use_model();
    let title = move || match title
        .map(|title| title.get())
        .filter(|title| !title.is_empty())
    {
        Some(title) => title,
        None => label(),
    };
    let key = StoredValue::new(key);
    let active =
        move || Some(model.sort.get()).filter(|sort| key.with_value(|key| sort.key == *key));
    view! {
        <th
            class=class
            data-column=column
            role="columnheader"
            aria-sort=move || {
                active().map(|sort| if sort.descending { "descending" } else { "ascending" })
            }
        >
            <button
                type="button"
                class="head-button"
                class:sort=move || active().is_some()
                title=title
                on:click=move |_| key.with_value(|key| model.press_sort(key))
            >
                <span class="cut">{label}</span>
                {move || active().map(|sort| if sort.descending { " ↓" } else { " ↑" })}
            </button>
        </th>
    }
}

/// The head of a chosen column.
#[component]
fn ColumnHead(column: Column) -> impl IntoView {
    let name = StoredValue::new(column.name().to_owned());
    view! {
        <Head class="c-hparam num" column="chosen" key=SortKey::Column(column) label=move || name.get_value() />
    }
}

/// Placeholder for rows outside the viewport.
#[component]
fn Spacer(height: Signal<f64>) -> impl IntoView {
    view! {
        <tr class="spacer" aria-hidden="true" hidden=move || height.get() < 0.5>
            <td style:height=move || format!("{}px", height.get())></td>
        </tr>
    }
}

/// Tag that all runs share, if any.
fn common_tag(list: &RunList, value: fn(&Run) -> Option<&LastValue>) -> Option<String> {
    let mut tags = list.runs.iter().filter_map(|run| Some(&value(run)?.tag));
    let first = tags.next()?;
    tags.all(|tag| tag == first).then(|| first.clone())
}

/// Tags of a column, with the number of runs of each.
fn tags_of(runs: Signal<Arc<RunList>>, last: fn(&Run) -> Option<&LastValue>) -> String {
    let mut counts = BTreeMap::<String, u64>::new();
    runs.with(|list| {
        for last in list.runs.iter().filter_map(last) {
            *counts.entry(last.tag.clone()).or_default() += 1;
        }
    });
    let counts = counts
        .into_iter()
        .map(|(tag, runs)| format!("{tag} ({runs})"));
    counts.collect::<Vec<_>>().join(", ")
}

/// Scrolls the row of the cursor into view.
fn reveal_cursor(list: RowList) {
    let model = use_model();
    Effect::new(move || {
        let Some(cursor) = model.cursor.get() else {
            return;
        };
        let position = model.items.with_untracked(|items| {
            items
                .iter()
                .position(|item| matches!(item, Item::Run { id, .. } if *id == cursor))
        });
        if let Some(position) = position {
            list.reveal(position, None);
        }
    });
}
