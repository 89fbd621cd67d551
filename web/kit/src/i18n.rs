//! The texts of all pages, in English and Chinese.
//!
//! One row per text with both languages side by side; texts with numbers or names are functions, so each language
//! builds its sentence and plural. Each page has a separate table, which is loaded with the code of the page.
//! `leptos_i18n` reads texts from JSON files, but with plurals it brings 36 more crates (`leptos-use`, `cookie`,
//! `time`, ICU data). Terms follow `MindSpore`'s Chinese documents.

use trainscope_api::Sentence;

use crate::format;
use crate::prelude::*;
use crate::storage;
use crate::url_state::Key;

type Text = &'static str;

/// Defines a table of texts: name, type if it is not a plain text, English and Chinese.
macro_rules! texts {
    (
        $(#[$about:meta])* $table:ident
        $($(#[$note:meta])* $name:ident $(: $type:ty)? = $en:expr, $zh:expr;)+
    ) => {
        $(#[$about])*
        pub struct $table {
            $($(#[$note])* pub $name: texts!(@type $($type)?),)+
        }

        impl $table {
            pub(in crate::i18n) const fn of(locale: $crate::i18n::Locale) -> &'static Self {
                static EN: $table = $table { $($name: $en,)+ };
                static ZH: $table = $table { $($name: $zh,)+ };
                match locale {
                    $crate::i18n::Locale::En => &EN,
                    $crate::i18n::Locale::Zh => &ZH,
                }
            }
        }
    };
    (@type) => { $crate::i18n::Text };
    (@type $type:ty) => { $type };
}

mod age;
mod compare;
mod debugger;
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

pub use age::{age, date_and_clock};
pub use compare::CompareTexts;
pub use debugger::DebuggerTexts;
pub use frame::{FrameTexts, KeyTexts, SettingsTexts, StateTexts, TimeTexts, TitleTexts};
pub use graph::GraphTexts;
pub use histograms::HistogramsTexts;
pub use landscape::LandscapeTexts;
pub use lineage::LineageTexts;
pub use overview::OverviewTexts;
pub use pipeline::PipelineTexts;
pub use profile::{MemoryTexts, PartTexts, ProfileTexts, RanksTexts};
pub use recorded::RecordedTexts;
pub use runs::{PanelTexts, RecordTexts, RunsTexts};
pub use scalars::ScalarsTexts;
pub use session::SessionTexts;
pub use tensors::TensorsTexts;
pub use timeline::TimelineTexts;

const KEY: &str = "language";

/// Parameter of the address: the language of a link.
pub const LANGUAGE: Key<Locale> =
    Key::with("lang", Locale::from_key, |locale| locale.key().to_owned());

/// The tables of texts in one language.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Texts(Locale);

macro_rules! tables {
    ($($(#[$about:meta])* $name:ident: $table:ident;)+) => {
        impl Texts {
            $(
                $(#[$about])*
                pub const fn $name(self) -> &'static $table {
                    $table::of(self.0)
                }
            )+
        }
    };
}

tables! {
    /// Names of pages.
    titles: TitleTexts;
    /// Rail, bar, search, help.
    frame: FrameTexts;
    /// Descriptions of keys.
    keys: KeyTexts;
    /// The settings panel.
    settings: SettingsTexts;
    /// Ages and dates.
    time: TimeTexts;
    /// Empty, loading, damaged, gone, not found, no connection.
    states: StateTexts;
    /// The list of runs.
    runs: RunsTexts;
    /// The files of a run.
    panel: PanelTexts;
    /// Instructions for recording.
    record: RecordTexts;
    /// Many runs by parameters and results.
    lineage: LineageTexts;
    /// Runs against one of them.
    compare: CompareTexts;
    /// The overview of a run.
    overview: OverviewTexts;
    /// Curves.
    scalars: ScalarsTexts;
    /// Images, audio, text, precision and recall.
    recorded: RecordedTexts;
    histograms: HistogramsTexts;
    /// The computation graph.
    graph: GraphTexts;
    /// The data pipeline.
    pipeline: PipelineTexts;
    /// Live sessions.
    session: SessionTexts;
    /// Loss landscapes.
    landscape: LandscapeTexts;
    /// Profiles.
    profile: ProfileTexts;
    /// Parts of a step.
    parts: PartTexts;
    /// Memory of a profile.
    memory: MemoryTexts;
    /// Ranks of a profile.
    ranks: RanksTexts;
    /// The timeline of a profile.
    timeline: TimelineTexts;
    /// Values of tensors.
    tensors: TensorsTexts;
    /// Watchpoints and hits.
    debugger: DebuggerTexts;
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
    pub const fn texts(self) -> Texts {
        Texts(self)
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
/// `move || i18n.texts().frame().runs`.
#[derive(Clone, Copy)]
pub struct I18n {
    locale: RwSignal<Locale>,
    chosen: RwSignal<Option<Locale>>,
}

impl I18n {
    /// Starts with `?lang=`, else the stored language, else the first supported one of the browser; keeps the `lang`
    /// attribute of the page up to date.
    pub fn provide() -> Self {
        let chosen = asked().or_else(|| Locale::from_key(&storage::read(KEY)?));
        let i18n = Self {
            locale: RwSignal::new(chosen.unwrap_or_else(of_browser)),
            chosen: RwSignal::new(chosen),
        };
        provide_context(i18n);
        Effect::new(move || {
            if let Some(root) = document().document_element() {
                // Setting an attribute on an existing element does not fail.
                let _ignored = root.set_attribute("lang", i18n.locale.get().lang());
            }
        });
        i18n
    }

    /// The texts in the current language; reactive.
    pub fn texts(self) -> Texts {
        self.locale.get().texts()
    }

    /// One of the texts as a view that follows the language.
    pub fn text(
        self,
        which: fn(Texts) -> Text,
    ) -> impl Fn() -> Text + Copy + Send + Sync + 'static {
        move || which(self.texts())
    }

    /// One of the texts as a label of a component.
    pub fn label(self, which: fn(Texts) -> Text) -> Signal<String> {
        Signal::derive(move || which(self.texts()).to_owned())
    }

    /// A text of the server in the current language; reactive.
    pub fn words(self, words: &Sentence) -> String {
        match self.locale.get() {
            // Equal in both languages: a name given by a person, or one from a file.
            Locale::En if words.en == words.zh => words.en.clone(),
            Locale::En => capital(&words.en),
            Locale::Zh => words.zh.clone(),
        }
    }

    /// A text of the server within a sentence of the page; reactive.
    pub fn raw(self, words: &Sentence) -> String {
        match self.locale.get() {
            Locale::En => words.en.clone(),
            Locale::Zh => words.zh.clone(),
        }
    }

    /// Message of the server about something that has a name, which is shortened and keeps its case; reactive.
    pub fn words_of(self, words: &Sentence, name: &str) -> String {
        let text = if self.locale.get() == Locale::En && words.en.starts_with(name) {
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
        self.locale.get()
    }

    /// The language that a person chose; `None` while it is that of the browser. Reactive.
    pub fn chosen(self) -> Option<Locale> {
        self.chosen.get()
    }

    /// Changes the language and stores it; with `None` it is that of the browser again.
    pub fn choose(self, locale: Option<Locale>) {
        storage::write(KEY, locale.map(Locale::key));
        self.chosen.set(locale);
        self.locale.set(locale.unwrap_or_else(of_browser));
    }
}

/// A count with its English noun.
fn many(count: u64, one: &str, more: &str) -> String {
    format!(
        "{} {}",
        format::count(count),
        if count == 1 { one } else { more }
    )
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

/// The language of the link.
fn asked() -> Option<Locale> {
    let search = window().location().search().unwrap_or_default();
    LANGUAGE.value_in(&search)
}

/// The first supported language of the browser.
fn of_browser() -> Locale {
    let languages = window().navigator().languages();
    languages
        .iter()
        .find_map(|language| Locale::from_key(&language.as_string()?))
        .unwrap_or(Locale::En)
}
