//! What the page shows: the answer for what the address asks for, and which hit is looked at.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use trainscope_api::findings::{Findings, FindingsQuery, Hit, Judging};
use trainscope_format::Severity;

use crate::client;
use crate::live::use_live;
use crate::route::use_run;
use crate::url_state::{History, UrlState, use_url_state};

const SEVERITY: &str = "severity";
const SEARCH: &str = "q";
const WATCHPOINT: &str = "watchpoint";
const HIT: &str = "hit";

/// How far the first answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Loading,
    /// The run has not been judged yet.
    Waiting,
    Ready,
}

/// The page's state. `Copy`: take it with [`use_model`].
#[derive(Clone, Copy)]
pub(super) struct Model {
    url: UrlState,
    pub(super) run: Memo<String>,
    pub(super) severity: Memo<Option<Severity>>,
    pub(super) search: Memo<String>,
    pub(super) watchpoint: Memo<Option<u32>>,
    pub(super) findings: RwSignal<Arc<Findings>>,
    pub(super) load: Memo<Load>,
    /// The hit that is looked at: the address says which, else where it began.
    pub(super) selected: Memo<Option<Hit>>,
}

/// The state of this page.
pub(super) fn use_model() -> Model {
    expect_context()
}

/// A hit as it stands in an address: rank, step, condition and tensor, which may hold colons.
pub(in crate::pages) fn key(hit: &Hit) -> String {
    format!("{}:{}:{}:{}", hit.rank, hit.step, hit.condition, hit.tensor)
}

fn parse_severity(text: Option<&str>) -> Option<Severity> {
    let named = Severity::ALL.into_iter();
    named
        .zip(["info", "warning", "error"])
        .find_map(|(severity, name)| (Some(name) == text).then_some(severity))
}

/// As it stands in an address, and in the API.
pub(super) const fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

impl Model {
    pub(super) fn provide() -> Self {
        let url = use_url_state();
        let run = use_run();
        let run = Memo::new(move |_| run.get().unwrap_or_default());
        let (severity, search) = (url.param(SEVERITY), url.param(SEARCH));
        let (watchpoint, hit) = (url.param(WATCHPOINT), url.param(HIT));
        let severity = Memo::new(move |_| severity.with(|text| parse_severity(text.as_deref())));
        let search = Memo::new(move |_| search.get().unwrap_or_default());
        let watchpoint = Memo::new(move |_| watchpoint.with(|text| text.as_ref()?.parse().ok()));
        let findings = RwSignal::new(Arc::new(Findings::default()));
        let answered = RwSignal::new(false);
        let load = Memo::new(move |_| {
            if !answered.get() {
                Load::Loading
            } else if findings.with(|findings| findings.state == Judging::Waiting) {
                Load::Waiting
            } else {
                Load::Ready
            }
        });
        let selected = Memo::new(move |_| {
            let wanted = hit.get();
            findings.with(|findings| {
                let all = findings.first_cause.iter().map(|cause| &cause.hit);
                let mut all = all.chain(&findings.hits);
                let found = all.clone().find(|hit| wanted.as_ref() == Some(&key(hit)));
                found.or_else(|| all.next()).cloned()
            })
        });
        let model = Self {
            url,
            run,
            severity,
            search,
            watchpoint,
            findings,
            load,
            selected,
        };
        let live = use_live();
        let asked = StoredValue::new(0_u64);
        Effect::new(move |before: Option<String>| {
            live.list_version.track();
            let query = FindingsQuery {
                run: run.get(),
                severity: severity.get(),
                watchpoint: watchpoint.get(),
                search: Some(search.get()).filter(|text| !text.is_empty()),
                ..FindingsQuery::default()
            };
            if before.as_ref() != Some(&query.run) {
                answered.set(false);
            }
            let number = asked.get_value() + 1;
            asked.set_value(number);
            let own = query.run.clone();
            spawn_local(async move {
                let answer = client::findings(&query).await;
                // The page may have been left, or something else asked for meanwhile.
                if asked.try_get_value() != Some(number) {
                    return;
                }
                // Without an answer what is shown stays; the lost connection is said by the stream.
                if let Ok(answer) = answer {
                    findings.set(Arc::new(answer));
                    answered.set(true);
                }
            });
            own
        });
        provide_context(model);
        model
    }

    /// A second press on a button leaves all again.
    pub(super) fn press_severity(self, severity: Option<Severity>) {
        let now = self.severity.get_untracked();
        let next = severity.filter(|_| severity != now).map(severity_name);
        self.url.set(&[(SEVERITY, next)], History::Push);
    }

    pub(super) fn press_watchpoint(self, index: u32) {
        let next = (self.watchpoint.get_untracked() != Some(index)).then(|| index.to_string());
        self.url
            .set(&[(WATCHPOINT, next.as_deref())], History::Push);
    }

    pub(super) fn set_search(self, text: &str) {
        let text = text.trim();
        self.url.set(
            &[(SEARCH, (!text.is_empty()).then_some(text))],
            History::Replace,
        );
    }

    pub(super) fn select(self, hit: &Hit) {
        self.url.set(&[(HIT, Some(&key(hit)))], History::Replace);
    }

    pub(super) fn clear_filters(self) {
        let none = [(SEVERITY, None), (SEARCH, None), (WATCHPOINT, None)];
        self.url.set(&none, History::Push);
    }

    /// Goes to a hit before or after the one that is looked at; whether there is one.
    pub(super) fn move_by(self, by: isize) -> bool {
        let now = self.selected.get_untracked().map(|hit| key(&hit));
        let next = self.findings.with_untracked(|findings| {
            let position = findings.hits.iter().position(|hit| Some(key(hit)) == now);
            let next = match position {
                Some(position) => position.checked_add_signed(by)?,
                None => 0,
            };
            findings.hits.get(next).cloned()
        });
        if let Some(next) = &next {
            self.select(next);
        }
        next.is_some()
    }
}
