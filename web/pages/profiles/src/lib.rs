//! Pages about profiles: the costs of a step, and the timeline of all events.

#![expect(
    unreachable_pub,
    reason = "`#[component]` makes its props `pub` in modules that are not"
)]

mod frames;
mod parameters;
mod profile;
mod segment;
mod state;
mod timeline;

pub use profile::ProfilePage;
pub use timeline::TimelinePage;
