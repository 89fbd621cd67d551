//! The order within ranks: barycentre sweeps; the order with the fewest crossings wins.

use super::places::{Place, Step};

/// Sweeps down and up.
const SWEEPS: usize = 8;
/// Number of places above which fewer sweeps are made.
const MANY: usize = 8_000;

/// The places of each rank from left to right.
pub(super) fn layers(places: &[Place], steps: &[Step], ranks: usize) -> Vec<Vec<usize>> {
    let mut above = vec![Vec::new(); places.len()];
    let mut below = vec![Vec::new(); places.len()];
    for step in steps {
        above[step.lower].push(step.upper);
        below[step.upper].push(step.lower);
    }
    let mut layers = first(places, &above, &below, ranks);
    let mut position = vec![0_usize; places.len()];
    place(&layers, &mut position);
    let mut best = (crossings(&layers, &below, &position), layers.clone());
    let sweeps = if places.len() > MANY { 3 } else { SWEEPS };
    for sweep in 0..sweeps {
        if best.0 == 0 {
            break;
        }
        let is_down = sweep % 2 == 0;
        let neighbours = if is_down { &above } else { &below };
        for at in 0..ranks {
            let rank = if is_down { at } else { ranks - 1 - at };
            sort(&mut layers[rank], neighbours, &mut position);
        }
        let now = crossings(&layers, &below, &position);
        if now < best.0 {
            best = (now, layers.clone());
        }
    }
    best.1
}

/// Initial order: depth-first from above, so that connected vertices are adjacent.
fn first(
    places: &[Place],
    above: &[Vec<usize>],
    below: &[Vec<usize>],
    ranks: usize,
) -> Vec<Vec<usize>> {
    let mut layers = vec![Vec::new(); ranks];
    let mut seen = vec![false; places.len()];
    let beginnings = (0..places.len()).filter(|place| above[*place].is_empty());
    for begin in beginnings.chain(0..places.len()) {
        let mut stack = vec![begin];
        while let Some(place) = stack.pop() {
            if std::mem::replace(&mut seen[place], true) {
                continue;
            }
            layers[places[place].rank].push(place);
            stack.extend(below[place].iter().rev().filter(|lower| !seen[**lower]));
        }
    }
    layers
}

fn place(layers: &[Vec<usize>], position: &mut [usize]) {
    for layer in layers {
        for (at, place) in layer.iter().enumerate() {
            position[*place] = at;
        }
    }
}

/// Orders a rank by the mean position of neighbours; places without neighbours stay.
fn sort(layer: &mut [usize], neighbours: &[Vec<usize>], position: &mut [usize]) {
    let mut keyed: Vec<(f64, usize)> = layer
        .iter()
        .map(|&place| {
            let near = &neighbours[place];
            let sum: usize = near.iter().map(|other| position[*other]).sum();
            let mean = if near.is_empty() {
                position[place] as f64
            } else {
                sum as f64 / near.len() as f64
            };
            (mean, place)
        })
        .collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (at, (slot, (_, place))) in layer.iter_mut().zip(keyed).enumerate() {
        *slot = place;
        position[place] = at;
    }
}

/// Number of edge crossings: inversions, counted with a Fenwick tree (Barth, Jünger and Mutzel 2002).
fn crossings(layers: &[Vec<usize>], below: &[Vec<usize>], position: &[usize]) -> usize {
    let mut all = 0;
    for pair in layers.windows(2) {
        let mut sums = vec![0_usize; pair[1].len() + 1];
        let mut ends: Vec<usize> = Vec::new();
        let mut seen = 0;
        for &upper in &pair[0] {
            ends.clear();
            ends.extend(below[upper].iter().map(|lower| position[*lower]));
            for &end in &ends {
                // Number of earlier edges that end at its right.
                let (mut at, mut left) = (end + 1, 0);
                while at > 0 {
                    left += sums[at];
                    at &= at - 1;
                }
                all += seen - left;
            }
            for &end in &ends {
                seen += 1;
                let mut at = end + 1;
                while at < sums.len() {
                    sums[at] += 1;
                    at += at & at.wrapping_neg();
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ranks: &[usize], edges: &[(usize, usize)]) -> (Vec<Place>, Vec<Step>) {
        let places = ranks.iter().map(|&rank| Place {
            rank,
            width: 10.0,
            is_vertex: true,
        });
        let steps = edges.iter().map(|&(upper, lower)| Step {
            upper,
            lower,
            upper_dx: 0.0,
            lower_dx: 0.0,
        });
        (places.collect(), steps.collect())
    }

    #[test]
    fn crossings_are_counted_as_the_plain_way_counts_them() {
        let edges = [(0, 4), (0, 3), (1, 3), (2, 3), (2, 4), (1, 4), (0, 4)];
        let (places, steps) = of(&[0, 0, 0, 1, 1], &edges);
        let layers = vec![vec![0, 1, 2], vec![3, 4]];
        let mut position = vec![0; places.len()];
        place(&layers, &mut position);
        let mut below = vec![Vec::new(); places.len()];
        for step in &steps {
            below[step.upper].push(step.lower);
        }
        let mut plain = 0;
        for (i, a) in edges.iter().enumerate() {
            for b in &edges[i + 1..] {
                let upper = position[a.0].cmp(&position[b.0]);
                plain += usize::from(
                    upper != std::cmp::Ordering::Equal
                        && upper == position[a.1].cmp(&position[b.1]).reverse(),
                );
            }
        }
        assert_eq!(crossings(&layers, &below, &position), plain);
    }

    #[test]
    fn what_can_be_drawn_without_crossings_is() {
        // Two chains with their lower ends swapped.
        let (places, steps) = of(&[0, 0, 1, 1, 2, 2], &[(0, 3), (1, 2), (3, 4), (2, 5)]);
        let layers = layers(&places, &steps, 3);
        let mut position = vec![0; places.len()];
        place(&layers, &mut position);
        let mut below = vec![Vec::new(); places.len()];
        for step in &steps {
            below[step.upper].push(step.lower);
        }
        assert_eq!(crossings(&layers, &below, &position), 0);
    }
}
