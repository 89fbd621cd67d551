//! The regular expression over tag names.

use regex_lite::{Regex, RegexBuilder};

/// Size limit of a compiled expression: a pathological one is rejected instead of slowing down every key press.
const SIZE_LIMIT: usize = 1 << 20;

/// Parsed filter.
#[derive(Clone, Debug, Default)]
pub enum Filter {
    /// Empty: every tag matches.
    #[default]
    All,
    /// Tags that match the expression.
    Matching(Regex),
    /// An invalid expression with the parser's message. Every tag matches, so that the page does not empty while the
    /// user types.
    Invalid(String),
}

impl Filter {
    /// Parses the field; case-sensitive only if it contains an upper-case letter.
    pub fn new(text: &str) -> Self {
        if text.is_empty() {
            return Self::All;
        }
        let built = RegexBuilder::new(text)
            .case_insensitive(!text.chars().any(char::is_uppercase))
            .size_limit(SIZE_LIMIT)
            .build();
        match built {
            Ok(regex) => Self::Matching(regex),
            Err(error) => Self::Invalid(error.to_string()),
        }
    }

    /// True if a tag matches.
    pub fn passes(&self, tag: &str) -> bool {
        match self {
            Self::All | Self::Invalid(_) => true,
            Self::Matching(regex) => regex.is_match(tag),
        }
    }

    /// The match in a name: its first group if it has one, or the whole match.
    pub fn find(&self, name: &str) -> Option<String> {
        let Self::Matching(regex) = self else {
            return None;
        };
        let found = regex.captures(name)?;
        let found = found.get(1).or_else(|| found.get(0))?;
        Some(found.as_str().to_owned())
    }

    /// True if it may hide tags.
    pub fn is_active(&self) -> bool {
        matches!(self, Self::Matching(_))
    }

    /// Error of an invalid expression.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Invalid(reason) => Some(reason),
            Self::All | Self::Matching(_) => None,
        }
    }
}

/// Filters are equal if their texts are.
impl PartialEq for Filter {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, Self::All) => true,
            (Self::Matching(a), Self::Matching(b)) => a.as_str() == b.as_str(),
            (Self::Invalid(a), Self::Invalid(b)) => a == b,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_find_parts_of_names() {
        let filter = Filter::new("loss|acc");
        assert!(filter.passes("train/Loss") && filter.passes("accuracy") && !filter.passes("lr"));
        assert!(!Filter::new("Loss").passes("train/loss"));
    }

    #[test]
    fn a_broken_expression_hides_nothing_and_says_why() {
        let filter = Filter::new("loss(");
        assert!(filter.passes("lr"));
        assert!(filter.error().is_some_and(|reason| !reason.is_empty()));
        assert!(Filter::new("(((a{1000}){1000}){1000})").error().is_some());
    }
}
