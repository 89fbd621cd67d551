//! Optional columns: hyper-parameters and last values of scalars; their choice, order and cells.

use std::collections::BTreeMap;

use trainscope_api::runs::Run;
use trainscope_format::Kind;
use trainscope_format::hparams::HparamValue;

use super::layout::Own;
use super::model::use_model;
use crate::components::{Check, RightPanel};
use crate::format;
use crate::i18n::use_i18n;
use crate::prelude::*;

/// Columns shown at most; more do not fit anywhere.
pub(super) const MAX_COLUMNS: usize = 6;
/// Names of the learning rate, which are one column and one key.
pub(super) const RATE_NAMES: [&str; 5] = [
    "lr",
    "learning_rate",
    "base_lr",
    "initial_lr",
    "learningrate",
];
/// In front of a column of every list that is switched off, in the address and in the notebook.
const OFF: &str = "hide:";
/// Names of one kind that the panel lists.
const MAX_LISTED: usize = 200;
/// Runs whose tags are asked for, to know which scalars there are.
const RUNS_ASKED: usize = 50;
/// In front of a scalar's tag, in the address and in the notebook.
const METRIC: &str = "metric:";

/// Column of the list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Column {
    /// A hyper-parameter.
    Hparam(String),
    /// The last value of a scalar.
    Metric(String),
}

impl Column {
    /// Reads what [`Column::text`] has written.
    pub(super) fn parse(text: &str) -> Self {
        match text.strip_prefix(METRIC) {
            Some(tag) => Self::Metric(tag.to_owned()),
            None => Self::Hparam(text.to_owned()),
        }
    }

    /// Text of the column in the address and in the notebook.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Hparam(name) => name.clone(),
            Self::Metric(tag) => format!("{METRIC}{tag}"),
        }
    }

    /// Its head.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Hparam(name) => name,
            Self::Metric(tag) => tag,
        }
    }
}

/// A hyper-parameter of a run by its name in any case; the learning rate by any of its names.
pub(super) fn hparam(run: &Run, name: &str) -> Option<HparamValue> {
    let own = |wanted: &str| {
        let mut all = run.hparams.iter();
        let found = all.find(|(own, _)| own.to_lowercase() == wanted);
        found.map(|(_, value)| value.clone())
    };
    let lower = name.to_lowercase();
    let exact = run.hparams.get(name).cloned().or_else(|| own(&lower));
    let is_rate = RATE_NAMES.contains(&&*lower);
    exact.or_else(|| RATE_NAMES.into_iter().filter(|_| is_rate).find_map(own))
}

/// Names of all hyper-parameters, with how many runs have each.
pub(super) fn names(runs: &[Run]) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for name in runs.iter().flat_map(|run| run.hparams.keys()) {
        *names.entry(name.clone()).or_insert(0) += 1;
    }
    names
}

/// The extra columns that people have chosen, or the learning rate if a run has one.
pub(super) fn shown(chosen: Option<&[String]>, runs: &[Run]) -> Vec<Column> {
    let Some(chosen) = chosen else {
        let has_rate = runs.iter().any(|run| hparam(run, RATE_NAMES[0]).is_some());
        let rate = has_rate.then(|| Column::Hparam(RATE_NAMES[0].to_owned()));
        return rate.into_iter().collect();
    };
    let extra = chosen.iter().filter(|text| !text.starts_with(OFF));
    let columns = extra.map(|text| Column::parse(text));
    columns.take(MAX_COLUMNS).collect()
}

/// The columns of every list that people have switched off.
pub(super) fn switched_off(chosen: &[String]) -> Vec<Own> {
    let names = chosen.iter().filter_map(|text| text.strip_prefix(OFF));
    let known = |name: &str| Own::ALL.into_iter().find(|own| own.key() == name);
    names.filter_map(known).collect()
}

/// Text of a disabled column in the address and in the notebook.
pub(super) fn off_text(own: Own) -> String {
    format!("{OFF}{}", own.key())
}

/// Text of a value in a cell.
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
    let texts = move || &i18n.texts().runs;
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
                // Ranks and writers of one tag stand one after the other.
                let mut last = None;
                for tag in scalars.filter(|tag| last.replace(&tag.tag) != Some(&tag.tag)) {
                    *names.entry(tag.tag.clone()).or_insert(0) += 1;
                }
            }
            names
        })
    });
    let rows =
        move |all: Memo<BTreeMap<String, usize>>, column: fn(String) -> Column, none: &str| {
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
                let own = column(name.clone());
                let toggled = own.clone();
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
            <ul class="column-choices own-columns">
                {Own::ALL
                    .into_iter()
                    .map(|own| {
                        let checked = Memo::new(move |_| model.off.with(|off| !off.contains(&own)));
                        view! {
                            <li class="flex column-choice">
                                <Check
                                    checked=checked
                                    label=Signal::derive(move || own.head(texts()).to_owned())
                                    on_press=move || model.toggle_own(own)
                                />
                                <span class="cut">{move || own.head(texts())}</span>
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
        let texts = |chosen: Option<&[&str]>, runs: &[Run]| {
            let chosen =
                chosen.map(|all| all.iter().map(|&one| one.to_owned()).collect::<Vec<_>>());
            let shown = shown(chosen.as_deref(), runs);
            shown.iter().map(Column::text).collect::<Vec<_>>()
        };
        assert_eq!(texts(None, &runs), ["lr"]);
        assert_eq!(texts(None, &runs[..1]), [""; 0]);
        assert_eq!(texts(Some(&[]), &runs), [""; 0]);
        let both = ["batch", "metric:val/loss"];
        assert_eq!(texts(Some(&both), &runs), both);
        assert_eq!(
            Column::parse(both[1]),
            Column::Metric("val/loss".to_owned())
        );
        assert_eq!(names(&runs)["batch"], 1);
        assert_eq!(hparam(&runs[1], "lr"), Some(HparamValue::Number(3e-4)));
        assert_eq!(hparam(&runs[1], "Batch"), Some(HparamValue::Number(8.0)));
        assert_eq!(hparam(&runs[1], "beta"), None);
        let off = ["batch", "hide:status", "hide:nothing"].map(str::to_owned);
        assert_eq!(switched_off(&off), [Own::Status]);
        assert_eq!(off_text(Own::Status), off[1]);
        assert_eq!(texts(Some(&["batch", "hide:status"]), &runs), ["batch"]);
    }
}
