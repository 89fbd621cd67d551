//! Requests against the whole router, over an index that has read the sample runs or nothing.

mod api;
mod guard;
mod live;
mod page;
mod server;
