//! Decoders on real files, intact, cut and damaged.
#![expect(
    clippy::unwrap_used,
    reason = "tests: helper functions outside of #[test] unwrap too"
)]
#![expect(
    clippy::float_cmp,
    reason = "values pass through unchanged, or they are wrong"
)]

/// The part of a value that a pattern names; a panic with the value if it does not match.
macro_rules! matched {
    ($value:expr, $pattern:pat => $part:expr) => {
        match $value {
            $pattern => $part,
            ref other => panic!("{other:?}"),
        }
    };
}

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
mod mindspore_npu;
mod mindspore_profile;
mod native;
mod odd_graphs;
mod profiles;
mod queues;
mod session;
mod support;
mod tensors;
mod values;
