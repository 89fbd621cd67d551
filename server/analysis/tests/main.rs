//! All tests of the package in one program: linking takes longer than most of them.

mod answers;
mod diagnosis;
mod formulas;
mod fresh;
mod graph;
mod importance;
mod judgements;
mod keras;
mod noise;
mod program;
mod results;
mod scalars;
mod support;
mod traces;
