//! Conditions about weights.
