//! Settings of this page, all of them in the address: a link opens the same view.

use trainscope_api::distributions::{DEFAULT_BINS, Spacing};
use trainscope_charts::distribution::View;

use trainscope_web_kit::components::browse::Browse;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::url_state::History;

/// Minimum and maximum of the slider.
pub(super) const BINS: (usize, usize) = (10, 200);

/// The views, with their keywords in the address.
pub(super) const VIEWS: [(View, &str); 4] = [
    (View::Offset, "offset"),
    (View::Overlay, "overlay"),
    (View::HeatMap, "heat"),
    (View::Percentiles, "percentiles"),
];

/// Keyword of the address: a separate view for each card.
const OWN: &str = "own";

/// Spacings of bins, with their keywords in the address.
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
        self.set("view", view.map_or(Some(OWN), |view| word(view, &VIEWS)));
    }

    /// Chooses the view of a single card.
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

    pub(super) fn set_spacing(self, spacing: Spacing) {
        self.set("spacing", word(spacing, &SPACINGS));
    }

    /// Chooses the unit of the step axis.
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

    /// Chooses a range of steps; `None` for all.
    pub(super) fn set_range(self, range: Option<(i64, i64)>) {
        let text = range.map(range_text);
        self.set("steps", text.as_deref());
    }

    /// Fills the page with one card; `None` returns to all cards.
    pub(super) fn set_full(self, tag: Option<&str>) {
        self.set("full", tag);
    }

    fn set(self, key: &str, value: Option<&str>) {
        self.browse.url.set(&[(key, value)], History::Push);
    }
}

/// Value of a keyword of the address; the first one for an unknown keyword.
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

/// Keyword of a value; `None` for the first one, the default.
fn word<T: Copy + PartialEq>(value: T, all: &'static [(T, &'static str)]) -> Option<&'static str> {
    let found = all.iter().skip(1).find(|(known, _)| *known == value);
    found.map(|(_, word)| *word)
}

/// Lines like `heat layer1/weight`: a view and a tag.
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

/// Text like `100:200`; open ends are empty.
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
