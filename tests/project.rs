//! The repository: structure, documents, sample runs, comments.

mod boundaries;
mod docs;
mod samples;
mod words;
