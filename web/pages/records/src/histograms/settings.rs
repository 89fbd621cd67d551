//! Settings of this page, all of them in the address: a link opens the same view.

use trainscope_api::distributions::{DEFAULT_BINS, Spacing};
use trainscope_charts::distribution::View;

use trainscope_web_kit::components::browse::Browse;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::url_state::History;

/// Fewest and most bins of the slider.
pub(super) const BINS: (usize, usize) = (10, 200);

/// The pictures, with their words in the address.
pub(super) const VIEWS: [(View, &str); 4] = [
    (View::Offset, "offset"),
    (View::Overlay, "overlay"),
    (View::HeatMap, "heat"),
    (View::Percentiles, "percentiles"),
];

/// Instead of a picture: each card has its own.
const OWN: &str = "own";

/// Spacings of bins, with their words in the address.
const SPACINGS: [(Spacing, &str); 3] = [
    (Spacing::Auto, "auto"),
    (Spacing::Linear, "linear"),
    (Spacing::Symlog, "symlog"),
];

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

const OVERS: [(Over, &str); 3] = [
    (Over::Step, "step"),
    (Over::Relative, "relative"),
    (Over::Wall, "wall"),
];

/// The choices, as signals.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    /// Runs and tags.
    pub(super) browse: Browse,
    /// View common to all cards; `None` if each has its own.
    pub(super) view: Memo<Option<View>>,
    /// Tags whose cards have another one than the first if each has its own.
    own_views: Memo<Vec<(View, String)>>,
    /// Spacing of bins.
    pub(super) spacing: Memo<Spacing>,
    /// Unit of the step axis.
    pub(super) over: Memo<Over>,
    /// Number of bins; follows the slider at once, the address once it is let go.
    pub(super) bins: RwSignal<usize>,
    /// The chosen range of steps.
    pub(super) range: Memo<Option<(i64, i64)>>,
    /// First and last step of all tags.
    pub(super) whole: Memo<(i64, i64)>,
    /// The tag whose card has the page for itself.
    pub(super) full: Memo<Option<String>>,
}

impl Settings {
    /// Reads the address.
    pub(super) fn from_address(browse: Browse) -> Self {
        let url = browse.url;
        let bins = url.param("bins");
        let kept_bins = Memo::new(move |_| {
            let asked = bins.with(|text| text.as_deref()?.parse::<usize>().ok());
            asked.map_or(DEFAULT_BINS, |bins| bins.clamp(BINS.0, BINS.1))
        });
        let range = url.param("steps");
        let (view, own_views) = (url.param("view"), url.param("views"));
        let all_views = chosen(browse, "view", &VIEWS);
        let settings = Self {
            browse,
            view: Memo::new(move |_| {
                let is_own = view.with(|text| text.as_deref() == Some(OWN));
                (!is_own).then(|| all_views.get())
            }),
            own_views: Memo::new(move |_| {
                own_views.with(|text| parse_views(text.as_deref().unwrap_or_default()))
            }),
            spacing: chosen(browse, "spacing", &SPACINGS),
            over: chosen(browse, "x", &OVERS),
            bins: RwSignal::new(DEFAULT_BINS),
            range: Memo::new(move |_| range.with(|text| parse_range(text.as_deref()?))),
            whole: Memo::new(move |_| browse.steps().unwrap_or((0, 0))),
            full: url.param("full"),
        };
        Effect::new(move || settings.bins.set(kept_bins.get()));
        settings
    }

    /// `true` if each run has a picture of its own, or may have; reactive.
    pub(super) fn is_divided(self) -> bool {
        !matches!(self.view.get(), Some(View::Overlay | View::Percentiles))
    }

    /// The picture of a card; reactive.
    pub(super) fn view_of(self, tag: &str) -> View {
        self.view.get().unwrap_or_else(|| {
            self.own_views.with(|own| {
                let found = own.iter().find(|(_, of)| of == tag);
                found.map_or_else(View::default, |(view, _)| *view)
            })
        })
    }

    /// Chooses the picture of all cards, or that each has its own.
    pub(super) fn set_view(self, view: Option<View>) {
        self.set("view", view.map_or(Some(OWN), |view| word(view, &VIEWS)));
    }

    /// Chooses the picture of a card that has its own.
    pub(super) fn set_view_of(self, tag: &str, view: View) {
        let mut views = self.own_views.get_untracked();
        views.retain(|(_, of)| of != tag);
        views.push((view, tag.to_owned()));
        // The first is the default.
        let views = views.iter();
        let views = views.filter_map(|(view, of)| Some(format!("{} {of}", word(*view, &VIEWS)?)));
        let text = views.collect::<Vec<_>>().join("\n");
        self.set("views", Some(&*text).filter(|text| !text.is_empty()));
    }

    /// Chooses how bins are spaced.
    pub(super) fn set_spacing(self, spacing: Spacing) {
        self.set("spacing", word(spacing, &SPACINGS));
    }

    /// Chooses what the axis of steps counts.
    pub(super) fn set_over(self, over: Over) {
        self.set("x", word(over, &OVERS));
    }

    /// Writes the number of bins into the address.
    pub(super) fn keep_bins(self) {
        let bins = self.bins.get_untracked();
        let text = (bins != DEFAULT_BINS).then(|| bins.to_string());
        let changes = [("bins", text.as_deref())];
        self.browse.url.set(&changes, History::Replace);
    }

    /// Chooses a range of steps, or all.
    pub(super) fn set_range(self, range: Option<(i64, i64)>) {
        let text = range.map(range_text);
        self.set("steps", text.as_deref());
    }

    /// Gives one card the page, or takes it back.
    pub(super) fn set_full(self, tag: Option<&str>) {
        self.set("full", tag);
    }

    fn set(self, key: &str, value: Option<&str>) {
        self.browse.url.set(&[(key, value)], History::Push);
    }
}

/// Value of a keyword of the address; the first one if it is unknown.
fn chosen<T>(browse: Browse, key: &'static str, all: &'static [(T, &'static str)]) -> Memo<T>
where
    T: Copy + Default + PartialEq + Send + Sync + 'static,
{
    let text = browse.url.param(key);
    Memo::new(move |_| {
        text.with(|text| {
            let found = all.iter().find(|(_, word)| Some(*word) == text.as_deref());
            found.map_or_else(T::default, |(value, _)| *value)
        })
    })
}

/// The word of a value; none for the first of all.
fn word<T: Copy + PartialEq>(value: T, all: &'static [(T, &'static str)]) -> Option<&'static str> {
    let found = all.iter().skip(1).find(|(known, _)| *known == value);
    found.map(|(_, word)| *word)
}

/// A picture and a tag a line.
fn parse_views(text: &str) -> Vec<(View, String)> {
    let view = |line: &str| {
        let (word, tag) = line.split_once(' ')?;
        let (view, _) = VIEWS.iter().find(|(_, known)| *known == word)?;
        Some((*view, tag.to_owned()))
    };
    text.lines().filter_map(view).collect()
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

/// The same as text.
fn range_text((from, to): (i64, i64)) -> String {
    let end = |step: i64, open: i64| {
        if step == open {
            String::new()
        } else {
            step.to_string()
        }
    };
    format!("{}:{}", end(from, i64::MIN), end(to, i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_is_none_shows_everything() {
        assert_eq!(parse_range("-3:20"), Some((-3, 20)));
        for open in [(2, i64::MAX), (i64::MIN, 20), (2, 20)] {
            assert_eq!(parse_range(&range_text(open)), Some(open));
        }
        for text in ["", "3", "9:1", "a:b", "1:x"] {
            assert_eq!(parse_range(text), None, "{text}");
        }
    }

    #[test]
    fn views_of_cards_are_read_by_line() {
        let found = parse_views("heat a b\n\nodd c\npercentiles\noverlay d");
        let expected = [(View::HeatMap, "a b"), (View::Overlay, "d")];
        assert_eq!(found, expected.map(|(view, tag)| (view, tag.to_owned())));
    }

    #[test]
    fn what_is_usual_is_not_in_the_address() {
        assert_eq!(word(View::Offset, &VIEWS), None);
        assert_eq!(word(View::HeatMap, &VIEWS), Some("heat"));
    }
}
