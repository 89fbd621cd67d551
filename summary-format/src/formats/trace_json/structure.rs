//! Structure of a file: the keys around the events, the events, and recovery from damage.

use super::columns::Columns;
use super::cursor::{Cursor, Stop};
use super::event::Event;
use super::head;
use crate::trace::{Trace, TraceDamage};

/// Maximum length of an event, or of a value before or after the events; longer ones are damage.
const MAX_EVENT_LEN: usize = 16 << 20;
/// Bytes that may be read twice because an event turned out to be damaged.
const MIN_REREAD_LEN: u64 = 32 << 20;
/// Further bytes for each byte before it. Above this sum, reading resumes at the unreadable byte of an event, not after
/// its first one.
const REREAD_FACTOR: u64 = 8;
/// Maximum number of damaged places that are kept; all are counted.
pub(super) const MAX_DAMAGES: u64 = 1_000;
/// Maximum length of white space in the bytes that identify an event, or the end of the events, in damage.
const MAX_GAP_LEN: usize = 64;
/// First keys of events, with their closing quote.
const FIRST_KEYS: [&[u8]; 7] = [
    b"ph\"", b"name\"", b"cat\"", b"args\"", b"pid\"", b"tid\"", b"ts\"",
];

/// A position in a file, and the results up to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Structure {
    pub(super) columns: Columns,
    state: State,
    /// `true` if the events are in an object, so that other keys follow them.
    is_object: bool,
    /// Offset of the first unprocessed byte.
    offset: u64,
    /// Bytes of events that turned out to be damaged.
    reread: u64,
}

/// Places in the structure.
#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Before the first bracket.
    #[default]
    Start,
    /// Among the keys of the outermost object.
    Keys,
    /// In the value of an unwanted key.
    Skip(Skip),
    /// Among the events.
    Events,
    /// In damage.
    Damage(Damage),
    /// After the last bracket.
    End,
}

/// A position in a skipped value.
#[derive(Clone, Copy, Debug, Default)]
struct Skip {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

/// Damage whose end is not known yet.
#[derive(Clone, Copy, Debug)]
struct Damage {
    from: u64,
    /// `true` if nothing but white space follows a comma, a line break or a closing brace: an event may begin.
    is_event_due: bool,
    /// `true` if the file ends within the event: it is not damage if no other event follows.
    is_cut: bool,
}

impl Structure {
    /// Reads all complete parts; returns the number of processed bytes. `is_end`: nothing follows.
    pub(super) fn read(&mut self, bytes: &[u8], is_end: bool) -> usize {
        let mut at = 0;
        while match self.state {
            State::Start => self.start(bytes, &mut at),
            State::Keys => self.keys(bytes, &mut at),
            State::Skip(skip) => self.skip(skip, bytes, &mut at),
            State::Events => self.events(bytes, &mut at, is_end),
            State::Damage(damage) => self.damage(damage, bytes, &mut at, is_end),
            State::End => self.end(bytes, &mut at),
        } {}
        self.offset += at as u64;
        at
    }

    /// The whole trace; the file has ended.
    pub(super) fn finish(mut self) -> Trace {
        let end = self.columns.trace.counts.bytes;
        if let State::Damage(damage) = self.state
            && !damage.is_cut
        {
            self.add_damage(damage.from, end - damage.from);
        }
        self.columns.trace.counts.truncated = !matches!(self.state, State::End);
        self.columns.finish()
    }

    // Each function for a state moves `at` past the processed bytes. It returns `true` if the state has changed, and
    // `false` if it needs more bytes.

    fn start(&mut self, bytes: &[u8], at: &mut usize) -> bool {
        while let Some(byte) = bytes.get(*at) {
            match byte {
                // White space, and the mark of UTF-8.
                b' ' | b'\n' | b'\r' | b'\t' | 0xef | 0xbb | 0xbf => *at += 1,
                b'{' | b'[' => {
                    *at += 1;
                    self.is_object = *byte == b'{';
                    self.state = if self.is_object {
                        State::Keys
                    } else {
                        State::Events
                    };
                    return true;
                }
                _ => return self.begin_damage(*at),
            }
        }
        false
    }

    fn keys(&mut self, bytes: &[u8], at: &mut usize) -> bool {
        while let Some(byte) = bytes.get(*at) {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' | b',' => *at += 1,
                b'}' => {
                    *at += 1;
                    self.state = State::End;
                    return true;
                }
                b'"' => {
                    let mut cursor = Cursor::new(bytes, *at);
                    match self.key(&mut cursor) {
                        Ok(state) if cursor.at - *at <= MAX_EVENT_LEN => {
                            *at = cursor.at;
                            self.state = state;
                            return true;
                        }
                        Err(Stop::Incomplete) if bytes.len() - *at <= MAX_EVENT_LEN => {
                            return false;
                        }
                        _ => return self.begin_damage(*at),
                    }
                }
                _ => return self.begin_damage(*at),
            }
        }
        false
    }

    /// A key of the outermost object, with its value if it is wanted.
    fn key(&mut self, cursor: &mut Cursor<'_>) -> Result<State, Stop> {
        let from = cursor.at;
        let (key, _) = cursor.key()?;
        if key == b"traceEvents" && cursor.peek()? == b'[' {
            cursor.at += 1;
            return Ok(State::Events);
        }
        if !head::is_wanted(key) {
            return Ok(State::Skip(Skip::default()));
        }
        let value = cursor.value()?;
        if !head::take(&mut self.columns.trace.head, key, value) {
            self.add_damage(self.offset + from as u64, (cursor.at - from) as u64);
        }
        Ok(State::Keys)
    }

    fn skip(&mut self, mut skip: Skip, bytes: &[u8], at: &mut usize) -> bool {
        while let Some(byte) = bytes.get(*at) {
            let mut is_done = false;
            match byte {
                _ if skip.is_escaped => skip.is_escaped = false,
                b'\\' if skip.is_in_string => skip.is_escaped = true,
                b'"' => {
                    skip.is_in_string = !skip.is_in_string;
                    is_done = !skip.is_in_string && skip.depth == 0;
                }
                // No valid string has a line break.
                b'\n' if skip.is_in_string => return self.begin_damage(*at),
                _ if skip.is_in_string => {}
                b'{' | b'[' => skip.depth += 1,
                b',' | b'}' | b']' if skip.depth == 0 => {
                    self.state = State::Keys;
                    return true;
                }
                b'}' | b']' => {
                    skip.depth -= 1;
                    is_done = skip.depth == 0;
                }
                _ => {}
            }
            *at += 1;
            if is_done {
                self.state = State::Keys;
                return true;
            }
        }
        self.state = State::Skip(skip);
        false
    }

    fn events(&mut self, bytes: &[u8], at: &mut usize, is_end: bool) -> bool {
        while let Some(byte) = bytes.get(*at) {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' | b',' => *at += 1,
                b'{' => {
                    let place = self.offset + *at as u64;
                    let mut cursor = Cursor::new(bytes, *at);
                    let mut event = Event::default();
                    let read = event.read(&mut cursor);
                    let len = cursor.at - *at;
                    match read {
                        Ok(()) if len <= MAX_EVENT_LEN => {
                            *at = cursor.at;
                            // TensorFlow ends its list with an empty object.
                            if !event.is_empty() && !self.columns.take(&event, place) {
                                self.add_damage(place, len as u64);
                            }
                        }
                        Err(Stop::Incomplete) if bytes.len() - *at <= MAX_EVENT_LEN => {
                            let len = bytes.len() - *at;
                            return is_end && self.leave_event(at, len, true);
                        }
                        Err(Stop::Damage) => return self.leave_event(at, len, false),
                        _ => return self.leave_event(at, MAX_EVENT_LEN, false),
                    }
                }
                b']' => {
                    *at += 1;
                    self.state = self.behind_events();
                    return true;
                }
                _ => return self.begin_damage(*at),
            }
        }
        false
    }

    const fn behind_events(&self) -> State {
        if self.is_object {
            State::Keys
        } else {
            State::End
        }
    }

    /// Begins damage at the brace of an event that was readable for `len` bytes.
    fn leave_event(&mut self, at: &mut usize, len: usize, is_cut: bool) -> bool {
        let len = len.clamp(1, MAX_EVENT_LEN);
        let from = self.offset + *at as u64;
        self.reread = self.reread.saturating_add(len as u64);
        let is_bounded = self.reread <= MIN_REREAD_LEN + REREAD_FACTOR.saturating_mul(from);
        *at += if is_bounded { 1 } else { len };
        self.state = State::Damage(Damage {
            from,
            is_event_due: false,
            is_cut,
        });
        true
    }

    /// Begins damage at an unexpected byte.
    fn begin_damage(&mut self, at: usize) -> bool {
        self.state = State::Damage(Damage {
            from: self.offset + at as u64,
            is_event_due: false,
            is_cut: false,
        });
        true
    }

    fn add_damage(&mut self, offset: u64, len: u64) {
        let counts = &mut self.columns.trace.counts;
        counts.damaged += 1;
        if counts.damaged <= MAX_DAMAGES {
            counts.damages.push(TraceDamage { offset, len });
        }
    }

    fn damage(&mut self, mut damage: Damage, bytes: &[u8], at: &mut usize, is_end: bool) -> bool {
        while let Some(byte) = bytes.get(*at) {
            let rest = bytes.get(*at + 1..).unwrap_or_default();
            let next = match byte {
                b'{' if damage.is_event_due => (
                    begins_event(rest).or(is_end.then_some(false)),
                    State::Events,
                ),
                b']' if damage.is_event_due => (self.ends_events(rest, is_end), State::Keys),
                _ => (Some(false), State::Events),
            };
            match next {
                (None, _) => {
                    self.state = State::Damage(damage);
                    return false;
                }
                (Some(true), State::Events) => {
                    self.leave_damage(damage, *at);
                    self.state = State::Events;
                    return true;
                }
                (Some(true), _) => {
                    self.leave_damage(damage, *at);
                    *at += 1;
                    self.state = self.behind_events();
                    return true;
                }
                (Some(false), _) => {}
            }
            match byte {
                b',' | b'\n' | b'}' => damage.is_event_due = true,
                b' ' | b'\t' | b'\r' => {}
                _ => damage.is_event_due = false,
            }
            *at += 1;
        }
        self.state = State::Damage(damage);
        false
    }

    fn leave_damage(&mut self, damage: Damage, at: usize) {
        let len = self.offset + at as u64 - damage.from;
        self.add_damage(damage.from, len);
    }

    /// `true` if the bytes after a `]` can follow the last event; `None` if more are needed.
    fn ends_events(&self, rest: &[u8], is_end: bool) -> Option<bool> {
        let (gap, rest) = behind_gap(rest);
        match rest {
            [] if gap <= MAX_GAP_LEN => is_end.then_some(!self.is_object),
            [b'}', ..] => Some(self.is_object),
            [b',', rest @ ..] if self.is_object => match behind_gap(rest) {
                (gap, []) if gap <= MAX_GAP_LEN && !is_end => None,
                (_, rest) => Some(rest.first() == Some(&b'"')),
            },
            _ => Some(false),
        }
    }

    fn end(&mut self, bytes: &[u8], at: &mut usize) -> bool {
        while let Some(byte) = bytes.get(*at) {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' | 0 => *at += 1,
                _ => return self.begin_damage(*at),
            }
        }
        false
    }
}

/// `true` if the bytes after a brace are those of an event; `None` if more are needed.
fn begins_event(rest: &[u8]) -> Option<bool> {
    let (gap, rest) = behind_gap(rest);
    let Some((quote, rest)) = rest.split_first() else {
        return (gap > MAX_GAP_LEN).then_some(false);
    };
    if *quote != b'"' {
        return Some(false);
    }
    if FIRST_KEYS.iter().any(|key| rest.starts_with(key)) {
        return Some(true);
    }
    let is_open = FIRST_KEYS.iter().any(|key| key.starts_with(rest));
    (!is_open).then_some(false)
}

/// Number of bytes of white space, at most [`MAX_GAP_LEN`] + 1, and the bytes after them.
fn behind_gap(bytes: &[u8]) -> (usize, &[u8]) {
    let is_gap = |byte: &&u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    let gap = bytes
        .iter()
        .take(MAX_GAP_LEN + 1)
        .take_while(is_gap)
        .count();
    (gap, bytes.get(gap..).unwrap_or_default())
}
