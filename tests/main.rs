//! The tests that drive the built program as its users do.
