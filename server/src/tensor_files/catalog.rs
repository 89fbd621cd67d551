//! Catalogue of the tensors in the files of a run, by rank and step: names alone. The location of elements is
//! determined on request, because that takes the header of a file.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use trainscope_analysis::watchpoint::role_of;
use trainscope_format::Role;

use crate::discovery::runs::{RunFiles, TensorKind, TensorSource, fingerprint};
use crate::tensor_files::contents::{Content, Listing};
use crate::tensor_files::dumps::DumpGraphs;
use crate::tensor_files::listing;

/// Maximum size of tables read while a list of runs waits: some milliseconds.
const MAX_TABLE_BYTES_AT_ONCE: u64 = 1 << 20;

/// A run with tensor files, as found by one walk.
pub(crate) struct TensorRun {
    pub(crate) run: Arc<RunFiles>,
    /// Fingerprint of its files.
    pub(crate) stamp: u64,
    /// True if an earlier walk found fewer files.
    pub(crate) has_grown: bool,
    /// Approximate number of tensors.
    count: Arc<OnceLock<u64>>,
    is_counting: AtomicBool,
    /// Built on request; before that, the one of an earlier walk.
    catalog: Mutex<CatalogCell>,
}

#[derive(Default)]
struct CatalogCell {
    catalog: Option<Arc<Catalog>>,
    is_current: bool,
}

/// The tensors of a run, by name.
#[derive(Default)]
pub(crate) struct Catalog {
    /// Tensors in the order of a step's listing, the newest step first.
    pub(crate) tensors: Vec<CatalogTensor>,
    by_name: FxHashMap<Arc<str>, u32>,
    /// Files by rank and step.
    steps: BTreeMap<(u32, i64), StepFiles>,
    graphs: BTreeMap<u32, Arc<DumpGraphs>>,
}

/// A tensor in some files.
pub(crate) struct CatalogTensor {
    pub(crate) name: Arc<str>,
    pub(crate) role: Role,
    /// Steps by rank, ascending, with true for recorded elements and false for statistics only.
    pub(crate) steps: BTreeMap<u32, Vec<(i64, bool)>>,
}

/// Fingerprint of the files of a step, and their tensors.
struct StepFiles {
    stamp: u64,
    held: Vec<StepTensor>,
}

/// A tensor in the files of a step.
#[derive(Clone, Copy)]
struct StepTensor {
    tensor: u32,
    has_elements: bool,
}

/// Entry of a tensor in a step: name, role, and true for recorded elements.
type TensorEntry = (Arc<str>, Role, bool);

/// One tensor at one step.
pub(crate) struct TensorLocation {
    /// Location of its elements, or its summary.
    pub(crate) content: Content,
    /// Path of its file for display.
    pub(crate) shown: Arc<str>,
}

impl TensorRun {
    /// Creates an entry from a walk; results of an earlier state are reused where they are valid.
    pub(crate) fn new(run: Arc<RunFiles>, before: Option<&Self>) -> Self {
        let catalog = before.and_then(|before| before.catalog.lock().catalog.clone());
        Self {
            stamp: run.tensors_stamp(),
            has_grown: before.is_some(),
            run,
            count: Arc::default(),
            is_counting: AtomicBool::new(false),
            catalog: Mutex::new(CatalogCell {
                catalog,
                is_current: false,
            }),
        }
    }

    /// Number of tensors in the newest step of any rank, for lists of runs. Large tables are counted on another thread,
    /// and no list waits for them: until then, the number of files.
    pub(crate) fn count(&self) -> u64 {
        let newest = || {
            let ranks = self.run.ranks.values();
            ranks.filter_map(|rank| rank.steps.last_key_value().map(|(_, sources)| sources))
        };
        if let Some(count) = self.count.get() {
            return *count;
        }
        let is_table = |source: &&TensorSource| {
            matches!(source.kind, TensorKind::Dumped { .. })
                && source.path.extension() == Some(OsStr::new("csv"))
        };
        let tables = newest().flatten().filter(is_table);
        if tables.map(|table| table.len_bytes).sum::<u64>() <= MAX_TABLE_BYTES_AT_ONCE {
            return *self.count.get_or_init(|| most_tensors(newest()));
        }
        let files = newest().map(|sources| sources.len() as u64).max();
        if !self.is_counting.swap(true, Ordering::Relaxed) {
            let count = Arc::clone(&self.count);
            let newest: Vec<Vec<TensorSource>> = newest().cloned().collect();
            std::thread::spawn(move || {
                count.get_or_init(|| most_tensors(newest.iter())).to_owned()
            });
        }
        files.unwrap_or(0)
    }

    /// The catalogue of all tensors. Reads the headers of new files; concurrent callers wait.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        let mut known = self.catalog.lock();
        if let (true, Some(catalog)) = (known.is_current, &known.catalog) {
            return Arc::clone(catalog);
        }
        let before = known.catalog.take().unwrap_or_default();
        let catalog = Arc::new(Catalog::new(&self.run, &before));
        known.catalog = Some(Arc::clone(&catalog));
        known.is_current = true;
        catalog
    }

    /// Graphs next to the files of a rank.
    fn graphs_of(&self, rank: u32) -> Arc<DumpGraphs> {
        let catalog = self.catalog();
        catalog.graphs.get(&rank).cloned().unwrap_or_default()
    }

    /// Calls a function with the list of the files of a step.
    pub(crate) fn with_listing<T>(
        &self,
        rank: u32,
        step: i64,
        look: impl FnOnce(Listing<'_>) -> T,
    ) -> T {
        let sources = self.run.ranks.get(&rank).and_then(|r| r.steps.get(&step));
        let graphs = self.graphs_of(rank);
        look(listing::list(
            sources.map(Vec::as_slice).unwrap_or_default(),
            &graphs,
        ))
    }

    /// Locations of all tensors of a step, by name.
    pub(crate) fn contents(&self, rank: u32, step: i64) -> FxHashMap<Arc<str>, Content> {
        self.with_listing(rank, step, |listing| {
            let mut contents = FxHashMap::default();
            for tensor in listing.tensors {
                contents.entry(tensor.name).or_insert(tensor.content);
            }
            contents
        })
    }

    /// Modules in the order in which they ran at a step; empty if the writer does not record it.
    pub(crate) fn execution_order(&self, rank: u32, step: i64) -> String {
        self.with_listing(rank, step, |listing| listing.execution_order)
    }

    /// Location of a tensor at a step; `None` if its files do not hold it (any longer).
    pub(crate) fn locate(&self, name: &str, rank: u32, step: i64) -> Option<TensorLocation> {
        let sources = self.run.ranks.get(&rank)?.steps.get(&step)?;
        let graphs = self.graphs_of(rank);
        // Only the file of that name, if tensor names are file names.
        let of_that_name = |source: &&TensorSource| match &source.kind {
            TensorKind::Npy { name: file } | TensorKind::Constant { name: file } => file == name,
            _ => true,
        };
        let wanted: Vec<TensorSource> = sources.iter().filter(of_that_name).cloned().collect();
        let listing = listing::list(&wanted, &graphs);
        let mut tensors = listing.tensors.into_iter();
        let found = tensors.find(|tensor| *tensor.name == *name)?;
        Some(TensorLocation {
            content: found.content,
            shown: Arc::clone(&found.source.shown),
        })
    }
}

/// The largest number of tensors in the files of one of these steps.
fn most_tensors<'a>(steps: impl Iterator<Item = &'a Vec<TensorSource>>) -> u64 {
    // Names do not matter here, so the graphs that determine them are not read.
    let count = |sources: &Vec<TensorSource>| {
        let listing = listing::list(sources, &DumpGraphs::default());
        listing.tensors.len() as u64
    };
    steps.map(count).max().unwrap_or(0)
}

impl Catalog {
    fn new(run: &RunFiles, before: &Self) -> Self {
        let mut catalog = Self::default();
        for (&rank, found) in &run.ranks {
            let has_dumps = found
                .steps
                .values()
                .flatten()
                .any(|source| matches!(source.kind, TensorKind::Dumped { .. }));
            if has_dumps {
                // Unreadable graphs are reported by the judgement of the run.
                let graphs = DumpGraphs::read(&found.dump, |_, _| {});
                catalog.graphs.insert(rank, Arc::new(graphs));
            }
        }
        for (&rank, found) in &run.ranks {
            for (&step, sources) in found.steps.iter().rev() {
                let stamp = fingerprint(sources);
                let known = before.steps.get(&(rank, step));
                let names: Vec<TensorEntry> = match known.filter(|known| known.stamp == stamp) {
                    Some(known) => {
                        let named = known.held.iter().map(|held| {
                            let tensor = &before.tensors[held.tensor as usize];
                            (Arc::clone(&tensor.name), tensor.role, held.has_elements)
                        });
                        named.collect()
                    }
                    None => catalog.read(rank, sources),
                };
                catalog.add(rank, step, stamp, names);
            }
        }
        for tensor in &mut catalog.tensors {
            tensor.steps.values_mut().for_each(|steps| steps.reverse());
        }
        catalog
    }

    fn read(&self, rank: u32, sources: &[TensorSource]) -> Vec<TensorEntry> {
        let graphs = self.graphs.get(&rank).cloned().unwrap_or_default();
        let listing = listing::list(sources, &graphs);
        let tensors = listing.tensors.into_iter();
        let named = tensors.map(|tensor| {
            let role = role_of(tensor.role, &tensor.name, &tensor.op);
            let has_elements = !matches!(tensor.content, Content::Known(_));
            (tensor.name, role, has_elements)
        });
        named.collect()
    }

    fn add(&mut self, rank: u32, step: i64, stamp: u64, named: Vec<TensorEntry>) {
        let mut held = Vec::with_capacity(named.len());
        for (name, role, has_elements) in named {
            let next = u32::try_from(self.tensors.len()).unwrap_or(u32::MAX);
            let index = *self.by_name.entry(Arc::clone(&name)).or_insert(next);
            if index == next {
                self.tensors.push(CatalogTensor {
                    name,
                    role,
                    steps: BTreeMap::new(),
                });
            }
            let steps = self.tensors[index as usize].steps.entry(rank).or_default();
            // A file may hold a name twice; the first one counts.
            if steps.last().is_none_or(|last| last.0 != step) {
                steps.push((step, has_elements));
                held.push(StepTensor {
                    tensor: index,
                    has_elements,
                });
            }
        }
        self.steps.insert((rank, step), StepFiles { stamp, held });
    }

    /// Fingerprint of the files of a step.
    pub(crate) fn stamp(&self, rank: u32, step: i64) -> u64 {
        self.steps.get(&(rank, step)).map_or(0, |known| known.stamp)
    }

    /// Finds a tensor by name.
    pub(crate) fn tensor(&self, name: &str) -> Option<&CatalogTensor> {
        let index = *self.by_name.get(name)?;
        self.tensors.get(index as usize)
    }
}
