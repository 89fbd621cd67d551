//! The texts of all pages, in English and Chinese.
//!
//! One struct per page, whose fields must all be present in both languages, so a missing text does not compile. Texts
//! with numbers or names are functions: each language builds its own sentence and plural. `leptos_i18n` checks the
//! same from JSON files, but with plurals it brings 36 more crates (`leptos-use`, `cookie`, `time`, ICU data) for two
//! languages and one build-time parser. Terms follow `MindSpore`'s Chinese documents.

use trainscope_api::findings::Words;

use crate::format;
use crate::prelude::*;
use crate::storage;

mod age;
mod compare;
mod debugger;
mod en;
mod frame;
mod graph;
mod histograms;
mod landscape;
mod lineage;
mod overview;
mod pipeline;
mod profile;
mod recorded;
mod runs;
mod scalars;
mod session;
mod tensors;
mod timeline;
mod zh;

pub use age::{age, date_and_clock};
pub use compare::CompareTexts;
pub use debugger::DebuggerTexts;
pub use frame::{FrameTexts, KeyTexts, StateTexts, TimeTexts};
pub use graph::GraphTexts;
pub use histograms::HistogramsTexts;
pub use landscape::LandscapeTexts;
pub use lineage::LineageTexts;
pub use overview::OverviewTexts;
pub use pipeline::PipelineTexts;
pub use profile::ProfileTexts;
pub use recorded::RecordedTexts;
pub use runs::{PanelTexts, RecordTexts, RunsTexts};
pub use scalars::ScalarsTexts;
pub use session::SessionTexts;
pub use tensors::TensorsTexts;
pub use timeline::TimelineTexts;

const KEY: &str = "language";

/// All texts of one language.
pub struct Texts {
    /// Rail, bar, search, help.
    pub frame: FrameTexts,
    /// Descriptions of keys.
    pub keys: KeyTexts,
    /// Ages and dates.
    pub time: TimeTexts,
    /// Empty, loading, damaged, gone, not found, no connection.
    pub states: StateTexts,
    /// The list of runs.
    pub runs: RunsTexts,
    /// The files of a run.
    pub panel: PanelTexts,
    /// Instructions for recording.
    pub record: RecordTexts,
    /// Many runs by parameters and results.
    pub lineage: &'static LineageTexts,
    /// Runs against one of them.
    pub compare: &'static CompareTexts,
    /// The overview of a run.
    pub overview: OverviewTexts,
    /// Curves.
    pub scalars: ScalarsTexts,
    /// Images, audio, text, precision and recall.
    pub recorded: &'static RecordedTexts,
    pub histograms: &'static HistogramsTexts,
    /// The computation graph.
    pub graph: GraphTexts,
    /// The data pipeline.
    pub pipeline: &'static PipelineTexts,
    /// Live sessions.
    pub session: &'static SessionTexts,
    /// Loss landscapes.
    pub landscape: &'static LandscapeTexts,
    /// Profiles.
    pub profile: &'static ProfileTexts,
    /// The timeline of a profile.
    pub timeline: &'static TimelineTexts,
    /// Values of tensors.
    pub tensors: TensorsTexts,
    /// Watchpoints and hits.
    pub debugger: DebuggerTexts,
}

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locale {
    /// English.
    En,
    /// Simplified Chinese.
    Zh,
}

impl Locale {
    /// The texts of this language.
    pub const fn texts(self) -> &'static Texts {
        match self {
            Self::En => &en::TEXTS,
            Self::Zh => &zh::TEXTS,
        }
    }

    /// The value of the `lang` attribute.
    pub const fn lang(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-CN",
        }
    }

    const fn key(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    fn from_key(key: &str) -> Option<Self> {
        if key.starts_with("zh") {
            Some(Self::Zh)
        } else if key.starts_with("en") {
            Some(Self::En)
        } else {
            None
        }
    }
}

/// The current language. `Copy`: take it with [`use_i18n`], and read texts in closures, so that they follow a switch:
/// `move || i18n.texts().frame.runs`.
#[derive(Clone, Copy)]
pub struct I18n(RwSignal<Locale>);

impl I18n {
    /// Starts with `?lang=`, else the stored language, else the first supported one of the browser; keeps the `lang`
    /// attribute of the page up to date.
    pub fn provide() -> Self {
        let i18n = Self(RwSignal::new(first_choice()));
        provide_context(i18n);
        Effect::new(move || {
            if let Some(root) = document().document_element() {
                // Setting an attribute on an existing element does not fail.
                let _ignored = root.set_attribute("lang", i18n.0.get().lang());
            }
        });
        i18n
    }

    /// The texts in the current language; reactive.
    pub fn texts(self) -> &'static Texts {
        self.0.get().texts()
    }

    /// One of the texts as a view that follows the language.
    pub fn text(
        self,
        which: fn(&'static Texts) -> &'static str,
    ) -> impl Fn() -> &'static str + Copy + Send + Sync + 'static {
        move || which(self.texts())
    }

    /// The same as a label of a component.
    pub fn label(self, which: fn(&'static Texts) -> &'static str) -> Signal<String> {
        Signal::derive(move || which(self.texts()).to_owned())
    }

    /// A text of the server in the current language; reactive.
    pub fn words(self, words: &Words) -> String {
        match self.0.get() {
            // The same in both languages: a name that a person gave, or one of a file.
            Locale::En if words.en == words.zh => words.en.clone(),
            Locale::En => capital(&words.en),
            Locale::Zh => words.zh.clone(),
        }
    }

    /// A text of the server within a sentence of the page; reactive.
    pub fn raw(self, words: &Words) -> String {
        match self.0.get() {
            Locale::En => words.en.clone(),
            Locale::Zh => words.zh.clone(),
        }
    }

    /// Message of the server about something that has a name, which is shortened and keeps its case; reactive.
    pub fn words_of(self, words: &Words, name: &str) -> String {
        let text = if self.0.get() == Locale::En && words.en.starts_with(name) {
            words.en.clone()
        } else {
            self.words(words)
        };
        let short = format::short_name(name);
        if short == name {
            text
        } else {
            text.replace(name, &short)
        }
    }

    /// The current language; reactive.
    pub fn locale(self) -> Locale {
        self.0.get()
    }

    /// Changes the language and stores it.
    pub fn set(self, locale: Locale) {
        storage::write(KEY, Some(locale.key()));
        self.0.set(locale);
    }
}

/// Capitalises a sentence; texts of the server may also be used within one. A leading name is unchanged.
fn capital(text: &str) -> String {
    let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    let mut characters = text.chars();
    match characters.next() {
        Some(first) if text.split(' ').next().is_some_and(is_word) => {
            first.to_uppercase().chain(characters).collect()
        }
        _ => text.to_owned(),
    }
}

/// The language of this page.
pub fn use_i18n() -> I18n {
    expect_context()
}

fn first_choice() -> Locale {
    let search = window().location().search().unwrap_or_default();
    let asked = crate::url_state::value(&search, "lang");
    asked
        .and_then(|key| Locale::from_key(&key))
        .or_else(|| Locale::from_key(&storage::read(KEY)?))
        .or_else(|| {
            let languages = window().navigator().languages();
            languages
                .iter()
                .find_map(|language| Locale::from_key(&language.as_string()?))
        })
        .unwrap_or(Locale::En)
}
