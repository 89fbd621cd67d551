//! The tags of the displayed runs as a tree with checkboxes. Only the rows in view are created: ten thousand tags cost
//! no more than thirty.

use std::collections::HashMap;

use trainscope_api::order::natural;
use trainscope_format::Role;

use super::tree::{Row, rows};
use super::{Browse, ROLES, TagEntry};
use crate::components::{Check, Icon, IconName, RowHeights, RowList};
use crate::format;
use crate::i18n::use_i18n;
use crate::prelude::*;

const ROW_PIXELS: f64 = 24.0;
/// Number of tags above which a group starts collapsed.
const MAX_OPEN: usize = 24;

/// A row with its index.
#[derive(Clone, Debug, PartialEq)]
struct ListRow {
    at: usize,
    row: TreeRow,
}

#[derive(Clone, Debug, PartialEq)]
enum TreeRow {
    /// Heading of the pinned tags.
    Pinned(usize),
    /// A pinned tag.
    Pin(String),
    /// Heading of all tags: number of checked ones, and of all.
    All(usize, usize),
    /// Heading of the tensors of one role.
    Role(Role),
    /// A group or tag, with its full name and its points; under the heading of a role, if any.
    Tag(Row, String, u64, Option<Role>),
}

#[component]
pub fn TagTree(browse: Browse) -> impl IntoView {
    let i18n = use_i18n();
    // Groups expanded or collapsed by hand.
    let folds = RwSignal::new(HashMap::<String, bool>::new());
    let all = Memo::new(move |_| tree_rows(browse, folds));
    let list = RowList::new(0.0, move || {
        RowHeights::Equal(all.with(Vec::len), ROW_PIXELS)
    });
    let seen = move || {
        all.with(|all| {
            let rows = list.rows_of(all).map(|(at, row)| ListRow {
                at,
                row: row.clone(),
            });
            rows.collect::<Vec<_>>()
        })
    };
    view! {
        <div
            class="tree"
            role="tree"
            aria-label=i18n.text(|t| t.scalars().tags)
            node_ref=list.holder
            on:scroll=move |_| list.follow()
        >
            <div class="rows" style:height=move || list.height()>
                <For
                    each=seen
                    key=|placed| (placed.at, format!("{:?}", placed.row))
                    children=move |placed| {
                        let top = list.top_of(placed.at);
                        view! { <TreeRowView browse=browse row=placed.row top=top folds=folds /> }
                    }
                />
            </div>
        </div>
        <Show when=move || {
            browse.filter.with(super::Filter::is_active)
                && browse.passing.with(|passing| passing.is_empty())
        }>
            <p class="micro ink3 none">
                {move || {
                    let tags = browse.entries.with(|entries| entries.len()) as u64;
                    (i18n.texts().scalars().nothing_matches)(tags)
                }}
            </p>
        </Show>
    }
}

/// All visible rows.
fn tree_rows(browse: Browse, folds: RwSignal<HashMap<String, bool>>) -> Vec<TreeRow> {
    let selection = browse.selection.get();
    let is_filtering = browse.filter.with(super::Filter::is_active);
    let mut out = Vec::new();
    let pins = browse.pins.get();
    let here = browse.entries.with(|entries| {
        let is_here = |pin: &String| {
            entries
                .binary_search_by(|entry| natural(&entry.tag, pin))
                .is_ok()
        };
        pins.into_iter().filter(is_here).collect::<Vec<_>>()
    });
    if !here.is_empty() {
        out.push(TreeRow::Pinned(here.len()));
        out.extend(here.into_iter().map(TreeRow::Pin));
    }
    browse.entries.with(|entries| {
        browse.passing.with(|passing| {
            let seen: Vec<_> = passing
                .iter()
                .filter_map(|&index| entries.get(index))
                .collect();
            let tags: Vec<&str> = seen.iter().map(|entry| entry.tag.as_str()).collect();
            let ticked = tags.iter().filter(|tag| selection.has(tag)).count();
            if !tags.is_empty() {
                out.push(TreeRow::All(ticked, tags.len()));
            }
            let open = |path: &str, tags: usize| {
                let by_hand = folds.with(|folds| folds.get(path).copied());
                by_hand.unwrap_or(is_filtering || tags <= MAX_OPEN)
            };
            for (role, seen) in by_role(seen) {
                out.extend(role.map(TreeRow::Role));
                let tags: Vec<&str> = seen.iter().map(|entry| entry.tag.as_str()).collect();
                out.extend(rows(&tags, &selection, &open).into_iter().map(|row| {
                    let (name, points) = match &row {
                        Row::Leaf { index, .. } => {
                            seen.get(*index).map_or((String::new(), 0), |entry| {
                                (entry.tag.clone(), entry.points)
                            })
                        }
                        Row::Group { path, .. } => (path.clone(), 0),
                    };
                    TreeRow::Tag(row, name, points, role)
                }));
            }
        });
    });
    out
}

/// Tags in their order under headings: one per role if there are several roles, otherwise none.
fn by_role(seen: Vec<&TagEntry>) -> Vec<(Option<Role>, Vec<&TagEntry>)> {
    let mut parts: Vec<(Option<Role>, Vec<&TagEntry>)> = Vec::new();
    for role in ROLES.iter().map(|(role, _)| Some(*role)).chain([None]) {
        let of_role = seen.iter().filter(|entry| entry.role == role);
        let of_role: Vec<_> = of_role.copied().collect();
        if !of_role.is_empty() {
            parts.push((role, of_role));
        }
    }
    if parts.len() > 1 {
        parts
    } else {
        vec![(None, seen)]
    }
}

/// Checks or unchecks the tags of a group; below a heading, only those of its role.
fn tick_group(browse: Browse, group: &str, role: Option<Role>, is_ticked: bool) {
    let Some(role) = role else {
        browse.change_selection(|chosen| chosen.set_group(group, is_ticked));
        return;
    };
    let tags: Vec<String> = browse.entries.with_untracked(|entries| {
        let inside = entries.iter().filter(|entry| entry.role == Some(role));
        let inside = inside.filter(|entry| entry.tag.starts_with(group));
        inside.map(|entry| entry.tag.clone()).collect()
    });
    browse.change_selection(|chosen| {
        for tag in tags {
            chosen.set_tag(&tag, is_ticked);
        }
    });
}

#[component]
fn TreeRowView(
    browse: Browse,
    row: TreeRow,
    top: String,
    folds: RwSignal<HashMap<String, bool>>,
) -> impl IntoView {
    let i18n = use_i18n();
    let of = move |ticked: usize, all: usize| {
        move || {
            if ticked == all {
                format::count(all as u64)
            } else {
                let (ticked, all) = (format::count(ticked as u64), format::count(all as u64));
                (i18n.texts().scalars().of)(&ticked, &all)
            }
        }
    };
    match row {
        TreeRow::Pinned(count) => view! {
            <div class="t" style:top=top role="treeitem">
                <Icon name=IconName::Down size=12 />
                <b class="med on">{i18n.text(|t| t.scalars().pinned)}</b>
                <span class="n">{count}</span>
            </div>
        }
        .into_any(),
        TreeRow::Pin(tag) => {
            let (unpinned, name) = (tag.clone(), tag.clone());
            view! {
                <div class="t on d1" style:top=top role="treeitem" title=tag.clone()>
                    <button
                        type="button"
                        class="plain"
                        aria-label=i18n.text(|t| t.scalars().unpin)
                        title=i18n.text(|t| t.scalars().unpin)
                        on:click=move |_| browse.toggle_pin(&unpinned)
                    >
                        <Icon name=IconName::Pin size=12 />
                    </button>
                    <span class="cut">{name}</span>
                </div>
            }
            .into_any()
        }
        TreeRow::All(ticked, all) => {
            let (is_all, is_some) = (ticked == all, ticked > 0);
            view! {
                <div class="t" style:top=top role="treeitem">
                    <Check
                        checked=is_all
                        some=is_some
                        label=Signal::derive(move || {
                            (i18n.texts().scalars().show_tag)(i18n.texts().scalars().all_tags)
                        })
                        on_press=move || {
                            browse.change_selection(|chosen| chosen.set_group("", !is_all));
                        }
                    />
                    <span class="ink3">{i18n.text(|t| t.scalars().all_tags)}</span>
                    <span class="n">{of(ticked, all)}</span>
                </div>
            }
            .into_any()
        }
        TreeRow::Role(role) => {
            let name = move || {
                let texts = i18n.texts().histograms();
                match role {
                    Role::Gradient => texts.gradients,
                    Role::Activation => texts.activations,
                    _ => texts.weights,
                }
            };
            view! {
                <div class="t role" style:top=top role="treeitem">
                    <b class="med">{name}</b>
                </div>
            }
            .into_any()
        }
        TreeRow::Tag(
            Row::Group {
                path,
                name,
                depth,
                tags,
                ticked,
                is_open,
            },
            _,
            _,
            role,
        ) => {
            let (is_all, is_some) = (ticked == tags, ticked > 0);
            let (folded, group, label) = (path.clone(), path.clone(), path.clone());
            view! {
                <div
                    class=depth_class(depth)
                    style:top=top
                    role="treeitem"
                    aria-expanded=is_open.to_string()
                    title=path
                >
                    <button
                        type="button"
                        class="plain fold"
                        on:click=move |_| {
                            folds.update(|folds| {
 folds.insert(folded.clone(), !is_open);
 });
                        }
                    >
                        <Icon name=if is_open { IconName::Down } else { IconName::Right } size=12 />
                        <span class="cut">{name}</span>
                    </button>
                    <Check
                        checked=is_all
                        some=is_some
                        label=Signal::derive(move || (i18n.texts().scalars().show_tag)(&label))
                        on_press=move || {
                            tick_group(browse, &group, role, !is_all);
                        }
                    />
                    <span class="n">{of(ticked, tags)}</span>
                </div>
            }
            .into_any()
        }
        TreeRow::Tag(
            Row::Leaf {
                name,
                depth,
                is_ticked,
                ..
            },
            tag,
            points,
            _,
        ) => {
            let (pressed, by_name, alone) = (tag.clone(), tag.clone(), tag.clone());
            let counted = tag.clone();
            let current = tag.clone();
            let label = tag.clone();
            let toggle = move |tag: &str| {
                browse.change_selection(|chosen| chosen.set_tag(tag, !is_ticked));
            };
            let is_current = move || {
                browse
                    .target
                    .with(|target| target.as_ref() == Some(&current))
            };
            view! {
                <div
                    class=depth_class(depth)
                    class:on=is_ticked
                    class:cur=is_current
                    style:top=top
                    role="treeitem"
                    title=tag
                >
                    <Check
                        checked=is_ticked
                        label=Signal::derive(move || (i18n.texts().scalars().show_tag)(&label))
                        on_press=move || toggle(&pressed)
                    />
                    <button
                        type="button"
                        class="plain name"
                        tabindex="-1"
                        on:click=move |_| toggle(&by_name)
                        on:dblclick=move |_| {
                            browse
                                .change_selection(|chosen| {
                                    chosen.set_group("", false);
                                    chosen.set_tag(&alone, true);
                                });
                        }
                    >
                        <span class="cut">{name}</span>
                    </button>
                    <span class="n">
                        {move || {
                            let entry = browse.entry(&counted);
                            let points = entry.map_or(points, |entry| browse.points_of(&entry));
                            format::count(points)
                        }}
                    </span>
                </div>
            }
            .into_any()
        }
    }
}

fn depth_class(depth: usize) -> String {
    format!("t d{}", depth.min(8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_stand_under_their_roles_where_there_are_several() {
        let of = |tag: &str, role| TagEntry {
            tag: tag.to_owned(),
            role,
            ..TagEntry::default()
        };
        let all = [
            of("fc1.weight", Some(Role::Weight)),
            of("fc1.weight.grad", Some(Role::Gradient)),
            of("fc2.weight", Some(Role::Weight)),
            of("other", None),
        ];
        let names = |seen: &[TagEntry]| {
            let parts = by_role(seen.iter().collect());
            let part = |(role, of): (Option<Role>, Vec<&TagEntry>)| {
                (
                    role,
                    of.iter()
                        .map(|entry| entry.tag.clone())
                        .collect::<Vec<_>>()
                        .join(" "),
                )
            };
            parts.into_iter().map(part).collect::<Vec<_>>()
        };
        let expected = [
            (Some(Role::Weight), "fc1.weight fc2.weight".to_owned()),
            (Some(Role::Gradient), "fc1.weight.grad".to_owned()),
            (None, "other".to_owned()),
        ];
        assert_eq!(names(&all), expected);
        assert_eq!(names(&all[3..]), [(None, "other".to_owned())]);
        assert_eq!(names(&all[..1]), [(None, "fc1.weight".to_owned())]);
    }
}
