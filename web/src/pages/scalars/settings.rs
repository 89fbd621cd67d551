//! What a person has chosen on this page, all of it in the address: a link opens the same view.

use std::sync::Arc;

use leptos::prelude::*;
use trainscope_charts::line::XKind;
use trainscope_charts::scale::Scale;

use super::filter::Filter;
use super::selection::Selection;
use crate::route::use_run;
use crate::state::use_runs;
use crate::url_state::{History, UrlState, use_url_state};

/// What the x axis counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum XChoice {
    /// Steps.
    #[default]
    Step,
    /// Time since the run began.
    Relative,
    /// Time of day.
    Wall,
}

impl XChoice {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Step, "step"),
        (Self::Relative, "relative"),
        (Self::Wall, "wall"),
    ];

    /// As a plot names it.
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
        }
    }
}

/// Scale of the y axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum YChoice {
    /// Equal differences.
    #[default]
    Linear,
    /// Equal ratios.
    Log,
    /// Equal ratios on both sides of zero.
    Symlog,
}

impl YChoice {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Linear, "linear"),
        (Self::Log, "log"),
        (Self::Symlog, "symlog"),
    ];

    /// As a plot names it.
    pub(super) fn scale(self) -> Scale {
        match self {
            Self::Linear => Scale::Linear,
            Self::Log => Scale::Log,
            Self::Symlog => Scale::Symlog { linear: 0.0 },
        }
    }
}

/// Weight of the moving average before somebody moves the slider.
const SMOOTHING: f64 = 0.6;
/// Greatest weight.
pub(super) const MOST_SMOOTHING: f64 = 0.99;
/// Runs that are shown together without being asked for: as many as there are colours.
const MOST_TOGETHER: usize = 10;

/// The choices, as signals.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    url: UrlState,
    /// The run whose page it is.
    pub(super) own: Memo<String>,
    /// Runs whose lines are drawn, by name.
    pub(super) shown: Memo<Arc<Vec<String>>>,
    /// Runs in the list whose lines are not drawn, by name.
    pub(super) hidden: Memo<Arc<Vec<String>>>,
    /// Text of the filter.
    pub(super) filter_text: Memo<String>,
    /// The filter.
    pub(super) filter: Memo<Filter>,
    /// Ticked tags.
    pub(super) selection: Memo<Selection>,
    /// The x axis.
    pub(super) x: Memo<XChoice>,
    /// The y axis.
    pub(super) y: Memo<YChoice>,
    /// Weight of the moving average; follows the slider at once, the address a moment later.
    pub(super) smoothing: RwSignal<f64>,
    /// Whether envelopes are shown.
    pub(super) has_band: Memo<bool>,
    /// Whether superseded points are shown.
    pub(super) has_superseded: Memo<bool>,
    /// The chosen range of x.
    pub(super) range: Memo<Option<(f64, f64)>>,
    /// The tag whose card has the page for itself.
    pub(super) full: Memo<Option<String>>,
    /// The tag that a link leads to.
    pub(super) target: Memo<Option<String>>,
}

impl Settings {
    /// Reads the address.
    pub(super) fn from_address() -> Self {
        let url = use_url_state();
        let run = use_run();
        let own = Memo::new(move |_| run.get().unwrap_or_default());
        let (shown, hidden) = chosen_runs(url, own);
        let filter_text = url.param("q");
        let filter_text = Memo::new(move |_| filter_text.get().unwrap_or_default());
        let tags = url.list("tags");
        let (x, y) = (url.param("x"), url.param("y"));
        let range = url.param("range");
        let (band, superseded) = (url.param("band"), url.param("superseded"));
        let smooth = url.param("smooth");
        let settings = Self {
            url,
            own,
            shown,
            hidden,
            filter_text,
            filter: Memo::new(move |_| filter_text.with(|text| Filter::new(text))),
            selection: Memo::new(move |_| tags.with(|items| Selection::from_items(items))),
            x: Memo::new(move |_| x.with(|key| choice(key.as_deref(), &XChoice::ALL))),
            y: Memo::new(move |_| y.with(|key| choice(key.as_deref(), &YChoice::ALL))),
            smoothing: RwSignal::new(SMOOTHING),
            has_band: Memo::new(move |_| band.get().as_deref() != Some("0")),
            has_superseded: Memo::new(move |_| superseded.get().as_deref() == Some("1")),
            range: Memo::new(move |_| range.with(|text| parse_range(text.as_deref()))),
            full: url.param("full"),
            target: url.param("tag"),
        };
        Effect::new(move |_| {
            let weight = smooth.with(|text| parse_smoothing(text.as_deref()));
            if settings.smoothing.get_untracked().to_bits() != weight.to_bits() {
                settings.smoothing.set(weight);
            }
        });
        settings
    }

    /// Shows these runs and lists those without their lines.
    pub(super) fn set_runs(self, shown: &[String], hidden: &[String]) {
        let list = |runs: &[String]| (!runs.is_empty()).then(|| crate::url_state::join_list(runs));
        let (shown, hidden) = (list(shown), list(hidden));
        let changes = [("runs", shown.as_deref()), ("hide", hidden.as_deref())];
        self.url.set(&changes, History::Push);
    }

    /// Sets the text of the filter.
    pub(super) fn set_filter(self, text: &str) {
        let value = (!text.is_empty()).then_some(text);
        self.url.set(&[("q", value)], History::Replace);
    }

    /// Changes which tags are ticked.
    pub(super) fn change_selection(self, change: impl FnOnce(&mut Selection)) {
        let mut selection = self.selection.get_untracked();
        change(&mut selection);
        self.url
            .set_list("tags", &selection.to_items(), History::Push);
    }

    /// Chooses the x axis; a range in the units of the old one means nothing on the new one.
    pub(super) fn set_x(self, x: XChoice) {
        let changes = [("x", key(x, &XChoice::ALL)), ("range", None)];
        self.url.set(&changes, History::Push);
    }

    /// Chooses the y axis.
    pub(super) fn set_y(self, y: YChoice) {
        self.url.set(&[("y", key(y, &YChoice::ALL))], History::Push);
    }

    /// Writes the slider's weight into the address.
    pub(super) fn keep_smoothing(self) {
        let weight = self.smoothing.get_untracked();
        let text = format!("{weight:.2}");
        let value = ((weight - SMOOTHING).abs() > 1e-9).then_some(&*text);
        self.url.set(&[("smooth", value)], History::Replace);
    }

    /// Shows or hides envelopes.
    pub(super) fn set_band(self, is_shown: bool) {
        let value = (!is_shown).then_some("0");
        self.url.set(&[("band", value)], History::Push);
    }

    /// Shows or hides superseded points.
    pub(super) fn set_superseded(self, is_shown: bool) {
        let value = is_shown.then_some("1");
        self.url.set(&[("superseded", value)], History::Push);
    }

    /// Zooms, or shows everything.
    pub(super) fn set_range(self, range: Option<(f64, f64)>) {
        let text = range.map(|range| range_text(range, self.x.get_untracked()));
        self.url.set(&[("range", text.as_deref())], History::Push);
    }

    /// Gives one card the page, or takes it back.
    pub(super) fn set_full(self, tag: Option<&str>) {
        self.url.set(&[("full", tag)], History::Push);
    }
}

/// Names of runs, in their order.
type RunNames = Memo<Arc<Vec<String>>>;

/// Shown and hidden runs: what the address says, otherwise the run with its neighbours in the same folder, if they are
/// few enough to be told apart.
fn chosen_runs(url: UrlState, own: Memo<String>) -> (RunNames, RunNames) {
    let runs = use_runs();
    let (asked, hide) = (url.list("runs"), url.list("hide"));
    let shown = Memo::new(move |_| {
        let hide = hide.get();
        let mut shown = asked.get();
        if shown.is_empty() {
            shown = own.with(|own| {
                runs.with(|list| neighbours(own, list.runs.iter().map(|run| run.id.as_str())))
            });
        }
        runs.with(|list| {
            // A link may name runs that are no more; nothing would ever arrive for them.
            if !list.runs.is_empty() && !list.cut {
                shown.retain(|run| {
                    list.runs
                        .binary_search_by(|known| known.id.cmp(run))
                        .is_ok()
                });
            }
        });
        shown.retain(|run| !hide.contains(run));
        shown.sort();
        shown.dedup();
        Arc::new(shown)
    });
    let hidden = Memo::new(move |_| {
        let mut hidden = hide.get();
        if asked.with(Vec::is_empty) && hidden.is_empty() {
            runs.with(|list| {
                if list.runs.len() <= MOST_TOGETHER {
                    hidden.extend(list.runs.iter().map(|run| run.id.clone()));
                }
            });
        }
        shown.with(|shown| hidden.retain(|run| !shown.contains(run)));
        hidden.sort();
        hidden.dedup();
        Arc::new(hidden)
    });
    (shown, hidden)
}

/// The run and those in the same folder, or the run alone if they are too many.
fn neighbours<'a>(own: &str, runs: impl Iterator<Item = &'a str>) -> Vec<String> {
    let folder = |run: &str| run.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let home = folder(own);
    let mut found: Vec<String> = runs
        .filter(|run| *run != "." && folder(run) == home)
        .map(str::to_owned)
        .collect();
    if found.len() > MOST_TOGETHER || own == "." {
        found.clear();
    }
    if !found.iter().any(|run| run == own) {
        found.push(own.to_owned());
    }
    found
}

fn choice<T: Copy + Default>(key: Option<&str>, all: &[(T, &str)]) -> T {
    let found = all.iter().find(|(_, name)| Some(*name) == key);
    found.map(|(choice, _)| *choice).unwrap_or_default()
}

/// The word for the address; the default has none.
fn key<T: Copy + Default + PartialEq>(
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

fn parse_smoothing(text: Option<&str>) -> f64 {
    let weight = text.and_then(|text| text.parse::<f64>().ok());
    weight
        .filter(|weight| weight.is_finite())
        .map_or(SMOOTHING, |weight| weight.clamp(0.0, MOST_SMOOTHING))
}

fn parse_range(text: Option<&str>) -> Option<(f64, f64)> {
    let (lo, hi) = text?.split_once(',')?;
    let (lo, hi): (f64, f64) = (lo.parse().ok()?, hi.parse().ok()?);
    (lo.is_finite() && hi.is_finite() && lo < hi).then_some((lo, hi))
}

/// Whole steps; times with milliseconds.
fn range_text((lo, hi): (f64, f64), x: XChoice) -> String {
    match x {
        XChoice::Step => format!("{:.0},{:.0}", lo.floor(), hi.ceil()),
        XChoice::Relative | XChoice::Wall => format!("{lo:.3},{hi:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_leniently() {
        assert_eq!(parse_range(Some("10,20")), Some((10.0, 20.0)));
        for text in ["", "1", "2,1", "NaN,1", "1,inf", "a,b"] {
            assert_eq!(parse_range(Some(text)), None, "{text}");
        }
        assert_eq!(
            parse_smoothing(Some("7")).to_bits(),
            MOST_SMOOTHING.to_bits()
        );
        assert_eq!(parse_smoothing(Some("x")).to_bits(), SMOOTHING.to_bits());
        assert_eq!(choice(Some("log"), &YChoice::ALL), YChoice::Log);
        assert_eq!(choice(Some("?"), &YChoice::ALL), YChoice::Linear);
        assert_eq!(key(XChoice::Wall, &XChoice::ALL), Some("wall"));
        assert_eq!(key(XChoice::Step, &XChoice::ALL), None);
    }

    #[test]
    fn a_run_is_shown_with_its_neighbours_unless_they_are_many() {
        let runs = ["a/x", "a/y", "b/z", "c"];
        assert_eq!(neighbours("a/x", runs.into_iter()), ["a/x", "a/y"]);
        assert_eq!(neighbours("c", runs.into_iter()), ["c"]);
        let many: Vec<String> = (0..20).map(|n| format!("m/{n}")).collect();
        assert_eq!(neighbours("m/3", many.iter().map(String::as_str)), ["m/3"]);
        assert_eq!(neighbours(".", runs.into_iter()), ["."]);
    }
}
