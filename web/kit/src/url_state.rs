//! Query string as state: every view can be sent as a link.
//!
//! Each parameter is a [`Key`] or a [`Setting`]; changing one keeps all others. Those that several pages read are in
//! [`crate::parameters`], those of one page stand with it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

mod key;
mod text;

use crate::location::{Address, use_address};
use crate::prelude::*;

pub use self::key::{Change, Key, Setting};
pub use self::text::{AddressText, join_list, split_list};
pub use crate::location::History;

/// Escaped in a value: all but letters, digits and characters that read well in an address.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/')
    .remove(b':')
    .remove(b',')
    .remove(b'*')
    .remove(b'@');

/// Reads and changes keys of the query string.
#[derive(Clone, Copy)]
pub struct UrlState {
    address: Address,
    search: Memo<String>,
    pathname: Memo<String>,
}

/// The query string of this page.
pub fn use_url_state() -> UrlState {
    let address = use_address();
    UrlState {
        address,
        search: address.search(),
        pathname: address.pathname(),
    }
}

impl UrlState {
    /// The value of a parameter as a signal; `None` if it is absent or not a value.
    pub fn param<T>(self, key: Key<T>) -> Memo<Option<T>>
    where
        T: Clone + PartialEq + Send + Sync,
    {
        Memo::new(move |_| self.search.with(|search| key.value_in(search)))
    }

    /// The value of a parameter with a default as a signal.
    pub fn setting<T>(self, setting: Setting<T>) -> Memo<T>
    where
        T: Clone + PartialEq + Send + Sync,
    {
        Memo::new(move |_| self.search.with(|search| setting.value_in(search)))
    }

    /// Changes parameters; all others stay as they are.
    pub fn set(self, changes: &[Change], history: History) {
        let (path, search) = self.address.untracked();
        let query = with_changes(&search, changes);
        if query == search.trim_start_matches('?') {
            return;
        }
        let hash = window().location().hash().unwrap_or_default();
        let href = if query.is_empty() {
            format!("{path}{hash}")
        } else {
            format!("{path}?{query}{hash}")
        };
        self.address.go(&href, history);
    }

    /// The address of this page with parameters changed, for links; reactive.
    pub fn href(self, changes: &[Change]) -> String {
        let query = self.search.with(|search| with_changes(search, changes));
        format!("{}?{query}", self.pathname.get())
    }
}

/// The address of a page with parameters.
pub fn with_query(href: &str, changes: &[Change]) -> String {
    match with_changes("", changes) {
        query if query.is_empty() => href.to_owned(),
        query => format!("{href}?{query}"),
    }
}

/// Percent-encoded value.
fn encode(value: &str) -> String {
    utf8_percent_encode(value, VALUE).to_string()
}

/// The value of the first `key` in a query string, with or without its `?`.
fn value(search: &str, key: &str) -> Option<String> {
    pairs(search)
        .find(|(name, _)| decode(name) == key)
        .map(|(_, value)| decode(value))
}

/// The query string with parameters changed. New ones go to the end; those that stay keep their place and spelling.
fn with_changes(search: &str, changes: &[Change]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut done = vec![false; changes.len()];
    for (name, old) in pairs(search) {
        let name_decoded = decode(name);
        match changes
            .iter()
            .position(|change| change.name == name_decoded)
        {
            Some(index) => {
                if let (Some(new), false) = (&changes[index].text, done[index]) {
                    parts.push(format!("{name}={}", encode(new)));
                }
                done[index] = true;
            }
            None if old.is_empty() => parts.push(name.to_owned()),
            None => parts.push(format!("{name}={old}")),
        }
    }
    for (change, done) in changes.iter().zip(done) {
        if let (Some(new), false) = (&change.text, done) {
            parts.push(format!("{}={}", encode(change.name), encode(new)));
        }
    }
    parts.join("&")
}

fn pairs(search: &str) -> impl Iterator<Item = (&str, &str)> {
    search
        .trim_start_matches('?')
        .split('&')
        .filter(|part| !part.is_empty())
        .map(|part| part.split_once('=').unwrap_or((part, "")))
}

fn decode(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Key<String> = Key::new("x");
    const RUNS: Key<Vec<String>> = Key::new("runs");

    #[test]
    fn other_keys_stay_as_they_are() {
        assert_eq!(with_changes("?q=a%20b&x=1", &[X.to("2")]), "q=a%20b&x=2");
        assert_eq!(with_changes("q=1&x=1", &[X.clear()]), "q=1");
        let runs = ["a/b", "c"].map(str::to_owned);
        assert_eq!(with_changes("", &[RUNS.to(runs)]), "runs=a/b,c");
        assert_eq!(with_changes("?flag", &[X.to("&")]), "flag&x=%26");
    }

    #[test]
    fn a_repeated_key_becomes_one() {
        assert_eq!(with_changes("x=1&y=2&x=3", &[X.to("4")]), "x=4&y=2");
    }

    #[test]
    fn values_survive() {
        for text in ["a b", "a+b", "100 %", "lr:>0.01 &x=y", "训练/损失", "#?"] {
            let query = with_changes("", &[X.to(text)]);
            assert_eq!(X.value_in(&query).as_deref(), Some(text), "{query}");
        }
    }
}
