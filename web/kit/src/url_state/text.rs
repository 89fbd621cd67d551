//! Values as texts of an address, and lists as one text.

use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};

use crate::format::parse_number;

/// Escaped in an item of a list, before the value as a whole is.
const ITEM: &AsciiSet = &percent_encoding::CONTROLS.add(b'%').add(b',');

/// A value with one obvious text.
pub trait AddressText: Sized {
    /// The value of a text; `None` if it has none.
    fn read(text: &str) -> Option<Self>;

    /// The text of the value.
    fn write(&self) -> String;
}

impl AddressText for String {
    fn read(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    fn write(&self) -> String {
        self.clone()
    }
}

/// `1` and `0`.
impl AddressText for bool {
    fn read(text: &str) -> Option<Self> {
        match text {
            "1" => Some(true),
            "0" => Some(false),
            _ => None,
        }
    }

    fn write(&self) -> String {
        u8::from(*self).to_string()
    }
}

/// Finite numbers.
impl AddressText for f64 {
    fn read(text: &str) -> Option<Self> {
        parse_number(text)
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

macro_rules! whole_numbers {
    ($($number:ty),*) => { $(
        impl AddressText for $number {
            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn write(&self) -> String {
                self.to_string()
            }
        }
    )* };
}

whole_numbers!(u32, u64, usize, i64);

/// Items separated by commas; those without a value are left out.
impl<T: AddressText> AddressText for Vec<T> {
    fn read(text: &str) -> Option<Self> {
        let items = split_list(text);
        Some(items.iter().filter_map(|item| T::read(item)).collect())
    }

    fn write(&self) -> String {
        join_list(self.iter().map(T::write))
    }
}

/// Items as one text. A comma within an item is escaped, so that any name survives.
pub fn join_list<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let escaped = items
        .into_iter()
        .map(|item| utf8_percent_encode(item.as_ref(), ITEM).to_string());
    escaped.collect::<Vec<_>>().join(",")
}

/// The items of a text; empty items are left out.
pub fn split_list(text: &str) -> Vec<String> {
    text.split(',')
        .filter(|item| !item.is_empty())
        .map(|item| percent_decode_str(item).decode_utf8_lossy().into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_survive_commas_and_percent_signs() {
        let items = ["a,b", "50%2C", "run/1"].map(str::to_owned).to_vec();
        assert_eq!(Vec::<String>::read(&items.write()), Some(items));
    }

    #[test]
    fn items_without_a_value_are_left_out() {
        assert_eq!(Vec::<u32>::read("3,x,,-1,5"), Some(vec![3, 5]));
        assert_eq!(Vec::<u32>::read(""), Some(Vec::new()));
        assert_eq!(vec![3_u32, 5].write(), "3,5");
    }

    #[test]
    fn a_text_that_is_no_value_has_none() {
        assert_eq!(i64::read("-3"), Some(-3));
        assert_eq!(u32::read("-3"), None);
        assert_eq!(f64::read("inf"), None);
        assert_eq!(bool::read("yes"), None);
    }
}
