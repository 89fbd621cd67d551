//! Settings of runs side by side, and the changed lines of their configuration files.

use std::collections::BTreeSet;
use std::path::PathBuf;

use similar::{ChangeTag, TextDiff};
use trainscope_analysis::columns::CellValue;
use trainscope_api::compare::{ChangedLine, ConfigurationFile, LineSide, Setting, SettingGroup};
use trainscope_format::hparams::HparamValue;

use crate::table::{Group, Row, configuration_files, group, is_path};

/// Unchanged lines around a changed one.
const CONTEXT_LINES: usize = 3;
/// Maximum number of lines of a file in one answer.
const MAX_LINES: usize = 2_000;

/// Settings of all runs: differing ones first, with paths last among them, then by group and key.
pub(crate) fn settings(rows: &[&Row]) -> Vec<Setting> {
    let keys = rows.iter().flat_map(|row| row.cells.keys());
    let keys: BTreeSet<&String> = keys.collect();
    let mut all: Vec<Setting> = keys
        .into_iter()
        .filter_map(|key| setting(rows, key))
        .collect();
    all.sort_by(|a, b| {
        let order = |setting: &Setting| {
            (
                !setting.differs,
                setting.differs && setting.is_path,
                setting.group,
            )
        };
        order(a).cmp(&order(b)).then_with(|| a.key.cmp(&b.key))
    });
    all
}

/// A setting; `None` for the columns of scalars, facts and notes.
fn setting(rows: &[&Row], key: &str) -> Option<Setting> {
    let is_scalar = key.starts_with("metric:");
    let group = match group(key) {
        Group::Parameter => SettingGroup::Parameter,
        // Pipelines are compared operation by operation.
        Group::Data if key != "data:pipeline" => SettingGroup::Data,
        Group::Result if !is_scalar => SettingGroup::Result,
        _ => return None,
    };
    let values: Vec<CellValue> = rows.iter().map(|row| row.value(key)).collect();
    let first = values.first()?;
    let differs = values.iter().any(|value| !value.agrees(first));
    let is_place = |value: &CellValue| matches!(value, CellValue::Text(text) if is_path(text));
    Some(Setting {
        group,
        differs,
        is_path: key.ends_with("_path") || key.ends_with("_dir") || values.iter().any(is_place),
        key: key.to_owned(),
        values: values.into_iter().map(value).collect(),
    })
}

fn value(value: CellValue) -> Option<HparamValue> {
    match value {
        CellValue::Missing => None,
        CellValue::Number(number) => Some(HparamValue::Number(number)),
        CellValue::Text(text) => Some(HparamValue::Text(text)),
        CellValue::Truth(yes) => Some(HparamValue::Bool(yes)),
    }
}

/// Configuration files that the base and another run have under one name, with their changed lines.
pub(crate) fn files(
    base: Option<&PathBuf>,
    other: Option<&PathBuf>,
    run: &str,
) -> Vec<ConfigurationFile> {
    let (Some(base), Some(other)) = (base, other) else {
        return Vec::new();
    };
    let theirs = configuration_files(other);
    let ours = configuration_files(base).into_iter();
    ours.filter_map(|(path, text)| {
        let (_, their_text) = theirs.iter().find(|(known, _)| *known == path)?;
        Some(file(path, run, [&text, their_text]))
    })
    .collect()
}

/// Settings of the base and of another run that differ and have several lines, each as a file.
pub(crate) fn long_settings(base: &Row, other: &Row) -> Vec<ConfigurationFile> {
    let keys = base
        .cells
        .keys()
        .filter(|key| setting(&[base, other], key).is_some_and(|setting| setting.differs));
    let pairs = keys.filter_map(|key| match (base.value(key), other.value(key)) {
        (CellValue::Text(our), CellValue::Text(their))
            if our.contains('\n') || their.contains('\n') =>
        {
            Some(file(key.clone(), &other.run, [&our, &their]))
        }
        _ => None,
    });
    pairs.collect()
}

fn file(path: String, run: &str, [base, other]: [&str; 2]) -> ConfigurationFile {
    let mut lines = changed_lines(base, other);
    let cut = lines.len() > MAX_LINES;
    lines.truncate(MAX_LINES);
    ConfigurationFile {
        path,
        run: run.to_owned(),
        lines,
        cut,
    }
}

fn changed_lines(base: &str, other: &str) -> Vec<ChangedLine> {
    let diff = TextDiff::from_lines(base, other);
    let mut lines = Vec::new();
    for operation in diff.grouped_ops(CONTEXT_LINES).iter().flatten() {
        for change in diff.iter_changes(operation) {
            let number = |at: Option<usize>| at.map(|at| at as u64 + 1);
            lines.push(ChangedLine {
                side: match change.tag() {
                    ChangeTag::Equal => LineSide::Both,
                    ChangeTag::Delete => LineSide::Base,
                    ChangeTag::Insert => LineSide::Other,
                },
                base_line: number(change.old_index()),
                other_line: number(change.new_index()),
                text: change.value().trim_end_matches(['\r', '\n']).to_owned(),
            });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_their_file() {
        let lines = changed_lines("a: 1\nb: 2\nc: 3\n", "a: 1\nb: 4\nc: 3\n");
        let told: Vec<(LineSide, &str)> =
            lines.iter().map(|line| (line.side, &*line.text)).collect();
        assert_eq!(
            told,
            [
                (LineSide::Both, "a: 1"),
                (LineSide::Base, "b: 2"),
                (LineSide::Other, "b: 4"),
                (LineSide::Both, "c: 3"),
            ]
        );
        assert!(changed_lines("a\n", "a\n").is_empty());
    }

    #[test]
    fn settings_of_several_lines_differ_line_by_line() {
        let row = |prompt: &str, note: &str| {
            let mut row = Row::default();
            for (key, text) in [("prompt", prompt), ("optimizer", note)] {
                row.put(
                    key,
                    trainscope_api::table::ColumnSource::Hparams,
                    CellValue::of_text(text),
                );
            }
            row
        };
        let (base, other) = (
            row("be kind\nand brief\n", "sgd"),
            row("be kind\nand long\n", "adam"),
        );
        let files = long_settings(&base, &other);
        let found: Vec<(&str, usize)> = files
            .iter()
            .map(|file| (&*file.path, file.lines.len()))
            .collect();
        assert_eq!(found, [("prompt", 3)]);
        assert!(long_settings(&base, &base).is_empty());
    }
}
