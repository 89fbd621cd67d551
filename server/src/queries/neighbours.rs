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
        let own = now.iter().filter(|hit| &*hit.tensor == tensor);
        let worst = own.max_by_key(|hit| hit.severity);
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
    // In another layer: the tensors with the same direction of flow, of these the worst.
    let one = |layer: &&Layer| {
        let all = layer.tensors.iter().map(|tensor| told(layer, tensor));
        let rank = |own: &Neighbour| {
            (
                judged.surroundings.flow_alike(&own.tensor, &query.tensor),
                own.severity,
            )
        };
        // The first of equal ones.
        all.reduce(|best, own| if rank(&own) > rank(&best) { own } else { best })
    };
    let sides = [&around.upstream, &around.downstream];
    let [upstream, downstream] = sides.map(|layers| {
        let layers = layers.iter().take(MAX_NEIGHBOURS);
        layers.filter_map(one).collect()
    });
    let own = around.own.into_iter().flat_map(|layer| {
        let tensors = layer.tensors.iter();
        tensors.map(move |tensor| (layer, tensor))
    });
    let own_count = own.clone().count();
    Neighbours {
        upstream,
        own: own
            .take(MAX_NEIGHBOURS)
            .map(|(layer, tensor)| told(layer, tensor))
            .collect(),
        downstream,
        is_guessed: judged.surroundings.is_guessed(),
        cut: own_count > MAX_NEIGHBOURS || sides.iter().any(|side| side.len() > MAX_NEIGHBOURS),
    }
}
