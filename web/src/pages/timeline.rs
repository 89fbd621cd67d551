//! The timeline of a profile.

use crate::components::profile_tabs::{ProfileTab, ProfileTabs, Profiles};
use crate::prelude::*;

/// The timeline of the run that the address names.
#[component]
pub fn TimelinePage() -> impl IntoView {
    let profiles = Profiles::new();
    view! {
        <ProfileTabs current=ProfileTab::Timeline profiles />
        <main class="main flush timeline-page"></main>
    }
}
