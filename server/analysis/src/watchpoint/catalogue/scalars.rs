//! Conditions about scalars.
