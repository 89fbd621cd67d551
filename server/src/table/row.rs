//! A row of the table: the values of a run by key, with the source of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use trainscope_analysis::columns::CellValue;
use trainscope_api::notebook::Notebook;
use trainscope_api::runs::{Run, RunStatus};
use trainscope_api::scalars::NonFiniteClass;
use trainscope_api::table::ColumnSource as Source;
use trainscope_format::hparams::HparamValue;
use trainscope_format::lineage::{
    DatasetNode, EvaluationLineage, Lineage, LineageValue, TrainLineage,
};
use trainscope_format::{Body, Hparams, Kind};

use super::configuration::Configurations;
use super::domain::{self, Domains};
use super::summary;
use crate::index::{Index, ReadError, settings_of};

/// Maximum number of columns of one run; more come from damage or malice.
const MAX_CELLS: usize = 4_000;
/// Maximum length of the text of a value, in characters.
const MAX_CHARS: usize = 4_096;

/// Value of a run with those of other sources and earlier ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    /// In the order in which they were recorded.
    pub(crate) values: Vec<(Source, CellValue)>,
}

impl Cell {
    /// Last value of the first source.
    pub(crate) fn value(&self) -> Option<&CellValue> {
        self.of_source(self.values.iter().map(|(source, _)| source).min()?)
    }

    fn of_source(&self, wanted: &Source) -> Option<&CellValue> {
        let last = self
            .values
            .iter()
            .rev()
            .find(|(source, _)| source == wanted);
        last.map(|(_, value)| value)
    }

    /// `true` if the last values of two sources disagree.
    pub(crate) fn disagrees(&self) -> bool {
        let Some(value) = self.value() else {
            return false;
        };
        self.values.iter().any(|(source, _)| {
            self.of_source(source)
                .is_some_and(|other| !other.agrees(value))
        })
    }
}

/// Judgement of a run as values of columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct RunJudgement {
    /// Worst severity of its hits, else the verdict.
    pub(crate) health: &'static str,
    /// Number of errors and warnings.
    pub(crate) hits: u64,
    pub(crate) first_cause_step: Option<i64>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) run: String,
    pub(crate) cells: BTreeMap<String, Cell>,
    /// Configuration files that cannot be read, with reasons.
    pub(crate) faults: Vec<(String, String)>,
    /// Number of values that exceed a limit.
    pub(crate) left_out: usize,
    /// Data pipeline, as recorded last.
    pub(crate) pipeline: Option<DatasetNode>,
    /// Scalars with NaN at any of their points that count.
    pub(super) nan: BTreeSet<String>,
    /// Domains that an experiment in the folder of the run declares.
    pub(super) domains: Domains,
}

impl Row {
    /// Reads the row of a run; `folder` is that of its configuration files.
    pub(super) fn read(
        index: &Index,
        run: &Run,
        folder: Option<&Path>,
        notes: &Notebook,
    ) -> Result<Self, ReadError> {
        let mut row = Self::settings(index, &run.id, folder)?;
        row.join(notes);
        row.put_scalars(index)?;
        row.put_facts(run);
        if let Some(notes) = notes.runs.get(&run.id) {
            row.put("note", Source::Notes, CellValue::of_text(&notes.note));
            row.put(
                "tags",
                Source::Notes,
                CellValue::of_text(&notes.tags.join(", ")),
            );
        }
        Ok(row)
    }

    /// Reads hyper-parameters, lineage and configuration files of a run.
    pub(super) fn settings(
        index: &Index,
        run: &str,
        folder: Option<&Path>,
    ) -> Result<Self, ReadError> {
        let mut row = Self {
            run: run.to_owned(),
            ..Self::default()
        };
        for body in bodies(index, run, Kind::Hparams)? {
            match body {
                Body::Hparams(Hparams::SessionStart(start)) => {
                    for (name, value) in start.values {
                        row.put(&name, Source::Hparams, of_hparam(value));
                    }
                }
                Body::Hparams(Hparams::Experiment(experiment)) => {
                    domain::declare(&mut row.domains, &experiment);
                }
                _ => {}
            }
        }
        for body in bodies(index, run, Kind::Lineage)? {
            if let Body::Lineage(lineage) = body {
                row.put_lineage(*lineage);
            }
        }
        for body in bodies(index, run, Kind::Program)? {
            if let Body::Program(fact) = body {
                for (name, value) in settings_of(&fact) {
                    row.put(&name, Source::Program, of_hparam(value));
                }
            }
        }
        let configurations = folder.map(Configurations::read).unwrap_or_default();
        row.faults = configurations.faults;
        for (path, leaves) in configurations.files {
            row.left_out += leaves.left_out;
            for (name, value) in leaves.values {
                row.put(&name, Source::Configuration(path.clone()), of_hparam(value));
            }
        }
        Ok(row)
    }

    /// Adds a value; texts are cut.
    pub(crate) fn put(&mut self, key: &str, source: Source, value: CellValue) {
        if self.cells.len() >= MAX_CELLS && !self.cells.contains_key(key) {
            self.left_out += 1;
            return;
        }
        let value = match value {
            CellValue::Text(text) if text.chars().count() > MAX_CHARS => {
                self.left_out += 1;
                CellValue::Text(text.chars().take(MAX_CHARS).collect())
            }
            value => value,
        };
        if value.is_missing() {
            return;
        }
        self.cells
            .entry(key.to_owned())
            .or_default()
            .values
            .push((source, value));
    }

    /// Moves values to the columns with which theirs are shown; a value of the target column itself comes first.
    fn join(&mut self, notes: &Notebook) {
        for key in notes.aliases.keys() {
            let into = notes.shown_column(key);
            if into == key {
                continue;
            }
            if let Some(moved) = self.cells.remove(key) {
                let shown = self.cells.entry(into.to_owned()).or_default();
                // Of one source the last value counts.
                shown.values.splice(0..0, moved.values);
            }
            if let Some(moved) = self.domains.remove(key) {
                domain::widen(&mut self.domains, into, moved);
            }
        }
    }

    /// Value of a column.
    pub(crate) fn value(&self, key: &str) -> CellValue {
        let cell = self.cells.get(key).and_then(Cell::value);
        cell.cloned().unwrap_or_default()
    }

    fn put_lineage(&mut self, lineage: Lineage) {
        match lineage {
            Lineage::Train(train) => self.put_training(&train),
            Lineage::Evaluation(evaluation) => self.put_evaluation(&evaluation),
            Lineage::Dataset(pipeline) => self.pipeline = Some(pipeline),
            Lineage::UserDefined(info) => {
                for (name, value) in info.values {
                    let value = of_lineage(value);
                    // A bare name that means something else keeps its meaning.
                    let is_taken = self.cells.get(&name).is_some_and(|cell| {
                        TRAIN_KEYS.contains(&&*name)
                            && cell.value().is_some_and(|known| !known.agrees(&value))
                    });
                    let key = if is_taken {
                        format!("user:{name}")
                    } else {
                        name
                    };
                    self.put(&key, Source::Lineage, value);
                }
            }
        }
    }

    fn put_training(&mut self, train: &TrainLineage) {
        let text = |value: &Option<String>| {
            value
                .as_deref()
                .map_or(CellValue::Missing, CellValue::of_text)
        };
        let count = |value: Option<i64>| {
            value.map_or(CellValue::Missing, |value| CellValue::Number(value as f64))
        };
        let single = |value: Option<f64>| value.map_or(CellValue::Missing, CellValue::of_single);
        let values = [
            ("optimizer", text(&train.optimizer)),
            ("learning_rate", single(train.learning_rate)),
            ("loss_function", text(&train.loss_function)),
            ("epochs", count(train.epochs)),
            ("batch_size", count(train.batch_size)),
            ("network", text(&train.network)),
            ("device_count", count(train.device_count)),
            ("parallel_mode", text(&train.parallel_mode)),
            ("data:train_path", text(&train.dataset_path)),
            ("data:train_size", count(train.dataset_size)),
            ("lineage:loss", single(train.loss)),
            ("lineage:model_path", text(&train.model_path)),
            ("lineage:model_size_bytes", count(train.model_size_bytes)),
        ];
        for (key, value) in values {
            self.put(key, Source::Lineage, value);
        }
    }

    fn put_evaluation(&mut self, evaluation: &EvaluationLineage) {
        for (name, value) in &evaluation.metrics {
            self.put(
                &format!("eval:{name}"),
                Source::Lineage,
                CellValue::Number(value.0),
            );
        }
        if let Some(path) = &evaluation.dataset_path {
            self.put("data:test_path", Source::Lineage, CellValue::of_text(path));
        }
        if let Some(size) = evaluation.dataset_size {
            self.put(
                "data:test_size",
                Source::Lineage,
                CellValue::Number(size as f64),
            );
        }
    }

    /// Last values of all scalars of the lowest rank.
    fn put_scalars(&mut self, index: &Index) -> Result<(), ReadError> {
        for (tag, rank) in summary::scalars(index, &self.run)? {
            // Points of several writers have no common last value.
            let Some(series) = summary::series(index, &self.run, &tag, rank, 1)? else {
                continue;
            };
            let Some(last) = series.values.last() else {
                continue;
            };
            let key = format!("metric:{tag}");
            let mut classes = series.non_finite.iter().map(|stretch| stretch.class);
            if classes.any(|class| class == NonFiniteClass::Nan) {
                self.nan.insert(key.clone());
            }
            self.put(&key, Source::Scalars, CellValue::of_single(*last));
        }
        Ok(())
    }

    /// Adds the judgement of the run, if it was judged.
    pub(super) fn put_judgement(&mut self, judged: Option<&RunJudgement>) {
        let Some(judged) = judged else {
            return;
        };
        let step = judged.first_cause_step;
        let values = [
            CellValue::Text(judged.health.to_owned()),
            CellValue::Number(judged.hits as f64),
            step.map_or(CellValue::Missing, |step| CellValue::Number(step as f64)),
        ];
        for (key, value) in JUDGEMENT_KEYS.into_iter().zip(values) {
            self.put(key, Source::Judgement, value);
        }
    }

    fn put_facts(&mut self, run: &Run) {
        let duration = run.first_wall_time_secs.zip(run.last_wall_time_secs);
        let status = match run.status {
            RunStatus::Live => "live",
            RunStatus::Stopped => "stopped",
            RunStatus::Gone => "gone",
        };
        let number = |number: Option<f64>| number.map_or(CellValue::Missing, CellValue::Number);
        let values = [
            ("run:status", CellValue::Text(status.to_owned())),
            ("run:steps", number(run.last_step.map(|step| step as f64))),
            ("run:started", number(run.first_wall_time_secs)),
            (
                "run:duration",
                number(duration.map(|(first, last)| last - first)),
            ),
            ("run:ranks", number(Some(run.ranks.len() as f64))),
            ("run:size", number(Some(run.len_bytes as f64))),
        ];
        for (key, value) in values {
            self.put(key, Source::Files, value);
        }
    }
}

/// Columns of the judgement of a run: its worst severity or verdict, number of hits, step of the first cause.
pub(super) const JUDGEMENT_KEYS: [&str; 3] = ["run:health", "run:hits", "run:first_cause_step"];

/// Names of columns that the lineage of a training has itself.
const TRAIN_KEYS: [&str; 8] = [
    "optimizer",
    "learning_rate",
    "loss_function",
    "epochs",
    "batch_size",
    "network",
    "device_count",
    "parallel_mode",
];

/// Bodies of a kind by wall time.
fn bodies(index: &Index, run: &str, kind: Kind) -> Result<Vec<Body>, ReadError> {
    let all = index.records_of_run(run, kind, |found| Ok(Some(found.body)))?;
    Ok(all.into_iter().map(|record| record.body).collect())
}

fn of_hparam(value: HparamValue) -> CellValue {
    match value {
        HparamValue::Null => CellValue::Missing,
        HparamValue::Number(number) => CellValue::Number(number),
        HparamValue::Text(text) => CellValue::of_text(&text),
        HparamValue::Bool(yes) => CellValue::Truth(yes),
    }
}

fn of_lineage(value: LineageValue) -> CellValue {
    match value {
        LineageValue::Text(text) => CellValue::of_text(&text),
        LineageValue::Texts(texts) => CellValue::Text(format!("[{}]", texts.join(", "))),
        LineageValue::Bool(yes) => CellValue::Truth(yes),
        LineageValue::Int(number) => CellValue::Number(number as f64),
        LineageValue::Number(number) => CellValue::Number(number),
        LineageValue::Map(info) => CellValue::Text(format!("[{} elements]", info.values.len())),
    }
}
