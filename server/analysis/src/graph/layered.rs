//! Layered layout: each vertex is below its inputs, and edges across ranks are routed around the vertices in between.
//!
//! The steps are those of Sugiyama, Tagawa and Toda (1981): cycles are opened, vertices are ranked, ranks that are too
//! wide are split, edges over several ranks get a place in each, then [`super::order`] reduces crossings and
//! [`super::coordinates`] computes positions. Edges that share an end share their route as long as
//! possible. A thousand vertices take some milliseconds, and so do ten thousand edges at one vertex.

use super::places::{ASPECT, GRID_GAP, Link, Place, RANK_GAP, Step, Vertex};
use super::ranks::{RankedGraph, rank};
use super::{coordinates, order};

/// Maximum number of places in ranks for edges that cross them; further edges are straight.
const MAX_PLACES: usize = 20_000;

/// A segment of an edge, or of several edges that share it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) from: (f64, f64),
    pub(super) to: (f64, f64),
    /// The edge, if the segment belongs to a single one.
    pub(super) link: Option<usize>,
    /// Index of the next segment towards the shared end.
    pub(super) via: Option<usize>,
    /// True if it ends at the target vertex of the edge.
    pub(super) is_last: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Layout {
    /// Middle and upper edge of each vertex.
    pub(super) at: Vec<(f64, f64)>,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) pieces: Vec<Piece>,
}

/// Lays out vertices and edges; self-loops are left out.
pub(super) fn layout(vertices: &[Vertex], links: &[Link]) -> Layout {
    let ranked = rank(vertices, links);
    let mut places: Vec<Place> = Vec::new();
    let mut place_of = vec![usize::MAX; vertices.len()];
    for (index, vertex) in vertices.iter().enumerate() {
        if let Some(rank) = ranked.rank[index] {
            place_of[index] = places.len();
            places.push(Place {
                rank,
                width: vertex.width,
                is_vertex: true,
            });
        }
    }
    let mut routes = Routes {
        vertices,
        places,
        steps: Vec::new(),
        pieces: Vec::new(),
    };
    routes.lead(&ranked, links, &place_of);
    let Routes {
        places,
        steps,
        pieces,
        ..
    } = routes;
    let layers = order::layers(&places, &steps, ranked.ranks);
    let (x, mut width) = coordinates::assign(&places, &steps, &layers);

    let mut heights = vec![0.0_f64; ranked.ranks];
    for (vertex, rank) in vertices.iter().zip(&ranked.rank) {
        if let Some(rank) = rank {
            heights[*rank] = heights[*rank].max(vertex.height);
        }
    }
    let mut tops = Vec::with_capacity(ranked.ranks);
    let mut y = 0.0;
    for height in &heights {
        tops.push(y);
        y += height + RANK_GAP;
    }
    let mut height = if ranked.ranks == 0 { 0.0 } else { y - RANK_GAP };
    let mut at = vec![(0.0, 0.0); vertices.len()];
    for (index, rank) in ranked.rank.iter().enumerate() {
        if let Some(rank) = rank {
            let slack = (heights[*rank] - vertices[index].height) / 2.0;
            at[index] = (x[place_of[index]], tops[*rank] + slack);
        }
    }
    grid(vertices, &ranked.rank, &mut at, &mut width, &mut height);

    // Upper and lower end of a place: the edges of a vertex, or those of the rank for a crossing.
    let mut vertex_at = vec![usize::MAX; places.len()];
    for (vertex, place) in place_of
        .iter()
        .enumerate()
        .filter(|(_, p)| **p != usize::MAX)
    {
        vertex_at[*place] = vertex;
    }
    let top = |place: usize| match vertices.get(vertex_at[place]) {
        Some(_) => at[vertex_at[place]].1,
        None => tops[places[place].rank],
    };
    let bottom = |place: usize| match vertices.get(vertex_at[place]) {
        Some(vertex) => at[vertex_at[place]].1 + vertex.height,
        None => tops[places[place].rank] + heights[places[place].rank],
    };
    let pieces = pieces.into_iter().map(|piece| {
        let upper = (
            x[piece.step.upper] + piece.step.upper_dx,
            bottom(piece.step.upper),
        );
        let lower = (
            x[piece.step.lower] + piece.step.lower_dx,
            top(piece.step.lower),
        );
        // A crossing is from the upper to the lower edge of its rank.
        let is_crossing = piece.step.upper == piece.step.lower;
        let (from, to) = if piece.is_turned == is_crossing {
            (upper, lower)
        } else {
            (lower, upper)
        };
        Piece {
            from,
            to,
            link: piece.link,
            via: piece.via,
            is_last: piece.is_last,
        }
    });
    let mut pieces: Vec<Piece> = pieces.collect();
    spread(&mut pieces, vertices, links);
    Layout {
        at,
        width,
        height,
        pieces,
    }
}

/// Spreads the ends of edges along the border of their common target, if there is room.
fn spread(pieces: &mut [Piece], vertices: &[Vertex], links: &[Link]) {
    let mut arriving: Vec<Vec<usize>> = vec![Vec::new(); vertices.len()];
    for (index, piece) in pieces.iter().enumerate() {
        let link = piece.link.map(|link| links[link]);
        if let Some(link) = link.filter(|_| piece.is_last) {
            arriving[link.to].push(index);
        }
    }
    for (vertex, mut arriving) in vertices.iter().zip(arriving) {
        if arriving.len() < 2 {
            continue;
        }
        arriving.sort_by(|a, b| pieces[*a].from.0.total_cmp(&pieces[*b].from.0));
        let gaps = (arriving.len() - 1) as f64;
        let gap = ((vertex.width - 24.0).max(0.0) / gaps).min(18.0);
        for (at, piece) in arriving.into_iter().enumerate() {
            pieces[piece].to.0 += (at as f64 - gaps / 2.0) * gap;
        }
    }
}

/// Places vertices without edges in rows below everything else.
fn grid(
    vertices: &[Vertex],
    rank: &[Option<usize>],
    at: &mut [(f64, f64)],
    width: &mut f64,
    height: &mut f64,
) {
    let lonely: Vec<usize> = (0..vertices.len()).filter(|v| rank[*v].is_none()).collect();
    let area = |v: &usize| (vertices[*v].width + GRID_GAP) * (vertices[*v].height + GRID_GAP);
    let wanted = (lonely.iter().map(area).sum::<f64>() * ASPECT).sqrt();
    let row_width = wanted.max(*width);
    let mut top = if *height > 0.0 {
        *height + RANK_GAP
    } else {
        0.0
    };
    let (mut left, mut row) = (0.0, 0.0_f64);
    for vertex in lonely {
        let size = vertices[vertex];
        if left > 0.0 && left + size.width > row_width {
            top += row + GRID_GAP;
            (left, row) = (0.0, 0.0);
        }
        at[vertex] = (left + size.width / 2.0, top);
        *width = width.max(left + size.width);
        *height = height.max(top + size.height);
        left += size.width + GRID_GAP;
        row = row.max(size.height);
    }
}

/// A segment before its ends have coordinates.
struct SegmentRoute {
    step: Step,
    link: Option<usize>,
    via: Option<usize>,
    is_last: bool,
    is_turned: bool,
}

struct Routes<'a> {
    vertices: &'a [Vertex],
    places: Vec<Place>,
    steps: Vec<Step>,
    pieces: Vec<SegmentRoute>,
}

impl Routes<'_> {
    /// Routes all links through the ranks: those that share an end along one route.
    fn lead(&mut self, ranked: &RankedGraph, links: &[Link], place_of: &[usize]) {
        let mut leaving = vec![0_usize; place_of.len()];
        let mut arriving = vec![0_usize; place_of.len()];
        for &(upper, lower, _) in &ranked.ways {
            leaving[upper] += 1;
            arriving[lower] += 1;
        }
        let rank = |v: usize| ranked.rank[v].unwrap_or(0);
        // Bundles: the common vertex, true if it is the upper one, then the links.
        let mut bundles: Vec<(usize, usize, bool, Vec<usize>)> = Vec::new();
        let mut known = std::collections::BTreeMap::new();
        for (index, &(upper, lower, is_turned)) in ranked.ways.iter().enumerate() {
            if upper == lower {
                continue;
            }
            let is_fork = is_turned || arriving[lower] <= leaving[upper];
            let shared = if is_fork { upper } else { lower };
            // A turned link has a separate route: its arrow is at the other end.
            let separate = if is_turned { index + 1 } else { 0 };
            // An open scope has several ports for edges.
            let dx = if is_fork == is_turned {
                links[index].to_dx
            } else {
                links[index].from_dx
            };
            let bundle = *known
                .entry((shared, is_fork, separate, dx.to_bits()))
                .or_insert_with(|| {
                    bundles.push((0, shared, is_fork, Vec::new()));
                    bundles.len() - 1
                });
            bundles[bundle].0 = bundles[bundle].0.max(rank(lower) - rank(upper));
            bundles[bundle].3.push(index);
        }
        // Short routes first: when the places run out, most edges have a route.
        bundles.sort_by_key(|bundle| bundle.0);
        let vertices = self.places.len();
        for (span, shared, is_fork, members) in bundles {
            if self.places.len() - vertices + span > MAX_PLACES {
                for link in members {
                    let (upper, lower, is_turned) = ranked.ways[link];
                    let step = step_of(&links[link], place_of[upper], place_of[lower], is_turned);
                    let is_last = self.is_end(links[link].to);
                    self.piece(step, Some(link), None, is_last, is_turned);
                }
            } else {
                self.bundle(ranked, links, place_of, (shared, is_fork), members);
            }
        }
    }

    /// Routes links that share an end: a trunk from there, and a separate last segment for each.
    fn bundle(
        &mut self,
        ranked: &RankedGraph,
        links: &[Link],
        place_of: &[usize],
        (shared, is_fork): (usize, bool),
        mut members: Vec<usize>,
    ) {
        let rank = |v: usize| ranked.rank[v].unwrap_or(0);
        let other = |link: usize| {
            let (upper, lower, _) = ranked.ways[link];
            if is_fork { lower } else { upper }
        };
        members.sort_by_key(|link| (rank(other(*link)).abs_diff(rank(shared)), *link));
        let first = members.first().copied().unwrap_or(0);
        let shared_dx = |step: &Step| {
            if is_fork {
                step.upper_dx
            } else {
                step.lower_dx
            }
        };
        let first_step = step_of(&links[first], 0, 0, ranked.ways[first].2);
        let mut trunk = (
            place_of[shared],
            shared_dx(&first_step),
            None::<usize>,
            rank(shared),
        );
        for link in members {
            let (upper, lower, is_turned) = ranked.ways[link];
            let end = rank(other(link));
            // The trunk continues up to the rank next to the other end.
            while trunk.3.abs_diff(end) > 1 {
                let next = if is_fork { trunk.3 + 1 } else { trunk.3 - 1 };
                let place = self.places.len();
                self.places.push(Place {
                    rank: next,
                    width: 0.0,
                    is_vertex: false,
                });
                let step = joined((trunk.0, trunk.1), (place, 0.0), is_fork);
                self.steps.push(step);
                let touches_end =
                    trunk.2.is_none() && (is_fork == is_turned) && self.is_end(shared);
                self.piece(step, None, trunk.2, touches_end, is_turned);
                trunk = (place, 0.0, Some(self.pieces.len() - 1), next);
                // The segment within the rank itself, beside its vertices.
                self.crossing(place, trunk.2, is_turned);
                trunk.2 = Some(self.pieces.len() - 1);
            }
            let link_step = step_of(&links[link], place_of[upper], place_of[lower], is_turned);
            let far = if is_fork {
                (link_step.lower, link_step.lower_dx)
            } else {
                (link_step.upper, link_step.upper_dx)
            };
            let step = joined((trunk.0, trunk.1), far, is_fork);
            self.steps.push(step);
            // It touches its target, unless that is the common end, which the trunk touches.
            let is_last = (is_fork != is_turned) || trunk.2.is_none();
            let is_last = is_last && self.is_end(links[link].to);
            self.piece(step, Some(link), trunk.2, is_last, is_turned);
        }
    }

    /// True if edges end at this vertex: they continue within an open scope.
    fn is_end(&self, vertex: usize) -> bool {
        !self.vertices[vertex].is_open
    }

    /// A segment from the upper to the lower edge of a rank.
    fn crossing(&mut self, place: usize, via: Option<usize>, is_turned: bool) {
        let step = Step {
            upper: place,
            lower: place,
            upper_dx: 0.0,
            lower_dx: 0.0,
        };
        self.piece(step, None, via, false, is_turned);
    }

    fn piece(
        &mut self,
        step: Step,
        link: Option<usize>,
        via: Option<usize>,
        is_last: bool,
        is_turned: bool,
    ) {
        self.pieces.push(SegmentRoute {
            step,
            link,
            via,
            is_last,
            is_turned,
        });
    }
}

fn joined(near: (usize, f64), far: (usize, f64), is_down: bool) -> Step {
    let (upper, lower) = if is_down { (near, far) } else { (far, near) };
    Step {
        upper: upper.0,
        lower: lower.0,
        upper_dx: upper.1,
        lower_dx: lower.1,
    }
}

fn step_of(link: &Link, upper: usize, lower: usize, is_turned: bool) -> Step {
    let (upper_dx, lower_dx) = if is_turned {
        (link.to_dx, link.from_dx)
    } else {
        (link.from_dx, link.to_dx)
    };
    Step {
        upper,
        lower,
        upper_dx,
        lower_dx,
    }
}
