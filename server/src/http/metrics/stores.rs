//! Numbers of requests to object stores.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::{Registry, Unit};

use crate::files;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Requests {
    store: String,
    kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Store {
    store: String,
}

/// Registers the requests to each store, if there were any.
pub(super) fn register(registry: &mut Registry) {
    let all = files::store_requests();
    if all.is_empty() {
        return;
    }
    let requests: Family<Requests, Counter> = Family::default();
    let bytes: Family<Store, Counter> = Family::default();
    let cost: Family<Store, Counter<f64, std::sync::atomic::AtomicU64>> = Family::default();
    for of in all {
        for (kind, count) in [("list", of.lists), ("read", of.reads), ("write", of.writes)] {
            let store = of.store.clone();
            let counter = requests.get_or_create(&Requests { store, kind });
            counter.inc_by(count);
        }
        let store = Store { store: of.store };
        bytes.get_or_create(&store).inc_by(of.bytes);
        cost.get_or_create(&store).inc_by(of.cost_usd);
    }
    registry.register("store_requests", "Requests to object stores", requests);
    let help = "Bytes of objects that were read";
    registry.register_with_unit("store", help, Unit::Bytes, bytes);
    let help = "Price of the requests to object stores, as S3 standard asks: an estimate";
    registry.register("store_cost_usd", help, cost);
}
