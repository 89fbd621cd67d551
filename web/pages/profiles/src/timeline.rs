//! The timeline of a profile: lanes of slices, steps and counters, from the whole session down to nanoseconds.
//!
//! The address has the range in view, selection, search, folded and pinned lanes, and marks.

#![expect(
    clippy::large_types_passed_by_value,
    reason = "the model is a handle of signals that closures copy"
)]

use trainscope_api::profile::{ProfileEntry, ProfileState};

use trainscope_web_kit::client::ClientError;
use trainscope_web_kit::components::profile_tabs::{ProfileTab, ProfileTabs};
use trainscope_web_kit::components::{IconName, StatePage};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::keys::{use_first_keys, use_keys};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::Load;

mod bottom;
mod cache;
mod counter;
mod curves_button;
mod drag;
mod empty;
mod flame;
mod heads;
mod ink;
mod layout;
mod model;
mod motion;
mod other_button;
mod overlay;
mod scene;
mod slice_panel;
mod stage;
mod step_links;
mod times;
mod toolbar;
mod totals;
mod view;

use bottom::Bottom;
use empty::Recording;
use model::{Model, use_model};
use motion::use_motion;
use stage::Stage;
use toolbar::Toolbar;

use crate::state::{self, note_of};

#[derive(Clone, Debug, PartialEq)]
enum PageState {
    Loading,
    /// No profile was recorded.
    Nothing,
    /// No part of the profile could be read; reasons.
    Unreadable(Vec<String>),
    /// The server refused the request; reason.
    Refused(String),
    Lanes,
}

/// The timeline of the run that the address names.
#[component]
pub fn TimelinePage() -> impl IntoView {
    let model = Model::provide();
    let i18n = use_i18n();
    // Before the keys of the frame: `/` and `.` have another meaning here.
    use_first_keys(move |key, _| key != "Escape" && model.press_key(key, i18n));
    use_keys(move |key, _| key == "Escape" && model.press_key(key, i18n));
    let state = Memo::new(move |_| state_of(model));
    let page = move || match state.get() {
        PageState::Loading => view! { <main class="main" aria-busy="true"></main> }.into_any(),
        PageState::Nothing => {
            let texts = i18n.texts().timeline();
            message(texts.none, texts.none_next.to_owned(), true)
        }
        PageState::Unreadable(reasons) => {
            message(i18n.texts().timeline().unreadable, reasons.join(" "), false)
        }
        PageState::Refused(reason) => message(i18n.texts().timeline().none, reason, false),
        PageState::Lanes => view! { <Lanes /> }.into_any(),
    };
    let totals = move || {
        let texts = i18n.texts().timeline();
        let text = model.frame.with(|frame| {
            let steps = frame.steps.len() as u64;
            (texts.totals)(frame.events, steps, &format::bytes(frame.total_bytes))
        });
        let is_there = model.lanes.answer.with(Option::is_some);
        is_there.then(|| view! { <span class="micro ink3 cut hide-narrow">{text}</span> })
    };
    view! {
        <ProfileTabs current=ProfileTab::Timeline profiles=model.profiles has_steps=false>
            {totals}
        </ProfileTabs>
        {page}
    }
}

fn state_of(model: Model) -> PageState {
    let list = match model.profiles.list.load() {
        Load::Failed(ClientError::Refused(error)) => return PageState::Refused(error.message),
        Load::Loading | Load::Failed(_) => return PageState::Loading,
        Load::Ready(list) => list,
    };
    let Some(entry) = model.profiles.chosen.get() else {
        let unread = list.unread.iter();
        let unread: Vec<String> = unread
            .map(|file| format!("{}: {}", file.path, file.reason))
            .collect();
        return if unread.is_empty() {
            PageState::Nothing
        } else {
            PageState::Unreadable(unread)
        };
    };
    if entry.state == ProfileState::Unreadable {
        return PageState::Unreadable(entry.faults.clone());
    }
    match model.lanes.load() {
        Load::Ready(_) => PageState::Lanes,
        Load::Failed(ClientError::Refused(error)) => PageState::Refused(error.message),
        Load::Loading | Load::Failed(_) => PageState::Loading,
    }
}

fn message(title: &'static str, next: String, has_snippets: bool) -> AnyView {
    view! {
        <main class="main">
            <StatePage
                icon=IconName::Profile
                title=Signal::derive(move || title.to_owned())
                next=Signal::derive(move || next.clone())
            >
                {has_snippets.then(|| view! { <Recording /> })}
            </StatePage>
        </main>
    }
    .into_any()
}

/// Everything below the tabs.
#[component]
fn Lanes() -> impl IntoView {
    use_motion();
    view! {
        <main class="main flush timeline-page">
            <Toolbar />
            <Faults />
            <Stage />
            <Bottom />
        </main>
    }
}

/// Progress of the reading, and damage.
#[component]
fn Faults() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let state = Memo::new(move |_| {
        let texts = i18n.texts().timeline();
        let entry = model.profiles.chosen.get()?;
        let is_cut = model.frame.with(|frame| frame.cut);
        let instead = match entry.state {
            ProfileState::Reading => {
                let read = format::bytes(entry.read_bytes);
                let total = format::bytes(entry.total_bytes);
                Some((IconName::Clock, (texts.reading)(&read, &total)))
            }
            ProfileState::Whole if is_cut => Some((IconName::Info, texts.cut.to_owned())),
            _ => None,
        };
        match instead {
            Some((icon, title)) => Some((icon, title, entry.faults.join(" · "))),
            None => note_of(&entry, i18n.texts()),
        }
    });
    move || state.get().map(state::note)
}

/// Data that the profiler did not record; shown while no slice is selected.
#[component]
fn MissingData() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    move || {
        let texts = i18n.texts().timeline();
        let entry = model.profiles.chosen.get()?;
        let is_free = model.selected.with(Option::is_none);
        let lines = missing(&entry).into_iter().map(|which| {
            view! { <li>{texts.missing[which]}</li> }
        });
        is_free.then(|| view! { <ul class="micro ink3">{lines.collect_view()}</ul> })
    }
}

/// Positions of the texts about data that an argument of the profiler would add; known for PyTorch only.
fn missing(entry: &ProfileEntry) -> Vec<usize> {
    if entry.format != "kineto" {
        return Vec::new();
    }
    let has = [entry.steps > 0, entry.has.device, entry.has.stacks];
    let missing = has.iter().enumerate().filter(|(_, has)| !**has);
    missing.map(|(place, _)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_named_for_data_that_is_not_there() {
        let mut entry = ProfileEntry {
            format: "kineto".to_owned(),
            steps: 3,
            ..ProfileEntry::default()
        };
        assert_eq!(missing(&entry), [1, 2]);
        entry.has.device = true;
        entry.has.stacks = true;
        entry.steps = 0;
        assert_eq!(missing(&entry), [0]);
        entry.format = "chrome".to_owned();
        assert!(missing(&entry).is_empty());
    }
}
