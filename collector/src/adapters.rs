//! Adapters for frameworks, each behind a feature of its name.

#[cfg(feature = "candle")]
pub mod candle;
#[cfg(feature = "tracing")]
pub mod tracing;
