//! Query string as state: every view can be sent as a link.
//!
//! Each setting has one key; changing one keeps all others. Lists are separated by commas, and a comma within an item
//! is escaped, so that any name survives.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::location::{Address, use_address};
use crate::prelude::*;

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

/// Escaped in an item of a list, before the value as a whole is.
const ITEM: &AsciiSet = &percent_encoding::CONTROLS.add(b'%').add(b',');

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
    /// The value of `key` as a signal that changes only when this key does; `None` if it is absent.
    pub fn param(self, key: &'static str) -> Memo<Option<String>> {
        Memo::new(move |_| self.search.with(|search| value(search, key)))
    }

    /// The items of a list, empty if the key is absent.
    pub fn list(self, key: &'static str) -> Memo<Vec<String>> {
        Memo::new(move |_| {
            self.search
                .with(|search| value(search, key))
                .map(|text| split_list(&text))
                .unwrap_or_default()
        })
    }

    /// Sets keys, or removes them with `None`; all other keys stay as they are.
    pub fn set(self, changes: &[(&str, Option<&str>)], history: History) {
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

    /// The address of this page with keys changed, for links; reactive.
    pub fn href(self, changes: &[(&str, Option<&str>)]) -> String {
        let query = self.search.with(|search| with_changes(search, changes));
        format!("{}?{query}", self.pathname.get())
    }

    /// Sets one list, or removes its key if it is empty.
    pub fn set_list(self, key: &str, items: &[String], history: History) {
        let joined = join_list(items);
        self.set(&[(key, (!items.is_empty()).then_some(&*joined))], history);
    }
}

/// Percent-encoded value.
pub fn encode(value: &str) -> String {
    utf8_percent_encode(value, VALUE).to_string()
}

/// The value of the first `key` in a query string, with or without its `?`.
pub fn value(search: &str, key: &str) -> Option<String> {
    pairs(search)
        .find(|(name, _)| decode(name) == key)
        .map(|(_, value)| decode(value))
}

/// The query string with keys set or removed. New keys go to the end; those that stay keep their place and spelling.
pub fn with_changes(search: &str, changes: &[(&str, Option<&str>)]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut done = vec![false; changes.len()];
    for (name, old) in pairs(search) {
        let name_decoded = decode(name);
        match changes.iter().position(|(key, _)| *key == name_decoded) {
            Some(index) => {
                if let (Some(new), false) = (changes[index].1, done[index]) {
                    parts.push(format!("{name}={}", encode(new)));
                }
                done[index] = true;
            }
            None if old.is_empty() => parts.push(name.to_owned()),
            None => parts.push(format!("{name}={old}")),
        }
    }
    for ((key, new), done) in changes.iter().zip(done) {
        if let (Some(new), false) = (new, done) {
            parts.push(format!("{}={}", encode(key), encode(new)));
        }
    }
    parts.join("&")
}

/// Items as one value.
pub fn join_list(items: &[String]) -> String {
    let escaped: Vec<String> = items
        .iter()
        .map(|item| utf8_percent_encode(item, ITEM).to_string())
        .collect();
    escaped.join(",")
}

/// The items of a value; empty items are left out.
pub fn split_list(value: &str) -> Vec<String> {
    value
        .split(',')
        .filter(|item| !item.is_empty())
        .map(|item| percent_decode_str(item).decode_utf8_lossy().into_owned())
        .collect()
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

    #[test]
    fn other_keys_stay_as_they_are() {
        assert_eq!(
            with_changes("?q=a%20b&x=1", &[("x", Some("2"))]),
            "q=a%20b&x=2"
        );
        assert_eq!(with_changes("q=1&x=1", &[("x", None)]), "q=1");
        assert_eq!(with_changes("", &[("runs", Some("a/b,c"))]), "runs=a/b,c");
        assert_eq!(with_changes("?flag", &[("x", Some("&"))]), "flag&x=%26");
    }

    #[test]
    fn a_repeated_key_becomes_one() {
        assert_eq!(with_changes("x=1&y=2&x=3", &[("x", Some("4"))]), "x=4&y=2");
    }

    #[test]
    fn values_survive() {
        for text in ["a b", "a+b", "100 %", "lr:>0.01 &x=y", "训练/损失", "#?"] {
            let query = with_changes("", &[("q", Some(text))]);
            assert_eq!(value(&query, "q").as_deref(), Some(text), "{query}");
        }
    }

    #[test]
    fn lists_survive_commas_and_percent_signs() {
        let items = vec!["a,b".to_owned(), "50%2C".to_owned(), "run/1".to_owned()];
        assert_eq!(split_list(&join_list(&items)), items);
        let query = with_changes("", &[("runs", Some(&join_list(&items)))]);
        assert_eq!(
            value(&query, "runs").map(|text| split_list(&text)),
            Some(items)
        );
    }
}
