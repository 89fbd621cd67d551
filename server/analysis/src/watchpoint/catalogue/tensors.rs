//! Conditions about tensors.
