//! Conditions about activations.
