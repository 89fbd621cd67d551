//! What has been read, answerable: the one place that knows sled.
//!
//! Input comes from [`ingest`](crate::ingest) alone; handlers read.

mod bits;
mod chunk;

use std::sync::Arc;

use tokio::sync::broadcast;
use trainscope_api::live::ChangeNotice;
use trainscope_api::runs::RunList;
use trainscope_api::scalars::{ScalarsAnswer, ScalarsQuery, ScalarsRequest, Series};
use trainscope_api::status::Ingest;
use trainscope_api::tags::TagList;

/// Shared read access; cloning is cheap. Every method may block on the disk: call it off the async threads.
#[derive(Clone)]
pub struct Index {
    notices: broadcast::Sender<Arc<ChangeNotice>>,
}

/// Why something cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No run of that name.
    #[error("no run is called `{0}`")]
    UnknownRun(String),
    /// No such series in the run.
    #[error("run `{run}` has no scalar `{tag}` of rank {rank}")]
    UnknownTag {
        /// The run asked for.
        run: String,
        /// The tag asked for.
        tag: String,
        /// The rank asked for.
        rank: u32,
    },
    /// What was stored cannot be read back.
    #[error("the index cannot be read: {0}")]
    Storage(String),
}

impl Index {
    /// How far reading is.
    pub fn ingest(&self) -> Ingest {
        Ingest::default()
    }

    /// Sequence number of the last change.
    pub fn seq(&self) -> u64 {
        0
    }

    /// What the user should know of the server itself.
    pub fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// All runs.
    pub fn runs(&self) -> RunList {
        RunList::default()
    }

    /// The tags of one run.
    pub fn tags(&self, run: &str) -> Result<TagList, ReadError> {
        Err(ReadError::UnknownRun(run.to_owned()))
    }

    /// Points of one series.
    pub fn series(&self, query: &ScalarsQuery) -> Result<Series, ReadError> {
        Err(ReadError::UnknownRun(query.run.clone()))
    }

    /// Points of many series; `None` where there is no such series.
    pub fn many_series(&self, request: &ScalarsRequest) -> Result<ScalarsAnswer, ReadError> {
        Err(ReadError::Storage(request.series.len().to_string()))
    }

    /// Notices of changes from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<ChangeNotice>> {
        self.notices.subscribe()
    }
}
