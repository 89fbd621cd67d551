//! Parameters of an address: each has one constant with its name, its parser, its text and its default.

use super::text::{AddressText, join_list, split_list};
use super::value;

/// A parameter without a default.
pub struct Key<T: 'static> {
    name: &'static str,
    form: Form<T>,
}

/// Texts of the values of a parameter.
enum Form<T: 'static> {
    Words(&'static [(T, &'static str)]),
    Text(fn(&str) -> Option<T>, fn(&T) -> String),
    Items(fn(&[String]) -> Option<T>, fn(&T) -> Vec<String>),
}

impl<T> Clone for Form<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Form<T> {}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl<T: AddressText> Key<T> {
    /// A parameter whose value has one obvious text.
    pub const fn new(name: &'static str) -> Self {
        Self::with(name, T::read, T::write)
    }
}

impl<T> Key<T> {
    /// A parameter with a parser and a text of its own.
    pub const fn with(
        name: &'static str,
        read: fn(&str) -> Option<T>,
        write: fn(&T) -> String,
    ) -> Self {
        Self {
            name,
            form: Form::Text(read, write),
        }
    }

    /// A parameter with a word for each value; other words have no value.
    pub const fn of_words(name: &'static str, words: &'static [(T, &'static str)]) -> Self {
        Self {
            name,
            form: Form::Words(words),
        }
    }

    /// A parameter whose text is a list of items.
    pub const fn of_items(
        name: &'static str,
        read: fn(&[String]) -> Option<T>,
        write: fn(&T) -> Vec<String>,
    ) -> Self {
        Self {
            name,
            form: Form::Items(read, write),
        }
    }

    /// The parameter with a default, which is left out of the address.
    pub const fn or(self, default: T) -> Setting<T> {
        Setting { key: self, default }
    }

    /// Removes the parameter.
    pub const fn clear(self) -> Change {
        self.typed(None)
    }

    /// Sets the parameter to a text as it was typed, or that depends on more than the value.
    pub const fn typed(self, text: Option<String>) -> Change {
        Change {
            name: self.name,
            text,
        }
    }
}

impl<T: Clone + PartialEq> Key<T> {
    /// The value of a text; `None` if it has none.
    pub fn read(self, text: &str) -> Option<T> {
        match self.form {
            Form::Words(words) => {
                let found = words.iter().find(|(_, word)| *word == text);
                found.map(|(value, _)| value.clone())
            }
            Form::Text(read, _) => read(text),
            Form::Items(read, _) => read(&split_list(text)),
        }
    }

    /// The text of a value; `None` for one without a word.
    pub fn write(self, value: &T) -> Option<String> {
        match self.form {
            Form::Words(words) => {
                let found = words.iter().find(|(known, _)| known == value);
                found.map(|(_, word)| (*word).to_owned())
            }
            Form::Text(_, write) => Some(write(value)),
            Form::Items(_, write) => Some(join_list(write(value))),
        }
    }

    /// The value in a query string; `None` if it is absent or not a value.
    pub fn value_in(self, search: &str) -> Option<T> {
        self.read(&value(search, self.name)?)
    }

    /// Sets the parameter.
    pub fn to(self, value: impl Into<T>) -> Change {
        self.typed(self.write(&value.into()))
    }

    /// Sets the parameter, or removes it.
    pub fn to_option(self, value: Option<impl Into<T>>) -> Change {
        value.map_or_else(|| self.clear(), |value| self.to(value))
    }
}

/// A parameter with a default.
pub struct Setting<T: 'static> {
    key: Key<T>,
    default: T,
}

impl Setting<bool> {
    /// A parameter that is set or not, whatever its value.
    pub const fn mark(name: &'static str) -> Self {
        Key::with(name, |_| Some(true), bool::write).or(false)
    }
}

impl<T: Clone + PartialEq> Setting<T> {
    /// The value in a query string; the default if it is absent or not a value.
    pub fn value_in(&self, search: &str) -> T {
        let value = self.key.value_in(search);
        value.unwrap_or_else(|| self.default.clone())
    }

    /// The value of a text; `None` if it has none.
    pub fn read(&self, text: &str) -> Option<T> {
        self.key.read(text)
    }

    /// The text of a value; `None` for one without a word.
    pub fn write(&self, value: &T) -> Option<String> {
        self.key.write(value)
    }

    /// Sets the parameter, or removes it if the value reads as the default.
    pub fn to(&self, value: impl Into<T>) -> Change {
        let text = self.key.write(&value.into());
        let is_default = text == self.key.write(&self.default);
        self.key.typed(text.filter(|_| !is_default))
    }

    /// Removes the parameter.
    pub const fn clear(&self) -> Change {
        self.key.clear()
    }
}

/// A change of one parameter, made by [`Key`] and [`Setting`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub(super) name: &'static str,
    /// `None` removes the parameter.
    pub(super) text: Option<String>,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::with_changes;
    use super::*;

    const SIZE: Setting<u32> = Key::of_words("size", &[(1, "small"), (2, "large")]).or(1);
    const RUNS: Setting<Vec<String>> = Key::new("runs").or(Vec::new());
    const AXES: Key<Vec<String>> = Key::new("axes");
    const STEPS: Setting<BTreeMap<String, i64>> = Key::of_items(
        "own",
        |items| {
            let steps = items.iter().map(|item| {
                let (step, tag) = item.split_once(':')?;
                Some((tag.to_owned(), step.parse().ok()?))
            });
            steps.collect()
        },
        |steps: &BTreeMap<String, i64>| {
            let items = steps.iter().map(|(tag, step)| format!("{step}:{tag}"));
            items.collect()
        },
    )
    .or(BTreeMap::new());

    #[test]
    fn each_word_has_its_value_and_others_the_default() {
        for (size, search) in [(1, ""), (2, "size=large")] {
            assert_eq!(with_changes("", &[SIZE.to(size)]), search);
            assert_eq!(SIZE.value_in(search), size);
        }
        for search in ["", "size=huge", "size=", "size"] {
            assert_eq!(SIZE.value_in(search), 1, "{search}");
        }
        // A value without a word is not in the address.
        assert_eq!(with_changes("size=large", &[SIZE.to(3_u32)]), "");
    }

    #[test]
    fn a_default_is_left_out_and_a_key_has_none() {
        assert_eq!(with_changes("runs=a&x=1", &[RUNS.to(Vec::new())]), "x=1");
        assert_eq!(with_changes("", &[AXES.to(Vec::new())]), "axes=");
        assert_eq!(AXES.value_in("axes="), Some(Vec::new()));
        assert_eq!(AXES.value_in(""), None);
        assert_eq!(RUNS.value_in(""), [""; 0]);
    }

    #[test]
    fn lists_are_read_back() {
        let runs = vec!["a,b".to_owned(), "50%2C".to_owned(), "c/d".to_owned()];
        let search = with_changes("", &[RUNS.to(runs.as_slice())]);
        assert_eq!(RUNS.value_in(&search), runs);
        let steps = BTreeMap::from([("a,b:c".to_owned(), -4)]);
        let search = with_changes("", &[STEPS.to(steps.clone())]);
        assert_eq!(STEPS.value_in(&search), steps);
        assert_eq!(STEPS.value_in("own=4:a,x"), BTreeMap::new());
    }

    #[test]
    fn a_mark_is_set_by_any_value() {
        const FLAT: Setting<bool> = Setting::mark("flat");
        for search in ["flat=1", "flat=0", "flat"] {
            assert!(FLAT.value_in(search), "{search}");
        }
        assert!(!FLAT.value_in("x=1"));
        assert_eq!(with_changes("", &[FLAT.to(true)]), "flat=1");
        assert_eq!(with_changes("flat=0", &[FLAT.to(false)]), "");
    }
}
