//! Executions on the units of a device.

use super::super::super::decimal::scaled;
use super::super::table::Table;
use super::super::{MindsporeFiles, MindsporeTable};
use super::{AI_CPU, Execution, HCCL, Npu};
use crate::trace::LaneKind;

/// Processes of the timeline of all units.
const TIMELINE_AI_CPU: &str = "9000";
const TIMELINE_HCCL: &str = "10000";
/// Digits from ticks of 10 ns to nanoseconds.
const TICKS_TO_NANOS: usize = 1;
/// Digits from microseconds to nanoseconds.
const MICROS_TO_NANOS: usize = 3;

pub(super) fn read(files: &MindsporeFiles<'_>, npu: &mut Npu<'_>, notes: &mut Vec<String>) {
    if let Some(bytes) = files.device_executions {
        let file = MindsporeTable::DeviceExecutions.file_name(files.rank);
        timeline_data(Table::new(&file, bytes), npu, notes);
    } else if files.device_timeline.is_some() {
        timeline(files, npu);
    }
    if let Some(bytes) = files.ai_cpu {
        let file = MindsporeTable::AiCpu.file_name(files.rank);
        ai_cpu(Table::new(&file, bytes), npu, notes);
    }
}

/// Reads `output_timeline_data`: a row an execution.
fn timeline_data(mut table: Table<'_>, npu: &mut Npu<'_>, notes: &mut Vec<String>) {
    let name = table.column(&["op_name", "kernel_name"]);
    let stream = table.column(&["stream_id"]);
    let times = table.times(&["start_time"]).zip(table.times(&["duration"]));
    let (Some(name), Some((start, duration))) = (name, times) else {
        return table.lacks("op_name, start_time, duration", notes);
    };
    while let Some(row) = table.next_row() {
        let full = npu.facts.full_name(&row.text(Some(name)));
        let times = row.nanos(start).zip(row.nanos(duration));
        let (Some((begin, duration)), false) = (times, full.is_empty()) else {
            table.bad(&row);
            continue;
        };
        let unit = npu.facts.unit(&full);
        let stream = row.text(stream);
        if unit == HCCL {
            npu.collective_streams.insert(stream.clone().into_owned());
        }
        npu.push(&Execution {
            name: &full,
            unit: &unit,
            stream: &stream,
            begin,
            duration,
            bytes: 0,
            place: row.offset,
        });
    }
    table.finish(&mut npu.builder.trace.counts, notes);
}

/// Reads `aicpu_intermediate`: a row an execution; its start is in microseconds. The dispatch before it is not part of
/// the execution.
fn ai_cpu(mut table: Table<'_>, npu: &mut Npu<'_>, notes: &mut Vec<String>) {
    let name = table.column(&["op_type", "kernel_type"]);
    let (start, end) = (table.column(&["run_start"]), table.column(&["run_end"]));
    let length = table.times(&["execution_time"]);
    if name.is_none() || start.is_none() || (end.is_none() && length.is_none()) {
        return table.lacks("op_type, run_start, run_end", notes);
    }
    while let Some(row) = table.next_row() {
        let full = npu.facts.full_name(&row.text(name));
        let begin = row.scaled(start, MICROS_TO_NANOS);
        let duration = match length {
            Some(length) => row.nanos(length),
            None => row
                .scaled(end, MICROS_TO_NANOS)
                .zip(begin)
                .map(|(end, begin)| end.saturating_sub(begin)),
        };
        let (Some(begin), Some(duration), false) = (begin, duration, full.is_empty()) else {
            table.bad(&row);
            continue;
        };
        npu.push(&Execution {
            name: &full,
            unit: AI_CPU,
            stream: "",
            begin,
            duration,
            bytes: 0,
            place: row.offset,
        });
    }
    table.finish(&mut npu.builder.trace.counts, notes);
}

/// Takes the executions of the timeline that `MindSpore` wrote for display, if the table is missing. Its times count
/// from the smallest tick that the device recorded; its names have no scopes.
fn timeline(files: &MindsporeFiles<'_>, npu: &mut Npu<'_>) {
    let Some(trace) = files.device_timeline else {
        return;
    };
    let ticks = files.cycle_counter.map(<[u8]>::trim_ascii);
    let ticks = ticks.and_then(|text| scaled(text, TICKS_TO_NANOS));
    let first = ticks.unwrap_or(0);
    let has_ai_cpu = files.ai_cpu.is_some();
    let has_step_trace = files.step_trace.is_some();
    for index in 0..trace.slices.len() {
        let Some(slice) = trace.slices.get(index) else {
            continue;
        };
        let Some(lane) = trace.lanes.get(usize::from(slice.lane)) else {
            continue;
        };
        let full = npu.facts.full_name(trace.texts.get(slice.name));
        let unit = match &*lane.process {
            // Scopes and unions.
            _ if matches!(lane.kind, LaneKind::Derived | LaneKind::Profiler) => continue,
            TIMELINE_AI_CPU if has_ai_cpu => continue,
            TIMELINE_HCCL if has_step_trace => continue,
            TIMELINE_AI_CPU => AI_CPU.to_owned(),
            TIMELINE_HCCL => HCCL.to_owned(),
            _ => npu.facts.unit(&full),
        };
        let stream = if unit == AI_CPU { "" } else { &lane.thread };
        npu.push(&Execution {
            name: &full,
            unit: &unit,
            stream,
            begin: slice.begin.saturating_add(first),
            duration: i64::try_from(slice.duration).unwrap_or(i64::MAX),
            bytes: 0,
            place: usize::try_from(slice.place).unwrap_or(0),
        });
    }
    let counts = &mut npu.builder.trace.counts;
    counts.events += trace.counts.events;
    counts.bytes += trace.counts.bytes;
    counts.damaged += trace.counts.damaged;
    counts.damages.extend_from_slice(&trace.counts.damages);
    counts.truncated |= trace.counts.truncated;
}
