//! Layers up- and downstream of a tensor, with their worst hits.

use trainscope_analysis::watchpoint::{Hit, Layer};
use trainscope_api::findings::{MAX_NEIGHBOURS, Neighbour, Neighbours, NeighboursQuery};

use super::findings::title;
use crate::judging::JudgedRun;

/// The nearest recorded layers around a tensor.
pub(crate) fn answer(judged: &JudgedRun, query: &NeighboursQuery) -> Neighbours {
    let around = judged.surroundings.around(&query.tensor);
    let is_now =
        |hit: &&Hit| hit.rank == query.rank && (hit.step..=hit.last_step).contains(&query.step);
    let now: Vec<&Hit> = judged.findings.hits.iter().filter(is_now).collect();
    let told = |layer: &Layer, tensor: &str| {
        let hits = now.iter().filter(|hit| &*hit.tensor == tensor);
        let worst = hits.max_by_key(|hit| hit.severity);
        let says = worst.and_then(|hit| {
            let all = judged.watchpoints.all();
            Some(title(all.get(hit.watchpoint as usize)?))
        });
        Neighbour {
            layer: layer.name.to_string(),
            tensor: tensor.to_owned(),
            severity: worst.map(|hit| hit.severity),
            says,
        }
    };
    // In another layer: the worst of the tensors with the same direction of flow.
    let one = |layer: &&Layer| {
        let all = layer.tensors.iter().map(|tensor| told(layer, tensor));
        let rank = |neighbour: &Neighbour| {
            (
                judged
                    .surroundings
                    .flow_alike(&neighbour.tensor, &query.tensor),
                neighbour.severity,
            )
        };
        // The first of equal ones.
        all.reduce(|best, next| {
            if rank(&next) > rank(&best) {
                next
            } else {
                best
            }
        })
    };
    let sides = [&around.upstream, &around.downstream];
    let [upstream, downstream] = sides.map(|layers| {
        let layers = layers.iter().take(MAX_NEIGHBOURS);
        layers.filter_map(one).collect()
    });
    let in_layer = around.own.into_iter().flat_map(|layer| {
        let tensors = layer.tensors.iter();
        tensors.map(move |tensor| (layer, tensor))
    });
    let own_count = in_layer.clone().count();
    Neighbours {
        upstream,
        own: in_layer
            .take(MAX_NEIGHBOURS)
            .map(|(layer, tensor)| told(layer, tensor))
            .collect(),
        downstream,
        is_guessed: judged.surroundings.is_guessed(),
        cut: own_count > MAX_NEIGHBOURS || sides.iter().any(|side| side.len() > MAX_NEIGHBOURS),
    }
}
