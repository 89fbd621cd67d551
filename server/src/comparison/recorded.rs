//! Names recorded by a run: tensors with their sources and places in the flow of data, and scalars.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use trainscope_analysis::watchpoint::{layer_of_name, role_of};
use trainscope_api::order::natural;
use trainscope_api::records::RecordsQuery;
use trainscope_api::runs::RunStatus;
use trainscope_format::{Kind, Role};

use super::Side;
use super::graph::{self, Flow};
use crate::queries::error::Failure;
use crate::tensor_files::catalog::{Catalog, TensorRun};

/// Rank and name.
pub(super) type Key = (u32, Arc<str>);

/// Size of a series: other numbers mean other points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Growth {
    pub(super) points: u64,
    superseded: u64,
    last_step: Option<i64>,
}

/// Sources of a tensor.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    pub(super) role: Role,
    /// Place in the flow of data.
    pub(super) place: i64,
    /// True if files hold it.
    pub(super) in_files: bool,
    /// Records with elements in event files.
    pub(super) records: Option<Growth>,
    /// Records of statistics.
    pub(super) statistics: Option<Growth>,
}

/// Everything recorded by a run, by name.
pub(crate) struct RunNames {
    pub(super) tensors: BTreeMap<Key, Sources>,
    pub(super) scalars: BTreeMap<Key, Growth>,
    pub(super) files: Option<Arc<TensorRun>>,
    pub(super) catalog: Option<Arc<Catalog>>,
    /// Seconds since 1970 of its first record.
    pub(super) started_secs: Option<f64>,
    pub(super) is_growing: bool,
    /// True if names were left out because there are too many.
    pub(super) is_cut: bool,
}

impl RunNames {
    /// Lists the names of a run. `flow` has the places of the nodes of its graph.
    pub(super) fn read(side: Side<'_>, flow: Option<&Flow>) -> Result<Self, Failure> {
        let list = side.index.tags(side.run)?;
        let files = side.index.recording(side.run);
        let catalog = files.as_ref().map(|files| files.catalog());
        let info = side.index.describe(side.run);
        let mut names = Self {
            tensors: BTreeMap::new(),
            scalars: BTreeMap::new(),
            catalog: catalog.clone(),
            started_secs: info.as_ref().and_then(|run| run.first_wall_time_secs),
            is_growing: info.is_some_and(|run| run.status == RunStatus::Live),
            is_cut: list.cut,
            files,
        };
        for tag in list.tags.iter().filter(|tag| tag.writer.is_none()) {
            let key: Key = (tag.rank, (&*tag.tag).into());
            let growth = Growth {
                points: tag.points,
                superseded: tag.superseded,
                last_step: tag.last_step,
            };
            match tag.kind {
                Kind::Scalars => {
                    names.scalars.insert(key, growth);
                }
                Kind::Tensors => names.tensor(key).records = Some(growth),
                Kind::Statistics => names.tensor(key).statistics = Some(growth),
                _ => {}
            }
        }
        for tensor in catalog.iter().flat_map(|catalog| &catalog.tensors) {
            for rank in tensor.steps.keys() {
                let sources = names.tensor((*rank, Arc::clone(&tensor.name)));
                sources.in_files = true;
                sources.role = tensor.role;
            }
        }
        names.set_places(flow);
        Ok(names)
    }

    fn tensor(&mut self, key: Key) -> &mut Sources {
        self.tensors
            .entry(key)
            .or_insert_with_key(|(_, name)| Sources {
                role: role_of(Role::Other, name, ""),
                ..Sources::default()
            })
    }

    /// Sets the places in the flow of data: of the graph, else in the order in which modules ran, else as recorded.
    fn set_places(&mut self, flow: Option<&Flow>) {
        let recorded: FxHashMap<Arc<str>, i64> = match &self.catalog {
            Some(catalog) => (0..)
                .zip(&catalog.tensors)
                .map(|(at, tensor)| (Arc::clone(&tensor.name), at))
                .collect(),
            None => FxHashMap::default(),
        };
        let mut others: Vec<&Arc<str>> = self.tensors.keys().map(|(_, name)| name).collect();
        others.retain(|name| !recorded.contains_key(*name));
        others.sort_by(|a, b| natural(a, b));
        others.dedup();
        let others: FxHashMap<Arc<str>, i64> = (i64::try_from(recorded.len())
            .unwrap_or(i64::MAX)..)
            .zip(others)
            .map(|(place, name)| (place, Arc::clone(name)))
            .map(|(place, name)| (name, place))
            .collect();
        let ran = self.execution_order();
        for ((_, name), sources) in &mut self.tensors {
            let fine = recorded.get(name).or_else(|| others.get(name));
            let fine = fine.copied().unwrap_or_default();
            let coarse = match flow {
                Some(flow) => flow.place(name),
                None => ran.get(&*layer_of_name(name)).copied(),
            };
            // Names without a place in the flow come after those with one.
            let coarse = coarse.unwrap_or(i64::from(u32::MAX >> 1));
            sources.place = (coarse << 32) | (fine & i64::from(u32::MAX));
        }
    }

    /// Place of each module in the order in which they ran, if the writer of the files records it.
    fn execution_order(&self) -> FxHashMap<String, i64> {
        let Some(files) = &self.files else {
            return FxHashMap::default();
        };
        let first = files
            .run
            .ranks
            .iter()
            .find_map(|(rank, found)| Some((*rank, *found.steps.keys().next()?)));
        let order = first.map(|(rank, step)| files.execution_order(rank, step));
        let order = order.unwrap_or_default();
        let modules = order.split(',').map(|name| name.trim().to_owned());
        modules
            .zip(0..)
            .filter(|(name, _)| !name.is_empty())
            .collect()
    }
}

/// Places of the nodes of a run's graph, if it has one that can be read and is not too large.
pub(super) fn flow(side: Side<'_>) -> Option<Flow> {
    let found = graph::read(side).ok().flatten()?;
    (!graph::is_too_large(&found)).then(|| Flow::new(&found))
}

/// Steps and wall times of the records of a tensor in event files.
pub(super) fn recorded_steps(side: Side<'_>, key: &Key) -> Result<(Vec<i64>, Vec<f64>), Failure> {
    let query = RecordsQuery {
        run: side.run.to_owned(),
        tag: key.1.to_string(),
        rank: key.0,
        ..RecordsQuery::default()
    };
    let (mut steps, mut times) = (Vec::new(), Vec::new());
    side.index.each_record(Kind::Tensors, &query, |at| {
        if steps.last() != Some(&at.step) {
            steps.push(at.step);
            times.push(at.wall_time_secs);
        }
    })?;
    Ok((steps, times))
}
