//! Pages about profiles: what a step costs, and the timeline of every event.

#![expect(
    unreachable_pub,
    reason = "`#[component]` makes its props `pub` in modules that are not"
)]

mod frames;
mod profile;
mod segment;
mod timeline;

pub use profile::ProfilePage;
pub use timeline::TimelinePage;
