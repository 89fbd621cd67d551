//! Difference of a tensor of two runs at one step, by its elements, or by a summary where a file has no elements.

use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};
use tokio_util::sync::CancellationToken;
use trainscope_analysis::comparison::ElementDifference;
use trainscope_analysis::comparison::measure::of_statistics;
use trainscope_api::tensors::Slice;
use trainscope_format::{Role, TensorSummary};

use super::cells::{Cell, Cells, Fault};
use super::pair::{Pair, TensorPair};
use crate::tensor_files::contents::Content;
use crate::tensor_files::read::TensorReadError;
use crate::tensor_files::stored::ReadableTensor;
use crate::tensors::find::{Steps, TensorError};
use crate::tensors::summary::stats;

type Contents = Arc<FxHashMap<Arc<str>, (Content, Arc<str>)>>;

/// Reads tensors of two runs. The list of one step of each run stays open.
pub(super) struct ElementReader<'a> {
    pair: &'a Pair<'a>,
    known: &'a Cells,
    gone: CancellationToken,
    contents: [Option<((u32, i64), Contents)>; 2],
    /// Reasons of faults, one for each file.
    pub(super) faults: Vec<Fault>,
}

/// A tensor, open or summarised.
enum Operand {
    Open(ReadableTensor, Arc<str>),
    Summary(Box<TensorSummary>),
}

impl<'a> ElementReader<'a> {
    pub(super) fn new(pair: &'a Pair<'a>, known: &'a Cells, gone: &CancellationToken) -> Self {
        Self {
            pair,
            known,
            gone: gone.clone(),
            contents: [None, None],
            faults: Vec::new(),
        }
    }

    /// The stored difference, if any.
    pub(super) fn kept(&self, tensor: &TensorPair<'_>, steps: (i64, i64)) -> Option<Cell> {
        self.known.get(self.key(tensor, steps))
    }

    /// The difference at a pair of steps; `None` if the client has left.
    pub(super) fn difference(
        &mut self,
        tensor: &TensorPair<'_>,
        steps: (i64, i64),
    ) -> Option<Cell> {
        let key = self.key(tensor, steps);
        if let Some(cell) = self.known.get(key) {
            return Some(cell);
        }
        let cell = match self.read(tensor, steps) {
            Ok(cell) => cell,
            Err(_) if self.gone.is_cancelled() => return None,
            Err(fault) => {
                if self.faults.iter().all(|known| known.place != fault.place) {
                    self.faults.push(fault);
                }
                Cell::Fault
            }
        };
        self.known.keep(key, cell);
        Some(cell)
    }

    /// Key of a difference: both runs, the tensor, the steps, and the fingerprints of the files.
    fn key(&self, tensor: &TensorPair<'_>, steps: (i64, i64)) -> u64 {
        let mut hasher = FxHasher::default();
        (tensor.name, tensor.rank, steps).hash(&mut hasher);
        for (at, step) in [(0, steps.0), (1, steps.1)] {
            let catalog = self.pair.recorded[at].catalog.as_ref();
            let stamp = catalog.map_or(0, |catalog| catalog.stamp(tensor.rank, step));
            (self.pair.sides[at].run, stamp, tensor.sources[at].in_files).hash(&mut hasher);
        }
        hasher.finish()
    }

    fn read(&mut self, tensor: &TensorPair<'_>, steps: (i64, i64)) -> Result<Cell, Fault> {
        let a = self.open(0, tensor, steps.0)?;
        let b = self.open(1, tensor, steps.1)?;
        let (a, b) = match (a, b) {
            (Operand::Open(a, file_a), Operand::Open(b, file_b)) => {
                return difference((&a, &file_a), (&b, &file_b));
            }
            (a, b) => (summary(a)?, summary(b)?),
        };
        if a.shape != b.shape {
            return Ok(Cell::OtherShape);
        }
        Ok(Cell::Difference {
            value: of_statistics(&a, &b),
            by_statistics: true,
            is_same: trainscope_analysis::comparison::measure::is_same_content(&a, &b),
        })
    }

    fn open(&mut self, at: usize, tensor: &TensorPair<'_>, step: i64) -> Result<Operand, Fault> {
        if !tensor.sources[at].in_files {
            return self.open_record(at, tensor, step);
        }
        let contents = self.contents(at, tensor.rank, step);
        let Some((content, shown)) = contents.get(&**tensor.name) else {
            return Err(Fault {
                place: tensor.name.to_string(),
                offset: 0,
                reason: format!("its file of step {step} is gone, or holds it no more"),
            });
        };
        match content {
            Content::Known(figures) => Ok(Operand::Summary(Box::new(figures.summary()))),
            Content::Opaque(opaque) => Err(fault(
                &tensor.name.clone(),
                TensorReadError::Opaque(opaque.clone()),
            )),
            Content::At(place) => {
                let (file, stored) = place.open().map_err(|unread| fault(shown, unread))?;
                let mut stored = ReadableTensor::in_file(file, stored);
                stored.end_with(&self.gone);
                Ok(Operand::Open(stored, Arc::clone(shown)))
            }
        }
    }

    fn open_record(&self, at: usize, tensor: &TensorPair<'_>, step: i64) -> Result<Operand, Fault> {
        let side = self.pair.sides[at];
        let opened = Steps::find(side.index, side.run, tensor.name, tensor.rank)
            .and_then(|steps| steps.open(step, None));
        match opened {
            Ok(mut opened) => {
                opened.stored.end_with(&self.gone);
                Ok(Operand::Open(opened.stored, opened.place.file.into()))
            }
            Err(error) => Err(Fault {
                place: match &error {
                    TensorError::Unreadable { file, .. } => file.clone(),
                    _ => tensor.name.to_string(),
                },
                offset: 0,
                reason: error.to_string(),
            }),
        }
    }

    /// Tensors in the files of a step, by name. Faults of files are noted.
    fn contents(&mut self, at: usize, rank: u32, step: i64) -> Contents {
        if let Some((key, contents)) = &self.contents[at]
            && *key == (rank, step)
        {
            return Arc::clone(contents);
        }
        let mut all = FxHashMap::default();
        if let Some(files) = &self.pair.recorded[at].files {
            files.with_listing(rank, step, |listing| {
                for (source, unread) in listing.faults {
                    let fault = fault(&source.shown, unread);
                    if self.faults.iter().all(|known| known.place != fault.place) {
                        self.faults.push(fault);
                    }
                }
                for tensor in listing.tensors {
                    let shown = Arc::clone(&tensor.source.shown);
                    all.entry(tensor.name).or_insert((tensor.content, shown));
                }
            });
        }
        let all = Arc::new(all);
        self.contents[at] = Some(((rank, step), Arc::clone(&all)));
        all
    }
}

fn fault(place: &Arc<str>, unread: TensorReadError) -> Fault {
    let (offset, reason) = unread.offset_and_reason();
    Fault {
        place: place.to_string(),
        offset,
        reason,
    }
}

/// Compares two tensors element by element, in blocks.
fn difference(
    (a, file_a): (&ReadableTensor, &Arc<str>),
    (b, file_b): (&ReadableTensor, &Arc<str>),
) -> Result<Cell, Fault> {
    if a.shape != b.shape {
        return Ok(Cell::OtherShape);
    }
    let whole = Slice::whole(&a.shape);
    let mut difference = ElementDifference::default();
    if a.is_alike(b) || (a.dtype.size_bytes() == b.dtype.size_bytes() && a.has_order_of(b)) {
        let (mut blocks_a, mut blocks_b) = (a.blocks(&whole), b.blocks(&whole));
        loop {
            let next_a = blocks_a.next().map_err(|unread| fault(file_a, unread))?;
            let next_b = blocks_b.next().map_err(|unread| fault(file_b, unread))?;
            let (Some((_, x)), Some((_, y))) = (next_a, next_b) else {
                break;
            };
            difference.add((a.dtype, x), (b.dtype, y));
        }
    } else {
        // Elements of other sizes or in another order do not come in equal blocks.
        let x = a.read(&whole).map_err(|unread| fault(file_a, unread))?;
        let y = b.read(&whole).map_err(|unread| fault(file_b, unread))?;
        difference.add((a.dtype, &x.0), (b.dtype, &y.0));
    }
    Ok(Cell::Difference {
        value: difference.value(),
        by_statistics: false,
        is_same: difference.is_same(),
    })
}

fn summary(held: Operand) -> Result<TensorSummary, Fault> {
    match held {
        Operand::Summary(summary) => Ok(*summary),
        Operand::Open(stored, file) => Ok(TensorSummary {
            role: Role::Other,
            dtype: stored.dtype,
            shape: stored.shape.clone(),
            stats: stats(&stored).map_err(|unread| fault(&file, unread))?,
            hash: None,
            change: None,
            channels: None,
        }),
    }
}
