//! Lists the tensors of one iteration of a `MindSpore` dump: names from the graph, statistics for missing elements,
//! and overflows reported by the device.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use trainscope_analysis::dump::DumpedGraph;
use trainscope_format::formats::mindspore_dump::{
    self, BadTable, CONVERTER, DumpedFile, DumpedName, RowFigures, StatisticRow,
};
use trainscope_format::{Graph, GraphFormat, OpaqueTensor, Role};

use super::contents::{Content, ListedTensor, Listing};
use super::read::{Place, TensorReadError};
use crate::discovery::runs::{DumpFiles, TensorSource};
use crate::files;

/// Maximum size of a table.
const MAX_TABLE_BYTES: u64 = 1 << 28;

/// Rows of a table after whose conversion their memory is returned: a few MiB.
const SHRUNK_ROWS: usize = 32 << 10;

/// A tensor of an iteration: its name, its file, and its row in a table if it has no separate file.
type IterationTensor<'a> = (
    DumpedName,
    &'a TensorSource,
    Option<Result<RowFigures, OpaqueTensor>>,
);

/// The graphs of a rank, by number.
#[derive(Debug, Default)]
pub(crate) struct DumpGraphs {
    known: BTreeMap<u32, DumpedGraph>,
    /// Decoded graphs.
    pub(crate) drawn: Vec<Graph>,
}

impl DumpGraphs {
    /// Reads orders and graphs; errors are reported and the rest is used.
    pub(crate) fn read(files: &DumpFiles, mut fault: impl FnMut(&Path, TensorReadError)) -> Self {
        let mut graphs = Self::default();
        let mut numbers: Vec<u32> = files
            .orders
            .keys()
            .chain(files.graphs.keys())
            .copied()
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            let order = files.orders.get(&number).map(|(path, _)| {
                let table = table(path).inspect_err(|unread| fault(path, unread.clone()));
                mindspore_dump::execution_order(&table.unwrap_or_default())
            });
            let graph = files.graphs.get(&number).and_then(|(path, _)| {
                let read = files::open(path).and_then(|file| {
                    let len_bytes = file.metadata()?.len_bytes;
                    let mut file = BufReader::new(file);
                    Graph::read_file(GraphFormat::MindsporeModel, &mut file, len_bytes)
                });
                read.inspect_err(|error| {
                    let reason = format!("the graph cannot be read: {error}");
                    fault(path, TensorReadError::Damaged { offset: 0, reason });
                })
                .ok()
            });
            let known = DumpedGraph::new(order.unwrap_or_default(), graph.as_ref());
            graphs.known.insert(number, known);
            graphs.drawn.extend(graph);
        }
        graphs
    }

    /// Full names of operators in execution order, of the first graph that trains.
    pub(crate) fn order(&self) -> Option<&[String]> {
        let mut graphs = self.known.values();
        let training = graphs.find(|graph| graph.is_training());
        training
            .map(DumpedGraph::order)
            .filter(|order| !order.is_empty())
    }
}

/// Adds the files of one iteration of one graph.
pub(crate) fn add_iteration<'a>(
    all: &mut Listing<'a>,
    graph: u32,
    sources: &[&'a TensorSource],
    graphs: &DumpGraphs,
) {
    let mut files: Vec<IterationTensor<'_>> = Vec::new();
    let mut mapping: BTreeMap<String, DumpedName> = BTreeMap::new();
    let (mut tables, mut hashed, mut raw, mut overflows) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for &source in sources {
        let file_name = source
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        match DumpedFile::of(&file_name) {
            DumpedFile::Tensor(name) => files.push((name, source, None)),
            DumpedFile::Statistics => tables.push(source),
            DumpedFile::Mapping => {
                for (short, long) in all
                    .table(source, mindspore_dump::mapping)
                    .unwrap_or_default()
                {
                    if let Some(name) = DumpedName::of_stem(&long) {
                        mapping.insert(short, name);
                    }
                }
            }
            DumpedFile::Hashed => hashed.push((file_name.into_owned(), source)),
            DumpedFile::Overflow => {
                let found = all.table(source, mindspore_dump::overflows);
                overflows.extend(found.unwrap_or_default());
            }
            DumpedFile::RawOverflow => {
                all.unread_overflows = Some(format!(
                    "{} is in the device's own form; {CONVERTER} converts it to JSON",
                    source.shown
                ));
            }
            DumpedFile::Raw => raw.push((file_name.into_owned(), source)),
            DumpedFile::Other => {}
        }
    }
    for (file_name, source) in hashed {
        let stem = file_name.strip_suffix(".npy").unwrap_or(&file_name);
        if let Some(name) = mapping.get(stem) {
            files.push((name.clone(), source, None));
        } else {
            let reason =
                "its name is neither that of a dumped tensor nor in mapping.csv".to_owned();
            all.faults
                .push((source, TensorReadError::Refused { offset: 0, reason }));
        }
    }
    all.refuse(&raw, &files);
    // Statistics of tensors without elements. A table may have millions of rows: each is in memory once.
    let mut known = keys(&files);
    for source in tables {
        let before = files.len();
        let read = rows(&source.path, |row| {
            if known.insert(key(&row.name)) {
                files.push((row.name, source, Some(row.figures)));
            }
        });
        if let Err(unread) = read {
            files.truncate(before);
            known = keys(&files);
            all.faults.push((source, unread));
        }
    }
    drop(known);
    let nothing_known = DumpedGraph::default();
    let known = graphs.known.get(&graph).unwrap_or(&nothing_known);
    let names = files.iter().map(|(name, ..)| name);
    let mut by_task: FxHashMap<(u64, u64), &str> = FxHashMap::default();
    for name in names.clone().filter(|_| !overflows.is_empty()) {
        let task = by_task.entry((name.task, name.stream));
        task.or_insert(&name.op_name);
    }
    for (task, stream) in overflows {
        all.overflows.push(by_task.get(&(task, stream)).map_or_else(
            || format!("task {task} of stream {stream}"),
            |name| (*name).to_owned(),
        ));
    }
    let is_first = graphs
        .known
        .keys()
        .next()
        .is_none_or(|first| *first == graph);
    // From the last to the first: memory of rows goes back while tensors take it.
    let first = all.tensors.len();
    let mut tensors = known.tensors(names);
    while let Some(tensor) = tensors.pop() {
        files.truncate(tensor.file + 1);
        let Some((name, source, figures)) = files.pop() else {
            break;
        };
        if files.len().is_multiple_of(SHRUNK_ROWS) {
            files.shrink_to_fit();
        }
        let is_parameter = &*name.op_type == "Parameter";
        all.tensors.push(ListedTensor {
            // A graph that evaluates has operators and parameters of the same names.
            name: if is_first {
                tensor.name
            } else {
                format!("graph_{graph}/{}", tensor.name).into()
            },
            op: name.op_type,
            // A graph that evaluates only reads them.
            role: if is_parameter && !known.is_training() {
                Role::FrozenWeight
            } else {
                Role::Other
            },
            source,
            content: match figures {
                Some(Ok(figures)) => Content::Known(figures),
                Some(Err(opaque)) => Content::Opaque(opaque),
                None => Content::At(Place {
                    path: source.path.as_path().into(),
                    tensor: None,
                    dtype: name.dtype,
                }),
            },
        });
    }
    all.tensors[first..].reverse();
}

fn keys(files: &[IterationTensor<'_>]) -> FxHashSet<(Arc<str>, bool, u32)> {
    files.iter().map(|(name, ..)| key(name)).collect()
}

/// Distinguishes the tensors of an iteration.
fn key(name: &DumpedName) -> (Arc<str>, bool, u32) {
    (Arc::clone(&name.op_name), name.is_input, name.slot)
}

impl<'a> Listing<'a> {
    fn table<T>(
        &mut self,
        source: &'a TensorSource,
        parse: impl Fn(&[u8]) -> Result<T, BadTable>,
    ) -> Option<T> {
        let read = table(&source.path).and_then(|bytes| parse(&bytes).map_err(damaged));
        read.map_err(|unread| self.faults.push((source, unread)))
            .ok()
    }

    /// Reports files in the raw format of the device, unless they were converted already.
    fn refuse(&mut self, raw: &[(String, &'a TensorSource)], files: &[IterationTensor<'_>]) {
        if raw.is_empty() {
            return;
        }
        // Converted files have the raw name with a suffix after a dot.
        let mut converted: FxHashSet<String> = FxHashSet::default();
        for (_, source, _) in files {
            let name = source
                .path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy();
            let dots = name.match_indices('.');
            converted.extend(dots.map(|(dot, _)| name[..dot].to_owned()));
        }
        let is_converted = |raw: &str| converted.contains(raw);
        let mut left = raw.iter().filter(|(name, _)| !is_converted(name));
        if let Some((_, first)) = left.next() {
            let more = match left.count() {
                0 => String::new(),
                more => format!(", as {more} more beside it"),
            };
            let reason = format!(
                "it is a dump in the device's own form{more}; {CONVERTER} converts it to npy"
            );
            self.faults
                .push((first, TensorReadError::Refused { offset: 0, reason }));
        }
    }
}

fn table(path: &Path) -> Result<Vec<u8>, TensorReadError> {
    Ok(files::read(path, MAX_TABLE_BYTES)?)
}

/// Reads the rows of a table of statistics, without holding its text.
fn rows(path: &Path, each: impl FnMut(StatisticRow)) -> Result<(), TensorReadError> {
    let file = files::open(path)?;
    if file.metadata()?.len_bytes > MAX_TABLE_BYTES {
        return Err(files::too_large(MAX_TABLE_BYTES).into());
    }
    mindspore_dump::statistics(file, each).map_err(damaged)
}

fn damaged(BadTable { offset, reason }: BadTable) -> TensorReadError {
    TensorReadError::Damaged { offset, reason }
}
