//! Watchpoints of the run: read from the server, changed as a whole, rolled back on a conflict.

use std::sync::Arc;

use leptos::task::spawn_local;
use trainscope_api::error::ErrorCode;
use trainscope_api::findings::watchpoint_name;
use trainscope_api::watchpoints::{
    Catalogue, Condition, Origin, Recheck, Setting, WatchpointKeys, WatchpointList,
    WatchpointsChange,
};
use trainscope_format::Severity;

use super::model::parse_severity;
use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::i18n::I18n;
use trainscope_web_kit::notebook::Refusal;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{put, query};

/// Mode of the left panel.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mode {
    List,
    /// The catalogue, to add a watchpoint.
    Add,
    /// Editor of a watchpoint of the list, or of a new one.
    Edit(Option<usize>),
}

/// Last changed switch.
#[derive(Clone, PartialEq)]
pub(super) struct Undo {
    /// Name of the watchpoint, as in addresses.
    name: String,
    pub(super) title: String,
}

/// The list and its editing. `Copy`: take it with [`use_watching`].
#[derive(Clone, Copy)]
pub(super) struct WatchpointsState {
    run: Memo<String>,
    /// Last list of the server, and its run.
    saved: RwSignal<Option<Arc<(WatchpointList, String)>>>,
    pub(super) list: RwSignal<Option<Arc<WatchpointList>>>,
    pub(super) catalogue: RwSignal<Option<Arc<Catalogue>>>,
    /// Reason for which the last change was rolled back.
    pub(super) refusal: RwSignal<Option<Refusal>>,
    /// `true` while the page asks for confirmation to replace the list by the recommended set.
    pub(super) confirms: RwSignal<bool>,
    /// Last changed switch, for undo; cleared by any other change.
    pub(super) undo: RwSignal<Option<Undo>>,
    /// `true` if changes apply to this run only.
    pub(super) only_run: RwSignal<bool>,
    pub(super) mode: RwSignal<Mode>,
    /// Watchpoint in the editor.
    pub(super) draft: RwSignal<WatchpointKeys>,
    /// Version of the list that the draft was made from; a different version on save is a conflict.
    version: RwSignal<String>,
}

pub(super) fn use_watching() -> WatchpointsState {
    expect_context()
}

impl WatchpointsState {
    pub(super) fn provide(run: Memo<String>) -> Self {
        let saved = query(
            move || Some(run.get()),
            |run| async move { Ok((client::watchpoints(&run).await?, run)) },
        );
        let saved = saved.again_with_list().answer;
        let watching = Self {
            run,
            saved,
            list: RwSignal::new(None),
            catalogue: query(|| Some(()), |()| client::conditions()).answer,
            refusal: RwSignal::new(None),
            confirms: RwSignal::new(false),
            undo: RwSignal::new(None),
            only_run: RwSignal::new(false),
            mode: RwSignal::new(Mode::List),
            draft: RwSignal::new(WatchpointKeys::default()),
            version: RwSignal::new(String::new()),
        };
        provide_context(watching);
        Effect::new(move |before: Option<String>| {
            let run = run.get();
            if before.as_ref() != Some(&run) {
                watching.mode.set(Mode::List);
                watching.refusal.set(None);
                watching.confirms.set(false);
                watching.undo.set(None);
                watching.only_run.set(false);
            }
            run
        });
        Effect::new(move || {
            if let Some((list, run)) = saved.get().as_deref() {
                watching.show(run, list.clone());
            }
        });
        watching
    }

    fn show(self, run: &str, list: WatchpointList) {
        if self
            .run
            .try_get_untracked()
            .is_none_or(|shown| shown != run)
        {
            return;
        }
        // The next answer is compared with this list.
        put(self.saved, Some(Arc::new((list.clone(), run.to_owned()))));
        let known = self.list.get_untracked();
        if known.as_deref() == Some(&list) {
            return;
        }
        let is_of_run = list.origin == Origin::Run;
        if is_of_run || known.is_none_or(|known| known.origin != list.origin) {
            self.only_run.set(is_of_run);
        }
        // The reason of a failed change of another list no longer applies.
        if self.mode.get_untracked() == Mode::List {
            self.refusal.set(None);
        }
        self.list.set(Some(Arc::new(list)));
    }

    pub(super) fn condition(self, keys: &WatchpointKeys) -> Option<Condition> {
        let id = text(keys, "condition")?;
        self.catalogue.with(|all| {
            let mut all = all.as_ref()?.conditions.iter();
            all.find(|condition| condition.id == id).cloned()
        })
    }

    /// Opens the editor for a watchpoint of the list.
    pub(super) fn edit(self, index: usize) {
        let list = self.list.get_untracked();
        let Some(list) = list else { return };
        if let Some(keys) = list.watchpoints.get(index) {
            self.begin(Some(index), keys.clone());
        }
    }

    /// Opens the editor for a watchpoint; without an index it is new.
    pub(super) fn begin(self, index: Option<usize>, keys: WatchpointKeys) {
        let list = self.list.get_untracked();
        self.version
            .set(list.map(|list| list.version.clone()).unwrap_or_default());
        self.refusal.set(None);
        self.draft.set(keys);
        self.mode.set(Mode::Edit(index));
    }

    /// Moves the value of a key of the draft to another key.
    pub(super) fn rename(self, from: &str, to: &str) {
        self.draft.update(|WatchpointKeys(keys)| {
            if let Some(value) = keys.remove(from) {
                keys.insert(to.to_owned(), value);
            }
        });
    }

    /// Saves the draft at its index, or at the end of the list.
    pub(super) fn save(self) {
        let (draft, version) = (self.draft.get_untracked(), self.version.get_untracked());
        let Mode::Edit(index) = self.mode.get_untracked() else {
            return;
        };
        self.change(Some(version), move |list| match index {
            Some(index) if index < list.len() => list[index] = draft,
            _ => list.push(draft),
        });
    }

    /// Removes the edited watchpoint.
    pub(super) fn remove(self) {
        let version = self.version.get_untracked();
        if let Mode::Edit(Some(index)) = self.mode.get_untracked() {
            self.change(Some(version), move |list| {
                if index < list.len() {
                    list.remove(index);
                }
            });
        }
    }

    /// Switches a watchpoint on or off; `title` names it in the message for undo.
    pub(super) fn switch(self, index: usize, title: &str) {
        let list = self.list.get_untracked();
        let name = list.map(|list| name_of(&list.watchpoints, index));
        self.turn(index);
        self.undo.set(name.map(|name| Undo {
            name,
            title: title.to_owned(),
        }));
    }

    /// Reverts the last changed switch.
    pub(super) fn undo_switch(self) {
        let (undo, list) = (self.undo.get_untracked(), self.list.get_untracked());
        self.undo.set(None);
        if let (Some(undo), Some(list)) = (undo, list) {
            let mut all = 0..list.watchpoints.len();
            if let Some(index) = all.find(|at| name_of(&list.watchpoints, *at) == undo.name) {
                self.turn(index);
            }
        }
    }

    fn turn(self, index: usize) {
        self.change(None, move |list| {
            if let Some(WatchpointKeys(keys)) = list.get_mut(index)
                && keys.remove("on") != Some(Setting::Bool(false))
            {
                keys.insert("on".to_owned(), Setting::Bool(false));
            }
        });
    }

    /// Sets whether hits of a watchpoint pause a connected training; `None` decides by their severity.
    pub(super) fn set_pausing(self, index: usize, pauses: Option<bool>) {
        self.change(None, move |list| {
            if let Some(WatchpointKeys(keys)) = list.get_mut(index) {
                keys.remove("pause");
                keys.extend(pauses.map(|pauses| ("pause".to_owned(), Setting::Bool(pauses))));
            }
        });
    }

    /// Sends a change of the list, based on `version` or else on the shown list.
    fn change(self, version: Option<String>, change: impl FnOnce(&mut Vec<WatchpointKeys>)) {
        let Some(list) = self.list.get_untracked() else {
            return;
        };
        let mut watchpoints = list.watchpoints.clone();
        change(&mut watchpoints);
        let version = version.unwrap_or_else(|| list.version.clone());
        self.send(version, self.only_run.get_untracked(), Some(watchpoints));
    }

    /// Removes the list of this run: the list of all runs then applies.
    pub(super) fn drop_list(self) {
        if let Some(list) = self.list.get_untracked() {
            self.send(list.version.clone(), true, None);
        }
    }

    /// Replaces the watchpoints by the recommended set, in this run or in all runs.
    pub(super) fn recommend(self) {
        let (Some(list), Some(all)) = (self.list.get_untracked(), self.catalogue.get_untracked())
        else {
            return;
        };
        let only_run = self.only_run.get_untracked();
        let recommended = all
            .conditions
            .iter()
            .filter(|condition| condition.is_recommended);
        // For all runs the list is removed: without one, the recommended set applies. A run needs a list, because
        // without one it uses that of all runs.
        let watchpoints = only_run.then(|| {
            recommended
                .map(|condition| condition.preset.clone())
                .collect()
        });
        self.send(list.version.clone(), only_run, watchpoints);
    }

    fn send(self, version: String, only_this_run: bool, watchpoints: Option<Vec<WatchpointKeys>>) {
        self.confirms.set(false);
        self.undo.set(None);
        let run = self.run.get_untracked();
        let change = WatchpointsChange {
            run: run.clone(),
            only_this_run,
            version,
            watchpoints,
        };
        spawn_local(async move {
            let refusal = match client::change_watchpoints(&change).await {
                Ok(list) => {
                    self.show(&run, list);
                    self.mode.try_set(Mode::List);
                    None
                }
                Err(ClientError::Refused(error)) if error.code == ErrorCode::Conflict => {
                    if let Ok(list) = client::watchpoints(&run).await {
                        self.follow(&list);
                        self.show(&run, list);
                    }
                    Some(Refusal::Conflict)
                }
                Err(ClientError::Refused(error)) => Some(Refusal::Refused(error.message)),
                Err(_) => Some(Refusal::Unreachable),
            };
            if refusal.is_some() {
                // The switch did not change.
                self.undo.try_set(None);
            }
            self.refusal.try_set(refusal);
        });
    }

    /// Keeps the draft when the list changes: saving replaces the same watchpoint, or appends the draft if that was
    /// removed.
    fn follow(self, list: &WatchpointList) {
        let known = self.list.try_get_untracked().flatten();
        if let (Some(Mode::Edit(Some(index))), Some(known)) = (self.mode.try_get_untracked(), known)
        {
            let name = name_of(&known.watchpoints, index);
            let mut all = 0..list.watchpoints.len();
            let same = all.find(|at| name_of(&list.watchpoints, *at) == name);
            self.mode.set(Mode::Edit(same));
        }
        self.version.try_set(list.version.clone());
    }

    /// Requests a new judgement of all recorded steps.
    pub(super) fn recheck(self) {
        let run = self.run.get_untracked();
        spawn_local(async move {
            if client::recheck(&Recheck { run }).await.is_err() {
                self.refusal.try_set(Some(Refusal::Unreachable));
            }
        });
    }
}

/// Name of a watchpoint of a list in addresses.
pub(super) fn name_of(list: &[WatchpointKeys], index: usize) -> String {
    let condition = |keys: &WatchpointKeys| text(keys, "condition").map(str::to_owned);
    let id = list.get(index).and_then(condition).unwrap_or_default();
    let before = list.iter().take(index);
    let alike = before.filter(|keys| text(keys, "condition") == Some(&id));
    watchpoint_name(&id, u32::try_from(alike.count()).unwrap_or(u32::MAX))
}

/// Text value of a key; `None` for other types.
pub(super) fn text<'a>(keys: &'a WatchpointKeys, key: &str) -> Option<&'a str> {
    match keys.0.get(key) {
        Some(Setting::Text(text)) => Some(text),
        _ => None,
    }
}

/// `true` if a watchpoint is enabled.
pub(super) fn is_on(keys: &WatchpointKeys) -> bool {
    keys.0.get("on") != Some(&Setting::Bool(false))
}

/// Setting for the pause of a connected training, if given.
pub(super) fn pausing(keys: &WatchpointKeys) -> Option<bool> {
    match keys.0.get("pause") {
        Some(Setting::Bool(pauses)) => Some(*pauses),
        _ => None,
    }
}

/// Severity of a watchpoint's findings.
pub(super) fn severity(keys: &WatchpointKeys, condition: &Condition) -> Severity {
    parse_severity(text(keys, "severity")).unwrap_or(condition.severity)
}

/// The user's name of the watchpoint verbatim, or the description of its condition.
pub(super) fn title(i18n: I18n, keys: &WatchpointKeys, condition: &Condition) -> String {
    match text(keys, "name") {
        Some(name) => name.to_owned(),
        None => i18n.words(&condition.title),
    }
}

/// Text of a setting in an input field.
pub(super) fn shown(setting: &Setting) -> String {
    match setting {
        Setting::Bool(yes) => yes.to_string(),
        Setting::Int(number) => number.to_string(),
        Setting::Float(number) => format!("{number:?}"),
        Setting::Text(text) => text.clone(),
        Setting::List(texts) => texts.join(", "),
    }
}
