//! Mean prediction of a forest by two parameters, on a grid of cells.

use trainscope_api::importance::{Measure, PAIR_CELLS, PairAnswer, PairAxis};

use super::fanova::Boxes;
use super::space::{AxisPlace, Parameter};
use super::{Question, least_runs, parameters, train};

/// Mean predictions by two parameters of the forest that [`importance`](super::importance()) trains on all columns.
/// `None` if it was cancelled. There are no cells with too few runs, or if a parameter is left out.
pub fn pair(
    question: &Question<'_>,
    names: [&str; 2],
    is_cancelled: &dyn Fn() -> bool,
) -> Option<PairAnswer> {
    let runs = question.runs();
    let mut map = PairAnswer {
        runs: runs.rows.len(),
        axes: names.map(|name| PairAxis {
            name: name.to_owned(),
            ..PairAxis::default()
        }),
        ..PairAnswer::default()
    };
    let (mut parameters, _) = parameters(question.columns, &runs.rows);
    if runs.rows.len() < least_runs(Measure::Variance) {
        return Some(map);
    }
    let (trained, _) = train(&mut parameters, &runs, is_cancelled)?;
    map.r_squared = trained.forest.r_squared;
    let is_named = |parameter: &Parameter, name: &str| {
        parameter.bar.name == name || parameter.bar.same_as.iter().any(|copy| copy == name)
    };
    let place = |name: &str| {
        parameters
            .iter()
            .position(|parameter| is_named(parameter, name))
    };
    let (Some(across), Some(up)) = (place(names[0]), place(names[1])) else {
        return Some(map);
    };
    let grids = [across, up].map(|at| parameters[at].axis(&trained.groups[at]));
    for (axis, grid) in map.axes.iter_mut().zip(&grids) {
        axis.edges.clone_from(&grid.edges);
        axis.is_log = grid.is_log;
        axis.choices = grid.choices.iter().take(PAIR_CELLS).cloned().collect();
    }
    let [across, up] = &grids;
    let (columns, rows) = (across.places.len(), up.places.len());
    map.cells = vec![0.0; columns * rows];
    for tree in &trained.boxes {
        if is_cancelled() {
            return None;
        }
        add_means(tree, &across.places, &up.places, &mut map.cells);
    }
    let trees = trained.boxes.len() as f64;
    for cell in &mut map.cells {
        *cell /= trees;
    }
    Some(map)
}

/// Adds the mean prediction of a tree in each cell: over the boxes that hold its centre, weighted by their shares of
/// the other columns.
fn add_means(tree: &Boxes, across: &[AxisPlace], up: &[AxisPlace], cells: &mut [f64]) {
    let fixed: Vec<usize> = [across, up]
        .iter()
        .filter_map(|places| places.first())
        .flat_map(|place| place.iter().map(|(column, _)| *column))
        .collect();
    for leaf in 0..tree.len() {
        let covers = |place: &AxisPlace| {
            place.iter().all(|(column, share)| {
                let (begin, end) = tree.side(leaf, *column);
                // The lower end belongs to the neighbour, as in the split; the minimum belongs to its box.
                (begin < *share || begin <= 0.0) && *share <= end
            })
        };
        let part = tree.prediction(leaf) * tree.share_without(leaf, &fixed);
        let columns: Vec<usize> = (0..across.len())
            .filter(|at| covers(&across[*at]))
            .collect();
        for (row, place) in up.iter().enumerate() {
            if !columns.is_empty() && covers(place) {
                for column in &columns {
                    cells[row * across.len() + column] += part;
                }
            }
        }
    }
}
