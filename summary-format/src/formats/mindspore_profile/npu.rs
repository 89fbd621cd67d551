//! Tables of Ascend devices up to `MindSpore` 2.3, whose file names end with the number of the device.
//!
//! Executions are read from `output_timeline_data_<d>.txt` and `aicpu_intermediate_<d>.csv`, collectives and steps from
//! `step_trace_raw_<d>_detail_time.csv`. All of these count from one moment. The tables of sums are read for operators
//! without an execution.

mod executions;
mod facts;
mod hccl;
mod step_trace;
mod sums;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::super::trace_builder::TraceBuilder;
use super::MindsporeFiles;
use super::executions::Total;
use crate::trace::{Category, Device, DeviceWork, Lane, LaneKind, NONE, Slice, SliceClass, TextId};
use facts::Facts;

/// Units of a device, as categories of slices.
const AI_CORE: &str = "AI Core";
const AI_CPU: &str = "AI CPU";
const HCCL: &str = "HCCL";

/// Types of operators that communicate.
const COLLECTIVES: [&str; 10] = [
    "AllReduce",
    "AllGather",
    "ReduceScatter",
    "Broadcast",
    "AllToAll",
    "AllToAllv",
    "AlltoAll",
    "Send",
    "Receive",
    "Reduce",
];

pub(super) fn read(
    files: &MindsporeFiles<'_>,
    builder: &mut TraceBuilder,
    notes: &mut Vec<String>,
) {
    if !files.is_of_npu() {
        return;
    }
    let costs = hccl::read(files, &mut builder.trace, notes);
    let facts = Facts::read(files, builder, notes);
    builder.trace.head.devices.push(Device {
        id: files.rank,
        name: "Ascend".to_owned(),
        ..Device::default()
    });
    let mut npu = Npu {
        builder,
        facts,
        device: files.rank,
        is_timed: files.has_executions(),
        works: BTreeMap::new(),
        names: HashSet::new(),
        totals: BTreeMap::new(),
        collective_streams: BTreeSet::new(),
    };
    executions::read(files, &mut npu, notes);
    step_trace::read(files, &costs, &mut npu, notes);
    sums::read(files, &mut npu, notes);
}

/// Type of an operator: the last part of its name without `-opN`.
fn kind_of(name: &str) -> &str {
    let short = name.rsplit('/').next().unwrap_or(name);
    match short.rsplit_once("-op") {
        Some((kind, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => kind,
        _ => short,
    }
}

/// `true` for the name of an operator that communicates.
fn communicates(name: &str) -> bool {
    let kind = kind_of(name);
    COLLECTIVES.contains(&kind) || kind.to_ascii_lowercase().starts_with("hcom")
}

/// Name of a unit as the tables write it, `AI_CORE`.
fn unit_of(text: &str) -> Option<&str> {
    match text {
        "" | "N/A" => None,
        "AI_CORE" => Some(AI_CORE),
        "AI_VECTOR_CORE" => Some("AI Vector Core"),
        "AI_CPU" => Some(AI_CPU),
        "COMMUNICATION" | "HCCL" => Some(HCCL),
        other => Some(other),
    }
}

/// A device that is being filled.
struct Npu<'b> {
    builder: &'b mut TraceBuilder,
    facts: Facts,
    device: u32,
    /// `true` if executions have times. Without them, the busy and idle times of the device are unknown.
    is_timed: bool,
    /// Arguments of collectives by their bytes.
    works: BTreeMap<u64, u32>,
    /// Names of operators with an execution.
    names: HashSet<TextId>,
    /// Executions of cores and their time by type.
    totals: BTreeMap<String, Total>,
    /// Streams on which the timeline has collectives.
    collective_streams: BTreeSet<String>,
}

/// An execution of an operator.
struct Execution<'a> {
    /// Name with its scopes.
    name: &'a str,
    /// Unit that ran it.
    unit: &'a str,
    /// Stream; empty if it is unknown.
    stream: &'a str,
    begin: i64,
    duration: i64,
    /// Bytes that a collective sent; 0 if unknown.
    bytes: u64,
    /// Offset in its file.
    place: usize,
}

impl Npu<'_> {
    fn push(&mut self, execution: &Execution<'_>) {
        let Some(category) = self.category(execution.unit) else {
            self.builder.trace.counts.over_limit += 1;
            return;
        };
        let duration = u64::try_from(execution.duration).unwrap_or_else(|_| {
            self.builder.trace.counts.negative_durations += 1;
            0
        });
        let lane = self.lane(execution.unit, execution.stream);
        let (Some(lane), Some(name)) = (lane, self.builder.name(execution.name)) else {
            self.builder.trace.counts.over_limit += 1;
            return;
        };
        let detail = if execution.unit == HCCL && self.is_timed {
            self.work(execution.bytes)
        } else {
            self.facts.detail(execution.name, &mut self.builder.trace)
        };
        self.names.insert(name);
        if ![AI_CPU, HCCL].contains(&execution.unit) {
            let total = self
                .totals
                .entry(kind_of(execution.name).to_owned())
                .or_default();
            total.count += 1;
            total.nanos = total.nanos.saturating_add(duration);
        }
        self.builder.push(&Slice {
            begin: execution.begin,
            duration,
            name,
            lane,
            category,
            link: NONE,
            detail,
            place: execution.place as u64,
        });
    }

    /// Maximum number of units: tables name a handful.
    const MAX_UNITS: usize = 64;

    fn category(&mut self, unit: &str) -> Option<u16> {
        let class = if unit == HCCL && self.is_timed {
            SliceClass::Kernel
        } else {
            SliceClass::Operator
        };
        let is_full = self.builder.trace.categories.len() >= Self::MAX_UNITS;
        let is_known = |known: &Category| known.name == unit;
        if is_full && !self.builder.trace.categories.iter().any(is_known) {
            return None;
        }
        Some(self.builder.category(unit, class))
    }

    fn lane(&mut self, unit: &str, stream: &str) -> Option<u16> {
        let thread = match stream {
            "" => unit.to_owned(),
            _ => format!("{unit} {stream}"),
        };
        self.builder.lane(Lane {
            process: format!("NPU {}", self.device),
            process_name: format!("NPU {}", self.device),
            thread_name: match stream {
                "" => thread.clone(),
                _ => format!("{unit}, stream {stream}"),
            },
            thread,
            thread_sort: stream.parse().unwrap_or(0),
            kind: if self.is_timed {
                LaneKind::Device
            } else {
                LaneKind::Host
            },
            ..Lane::default()
        })
    }

    fn work(&mut self, bytes: u64) -> u32 {
        let (works, device) = (&mut self.builder.trace.device_work, self.device);
        *self.works.entry(bytes).or_insert_with(|| {
            works.push(DeviceWork {
                device,
                bytes,
                blocks_per_multiprocessor: -1.0,
                occupancy_percent: -1.0,
                sequence: NONE,
                ..DeviceWork::default()
            });
            u32::try_from(works.len() - 1).unwrap_or(NONE)
        })
    }

    /// End of all slices and steps so far; 0 without any.
    fn end(&self) -> i64 {
        let trace = &self.builder.trace;
        let slices = (0..trace.slices.len()).map(|slice| trace.slices.end(slice));
        let steps = trace.declared_steps.iter().map(|step| step.end);
        slices.chain(steps).max().unwrap_or(0)
    }
}
