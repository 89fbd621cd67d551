//! Shows a listener what event files hold, in the order of their steps as far as other sources of the run need it.
//!
//! Files are decoded a block at a time; what is ahead of the step that was asked for waits, so that statistics in
//! event files and tensors in dumps come in one order.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use trainscope_analysis::watchpoint::Context;
use trainscope_format::body::GraphSource;
use trainscope_format::{
    Body, Damage, Decoder, Format, Graph, Record, RecordBatch, Stretch, TagInfo, TensorSummary,
};

use super::find::EventSource;

/// Bytes decoded at a time.
const BLOCK_BYTES: usize = 1 << 20;
/// Graphs above this are left out: they would be held in memory.
const MAX_GRAPH_BYTES: u64 = 1 << 30;

/// Who is shown what event files hold.
pub(crate) trait Listener {
    /// A point of a scalar.
    fn scalar(&mut self, rank: u32, tag: &str, step: i64, wall_time_secs: f64, value: f64);
    /// What is known of a tensor.
    fn statistics(&mut self, rank: u32, tag: &Arc<str>, step: i64, summary: &TensorSummary);
    /// What else is known of the run.
    fn context(&mut self, rank: u32, context: Context<'_>);
}

/// An event file that is being read.
pub(crate) struct EventFile {
    rank: u32,
    shown: Arc<str>,
    path: PathBuf,
    format: Format,
    file: Option<File>,
    decoder: Box<dyn Decoder>,
    tags: Vec<TagInfo>,
    /// Records that were decoded and are still ahead.
    ahead: VecDeque<Record>,
    batch: RecordBatch,
    fed_bytes: u64,
    /// Stretches that could not be read.
    pub(crate) damages: Vec<Damage>,
    /// Why it could not be read at all, or on.
    pub(crate) unreadable: Option<String>,
}

impl EventFile {
    pub(crate) fn open(source: &EventSource, rank: u32) -> Self {
        let name = source
            .path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let opened = File::open(&source.path);
        let unreadable = opened
            .as_ref()
            .err()
            .map(|e| format!("it cannot be read: {e}"));
        Self {
            rank,
            shown: Arc::clone(&source.shown),
            path: source.path.clone(),
            format: source.format,
            file: opened.ok(),
            decoder: source.format.decoder(&name),
            tags: Vec::new(),
            ahead: VecDeque::new(),
            batch: RecordBatch::default(),
            fed_bytes: 0,
            damages: Vec::new(),
            unreadable,
        }
    }

    /// The path for people.
    pub(crate) fn shown(&self) -> &Arc<str> {
        &self.shown
    }

    /// How much of it was read.
    pub(crate) fn len_bytes(&self) -> u64 {
        self.fed_bytes
    }

    /// Where the last record is cut off, if it is.
    pub(crate) fn torn_at(&self) -> Option<u64> {
        let offset = self.decoder.offset();
        (self.file.is_none() && self.unreadable.is_none() && offset < self.fed_bytes)
            .then_some(offset)
    }

    /// Shows everything up to and with `step`; all there is with [`i64::MAX`].
    pub(crate) fn advance(
        &mut self,
        step: i64,
        listener: &mut impl Listener,
        buffer: &mut Vec<u8>,
    ) {
        loop {
            while let Some(record) = self.ahead.pop_front_if(|record| record.step <= step) {
                self.show(&record, listener);
            }
            if !self.ahead.is_empty() || !self.read_on(listener, buffer) {
                return;
            }
        }
    }

    /// Decodes one more block. Scalars and contexts are shown at once, since their order does not matter.
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
            self.damages.extend(self.decoder.open_damage());
            self.file = None;
            return false;
        }
        self.fed_bytes += len as u64;
        self.batch.clear();
        self.decoder.push(&buffer[..len], &mut self.batch);
        self.tags.append(&mut self.batch.new_tags);
        self.damages.append(&mut self.batch.damages);
        let scalars = &self.batch.scalars;
        for at in 0..scalars.len() {
            if let Some(tag) = self.tags.get(scalars.tags[at].0 as usize) {
                listener.scalar(
                    self.rank,
                    &tag.name,
                    scalars.steps[at],
                    scalars.wall_times_secs[at],
                    scalars.values[at],
                );
            }
        }
        self.ahead.extend(self.batch.records.drain(..));
        true
    }

    fn show(&self, record: &Record, listener: &mut impl Listener) {
        let Some(tag) = self.tags.get(record.tag.0 as usize) else {
            return;
        };
        match &record.body {
            Body::Statistics(summary) => {
                listener.statistics(self.rank, &tag.name, record.step, summary);
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

    /// A graph that cannot be read explains nothing, and is no reason to judge less.
    fn graph(&self, source: GraphSource) -> Option<Graph> {
        let mut file = File::open(&self.path).ok()?;
        let len_bytes = file.metadata().ok()?.len();
        if source.data == Stretch::WHOLE_FILE || matches!(self.format, Format::Graph(_)) {
            return Graph::read_file(source.format, &mut BufReader::new(file), len_bytes).ok();
        }
        let Stretch { offset, len_bytes } = source.data;
        if len_bytes > MAX_GRAPH_BYTES || offset.checked_add(len_bytes)? > self.fed_bytes {
            return None;
        }
        file.seek(SeekFrom::Start(offset)).ok()?;
        let mut bytes = vec![0; usize::try_from(len_bytes).ok()?];
        file.read_exact_at(&mut bytes, offset).ok()?;
        Graph::read(source.format, &bytes).ok()
    }
}
