//! Where server and browser agree: the paths, requests and answers of the HTTP API, and nothing that does work.
//!
//! Numbers that may be NaN or infinite are written as `"NaN"`, `"Infinity"`, `"-Infinity"`. Every list is bounded and
//! says in `cut` whether something was left out. A run is a relative path containing `/`, hence a query parameter.

pub mod error;
pub mod live;
#[cfg(feature = "openapi")]
mod openapi;
pub mod runs;
pub mod scalars;
pub mod status;
pub mod tags;

/// The paths of the API, below the server's prefix.
pub mod paths {
    /// `GET`: [`Status`](crate::status::Status).
    pub const STATUS: &str = "/api/status";
    /// `GET`: [`RunList`](crate::runs::RunList).
    pub const RUNS: &str = "/api/runs";
    /// `GET ?run=`: [`TagList`](crate::tags::TagList).
    pub const TAGS: &str = "/api/tags";
    /// `GET` with [`ScalarsQuery`](crate::scalars::ScalarsQuery): [`Series`](crate::scalars::Series);
    /// `POST` [`ScalarsRequest`](crate::scalars::ScalarsRequest): [`ScalarsAnswer`](crate::scalars::ScalarsAnswer).
    pub const SCALARS: &str = "/api/scalars";
    /// `GET`: server-sent events, see [`live`](crate::live).
    pub const LIVE: &str = "/api/live";
    /// `GET`: this API as an `OpenAPI` document.
    pub const OPENAPI: &str = "/api/openapi.json";
}
