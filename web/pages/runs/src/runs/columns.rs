//! Optional columns: hyper-parameters and last values of scalars; their choice, order and cells.

use std::collections::BTreeMap;

use trainscope_api::filter::RATE_NAMES;
use trainscope_api::runs::Run;
use trainscope_format::hparams::HparamValue;

use super::layout::StandardColumn;
use trainscope_web_kit::format;

/// Maximum number of optional columns; more do not fit on any screen.
pub(super) const MAX_COLUMNS: usize = 6;
/// Prefix of a disabled standard column, in the address and in the notebook.
const OFF: &str = "hide:";
/// Prefix of a scalar's tag, in the address and in the notebook.
const METRIC: &str = "metric:";

/// Optional column of the list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Column {
    /// Value of the hyper-parameter with this name.
    Hparam(String),
    /// Last value of the scalar with this tag.
    Metric(String),
}

impl Column {
    /// Inverse of [`Column::text`].
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

    /// Text of the column's head.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Hparam(name) => name,
            Self::Metric(tag) => tag,
        }
    }
}

/// Hyper-parameter of a run by its name, in any case. Every name of the learning rate finds it.
pub(super) fn hparam(run: &Run, name: &str) -> Option<HparamValue> {
    let find = |wanted: &str| {
        let mut all = run.hparams.iter();
        let found = all.find(|(known, _)| known.to_lowercase() == wanted);
        found.map(|(_, value)| value.clone())
    };
    let lower = name.to_lowercase();
    let exact = run.hparams.get(name).cloned().or_else(|| find(&lower));
    let is_rate = RATE_NAMES.contains(&&*lower);
    exact.or_else(|| RATE_NAMES.into_iter().filter(|_| is_rate).find_map(find))
}

/// Names of all hyper-parameters, each with the number of its runs.
pub(super) fn names(runs: &[Run]) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for name in runs.iter().flat_map(|run| run.hparams.keys()) {
        *names.entry(name.clone()).or_insert(0) += 1;
    }
    names
}

/// Chosen optional columns. Without a choice, the learning rate if a run has one.
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

/// Standard columns that are switched off.
pub(super) fn switched_off(chosen: &[String]) -> Vec<StandardColumn> {
    let names = chosen.iter().filter_map(|text| text.strip_prefix(OFF));
    let known = |name: &str| {
        StandardColumn::ALL
            .into_iter()
            .find(|column| column.key() == name)
    };
    names.filter_map(known).collect()
}

/// Text of a disabled column in the address and in the notebook.
pub(super) fn off_text(column: StandardColumn) -> String {
    format!("{OFF}{}", column.key())
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

#[cfg(test)]
mod tests {
    use super::super::test_runs::run;
    use super::*;

    #[test]
    fn the_usual_column_is_there_unless_somebody_chooses() {
        let mut with_rate = run("a");
        with_rate.hparams = BTreeMap::from([
            ("batch".to_owned(), HparamValue::Number(8.0)),
            ("learning_rate".to_owned(), HparamValue::Number(3e-4)),
        ]);
        let runs = [run("b"), with_rate];
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
        assert_eq!(switched_off(&off), [StandardColumn::Status]);
        assert_eq!(off_text(StandardColumn::Status), off[1]);
        assert_eq!(texts(Some(&["batch", "hide:status"]), &runs), ["batch"]);
    }
}
