//! The state of a profile as a note, the same above all of its views.

use trainscope_api::profile::{ProfileEntry, ProfileState};

use trainscope_web_kit::components::{IconName, Note, NoteKind};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::Texts;
use trainscope_web_kit::prelude::*;

/// The state of a profile as a note: icon, fact, consequence; `None` for a whole one without remarks.
pub(crate) fn note_of(entry: &ProfileEntry, texts: Texts) -> Option<(IconName, String, String)> {
    let faults = entry.faults.join(" · ");
    match entry.state {
        ProfileState::Reading => {
            let read = format::bytes(entry.read_bytes);
            let bytes = (texts.profile().bytes_of)(&read, &format::bytes(entry.total_bytes));
            Some((IconName::Clock, texts.profile().reading.to_owned(), bytes))
        }
        ProfileState::Whole if faults.is_empty() => None,
        ProfileState::Whole => Some((IconName::Info, texts.profile().remark.to_owned(), faults)),
        ProfileState::Truncated => Some((
            IconName::Warning,
            texts.profile().truncated.to_owned(),
            faults,
        )),
        ProfileState::Damaged => {
            let title = (texts.profile().damaged)(entry.damaged);
            Some((IconName::Warning, title, faults))
        }
        ProfileState::Unreadable => {
            Some((IconName::Warning, texts.profile().unread.to_owned(), faults))
        }
    }
}

/// A note of an icon, a fact and a consequence.
pub(crate) fn note((icon, title, next): (IconName, String, String)) -> impl IntoView {
    let kind = if icon == IconName::Clock {
        NoteKind::Plain
    } else {
        NoteKind::Warning
    };
    view! { <Note kind icon title=Signal::stored(title) next=Signal::stored(next) /> }
}
