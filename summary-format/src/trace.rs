//! Traces of profilers: millions of slices of time on lanes, as columns.
//!
//! A record for each slice would cost several times the memory and an allocation each, so the readers of traces
//! fill these columns instead of yielding [`Record`](crate::Record)s. All times are integers of nanoseconds on the
//! clock of the file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

mod memory;
mod sound;
mod source;
mod texts;

pub use memory::{HeldMemory, MemoryEvent, MemoryFailure, Stacks};
pub use source::{TraceFile, TraceSource};
pub use texts::{TextId, Texts};

/// Marks a slice without link, detail or parent.
pub const NONE: u32 = u32::MAX;

/// One trace: the recording of one rank in one session of a profiler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Facts about the recording.
    pub head: TraceHead,
    /// Names and other texts of slices, each once.
    pub texts: Texts,
    /// Threads, streams and anything else that runs one thing after another.
    pub lanes: Vec<Lane>,
    /// Categories of slices in the order of their first slice.
    pub categories: Vec<Category>,
    /// Slices in the order of the file.
    pub slices: Slices,
    /// Shapes of the inputs of operators, each once.
    pub shapes: Vec<Shapes>,
    /// Arguments of kernels and copies.
    pub device_work: Vec<DeviceWork>,
    /// Arrows between slices whose both ends are in the trace.
    pub flows: Vec<Flow>,
    /// Series of numbers.
    pub counters: Vec<CounterSeries>,
    /// Allocations and releases in the order of the file.
    pub memory: Vec<MemoryEvent>,
    /// Memory that is alive at the end and was allocated before the recording.
    pub memory_held: Vec<HeldMemory>,
    /// Allocations that failed for want of memory, in the order of the file.
    pub memory_failures: Vec<MemoryFailure>,
    /// Call stacks of allocations.
    pub stacks: Stacks,
    /// Instants, without those of memory.
    pub marks: Vec<Mark>,
    /// Steps that the recording itself declares by numbers: native spans and tables. `ProfilerStep#N` is a slice.
    pub declared_steps: Vec<DeclaredStep>,
    /// Traffic between ranks, as the recording sums it up.
    pub links: Vec<Link>,
    /// Counts of everything that was read or lost.
    pub counts: TraceCounts,
}

/// Facts about a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceHead {
    /// Format of its file.
    pub format: TraceFormat,
    /// Nanoseconds since 1970 at time 0 of the file's clock; `None` if the clock counts from an unknown moment.
    pub unix_offset_nanos: Option<i64>,
    /// Rank, if the file says so.
    pub rank: Option<u32>,
    /// Number of ranks, if the file says so.
    pub world_size: Option<u32>,
    /// Process groups that the file names.
    pub process_groups: Vec<ProcessGroup>,
    /// Host, if the file says so.
    pub host: Option<String>,
    /// Devices in the order of the file.
    pub devices: Vec<Device>,
    /// Shapes, memory, stacks, modules, FLOPs: the options of the profiler that the file names as on.
    pub options: Vec<String>,
    /// Type and index of the devices without totals in their events of memory: [`MemoryEvent::allocated`] is counted
    /// from the start of the recording.
    pub memory_since_begin: Vec<(i32, i32)>,
}

/// Formats of traces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceFormat {
    /// Chrome JSON of Kineto, the profiler of `PyTorch`.
    Kineto,
    /// Chrome JSON of any other program.
    #[default]
    Chrome,
    /// Files of `MindSpore`'s profiler.
    Mindspore,
    /// Spans of trainscope's collector.
    Spans,
    /// Profiler files of JAX, TensorFlow and `PyTorch`/XLA.
    Xplane,
    /// Folded stacks.
    Folded,
    /// Memory snapshots of `PyTorch`.
    Snapshot,
    /// Databases of Nsight Systems.
    Nsight,
}

impl TraceFormat {
    /// The name used in the API and in exports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kineto => "kineto",
            Self::Chrome => "chrome",
            Self::Mindspore => "mindspore",
            Self::Spans => "spans",
            Self::Xplane => "xplane",
            Self::Folded => "folded",
            Self::Snapshot => "memory_snapshot",
            Self::Nsight => "nsight",
        }
    }
}

/// A process group of `torch.distributed`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessGroup {
    /// Name, as in [`DeviceWork::group`].
    pub name: String,
    /// Description that the program gave it, as `mesh_tp`; empty without one.
    pub description: String,
}

/// A device of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Index on its host.
    pub id: u32,
    /// Product name.
    pub name: String,
    /// Size of its memory in bytes; 0 if unknown.
    pub memory_len: u64,
    /// Major version of its compute capability; 0 if unknown.
    pub compute_major: u32,
    /// Number of streaming multiprocessors; 0 if unknown.
    pub multiprocessors: u32,
}

/// Slices as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slices {
    /// Begin times.
    pub begins: Vec<i64>,
    /// Durations.
    pub durations: Vec<u64>,
    /// Names.
    pub names: Vec<TextId>,
    /// Lanes, as indices into [`Trace::lanes`].
    pub lanes: Vec<u16>,
    /// Categories, as indices into [`Trace::categories`].
    pub categories: Vec<u16>,
    /// Correlation of launches and device work; [`NONE`] without one.
    pub links: Vec<u32>,
    /// Index into [`Trace::shapes`] for operators and annotations, into [`Trace::device_work`] for device work;
    /// [`NONE`] without one.
    pub details: Vec<u32>,
    /// Offset of the event in the unpacked source, to read the arguments of one slice on request.
    pub places: Vec<u64>,
}

impl Slices {
    /// Number of slices.
    pub fn len(&self) -> usize {
        self.begins.len()
    }

    /// `true` without slices.
    pub fn is_empty(&self) -> bool {
        self.begins.is_empty()
    }

    /// End of a slice.
    pub fn end(&self, slice: usize) -> i64 {
        self.begins[slice].saturating_add_unsigned(self.durations[slice])
    }

    /// Row of this number.
    pub fn get(&self, slice: usize) -> Option<Slice> {
        Some(Slice {
            begin: *self.begins.get(slice)?,
            duration: *self.durations.get(slice)?,
            name: *self.names.get(slice)?,
            lane: *self.lanes.get(slice)?,
            category: *self.categories.get(slice)?,
            link: *self.links.get(slice)?,
            detail: *self.details.get(slice)?,
            place: *self.places.get(slice)?,
        })
    }

    /// Appends a slice.
    pub fn push(&mut self, slice: &Slice) {
        self.begins.push(slice.begin);
        self.durations.push(slice.duration);
        self.names.push(slice.name);
        self.lanes.push(slice.lane);
        self.categories.push(slice.category);
        self.links.push(slice.link);
        self.details.push(slice.detail);
        self.places.push(slice.place);
    }
}

/// One slice, a row of [`Slices`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Begin time.
    pub begin: i64,
    /// Duration.
    pub duration: u64,
    /// Name.
    pub name: TextId,
    /// Index into [`Trace::lanes`].
    pub lane: u16,
    /// Index into [`Trace::categories`].
    pub category: u16,
    /// See [`Slices::links`].
    pub link: u32,
    /// See [`Slices::details`].
    pub detail: u32,
    /// See [`Slices::places`].
    pub place: u64,
}

/// A lane, identified by the texts of its process and thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    /// Process as the file identifies it: `"7999"` for both 7999 and "7999".
    pub process: String,
    /// Thread as the file identifies it. Lanes that a format derives from one thread have a suffix, as `100001#2`.
    pub thread: String,
    /// Name of the process, if it has one.
    pub process_name: String,
    /// Name of the thread, if it has one.
    pub thread_name: String,
    /// Position of the process among processes.
    pub process_sort: i64,
    /// Position of the thread in its process.
    pub thread_sort: i64,
    /// Kind of lane.
    pub kind: LaneKind,
}

/// Kinds of lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneKind {
    /// Thread of a host.
    #[default]
    Host,
    /// Stream or engine of a device.
    Device,
    /// Asynchronous slices, in separate rows.
    Async,
    /// Rows that the writer derived from others: never counted as work.
    Derived,
    /// The window of the recording, and the profiler itself: never counted as work.
    Profiler,
}

/// A category of slices, with totals over all of its slices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// Its text in the file; empty if it has none.
    pub name: String,
    /// Its meaning.
    pub class: SliceClass,
    /// Number of slices.
    pub count: u64,
    /// Sum of their durations.
    pub nanos: u64,
}

/// Meaning of a slice by its category. Names decide further: collectives among kernels, data among annotations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SliceClass {
    /// Any slice of a program: spans, other categories.
    #[default]
    Span,
    /// Operator of a framework.
    Operator,
    /// Annotation by the user or the framework.
    Annotation,
    /// Python frame.
    PythonFrame,
    /// Call of the runtime or driver of a device.
    Runtime,
    /// Kernel on a device.
    Kernel,
    /// Copy of memory by a device.
    Memcpy,
    /// Fill of memory by a device.
    Memset,
    /// Projection of an annotation onto a device: never work.
    DeviceAnnotation,
    /// Waiting of a device or stream: never work.
    DeviceWait,
    /// Cost of the profiler itself.
    Overhead,
    /// The window of the recording: not part of the extent.
    Window,
    /// Projection of other slices by the writer: never work.
    Derived,
}

/// Shapes, types and constants of the inputs of an operator or a collective, as the file writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shapes {
    /// `[[8, 16], [16, 4]]`.
    pub dims: String,
    /// `["float", "float"]`.
    pub types: String,
    /// `["", "", "[1, 1]"]`.
    pub concrete: String,
    /// Floating-point operations of a call; 0 if unknown.
    pub flops: u64,
    /// Bytes of the message of a collective, the larger of input and output; 0 if unknown.
    pub message_bytes: u64,
    /// Number of ranks of a collective; 0 if unknown.
    pub group_size: u32,
}

/// Arguments of a kernel, copy or fill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceWork {
    /// Device.
    pub device: u32,
    /// Bytes that were copied, filled or sent; 0 if unknown.
    pub bytes: u64,
    /// Blocks per multiprocessor; negative if unknown.
    pub blocks_per_multiprocessor: f32,
    /// Estimated occupancy in percent; negative if unknown.
    pub occupancy_percent: f32,
    /// Number of a collective in its process group; [`NONE`] for others.
    pub sequence: u32,
    /// Name of the process group of a collective.
    pub group: Option<TextId>,
    /// Number of ranks of a collective; 0 if unknown.
    pub group_size: u32,
}

/// An arrow from one slice to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Slice that it leaves.
    pub from: u32,
    /// Slice that it enters.
    pub to: u32,
    /// Category, as `ac2g` or `fwdbwd`.
    pub category: TextId,
}

/// A series of numbers over time, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CounterSeries {
    /// Process, as in [`Lane::process`].
    pub process: String,
    /// Name, followed by the key unless it is empty or `value`.
    pub name: String,
    /// Times.
    pub times: Vec<i64>,
    /// Values.
    pub values: Vec<f64>,
}

/// An instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Time.
    pub time: i64,
    /// Name.
    pub name: TextId,
    /// Lane, as an index into [`Trace::lanes`].
    pub lane: u16,
    /// `true` for instants of the whole trace.
    pub is_global: bool,
}

/// A step that the recording declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredStep {
    /// Its number.
    pub number: i64,
    /// Begin time.
    pub begin: i64,
    /// End time.
    pub end: i64,
}

/// Traffic from one rank to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Rank that sends.
    pub source: u32,
    /// Rank that receives.
    pub destination: u32,
    /// Bytes.
    pub bytes: u64,
    /// Nanoseconds.
    pub nanos: u64,
    /// Hardware between the two, as the file names it; empty if unknown.
    pub transport: String,
}

impl Link {
    /// A link without traffic.
    pub(crate) fn new(source: u32, destination: u32) -> Self {
        Self {
            source,
            destination,
            ..Self::default()
        }
    }
}

/// Counts of events of a trace, and of its damage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceCounts {
    /// All events of all phases, also those that are not kept.
    pub events: u64,
    /// Events by phase (`X`, `i`, `M`, …).
    pub by_phase: BTreeMap<String, u64>,
    /// Events of phases that are not shown, by phase.
    pub unread: BTreeMap<String, u64>,
    /// Flows that have a begin and no end in the trace.
    pub flows_without_end: u64,
    /// Ends of nested slices without a begin.
    pub ends_without_begin: u64,
    /// Slices without an end, shown up to the end of the trace.
    pub unfinished: Vec<u32>,
    /// Slices with a negative duration, taken as 0.
    pub negative_durations: u64,
    /// Events that exceed a limit of the format (lanes, texts, events) and are counted only.
    pub over_limit: u64,
    /// Places that could not be read.
    pub damages: Vec<TraceDamage>,
    /// Number of places that could not be read, also beyond those in `damages`.
    pub damaged: u64,
    /// `true` if the file ends before its last event is complete.
    pub truncated: bool,
    /// Unpacked bytes.
    pub bytes: u64,
}

/// A place of a trace that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceDamage {
    /// Offset of its first byte in the unpacked source.
    pub offset: u64,
    /// Number of bytes that were skipped.
    pub len: u64,
}
