//! Settings of these pages, all of them in the address: a link opens the same view.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use trainscope_web_kit::components::browse::{Browse, SeriesId};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::RunPage;
use trainscope_web_kit::url_state::History;

/// Sizes of pictures: 0 fits them into their cards, other values are screen pixels per pixel.
pub(super) const ZOOMS: [u32; 4] = [0, 1, 4, 16];

/// Matches of the words in one series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Places {
    /// Steps with a match, ascending.
    pub(super) steps: Vec<i64>,
    /// Steps that were searched, ascending.
    pub(super) all: Vec<i64>,
    /// `true` if the list is truncated.
    pub(super) cut: bool,
}

/// Results of each series, by tag.
pub(super) type Matches = HashMap<(String, SeriesId), Arc<Places>>;

/// The choices, as signals.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    /// Runs and tags.
    pub(super) browse: Browse,
    pub(super) page: RunPage,
    /// Step of all cards; `None` is the last. Follows the slider at once; the address is written when the slider is
    /// released.
    pub(super) step: RwSignal<Option<i64>>,
    /// Steps of single cards, by tag.
    pub(super) own_steps: Memo<BTreeMap<String, i64>>,
    /// First and last step of all tags.
    pub(super) whole: Memo<(i64, i64)>,
    /// Recorded steps of each run, of the cards that have been in view.
    pub(super) known: RwSignal<BTreeMap<String, BTreeSet<i64>>>,
    /// Record that is subtracted from pictures; `None` shows pictures as recorded.
    pub(super) against: Memo<Option<Against>>,
    /// Brightness and contrast in percent, 100 as recorded.
    pub(super) light: RwSignal<(u32, u32)>,
    /// One of [`ZOOMS`].
    pub(super) zoom: Memo<u32>,
    /// `true` to show texts as written, not rendered.
    pub(super) is_source: Memo<bool>,
    /// Words of the search in all texts.
    pub(super) find: Memo<String>,
    /// Results by series.
    pub(super) found: RwSignal<Arc<Matches>>,
    /// First step with a match, for the cards without a match at the chosen step.
    pub(super) jumps: RwSignal<BTreeMap<String, i64>>,
    /// `true` if the cards advance from step to step automatically.
    pub(super) is_playing: RwSignal<bool>,
    /// Tag of the card that fills the page.
    pub(super) full: Memo<Option<String>>,
}

/// Time that each step is shown while playing.
const FRAME: Duration = Duration::from_millis(600);

impl Settings {
    /// Reads the address.
    pub(super) fn provide(browse: Browse, page: RunPage) -> Self {
        let url = browse.url;
        let (step, own_steps, light) = (url.param("step"), url.list("own"), url.param("light"));
        let (zoom, source, find) = (url.param("zoom"), url.param("source"), url.param("find"));
        let known = RwSignal::new(BTreeMap::<String, BTreeSet<i64>>::new());
        let against = url.param("against");
        let settings = Self {
            browse,
            page,
            step: RwSignal::new(None),
            own_steps: Memo::new(move |_| own_steps.with(|items| parse_own(items))),
            whole: Memo::new(move |_| {
                browse.entries.with(|entries| {
                    let first = entries.iter().filter_map(|entry| entry.first_step).min();
                    let last = entries.iter().filter_map(|entry| entry.last_step).max();
                    let (first, last) = first.zip(last).unwrap_or((0, 0));
                    // Records of a growing run come before its list of tags.
                    known.with(|known| {
                        let newest = known.values().filter_map(|steps| steps.last().copied());
                        (first, newest.fold(last, i64::max))
                    })
                })
            }),
            known,
            against: Memo::new(move |_| against.with(|text| Against::parse(text.as_deref()?))),
            light: RwSignal::new((100, 100)),
            zoom: Memo::new(move |_| {
                let asked = zoom.with(|text| text.as_deref()?.parse().ok());
                asked.filter(|zoom| ZOOMS.contains(zoom)).unwrap_or(0)
            }),
            is_source: Memo::new(move |_| source.with(Option::is_some)),
            find: Memo::new(move |_| find.get().unwrap_or_default()),
            found: RwSignal::new(Arc::default()),
            jumps: RwSignal::new(BTreeMap::new()),
            is_playing: RwSignal::new(false),
            full: url.param("full"),
        };
        Effect::new(move || {
            let asked = step.with(|text| text.as_deref()?.parse().ok());
            settings.step.set(asked);
        });
        Effect::new(move || {
            let asked = light.with(|text| {
                let (brightness, contrast) = text.as_deref()?.split_once(':')?;
                Some((brightness.parse().ok()?, contrast.parse().ok()?))
            });
            settings.light.set(asked.unwrap_or((100, 100)));
        });
        settings
    }

    /// The step of a card; reactive.
    pub(super) fn step_of(self, tag: &str) -> Option<i64> {
        let jump = self.jumps.with(|jumps| jumps.get(tag).copied());
        jump.or_else(|| self.chosen_step(tag))
    }

    /// The step chosen for a card, regardless of search results; reactive.
    pub(super) fn chosen_step(self, tag: &str) -> Option<i64> {
        let step = self.own_steps.with(|steps| steps.get(tag).copied());
        step.or_else(|| self.step.get())
    }

    /// Shows the chosen steps again.
    fn end_jumps(self) {
        if self.jumps.with_untracked(|jumps| !jumps.is_empty()) {
            self.jumps.set(BTreeMap::new());
        }
    }

    /// Moves all cards to a step, including those with a separate one.
    pub(super) fn set_step(self, step: Option<i64>, history: History) {
        self.end_jumps();
        self.step.set(step);
        let text = step.map(|step| step.to_string());
        let changes = [("step", text.as_deref()), ("own", None)];
        self.browse.url.set(&changes, history);
    }

    /// Sets a separate step of a card; `None` removes it.
    pub(super) fn set_own(self, tag: &str, step: Option<i64>) {
        self.jumps.update(|jumps| {
            jumps.remove(tag);
        });
        let mut steps = self.own_steps.get_untracked();
        match step {
            Some(step) => steps.insert(tag.to_owned(), step),
            None => steps.remove(tag),
        };
        let items: Vec<String> = steps
            .iter()
            .map(|(tag, step)| format!("{step}:{tag}"))
            .collect();
        self.browse.url.set_list("own", &items, History::Replace);
    }

    /// Shows one recorded step after another, from the first one if the last is shown; a second call stops.
    pub(super) fn play(self) {
        let is_playing = !self.is_playing.get_untracked();
        self.is_playing.set(is_playing);
        if !is_playing {
            return;
        }
        let (first, last) = self.known.with_untracked(|known| {
            let first = known.values().filter_map(BTreeSet::first).min();
            let last = known.values().filter_map(BTreeSet::last).max();
            (first.copied(), last.copied())
        });
        if self
            .step
            .get_untracked()
            .is_none_or(|step| Some(step) >= last)
        {
            self.set_step(first, History::Replace);
        }
        self.play_on();
    }

    fn play_on(self) {
        set_timeout(
            move || {
                // The page may have been left.
                if self.is_playing.try_get_untracked() != Some(true) {
                    return;
                }
                if self.go(true) {
                    self.play_on();
                } else {
                    self.is_playing.set(false);
                }
            },
            FRAME,
        );
    }

    /// Goes to the next or previous recorded step; `false` at the ends.
    pub(super) fn go(self, is_forward: bool) -> bool {
        let now = self.step.get_untracked();
        let now = now.unwrap_or_else(|| self.whole.get_untracked().1);
        let next = self.known.with_untracked(|known| {
            if is_forward {
                let later =
                    |steps: &BTreeSet<i64>| steps.range(now.saturating_add(1)..).next().copied();
                known.values().filter_map(later).min()
            } else {
                let earlier = |steps: &BTreeSet<i64>| steps.range(..now).next_back().copied();
                known.values().filter_map(earlier).max()
            }
        });
        if let Some(next) = next {
            self.set_step(Some(next), History::Replace);
        }
        next.is_some()
    }

    /// Writes brightness and contrast into the address.
    pub(super) fn keep_light(self) {
        let (brightness, contrast) = self.light.get_untracked();
        let text =
            ((brightness, contrast) != (100, 100)).then(|| format!("{brightness}:{contrast}"));
        let changes = [("light", text.as_deref())];
        self.browse.url.set(&changes, History::Replace);
    }

    /// Shows differences to other pictures; `None` shows pictures as recorded.
    pub(super) fn set_against(self, against: Option<&Against>) {
        self.set("against", against.map(Against::to_text).as_deref());
    }

    /// Chooses the size of pictures.
    pub(super) fn set_zoom(self, zoom: u32) {
        let text = (zoom > 0).then(|| zoom.to_string());
        self.set("zoom", text.as_deref());
    }

    /// Shows texts as written, or rendered.
    pub(super) fn set_source(self, is_source: bool) {
        self.set("source", is_source.then_some("1"));
    }

    /// Sets the words of the search.
    pub(super) fn set_find(self, words: &str) {
        let value = (!words.is_empty()).then_some(words);
        self.browse.url.set(&[("find", value)], History::Replace);
    }

    /// Fills the page with one card; `None` returns to all cards.
    pub(super) fn set_full(self, tag: Option<&str>) {
        self.set("full", tag);
    }

    fn set(self, key: &str, value: Option<&str>) {
        self.browse.url.set(&[(key, value)], History::Push);
    }
}

/// Choice of the subtracted picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Against {
    /// The same tag at the previous recorded step.
    Previous,
    /// The same tag at its first recorded step.
    First,
    /// The same tag and step of another run.
    Run(String),
}

impl Against {
    /// Parses a keyword of the address; `None` for an unknown one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "previous" => Some(Self::Previous),
            "first" => Some(Self::First),
            _ => Some(Self::Run(text.strip_prefix("run:")?.to_owned())),
        }
    }

    /// Keyword for the address.
    pub(super) fn to_text(&self) -> String {
        match self {
            Self::Previous => "previous".to_owned(),
            Self::First => "first".to_owned(),
            Self::Run(run) => format!("run:{run}"),
        }
    }
}

/// Items like `400:eval/sample`.
fn parse_own(items: &[String]) -> BTreeMap<String, i64> {
    let steps = items.iter().filter_map(|item| {
        let (step, tag) = item.split_once(':')?;
        Some((tag.to_owned(), step.parse().ok()?))
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_read_back_from_the_address() {
        for against in [
            Against::Previous,
            Against::First,
            Against::Run("previous".to_owned()),
        ] {
            assert_eq!(Against::parse(&against.to_text()), Some(against));
        }
        assert_eq!(Against::parse("mlp/healthy"), None);
    }

    #[test]
    fn steps_of_single_cards_are_read_back() {
        let steps = parse_own(&["4:a:b".to_owned(), "x:y".to_owned(), "-2:c".to_owned()]);
        assert_eq!(steps.len(), 2);
        assert_eq!((steps["a:b"], steps["c"]), (4, -2));
    }
}
