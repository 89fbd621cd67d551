//! Choices with their keywords in the address.

use trainscope_charts::line::{XKind, YRange};
use trainscope_charts::scale::Scale;
use trainscope_charts::smooth::Kind;

pub(super) use trainscope_web_kit::components::CardSize;

/// Unit of the x axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum XChoice {
    #[default]
    Step,
    /// Time since the run began.
    Relative,
    /// Time of day.
    Wall,
    /// The values of another scalar of the same run.
    Tag,
}

/// Prefix of the name of the scalar on the x axis.
const TAG: &str = "tag:";

impl XChoice {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Step, "step"),
        (Self::Relative, "relative"),
        (Self::Wall, "wall"),
    ];

    /// Parses the keyword of an address, and the scalar it names.
    pub(super) fn parse(text: Option<&str>) -> (Self, Option<String>) {
        match text.and_then(|text| text.strip_prefix(TAG)) {
            Some(tag) if !tag.is_empty() => (Self::Tag, Some(tag.to_owned())),
            _ => (choice(text, &Self::ALL), None),
        }
    }

    /// Keyword for the address; `None` for the default.
    pub(super) fn word(self, tag: Option<&str>) -> Option<String> {
        match self {
            Self::Tag => tag.map(|tag| format!("{TAG}{tag}")),
            _ => key(self, &Self::ALL).map(str::to_owned),
        }
    }

    /// Kind of axis of the plot.
    pub(super) fn kind(self) -> XKind {
        match self {
            Self::Step => XKind::Step,
            Self::Relative => XKind::Relative,
            Self::Wall => {
                let minutes = js_sys::Date::new_0().get_timezone_offset();
                XKind::Wall {
                    offset_secs: -60.0 * minutes,
                }
            }
            Self::Tag => XKind::Value,
        }
    }
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ScaleChoice {
    /// Equal differences.
    #[default]
    Linear,
    /// Equal ratios.
    Log,
    /// Equal ratios on both sides of zero.
    Symlog,
}

impl ScaleChoice {
    pub(super) const ALL: [(Self, &'static str); 3] = [
        (Self::Linear, "linear"),
        (Self::Log, "log"),
        (Self::Symlog, "symlog"),
    ];

    /// Scale of the plot.
    pub(super) fn scale(self) -> Scale {
        match self {
            Self::Linear => Scale::Linear,
            Self::Log => Scale::Log,
            Self::Symlog => Scale::Symlog { linear: 0.0 },
        }
    }
}

/// Values covered by the y axis.
pub(super) const Y_RANGES: [(YRange, &str); 2] = [(YRange::All, "all"), (YRange::Robust, "robust")];

/// Smoothing algorithms.
pub(super) const SMOOTHINGS: [(Kind, &str); 3] = [
    (Kind::Ema, "ema"),
    (Kind::Mean, "mean"),
    (Kind::Gaussian, "gaussian"),
];

/// Meaning of the band around the mean of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Spread {
    /// Minimum and maximum of all points of all runs.
    #[default]
    Range,
    /// Standard deviation of the runs.
    Deviation,
    /// Standard error of their mean.
    Error,
}

impl Spread {
    pub(super) const ALL: [(Self, &'static str); 3] = [
        (Self::Range, "range"),
        (Self::Deviation, "std"),
        (Self::Error, "err"),
    ];
}

/// Grouping key of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GroupBy {
    /// The value of a hyper-parameter.
    Hparam(String),
    /// Match of a regular expression in the name: its first capture group, or all of it.
    Pattern(String),
    Folder,
}

impl GroupBy {
    /// Parses the keyword of an address.
    pub(super) fn parse(text: Option<&str>) -> Option<Self> {
        let text = text?;
        if text == "folder" {
            return Some(Self::Folder);
        }
        match text.split_once(':')? {
            ("hp", name) if !name.is_empty() => Some(Self::Hparam(name.to_owned())),
            ("re", pattern) => Some(Self::Pattern(pattern.to_owned())),
            _ => None,
        }
    }

    /// Keyword for the address.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Hparam(name) => format!("hp:{name}"),
            Self::Pattern(pattern) => format!("re:{pattern}"),
            Self::Folder => "folder".to_owned(),
        }
    }
}

/// Choice for a keyword of the address; the default for an unknown one.
pub(super) fn choice<T: Copy + Default>(key: Option<&str>, all: &[(T, &str)]) -> T {
    let found = all.iter().find(|(_, name)| Some(*name) == key);
    found.map(|(choice, _)| *choice).unwrap_or_default()
}

/// Keyword for the address; `None` for the default.
pub(super) fn key<T: Copy + Default + PartialEq>(
    choice: T,
    all: &[(T, &'static str)],
) -> Option<&'static str> {
    if choice == T::default() {
        return None;
    }
    all.iter()
        .find(|(other, _)| *other == choice)
        .map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_leniently() {
        assert_eq!(choice(Some("log"), &ScaleChoice::ALL), ScaleChoice::Log);
        assert_eq!(choice(Some("?"), &ScaleChoice::ALL), ScaleChoice::Linear);
        assert_eq!(key(ScaleChoice::Linear, &ScaleChoice::ALL), None);
        assert_eq!(key(CardSize::Small, &CardSize::ALL), Some("s"));
        assert_eq!(key(CardSize::Medium, &CardSize::ALL), None);
    }

    #[test]
    fn words_of_x_are_read_back() {
        for (x, tag) in [
            (XChoice::Step, None),
            (XChoice::Wall, None),
            (XChoice::Tag, Some("train/a:b")),
        ] {
            let word = x.word(tag);
            assert_eq!(XChoice::parse(word.as_deref()), (x, tag.map(str::to_owned)));
        }
        assert_eq!(XChoice::parse(Some("tag:")), (XChoice::Step, None));
    }

    #[test]
    fn groups_are_read_back() {
        for group in [
            GroupBy::Folder,
            GroupBy::Hparam("lr:x".to_owned()),
            GroupBy::Pattern("seed(\\d)".to_owned()),
        ] {
            assert_eq!(GroupBy::parse(Some(&group.words())), Some(group));
        }
        assert_eq!(GroupBy::parse(Some("hp:")), None);
        assert_eq!(GroupBy::parse(Some("x")), None);
    }
}
