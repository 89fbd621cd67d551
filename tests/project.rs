//! The repository: structure, addresses, documents, sample runs, comments, selectors.

mod addresses;
mod boundaries;
mod deploy;
mod docs;
mod python_sources;
mod samples;
mod selectors;
mod words;
