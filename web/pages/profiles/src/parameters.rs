//! Parameters of addresses that both pages read: the other profile, on the one to compare with, on the other below.

use trainscope_web_kit::url_state::{Key, Setting};

pub(crate) const OTHER_RUN: Key<String> = Key::new("other");
pub(crate) const OTHER_SESSION: Key<String> = Key::new("other_session");

/// Ranks of the other profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherRanks {
    /// All other ranks of the session.
    All,
    One(u32),
}

impl OtherRanks {
    pub(crate) const fn one(self) -> Option<u32> {
        match self {
            Self::All => None,
            Self::One(rank) => Some(rank),
        }
    }
}

pub(crate) const OTHER_RANK: Key<OtherRanks> = Key::with(
    "other_rank",
    |text| match text {
        "all" => Some(OtherRanks::All),
        _ => Some(OtherRanks::One(text.parse().ok()?)),
    },
    |ranks| match ranks {
        OtherRanks::All => "all".to_owned(),
        OtherRanks::One(rank) => rank.to_string(),
    },
);

/// Moments at which the sessions of the timeline are aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Align {
    /// Their starts.
    #[default]
    Begin,
    /// The same wall time.
    Clock,
    /// The start of the first step that both have; without one, of the first step of each.
    First,
    /// The start of a step, by its number in the training.
    Step(i64),
}

impl Align {
    /// Its text in the address.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Begin => "begin".to_owned(),
            Self::Clock => "clock".to_owned(),
            Self::First => "step".to_owned(),
            Self::Step(step) => step.to_string(),
        }
    }

    /// Parses the text of an alignment; `Begin` for an unknown one.
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "clock" => Self::Clock,
            "step" => Self::First,
            text => text.parse().map_or(Self::Begin, Self::Step),
        }
    }
}

/// The alignment; without it there is no other session on the timeline.
pub(crate) const ALIGN: Key<Align> = Key::with(
    "align",
    |text| Some(Align::parse(text)),
    |align| align.text(),
);

/// Critical paths on the timeline.
pub(crate) const PATH: Setting<bool> = Setting::mark("path");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alignments_have_texts_in_the_address() {
        for align in [
            Align::Begin,
            Align::Clock,
            Align::First,
            Align::Step(-3),
            Align::Step(17),
        ] {
            assert_eq!(Align::parse(&align.text()), align);
        }
        assert_eq!(Align::parse("?"), Align::Begin);
    }
}
