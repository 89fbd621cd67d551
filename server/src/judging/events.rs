//! Passes the content of event files to a listener, in step order as far as other sources of the run need it.
//!
//! Files are decoded a block at a time; records ahead of the requested step are buffered, so that statistics in event
//! files and tensors in dumps come in one order.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::Arc;

use trainscope_analysis::watchpoint::Context;
use trainscope_format::body::GraphSource;
use trainscope_format::{
    Body, Damage, Decoder, Format, Graph, Histogram, Record, RecordBatch, SessionStart, Stretch,
    TagInfo, Tensor, TensorSummary,
};

use crate::discovery::runs::{EventSource, RankFiles};
use crate::files;

/// Size of a decoded block.
const BLOCK_BYTES: usize = 1 << 20;
/// Maximum size of a graph, which is held in memory.
const MAX_GRAPH_BYTES: u64 = 1 << 30;

/// Receiver of the content of event files.
pub(crate) trait Listener {
    /// A point of a scalar.
    fn scalar(&mut self, rank: u32, tag: &str, step: i64, wall_time_secs: f64, value: f64);
    /// A start of the program that wrote the file.
    fn session_start(&mut self, _rank: u32, _start: SessionStart) {}
    /// Statistics of a tensor.
    fn statistics(&mut self, rank: u32, tag: &Arc<str>, step: i64, summary: &TensorSummary);
    /// A tensor of an unsupported element type.
    fn opaque(&mut self, rank: u32, tag: &str, step: i64, dtype: &str);
    /// A tensor in full, whose elements are in that file or in the record.
    fn tensor(&mut self, _at: At<'_>, _tensor: &Tensor) {}
    /// A histogram of a tensor.
    fn histogram(&mut self, _at: At<'_>, _histogram: &Histogram) {}
    /// Context of the run.
    fn context(&mut self, rank: u32, context: Context<'_>);
}

/// The coordinates of a record.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) rank: u32,
    pub(crate) tag: &'a Arc<str>,
    pub(crate) step: i64,
    /// Path of the file.
    pub(crate) path: &'a Arc<Path>,
    /// Path for display.
    pub(crate) shown: &'a Arc<str>,
}

/// Change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Unchanged.
    Same,
    /// More data at its end.
    Grown,
    /// Replaced or removed.
    Other,
}

/// An event file being read.
pub(crate) struct EventFile {
    rank: u32,
    shown: Arc<str>,
    path: Arc<Path>,
    format: Format,
    file: Option<File>,
    decoder: Box<dyn Decoder>,
    tags: Vec<TagInfo>,
    /// Names of scalars for judging: those of evaluations have the folder of their run before the tag.
    scalars: Vec<Arc<str>>,
    evaluates: Option<Arc<str>>,
    /// True if it belongs to another run, which is judged separately: then only its scalars count.
    is_beside: bool,
    /// Buffered records ahead of the current step.
    ahead: VecDeque<Record>,
    batch: RecordBatch,
    fed_bytes: u64,
    /// Inode, to detect a replaced file.
    inode: u64,
    has_statistics: bool,
    is_grown: bool,
    damages: Vec<Damage>,
    /// Reason why it could not be read at all, or completely.
    pub(crate) unreadable: Option<String>,
}

impl EventFile {
    pub(crate) fn open(source: &EventSource, rank: u32) -> Self {
        let name = source
            .path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let opened = files::open(&source.path);
        let inode = opened.as_ref().ok().and_then(|file| file.metadata().ok());
        let inode = inode.map_or(0, |metadata| metadata.ino());
        let unreadable = opened
            .as_ref()
            .err()
            .map(|e| format!("it cannot be read: {e}"));
        Self {
            rank,
            shown: Arc::clone(&source.shown),
            path: source.path.as_path().into(),
            format: source.format,
            file: opened.ok(),
            decoder: source.format.decoder(&name),
            tags: Vec::new(),
            scalars: Vec::new(),
            evaluates: source.evaluates.clone(),
            is_beside: false,
            ahead: VecDeque::new(),
            batch: RecordBatch::default(),
            fed_bytes: 0,
            inode,
            has_statistics: false,
            is_grown: false,
            damages: Vec::new(),
            unreadable,
        }
    }

    /// Opens the files of a rank, and of the runs that evaluate it.
    pub(crate) fn open_all(found: &RankFiles, rank: u32) -> impl Iterator<Item = Self> {
        let own = found
            .events
            .iter()
            .map(move |source| Self::open(source, rank));
        let beside = found.evaluations.iter();
        own.chain(beside.map(move |source| Self::open_beside(source, rank)))
    }

    /// Opens a file of a run that evaluates the run of `rank`.
    pub(crate) fn open_beside(source: &EventSource, rank: u32) -> Self {
        Self {
            is_beside: true,
            ..Self::open(source, rank)
        }
    }

    /// True if it is a file of another run.
    pub(crate) fn is_beside(&self) -> bool {
        self.is_beside
    }

    /// Path for display.
    pub(crate) fn shown(&self) -> &Arc<str> {
        &self.shown
    }

    /// Number of bytes read.
    pub(crate) fn len_bytes(&self) -> u64 {
        self.fed_bytes
    }

    /// Offset of a truncated last record.
    pub(crate) fn torn_at(&self) -> Option<u64> {
        let offset = self.decoder.offset();
        (self.file.is_none() && self.unreadable.is_none() && offset < self.fed_bytes)
            .then_some(offset)
    }

    /// Path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// True if it has tensors, whose order matters.
    pub(crate) fn has_statistics(&self) -> bool {
        self.has_statistics
    }

    /// Rank of its records.
    pub(crate) fn rank(&self) -> u32 {
        self.rank
    }

    /// True if it had grown at the last check.
    pub(crate) fn is_grown(&self) -> bool {
        self.is_grown
    }

    /// Damaged ranges.
    pub(crate) fn damages(&self) -> impl Iterator<Item = Damage> {
        let at_end = self.file.is_none().then(|| self.decoder.open_damage());
        self.damages.iter().cloned().chain(at_end.flatten())
    }

    /// Checks the file after it was read to its end. If it has grown, it is opened again, and [`Self::advance`]
    /// continues with the new records.
    pub(crate) fn look(&mut self) -> Growth {
        let growth = self.growth();
        self.is_grown = growth == Growth::Grown;
        growth
    }

    fn growth(&mut self) -> Growth {
        let is_stream = matches!(self.format, Format::Tfevents | Format::MindsporeSummary);
        let Ok(metadata) = std::fs::metadata(&self.path) else {
            return Growth::Other;
        };
        if self.unreadable.is_some() || metadata.ino() != self.inode {
            return Growth::Other;
        }
        match metadata.len().cmp(&self.fed_bytes) {
            Ordering::Equal => Growth::Same,
            Ordering::Greater if is_stream => {
                let opened = files::open(&self.path).and_then(|mut file| {
                    file.seek(SeekFrom::Start(self.fed_bytes))?;
                    Ok(file)
                });
                match opened {
                    Ok(file) => {
                        self.file = Some(file);
                        Growth::Grown
                    }
                    Err(_) => Growth::Other,
                }
            }
            _ => Growth::Other,
        }
    }

    /// Passes on all records up to and including `step`; all with [`i64::MAX`]. Returns the number of bytes read.
    pub(crate) fn advance(
        &mut self,
        step: i64,
        listener: &mut impl Listener,
        buffer: &mut Vec<u8>,
        progress: &mut dyn FnMut(u64),
    ) {
        loop {
            while let Some(record) = self.ahead.pop_front_if(|record| record.step <= step) {
                self.show(&record, listener);
            }
            let before = self.fed_bytes;
            if !self.ahead.is_empty() || !self.read_on(listener, buffer) {
                return;
            }
            progress(self.fed_bytes - before);
        }
    }

    /// Decodes one more block. Scalars and contexts are passed on at once, since their order does not matter.
    fn read_on(&mut self, listener: &mut impl Listener, buffer: &mut Vec<u8>) -> bool {
        let Some(file) = &mut self.file else {
            return false;
        };
        buffer.resize(BLOCK_BYTES, 0);
        let len = match file.read(buffer) {
            Ok(len) => len,
            Err(e) => {
                self.unreadable = Some(format!("it cannot be read: {e}"));
                self.file = None;
                return false;
            }
        };
        if len == 0 {
            self.file = None;
            return false;
        }
        self.fed_bytes += len as u64;
        self.batch.clear();
        self.decoder.push(&buffer[..len], &mut self.batch);
        for tag in self.batch.new_tags.drain(..) {
            self.scalars.push(match &self.evaluates {
                Some(run) => format!("{run}/{}", tag.name).into(),
                None => Arc::clone(&tag.name),
            });
            self.tags.push(tag);
        }
        self.damages.append(&mut self.batch.damages);
        for start in &self.batch.session_starts {
            listener.session_start(self.rank, *start);
        }
        let scalars = &self.batch.scalars;
        for at in 0..scalars.len() {
            if let Some(name) = self.scalars.get(scalars.tags[at].0 as usize) {
                listener.scalar(
                    self.rank,
                    name,
                    scalars.steps[at],
                    scalars.wall_times_secs[at],
                    scalars.values[at],
                );
            }
        }
        let records = self.batch.records.drain(..);
        self.ahead.extend(records.filter(|_| !self.is_beside));
        true
    }

    fn show(&mut self, record: &Record, listener: &mut impl Listener) {
        let Some(tag) = self.tags.get(record.tag.0 as usize) else {
            return;
        };
        let at = At {
            rank: self.rank,
            tag: &tag.name,
            step: record.step,
            path: &self.path,
            shown: &self.shown,
        };
        match &record.body {
            Body::Tensor(tensor) => {
                self.has_statistics = true;
                listener.tensor(at, tensor);
            }
            Body::Histogram(histogram) => {
                self.has_statistics = true;
                listener.histogram(at, histogram);
            }
            Body::Statistics(summary) => {
                self.has_statistics = true;
                listener.statistics(self.rank, &tag.name, record.step, summary);
            }
            Body::Opaque(tensor) => {
                listener.opaque(self.rank, &tag.name, record.step, &tensor.dtype);
            }
            Body::Text(text) => {
                for text in &text.items {
                    let tag = &*tag.name;
                    listener.context(self.rank, Context::Text { tag, text });
                }
            }
            Body::Lineage(lineage) => listener.context(self.rank, Context::Lineage(lineage)),
            Body::Hparams(hparams) => listener.context(self.rank, Context::Hparams(hparams)),
            Body::Graph(graph) => {
                if let Some(graph) = self.graph(*graph) {
                    listener.context(self.rank, Context::Graph(&graph));
                }
            }
            _ => {}
        }
    }

    /// An unreadable graph is ignored: it only adds context.
    fn graph(&self, source: GraphSource) -> Option<Graph> {
        let mut file = files::open(&self.path).ok()?;
        let len_bytes = file.metadata().ok()?.len();
        if source.data == Stretch::WHOLE_FILE || matches!(self.format, Format::Graph(_)) {
            return Graph::read_file(source.format, &mut BufReader::new(file), len_bytes).ok();
        }
        let Stretch { offset, len_bytes } = source.data;
        if len_bytes > MAX_GRAPH_BYTES || offset.checked_add(len_bytes)? > self.fed_bytes {
            return None;
        }
        file.seek(SeekFrom::Start(offset)).ok()?;
        let mut bytes = files::buffer(len_bytes).ok()?;
        file.read_exact_at(&mut bytes, offset).ok()?;
        Graph::read(source.format, &bytes).ok()
    }
}
