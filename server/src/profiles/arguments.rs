//! Search in the arguments of slices: they are only in the files of a profile, which are read again for each search.

use std::io::{self, Read};
use std::sync::Arc;

use parking_lot::Mutex;
use regex::bytes::{Regex, RegexBuilder};
use trainscope_analysis::trace::Model;
use trainscope_format::formats::trace_json;

use super::sessions::SessionFiles;
use crate::files;

/// Maximum number of bytes of one event in its file.
pub(crate) const MAX_EVENT_BYTES: u64 = 1 << 20;
/// Maximum number of searched bytes of an unpacked file.
const MAX_SEARCHED_BYTES: u64 = 8 << 30;
/// Maximum number of slices that a search finds.
const MAX_MATCHES: usize = 1_000_000;
/// Bytes read at a time.
const BLOCK_BYTES: u64 = 1 << 20;
/// Number of searches that are kept: a search is repeated whenever the view moves.
const MAX_KEPT: usize = 4;

/// Slices whose arguments have a text.
#[derive(Clone, Debug)]
pub(crate) struct ArgumentSearch {
    /// Indices in order.
    pub(crate) slices: Arc<Vec<u32>>,
    /// `true` if not everything was searched.
    pub(crate) is_cut: bool,
}

/// The last searches in the arguments of one profile.
#[derive(Default)]
pub(super) struct ArgumentSearches(Mutex<Vec<(String, ArgumentSearch)>>);

impl ArgumentSearches {
    /// Slices whose arguments have a text in lower case; `None` if the files hold no arguments. Reads the file unless
    /// the text was searched for lately; one search at a time.
    pub(super) fn get(
        &self,
        files: &SessionFiles,
        model: &Model,
        text: &str,
    ) -> io::Result<Option<ArgumentSearch>> {
        let Some(file) = files.arguments_file() else {
            return Ok(None);
        };
        let mut kept = self.0.lock();
        if let Some((_, known)) = kept.iter().find(|(searched, _)| searched == text) {
            return Ok(Some(known.clone()));
        }
        let content = files::unpacked(files::open(&file.full)?)?;
        let found = search(content, &model.trace.slices.places, text);
        kept.insert(0, (text.to_owned(), found.clone()));
        kept.truncate(MAX_KEPT);
        Ok(Some(found))
    }
}

/// Searches the events that begin at `places`, in order of the places.
fn search(content: impl Read, places: &[u64], text: &str) -> ArgumentSearch {
    let mut order: Vec<u32> = (0..).take(places.len()).collect();
    let place = |slice: u32| places.get(slice as usize).copied().unwrap_or(u64::MAX);
    order.sort_unstable_by_key(|slice| place(*slice));
    let hint = hint(text);
    let mut window = Window::new(content);
    let mut slices = Vec::new();
    let mut is_cut = false;
    for (at, slice) in order.iter().enumerate() {
        let from = place(*slice);
        if from >= MAX_SEARCHED_BYTES || slices.len() == MAX_MATCHES {
            is_cut = true;
            break;
        }
        let next = order.get(at + 1).map_or(u64::MAX, |next| place(*next));
        let end = from.saturating_add(MAX_EVENT_BYTES);
        // Several slices may share an event.
        let to = if next > from { next.min(end) } else { end };
        let event = window.get(from, to);
        let may_have = hint.as_ref().is_none_or(|hint| hint.is_match(event));
        let has = |part: &str| part.to_lowercase().contains(text);
        if may_have
            && trace_json::arguments(event)
                .iter()
                .any(|(name, value)| has(name) || has(value))
        {
            slices.push(*slice);
        }
    }
    slices.sort_unstable();
    ArgumentSearch {
        slices: Arc::new(slices),
        is_cut: is_cut || window.is_broken,
    }
}

/// The longest part of a text that JSON writes unchanged, for a quick test before an event is parsed; `None` without
/// one.
fn hint(text: &str) -> Option<Regex> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " _.-:,=[]()".contains(letter);
    let parts = text.split(|letter: char| !is_plain(letter));
    let longest = parts.max_by_key(|part| part.len())?;
    if longest.is_empty() {
        return None;
    }
    let mut builder = RegexBuilder::new(&regex::escape(longest));
    builder.case_insensitive(true).unicode(false);
    // A text that is too long for an expression is looked for in every event.
    builder.build().ok()
}

/// A part of a file that moves forward.
struct Window<R> {
    source: R,
    /// Place of the first byte.
    start: u64,
    bytes: Vec<u8>,
    is_over: bool,
    /// `true` if the file could not be read to its end.
    is_broken: bool,
}

impl<R: Read> Window<R> {
    const fn new(source: R) -> Self {
        Self {
            source,
            start: 0,
            bytes: Vec::new(),
            is_over: false,
            is_broken: false,
        }
    }

    /// Bytes from one place to another, fewer at the end of the file. Places must not decrease.
    fn get(&mut self, from: u64, to: u64) -> &[u8] {
        while self.start + (self.bytes.len() as u64) < to && !self.is_over {
            let passed = self.inside(from);
            self.bytes.drain(..passed);
            self.start += passed as u64;
            let mut block = (&mut self.source).take(BLOCK_BYTES);
            let read = block.read_to_end(&mut self.bytes);
            self.is_broken |= read.is_err();
            self.is_over = !read.is_ok_and(|len| len > 0);
        }
        let (from, to) = (self.inside(from), self.inside(to));
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Position of a place in the bytes at hand, or the nearest one.
    fn inside(&self, place: u64) -> usize {
        let passed = place.saturating_sub(self.start);
        usize::try_from(passed).map_or(self.bytes.len(), |passed| passed.min(self.bytes.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events with arguments, and their places.
    fn events(arguments: &[&str]) -> (String, Vec<u64>) {
        let mut text = "[".to_owned();
        let mut places = Vec::new();
        for argument in arguments {
            places.push(text.len() as u64);
            text += &["{\"name\":\"relu\",\"args\":{", argument, "}},\n"].concat();
        }
        (text, places)
    }

    fn find(text: &str, places: &[u64], wanted: &str) -> Vec<u32> {
        let found = search(text.as_bytes(), places, wanted);
        assert!(!found.is_cut);
        found.slices.to_vec()
    }

    #[test]
    fn names_and_values_of_arguments_are_searched_and_nothing_else() {
        let (text, mut places) = events(&[
            r#""Input Dims":[[128,64]],"stream":7"#,
            r#""stream":13"#,
            r#""note":"a\/b \"quoted\" \u00e9""#,
            "",
        ]);
        assert_eq!(find(&text, &places, "input dims"), [0]);
        assert_eq!(find(&text, &places, "[[128,64]]"), [0]);
        assert_eq!(find(&text, &places, "stream"), [0, 1]);
        assert!(find(&text, &places, "relu").is_empty(), "a name of slices");
        for escaped in ["a/b", "\"quoted\"", "é", "\"", "/"] {
            assert_eq!(find(&text, &places, escaped), [2], "{escaped}");
        }
        // Slices are not in the order of the file.
        places.reverse();
        assert_eq!(find(&text, &places, "stream"), [2, 3]);
        assert!(find("", &places, "stream").is_empty(), "the file is gone");
    }

    #[test]
    fn events_in_any_block_of_the_file_are_read() {
        let long = format!("\"text\":\"{}\"", "x".repeat(300_000));
        let arguments: Vec<&str> = (0..20)
            .map(|at| {
                if at % 7 == 3 {
                    r#""k":"needle""#
                } else {
                    &long
                }
            })
            .collect();
        let (text, places) = events(&arguments);
        assert_eq!(find(&text, &places, "needle"), [3, 10, 17]);
    }

    #[test]
    fn a_file_that_breaks_off_is_not_searched_as_a_whole() {
        struct Fault;
        impl Read for Fault {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
        }
        let (text, places) = events(&[r#""k":1"#, r#""k":1"#]);
        let half = &text.as_bytes()[..text.len() / 2];
        let found = search(half.chain(Fault), &places, "k");
        assert_eq!((found.slices.as_slice(), found.is_cut), (&[0][..], true));
    }
}
