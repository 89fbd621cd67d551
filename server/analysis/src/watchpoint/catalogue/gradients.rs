//! Conditions about gradients.
