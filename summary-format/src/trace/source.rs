//! Files of profilers, and the reference to one.

use serde::{Deserialize, Serialize};

use crate::stretch::Stretch;

/// Files of profilers. New ones are appended: the order is part of the stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceFile {
    /// Chrome JSON, plain or gzip: Kineto and all others.
    ChromeJson,
    /// `cpu_op_execute_timestamp_<rank>.txt` of `MindSpore`.
    MindsporeExecutions,
    /// Folded stacks.
    Folded,
    /// `*.xplane.pb` of JAX and TensorFlow.
    Xplane,
    /// `memory_timeline.json` of `PyTorch`, plain or gzip.
    MemoryTimeline,
    /// Tables of `MindSpore`'s profiler on Ascend devices.
    MindsporeTables,
    /// Memory snapshot of `PyTorch`, a pickle.
    MemorySnapshot,
    /// Database of Nsight Systems.
    Nsight,
}

/// Reference to a file of a profiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceSource {
    /// Format.
    pub format: TraceFile,
    /// Byte range.
    pub data: Stretch,
}
