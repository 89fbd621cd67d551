//! The profile of a run: where the time of its steps goes, what would help, operators, memory, ranks, and the difference
//! from another profile.
//!
//! Session, rank, steps and view are in the address.

use crate::components::profile_tabs::{ProfileTab, ProfileTabs, ProfileView, Profiles, VIEW};
use crate::prelude::*;

/// The profile of the run that the address names.
#[component]
pub fn ProfilePage() -> impl IntoView {
    let profiles = Profiles::new();
    let view = profiles.url.param(VIEW);
    let current =
        Signal::derive(move || ProfileTab::View(ProfileView::of_name(view.get().as_deref())));
    view! {
        <ProfileTabs current profiles />
        <main class="main profile-page"></main>
    }
}
