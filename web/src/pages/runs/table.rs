//! The table: sticky heads, only the rows in view.
//!
//! Rows are laid out as grids, because the columns that fit depend on the card; the roles say that it is a table.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use leptos::html::Div;
use leptos::prelude::*;
use trainscope_api::runs::{LastValue, Run, RunList};

use super::columns::Column;
use super::model::use_model;
use super::order::{Group, Item, SortKey};
use super::row::{GroupRow, RunRow, Shown};
use super::selection::SelectionBar;
use super::sparks::use_sparks;
use super::window::{HEAD, Offsets, Window, height_of};
use crate::components::Check;
use crate::erased::{derive, effect, handler, memo};
use crate::i18n::use_i18n;
use crate::state::use_runs;

/// Rows made anew in one frame at most: forty at once would be a pause that one feels.
const BATCH: usize = 14;

/// The card with the table and the bar of the selection.
#[component]
pub(super) fn RunsTable() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let sparks = use_sparks();
    let runs = use_runs();
    let scroller = NodeRef::<Div>::new();
    let scroll = RwSignal::new(0.0_f64);
    let offsets = memo(move || model.items.with(|items| Offsets::new(items)));
    let height = use_window_height();
    let window = memo(move || {
        // The table is never taller than the window; the few rows too many cost less than measuring.
        offsets.with(|offsets| offsets.window(scroll.get(), height.get()))
    });
    let rows = memo(move || {
        let Window {
            group, start, end, ..
        } = window.get();
        model.items.with(|items| {
            let stuck = group.and_then(|group| items.get(group).cloned());
            let shown = items.get(start..end).unwrap_or_default().to_vec();
            stuck.into_iter().chain(shown).collect::<Vec<_>>()
        })
    });
    let made = in_slots(rows);
    effect(move || {
        let ids = rows.with(|rows| {
            let ids = rows.iter().filter_map(|item| match item {
                Item::Run { id, .. } => Some(id.clone()),
                Item::Group(_) => None,
            });
            ids.collect()
        });
        sparks.show(ids);
    });
    reveal_cursor(offsets, scroller);
    let all = memo(move || {
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
    let some = memo(move || model.selected.with(|selected| !selected.is_empty()));
    view! {
        <section class="card runs-card">
            <div
                class="scroll"
                node_ref=scroller
                on:scroll=handler(move |_| {
                    if let Some(scroller) = scroller.get_untracked() {
                        scroll.set(f64::from(scroller.scroll_top()));
                    }
                })
            >
                <table
                    style=("--extra", move || "66px ".repeat(model.columns.with(Vec::len)))
                    class="runs"
                    role="table"
                    aria-label=i18n.text(|t| t.frame.runs)
                    aria-rowcount=move || model.items.with(|items| (items.len() + 1).to_string())
                >
                    <thead role="rowgroup">
                        <tr role="row">
                            <th class="c-check" role="columnheader">
                                <Check
                                    checked=all
                                    some=some
                                    label=derive(move || {
                                        i18n.texts().runs.select_all.to_owned()
                                    })
                                    on_press=move || model.toggle_all()
                                />
                            </th>
                            <Head
                                class="c-name"
                                key=SortKey::Name
                                label=move || i18n.texts().runs.name.to_owned()
                            />
                            <Head
                                class="c-files"
                                key=SortKey::Files
                                label=move || i18n.texts().runs.files.to_owned()
                            />
                            <Head
                                class="c-status"
                                key=SortKey::Status
                                label=move || i18n.texts().runs.status.to_owned()
                            />
                            <Head
                                class="c-steps num"
                                key=SortKey::Steps
                                label=move || i18n.texts().runs.steps.to_owned()
                            />
                            <th class="c-curve" role="columnheader">
                                {move || {
                                    common_tag(runs, |run| run.loss.as_ref())
                                        .unwrap_or_else(|| i18n.texts().runs.loss.to_owned())
                                }}
                            </th>
                            <Head
                                class="c-loss num"
                                key=SortKey::Loss
                                label=move || i18n.texts().runs.last.to_owned()
                            />
                            <Head
                                class="c-metric num"
                                key=SortKey::Metric
                                label=move || {
                                    common_tag(runs, |run| run.metric.as_ref())
                                        .unwrap_or_else(|| i18n.texts().runs.metric.to_owned())
                                }
                            />
                            {move || {
                                let columns = model.columns.get();
                                columns.into_iter().map(|column| view! { <ColumnHead column=column /> }).collect_view()
                            }}
                            <Head
                                class="c-updated num"
                                key=SortKey::Updated
                                label=move || i18n.texts().runs.updated.to_owned()
                            />
                            <Head
                                class="c-duration num"
                                key=SortKey::Duration
                                label=move || i18n.texts().runs.duration.to_owned()
                            />
                            <th class="c-data" role="columnheader">
                                {i18n.text(|t| t.runs.data)}
                            </th>
                            <th class="c-note" role="columnheader">
                                {i18n.text(|t| t.runs.note_label)}
                            </th>
                        </tr>
                    </thead>
                    <tbody role="rowgroup">
                        <Spacer height=derive(move || window.get().above) />
                        <For
                            each=move || made.with(|made| made.0.clone())
                            key=Row::key
                            children=move |row| match row {
                                Row::Group(group) => view! { <GroupRow group=group /> }.into_any(),
                                Row::Run(slot) => {
                                    let shown = Shown {
                                        id: slot.id.into(),
                                        is_grouped: slot.is_grouped.into(),
                                        is_spare: slot.is_spare.into(),
                                    };
                                    view! { <RunRow shown=shown /> }.into_any()
                                }
                            }
                        />
                        <Spacer height=derive(move || {
                            let missing = rows.with(Vec::len).saturating_sub(made.with(|made| made.1));
                            window.get().below + height_of(missing)
                        }) />
                    </tbody>
                </table>
            </div>
            <SelectionBar />
        </section>
    }
}

/// A row of a run that is there.
#[derive(Clone)]
struct Slot {
    number: usize,
    id: ArcRwSignal<String>,
    is_grouped: ArcRwSignal<bool>,
    is_spare: ArcRwSignal<bool>,
}

/// What stands in the table.
#[derive(Clone)]
enum Row {
    Group(Group),
    Run(Slot),
}

impl Row {
    /// What makes two rows the same. A folder's head is drawn anew when its summary changes.
    fn key(&self) -> String {
        match self {
            Self::Group(group) => format!("{group:?}"),
            Self::Run(slot) => slot.number.to_string(),
        }
    }
}

/// The rows, and how many of those that are wanted there are. Those of runs that have left show the runs that come, or
/// wait behind all others; new ones are made a few a frame.
fn in_slots(wanted: Memo<Vec<Item>>) -> RwSignal<(Vec<Row>, usize)> {
    let rows = RwSignal::new((Vec::new(), 0));
    let slots = StoredValue::new(Vec::<Slot>::new());
    let turn = RwSignal::new(0_u32);
    effect(move || {
        turn.track();
        let now = slots.try_update_value(|slots| wanted.with(|wanted| fill(slots, wanted)));
        let Some((now, count)) = now else { return };
        if count < wanted.with_untracked(Vec::len) {
            request_animation_frame(move || {
                turn.try_update(|turn| *turn = turn.wrapping_add(1));
            });
        }
        rows.set((now, count));
    });
    rows
}

/// Gives the wanted runs their rows, and makes no more of them than one frame has time for.
fn fill(slots: &mut Vec<Slot>, wanted: &[Item]) -> (Vec<Row>, usize) {
    let places = {
        let shown: Vec<String> = slots.iter().map(|slot| slot.id.get_untracked()).collect();
        places(&shown, wanted)
    };
    let mut is_free = vec![true; slots.len()];
    let mut rows = Vec::with_capacity(wanted.len());
    for (item, place) in wanted.iter().zip(&places) {
        match item {
            Item::Group(group) => rows.push(Row::Group(group.clone())),
            Item::Run { id, grouped } => {
                let slot = if let Some(slot) = slots.get(*place) {
                    is_free[*place] = false;
                    slot.clone()
                } else {
                    let slot = Slot {
                        number: slots.len(),
                        id: ArcRwSignal::new(id.clone()),
                        is_grouped: ArcRwSignal::new(*grouped),
                        is_spare: ArcRwSignal::new(false),
                    };
                    slots.push(slot.clone());
                    slot
                };
                set(&slot.id, id.clone());
                set(&slot.is_grouped, *grouped);
                set(&slot.is_spare, false);
                rows.push(Row::Run(slot));
            }
        }
    }
    let count = rows.len();
    for (slot, _) in slots.iter().zip(&is_free).filter(|(_, is_free)| **is_free) {
        set(&slot.is_spare, true);
        rows.push(Row::Run(slot.clone()));
    }
    (rows, count)
}

/// Tells those who look only of what is new.
fn set<T: PartialEq + Send + Sync + 'static>(signal: &ArcRwSignal<T>, value: T) {
    if signal.with_untracked(|before| *before != value) {
        signal.set(value);
    }
}

/// In which of the rows each wanted run stands, by the runs that are shown in them: in its own, in one that is free, or
/// in a new one, of which there are at most [`BATCH`]. What follows the last of these has no place.
fn places(shown: &[String], wanted: &[Item]) -> Vec<usize> {
    let own: HashMap<&str, usize> = shown.iter().map(String::as_str).zip(0..).collect();
    let run = |item: &Item| match item {
        Item::Run { id, .. } => own.get(id.as_str()).copied(),
        Item::Group(_) => None,
    };
    let stays: HashSet<usize> = wanted.iter().filter_map(run).collect();
    let mut free = (0..shown.len()).filter(|place| !stays.contains(place));
    let mut new = shown.len()..shown.len() + BATCH;
    let mut places = Vec::with_capacity(wanted.len());
    for item in wanted {
        let place = match item {
            Item::Group(_) => Some(usize::MAX),
            Item::Run { .. } => run(item).or_else(|| free.next()).or_else(|| new.next()),
        };
        match place {
            Some(place) => places.push(place),
            None => break,
        }
    }
    places
}

/// A head that sorts. The text is a button, so that it works by keyboard.
#[component]
fn Head(
    class: &'static str,
    key: SortKey,
    label: impl Fn() -> String + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let model = use_model();
    let key = StoredValue::new(key);
    let own = move || Some(model.sort.get()).filter(|sort| key.with_value(|key| sort.key == *key));
    view! {
        <th
            class=class
            role="columnheader"
            aria-sort=move || {
                own().map(|sort| if sort.descending { "descending" } else { "ascending" })
            }
        >
            <button
                type="button"
                class="head-button"
                class:sort=move || own().is_some()
                title=label
                on:click=handler(move |_| key.with_value(|key| model.press_sort(key)))
            >
                <span class="cut">{label}</span>
                {move || own().map(|sort| if sort.descending { " ↓" } else { " ↑" })}
            </button>
        </th>
    }
}

/// The head of a chosen column.
#[component]
fn ColumnHead(column: Column) -> impl IntoView {
    let name = StoredValue::new(column.name().to_owned());
    view! {
        <Head class="c-hparam num" key=SortKey::Column(column) label=move || name.get_value() />
    }
}

/// Stands for rows that are not drawn.
#[component]
fn Spacer(height: Signal<u32>) -> impl IntoView {
    view! {
        <tr class="spacer" aria-hidden="true" hidden=move || height.get() == 0>
            <td style:height=move || format!("{}px", height.get())></td>
        </tr>
    }
}

/// The tag that all runs agree on, if they do.
fn common_tag(runs: Signal<Arc<RunList>>, last: fn(&Run) -> Option<&LastValue>) -> Option<String> {
    runs.with(|list| {
        let mut tags = list.runs.iter().filter_map(|run| Some(&last(run)?.tag));
        let first = tags.next()?;
        tags.all(|tag| tag == first).then(|| first.clone())
    })
}

/// Scrolls the row into view that the keys have moved to.
fn reveal_cursor(offsets: Memo<Offsets>, scroller: NodeRef<Div>) {
    let model = use_model();
    effect(move || {
        let Some(cursor) = model.cursor.get() else {
            return;
        };
        let position = model.items.with_untracked(|items| {
            items
                .iter()
                .position(|item| matches!(item, Item::Run { id, .. } if *id == cursor))
        });
        let (Some(position), Some(scroller)) = (position, scroller.get_untracked()) else {
            return;
        };
        let height = f64::from(scroller.client_height()) - HEAD;
        let now = f64::from(scroller.scroll_top());
        let target = offsets.with_untracked(|offsets| offsets.reveal(position, now, height));
        if let Some(target) = target {
            scroller.set_scroll_top(pixels(target));
        }
    });
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a scroll position is far below 2^31; `as` saturates"
)]
fn pixels(position: f64) -> i32 {
    position.round() as i32
}

/// Height of the browser's window in pixels, as a signal.
fn use_window_height() -> Signal<f64> {
    let read = || {
        let height = window().inner_height().ok();
        height.and_then(|height| height.as_f64()).unwrap_or(800.0)
    };
    let height = RwSignal::new(read());
    let handle = window_event_listener(leptos::ev::resize, move |_| height.set(read()));
    on_cleanup(move || handle.remove());
    height.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(numbers: impl IntoIterator<Item = usize>) -> Vec<Item> {
        let run = |number| Item::Run {
            id: format!("run{number}"),
            grouped: false,
        };
        numbers.into_iter().map(run).collect()
    }

    /// The runs that are shown, and those behind them that wait.
    fn shown(rows: &[Row]) -> (Vec<String>, usize) {
        let all = rows.iter().filter_map(|row| match row {
            Row::Run(slot) => Some(slot),
            Row::Group(_) => None,
        });
        let (spare, shown): (Vec<_>, Vec<_>) = all.partition(|slot| slot.is_spare.get_untracked());
        let shown = shown.iter().map(|slot| slot.id.get_untracked());
        (shown.collect(), spare.len())
    }

    fn names(items: &[Item]) -> Vec<String> {
        let names = items.iter().filter_map(|item| match item {
            Item::Run { id, .. } => Some(id.clone()),
            Item::Group(_) => None,
        });
        names.collect()
    }

    #[test]
    fn rows_are_made_a_few_at_a_time_and_used_again() {
        let wanted = runs(0..40);
        let mut slots = Vec::new();
        let mut counts = Vec::new();
        while counts.last() != Some(&wanted.len()) {
            let (rows, count) = fill(&mut slots, &wanted);
            assert_eq!(shown(&rows), (names(&wanted[..count]), 0));
            counts.push(count);
        }
        assert_eq!(counts, [BATCH, 2 * BATCH, 40]);

        // Another order moves the rows that there are.
        let own = |slots: &[Slot], name: &str| {
            let mut slots = slots.iter();
            slots.position(|slot| slot.id.get_untracked() == name)
        };
        let before = own(&slots, "run7");
        let turned: Vec<Item> = wanted.iter().rev().cloned().collect();
        let (rows, count) = fill(&mut slots, &turned);
        assert_eq!((shown(&rows).0, count), (names(&turned), 40));
        assert_eq!(own(&slots, "run7"), before);

        // A filter leaves some and lets others come, in rows that were there.
        let mut few = runs([7, 90, 91]);
        few.insert(0, Item::Group(Group::default()));
        let (rows, count) = fill(&mut slots, &few);
        assert_eq!((shown(&rows), count), ((names(&few), 37), 4));
        assert_eq!((own(&slots, "run7"), slots.len()), (before, 40));
        let (rows, count) = fill(&mut slots, &wanted);
        assert_eq!((shown(&rows), count), ((names(&wanted), 0), 40));
        assert_eq!(slots.len(), 40);
    }
}
