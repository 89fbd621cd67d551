//! Computations on traces of profilers: the numbers of real files, and properties of traces of any shape.

#![expect(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test that cannot go on has failed; sums and quotients of small integers are exact"
)]

mod advice;
mod area;
mod cells;
mod critical;
mod differences;
mod export;
mod frame;
mod generated;
mod idle;
mod memory;
mod mindspore;
mod random;
mod ranks;
mod recomputation;
mod scatter;
mod search;
mod snapshots;
mod stacks;
mod support;
mod torch;
