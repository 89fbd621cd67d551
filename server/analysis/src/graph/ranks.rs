//! Ranks of vertices: each below its inputs. Cycles are opened, and ranks that are too wide are split.

use super::places::{ASPECT, GRID_GAP, Link, Pin, RANK_GAP, Vertex};

/// Width up to which a rank is never split, pixels.
const NARROW: f64 = 1_600.0;

/// Ranks of the vertices with edges, edges from above to below, and a mark for turned edges.
pub(super) struct RankedGraph {
    pub(super) rank: Vec<Option<usize>>,
    pub(super) ranks: usize,
    /// Upper end, lower end and turned flag of each link.
    pub(super) ways: Vec<(usize, usize, bool)>,
}

/// Ranks all vertices with edges. Without the turned links, there is no cycle: see [`turned`].
pub(super) fn rank(vertices: &[Vertex], links: &[Link]) -> RankedGraph {
    let way = |link: &Link| {
        if link.is_turned {
            (link.to, link.from, true)
        } else {
            (link.from, link.to, false)
        }
    };
    let ways: Vec<_> = links.iter().map(way).collect();
    let near = Near::of(vertices.len(), &ways);
    let sorted = near.sorted();
    let mut rank = vec![0_usize; vertices.len()];
    let base = near.base(vertices);
    for &v in &sorted {
        let least = near.above[v].iter().map(|u| rank[*u] + 1).max();
        rank[v] = if vertices[v].pin == Pin::Top {
            0
        } else {
            least.unwrap_or(0).max(base)
        };
    }
    // A vertex with more edges below than above moves down until it is just above those below it.
    for _ in 0..2 {
        for &v in sorted.iter().rev().filter(|v| near.hangs(vertices, **v)) {
            if let Some(most) = near.below[v].iter().map(|l| rank[*l]).min() {
                rank[v] = rank[v].max(most - 1);
            }
        }
    }
    let rank = rows(vertices, rank, &near, &sorted);
    let is_bottom = |v: usize| vertices[v].pin == Pin::Bottom;
    let lowest_free = (0..vertices.len())
        .filter(|v| near.has_edges(*v) && !is_bottom(*v))
        .map(|v| rank[v]);
    let bottom = lowest_free.max().map_or(0, |rank| rank + 1);
    let rank: Vec<Option<usize>> = (0..vertices.len())
        .map(|v| {
            let final_rank = if is_bottom(v) { bottom } else { rank[v] };
            near.has_edges(v).then_some(final_rank)
        })
        .collect();
    let ranks = rank.iter().flatten().max().map_or(0, |most| most + 1);
    RankedGraph { rank, ranks, ways }
}

/// Neighbours of each vertex in both directions.
struct Near {
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

impl Near {
    fn of(count: usize, ways: &[(usize, usize, bool)]) -> Self {
        let (mut above, mut below) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for &(upper, lower, _) in ways.iter().filter(|(upper, lower, _)| upper != lower) {
            below[upper].push(lower);
            above[lower].push(upper);
        }
        Self { above, below }
    }

    fn has_edges(&self, v: usize) -> bool {
        !self.below[v].is_empty() || !self.above[v].is_empty()
    }

    /// First rank for vertices that are not pinned to the top.
    fn base(&self, vertices: &[Vertex]) -> usize {
        let is_above = |v: usize| vertices[v].pin == Pin::Top && self.has_edges(v);
        usize::from((0..vertices.len()).any(is_above))
    }

    /// True if more edges pull a vertex down than up.
    fn hangs(&self, vertices: &[Vertex], v: usize) -> bool {
        vertices[v].pin == Pin::Free && self.below[v].len() > self.above[v].len()
    }

    /// Topological order in which each vertex follows its last input as soon as possible.
    fn sorted(&self) -> Vec<usize> {
        let mut waiting: Vec<usize> = self.above.iter().map(Vec::len).collect();
        let mut ready: Vec<usize> = (0..waiting.len()).filter(|v| waiting[*v] == 0).collect();
        ready.reverse();
        let mut sorted = Vec::with_capacity(waiting.len());
        while let Some(v) = ready.pop() {
            sorted.push(v);
            for &lower in self.below[v].iter().rev() {
                waiting[lower] -= 1;
                if waiting[lower] == 0 {
                    ready.push(lower);
                }
            }
        }
        sorted
    }
}

/// Splits ranks that are too wide into rows: each vertex goes into the first row below its inputs with room. Rows are
/// filled depth-first: parallel chains fill some rows from left to right, and the next chains follow below, which keeps
/// edges short.
fn rows(vertices: &[Vertex], rank: Vec<usize>, near: &Near, sorted: &[usize]) -> Vec<usize> {
    let mut area = 0.0;
    let mut widths: Vec<f64> = Vec::new();
    for (v, vertex) in vertices.iter().enumerate() {
        if near.has_edges(v) && vertex.pin == Pin::Free {
            widths.resize(widths.len().max(rank[v] + 1), 0.0);
            widths[rank[v]] += vertex.width + GRID_GAP;
            area += (vertex.width + GRID_GAP) * (vertex.height + RANK_GAP);
        }
    }
    let most = (area * ASPECT).sqrt().max(NARROW);
    if widths.iter().all(|width| *width <= most) {
        return rank;
    }
    let mut row = rank;
    let base = near.base(vertices);
    let mut filled: Vec<f64> = Vec::new();
    let mut has_room = |at: usize, width: f64| {
        filled.resize(filled.len().max(at + 1), 0.0);
        let fits = filled[at] <= 0.0 || filled[at] + width <= most;
        if fits {
            filled[at] += width + GRID_GAP;
        }
        fits
    };
    for &v in sorted.iter().filter(|v| vertices[**v].pin == Pin::Free) {
        let least = near.above[v].iter().map(|u| row[*u] + 1).max();
        let least = least.unwrap_or(0).max(base);
        // After as many rows as there are vertices, an empty one is guaranteed.
        let mut lower = least..=least + vertices.len();
        let found = lower.find(|at| has_room(*at, vertices[v].width));
        row[v] = found.unwrap_or(least);
    }
    for &v in sorted.iter().rev().filter(|v| near.hangs(vertices, **v)) {
        let free = near.below[v]
            .iter()
            .filter(|l| vertices[**l].pin == Pin::Free);
        if let Some(most) = free.map(|l| row[*l]).min() {
            let mut lower = (row[v] + 1..most).rev();
            row[v] = lower
                .find(|at| has_room(*at, vertices[v].width))
                .unwrap_or(row[v]);
        }
    }
    row
}

/// Marks the links (from, to) to turn so that no cycle is left.
pub(super) fn turned(count: usize, links: &[(usize, usize)]) -> Vec<bool> {
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut has_input = vec![false; count];
    for (index, (from, to)) in links
        .iter()
        .enumerate()
        .filter(|(_, (from, to))| from != to)
    {
        leaving[*from].push(index);
        has_input[*to] = true;
    }
    let mut is_turned = vec![false; links.len()];
    // 0 unvisited, 1 on the path, 2 done.
    let mut state = vec![0_u8; count];
    let beginnings = (0..count).filter(|v| !has_input[*v]);
    for begin in beginnings.chain(0..count) {
        if state[begin] != 0 {
            continue;
        }
        state[begin] = 1;
        let mut stack = vec![(begin, 0)];
        while let Some((v, next)) = stack.last_mut() {
            let Some(&link) = leaving[*v].get(*next) else {
                state[*v] = 2;
                stack.pop();
                continue;
            };
            *next += 1;
            let to = links[link].1;
            match state[to] {
                0 => {
                    state[to] = 1;
                    stack.push((to, 0));
                }
                1 => is_turned[link] = true,
                _ => {}
            }
        }
    }
    is_turned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertex(pin: Pin) -> Vertex {
        Vertex {
            width: 114.0,
            height: 28.0,
            pin,
            is_open: false,
        }
    }

    fn links(pairs: impl Iterator<Item = (usize, usize)>) -> Vec<Link> {
        let pairs: Vec<_> = pairs.collect();
        let count = pairs.iter().map(|(from, to)| from.max(to) + 1).max();
        let turned = turned(count.unwrap_or(0), &pairs);
        let link = |(&(from, to), is_turned)| Link {
            from,
            to,
            from_dx: 0.0,
            to_dx: 0.0,
            is_turned,
        };
        pairs.iter().zip(turned).map(link).collect()
    }

    #[test]
    fn chains_side_by_side_fill_rows_and_stay_short() {
        // 500 chains of three from one port.
        let mut vertices = vec![vertex(Pin::Top)];
        vertices.extend((0..1_500).map(|_| vertex(Pin::Free)));
        let before = |v: usize| if (v - 1).is_multiple_of(3) { 0 } else { v - 1 };
        let links = links((1..=1_500).map(|v| (before(v), v)));
        let ranked = rank(&vertices, &links);
        let rank_of = |v: usize| ranked.rank[v].unwrap_or(usize::MAX);
        for v in (1..=1_500).filter(|v| before(*v) != 0) {
            assert_eq!(rank_of(v), rank_of(v - 1) + 1, "{v} is not right below");
        }
        let widest = (1..ranked.ranks).map(|rank| {
            let here = (1..=1_500).filter(|v| rank_of(*v) == rank);
            here.count()
        });
        assert!(widest.max() < Some(40), "{:?}", ranked.ranks);
    }

    #[test]
    fn what_feeds_a_late_row_stands_above_it() {
        // A wide graph whose last row is fed by a vertex without inputs.
        let mut vertices = vec![vertex(Pin::Top)];
        vertices.extend((0..1_201).map(|_| vertex(Pin::Free)));
        let before = |v: usize| if (v - 1).is_multiple_of(3) { 0 } else { v - 1 };
        let mut pairs: Vec<(usize, usize)> = (1..=1_200).map(|v| (before(v), v)).collect();
        pairs.push((1_201, 1_200));
        let ranked = rank(&vertices, &links(pairs.into_iter()));
        let (feeding, fed) = (ranked.rank[1_201], ranked.rank[1_200]);
        assert!(feeding < fed, "{feeding:?} {fed:?}");
        assert!(feeding > fed.map(|fed| fed - 4), "{feeding:?} {fed:?}");
    }

    #[test]
    fn narrow_graphs_keep_their_ranks_and_cycles_are_opened() {
        let vertices = vec![vertex(Pin::Free); 4];
        let ranked = rank(
            &vertices,
            &links([(0, 1), (1, 2), (2, 0), (0, 3)].into_iter()),
        );
        assert_eq!(ranked.rank[..3], [Some(0), Some(1), Some(2)]);
        let turned = ranked.ways.iter().filter(|(_, _, is_turned)| *is_turned);
        assert_eq!(turned.count(), 1);
    }
}
