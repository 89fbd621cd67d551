//! Conditions about run.
