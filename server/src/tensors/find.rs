//! Tensor lookup: steps and locations of recorded elements, and opening them.

use std::collections::BTreeMap;
use std::sync::Arc;

use trainscope_api::records::RecordsQuery;
use trainscope_api::tensors::{TensorPlace, TensorSource};
use trainscope_format::formats::tensor_file::StoredTensor;
use trainscope_format::{Body, Format, Kind, OpaqueTensor, Stretch, TensorData};

use crate::index::{Index, IndexedRecord, ReadError};
use crate::tensor_files::contents::Content;
use crate::tensor_files::read::TensorReadError;
use crate::tensor_files::stored::ReadableTensor;

/// Reason why a query for a tensor fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TensorError {
    /// Error of the index.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It does not exist; the sentence lists alternatives.
    #[error("{0}")]
    Unknown(String),
    /// The query is invalid for this tensor.
    #[error("{0}")]
    BadRequest(String),
    /// It exceeds the limits of one answer.
    #[error("{0}")]
    TooLarge(String),
    /// Its element type is not supported.
    #[error("{file} holds elements of the type {dtype}, and values of that type are not shown")]
    Opaque {
        /// Path of the file for display.
        file: String,
        /// The name of the type.
        dtype: String,
    },
    /// It exists but cannot be read.
    #[error("{file} cannot be read: {reason}")]
    Unreadable {
        /// Path of the file for display.
        file: String,
        reason: String,
    },
}

impl TensorError {
    /// Converts a read error of a file.
    pub(crate) fn unread(file: &str, unread: TensorReadError) -> Self {
        let file = file.to_owned();
        match unread {
            TensorReadError::Opaque(OpaqueTensor { dtype, .. }) => Self::Opaque { file, dtype },
            unread => Self::Unreadable {
                file,
                reason: unread.offset_and_reason().1,
            },
        }
    }
}

/// A tensor of a rank: its name, and the locations of its elements by step.
pub(crate) struct Steps<'a> {
    index: &'a Index,
    pub(crate) run: &'a str,
    pub(crate) tensor: &'a str,
    pub(crate) rank: u32,
    /// Locations by step; files take precedence over records.
    pub(crate) elements: BTreeMap<i64, TensorSource>,
    /// Steps with elements in records.
    recorded: BTreeMap<i64, TensorSource>,
    /// Steps with statistics in files only.
    pub(crate) statistics: Vec<i64>,
}

/// A tensor that was opened.
pub(crate) struct OpenTensor {
    pub(crate) stored: ReadableTensor,
    pub(crate) place: TensorPlace,
}

impl<'a> Steps<'a> {
    /// Finds a tensor; one without records has no steps.
    pub(crate) fn find(
        index: &'a Index,
        run: &'a str,
        tensor: &'a str,
        rank: u32,
    ) -> Result<Self, TensorError> {
        let mut steps = Self {
            index,
            run,
            tensor,
            rank,
            elements: BTreeMap::new(),
            recorded: BTreeMap::new(),
            statistics: Vec::new(),
        };
        let query = steps.query(None, 1);
        match index.records(Kind::Tensors, &query, |found| Ok(Some(source(&found)))) {
            Ok(found) => {
                let source = found.records.first().map(|record| record.body);
                let source = source.unwrap_or(TensorSource::Tfevents);
                steps.recorded = found.steps.into_iter().map(|step| (step, source)).collect();
                steps.elements.clone_from(&steps.recorded);
            }
            Err(ReadError::UnknownTag { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let catalog = index.recording(run).map(|recorded| recorded.catalog());
        let listed = catalog.as_ref().and_then(|catalog| catalog.tensor(tensor));
        for &(step, has_elements) in listed
            .and_then(|l| l.steps.get(&rank))
            .into_iter()
            .flatten()
        {
            if has_elements {
                steps.elements.insert(step, TensorSource::Dump);
            } else {
                steps.statistics.push(step);
            }
        }
        Ok(steps)
    }

    fn query(&self, step: Option<i64>, points: usize) -> RecordsQuery {
        RecordsQuery {
            run: self.run.to_owned(),
            tag: self.tensor.to_owned(),
            rank: self.rank,
            from: step,
            to: step,
            points: Some(points),
            ..RecordsQuery::default()
        }
    }

    /// The last step before another one at which elements were recorded.
    pub(crate) fn before(&self, step: i64) -> Option<i64> {
        self.elements.range(..step).next_back().map(|at| *at.0)
    }

    pub(super) const fn index(&self) -> &Index {
        self.index
    }

    /// The requested step; the last one by default.
    pub(crate) fn step(&self, wanted: Option<i64>) -> Result<i64, TensorError> {
        let (tensor, rank) = (self.tensor, self.rank);
        let Some((&last, _)) = self.elements.last_key_value() else {
            let run = self.run;
            return Err(TensorError::Unknown(format!(
                "run `{run}` has no values of `{tensor}` of rank {rank}: nothing or only statistics were recorded"
            )));
        };
        let step = wanted.unwrap_or(last);
        if self.elements.contains_key(&step) {
            return Ok(step);
        }
        let before = self.elements.range(..step).next_back();
        let after = self.elements.range(step..).next();
        let near: Vec<String> = [before, after]
            .into_iter()
            .flatten()
            .map(|(step, _)| step.to_string())
            .collect();
        Err(TensorError::Unknown(format!(
            "the values of `{tensor}` of rank {rank} were not recorded at step {step}; the nearest are at {}",
            near.join(" and ")
        )))
    }

    /// Opens it at one of its steps.
    pub(crate) fn open(
        &self,
        step: i64,
        wanted: Option<TensorSource>,
    ) -> Result<OpenTensor, TensorError> {
        let source = match (wanted, self.elements.get(&step)) {
            (None, Some(source)) => *source,
            (Some(wanted), Some(source)) if wanted == *source => wanted,
            (Some(wanted), _) if self.recorded.get(&step) == Some(&wanted) => wanted,
            _ => {
                let (tensor, rank) = (self.tensor, self.rank);
                return Err(TensorError::Unknown(format!(
                    "the values of `{tensor}` of rank {rank} at step {step} do not lie there"
                )));
            }
        };
        let (stored, file) = match source {
            TensorSource::Dump => self.open_dump(step)?,
            _ => self.open_record(step)?,
        };
        if stored.len_bytes() == u64::MAX {
            return Err(TensorError::Unreadable {
                file: file.to_string(),
                reason: "it claims a shape of more bytes than any file has".to_owned(),
            });
        }
        let place = TensorPlace {
            step,
            rank: self.rank,
            source: Some(source),
            file: file.to_string(),
            dtype: stored.dtype.as_str().to_owned(),
            shape: stored.shape.clone(),
            len_bytes: stored.len_bytes(),
            previous_step: self.before(step),
            next_step: self.elements.range(step + 1..).next().map(|at| *at.0),
        };
        Ok(OpenTensor { stored, place })
    }

    fn open_dump(&self, step: i64) -> Result<(ReadableTensor, Arc<str>), TensorError> {
        let (tensor, rank) = (self.tensor, self.rank);
        let recorded = self.index.recording(self.run);
        let found = recorded.and_then(|recorded| recorded.locate(tensor, rank, step));
        let found = found.ok_or_else(|| {
            TensorError::Unknown(format!(
                "the file that held `{tensor}` of rank {rank} at step {step} is gone, or holds it no more"
            ))
        })?;
        match found.content {
            Content::At(place) => {
                let (file, tensor) = place
                    .open()
                    .map_err(|unread| TensorError::unread(&found.shown, unread))?;
                Ok((ReadableTensor::in_file(file, tensor), found.shown))
            }
            Content::Opaque(opaque) => Err(TensorError::unread(
                &found.shown,
                TensorReadError::Opaque(opaque),
            )),
            Content::Known(_) => Err(TensorError::Unknown(format!(
                "only statistics of `{tensor}` were recorded at step {step}"
            ))),
        }
    }

    fn open_record(&self, step: i64) -> Result<(ReadableTensor, Arc<str>), TensorError> {
        let query = self.query(Some(step), 1);
        let found = self.index.records(Kind::Tensors, &query, |found| {
            let body = match &found.body {
                Body::Tensor(body) => body,
                Body::Opaque(opaque) => return Ok(Some((Err(opaque.clone()), found.path()))),
                _ => return Ok(None),
            };
            let (data, file) = match &body.data {
                TensorData::Stretch(stretch) => (*stretch, Some(found.open()?)),
                TensorData::Inline(_) => (Stretch::default(), None),
            };
            let tensor = StoredTensor {
                name: String::new(),
                dtype: body.dtype,
                shape: body.shape.clone(),
                data,
                is_big_endian: false,
                is_column_major: false,
            };
            let stored = match (file, &body.data) {
                (Some(file), _) => ReadableTensor::in_file(file, tensor),
                (None, TensorData::Inline(bytes)) => ReadableTensor::inline(tensor, bytes.clone()),
                (None, TensorData::Stretch(_)) => return Ok(None),
            };
            Ok(Some((Ok(stored), found.path())))
        })?;
        let found = found.records.into_iter().next_back();
        let found = found.map(|record| record.body);
        let (stored, file) = found
            .ok_or_else(|| TensorError::Unknown(format!("the record of step {step} is gone")))?;
        let stored =
            stored.map_err(|opaque| TensorError::unread(&file, TensorReadError::Opaque(opaque)))?;
        Ok((stored, file))
    }
}

fn source(found: &IndexedRecord) -> TensorSource {
    match found.format() {
        Format::MindsporeSummary | Format::MindsporeLineage => TensorSource::Summary,
        _ => TensorSource::Tfevents,
    }
}
