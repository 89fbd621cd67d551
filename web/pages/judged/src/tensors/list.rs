//! List of tensors at the left: in file order, grouped by name prefix, each with its worst finding. Only rows in view
//! are rendered: thousands cost as much as thirty.

use trainscope_api::tensors::{TensorEntry, TensorSource};

use super::model::use_model;
use super::names::split;
use trainscope_web_kit::components::{
    Icon, IconName, RowHeights, RowList, RowRange, fixed_icon, severity_icon,
};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Height of a row, in pixels.
const ROW: f64 = 26.0;

/// Filter, roles and the tensors.
#[component]
pub(super) fn TensorList() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let total = Memo::new(move |_| model.index.with(|i| i.as_ref().map_or(0, |i| i.total)));
    let roles = move || {
        let mut roles: Vec<(String, u64)> = model.index.with(|index| {
            let roles = index.iter().flat_map(|index| &index.roles);
            roles.map(|(role, count)| (role.clone(), *count)).collect()
        });
        roles.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let chosen = model.role.get();
        // One role alone leaves nothing to choose.
        (roles.len() > 1 || chosen.is_some()).then(|| {
            let chips = roles.into_iter().map(|(role, count)| {
                let is_on = chosen.as_ref() == Some(&role);
                let name = (i18n.texts().tensors().role)(&role);
                view! {
                    <button
                        type="button"
                        class="tok"
                        aria-pressed=is_on.to_string()
                        on:click=move |_| {
                            model.set_role((!is_on).then_some(&*role));
                        }
                    >
                        {name}
                        " "
                        <span class="ink3">{format::count(count)}</span>
                    </button>
                }
            });
            view! { <div class="roles">{chips.collect_view()}</div> }
        })
    };
    let foot = move || {
        model.index.with(|index| {
            let index = index.as_ref()?;
            let text = if index.total == 0 {
                i18n.texts().tensors().nothing_matches.to_owned()
            } else if index.cut {
                (i18n.texts().tensors().cut)(index.tensors.len() as u64, index.total)
            } else {
                return None;
            };
            Some(view! { <p class="none small ink3">{text}</p> })
        })
    };
    view! {
        <aside class="tensor-list" aria-label=i18n.text(|t| t.titles().tensors)>
            <label class="field">
                {fixed_icon(IconName::Filter, 14)}
                <input
                    type="search"
                    placeholder=move || (i18n.texts().tensors().filter)(total.get())
                    aria-label=move || (i18n.texts().tensors().filter)(total.get())
                    prop:value=move || model.search.get()
                    on:input=move |event| model.set_search(&event_target_value(&event))
                />
            </label>
            {roles}
            <Rows />
            {foot}
        </aside>
    }
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Row {
    /// Common prefix of the names below, and `true` if it is expanded.
    Group(String, bool),
    /// Tensor, by its position in the index.
    Tensor(usize),
}

/// Rows of all tensors, with a row above each group. Tensors without a group have no such row.
fn rows_of<'a>(names: impl Iterator<Item = &'a str>, is_folded: impl Fn(&str) -> bool) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut last = None;
    let mut is_open = true;
    for (at, name) in names.enumerate() {
        let group = split(name).0;
        if last != Some(group) {
            last = Some(group);
            is_open = !is_folded(group);
            if !group.is_empty() {
                rows.push(Row::Group(group.to_owned(), is_open));
            }
        }
        if is_open {
            rows.push(Row::Tensor(at));
        }
    }
    rows
}

#[component]
fn Rows() -> impl IntoView {
    let model = use_model();
    let folded = RwSignal::new(Vec::<String>::new());
    let rows = Memo::new(move |_| {
        let folded = folded.get();
        model.index.with(|index| {
            let entries = index.iter().flat_map(|index| &index.tensors);
            let names = entries.map(|entry| &*entry.tensor);
            rows_of(names, |name| folded.iter().any(|group| group == name))
        })
    });
    let list = RowList::new(0.0, move || RowHeights::Equal(rows.with(Vec::len), ROW));
    // A newly selected tensor is scrolled into view.
    Effect::new(move |before: Option<String>| {
        let name = model.tensor.get();
        if list.holder.with(Option::is_none) {
            return String::new();
        }
        if before.as_ref() == Some(&name) {
            return name;
        }
        let at = model.index.with_untracked(|index| {
            let tensors = &index.as_ref()?.tensors;
            tensors.iter().position(|entry| entry.tensor == name)
        });
        let row = rows.with_untracked(|rows| {
            let at = Row::Tensor(at?);
            rows.iter().position(|row| *row == at)
        });
        if let Some(row) = row {
            list.reveal(row, Some(0.5));
        }
        name
    });
    let seen = move || {
        rows.with(|rows| {
            model.index.with(|index| {
                let index = index.as_ref();
                let rows = list.rows_of(rows);
                rows.map(|(_, row)| match row {
                    Row::Group(name, is_open) => group(name.clone(), *is_open, folded),
                    Row::Tensor(at) => {
                        let entry = index.and_then(|index| index.tensors.get(*at));
                        entry.map_or_else(|| ().into_any(), tensor_row)
                    }
                })
                .collect_view()
            })
        })
    };
    view! {
        <div
            class="scroll"
            role="navigation"
            node_ref=list.holder
            on:scroll=move |_| list.follow()
        >
            <div
                class="rows"
                style:height=move || list.height()
                style:padding-top=move || {
                    let RowRange { above, .. } = list.range.get();
                    format!("{above}px")
                }
            >
                {seen}
            </div>
        </div>
    }
}

fn group(name: String, is_open: bool, folded: RwSignal<Vec<String>>) -> AnyView {
    let icon = if is_open {
        IconName::Down
    } else {
        IconName::Right
    };
    let (title, pressed) = (name.clone(), name.clone());
    let fold = move |_| {
        folded.update(|folded| {
            if is_open {
                folded.push(pressed.clone());
            } else {
                folded.retain(|group| *group != pressed);
            }
        });
    };
    view! {
        <button
            type="button"
            class="tensor-group micro ink3"
            title=title
            aria-expanded=is_open.to_string()
            on:click=fold
        >
            {fixed_icon(icon, 12)}
            <span class="cut">
                <bdi>{name}</bdi>
            </span>
        </button>
    }
    .into_any()
}

fn tensor_row(entry: &TensorEntry) -> AnyView {
    let model = use_model();
    let name = entry.tensor.clone();
    let (watched, current, linked) = (name.clone(), name.clone(), name.clone());
    let health = move || {
        let severity = model.health.with(|health| health.get(&watched).copied())?;
        let (class, icon) = severity_icon(severity);
        Some(view! {
            <span class=class>
                <Icon name=icon size=12 />
            </span>
        })
    };
    let leaf = split(&name).1.to_owned();
    let has_elements = entry
        .sources
        .iter()
        .any(|source| source.source != TensorSource::Statistics);
    let shape = entry.shape.as_deref().map(shape_text).unwrap_or_default();
    view! {
        <a
            class="tensor-row"
            class:faint=!has_elements
            href=move || model.href(&linked)
            title=name
            aria-current=move || model.tensor.with(|tensor| *tensor == current).then_some("true")
        >
            <span class="dot-place">{health}</span>
            <span class="cut">
                <bdi>{leaf}</bdi>
            </span>
            <span class="micro ink3">{shape}</span>
        </a>
    }
    .into_any()
}

/// `64×8×128`; empty for a scalar.
pub(super) fn shape_text(shape: &[u64]) -> String {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    sizes.join("×")
}

#[cfg(test)]
mod tests {
    use super::super::names::arrange;
    use super::super::names::tests::entry;
    use super::{Row, rows_of};

    #[test]
    fn groups_hold_what_begins_alike_wherever_it_stands() {
        let names = ["fc1.weight", "logits", "fc2.weight", "fc1.bias"];
        let mut entries = names.map(entry);
        arrange(&mut entries);
        let names = entries.each_ref().map(|entry| &*entry.tensor);
        assert_eq!(names, ["fc1.weight", "fc1.bias", "logits", "fc2.weight"]);
        let group = |name: &str, is_open| Row::Group(name.to_owned(), is_open);
        let rows = rows_of(names.into_iter(), |name| name == "fc2");
        let expected = [
            group("fc1", true),
            Row::Tensor(0),
            Row::Tensor(1),
            Row::Tensor(2),
            group("fc2", false),
        ];
        assert_eq!(rows, expected);
    }
}
