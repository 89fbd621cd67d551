//! Settings of this page, all of them in the address: a link opens the same view.

use trainscope_api::distributions::{DEFAULT_BINS, Spacing};
use trainscope_charts::distribution::View;

use trainscope_web_kit::components::browse::Browse;
use trainscope_web_kit::parameters::FULL;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::url_state::{Change, History, Key, Setting};

/// Minimum and maximum of the slider.
pub(super) const BINS: (usize, usize) = (10, 200);

/// The views, with their words in the address; `None` is a separate view for each card.
pub(super) const VIEWS: [(Option<View>, &str); 5] = [
    (Some(View::Offset), "offset"),
    (Some(View::Overlay), "overlay"),
    (Some(View::HeatMap), "heat"),
    (Some(View::Percentiles), "percentiles"),
    (None, "own"),
];
const VIEW: Setting<Option<View>> = Key::of_words("view", &VIEWS).or(Some(View::Offset));
/// Views of single cards other than the default: lines like `heat layer1/weight`.
const OWN_VIEWS: Setting<Vec<(View, String)>> = Key::with(
    "views",
    |text| {
        let view = |line: &str| {
            let (word, tag) = line.split_once(' ')?;
            let (view, _) = VIEWS.iter().find(|(_, known)| *known == word)?;
            Some(((*view)?, tag.to_owned()))
        };
        Some(text.lines().filter_map(view).collect())
    },
    |views: &Vec<(View, String)>| {
        let lines = views.iter().filter_map(|(view, tag)| {
            let mut others = VIEWS.iter().skip(1);
            let (_, word) = others.find(|(known, _)| *known == Some(*view))?;
            Some(format!("{word} {tag}"))
        });
        lines.collect::<Vec<_>>().join("\n")
    },
)
.or(Vec::new());
const SPACING: Setting<Spacing> = Key::of_words(
    "spacing",
    &[
        (Spacing::Auto, "auto"),
        (Spacing::Linear, "linear"),
        (Spacing::Symlog, "symlog"),
    ],
)
.or(Spacing::Auto);
const OVER: Setting<Over> = Key::of_words(
    "x",
    &[
        (Over::Step, "step"),
        (Over::Relative, "relative"),
        (Over::Wall, "wall"),
    ],
)
.or(Over::Step);
const BIN_COUNT: Setting<usize> = Key::with(
    "bins",
    |text| Some(text.parse::<usize>().ok()?.clamp(BINS.0, BINS.1)),
    usize::to_string,
)
.or(DEFAULT_BINS);
/// First and last step, like `100:200`; open ends are empty.
const RANGE: Key<(i64, i64)> = Key::with("steps", parse_range, |(from, to)| {
    let end = |step: i64, open: i64| {
        if step == open {
            String::new()
        } else {
            step.to_string()
        }
    };
    format!("{}:{}", end(*from, i64::MIN), end(*to, i64::MAX))
});

/// Unit of the step axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Over {
    #[default]
    Step,
    /// Time since the run began.
    Relative,
    /// Time of day.
    Wall,
}

/// The choices, as signals.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    /// Runs and tags.
    pub(super) browse: Browse,
    /// View of all cards; `None` if each has a separate one.
    pub(super) view: Memo<Option<View>>,
    /// Tags of the cards whose view is not the default, used if each card has a separate one.
    own_views: Memo<Vec<(View, String)>>,
    pub(super) spacing: Memo<Spacing>,
    pub(super) over: Memo<Over>,
    /// Number of bins. Follows the slider at once; the address is written when the slider is released.
    pub(super) bins: RwSignal<usize>,
    /// Chosen range of steps; `None` for all.
    pub(super) range: Memo<Option<(i64, i64)>>,
    /// First and last step of all tags.
    pub(super) whole: Memo<(i64, i64)>,
    /// Tag of the card that fills the page.
    pub(super) full: Memo<Option<String>>,
}

impl Settings {
    /// Reads the address.
    pub(super) fn from_address(browse: Browse) -> Self {
        let url = browse.url;
        let kept_bins = url.setting(BIN_COUNT);
        let settings = Self {
            browse,
            view: url.setting(VIEW),
            own_views: url.setting(OWN_VIEWS),
            spacing: url.setting(SPACING),
            over: url.setting(OVER),
            bins: RwSignal::new(DEFAULT_BINS),
            range: url.param(RANGE),
            whole: Memo::new(move |_| browse.steps().unwrap_or((0, 0))),
            full: url.param(FULL),
        };
        Effect::new(move || settings.bins.set(kept_bins.get()));
        settings
    }

    /// `true` if each run has, or may have, a separate picture; reactive.
    pub(super) fn is_divided(self) -> bool {
        !matches!(self.view.get(), Some(View::Overlay | View::Percentiles))
    }

    /// The picture of a card; reactive.
    pub(super) fn view_of(self, tag: &str) -> View {
        self.view.get().unwrap_or_else(|| {
            self.own_views.with(|views| {
                let found = views.iter().find(|(_, of)| of == tag);
                found.map_or_else(View::default, |(view, _)| *view)
            })
        })
    }

    /// Chooses the view of all cards; `None` lets each have a separate one.
    pub(super) fn set_view(self, view: Option<View>) {
        self.set(VIEW.to(view));
    }

    /// Chooses the view of a single card.
    pub(super) fn set_view_of(self, tag: &str, view: View) {
        let mut views = self.own_views.get_untracked();
        views.retain(|(_, of)| of != tag);
        views.push((view, tag.to_owned()));
        self.set(OWN_VIEWS.to(views));
    }

    pub(super) fn set_spacing(self, spacing: Spacing) {
        self.set(SPACING.to(spacing));
    }

    /// Chooses the unit of the step axis.
    pub(super) fn set_over(self, over: Over) {
        self.set(OVER.to(over));
    }

    /// Writes the number of bins into the address.
    pub(super) fn keep_bins(self) {
        let bins = self.bins.get_untracked();
        let bins = BIN_COUNT.to(bins);
        self.browse.url.set(&[bins], History::Replace);
    }

    /// Chooses a range of steps; `None` for all.
    pub(super) fn set_range(self, range: Option<(i64, i64)>) {
        self.set(RANGE.to_option(range));
    }

    /// Fills the page with one card; `None` returns to all cards.
    pub(super) fn set_full(self, tag: Option<&str>) {
        self.set(FULL.to_option(tag));
    }

    fn set(self, change: Change) {
        self.browse.url.set(&[change], History::Push);
    }
}

fn parse_range(text: &str) -> Option<(i64, i64)> {
    let (from, to) = text.split_once(':')?;
    let end = |text: &str, open: i64| {
        if text.is_empty() {
            Some(open)
        } else {
            text.parse().ok()
        }
    };
    let (from, to) = (end(from, i64::MIN)?, end(to, i64::MAX)?);
    (from <= to).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_is_none_shows_everything() {
        assert_eq!(parse_range("-3:20"), Some((-3, 20)));
        for open in [(2, i64::MAX), (i64::MIN, 20), (2, 20)] {
            let text = RANGE.write(&open).unwrap();
            assert_eq!(RANGE.read(&text), Some(open));
        }
        for text in ["", "3", "9:1", "a:b", "1:x"] {
            assert_eq!(parse_range(text), None, "{text}");
        }
    }

    #[test]
    fn views_of_cards_are_read_by_line() {
        let found =
            OWN_VIEWS.value_in("views=heat a b%0A%0Aodd c%0Apercentiles%0Aoverlay d%0Aown e");
        let expected = [(View::HeatMap, "a b"), (View::Overlay, "d")];
        assert_eq!(found, expected.map(|(view, tag)| (view, tag.to_owned())));
    }
}
