//! Decoders on real files, intact, cut and damaged.
#![expect(
    clippy::unwrap_used,
    reason = "tests: helper functions outside of #[test] unwrap too"
)]
#![expect(
    clippy::float_cmp,
    reason = "values pass through unchanged, or they are wrong"
)]

mod bodies;
mod cuts;
mod damage;
mod dumps;
mod encode;
mod events;
mod fixtures;
mod golden;
mod graphs;
mod mindspore;
mod native;
mod odd_graphs;
mod queues;
mod support;
mod tensors;
mod values;
