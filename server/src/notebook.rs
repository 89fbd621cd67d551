//! Notes of users about runs, in one small TOML file per base directory: `.trainscope/notebook.toml`.
//!
//! The files are the source of truth. They are read again when they change, written by renaming a finished copy, and
//! never overwritten while they cannot be parsed. For a read-only base directory, the cache directory is used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use trainscope_api::notebook::{
    MAX_COLOUR, MAX_ENTRIES, MAX_NAME_BYTES, MAX_NOTE_CHARS, MAX_VIEW_BYTES, MAX_VIEW_CHARS,
    Notebook, NotebookChange, RunNotes, StrayNotes, View,
};
use trainscope_api::runs::Run;

mod strays;

use crate::discovery::base::{Base, bases};
use crate::files;
use crate::watched_file::WatchedFile;
use strays::Strays;

const HEAD: &str =
    "# What was noted in trainscope's pages about the runs below this folder. Safe to edit.\n\n";

/// The notebooks of all base directories.
pub struct Notebooks {
    pages: Mutex<Vec<Page>>,
    strays: Strays,
}

/// Reason why a change is refused.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// Another client has changed the notes; the current version.
    #[error("the notes were changed meanwhile; the newest version is {0}")]
    Conflict(u64),
    /// The change exceeds a limit.
    #[error("{0}")]
    TooMuch(String),
    /// The file cannot be written.
    #[error("{path} cannot be written: {reason}")]
    Unwritable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system, or in the existing file.
        reason: String,
    },
}

/// One notebook file.
struct Page {
    base: Base,
    /// Preferred path, and the alternative if that cannot be written.
    homes: [PathBuf; 2],
    file: WatchedFile,
    content: Content,
    /// Parse error of the file.
    broken: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Content {
    version: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pinned: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<String>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    aliases: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    views: Vec<View>,
    /// Notes by the run's name below this base directory.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    runs: BTreeMap<String, RunNotes>,
}

impl Notebooks {
    /// Opens the notebooks of these base directories; nothing is written before the first change.
    pub fn open(base_dirs: &[PathBuf], cache_dir: &Path) -> Self {
        let pages = bases(base_dirs).into_iter().map(|base| {
            let in_folder = base.dir.join(".trainscope").join("notebook.toml");
            let name = base.dir.to_string_lossy();
            let hash = trainscope_format::tensor::ContentHasher::hash(name.as_bytes());
            let other = cache_dir.join(format!("notebook-{hash:016x}.toml"));
            let path = if files::is_listed(&in_folder) || !other.exists() {
                in_folder.clone()
            } else {
                other.clone()
            };
            let homes = [in_folder, other];
            Page {
                base,
                homes,
                file: WatchedFile::new(path),
                content: Content::default(),
                broken: None,
            }
        });
        Self {
            pages: Mutex::new(pages.collect()),
            strays: Strays::default(),
        }
    }

    /// All notes.
    pub fn read(&self) -> Notebook {
        let mut pages = self.pages.lock();
        pages.iter_mut().for_each(Page::look);
        gather(&pages)
    }

    /// Names the notes whose runs are not among `runs`.
    pub(crate) fn strays(&self, notebook: &Notebook, runs: &[Run]) -> Vec<StrayNotes> {
        self.strays.of(notebook, runs)
    }

    /// Applies a change atomically.
    pub fn change(&self, change: NotebookChange) -> Result<Notebook, ChangeError> {
        check(&change)?;
        let mut pages = self.pages.lock();
        pages.iter_mut().for_each(Page::look);
        let version = version_of(&pages);
        if change.version != version {
            return Err(ChangeError::Conflict(version));
        }
        let mut contents: Vec<Content> = pages.iter().map(|page| page.content.clone()).collect();
        for (run, notes) in change.runs {
            // A run outside of all base directories does not exist; its notes are dropped.
            let Some((index, name)) = place(&pages, &run) else {
                continue;
            };
            if notes == RunNotes::default() {
                contents[index].runs.remove(&name);
            } else {
                contents[index].runs.insert(name, notes);
            }
        }
        if let (Some(pinned), Some(first)) = (change.pinned, contents.first_mut()) {
            first.pinned = pinned;
        }
        if let (Some(columns), Some(first)) = (change.columns, contents.first_mut()) {
            first.columns = Some(columns);
        }
        if let Some(aliases) = change.aliases {
            settle(&mut contents, |content| &mut content.aliases, aliases);
        }
        if let Some(views) = change.views {
            settle(&mut contents, |content| &mut content.views, views);
        }
        for (page, content) in pages.iter_mut().zip(contents) {
            page.write(content)?;
        }
        Ok(gather(&pages))
    }
}

/// Sets a list that belongs to all base directories: the first notebook holds it, the others hold nothing more.
fn settle<T: Default>(contents: &mut [Content], field: impl Fn(&mut Content) -> &mut T, value: T) {
    let mut contents = contents.iter_mut();
    if let Some(first) = contents.next() {
        *field(first) = value;
    }
    for other in contents {
        *field(other) = T::default();
    }
}

/// Checks the limits of a change, so that no file grows without end.
fn check(change: &NotebookChange) -> Result<(), ChangeError> {
    let too_much = |what: String| Err(ChangeError::TooMuch(what));
    if change
        .pinned
        .as_ref()
        .is_some_and(|pinned| pinned.len() > MAX_ENTRIES)
    {
        return too_much(format!("{MAX_ENTRIES} cards may be pinned"));
    }
    if change
        .columns
        .as_ref()
        .is_some_and(|columns| columns.len() > MAX_ENTRIES)
    {
        return too_much(format!("the list of runs may have {MAX_ENTRIES} columns"));
    }
    if change
        .aliases
        .as_ref()
        .is_some_and(|aliases| aliases.len() > MAX_ENTRIES)
    {
        return too_much(format!("{MAX_ENTRIES} columns may be shown in others"));
    }
    let views = change.views.as_deref().unwrap_or_default();
    if views.len() > MAX_ENTRIES {
        return too_much(format!("{MAX_ENTRIES} views may be saved"));
    }
    if let Some(view) = views.iter().find(|view| is_too_long(view)) {
        let name: String = view.name.chars().take(MAX_VIEW_CHARS).collect();
        return too_much(format!(
            "the name of a view may have {MAX_VIEW_CHARS} characters, its page and query {MAX_VIEW_BYTES} bytes; view `{name}`"
        ));
    }
    for (run, notes) in &change.runs {
        if run.len() > MAX_NAME_BYTES {
            return too_much(format!("the name of a run may have {MAX_NAME_BYTES} bytes"));
        }
        if notes
            .colour
            .is_some_and(|colour| !(1..=MAX_COLOUR).contains(&colour))
        {
            return too_much(format!("colours are 1 to {MAX_COLOUR}; run `{run}`"));
        }
        if notes.note.chars().count() > MAX_NOTE_CHARS {
            return too_much(format!(
                "a note may have {MAX_NOTE_CHARS} characters; run `{run}`"
            ));
        }
        let counts = [notes.tags.len(), notes.thresholds.len(), notes.marks.len()];
        if counts.iter().any(|count| *count > MAX_ENTRIES) {
            return too_much(format!(
                "{MAX_ENTRIES} tags, limits and marks are the most; run `{run}`"
            ));
        }
        let mut texts = notes.marks.iter();
        if texts.any(|mark| mark.text.chars().count() > MAX_NOTE_CHARS) {
            return too_much(format!(
                "the text of a mark may have {MAX_NOTE_CHARS} characters; run `{run}`"
            ));
        }
    }
    Ok(())
}

fn is_too_long(view: &View) -> bool {
    view.name.chars().count() > MAX_VIEW_CHARS
        || view.page.len() + view.query.len() > MAX_VIEW_BYTES
}

/// The notebook of a run, and the run's name below its base directory.
fn place(pages: &[Page], run: &str) -> Option<(usize, String)> {
    pages.iter().enumerate().find_map(|(index, page)| {
        let below = page.base.run_below(run)?;
        Some((index, below.to_owned()))
    })
}

fn version_of(pages: &[Page]) -> u64 {
    let versions = pages.iter().map(|page| page.content.version);
    versions.fold(0, u64::saturating_add)
}

fn gather(pages: &[Page]) -> Notebook {
    let mut notebook = Notebook {
        version: version_of(pages),
        ..Notebook::default()
    };
    for page in pages {
        let runs = page.content.runs.iter();
        let named = runs.map(|(name, notes)| (page.base.run_name(name), notes.clone()));
        notebook.runs.extend(named);
        notebook.pinned.extend(page.content.pinned.iter().cloned());
        if notebook.columns.is_none() {
            notebook.columns.clone_from(&page.content.columns);
        }
        for (key, name) in &page.content.aliases {
            let alias = notebook.aliases.entry(key.clone());
            alias.or_insert_with(|| name.clone());
        }
        notebook.views.extend(page.content.views.iter().cloned());
        if let Some(reason) = &page.broken {
            let path = page.file.path().display();
            notebook.problems.push(format!(
                "{path} is invalid and was left unchanged; the last valid notes are used: {reason}"
            ));
        } else if page.file.path() != page.homes[0] {
            notebook.problems.push(format!(
                "{} cannot be written, so notes are kept in {}",
                page.homes[0].display(),
                page.file.path().display()
            ));
        }
    }
    notebook
}

impl Page {
    /// Reads the file again if it has changed.
    fn look(&mut self) {
        let Some(text) = self.file.read_change() else {
            return;
        };
        let read = text.map_err(|e| e.to_string()).and_then(|text| {
            let text = text.unwrap_or_default();
            toml::from_str::<Content>(&text).map_err(|e| e.to_string())
        });
        match read {
            Ok(mut content) => {
                self.broken = None;
                // An edited file has no new version number, but open pages must be notified.
                let is_other = content.version == self.content.version && content != self.content;
                if is_other || content.version < self.content.version {
                    content.version = self.content.version.saturating_add(1);
                }
                self.content = content;
            }
            Err(reason) => self.broken = Some(reason),
        }
    }

    fn write(&mut self, mut content: Content) -> Result<(), ChangeError> {
        if content == self.content {
            return Ok(());
        }
        let unwritable = |path: &Path, reason: String| ChangeError::Unwritable {
            path: path.to_owned(),
            reason,
        };
        if let Some(reason) = &self.broken {
            return Err(unwritable(self.file.path(), reason.clone()));
        }
        content.version = content.version.saturating_add(1);
        let text =
            toml::to_string(&content).map_err(|e| unwritable(self.file.path(), e.to_string()))?;
        let text = HEAD.to_owned() + &text;
        if let Err(error) = self.file.write(&text) {
            if files::is_conflict(&error) {
                return Err(ChangeError::Conflict(self.content.version));
            }
            let mut other = WatchedFile::new(self.homes[1].clone());
            if self.file.path() == other.path() || other.write(&text).is_err() {
                return Err(unwritable(self.file.path(), error.to_string()));
            }
            self.file = other;
        }
        self.content = content;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use trainscope_api::notebook::{Limit, SliceMark, Threshold};

    fn notes(note: &str) -> RunNotes {
        RunNotes {
            note: note.to_owned(),
            ..RunNotes::default()
        }
    }

    fn change(version: u64, run: &str, notes: RunNotes) -> NotebookChange {
        NotebookChange {
            version,
            runs: BTreeMap::from([(run.to_owned(), notes)]),
            ..NotebookChange::default()
        }
    }

    #[test]
    fn notes_of_many_renamed_runs_find_them() {
        let names = |folder: &str| {
            (0..3_000)
                .map(|run| format!("{folder}/run-{run:04}"))
                .collect::<Vec<_>>()
        };
        let long = "x".repeat(200_000);
        let mut notebook = Notebook::default();
        for name in names("old").into_iter().chain([long.clone()]) {
            notebook.runs.insert(name, notes("kept"));
        }
        let runs: Vec<Run> = names("new")
            .into_iter()
            .map(|id| Run {
                id,
                ..Run::default()
            })
            .collect();
        let lab = tempfile::tempdir().unwrap();
        let notebooks = Notebooks::open(&[lab.path().to_owned()], lab.path());
        let strays = notebooks.strays(&notebook, &runs);
        assert_eq!(strays.len(), 3_001);
        for stray in strays {
            let renamed = (stray.run != long).then(|| stray.run.replace("old", "new"));
            assert_eq!(stray.similar, renamed);
        }
        let refused = notebooks.change(change(0, &long, notes("mine")));
        assert!(matches!(refused, Err(ChangeError::TooMuch(_))));
    }

    #[test]
    fn what_is_noted_is_read_again_and_the_second_is_told() {
        let lab = tempfile::tempdir().unwrap();
        let bases = [lab.path().join("base")];
        fs::create_dir(&bases[0]).unwrap();
        let first = Notebooks::open(&bases, &lab.path().join("cache"));
        let second = Notebooks::open(&bases, &lab.path().join("cache"));
        assert_eq!(first.read(), Notebook::default());
        let full = RunNotes {
            note: "best \"so far\" é".to_owned(),
            tags: vec!["baseline".to_owned()],
            is_hidden: true,
            colour: Some(12),
            thresholds: BTreeMap::from([(
                "train/loss".to_owned(),
                Threshold {
                    first: Limit {
                        above: true,
                        value: 0.1,
                    },
                    second: None,
                    both: false,
                },
            )]),
            peak_flops: Some(312e12),
            marks: vec![SliceMark {
                session: "trace".to_owned(),
                rank: 1,
                index: 7,
                begin_nanos: -5,
                name: "softmax".to_owned(),
                text: "here it \"begins\"".to_owned(),
            }],
        };
        let made = first.change(change(0, "a/b", full.clone())).unwrap();
        assert_eq!((made.version, &made.runs["a/b"]), (1, &full));
        assert_eq!(second.read(), made);
        assert!(matches!(
            second.change(change(0, "a/b", notes("mine"))),
            Err(ChangeError::Conflict(1))
        ));
        let pins = NotebookChange {
            version: 1,
            pinned: Some(vec!["loss".to_owned()]),
            ..NotebookChange::default()
        };
        assert_eq!(second.change(pins).unwrap().pinned, ["loss"]);
        let columns = NotebookChange {
            version: 2,
            columns: Some(vec!["lr".to_owned(), "metric:loss".to_owned()]),
            ..NotebookChange::default()
        };
        let chosen = first.change(columns).unwrap();
        assert_eq!(chosen.columns.as_deref().map(<[_]>::len), Some(2));
        assert_eq!(second.read(), chosen);
        // Empty notes are not stored.
        let none = first.change(change(3, "a/b", RunNotes::default())).unwrap();
        assert_eq!((none.version, none.runs.len()), (4, 0));
        let odd = RunNotes {
            colour: Some(21),
            ..RunNotes::default()
        };
        let refused = first.change(change(4, "a/b", odd));
        assert!(matches!(refused, Err(ChangeError::TooMuch(_))));
    }

    #[test]
    fn a_file_that_is_not_understood_stays() {
        let lab = tempfile::tempdir().unwrap();
        let bases = [lab.path().to_owned()];
        let notebooks = Notebooks::open(&bases, lab.path());
        notebooks.change(change(0, "r", notes("x"))).unwrap();
        let path = lab.path().join(".trainscope/notebook.toml");
        let edited = fs::read_to_string(&path)
            .unwrap()
            .replace("\"x\"", "\"edited\"");
        fs::write(&path, &edited).unwrap();
        let seen = notebooks.read();
        assert_eq!((seen.version, &*seen.runs["r"].note), (2, "edited"));

        fs::write(&path, "version = 3\nrusn = 1\n").unwrap();
        let seen = notebooks.read();
        assert_eq!(&*seen.runs["r"].note, "edited");
        assert!(seen.problems[0].contains("line 2"), "{:?}", seen.problems);
        let refused = notebooks.change(change(2, "r", notes("y")));
        assert!(matches!(refused, Err(ChangeError::Unwritable { .. })));
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "version = 3\nrusn = 1\n"
        );
        fs::write(&path, edited).unwrap();
        assert_eq!(notebooks.read().problems, [""; 0]);
    }

    #[test]
    fn each_base_directory_has_its_own() {
        let lab = tempfile::tempdir().unwrap();
        let bases = ["one", "two"].map(|name| lab.path().join(name));
        for base in &bases {
            fs::create_dir(base).unwrap();
        }
        // Nothing can be written below a file.
        fs::write(bases[1].join(".trainscope"), "").unwrap();
        let notebooks = Notebooks::open(&bases, &lab.path().join("cache"));
        notebooks.change(change(0, "one/r", notes("1"))).unwrap();
        notebooks.change(change(1, "two", notes("2"))).unwrap();
        let seen = notebooks.change(change(2, "three/r", notes("3"))).unwrap();
        let names: Vec<_> = seen.runs.keys().collect();
        assert_eq!(names, ["one/r", "two"]);
        assert!(
            seen.problems[0].contains("cannot be written"),
            "{:?}",
            seen.problems
        );
        assert!(bases[0].join(".trainscope/notebook.toml").exists());
        // The alternative path is found again.
        assert_eq!(
            Notebooks::open(&bases, &lab.path().join("cache"))
                .read()
                .runs,
            seen.runs
        );
    }

    #[test]
    fn notes_have_an_end() {
        let lab = tempfile::tempdir().unwrap();
        let notebooks = Notebooks::open(&[lab.path().to_owned()], lab.path());
        let long = notes(&"x".repeat(MAX_NOTE_CHARS + 1));
        let refused = notebooks.change(change(0, "r", long));
        assert!(matches!(refused, Err(ChangeError::TooMuch(_))));
        assert!(!lab.path().join(".trainscope").exists());
    }
}
