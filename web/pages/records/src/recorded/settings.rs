//! Settings of these pages, all of them in the address: a link opens the same view.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use trainscope_web_kit::components::browse::{Browse, SeriesId};
use trainscope_web_kit::parameters::{FULL, STEP};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::RunPage;
use trainscope_web_kit::url_state::{Change, History, Key, Setting};

/// Sizes of pictures: 0 fits them into their cards, other values are screen pixels per pixel.
pub(super) const ZOOMS: [u32; 4] = [0, 1, 4, 16];

/// Steps of single cards, by tag: items like `400:eval/sample`.
const OWN_STEPS: Setting<BTreeMap<String, i64>> = Key::of_items(
    "own",
    |items| {
        let steps = items.iter().filter_map(|item| {
            let (step, tag) = item.split_once(':')?;
            Some((tag.to_owned(), step.parse().ok()?))
        });
        Some(steps.collect())
    },
    |steps: &BTreeMap<String, i64>| {
        let items = steps.iter().map(|(tag, step)| format!("{step}:{tag}"));
        items.collect()
    },
)
.or(BTreeMap::new());
/// Brightness and contrast in percent, 100 as recorded.
const LIGHT: Setting<(u32, u32)> = Key::with(
    "light",
    |text| {
        let (brightness, contrast) = text.split_once(':')?;
        Some((brightness.parse().ok()?, contrast.parse().ok()?))
    },
    |(brightness, contrast)| format!("{brightness}:{contrast}"),
)
.or((100, 100));
const ZOOM: Setting<u32> = Key::with(
    "zoom",
    |text| text.parse().ok().filter(|zoom| ZOOMS.contains(zoom)),
    u32::to_string,
)
.or(0);
/// Texts as written, not rendered.
const SOURCE: Setting<bool> = Setting::mark("source");
/// Words of the search in all texts.
const FIND: Setting<String> = Key::new("find").or(String::new());
/// Choice of the subtracted picture.
pub(super) const AGAINST: Key<Against> = Key::with(
    "against",
    |text| match text {
        "previous" => Some(Against::Previous),
        "first" => Some(Against::First),
        _ => Some(Against::Run(text.strip_prefix("run:")?.to_owned())),
    },
    |against| match against {
        Against::Previous => "previous".to_owned(),
        Against::First => "first".to_owned(),
        Against::Run(run) => format!("run:{run}"),
    },
);

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
        let (step, light) = (url.param(STEP), url.setting(LIGHT));
        let known = RwSignal::new(BTreeMap::<String, BTreeSet<i64>>::new());
        let settings = Self {
            browse,
            page,
            step: RwSignal::new(None),
            own_steps: url.setting(OWN_STEPS),
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
            against: url.param(AGAINST),
            light: RwSignal::new((100, 100)),
            zoom: url.setting(ZOOM),
            is_source: url.setting(SOURCE),
            find: url.setting(FIND),
            found: RwSignal::new(Arc::default()),
            jumps: RwSignal::new(BTreeMap::new()),
            is_playing: RwSignal::new(false),
            full: url.param(FULL),
        };
        Effect::new(move || settings.step.set(step.get()));
        Effect::new(move || settings.light.set(light.get()));
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
        let changes = [STEP.to_option(step), OWN_STEPS.clear()];
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
        let steps = OWN_STEPS.to(steps);
        self.browse.url.set(&[steps], History::Replace);
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
        let light = LIGHT.to(self.light.get_untracked());
        self.browse.url.set(&[light], History::Replace);
    }

    /// Shows differences to other pictures; `None` shows pictures as recorded.
    pub(super) fn set_against(self, against: Option<Against>) {
        self.set(AGAINST.to_option(against));
    }

    /// Chooses the size of pictures.
    pub(super) fn set_zoom(self, zoom: u32) {
        self.set(ZOOM.to(zoom));
    }

    /// Shows texts as written, or rendered.
    pub(super) fn set_source(self, is_source: bool) {
        self.set(SOURCE.to(is_source));
    }

    /// Sets the words of the search.
    pub(super) fn set_find(self, words: &str) {
        self.browse.url.set(&[FIND.to(words)], History::Replace);
    }

    /// Fills the page with one card; `None` returns to all cards.
    pub(super) fn set_full(self, tag: Option<&str>) {
        self.set(FULL.to_option(tag));
    }

    fn set(self, change: Change) {
        self.browse.url.set(&[change], History::Push);
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
            let text = AGAINST.write(&against).unwrap();
            assert_eq!(AGAINST.read(&text), Some(against));
        }
        assert_eq!(AGAINST.read("mlp/healthy"), None);
    }

    #[test]
    fn steps_of_single_cards_are_read_back() {
        let steps = OWN_STEPS.value_in("own=4:a:b,x:y,-2:c");
        assert_eq!(steps.len(), 2);
        assert_eq!((steps["a:b"], steps["c"]), (4, -2));
    }
}
