//! Horizontal positions within ranks: vertices are near their neighbours, and long edges are nearly straight.
//!
//! Rank by rank, least squares under minimum distances: isotonic regression, solved exactly by pooling adjacent
//! violators. Sweeps down and up bring ranks together.

use super::places::{Place, Step};

/// Room between two vertices, pixels.
const VERTEX_GAP: f64 = 22.0;
/// Room beside an edge that crosses the rank, pixels.
const EDGE_GAP: f64 = 12.0;
/// Up to this number, edges with a common end pull at it with their full weight.
const FAN: usize = 8;
/// Number of sweeps; fewer for many vertices.
const SWEEPS: usize = 16;
const MANY: usize = 4_000;

/// The middle of each place, from 0, and the total width.
pub(super) fn assign(places: &[Place], steps: &[Step], layers: &[Vec<usize>]) -> (Vec<f64>, f64) {
    // Neighbour, target position relative to this place, weight.
    let mut above: Vec<Vec<(usize, f64, f64)>> = vec![Vec::new(); places.len()];
    let mut below = above.clone();
    let mut ends = vec![(0_usize, 0_usize); places.len()];
    for step in steps {
        ends[step.upper].0 += 1;
        ends[step.lower].1 += 1;
    }
    for step in steps {
        let weight = match (places[step.upper].is_vertex, places[step.lower].is_vertex) {
            (true, true) => 1.0,
            (false, false) => 8.0,
            _ => 2.0,
        };
        // A row of a hundred boxes below one edge may not bend that edge towards their middle.
        let leaving = ends[step.upper].0 * usize::from(places[step.lower].is_vertex);
        let arriving = ends[step.lower].1 * usize::from(places[step.upper].is_vertex);
        let fan = leaving.max(arriving);
        let weight = if fan > FAN {
            weight / (fan * fan) as f64
        } else {
            weight
        };
        let dx = step.upper_dx - step.lower_dx;
        above[step.lower].push((step.upper, dx, weight));
        below[step.upper].push((step.lower, -dx, weight));
    }
    let offsets: Vec<Vec<f64>> = layers.iter().map(|layer| least(places, layer)).collect();
    let mut x = vec![0.0; places.len()];
    for (layer, offsets) in layers.iter().zip(&offsets) {
        let middle = offsets.last().map_or(0.0, |last| last / 2.0);
        for (place, offset) in layer.iter().zip(offsets) {
            x[*place] = offset - middle;
        }
    }
    let sweeps = if places.len() > MANY { 6 } else { SWEEPS };
    for sweep in 0..sweeps {
        let is_down = sweep % 2 == 0;
        let uses_both = sweep + 4 >= sweeps;
        for at in 0..layers.len() {
            let rank = if is_down { at } else { layers.len() - 1 - at };
            let targets: Vec<(f64, f64)> = layers[rank]
                .iter()
                .map(|&place| {
                    let (near, far) = if is_down {
                        (&above[place], &below[place])
                    } else {
                        (&below[place], &above[place])
                    };
                    let far = far.iter().filter(|_| uses_both || near.is_empty());
                    let (mut sum, mut weights) = (0.0, 0.0);
                    for (other, dx, weight) in near.iter().chain(far) {
                        sum += (x[*other] + dx) * weight;
                        weights += weight;
                    }
                    if weights > 0.0 {
                        (sum / weights, weights)
                    } else {
                        (x[place], 0.01)
                    }
                })
                .collect();
            for (place, at) in layers[rank].iter().zip(fit(&targets, &offsets[rank])) {
                x[*place] = at;
            }
        }
    }
    let edges = |place: usize| {
        (
            x[place] - places[place].width / 2.0,
            x[place] + places[place].width / 2.0,
        )
    };
    let all = || (0..places.len()).map(edges);
    let left = all().map(|(left, _)| left).reduce(f64::min).unwrap_or(0.0);
    let right = all()
        .map(|(_, right)| right)
        .reduce(f64::max)
        .unwrap_or(0.0);
    for x in &mut x {
        *x -= left;
    }
    (x, right - left)
}

/// Minimum distance of each place of a rank from the first.
fn least(places: &[Place], layer: &[usize]) -> Vec<f64> {
    let mut offsets = Vec::with_capacity(layer.len());
    let mut offset = 0.0;
    for (at, &place) in layer.iter().enumerate() {
        if let Some(before) = at.checked_sub(1).map(|before| places[layer[before]]) {
            let is_open = before.is_vertex && places[place].is_vertex;
            let gap = if is_open { VERTEX_GAP } else { EDGE_GAP };
            offset += f64::midpoint(before.width, places[place].width) + gap;
        }
        offsets.push(offset);
    }
    offsets
}

/// Positions nearest to their targets (position, weight), at least as distant from each other as `offsets`.
fn fit(targets: &[(f64, f64)], offsets: &[f64]) -> Vec<f64> {
    // Pools: weighted mean, weight, number of places.
    let mut pools: Vec<(f64, f64, usize)> = Vec::with_capacity(targets.len());
    for ((target, weight), offset) in targets.iter().zip(offsets) {
        let mut pool = (target - offset, *weight, 1);
        while let Some(before) = pools.last().filter(|before| before.0 > pool.0) {
            let weight = before.1 + pool.1;
            let mean = (before.0 * before.1 + pool.0 * pool.1) / weight;
            pool = (mean, weight, before.2 + pool.2);
            pools.pop();
        }
        pools.push(pool);
    }
    let means = pools
        .iter()
        .flat_map(|pool| std::iter::repeat_n(pool.0, pool.2));
    means
        .zip(offsets)
        .map(|(mean, offset)| mean + offset)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn places_go_where_they_want_as_far_as_there_is_room() {
        let far = fit(&[(0.0, 1.0), (50.0, 1.0)], &[0.0, 20.0]);
        assert_eq!(far, [0.0, 50.0]);
        // Both have the same target: the heavier one is nearer to it.
        let near = fit(&[(10.0, 1.0), (10.0, 3.0)], &[0.0, 20.0]);
        assert!(
            (near[0] - -5.0).abs() < 1e-9 && (near[1] - 15.0).abs() < 1e-9,
            "{near:?}"
        );
        assert_eq!(fit(&[], &[]), [0.0; 0]);
    }
}
