//! Differences between the selected node and its counterpart in the other graph.

use std::collections::BTreeMap;

use trainscope_api::graphs::GraphNode;

use super::model::{use_beside, use_model};
use super::shape::shape;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{GraphTexts, use_i18n};
use trainscope_web_kit::prelude::*;

/// Maximum number of rows displayed.
const LISTED: usize = 60;

/// Section of the panel, while this graph is compared with another.
#[component]
pub(super) fn Likeness() -> impl IntoView {
    let model = use_model();
    let beside = use_beside();
    let i18n = use_i18n();
    move || {
        let (first, second) = model.pair.get()?;
        if model.diff.with(Option::is_none) {
            return None;
        }
        let detail = |at: usize| match at.checked_sub(1) {
            None => model.detail.get(),
            Some(slot) => beside.get(slot)?.detail.get(),
        };
        let texts = i18n.texts().graph();
        let [same, none, only_there] = texts.likeness;
        let (selected, other) = (detail(first), detail(second));
        let (says, rows) = match (selected, other) {
            (None, None) => return None,
            (Some(_), None) => (Some(none.to_owned()), Vec::new()),
            (None, Some(other)) => {
                let rows = told(&other, texts).into_iter();
                let rows = rows.map(|(name, value)| (name, (String::new(), value)));
                let name = format!("{}: {only_there}", other.label);
                (Some(name), rows.collect())
            }
            (Some(selected), Some(other)) => {
                let rows = differing(&told(&selected, texts), &told(&other, texts));
                (rows.is_empty().then(|| same.to_owned()), rows)
            }
        };
        let rows = rows.into_iter().take(LISTED).map(|(name, (here, there))| {
            view! {
                <div class="unlike">
                    <span class="ink3 cut" title=name.clone()>
                        {name.clone()}
                    </span>
                    <span class="value" title=here.clone()>
                        {here.clone()}
                    </span>
                    <span class="value warn" title=there.clone()>
                        "≠ "
                        {there.clone()}
                    </span>
                </div>
            }
        });
        let rows = rows.collect_view();
        Some(view! {
            <section class="likeness" aria-label=texts.against>
                <h3>{texts.against}</h3>
                {says.map(|says| view! { <p class="small">{says}</p> })}
                {rows}
            </section>
        })
    }
}

/// Properties of a node or scope, by name.
fn told(node: &GraphNode, texts: &GraphTexts) -> BTreeMap<String, String> {
    let outputs: Vec<String> = node.outputs.iter().map(shape).collect();
    let inputs = node.inputs.iter().map(|input| &*input.name);
    let mut all: BTreeMap<String, String> = node.attributes.iter().cloned().collect();
    all.insert(texts.colours[0].to_owned(), node.op_type.clone());
    all.insert(texts.device.to_owned(), node.device.clone());
    all.insert(texts.outputs.to_owned(), outputs.join(", "));
    all.insert(
        texts.inputs.to_owned(),
        inputs.collect::<Vec<_>>().join(", "),
    );
    if node.nodes > 1 {
        all.insert(texts.scope_size.to_owned(), format::count(node.nodes));
    }
    all.retain(|_, value| !value.is_empty());
    all
}

/// Properties that differ: name, value here, value there.
fn differing(
    here: &BTreeMap<String, String>,
    there: &BTreeMap<String, String>,
) -> Vec<(String, (String, String))> {
    let value = |of: &BTreeMap<String, String>, name: &str| {
        let value = of.get(name).cloned();
        value.unwrap_or_else(|| "–".to_owned())
    };
    let names = here
        .keys()
        .chain(there.keys().filter(|name| !here.contains_key(*name)));
    let names = names.filter(|name| here.get(*name) != there.get(*name));
    names
        .map(|name| (name.clone(), (value(here, name), value(there, name))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_told() {
        let of = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            let pairs = pairs.iter();
            pairs
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let found = differing(
            &of(&[("axis", "1"), ("same", "x"), ("here", "a")]),
            &of(&[("axis", "-1"), ("same", "x"), ("there", "b")]),
        );
        let found: Vec<String> = found
            .into_iter()
            .map(|(name, (here, there))| format!("{name} {here} {there}"))
            .collect();
        assert_eq!(found, ["axis 1 -1", "here a –", "there – b"]);
    }
}
