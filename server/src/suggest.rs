//! Suggestions for misspelt names.

/// The most similar name, if any is close enough: two edits, or a third of its length.
pub(crate) fn similar<'a>(
    wanted: &str,
    names: &mut dyn Iterator<Item = &'a str>,
) -> Option<&'a str> {
    names
        .map(|name| (strsim::damerau_levenshtein(name, wanted), name))
        .filter(|(distance, name)| {
            *distance <= (wanted.chars().count() / 3).max(2) || name.starts_with(wanted)
        })
        .min()
        .map(|(_, name)| name)
}
