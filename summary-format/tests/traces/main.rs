//! Readers of traces on files of profilers, whole, cut and damaged.
#![expect(
    clippy::unwrap_used,
    reason = "tests: helper functions outside of #[test] unwrap too"
)]

mod chrome;
mod damage;
mod fixtures;
mod limits;
mod reference;
mod snapshots;
mod support;
