//! Headers that several kinds of answers carry.

use axum::http::HeaderName;
use axum::http::header::CACHE_CONTROL;

/// Answers that change with the files must not be cached.
pub(super) const NO_STORE: (HeaderName, &str) = (CACHE_CONTROL, "no-store");

/// `wasm-unsafe-eval` allows starting WebAssembly. `base-uri` is `'self'` because the page sets its base: below a
/// prefix, and for URLs with several parts such as `/run/a/b/scalars`.
pub(super) const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' blob: data:; \
                                 frame-ancestors 'none'; base-uri 'self'";
