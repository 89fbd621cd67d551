//! The registry of pages: one row per page, from which its address, rail entry, search results, help and overview card
//! follow. Pages of a run are about that run, site pages about many. Their code is in `web/pages`.

use trainscope_format::Kind;

use crate::i18n::{KeyTexts, Texts};
use crate::icon::IconName;

/// A page of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    Site(SitePage),
    Run(RunPage),
}

/// A page about many runs, in the order of the rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SitePage {
    Runs,
    Compare,
    Lineage,
}

/// A part of the program that holds one page, or pages of one kind. `boot.js` and the bundler use its name in lower
/// case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunk {
    Runs,
    Compare,
    Lineage,
    Overview,
    Scalars,
    Debugger,
    Graph,
    Histograms,
    Tensors,
    Recorded,
    Pipeline,
    Profile,
    Timeline,
    Landscape,
    /// The bar of a live session, above the pages of its run.
    Session,
    /// The panels of the frame.
    Panel,
}

impl Chunk {
    /// The chunk of a page.
    pub const fn of(page: Page) -> Self {
        match page {
            Page::Site(SitePage::Runs) => Self::Runs,
            Page::Site(SitePage::Compare) => Self::Compare,
            Page::Site(SitePage::Lineage) => Self::Lineage,
            Page::Run(RunPage::Overview) => Self::Overview,
            Page::Run(RunPage::Scalars) => Self::Scalars,
            Page::Run(RunPage::Debugger) => Self::Debugger,
            Page::Run(RunPage::Graph) => Self::Graph,
            Page::Run(RunPage::Histograms) => Self::Histograms,
            Page::Run(RunPage::Tensors) => Self::Tensors,
            Page::Run(RunPage::Images | RunPage::Text | RunPage::PrCurves) => Self::Recorded,
            Page::Run(RunPage::Pipeline) => Self::Pipeline,
            Page::Run(RunPage::Profile) => Self::Profile,
            Page::Run(RunPage::Timeline) => Self::Timeline,
            Page::Run(RunPage::Landscape) => Self::Landscape,
        }
    }
}

/// One site page.
pub struct SiteEntry {
    pub page: SitePage,
    /// Its address below the page's base; empty for the list of runs.
    pub segment: &'static str,
    pub title: fn(Texts) -> &'static str,
    pub icon: IconName,
    /// Number of runs below which the rail has no entry.
    pub least_runs: usize,
    /// `true` if the rail shows the number of runs.
    pub has_count: bool,
    /// Its keys in the help panel.
    pub keys: &'static [KeyGroup],
}

/// All site pages, in the order of [`SitePage`].
pub const SITE_PAGES: [SiteEntry; 3] = [
    SiteEntry {
        page: SitePage::Runs,
        segment: "",
        title: |texts| texts.titles().runs,
        icon: IconName::Runs,
        least_runs: 0,
        has_count: true,
        keys: &[KeyGroup::Runs],
    },
    SiteEntry {
        page: SitePage::Compare,
        segment: "compare",
        title: |texts| texts.titles().compare,
        icon: IconName::Compare,
        least_runs: 2,
        has_count: false,
        keys: &[KeyGroup::Compare],
    },
    SiteEntry {
        page: SitePage::Lineage,
        segment: "lineage",
        title: |texts| texts.titles().lineage,
        icon: IconName::Lineage,
        least_runs: 1,
        has_count: false,
        keys: &[KeyGroup::Lineage],
    },
];

/// A page inside a run, in the order of the rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunPage {
    Overview,
    Scalars,
    Histograms,
    Images,
    Text,
    PrCurves,
    Graph,
    Pipeline,
    Tensors,
    Debugger,
    Profile,
    Timeline,
    Landscape,
}

/// One page of a run.
pub struct PageEntry {
    pub page: RunPage,
    /// Last segment of its address.
    pub segment: &'static str,
    pub title: fn(Texts) -> &'static str,
    pub icon: IconName,
    /// Kinds of records with links to this page.
    pub kinds: &'static [Kind],
    /// Other kinds of records that it shows.
    pub more_kinds: &'static [Kind],
    pub count: Count,
    /// The page with the common rail entry; this page then has none.
    pub parent: Option<RunPage>,
    /// Its keys in the help panel.
    pub keys: &'static [KeyGroup],
}

/// Number next to the title of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// No number; the page exists for every run.
    Always,
    /// No number; the page exists if there are records of its kinds.
    Hidden,
    /// Sum of the tags of its kinds.
    Tags,
    /// Distinct names among the tags of its kinds.
    Names,
    /// Maximum number of tags of one of its kinds; elements in separate files have no tags.
    Tensors,
    /// Hits of watchpoints.
    Hits,
}

/// Rows of keys with one heading in the help panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyGroup {
    Runs,
    Compare,
    Lineage,
    Charts,
    Steps,
    Graph,
    Debugger,
    Profile,
    Timeline,
    Landscape,
}

/// All pages of a run, in the order of [`RunPage`].
pub const PAGES: [PageEntry; 13] = [
    PageEntry {
        page: RunPage::Overview,
        segment: "overview",
        title: |texts| texts.titles().overview,
        icon: IconName::Overview,
        kinds: &[],
        more_kinds: &[],
        count: Count::Always,
        parent: None,
        keys: &[],
    },
    PageEntry {
        page: RunPage::Scalars,
        segment: "scalars",
        title: |texts| texts.titles().scalars,
        icon: IconName::Scalars,
        kinds: &[Kind::Scalars],
        more_kinds: &[],
        count: Count::Tags,
        parent: None,
        keys: &[KeyGroup::Charts],
    },
    PageEntry {
        page: RunPage::Histograms,
        segment: "histograms",
        title: |texts| texts.titles().histograms,
        icon: IconName::Histograms,
        kinds: &[Kind::Histograms],
        more_kinds: &[Kind::Statistics],
        count: Count::Names,
        parent: None,
        keys: &[KeyGroup::Charts],
    },
    PageEntry {
        page: RunPage::Images,
        segment: "images",
        title: |texts| texts.titles().recorded[0],
        icon: IconName::Images,
        kinds: &[Kind::Images, Kind::Audio],
        more_kinds: &[],
        count: Count::Tags,
        parent: None,
        keys: &[KeyGroup::Steps],
    },
    PageEntry {
        page: RunPage::Text,
        segment: "text",
        title: |texts| texts.titles().recorded[1],
        icon: IconName::Text,
        kinds: &[Kind::Text],
        more_kinds: &[],
        count: Count::Tags,
        parent: None,
        keys: &[KeyGroup::Steps],
    },
    PageEntry {
        page: RunPage::PrCurves,
        segment: "pr_curves",
        title: |texts| texts.titles().recorded[2],
        icon: IconName::PrCurves,
        kinds: &[Kind::PrCurves],
        more_kinds: &[],
        count: Count::Tags,
        parent: None,
        keys: &[KeyGroup::Steps],
    },
    PageEntry {
        page: RunPage::Graph,
        segment: "graph",
        title: |texts| texts.titles().graph,
        icon: IconName::Graph,
        kinds: &[Kind::Graphs],
        more_kinds: &[],
        count: Count::Hidden,
        parent: None,
        keys: &[KeyGroup::Graph],
    },
    PageEntry {
        page: RunPage::Pipeline,
        segment: "pipeline",
        title: |texts| texts.titles().pipeline,
        icon: IconName::Pipeline,
        kinds: &[Kind::Lineage],
        more_kinds: &[Kind::InputQueues],
        count: Count::Hidden,
        parent: None,
        keys: &[KeyGroup::Steps],
    },
    PageEntry {
        page: RunPage::Tensors,
        segment: "tensors",
        title: |texts| texts.titles().tensors,
        icon: IconName::Tensors,
        kinds: &[Kind::Tensors, Kind::Statistics],
        more_kinds: &[],
        count: Count::Tensors,
        parent: None,
        keys: &[KeyGroup::Steps],
    },
    PageEntry {
        page: RunPage::Debugger,
        segment: "debugger",
        title: |texts| texts.titles().debugger,
        icon: IconName::Debugger,
        kinds: &[],
        more_kinds: &[],
        count: Count::Hits,
        parent: None,
        keys: &[KeyGroup::Debugger],
    },
    PageEntry {
        page: RunPage::Profile,
        segment: "profile",
        title: |texts| texts.titles().profile,
        icon: IconName::Profile,
        kinds: &[Kind::Profile, Kind::Traces],
        more_kinds: &[],
        count: Count::Hidden,
        parent: None,
        keys: &[KeyGroup::Profile],
    },
    PageEntry {
        page: RunPage::Timeline,
        segment: "timeline",
        title: |texts| texts.titles().timeline,
        icon: IconName::Profile,
        kinds: &[],
        more_kinds: &[],
        count: Count::Hidden,
        parent: Some(RunPage::Profile),
        keys: &[KeyGroup::Timeline],
    },
    PageEntry {
        page: RunPage::Landscape,
        segment: "landscape",
        title: |texts| texts.titles().landscape,
        icon: IconName::Landscape,
        kinds: &[Kind::Landscapes],
        more_kinds: &[],
        count: Count::Hidden,
        parent: None,
        keys: &[KeyGroup::Landscape],
    },
];

impl SitePage {
    /// Its row of the registry.
    pub const fn entry(self) -> &'static SiteEntry {
        &SITE_PAGES[self as usize]
    }

    /// The page with a segment of an address.
    pub fn of_segment(segment: &str) -> Option<Self> {
        let entry = SITE_PAGES.iter().find(|entry| entry.segment == segment);
        entry.map(|entry| entry.page)
    }
}

impl RunPage {
    /// Its row of the registry.
    pub const fn entry(self) -> &'static PageEntry {
        &PAGES[self as usize]
    }

    /// The page that shows records of a kind, by its name in the API, if any.
    pub fn of_kind(kind: &str) -> Option<Self> {
        let is_of = |entry: &&PageEntry| entry.kinds.iter().any(|known| known.as_str() == kind);
        PAGES.iter().find(is_of).map(|entry| entry.page)
    }

    /// The page with a segment of an address.
    pub fn of_segment(segment: &str) -> Option<Self> {
        let entry = PAGES.iter().find(|entry| entry.segment == segment);
        entry.map(|entry| entry.page)
    }
}

impl PageEntry {
    /// `true` if the rail marks this page while `page` is open.
    pub fn is_current(&self, page: RunPage) -> bool {
        self.page == page || page.entry().parent == Some(self.page)
    }

    /// All kinds of records that it shows.
    pub fn all_kinds(&self) -> impl Iterator<Item = Kind> {
        self.kinds.iter().chain(self.more_kinds).copied()
    }
}

/// Keys of the timeline, in the order of their texts.
const TIMELINE_KEYS: [&str; 17] = [
    "w s", "a d", "← →", "f", "0", ". ,", "↑ ↓", "[ ]", "n N", "m", "M", "1 9", "p", "q", "c", "e",
    "g",
];

/// Keys of the page of comparisons, in the order of their texts.
const COMPARE_KEYS: [&str; 5] = ["j k", "← →", "[ ]", "b", "s"];

/// Keys of the page of lineage, in the order of their texts.
const LINEAGE_KEYS: [&str; 17] = [
    "j k",
    "x",
    "↵",
    "c",
    "s",
    "i",
    "h",
    "t n",
    "← →",
    "Alt+← →",
    "↑ ↓",
    "⇧+↑ ↓",
    "b ⌫",
    "l r",
    "o",
    "0",
    "e",
];

/// Keys of the loss landscape, in the order of their texts.
const LANDSCAPE_KEYS: [&str; 5] = ["m", "s", "g", "[ ]", "← → ↑ ↓"];

impl KeyGroup {
    /// The groups of all pages, each once.
    pub fn all() -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let of_site = SITE_PAGES.iter().flat_map(|entry| entry.keys);
        for group in of_site.chain(PAGES.iter().flat_map(|entry| entry.keys)) {
            if !groups.contains(group) {
                groups.push(*group);
            }
        }
        groups
    }

    pub fn heading(self, texts: Texts) -> &'static str {
        match self {
            Self::Runs => texts.keys().in_runs,
            Self::Compare => texts.titles().compare,
            Self::Lineage => texts.titles().lineage,
            Self::Charts => texts.keys().in_charts,
            Self::Steps => texts.keys().in_steps,
            Self::Graph => texts.titles().graph,
            Self::Debugger => texts.keys().in_debugger,
            Self::Profile => texts.titles().profile,
            Self::Timeline => texts.titles().timeline,
            Self::Landscape => texts.titles().landscape,
        }
    }

    /// Keys, separated by spaces, and their effects.
    pub fn rows(self, texts: Texts) -> Vec<(&'static str, &'static str)> {
        let keys: &KeyTexts = texts.keys();
        let [drag, double_click, ..] = keys.gestures;
        match self {
            Self::Runs => vec![
                ("j k", keys.rows),
                ("↵", keys.open),
                ("x", keys.select),
                ("c", keys.compare),
                ("s", keys.together),
            ],
            Self::Compare => COMPARE_KEYS.into_iter().zip(keys.of_compare).collect(),
            Self::Lineage => LINEAGE_KEYS.into_iter().zip(keys.of_lineage).collect(),
            Self::Charts => vec![
                ("f", keys.fit),
                ("← →", keys.steps),
                ("w s", keys.zoom),
                ("a d", keys.pan),
                ("z", keys.step_back),
                ("j k", keys.cards),
                ("p", keys.pin),
                ("o", keys.full),
                (drag, keys.drag),
                (double_click, keys.double_click),
            ],
            Self::Steps => vec![
                ("← →", keys.other_step),
                ("space", keys.play),
                ("j k", keys.other_tensor),
                ("j k", keys.operations),
            ],
            Self::Graph => vec![
                ("f", keys.fit_graph),
                ("+ −", keys.zoom),
                ("← → ↑ ↓", keys.node),
                ("↵", keys.open_scope),
                ("p", keys.path),
            ],
            Self::Debugger => vec![
                ("j k", keys.next_hit),
                ("← →", keys.next_step),
                ("e", keys.edit),
            ],
            Self::Profile => vec![("j k", keys.key_rows), ("↵", keys.open_timeline)],
            Self::Timeline => TIMELINE_KEYS.into_iter().zip(keys.of_timeline).collect(),
            Self::Landscape => LANDSCAPE_KEYS.into_iter().zip(keys.of_landscape).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::i18n::Locale;

    #[test]
    fn every_page_has_all_that_the_registry_promises() {
        let mut segments = BTreeSet::new();
        let mut kinds = BTreeSet::new();
        for (index, entry) in PAGES.iter().enumerate() {
            let PageEntry { page, segment, .. } = entry;
            assert_eq!(
                *page as usize, index,
                "{segment} is at the place of its variant"
            );
            assert!(segments.insert(segment), "{segment} is given once");
            assert_eq!(RunPage::of_segment(segment), Some(*page));
            for locale in [Locale::En, Locale::Zh] {
                assert!(
                    !(entry.title)(locale.texts()).is_empty(),
                    "{segment} has a title"
                );
            }
            for kind in entry.kinds {
                assert!(kinds.insert(kind.as_str()), "{kind:?} leads to one page");
                assert_eq!(RunPage::of_kind(kind.as_str()), Some(*page));
            }
            assert_eq!(
                entry.all_kinds().next().is_some(),
                !matches!(entry.count, Count::Always | Count::Hits) && entry.parent.is_none(),
                "{segment} is shown if it has records"
            );
            let is_marked = PAGES.iter().filter(|other| other.parent.is_none());
            let is_marked = is_marked.filter(|other| other.is_current(*page)).count();
            assert_eq!(is_marked, 1, "{segment} has one entry of the rail");
        }
    }

    #[test]
    fn every_site_page_is_at_the_place_of_its_variant_and_has_an_address_of_its_own() {
        let mut segments = BTreeSet::new();
        for (index, entry) in SITE_PAGES.iter().enumerate() {
            assert_eq!(entry.page as usize, index, "{}", entry.segment);
            assert!(
                segments.insert(entry.segment),
                "{} is given once",
                entry.segment
            );
            assert!(!entry.segment.contains(['/', '.']), "{}", entry.segment);
            assert_eq!(SitePage::of_segment(entry.segment), Some(entry.page));
            for locale in [Locale::En, Locale::Zh] {
                assert!(!(entry.title)(locale.texts()).is_empty());
            }
        }
    }

    #[test]
    fn help_lists_the_keys_of_every_page_that_has_keys() {
        let groups = KeyGroup::all();
        let of_site = SITE_PAGES.iter().flat_map(|entry| entry.keys);
        for group in of_site.chain(PAGES.iter().flat_map(|entry| entry.keys)) {
            assert!(groups.contains(group), "{group:?}");
        }
        for group in groups {
            for locale in [Locale::En, Locale::Zh] {
                assert!(!group.heading(locale.texts()).is_empty());
                assert!(!group.rows(locale.texts()).is_empty());
            }
        }
    }

    #[test]
    fn the_first_script_knows_the_chunk_of_every_page() {
        let script = include_str!("../../boot.js");
        for entry in &PAGES {
            let chunk = format!("{:?}", Chunk::of(Page::Run(entry.page))).to_lowercase();
            let alias = format!("{}: '{chunk}'", entry.segment);
            assert!(chunk == entry.segment || script.contains(&alias), "{alias}");
        }
        for entry in &SITE_PAGES {
            let chunk = format!("{:?}", Chunk::of(Page::Site(entry.page))).to_lowercase();
            let is_first = entry.page == SitePage::Runs && chunk == "runs";
            assert!(is_first || chunk == entry.segment, "{chunk}");
        }
    }
}
