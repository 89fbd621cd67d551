//! Queries for records of all kinds but scalars: their bodies, and the byte ranges of files that these refer to.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Component, Path};
use std::sync::Arc;

use trainscope_api::records::{At, DEFAULT_RECORDS, MAX_RECORDS, MAX_STEPS, Records, RecordsQuery};
use trainscope_format::graph::{GraphNote, GraphNoteKind};
use trainscope_format::{Body, Format, Graph, GraphSource, Kind, Stretch};

use super::attempts::Writer;
use super::reader::{self, Range, StoredRecord};
use super::source::Source;
use super::{Index, ReadError};
use crate::discovery::file::OpenFile;
use crate::files::{self, File};
use crate::people;

/// Maximum number of missing files with parameter values to report.
const MAX_MISSING_FILES: usize = 20;
/// Maximum size of a byte range that is read into memory.
const MAX_BLOB_BYTES: u64 = 1 << 30;

/// An open byte range of a file.
pub(crate) struct Blob {
    file: File,
    stretch: Stretch,
}

impl Blob {
    pub(crate) fn len_bytes(&self) -> u64 {
        self.stretch.len_bytes
    }

    /// Fills a buffer with the bytes that start at `from`.
    pub(crate) fn read_at(&self, from: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(out, self.stretch.offset + from)
    }
}

/// A body and the file of its byte ranges.
pub struct IndexedRecord {
    /// Content of the record.
    pub body: Body,
    source: Arc<Source>,
}

impl IndexedRecord {
    /// The id of one of its byte ranges, for [`Index::blob`]. A replaced file has other ids.
    pub fn blob_id(&self, stretch: Stretch) -> String {
        format!(
            "{}-{}-{}",
            self.source.id, stretch.offset, stretch.len_bytes
        )
    }

    /// Reads a graph without weights. The inner error is a sentence about an invalid graph.
    pub fn graph(&self, graph: GraphSource) -> Result<Result<Graph, String>, ReadError> {
        if graph.data == Stretch::WHOLE_FILE {
            let (file, len_bytes) = open(&self.source)?;
            let read = Graph::read_file(graph.format, &mut BufReader::new(file), len_bytes);
            return Ok(match read {
                Ok(graph) => Ok(self.with_missing_files(graph)),
                Err(e) => Err(e.to_string()),
            });
        }
        let bytes = self.read(graph.data)?;
        Ok(Graph::read(graph.format, &bytes).map_err(|e| e.to_string()))
    }

    /// Adds notes about missing files with parameter values to a graph file.
    fn with_missing_files(&self, mut graph: Graph) -> Graph {
        let place = self.source.place();
        let folder = place.full.parent().unwrap_or(Path::new(""));
        let is_there = |file: &str| {
            // Only names next to the graph are checked: a file may contain any path.
            let mut parts = Path::new(file).components();
            parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
                && files::is_listed(&folder.join(file))
        };
        let files = graph.external_files().into_iter();
        let missing = files.filter(|(file, _)| !is_there(file));
        let notes = missing.map(|(file, count)| GraphNote {
            kind: GraphNoteKind::FileMissing,
            count,
            example: file.to_owned(),
        });
        let notes: Vec<GraphNote> = notes.take(MAX_MISSING_FILES).collect();
        graph.notes.extend(notes);
        graph
    }

    /// Opens its file, if it is unchanged.
    pub(crate) fn open(&self) -> Result<File, ReadError> {
        Ok(open(&self.source)?.0)
    }

    /// Path of its file for display.
    pub fn path(&self) -> Arc<str> {
        self.source.place().path
    }

    /// The format of its file.
    pub fn format(&self) -> Format {
        self.source.format
    }

    /// Reads one of its byte ranges.
    pub fn read(&self, stretch: Stretch) -> Result<Vec<u8>, ReadError> {
        read(&self.source, stretch)
    }
}

impl Index {
    /// Records of one tag, each converted by `describe`; `None` from it means a body of another kind.
    pub fn records<T>(
        &self,
        kind: Kind,
        query: &RecordsQuery,
        describe: impl Fn(IndexedRecord) -> Result<Option<T>, ReadError>,
    ) -> Result<Records<T>, ReadError> {
        let writer = self.writer(kind, query)?;
        let range = range_of(query);
        let store = &self.0.store;
        let mut steps = reader::read_steps(&writer.attempts, &range, store)?;
        steps.truncate(MAX_STEPS);
        let (total, stored) = reader::read_bodies(&writer.attempts, &range, store)?;
        let mut records = Vec::with_capacity(stored.len());
        for record in stored {
            let (step, wall_time_secs) = (record.step, record.wall_time_secs);
            let Some(found) = self.found(&writer, &record)? else {
                continue;
            };
            if let Some(body) = describe(found)? {
                records.push(At {
                    step,
                    wall_time_secs,
                    body,
                });
            }
        }
        let cut = (records.len() as u64) < total;
        Ok(Records {
            total,
            cut,
            steps,
            records,
        })
    }

    /// All records of a kind in a run, of any tag, by wall time.
    pub(crate) fn records_of_run<T>(
        &self,
        run: &str,
        kind: Kind,
        describe: impl Fn(IndexedRecord) -> Result<Option<T>, ReadError>,
    ) -> Result<Vec<At<T>>, ReadError> {
        let mut all = Vec::new();
        for (tag, rank) in self.tags_of(run, kind)? {
            let query = RecordsQuery {
                run: run.to_owned(),
                tag: tag.to_string(),
                rank,
                points: Some(MAX_RECORDS),
                ..RecordsQuery::default()
            };
            all.append(&mut self.records(kind, &query, &describe)?.records);
        }
        all.sort_by(|a, b| a.wall_time_secs.total_cmp(&b.wall_time_secs));
        Ok(all)
    }

    /// Calls a function for every record of a query, in step order, regardless of `points`; few are in memory at a
    /// time.
    pub fn each_record(
        &self,
        kind: Kind,
        query: &RecordsQuery,
        mut look: impl FnMut(At<Body>),
    ) -> Result<(), ReadError> {
        self.each_found(kind, query, |found| {
            look(At {
                step: found.step,
                wall_time_secs: found.wall_time_secs,
                body: found.body.body,
            });
            Ok(())
        })
    }

    /// Like [`Index::each_record`], with the file of each record. An error of the function ends it.
    pub(crate) fn each_found(
        &self,
        kind: Kind,
        query: &RecordsQuery,
        mut look: impl FnMut(At<IndexedRecord>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let writer = self.writer(kind, query)?;
        let store = &self.0.store;
        reader::each_body(&writer.attempts, &range_of(query), store, |record| {
            let Some(body) = self.found(&writer, &record)? else {
                return Ok(());
            };
            look(At {
                step: record.step,
                wall_time_secs: record.wall_time_secs,
                body,
            })
        })
    }

    /// The body of a record with its file; `None` if the file has been removed in the meantime.
    fn found(
        &self,
        writer: &Writer,
        record: &StoredRecord,
    ) -> Result<Option<IndexedRecord>, ReadError> {
        let body = postcard::from_bytes(&record.body);
        let body = body.map_err(|_| self.0.store.wrong("a record"))?;
        let mut attempts = writer.attempts.iter();
        let found = attempts.find(|attempt| attempt.part.id == record.part);
        Ok(found.map(|attempt| IndexedRecord {
            body,
            source: Arc::clone(&attempt.source),
        }))
    }

    fn writer(&self, kind: Kind, query: &RecordsQuery) -> Result<Writer, ReadError> {
        let run = self.run(&query.run)?;
        let writers = run.writers(query.rank, kind, &query.tag, &self.0.store);
        let mut writers = writers.into_iter();
        let writer = writers.find(|writer| writer.name.as_deref() == query.writer.as_deref());
        writer.ok_or_else(|| ReadError::UnknownTag {
            run: query.run.clone(),
            kind,
            tag: query.tag.clone(),
            rank: query.rank,
        })
    }

    /// All tags of a kind in a run, with their ranks.
    pub fn tags_of(&self, run: &str, kind: Kind) -> Result<Vec<(Arc<str>, u32)>, ReadError> {
        Ok(self.run(run)?.tags_of(kind))
    }

    /// The bytes of a blob by its id, in memory.
    pub fn blob(&self, id: &str) -> Result<Vec<u8>, ReadError> {
        let (source, stretch) = self.stretch(id)?;
        read(&source, stretch)
    }

    /// Like [`Index::blob`], open for reading piece by piece.
    pub(crate) fn open_blob(&self, id: &str) -> Result<Blob, ReadError> {
        let (source, stretch) = self.stretch(id)?;
        let (file, decoded) = open(&source)?;
        check(&source, stretch, decoded)?;
        Ok(Blob { file, stretch })
    }

    /// The file and byte range of a blob's id.
    fn stretch(&self, id: &str) -> Result<(Arc<Source>, Stretch), ReadError> {
        let gone = || ReadError::UnknownBlob(id.to_owned());
        let mut numbers = id.splitn(3, '-').map(|part| part.parse::<u64>().ok());
        let mut next = || numbers.next().flatten().ok_or_else(gone);
        let (source, offset, len_bytes) = (next()?, next()?, next()?);
        let sources = self.0.catalog.sources();
        let source = sources
            .iter()
            .find(|known| known.id == source && people::may_see(&known.place().run))
            .ok_or_else(gone)?;
        Ok((Arc::clone(source), Stretch { offset, len_bytes }))
    }
}

fn range_of(query: &RecordsQuery) -> Range {
    Range {
        from: query.from.unwrap_or(i64::MIN),
        to: query.to.unwrap_or(i64::MAX),
        points: query.points.unwrap_or(DEFAULT_RECORDS),
        superseded: query.superseded != 0,
        wall_times: true,
    }
}

/// Reads a byte range of a file's decoded part, if the file is unchanged.
fn read(source: &Source, stretch: Stretch) -> Result<Vec<u8>, ReadError> {
    let (mut file, decoded) = open(source)?;
    check(source, stretch, decoded)?;
    if stretch.len_bytes > MAX_BLOB_BYTES {
        let reason = format!("{} bytes do not fit into memory", stretch.len_bytes);
        return Err(unreadable(source, &reason));
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(stretch.offset))
        .and_then(|_| file.take(stretch.len_bytes).read_to_end(&mut bytes))
        .map_err(|e| unreadable(source, &e))?;
    if (bytes.len() as u64) < stretch.len_bytes {
        return Err(unreadable(source, &"it was truncated"));
    }
    Ok(bytes)
}

/// Rejects a byte range outside of the decoded part.
fn check(source: &Source, stretch: Stretch, decoded: u64) -> Result<(), ReadError> {
    let end = stretch.offset.checked_add(stretch.len_bytes);
    if end.is_none_or(|end| end > decoded) {
        let reason = "the place asked for is not in the file";
        return Err(unreadable(source, &reason));
    }
    Ok(())
}

/// Opens the file of a source, if it is unchanged, and returns the length of its decoded part.
fn open(source: &Source) -> Result<(File, u64), ReadError> {
    let opened = || {
        let opened = OpenFile::open(&source.place().full)?;
        if !source.is_same(&opened) {
            return Err(io::Error::other(
                "it was truncated, or another file has taken its place",
            ));
        }
        Ok(opened.file)
    };
    let file = opened().map_err(|e| unreadable(source, &e))?;
    Ok((file, source.with_state(|state| state.offset)))
}

fn unreadable(source: &Source, reason: &dyn std::fmt::Display) -> ReadError {
    ReadError::Unreadable {
        path: source.place().path.to_string(),
        reason: reason.to_string(),
    }
}
