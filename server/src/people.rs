//! People who use a shared server: what each of them may see and change.
//!
//! A request carries the person who sent it as a task-local value. The look-up of a run by its name, in whatever
//! module, asks [`may_see`]: a run that a person may not see does not exist for them. Threads without a request, which
//! read and judge, see everything.

mod rules;

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use trainscope_api::status::{AccessRole, Ingest};

pub(crate) use rules::Rules;

use crate::watched_file::WatchedFile;

tokio::task_local! {
    static VIEWER: Viewer;
}

/// A person who sent a request. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Viewer(Arc<Person>);

#[derive(Debug, Default)]
struct Person {
    /// As the proxy calls them; `None` for the holder of the token.
    name: Option<String>,
    groups: Vec<String>,
    /// `None`: they may do everything.
    rules: Option<Arc<Rules>>,
}

impl Viewer {
    /// A person whom a proxy has logged in.
    pub(crate) fn new(name: String, groups: Vec<String>, rules: Option<Arc<Rules>>) -> Self {
        Self(Arc::new(Person {
            name: Some(name),
            groups,
            rules,
        }))
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    /// Their role in a run; `None` if it does not exist for them.
    pub(crate) fn role_in(&self, run: &str) -> Option<AccessRole> {
        match &self.0.rules {
            None => Some(AccessRole::Manage),
            Some(rules) => rules.role_in(run, self.name()?, &self.0.groups),
        }
    }

    /// Their role in every run, also in future ones; `None` if they do not see all.
    pub(crate) fn role_in_all(&self) -> Option<AccessRole> {
        match &self.0.rules {
            None => Some(AccessRole::Manage),
            Some(rules) => rules.role_in_all(self.name()?, &self.0.groups),
        }
    }

    /// Their highest role in any run.
    pub(crate) fn highest_role(&self) -> Option<AccessRole> {
        match &self.0.rules {
            None => Some(AccessRole::Manage),
            Some(rules) => rules.highest_role(self.name()?, &self.0.groups),
        }
    }

    /// Runs a future on their behalf.
    pub(crate) async fn scope<F: Future>(self, future: F) -> F::Output {
        VIEWER.scope(self, future).await
    }
}

/// The person of the current request; without one, a person who may do everything.
pub(crate) fn current() -> Viewer {
    VIEWER.try_with(Viewer::clone).unwrap_or_default()
}

/// Work of the current request for another thread.
pub(crate) fn carry<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let viewer = current();
    move || VIEWER.sync_scope(viewer, work)
}

/// Runs work whose result others see too.
pub(crate) fn for_everybody<T>(work: impl FnOnce() -> T) -> T {
    VIEWER.sync_scope(Viewer::default(), work)
}

/// True if a run exists for the person of the current request.
pub(crate) fn may_see(run: &str) -> bool {
    let role = VIEWER.try_with(|viewer| viewer.role_in(run).is_some());
    // Not a request.
    role.unwrap_or(true)
}

/// True if every run exists for the person of the current request.
pub(crate) fn may_see_all() -> bool {
    let role = VIEWER.try_with(|viewer| viewer.role_in_all().is_some());
    role.unwrap_or(true)
}

/// The progress of reading as the person of the current request sees it: numbers of all files together would tell of
/// runs that do not exist for them.
pub(crate) fn seen_part(ingest: Ingest) -> Ingest {
    if may_see_all() { ingest } else { part(ingest) }
}

/// The progress of reading for a person who does not see all runs.
pub(crate) fn part(ingest: Ingest) -> Ingest {
    Ingest {
        idle: ingest.idle,
        ..Ingest::default()
    }
}

/// The file with the rules: read again when it changes. While it has a mistake, the rules before it count.
pub struct AccessFile(Mutex<State>);

struct State {
    file: WatchedFile,
    rules: Arc<Rules>,
    problem: Option<String>,
}

impl AccessFile {
    /// Reads the file; a mistake in it is an error as a sentence.
    pub fn open(path: &Path) -> Result<Self, String> {
        let mut state = State {
            file: WatchedFile::new(path.to_owned()),
            rules: Arc::default(),
            problem: None,
        };
        let text = state.file.read_change();
        let text = text.and_then(Result::transpose).transpose();
        let text = text.map_err(|error| format!("it cannot be read: {error}"))?;
        state.rules = Arc::new(Rules::parse(&text.ok_or("there is no such file")?)?);
        Ok(Self(Mutex::new(state)))
    }

    /// The rules as they are now.
    pub(crate) fn rules(&self) -> Arc<Rules> {
        let mut state = self.0.lock();
        if let Some(text) = state.file.read_change() {
            let read = match text {
                Ok(Some(text)) => Rules::parse(&text),
                Ok(None) => Err("it was removed".to_owned()),
                Err(error) => Err(format!("it cannot be read: {error}")),
            };
            match read {
                Ok(rules) => (state.rules, state.problem) = (Arc::new(rules), None),
                Err(reason) => {
                    let path = state.file.path().display();
                    state.problem = Some(format!(
                        "{path} is invalid, and the last valid rules are used: {reason}"
                    ));
                }
            }
        }
        Arc::clone(&state.rules)
    }

    /// The mistake in the file as it is now, as a sentence.
    pub(crate) fn problem(&self) -> Option<String> {
        self.0.lock().problem.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_with_a_mistake_leave_the_last_ones_in_force() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("access.toml");
        assert!(AccessFile::open(&path).is_err());
        std::fs::write(&path, "[[rule]]\nusers = [\"ada\"]\nmay = \"see\"\n").unwrap();
        let file = AccessFile::open(&path).unwrap();
        let role = || Viewer::new("ada".into(), Vec::new(), Some(file.rules())).role_in("a");
        assert_eq!(role(), Some(AccessRole::See));
        std::fs::write(&path, "[[rule]]\nusers = [\"ada\"]\nmay = \"rule\"\n").unwrap();
        assert_eq!(role(), Some(AccessRole::See));
        assert!(file.problem().unwrap().contains("rule"));
        std::fs::write(&path, "[[rule]]\nusers = [\"ada\"]\nmay = \"manage\"\n").unwrap();
        assert_eq!(role(), Some(AccessRole::Manage));
        assert_eq!(file.problem(), None);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(role(), Some(AccessRole::Manage));
        assert!(file.problem().is_some());
    }

    #[test]
    fn work_on_another_thread_is_for_the_same_person() {
        let rules =
            Rules::parse("[[rule]]\nusers = [\"*\"]\nruns = [\"a\"]\nmay = \"see\"").unwrap();
        let viewer = Viewer::new("ada".into(), Vec::new(), Some(Arc::new(rules)));
        assert!(may_see("b") && may_see_all());
        let seen = VIEWER.sync_scope(viewer, || {
            assert!(for_everybody(|| may_see("b")));
            let work = carry(|| (may_see("a"), may_see("b"), may_see_all()));
            std::thread::spawn(work).join().unwrap()
        });
        assert_eq!(seen, (true, false, false));
    }
}
