//! Choices, and their parameters of the address.

use std::collections::BTreeMap;

use trainscope_charts::line::{XKind, YRange};
use trainscope_charts::scale::Scale;
use trainscope_charts::smooth::Kind;

pub(super) use trainscope_web_kit::components::CardSize;
use trainscope_web_kit::format;
use trainscope_web_kit::parameters::number_range;
use trainscope_web_kit::url_state::{Key, Setting};

/// A range of x.
pub(super) type Range = (f64, f64);
/// Ranges of single cards, by tag; `None` is everything.
pub(super) type OwnRanges = BTreeMap<String, Option<Range>>;

/// The x axis, and the tag of the scalar on it.
pub(super) const X: Setting<(XChoice, Option<String>)> = Key::with(
    "x",
    |text| {
        let tag = text.strip_prefix(TAG).filter(|tag| !tag.is_empty());
        Some(match (tag, text) {
            (Some(tag), _) => (XChoice::Tag, Some(tag.to_owned())),
            (None, "relative") => (XChoice::Relative, None),
            (None, "wall") => (XChoice::Wall, None),
            _ => (XChoice::Step, None),
        })
    },
    |(x, tag)| match (x, tag) {
        (XChoice::Tag, Some(tag)) => format!("{TAG}{tag}"),
        (XChoice::Relative, _) => "relative".to_owned(),
        (XChoice::Wall, _) => "wall".to_owned(),
        _ => "step".to_owned(),
    },
)
.or((XChoice::Step, None));
pub(super) const X_SCALE: Setting<ScaleChoice> =
    Key::of_words("xs", &SCALES).or(ScaleChoice::Linear);
pub(super) const Y: Setting<ScaleChoice> = Key::of_words("y", &SCALES).or(ScaleChoice::Linear);
/// Scales of the y axis of single cards: items like `log:train/loss`.
pub(super) const OWN_Y: Setting<BTreeMap<String, ScaleChoice>> = Key::of_items(
    "ys",
    |items| {
        let scales = items.iter().filter_map(|item| {
            let (word, tag) = item.split_once(':')?;
            Some((tag.to_owned(), Y.read(word).unwrap_or_default()))
        });
        Some(scales.collect())
    },
    |scales: &BTreeMap<String, ScaleChoice>| {
        let items = scales.iter().filter_map(|(tag, scale)| {
            let word = Y.write(scale)?;
            Some(format!("{word}:{tag}"))
        });
        items.collect()
    },
)
.or(BTreeMap::new());
/// Values covered by the y axis.
pub(super) const Y_RANGE: Setting<YRange> =
    Key::of_words("yr", &[(YRange::All, "all"), (YRange::Robust, "robust")]).or(YRange::All);
/// Smoothing algorithm.
pub(super) const SMOOTHING_KIND: Setting<Kind> = Key::of_words(
    "by",
    &[
        (Kind::Ema, "ema"),
        (Kind::Mean, "mean"),
        (Kind::Gaussian, "gaussian"),
    ],
)
.or(Kind::Ema);
/// Weight of smoothing; by default none, because a smoothed line of few points misses all of them.
pub(super) const SMOOTHING: Setting<f64> = Key::with(
    "smooth",
    |text| Some(format::parse_number(text)?.clamp(0.0, MAX_SMOOTHING)),
    |weight| format!("{weight:.2}"),
)
.or(0.0);
/// Maximum weight of smoothing.
pub(super) const MAX_SMOOTHING: f64 = 0.99;
/// Envelopes.
pub(super) const BAND: Setting<bool> = Key::new("band").or(true);
/// Superseded points.
pub(super) const SUPERSEDED: Setting<bool> = Key::new("superseded").or(false);
/// One zoom for all cards.
pub(super) const LINKED: Setting<bool> = Key::new("link").or(true);
/// Ranges of x of single cards: items like `10:20:train/loss`, or `::train/loss` for everything.
pub(super) const OWN_RANGES: Key<OwnRanges> = Key::of_items(
    "zooms",
    |items| {
        let ranges = items.iter().filter_map(|item| {
            let mut parts = item.splitn(3, ':');
            let (low, high, tag) = (parts.next()?, parts.next()?, parts.next()?);
            let range = number_range(low, high);
            let is_whole = low.is_empty() && high.is_empty();
            (range.is_some() || is_whole).then(|| (tag.to_owned(), range))
        });
        Some(ranges.collect())
    },
    |ranges: &OwnRanges| {
        let items = ranges.iter().map(|(tag, range)| {
            let range = range.map(|(low, high)| format!("{low}:{high}"));
            format!("{}:{tag}", range.as_deref().unwrap_or(":"))
        });
        items.collect()
    },
);
pub(super) const GROUP: Key<GroupBy> = Key::with("group", GroupBy::parse, GroupBy::words);
pub(super) const SPREAD: Setting<Spread> = Key::of_words(
    "spread",
    &[
        (Spread::Range, "range"),
        (Spread::Deviation, "std"),
        (Spread::Error, "err"),
    ],
)
.or(Spread::Range);
pub(super) const SIZE: Setting<CardSize> =
    Key::of_words("size", &CardSize::ALL).or(CardSize::Medium);

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
    /// Scale of the plot.
    pub(super) fn scale(self) -> Scale {
        match self {
            Self::Linear => Scale::Linear,
            Self::Log => Scale::Log,
            Self::Symlog => Scale::Symlog { linear: 0.0 },
        }
    }
}

/// Scales with their words.
const SCALES: [(ScaleChoice, &str); 3] = [
    (ScaleChoice::Linear, "linear"),
    (ScaleChoice::Log, "log"),
    (ScaleChoice::Symlog, "symlog"),
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
    pub(super) fn parse(text: &str) -> Option<Self> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_leniently() {
        for (search, weight) in [("smooth=7", MAX_SMOOTHING), ("smooth=x", 0.0), ("", 0.0)] {
            assert!(
                (SMOOTHING.value_in(search) - weight).abs() < 1e-9,
                "{search}"
            );
        }
        assert_eq!(Y.value_in("y=log"), ScaleChoice::Log);
        assert_eq!(Y.value_in("y=?"), ScaleChoice::Linear);
        assert_eq!(SIZE.value_in("size=s"), CardSize::Small);
        let scales = OWN_Y.value_in("ys=log:a:b,?:c,d");
        assert_eq!(scales.len(), 2);
        assert_eq!(scales["a:b"], ScaleChoice::Log);
        assert_eq!(scales["c"], ScaleChoice::Linear);
    }

    #[test]
    fn ranges_of_single_cards_are_read() {
        let ranges = OWN_RANGES.value_in("zooms=10:20:a:b,::loss,x:y:z,5");
        let ranges = ranges.unwrap();
        assert_eq!(ranges.len(), 2);
        assert_eq!(ranges["a:b"], Some((10.0, 20.0)));
        assert_eq!(ranges["loss"], None);
    }

    #[test]
    fn words_of_x_are_read() {
        let tag = Some("train/a:b".to_owned());
        for (search, x) in [
            ("x=step", (XChoice::Step, None)),
            ("x=wall", (XChoice::Wall, None)),
            ("x=tag:train/a:b", (XChoice::Tag, tag)),
            ("x=tag:", (XChoice::Step, None)),
        ] {
            assert_eq!(X.value_in(search), x, "{search}");
        }
    }

    #[test]
    fn groups_are_read_back() {
        for group in [
            GroupBy::Folder,
            GroupBy::Hparam("lr:x".to_owned()),
            GroupBy::Pattern("seed(\\d)".to_owned()),
        ] {
            assert_eq!(GroupBy::parse(&group.words()), Some(group));
        }
        assert_eq!(GroupBy::parse("hp:"), None);
        assert_eq!(GroupBy::parse("x"), None);
    }
}
