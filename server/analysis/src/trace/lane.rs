//! Names of lanes for display, and the time of their slices.

use trainscope_format::trace::{LaneKind, TraceFormat};

use super::Model;
use super::ranges::{self, Span};

/// Bound of the numbers of GPUs: Kineto numbers them from 0. Larger numbers of processes are those of hosts.
const MAX_GPU: u32 = 1_024;

/// `process/thread` of a lane; empty if it is missing.
pub fn text(model: &Model, lane: usize) -> String {
    let lane = model.trace.lanes.get(lane);
    lane.map_or_else(String::new, |lane| {
        format!("{}/{}", lane.process, lane.thread)
    })
}

/// Name of a lane for display.
pub fn name(model: &Model, lane: usize) -> String {
    let Some(lane) = model.trace.lanes.get(lane) else {
        return String::new();
    };
    let name = lane.thread_name.trim();
    match lane.kind {
        _ if !name.is_empty() => name.to_owned(),
        LaneKind::Host => format!("thread {}", lane.thread),
        LaneKind::Device if lane.thread.starts_with("stream") => lane.thread.clone(),
        LaneKind::Device => format!("stream {}", lane.thread),
        LaneKind::Async | LaneKind::Derived | LaneKind::Profiler => lane.thread.clone(),
    }
}

/// Name of the process or device of a lane for display.
pub fn group_name(model: &Model, lane: usize) -> String {
    let Some(lane) = model.trace.lanes.get(lane) else {
        return String::new();
    };
    let name = lane.process_name.trim();
    let has_devices = matches!(
        model.trace.head.format,
        TraceFormat::Kineto | TraceFormat::Nsight
    );
    if lane.kind == LaneKind::Device && has_devices {
        // The file gives the name of the program to its devices too.
        let id = lane.process.parse::<u32>().ok().filter(|id| *id < MAX_GPU);
        if let Some(id) = id {
            let devices = &model.trace.head.devices;
            let device = devices.iter().find(|device| device.id == id);
            return match device {
                Some(device) if !device.name.is_empty() => format!("GPU {id} · {}", device.name),
                _ => format!("GPU {id}"),
            };
        }
    }
    match (name, lane.process.as_str()) {
        ("", "") => String::new(),
        ("", process) => format!("process {process}"),
        (name, process) if process.is_empty() || process == name => name.to_owned(),
        (name, process) => format!("{name} ({process})"),
    }
}

/// Appends the time of the slices of a lane for which `counts` is true, for [`ranges::merge`].
pub(super) fn spans(
    model: &Model,
    lane: usize,
    spans: &mut Vec<Span>,
    counts: impl Fn(usize) -> bool,
) {
    let slices = model.lanes.get(lane).map(|lane| lane.slices.clone());
    for slice in slices.unwrap_or_default() {
        if counts(slice as usize) {
            let (begin, end) = model.span(slice);
            ranges::push(spans, begin, end);
        }
    }
}
