//! Requests to the whole router, over an index of the sample runs or an empty one.

mod api;
mod guard;
mod live;
mod page;
mod probes;
mod server;
mod sharing;
