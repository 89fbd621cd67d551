//! Lines of equal loss and the areas above them: marching squares with linear interpolation, saddles by the mean of the
//! four corners.

use std::collections::HashMap;

use super::{Point, Surface};

/// Number of levels between the minimum and the maximum finite loss. It is odd: one level is in the middle. The ten
/// sequential colours do not distinguish more levels.
pub const LEVELS: usize = 13;

/// Spacing of the levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossScale {
    /// Equal differences.
    #[default]
    Linear,
    /// Equal ratios; only for losses above 0.
    Log,
}

impl LossScale {
    /// The default for a range of losses: logarithmic if all are above 0.
    pub fn of(range: Option<(f64, f64)>) -> Self {
        match range {
            Some((low, _)) if low > 0.0 => Self::Log,
            _ => Self::Linear,
        }
    }

    /// Share of the range below a loss, 0 to 1; 0 for a range without extent.
    pub fn share(self, (low, high): (f64, f64), loss: f64) -> f64 {
        let (low, high, loss) = match self {
            Self::Log if low > 0.0 => (low.ln(), high.ln(), loss.ln()),
            _ => (low, high, loss),
        };
        // Halved, because a difference may exceed the range of `f64`.
        let share = (loss / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        }
    }
}

/// The levels between two losses, ascending; empty without a difference.
pub fn levels((low, high): (f64, f64), scale: LossScale) -> Vec<f64> {
    let has_extent = low < high;
    if !has_extent {
        return Vec::new();
    }
    let shares = (1..=LEVELS).map(|level| level as f64 / (LEVELS + 1) as f64);
    let all = shares.map(|share| match scale {
        LossScale::Log if low > 0.0 => (low.ln() * (1.0 - share) + high.ln() * share).exp(),
        _ => low * (1.0 - share) + high * share,
    });
    all.filter(|level| (low..=high).contains(level)).collect()
}

/// A cell without a surface: its lower left and upper right corner, and `true` if a corner is NaN, `false` if corners
/// are only infinite.
pub type Gap = (Point, Point, bool);

/// Lines and areas of a surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contours {
    /// Closed outlines of the area with a surface, counter-clockwise, of holes clockwise. The first point is not
    /// repeated.
    pub area: Vec<Vec<Point>>,
    /// For each level the outlines of the area at or above it, in the same way.
    pub above: Vec<Vec<Vec<Point>>>,
    /// For each level its lines.
    pub lines: Vec<Vec<Vec<Point>>>,
    /// Cells without a surface; neighbours of the same class in a row are merged.
    pub gaps: Vec<Gap>,
}

/// The contours of a surface at some levels.
pub fn contours(surface: &Surface, levels: &[f64]) -> Contours {
    let (area, _) = Tracer::new(surface, f64::NEG_INFINITY).trace();
    let (above, lines) = levels
        .iter()
        .map(|level| Tracer::new(surface, *level).trace())
        .unzip();
    Contours {
        area,
        above,
        lines,
        gaps: gaps(surface),
    }
}

fn gaps(surface: &Surface) -> Vec<Gap> {
    let (columns, rows) = cells(surface);
    let mut gaps: Vec<Gap> = Vec::new();
    for row in 0..rows {
        let mut before = None;
        for column in 0..columns {
            let corners = corners(surface, row, column);
            let class = corners
                .iter()
                .any(|loss| !loss.is_finite())
                .then(|| corners.iter().any(|loss| loss.is_nan()));
            let (from, to) = (
                (surface.x[column], surface.y[row]),
                (surface.x[column + 1], surface.y[row + 1]),
            );
            match (class, gaps.last_mut()) {
                (Some(_), Some(last)) if before == class => last.1 = to,
                (Some(is_nan), _) => gaps.push((from, to, is_nan)),
                (None, _) => {}
            }
            before = class;
        }
    }
    gaps
}

/// Numbers of columns and rows of cells.
fn cells(surface: &Surface) -> (usize, usize) {
    (surface.x.len() - 1, surface.y.len().saturating_sub(1))
}

/// Corners of a cell, counter-clockwise from the lower left.
const CORNERS: [(usize, usize); 4] = [(0, 0), (0, 1), (1, 1), (1, 0)];
/// Neighbour of a cell across each of its sides, in the order of the corners before them: below, right, above, left.
const SIDES: [(isize, isize); 4] = [(-1, 0), (0, 1), (1, 0), (0, -1)];

fn corners(surface: &Surface, row: usize, column: usize) -> [f64; 4] {
    CORNERS.map(|(up, right)| surface.loss(row + up, column + right))
}

/// A vertex of an outline: a point of the grid, or a place between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Vertex {
    Node(usize, usize),
    /// Between a point and the next one to the right.
    Across(usize, usize),
    /// Between a point and the next one above.
    Along(usize, usize),
}

/// A directed edge of an outline, with the area at its left.
struct Edge {
    from: Vertex,
    to: Vertex,
    /// `false` for a border of the surface.
    is_line: bool,
}

/// Traces the area at or above one level.
struct Tracer<'a> {
    surface: &'a Surface,
    level: f64,
    edges: Vec<Edge>,
}

impl<'a> Tracer<'a> {
    fn new(surface: &'a Surface, level: f64) -> Self {
        Self {
            surface,
            level,
            edges: Vec::new(),
        }
    }

    /// Outlines and lines.
    fn trace(mut self) -> (Vec<Vec<Point>>, Vec<Vec<Point>>) {
        let (columns, rows) = cells(self.surface);
        for row in 0..rows {
            for column in 0..columns {
                self.cell(row, column);
            }
        }
        self.join()
    }

    fn is_gap(&self, row: usize, column: usize, side: (isize, isize)) -> bool {
        let (columns, rows) = cells(self.surface);
        let beside = row
            .checked_add_signed(side.0)
            .zip(column.checked_add_signed(side.1))
            .filter(|(row, column)| *row < rows && *column < columns);
        beside.is_none_or(|(row, column)| {
            let corners = corners(self.surface, row, column);
            corners.iter().any(|loss| !loss.is_finite())
        })
    }

    /// The edges of one cell.
    fn cell(&mut self, row: usize, column: usize) {
        let losses = corners(self.surface, row, column);
        let above = losses.map(|loss| loss >= self.level);
        if losses.iter().any(|loss| !loss.is_finite()) || above == [false; 4] {
            return;
        }
        let node = |corner: usize| {
            let (up, right) = CORNERS[corner % 4];
            Vertex::Node(row + up, column + right)
        };
        let crossing = |side: usize| match side % 4 {
            0 => Vertex::Across(row, column),
            1 => Vertex::Along(row, column + 1),
            2 => Vertex::Across(row + 1, column),
            _ => Vertex::Along(row, column),
        };
        // The parts of the four sides that are above the level, on the border of the surface.
        for side in 0..4 {
            let (is_from, is_to) = (above[side], above[(side + 1) % 4]);
            if (is_from || is_to) && self.is_gap(row, column, SIDES[side]) {
                self.edges.push(Edge {
                    from: if is_from { node(side) } else { crossing(side) },
                    to: if is_to {
                        node(side + 1)
                    } else {
                        crossing(side)
                    },
                    is_line: false,
                });
            }
        }
        // A line leaves the cell where its sides go down, and enters where they go up.
        let downs: Vec<usize> = (0..4)
            .filter(|side| above[*side] && !above[(side + 1) % 4])
            .collect();
        let is_joined = losses.iter().sum::<f64>() / 4.0 >= self.level;
        for down in &downs {
            let up_after = |from: usize| {
                (from..from + 4).find(|side| !above[side % 4] && above[(side + 1) % 4])
            };
            // In a saddle, the line goes around the lower corner that follows, or around the upper corner before it.
            let up = if downs.len() == 2 && !is_joined {
                Some(down + 3)
            } else {
                up_after(down + 1)
            };
            if let Some(up) = up {
                self.edges.push(Edge {
                    from: crossing(*down),
                    to: crossing(up),
                    is_line: true,
                });
            }
        }
    }

    /// Position of a vertex, the same in both cells of a side.
    fn place(&self, vertex: Vertex) -> Point {
        let surface = self.surface;
        let share = |from: f64, to: f64| {
            // Halved, because a difference may exceed the range of `f64`.
            let share = (self.level / 2.0 - from / 2.0) / (to / 2.0 - from / 2.0);
            if share.is_nan() {
                0.5
            } else {
                share.clamp(0.0, 1.0)
            }
        };
        match vertex {
            Vertex::Node(row, column) => (surface.x[column], surface.y[row]),
            Vertex::Across(row, column) => {
                let share = share(surface.loss(row, column), surface.loss(row, column + 1));
                let (from, to) = (surface.x[column], surface.x[column + 1]);
                (from * (1.0 - share) + to * share, surface.y[row])
            }
            Vertex::Along(row, column) => {
                let share = share(surface.loss(row, column), surface.loss(row + 1, column));
                let (from, to) = (surface.y[row], surface.y[row + 1]);
                (surface.x[column], from * (1.0 - share) + to * share)
            }
        }
    }

    /// Joins the edges to closed outlines: every vertex has equal numbers of beginning and ending edges.
    fn join(self) -> (Vec<Vec<Point>>, Vec<Vec<Point>>) {
        let mut begins: HashMap<Vertex, Vec<usize>, foldhash::fast::RandomState> =
            HashMap::default();
        for (index, edge) in self.edges.iter().enumerate().rev() {
            begins.entry(edge.from).or_default().push(index);
        }
        let (mut outlines, mut lines) = (Vec::new(), Vec::new());
        for first in 0..self.edges.len() {
            let mut ring: Vec<&Edge> = Vec::new();
            let mut at = self.edges[first].from;
            while let Some(next) = begins.get_mut(&at).and_then(Vec::pop) {
                ring.push(&self.edges[next]);
                at = self.edges[next].to;
            }
            if ring.is_empty() {
                continue;
            }
            outlines.push(ring.iter().map(|edge| self.place(edge.from)).collect());
            self.lines_of(&ring, &mut lines);
        }
        (outlines, lines)
    }

    /// The pieces of an outline that are not on the border.
    fn lines_of(&self, ring: &[&Edge], lines: &mut Vec<Vec<Point>>) {
        // Starts at an edge of the border: no piece is cut in two.
        let start = ring.iter().position(|edge| !edge.is_line).unwrap_or(0);
        let mut piece: Vec<Point> = Vec::new();
        for edge in ring.iter().cycle().skip(start).take(ring.len()) {
            if edge.is_line {
                if piece.is_empty() {
                    piece.push(self.place(edge.from));
                }
                piece.push(self.place(edge.to));
            } else if !piece.is_empty() {
                lines.push(std::mem::take(&mut piece));
            }
        }
        if !piece.is_empty() {
            lines.push(piece);
        }
    }
}
