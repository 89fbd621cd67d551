//! Columns of hyper-parameters: which there are, which are shown, and what stands in them.

use std::collections::BTreeMap;

use leptos::prelude::*;
use trainscope_api::runs::Run;
use trainscope_format::hparams::HparamValue;

use super::model::use_model;
use crate::components::{Check, RightPanel};
use crate::format;
use crate::i18n::use_i18n;

/// Columns shown at most; more do not fit anywhere.
pub(super) const MAX_COLUMNS: usize = 6;
/// What people vary first; shown unless somebody chooses.
const USUAL: [&str; 2] = ["lr", "learning_rate"];

/// Names of all hyper-parameters, with how many runs have each.
pub(super) fn names(runs: &[Run]) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for name in runs.iter().flat_map(|run| run.hparams.keys()) {
        *names.entry(name.clone()).or_insert(0) += 1;
    }
    names
}

/// The columns that an address asks for, or the usual ones.
pub(super) fn shown(chosen: Option<Vec<String>>, runs: &[Run]) -> Vec<String> {
    let has = |name: &str| runs.iter().any(|run| run.hparams.contains_key(name));
    let usual = || {
        let found = USUAL.into_iter().find(|name| has(name));
        found.map(str::to_owned).into_iter().collect()
    };
    let mut columns = chosen.unwrap_or_else(usual);
    columns.truncate(MAX_COLUMNS);
    columns
}

/// A value as it stands in a cell.
pub(super) fn text(value: &HparamValue) -> String {
    match value {
        HparamValue::Null => "–".to_owned(),
        HparamValue::Number(number) => format::cell(*number),
        HparamValue::Text(text) => text.clone(),
        HparamValue::Bool(true) => "true".to_owned(),
        HparamValue::Bool(false) => "false".to_owned(),
    }
}

/// The panel that chooses them.
#[component]
pub(super) fn ColumnsPanel() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let all = Memo::new(move |_| model.state.runs.with(|list| names(&list.runs)));
    let rows = move || {
        let all = all.get();
        if all.is_empty() {
            return view! { <p class="small ink2">{i18n.texts().runs.no_hparams}</p> }.into_any();
        }
        let rows = all.into_iter().map(|(name, runs)| {
            let (own, toggled) = (name.clone(), name.clone());
            let checked = Memo::new(move |_| model.columns.with(|shown| shown.contains(&own)));
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
            title=Signal::derive(move || i18n.texts().runs.columns.to_owned())
            on_close=move || model.open_panel(None)
        >
            <p class="small ink2">{move || i18n.texts().runs.columns_next}</p>
            {rows}
        </RightPanel>
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_runs::run;
    use super::*;

    #[test]
    fn the_usual_column_is_there_unless_somebody_chooses() {
        let mut own = run("a");
        own.hparams = BTreeMap::from([
            ("batch".to_owned(), HparamValue::Number(8.0)),
            ("learning_rate".to_owned(), HparamValue::Number(3e-4)),
        ]);
        let runs = [run("b"), own];
        assert_eq!(shown(None, &runs), ["learning_rate"]);
        assert_eq!(shown(None, &runs[..1]), [""; 0]);
        assert_eq!(shown(Some(vec![]), &runs), [""; 0]);
        assert_eq!(shown(Some(vec!["batch".to_owned()]), &runs), ["batch"]);
        assert_eq!(names(&runs)["batch"], 1);
    }
}
