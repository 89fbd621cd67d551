//! Settings of this page, all of them in the address: a link opens the same view.

use std::collections::{BTreeMap, BTreeSet};

use trainscope_charts::line::YRange;
use trainscope_charts::smooth::Kind;
use trainscope_web_kit::format;
use trainscope_web_kit::prelude::*;

use super::choices::{
    CardSize, GroupBy, SMOOTHINGS, ScaleChoice, Spread, XChoice, Y_RANGES, choice, key,
};
use trainscope_web_kit::components::browse::{Browse, RunNames};
use trainscope_web_kit::url_state::{History, UrlState};

/// Default weight of smoothing: none, because a smoothed line of few points misses all of them.
const SMOOTHING: f64 = 0.0;
/// Maximum weight of smoothing.
pub(super) const MAX_SMOOTHING: f64 = 0.99;

/// A range of x.
pub(super) type Range = (f64, f64);
/// Ranges of single cards, by tag; `None` is everything.
pub(super) type OwnRanges = BTreeMap<String, Option<Range>>;

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
        let x = url.param("x");
        let x = Memo::new(move |_| x.with(|text| XChoice::parse(text.as_deref())));
        let range = url.param("range");
        let own_ranges = url.list("zooms");
        let own_y = url.list("ys");
        let group = url.param("group");
        let smooth = url.param("smooth");
        let at = url.param("at");
        let settings = Self {
            url,
            page_run: browse.own,
            shown: browse.shown,
            baseline: browse.baseline,
            x: Memo::new(move |_| x.with(|(x, _)| *x)),
            per_epoch: RwSignal::new(BTreeSet::new()),
            x_tag: Memo::new(move |_| x.with(|(_, tag)| tag.clone())),
            x_scale: chosen(url, "xs", &ScaleChoice::ALL),
            y: chosen(url, "y", &ScaleChoice::ALL),
            own_y: Memo::new(move |_| own_y.with(|items| parse_scales(items))),
            y_range: chosen(url, "yr", &Y_RANGES),
            smoothing: RwSignal::new(SMOOTHING),
            smoothing_kind: chosen(url, "by", &SMOOTHINGS),
            has_band: flag(url, "band", true),
            has_superseded: flag(url, "superseded", false),
            is_linked: flag(url, "link", true),
            range: Memo::new(move |_| range.with(|text| parse_range(text.as_deref()))),
            own_ranges: Memo::new(move |_| own_ranges.with(|items| parse_ranges(items))),
            group: Memo::new(move |_| group.with(|text| GroupBy::parse(text.as_deref()))),
            spread: chosen(url, "spread", &Spread::ALL),
            card_size: chosen(url, "size", &CardSize::ALL),
            full: url.param("full"),
            target: browse.target,
            at: Memo::new(move |_| at.with(|at| format::parse_number(at.as_deref()?))),
        };
        Effect::new(move || {
            let weight = smooth.with(|text| parse_smoothing(text.as_deref()));
            if settings.smoothing.get_untracked().to_bits() != weight.to_bits() {
                settings.smoothing.set(weight);
            }
        });
        settings
    }

    /// Chooses the x axis; removes ranges, which are in units of the old one.
    pub(super) fn set_x(self, x: XChoice, tag: Option<&str>) {
        let word = x.word(tag);
        let changes = [("x", word.as_deref()), ("range", None), ("zooms", None)];
        self.url.set(&changes, History::Push);
    }

    pub(super) fn set_x_scale(self, scale: ScaleChoice) {
        self.push("xs", key(scale, &ScaleChoice::ALL));
    }

    /// Chooses the scale of the y axis of all cards.
    pub(super) fn set_y(self, scale: ScaleChoice) {
        let changes = [("y", key(scale, &ScaleChoice::ALL)), ("ys", None)];
        self.url.set(&changes, History::Push);
    }

    /// Chooses the scale of the y axis of one card.
    pub(super) fn set_own_y(self, tag: &str, scale: ScaleChoice) {
        let mut scales = self.own_y.get_untracked();
        scales.remove(tag);
        if scale != self.y.get_untracked() {
            scales.insert(tag.to_owned(), scale);
        }
        let word = |scale: ScaleChoice| key(scale, &ScaleChoice::ALL).unwrap_or("linear");
        let items: Vec<String> = scales
            .iter()
            .map(|(tag, scale)| format!("{}:{tag}", word(*scale)))
            .collect();
        self.url.set_list("ys", &items, History::Push);
    }

    /// Chooses the values covered by the y axis.
    pub(super) fn set_y_range(self, range: YRange) {
        self.push("yr", key(range, &Y_RANGES));
    }

    pub(super) fn set_smoothing_kind(self, kind: Kind) {
        self.push("by", key(kind, &SMOOTHINGS));
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
        self.push("band", (!is_shown).then_some("0"));
    }

    /// Shows or hides superseded points.
    pub(super) fn set_superseded(self, is_shown: bool) {
        self.push("superseded", is_shown.then_some("1"));
    }

    /// Makes cards zoom together, or separately.
    pub(super) fn set_linked(self, is_linked: bool) {
        let mut changes = vec![("link", (!is_linked).then_some("0"))];
        if is_linked {
            changes.push(("zooms", None));
        }
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
        let items = (!items.is_empty()).then(|| trainscope_web_kit::url_state::join_list(&items));
        let changes = [("range", text.as_deref()), ("zooms", items.as_deref())];
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
        let words = group.map(GroupBy::words);
        self.url.set(&[("group", words.as_deref())], history);
    }

    /// Chooses the meaning of the band of a group.
    pub(super) fn set_spread(self, spread: Spread) {
        self.push("spread", key(spread, &Spread::ALL));
    }

    pub(super) fn set_card_size(self, size: CardSize) {
        self.push("size", key(size, &CardSize::ALL));
    }

    /// Fills the page with one card; `None` returns to all cards.
    pub(super) fn set_full(self, tag: Option<&str>) {
        self.push("full", tag);
    }

    fn push(self, key: &str, value: Option<&str>) {
        self.url.set(&[(key, value)], History::Push);
    }
}

fn chosen<T>(url: UrlState, name: &'static str, all: &'static [(T, &'static str)]) -> Memo<T>
where
    T: Copy + Default + PartialEq + Send + Sync + 'static,
{
    let word = url.param(name);
    Memo::new(move |_| word.with(|word| choice(word.as_deref(), all)))
}

fn flag(url: UrlState, name: &'static str, default: bool) -> Memo<bool> {
    let word = url.param(name);
    Memo::new(move |_| {
        word.with(|word| match word.as_deref() {
            Some("0") => false,
            Some("1") => true,
            _ => default,
        })
    })
}

fn parse_smoothing(text: Option<&str>) -> f64 {
    text.and_then(format::parse_number)
        .map_or(SMOOTHING, |weight| weight.clamp(0.0, MAX_SMOOTHING))
}

fn parse_range(text: Option<&str>) -> Option<Range> {
    let (lo, hi) = text?.split_once(',')?;
    range_of(lo, hi)
}

fn range_of(lo: &str, hi: &str) -> Option<Range> {
    let (lo, hi) = (format::parse_number(lo)?, format::parse_number(hi)?);
    (lo < hi).then_some((lo, hi))
}

/// Items like `10:20:train/loss`, or `::train/loss` for everything.
fn parse_ranges(items: &[String]) -> OwnRanges {
    let ranges = items.iter().filter_map(|item| {
        let mut parts = item.splitn(3, ':');
        let (lo, hi, tag) = (parts.next()?, parts.next()?, parts.next()?);
        let range = range_of(lo, hi);
        let is_whole = lo.is_empty() && hi.is_empty();
        (range.is_some() || is_whole).then(|| (tag.to_owned(), range))
    });
    ranges.collect()
}

/// Items like `log:train/loss`.
fn parse_scales(items: &[String]) -> BTreeMap<String, ScaleChoice> {
    let scales = items.iter().filter_map(|item| {
        let (word, tag) = item.split_once(':')?;
        Some((tag.to_owned(), choice(Some(word), &ScaleChoice::ALL)))
    });
    scales.collect()
}

/// A range, rounded as in the address.
pub(super) fn rounded(range: Range, x: XChoice) -> Range {
    parse_range(Some(&range_text(range, x, ','))).unwrap_or(range)
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
    fn addresses_are_read_leniently() {
        assert_eq!(parse_range(Some("10,20")), Some((10.0, 20.0)));
        for text in ["", "1", "2,1", "NaN,1", "1,inf", "a,b"] {
            assert_eq!(parse_range(Some(text)), None, "{text}");
        }
        assert_eq!(
            parse_smoothing(Some("7")).to_bits(),
            MAX_SMOOTHING.to_bits()
        );
        assert_eq!(parse_smoothing(Some("x")).to_bits(), SMOOTHING.to_bits());
    }

    #[test]
    fn ranges_of_single_cards_are_read_back() {
        let items = ["10:20:a:b", "::loss", "x:y:z", "5"].map(str::to_owned);
        let ranges = parse_ranges(&items);
        assert_eq!(ranges.len(), 2);
        assert_eq!(ranges["a:b"], Some((10.0, 20.0)));
        assert_eq!(ranges["loss"], None);
        let text = range_text((1.25e-4, 3e7), XChoice::Tag, ',');
        assert_eq!(parse_range(Some(&text)), Some((1.25e-4, 3e7)));
    }
}
