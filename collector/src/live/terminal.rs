//! Messages of a training that waits or ends, in its terminal.

use std::io::{self, Write};
use std::time::Duration;

use trainscope_format::digits;
use trainscope_format::session::{Gate, HoldReason, Place, SessionHit};

use super::machine::{Hold, Note};

/// Writes a line to standard error. One that is closed or full never disturbs the training.
pub(crate) fn say(line: &str) {
    drop(writeln!(io::stderr(), "trainscope: {line}"));
}

/// A hit, and the number of further ones at the same gate.
#[derive(Debug)]
pub(crate) struct FirstHit {
    sentence: String,
    further: usize,
}

impl FirstHit {
    /// The first of the hits for which the training waits or ends.
    pub(crate) fn of<'a>(hits: impl Iterator<Item = &'a SessionHit>) -> Option<Self> {
        let mut hits = hits.peekable();
        let first = hits.peek()?;
        Some(Self {
            sentence: first.sentence.en.trim_end_matches('.').to_owned(),
            further: hits.count() - 1,
        })
    }

    fn text(&self) -> String {
        let sentence = &self.sentence;
        match self.further {
            0 => sentence.clone(),
            1 => format!("{sentence}, and 1 more hit"),
            further => format!("{sentence}, and {further} more hits"),
        }
    }
}

/// The place and reason of a wait, the address to continue it, and the time after which the training continues
/// automatically.
pub(crate) fn waits(
    hold: &Hold,
    hit: Option<&FirstHit>,
    address: Option<&str>,
    rest: Duration,
) -> String {
    let why = match (hold.reason, &hold.at.place) {
        (HoldReason::Hit, _) => hit.map_or_else(
            || "a watchpoint was hit on another rank".to_owned(),
            FirstHit::text,
        ),
        (HoldReason::Asked, _) => "a person has paused it".to_owned(),
        (HoldReason::Steps, _) => "it has made the steps that it was asked for".to_owned(),
        (HoldReason::Node, _) => "it has reached the layer that it was asked for".to_owned(),
        (HoldReason::Start, _) => "its program wants a person to continue it".to_owned(),
    };
    let place = address.map_or_else(
        || "no server is known: attach it from the page or with `trainscope attach`".to_owned(),
        |address| format!("continue it at {address}"),
    );
    let rest = digits::span(rest.as_secs_f64().round());
    format!(
        "the training waits {}: {why}; {place}. It goes on by itself after {rest}",
        at(&hold.at)
    )
}

/// The server has vanished during a wait.
pub(crate) fn is_lost(grace: Duration, stops: bool) -> String {
    let end = if stops { "ends" } else { "goes on" };
    let grace = digits::span(grace.as_secs_f64().round());
    format!("the server does not answer: the training {end} after {grace} unless it is back")
}

/// A wait has ended without a person.
pub(crate) fn goes_on(at: &Gate, note: Note) -> String {
    let why = match note {
        Note::ServerLost => "the server is lost",
        Note::Refused(_) => "the server has refused the connection",
        _ => "it was not continued in time",
    };
    format!("{why}: the training goes on from step {}", at.step)
}

/// The training ends at a gate.
pub(crate) fn ends(
    at_gate: &Gate,
    hit: Option<&FirstHit>,
    is_by_hit: bool,
    note: Option<Note>,
) -> String {
    let why = match (hit, note) {
        (Some(hit), _) => hit.text(),
        (None, _) if is_by_hit => "a watchpoint was hit on another rank".to_owned(),
        (None, Some(Note::ServerLost)) => "the server is lost".to_owned(),
        (None, _) => "a person has stopped it".to_owned(),
    };
    format!("the training ends {}: {why}", at(at_gate))
}

fn at(gate: &Gate) -> String {
    let step = gate.step;
    match &gate.place {
        Place::BeforeUpdate => format!("before the update of step {step}"),
        Place::Node(name) => format!("after layer {name} of step {step}"),
        Place::AfterStep => format!("after step {step}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use trainscope_format::Severity;
    use trainscope_format::session::{Gate, HitSentence, HoldReason, Place, SessionHit};

    use super::{FirstHit, Hold, Note, ends, goes_on, is_lost, waits};

    fn hit(sentence: &str) -> SessionHit {
        SessionHit {
            condition: "tensor_nan".into(),
            watchpoint: 0,
            severity: Severity::Error,
            tensor: "w".into(),
            step: 20,
            sentence: HitSentence {
                en: sentence.into(),
                ..HitSentence::default()
            },
            values: [].into(),
            pauses: true,
        }
    }

    fn hold(reason: HoldReason, place: Place) -> Hold {
        Hold {
            at: Gate::new(20, place),
            reason,
        }
    }

    #[test]
    fn a_wait_says_where_why_and_until_when() {
        let hits = [hit("w contains NaN."), hit("v contains NaN."), hit("u")];
        let first = FirstHit::of(hits.iter());
        let ten_minutes = Duration::from_millis(599_990);
        let by_hit = hold(HoldReason::Hit, Place::BeforeUpdate);
        let text = waits(&by_hit, first.as_ref(), Some("http://h:1"), ten_minutes);
        assert_eq!(
            text,
            "the training waits before the update of step 20: w contains NaN, and 2 more hits; continue it at \
             http://h:1. It goes on by itself after 10 min"
        );
        let text = waits(&by_hit, None, Some("http://h:1"), ten_minutes);
        assert!(
            text.contains("a watchpoint was hit on another rank"),
            "{text}"
        );
        let start = hold(HoldReason::Start, Place::AfterStep);
        let text = waits(&start, None, None, Duration::from_secs(30));
        assert_eq!(
            text,
            "the training waits after step 20: its program wants a person to continue it; no server is known: attach \
             it from the page or with `trainscope attach`. It goes on by itself after 30 s"
        );
        let node = hold(HoldReason::Node, Place::Node("fc1".into()));
        let text = waits(&node, None, None, Duration::from_secs(30));
        assert!(text.contains("after layer fc1 of step 20"), "{text}");
    }

    #[test]
    fn an_end_without_a_person_says_why() {
        let grace = Duration::from_secs(10);
        assert_eq!(
            is_lost(grace, false),
            "the server does not answer: the training goes on after 10 s unless it is back"
        );
        assert!(is_lost(grace, true).contains("the training ends after 10 s"));
        let at = Gate::new(20, Place::AfterStep);
        assert_eq!(
            goes_on(&at, Note::ServerLost),
            "the server is lost: the training goes on from step 20"
        );
        assert_eq!(
            goes_on(&at, Note::HoldOver),
            "it was not continued in time: the training goes on from step 20"
        );
        let hits = [hit("w contains NaN."), hit("v contains NaN.")];
        assert_eq!(
            ends(&at, FirstHit::of(hits.iter()).as_ref(), true, None),
            "the training ends after step 20: w contains NaN, and 1 more hit"
        );
        assert_eq!(
            ends(&at, None, false, Some(Note::ServerLost)),
            "the training ends after step 20: the server is lost"
        );
        assert_eq!(
            ends(&at, None, false, None),
            "the training ends after step 20: a person has stopped it"
        );
        assert!(ends(&at, None, true, None).contains("on another rank"));
    }
}
