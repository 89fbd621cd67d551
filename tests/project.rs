//! The repository: structure, documents, sample runs, comments, selectors.

mod boundaries;
mod docs;
mod python_sources;
mod samples;
mod selectors;
mod words;
