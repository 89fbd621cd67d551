//! Memory alive at a moment: by operator or scope, with its lifetime on the axis of the step.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::model::time;
use super::super::parts::downloads;
use super::{AT, MemoryHolder, format, shade_of, use_memory};
use crate::frames::{FrameLook, frames_view};
use trainscope_api::profile::{FlameAnswer, FlameFrame, without_folders};
use trainscope_web_kit::components::{SegOption, Segmented};
use trainscope_web_kit::i18n::{Texts, use_i18n};
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::url_state::{History, Key, Setting};

/// Maximum number of rows.
const LISTED: usize = 200;

const FIELDS: [&str; 7] = [
    "operator",
    "scope",
    "category",
    "count",
    "bytes",
    "begin_nanos",
    "end_nanos",
];

/// Groups of holders, in the order of their texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum HolderGroup {
    #[default]
    Operator,
    Scope,
    Allocation,
    Flame,
}

impl HolderGroup {
    const ALL: [Self; 4] = [Self::Operator, Self::Scope, Self::Allocation, Self::Flame];
}

/// Parameter of the address: group of the holders; without it operators.
pub(super) const GROUP: Setting<HolderGroup> = Key::of_words(
    "group",
    &[
        (HolderGroup::Scope, "scope"),
        (HolderGroup::Allocation, "allocation"),
        (HolderGroup::Flame, "flame"),
    ],
)
.or(HolderGroup::Operator);

#[component]
pub(super) fn Holders() -> impl IntoView {
    let memory = use_memory();
    let model = memory.model;
    let i18n = use_i18n();
    let url = model.url;
    let group = memory.group;
    let chosen = RwSignal::new(0_usize);
    let rows = Memo::new(move |_| {
        let answer = memory.answer.answer.get();
        let all = answer
            .map(|answer| answer.holders.clone())
            .unwrap_or_default();
        let mut all = if group.get() == HolderGroup::Scope {
            scopes(all)
        } else {
            all
        };
        all.truncate(LISTED);
        Arc::new(all)
    });
    let by_stacks = Memo::new(move |_| {
        memory
            .total
            .with(|total| total.as_ref().is_some_and(|total| total.by_stacks))
    });
    let open = move |row: &MemoryHolder| {
        // Lines of a program are not slices.
        let is_slice = !by_stacks.get() && !row.operator.is_empty();
        let search = is_slice.then_some(&*row.operator);
        model.around_href((row.begin_nanos, row.end_nanos), search)
    };
    use_keys(move |key, _| {
        let count = rows.with_untracked(|rows| rows.len());
        let now = chosen.get_untracked();
        match key {
            "j" | "ArrowDown" => chosen.set((now + 1).min(count.saturating_sub(1))),
            "k" | "ArrowUp" => chosen.set(now.saturating_sub(1)),
            "Enter" => {
                let href = untrack(|| rows.with(|rows| rows.get(now).map(open)));
                if let Some(href) = href {
                    model.open(&href);
                }
            }
            _ => return false,
        }
        true
    });
    // Start and end of the picture above, and the chosen moment, ns.
    let stretch = Memo::new(move |_| {
        memory.answer.answer.with(|answer| {
            let answer = answer.as_ref()?;
            let (first, last) = (answer.times_nanos.first()?, answer.times_nanos.last()?);
            Some((*first, *last, answer.at_nanos))
        })
    });
    let title = move || {
        let texts = i18n.texts();
        match memory.at.get() {
            None => texts.memory().at_peak.to_owned(),
            Some(at) => (texts.memory().at_moment)(&time(at.saturating_sub(memory.origin()))),
        }
    };
    let body = move || {
        let texts = i18n.texts();
        let stretch = stretch.get().unwrap_or((0, 1, 0));
        rows.with(|rows| {
            let most = rows.iter().map(|row| row.bytes).max().unwrap_or(1).max(1);
            let all = rows.iter().enumerate();
            let all = all.map(|(at, row)| {
                let cells = cells(row, most, stretch, &open(row), texts);
                view! {
                    <tr class:cur=move || chosen.get() == at on:click=move |_| chosen.set(at)>
                        {cells}
                    </tr>
                }
            });
            all.collect::<Vec<_>>()
        })
    };
    let footer = move || {
        let texts = i18n.texts();
        let held = rows.with(|rows| rows.iter().map(|row| row.bytes).sum::<u64>());
        let count = rows.with(|rows| rows.len()) as u64;
        let all = memory
            .answer
            .answer
            .with(|answer| answer.as_ref().map_or(0, |answer| answer.at_len_bytes));
        (texts.memory().holds)(count, &format::bytes(held), &format::bytes(all))
    };
    let choices = move || {
        let by_stacks = by_stacks.get();
        let all = HolderGroup::ALL.into_iter();
        let all = all.filter(|group| by_stacks || *group != HolderGroup::Flame);
        let options = all.map(|value| SegOption {
            value,
            label: Signal::derive(move || {
                let texts = i18n.texts();
                let line = texts
                    .memory()
                    .line_groups
                    .get(value as usize)
                    .filter(|_| by_stacks);
                let text = line.unwrap_or(&texts.memory().holder_groups[value as usize]);
                (*text).to_owned()
            }),
        });
        view! {
            <Segmented
                label=i18n.label(|t| t.profile().group)
                options=options.collect()
                value=group
                on_choose=move |group: HolderGroup| {
                    url.set(&[GROUP.to(group)], History::Replace);
                }
            />
        }
    };
    let heads = move || {
        let texts = i18n.texts();
        let mut heads = texts.memory().holder_columns;
        if by_stacks.get() {
            heads[0] = texts.memory().line_column;
        }
        heads
            .map(|head| view! { <th>{head}</th> })
            .into_iter()
            .collect_view()
    };
    let table = move || {
        view! {
            <table class="dense holders">
                <thead>
                    <tr>{heads}</tr>
                </thead>
                <tbody>{body}</tbody>
            </table>
        }
    };
    let content = move || {
        if by_stacks.get() && group.get() == HolderGroup::Flame {
            view! { <Flame /> }.into_any()
        } else {
            table().into_any()
        }
    };
    view! {
        <section class="card" data-part="holders">
            <div class="head tall">
                <h2>{title}</h2>
                {choices}
                <Show when=move || memory.at.get().is_some()>
                    <button
                        type="button"
                        class="link small"
                        on:click=move |_| url.set(&[AT.clear()], History::Replace)
                    >
                        {i18n.text(|t| t.memory().back_to_peak)}
                    </button>
                </Show>
                <span class="grow"></span>
                {downloads("memory", &FIELDS, move || rows.get_untracked().to_vec())}
            </div>
            <div class="scroll">{content}</div>
            <div class="foot micro ink3">{footer}</div>
        </section>
    }
}

/// Call stacks of the memory of the moment; the width of a frame is its bytes.
#[component]
fn Flame() -> impl IntoView {
    let memory = use_memory();
    let root = RwSignal::new(None::<usize>);
    let frames = Memo::new(move |_| {
        memory.answer.answer.with(|answer| {
            let stacks = answer
                .as_deref()
                .map(|answer| &*answer.stacks)
                .unwrap_or_default();
            let outermost = stacks.iter().filter(|frame| frame.depth == 0);
            FlameAnswer {
                total_nanos: outermost.map(|frame| length(frame.bytes)).sum(),
                frames: stacks
                    .iter()
                    .map(|frame| FlameFrame {
                        name: frame.name.clone(),
                        kind: 0,
                        depth: frame.depth,
                        total_nanos: length(frame.bytes),
                        self_nanos: length(frame.self_bytes),
                        count: frame.count,
                    })
                    .collect(),
                cut: false,
            }
        })
    });
    Effect::new(move || {
        frames.track();
        root.set(None);
    });
    let look = FrameLook {
        length: |bytes| format::bytes(bytes.unsigned_abs()),
        short: without_folders,
        colour: |_| "var(--k-compute)".to_owned(),
    };
    move || frames.with(|frames| frames_view(frames, root, look))
}

/// Bytes as the length of a frame.
fn length(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

fn cells(
    row: &MemoryHolder,
    most: u64,
    (first, last, at): (i64, i64, i64),
    href: &str,
    texts: Texts,
) -> AnyView {
    let name = match (&*row.operator, &*row.scope) {
        ("", "") => texts.memory().unknown_holder.to_owned(),
        ("", scope) => scope.to_owned(),
        (operator, _) => operator.to_owned(),
    };
    let length = last.saturating_sub(first).max(1) as f64;
    let place = |nanos: i64| {
        let share = nanos.saturating_sub(first) as f64 / length;
        format!("{:.2}%", share.clamp(0.0, 1.0) * 100.0)
    };
    let width = {
        let (begin, end) = (row.begin_nanos.max(first), row.end_nanos.min(last));
        let share = end.saturating_sub(begin) as f64 / length;
        format!("{:.2}%", share.clamp(0.0, 1.0) * 100.0)
    };
    let bar = format!("{:.1}px", row.bytes as f64 / most as f64 * 76.0);
    let title = if row.scope.is_empty() {
        name.clone()
    } else {
        format!("{name} · {}", row.scope)
    };
    view! {
        <td title=title>
            <a class="cut" href=href.to_owned()>
                {name}
            </a>
        </td>
        <td class="ink2">{texts.memory().categories[row.category as usize]}</td>
        <td>
            <span class="tb">
                <span class="num">{format::bytes(row.bytes)}</span>
                <i style:width=bar style:background=super::super::model::css_of(shade_of(row.category))></i>
            </span>
        </td>
        <td class="num">{format::count(row.count)}</td>
        <td class="num">{time(row.end_nanos.saturating_sub(row.begin_nanos))}</td>
        <td>
            <span class="life">
                <i style:left=place(row.begin_nanos) style:width=width></i>
                <u style:left=place(at)></u>
            </span>
        </td>
    }
    .into_any()
}

/// Holders added up by scope, the largest first. Those without a scope are one row.
fn scopes(all: Vec<MemoryHolder>) -> Vec<MemoryHolder> {
    let mut scopes: BTreeMap<String, MemoryHolder> = BTreeMap::new();
    for holder in all {
        let sum = scopes
            .entry(holder.scope.clone())
            .or_insert_with(|| MemoryHolder {
                operator: String::new(),
                count: 0,
                bytes: 0,
                ..holder.clone()
            });
        sum.count += holder.count;
        sum.bytes = sum.bytes.saturating_add(holder.bytes);
        sum.begin_nanos = sum.begin_nanos.min(holder.begin_nanos);
        sum.end_nanos = sum.end_nanos.max(holder.end_nanos);
    }
    let mut scopes: Vec<MemoryHolder> = scopes.into_values().collect();
    scopes.sort_by_key(|scope| std::cmp::Reverse(scope.bytes));
    scopes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_add_up_and_live_from_the_first_to_the_last() {
        let holder = |scope: &str, bytes, begin_nanos, end_nanos| MemoryHolder {
            operator: "aten::mm".to_owned(),
            scope: scope.to_owned(),
            count: 1,
            bytes,
            begin_nanos,
            end_nanos,
            ..MemoryHolder::default()
        };
        let found = scopes(vec![
            holder("a", 5, 10, 20),
            holder("b", 8, 0, 9),
            holder("a", 6, 5, 12),
        ]);
        assert_eq!(found.len(), 2);
        let first = &found[0];
        assert_eq!(
            (first.scope.as_str(), first.bytes, first.count),
            ("a", 11, 2)
        );
        assert_eq!((first.begin_nanos, first.end_nanos), (5, 20));
        assert!(first.operator.is_empty());
    }
}
