//! Vertices and edges of a layered layout, and their distances.

/// Vertical space between two ranks, pixels.
pub(super) const RANK_GAP: f64 = 34.0;
/// Space between vertices without edges, pixels.
pub(super) const GRID_GAP: f64 = 16.0;
/// Aspect ratio (width / height) that the layout of a wide graph may have.
pub(super) const ASPECT: f64 = 1.6;

/// Fixed position of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pin {
    Free,
    /// Above all others.
    Top,
    /// Below all others.
    Bottom,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) pin: Pin,
    /// True for an open scope: edges meet it at its ports.
    pub(super) is_open: bool,
}

/// An edge; the points where it touches its ends are relative to their middle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) from_dx: f64,
    pub(super) to_dx: f64,
    /// True if it leads upwards, from the upper border of its source to the lower one of its target.
    pub(super) is_turned: bool,
}

/// A place in a rank: a vertex, or a crossing of edges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) rank: usize,
    pub(super) width: f64,
    pub(super) is_vertex: bool,
}

/// An edge between places in neighbouring ranks, from above to below.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) upper: usize,
    pub(super) lower: usize,
    pub(super) upper_dx: f64,
    pub(super) lower_dx: f64,
}
