//! The tensors at the left: in the order of their files, under what their names begin with, with what was found of each.

use leptos::prelude::*;
use trainscope_api::tensors::{TensorEntry, TensorSource};

use super::model::use_model;
use crate::components::{Icon, IconName, fixed_icon, severity_icon};
use crate::format;
use crate::i18n::use_i18n;

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
                let name = (i18n.texts().tensors.role)(&role);
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
    let groups = move || {
        model.index.with(|index| {
            let entries = index.iter().flat_map(|index| &index.tensors);
            let mut groups: Vec<(String, Vec<TensorEntry>)> = Vec::new();
            for entry in entries {
                let (above, _) = split(&entry.tensor);
                match groups.iter_mut().find(|(name, _)| name == above) {
                    Some((_, group)) => group.push(entry.clone()),
                    None => groups.push((above.to_owned(), vec![entry.clone()])),
                }
            }
            groups.into_iter().map(group).collect_view()
        })
    };
    let foot = move || {
        model.index.with(|index| {
            let index = index.as_ref()?;
            let text = if index.total == 0 {
                i18n.texts().tensors.nothing_matches.to_owned()
            } else if index.cut {
                (i18n.texts().tensors.cut)(index.tensors.len() as u64, index.total)
            } else {
                return None;
            };
            Some(view! { <p class="none small ink3">{text}</p> })
        })
    };
    view! {
        <aside class="tensor-list" aria-label=move || i18n.texts().tensors.title>
            <label class="field">
                {fixed_icon(IconName::Filter, 14)}
                <input
                    type="search"
                    placeholder=move || (i18n.texts().tensors.filter)(total.get())
                    aria-label=move || (i18n.texts().tensors.filter)(total.get())
                    prop:value=move || model.search.get()
                    on:input=move |event| model.set_search(&event_target_value(&event))
                />
            </label>
            {roles}
            <nav class="scroll">{groups} {foot}</nav>
        </aside>
    }
}

/// What a name begins with, up to its last part.
pub(super) fn split(name: &str) -> (&str, &str) {
    match name.rfind(['/', '.']) {
        // `fc1.weight.grad` is one of `fc1`, beside `fc1.weight`.
        Some(at) => match name[..at].rfind(['/', '.']) {
            Some(before) if name[at..] == *".grad" => (&name[..before], &name[before + 1..]),
            _ => (&name[..at], &name[at + 1..]),
        },
        None => ("", name),
    }
}

fn group((name, entries): (String, Vec<TensorEntry>)) -> AnyView {
    let rows = entries.iter().map(row).collect_view();
    if name.is_empty() {
        return rows.into_any();
    }
    let title = name.clone();
    view! {
        <details open>
            <summary class="micro ink3 cut" title=title>
                <bdi>{name}</bdi>
            </summary>
            {rows}
        </details>
    }
    .into_any()
}

fn row(entry: &TensorEntry) -> AnyView {
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

/// `64×8×128`; a single number has none.
pub(super) fn shape_text(shape: &[u64]) -> String {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    sizes.join("×")
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn names_have_parts() {
        for (name, parts) in [
            ("activation/fc1.weight", ("activation/fc1", "weight")),
            ("fc1.weight.grad", ("fc1", "weight.grad")),
            ("fc1.weight", ("fc1", "weight")),
            ("x.grad", ("x", "grad")),
            ("logits", ("", "logits")),
            ("activation/0", ("activation", "0")),
        ] {
            assert_eq!(split(name), parts);
        }
    }
}
