//! Columns of the table, fetched on demand and kept up to date. Only the rows of changed runs are fetched again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use leptos::task::spawn_local;
use trainscope_api::table::{TableAnswer, TableColumns, TableRequest};

use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::live::use_live;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};

/// Minimum pause between requests for changed rows, since each answer sorts the rows again.
const PAUSE: Duration = Duration::from_secs(1);

/// Columns that have arrived.
#[derive(Clone, Copy)]
pub(super) struct Store {
    /// Facts about all columns.
    pub(super) columns: Query<TableColumns>,
    /// Rows with the columns that have arrived.
    pub(super) table: RwSignal<Arc<TableAnswer>>,
    /// `true` once rows have arrived.
    pub(super) is_ready: RwSignal<bool>,
    /// Error of the last request for columns.
    pub(super) error: RwSignal<Option<ClientError>>,
    /// Columns of pending requests.
    asked: StoredValue<BTreeSet<String>>,
    is_due: StoredValue<bool>,
}

impl Store {
    pub(super) fn new() -> Self {
        let live = use_live();
        let columns = query(|| Some(()), |()| async { client::table_columns().await });
        let store = Self {
            columns: columns.again_with(move || live.list_version.get()),
            table: RwSignal::new(Arc::new(TableAnswer::default())),
            is_ready: RwSignal::new(false),
            error: RwSignal::new(None),
            asked: StoredValue::new(BTreeSet::new()),
            is_due: StoredValue::new(false),
        };
        Effect::new(move |before: Option<()>| {
            live.list_version.track();
            live.last_notice.track();
            if before.is_some() {
                store.refresh_soon();
            }
        });
        store
    }

    /// Requests columns that are neither loaded nor pending.
    pub(super) fn need(self, keys: &[String]) {
        let table = self.table.get_untracked();
        let is_there = |key: &String| table.columns.iter().any(|column| column.key == *key);
        let is_asked = |key: &String| self.asked.with_value(|asked| asked.contains(key));
        let missing: Vec<String> = keys
            .iter()
            .filter(|key| !is_there(key) && !is_asked(key))
            .cloned()
            .collect();
        // Without columns, the first request still brings the names of the runs.
        if missing.is_empty() && self.is_ready.get_untracked() {
            return;
        }
        if missing.is_empty() && !keys.is_empty() {
            return;
        }
        self.asked
            .update_value(|asked| asked.extend(missing.iter().cloned()));
        spawn_local(async move {
            let request = TableRequest {
                columns: missing,
                ..TableRequest::default()
            };
            let answer = client::table(&request).await;
            let gone = self.asked.try_update_value(|asked| {
                for key in &request.columns {
                    asked.remove(key);
                }
            });
            if gone.is_none() {
                return;
            }
            match answer {
                Ok(answer) => {
                    self.table.update(|table| add(Arc::make_mut(table), answer));
                    self.is_ready.set(true);
                    self.error.set(None);
                }
                Err(error) => self.error.set(Some(error)),
            }
        });
    }

    fn refresh_soon(self) {
        if self.is_due.get_value() {
            return;
        }
        self.is_due.set_value(true);
        set_timeout(
            move || {
                if self.is_due.try_set_value(false).is_none() {
                    self.refresh();
                }
            },
            PAUSE,
        );
    }

    fn refresh(self) {
        let seq = self.table.try_with_untracked(|table| table.seq);
        if let Some(seq) = seq.filter(|seq| *seq > 0) {
            self.request(Some(seq));
        }
    }

    /// Requests the columns of the table again: rows that changed since a version, or all rows.
    fn request(self, since: Option<u64>) {
        let Some(table) = self.table.try_get_untracked() else {
            return;
        };
        let request = TableRequest {
            columns: table
                .columns
                .iter()
                .map(|column| column.key.clone())
                .collect(),
            since,
            ..TableRequest::default()
        };
        spawn_local(async move {
            // The frame shows a lost connection; the next notice asks again.
            let Ok(answer) = client::table(&request).await else {
                return;
            };
            let is_news = answer.indices.as_ref().is_none_or(|rows| !rows.is_empty());
            if !is_news {
                return;
            }
            let fits = self.table.try_maybe_update(|table| {
                let fits = update(Arc::make_mut(table), answer);
                (fits, fits)
            });
            if fits == Some(false) {
                self.request(None);
            }
        });
    }
}

/// Adds the columns of an answer with all rows. Keeps the older version of both, or changes would be missed.
fn add(table: &mut TableAnswer, answer: TableAnswer) {
    table.seq = if table.seq == 0 {
        answer.seq
    } else {
        table.seq.min(answer.seq)
    };
    if answer.runs.len() >= table.runs.len() {
        table.runs = answer.runs;
    }
    for column in answer.columns {
        match table
            .columns
            .iter_mut()
            .find(|known| known.key == column.key)
        {
            Some(known) => *known = column,
            None => table.columns.push(column),
        }
    }
}

/// Merges a later answer; `false` if all rows of all columns have to be requested. Columns that arrived since its
/// request stay unchanged, hence the table keeps its version with them.
fn update(table: &mut TableAnswer, answer: TableAnswer) -> bool {
    let newer = table
        .columns
        .split_off(answer.columns.len().min(table.columns.len()));
    let before = table.seq;
    // An answer with all rows can have them in other places.
    let keeps_places = newer.is_empty() || answer.indices.is_some();
    let fits = keeps_places && table.update(answer);
    if !newer.is_empty() {
        table.seq = table.seq.min(before);
    }
    table.columns.extend(newer);
    fits
}

#[cfg(test)]
mod tests {
    use trainscope_api::table::CellValue::{Missing, Number};

    use super::super::view;
    use super::*;

    #[test]
    fn columns_join_and_changed_rows_replace_theirs() {
        let mut table = TableAnswer::default();
        add(
            &mut table,
            view::table(&[("a", &[Number(1.0), Number(2.0)])]),
        );
        add(
            &mut table,
            view::table(&[("b", &[Number(3.0), Number(4.0), Number(5.0)])]),
        );
        assert_eq!(table.runs.len(), 3);
        let mut later = view::table(&[("a", &[Number(9.0)])]);
        later.indices = Some(vec![1]);
        later.runs = vec!["r1".to_owned()];
        later.seq = 7;
        assert!(update(&mut table, later.clone()));
        assert_eq!(
            table.columns[0].cells.values()[..2],
            [Number(1.0), Number(9.0)]
        );
        assert_eq!(table.columns[0].cells.get(2), Missing);
        assert_eq!(table.columns[1].cells.get(1), Number(4.0));
        assert_eq!(table.seq, 1, "changes of the second column can be missing");
        let mut both = later;
        both.columns
            .push(view::table(&[("b", &[Number(8.0)])]).columns.remove(0));
        assert!(update(&mut table, both));
        assert_eq!((table.columns[1].cells.get(1), table.seq), (Number(8.0), 7));
    }

    #[test]
    fn rows_that_do_not_fit_lead_to_a_request_for_all() {
        let mut table = view::table(&[("a", &[Number(1.0)]), ("b", &[Number(2.0)])]);
        let before = table.clone();
        let mut gap = view::table(&[("a", &[Number(9.0)]), ("b", &[Number(9.0)])]);
        gap.indices = Some(vec![4]);
        gap.seq = 7;
        assert!(!update(&mut table, gap));
        assert_eq!(table, before);
        // The second column came after the request, and its rows may be others.
        let one = view::table(&[("a", &[Number(3.0), Number(4.0)])]);
        assert!(!update(&mut table, one));
        assert_eq!(table, before);
        let all = view::table(&[("a", &[Number(3.0)]), ("b", &[Number(4.0)])]);
        assert!(update(&mut table, all.clone()));
        assert_eq!(table, all);
    }
}
