//! Segments of the critical path.

/// Kind of time of a kind of segment, by its place among the kinds.
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
