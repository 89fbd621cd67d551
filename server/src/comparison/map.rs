//! Map of differences: rows in the order within a step, columns of steps; only the cells in view are read.

use std::collections::BTreeMap;
use std::sync::Arc;

use trainscope_analysis::comparison::measure::is_worse;
use trainscope_analysis::comparison::order::Position;
use trainscope_analysis::comparison::stretches::{Stretch, stretches};
use trainscope_api::compare::{
    DEFAULT_MAP_ROWS, DifferenceMap, MAX_COLUMNS, MapCell, MapColumn, MapGap, MapQuery, MapRow,
};
use trainscope_api::findings::Progress;
use trainscope_format::Role;
use trainscope_format::float::Float;

use super::cells::{Cell, Cells};
use super::elements::ElementReader;
use super::known::{Comparisons, State};
use super::pair::{Pair, TensorPair};
use super::recorded::Key;
use super::scalars::{self, Steps};
use super::{Effort, Options, Side, statistics};
use crate::queries::error::Failure;

/// A row before its cells are read.
enum Row<'a> {
    Tensor(&'a TensorPair<'a>),
    Scalar(&'a Key),
}

impl Row<'_> {
    fn name(&self) -> &Arc<str> {
        match self {
            Self::Tensor(tensor) => tensor.name,
            Self::Scalar(key) => &key.1,
        }
    }

    fn position(&self) -> Position {
        match self {
            Self::Tensor(tensor) => tensor.position,
            Self::Scalar(_) => Position::of_scalar(),
        }
    }

    fn role(&self) -> Option<Role> {
        match self {
            Self::Tensor(tensor) => Some(tensor.role),
            Self::Scalar(_) => None,
        }
    }
}

/// Name of a role in the API; `scalar` for a scalar.
fn role_name(role: Option<Role>) -> String {
    let Some(role) = role else {
        return "scalar".to_owned();
    };
    let name = serde_json::to_value(role).ok();
    name.and_then(|name| Some(name.as_str()?.to_owned()))
        .unwrap_or_default()
}

/// The map of a query. Tensors are read until the effort is used up; the remaining cells are marked as unread.
pub(crate) fn map(
    known: &Comparisons,
    base: Side<'_>,
    other: Side<'_>,
    query: &MapQuery,
    options: Options,
    effort: &Effort,
) -> Result<DifferenceMap, Failure> {
    let [ours, theirs] = [known.recorded(base)?, known.recorded(other)?];
    let pair = Pair::new([base, other], [&ours, &theirs], options)?;
    let state = known.state(&pair);
    let state = state.lock();
    let mut rows = rows(&pair, query.rank);
    let wanted = query.search.as_ref().map(|text| text.to_lowercase());
    rows.retain(|row| {
        let name = row.name().to_lowercase();
        wanted.as_ref().is_none_or(|text| name.contains(text))
    });
    let mut answer = DifferenceMap::default();
    for row in &rows {
        *answer.roles.entry(role_name(row.role())).or_default() += 1;
    }
    rows.retain(|row| {
        query
            .role
            .as_ref()
            .is_none_or(|role| *role == role_name(row.role()))
    });
    answer.total = rows.len() as u64;
    let limit = query.limit.unwrap_or(DEFAULT_MAP_ROWS);
    let rows: Vec<Row<'_>> = rows.into_iter().skip(query.from).take(limit).collect();
    answer.first_step = first_step(&pair, &state, options.tolerance);
    drop(state);
    let mut filled = MapCells::new(&pair, &rows, query.until)?;
    let most = query.columns.unwrap_or(MAX_COLUMNS);
    let columns = stretches(&filled.steps, most, answer.first_step);
    filled.read(&pair, known.cells(), &rows, &columns, effort);
    answer.progress = filled.progress;
    answer.rows = rows
        .iter()
        .zip(&filled.by_statistics)
        .map(|(row, by_statistics)| MapRow {
            name: row.name().to_string(),
            role: row.role(),
            by_statistics: *by_statistics,
        })
        .collect();
    answer.cells = filled
        .cells
        .iter()
        .map(|cells| folded(cells, &columns))
        .collect();
    answer.columns = columns
        .iter()
        .map(|column| MapColumn {
            first: column.first,
            last: column.last,
        })
        .collect();
    Ok(answer)
}

/// Tensors and scalars of both runs in the order within a step.
fn rows<'a>(pair: &'a Pair<'a>, rank: u32) -> Vec<Row<'a>> {
    let tensors = pair.tensors.iter().filter(|tensor| tensor.rank == rank);
    let [base, other] = pair.recorded;
    let scalars = base
        .scalars
        .keys()
        .filter(|key| key.0 == rank && other.scalars.contains_key(*key));
    let mut rows: Vec<Row<'a>> = tensors.map(Row::Tensor).collect();
    rows.extend(scalars.map(Row::Scalar));
    rows.sort_by_key(Row::position);
    rows
}

/// First step that parts, among those that the summary has read.
fn first_step(pair: &Pair<'_>, state: &State, tolerance: f64) -> Option<i64> {
    let tensors = state.walk.courses.iter().map(|course| &course.0);
    let statistics = pair
        .tensors
        .iter()
        .filter_map(|tensor| state.statistics.of(tensor));
    let scalars = state.scalars.all().map(|(_, scalar)| &scalar.course);
    let all = tensors.chain(statistics).chain(scalars);
    all.filter_map(|course| course.parting(tolerance))
        .map(|stair| stair.step)
        .min()
}

/// Cells of all rows by step.
struct MapCells {
    /// Steps of any row, ascending.
    steps: Vec<i64>,
    cells: Vec<BTreeMap<i64, MapCell>>,
    by_statistics: Vec<bool>,
    progress: Option<Progress>,
}

impl MapCells {
    /// Scalars and statistics, which need no files of tensors; elements are unread.
    fn new(pair: &Pair<'_>, rows: &[Row<'_>], until: Option<i64>) -> Result<Self, Failure> {
        let mut map = Self {
            steps: Vec::new(),
            cells: vec![BTreeMap::new(); rows.len()],
            by_statistics: vec![false; rows.len()],
            progress: None,
        };
        let is_wanted = |step: i64| until.is_none_or(|until| step <= until);
        let mut seen = [(); 3].map(|()| Steps::default());
        let mut all = Steps::default();
        for (at, row) in rows.iter().enumerate() {
            let cells = &mut map.cells[at];
            match row {
                Row::Scalar(key) => scalars::each_pair(pair, key, &mut seen, |stair| {
                    if is_wanted(stair.step) {
                        cells.insert(stair.step, difference(stair.difference));
                    }
                })?,
                Row::Tensor(tensor) => {
                    if tensor
                        .sources
                        .iter()
                        .all(|source| source.statistics.is_some())
                    {
                        map.by_statistics[at] = tensor.elements.is_empty();
                        statistics::each_pair(pair, tensor, &mut seen, |stair, _, shape| {
                            let cell = if shape {
                                MapCell::Other(MapGap::OtherShape)
                            } else {
                                difference(stair.difference)
                            };
                            if is_wanted(stair.step) {
                                cells.insert(stair.step, cell);
                            }
                        })?;
                    }
                    for (step, _) in tensor
                        .elements
                        .iter()
                        .filter(|aligned| is_wanted(aligned.0))
                    {
                        cells.insert(*step, MapCell::Other(MapGap::Unread));
                    }
                }
            }
            let steps: Vec<i64> = cells.keys().copied().collect();
            all.add(&steps);
        }
        map.steps = all.all;
        Ok(map)
    }

    /// Reads elements: first one step of each column, then the others.
    fn read(
        &mut self,
        pair: &Pair<'_>,
        known: &Cells,
        rows: &[Row<'_>],
        columns: &[Stretch],
        effort: &Effort,
    ) {
        let mut reader = ElementReader::new(pair, known, &effort.gone);
        let begins = |step: i64| columns.iter().any(|column| column.first == step);
        let (first, later): (Vec<i64>, Vec<i64>) =
            self.steps.iter().partition(|step| begins(**step));
        let (mut done, mut total, mut has_read) = (0, 0, false);
        for step in first.into_iter().chain(later) {
            for (at, row) in rows.iter().enumerate() {
                let Row::Tensor(tensor) = row else { continue };
                let place = tensor
                    .elements
                    .binary_search_by_key(&step, |aligned| aligned.0);
                let Ok(place) = place else { continue };
                let steps = tensor.elements[place];
                total += 1;
                let kept = reader.kept(tensor, steps);
                if kept.is_none() && has_read && effort.is_over() {
                    continue;
                }
                has_read |= kept.is_none();
                let Some(cell) = reader.difference(tensor, steps) else {
                    continue;
                };
                done += 1;
                let cell = match cell {
                    Cell::Difference {
                        value,
                        by_statistics,
                        ..
                    } => {
                        self.by_statistics[at] |= by_statistics;
                        difference(value)
                    }
                    Cell::OtherShape => MapCell::Other(MapGap::OtherShape),
                    Cell::Fault => MapCell::Other(MapGap::Fault),
                };
                if let Some(known) = self.cells[at].get_mut(&step) {
                    *known = cell;
                }
            }
        }
        self.progress = (done < total).then_some(Progress {
            done_bytes: done,
            total_bytes: total,
        });
    }
}

fn difference(value: f64) -> MapCell {
    MapCell::Difference(Float(value))
}

/// The worst cell of each column.
fn folded(cells: &BTreeMap<i64, MapCell>, columns: &[Stretch]) -> Vec<MapCell> {
    let column = |column: &Stretch| {
        let all = cells
            .range(column.first..=column.last)
            .map(|(_, cell)| *cell);
        all.reduce(worse).unwrap_or(MapCell::Other(MapGap::Absent))
    };
    columns.iter().map(column).collect()
}

/// The worse of two cells: other shapes before differences before faults before unread cells.
fn worse(one: MapCell, other: MapCell) -> MapCell {
    let class = |cell: MapCell| match cell {
        MapCell::Other(MapGap::Absent) => 0,
        MapCell::Other(MapGap::Unread) => 1,
        MapCell::Other(MapGap::Fault) => 2,
        MapCell::Difference(_) => 3,
        MapCell::Other(MapGap::OtherShape) => 4,
    };
    match (one, other) {
        (MapCell::Difference(a), MapCell::Difference(b)) if is_worse(b.0, a.0) => other,
        _ if class(other) > class(one) => other,
        _ => one,
    }
}
