//! The pages in a real browser: open, see data, act, see change.
