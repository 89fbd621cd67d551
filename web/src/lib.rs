//! The browser program: asks and draws.
