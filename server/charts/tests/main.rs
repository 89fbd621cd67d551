//! All tests of the package in one program: linking takes longer than most of them.

mod any_input;
mod distributions;
mod landscape;
mod plots;
mod profile;
