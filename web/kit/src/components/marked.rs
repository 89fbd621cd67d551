//! Highlighted search matches.

use crate::prelude::*;

/// A text with every match in a `<mark>`, ignoring case.
pub fn marked(text: &str, find: &str) -> AnyView {
    let found = places(text, find);
    if found.is_empty() {
        return text.to_owned().into_any();
    }
    let mut parts: Vec<AnyView> = Vec::new();
    let mut at = 0;
    for (from, to) in found {
        let (before, words) = (text.get(at..from), text.get(from..to));
        parts.push(before.unwrap_or_default().to_owned().into_any());
        let words = words.unwrap_or_default().to_owned();
        parts.push(view! { <mark>{words}</mark> }.into_any());
        at = to;
    }
    parts.push(text.get(at..).unwrap_or_default().to_owned().into_any());
    parts.into_any()
}

/// Byte ranges of matches in a text, ignoring case.
pub fn places(text: &str, find: &str) -> Vec<(usize, usize)> {
    if find.is_empty() {
        return Vec::new();
    }
    let pattern = regex_lite::escape(find);
    let regex = regex_lite::RegexBuilder::new(&pattern)
        .case_insensitive(true)
        .build();
    let Ok(regex) = regex else {
        return Vec::new();
    };
    regex
        .find_iter(text)
        .map(|found| (found.start(), found.end()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn words_are_found_whatever_their_case() {
        assert_eq!(places("Loss and LOSS", "loss"), [(0, 4), (9, 13)]);
        assert_eq!(places("a.b", "."), [(1, 2)]);
        assert!(places("anything", "").is_empty());
        assert_eq!(places("İstanbul x", "x").len(), 1);
    }
}
