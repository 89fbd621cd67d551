//! Meaning of categories, processes and threads by their names.

use crate::trace::{Lane, LaneKind, SliceClass};

/// Thread of MindSpore 2.0 that shows all operators as one.
const MERGED_COMPUTATION: &str = "Merged Computation Op";
/// Threads that MindSpore 2.0 derives from those of its operators.
const MINDSPORE_DERIVED: [&str; 5] = [
    "Steps",
    MERGED_COMPUTATION,
    "Pure Communication Op",
    "Merged Communication Op",
    "Free Time",
];
/// Start of the names of MindSpore's threads for operators on a CPU.
const MINDSPORE_OPERATORS: &str = "HostCpuOps";

/// Meaning of a category; upper and lower case differ between versions of Kineto.
pub(super) fn class_of(category: &str) -> SliceClass {
    // Other programs may use the lower-case word for their slices.
    if category == "Trace" {
        return SliceClass::Window;
    }
    match category.to_ascii_lowercase().as_str() {
        "cpu_op" | "operator" => SliceClass::Operator,
        "user_annotation" | "python" | "profilerstep" => SliceClass::Annotation,
        "python_function" => SliceClass::PythonFrame,
        "cuda_runtime" | "cuda_driver" | "runtime" | "xpu_runtime" | "xpu_driver"
        | "mtia_runtime" | "glow_runtime" => SliceClass::Runtime,
        "kernel" | "concurrent_kernel" | "mtia_ccp_events" => SliceClass::Kernel,
        "gpu_memcpy" | "memcpy" => SliceClass::Memcpy,
        "gpu_memset" | "memset" => SliceClass::Memset,
        "gpu_user_annotation" => SliceClass::DeviceAnnotation,
        "cuda_sync" | "xpu_sync" => SliceClass::DeviceWait,
        "overhead" => SliceClass::Overhead,
        other if other.starts_with("privateuse1_") => SliceClass::Runtime,
        _ => SliceClass::Span,
    }
}

/// `true` for slices of a stream or engine of a device.
pub(super) const fn is_device(class: SliceClass) -> bool {
    matches!(
        class,
        SliceClass::Kernel
            | SliceClass::Memcpy
            | SliceClass::Memset
            | SliceClass::DeviceAnnotation
            | SliceClass::DeviceWait
    )
}

/// Meaning of a lane by its names, and of its slices whose category has no meaning. `None` for ordinary lanes.
pub(super) fn lane_meaning(lane: &Lane, is_of_mindspore: bool) -> Option<(LaneKind, SliceClass)> {
    const DERIVED: (LaneKind, SliceClass) = (LaneKind::Derived, SliceClass::Derived);
    const DEVICE: (LaneKind, SliceClass) = (LaneKind::Device, SliceClass::Kernel);
    const OPERATORS: (LaneKind, SliceClass) = (LaneKind::Host, SliceClass::Operator);
    let process = lane.process_name.as_str();
    let thread = lane.thread_name.as_str();
    match process {
        // MindSpore on Ascend and torch_npu.
        "Ascend Hardware" | "Communication" | "HCCL" => Some(DEVICE),
        "Overlap Analysis" | "Scope Layer" | "Step Trace" => Some(DERIVED),
        "CPU OP" => Some(OPERATORS),
        // TensorFlow and JAX.
        _ if process.starts_with("/device:GPU") || process.starts_with("/device:TPU") => {
            let is_work = thread.starts_with("Stream") || thread.starts_with("XLA Ops");
            Some(if is_work { DEVICE } else { DERIVED })
        }
        _ if is_of_mindspore && MINDSPORE_DERIVED.contains(&thread) => Some(DERIVED),
        _ if lane.thread.starts_with(MINDSPORE_OPERATORS) => Some(OPERATORS),
        _ => None,
    }
}

/// `true` for names of processes and threads that only MindSpore gives.
pub(super) fn is_mindspore(lane: &Lane) -> bool {
    matches!(
        lane.process_name.as_str(),
        "CPU OP" | "Scope Layer" | "MindSpore"
    ) || lane.thread_name == MERGED_COMPUTATION
        || lane.thread.starts_with(MINDSPORE_OPERATORS)
}

/// Bytes of an element of a type of torch; 0 if unknown.
pub(super) fn element_len(name: &[u8]) -> u64 {
    match name {
        b"Double" | b"Long" | b"ComplexFloat" => 8,
        b"Float" | b"Int" => 4,
        b"Half" | b"BFloat16" | b"Short" => 2,
        b"Byte" | b"Char" | b"Bool" => 1,
        _ if name.starts_with(b"Float8") => 1,
        _ => 0,
    }
}
