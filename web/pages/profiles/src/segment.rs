//! Segments of the critical path.

/// Position of the kind of time of a kind of segment.
pub(crate) fn kind_of(segment: &str) -> usize {
    match segment {
        "kernel" => 0,
        "communication" => 1,
        "memcpy" | "memset" => 2,
        "data" => 3,
        "between_kernels" => 5,
        _ => 4,
    }
}
