//! Importance of the parameters of a table for one of its results.

use trainscope_analysis::columns::CellValue;
use trainscope_analysis::headline::Direction;
use trainscope_analysis::importance::{self, NamedColumn, Question, texts};
use trainscope_api::importance::{
    ImportanceAnswer, ImportanceRequest, Measure, PairAnswer, PairRequest,
};

use super::{RunTable, direction, is_parameter, label};
use crate::index::ReadError;

/// Reason why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImportanceError {
    /// The target has no numbers.
    #[error("{0} has no numbers")]
    NoNumbers(String),
    /// The measure needs the better end of the result.
    #[error("{0} does not say its better end")]
    NoDirection(String),
    /// The client is gone, or has sent another request.
    #[error("the question was withdrawn")]
    Cancelled,
    /// The index cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Values of the runs of a question.
struct Facts {
    target: Vec<CellValue>,
    keys: Vec<String>,
    cells: Vec<Vec<CellValue>>,
    /// Numbers of each column that the experiments of the runs declare.
    domains: Vec<Option<(f64, f64)>>,
    direction: Option<Direction>,
}

impl Facts {
    fn new(
        table: &RunTable,
        rows: &[usize],
        target: &str,
        goal: Option<Direction>,
        columns: Option<&[String]>,
    ) -> Result<Self, ImportanceError> {
        let cells_of = |key: &str| -> Result<Vec<CellValue>, ReadError> {
            let column = table.column(key)?;
            Ok(rows.iter().map(|row| column.get(*row)).collect())
        };
        let results = cells_of(target)?;
        if results.iter().all(|cell| cell.number().is_none()) {
            return Err(ImportanceError::NoNumbers(target.to_owned()));
        }
        let keys: Vec<String> = match columns {
            Some(columns) => columns
                .iter()
                .filter(|key| *key != target)
                .cloned()
                .collect(),
            None => table
                .keys
                .iter()
                .filter(|key| is_parameter(key))
                .cloned()
                .collect(),
        };
        let cells: Result<Vec<_>, ReadError> = keys.iter().map(|key| cells_of(key)).collect();
        let domains = table.domains(rows);
        Ok(Self {
            domains: keys.iter().map(|key| domains.get(key).copied()).collect(),
            target: results,
            cells: cells?,
            keys,
            direction: goal.or_else(|| direction(target)),
        })
    }

    fn ask<T>(
        &self,
        answer: impl FnOnce(&Question<'_>) -> Option<T>,
    ) -> Result<T, ImportanceError> {
        let columns = self.keys.iter().zip(&self.cells).zip(&self.domains);
        let columns: Vec<NamedColumn<'_>> = columns
            .map(|((name, cells), domain)| NamedColumn {
                name,
                cells,
                domain: *domain,
            })
            .collect();
        let question = Question {
            columns: &columns,
            results: &self.target,
            direction: self.direction,
        };
        answer(&question).ok_or(ImportanceError::Cancelled)
    }
}

/// Importance of parameters for a result, over some rows of the table. Runs and filter of the request are ignored.
pub(crate) fn importance(
    table: &RunTable,
    rows: &[usize],
    request: &ImportanceRequest,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<ImportanceAnswer, ImportanceError> {
    let target = &request.target;
    let facts = Facts::new(
        table,
        rows,
        target,
        request.goal,
        request.columns.as_deref(),
    )?;
    let goal = facts.direction;
    if request.measure == Some(Measure::BestTenth) && goal.is_none() {
        return Err(ImportanceError::NoDirection(target.clone()));
    }
    let mut importance =
        facts.ask(|question| importance::importance(question, request.measure, is_cancelled))?;
    for bar in &mut importance.bars {
        bar.words = texts::words(bar);
    }
    Ok(ImportanceAnswer {
        seq: table.seq,
        target: target.clone(),
        goal,
        sentences: texts::sentences(label(target), goal, request.measure, &importance),
        importance,
    })
}

/// Mean prediction of the forest by two parameters, over some rows of the table.
pub(crate) fn pair(
    table: &RunTable,
    rows: &[usize],
    request: &PairRequest,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<PairAnswer, ImportanceError> {
    let columns = request.columns.as_deref();
    let facts = Facts::new(table, rows, &request.target, request.goal, columns)?;
    let names = [&*request.pair[0], &*request.pair[1]];
    let answer = facts.ask(|question| importance::pair(question, names, is_cancelled))?;
    Ok(PairAnswer {
        seq: table.seq,
        ..answer
    })
}
