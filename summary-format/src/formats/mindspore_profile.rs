//! `MindSpore`'s profiler: executions of operators on a CPU, shapes, waits for data, and the tables of Ascend devices.
//!
//! The executions are read from `cpu_op_execute_timestamp_<rank>.txt`; a Chrome file next to it repeats them and adds
//! the scopes. All other tables of a CPU are sums of the executions and only compared with them.

mod ascend;
mod executions;
mod iterator;
mod links;
mod npu;
mod table;
mod tables;
mod timeline;

use serde::Deserialize;

use super::trace_builder::TraceBuilder;
use crate::trace::{Trace, TraceFormat};

/// Begins above this are nanoseconds since 1970 (after 2001), below since the host was started.
const UNIX_FROM_NANOS: i64 = 1_000_000_000_000_000_000;

/// End of the note about a file that was cut off.
pub const CUT_ROW: &str = "before its last row is complete";

/// Files of one rank of one folder; each may be missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct MindsporeFiles<'a> {
    /// The rank, which is in the names of the files.
    pub rank: u32,
    /// `cpu_op_execute_timestamp_<rank>.txt`: the executions.
    pub executions: Option<&'a [u8]>,
    /// `cpu_framework_<rank>.txt`: shapes.
    pub framework: Option<&'a [u8]>,
    /// `cpu_op_type_info_<rank>.csv`: totals of types of operators.
    pub types: Option<&'a [u8]>,
    /// `cpu_op_detail_info_<rank>.csv`: totals of operators.
    pub details: Option<&'a [u8]>,
    /// `dataset_iterator_profiling_<rank>.txt`: waits for batches.
    pub iterator: Option<&'a [u8]>,
    /// `kernel_details.csv`: work on an Ascend device.
    pub kernels: Option<&'a [u8]>,
    /// `step_trace_time.csv`: steps on an Ascend device.
    pub steps: Option<&'a [u8]>,
    /// `communication_matrix.json`: links between ranks.
    pub links: Option<&'a [u8]>,
    /// `profiler_info_<rank>.json`: facts.
    pub info: Option<&'a [u8]>,
    /// `step_trace_raw_<rank>_detail_time.csv`: steps of an Ascend device, their parts and collectives.
    pub step_trace: Option<&'a [u8]>,
    /// `step_trace_point_info_<rank>.json`: the first operator of forward and the last one of backward.
    pub step_points: Option<&'a [u8]>,
    /// `output_timeline_data_<rank>.txt`: executions on an Ascend device.
    pub device_executions: Option<&'a [u8]>,
    /// `aicpu_intermediate_<rank>.csv`: executions on the AI CPU.
    pub ai_cpu: Option<&'a [u8]>,
    /// `framework_raw_<rank>.csv`: shapes of operators of an Ascend device.
    pub framework_raw: Option<&'a [u8]>,
    /// `flops_<rank>.txt`: FLOPs of operators of an Ascend device.
    pub flops: Option<&'a [u8]>,
    /// `aicore_intermediate_<rank>_detail.csv`: sums of operators of an Ascend device.
    pub core_details: Option<&'a [u8]>,
    /// `aicore_intermediate_<rank>_type.csv`: sums of types of operators of an Ascend device.
    pub core_types: Option<&'a [u8]>,
    /// `output_op_compute_time_<rank>.txt`: mean times of operators of an Ascend device.
    pub core_means: Option<&'a [u8]>,
    /// `hccl_raw_<rank>.csv`: communication by link.
    pub hccl: Option<&'a [u8]>,
    /// `min_cycle_counter_<rank>.txt`: the tick at which the timeline of an Ascend device begins.
    pub cycle_counter: Option<&'a [u8]>,
    /// Trace of `ascend_timeline_display_<rank>.json` or `timeline_display_<rank>.json`, which repeats the executions.
    pub device_timeline: Option<&'a Trace>,
}

/// Tables of a profile, as the fields of [`MindsporeFiles`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MindsporeTable {
    /// See [`MindsporeFiles::executions`].
    Executions,
    /// See [`MindsporeFiles::framework`].
    Framework,
    /// See [`MindsporeFiles::types`].
    Types,
    /// See [`MindsporeFiles::details`].
    Details,
    /// See [`MindsporeFiles::iterator`].
    Iterator,
    /// See [`MindsporeFiles::kernels`].
    Kernels,
    /// See [`MindsporeFiles::steps`].
    Steps,
    /// See [`MindsporeFiles::links`].
    Links,
    /// See [`MindsporeFiles::info`].
    Info,
    /// See [`MindsporeFiles::step_trace`].
    StepTrace,
    /// See [`MindsporeFiles::step_points`].
    StepPoints,
    /// See [`MindsporeFiles::device_executions`].
    DeviceExecutions,
    /// See [`MindsporeFiles::ai_cpu`].
    AiCpu,
    /// See [`MindsporeFiles::framework_raw`].
    FrameworkRaw,
    /// See [`MindsporeFiles::flops`].
    Flops,
    /// See [`MindsporeFiles::core_details`].
    CoreDetails,
    /// See [`MindsporeFiles::core_types`].
    CoreTypes,
    /// See [`MindsporeFiles::core_means`].
    CoreMeans,
    /// See [`MindsporeFiles::hccl`].
    Hccl,
    /// See [`MindsporeFiles::cycle_counter`].
    CycleCounter,
    /// See [`MindsporeFiles::device_timeline`]: Chrome JSON.
    DeviceTimeline,
    /// `cpu_timeline_display_<rank>.json` or `trace_view.json`: Chrome JSON.
    Timeline,
}

/// Prefix and suffix of file names; the rank is between the two.
const RANKED: [(&str, &str, MindsporeTable); 20] = [
    (
        "cpu_op_execute_timestamp_",
        ".txt",
        MindsporeTable::Executions,
    ),
    ("cpu_framework_", ".txt", MindsporeTable::Framework),
    ("cpu_op_type_info_", ".csv", MindsporeTable::Types),
    ("cpu_op_detail_info_", ".csv", MindsporeTable::Details),
    (
        "dataset_iterator_profiling_",
        ".txt",
        MindsporeTable::Iterator,
    ),
    ("profiler_info_", ".json", MindsporeTable::Info),
    ("cpu_timeline_display_", ".json", MindsporeTable::Timeline),
    (
        "step_trace_raw_",
        "_detail_time.csv",
        MindsporeTable::StepTrace,
    ),
    (
        "step_trace_point_info_",
        ".json",
        MindsporeTable::StepPoints,
    ),
    (
        "output_timeline_data_",
        ".txt",
        MindsporeTable::DeviceExecutions,
    ),
    ("aicpu_intermediate_", ".csv", MindsporeTable::AiCpu),
    ("framework_raw_", ".csv", MindsporeTable::FrameworkRaw),
    ("flops_", ".txt", MindsporeTable::Flops),
    (
        "aicore_intermediate_",
        "_detail.csv",
        MindsporeTable::CoreDetails,
    ),
    (
        "aicore_intermediate_",
        "_type.csv",
        MindsporeTable::CoreTypes,
    ),
    ("output_op_compute_time_", ".txt", MindsporeTable::CoreMeans),
    ("hccl_raw_", ".csv", MindsporeTable::Hccl),
    ("min_cycle_counter_", ".txt", MindsporeTable::CycleCounter),
    ("timeline_display_", ".json", MindsporeTable::DeviceTimeline),
    (
        "ascend_timeline_display_",
        ".json",
        MindsporeTable::DeviceTimeline,
    ),
];

/// File names without a rank.
const UNRANKED: [(&str, MindsporeTable); 5] = [
    ("trace_view.json", MindsporeTable::Timeline),
    ("kernel_details.csv", MindsporeTable::Kernels),
    ("step_trace_time.csv", MindsporeTable::Steps),
    ("communication_matrix.json", MindsporeTable::Links),
    ("step_trace_point_info.json", MindsporeTable::StepPoints),
];

impl MindsporeTable {
    /// The table of a file by its name (the last part of its path), and the rank if the name has one.
    pub fn sniff(file_name: &str) -> Option<(Self, Option<u32>)> {
        let ranked = RANKED.iter().find_map(|(before, after, table)| {
            let rank = file_name.strip_prefix(before)?.strip_suffix(after)?;
            Some((*table, Some(rank.parse().ok()?)))
        });
        ranked.or_else(|| {
            let (_, table) = UNRANKED.iter().find(|(name, _)| *name == file_name)?;
            Some((*table, None))
        })
    }

    /// `true` for a table that is enough to know times of a device.
    pub const fn is_of_device(self) -> bool {
        matches!(
            self,
            Self::StepTrace
                | Self::DeviceExecutions
                | Self::AiCpu
                | Self::CoreDetails
                | Self::CoreTypes
                | Self::CoreMeans
                | Self::Hccl
        )
    }

    /// Name of the file of a rank.
    fn file_name(self, rank: u32) -> String {
        let ranked = RANKED.iter().find(|(_, _, table)| *table == self);
        if let Some((before, after, _)) = ranked {
            return format!("{before}{rank}{after}");
        }
        let unranked = UNRANKED.iter().find(|(_, table)| *table == self);
        unranked.map_or("", |(name, _)| name).to_owned()
    }
}

impl<'a> MindsporeFiles<'a> {
    /// Stores the content of a file in its field; timelines have no field.
    pub fn set(&mut self, table: MindsporeTable, bytes: &'a [u8]) {
        let place = match table {
            MindsporeTable::Executions => &mut self.executions,
            MindsporeTable::Framework => &mut self.framework,
            MindsporeTable::Types => &mut self.types,
            MindsporeTable::Details => &mut self.details,
            MindsporeTable::Iterator => &mut self.iterator,
            MindsporeTable::Kernels => &mut self.kernels,
            MindsporeTable::Steps => &mut self.steps,
            MindsporeTable::Links => &mut self.links,
            MindsporeTable::Info => &mut self.info,
            MindsporeTable::StepTrace => &mut self.step_trace,
            MindsporeTable::StepPoints => &mut self.step_points,
            MindsporeTable::DeviceExecutions => &mut self.device_executions,
            MindsporeTable::AiCpu => &mut self.ai_cpu,
            MindsporeTable::FrameworkRaw => &mut self.framework_raw,
            MindsporeTable::Flops => &mut self.flops,
            MindsporeTable::CoreDetails => &mut self.core_details,
            MindsporeTable::CoreTypes => &mut self.core_types,
            MindsporeTable::CoreMeans => &mut self.core_means,
            MindsporeTable::Hccl => &mut self.hccl,
            MindsporeTable::CycleCounter => &mut self.cycle_counter,
            MindsporeTable::Timeline | MindsporeTable::DeviceTimeline => return,
        };
        *place = Some(bytes);
    }

    /// `true` with a table of an Ascend device up to `MindSpore` 2.3.
    fn is_of_npu(&self) -> bool {
        let tables = [
            self.step_trace,
            self.ai_cpu,
            self.core_details,
            self.core_types,
            self.core_means,
            self.hccl,
        ];
        self.has_executions() || tables.iter().any(Option::is_some)
    }

    /// `true` with executions on the cores of an Ascend device that have times.
    const fn has_executions(&self) -> bool {
        self.device_timeline.is_some() || self.device_executions.is_some()
    }
}

/// Facts of `profiler_info_<rank>.json`.
#[derive(Default, Deserialize)]
struct Info {
    #[serde(default)]
    rank_id: serde_json::Value,
    #[serde(default)]
    rank_size: serde_json::Value,
}

/// A number that some versions write as text.
fn number(value: &serde_json::Value) -> Option<u32> {
    let number = value.as_u64().and_then(|number| number.try_into().ok());
    number.or_else(|| value.as_str()?.parse().ok())
}

/// The trace of one rank, and notes about files that differ from the executions or could not be used.
///
/// `timeline` is the trace of the Chrome file next to the tables. It adds scopes and rows that the writer derived; its
/// executions are only kept if the text file with the executions is missing.
pub fn read(files: &MindsporeFiles<'_>, timeline: Option<Trace>) -> (Trace, Vec<String>) {
    let mut notes = Vec::new();
    let mut builder = TraceBuilder::of(timeline.unwrap_or_default());
    builder.trace.head.format = TraceFormat::Mindspore;
    if let Some(bytes) = files.executions {
        let lane = timeline::take_executions(&mut builder.trace);
        let runs = executions::read(bytes, lane, &mut builder);
        if let Some(framework) = files.framework {
            executions::shapes(framework, &runs, &mut builder.trace, &mut notes);
        }
        let total = executions::totals(&runs, &builder.trace);
        tables::compare(files, &total, &mut notes);
        if let Some(bytes) = files.iterator {
            iterator::read(bytes, &runs, &mut builder, &mut notes);
        }
    }
    ascend::read(files, &mut builder, &mut notes);
    npu::read(files, &mut builder, &mut notes);
    if let Some(bytes) = files.links {
        builder.trace.links = links::read(bytes, &mut notes);
    }
    let trace = &mut builder.trace;
    let first = trace.slices.begins.iter().min();
    trace.head.unix_offset_nanos = first.filter(|first| **first > UNIX_FROM_NANOS).map(|_| 0);
    if let Some(bytes) = files.info {
        match serde_json::from_slice::<Info>(bytes) {
            Ok(info) => {
                trace.head.rank = trace.head.rank.or_else(|| number(&info.rank_id));
                trace.head.world_size = (trace.head.world_size).or_else(|| number(&info.rank_size));
            }
            Err(error) => notes.push(format!("profiler_info: {error}")),
        }
    }
    (builder.trace, notes)
}

#[cfg(test)]
mod tests {
    use super::{MindsporeTable, number};

    #[test]
    fn tables_are_told_by_their_names() {
        for (name, table) in [
            (
                "cpu_op_execute_timestamp_7.txt",
                Some((MindsporeTable::Executions, Some(7))),
            ),
            (
                "cpu_timeline_display_0.json",
                Some((MindsporeTable::Timeline, Some(0))),
            ),
            ("trace_view.json", Some((MindsporeTable::Timeline, None))),
            ("kernel_details.csv", Some((MindsporeTable::Kernels, None))),
            (
                "communication_matrix.json",
                Some((MindsporeTable::Links, None)),
            ),
            (
                "step_trace_raw_3_detail_time.csv",
                Some((MindsporeTable::StepTrace, Some(3))),
            ),
            (
                "aicore_intermediate_1_type.csv",
                Some((MindsporeTable::CoreTypes, Some(1))),
            ),
            (
                "ascend_timeline_display_0.json",
                Some((MindsporeTable::DeviceTimeline, Some(0))),
            ),
            (
                "step_trace_point_info.json",
                Some((MindsporeTable::StepPoints, None)),
            ),
            ("output_op_compute_time_detail_1.txt", None),
            ("flops_summary_1.json", None),
            ("cpu_framework_.txt", None),
            ("cpu_timeline_summary_0.json", None),
        ] {
            assert_eq!(MindsporeTable::sniff(name), table, "{name}");
        }
    }

    #[test]
    fn numbers_may_be_text() {
        assert_eq!(number(&serde_json::json!("3")), Some(3));
        assert_eq!(number(&serde_json::json!(3)), Some(3));
        assert_eq!(number(&serde_json::json!(-3)), None);
        assert_eq!(number(&serde_json::Value::Null), None);
    }
}
