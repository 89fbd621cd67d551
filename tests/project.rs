//! The repository: structure, documents, sample runs, comments, selectors.

mod boundaries;
mod docs;
mod samples;
mod selectors;
mod words;
