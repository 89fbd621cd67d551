//! What is computed from traces of profilers: the numbers of real files, and properties of traces of any shape.

mod critical;
mod idle;
mod memory;
mod ranks;
mod support;
