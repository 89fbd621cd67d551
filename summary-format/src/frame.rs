//! TFRecord framing.
