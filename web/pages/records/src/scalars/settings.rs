//! Settings of this page, all of them in the address: a link opens the same view.

use std::collections::{BTreeMap, BTreeSet};

use trainscope_charts::line::YRange;
use trainscope_charts::smooth::Kind;
use trainscope_web_kit::parameters::{FULL, SCALARS_AT, SCALARS_RANGE};
use trainscope_web_kit::prelude::*;

use super::choices::{
    BAND, CardSize, GROUP, GroupBy, LINKED, OWN_RANGES, OWN_Y, OwnRanges, Range, SIZE, SMOOTHING,
    SMOOTHING_KIND, SPREAD, SUPERSEDED, ScaleChoice, Spread, X, X_SCALE, XChoice, Y, Y_RANGE,
};
use trainscope_web_kit::components::browse::{Browse, RunNames};
use trainscope_web_kit::url_state::{Change, History, UrlState, join_list};

/// The choices, as signals.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    url: UrlState,
    /// The run whose page it is.
    pub(super) page_run: Memo<String>,
    /// Runs whose lines are drawn, by name.
    pub(super) shown: RunNames,
    /// The run that others are compared with.
    pub(super) baseline: Memo<Option<String>>,
    /// The x axis.
    pub(super) x: Memo<XChoice>,
    /// Tags whose steps start again with each epoch; by step their curves would run back and forth.
    per_epoch: RwSignal<BTreeSet<String>>,
    /// Tag of the scalar on the x axis, if any.
    pub(super) x_tag: Memo<Option<String>>,
    pub(super) x_scale: Memo<ScaleChoice>,
    /// Scale of the y axis.
    pub(super) y: Memo<ScaleChoice>,
    /// Scale of the y axis of single cards.
    pub(super) own_y: Memo<BTreeMap<String, ScaleChoice>>,
    /// Values covered by the y axis.
    pub(super) y_range: Memo<YRange>,
    /// Weight of smoothing; follows the slider at once, the address a moment later.
    pub(super) smoothing: RwSignal<f64>,
    /// Smoothing algorithm.
    pub(super) smoothing_kind: Memo<Kind>,
    /// `true` if envelopes are drawn.
    pub(super) has_band: Memo<bool>,
    /// `true` if superseded points are drawn.
    pub(super) has_superseded: Memo<bool>,
    /// `true` if zooming one card zooms all.
    pub(super) is_linked: Memo<bool>,
    /// The chosen range of x of all cards.
    pub(super) range: Memo<Option<Range>>,
    /// Ranges of x of single cards.
    pub(super) own_ranges: Memo<OwnRanges>,
    /// Grouping key of runs.
    pub(super) group: Memo<Option<GroupBy>>,
    /// Meaning of the band of a group.
    pub(super) spread: Memo<Spread>,
    pub(super) card_size: Memo<CardSize>,
    /// Tag of the card that fills the page.
    pub(super) full: Memo<Option<String>>,
    /// Tag of the target of a link.
    pub(super) target: Memo<Option<String>>,
    /// Initial step of the crosshair on the target's card.
    pub(super) at: Memo<Option<f64>>,
}

impl Settings {
    /// Reads the address.
    pub(super) fn from_address(browse: Browse) -> Self {
        let url = browse.url;
        let x = url.setting(X);
        let smoothing = url.setting(SMOOTHING);
        let settings = Self {
            url,
            page_run: browse.own,
            shown: browse.shown,
            baseline: browse.baseline,
            x: Memo::new(move |_| x.with(|(x, _)| *x)),
            per_epoch: RwSignal::new(BTreeSet::new()),
            x_tag: Memo::new(move |_| x.with(|(_, tag)| tag.clone())),
            x_scale: url.setting(X_SCALE),
            y: url.setting(Y),
            own_y: url.setting(OWN_Y),
            y_range: url.setting(Y_RANGE),
            smoothing: RwSignal::new(0.0),
            smoothing_kind: url.setting(SMOOTHING_KIND),
            has_band: url.setting(BAND),
            has_superseded: url.setting(SUPERSEDED),
            is_linked: url.setting(LINKED),
            range: url.param(SCALARS_RANGE),
            own_ranges: url.setting(OWN_RANGES.or(OwnRanges::new())),
            group: url.param(GROUP),
            spread: url.setting(SPREAD),
            card_size: url.setting(SIZE),
            full: url.param(FULL),
            target: browse.target,
            at: url.param(SCALARS_AT),
        };
        Effect::new(move || {
            let weight = smoothing.get();
            if settings.smoothing.get_untracked().to_bits() != weight.to_bits() {
                settings.smoothing.set(weight);
            }
        });
        settings
    }

    /// Chooses the x axis; removes ranges, which are in units of the old one.
    pub(super) fn set_x(self, x: XChoice, tag: Option<&str>) {
        let x = X.to((x, tag.map(str::to_owned)));
        let changes = [x, SCALARS_RANGE.clear(), OWN_RANGES.clear()];
        self.url.set(&changes, History::Push);
    }

    pub(super) fn set_x_scale(self, scale: ScaleChoice) {
        self.push(X_SCALE.to(scale));
    }

    /// Chooses the scale of the y axis of all cards.
    pub(super) fn set_y(self, scale: ScaleChoice) {
        self.url.set(&[Y.to(scale), OWN_Y.clear()], History::Push);
    }

    /// Chooses the scale of the y axis of one card.
    pub(super) fn set_own_y(self, tag: &str, scale: ScaleChoice) {
        let mut scales = self.own_y.get_untracked();
        scales.remove(tag);
        if scale != self.y.get_untracked() {
            scales.insert(tag.to_owned(), scale);
        }
        self.push(OWN_Y.to(scales));
    }

    /// Chooses the values covered by the y axis.
    pub(super) fn set_y_range(self, range: YRange) {
        self.push(Y_RANGE.to(range));
    }

    pub(super) fn set_smoothing_kind(self, kind: Kind) {
        self.push(SMOOTHING_KIND.to(kind));
    }

    /// Writes the slider's weight into the address.
    pub(super) fn keep_smoothing(self) {
        let weight = self.smoothing.get_untracked();
        self.url.set(&[SMOOTHING.to(weight)], History::Replace);
    }

    /// Shows or hides envelopes.
    pub(super) fn set_band(self, is_shown: bool) {
        self.push(BAND.to(is_shown));
    }

    /// Shows or hides superseded points.
    pub(super) fn set_superseded(self, is_shown: bool) {
        self.push(SUPERSEDED.to(is_shown));
    }

    /// Makes cards zoom together, or separately.
    pub(super) fn set_linked(self, is_linked: bool) {
        let mut changes = vec![LINKED.to(is_linked)];
        changes.extend(is_linked.then(|| OWN_RANGES.clear()));
        self.url.set(&changes, History::Push);
    }

    /// Sets the range of all cards, and those of single ones.
    pub(super) fn set_ranges(self, range: Option<Range>, own_ranges: &OwnRanges) {
        let x = self.x.get_untracked();
        let text = range.map(|range| range_text(range, x, ','));
        let items: Vec<String> = own_ranges
            .iter()
            .map(|(tag, range)| {
                let x = untrack(|| self.x_of(tag));
                let range = range.map_or_else(|| ":".to_owned(), |range| range_text(range, x, ':'));
                format!("{range}:{tag}")
            })
            .collect();
        let items = (!items.is_empty()).then(|| join_list(&items));
        let changes = [SCALARS_RANGE.typed(text), OWN_RANGES.typed(items)];
        self.url.set(&changes, History::Push);
    }

    /// The x axis of a card: relative time in place of steps that start again with each epoch; reactive.
    pub(super) fn x_of(self, tag: &str) -> XChoice {
        match self.x.get() {
            XChoice::Step if self.is_per_epoch(tag) => XChoice::Relative,
            x => x,
        }
    }

    /// `true` if a card is drawn by time because its steps start again with each epoch; reactive.
    pub(super) fn is_by_time_instead(self, tag: &str) -> bool {
        self.x.get() == XChoice::Step && self.is_per_epoch(tag)
    }

    fn is_per_epoch(self, tag: &str) -> bool {
        self.per_epoch.with(|tags| tags.contains(tag))
    }

    /// Remembers whether the steps of a tag start again with each epoch.
    pub(super) fn set_per_epoch(self, tag: &str, is_per_epoch: bool) {
        self.per_epoch.maybe_update(|tags| {
            if is_per_epoch {
                tags.insert(tag.to_owned())
            } else {
                tags.remove(tag)
            }
        });
    }

    /// Groups runs; `None` draws each separately.
    pub(super) fn set_group(self, group: Option<&GroupBy>, history: History) {
        self.url.set(&[GROUP.to_option(group.cloned())], history);
    }

    /// Chooses the meaning of the band of a group.
    pub(super) fn set_spread(self, spread: Spread) {
        self.push(SPREAD.to(spread));
    }

    pub(super) fn set_card_size(self, size: CardSize) {
        self.push(SIZE.to(size));
    }

    /// Fills the page with one card; `None` returns to all cards.
    pub(super) fn set_full(self, tag: Option<&str>) {
        self.push(FULL.to_option(tag));
    }

    fn push(self, change: Change) {
        self.url.set(&[change], History::Push);
    }
}

/// A range, rounded as in the address.
pub(super) fn rounded(range: Range, x: XChoice) -> Range {
    SCALARS_RANGE
        .read(&range_text(range, x, ','))
        .unwrap_or(range)
}

/// Whole steps, times with milliseconds, values with nine digits.
fn range_text((lo, hi): Range, x: XChoice, by: char) -> String {
    match x {
        XChoice::Step => format!("{:.0}{by}{:.0}", lo.floor(), hi.ceil()),
        XChoice::Relative | XChoice::Wall => format!("{lo:.3}{by}{hi:.3}"),
        XChoice::Tag => format!("{lo:.9e}{by}{hi:.9e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_values_survive_the_address() {
        let range = (1.25e-4, 3e7);
        let text = range_text(range, XChoice::Tag, ',');
        assert_eq!(SCALARS_RANGE.read(&text), Some(range));
    }
}
